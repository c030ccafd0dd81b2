# what: stress-ng's fork stressors with verification on, bounded by work, all processes traced
# program: stress-ng fork
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --fork 2 --fork-ops 400 --vfork 1 --vfork-ops 400 --clone 1 --clone-ops 200 --exec 1 --exec-ops 40 --spawn 1 --spawn-ops 40 --daemon 1 --daemon-ops 20 --zombie 1 --zombie-ops 100 --wait 1 --wait-ops 200 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
