"""What Valgrind finds, sonde memcheck finds: in all of tests/programs/memcheck_*.c, compiled without and with optimisation, in each of
their modes (memcheck_leaks.cpp, whose operator new throws, does not run to its end there). An error is the same if its sentence is, sizes aside, and the innermost line of the program that Valgrind names is on
Sonde's stack as well (Sonde names the lines of inlined functions inside of it, too). test_memcheck_clean.py compares real programs."""
import re
import shutil
import subprocess

import pytest

from real_programs import ROOT, SONDE

MODES = {
    "memcheck_access.c": ("heap_sizes", "freed", "strings", "overlaps", "below_stack", "repeated", "flood", "pages", "requests", "system_calls",
                          "wild", "handled", "sound"),
    "memcheck_heap.c": ("twice", "middle", "no_block", "again", "sizes", "leaks", "sound", "threads", "forks", "counted", "pools"),
    "memcheck_values.c": ("errors", "sound", "thread"),
    "memcheck_calls.c": ("errors", "sound"),
    "memcheck_origins.c": ("errors", "requests", "thread"),
    "memcheck_variants.c": ("",),
    "memcheck_repeats.c": ("",),
    "memcheck_large.c": ("",),
    "memcheck_wild.c": ("0x10", "0x700000000000", "0xffff800000000000"),
}
SILENT = {"sound", "threads", "pages"}
OPTIONS = ("-q", "--error-limit=no")
LEAKS = {("memcheck_heap.c", "leaks"), ("memcheck_heap.c", "counted")}   # elsewhere, what registers hold by chance decides

# Sentences that only Valgrind says, and why that is right.
ONLY_VALGRINDS = {
    # Its strcpy() of overlapping memory does not come to an end, and writes behind the block; the C library's does.
    ("memcheck_access.c", "overlaps"): {"Invalid write"},
    # Padding, what follows a socket's path, and the unused part of a union: the kernel does not look at them.
    ("memcheck_calls.c", "sound"): {"Syscall param sendmsg(msg.msg_control) points to uninitialised byte(s)",
                                    "Syscall param sendmsg(msg.msg_name) points to uninitialised byte(s)",
                                    "Syscall param timer_create(evp.sigev_value) points to uninitialised byte(s)"},
}


def sentence_of(line):
    """Without what may differ: sizes (Valgrind takes wide accesses for several), addresses, numbers of records."""
    line = re.sub(r" of size \d+| in loss record .*|0x[0-9a-fA-F]+", "", line)
    return re.sub(r"[\d,]+ \([\d,]+ direct, [\d,]+ indirect\)|\b[\d,]+(?= bytes)", "N", line)


def errors_of(text, source):
    """(sentence, the program's lines on the stack below it, innermost first)."""
    found = []
    for block in re.split(r"\n==\d+== *(?=\n)", text):
        lines = [re.sub(r"^==\d+== ?", "", line) for line in block.splitlines() if line.startswith("==")]
        lines = [line for line in lines if line and not line.startswith("Thread ")]
        stack = []
        for line in lines[1:]:
            if not line.startswith("   "):
                break
            at = re.search(rf"\({re.escape(source)}:(\d+)\)$", line)
            stack += [int(at[1])] if at else []
        if stack and not lines[0].startswith(("Process terminating", " ")):
            found.append((sentence_of(lines[0]), stack))
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agrees")
    for source in MODES:
        for level in ("-O0", "-O2"):
            subprocess.run(["gcc", "-g", level, "-w", "-fno-builtin", "-fno-optimize-sibling-calls", "-pthread", "-o", folder / (source + level),
                            ROOT / "tests" / "programs" / source], check=True, timeout=120)
    return folder


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.parametrize("level", ("-O0", "-O2"))
@pytest.mark.parametrize("source, mode", [(source, mode) for source, modes in MODES.items() for mode in modes])
def test_nothing_is_missed(programs, source, mode, level):
    leaks = "full" if (source, mode) in LEAKS else "no"
    command = [programs / (source + level), *([mode] if mode else [])]
    ours, theirs = (errors_of(subprocess.run([*tool, *OPTIONS, f"--leak-check={leaks}", *command], stdout=subprocess.DEVNULL,
                                             stderr=subprocess.PIPE, text=True, errors="replace", timeout=300).stderr, source)
                    for tool in ([SONDE, "memcheck"], ["valgrind"]))
    missed = [(what, stack) for what, stack in theirs if what not in ONLY_VALGRINDS.get((source, mode), ())
              and not any(what == said and stack[0] in lines for said, lines in ours)]
    assert missed == []
    assert theirs or mode in SILENT or (source, mode) in ONLY_VALGRINDS, "nothing was compared"
