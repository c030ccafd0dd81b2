# what: grep: fixed, basic, extended and Perl expressions, back references, recursion
# version: grep --version
# tools: none count
seq 1 100000 | awk '{ print "line " $1 " has " ($1 * 48271) % 2147483647 " and user" $1 % 97 "@host.example" }' > data
run grep -c 7 data; run grep -E -c '([0-9])\1\1' data; run grep -P -c '(?<=user)(\d)\1@(?=host)' data; run grep -F -f <(seq 1000 7 1400) -c data
run grep -o -E '[0-9]+@[a-z.]+' data | sort -u | cksum; run grep -v -i -n 'HAS 1' data | cksum; run grep -w -m 5 -A1 -B1 '19999' data; run grep -E -c '^(line|has|and| |[0-9]|user|@|host\.example)*$' data
mkdir -p d/e; cp data d/e/x; echo needle > d/y; run grep -r -l needle d; run grep -q nothing data; echo $?; run grep needle missing; echo $?; run grep '\(' data; echo $?; run grep -c 'ä' <(echo ä; echo a); LC_ALL=C run grep -c $'\303' <(echo ä)
run_all egrep -c '1{3}' data 2> /dev/null; run_all zgrep -c 55 data
