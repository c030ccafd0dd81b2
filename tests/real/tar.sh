# what: tar: create, list, extract, compress through a child, exclude, incremental, sparse
# version: tar --version
# tools: none count
mkdir -p tree/a/b; for i in $(seq 1 60); do seq $((i * 100)) > tree/a/f$i; seq $i > tree/a/b/g$i; done; ln -s a tree/l; ln tree/a/f1 tree/hard; truncate -s 1M tree/sparse
find tree -exec touch -h -d '2020-02-03 04:05:06' {} +
run tar --sort=name --owner=0 --group=0 --numeric-owner -cf plain.tar tree; cksum plain.tar; run tar -tvf plain.tar | cksum
mkdir out; run tar -xf plain.tar -C out; diff -r --no-dereference tree out/tree && echo same; run tar -df plain.tar; echo $?
for flag in z j J; do run_all tar --sort=name --owner=0 --group=0 -c$flag"f" packed tree; run_all tar -tf packed | cksum; done
run tar --sort=name --exclude='*9' -c tree | run tar -t | wc -l; run tar -Scf sparse.tar tree/sparse; [ $(stat -c %s sparse.tar) -lt 20000 ] && echo sparse
run tar -rf plain.tar --transform 's/^/x\//' tree/a/f2; run tar -tf plain.tar x/tree/a/f2; run tar -xOf plain.tar tree/a/f9 | cksum; run tar -xf /dev/null nothing; echo "status $?"
if command -v cpio > /dev/null; then find tree | sort | run cpio -o -H newc --quiet 2> /dev/null | run cpio -it --quiet | cksum; fi
