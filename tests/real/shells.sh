# what: dash: functions, loops, short processes, and scripts with #! started through the kernel
cat > loop.sh <<'END'
#!/bin/dash
i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i + 1)); done; echo "$i $0 $*"
for word in b a c; do echo "$word"; done | sort | paste -sd,
read line < "$0"; echo "$line"
exit 9
END
chmod +x loop.sh
run_all ./loop.sh one "two words"; echo $?
run ./loop.sh three; echo $?
printf '#!/usr/bin/env -S awk -f\nBEGIN { print ARGC, ARGV[1] }\n' > script.awk; chmod +x script.awk
run_all ./script.awk argument; echo $?
printf 'echo no interpreter line $1\n' > bare.sh; chmod +x bare.sh
run_all dash -c './bare.sh given'; echo $?
