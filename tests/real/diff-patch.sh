# what: diff, patch, cmp, diff3, sdiff
# version: diff --version
seq 1 20000 > old; sed -e '5d;700,720s/$/ changed/;15000a new line' old > new; sed '3000,3005d' old > other
run diff -u --label a --label b old new | cksum; run diff old new > plain; echo $?; run diff -y -W 60 --suppress-common-lines old new | head -n 9; run diff3 -m old new other 2>&1 | cksum
cp old target; run diff -u old new > u.patch; run patch -s target u.patch; cmp target new; run patch -R -s target u.patch; cmp target old; run patch --dry-run target plain; echo $?; echo junk | run patch target; echo $?
run cmp -l old new | wc -l; run diff -q old /nonexistent; echo $?
