# what: stress-ng's pipe stressors with verification on, bounded by work, all processes traced
# program: stress-ng pipe
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --pipe 2 --pipe-ops 40000 --fifo 1 --fifo-ops 4000 --sock 1 --sock-ops 200 --sockpair 1 --sockpair-ops 1000 --eventfd 1 --eventfd-ops 10000 --mq 1 --mq-ops 10000 --poll 1 --poll-ops 4000 --epoll 1 --epoll-ops 2000 --splice 1 --splice-ops 4000 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
