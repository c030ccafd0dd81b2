# what: stress-ng's futex stressors with verification on, bounded by work, all processes traced
# program: stress-ng futex
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --futex 2 --futex-ops 4000 --sem 1 --sem-ops 4000 --switch 1 --switch-ops 4000 --atomic 2 --atomic-ops 200 --pthread 1 --pthread-max 64 --pthread-ops 200 --membarrier 1 --membarrier-ops 50 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
