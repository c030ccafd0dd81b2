"""Value profiling: what the framework of <sonde/values.h> records, and what zerospy, loadspy, deadspy and redspy find in
programs of which it is known exactly.

tests/programs/values_types.c loops over known data with one instruction for each data type and special form. The
expectations are computed here from the data, byte by byte, without anything of Sonde's.
"""
import json
import re
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass

import pytest

from conftest import ROOT, SONDE
from differential_driver import first_difference, generate, program, run_native, run_sonde

PROGRAMS = ROOT / "tests" / "programs"
VARIANTS = [("1", []), ("2", []), ("1", ["--analysis-threads=1"]), ("2", ["--analysis-threads=1"]),
            ("1", ["--debug-block-limit=1"])]


def run(*command, **options):
    options = {"timeout": 120, "capture_output": True, "text": True, "check": False, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([str(word) for word in command], **options)


@pytest.fixture(scope="module")
def types(tmp_path_factory):
    target = tmp_path_factory.mktemp("values") / "types"
    built = run("gcc", "-g", "-O1", "-no-pie", "-pthread", "-o", target, PROGRAMS / "values_types.c")
    assert built.returncode == 0, built.stderr
    return target


@pytest.fixture(scope="module")
def show_values(tmp_path_factory):
    target = tmp_path_factory.mktemp("values") / "show_values.so"
    built = run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT}/include", "-o", target,
                ROOT / "tests" / "tools" / "show_values.c")
    assert built.returncode == 0, built.stderr
    return target


def report(tmp_path, tool, program, *arguments, options=()):
    target = tmp_path / "report.json"
    ended = run(SONDE, tool, "--format=json", "--top=1000000", f"--output={target}", *options, "--", program, *arguments)
    if ended.returncode == 3:
        pytest.skip("the processor lacks the instructions")
    assert ended.returncode == 0, ended.stderr
    return json.loads(target.read_text())


# ---- the data of values_types.c, as it is in the first and in the second call ----

@dataclass(frozen=True)
class Form:
    """One function: how its data is made, and what it loads (offset, size) in one call."""
    element: int         # bytes from one number to the next in the data
    kind: str            # how a number is written
    size: int            # of a load
    step: int
    count: int
    width: int           # bytes of an element of the value
    is_float: bool = False
    first: int = 0       # offset of the first load
    lanes: tuple = ()    # offsets of the loads of one iteration, if it is not one
    extra: tuple = ()    # (bytes) values loaded besides in each iteration


HALF = {0: 0, 1: 0x3c00, 2: 0x4000, 7: 0x4700}


def number_bytes(kind, element, number):
    if kind == "integer":
        return number.to_bytes(element, "little")
    if kind == "half":
        return struct.pack("<H", HALF[number])
    if kind == "extended":
        exponent = 0x3fff + number.bit_length() - 1 if number else 0
        mantissa = number << (64 - number.bit_length()) if number else 0
        return mantissa.to_bytes(8, "little") + exponent.to_bytes(2, "little") + bytes(6)
    return struct.pack("<f" if kind == "single" else "<d", number)


def data_of(form):
    """The data as it is in the two calls."""
    data = bytearray()
    for place in range(16384 // form.element):
        data += number_bytes(form.kind, form.element, place % 3)
    changed = bytearray(data)
    for place in (0, (4096 - 4 + form.element - 1) // form.element):
        number = number_bytes(form.kind, form.element, 7)
        changed[place * form.element:place * form.element + len(number)] = number
    return bytes(data), bytes(changed)


def integers(element, size, count, **more):
    return Form(element, "integer", size, size, count, size if size <= 8 else element, **more)


def floats(kind, element, size, count, **more):
    return Form(element, kind, size, size, count, element, is_float=True, **more)


FORMS = {
    "load_int8": integers(1, 1, 64), "load_int16": integers(2, 2, 32), "load_int32": integers(4, 4, 16),
    "load_int64": integers(8, 8, 8), "load_int128": integers(4, 16, 4), "load_int256": integers(4, 32, 2),
    "load_int512": integers(4, 64, 4),
    "load_single": floats("single", 4, 4, 16), "load_single128": floats("single", 4, 16, 4),
    "load_single256": floats("single", 4, 32, 2), "load_single512": floats("single", 4, 64, 4),
    "load_double": floats("double", 8, 8, 8), "load_double128": floats("double", 8, 16, 4),
    "load_double256": floats("double", 8, 32, 2), "load_double512": floats("double", 8, 64, 4),
    "load_half": floats("half", 2, 2, 32), "load_half128": floats("half", 2, 16, 4),
    "load_half256": floats("half", 2, 32, 2), "load_half512": floats("half", 2, 64, 4),
    "load_extended": Form(16, "extended", 10, 16, 4, 10, is_float=True), "load_x87_single": floats("single", 4, 4, 16),
    "load_masked": Form(4, "integer", 4, 64, 1, 4, lanes=tuple(range(0, 64, 8))),
    "load_string": Form(4, "integer", 4, 64, 1, 4, lanes=tuple(range(0, 64, 4))),
    "load_across": integers(8, 8, 8, first=4092 - 64),
}


def loads_of(form):
    """What the function loads in its two calls: lists of (offset, bytes)."""
    for data in data_of(form):
        places = [form.first + form.step * i + lane for i in range(form.count) for lane in form.lanes or (0,)]
        yield [(place, data[place:place + form.size]) for place in places]


def zero_bytes(form, value):
    """As docs/values.md says: high-order zero bytes of single integers, else bytes of elements that are zero."""
    if not form.is_float and len(value) <= 8:
        return len(value) - len(value.rstrip(b"\0"))
    parts = [value[at:at + form.width] for at in range(0, len(value), form.width)]
    return sum(form.width for part in parts if not any(part[:-1]) and part[-1] & (0x7f if form.is_float else 0xff) == 0)


def loaded_before(calls):
    """Bytes of loads of which every byte is what the last load of that byte gave."""
    shadow, redundant, loads = {}, 0, 0
    for call in calls:
        for place, value in call:
            if all(shadow.get(place + i) == byte for i, byte in enumerate(value)):
                redundant += len(value)
                loads += 1
            shadow.update({place + i: byte for i, byte in enumerate(value)})
    return redundant, loads


RETURN_BYTES = 8  # each call loads its return address too, which is below 2**24 and the same both times


@pytest.mark.parametrize("threads, options", VARIANTS)
@pytest.mark.parametrize("name", FORMS)
def test_zerospy_counts(tmp_path, types, name, threads, options):
    form, factor = FORMS[name], int(threads)
    got = report(tmp_path, "zerospy", types, name, threads, options=[f"--only={name}", *options])["totals"]
    values = [value for call in loads_of(form) for _, value in call]
    zeros = sum(zero_bytes(form, value) for value in values)
    kind = "floating-point" if form.is_float else "integer"
    returned = 2 * RETURN_BYTES, 2 * (RETURN_BYTES - 3)
    own = sum(map(len, values)), zeros
    total = own[0] + returned[0], own[1] + returned[1]
    assert (got["bytes loaded"], got["zero bytes"]) == tuple(factor * n for n in total)
    if form.is_float:
        assert (got[f"{kind} bytes loaded"], got[f"{kind} zero bytes"]) == tuple(factor * n for n in own)
    assert got["values loaded"] == factor * (len(values) + 2)
    assert got["values that are zero"] == factor * sum(zero_bytes(form, value) == len(value) for value in values)


@pytest.mark.parametrize("threads, options", VARIANTS)
@pytest.mark.parametrize("name", FORMS)
def test_loadspy_counts(tmp_path, types, name, threads, options):
    form, factor = FORMS[name], int(threads)
    got = report(tmp_path, "loadspy", types, name, threads, options=[f"--only={name}", "--approximate=0", *options])
    calls = list(loads_of(form))
    redundant, loads = loaded_before(calls)
    totals = got["totals"]
    assert totals["bytes loaded"] == factor * (sum(len(v) for call in calls for _, v in call) + 2 * RETURN_BYTES)
    assert totals["redundant bytes"] == factor * (redundant + RETURN_BYTES)
    assert totals["redundant loads"] == factor * (loads + 1)
    assert sum(finding["bytes"] for finding in got["redundant"]) == totals["redundant bytes"]
    assert sum(thread["totals"]["redundant bytes"] for thread in got["threads"]) == totals["redundant bytes"]
    for finding in got["redundant"]:
        assert finding["first"]["function"] == finding["second"]["function"] == name
        assert any(line.startswith("run ") for line in finding["second"]["context"])


def test_special_forms(tmp_path, types):
    """A gather's lanes and its table of indices; an atomic addition reads."""
    got = report(tmp_path, "zerospy", types, "load_gathered", options=["--only=load_gathered"])["totals"]
    assert got["bytes loaded"] == 2 * (4 * (16 + 4) + 8)
    assert got["floating-point bytes loaded"] == 2 * 4 * 16
    assert got["floating-point zero bytes"] == 4 * (6 + 5)  # numbers 0 1 2 0 ... and, the second time, 7 1 2 0 ...
    got = report(tmp_path, "loadspy", types, "load_atomic", options=["--only=load_atomic"])["totals"]
    assert got["bytes loaded"] == 2 * (16 * 4 + 8)
    assert got["redundant bytes"] == 15 * 4 + 8


# What is written: of 64 bytes, 16 numbers that are 0 1 2 0 ... at first; in between the first one is set to 7. Bytes written
# in both calls, and of them redundant.
WRITES = {
    "store_int8": (128, 63), "store_int32": (128, 60), "store_int64": (128, 56), "store_string": (128, 60),
    "store_double128": (128, 48),   # zeros over 0 1, 2 0, 1 2, 0 1; then, but for the first, over themselves
    "store_int512": (512, 192),
    "store_masked": (64, 12 + 28),  # lanes 0, 6 and 12 are zero at first
}


@pytest.mark.parametrize("threads, options", VARIANTS)
@pytest.mark.parametrize("name", WRITES)
def test_redspy_counts_memory(tmp_path, types, name, threads, options):
    written, redundant = WRITES[name]
    options = [f"--only={name}", "--registers=no", "--approximate=0", *options]
    got = report(tmp_path, "redspy", types, name, threads, options=options)
    totals, factor = got["totals"], int(threads)
    assert (totals["bytes written"], totals["redundant bytes"]) == (factor * written, factor * redundant)
    assert sum(finding["bytes"] for finding in got["memory"]) == factor * redundant


@pytest.mark.parametrize("threads, options", VARIANTS)
def test_redspy_counts_registers(tmp_path, types, threads, options):
    """movzbl, add, dec, twice 64 times; and mov, mov before them, ret behind."""
    got = report(tmp_path, "redspy", types, "load_int8", threads, options=["--only=load_int8", *options])["totals"]
    factor = int(threads)
    # edx 4 bytes, rax 8, ecx 4 in each iteration; rax 8, ecx 4 before. A return is told nothing of.
    assert got["bytes written to registers"] == factor * 2 * (64 * 16 + 12)
    # edx gets 0 1 2 0 ...: only the first value may be what it held; no other write is redundant but mov's, maybe
    assert got["redundant bytes in registers"] <= factor * 2 * (4 + 12)


# Bytes stored in both calls, dead ones, and those unread at the end.
DEAD = {"dead_read": (256, 64, 64), "dead_twice": (256, 192, 64), "dead_half": (256, 128, 64), "store_string": (128, 64, 64),
        "store_int512": (512, 256, 256), "store_masked": (64, 32, 32)}


@pytest.mark.parametrize("threads, options", VARIANTS)
@pytest.mark.parametrize("name", DEAD)
def test_deadspy_counts(tmp_path, types, name, threads, options):
    got = report(tmp_path, "deadspy", types, name, threads, options=[f"--only={name}", *options])
    totals, factor = got["totals"], int(threads)
    names = "bytes stored", "dead bytes: overwritten unread", "bytes unread at the end"
    assert tuple(totals[key] for key in names) == tuple(factor * n for n in DEAD[name])
    assert sum(finding["bytes"] for finding in got["dead"]) == totals[names[1]]


SYSTEM_CALLS = """
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char text[4096] __attribute__((aligned(4096)));
__attribute__((noinline)) void store(char *to, int value) {
    for (int i = 0; i < 1000; i++) { to[i] = (char)value; __asm__ volatile("" ::: "memory"); }
}
int main(int count, char **arguments) {
    (void)arguments;
    for (int i = 0; i < 3; i++) {
        store(text, i);
        if (count > 1 && write(1, text, 600) != 600) return 1;
    }
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    store(page, 1);
    return munmap(page, 4096);
}
"""


@pytest.fixture(scope="module")
def system_calls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    (folder / "calls.c").write_text(SYSTEM_CALLS)
    built = run("gcc", "-g", "-O1", "-no-pie", "-fcf-protection=none", "-o", folder / "calls", folder / "calls.c")
    assert built.returncode == 0, built.stderr
    return folder / "calls"


def test_deadspy_knows_what_system_calls_read(tmp_path, system_calls):
    """write(2) reads 600 of the 1,000 bytes; memory that is unmapped is told of apart."""
    without = report(tmp_path, "deadspy", system_calls)
    dead = {finding["first"]["function"]: finding["bytes"] for finding in without["dead"]
            if finding["first"]["function"] == finding["second"]["function"] == "store"}
    assert dead == {"store": 2000}
    assert [f["bytes"] for f in without["unmapped"] if f["first"]["function"] == "store"] == [1000]
    assert [f["bytes"] for f in without["end"] if f["first"]["function"] == "store"] == [1000]
    got = report(tmp_path, "deadspy", system_calls, "x")
    assert [f["bytes"] for f in got["dead"] if f["first"]["function"] == "store"] == [800]
    assert [f["bytes"] for f in got["end"] if f["first"]["function"] == "store"] == [400]


FRAMES = """
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
static volatile int table[100];
static sigjmp_buf back;
static void handle(int number) { siglongjmp(back, number); }
__attribute__((noinline)) void store(volatile long *to) { *to = 5; }
__asm__(".globl registers\\nregisters:\\n mov $1, %ecx\\n mov $1, %ecx\\n mov $2, %rcx\\n add $0, %rcx\\n mov %cl, %al\\n"
        " mov %cl, %al\\n movd %ecx, %xmm0\\n movd %ecx, %xmm0\\n ret\\n.type registers, @function\\n.size registers, .-registers");
long registers(long a, long b, long c, long d);
__attribute__((noinline)) void leave(int value) {
    volatile char local[48];
    for (int i = 0; i < 48; i++) local[i] = (char)value;
}
__attribute__((noinline)) int use(int value) {
    volatile char local[48];
    for (int i = 0; i < 48; i++) local[i] = (char)value;
    return local[0] + local[47];
}
__attribute__((noinline)) int walk(int depth) {
    int right = table[depth]; /* a zero */
    return depth ? walk(depth - 1) + walk(depth - 1) + right : right;
}
int main(void) {
    for (int i = 0; i < 3; i++) { leave(i); use(i); }
    long *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, handle);
    store(page);
    mprotect(page, 4096, PROT_READ);
    if (!sigsetjmp(back, 1)) store(page);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    __asm__ volatile("mov $9, %%eax; movd %%eax, %%xmm0" : : : "eax", "xmm0");
    registers(0, 0, 0, 7);
    return walk(6);
}
"""


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    (folder / "frames.c").write_text(FRAMES)
    built = run("gcc", "-g", "-O1", "-fno-stack-protector", "-no-pie", "-o", folder / "frames", folder / "frames.c")
    assert built.returncode == 0, built.stderr
    return folder / "frames"


@pytest.mark.parametrize("name, unread", [("leave", 3 * 48), ("use", 3 * 46)])
def test_deadspy_tells_of_frames(tmp_path, frames, name, unread):
    """Bytes that are unread when their function returns are not dead by what is stored there next."""
    got = report(tmp_path, "deadspy", frames, options=[f"--only={name}"])
    assert got["totals"]["bytes unread when their function returned"] == unread
    assert got["totals"]["dead bytes: overwritten unread"] == got["totals"]["bytes unread at the end"] == 0
    assert {finding["first"]["function"] for finding in got["frames"]} == {name}


FREED = """
#include <pthread.h>
#include <stdlib.h>
/* The first `stores` bytes of a block are stored, the first `loads` of them read. */
__attribute__((noinline)) static void use(volatile char *block, int stores, int loads) {
    for (int i = 0; i < stores; i++) block[i] = 1;
    for (int i = 0; i < loads; i++) (void)block[i];
}
static char *volatile kept;
static void *work(void *first) {
    for (int i = 0; i < 3; i++) {
        char *block = malloc(100);
        use(block, 100, 40);
        free(block);
        block = malloc(100); /* the same memory, mostly */
        use(block, 10, 0);
        free(block);
        block = malloc(64);
        use(block, 8, 8);
        block = realloc(block, 9000); /* moves */
        use(block, 9000, 2000);
        block = realloc(block, 9001); /* does not */
        free(block);
    }
    if (first) use(kept = malloc(100), 5, 0);
    return NULL;
}
int main(int count, char **arguments) {
    (void)arguments;
    pthread_t thread;
    if (count > 1) pthread_create(&thread, NULL, work, NULL);
    work("first");
    if (count > 1) pthread_join(thread, NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def freed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("freed")
    (folder / "freed.c").write_text(FREED)
    built = run("gcc", "-g", "-O1", "-pthread", "-no-pie", "-o", folder / "freed", folder / "freed.c")
    assert built.returncode == 0, built.stderr
    return folder / "freed"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", [[], ["--analysis-threads=1"], ["--data-centric=yes"], ["--debug-block-limit=1"]])
def test_deadspy_tells_of_freed_blocks(tmp_path, freed, threads, options):
    """Bytes that are unread when their block is freed are not dead by what is stored to the next block there."""
    got = report(tmp_path, "deadspy", freed, *["x"] * (threads - 1), options=["--only=use", *options])
    assert got["totals"]["bytes freed unread"] == threads * 3 * (60 + 10 + 7000)
    assert got["totals"]["dead bytes: overwritten unread"] == 0
    assert got["totals"]["bytes unread at the end"] == 5
    assert [finding["first"]["function"] for finding in got["freed"]] == ["use"] * len(got["freed"]) != []


@pytest.mark.parametrize("options", [[], ["--analysis-threads=1"], ["--debug-block-limit=1"]])
def test_deadspy_does_not_count_stores_that_fault(tmp_path, frames, options):
    got = report(tmp_path, "deadspy", frames, options=["--only=store", *options])["totals"]
    # The page is not unmapped, but the process ends.
    assert (got["bytes stored"], got["stores"]) == (8, 1)
    assert (got["dead bytes: overwritten unread"], got["bytes unread at the end"]) == (0, 8)


def test_redspy_counts_registers_exactly(tmp_path, frames):
    """ecx gets 1 1, rcx 2 and itself, al 2 2, xmm0 2 2; it was 7, al and xmm0 were 9."""
    got = report(tmp_path, "redspy", frames, options=["--only=registers"])["totals"]
    assert got["bytes written to registers"] == 4 + 4 + 8 + 8 + 1 + 1 + 16 + 16
    assert got["redundant bytes in registers"] == 4 + 8 + 1 + 16


BUSY = """
#include <pthread.h>
#include <unistd.h>
static volatile long cells[4096];
static void *work(void *unused) { for (long i = 0;; i++) cells[i & 4095] = i; return unused; }
int main(void) {
    pthread_t thread;
    for (int i = 0; i < 3; i++) pthread_create(&thread, 0, work, 0);
    usleep(10000);
    return 0;
}
"""


@pytest.mark.parametrize("tool", ["deadspy", "redspy"])
def test_threads_that_work_at_the_end(tmp_path, tool):
    """What they do between the report and the end of the process is nobody's affair."""
    (tmp_path / "busy.c").write_text(BUSY)
    assert run("gcc", "-O1", "-pthread", "-o", tmp_path / "busy", tmp_path / "busy.c").returncode == 0
    for _ in range(4):
        ended = run(SONDE, tool, f"--output={tmp_path}/report", tmp_path / "busy")
        assert (ended.returncode, ended.stderr) == (0, "")


def test_recursion_is_folded(tmp_path, frames):
    """127 calls by two ways have one context; each loads a zero of 4 bytes."""
    found = [finding for finding in report(tmp_path, "zerospy", frames, options=["--only=walk"])["integer"]
             if finding["first"]["size"] == 4]
    assert sum(finding["zeros"] for finding in found) == 127
    contexts = {tuple(finding["first"]["context"]) for finding in found}
    assert len(contexts) == 1 and len([line for line in contexts.pop() if line.startswith("walk ")]) == 1


def test_fork(tmp_path, show_values):
    """A child's records are its own; both processes count the same."""
    source, program = tmp_path / "forks.c", tmp_path / "forks"
    source.write_text("#include <unistd.h>\n#include <sys/wait.h>\nstatic volatile int a[100];\n"
                      "__attribute__((noinline)) void work(void) { for (int i = 0; i < 100; i++) a[i]++; }\n"
                      "int main(void) { work(); int child = fork(); work(); return child ? wait(NULL) != child : 0; }\n")
    assert run("gcc", "-g", "-O1", "-o", program, source).returncode == 0
    ended = run(SONDE, show_values, "--trace-children=yes", "--only=work", "--form=count", f"--output={tmp_path}/out.%p", "--",
                program)
    assert ended.returncode == 0, ended.stderr
    assert sorted(path.read_text() for path in tmp_path.glob("out.*")) == ["records: 201\n", "records: 402\n"]


@pytest.mark.parametrize("tool, name, kind, mark", [("loadspy", "reloads", "redundant", "loaded again"),
                                                    ("deadspy", "clears", "dead", "dead"), ("zerospy", "zeros", "float", "zeros")])
def test_demonstrations(tmp_path, tool, name, kind, mark):
    """The first finding names the line; the fixed version prints the same, and has none like it."""
    source = ROOT / "examples" / f"{name}.c"
    (line,) = [number for number, text in enumerate(source.read_text().splitlines(), 1) if f"/* {mark} */" in text]
    outputs, shares = [], []
    for fixed in ([], ["-DFIXED"]):
        program = tmp_path / f"{name}{len(fixed)}"
        assert run("gcc", "-g", "-O2", *fixed, "-o", program, source).returncode == 0
        outputs.append(run(program).stdout)
        got = report(tmp_path, tool, program)
        totals = list(got["totals"].values())
        shares.append(got[kind][0]["bytes" if kind != "float" else "zero bytes"] / totals[0])
        if not fixed:
            place = got[kind][0]["first"]
            assert (place["file"].rpartition("/")[2], place["line"]) == (f"{name}.c", line)
    assert outputs[0] == outputs[1] != ""
    assert shares[0] > 0.2 and shares[1] < 0.05


def records(tmp_path, show_values, program, *arguments, options=()):
    target = tmp_path / "records"
    ended = run(SONDE, show_values, f"--output={target}", *options, "--", program, *arguments)
    assert ended.returncode == 0, ended.stderr
    return [line.split() for line in target.read_text().splitlines()]


@pytest.mark.parametrize("name", ["load_int8", "load_single128", "load_int512", "load_string", "load_extended"])
def test_order_and_types(tmp_path, types, show_values, name):
    """In order, and sorted by type, the records are the same."""
    options = [f"--only={name}", "--moments=3"]
    ordered = records(tmp_path, show_values, types, name, options=options)
    by_type = records(tmp_path, show_values, types, name, options=[*options, "--in-order=no"])
    assert sorted(ordered) == sorted(by_type)
    form = FORMS[name]
    expected = [(form.first + form.step * i + lane, value) for call in loads_of(form) for (i, lane), (_, value) in
                zip([(i, lane) for i in range(form.count) for lane in form.lanes or (0,)], call)]
    reads = [line for line in ordered if line[1] == "r"]
    base = int(reads[0][3], 16)
    half = len(reads) // 2  # each call ends with the load of its return address
    reads = reads[:half - 1] + reads[half:-1]
    assert [(int(line[3], 16) - base, bytes.fromhex(line[-1])) for line in reads] == expected


@pytest.mark.parametrize("options", [[], ["--analysis-threads=1"]])
def test_sampling(tmp_path, options):
    """About half is recorded, and what is found first is the same. With --sample-on alone everything is recorded."""
    program = tmp_path / "zeros"
    assert run("gcc", "-g", "-O2", "-o", program, ROOT / "examples" / "zeros.c").returncode == 0
    whole = report(tmp_path, "zerospy", program, options=options)
    same = report(tmp_path, "zerospy", program, options=["--sample-on=1000000", *options])
    half = report(tmp_path, "zerospy", program, options=["--sample-on=1000000", "--sample-off=1000000", *options])
    # Addresses and the stack protector's random value are loaded too, and have zero bytes as it happens.
    for name, total in whole["totals"].items():
        assert abs(same["totals"][name] - total) <= (1000 if "zero" in name else 0), name
    # With a worker, a switch takes effect when the thread next leaves the code cache.
    assert (0.1 if options else 0.3) < half["totals"]["bytes loaded"] / whole["totals"]["bytes loaded"] < (0.9 if options else 0.7)
    first = [found["float"][0]["first"] for found in (whole, half)]
    assert first[0]["line"] == first[1]["line"] and first[0]["context"][:2] == first[1]["context"][:2]


RANKED = "static volatile int zeros[200];\n" + "".join(
    f"__attribute__((noinline)) void part{n}(void) {{ for (int i = 0; i < {20 + 8 * n}; i++) (void)zeros[i]; }}\n" for n in range(12)) + \
    "int main(void) { for (int i = 0; i < 4000; i++) { " + " ".join(f"part{n}();" for n in range(12)) + " } return 0; }\n"


def test_sampling_keeps_the_order(tmp_path):
    """The ten greatest findings of a run in bursts are those of the whole run, give or take two places."""
    source, program = tmp_path / "ranked.c", tmp_path / "ranked"
    source.write_text(RANKED)
    assert run("gcc", "-g", "-O1", "-o", program, source).returncode == 0
    orders = []
    for options in ([], ["--sample-on=200000", "--sample-off=2000000"]):
        got = report(tmp_path, "zerospy", program, options=options)
        names = [finding["first"]["function"] for finding in got["integer"]]
        orders.append(list(dict.fromkeys(name for name in names if name and name.startswith("part"))))
    whole, sampled = orders
    assert whole == [f"part{n}" for n in reversed(range(12))]
    assert all(abs(sampled.index(name) - place) <= 2 for place, name in enumerate(whole[:10]))


# ---- what is executed more often than a small counter holds ----

OFTEN = 150_000


@pytest.fixture(scope="module")
def often(tmp_path_factory):
    """A function that loads two words in a loop, in which one of them is loaded every other time only."""
    folder = tmp_path_factory.mktemp("values")
    source, target = folder / "often.c", folder / "program"
    source.write_text(f"""
        int one = 0x10000, other = 5, sum;
        __attribute__((noinline)) void often(void) {{
            __asm__ volatile("mov ${OFTEN}, %%ecx\\n"
                             "1: mov one(%%rip), %%eax\\n"
                             "test $1, %%cl\\n"
                             "jz 2f\\n"
                             "mov other(%%rip), %%edx\\n"
                             "2: dec %%ecx\\n"
                             "jnz 1b" : : : "eax", "ecx", "edx", "cc");
        }}
        int main(void) {{ often(); return 0; }}
        """)
    built = run("gcc", "-O1", "-no-pie", "-o", target, source)
    assert built.returncode == 0, built.stderr
    return target


@pytest.mark.parametrize("options", [[], ["--debug-block-limit=1"], ["--debug-superblocks=no"]])
def test_many_executions(tmp_path, often, options):
    loads, others = OFTEN + OFTEN // 2, OFTEN // 2
    again = report(tmp_path, "loadspy", often, options=["--only=often", "--approximate=0", *options])
    redundant = 4 * (OFTEN - 1 + others - 1)  # bytes; the return address is loaded once
    assert again["totals"]["redundant bytes"] == redundant
    assert again["totals"]["loads"] == loads + 1 and again["totals"]["redundant loads"] == redundant // 4
    assert sorted(finding["times"] for finding in again["redundant"]) == [others - 1, OFTEN - 1]
    zeros = report(tmp_path, "zerospy", often, options=["--only=often", *options])
    # High-order zero bytes: one of `one`, three of `other`.
    assert [finding["zero bytes"] for finding in zeros["integer"][:2]] == [3 * others, OFTEN]
    assert [finding["values"] for finding in zeros["integer"][:2]] == [others, OFTEN]


# ---- registers that inserted code does not read, and the program counter: tests/programs/values_state.c ----

@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """The program, and its labels' addresses."""
    target = tmp_path_factory.mktemp("values") / "state"
    built = run("gcc", "-O1", "-no-pie", "-o", target, PROGRAMS / "values_state.c")
    assert built.returncode == 0, built.stderr
    lines = [line.split() for line in run("nm", target).stdout.splitlines()]
    return target, {words[2]: int(words[0], 16) for words in lines if len(words) == 3}


STATE_PLACES = 16 + 32 + 128 + 256
ZERO, ONE, TWO, THREE = (number_bytes("extended", 16, number)[:10].hex() for number in range(4))


def word(number, size=2):
    return number.to_bytes(size, "little").hex()


def stack(*depths):
    """The x87 unit's status word: it says how many registers are in use."""
    return [word((8 - depth) % 8 << 11) for depth in depths]


def state_expected(at):
    """(label, r or w, place, number) -> the value, and what it has overwritten: of each execution, one behind another."""
    def flags(number):
        return word(number, 8)

    def code(*labels):
        return [word(at[label], 8) for label in labels]

    overflow, kept, zero = 0xa96, 0xa03, 0x246  # carry 1, parity 4, adjust 10, zero 40, sign 80, interrupts 200, overflow 800
    x87_status, x87_control = "51", "50"
    return {
        ("push_one", "w", "x87", "0"): [ONE, ZERO], ("push_one", "w", "control", x87_status): stack(1, 0),
        ("push_memory", "w", "x87", "0"): [TWO, ZERO], ("push_memory", "w", "control", x87_status): stack(2, 1),
        ("swap", "r", "x87", "0"): [TWO], ("swap", "r", "x87", "1"): [ONE],
        ("swap", "w", "x87", "0"): [ONE, TWO], ("swap", "w", "x87", "1"): [TWO, ONE],
        ("swap", "w", "control", x87_status): stack(2, 2),
        ("add_pop", "r", "x87", "0"): [ONE], ("add_pop", "r", "x87", "1"): [TWO],
        ("add_pop", "w", "x87", "1"): [THREE, TWO], ("add_pop", "w", "control", x87_status): stack(1, 2),
        ("store", "r", "x87", "0"): [THREE], ("store", "w", "control", x87_status): stack(0, 1),
        ("set_control", "w", "control", x87_control): [word(0x27f), word(0x37f)],
        ("get_status", "r", "control", x87_status): stack(0),
        ("reset_control", "w", "control", x87_control): [word(0x37f), word(0x27f)],
        ("overflow", "w", "flags", "0"): [flags(overflow), flags(zero)],
        ("keep_overflow", "w", "flags", "0"): [flags(kept), flags(overflow)],
        ("none", "w", "flags", "0"): [flags(zero), flags(kept)],
        ("not_taken", "r", "flags", "0"): [flags(zero)], ("not_taken", "r", "counter", "0"): code("taken"),
        ("not_taken", "w", "counter", "0"): code("taken", "taken"),
        ("taken", "r", "flags", "0"): [flags(zero)], ("taken", "r", "counter", "0"): code("far"),
        ("taken", "w", "counter", "0"): code("near", "far"),
        ("indirect", "w", "counter", "0"): code("behind", "behind_indirect"),
        ("behind", "r", "counter", "0"): code("returned"), ("behind", "w", "counter", "0"): code("function", "returned"),
        ("call_indirect", "r", "counter", "0"): code("again"),
        ("call_indirect", "w", "counter", "0"): code("function", "again"),
        ("again", "r", "counter", "0"): code("function"), ("again", "w", "counter", "0"): code("last", "function"),
        ("function", "w", "counter", "0"): code("returned", "last", "again", "last"),
    }


def state_records(tmp_path, show_values, state, *options):
    """(label, r or w, place, number) -> values."""
    program, at = state
    labels = {f"{address:x}": label for label, address in at.items() if label != "state_begin"}
    found = {}
    lines = records(tmp_path, show_values, program, options=[
        f"--places={STATE_PLACES}", "--moments=3", f"--from={at['state_begin']}", f"--to={at['state_end']}", *options])
    for address, moment, place, where, _, _, *values in lines:  # the types' names here are one word
        of_context = values.index("in") if "in" in values else len(values)
        found.setdefault((labels[address], moment, place, where), []).extend(values[:of_context])
    return found


@pytest.mark.parametrize("options", [[], ["--analysis-threads=1"], ["--debug-block-limit=1"], ["--debug-superblocks=no"],
                                     ["--in-order=no"], ["--contexts=yes"]])
def test_state_and_program_counter(tmp_path, show_values, state, options):
    """x87 registers by their number from the top, words, flags that the program does not look at, and where branches go."""
    got = state_records(tmp_path, show_values, state, "--moments=7", *options)
    assert got == state_expected(state[1])
    assert run(state[0]).returncode == 0


def test_state_without_old_values_and_without_values(tmp_path, show_values, state):
    expected = state_expected(state[1])
    before = {key: values[::2] if key[1] == "w" else values for key, values in expected.items()}
    assert state_records(tmp_path, show_values, state) == before
    bare = {key: ["-"] * len(values) for key, values in before.items()}
    assert state_records(tmp_path, show_values, state, "--bytes=no") == bare
    assert state_records(tmp_path, show_values, state, "--bytes=no", "--moments=7") == bare
    only = {key: values for key, values in before.items() if key[1] == "w"}
    assert state_records(tmp_path, show_values, state, "--moments=2") == only


def by_instruction(lines):
    """Instruction -> what it reads or writes in which place -> the values, as (where, size, value)."""
    found = {}
    for line in lines:
        found.setdefault(line[0], {}).setdefault(tuple(line[1:3]), []).append((*line[3:5], line[-1]))
    return found


@pytest.mark.parametrize("seed", [1, 8])
@pytest.mark.parametrize("options", [[], ["--analysis-threads=1"], ["--debug-superblocks=no"]])
def test_records_are_what_single_stepping_shows(tmp_path, show_values, seed, options):
    """Random blocks of the engine's generator: memory, all registers, and the program counter, read and written."""
    corpus, stepped = tmp_path / "corpus", tmp_path / "stepped"
    runner = program("differential-run")
    generate(corpus, seed, 60)
    symbols = run("nm", runner).stdout
    enter, = re.findall(r"^(\w+) \w sn_executor_enter$", symbols, re.M)
    native = run(program("differential-step"), stepped, enter, runner, corpus)
    assert native.returncode == 0, native.stderr
    expected = by_instruction(line.split() for line in stepped.read_text().splitlines())
    got = by_instruction(records(tmp_path, show_values, runner, corpus, options=[
        "--places=447", "--from=0x20000000", "--to=0x120020000000", *options]))
    skipped = {address for address, values in expected.items() if ("skip",) in values}
    expected = {address: values for address, values in expected.items() if address not in skipped}
    counts = Counter(place for values in expected.values() for (_, place), found in values.items() for _ in found)
    assert counts["memory"] + counts["general"] > 2000
    least = {"vector": 100, "mask": 5, "flags": 500, "x87": 50, "control": 50, "counter": 50}
    assert {place: counts[place] for place, count in least.items() if counts[place] < count} == {}
    assert {address: values for address, values in got.items() if address not in skipped} == expected


@pytest.mark.parametrize("form", ["load_masked", "load_string", "load_across"])
def test_what_was_overwritten_without_values(tmp_path, types, show_values, form):
    """There is nothing to show of it, and records are the same as without asking."""
    plain, asked = (records(tmp_path, show_values, types, form, options=["--only=types", "--bytes=no", f"--moments={moments}"])
                    for moments in (3, 7))
    assert len(plain) > 100 and asked == plain


@pytest.mark.parametrize("tool", ["loadspy", "deadspy", "redspy", "zerospy"])
def test_tools_leave_programs_alone(tmp_path, tool):
    """Random blocks, with faults, leave what they leave natively."""
    corpus = tmp_path / "corpus"
    generate(corpus, 77, 100)
    native = run_native(corpus)
    under = run_sonde(corpus, (tool, f"--output={tmp_path}/report"))
    assert len(native.lines) > 100 and native.status == under.status == 0, under.error
    assert first_difference(native, under) is None


def test_bad_options(types):
    for tool, option, words in (("loadspy", "--approximate=101", "from 0 to 100"), ("zerospy", "--sample-off=5", "--sample-on")):
        ended = run(SONDE, tool, option, "--", types, "load_int8")
        assert ended.returncode == 2 and words in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr
