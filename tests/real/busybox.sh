# what: busybox, one static program for many commands
# version: busybox
# tools: none count
# needs: busybox
seq 50000 > data
run busybox sh -c 'for i in 1 2 3; do echo $((i * i)); done; echo "$0"'; run busybox md5sum data; run busybox sort -rn data | run busybox head -n 3; run busybox gzip -c data | run busybox gunzip -c | cmp - data; run busybox awk '{ s += $1 } END { print s }' data; run busybox sed -n '49999,$p' data
run busybox grep -c 9 data; run busybox tar c data | run busybox tar t; run busybox bc <<< '2 ^ 200'; run busybox dd if=data bs=1000 count=3 2> /dev/null | run busybox sha256sum; run_all busybox sh -c 'busybox seq 5 | busybox tac | busybox xargs echo; (exit 4); echo $?; trap "echo trapped" TERM; kill $$; sleep 0'; run busybox nonsense; echo $?; run busybox vi --help 2>&1 | head -n 1 | cut -c1-10
