# what: job control: stopped, continued and killed jobs in process groups of their own
# version: bash --version
cat > job.sh <<'END'
set -m
state() { awk '{ print $3 }' < /proc/$1/stat; }
wait_state() { for i in {1..400}; do [ "$(state $1)" = $2 ] && break; sleep 0.01; done; echo "state $(state $1)"; }
sleep 30 & first=$!
wait_state $first S
kill -STOP %1; wait_state $first T
jobs | sed 's/  */ /g'
kill -CONT %1; wait_state $first S
kill -TERM %1; wait -f $first; echo "terminated $?"
bash -c 'trap "echo continued" CONT; kill -STOP $$; echo after; exit 4' & second=$!
wait_state $second T
kill -CONT $second; until wait $second; ended=$?; [ $ended -ne 147 ]; do :; done; echo "second $ended"
(sleep 30 | sleep 30) & third=$!
sleep 0.1; kill -TERM -$third; wait $third; echo "group $?"
{ echo in a group; } | cat
bash -c 'exit 6' & bash -c 'exit 7' & wait -n; echo "one of them $(( $? / 6 ))"; wait
END
run_all bash job.sh; echo "exit $?"
