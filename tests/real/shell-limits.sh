# what: limits on memory set by a shell for itself and its children, seen and met by them; descriptors listed by a shell
cat > limits.sh <<'END'
ulimit -S -v 500000; ulimit -S -v
grep -E '^Max (address space|data size)' /proc/self/limits
python3 -c 'print(len(bytearray(100 << 20)))'
python3 -c 'bytearray(1 << 30)' 2> /dev/null; echo "too much: $?"
ulimit -v 400000; ulimit -v; ulimit -H -v
(ulimit -v 300000; ulimit -v; bash -c 'ulimit -v; for i in 1 2 3; do echo $i | cat; done')
ulimit -S -s 4096; ulimit -s; bash -c 'ulimit -s'
ulimit -S -d 100000; python3 -c 'bytearray(200 << 20)' 2> /dev/null; echo "too much data: $?"
ls /proc/self/fd | wc -l; exec 7< limits.sh; ls /proc/self/fd | wc -l; (cd /proc/self/fd; echo *)
END
run_all bash limits.sh; echo "exit $?"
run bash limits.sh; echo "exit $?"
