// build: gcc -O1 -nostdlib -static -fno-stack-protector -fno-pic -no-pie -mno-avx -Wl,--build-id=none
// variants: layout-usual, layout-segments, layout-huge-alignment, layout-one-rwx, layout-high
/* Odd PT_LOAD layouts (linker scripts in layouts/): several writable segments, one of zeroes only with no bytes in the
   file, a large alignment, code and data in a single writable executable segment, a gap of many megabytes. */
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
static int wrong;
static void check(int holds, const char *text, long length) {
    call(1, 1, (long)(holds ? "ok " : "WRONG "), holds ? 3 : 6);
    call(1, 1, (long)text, length);
    call(1, 1, (long)"\n", 1);
    wrong |= !holds;
}
#define CHECK(holds, text) check(holds, text, sizeof text - 1)

int data_one[1000] __attribute__((section(".data.one"))) = {1, 2, 3};
int data_two[1000] __attribute__((section(".data.two"))) = {4, 5, 6};
char zeroes[70000] __attribute__((section(".bss.far")));
char near_zeroes[5000];
const char constant[4096] __attribute__((aligned(4096))) = "constant";

static int all_zero(const char *from, long size) {
    for (long i = 0; i < size; i++)
        if (((volatile const char *)from)[i])
            return 0;
    return 1;
}

__attribute__((noreturn, used)) void begin(void) {
    CHECK(data_one[0] == 1 && data_one[2] == 3 && data_one[999] == 0, "first writable data");
    CHECK(data_two[0] == 4 && data_two[2] == 6 && data_two[999] == 0, "second writable data");
    CHECK(all_zero(zeroes, sizeof zeroes), "zeroes of a segment without file bytes");
    CHECK(all_zero(near_zeroes, sizeof near_zeroes), "zeroes behind data");
    const char *end = near_zeroes + sizeof near_zeroes;
    CHECK(all_zero(end, (4096 - ((long)end & 4095)) & 4095), "the rest of the last page");
    for (unsigned i = 0; i < sizeof zeroes; i++)
        zeroes[i] = (char)i;
    data_one[5] = data_two[5] = 9;
    CHECK(zeroes[69999] == (char)69999 && data_one[5] + data_two[5] == 18, "written and read back");
    CHECK(constant[0] == 'c' && constant[4095] == 0, "constants");
    call(231, wrong, 0, 0);
    __builtin_unreachable();
}
__asm__(".globl _start\n_start: xor %ebp,%ebp\n and $-16,%rsp\n call begin\n");
