# what: qemu-x86_64, a translator under a translator, runs static programs
# program: qemu-x86_64
# version: qemu-x86_64 --version
# tools: none count
# needs: qemu-x86_64 busybox gcc
# limit: 200
printf '#include <pthread.h>\n#include <stdio.h>\nstatic long sums[2]; static void *work(void *a) { long n = (long)a; for (long i = 0; i < 3000000; i++) sums[n] += i ^ n; return 0; }\nint main(void) { pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)i); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); printf("%%ld %%ld %%.6f\\n", sums[0], sums[1], 1.0 / 3); return 5; }\n' > p.c; gcc -O1 -static -pthread p.c -o p
run qemu-x86_64 ./p; echo $?; seq 3000 > data; run qemu-x86_64 "$(command -v busybox)" md5sum data; run qemu-x86_64 "$(command -v busybox)" sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; echo $i; kill -9 $$' 2> /dev/null; echo $?; run qemu-x86_64 ./data 2>&1 | head -n 1
