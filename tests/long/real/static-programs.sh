# what: one program built statically and dynamically by gcc, clang, musl-gcc
# program: compilers' outputs
# tools: none count
# needs: gcc clang musl-gcc
printf '#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\nint main(int n, char **a) { char *s = malloc(100); snprintf(s, 100, "%%d %%s %%.3f", n, strrchr(a[0], 47), n / 3.0); puts(s); free(s); return n; }\n' > p.c; number=0
for build in "gcc" "gcc -static" "gcc -static-pie" "gcc -no-pie" "gcc -m64 -O3 -march=native" "clang -O2" "clang -static" "clang -fPIE -pie" "musl-gcc" "musl-gcc -static" "gcc -static -Wl,-z,noseparate-code" "gcc -Wl,-z,now,-z,relro" "gcc -Wl,--hash-style=sysv" "gcc -s"; do $build p.c -o p$((++number)) && run ./p$number one two; echo "$build $?"; done
