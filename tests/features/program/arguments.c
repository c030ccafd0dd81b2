// build: gcc -O1
// variants: dynamic, static
/* Prints a digest of the argument and environment strings; the harness runs it with very many and very long ones, and
   with an argv[0] that differs from the path. */
#include "check.h"
extern char **environ;
static uint64_t digest(char **list, unsigned *count, size_t *bytes) {
    uint64_t hash = 14695981039346656037ull;
    for (*count = 0, *bytes = 0; list[*count]; ++*count)
        for (const char *p = list[*count];; p++) {
            hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
            ++*bytes;
            if (!*p)
                break;
        }
    return hash;
}
int main(int argc, char **argv) {
    unsigned count;
    size_t bytes;
    uint64_t hash = digest(argv + 1, &count, &bytes);
    say("arguments: %u, %zu bytes, %016llx", count, bytes, (unsigned long long)hash);
    CHECK(count == (unsigned)argc - 1, "argc agrees");
    hash = digest(environ, &count, &bytes);
    say("environment: %u, %zu bytes, %016llx", count, bytes, (unsigned long long)hash);
    say("argv[0]: %.60s", strrchr(argv[0], '/') ? strrchr(argv[0], '/') : argv[0]);
    char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
    CHECK(environ[0] == NULL || environ[0] == end, "environment strings follow the arguments");
    return finish();
}
