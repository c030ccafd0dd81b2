/**
 * @fileoverview Ways that bytes from standard input (a file) take to the function sink(), or not, for the tool taint. Ways whose
 * names begin with "no_" must not be found.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static char input[64];
static volatile uint64_t kept, clean;

APART void sink(uint64_t value) {
    kept = value;
    __asm__ volatile("" ::: "memory");
}

static uint64_t word(void) {
    uint64_t value;
    memcpy(&value, input, sizeof value);
    return value;
}

static void plain(void) { sink(word()); }
static void sum(void) { sink(word() * 3 + 17); }
static void upper_byte(void) { sink(word() >> 56); }
static void no_shifted_out(void) { sink((uint64_t)(uint8_t)clean << 8 | ((word() & 0xff) << 56) << 8); }
static void no_masked(void) { sink(word() & 0 & clean); }
static void no_xored(void) {
    uint64_t value = word();
    __asm__ volatile("xor %0, %0" : "+r"(value));
    sink(value);
}
static void no_overwritten(void) {
    input[0] = 1;
    memset(input, 1, sizeof input);
    sink(word());
}
static void no_low_half(void) {
    uint64_t value = word();
    __asm__ volatile("movl $5, %k0" : "+r"(value));
    sink(value);
}
static void copied(void) {
    char *other = malloc(4096);
    memset(other, 0, 4096);
    memcpy(other + 1001, input, 33);
    uint64_t value;
    memcpy(&value, other + 1001 + 25, sizeof value);
    sink(value);
    free(other);
}
static void no_beside_copied(void) {
    char *other = calloc(1, 4096);
    memcpy(other + 1001, input, 33);
    uint64_t value;
    memcpy(&value, other + 1001 + 33, sizeof value);
    sink(value);
    free(other);
}
static void moved_by_string(void) {
    char other[64] = {0};
    const void *from = input;
    void *to = other;
    size_t count = 40;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count)::"memory");
    sink((uint64_t)other[39]);
}
static void filled_by_string(void) {
    char other[64] = {0};
    void *to = other;
    size_t count = 40;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(input[0]) : "memory");
    sink((uint64_t)other[39]);
}
static void by_vector(void) {
    uint64_t value;
    __asm__ volatile("movdqu %1, %%xmm1\n\tpaddd %%xmm1, %%xmm1\n\tpshufd $0x4e, %%xmm1, %%xmm2\n\tmovq %%xmm2, %0"
                     : "=r"(value) : "m"(*(const char(*)[16])input) : "xmm1", "xmm2");
    sink(value);
}
static void by_double(void) {
    double value = input[3];
    sink((uint64_t)(value * 1.5 + 2));
}
static void by_long_double(void) {
    volatile long double other = 3, value = input[3];
    sink((uint64_t)(value * other + 2));
}
static void no_beside_long_double(void) {
    volatile long double tainted = input[3], other = 3;
    sink((uint64_t)(other * 2));
    kept = (uint64_t)tainted;
}
static void by_flag(void) { sink(word() > clean); }
static void by_carry(void) {
    uint64_t value = word(), result = 0;
    __asm__ volatile("add %1, %1\n\tadc $0, %0" : "+r"(result), "+r"(value));
    sink(result);
}
static void by_choice(void) {
    uint64_t result = 5, other = 6;
    __asm__ volatile("cmpb $9, %2\n\tcmovb %1, %0" : "+r"(result) : "r"(other), "m"(input[0]));
    sink(result);
}
static void by_push(void) {
    uint64_t result;
    __asm__ volatile("sub $128, %%rsp\n\tpush %1\n\tpop %0\n\tadd $128, %%rsp" : "=r"(result) : "r"(word()));
    sink(result);
}
static void by_number(void) {
    input[6] = 0;
    sink((uint64_t)atoi(input));
}

static sigjmp_buf back;
static volatile sig_atomic_t handled;
static void handler(int number) {
    uint64_t junk = (uint64_t)number;
    __asm__ volatile("mov %0, %%r12\n\tmov %0, %%r13\n\tmov %0, %%rbx\n\tmovq %0, %%xmm5" ::"r"(junk) : "r12", "r13", "rbx", "xmm5");
    handled++;
}
static void through_signal(void) {
    register uint64_t in_register __asm__("r12") = word();
    signal(SIGUSR1, handler);
    uint64_t in_vector;
    __asm__ volatile("movq %2, %%xmm5\n\tmov $39, %%eax\n\tsyscall\n\tmov %%eax, %%edi\n\tmov $10, %%esi\n\tmov $62, %%eax\n\tsyscall\n\t"
                     "movq %%xmm5, %0" : "=r"(in_vector), "+r"(in_register) : "m"(input[8]) : "rax", "rcx", "r11", "rdi", "rsi", "xmm5", "memory");
    sink(in_register);
    sink(in_vector);
}
static void in_handler(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    sink((uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_R12]);
}
static void seen_by_handler(void) {
    struct sigaction action = {.sa_sigaction = in_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    register uint64_t in_register __asm__("r12") = word();
    __asm__ volatile("mov $39, %%eax\n\tsyscall\n\tmov %%eax, %%edi\n\tmov $10, %%esi\n\tmov $62, %%eax\n\tsyscall"
                     : "+r"(in_register)::"rax", "rcx", "r11", "rdi", "rsi", "memory");
}
static void by_longjmp(void) {
    volatile uint64_t value = word();
    if (!sigsetjmp(back, 1)) siglongjmp(back, 1);
    sink(value);
}
static void *thread(void *argument) {
    sink(*(uint64_t *)argument);
    return NULL;
}
static void in_thread(void) {
    pthread_t other;
    pthread_create(&other, NULL, thread, input);
    pthread_join(other, NULL);
}
static void in_child(void) {
    pid_t child = fork();
    if (child) {
        waitpid(child, NULL, 0);
        return;
    }
    sink(word());
}
static void by_remap(void) {
    char *old = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(old + 5000, input, 8);
    char *new = mremap(old, 8192, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, old - (1 << 20));
    sink((uint64_t)new[5000]);
    munmap(new, 16384);
}
static void no_mapped_anew(void) {
    char *old = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(old + 5000, input, 8);
    munmap(old, 8192);
    char *new = mmap(old, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    sink((uint64_t)new[5000]);
}
static void no_read_over(void) {
    int ends[2];
    if (pipe(ends) || write(ends[1], "12345678", 8) != 8 || read(ends[0], input, 8) != 8) return;
    sink(word());
}

#define WAY(name) {#name, name}
static const struct {
    const char *name;
    void (*way)(void);
} ways[] = {
    WAY(plain), WAY(sum), WAY(upper_byte), WAY(no_shifted_out), WAY(no_masked), WAY(no_xored), WAY(no_overwritten), WAY(no_low_half),
    WAY(copied), WAY(no_beside_copied), WAY(moved_by_string), WAY(filled_by_string), WAY(by_vector), WAY(by_double),
    WAY(by_long_double), WAY(no_beside_long_double), WAY(by_flag), WAY(by_carry), WAY(by_choice), WAY(by_push),
    WAY(by_number), WAY(through_signal), WAY(seen_by_handler), WAY(by_longjmp), WAY(in_thread), WAY(in_child),
    WAY(by_remap), WAY(no_mapped_anew), WAY(no_read_over),
};

/** All of them, or the one that is named. Each begins with new input. */
int main(int count, char **arguments) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (count > 1 && strcmp(ways[i].name, arguments[1])) continue;
        if (lseek(0, 0, SEEK_SET) < 0 || read(0, input, sizeof input) < 48) return 2;
        ways[i].way();
    }
    return 0;
}
