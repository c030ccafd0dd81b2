# what: zstd: one and two threads, long distance, dictionaries, damaged input
# version: zstd --version
# tools: none count
# needs: zstd
seq 1 400000 | awk '{ print $1, ($1 * 7919) % 65537 }' > data
run zstd -q -T2 -3 -k data -o two.zst; cksum two.zst; run zstd -q -dc two.zst | cmp - data
run zstd -q -T2 -12 --long -c data > long.zst; cksum long.zst; run zstd -q -t --long long.zst; run zstd -q --single-thread -1 -c < data | cksum
run zstd -q --fast=5 -c data | run zstd -dc | cmp - data; split -n 100 data sample.; run zstd -q --train sample.* -o dictionary; cksum dictionary; run zstd -q -D dictionary -c sample.aa | cksum
head -c 50000 two.zst > broken.zst; run zstd -q -t broken.zst; echo "status $?"
