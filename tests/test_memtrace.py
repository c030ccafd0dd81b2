"""The tool memtrace: traces of programs of which every access is known, as text and through the file and its report."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, SONDE, run_sonde
from memtrace_forms import FORMS

TIMEOUT = 120

DATA = """
    .bss
    .balign 4096
    .globl d
d:  .skip 65536
    .skip 4096
sp: .skip 4096
    .data
    .balign 64
words:
    .set number, 0
    .rept 32
    .quad number
    .set number, number + 1
    .endr
masks:
    .byte 0x80, 0, 0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    .long 0x80000000, 0, 0x7fffffff, 0xffffffff, 0, 0, 0, 0x80000001
bytes:
    .ascii "abcabdabc"
pointer:
    .quad 0
marker:
    .byte 0
    .text
    .globl _start
_start:
"""


def processor_flags():
    return set(re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split())


def known_forms():
    flags = processor_flags()
    return [form for form in FORMS if set(form[1].split()) <= flags]


def source_of(forms):
    """One straight program; a store to `marker` ends each form."""
    text = DATA
    for _, _, code, _ in forms:
        text += "    mov $sp, %esp\n    mov $d, %ebx\n    mov $words, %esi\n    mov $d, %edi\n    xor %eax, %eax\n"
        if "9:" in code:
            text += "    movq $9f, pointer\n"
        text += "\n".join(f"    {line.strip()}" for line in code.split(";")) + "\n    movb $1, marker\n"
    return text + "    mov $231, %eax\n    xor %edi, %edi\n    syscall\n"


def build_assembly(folder, name, source):
    (folder / f"{name}.s").write_text(source)
    subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-no-pie", "-o", folder / name, folder / f"{name}.s"], check=True,
                   timeout=TIMEOUT)
    return folder / name


def symbols_of(program):
    listed = subprocess.run(["nm", program], check=True, text=True, stdout=subprocess.PIPE, timeout=TIMEOUT).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in listed.splitlines() if len(line.split()) == 3}


def accesses_of(expected, symbols):
    """"L d+4 8 ..." -> [("L", address, 8), ...]"""
    words = expected.split()
    result = []
    for letter, place, size in zip(words[::3], words[1::3], words[2::3]):
        name, sign, offset = re.fullmatch(r"(\w+?)(?:([+-])(\d+))?", place).groups()
        result.append((letter, symbols[name] + (int(offset) if sign == "+" else -int(offset) if sign else 0), int(size)))
    return result


def parse(text):
    """Lines of Lackey's form -> [(letter, address, size), ...]"""
    result = []
    for line in text.splitlines():
        match = re.fullmatch(r"(I |" " L| S| M) ([0-9a-f]{8,}),([0-9]+)", line)
        assert match, line
        result.append((match[1].strip(), int(match[2], 16), int(match[3])))
    return result


def trace(folder, form, *words, status=0, **options):
    """Run memtrace; the trace as text, written directly or read from the file."""
    output = folder / "trace"
    ended = run_sonde("memtrace", f"--format={form}", f"--output={output}", *words, **options)
    assert ended.returncode == status, ended.stderr
    if form == "text":
        return output.read_text()
    report = run_sonde("report", "--view=trace", output)
    assert (report.returncode, report.stderr) == (0, ""), report.stderr
    return report.stdout


# Options that change how code is generated and must not change what is traced.
CODE_OPTIONS = [[], ["--debug-block-limit=1"], ["--debug-block-limit=3"], ["--debug-superblocks=no"], ["--debug-links=no"],
                ["--debug-fast-decode=no"], ["--debug-fsgsbase=no"]]
ids = dict(ids=lambda options: "".join(options) or "plain")


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    rows = known_forms()
    program = build_assembly(folder, "forms", source_of(rows))
    assert subprocess.run([program], timeout=TIMEOUT).returncode == 0
    return program, rows, symbols_of(program)


def check_forms(traced, rows, symbols):
    """The trace, cut at the stores to `marker`, against the rows. The first of a row that jumps by memory sets `pointer`."""
    marker = ("S", symbols["marker"], 1)
    parts = [[]]
    for access in traced:
        if access[0] == "I":
            continue
        if access == marker:
            parts.append([])
        else:
            parts[-1].append(access)
    assert len(parts) == len(rows) + 1 and parts[-1] == []
    wrong = {}
    for (name, _, code, expected), got in zip(rows, parts):
        prefix = [("S", symbols["pointer"], 8)] if "9:" in code else []
        wanted = prefix + accesses_of(expected, symbols)
        if got != wanted:
            wrong[name] = (got[:20], wanted[:20])
    assert not wrong


@pytest.mark.parametrize("options", CODE_OPTIONS, **ids)
@pytest.mark.parametrize("form", ["text", "binary"])
def test_forms(forms, tmp_path, form, options):
    program, rows, symbols = forms
    check_forms(parse(trace(tmp_path, form, *options, program)), rows, symbols)


# ------------------------------------------------------------- instruction fetches

LOOP = """
    .globl _start
_start:
    mov $3, %ecx
1:  push %rcx
    test $1, %cl
    jz 2f
    mov (%rsp), %rax
    jmp 3f
2:  nop
    addl $1, value(%rip)
3:  pop %rcx
    dec %ecx
    jnz 1b
    mov $1000, %ecx
    mov $value, %edi
    xor %eax, %eax
    mov $2, %ecx
    rep stosb
    mov $60, %eax
    xor %edi, %edi
    syscall
    .data
value: .quad 0
"""


def instructions_of(program):
    """Address -> (length, text), by objdump."""
    listed = subprocess.run(["objdump", "-d", "-w", program], check=True, text=True, stdout=subprocess.PIPE, timeout=TIMEOUT)
    return {int(address, 16): (len(code.split()), text.strip()) for address, code, text in
            re.findall(r"^ +([0-9a-f]+):\t([0-9a-f ]+?) *\t(.*)$", listed.stdout, re.M)}


@pytest.mark.parametrize("options", CODE_OPTIONS, **ids)
@pytest.mark.parametrize("form", ["text", "binary"])
def test_fetches(tmp_path, form, options):
    """A loop of which every instruction is known: fetches stand in front of what they access, taken branches cut."""
    program = build_assembly(tmp_path, "loop", LOOP)
    instructions = instructions_of(program)
    addresses = sorted(instructions)
    traced = parse(trace(tmp_path, form, "--instructions=yes", *options, program))
    odd, even = [1, 2, 3, 4, 5, 8, 9, 10], [1, 2, 3, 6, 7, 8, 9, 10]
    order = [0] + odd + even + odd + list(range(11, 19))
    assert [(address, size) for letter, address, size in traced if letter == "I"] == \
        [(addresses[number], instructions[addresses[number]][0]) for number in order]
    letters = "".join(letter for letter, _, _ in traced)
    assert letters == "I" + "ISIIILIILII" + "ISIIIIMILII" + "ISIIILIILII" + "IIIIISSIII"
    assert [access for access in traced if access[0] != "I"] == parse(trace(tmp_path, form, *options, program))


@pytest.mark.parametrize("options", CODE_OPTIONS, **ids)
def test_fetches_of_forms(forms, tmp_path, options):
    """Of the straight program: with fetches the same accesses, and every instruction once, in order."""
    program, rows, symbols = forms
    traced = parse(trace(tmp_path, "binary", "--instructions=yes", *options, program))
    check_forms(traced, rows, symbols)
    loop = "calls in a loop"
    assert loop in [row[0] for row in rows]
    fetched = [(address, size) for letter, address, size in traced if letter == "I"]
    known = {address: length for address, (length, _) in instructions_of(program).items()}
    assert all(known[address] == size for address, size in fetched)
    once = [address for address, _ in fetched]
    assert set(known) - set(once) == set()
    repeated = {address for address in once if once.count(address) > 1}
    assert len(repeated) == 4 # of the loop
    straight = [address for address in once if address not in repeated]
    assert straight == sorted(straight)


def without_stack_base(lines):
    """Addresses of the stack relative to the one accessed first."""
    accesses = parse("\n".join(lines))
    base = next(address for _, address, _ in accesses if address >= 1 << 32)
    return [(letter, address - base if address >= 1 << 32 else address, size) for letter, address, size in accesses]


def test_as_lackey(tmp_path):
    """Of a program without libraries and without loads whose result is not used, Valgrind's Lackey prints the same, except
    that it repeats the fetch of a repeated instruction for each repetition, and once more."""
    program = build_assembly(tmp_path, "primes", (ROOT / "examples/primes.s").read_text())
    log = tmp_path / "lackey"
    subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", program], check=True,
                   stdout=subprocess.DEVNULL, timeout=TIMEOUT)
    (repeated,) = (address for address, (_, text) in instructions_of(program).items() if text.startswith("rep "))
    fetch = f"I  {repeated:08x},2"
    lackey = [line for line in log.read_text().splitlines() if not line.startswith("==") and line]
    for number in range(len(lackey) - 1, 1, -1): # the first fetch stays
        if lackey[number] == fetch and fetch in lackey[max(0, number - 2):number]:
            del lackey[number]
    traced = trace(tmp_path, "binary", "--instructions=yes", program).splitlines()
    assert len(lackey) > 200000
    assert without_stack_base(traced) == without_stack_base(lackey)
    assert [line for line in traced if line[3:5] == "00"] == [line for line in lackey if line[3:5] == "00"]


# ------------------------------------------------------------------------- filters

def test_filters(forms, tmp_path):
    program, rows, symbols = forms
    everything = parse(trace(tmp_path, "text", program))
    d = symbols["d"]
    cases = {
        ("--size=8",): lambda address, size: size == 8,
        ("--size=1-2", "--size=64"): lambda address, size: size in (1, 2, 64),
        (f"--address={d}-{d + 3}",): lambda address, size: address <= d + 3 and address + size > d,
        (f"--address={hex(d)}+0x10", f"--address={hex(d + 100)}"):
            lambda address, size: any(address <= last and address + size > first
                                      for first, last in ((d, d + 15), (d + 100, d + 100))),
        (f"--address={hex(d)}+0x10", "--size=4"): lambda address, size: size == 4 and d - 3 <= address < d + 16,
        ("--address=0-1",): lambda address, size: False,
    }
    for options, wanted in cases.items():
        expected = [access for access in everything if wanted(*access[1:])]
        assert bool(expected) == (options != ("--address=0-1",))
        for form in ("text", "binary"):
            assert parse(trace(tmp_path, form, *options, program)) == expected, (options, form)


def test_selected_code(tmp_path):
    source = LOOP.replace("_start:", ".type _start,@function\n_start: call inner\n .type inner,@function\n", 1) + """
    .text
    .type inner,@function
inner:
    mov value(%rip), %eax
    ret
    .size inner, . - inner
"""
    program = build_assembly(tmp_path, "selected", source)
    value = symbols_of(program)["value"]
    traced = parse(trace(tmp_path, "binary", "--only=inner", "--instructions=yes", program))
    assert [letter for letter, _, _ in traced] == ["I", "L", "I", "L"] and traced[1] == ("L", value, 4)


@pytest.mark.parametrize("option", ["--size=", "--size=x", "--size=2-1", "--size=4-", "--address=1+0", "--address=-1",
                                    "--address=0xffffffffffffffff+2", "--format=lackey", "--size=99999999999999999999"])
def test_bad_options(option):
    ended = run_sonde("memtrace", option, "true")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and option.split("=")[0] in ended.stderr


def test_unwritable_file(tmp_path):
    ended = run_sonde("memtrace", f"--output={tmp_path}/nowhere/trace", "true")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    ended = run_sonde("memtrace", "--output=/dev/full", "true")
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1 and "No space left" in ended.stderr


# ---------------------------------------------------------- what happens besides code

def build_c(folder, name, source, *options):
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O1", "-pthread", *options, "-o", folder / name, folder / f"{name}.c"], check=True, timeout=TIMEOUT)
    return folder / name


def events_of(file, *options, status=0):
    """The accesses of a file as JSON."""
    ended = run_sonde("report", "--view=trace", "--format=json", *options, file)
    assert ended.returncode == status, ended.stderr
    return json.loads(ended.stdout)["accesses"]


SYSTEM = """
#include <stdio.h>
#include <unistd.h>
#include <sys/uio.h>
char from[100] = "hello world", to[100], part[10];
int pipes[2];
int main(void) {
    struct iovec parts[2] = {{to, 3}, {part, 10}};
    if (pipe(pipes) || write(pipes[1], from, 11) != 11 || readv(pipes[0], parts, 2) != 11 || read(-1, to, 50) != -1)
        return 1;
    printf("%p %p %p %p\\n", (void *)from, (void *)to, (void *)part, (void *)pipes);
    return 0;
}
"""


def test_system_calls(tmp_path):
    program = build_c(tmp_path, "system", SYSTEM)
    ended = run_sonde("memtrace", "--system-calls=yes", f"--output={tmp_path}/trace", program)
    assert (ended.returncode, ended.stderr) == (0, "")
    from_, to, part, pipes = (int(word, 16) for word in ended.stdout.split())
    made = [event for event in events_of(tmp_path / "trace") if "system call" in event]
    seen = [(event["system call"], event["kind"], event["address"], event["size"]) for event in made]
    for expected in (("pipe2", "store", pipes, 8), ("write", "load", from_, 11), ("readv", "store", to, 3),
                     ("readv", "store", part, 8)):
        assert expected in seen or (expected[0] == "pipe2" and ("pipe", *expected[1:]) in seen), (expected, seen)
    assert ("read", "store", to, 50) not in seen
    assert all(event["function"] for event in made)
    run_sonde("memtrace", f"--output={tmp_path}/trace", program)
    assert not [event for event in events_of(tmp_path / "trace") if "system call" in event]


THREADS = """
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
enum { THREADS = 4, SIZE = 20000 };
volatile int numbers[THREADS + 1][SIZE];
__attribute__((noipa)) void work(volatile int *own) { for (int i = 0; i < SIZE; i++) own[i] = i; }
static void *run(void *own) { work(own); return own; }
int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)numbers[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) { work(numbers[THREADS]); _exit(0); }
    waitpid(child, NULL, 0);
    printf("%p %d\\n", (void *)numbers, child);
    return 0;
}
"""


def by_thread(events):
    result = {}
    for event in events:
        result.setdefault((event["process"], event["thread"]), []).append(event)
    return result


WORKERS = [[]] + ([["--analysis-threads=2"]] if "--analysis-threads" in run_sonde("--help").stdout else [])


@pytest.mark.parametrize("workers", WORKERS, **ids)
@pytest.mark.parametrize("name", ["trace", "trace.%p"])
def test_threads_and_fork(tmp_path, name, workers):
    """In each thread's order, and nothing is lost; the child's in a file of its own, or behind the parent's."""
    program = build_c(tmp_path, "threads", THREADS)
    ended = run_sonde("memtrace", "--only=work", f"--output={tmp_path}/{name}", *workers, program)
    assert (ended.returncode, ended.stderr) == (0, "")
    numbers, child = int(ended.stdout.split()[0], 16), int(ended.stdout.split()[1])
    files = list(tmp_path.glob("trace*"))
    assert len(files) == (2 if "%p" in name else 1)
    seen = {}
    for file in files:
        seen.update(by_thread(events_of(file)))
    assert len(seen) == 5
    starts = []
    for (process, _), events in seen.items():
        stores = [event["address"] for event in events if event["kind"] == "store"]
        starts.append((stores[0] - numbers) // 80000)
        assert (starts[-1] == 4) == (process == child)
        assert stores == list(range(stores[0], stores[0] + 80000, 4))
        assert len(events) == 20001 and events[-1]["kind"] == "load" # of the return
    assert sorted(starts) == [0, 1, 2, 3, 4]


def test_text_of_threads(tmp_path):
    """Lines of another thread follow a line that names it."""
    program = build_c(tmp_path, "threads", THREADS)
    ended = run_sonde("memtrace", "--format=text", "--only=work", f"--output={tmp_path}/trace.%p", program)
    child = ended.stdout.split()[1]
    (file,) = (file for file in tmp_path.glob("trace.*") if child not in file.name)
    numbers = int(ended.stdout.split()[0], 16)
    parts = re.split(r"^==(\d+)==\n", file.read_text(), flags=re.M)
    lines = {"first": parts[0]}
    for thread, text in zip(parts[1::2], parts[2::2]):
        lines[thread] = lines.get(thread, "") + text
    stores = {thread: [address for letter, address, _ in parse(text) if letter == "S"] for thread, text in lines.items()}
    # A thread that comes back has its lines under its number, except for what the first one wrote before any other.
    assert sorted(address for own in stores.values() for address in own) == list(range(numbers, numbers + 4 * 80000, 4))
    assert all(own == sorted(own) for own in stores.values())


FAULT = """
    .globl _start
_start:
    mov $value, %ebx
    mov $2, %ecx
1:  movb $1, (%rbx)
    movb $2, 1(%rbx)
    dec %ecx
    jnz 1b
    mov (%rbx), %eax
    mov 8, %eax         # faults
    mov %eax, (%rbx)
    .data
value: .quad 0
"""


@pytest.mark.parametrize("form", ["text", "binary"])
def test_fault(tmp_path, form):
    """The access that faults is the last one; the file is complete."""
    program = build_assembly(tmp_path, "fault", FAULT)
    value = symbols_of(program)["value"]
    plain = [("S", value, 1), ("S", value + 1, 1)] * 2 + [("L", value, 4), ("L", 8, 4)]
    assert parse(trace(tmp_path, form, program, status=-11)) == plain
    fetched = parse(trace(tmp_path, form, "--instructions=yes", program, status=-11))
    assert "".join(letter for letter, _, _ in fetched) == "II" + "ISISII" * 2 + "ILIL"
    assert [access for access in fetched if access[0] != "I"] == plain


SIGNALS = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
volatile int numbers[64], handled, seen;
static void handle(int number) { handled += number == SIGALRM; }
__attribute__((noipa)) void work(void) { for (int i = 0; i < 64; i++) numbers[i] = i; }
int main(void) {
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    long rounds = 0;
    for (; handled < 50; rounds++) work();
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%p %ld\\n", (void *)numbers, rounds);
    return 0;
}
"""


def test_signals(tmp_path):
    """A block that a signal leaves is traced as far as it came, and what is left of it when it goes on."""
    program = build_c(tmp_path, "signals", SIGNALS)
    ended = run_sonde("memtrace", "--only=work", "--instructions=yes", f"--output={tmp_path}/trace", program)
    assert (ended.returncode, ended.stderr) == (0, "")
    numbers, rounds = int(ended.stdout.split()[0], 16), int(ended.stdout.split()[1])
    traced = parse(run_sonde("report", "--view=trace", tmp_path / "trace").stdout)
    stores = [address for letter, address, _ in traced if letter == "S"]
    assert stores == [numbers + 4 * i for i in range(64)] * rounds
    fetches = [address for letter, address, _ in traced if letter == "I"]
    one = fetches[:len(fetches) // rounds]
    assert fetches == one * rounds


REPEATED_SIGNALS = """
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
char numbers[40000];
volatile int handled;
static void handle(int number) { handled += number == SIGALRM; }
__attribute__((noipa)) void work(void) {
    void *to = numbers;
    long count = sizeof numbers;
    __asm__ volatile("std; rep stosb; cld" : "=D"(to), "+c"(count) : "0"((char *)to + count - 1), "a"(1) : "memory");
}
int main(void) {
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    long rounds = 0;
    for (; handled < 20 && rounds < 60; rounds++) work();
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%p %ld\\n", (void *)numbers, rounds);
    return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["--debug-block-limit=1"]], **ids)
def test_signals_in_repetitions(tmp_path, options):
    """A repeated instruction that signals leave and that goes on: each of its accesses once, in order."""
    program = build_c(tmp_path, "repeated_signals", REPEATED_SIGNALS)
    ended = run_sonde("memtrace", "--only=work", *options, f"--output={tmp_path}/trace", program)
    assert (ended.returncode, ended.stderr) == (0, "")
    numbers, rounds = int(ended.stdout.split()[0], 16), int(ended.stdout.split()[1])
    traced = parse(run_sonde("report", "--view=trace", tmp_path / "trace").stdout)
    assert [address for letter, address, size in traced if (letter, size) == ("S", 1)] == \
        list(range(numbers + 39999, numbers - 1, -1)) * rounds


REPEATED_FAULT = """
    .globl _start
_start:
    mov $9, %eax
    mov $0x20000000, %edi
    mov $4096, %esi
    mov $3, %edx
    mov $0x32, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    syscall
    lea 4086(%rax), %rdi
    mov $marker, %esi
    mov $20, %ecx
    rep movsb
    .bss
marker: .skip 4096
"""


@pytest.mark.parametrize("form", ["text", "binary"])
def test_fault_in_repetitions(tmp_path, form):
    """What was done before the fault is there, what faulted is not."""
    program = build_assembly(tmp_path, "repeated_fault", REPEATED_FAULT)
    marker = symbols_of(program)["marker"]
    traced = parse(trace(tmp_path, form, program, status=-11))
    assert traced == [access for i in range(10)
                      for access in (("L", marker + i, 1), ("S", 0x20000000 + 4086 + i, 1))]


EXEC = """
#include <stdio.h>
#include <string.h>
#include <unistd.h>
volatile int numbers[3];
__attribute__((noipa)) void work(int round) { numbers[round] = round; }
int main(int count, char **words) {
    if (count > 1) { work(2); return 0; }
    work(0);
    execl("/nonexistent", "nothing", NULL);
    work(1);
    execl(words[0], words[0], "again", NULL);
    return 1;
}
"""


@pytest.mark.parametrize("form", ["text", "binary"])
def test_exec(tmp_path, form):
    """Behind an execve that fails the trace goes on; behind one that is followed it is that of another program."""
    program = build_c(tmp_path, "exec", EXEC, "-no-pie")
    traced = trace(tmp_path, form, "--only=work", "--trace-children=yes", program)
    numbers = symbols_of(program)["numbers"]
    stores = [int(address, 16) for address in re.findall("^ S ([0-9a-f]+),4$", traced, re.M)]
    assert stores == [numbers, numbers + 4, numbers + 8]
    if form == "binary":
        report = json.loads(run_sonde("report", "--format=json", tmp_path / "trace").stdout)
        assert [process["arguments"][1:] for process in report["processes"]] == [[], ["again"]]


def test_killed(tmp_path):
    """What a process that is killed has written is whole, and that it was killed is told."""
    program = build_c(tmp_path, "killed", """
        #include <signal.h>
        #include <unistd.h>
        volatile unsigned numbers[1000];
        __attribute__((noipa)) void work(unsigned i) { numbers[i % 1000] = i * 7919 * (i >> 5); }
        int main(void) { for (unsigned i = 0; i < 10000000; i++) work(i * i % 997); kill(getpid(), SIGKILL); }""", "-no-pie")
    file = tmp_path / "trace"
    ended = run_sonde("memtrace", "--only=work", f"--output={file}", program)
    assert ended.returncode == -9
    report = run_sonde("report", "--format=json", file)
    assert report.returncode == 3 and report.stderr.count("\n") == 1 and "lacks the end of process" in report.stderr
    total = json.loads(report.stdout)["total"]
    assert 5000000 < total["stores"] <= 10000000 and "lacks the end" in json.loads(report.stdout)["incomplete"]


# ------------------------------------------------------------------- the manual's runs

@pytest.mark.parametrize("options", ["--limit=3", "--view=reuse"])
def test_run_in_the_manual(tmp_path, options):
    program = build_assembly(tmp_path, "primes", (ROOT / "examples/primes.s").read_text())
    assert run_sonde("memtrace", "--output=primes.trace", program, cwd=tmp_path).stdout.strip() == "1229"
    shown = (ROOT / "docs/memtrace.md").read_text().split(f"    $ sonde report {options} primes.trace\n")[1]
    lines = [line[4:] for line in re.match(r"(?:(?: {4}.*)?\n)+", shown)[0].rstrip().split("\n")]

    def plain(text):
        return re.sub(r"process \d+: .*", "process", text).rstrip("\n")
    assert plain(run_sonde("report", options, "primes.trace", cwd=tmp_path).stdout) == plain("\n".join(lines))


SPAWN = """
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
extern char **environ;
int main(void) {
    char *words[] = {"true", NULL};
    for (int i = 0; i < 20; i++) {
        pid_t child;
        int status;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) || waitpid(child, &status, 0) != child || status)
            return 1;
    }
    return 0;
}
"""


def test_spawn(tmp_path):
    """What a process does that shares its parent's memory until it executes is in the parent's trace."""
    program = build_c(tmp_path, "spawn", SPAWN)
    ended = run_sonde("memtrace", f"--output={tmp_path}/trace.%p", program)
    assert (ended.returncode, ended.stderr) == (0, "")
    (file,) = tmp_path.glob("trace.*")
    report = run_sonde("report", "--format=json", file)
    assert (report.returncode, report.stderr) == (0, "")
    summary = json.loads(report.stdout)
    assert len(summary["processes"]) == 1 and len(summary["threads"]) == 21
