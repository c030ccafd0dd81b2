# Computing in perl: what perl.sh runs.
use strict; use warnings;
my ($state, %seen, @list) = (12345);
sub next_number { return $state = ($state * 1103515245 + 12345) & 0x7fffffff }
for (1 .. 40000) { my $n = next_number(); $seen{$n % 5003} .= chr(97 + $n % 26); push @list, $n }
my $text = join '', map { $seen{$_} } sort { $a <=> $b } keys %seen;
print length($text), ' ', unpack('%32C*', $text), "\n";
my @sorted = sort { $b <=> $a || 0 } @list; print "@sorted[0 .. 3]\n";
my $count = () = $text =~ /([a-m])(?=[n-z]\1)/g; print "$count\n";
(my $copy = $text) =~ s/([aeiou])([^aeiou]+)/uc($1) . reverse $2/ge; print substr($copy, 0, 60), "\n";
my @makers = map { my $k = $_; sub { $k += shift; $k * 2 } } 1 .. 5; print join(',', map { $_->(3) } @makers), "\n";
printf "%.10f %s %s\n", sqrt(2) * exp(1), 1e300 * 1e10, -7 % 3;
print join(' ', unpack('H*', pack('NnCw/a*d>', 1, 2, 3, 'hello', 1.5))), "\n";
my @matrix = map { my $r = $_; [map { $r * $_ % 17 } 1 .. 60] } 1 .. 60; my $sum = 0;
for my $i (0 .. 59) { for my $j (0 .. 59) { my $cell = 0; $cell += $matrix[$i][$_] * $matrix[$_][$j] for 0 .. 59; $sum += $cell * ($i ^ $j) } } print "$sum\n";
print join('|', sprintf('%s', (eval 'sub { 1 / $_[0] }')->(4)), (eval { 1 / ($sum - $sum) } // "error: $@") =~ s/ at .*//sr), "\n";
