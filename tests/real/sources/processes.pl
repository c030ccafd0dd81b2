# Processes, pipes, signals and sockets in perl: what perl.sh runs with every process traced.
use strict; use warnings; use POSIX ':sys_wait_h'; use IO::Socket::INET; use Socket;
$| = 1;
my @children;
for my $n (1 .. 8) { my $pid = fork; die unless defined $pid; if (!$pid) { my $s = 0; $s += $_ * $n for 1 .. 20000; POSIX::_exit($s % 200) } push @children, $pid }
print join(' ', map { waitpid $_, 0; $? >> 8 } @children), "\n";
open my $pipe, '-|', 'seq 1 1000 | sort -rn | head -n 3' or die; print <$pipe>; close $pipe; print "closed $?\n";
open my $out, '|-', 'tr a-z A-Z' or die; print $out "to a child\n"; close $out;
print scalar(`printf '%s' backticks; exit 3`), ' ', $? >> 8, "\n"; system 'kill -9 $$'; print $? & 127, "\n";
my $got = 0; $SIG{USR1} = sub { $got++ }; my $me = $$;
for (1 .. 20) { my $pid = fork; if (!$pid) { kill USR1 => $me; POSIX::_exit(0) } waitpid $pid, 0 } print "signals ", ($got >= 1 ? 'yes' : 'no'), "\n";
socketpair my $one, my $other, AF_UNIX, SOCK_STREAM, PF_UNSPEC or die;
if (my $pid = fork) { close $other; print $one "ping\n"; $one->flush; print scalar <$one>; waitpid $pid, 0 } else { close $one; my $line = <$other>; print $other "pong after $line"; $other->flush; POSIX::_exit(0) }
my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no server";
if (my $pid = fork) { my $client = $server->accept; print $client $_ ** 2, "\n" for 1 .. 500; close $client; waitpid $pid, 0; print "served ", $? >> 8, "\n" }
else { my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->sockport) or die; my $s = 0; $s += $_ while <$c>; POSIX::_exit($s == 41791750 ? 42 : 1) }
eval { local $SIG{ALRM} = sub { die "alarm\n" }; alarm 1; select undef, undef, undef, 10; }; print "interrupted: $@";
exec 'sh', '-c', 'echo from exec; exit 6';
