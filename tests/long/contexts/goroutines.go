// Goroutines: each keeps its chain of calls while others run, also when its stack has grown and lies elsewhere.
package main

import (
	"runtime"
	"sync"
	"syscall"
)

//go:noinline
func leaf() { syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0) }

//go:noinline
func grows(n int) int {
	var room [128]int
	if n == 0 {
		leaf()
		return 0
	}
	room[n%128] = n
	return grows(n-1) + room[n%128]
}

//go:noinline
func pauses(turn chan int) { <-turn; leaf(); turn <- 1 }

//go:noinline
func worker(turn chan int, done *sync.WaitGroup) {
	pauses(turn)
	done.Done()
}

func main() {
	runtime.GOMAXPROCS(1)
	leaf()
	var done sync.WaitGroup
	turn := make(chan int)
	done.Add(1)
	go worker(turn, &done)
	turn <- 1
	<-turn
	done.Wait()
	grows(100)
	leaf()
}
