"""@fileoverview Where undefined values were made (memcheck --track-origins=yes), as text and as XML; and what the requests of memcheck.h
that look at values answer and report. All reports are those of Valgrind 3.19 for the same program, but that this one tells more origins: of
blocks that realloc moved, and of VALGRIND_SET_VBITS.
"""
import re
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import ROOT
from memcheck_reports import marks_of, report

SOURCE = ROOT / "tests" / "programs" / "memcheck_origins.c"
CREATED = " Uninitialised value was created by a "
JUMP = "Conditional jump or move depends on uninitialised value(s)"
LEVELS = {"O0": ["-O0"], "O1": ["-O1"], "native": ["-O3", "-march=native"]}


def heap(what, function, used, made, maker="malloc"):
    return [what, f"at {function} {function}.{used}", f"{CREATED}heap allocation", f"at {maker}", f"by {function} {function}.{made}"]


ERRORS = [
    heap(JUMP, "heap", "used", "made"),
    heap(JUMP, "heap", "copied", "made"),
    heap(JUMP, "heap", "number", "numbers"),
    heap(JUMP, "heap", "tail", "grown", "realloc"),
    heap("Use of uninitialised value of size 8", "heap", "index", "made"),
    [JUMP, "at frame frame.used", f"{CREATED}stack allocation", "at frame frame.begins"],
    ["Syscall param write(buf) points to uninitialised byte(s)", "by system_call call.used",
     " Address HERE is 1 bytes inside a block of size 80 alloc'd", "at malloc", "by system_call call.made",
     f"{CREATED}heap allocation", "at malloc", "by system_call call.made"],
    [JUMP, "at said said.used", f"{CREATED}client request", "at said said.made"],
    ["Uninitialised byte(s) found during client check request", "at said said.checked",
     " Address HERE is 4 bytes inside data symbol \"cells\"", f"{CREATED}client request", "at said said.made"],
    heap(JUMP, "far", "register", "made"),
    heap(JUMP, "far", "moved", "made"),
]


def inside(offset, name="data symbol \"area\""):
    return f" Address HERE is {offset} bytes inside {name}"


REQUESTED = [f"{CREATED}client request", "at requests"]
REQUESTS = [
    [JUMP, "at requests requests.set", *REQUESTED],
    ["Uninitialised byte(s) found during client check request", "at requests requests.defined", inside(9), *REQUESTED],
    ["Uninitialised byte(s) found during client check request", "at requests requests.both", inside(20), *REQUESTED],
    ["Unaddressable byte(s) found during client check request", "at requests requests.both", inside(8)],
    ["Invalid read of size 1", "at requests requests.inside", inside(10, "a cell of honour of size 16 client-defined"), "at requests requests.named"],
    ["Invalid read of size 1", "at requests requests.unnamed", inside(11)],
    ["Invalid read of size 1", "at requests requests.beside", inside(12)],
    ["Invalid read of size 1", "at requests requests.again", inside(9)],
    [JUMP, "at requests requests.new", f"{CREATED}heap allocation", "at requests requests.like"],
]
ANSWERS = """\
get 1: 00 00 00 00 ff 30 ff ff 00 00 00 00 00 00 00 00
set 1
defined up to 9
good up to 8, bits 3
discard 1, 0
off 1, on 1, none 0
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("origins")
    for level, flags in LEVELS.items():
        subprocess.run(["gcc", "-g", *flags, "-w", "-fno-builtin", "-fno-optimize-sibling-calls", "-pthread", "-o", folder / level, SOURCE],
                       check=True, timeout=60)
    return folder


def is_own(line):
    """Not of what calls the functions that are looked at, nor the C library's names for write."""
    return not re.fullmatch(r"(by (errors|thread)|(at|by) \w*write|Thread 2:)", line)


def found(sonde, program, *words, options=("--track-origins=yes",)):
    done = sonde("memcheck", "-q", "--leak-check=no", *options, "--", program, *words, timeout=120)
    assert done.returncode == 0, done.stderr
    errors = [[re.sub(r"(symbol \"\w+)\.\d+", r"\1", line) for line in error if is_own(line)] for error in report(done.stderr, marks_of(SOURCE))]
    return errors, done.stdout


@pytest.mark.parametrize("level", LEVELS)
def test_origins(sonde, programs, level):
    assert found(sonde, programs / level, "errors")[0] == ERRORS


def test_in_a_thread(sonde, programs):
    assert found(sonde, programs / "O1", "thread")[0] == ERRORS


def test_not_asked_for(sonde, programs):
    errors, _ = found(sonde, programs / "O1", "errors", options=())
    assert [error[:2] for error in errors] == [error[:2] for error in ERRORS]
    assert not [line for error in errors for line in error if line.startswith(CREATED)]


@pytest.mark.parametrize("level", LEVELS)
def test_requests(sonde, programs, level):
    assert found(sonde, programs / level, "requests") == (REQUESTS, ANSWERS)


def test_xml(sonde, programs, tmp_path):
    file = tmp_path / "origins.xml"
    sonde("memcheck", "--leak-check=no", "--track-origins=yes", "--xml=yes", f"--xml-file={file}", "--", programs / "O1", "errors", timeout=120)
    errors = xml.etree.ElementTree.parse(file).getroot().findall("error")
    assert [next(text.text for text in error.findall("auxwhat") if text.text.startswith(CREATED[1:])) for error in errors] == [
        next(line[1:] for line in error if line.startswith(CREATED)) for error in ERRORS]
    for error in errors:  # the origin's stack is behind its sentence
        assert [part.tag for part in error][-2:] == ["auxwhat", "stack"]
