# what: traps, signals to the shell itself, and statuses of children killed by signals
# version: bash --version
# tools: none count
cat > job.sh <<'END'
trap 'echo got USR1' USR1
trap 'echo got HUP; hups=$((hups + 1))' HUP
trap 'echo leaving with $?' EXIT
trap 'echo an error in $FUNCNAME' ERR
hups=0
kill -USR1 $$
for i in 1 2 3 4 5; do kill -HUP $$; done; echo "hups $hups"
(sleep 0.05; kill -USR1 $$) & wait $!; echo "waited $?"
wait; echo "all $?"
fails() { false; }; fails; set -E; fails
(trap - EXIT; kill -TERM $BASHPID); echo "killed $?"
(trap - EXIT; ulimit -c 0; kill -SEGV $BASHPID) 2> /dev/null; echo "crashed $?"
trap '' INT; kill -INT $$; echo "ignored"
trap 'echo alarm in a loop; stop=1' ALRM; stop=
(sleep 0.1; kill -ALRM $$) &
while [ -z "$stop" ]; do :; done
wait
timeout 0.2 sleep 10; echo "timeout $?"
timeout -s KILL 0.2 sleep 10; echo "timeout $?"
exit 5
END
run_all bash job.sh > traced.txt 2>&1; echo "exit $?"; sed 's/: *[0-9]\{1,\} /: PID /' traced.txt
run bash job.sh > plain.txt 2>&1; echo "exit $?"; sed 's/: *[0-9]\{1,\} /: PID /' plain.txt
(run bash -c 'ulimit -c 0; kill -SEGV $$') 2> /dev/null; echo "shell sees $?"
(run bash -c 'kill -KILL $$') 2> /dev/null; echo "shell sees $?"
