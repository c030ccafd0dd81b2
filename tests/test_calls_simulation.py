"""sonde calls --cache-sim=yes --branch-sim=yes: what each function and each call cost of data, misses and branches, by programs
where that is known, by Callgrind, and by `sonde cache`."""

import re
import subprocess

import pytest

import callgrind_file
from conftest import ROOT, run_sonde

GEOMETRY = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")
BOTH = ("--cache-sim=yes", "--branch-sim=yes", *GEOMETRY)
DATA = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw".split()
EVENTS = [*DATA, "Bc", "Bcm", "Bi", "Bim"]

# No string instructions, which Callgrind counts otherwise, and a stack that begins with a page, wherever it is.
PROGRAM = """
    .globl _start
    .type _start, @function
_start:
    and $-4096, %rsp
    call walk               # 8 lines that are not in the cache,
    call walk               # and are then
    call store
    mov $4, %edi
    call down
    call *pointer(%rip)     # 1 read, 1 indirect call that is not foreseen
    call *pointer(%rip)     # nor is this, from another place
    call tail
    mov $60, %eax
    xor %edi, %edi
    syscall
    .size _start, . - _start

    .globl walk             # 8 reads, and that of the return address; 8 branches
    .type walk, @function
walk:
    mov $8, %ecx
    lea data(%rip), %rdx
1:  mov (%rdx), %rax
    add $64, %rdx
    dec %ecx
    jnz 1b
    ret
    .size walk, . - walk

    .globl store            # 4 writes of lines that are not in the cache, and one of a line that is
    .type store, @function
store:
    mov %rax, data+1024(%rip)
    mov %rax, data+1088(%rip)
    mov %rax, data+1152(%rip)
    mov %rax, data+1216(%rip)
    mov %rax, data(%rip)
    ret
    .size store, . - store

    .globl down             # 5 times: 1 read of its own, 1 branch, 1 return; 4 calls, each a write
    .type down, @function
down:
    mov data+8(%rip), %rax
    test %edi, %edi
    je 1f
    dec %edi
    call down
1:  ret
    .size down, . - down

    .globl target
    .type target, @function
target:
    ret
    .size target, . - target

    .globl tail             # reads a line that is not in the cache, and jumps to one that reads another
    .type tail, @function
tail:
    mov data+2048(%rip), %rax
    jmp leaf
    .size tail, . - tail

    .globl leaf
    .type leaf, @function
leaf:
    mov data+2112(%rip), %rax
    mov data+2112(%rip), %rcx
    ret
    .size leaf, . - leaf

    .data
    .balign 4096
data:
    .zero 4096
    .balign 64
pointer:
    .quad target
"""


def compile_program(folder, name, text, *options):
    source = folder / name
    source.write_text(text)
    subprocess.run(["gcc", "-g", *options, "-o", source.with_suffix(""), source], check=True, timeout=60)
    return source.with_suffix("")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("simulated"), "known.S", PROGRAM, "-nostdlib", "-static", "-no-pie")


def profiles_of(program, folder, *options, tool=("calls",)):
    """Run it; the profiles, in the order of their names."""
    run = run_sonde(*tool, f"--callgrind-out-file={folder}/out", *options, "--", program)
    assert run.returncode == 0, run.stderr
    return [callgrind_file.read(file) for file in sorted(folder.glob("out*"))]


def self_of(profile, function, *events):
    return [profile.self_costs[function] if event == "Ir" else profile.other_costs[event, function] for event in events]


def inclusive_of(profile, caller, callee, *events):
    return [profile.inclusive[caller, callee] if event == "Ir" else profile.other_inclusive[event, caller, callee]
            for event in events]


def totals_of(profile):
    return dict(zip(profile.events, map(int, profile.headers["totals"].split())))


def add_up(profiles):
    """All totals of several profiles."""
    return {event: sum(totals_of(profile).get(event, 0) for profile in profiles) for event in profiles[0].events}


def annotate(*words):
    run = subprocess.run(["callgrind_annotate", *words], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and not run.stderr
    return run.stdout


def test_known_costs(program, tmp_path):
    profile, = profiles_of(program, tmp_path, *BOTH)
    assert profile.events == EVENTS
    assert self_of(profile, "walk", "Ir", "Dr", "Dw", "D1mr", "DLmr", "Bc") == [2 * 35, 18, 0, 8, 8, 16]
    assert inclusive_of(profile, "_start", "walk", "Ir", "Dr", "D1mr", "Bc") == [2 * 35, 18, 8, 16]
    assert inclusive_of(profile, "_start", "store", "Dr", "Dw", "D1mr", "D1mw", "DLmw") == [1, 5, 0, 4, 4]
    assert self_of(profile, "down", "Dr", "Dw", "Bc") == [10, 4, 5]
    assert inclusive_of(profile, "_start", "down", "Dr", "Dw", "Bc") == [10, 4, 5]
    assert inclusive_of(profile, "down", "down", "Dr", "Dw", "Bc") == [8 + 6 + 4 + 2, 3 + 2 + 1, 4 + 3 + 2 + 1]
    assert inclusive_of(profile, "_start", "target", "Ir", "Dr", "Dw") == [2, 2, 0]
    assert self_of(profile, "_start", "Dr", "Bi", "Bim") == [2, 2, 2]
    assert inclusive_of(profile, "_start", "tail", "Dr", "D1mr", "DLmr") == [4, 2, 2]
    assert inclusive_of(profile, "tail", "leaf", "Dr", "D1mr", "DLmr") == [3, 1, 1]
    assert self_of(profile, "tail", "Dr", "D1mr") == [1, 1]


@pytest.mark.parametrize("options", [("--debug-block-limit=1", "--debug-superblocks=no"), ("--analysis-threads=1",),
                                     ("--debug-block-limit=3",)])
def test_the_same_in_other_blocks(program, tmp_path, options):
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    expected, = profiles_of(program, tmp_path / "first", *BOTH)
    found, = profiles_of(program, tmp_path / "second", *BOTH, *options)
    for name in ("self_costs", "inclusive", "calls", "other_costs", "other_inclusive"):
        assert +getattr(found, name) == +getattr(expected, name), name


def merged(profile):
    """Costs as they are without Callgrind's levels of recursion, by its name for the first function."""
    def plain(name):
        return "_start" if name == "(below main)" else re.sub(r"'\d+$", "", name)
    own, calls = {}, {}
    for function in profile.self_costs:
        costs = own.setdefault(plain(function), [0] * len(EVENTS))
        for at, cost in enumerate(self_of(profile, function, *EVENTS)):
            costs[at] += cost
    for pair in profile.calls:
        costs = calls.setdefault(tuple(map(plain, pair)), [0] * len(EVENTS))
        for at, cost in enumerate(inclusive_of(profile, *pair, *EVENTS)):
            costs[at] += cost
    return own, calls


def test_callgrind_says_the_same(program, tmp_path):
    """A static program executes the same instructions, at the same addresses."""
    peer = tmp_path / "callgrind"
    subprocess.run(["valgrind", "--tool=callgrind", "--compress-pos=no", f"--callgrind-out-file={peer}", *BOTH, program],
                   check=True, capture_output=True, timeout=120)
    theirs = callgrind_file.read(peer)
    ours, = profiles_of(program, tmp_path, *BOTH)
    assert ours.events == theirs.events
    our_own, our_calls = merged(ours)
    their_own, their_calls = merged(theirs)
    their_calls.pop(("down", "down")), our_calls.pop(("down", "down"))  # Callgrind counts inner levels once
    our_own["_start"][0] = their_own["_start"][0]  # Callgrind leaves out the block that ends the program
    assert our_own == their_own
    assert our_calls == their_calls
    described = re.findall(r"desc: (\w+ cache: .*)", peer.read_text())
    assert described == re.findall(r"desc: (\w+ cache: .*)", (tmp_path / "out").read_text())


def test_annotate_reads_it(program, tmp_path):
    profiles_of(program, tmp_path, *BOTH, "--dump-instr=yes")
    text = annotate("--tree=both", "--inclusive=yes", tmp_path / "out")
    assert re.search(r"^I1 cache: +32768 B, 64 B, 8-way", text, re.M)
    assert f"Events recorded:  {' '.join(EVENTS)}" in text
    report = run_sonde("report", "--tree=top-down", tmp_path / "out")
    assert report.returncode == 0
    for event in EVENTS:
        assert re.search(rf"^ +{event} ", report.stdout, re.M), event


@pytest.mark.parametrize("options, events", [
    (("--cache-sim=yes",), DATA),
    (("--branch-sim=yes",), ["Ir", "Bc", "Bcm", "Bi", "Bim"]),
    (("--cache-sim=yes", "--branch-sim=yes", "--collect-systime=usec"), [*EVENTS, "sysCount", "sysTime"]),
    ((), ["Ir"]),
])
def test_events_that_are_asked_for(program, tmp_path, options, events):
    profile, = profiles_of(program, tmp_path, *options)
    assert profile.events == events
    if "sysCount" in events:
        assert self_of(profile, "_start", "sysCount") == [0]  # exit does not return
    if "Bc" in events:
        assert inclusive_of(profile, "_start", "down", "Bc") == [5]


def test_toggle_collect(program, tmp_path):
    """The caches go on while nothing is collected: one of the lines that `store` writes is there."""
    profile, = profiles_of(program, tmp_path, *BOTH, "--toggle-collect=store")
    assert set(+profile.self_costs) == {"store"}
    found = totals_of(profile)
    assert [found[event] for event in ("Ir", "Dr", "Dw", "D1mr", "D1mw", "Bc")] == [6, 1, 5, 0, 4, 0]
    assert inclusive_of(profile, "_start", "walk", "Dr", "D1mr") == [0, 0]


def test_toggle_collect_around_calls(program, tmp_path):
    profile, = profiles_of(program, tmp_path, *BOTH, "--toggle-collect=tail")
    assert totals_of(profile)["Dr"] == 4 and totals_of(profile)["D1mr"] == 2
    assert inclusive_of(profile, "tail", "leaf", "Dr", "D1mr") == [3, 1]


def test_parts(program, tmp_path):
    """Each part has what was counted in it, of calls that go on as well."""
    (tmp_path / "whole").mkdir()
    whole, = profiles_of(program, tmp_path / "whole", *BOTH)
    last, *parts = profiles_of(program, tmp_path, *BOTH, "--dump-before=walk", "--dump-before=leaf")
    assert len(parts) == 3
    first, second, third = parts
    assert self_of(first, "walk", "Dr") == [0]
    assert inclusive_of(second, "_start", "walk", "Dr", "D1mr") == [9, 8]
    assert inclusive_of(third, "_start", "walk", "Dr", "D1mr") == [9, 0]
    assert inclusive_of(third, "_start", "tail", "Dr", "D1mr") == [1, 1]
    assert inclusive_of(last, "_start", "tail", "Dr", "D1mr") == [3, 1]
    assert add_up([last, *parts]) == totals_of(whole)


def test_zero(program, tmp_path):
    profile, = profiles_of(program, tmp_path, *BOTH, "--zero-before=leaf")
    assert totals_of(profile)["Dr"] == 3 and totals_of(profile)["D1mr"] == 1
    assert inclusive_of(profile, "_start", "tail", "Dr", "D1mr") == [3, 1]
    assert inclusive_of(profile, "_start", "walk", "Dr") == [0]


SORTS = """
    #include <stdio.h>
    #include <stdlib.h>
    static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
    int main(void) {
        static int v[20000];
        for (unsigned i = 0, seed = 1; i < 20000; i++) v[i] = (seed = seed * 1664525 + 1013904223) >> 8;
        qsort(v, 20000, sizeof *v, by_value);
        char text[64];
        for (int i = 0; i < 500; i++) snprintf(text, sizeof text, "%d", v[i]);
        return text[0] == 0;
    }"""


@pytest.mark.parametrize("options", [("-static",), ()])
def test_totals_are_those_of_cache(tmp_path, options):
    """All is counted once, and goes through the same caches. Without -static, there are stubs and their first calls."""
    program = compile_program(tmp_path, "sorts.c", SORTS, "-O1", *options)
    profile, = profiles_of(program, tmp_path, *BOTH)
    assert "by_value" in annotate(tmp_path / "out"), "though no line of the source has an indirect branch"
    run = run_sonde("cache", "--branch-sim=yes", f"--cachegrind-out-file={tmp_path}/lines", *GEOMETRY, "--", program)
    assert run.returncode == 0
    text = (tmp_path / "lines").read_text()
    events, = re.findall(r"^events: (.*)$", text, re.M)
    summary, = re.findall(r"^summary: (.*)$", text, re.M)
    cache = dict(zip(events.split(), map(int, summary.split())))
    if not options:  # the stack holds the name of the tool's file, and addresses that differ
        assert {event: cache[event] for event in ("Ir", "Dr", "Dw")} == pytest.approx(
            {event: totals_of(profile)[event] for event in ("Ir", "Dr", "Dw")}, rel=0.001)
        return
    assert cache == totals_of(profile)


def unbalanced(profile, slack):
    """Functions outside of recursion whose calls cost more of an event than themselves and what they call, or less, although their
    instructions agree."""
    callees, callers = {}, {}
    for caller, callee in profile.calls:
        callees.setdefault(caller, set()).add(callee)
        callers.setdefault(callee, set()).add(caller)

    def reached(function):
        seen, left = set(), [function]
        while left:
            new = callees.get(left.pop(), set()) - seen
            seen |= new
            left += new
        return seen

    def difference(function, event):
        into = sum(inclusive_of(profile, caller, function, event)[0] for caller in callers[function])
        own = self_of(profile, function, event)[0]
        return into - own - sum(inclusive_of(profile, function, callee, event)[0] for callee in callees.get(function, ()))

    compared = [function for function in callers if function not in reached(function) and not difference(function, "Ir")]
    assert len(compared) > 50
    return {(function, event): difference(function, event) for function in compared for event in profile.events
            if abs(difference(function, event)) > slack}


@pytest.mark.parametrize("options", [(), ("--separate-callers=2", "--separate-recs=2")], ids=["together", "apart"])
@pytest.mark.parametrize("name", ["tail_calls", "long_jumps", "coroutines", "hand_written_switch", "signals", "thunks"])
def test_calls_cost_what_is_in_them(tmp_path, name, options):
    """However calls begin and end. A first call through a stub, and a jump out of functions, may be a few references off: they
    are made before the function begins, and when it has gone. swapcontext() loads 14 registers when it is on the other stack."""
    program = compile_program(tmp_path, f"{name}.c", (ROOT / "tests" / "contexts" / f"{name}.c").read_text()
                              .replace('#include "mark.h"', f'#include "{ROOT}/tests/contexts/mark.h"'), "-O2", "-w", "-pthread")
    run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out", *BOTH, *options, "--", program)
    assert run.returncode == 0, run.stderr
    assert unbalanced(callgrind_file.read(tmp_path / "out"), slack=30 if name == "coroutines" else 8) == {}


THREADS = """
    #include <pthread.h>
    static long data[8];
    __attribute__((noinline)) long leaf(void) { return ((volatile long *)data)[0] + ((volatile long *)data)[1]; }
    static void *work(void *times) { for (long i = 0; i < (long)times; i++) leaf(); return 0; }
    int main(void) {
        pthread_t one, two;
        pthread_create(&one, 0, work, (void *)100000);
        pthread_create(&two, 0, work, (void *)200000);
        pthread_join(one, 0);
        pthread_join(two, 0);
        leaf();
        return 0;
    }"""


def test_threads(tmp_path):
    """Each has caches and calls of its own; leaf makes 3 reads."""
    program = compile_program(tmp_path, "threads.c", THREADS, "-O1", "-pthread")
    main, *others = profiles_of(program, tmp_path, *BOTH, "--separate-threads=yes", "--separate-callers1=leaf")
    assert sorted(inclusive_of(profile, "work", "leaf'work", "Dr")[0] for profile in others) == [300000, 600000]
    assert inclusive_of(main, "main", "leaf'main", "Dr", "Dw") == [3, 0]
    assert all(self_of(profile, "leaf'work", "D1mr")[0] <= 2 for profile in others)
    (tmp_path / "together").mkdir()
    together, = profiles_of(program, tmp_path / "together", *BOTH)
    assert inclusive_of(together, "work", "leaf", "Dr") == [900000]
    assert self_of(together, "leaf", "Dr", "Dw") == [900003, 0]


def test_forked_child(tmp_path):
    program = compile_program(tmp_path, "calls_forks.c", (ROOT / "tests/programs/calls_forks.c").read_text(), "-O1")
    run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out.%p", *BOTH, "--", program)
    assert run.returncode == 0
    profiles = [callgrind_file.read(file) for file in tmp_path.glob("out.*")]
    assert sorted(inclusive_of(profile, "times", "leaf", "Dr") for profile in profiles) == [[40], [80]]
    assert sorted(self_of(profile, "leaf", "Dr") for profile in profiles) == [[40], [80]]


def test_requests(tmp_path):
    """From the program itself: zero, a part, and collecting that is switched."""
    program = compile_program(tmp_path, "calls_requests.c", (ROOT / "tests/programs/calls_requests.c").read_text(), "-O1")
    last, first, second = profiles_of(program, tmp_path, *BOTH)
    assert inclusive_of(first, "times", "leaf", "Dr") == [40]
    assert inclusive_of(second, "times", "leaf", "Dr") == [2 * 80]
    assert inclusive_of(last, "times", "leaf", "Dr") == [2 * 70]
    assert self_of(last, "leaf", "Dr") == [2 * 70]


@pytest.mark.parametrize("options, message", [
    (("--cache-sim=yes", "--D1=1000,3,64"), "--D1=1000,3,64: "),
    (("--I1=nothing",), "--I1=nothing: "),
])
def test_bad_options(program, tmp_path, options, message):
    run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out", *options, "--", program)
    assert run.returncode == 2
    assert message in run.stderr and len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
