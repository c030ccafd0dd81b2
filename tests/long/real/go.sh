# what: go: the tool chain builds a program with goroutines, preemption signals, channels, cgo, panics; it runs
# program: go
# version: go version
# tools: none count
# needs: go gcc
# limit: 300
export GOCACHE=$HOME/cache GOPATH=$HOME/go GOFLAGS=-mod=mod GO111MODULE=off; cp "$SOURCES/work.go" work.go
go build -o work work.go; run ./work; echo $?; GOMAXPROCS=1 run ./work; echo $?; GODEBUG=asyncpreemptoff=1 run ./work; echo $?; GOGC=5 run ./work; echo $?
