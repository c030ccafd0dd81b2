/** @fileoverview A library that count_threads.c loads and unloads: its work must be named in the report all the same. */
int library_work(int rounds);

int library_work(int rounds) {
    volatile int sum = 0;
    for (int i = 1; i <= rounds; i++) {
        sum += i & 3;
    }
    return sum;
}
