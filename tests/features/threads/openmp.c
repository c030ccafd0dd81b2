// heavy: yes
// build: gcc -O2 -fopenmp
// link: -lm
// environment: OMP_NUM_THREADS=2
/* OpenMP: parallel reduction, dynamic schedule, critical sections, tasks; exact sums. */
#include "check.h"
#include <omp.h>
static long fibonacci(int n) {
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a) if (n > 12)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 12)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void) {
    long sum = 0, critical = 0, result = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100)
    for (long i = 0; i < 1000000; i++)
        sum += i ^ (i >> 3);
    long wanted = 0;
    for (long i = 0; i < 1000000; i++)
        wanted += i ^ (i >> 3);
    CHECK(sum == wanted, "reduction %ld", sum);
#pragma omp parallel
    for (int i = 0; i < 2000; i++)
#pragma omp critical
        critical++;
    CHECK(critical % 2000 == 0 && critical >= 2000, "critical section");
#pragma omp parallel
#pragma omp single
    result = fibonacci(22);
    CHECK_EQUAL(result, 17711, "tasks");
    return finish();
}
