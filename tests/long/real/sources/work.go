// Goroutines, channels, preemption, panics, garbage and timers: what go.sh builds and runs.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func spin(stop *int32) (rounds int) {
	for atomic.LoadInt32(stop) == 0 { // no call: only a signal can take the processor away
		rounds++
	}
	return
}

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{grow(depth - 1), grow(depth - 1)}
}

func (t *tree) count() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

func recovered() (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	var none *tree
	return fmt.Sprint(none.left)
}

func main() {
	numbers, squares := make(chan int), make(chan int)
	var group sync.WaitGroup
	for worker := 0; worker < 50; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for number := range numbers {
				squares <- number * number
			}
		}()
	}
	go func() {
		for number := 0; number < 20000; number++ {
			numbers <- number
		}
		close(numbers)
		group.Wait()
		close(squares)
	}()
	total := 0
	for square := range squares {
		total += square
	}
	fmt.Println(total)

	if !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff") {
		var stop int32
		done := make(chan int)
		for spinner := 0; spinner < runtime.NumCPU()+1; spinner++ {
			go func() { done <- spin(&stop) }()
		}
		time.Sleep(50 * time.Millisecond)
		runtime.GC()
		atomic.StoreInt32(&stop, 1)
		for spinner := 0; spinner < runtime.NumCPU()+1; spinner++ {
			<-done
		}
	}
	fmt.Println("preempted")

	nodes := 0
	for round := 0; round < 20; round++ {
		nodes += grow(13).count()
	}
	fmt.Println(nodes, recovered())
	words := map[string]int{}
	for i := 0; i < 50000; i++ {
		words[fmt.Sprintf("w%d", i*7919%997)] += i
	}
	keys := make([]string, 0, len(words))
	for key := range words {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	fmt.Printf("%d %x\n", words[keys[10]], sha256.Sum256([]byte(strings.Join(keys, ","))))

	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGUSR1)
	syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-signals)
	ticker, ticks := time.NewTicker(time.Millisecond), 0
	for range ticker.C {
		if ticks++; ticks == 20 {
			break
		}
	}
	var mutex sync.Mutex
	counter := 0
	for i := 0; i < 100; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 200; j++ {
				mutex.Lock()
				counter++
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
	fmt.Println(ticks, counter)
	os.Exit(4)
}
