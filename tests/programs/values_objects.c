/**
 * @fileoverview For tests/test_values_objects.py: loads twice from each kind of data object. The argument is a file of at least 80
 * bytes, which is mapped.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static int initialised[16] = {1, 2, 3};
static int zeroed[32];
__attribute__((noinline)) int load(const int *from, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += from[i];
        __asm__ volatile("" : "+r"(sum) : : "memory");
    }
    return sum;
}
__attribute__((noinline)) int twice(const int *from, int count) { return load(from, count) + load(from, count); }
__attribute__((noinline)) int *one(int count) { return malloc((size_t)count * sizeof(int)); }
__attribute__((noinline)) int *other(int count) { return calloc((size_t)count, sizeof(int)); }
__attribute__((noinline)) int in_frame(void) {
    int local[64] = {0};
    __asm__ volatile("" : : "r"(local) : "memory");
    return twice(local, 64) + local[0];
}
int main(int count, char **arguments) {
    int sum = in_frame(); /* first: nothing has loaded from there before */
    sum += twice(initialised, 16) + twice(zeroed, 32);
    for (int i = 0; i < 3; i++) { /* the same memory, mostly, for two objects in turn */
        int *a = one(10);
        memset(a, 0, 10 * sizeof(int));
        sum += twice(a, 10);
        free(a);
        int *b = other(12);
        sum += twice(b, 12);
        free(b);
    }
    int file = open(arguments[count - 1], O_RDONLY);
    const int *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return 1;
    sum += twice(mapped, 20);
    return sum == 12345;
}
