"""@fileoverview The tool memcheck: what it says of wrong uses of the heap, exactly, and where it is silent.

memcheck_reports.py tells the short form in which reports are compared; test_memcheck_access.py is about accesses to memory.
"""
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import ROOT
from memcheck_reports import marks_of, report

HEAP = ROOT / "tests" / "programs" / "memcheck_heap.c"
INVALID = "Invalid free() / delete / delete[] / realloc()"
needs_requests = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind/memcheck.h comes with valgrind")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Optimisation -> program."""
    folder = tmp_path_factory.mktemp("memcheck")
    made = {level: folder / f"heap{level}" for level in ("O0", "O2")}
    for level, program in made.items():
        subprocess.run(["gcc", "-g", f"-{level}", "-fno-optimize-sibling-calls", "-w", "-pthread", "-o", program, HEAP], check=True,
                       timeout=60)
    return made


def run(sonde, program, *modes, options=()):
    done = sonde("memcheck", "-q", *options, "--", program, *modes)
    assert done.returncode == 3, done.stderr
    return done.stdout, report(done.stderr, marks_of(HEAP))


EXPECTED = {
    "twice": [[INVALID, "at free", "by twice twice.second", " Address HERE is 0 bytes inside a block of size 40 free'd", "at free",
               "by twice twice.first", " Block was alloc'd at", "at malloc", "by twice twice.malloc"]],
    "middle": [[INVALID, "at free", "by middle middle.free", " Address HERE is 1 bytes inside a block of size 10 alloc'd", "at malloc",
                "by middle middle.malloc"]],
    "again": [[INVALID, "at realloc", "by again again.realloc", " Address HERE is 0 bytes inside a block of size 40 free'd", "at free",
               "by again again.free", " Block was alloc'd at", "at calloc", "by again again.calloc"]],
    "sizes": [["Argument 'size' of function malloc has a fishy (possibly negative) value: -1", "at malloc", "by sizes sizes.malloc"],
              ["Argument 'nmemb' of function calloc has a fishy (possibly negative) value: -1", "at calloc", "by sizes sizes.calloc"]],
}
PRINTED = {"again": "1\n", "sizes": "1 1 1\n"}


@pytest.mark.parametrize("level", ("O0", "O2"))
def test_errors(sonde, programs, level):
    """All in one run: each is told on its own."""
    printed, errors = run(sonde, programs[level], *EXPECTED, options=["--leak-check=no"])
    assert errors == [error for errors in EXPECTED.values() for error in errors]
    assert printed == "".join(PRINTED.values())


def test_errors_in_a_thread(sonde, programs):
    printed, errors = run(sonde, programs["O2"], "thread", *EXPECTED, options=["--leak-check=no"])
    expected = [list(error) for errors in EXPECTED.values() for error in errors]
    for number, error in zip((2, 3, 4, 5), expected):
        error.insert(0, f"Thread {number}:")
    assert errors == expected
    assert printed == "".join(PRINTED.values())


def test_a_pointer_to_a_variable(sonde, programs):
    _, (error,) = run(sonde, programs["O0"], "no_block")
    assert error[:3] == [INVALID, "at free", "by no_block no_block.free"]
    assert re.fullmatch(r' Address HERE is 4 bytes inside data symbol "text\.\d+"', error[3])


@pytest.mark.parametrize("mode", ("sound", "threads"))
@pytest.mark.parametrize("options", ([], ["--redzone-size=0", "--freelist-vol=0"], ["--malloc-fill=0xa5", "--free-fill=0x5a"]))
def test_silent(sonde, programs, mode, options):
    assert run(sonde, programs["O2"], mode, options=["--leak-check=full", *options]) == ("wrong 0\n", [])


def leak(text, place):
    return [text, "at malloc", *place]


def test_leaks(sonde, programs):
    options = ["--leak-check=full", "--show-leak-kinds=all"]
    _, errors = run(sonde, programs["O2"], "leaks", options=options)
    assert errors == [
        leak("66 bytes in 2 blocks are indirectly lost in loss record 1 of 4", ["by lose leaks.second", "by leaks"]),
        leak("100 bytes in 1 blocks are still reachable in loss record 2 of 4", ["by leaks leaks.kept"]),
        leak("162 (96 direct, 66 indirect) bytes in 2 blocks are definitely lost in loss record 3 of 4", ["by lose leaks.first", "by leaks"]),
        leak("200 bytes in 1 blocks are possibly lost in loss record 4 of 4", ["by leaks leaks.inside"]),
    ]


def test_summaries(sonde, programs):
    done = sonde("memcheck", "--leak-check=full", "--error-exitcode=9", "--", programs["O2"], "leaks", "twice")
    assert done.returncode == 9
    lines = [re.sub(r"^==\d+== ", "", line) for line in done.stderr.splitlines()]
    at = lines.index("HEAP SUMMARY:")
    assert lines[at:at + 4] == ["HEAP SUMMARY:", "    in use at exit: 462 bytes in 6 blocks",
                                "  total heap usage: 7 allocs, 1 frees, 502 bytes allocated", ""]
    at = lines.index("LEAK SUMMARY:")
    assert lines[at:] == [
        "LEAK SUMMARY:", "   definitely lost: 96 bytes in 2 blocks", "   indirectly lost: 66 bytes in 2 blocks",
        "     possibly lost: 200 bytes in 1 blocks", "   still reachable: 100 bytes in 1 blocks",
        "        suppressed: 0 bytes in 0 blocks", "Reachable blocks (those to which a pointer was found) are not shown.",
        "To see them, rerun with: --leak-check=full --show-leak-kinds=all", "",
        "For lists of detected and suppressed errors, rerun with: --show-error-list=yes",
        "ERROR SUMMARY: 3 errors from 3 contexts (suppressed: 0 from 0)"]


def test_a_forked_child_has_its_own_report(sonde, programs):
    done = sonde("memcheck", "--leak-check=no", "--", programs["O2"], "forks")
    assert done.stdout == "child 0\n"
    summaries = re.findall(r"==(\d+)== ERROR SUMMARY: (\d+) errors", done.stderr)
    assert sorted(errors for _, errors in summaries) == ["0", "1"]
    assert len({process for process, _ in summaries}) == 2


def test_first_error_ends_the_run(sonde, programs):
    done = sonde("memcheck", "--exit-on-first-error=yes", "--error-exitcode=7", "--", programs["O2"], "twice", "again")
    assert (done.returncode, done.stdout) == (7, "")
    assert "ERROR SUMMARY: 1 errors from 1 contexts" in done.stderr


@needs_requests
def test_requests(sonde, programs):
    printed, errors = run(sonde, programs["O2"], "counted", options=["--leak-check=no"])
    assert printed == "162 200 0\nerrors 1\n"
    _, errors = run(sonde, programs["O2"], "pools", options=["--leak-check=no"])
    block = " Address HERE is 0 bytes inside a block of size {} free'd"
    assert [error[:3] for error in errors] == [
        [INVALID, "at pools pools.twice", block.format(100)],
        ["Illegal memory pool address", "at pools pools.unknown", ' Address HERE is 8 bytes inside data symbol "memory.2"'],
        [INVALID, "at pools pools.freelike", block.format(50)]]
    assert errors[0][-2:] == [" Block was alloc'd at", "at pools pools.alloc"]


# -------------------------------------------------------------------------------------- suppressions and XML

def test_suppressions_that_were_printed_suppress(sonde, programs, tmp_path):
    words = ["--leak-check=full", "--gen-suppressions=all", "--", programs["O2"], "twice", "again", "sizes", "leaks"]
    done = sonde("memcheck", *words)
    made = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("=="))
    assert made.count("insert_a_suppression_name_here") == 6
    assert "   Memcheck:FishyValue\n   malloc(size)\n   fun:malloc\n   fun:sizes\n   fun:main\n" in made
    assert "   Memcheck:Leak\n   match-leak-kinds: possible\n   fun:malloc\n   fun:leaks\n   fun:main\n" in made
    (tmp_path / "all.supp").write_text(made)
    done = sonde("memcheck", f"--suppressions={tmp_path}/all.supp", *words)
    assert "ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 6 from 6)" in done.stderr
    assert "        suppressed: 296 bytes in 3 blocks" in done.stderr


@pytest.mark.parametrize("lines, suppressed", (
    (["Memcheck:Free", "fun:free", "..."], 1),
    (["Memcheck,Other:Free", "...", "fun:main"], 1),
    (["Memcheck:Free", "fun:fr?e", "fun:tw*"], 1),
    (["Memcheck:Free", "obj:*/libc.so.6", "src:memcheck_heap.c", "fun:main"], 1),
    (["Memcheck:Free", "fun:free", "fun:main"], 0),
    (["Memcheck:Free", "fun:free", "fun:twice", "fun:main", "fun:more"], 0),
    (["Other:Free", "fun:free", "..."], 0),
    (["Memcheck:Addr4", "fun:free", "..."], 0),
))
def test_suppressions(sonde, programs, tmp_path, lines, suppressed):
    file = tmp_path / "some.supp"
    file.write_text("# a comment\n{\n   name\n" + "".join(f"   {line}\n" for line in lines) + "}\n")
    done = sonde("memcheck", f"--suppressions={file}", "--", programs["O2"], "twice")
    assert f"(suppressed: {suppressed} from {suppressed})" in done.stderr


@pytest.mark.parametrize("text, complaint", (
    ("name\n", ":1: '{' is wanted"),
    ("{\nname\nMemcheck\n}\n", ":3: 'TOOL:KIND' is wanted"),
    ("{\nname\nMemcheck:Free\n", ":3: the file ends inside a suppression"),
    ("{\nname\nMemcheck:Free\n}\n", ":4: a suppression without a line of the stack"),
    ("{\nname\nMemcheck:Leak\nmatch-leak-kinds: some\nfun:a\n}\n", ":4: 'match-leak-kinds:' wants"),
    ("{\nname\nMemcheck:Free\nfun:a\nfunny\n}\n", ":5: 'fun:', 'obj:', 'src:', '...' or '}' is wanted"),
))
def test_bad_suppressions(sonde, tmp_path, text, complaint):
    file = tmp_path / "bad.supp"
    file.write_text(text)
    done = sonde("memcheck", f"--suppressions={file}", "--", "/bin/true")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert complaint in done.stderr


@pytest.mark.parametrize("option", ("--num-callers=0", "--num-callers=501", "--redzone-size=5000", "--show-leak-kinds=some",
                                    "--leak-check-heuristics=all,any", "--error-exitcode=256", "--malloc-fill=256",
                                    "--exit-on-first-error=yes", "--suppressions=/no/such/file"))
def test_bad_options(sonde, option):
    done = sonde("memcheck", option, "--", "/bin/true")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_xml(sonde, programs, tmp_path):
    """The elements that readers of Valgrind's protocol 4 look for."""
    done = sonde("memcheck", "--xml=yes", f"--xml-file={tmp_path}/%p.xml", "--leak-check=full", "--", programs["O2"], "twice", "leaks")
    assert (done.returncode, done.stderr) == (3, "")
    (file,) = tmp_path.glob("*.xml")
    root = xml.etree.ElementTree.parse(file).getroot()
    assert root.tag == "valgrindoutput"
    assert [root.findtext(name) for name in ("protocolversion", "protocoltool", "tool", "pid")] == ["4", "memcheck", "memcheck", file.stem]
    assert [status.findtext("state") for status in root.findall("status")] == ["RUNNING", "FINISHED"]
    assert [word.text for word in root.find("args/argv")] == [str(programs["O2"]), "twice", "leaks"]
    errors = root.findall("error")
    assert [error.findtext("kind") for error in errors] == ["InvalidFree", "Leak_DefinitelyLost", "Leak_PossiblyLost"]
    assert errors[0].findtext("what") == INVALID
    frames = [[frame.findtext("fn") for frame in stack] for stack in errors[0].findall("stack")]
    assert frames == [["free", "twice", "main"], ["free", "twice", "main"], ["malloc", "twice", "main"]]
    marks = {mark: number for number, mark in marks_of(HEAP).items()}
    assert errors[0].findall("stack")[0][1].findtext("line") == str(marks["twice.second"])
    assert errors[0].findall("stack")[0][1].findtext("file") == HEAP.name
    assert [node.text for node in errors[1].find("xwhat")][1:] == ["162", "2"]
    assert [(pair.findtext("count"), pair.findtext("unique")) for pair in root.findall("errorcounts/pair")] == [("1", "0x0")]


# ------------------------------------------------------------------------------------------------------- C++

CPLUSPLUS = ROOT / "tests" / "programs" / "memcheck_leaks.cpp"


@pytest.fixture(scope="module")
def cplusplus(tmp_path_factory):
    program = tmp_path_factory.mktemp("cplusplus") / "leaks"
    subprocess.run(["g++", "-g", "-O1", "-std=c++17", "-w", "-o", program, CPLUSPLUS], check=True, timeout=60)
    return program


def test_mismatched(sonde, cplusplus):
    done = sonde("memcheck", "-q", "--leak-check=no", "--", cplusplus)
    assert done.stdout.splitlines()[0] == "caught"
    errors = report(done.stderr, marks_of(CPLUSPLUS))
    what = "Mismatched free() / delete / delete []"
    assert [(error[0], error[1].split("(")[0], error[2], error[4].split("(")[0]) for error in errors] == [
        (what, "at operator delete", "by mismatched() array.delete", "at operator new[]"),
        (what, "at free", "by mismatched() new.free", "at operator new"),
        (what, "at operator delete[]", "by mismatched() malloc.delete", "at malloc")]
    done = sonde("memcheck", "-q", "--leak-check=no", "--show-mismatched-frees=no", "--", cplusplus)
    assert done.stderr == ""


@pytest.mark.parametrize("heuristics, possible", (("all", [70]), ("none", [68, 40, 48, 35, 70]), ("newarray", [40, 48, 35, 70]),
                                                  ("multipleinheritance,length64", [68, 35, 70]), ("stdstring", [68, 40, 48, 70])))
def test_heuristics(sonde, cplusplus, heuristics, possible):
    done = sonde("memcheck", "-q", "--leak-check=full", f"--leak-check-heuristics={heuristics}", "--", cplusplus)
    sizes = re.findall(r"(\d+) bytes in 1 blocks are possibly lost", done.stderr)
    assert sorted(map(int, sizes)) == sorted(possible)
    assert "definitely" not in done.stderr
