# what: stress-ng's vector stressors with verification on, bounded by work, all processes traced
# program: stress-ng vector
# version: stress-ng --version
# tools: none count
# needs: stress-ng
# limit: 180
run_all stress-ng --verify --no-rand-seed --temp-path "$HOME" --log-file log --timeout 15 --vecmath 2 --vecmath-ops 2000 --vecfp 1 --vecfp-ops 200 --vecwide 1 --vecwide-ops 400 --vecshuf 1 --vecshuf-ops 2000 --matrix 1 --matrix-ops 400 > /dev/null 2>&1; echo "status $?"; grep -c -i -E ': (fail|error):' log; grep -E ': (fail|error):' log | sed 's/\[[0-9]*\]//g' | sort -u | head -n 20
