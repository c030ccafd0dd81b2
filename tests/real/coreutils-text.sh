# what: checksums, counting, cutting, translating and formatting of large inputs by coreutils
# version: cut --version
seq 1 200000 > numbers
awk '{ printf "%s\tline %d of text, with \303\244\303\266 in it\n", $1 * $1, NR }' numbers > data
for sum in sha256sum sha512sum sha1sum md5sum b2sum cksum sum; do run $sum data; done
run sha256sum data > sums; run sha256sum -c sums
run wc -lwcmL data; run cut -f2 data | run cut -c3-9 | run uniq | run wc -l
run tr 'a-z' 'A-Z' < data | cksum; run tr -d '0-9' < data | run tr -s ' ' | cksum
run od -A x -t x2z -N 200000 data | cksum; run od -t f8 -N 4096 data | cksum
run seq -w 0 0.25 5000 | cksum; run seq 1000000 | tail -n 1
run head -c 100000 data | cksum; run tail -n 1000 data | cksum; run tac data | cksum; run nl -ba data | cksum
run paste numbers numbers | cksum; run fold -w 7 data | cksum; run fmt -w 40 data | cksum; run expand data | cksum
run pr -2 -l 40 -h title numbers | sed 1,5d | tail -n 5; run base64 data | run base64 -d | cmp - data; run base32 data | cksum
run factor 123456789012345678901 18446744073709551557 1000000007; run numfmt --to=iec 123456789 1024 999999999999
run expr 12345678901234567890 \* 98765432109876543210; run printf '%.20g %a %e\n' 0.1 0.1 12345.678
run split -n l/7 -d data part.; cat part.* | cmp - data; run split -b 100000 --filter='wc -c' data | sort | uniq -c
run csplit -s numbers 1000 '/^50000$/' '{0}'; run wc -l xx*; run cmp numbers data; echo "status $?"
run echo done; run yes | head -n 200000 | cksum; run basename /a/b.c .c; run dirname /a/b/c; run realpath -m ./x/../y
