# what: gzip and bzip2: round trips, tests, damaged input, the scripts around them
# version: gzip --version
# tools: none count
# needs: bzip2 gzip
seq 1 120000 | awk '{ print $1, ($1 * 7919) % 65537 }' > data
for level in 1 6 9; do run gzip -n -$level -c data | cksum; run bzip2 -$level -c data | cksum; done
run gzip -n -k data; run gzip -t data.gz; run gzip -l data.gz; run gzip -dc data.gz | cmp - data
run bzip2 -k data; run bzip2 -t data.bz2; run bzip2 -dc data.bz2 | cmp - data; run bzcat -s data.bz2 | cksum
head -c 50000 data.gz > broken.gz; run gzip -t broken.gz; echo "status $?"; head -c 50000 data.bz2 > broken.bz2; run bzip2 -tq broken.bz2; echo "status $?"
run_all zcat data.gz | cksum; run_all zgrep -c 77 data.gz; run bzip2recover broken.bz2 > /dev/null 2>&1; ls | sort
