# what: the compiler proper, cc1 at -O2, on a generated file
# version: gcc --version
# tools: none count
# needs: gcc
for i in $(seq 60); do cat <<END
static unsigned f$i(const unsigned *a, unsigned n) { unsigned h = $i; for (unsigned i = 0; i < n; i++) { h ^= a[i] + (h << 5); switch (h % 5) { case 0: h += a[n - 1]; break; case 3: h *= $((i * 7 + 3)); } } return h; }
double g$i(double *x, unsigned n) { double s = 0; for (unsigned i = 0; i < n; i++) s += x[i] * (i % $((i + 2))); return s + f$i((unsigned *)x, n); }
END
done > file.c
run "$(gcc -print-prog-name=cc1)" -quiet -O2 file.c -o file.s; cksum file.s; run as file.s -o file.o; cksum < file.o
