// build: gcc -O1
// variants: dynamic, static
/* brk and sbrk growing and shrinking; mmap fixed, noreplace, 32-bit, growsdown, hints; mprotect holes; madvise; mincore;
   mremap; errors as the kernel gives them; shared memory (System V, POSIX-like memfd). */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
enum { RW = PROT_READ | PROT_WRITE };
int main(void) {
    char *old = sbrk(0);
    CHECK(sbrk(1 << 20) == old && (char *)sbrk(0) == old + (1 << 20), "the break grows by 1 MiB");
    memset(old, 7, 1 << 20);
    CHECK(old[(1 << 20) - 1] == 7, "and can be written");
    CHECK(brk(old) == 0 && sbrk(0) == (void *)old, "shrinks");
    CHECK(sbrk(8192) == old && old[4096] == 0, "fresh zeroes when it grows again");
    brk(old);
    CHECK(syscall(SYS_brk, 0) == (long)old && syscall(SYS_brk, 16) == (long)old, "a bad break leaves it");
    char *a = mmap(NULL, 3 * 4096, RW, ANONYMOUS, -1, 0);
    CHECK(a != MAP_FAILED && ((uintptr_t)a & 4095) == 0, "mmap");
    a[0] = 1, a[4096] = 2, a[8192] = 3;
    CHECK(mmap(a + 4096, 4096, PROT_READ, ANONYMOUS | MAP_FIXED, -1, 0) == a + 4096 && a[4096] == 0 && a[0] == 1 && a[8192] == 3, "MAP_FIXED into the middle");
    CHECK(mmap(a, 4096, RW, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno == EEXIST, "MAP_FIXED_NOREPLACE: EEXIST");
    munmap(a + 4096, 4096);
    CHECK(mmap(a + 4096, 4096, RW, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == a + 4096, "into a hole");
    munmap(a + 4096, 4096);
    CHECK(mmap(a + 4096, 4096, RW, ANONYMOUS, -1, 0) == a + 4096, "a free hint is taken");
    CHECK(munmap(a + 1, 4096) == -1 && errno == EINVAL, "munmap unaligned: EINVAL");
    CHECK(munmap(a, 3 * 4096) == 0 && munmap(a, 3 * 4096) == 0, "munmap twice");
    CHECK(mprotect(a, 4096, PROT_READ) == -1 && errno == ENOMEM, "mprotect of nothing: ENOMEM");
    CHECK(mmap(NULL, 0, RW, ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL, "length 0: EINVAL");
    CHECK(mmap(NULL, 4096, RW, MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL, "neither shared nor private: EINVAL");
    CHECK(mmap(NULL, 4096, RW, MAP_PRIVATE, -1, 0) == MAP_FAILED && errno == EBADF, "bad descriptor: EBADF");
    CHECK(mmap(NULL, 1ul << 47, RW, ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED && errno == ENOMEM, "too large: ENOMEM");
    CHECK(mmap((void *)16, 4096, RW, ANONYMOUS, -1, 0) != MAP_FAILED, "a hint that cannot be is only a hint");
    char *low = mmap(NULL, 4096, RW, ANONYMOUS | MAP_32BIT, -1, 0);
    CHECK(low != MAP_FAILED && (uintptr_t)low < 1ul << 31, "MAP_32BIT");
    low[0] = 1;
    munmap(low, 4096);
    char *down = mmap(NULL, 16 * 4096, RW, ANONYMOUS | MAP_GROWSDOWN, -1, 0);
    CHECK(down != MAP_FAILED, "MAP_GROWSDOWN");
    down[16 * 4096 - 1] = 1;
    char *b = mmap(NULL, 8 * 4096, RW, ANONYMOUS, -1, 0);
    memset(b, 9, 8 * 4096);
    CHECK(madvise(b + 4096, 4096, MADV_DONTNEED) == 0 && b[4096] == 0 && b[0] == 9 && b[8192] == 9, "MADV_DONTNEED");
    unsigned char resident[8];
    CHECK(mincore(b, 8 * 4096, resident) == 0 && (resident[0] & 1) && (resident[7] & 1), "mincore");
    CHECK(mincore((void *)((uintptr_t)b + 1), 4096, resident) == -1 && errno == EINVAL, "mincore unaligned");
    char *grown = mremap(b, 8 * 4096, 100 * 4096, MREMAP_MAYMOVE);
    CHECK(grown != MAP_FAILED && grown[0] == 9 && grown[7 * 4096] == 9 && grown[50 * 4096] == 0, "mremap grows and moves");
    CHECK(mremap(grown, 100 * 4096, 2 * 4096, 0) == grown && grown[0] == 9, "mremap shrinks");
    char *target = mmap(NULL, 2 * 4096, PROT_NONE, ANONYMOUS, -1, 0);
    CHECK(mremap(grown, 2 * 4096, 2 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target && target[100] == 9, "mremap to a fixed place");
    CHECK(mremap(grown, 4096, 8192, 0) == MAP_FAILED && errno == EFAULT, "mremap of nothing: EFAULT");
    CHECK(msync(target, 4096, MS_SYNC) == 0 && mlock(target, 4096) == 0 && munlock(target, 4096) == 0, "msync, mlock, munlock");
    int id = shmget(IPC_PRIVATE, 10000, IPC_CREAT | 0600);
    char *shared = shmat(id, NULL, 0), *twice = shmat(id, NULL, SHM_RDONLY);
    shmctl(id, IPC_RMID, NULL);
    CHECK(shared != (void *)-1 && twice != (void *)-1 && shared != twice, "shmat twice");
    shared[9999] = 5;
    CHECK(twice[9999] == 5, "the same memory");
    pid_t child = fork();
    if (child == 0) {
        shared[0] = 77;
        _exit(shmdt(shared) != 0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(status == 0 && twice[0] == 77, "shared with a child");
    CHECK(shmdt(shared) == 0 && shmdt(twice) == 0 && shmdt(shared) == -1, "shmdt");
    int file = memfd_create("memory", MFD_CLOEXEC);
    CHECK(ftruncate(file, 8192) == 0, "memfd");
    char *one = mmap(NULL, 8192, RW, MAP_SHARED, file, 0), *two = mmap(NULL, 8192, RW, MAP_PRIVATE, file, 0);
    one[4096] = 3;
    CHECK(two[4096] == 3, "private sees shared before its own write");
    two[4096] = 4;
    CHECK(one[4096] == 3 && two[4096] == 4, "then not");
    return finish();
}
