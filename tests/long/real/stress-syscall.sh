# what: stress-ng's syscall stressors with verification on, bounded by work, all processes traced
# program: stress-ng syscall
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --syscall 1 --syscall-ops 20 --get 1 --get-ops 100 --getrandom 1 --getrandom-ops 500 --close 1 --close-ops 500 --dup 1 --dup-ops 50 --fcntl 1 --fcntl-ops 500 --prctl 1 --prctl-ops 20 --seccomp 1 --seccomp-ops 50 --procfs 1 --procfs-ops 3 --personality 1 --personality-ops 20 --set 1 --set-ops 20 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
