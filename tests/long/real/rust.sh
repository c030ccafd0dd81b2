# what: rust: rustc compiles (all processes traced) a program with threads, channels, panics; it runs
# program: rustc
# version: rustc --version
# tools: none count
# needs: rustc
# limit: 300
run_all rustc -O -g "$SOURCES/work.rs" -o work; run ./work; echo $?; rustc -C debuginfo=0 -C panic=abort "$SOURCES/work.rs" -o abort; run ./abort panic 2> /dev/null; echo $?; echo 'fn main() { let x: u8 = "text"; }' > bad.rs; run rustc bad.rs 2>&1 | head -n 2
