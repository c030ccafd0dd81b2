# what: pipelines, here-documents, process substitution, coprocesses and expansions in bash, all processes traced
# version: bash --version
# tools: none count
cat > job.sh <<'END'
set -u
seq 1 20000 | sort -r | awk '{ s += $1 * NR } END { print s }'
(exit 4) | false | true; echo "${PIPESTATUS[@]}"
cat <<HERE | tr a-z A-Z
a here-document with $((6 * 7)) and $(echo substituted | rev)
HERE
diff <(seq 1 10) <(seq 2 11)
echo "diff $?"
seq 5 | tee >(wc -l > count.txt) > copy.txt; while [ ! -s count.txt ]; do sleep 0.01; done; cat count.txt copy.txt
coproc UP { while read -r line; do echo "${line^^}"; done; }
echo hello >&"${UP[1]}"; read -r answer <&"${UP[0]}"; echo "$answer"
eval "exec ${UP[1]}>&-"; wait
declare -A map=([one]=1 [two]=2 [three]=3); for key in $(printf '%s\n' "${!map[@]}" | sort); do echo "$key ${map[$key]}"; done
text="the quick brown fox"; echo "${text//o/0} ${text%% *} ${text##* } ${#text} ${text:4:5}"
[[ $text =~ (q[a-z]+)\ (b[a-z]+) ]] && echo "${BASH_REMATCH[2]} ${BASH_REMATCH[1]}"
f() { local n=$1; if ((n < 2)); then echo "$n"; else echo $(($(f $((n - 1))) + $(f $((n - 2))))); fi; }
f 8
(exit 7); echo "subshell $?"
yes | head -n 3
for i in {1..30}; do (echo "$i") & done | sort -n | md5sum
wait
exec 3> three.txt; echo three >&3; exec 3>&-; cat three.txt
mapfile -t lines < <(seq 3); echo "${lines[@]}"
printf '%q %05d %x %s\n' "a b" 42 255 end
nosuchcommand; echo "status $?"
cat /nonexistent/file; echo "status $?"
exit 3
END
run_all bash job.sh; echo "exit $?"
