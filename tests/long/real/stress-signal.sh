# what: stress-ng's signal stressors with verification on, bounded by work, all processes traced
# program: stress-ng signal
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --signal 2 --signal-ops 20000 --sigfpe 1 --sigfpe-ops 2000 --sigsegv 1 --sigsegv-ops 2000 --sigpending 1 --sigpending-ops 2000 --sigq 1 --sigq-ops 4000 --sigsuspend 1 --sigsuspend-ops 2000 --sigrt 1 --sigrt-ops 2000 --sigfd 1 --sigfd-ops 2000 --sigabrt 1 --sigabrt-ops 50 --sigtrap 1 --sigtrap-ops 2000 --sigchld 1 --sigchld-ops 200 --timer 1 --timer-ops 2000 --itimer 1 --itimer-ops 500 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
