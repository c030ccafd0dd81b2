# what: xz: compression with one and two threads, decompression, integrity tests, damaged input
# version: xz --version
# tools: none count
# needs: xz
seq 1 80000 | awk '{ print $1, ($1 * 7919) % 65537 }' > data
run xz -T2 --block-size=1MiB -3 -k -c data > two.xz; cksum two.xz; run xz -T2 -dc two.xz | cmp - data
run xz -6 -T1 -c < data > one.xz; cksum one.xz; run xz -t one.xz; run xz --list one.xz | tail -n 1; run xz -dc one.xz | cksum
run xz --format=lzma -1 -c data | run xz -dc | cmp - data; run xz --x86 --lzma2=preset=1 --check=sha256 -c /bin/sort | run xz -dc | cmp - /bin/sort
head -c 30000 one.xz > broken.xz; run xz -t broken.xz; echo "status $?"; run xz -d data; echo "status $?"; run_all xzgrep -c 99 one.xz
