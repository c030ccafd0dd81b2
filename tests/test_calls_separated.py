"""sonde calls --separate-callers, --separate-recs, --skip-plt: exact trees, the same that Callgrind writes."""

import subprocess
from collections import Counter

import pytest

import callgrind_file
from conftest import run_sonde

SIMULATION = ("--cache-sim=yes", "--branch-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")

PROGRAM = """
    .macro function name
    .globl \\name
    .type \\name, @function
\\name:
    .endm
    .macro end name
    .size \\name, . - \\name
    .endm

    function _start
    and $-4096, %rsp        # a stack that begins with a page, wherever it is
    mov $4, %edi
    call down
    call a
    call b
    mov $5, %ebx
    call even
    mov data(%rip), %eax
    lea c(%rip), %rdx
    call through
    jmp finish
    end _start

    function finish
    mov $60, %eax
    xor %edi, %edi
    syscall
    end finish

    function down           # 5 deep, a leaf at each
    test %edi, %edi
    je 1f
    dec %edi
    call down
1:  call leaf
    ret
    end down

    function a
    call leaf
    call c
    ret
    end a

    function b
    nop
    call c
    ret
    end b

    function c              # with a jump inside, and a repeated instruction, which Callgrind counts once more than its steps
    mov $3, %ecx
    lea data(%rip), %rdi
#ifdef REPEATED
    rep stosb
#else
    xor %ecx, %ecx
#endif
1:  inc %ecx
    cmp $2, %ecx
    jne 1b
    call leaf
    ret
    end c

    function leaf
    nop
    ret
    end leaf

    function even           # even and odd call each other
    dec %ebx
    je 1f
    call odd
1:  ret
    end even

    function odd
    dec %ebx
    je 1f
    call even
1:  ret
    end odd

    function through        # an indirect call and a tail call
    call *%rdx
    jmp leaf
    end through

    .data
data:
    .zero 64
"""
C = 3 + 3 + 2 * 3 + 2 - 1 # `rep stosb` is three steps
FORMS = [
    (),
    ("--separate-recs=2",),
    ("--separate-callers=1",),
    ("--separate-callers=2", "--separate-recs=1"),
    ("--separate-callers=1", "--separate-recs=3"),
    ("--separate-callers2=leaf", "--separate-recs3=down"),
    ("--separate-callers1=c", "--separate-callers3=l*", "--separate-recs=2"),
    ("--separate-callers=3", "--separate-callers1=leaf", "--separate-recs4=even"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("separated")
    (folder / "tree.S").write_text(PROGRAM)
    for name, *options in (("tree",), ("repeated", "-DREPEATED")):
        subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-no-pie", *options, "-o", folder / name, folder / "tree.S"],
                       check=True, timeout=60)
    return folder / "tree"


def ours(program, folder, *options):
    run = run_sonde("calls", f"--callgrind-out-file={folder}/ours", *options, "--", program)
    assert run.returncode == 0, run.stderr
    return callgrind_file.read(folder / "ours")


def theirs(program, folder, *options):
    """Names are written in full: with options for single functions Callgrind gives two names one number."""
    subprocess.run(["valgrind", "--tool=callgrind", "--compress-pos=no", "--compress-strings=no", "--show-below-main=yes",
                    f"--callgrind-out-file={folder}/theirs", *options, program], check=True, capture_output=True, timeout=120)
    return callgrind_file.read(folder / "theirs")


def without_finish(counts):
    """Callgrind leaves out the last block that a program executes."""
    def is_finish(key):
        return any(name.startswith("finish") for name in ([key] if isinstance(key, str) else key))
    return {key: count for key, count in counts.items() if not is_finish(key)}


def test_levels_of_recursion(program, tmp_path):
    profile = ours(program, tmp_path, "--separate-recs3=down")
    assert profile.self_costs["down"] == 6 and profile.self_costs["down'2"] == 6 and profile.self_costs["down'3"] == 6 + 6 + 4
    assert {pair: count for pair, count in profile.calls.items() if pair[1].startswith("down")} == {
        ("_start", "down"): 1, ("down", "down'2"): 1, ("down'2", "down'3"): 1, ("down'3", "down'3"): 2}
    assert profile.inclusive["down'2", "down'3"] == 16 + 3 * 2


def test_callers(program, tmp_path):
    profile = ours(program, tmp_path, "--separate-callers2=leaf")
    assert {name: cost for name, cost in profile.self_costs.items() if name.startswith("leaf")} == {
        "leaf'down'_start": 5 * 2, "leaf'a'_start": 2, "leaf'c'a": 2, "leaf'c'b": 2, "leaf'c'through": 2,
        "leaf'through'_start": 2}
    assert profile.calls["c", "leaf'c'b"] == 1 and profile.calls["through", "leaf'through'_start"] == 1
    assert "c" in profile.self_costs


def test_repeated_and_jumps_apart(program, tmp_path):
    profile = ours(program.with_name("repeated"), tmp_path, "--separate-callers=1", "--collect-jumps=yes", "--dump-instr=yes")
    assert [profile.self_costs[name] for name in ("c'a", "c'b", "c'through")] == [C] * 3
    assert [taken for (name, *_), taken in profile.jumps.items() if name.startswith("c'")] == [1, 1, 1]


@pytest.mark.parametrize("options", FORMS, ids=" ".join)
def test_same_as_callgrind(program, tmp_path, options):
    """Without simulation, and with it for all events."""
    peer = theirs(program, tmp_path, "--separate-recs=1", *SIMULATION, *options)
    for mine in (ours(program, tmp_path, *options), ours(program, tmp_path, *SIMULATION, *options)):
        assert without_finish(mine.self_costs) == without_finish(peer.self_costs)
        assert without_finish(mine.calls) == without_finish(peer.calls)
        assert without_finish(mine.inclusive) == without_finish(peer.inclusive)
        assert sum(without_finish(mine.self_costs).values()) == int(peer.headers["totals"].split()[0])
    assert mine.events == peer.events
    assert without_finish(+mine.other_costs) == +peer.other_costs
    assert without_finish(+mine.other_inclusive) == +peer.other_inclusive


def together(profile):
    """What each function and each call cost of each event, the parts of a function taken together."""
    own, calls = {}, {}
    for name, cost in profile.self_costs.items():
        own["Ir", name.split("'")[0]] = own.get(("Ir", name.split("'")[0]), 0) + cost
    for (event, name), cost in (+profile.other_costs).items():
        own[event, name.split("'")[0]] = own.get((event, name.split("'")[0]), 0) + cost
    for (event, caller, callee), cost in (+profile.other_inclusive).items():
        key = (event, caller.split("'")[0], callee.split("'")[0])
        calls[key] = calls.get(key, 0) + cost
    return own, calls


@pytest.mark.parametrize("options", FORMS[1:4], ids=" ".join)
@pytest.mark.parametrize("simulation", [(), SIMULATION], ids=["counted", "simulated"])
def test_sums_are_those_of_one(program, tmp_path, options, simulation):
    """Whatever is told apart: the sum of what a function is cut into is the function, and that of calls the call."""
    whole, cut = ours(program, tmp_path, *simulation), ours(program, tmp_path, *simulation, *options)
    assert together(cut) == together(whole)
    assert cut.headers["totals"] == whole.headers["totals"]


def test_simulated_in_contexts(program, tmp_path):
    """c reads the return address, and so does what it calls. It is the same code, which only misses the first time."""
    profile = ours(program, tmp_path, *SIMULATION, "--separate-callers=2")
    own = {name: [profile.other_costs[event, name] for event in ("Dr", "Dw", "Bc")]
           for name in profile.self_costs if name.startswith(("c'", "leaf'c"))}
    assert own == {"c'a'_start": [1, 1, 2], "c'b'_start": [1, 1, 2], "c'through'_start": [1, 1, 2],
                   "leaf'c'a": [1, 0, 0], "leaf'c'b": [1, 0, 0], "leaf'c'through": [1, 0, 0]}
    assert profile.other_inclusive["Dr", "b'_start", "c'b'_start"] == 2
    assert profile.other_inclusive["Bc", "through'_start", "c'through'_start"] == 2
    assert profile.other_costs["Bim", "through'_start"] == 1
    assert [profile.other_costs["I1mr", name] for name in ("c'a'_start", "c'b'_start", "c'through'_start")] == [
        profile.other_costs["I1mr", "c'a'_start"], 0, 0]


def test_annotate_reads_simulated_contexts(program, tmp_path):
    ours(program, tmp_path, *SIMULATION, "--separate-callers=1", "--separate-recs=2", "--dump-instr=yes")
    run = subprocess.run(["callgrind_annotate", "--tree=both", "--inclusive=yes", tmp_path / "ours"], capture_output=True,
                         text=True, timeout=60)
    assert run.returncode == 0 and not run.stderr
    assert "leaf'through" in run.stdout


def test_sums_of_a_real_program(tmp_path):
    """With string instructions and recursion, in a static program, which is the same in each run. What its stubs miss is shared
    out among their calls, and so may be another one's."""
    (tmp_path / "sorts.c").write_text("""
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
        int main(void) {
            static int v[3000];
            char text[64], copy[64];
            for (unsigned i = 0, seed = 1; i < 3000; i++) v[i] = (seed = seed * 1664525 + 1013904223) >> 8;
            qsort(v, 3000, sizeof *v, by_value);
            for (int i = 0; i < 200; i++) snprintf(text, sizeof text, "%d", v[i]), strcpy(copy, text);
            return copy[0] == 0;
        }""")
    subprocess.run(["gcc", "-O1", "-static", "-o", tmp_path / "sorts", tmp_path / "sorts.c"], check=True, timeout=60)

    def without_stubs(costs):
        return {key: cost for key, cost in costs.items() if not key[-1].startswith("0x")}

    whole = ours(tmp_path / "sorts", tmp_path, *SIMULATION, "--skip-plt=no")
    own, calls = together(whole)
    assert len(without_stubs(calls)) < len(calls)
    for options in (["--separate-callers=3", "--separate-recs=2"],
                    ["--separate-callers=1", "--analysis-threads=1"]):
        cut = ours(tmp_path / "sorts", tmp_path, *SIMULATION, "--skip-plt=no", *options)
        assert len(cut.self_costs) > len(whole.self_costs)
        assert cut.headers["totals"] == whole.headers["totals"]
        cut_own, cut_calls = together(cut)
        assert cut_own == own
        assert without_stubs(cut_calls) == without_stubs(calls)


@pytest.mark.parametrize("simulation", [(), SIMULATION], ids=["counted", "simulated"])
def test_parts(program, tmp_path, simulation):
    run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out", "--separate-callers=1", "--dump-before=leaf", *simulation,
                    "--", program)
    assert run.returncode == 0
    parts = [callgrind_file.read(file) for file in tmp_path.glob("out*")]
    whole = ours(program, tmp_path, "--separate-callers=1", *simulation)
    assert len(parts) == 1 + sum(count for (_, callee), count in whole.calls.items() if callee.startswith("leaf"))
    assert sum(part.self_costs["leaf'c"] for part in parts) == whole.self_costs["leaf'c"] == 6
    sums = [sum(costs) for costs in zip(*(map(int, part.headers["totals"].split()) for part in parts))]
    assert sums == list(map(int, whole.headers["totals"].split()))
    assert sum((part.other_inclusive for part in parts), Counter()) == +whole.other_inclusive


def test_collecting_switched(program, tmp_path):
    """What is collected in `b` is in the contexts that began before."""
    profile = ours(program, tmp_path, *SIMULATION, "--separate-callers=2", "--toggle-collect=b")
    assert set(+profile.self_costs) == {"b'_start", "c'b'_start", "leaf'c'b"}
    assert {name: profile.other_costs["Dr", name] for name in +profile.self_costs} == {
        "b'_start": 1, "c'b'_start": 1, "leaf'c'b": 1}


def test_threads_and_signals(tmp_path):
    (tmp_path / "mixed.c").write_text("""
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        static volatile int count;
        __attribute__((noinline)) void leaf(void) { count++; }
        __attribute__((noinline)) void handler(int number) { (void)number; leaf(); leaf(); }
        __attribute__((noinline)) void times(long n) { for (long i = 0; i < n; i++) leaf(); __asm__ volatile(""); }
        static void *work(void *n) { times((long)n); return 0; }
        int main(int words, char **text) {
            pthread_t threads[2];
            (void)text;
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(1000L + 1000 * i));
            for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
            if (words > 1) sigaltstack(&(stack_t){.ss_sp = malloc(65536), .ss_size = 65536}, 0);
            sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = words > 1 ? SA_ONSTACK : 0}, 0);
            for (int i = 0; i < 3; i++) raise(SIGUSR1);
            times(5);
            return 0;
        }""")
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", tmp_path / "mixed", tmp_path / "mixed.c"], check=True, timeout=60)
    for words in ([], ["on-its-own-stack"]):
        run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/ours", "--separate-callers2=leaf", *SIMULATION,
                        "--separate-callers1=handler", "--", tmp_path / "mixed", *words)
        assert run.returncode == 0, run.stderr
        profile = callgrind_file.read(tmp_path / "ours")
        own = {name: count for (_, name), count in profile.calls.items() if name.startswith("leaf")}
        interrupted, = (name for _, name in profile.calls if name.startswith("handler'"))
        assert own == {"leaf'times'work": 3000, "leaf'times'main": 5, "leaf'handler'" + interrupted.split("'")[1]: 6}
        assert sum(count for (_, name), count in profile.calls.items() if name == interrupted) == 3
        # Each leaf reads the counter and its return address, and each handler its own.
        assert {name: profile.other_costs["Dr", name] for name in own} == {name: 2 * count for name, count in own.items()}
        assert sum(cost for (event, _, name), cost in profile.other_inclusive.items()
                   if event == "Dr" and name == interrupted) == 6 * 2 + 3


def test_vfork_child(tmp_path):
    """It is not counted, whether functions are told apart or not, though it runs in its parent's memory."""
    (tmp_path / "borrower.c").write_text("""
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile int sum;
        __attribute__((noinline)) void leaf(void) { sum++; }
        int main(void) {
            void (*volatile pointer)(void) = leaf;
            if (vfork() == 0) {
                for (int i = 0; i < 5; i++) leaf(), pointer();
                _exit(0);
            }
            wait(0);
            leaf(), pointer();
            return 0;
        }""")
    subprocess.run(["gcc", "-O1", "-g", "-o", tmp_path / "borrower", tmp_path / "borrower.c"], check=True, timeout=60)
    whole, cut = ours(tmp_path / "borrower", tmp_path), ours(tmp_path / "borrower", tmp_path, "--separate-callers=1", *SIMULATION)
    assert whole.calls["main", "leaf"] == 2 and cut.calls["main'__libc_start_call_main", "leaf'main"] == 2
    assert cut.self_costs["leaf'main"] == whole.self_costs["leaf"]
    assert cut.other_costs["Dr", "leaf'main"] == cut.other_inclusive["Dr", "main'__libc_start_call_main", "leaf'main"] == 4


LIBRARY = "int twice(int n) { return 2 * n; }"
USER = """
int twice(int n);
__attribute__((noinline)) int use(int n) { return twice(n) + 1; }
int main(void) { int sum = 0; for (int i = 0; i < 10; i++) sum += use(i); return sum == 0; }
"""


@pytest.fixture(scope="module", params=["now", "lazy"])
def linked(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("linked")
    (folder / "library.c").write_text(LIBRARY)
    (folder / "user.c").write_text(USER)
    subprocess.run(["gcc", "-O1", "-g", "-shared", "-fPIC", "-o", folder / "libtwice.so", folder / "library.c"], check=True)
    subprocess.run(["gcc", "-O1", "-g", "-o", folder / "user", folder / "user.c", f"-L{folder}", "-ltwice",
                    f"-Wl,-rpath,{folder}", f"-Wl,-z,{request.param}"], check=True)
    return folder / "user"


@pytest.mark.parametrize("options", [(), ("--separate-callers=2",)], ids=["together", "apart"])
def test_stubs(linked, tmp_path, options):
    def in_use(profile):
        return {callee: count for (caller, callee), count in profile.calls.items() if caller.split("'")[0] == "use"}

    skipped = ours(linked, tmp_path, *options)
    shown = ours(linked, tmp_path, "--skip-plt=no", *options)
    twice = "twice'use'main" if options else "twice"
    assert in_use(skipped) == {twice: 10}
    stub, = in_use(shown)
    assert in_use(shown)[stub] == 10 and shown.calls[stub, twice] == 10
    assert "twice" not in stub or stub.endswith("@plt")
    use = "use'main'__libc_start_call_main" if options else "use"
    # The stub's instructions are the caller's, or its own; what it leads to costs the same.
    # A stub is one instruction; the first call of a lazy one executes up to four more on its way to the linker.
    assert shown.self_costs[stub] - 10 in range(5)
    assert skipped.self_costs[use] - shown.self_costs[use] == 10
    assert shown.inclusive[stub, twice] == skipped.inclusive[use, twice]
    assert shown.inclusive[use, stub] == shown.inclusive[stub, twice] + 10


@pytest.mark.parametrize("option,said", [
    ("--separate-callers=33", "--separate-callers: a number from 0 to 32 is wanted"),
    ("--separate-recs=0", "--separate-recs: a number from 1 to 250 is wanted"),
    ("--separate-recs251=main", "--separate-recs: a number from 1 to 250 is wanted"),
    ("--separate-callers2=", "--separate-callers2 needs a value, not ''"),
    ("--separate-callers2x=main", "unknown option '--separate-callers2x=main'"),
])
def test_bad_options(option, said):
    run = run_sonde("calls", option, "--", "/bin/true")
    assert run.returncode == 2
    assert said in run.stderr and run.stderr.count("\n") == 1
