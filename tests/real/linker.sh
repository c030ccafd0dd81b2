# what: the dynamic linker run as a program, ldd, ldconfig, preloading, locale tools
# version: ldd --version
# tools: none count
run /lib64/ld-linux-x86-64.so.2 --list /bin/ls | sed 's/(0x.*//'; run /lib64/ld-linux-x86-64.so.2 --verify /bin/ls; echo $?; run /lib64/ld-linux-x86-64.so.2 /bin/echo through the linker; run /lib64/ld-linux-x86-64.so.2 --argv0 other /bin/bash -c 'echo $0'; run /lib64/ld-linux-x86-64.so.2 --help | head -n 3
run_all ldd /bin/bash | sed 's/(0x.*//'; run /sbin/ldconfig -p | cksum; run getent hosts localhost; run getent passwd root; run iconv -f UTF-8 -t UTF-16LE <<< 'äöü€' | od -c; run gencat --help > /dev/null 2>&1; echo $?
run /lib64/ld-linux-x86-64.so.2 /nonexistent; echo $?; run /lib/x86_64-linux-gnu/libc.so.6 | head -n 1;
