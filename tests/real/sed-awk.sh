# what: sed and awk programs over large texts
# version: sed --version
# tools: none count
seq 1 120000 | awk '{ print $1 ": the " ($1 % 7 ? "quick" : "lazy") " fox; value=" ($1 * 2654435761) % 4294967296 }' > data
run sed -n '/lazy/{s/.*value=\([0-9]*\).*/\1/;p}' data | cksum; run sed -E 's/(quick|lazy) (fox)/\2 \1/; y/abc/xyz/; 1~3d' data | cksum
run sed -e ':a;N;$!{/\n.*lazy/!ba};s/\n/+/g' data | cksum; run sed --debug -n '5p' data; cp data edited; run sed -i.bak '2,5d;$a end' edited; diff data edited; cmp data edited.bak
run awk '{ split($5, p, "="); sum[$3] += p[2]; n[$3]++ } END { for (k in sum) printf "%s %d %.6f\n", k, n[k], sum[k] / n[k] | "sort"; close("sort") }' data
run_all awk 'BEGIN { while (("seq 100" | getline line) > 0) total += line; print total; "date -u -d @0 +%F" | getline day; print day }'
run awk 'BEGIN { for (i = 0; i < 60000; i++) { x = sin(i) * exp(-i / 30000) + sqrt(i) * atan2(i, 7); s += x } printf "%.12f\n", s }'
run awk 'function ack(m, n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)) } BEGIN { print ack(2, 40) }'
run awk -F'[ :;=]+' '{ gsub(/[aeiou]/, "<&>"); if (match($0, /l<a>z/)) c += RSTART } END { print c, NF, toupper($3) }' data; run awk 'BEGIN { exit 4 }'; echo $?; run awk '{'; echo $?
