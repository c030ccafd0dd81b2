"""@fileoverview The tool memcheck: accesses to memory that must not be accessed, exactly, and what is none.

The same program is compiled in several ways: what is reported does not depend on that.
"""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT
from memcheck_reports import marks_of, report

SOURCE = ROOT / "tests" / "programs" / "memcheck_access.c"
WAYS = {"O1": ["-O1"], "native": ["-O3", "-march=native"]}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Way of compiling -> program."""
    folder = tmp_path_factory.mktemp("access")
    for way, flags in WAYS.items():
        subprocess.run(["gcc", "-g", *flags, "-fno-builtin", "-fno-optimize-sibling-calls", "-w", "-pthread", "-o", folder / way, SOURCE],
                       check=True, timeout=60)
    return {way: folder / way for way in WAYS}


def run(sonde, program, *modes, options=()):
    done = sonde("memcheck", "-q", "--leak-check=no", *options, "--", program, *modes)
    assert done.returncode == 3, done.stderr
    return done.stdout, report(done.stderr, marks_of(SOURCE))


def block(where, size, function, place):
    return [f" Address HERE is {where} a block of size {size} alloc'd", "at malloc", f"by {function} {place}"]


def access(what, function, place, where, size, allocated):
    return [f"Invalid {what}", f"at {function} {place}", *block(where, size, function, allocated)]


def sizes(what, place, where):
    return access(what, "heap_sizes", f"sizes.{place}", where, 40, "sizes.malloc")


def freed(what, place, where):
    return [f"Invalid {what}", f"at freed freed.{place}", f" Address HERE is {where} bytes inside a block of size 100 free'd", "at free",
            "by freed freed.free", " Block was alloc'd at", "at malloc", "by freed freed.malloc"]


def of_string(what, function, place=None):
    return [f"Invalid {what} of size 1", f"at {function}", f"by strings strings.{place or function}",
            *block("0 bytes after", 8, "strings", "strings.malloc")]


EXPECTED = {
    "heap_sizes": [
        sizes("read of size 1", "read1", "0 bytes after"),
        sizes("read of size 2", "read2", "39 bytes inside"),
        sizes("read of size 4", "read4", "4 bytes after"),
        sizes("read of size 8", "read8", "36 bytes inside"),
        sizes("write of size 1", "write1", "1 bytes before"),
        sizes("write of size 8", "write8", "0 bytes after"),
        ["Invalid write of size 16", "at _mm_storeu_si128", "by heap_sizes sizes.write16",
         *block("30 bytes inside", 40, "heap_sizes", "sizes.malloc")],
    ],
    "freed": [freed("read of size 4", "read", 12), freed("write of size 4", "write", 96)],
    "strings": [
        *(of_string("write", name) for name in ("strcpy", "memcpy", "memset")),
        *(of_string("read", name) for name in ("strlen", "memcmp", "strcmp", "strchr")),
        ["Invalid read of size 1", "at strlen", "by strings strings.freed", " Address HERE is 0 bytes inside a block of size 20 free'd",
         "at free", "by strings", " Block was alloc'd at", "at malloc", "by strings strings.malloc"],
    ],
    "overlaps": [["Source and destination overlap in strcpy(HERE, HERE)", "at strcpy", "by overlaps overlaps.strcpy"],
                 ["Source and destination overlap in strncpy(HERE, HERE, 10)", "at strncpy", "by overlaps overlaps.strncpy"]],
    "system_calls": [
        [f"Syscall param {name}(buf) points to unaddressable byte(s)", f"at {name}", f"by system_calls calls.{name}",
         *block("0 bytes after", 16, "system_calls", "calls.malloc")] for name in ("write", "read")],
    "repeated": [access("write of size 1", "repeated", "repeated.stos", "0 bytes after", 16, "repeated.malloc")],
}


def without_unmarked_lines(errors):
    """Which names memcpy and memmove have, and where a C library has no such choice, is the library's affair."""
    return [[re.sub(r"\b(memmove|__memcpy_\w+)$", "memcpy", line) for line in error] for error in errors]


@pytest.mark.parametrize("way", WAYS)
def test_errors(sonde, programs, way):
    printed, errors = run(sonde, programs[way], *EXPECTED)
    assert without_unmarked_lines(errors) == [error for errors in EXPECTED.values() for error in errors]
    assert printed == ""


def test_errors_in_a_thread(sonde, programs):
    _, errors = run(sonde, programs["O1"], "thread", "heap_sizes", "freed")
    assert errors[0][0] == "Thread 2:" and errors[len(EXPECTED["heap_sizes"])][0] == "Thread 3:"
    assert [error[1:] if error[0].startswith("Thread") else error for error in errors] == EXPECTED["heap_sizes"] + EXPECTED["freed"]


@pytest.mark.parametrize("words, thread", (((), 1), (("thread",), 2)))
def test_below_the_stack_pointer(sonde, programs, words, thread):
    _, (error,) = run(sonde, programs["O1"], *words, "below_stack")
    error = [line for line in error if not line.startswith("Thread")]
    assert error[:3] == ["Invalid read of size 1", "at below_stack stack.read", f" Address HERE is on thread {thread}'s stack"]
    assert re.fullmatch(r" \d+ bytes below stack pointer", error[3])


def test_a_null_pointer(sonde, programs):
    done = sonde("memcheck", "--leak-check=no", "--", programs["O1"], "wild")
    assert done.returncode == -11
    assert report(done.stderr, marks_of(SOURCE))[1:3] == [
        ["Invalid read of size 4", "at wild wild.read", " Address HERE is not stack'd, malloc'd or (recently) free'd"],
        ["Process terminating with default action of signal 11 (SIGSEGV)", "at wild wild.read"]]


def test_the_same_error_is_counted(sonde, programs):
    done = sonde("memcheck", "--leak-check=no", "--", programs["O1"], "flood", "floods")
    assert done.stderr.count("Invalid read") == 2   # from main, and from the threads' function
    assert "ERROR SUMMARY: 25000 errors from 2 contexts" in done.stderr


def test_faults_that_are_handled(sonde, programs):
    done = sonde("memcheck", "--leak-check=no", "--", programs["O1"], "handled")
    assert (done.returncode, done.stdout) == (3, "20\n")
    assert report(done.stderr, marks_of(SOURCE))[1][:2] == ["Invalid write of size 4", "at handled handled.write"]
    assert "Process terminating" not in done.stderr
    assert "ERROR SUMMARY: 20 errors from 1 contexts" in done.stderr


def test_the_first_error_ends_the_run(sonde, programs):
    done = sonde("memcheck", "-q", "--exit-on-first-error=yes", "--error-exitcode=9", "--", programs["O1"], "freed", "heap_sizes")
    assert done.returncode == 9
    assert done.stderr.count("Invalid") == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("words", ((), ("thread",)))
def test_silent(sonde, programs, way, words):
    assert run(sonde, programs[way], *words, "sound", "pages") == ("wrong 0\n", [])


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind/memcheck.h comes with valgrind")
def test_requests(sonde, programs):
    printed, errors = run(sonde, programs["O1"], "requests")
    assert printed == "0\n"
    assert [error[:2] for error in errors] == [["Invalid read of size 1", "at requests requests.read"],
                                               ["Unaddressable byte(s) found during client check request", "at requests requests.check"]]
    assert all(re.fullmatch(r' Address HERE is 16 bytes inside data symbol "area\.\d+"', error[2]) for error in errors)


@pytest.mark.parametrize("option, inherited", (("yes", 0), ("all", 3)))
def test_descriptors(sonde, programs, option, inherited):
    done = sonde("memcheck", "--leak-check=no", f"--track-fds={option}", "--", programs["O1"], "system_calls")
    errors = report(done.stderr, marks_of(SOURCE))
    at = next(i for i, error in enumerate(errors) if error[0].startswith("FILE DESCRIPTORS"))
    assert errors[at][0] == "FILE DESCRIPTORS: 5 open (3 std) at exit."
    assert re.sub(r"\d+", "N", errors[at][1]) == "Open file descriptor N: pipe:[N]"
    assert errors[at][2:] == errors[at + 1][1:] == ["at pipe", "by system_calls calls.pipe"]
    assert sum("   <inherited from parent>" in error for error in errors) == inherited


def test_suppressed_by_size(sonde, programs, tmp_path):
    file = tmp_path / "some.supp"
    file.write_text("{\n name\n Memcheck:Addr4\n fun:heap_sizes\n}\n{\n other\n Memcheck:Overlap\n fun:str*\n ...\n}\n")
    done = sonde("memcheck", f"--suppressions={file}", "--", programs["O1"], "heap_sizes", "overlaps")
    assert "ERROR SUMMARY: 6 errors from 6 contexts (suppressed: 3 from 3)" in done.stderr


@pytest.mark.parametrize("command", (("ls", "-l", "/usr"), ("perl", "-e", "print join ',', map { $_ x 3 } sort qw(b a c)"),
                                     ("sh", "-c", "for i in 1 2 3; do echo $i; done | sort -r")))
def test_programs_without_errors(sonde, command):
    done = sonde("memcheck", "-q", "--leak-check=no", "--", shutil.which(command[0]), *command[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not there")
def test_the_same_as_valgrind(sonde, programs):
    """What is found, where, and in which order; to Valgrind, an access of 16 bytes is two of 8."""
    modes = ("heap_sizes", "freed", "repeated")

    def places(text):
        found = [error[:2] for error in report(text.replace("size 16", "size 8"), marks_of(SOURCE)) if error[0].startswith("Invalid")]
        return list(dict.fromkeys(map(tuple, found)))

    words = ("-q", "--leak-check=no", programs["O1"], *modes)
    theirs = subprocess.run(["valgrind", "--undef-value-errors=no", *words], stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    ours = sonde("memcheck", *words[:2], "--", *words[2:])
    assert places(ours.stderr) == places(theirs.stderr) != []


# ------------------------------------------------------------------------------------------------------ anywhere at all

WILD = ROOT / "tests" / "programs" / "memcheck_wild.c"
KINDS = {"read_one": "read of size 1", "write_eight": "write of size 8", "add_four": "read of size 4", "write_sixteen": "write of size 16",
         "copy_there": "write of size 1"}


@pytest.fixture(scope="module")
def wild(tmp_path_factory):
    program = tmp_path_factory.mktemp("wild") / "wild"
    subprocess.run(["gcc", "-g", "-O1", "-o", program, WILD], check=True, timeout=60)
    return program


@pytest.mark.parametrize("address", [
    0x10,
    0x28000000,          # in the low window
    0x080000000000,      # between the windows
    0x500000000000,      # above them, where nothing of the engine is
    0x800000000000,      # the lowest that is not canonical
    0x4141414141414141,  # what a pointer is that was overwritten by a text
    0xffff888888888888,  # the kernel's
], ids=hex)
def test_wild_addresses(sonde, wild, address):
    """What lies where memory of the program never is has no shadow; it is reported all the same."""
    done = sonde("memcheck", "-q", "--leak-check=no", "--", wild, hex(address))
    assert done.returncode == 3, done.stderr
    assert report(done.stderr, marks_of(WILD)) == [
        [f"Invalid {what}", f"at {function} {function}", " Address HERE is not stack'd, malloc'd or (recently) free'd"]
        for function, what in KINDS.items()]
    assert done.stderr.count(f"Address {address:#x} is not") == len(KINDS)


def test_dynamic_linker(sonde, tmp_path):
    """Its comparison of texts reads vectors by halves, up to 16 bytes from where a text begins, at the end of a block of ten."""
    sources = {"inner": "int inner(void) { return 3; }", "outer": "int inner(void); int outer(void) { return inner(); }",
               "opens": "#include <dlfcn.h>\nint main(int count, char **words) { (void)count; return !dlopen(words[1], RTLD_NOW); }"}
    for name, text in sources.items():
        (tmp_path / f"{name}.c").write_text(text)
    shared = ["-shared", "-fPIC"]
    for name, more in {"libinner.so": ["inner.c", *shared], "outer.so": ["outer.c", *shared, "-L.", "-linner", "-Wl,-rpath,$ORIGIN"],
                       "opens": ["opens.c"]}.items():
        subprocess.run(["gcc", "-o", name, *more], cwd=tmp_path, check=True, timeout=60)
    done = sonde("memcheck", "-q", "--leak-check=no", "--", tmp_path / "opens", tmp_path / "outer.so", timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
