"""@fileoverview The calls that `sonde heap` finds by unwinding the client's stack (src/service/unwind.h), where that is not
ordinary, and compared with calls that were followed.
"""
import collections
import json
import os
import subprocess

import pytest

from conftest import ROOT

PROGRAM = ROOT / "tests" / "programs" / "heap_unwind.cpp"
MAKE = ["malloc", "make"]
# Of each size: how many blocks, and the functions, innermost first, up to main (or to where a stack begins).
EXPECTED = {
    1001: (1, MAKE + ["recurse"] * 31 + ["main"]),
    1002: (1, MAKE + ["varying", "main"]),
    1003: (1, MAKE + ["handler", "raise", "interrupted", "on_other_stack", "main"]),
    1005: (1, MAKE + ["handler", "raise", "interrupted", "on_other_stack", "main"]),
    1006: (1, MAKE + ["coroutine"]),
    1007: (1, MAKE + ["coroutine"]),
    1008: (1, MAKE + ["coroutines", "main"]),
    1009: (1, MAKE + ["in_thread"]),
    1010: (1, MAKE + ["???", "generated", "main"]),
    1011: (3, MAKE + ["after_failure", "main"]),
    1012: (1, MAKE + ["after_failure", "main"]),
    1013: (1, ["operator new[](unsigned long)", "array", "main"]),
}
ALSO = {"__pthread_kill_implementation", "__pthread_kill_internal", "__pthread_kill", "pthread_kill", "__GI_raise", "gsignal"}
ENDS = {"main", "coroutine", "in_thread"}


def dump(sonde, folder, *words):
    """The blocks of a run, as (size, functions, innermost first) -> number."""
    path = folder / "dump.json"
    done = sonde("heap", "--mode=cumulative", f"--output={path}", *words, timeout=120,
                 env={**os.environ, "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0"})
    assert done.returncode == 0, done.stderr
    told = json.loads(path.read_text())
    found = collections.Counter()
    for block in told["blockList"]:
        frames = [told["frameTable"][frame].split(": ", 1)[1] for frame in told["traceTable"][block["alloc"]]]
        found[block["req"], tuple(frame.rsplit(" (", 1)[0] for frame in frames)] += block.get("num", 1)
    return found


def shown(functions):
    """Without the ways in which C libraries raise signals, and what is outside of ENDS."""
    functions = [name.split(".")[0] for name in functions]  # .cold, .constprop.0
    functions = ["raise" if name in ("raise", "__GI_raise", "gsignal") else name for name in functions]
    for i, name in enumerate(functions):
        if name in ENDS:
            functions = functions[:i + 1]
            break
    return [name for i, name in enumerate(functions) if name not in ALSO and not (name == "raise" and functions[i - 1] == "raise")]


@pytest.mark.parametrize("flags", (["-O0"], ["-O2"], ["-O2", "-static"], ["-O1", "-fno-omit-frame-pointer"]), ids=" ".join)
@pytest.mark.parametrize("switches", ([], ["--debug-block-limit=1"]), ids=("", "one"))
def test_where_stacks_are_not_ordinary(sonde, tmp_path, flags, switches):
    subprocess.run(["g++", "-std=c++17", "-w", "-pthread", "-g", *flags, "-o", tmp_path / "program", PROGRAM], check=True, timeout=120)
    found = dump(sonde, tmp_path, *switches, tmp_path / "program")
    for size, expected in EXPECTED.items():
        mine = [(count, shown(functions)) for (requested, functions), count in found.items() if requested == size]
        assert mine == [expected], size


@pytest.mark.parametrize("script", ("perl", "python3"))
def test_as_when_calls_are_followed(sonde, tmp_path, script):
    """Functions that went on in others are not on the stack: all other calls are the same."""
    words = {"perl": ["perl", "-e", "my %h; $h{$_ % 97} .= sprintf('%05d', $_) for 1 .. 3000; print join ',', map { length } sort values %h"],
             # Without files of its own: what it finds compiled there, or compiles, changes what it allocates.
             "python3": ["/usr/bin/python3", "-I", "-S", "-B", "-c",
                         "print(len(repr([{str(i): [i] * 9 + [i ** 90]} for i in range(900)])))"]}[script]
    unwound = dump(sonde, tmp_path, *words)
    followed = dump(sonde, tmp_path, "--contexts=followed", *words)
    by_size = [collections.Counter() for _ in range(2)]
    for sizes, found in zip(by_size, (unwound, followed)):
        for (size, _), count in found.items():
            sizes[size] += count
    assert by_size[0] == by_size[1]

    def is_part(inner, whole):
        rest = iter(whole)
        return all(name in rest for name in inner)

    lists = collections.defaultdict(list)
    for size, functions in followed:
        lists[size].append(functions)
    assert len(unwound) > 50
    for size, functions in unwound:
        assert len(functions) > 3
        assert any(is_part(functions, whole) for whole in lists[size]), (size, functions)


LIBRARY = """
#include <stdlib.h>
void *NAME(void (*keep)(void *)) { void *block = malloc(SIZE); keep(block); return block; }
"""
LOADER = """
#include <dlfcn.h>
#include <stdlib.h>
static void *volatile kept;
static void keep(void *block) { kept = block; }
int main(int count, char **arguments) {
    for (int i = 1; i < count; i += 2) {
        void *library = dlopen(arguments[i], RTLD_NOW);
        void *(*make)(void (*)(void *)) = (void *(*)(void (*)(void *)))dlsym(library, arguments[i + 1]);
        make(keep);
        dlclose(library);
    }
    return 0;
}
"""


def test_code_that_is_replaced(sonde, tmp_path):
    """Another library comes after one that is gone, with frames of another size; each keeps its name."""
    (tmp_path / "loader.c").write_text(LOADER)
    (tmp_path / "library.c").write_text(LIBRARY)
    subprocess.run(["gcc", "-g", "-o", tmp_path / "loader", tmp_path / "loader.c"], check=True, timeout=60)
    for name, size, flags in (("one", 2001, ["-O2", "-fomit-frame-pointer"]), ("two", 2002, ["-O0", "-fno-omit-frame-pointer"])):
        subprocess.run(["gcc", "-g", "-shared", "-fPIC", *flags, f"-DNAME={name}", f"-DSIZE={size}", "-o", tmp_path / f"{name}.so",
                        tmp_path / "library.c"], check=True, timeout=60)
    found = dump(sonde, tmp_path, tmp_path / "loader", tmp_path / "one.so", "one", tmp_path / "two.so", "two")
    names = {size: functions[:3] for size, functions in found if size in (2001, 2002)}
    assert names == {2001: ("malloc", "one", "main"), 2002: ("malloc", "two", "main")}


def test_without_frame_information(sonde, tmp_path):
    """Sizes are right all the same; calls end where nothing is known."""
    (tmp_path / "bare.c").write_text("""
#include <stdlib.h>
static void *volatile kept;
__attribute__((noipa)) static void inner(void) { kept = malloc(3001); }
__attribute__((noipa)) static void outer(void) { inner(); free(kept); inner(); }
int main(void) { for (int i = 0; i < 10; i++) outer(); return 0; }
""")
    subprocess.run(["gcc", "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-dwarf2-cfi-asm", "-o",
                    tmp_path / "bare", tmp_path / "bare.c"], check=True, timeout=60)
    found = dump(sonde, tmp_path, tmp_path / "bare")
    mine = {functions[:2]: count for (size, functions), count in found.items() if size == 3001}
    assert mine == {("malloc", "inner"): 20}


WAYS = """
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 9, MOST = 4000, FIRST = 5000 };
static char path[DEEPEST + 1], paths[MOST][DEEPEST + 1];
static unsigned depth, known, random_state = 1;
static void *volatile kept;

static unsigned draw(unsigned below) { return (random_state = random_state * 1664525 + 1013904223) / 65536 % below; }

static unsigned number_of_path(void) {
    for (unsigned i = 0; i < known; i++)
        if (!strcmp(paths[i], path)) return i;
    return strcpy(paths[known], path), known++;
}

typedef void step(uintptr_t value);
static step *steps[4];

/* Inlined: each of the steps calls malloc itself, at a place of its own, and the next step from one of two places. */
static inline __attribute__((always_inline)) void go(char name, uintptr_t value) {
    path[depth++] = name;
    do {
        if (depth < DEEPEST && draw(4)) {
            if (draw(2)) steps[draw(4)](value * 3 + draw(100));
            else steps[draw(4)](value ^ (uintptr_t)kept);
        } else if (known < MOST) {
            free(kept);
            kept = malloc(FIRST + number_of_path());
        }
    } while (!draw(3));
    path[--depth] = 0;
}

__attribute__((noipa)) static void plain(uintptr_t value) { go('p', value); }
__attribute__((noipa)) static void saving(uintptr_t value) { go('s', value + 1); __asm__ volatile("" : "+r"(value) :: "rbx", "r12"); }
__attribute__((noipa, optimize("omit-frame-pointer"))) static void changing(uintptr_t value) {
    __asm__ volatile("mov %0, %%rbp" :: "r"(value) : "rbp");
    go('c', value);
}
__attribute__((noipa)) static void varying(uintptr_t value) {
    char *volatile room = alloca(16 + value % 3 * 64);
    room[0] = 1;
    go('v', value);
    room[1] = (char)value;
}
static step *steps[4] = {plain, saving, changing, varying};

int main(void) {
    for (int i = 0; i < 30000 && known < MOST - DEEPEST; i++) steps[draw(4)](i);
    for (unsigned i = 0; i < known; i++) printf("%d %s\\n", FIRST + i, paths[i]);
    return 0;
}
"""


@pytest.mark.parametrize("flags", (["-O2"], ["-O1", "-fno-omit-frame-pointer"]), ids=" ".join)
def test_chains_that_differ_somewhere(sonde, tmp_path, flags):
    """Each chain is like the one before in its outer part, or not quite: frames of other sizes, frame pointers that hold
    something else."""
    (tmp_path / "ways.c").write_text(WAYS)
    flags = [*flags, "-g", "-fno-optimize-sibling-calls"]
    subprocess.run(["gcc", *flags, "-o", tmp_path / "ways", tmp_path / "ways.c"], check=True, timeout=60)
    told = subprocess.run([tmp_path / "ways"], capture_output=True, text=True, check=True, timeout=60).stdout
    names = {"p": "plain", "s": "saving", "c": "changing", "v": "varying"}
    expected = {int(size): [names[letter] for letter in reversed(path)] for size, path in map(str.split, told.splitlines())}
    assert len(expected) > 1000
    seen = collections.defaultdict(set)
    for (size, functions), _ in dump(sonde, tmp_path, tmp_path / "ways").items():
        seen[size].add(tuple(name for name in functions if name != "go"))
    for size, functions in expected.items():
        assert {found[:len(functions) + 2] for found in seen[size]} == {("malloc", *functions, "main")}, size


AGAIN = """
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, PAGES = 16, LOW_PAGES = 8 };
static ucontext_t main_context, context;
static void *volatile kept;

__attribute__((noipa)) static void leaf(size_t size) {
    kept = malloc(size);
    __asm__ volatile("");
}

/* One call in front of the first one of the stack: all that differs is the only word that tells the calls apart. */
static void shallow(void) {
    for (int i = 0; i < 3; i++) {
        leaf(6001);
        leaf(6002);
        leaf(6001);
    }
    swapcontext(&context, &main_context);
}

__attribute__((noipa)) static void middle(void) {
    for (size_t size = 6003;; size++) {
        leaf(size);
        swapcontext(&context, &main_context);
    }
}

static void deep(void) {
    char *volatile room = alloca(LOW_PAGES * PAGE);
    room[0] = 1;
    middle();
    room[1] = 1;
}

static void run_at(char *stack, size_t size, void (*function)(void)) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = size;
    makecontext(&context, function, 0);
    swapcontext(&main_context, &context);
}

int main(void) {
    char *stack = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_at(stack, PAGES * PAGE, shallow);
    run_at(stack, PAGES * PAGE, deep);
    swapcontext(&main_context, &context);
    /* The same call from the same height of the stack, whose part further up is gone. */
    munmap(stack + LOW_PAGES * PAGE, (PAGES - LOW_PAGES) * PAGE);
    swapcontext(&main_context, &context);
    return 0;
}
"""


def test_chains_that_were_found_before(sonde, tmp_path):
    """What is remembered of a place and a height of the stack is compared to the last word, and not where memory has gone. The
    stack ends where its memory ends."""
    (tmp_path / "again.c").write_text(AGAIN)
    subprocess.run(["gcc", "-O1", "-g", "-o", tmp_path / "again", tmp_path / "again.c"], check=True, timeout=60)
    found = dump(sonde, tmp_path, tmp_path / "again")
    mine = {(size, functions[1:4 if size > 6002 else 3]): count for (size, functions), count in found.items() if 6001 <= size <= 6005}
    assert mine == {(6001, ("leaf", "shallow")): 6, (6002, ("leaf", "shallow")): 3,
                    **{(size, ("leaf", "middle", "deep")): 1 for size in (6003, 6004, 6005)}}
    beyond = {size: functions[4:] for size, functions in map(tuple, found) if 6003 <= size <= 6005}
    assert beyond[6003] == beyond[6004] and len(beyond[6004]) == 1 and not beyond[6005]
    told = json.loads((tmp_path / "dump.json").read_text())
    places = collections.Counter()
    for block in told["blockList"]:
        if block["req"] in (6001, 6002):
            places[block["req"], told["frameTable"][told["traceTable"][block["alloc"]][2]]] += block.get("num", 1)
    assert sorted((size, count) for (size, _), count in places.items()) == [(6001, 3), (6001, 3), (6002, 3)]
