"""@fileoverview Analysis code on virtual registers and traces: the client never notices, and nothing is lost.

tests/tools/analysis.c inserts every operation everywhere; random blocks must leave the same state as natively.
tests/tools/accesses_in_range.c counts the accesses to an array whose number is known, under signals, with threads, with
the smallest buffers, with a code cache that is emptied all the time.
"""
import re
import subprocess

import pytest

import differential_driver as driver
from conftest import ROOT, SONDE

VALUES, COMPUTING, FAST_CALLS, CALLS, ACCESSES, TAKEN, RECORDED = (1 << bit for bit in range(7))
WHAT = (VALUES, COMPUTING, FAST_CALLS, ACCESSES, TAKEN, RECORDED,
        VALUES | COMPUTING | FAST_CALLS | ACCESSES | TAKEN | RECORDED)
SWITCHES = ((), ("--debug-block-limit=1",), ("--debug-block-limit=3",), ("--debug-links=no",), ("--debug-superblocks=no",),
            ("--debug-fsgsbase=no",), ("--debug-bmi2=no",), ("--debug-return-prediction=yes",))


@pytest.fixture(scope="module")
def everything(build_tool):
    return str(build_tool("analysis"))


@pytest.fixture(scope="module")
def counting(build_tool):
    return str(build_tool("accesses_in_range"))


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Name -> (path, native outcome)."""
    folder = tmp_path_factory.mktemp("analysis")
    made = {}
    for name, (seed, blocks) in {"mixed": (11, 1200), "few": (12, 60)}.items():
        path = folder / f"{name}.txt"
        driver.generate(path, seed, blocks)
        made[name] = (path, driver.run_native(path))
    return made


def compare(corpus, configuration):
    path, native = corpus
    sonde = driver.run_sonde(path, configuration)
    if driver.first_difference(native, sonde) is not None:
        pytest.fail(driver.explain(path, native, sonde, configuration, driver.BUILD / "differential-failures"))


@pytest.mark.parametrize("what", WHAT)
def test_client_does_not_notice(corpora, everything, what):
    compare(corpora["mixed"], (everything, f"--what={what}"))


@pytest.mark.parametrize("switches", SWITCHES, ids=" ".join)
def test_client_does_not_notice_under_any_switch(corpora, everything, switches):
    compare(corpora["mixed"], (everything, *switches))


@pytest.mark.parametrize("switches", ((), ("--debug-block-limit=3",), ("--debug-return-prediction=yes",)), ids=" ".join)
def test_client_does_not_notice_two_versions(corpora, everything, switches):
    """Threads change every 300 instructions between code with all of it and bare code."""
    compare(corpora["mixed"], (everything, "--alternate=300", *switches))


@pytest.mark.parametrize("options", ((), ("--what=1",), ("--debug-cache-size=65536",)), ids=" ".join)
def test_threads_change_versions(program, everything, options):
    """Code of a version runs only in threads that are in it, also when the cache is emptied; and they do change."""
    rounds = 20000
    done = subprocess.run([SONDE, everything, "--alternate=2000", *options, "--", program[0], str(rounds), "3"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(re.search(r"changes: (\d+)", done.stderr)[1]) > rounds / 100


def test_client_does_not_notice_calls(corpora, everything):
    compare(corpora["few"], (everything, f"--what={CALLS | COMPUTING}"))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """(path of the program, address and size of its array)."""
    path = tmp_path_factory.mktemp("counted") / "counted"
    subprocess.run(["gcc", "-O1", "-static", "-pthread", "-o", path, ROOT / "tests" / "programs" / "counted_accesses.c"],
                   check=True, timeout=60)
    symbols = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True, timeout=60).stdout
    address, size = re.search(r"^(\w+) (\w+) . counted$", symbols, re.M).groups()
    return path, int(address, 16), int(size, 16)


def count(counting, program, rounds, threads, *options):
    path, address, size = program
    done = subprocess.run([SONDE, counting, f"--from={address}", f"--to={address + size}", *options, "--", path, str(rounds),
                           str(threads)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(re.search(r"accesses: (\d+)", done.stderr)[1])


@pytest.mark.parametrize("threads", (1, 4))
@pytest.mark.parametrize("options", ((), ("--debug-cache-size=65536",), ("--debug-block-limit=2",), ("--debug-links=no",),
                                     ("--analysis-threads=1",), ("--analysis-threads=3", "--debug-cache-size=65536")),
                         ids=" ".join)
def test_nothing_is_lost(counting, program, threads, options):
    """Every addition in memory is one access, whatever interrupts it."""
    rounds = 20000 if "--debug-links=no" in options else 300000
    assert count(counting, program, rounds, threads, *options) == threads * (rounds + (rounds + 2) // 3)


def test_switched_off(counting, program):
    """Once instrumentation is off, nothing more is seen, and the program goes on."""
    assert count(counting, program, 300000, 2, "--switch=yes") < 100000


@pytest.mark.parametrize("options", ((), ("--debug-bmi2=no",), ("--debug-block-limit=1",)), ids=" ".join)
def test_arithmetic(build_tool, options):
    """Inserted code calculates as C does, with every operation and every kind of constant, where flags are needed too."""
    tool = build_tool("arithmetic")
    done = subprocess.run([SONDE, tool, *options, "--", "/usr/bin/sha256sum", SONDE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    calculated, wrong, unseen = map(int, re.search(r"calculated: (\d+), wrong: (\d+), rows unseen: (\d+)", done.stderr).groups())
    assert calculated > 10000 and (wrong, unseen) == (0, 0), done.stderr


TWO_WAYS_BACK = """
    .globl _start
_start:
    xor %ecx, %ecx
    xor %edx, %edx
    xor %ebx, %ebx
    mov $1000, %r8d
1:  mov value(%rip), %eax
    addl $1, value(%rip)
    test $1, %al
    jne 1b
    mov value(%rip), %eax
    inc %rcx
    inc %rdx
    inc %rbx
    inc %rsi
    inc %rdi
    inc %rbp
    dec %r8
    jne 1b
    lea (%rcx,%rdx), %rdi
    add %rbx, %rdi
    and $127, %edi
    mov $231, %eax
    syscall
    .data
value: .long 0
"""


@pytest.mark.parametrize("options", ((), ("--debug-links=no",), ("--debug-block-limit=5",)), ids=" ".join)
def test_loop_with_two_ways_back(counting, tmp_path, options):
    """Registers that keep a trace's pointer over a loop's rounds are none that the loop uses on the longer way round."""
    path = tmp_path / "two_ways"
    subprocess.run(["gcc", "-nostdlib", "-static", "-x", "assembler", "-", "-o", path], input=TWO_WAYS_BACK, text=True, check=True,
                   timeout=60)
    native = subprocess.run([path], timeout=60).returncode
    done = subprocess.run([SONDE, counting, *options, "--", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == native == 3 * 1000 % 128
    # Five accesses a round: the value is odd at first, and even on the second way; in the first round even at once.
    assert int(re.search(r"accesses: (\d+)", done.stderr)[1]) == 5 * 1000 - 2


CHANGED_LOOP = """
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
static const unsigned char loop[] = {
    0xf0, 0xff, 0x07,       /* 1: lock incl (%rdi) */
    0x83, 0x3e, 0x00,       /*    cmpl $0, (%rsi) */
    0x75, 0x04,             /*    jne 2f */
    0x8b, 0x06,             /*    mov (%rsi), %eax */
    0xeb, 0xf4,             /*    jmp 1b */
    0xc3, 0x90, 0x90,       /* 2: ret */
};
static atomic_int rounds, never;
static void *run(void *code) {
    ((void (*)(atomic_int *, atomic_int *))code)(&rounds, &never);
    return NULL;
}
int main(void) {
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, loop, sizeof loop);
    pthread_t thread;
    pthread_create(&thread, NULL, run, code);
    while (rounds < 100000) continue;
    *(volatile unsigned short *)(code + 10) = 0x9090; /* the jump back is gone */
    pthread_join(thread, NULL);
    return 9;
}
"""


@pytest.mark.parametrize("options", ((), ("--debug-superblocks=no",)), ids=" ".join)
def test_loop_whose_code_changes(counting, everything, tmp_path, options):
    """A thread that goes from block to block with its trace's pointer in a register leaves them when they are discarded."""
    path = tmp_path / "changed"
    subprocess.run(["gcc", "-O1", "-pthread", "-x", "c", "-", "-o", path], input=CHANGED_LOOP, text=True, check=True, timeout=60)
    for tool in (counting, everything):
        done = subprocess.run([SONDE, tool, *options, "--", path], capture_output=True, timeout=60)
        assert done.returncode == 9, done.stderr


ENDLESS = """
#include <signal.h>
#include <unistd.h>
static void tick(int number) { (void)number; _exit(7); }
int main(void) {
    signal(SIGALRM, tick);
    ualarm(200000, 0);
    for (;;) __asm__ volatile("1: jmp 1b");
}
"""


@pytest.mark.parametrize("what", WHAT)
def test_signals_reach_a_loop_full_of_analysis_code(everything, tmp_path, what):
    """Every instruction of it has code before it, and is a boundary all the same."""
    path = tmp_path / "endless"
    subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", path], input=ENDLESS, text=True, check=True, timeout=60)
    done = subprocess.run([SONDE, everything, f"--what={what}", "--", path], capture_output=True, timeout=60)
    assert done.returncode == 7


def build_program(folder, name, text, *options):
    path = folder / name
    subprocess.run(["gcc", "-O1", *options, "-x", "c", "-", "-o", path], input=text, text=True, check=True, timeout=60)
    return path


LONG_COPY = """
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>
#define SIZE (4ul << 20)
static volatile long left = -1;
static void tick(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    left = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RCX];
}
int main(void) {
    sigaction(SIGALRM, &(struct sigaction){.sa_sigaction = tick, .sa_flags = SA_SIGINFO}, NULL);
    static unsigned long to[SIZE / 8];
    for (int round = 0; left <= 0 && round < 2000; round++) {
        void *at = to;
        size_t count = SIZE / 8;
        ualarm(1, 0);
        __asm__ volatile("rep stosq" : "+D"(at), "+c"(count) : "a"(5ul) : "memory");
        if (count) return 2;
    }
    puts(left > 0 ? "between two repetitions" : "never between two repetitions");
    return 0;
}
"""


@pytest.mark.parametrize("what", WHAT)
def test_signals_reach_a_long_repeated_instruction(everything, tmp_path, what):
    """With code before it, it is no boundary at first; but each repetition is."""
    path = build_program(tmp_path, "long-copy", LONG_COPY)
    done = subprocess.run([SONDE, everything, f"--what={what}", "--", path], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("between two repetitions\n", 0), done.stderr


PUSHED_FLAGS = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int ticks;
static void tick(int number) { (void)number; ticks++; }
int main(void) {
    unsigned long wrong = 0;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);
    while (ticks < 400 && !wrong) {
        unsigned long flags;
        __asm__ volatile("sub $128, %%rsp; pushfq; mov (%%rsp), %0; popfq; add $128, %%rsp" : "=r"(flags) : : "memory", "cc");
        wrong = flags & 0x100;
    }
    puts(wrong ? "the trap flag was pushed" : "no trap flag");
    return 0;
}
"""


@pytest.mark.parametrize("what", WHAT)
def test_pushed_flags_have_no_trap_flag(everything, tmp_path, what):
    """The engine steps through the code before pushf when a signal comes there."""
    path = build_program(tmp_path, "pushed-flags", PUSHED_FLAGS)
    done = subprocess.run([SONDE, everything, f"--what={what}", "--", path], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("no trap flag\n", 0), done.stderr


JUMPS = """
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
static void tick(int number) { (void)number; }
int main(void) {
    unsigned long count = 20000001;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 200}, {0, 200}}, NULL);
    __asm__ volatile(".globl jumps_start, jumps_end\\n jumps_start: 1: dec %0; jz 2f; jmp 1b; jumps_end: 2:" : "+r"(count) : : "cc");
    return 0;
}
"""


@pytest.mark.parametrize("switches", SWITCHES[:3] + (("--debug-superblocks=no",),), ids=" ".join)
def test_code_before_a_jump_runs_once(build_tool, tmp_path, switches):
    """Also when a signal comes between that code and the jump."""
    path = build_program(tmp_path, "jumps", JUMPS, "-static")
    tool = build_tool("counted_jumps")
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True, timeout=60).stdout
    start, end = (int(re.search(rf"^(\w+) . {name}$", symbols, re.M)[1], 16) for name in ("jumps_start", "jumps_end"))
    done = subprocess.run([SONDE, tool, f"--from={start}", f"--to={end}", *switches, "--", path], capture_output=True,
                          text=True, timeout=60)
    assert "jumps: 20000000\n" in done.stderr


@pytest.fixture(scope="module")
def unnamed_steps(tmp_path_factory):
    path = tmp_path_factory.mktemp("unnamed") / "unnamed_steps"
    subprocess.run(["gcc", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", path,
                    ROOT / "tests" / "programs" / "unnamed_steps.c"], check=True, timeout=60)
    return path


def compare_unnamed(unnamed_steps, tool, program, folder):
    """As natively, though the kernel gives no step its name. Returns how many steps these were."""
    wanted = subprocess.run([program], capture_output=True, text=True, timeout=60)
    done = subprocess.run([unnamed_steps, folder / "steps", SONDE, *tool, "--", program], capture_output=True, text=True,
                          timeout=60)
    assert (done.stdout, done.returncode) == (wanted.stdout, wanted.returncode), done.stderr
    return int((folder / "steps").read_text())


@pytest.mark.parametrize("what", (VALUES, COMPUTING, FAST_CALLS, CALLS, TAKEN, WHAT[-1]))
def test_a_step_without_a_name_is_one(unnamed_steps, everything, tmp_path, what):
    """Of the steps to a boundary at which a signal is delivered."""
    program = build_program(tmp_path, "pushed-flags", PUSHED_FLAGS)
    assert compare_unnamed(unnamed_steps, (everything, f"--what={what}"), program, tmp_path) > 50  # thousands, on an idle machine


@pytest.mark.parametrize("switches", SWITCHES + (("--debug-verify=yes",),), ids=" ".join)
@pytest.mark.parametrize("tool", ("none", "count", "everything"))
def test_a_step_without_a_name_is_one_of_the_client(unnamed_steps, everything, tmp_path, tool, switches):
    """Of a client that steps itself, which also executes int1, whose trap never has a name."""
    source = ROOT / "tests" / "features" / "faults" / "traps.c"
    program = build_program(tmp_path, "traps", source.read_text(), f"-I{ROOT / 'tests' / 'features'}")
    words = (everything if tool == "everything" else tool, *switches)
    assert compare_unnamed(unnamed_steps, words, program, tmp_path) > 20


STEPPING_ITSELF = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
enum { ROUNDS = 300, STEPS = 2 * ROUNDS + 3 };
static volatile int ticks, traps;
static void tick(int number) { (void)number; ticks++; }
static void trap(int number) { (void)number; traps++; }
int main(void) {
    int wrong = 0;
    signal(SIGALRM, tick);
    signal(SIGTRAP, trap);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 3000}, {0, 3000}}, NULL);
    while (ticks < 100) {
        unsigned long count = ROUNDS;
        int before = ticks;
        traps = 0;
        __asm__ volatile("sub $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq; 1: dec %0; jnz 1b;"
                         "pushfq; andl $~0x100, (%%rsp); popfq; add $128, %%rsp" : "+r"(count) : : "memory", "cc");
        wrong += traps > STEPS || traps < STEPS - (ticks - before); /* a signal may take the place of a step */
    }
    printf("wrong: %d\\n", wrong);
    return 0;
}
"""


@pytest.mark.parametrize("what", (COMPUTING, CALLS))
def test_signals_leave_a_client_that_steps_itself_stepping(everything, tmp_path, what):
    """Also when one comes while the engine is in a function that the block calls: its own stepping begins there."""
    path = build_program(tmp_path, "stepping-itself", STEPPING_ITSELF)
    done = subprocess.run([SONDE, everything, f"--what={what}", "--", path], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("wrong: 0\n", 0), done.stderr


# Each runs its loop 200,000 times; a loop is closed by nothing but what its name says. Flags are needed throughout in the first.
LOOPS = {
    "flags": "clc; mov $200000, %ecx; 1: adc %rax, %rdx; dec %ecx; jnz 1b",
    "loop": "mov $200000, %ecx; 1: loop 1b",
    "jump": "mov $200000, %ecx; 1: dec %ecx; jz 2f; jmp 1b; 2:",
    "indirect": "mov $200000, %ecx; lea 1f(%rip), %rdx; 1: dec %ecx; jz 2f; jmp *%rdx; 2:",
    "indirect call": "mov $200000, %ecx; lea 1f(%rip), %rdx; push %rcx; 1: pop %rax; dec %ecx; jz 2f; call *%rdx; 2: nop",
    "return": "mov $200000, %ecx; lea 1f(%rip), %rdx; 1: dec %ecx; jz 2f; push %rdx; ret; 2:",
    "call back": "mov $200000, %ecx; push %rcx; 1: pop %rax; dec %ecx; jz 2f; call 1b; 2: nop",
    "tree of calls": "mov $17, %ecx; call 1f; jmp 2f; 1: dec %ecx; jz 3f; push %rcx; call 1b; mov (%rsp), %rcx; call 1b; pop %rcx; 3: ret; 2:",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_are_left(everything, tmp_path, loop):
    """Whatever closes it, both versions of a loop are left when their time has come."""
    code = LOOPS[loop].replace("%", "%%")
    text = f'int main(void) {{ __asm__ volatile("{code}" ::: "rax", "rcx", "rdx", "cc", "memory"); return 0; }}\n'
    path = build_program(tmp_path, "loops", text, "-mno-red-zone")
    done = subprocess.run([SONDE, everything, "--what=4", "--alternate=1000", "--", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    empty = subprocess.run([SONDE, everything, "--what=4", "--alternate=1000", "--", "/usr/bin/true"], capture_output=True, text=True, timeout=60)
    changes, without = (int(re.search(r"changes: (\d+)", run.stderr)[1]) for run in (done, empty))
    assert changes > without + 50
