// build: gcc -O1
/* io_uring by its system calls: rings that only the kernel may place, requests that it works on by itself, a ring in a
   forked child. */
#include "check.h"
#include <linux/io_uring.h>
#include <sys/mman.h>

typedef struct ring {
    int descriptor;
    struct io_uring_params parameters;
    char *submissions, *completions;
    struct io_uring_sqe *entries;
} ring;

static unsigned *word(char *base, unsigned offset) { return (unsigned *)(base + offset); }

static char *map_part(const ring *r, size_t length, unsigned long long offset, const char *name) {
    char *part = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->descriptor, (off_t)offset);
    CHECK(part != MAP_FAILED, "%s are mapped", name);
    return part;
}

static int set_up(ring *r) {
    memset(r, 0, sizeof *r);
    r->descriptor = (int)syscall(SYS_io_uring_setup, 8, &r->parameters);
    if (r->descriptor < 0)
        return 0;
    const struct io_uring_params *p = &r->parameters;
    r->submissions = map_part(r, p->sq_off.array + p->sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING, "submissions");
    r->completions =
        map_part(r, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING, "completions");
    r->entries = (struct io_uring_sqe *)map_part(r, p->sq_entries * sizeof *r->entries, IORING_OFF_SQES, "entries");
    return 1;
}

/** Hand in one request and wait for its result. */
static int request(ring *r, const struct io_uring_sqe *wanted) {
    const struct io_sqring_offsets *sq = &r->parameters.sq_off;
    const struct io_cqring_offsets *cq = &r->parameters.cq_off;
    unsigned tail = *word(r->submissions, sq->tail), index = tail & *word(r->submissions, sq->ring_mask);
    r->entries[index] = *wanted;
    word(r->submissions, sq->array)[index] = index;
    __atomic_store_n(word(r->submissions, sq->tail), tail + 1, __ATOMIC_RELEASE);
    CHECK_EQUAL(syscall(SYS_io_uring_enter, r->descriptor, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), 1, "submitted");
    unsigned head = *word(r->completions, cq->head);
    CHECK(__atomic_load_n(word(r->completions, cq->tail), __ATOMIC_ACQUIRE) == head + 1, "one completion");
    const struct io_uring_cqe *list = (const struct io_uring_cqe *)(r->completions + cq->cqes);
    const struct io_uring_cqe *done = &list[head & *word(r->completions, cq->ring_mask)];
    CHECK(done->user_data == wanted->user_data, "it is the one that was asked for");
    int result = done->res;
    __atomic_store_n(word(r->completions, cq->head), head + 1, __ATOMIC_RELEASE);
    return result;
}

static void work(ring *r) {
    char text[16] = "";
    int ends[2];
    CHECK(pipe(ends) == 0, "pipe");
    CHECK_EQUAL(request(r, &(struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = 1}), 0, "nothing");
    struct io_uring_sqe put = {.opcode = IORING_OP_WRITE, .fd = ends[1], .addr = (uintptr_t)"through it", .len = 11,
                               .user_data = 2};
    CHECK_EQUAL(request(r, &put), 11, "write");
    struct io_uring_sqe get = {.opcode = IORING_OP_READ, .fd = ends[0], .addr = (uintptr_t)text, .len = sizeof text,
                               .user_data = 3};
    CHECK_EQUAL(request(r, &get), 11, "read");
    CHECK(!strcmp(text, "through it"), "what was written");
}

int main(void) {
    ring first;
    if (!set_up(&first))
        skip("no io_uring here");
    work(&first);
    pid_t child = fork();
    if (child == 0) {
        ring second;
        if (set_up(&second))
            work(&second);
        _exit(finish());
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0, "child");
    CHECK_EQUAL(munmap(first.entries, first.parameters.sq_entries * sizeof *first.entries), 0, "munmap");
    first.entries = (struct io_uring_sqe *)map_part(&first, first.parameters.sq_entries * sizeof *first.entries,
                                                    IORING_OFF_SQES, "entries");
    work(&first);
    return finish();
}
