// library only
/* Loaded by tls_loaded.c: thread-local data in the dynamic model. */
__thread long total = 1000;
__thread char padding[5000];
long bump(long by) {
    padding[by & 4095]++;
    total += by;
    return total;
}
