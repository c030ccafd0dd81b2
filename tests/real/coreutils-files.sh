# what: dd, ls -lR, cp -r, find, xargs, du, stat, mv, ln, chmod on a generated tree
# version: cp --version
make_tree() { for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8 9; do mkdir -p tree/d$a/e$b
    for c in 1 2 3; do seq $((a * b * c * 40)) > tree/d$a/e$b/f$c.txt; done; done; done
    ln -s d1 tree/link; ln tree/d1/e1/f1.txt tree/hard; mkfifo tree/fifo; chmod 640 tree/d2/e2/*; : > "tree/a name with  blanks"; }
make_tree; find tree -depth -exec touch -h -d '2020-02-03 04:05:06' {} +
run ls -lR --time-style=full-iso --block-size=1 tree | sed 's/^total.*//' | cksum; run ls -la tree | wc -l; run ls -1 --sort=size tree/d3/e3
run cp -r tree copy; run cp -a tree/. archive; run diff -r --no-dereference --exclude=fifo tree copy && echo same
run find archive -type f -size +1k -newermt 2020-01-01 | sort | cksum; run find tree -name '*2*' -printf '%P %s %m %y\n' | sort | cksum
run find tree -type f -print0 | run xargs -0 -n 20 cat | cksum
run_all find tree -name 'f1.txt' -exec wc -l {} + | sort | cksum; find tree -name 'f2.txt' | sort | run_all xargs -P 2 -n 1 wc -l | sort | cksum
run dd if=/dev/zero of=zeros bs=64k count=100 status=none; run dd if=zeros of=part bs=1000 skip=3 seek=2 count=5 conv=notrunc status=none; run stat -c '%n %s %a %F' zeros part tree/link tree/fifo
run dd if=tree/d8/e9/f3.txt bs=512 conv=ucase,swab 2> dd.err | cksum; head -n 2 dd.err; run truncate -s 1M sparse; run du --apparent-size -b sparse
run mv copy moved; run rm -r moved; ls; run install -D -m 755 zeros a/b/c/zeros; run stat -c %a a/b/c/zeros; run readlink -f tree/link/e1
run chmod -R g-r archive; run stat -c %A archive/d2/e2/f1.txt; run touch -d @86400 old; run date -r old +%F; run mkdir tree; echo "status $?"; run rmdir tree/d1; echo "status $?"
run sync zeros; run test -p tree/fifo; echo $?; run mktemp -u nameXXXXXX | wc -c; run tee out1 out2 < dd.err | wc -l; cmp out1 out2
