// library only
/* Loaded by dlopen_loop.c, built twice with another VALUE. */
int value(void) { return VALUE; }
int sum(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i * value(); return s; }
