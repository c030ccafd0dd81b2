# what: other programs of a plain system: bc, dc, m4, file, less, xxd, column, getopt, ps, dpkg, apt-cache
# tools: none count
have() { command -v "$1" > /dev/null; }
have bc && run bc -l <<< 'scale=60; 4*a(1); 2^300; sqrt(2)'; have dc && run dc -e '40k 2 v p 16 o 48879 p'; have m4 && run m4 "$SOURCES/factorial.m4"
have file && run file -b /bin/sh /etc/passwd "$SOURCES/foreign.py" | cut -d, -f1-2; have xxd && run xxd -l 64 /etc/passwd; seq 9 | run column -c 30; run getopt -o ab: -l long: -- -a -b x --long=y z; have ps && run ps -o comm= -p 1; run dpkg --print-architecture; run dpkg-query -W -f '${Package} ${Status}\n' bash
run dpkg --compare-versions 1.0~rc1 lt 1.0; echo $?; have less && run less -F "$SOURCES/work.pl" < /dev/null | cksum; run mawk 'BEGIN { srand(1); print int(rand() * 0) }'; run namei /bin/sh; run mount -V | cut -d' ' -f1; run look zz "$SOURCES/work.pl" 2> /dev/null; run printf '%s\n' done; run dmesg --help | head -n 2; run fallocate -l 4096 f; stat -c %s f; run flock f echo locked; run rev <<< abc; run hexdump -C f | tail -n 1
