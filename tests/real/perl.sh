# what: perl: hashes, sorting, closures, regular expressions, fork, pipes, signals, pack, sockets, big numbers
# version: perl -e 'print "$^V\n"'
# tools: none count
# needs: perl
run perl "$SOURCES/work.pl"; echo $?
run_all perl "$SOURCES/processes.pl"; echo $?
run perl -MMath::BigInt -e 'print Math::BigInt->new(2)->bpow(2000), "\n"'; run perl -MDigest::SHA=sha256_hex -e 'print sha256_hex("x" x 1000000), "\n"'; run perl -MData::Dumper -e '$Data::Dumper::Sortkeys=1; print Dumper({a=>[1,2,{b=>undef}],c=>\"d"})'
run perl -e 'die "with a message\n"'; echo $?; run perl -e 'kill 15, $$; sleep 5' 2> /dev/null; echo $?; run perl -e 'local $SIG{__DIE__} = sub { print "handler\n" }; eval { die { code => 7 } }; print $@->{code}, "\n"; exit 3'; echo $?
run perl -pe 's/(\d+)/$1 * 2/ge' <(seq 1 5); run perl -MTime::HiRes=ualarm -e '$SIG{ALRM} = sub { print "alarm\n"; exit 0 }; ualarm 50000; 1 while 1'; run perl -c -e 'if (' ; echo $?
