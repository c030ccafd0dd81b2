"""@fileoverview Instructions and exactly what they access, for the tests of memtrace.

Each row: a name, flags of the processor that it needs, lines of assembly, and the accesses in their order: a letter of
Lackey's (L, S, M), an address, a size. Addresses are `d` (64 KB of zeros, aligned to a page), `words` (8-byte numbers 0,
1, 2, ...), `bytes` ("abcabd..."), `sp` (the stack, of which more lies above and below), `pointer` (holds the address of the
label 9 of the row), each with an offset. Every row starts with rsp = sp, flags clear, and rbx = d, rsi = words, rdi = d;
what else it needs it loads.
"""

ZERO_MASK = "kxorq %k1, %k1, %k1"


def run_of(letter, base, size, offsets):
    """The same access at several offsets."""
    return " ".join(f"{letter} {base}{offset:+d} {size}" for offset in offsets)


def copies(source, target, size, offsets):
    return " ".join(f"L {source}{offset:+d} {size} S {target}{offset:+d} {size}" for offset in offsets)


FORMS = [
    # -- plain loads, stores and read-modify-write
    ("load", "", "mov (%rbx), %eax", "L d 4"),
    ("load byte", "", "movzbl 5(%rbx), %eax", "L d+5 1"),
    ("load extended", "", "movslq 8(%rbx), %rax", "L d+8 4"),
    ("store", "", "mov %rax, 16(%rbx)", "S d+16 8"),
    ("store constant", "", "movw $7, 18(%rbx)", "S d+18 2"),
    ("store byte", "", "mov %ah, 1(%rbx)", "S d+1 1"),
    ("indexed", "", "mov $5, %ecx; mov -8(%rbx,%rcx,8), %rax", "L d+32 8"),
    ("relative", "", "mov d+100(%rip), %eax", "L d+100 4"),
    ("absolute", "", "movabs d+24, %eax", "L d+24 4"),
    ("short address", "", "mov $d, %ecx; mov 4(%ecx), %edx", "L d+4 4"),
    ("add to register", "", "add (%rbx), %eax", "L d 4"),
    ("add to memory", "", "add %eax, (%rbx)", "M d 4"),
    ("add constant", "", "addq $1, 8(%rbx)", "M d+8 8"),
    ("increment", "", "incb 3(%rbx)", "M d+3 1"),
    ("complement", "", "notw 2(%rbx)", "M d+2 2"),
    ("shift", "", "mov $3, %cl; shlq %cl, (%rbx)", "M d 8"),
    ("double shift", "", "shld $3, %eax, (%rbx)", "M d 4"),
    ("add with carry", "", "adc %rax, (%rbx)", "M d 8"),
    ("compare", "", "cmpl $1, (%rbx)", "L d 4"),
    ("test", "", "test %al, 9(%rbx)", "L d+9 1"),
    ("multiply", "", "mulq (%rbx)", "L d 8"),
    ("exchange", "", "xchg %eax, (%rbx)", "M d 4"),
    ("exchange and add", "", "lock xadd %rax, (%rbx)", "M d 8"),
    ("compare and exchange, equal", "", "xor %eax, %eax; lock cmpxchg %ecx, (%rbx)", "M d 4"),
    ("compare and exchange, different", "", "mov $1, %eax; lock cmpxchg %ecx, (%rbx)", "M d 4"),
    ("compare and exchange 8", "", "cmpxchg8b (%rbx)", "M d 8"),
    ("compare and exchange 16", "", "lock cmpxchg16b (%rbx)", "M d 16"),
    ("conditional move, not done", "", "cmovc (%rbx), %eax", "L d 4"),
    ("set", "", "setc 6(%rbx)", "S d+6 1"),
    ("bit test", "", "btl $3, (%rbx)", "L d 4"),
    ("bit test far away", "", "mov $1000, %ecx; bt %rcx, (%rbx)", "L d+120 8"),
    ("bit set far below", "", "mov $-1, %ecx; movslq %ecx, %rcx; bts %ecx, 64(%rbx)", "M d+60 4"),
    ("bit complemented, 16 wide, below", "", "mov $0x1ffef, %ecx; btc %cx, 64(%rbx)", "M d+60 2"),
    ("bit cleared, 64 wide, extended registers", "", "mov $129, %r9d; mov %rbx, %r10; mov $2, %r11d; "
     "btr %r9, 8(%r10,%r11,8)", "M d+40 8"),
    ("table lookup", "", "mov $7, %al; xlat", "L d+7 1"),
    ("table lookup, short address", "", "mov $1, %eax; shl $32, %rax; or %rax, %rbx; mov $7, %al; addr32 xlat", "L d+7 1"),
    ("store without cache", "", "movnti %eax, (%rbx)", "S d 4"),
    ("swap bytes", "movbe", "movbe (%rbx), %eax; movbe %ax, 8(%rbx)", "L d 4 S d+8 2"),
    ("checksum", "sse4_2", "crc32b (%rbx), %eax", "L d 1"),
    ("thread base", "", "mov $158, %eax; mov $0x1002, %edi; mov $d, %esi; syscall; mov %fs:16, %ecx", "L d+16 4"),
    ("other base", "", "mov $158, %eax; mov $0x1001, %edi; mov $d, %esi; syscall; movb $1, %gs:17", "S d+17 1"),

    # -- names of memory without an access
    ("address", "", "lea 8(%rbx), %rax", ""),
    ("no operation", "", "nopl 8(%rbx); nopw (%rbx)", ""),
    ("prefetches", "", "prefetcht0 (%rbx); prefetcht1 (%rbx); prefetchnta (%rbx); prefetcht2 0", ""),
    ("prefetch to write", "", "prefetchw (%rbx)", ""),
    ("flush", "", "clflush (%rbx)", ""),
    ("registers", "", "cpuid; rdtsc; xor %ecx, %ecx; xgetbv; mov $d, %ebx", ""),

    # -- stack
    ("push", "", "push %rax", "S sp-8 8"),
    ("push short", "", "pushw %ax", "S sp-2 2"),
    ("push constant", "", "push $5", "S sp-8 8"),
    ("push memory", "", "pushq (%rbx)", "L d 8 S sp-8 8"),
    ("push with a prefix for addresses", "", "addr32 push %rax", "S sp-8 8"),
    ("push memory at a short address", "", "mov $1, %eax; shl $32, %rax; or %rax, %rbx; pushq (%ebx)", "L d 8 S sp-8 8"),
    ("push relative to the stack", "", "pushq 8(%rsp)", "L sp+8 8 S sp-8 8"),
    ("pop", "", "pop %rax", "L sp 8"),
    ("pop to memory", "", "popq 8(%rbx)", "L sp 8 S d+8 8"),
    ("pop relative to the stack", "", "popq 16(%rsp)", "L sp 8 S sp+24 8"),
    ("flags", "", "pushf; popf", "S sp-8 8 L sp-8 8"),
    ("call", "", "call 1f; 1:", "S sp-8 8"),
    ("call by register", "", "lea 1f(%rip), %rax; call *%rax; 1:", "S sp-8 8"),
    ("call by memory", "", "call *pointer(%rip); 9:", "L pointer 8 S sp-8 8"),
    ("jump by memory", "", "jmp *pointer(%rip); 9:", "L pointer 8"),
    ("return", "", "lea 1f(%rip), %rax; push %rax; ret; 1:", "S sp-8 8 L sp-8 8"),
    ("return and release", "", "lea 1f(%rip), %rax; push %rax; ret $16; 1: push %rax", "S sp-8 8 L sp-8 8 S sp+8 8"),
    ("frame", "", "mov $7, %ebp; enter $16, $0; leave", "S sp-8 8 L sp-8 8"),
    ("calls in a loop", "", "mov $3, %ecx; 1: call 2f; dec %ecx; jnz 1b; jmp 3f; 2: ret; 3:",
     "S sp-8 8 L sp-8 8 " * 3),

    # -- strings
    ("move string", "", "movsb", "L words 1 S d 1"),
    ("move string, short addresses", "", "mov $1, %eax; shl $32, %rax; or %rax, %rsi; or %rax, %rdi; addr32 movsb", "L words 1 S d 1"),
    ("compare strings, short addresses", "", "mov $1, %eax; shl $32, %rax; or %rax, %rsi; or %rax, %rdi; addr32 cmpsw", "L words 2 L d 2"),
    ("move string 8", "", "movsq", "L words 8 S d 8"),
    ("store string", "", "stosq", "S d 8"),
    ("load string", "", "lodsw", "L words 2"),
    ("compare strings", "", "cmpsb", "L words 1 L d 1"),
    ("scan string", "", "scasl", "L d 4"),
    ("repeated move", "", "mov $3, %ecx; rep movsq", copies("words", "d", 8, (0, 8, 16))),
    ("repeated move down", "", "mov $3, %ecx; lea 16(%rsi), %rsi; lea 16(%rdi), %rdi; std; rep movsq; cld",
     copies("words", "d", 8, (16, 8, 0))),
    ("repeated store down", "", "mov $3, %ecx; lea 16(%rdi), %rdi; std; rep stosw; cld", run_of("S", "d", 2, (16, 14, 12))),
    ("repeated move onto itself", "", "mov $2, %ecx; mov %rdi, %rsi; rep movsq", "L d 8 S d 8 L d+8 8 S d+8 8"),
    ("repeated store, short addresses", "", "mov $2, %ecx; addr32 rep stosl", run_of("S", "d", 4, (0, 4))),
    ("repeated store", "", "mov $5, %ecx; rep stosl", run_of("S", "d", 4, range(0, 20, 4))),
    ("repeated load", "", "mov $2, %ecx; rep lodsb", run_of("L", "words", 1, range(2))),
    ("repeated nothing", "", "xor %ecx, %ecx; rep movsq; rep stosb; repe cmpsb; repne scasb; rep lodsl", ""),
    ("compare until different", "", "mov $bytes, %esi; mov $bytes+3, %edi; mov $100, %ecx; repe cmpsb",
     "L bytes 1 L bytes+3 1 L bytes+1 1 L bytes+4 1 L bytes+2 1 L bytes+5 1"),
    ("compare while different", "", "mov $bytes, %esi; mov $bytes+1, %edi; mov $2, %ecx; repne cmpsb",
     "L bytes 1 L bytes+1 1 L bytes+1 1 L bytes+2 1"),
    ("scan until found", "", "mov $bytes, %edi; mov $'c', %al; mov $100, %ecx; repne scasb",
     run_of("L", "bytes", 1, range(3))),
    ("many repetitions", "", "mov $70000, %ecx; mov $d, %esi; lea 1(%rsi), %rdi; shr $1, %ecx; rep stosb",
     run_of("S", "d", 1, range(1, 35001))),

    # -- vectors
    ("vector load", "", "movaps (%rbx), %xmm0; movups 1(%rbx), %xmm1", "L d 16 L d+1 16"),
    ("vector store", "", "movdqa %xmm0, 16(%rbx); movntdq %xmm0, 32(%rbx)", "S d+16 16 S d+32 16"),
    ("scalar", "", "movss (%rbx), %xmm0; movsd %xmm0, 8(%rbx); addsd (%rbx), %xmm0", "L d 4 S d+8 8 L d 8"),
    ("halves", "", "movlps 8(%rbx), %xmm0; movhpd %xmm0, (%rbx); movq 16(%rbx), %xmm1", "L d+8 8 S d 8 L d+16 8"),
    ("convert", "", "cvtsi2sdl (%rbx), %xmm0; cvtps2pd 8(%rbx), %xmm0", "L d 4 L d+8 8"),
    ("element", "sse4_1", "pinsrb $1, 3(%rbx), %xmm0; pextrw $2, %xmm0, 6(%rbx)", "L d+3 1 S d+6 2"),
    ("vector 32", "avx", "vmovdqu 8(%rbx), %ymm0; vmovaps %ymm0, 64(%rbx)", "L d+8 32 S d+64 32"),
    ("broadcast", "avx", "vbroadcastss 4(%rbx), %ymm0; vbroadcastf128 (%rbx), %ymm1", "L d+4 4 L d 16"),
    ("extract", "avx2", "vextracti128 $1, %ymm0, (%rbx)", "S d 16"),
    ("vector 64", "avx512f", "vmovdqu64 8(%rbx), %zmm0; vmovdqa64 %zmm0, 64(%rbx)", "L d+8 64 S d+64 64"),
    ("broadcast in place", "avx512f", "vaddps 4(%rbx){1to16}, %zmm0, %zmm1", "L d+4 4"),
    ("narrow", "avx512f", "vpmovdb %zmm0, (%rbx)", "S d 16"),
    ("move 64", "movdir64b", "movdir64b 64(%rbx), %rdi", "L d+64 64 S d 64"),

    # -- masks, gathers and scatters: what is masked off is not accessed
    ("masked bytes", "", "movdqu masks(%rip), %xmm1; maskmovdqu %xmm1, %xmm0",
     "L masks 16 S d 1 S d+3 1"),
    ("masked load", "avx", "vmovdqu masks+16(%rip), %ymm1; vmaskmovps 4(%rbx), %ymm1, %ymm0",
     "L masks+16 32 L d+4 4 L d+16 4 L d+32 4"),
    ("masked store", "avx2", "vmovdqu masks+16(%rip), %ymm1; vpmaskmovd %ymm0, %ymm1, (%rbx)",
     "L masks+16 32 S d 4 S d+12 4 S d+28 4"),
    ("masked off", "avx", "vxorps %ymm1, %ymm1, %ymm1; vmaskmovps 4(%rbx), %ymm1, %ymm0; vmaskmovps 0, %ymm1, %ymm0", ""),
    ("gather", "avx2",
     "vmovdqu words(%rip), %ymm2; vmovdqu masks+16(%rip), %ymm1; vpgatherdd %ymm1, (%rbx,%ymm2,4), %ymm0",
     "L words 32 L masks+16 32 L d 4 L d 4 L d 4"),
    ("gather far", "avx2",
     "vmovdqu words+16(%rip), %ymm2; vpcmpeqd %ymm1, %ymm1, %ymm1; vpgatherqq %ymm1, 8(%rbx,%ymm2,8), %ymm0",
     "L words+16 32 L d+24 8 L d+32 8 L d+40 8 L d+48 8"),
    ("gather of nothing", "avx2", "vpxor %ymm1, %ymm1, %ymm1; vpgatherdd %ymm1, (%rbx,%ymm2,4), %ymm0", ""),
    ("scatter", "avx512f",
     "vmovdqu64 words(%rip), %zmm2; mov $0x81, %eax; kmovw %eax, %k1; vpscatterqq %zmm0, (%rbx,%zmm2,8){%k1}",
     "L words 64 S d 8 S d+56 8"),
    ("gather by mask", "avx512f",
     "vmovdqu64 words(%rip), %zmm2; mov $0x42, %eax; kmovw %eax, %k1; vgatherqpd (%rbx,%zmm2,4), %zmm0{%k1}",
     "L words 64 L d+4 8 L d+24 8"),
    ("scatter of nothing", "avx512bw", ZERO_MASK + "; vpscatterqq %zmm0, (%rbx,%zmm2,8){%k1}", ""),
    ("load by mask", "avx512f", "mov $0x21, %eax; kmovw %eax, %k1; vmovdqu32 (%rbx), %zmm0{%k1}{z}",
     "L d 4 L d+20 4"),
    ("store by mask", "avx512bw", "mov $0x5, %eax; kmovq %rax, %k1; vmovdqu8 %zmm0, 3(%rbx){%k1}", "S d+3 1 S d+5 1"),
    ("compare by mask", "avx512bw avx512vl", "mov $0x80000003, %eax; kmovd %eax, %k2; "
     "vpcmpub $4, 32(%rbx), %ymm0, %k1{%k2}", "L d+32 1 L d+33 1 L d+63 1"),
    ("store of all by mask", "avx512bw", "mov $-1, %rax; kmovq %rax, %k1; vmovdqu8 %zmm0, 1(%rbx){%k1}",
     run_of("S", "d", 1, range(1, 65))),
    ("one element to all lanes by mask", "avx512f", "mov $0x8000, %eax; kmovw %eax, %k1; "
     "vpaddd 12(%rbx){1to16}, %zmm0, %zmm0{%k1}", "L d+12 4"),
    ("two elements to all lanes by mask", "avx512dq", "mov $0x80, %eax; kmovw %eax, %k1; "
     "vbroadcasti64x2 16(%rbx), %zmm0{%k1}", "L d+24 8"),
    ("load by mask, scaled displacement", "avx512f", "mov $0x2, %eax; kmovw %eax, %k1; lea 4(%rbx), %r9; mov $1, %r10d; "
     "vmovdqu32 128(%r9,%r10,8), %zmm0{%k1}{z}", "L d+144 4"),
    ("load by an empty mask", "avx512bw", ZERO_MASK + "; vmovdqu32 (%rbx), %zmm0{%k1}; vmovdqu64 0, %zmm0{%k1}", ""),
    ("compress", "avx512f", "mov $0xf0, %eax; kmovw %eax, %k1; vpcompressd %zmm0, (%rbx){%k1}",
     run_of("S", "d", 4, (0, 4, 8, 12))),
    ("expand", "avx512f", "mov $0x11, %eax; kmovw %eax, %k1; vpexpandq 8(%rbx), %zmm0{%k1}", "L d+8 8 L d+16 8"),

    # -- x87 and processor state
    ("x87 load", "", "fldl (%rbx); fldt 8(%rbx); filds 2(%rbx); fninit", "L d 8 L d+8 10 L d+2 2"),
    ("x87 store", "", "fld1; fstpt (%rbx); fld1; fistpl 4(%rbx); fnstcw 8(%rbx); fninit", "S d 10 S d+4 4 S d+8 2"),
    ("control words", "", "stmxcsr (%rbx); ldmxcsr (%rbx)", "S d 4 L d 4"),
    ("x87 environment", "", "fnstenv (%rbx); fldenv (%rbx)", "S d 28 L d 28"),
    ("x87 state", "", "fnsave (%rbx); frstor (%rbx)", "S d 108 L d 108"),
]
