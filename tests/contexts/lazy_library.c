// Calls what it is given.
void given(void (*f)(void)) { f(); __asm__ volatile("" ::: "memory"); }
void given_too(void (*f)(void)) { f(); __asm__ volatile("" ::: "memory"); }
