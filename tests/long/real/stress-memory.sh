# what: stress-ng's memory stressors with verification on, bounded by work, all processes traced
# program: stress-ng memory
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --vm 2 --vm-bytes 32m --vm-ops 4000 --mmap 1 --mmap-bytes 8m --mmap-ops 20 --mremap 1 --mremap-ops 50 --brk 1 --brk-ops 4000 --stack 1 --stack-ops 2 --malloc 1 --malloc-ops 20000 --memcpy 1 --memcpy-ops 20 --mprotect 1 --mprotect-ops 2000 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
