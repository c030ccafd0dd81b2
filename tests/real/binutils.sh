# what: as, ld, ar, nm, objdump, readelf, strip, objcopy, size, addr2line
# version: ld --version
# tools: none count
# needs: gcc as ld objdump
printf 'int shared(int a) { return a * 3; }\nint _start_like(int b) { return shared(b) + 1; }\n' > a.c; gcc -O1 -g -c a.c -o a.o
run objdump -d a.o; run readelf -aW a.o | cksum; run nm -S a.o; run size a.o; run ar rcsD liba.a a.o; run ar tv liba.a | cut -c1-30; cksum liba.a; run ld -r a.o -o merged.o; run cmp -s a.o merged.o; echo $?
run objcopy --strip-debug a.o b.o; run strip -g -o c.o a.o; run objdump -h b.o | tail -n +5; run addr2line -f -e a.o 0x4; run readelf -x .text a.o; run objdump -d --no-show-raw-insn /bin/ls | cksum; run strings /bin/ls | cksum; run c++filt _ZNSt3mapIiSsE4findERKi
run elfedit --help | head -n 1; run readelf -h a.c; echo $?; run ld nothing.o -o x; echo $?; command -v gprof > /dev/null && run gprof --version | head -n 1
