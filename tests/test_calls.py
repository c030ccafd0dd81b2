"""sonde calls: programs whose calls and costs are known to the instruction, and files that Callgrind's tools read."""

import re
import shutil
import subprocess

import pytest

import callgrind_file
from conftest import ROOT, run_sonde

# Instructions of each function are counted beside it.
PROGRAM = """
    .globl _start
    .type _start, @function
_start:                     # 2 + 3 * 3 + 1 + 2 + 2 = 16
    mov $3, %ebx
    lea data(%rip), %rbp
1:  call outer
    dec %ebx
    jnz 1b
    call tail
    mov $4, %edi
    call down
    mov $60, %eax
    xor %edi, %edi
    jmp end
    .size _start, . - _start

    .globl outer            # 3 calls: each 5, with 7 of inner and 4 + 6 of strings: 22
    .type outer, @function
outer:
    mov $1, %ecx
    call inner
    call strings
    nop
    ret
    .size outer, . - outer

    .globl inner            # 7, the branch is taken the second and third time, when %ebx is 2 and 1: 4
    .type inner, @function
inner:
    cmp $3, %ebx
    jne 1f
    nop
    nop
    nop
    nop
1:  ret
    .size inner, . - inner

    .globl strings          # 4, and 6 steps
    .type strings, @function
strings:
    mov $6, %ecx
    mov %rbp, %rdi
    mov %rbp, %rsi
    rep movsb
    ret
    .size strings, . - strings

    .globl tail             # 2, and jumps to leaf
    .type tail, @function
tail:
    nop
    jmp leaf
    .size tail, . - tail

    .globl leaf             # 2
    .type leaf, @function
leaf:
    nop
    ret
    .size leaf, . - leaf

    .globl down             # 5 times, the first four: 5, the last: 3
    .type down, @function
down:
    test %edi, %edi
    je 1f
    dec %edi
    call down
1:  ret
    .size down, . - down

    .globl end              # 1: never comes back
    .type end, @function
end:
    syscall
    .size end, . - end

    .data
data:
    .zero 64
"""

INNER = 7 + 3 + 3
STRINGS = 3 * (3 + 6 + 1)
OUTER = 3 * 5 + INNER + STRINGS
DOWN = [5 * calls + 3 for calls in range(5)]  # inclusive, by how many calls are below
START = 2 + 3 * 3 + 1 + 2 + 3
TOTAL = START + OUTER + 2 + 2 + DOWN[4] + 1


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    (folder / "known.S").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-no-pie", "-o", folder / "known", folder / "known.S"], check=True,
                   timeout=60)
    return folder / "known"


def profile_of(program, folder, *options, count=1):
    """Run it; the profile, or with `count` above one: all in the order of their names."""
    run = run_sonde("calls", f"--callgrind-out-file={folder}/out", *options, "--", program)
    assert run.returncode == 0, run.stderr
    files = sorted(folder.glob("out*"))
    assert len(files) == count
    if "--separate-threads=yes" not in options:
        assert [file.name for file in files] == ["out", *(f"out.{part}" for part in range(1, count))]
    profiles = [callgrind_file.read(file) for file in files]
    return profiles[0] if count == 1 else profiles


def test_counts_and_costs(program, tmp_path):
    profile = profile_of(program, tmp_path)
    assert profile.self_costs == {"_start": START, "outer": 3 * 5, "inner": INNER, "strings": STRINGS, "tail": 2, "leaf": 2,
                                  "down": DOWN[4], "end": 1}
    assert profile.calls == {("_start", "outer"): 3, ("outer", "inner"): 3, ("outer", "strings"): 3, ("_start", "tail"): 1,
                             ("tail", "leaf"): 1, ("_start", "down"): 1, ("down", "down"): 4}
    assert profile.inclusive == {("_start", "outer"): OUTER, ("outer", "inner"): INNER, ("outer", "strings"): STRINGS,
                                 ("_start", "tail"): 4, ("tail", "leaf"): 2, ("_start", "down"): DOWN[4],
                                 ("down", "down"): sum(DOWN[:4])}
    assert profile.headers["totals"] == profile.headers["summary"] == str(TOTAL)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_short_blocks(program, tmp_path, limit):
    whole = profile_of(program, tmp_path, f"--debug-block-limit={limit}", "--debug-superblocks=no")
    assert whole.headers["totals"] == str(TOTAL)
    assert whole.inclusive["_start", "outer"] == OUTER and whole.inclusive["down", "down"] == sum(DOWN[:4])


def test_instructions_and_jumps(program, tmp_path):
    profile = profile_of(program, tmp_path, "--dump-instr=yes", "--collect-jumps=yes")
    symbols = dict(reversed(line.split()[::2]) for line in
                   subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines())
    start = int(symbols["inner"], 16)
    assert [profile.lines["inner", hex(start + offset)] for offset in (0, 3, 5, 6, 7, 8, 9)] == [3, 3, 1, 1, 1, 1, 3]
    assert profile.jumps["inner", hex(start + 3), hex(start + 9)] == 2
    assert profile.executed["inner", hex(start + 3), hex(start + 9)] == 3
    assert sum(profile.self_costs.values()) == TOTAL


def test_no_lines(program, tmp_path):
    profile = profile_of(program, tmp_path, "--dump-line=no", "--dump-instr=yes", "--compress-strings=no")
    assert profile.headers["positions"] == "instr"
    assert profile.self_costs["inner"] == INNER


def test_no_places(program, tmp_path):
    """As Callgrind does."""
    profile = profile_of(program, tmp_path, "--dump-line=no")
    assert profile.headers["positions"] == "line"
    assert profile.self_costs["inner"] == INNER


@pytest.mark.parametrize("options", [(), ("--dump-instr=yes", "--collect-jumps=yes"),
                                     ("--dump-line=no", "--dump-instr=yes")])
def test_positions_by_distance(program, tmp_path, options):
    """Whether they are written so or not, all is at the same place, for callgrind_annotate as well."""
    said, annotated, texts = [], [], []
    for compresses in ("yes", "no"):
        said.append(profile_of(program, tmp_path, f"--compress-pos={compresses}", *options))
        texts.append((tmp_path / "out").read_text())
        if "--dump-line=no" not in options: # callgrind_file.complaints() says why
            annotated.append(subprocess.run(["callgrind_annotate", "--tree=both", tmp_path / "out"], capture_output=True, text=True,
                                            check=True, timeout=60).stdout)
    assert re.search(r"^[+*-]", texts[0], re.M) and not re.search(r"^[+*-]", texts[1], re.M)
    said[0].headers.pop("pid"), said[1].headers.pop("pid")
    assert said[0] == said[1]
    assert len({re.sub(r"PID \d+", "", text) for text in annotated}) <= 1


def test_toggle_collect(program, tmp_path):
    profile = profile_of(program, tmp_path, "--toggle-collect=outer")
    assert profile.self_costs == {"outer": 3 * 5, "inner": INNER, "strings": STRINGS}
    assert profile.inclusive["outer", "inner"] == INNER


def test_dump_before(program, tmp_path):
    last, first, second, third = profile_of(program, tmp_path, "--dump-before=outer", count=4)
    assert [profile.headers["part"] for profile in (first, second, third, last)] == ["1", "2", "3", "4"]
    assert first.self_costs == {"_start": 3}
    assert second.inclusive["_start", "outer"] == 5 + 7 + 10
    assert second.calls["_start", "outer"] == 1
    assert sum(int(profile.headers["totals"]) for profile in (first, second, third, last)) == TOTAL


def test_dump_after_and_zero_before(program, tmp_path):
    profiles = profile_of(program, tmp_path, "--dump-after=outer", "--zero-before=tail", count=4)
    last, *parts = profiles
    assert last.self_costs["outer"] == 0 and last.self_costs["tail"] == 2
    assert int(last.headers["totals"]) == 4 + DOWN[4] + 5 + 1
    assert parts[0].self_costs["inner"] == 7


def test_every_block(program, tmp_path):
    run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out", "--dump-every-bb=10", "--", program)
    assert run.returncode == 0
    profiles = [callgrind_file.read(file) for file in tmp_path.glob("out*")]
    assert len(profiles) > 3
    assert sum(int(profile.headers["totals"]) for profile in profiles) == TOTAL


def test_separate_threads(tmp_path):
    source = tmp_path / "threads.c"
    source.write_text("""
        #include <pthread.h>
        __attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }
        static void *work(void *times) { for (long i = 0; i < (long)times; i++) leaf(); return 0; }
        int main(void) {
            pthread_t one, two;
            pthread_create(&one, 0, work, (void *)1000);
            pthread_create(&two, 0, work, (void *)2000);
            pthread_join(one, 0);
            pthread_join(two, 0);
            leaf();
            return 0;
        }""")
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", tmp_path / "threads", source], check=True, timeout=60)
    main, first, second = profile_of(tmp_path / "threads", tmp_path, "--separate-threads=yes", count=3)
    # Threads have the numbers in which they begin to run.
    assert main.calls["work", "leaf"] == 0
    assert sorted(profile.calls["work", "leaf"] for profile in (first, second)) == [1000, 2000]
    assert main.calls["main", "leaf"] == 1
    together = tmp_path / "together"
    together.mkdir()
    assert profile_of(tmp_path / "threads", together).calls["work", "leaf"] == 3000


def test_system_calls(tmp_path):
    source = tmp_path / "naps.c"
    source.write_text("""
        #include <time.h>
        __attribute__((noinline)) void nap(void) { nanosleep(&(struct timespec){0, 5000000}, 0); __asm__ volatile(""); }
        int main(void) { for (int i = 0; i < 4; i++) nap(); return 0; }""")
    subprocess.run(["gcc", "-O1", "-g", "-o", tmp_path / "naps", source], check=True, timeout=60)
    profile = profile_of(tmp_path / "naps", tmp_path, "--collect-systime=usec")
    assert profile.events == ["Ir", "sysCount", "sysTime"]
    assert profile.other_inclusive["sysCount", "main", "nap"] == 4
    assert profile.other_inclusive["sysTime", "main", "nap"] >= 4 * 5000


def compiled(name, folder):
    """A program of tests/programs."""
    subprocess.run(["gcc", "-O1", "-g", "-o", folder / name, ROOT / "tests/programs" / f"{name}.c"], check=True, timeout=60)
    return folder / name


def test_client_requests(tmp_path):
    last, first, second = profile_of(compiled("calls_requests", tmp_path), tmp_path, count=3)
    assert first.headers["desc"] == "Trigger: Client Request: here"
    assert first.calls["times", "leaf"] == 20
    assert second.calls["times", "leaf"] == 30 + 50
    assert second.self_costs["leaf"] == 2 * 80
    assert last.calls["times", "leaf"] == 70


def test_not_at_start(tmp_path):
    last, *_ = profile_of(compiled("calls_requests", tmp_path), tmp_path, "--instr-atstart=no", count=3)
    assert last.self_costs["leaf"] == 2 * 70


def test_forked_child(tmp_path):
    run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out.%p", "--", compiled("calls_forks", tmp_path))
    assert run.returncode == 0
    counts = sorted(callgrind_file.read(file).calls["times", "leaf"] for file in tmp_path.glob("out.*"))
    assert counts == [20, 40]


# A function has a piece, and another one a tail, in code without symbols; between them lies what is a function of its own.
PIECES = """
    .globl _start
_start:
    call outer
    call .Lhelper
    call hop
    mov $60, %eax
    xor %edi, %edi
    syscall
    .type _start, @function
    .size _start, . - _start

    .globl outer            # 2 and 3 and 1
    .type outer, @function
outer:
    nop
    jmp .Lpiece
.Lback:
    ret
    .size outer, . - outer

    .globl hop              # 1 and 4: all that it has itself looks like a stub of the linker
    .type hop, @function
hop:
    jmp *pointer(%rip)
    .size hop, . - hop

.Lhelper:                   # 2
    nop
    ret
.Lpiece:
    nop
    nop
    jmp .Lback
.Ltail:
    nop
    nop
    nop
    ret

    .data
pointer:
    .quad .Ltail
"""


@pytest.mark.parametrize("options", [(), ("--debug-superblocks=no",), ("--separate-callers=1",)], ids=" ".join)
def test_pieces_without_symbols(tmp_path, options):
    (tmp_path / "pieces.S").write_text(PIECES)
    subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-o", tmp_path / "pieces", tmp_path / "pieces.S"], check=True,
                   timeout=60)
    profile = profile_of(tmp_path / "pieces", tmp_path, *options)
    caller = "'_start" if options and "separate" in options[0] else ""
    helper, = (name for name in profile.self_costs if name.startswith("0x"))
    assert profile.self_costs == {"_start": 6, f"outer{caller}": 6, f"hop{caller}": 5, helper: 2}
    assert profile.inclusive == {("_start", f"outer{caller}"): 6, ("_start", f"hop{caller}"): 5, ("_start", helper): 2}


# Of these only _start keeps its symbol. The cold part of `works` lies behind another function, calls that and jumps back. `target`
# is jumped to, called, and jumped to again; by then it is known as a function. So is `recursive`, in whose own code the call is.
UNNAMED = """
    .globl _start
    .type _start, @function
_start:
    call works
    call hops
    call target
    call hops
    call again
    call again
    mov $60, %eax
    xor %edi, %edi
    syscall
    .size _start, . - _start
other:                      # 2
    nop
    ret
cold:
    call other
    jmp middle
works:                      # 3 and 2 and 2
    nop
    test %esp, %esp
    jnz cold
middle:
    nop
    ret
hops:                       # 2
    nop
    jmp target
target:                     # 3
    nop
    nop
    ret
again:                      # 2
    nop
    jmp recursive
recursive:                  # 4, twice
    xor $1, %ebx
    jz 1f
    call recursive
1:  ret
"""


@pytest.mark.parametrize("options", [(), ("--debug-superblocks=no",)], ids=" ".join)
def test_functions_without_symbols(tmp_path, options):
    (tmp_path / "unnamed.S").write_text(UNNAMED)
    program = tmp_path / "unnamed"
    subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-o", program, tmp_path / "unnamed.S"], check=True, timeout=60)
    symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True, timeout=60).stdout
    names = {name: f"0x{address}" for address, _, name in map(str.split, symbols.splitlines())}
    subprocess.run(["strip", "-K", "_start", program], check=True, timeout=60)
    profile = profile_of(program, tmp_path, *options)
    works, other, hops, target = (names[name] for name in ("works", "other", "hops", "target"))
    again, recursive = (names[name] for name in ("again", "recursive"))
    assert profile.self_costs == {"_start": 9, works: 7, other: 2, hops: 4, target: 9, again: 4, recursive: 14}
    assert profile.calls == {("_start", works): 1, (works, other): 1, ("_start", hops): 2, ("_start", target): 1,
                             (hops, target): 1, ("_start", again): 2, (again, recursive): 1, (recursive, recursive): 2}
    assert profile.inclusive == {("_start", works): 9, (works, other): 2, ("_start", hops): 10, ("_start", target): 3,
                                 (hops, target): 3, ("_start", again): 18, (again, recursive): 7, (recursive, recursive): 6}


def test_handlers_have_callers(tmp_path):
    (tmp_path / "handled.c").write_text("""
        #include <signal.h>
        #include <stdlib.h>
        static volatile int count;
        __attribute__((noinline)) void leaf(void) { count++; }
        __attribute__((noinline)) void handler(int number) { (void)number; leaf(); leaf(); }
        int main(int words, char **text) {
            (void)text;
            if (words > 1) sigaltstack(&(stack_t){.ss_sp = malloc(65536), .ss_size = 65536}, 0);
            sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = words > 1 ? SA_ONSTACK : 0}, 0);
            for (int i = 0; i < 3; i++) raise(SIGUSR1);
            return 0;
        }""")
    subprocess.run(["gcc", "-O1", "-g", "-o", tmp_path / "handled", tmp_path / "handled.c"], check=True, timeout=60)
    for words in ([], ["on-its-own-stack"]):
        run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/out", "--", tmp_path / "handled", *words)
        assert run.returncode == 0
        profile = callgrind_file.read(tmp_path / "out")
        (pair, count), = ((pair, count) for pair, count in profile.calls.items() if pair[1] == "handler")
        assert count == 3 and profile.calls["handler", "leaf"] == 6
        assert profile.inclusive[pair] == profile.inclusive_of("handler")


def test_order_of_functions(tmp_path):
    """It does not depend on which one was executed first: as it may be another one in each run of a program with threads."""
    (tmp_path / "order.c").write_text("""
        static volatile int sum;
        __attribute__((noinline)) static void first(void) { sum += 1; }
        __attribute__((noinline)) static void second(void) { sum += 2; }
        __attribute__((noinline)) static void third(void) { sum += 3; }
        int main(int words, char **text) {
            void (*functions[])(void) = {first, second, third};
            (void)words;
            for (int i = 0; i < 3; i++) functions[text[1][i] - '0']();
            return 0;
        }""")
    subprocess.run(["gcc", "-O1", "-g", "-o", tmp_path / "order", tmp_path / "order.c"], check=True, timeout=60)
    orders = []
    for order in ("012", "210"):
        run = run_sonde("calls", f"--callgrind-out-file={tmp_path}/{order}", "--", tmp_path / "order", order)
        assert run.returncode == 0
        names = [name for name in callgrind_file.read(tmp_path / order).self_costs if name in ("first", "second", "third", "main")]
        orders.append(names)
    assert orders[0] == orders[1] and len(orders[0]) == 4


@pytest.mark.parametrize("options", [(), ("--dump-instr=yes", "--collect-jumps=yes"), ("--separate-threads=yes",)])
def test_viewer_reads(tmp_path, options):
    """callgrind_annotate finds nothing to complain of in a program with C++, inlined functions and libraries."""
    annotate = shutil.which("callgrind_annotate")
    profile_of(shutil.which("sqlite3") or "/bin/ls", tmp_path, *options)
    file, = tmp_path.glob("out*")
    run = subprocess.run([annotate, "--tree=both", "--inclusive=yes", file], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0
    assert not run.stderr
    total = int(re.search(r"([\d,]+) \(100.0%\)  PROGRAM TOTALS", run.stdout)[1].replace(",", ""))
    assert str(total) == callgrind_file.read(file).headers["totals"]


def test_agrees_with_callgrind(tmp_path):
    """The heaviest functions of a deterministic program cost what Callgrind says, less than 2 % apart."""
    source = tmp_path / "sorts.c"
    source.write_text("""
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
        __attribute__((noinline)) static int fill(int *v, int n, unsigned seed) { for (int i = 0; i < n; i++) v[i] = (seed = seed * 1664525 + 1013904223) >> 8; return n; }
        __attribute__((noinline)) static long search(const int *v, int n) { long found = 0; for (int k = 0; k < n; k++) found += bsearch(&k, v, n, sizeof *v, by_value) != 0; return found; }
        int main(void) {
            static int v[4000];
            qsort(v, fill(v, 4000, 1), sizeof *v, by_value);
            char text[64];
            for (int i = 0; i < 500; i++) snprintf(text, sizeof text, "%d %ld", v[i], search(v, 20));
            return text[0] == 0;
        }""")
    program = tmp_path / "sorts"
    subprocess.run(["gcc", "-O1", "-g", "-o", program, source], check=True, timeout=60)
    ours = profile_of(program, tmp_path)
    peer = tmp_path / "callgrind"
    subprocess.run(["valgrind", "--tool=callgrind", "--compress-pos=no", f"--callgrind-out-file={peer}", program], check=True, capture_output=True,
                   timeout=120)
    theirs = callgrind_file.read(peer)
    for function in ("main", "search", "by_value", "fill", "msort_with_tmp.part.0"):
        plain = [name for name in theirs.self_costs if re.fullmatch(re.escape(function) + r"('\d+)?", name)]
        expected = sum(theirs.self_costs[name] for name in plain)
        assert expected > 0 and ours.self_costs[function] == pytest.approx(expected, rel=0.02), function
    for function in ("main", "search"):
        assert ours.inclusive_of(function) == pytest.approx(theirs.inclusive_of(function), rel=0.02), function


def test_first_call_of_what_the_kernel_maps(tmp_path):
    """time() is the vdso's, which has no symbols that a file could tell; the first call goes through the linker."""
    source = tmp_path / "asks.c"
    source.write_text("""
        #include <time.h>
        __attribute__((noinline)) int asks(void) { return time(0) > 0; }
        int main(void) { return asks() + asks() != 2; }""")
    subprocess.run(["gcc", "-O1", "-g", "-Wl,-z,lazy", "-o", tmp_path / "asks", source], check=True, timeout=60)
    profile = profile_of(tmp_path / "asks", tmp_path)
    (callee,) = [callee for caller, callee in profile.calls if caller == "asks"]
    assert profile.calls["asks", callee] == 2
    assert 10 < profile.inclusive["asks", callee] < 100000
    assert all(cost < 10**9 for cost in profile.inclusive.values())
