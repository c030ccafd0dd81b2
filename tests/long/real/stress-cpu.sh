# what: stress-ng's cpu stressors with verification on, bounded by work, all processes traced
# program: stress-ng cpu
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --cpu 2 --cpu-method all --cpu-ops 4000 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
