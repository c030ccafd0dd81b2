# what: the dynamic linker's own variables, given to the traced program alone
# program: ld.so variables
# version: ldd --version
# tools: none count
run_all env LD_TRACE_LOADED_OBJECTS=1 /bin/ls | sed 's/(0x.*//'
run_all env LD_BIND_NOW=1 /bin/echo bound
run_all env LD_SHOW_AUXV=1 /bin/true | grep -E 'AT_(HWCAP|PAGESZ|CLKTCK|PHENT|PHNUM|UID|SECURE|EXECFN|PLATFORM)'
run_all env LD_PRELOAD=/nonexistent.so /bin/echo preloaded
run_all env LD_PRELOAD=libm.so.6 /bin/cat /proc/self/comm
run_all env LD_LIBRARY_PATH=/nonexistent LD_DEBUG=statistics LD_DEBUG_OUTPUT=debug /bin/true; ls | wc -l
run_all env MALLOC_PERTURB_=7 GLIBC_TUNABLES=glibc.malloc.check=1 /bin/echo tuned
