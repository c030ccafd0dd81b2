// Threads, channels, collections, unwinding: what rust.sh compiles and runs.
use std::collections::{BTreeMap, HashMap};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() {
    if std::env::args().count() > 1 {
        panic!("as asked");
    }
    let (sender, receiver) = mpsc::channel();
    for worker in 0..8u64 {
        let sender = sender.clone();
        thread::spawn(move || {
            for number in 0..2000u64 {
                sender.send(number * number % (worker + 7)).unwrap();
            }
        });
    }
    drop(sender);
    println!("{}", receiver.iter().sum::<u64>());
    let shared = Arc::new(Mutex::new(BTreeMap::new()));
    let threads: Vec<_> = (0..4u32)
        .map(|first| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || for n in 0..2500u32 { *shared.lock().unwrap().entry((n * 31 + first) % 101).or_insert(0u64) += n as u64 })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", shared.lock().unwrap().iter().take(5).collect::<Vec<_>>());
    let mut words: HashMap<String, usize> = HashMap::new();
    for n in 0..100_000usize {
        *words.entry(format!("w{}", n * 7919 % 997)).or_default() += n;
    }
    let mut sorted: Vec<_> = words.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    println!("{:?}", &sorted[..3]);
    std::panic::set_hook(Box::new(|_| ()));
    println!("{}", thread::spawn(|| { let v: Vec<i32> = vec![]; v[std::env::args().count()] }).join().is_err());
    let sum: f64 = (1..1_000_000).map(|n| (n as f64).sqrt().sin()).sum();
    println!("{:.9}", sum);
    std::process::exit(7);
}
