# what: go: the compiler, assembler and linker themselves, all processes traced
# program: go tool chain
# version: go version
# tools: none count
# needs: go gcc
# limit: 600
export GOCACHE=$HOME/cache GOPATH=$HOME/go GO111MODULE=off; cp "$SOURCES/work.go" work.go; go build -o native work.go
run gofmt -l work.go; run_all go vet work.go; run_all go build -a -trimpath -ldflags=-buildid= -o traced work.go; ./traced | cksum; run go env GOOS GOARCH; run go nonsense 2>&1 | head -n 1
