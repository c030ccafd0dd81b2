# what: sort, uniq, join, comm, shuf on large inputs, sort with two threads
# version: sort --version
# tools: none count
seq 1 150000 | awk '{ print ($1 * 7919) % 100003, $1, "word" ($1 * 31) % 977 }' > data
run sort -n data | cksum
run sort -k3,3 -k1,1nr data | cksum
run sort --parallel=2 -S 4M -r data | cksum
run sort -k3 data | run cut -d' ' -f3 | run uniq -c | run sort -rn | head -n 20
run sort -u -k1,1n data | run wc
run sort -k1,1 data | head -n 20000 > left; run sort -k2,2 data | head -n 20000 > right
run join -1 1 -2 2 left right | cksum
run sort left > a; run sort right > b; run comm -12 a b | cksum
run shuf --random-source=data -n 1000 data | cksum
run tsort <(printf 'a b\nb c\na d\nd c\n'); run sort -c data; echo "status $?"
