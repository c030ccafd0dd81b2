# Interpreter workload: sieve, hashes, strings, sorting and regular expressions in perl. Argument: rounds.
use strict;
use warnings;

my $rounds = shift // 1;
my $checksum = 0;

for my $round (1 .. $rounds) {
    my @composite;
    my $limit = 20000;
    for my $number (2 .. $limit) {
        next if $composite[$number];
        $checksum += $number;
        for (my $multiple = $number * $number; $multiple <= $limit; $multiple += $number) {
            $composite[$multiple] = 1;
        }
    }

    my (%counts, $state);
    $state = $round;
    for (1 .. 20000) {
        $state = ($state * 1103515245 + 12345) % 2147483648;
        $counts{"key" . ($state % 997)} += $state & 255;
    }
    for my $key (sort { $counts{$a} <=> $counts{$b} || $a cmp $b } keys %counts) {
        $checksum = ($checksum * 31 + $counts{$key}) % 1000000007;
        $checksum++ if $key =~ /^key(\d)\d*\1$/;
    }

    my $text = join ' ', map { chr(97 + $_ % 26) x (1 + $_ % 5) } 1 .. 4000;
    $checksum += () = $text =~ /\b(\w)\1+\b/g;
    $text =~ tr/a-m/n-z/;
    $checksum += length($text) + index($text, 'zz');
}
print "$checksum\n";
