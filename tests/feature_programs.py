"""Building and running the programs of tests/features: what test_features.py and test_bad_input.py share.

A program is one C, C++ or assembly file. Lines of the form `// key: value` direct it:

    build:       compiler and its flags (the file, its folder and the output are added)
    link:        what goes behind the file on the command line
    variants:    other ways to build it, names of VARIANTS below; default `dynamic`
    core:        `yes`: runs under a quarter of the combinations of the options that change code generation, in
                 `make check-long` under all of them
    heavy:       `yes`: not with --debug-links=no, where every block goes through the dispatcher (50 times slower)
    status:      exit status natively (negative: the signal that ends it); default 0
    arguments:   shell-quoted arguments
    runs:        several runs, ARGUMENT=STATUS each
    environment: NAME=VALUE words to add
    library:     a file built as PROGRAM.library.so;  libraries: FILE:DEFINE, ... built as PROGRAM.1.so, PROGRAM.2.so
    children:    `yes`: also runs with --trace-children=yes
    needs:       `root`
    unreported:  arguments of runs in which the tool cannot write its report (killed by the kernel)
    native:      `yes`: another test runs it under Sonde
    `library only` in the first line: not a program

Everything built goes to build/tests/features and is rebuilt when a source, a flag or the compiler changes.
"""

import dataclasses
import fcntl
import functools
import hashlib
import os
import pathlib
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent
PROJECT = TESTS.parent
FEATURES = TESTS / "features"
BUILD = (PROJECT / os.environ.get("BUILD", "build")).resolve()
CACHE = BUILD / "tests" / "features"
SONDE = BUILD / "sonde"
SECONDS = float(os.environ.get("SONDE_TEST_SECONDS", "60"))
LAYOUTS = FEATURES / "program" / "layouts"


@dataclasses.dataclass(frozen=True)
class Variant:
    """How one way to build differs from the program's own `build` line."""

    flags: tuple = ()
    compiler: str = ""
    after: str = ""  # name of a function below that edits the built file


VARIANTS = {
    "dynamic": Variant(),
    "static": Variant(("-static",)),
    "static-pie": Variant(("-static-pie", "-fPIE")),
    "pie": Variant(("-pie", "-fPIE")),
    "no-pie": Variant(("-no-pie", "-fno-pie")),
    "O0": Variant(("-O0",)),
    "O3-native": Variant(("-O3", "-march=native")),
    "no-plt": Variant(("-fno-plt",)),
    "now": Variant(("-Wl,-z,now", "-Wl,-z,relro")),
    "sysv-hash": Variant(("-Wl,--hash-style=sysv",)),
    "stripped": Variant(("-s",)),
    "no-headers": Variant(after="drop_section_headers"),
    "no-headers-static": Variant(("-static",), after="drop_section_headers"),
    "clang": Variant(compiler="clang"),
    "clang-static": Variant(("-static",), compiler="clang"),
    "clang++": Variant(compiler="clang++"),
    "musl": Variant(compiler="musl-gcc"),
    "musl-static": Variant(("-static",), compiler="musl-gcc"),
    "bare": Variant(),
    "bare-no-headers": Variant(after="drop_section_headers"),
    "bare-pie": Variant(("-static-pie",)),
    "bare-rwx": Variant(("-Wl,-N",)),
    "bare-tail": Variant(after="append_tail"),
    "layout-usual": Variant(),
    "layout-segments": Variant((f"-Wl,-T,{LAYOUTS}/segments.ld",)),
    "layout-one-rwx": Variant((f"-Wl,-T,{LAYOUTS}/one-rwx.ld",)),
    "layout-high": Variant((f"-Wl,-T,{LAYOUTS}/high.ld",)),
    "layout-huge-alignment": Variant(("-Wl,-z,max-page-size=0x200000",)),
}


def drop_section_headers(path):
    """As the kernel needs none: cut the section header table off and clear e_shoff, e_shentsize, e_shnum, e_shstrndx."""
    data = bytearray(path.read_bytes())
    offset = int.from_bytes(data[40:48], "little")
    data[40:48] = bytes(8)
    data[58:64] = bytes(6)
    path.write_bytes(data[:offset])
    path.chmod(0o755)


def append_tail(path):
    """Bytes behind the end of an ELF file (as self-extracting programs have) are nobody's business."""
    with open(path, "ab") as file:
        file.write(b"tail" * 5000)


@dataclasses.dataclass(frozen=True)
class Program:
    source: pathlib.Path
    directives: tuple  # of (key, value)

    @property
    def name(self):
        return str(self.source.relative_to(FEATURES).with_suffix(""))

    def get(self, key, default=""):
        return dict(self.directives).get(key, default)

    @property
    def variants(self):
        return [v.strip() for v in self.get("variants", "dynamic").split(",")]

    @property
    def is_core(self):
        return self.get("core") == "yes"

    @property
    def runs(self):
        """Pairs of arguments and expected native status."""
        if self.get("runs"):
            pairs = (word.rsplit("=", 1) for word in self.get("runs").split())
            return [((argument,), int(status)) for argument, status in pairs]
        return [(tuple(shlex.split(self.get("arguments"))), int(self.get("status", "0")))]

    @property
    def environment(self):
        return dict(word.split("=", 1) for word in shlex.split(self.get("environment")))


@functools.cache
def programs():
    found = []
    for source in sorted(FEATURES.rglob("*")):
        if source.suffix not in (".c", ".cc", ".S"):
            continue
        text = source.read_text()
        if text.startswith("// library only"):
            continue
        directives = tuple(re.findall(r"^// ([a-z]+): (.*)$", text, re.MULTILINE))
        if not dict(directives).get("build"):
            raise ValueError(f"{source} has no `// build:` line")
        found.append(Program(source, directives))
    return found


@functools.cache
def compiler_version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, check=True, timeout=30).stdout


@functools.cache
def headers_digest():
    digest = hashlib.sha256()
    for path in sorted([*FEATURES.rglob("*.h"), *FEATURES.rglob("*.ld"), pathlib.Path(__file__)]):
        digest.update(path.read_bytes())
    return digest.digest()


def build_once(target, sources, command, after=""):
    """Run `command` (which writes target) unless the last run had the same inputs; safe between parallel tests."""
    digest = hashlib.sha256(headers_digest() + compiler_version(command[0]) + repr((command, after)).encode())
    for source in sources:
        digest.update(source.read_bytes())
    wanted = digest.hexdigest()
    target.parent.mkdir(parents=True, exist_ok=True)
    stamp = target.with_name(target.name + ".stamp")
    with open(target.with_name(target.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted and target.exists():
            return target
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if result.returncode:
            raise RuntimeError(f"{shlex.join(command)}\n{result.stderr}")
        if after:
            globals()[after](target)
        stamp.write_text(wanted)
    return target


class MissingTool(Exception):
    """A compiler that this machine lacks."""


def build(program, variant):
    """Path of the built program."""
    change = VARIANTS[variant]
    compiler, *flags = shlex.split(program.get("build"))
    compiler = change.compiler or compiler
    if not shutil.which(compiler):
        raise MissingTool(f"{compiler} is not installed")
    if change.compiler.startswith("clang"):
        flags = [flag for flag in flags if not flag.startswith("-fno-tree-")]
    target = CACHE / f"{program.name}-{variant}"
    # The program and its libraries are named alike, so that the program finds them by argv[0].
    extra = [program.get("library")] if program.get("library") else []
    for file in extra:
        library = program.source.parent / file
        build_once(target.with_name(target.name + ".library.so"), [library],
                   [compiler, "-O1", "-shared", "-fPIC", str(library), "-o", str(target) + ".library.so"])
    for number, entry in enumerate(filter(None, program.get("libraries").split(",")), 1):
        file, define = entry.strip().split(":")
        library = program.source.parent / file
        build_once(target.with_name(f"{target.name}.{number}.so"), [library],
                   [compiler, "-O1", "-shared", "-fPIC", f"-D{define}", str(library), "-o", f"{target}.{number}.so"])
    if variant.endswith("pie") and variant != "no-pie":
        flags = [flag for flag in flags if flag not in ("-static", "-no-pie", "-fno-pic")]
    command = [compiler, *flags, *change.flags, f"-I{FEATURES}", str(program.source), "-o", str(target),
               *shlex.split(program.get("link"))]
    return build_once(target, [program.source], command, change.after)


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: int  # as subprocess has it: negative for a signal
    output: bytes
    error: bytes


def session_members(leader):
    """Processes of the session that `leader` leads, itself and the dead left out."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == leader:
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] not in "ZX":
            yield int(entry.name)


def kill_session(leader):
    """Kill our child `leader` (not yet waited for, so that its number is its own) and all of its session. What forks
    meanwhile is found in the next round."""
    members = [leader]
    deadline = time.monotonic() + 5
    while members and time.monotonic() < deadline:
        for member in members:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        members = list(session_members(leader))


def limit_processor_time():
    """Should the tests themselves be killed: nothing that spins lives on, its children included."""
    resource.setrlimit(resource.RLIMIT_CPU, (300, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def run(command, environment=None, seconds=SECONDS, executable=None, directory=None):
    """Run in a session of its own, with a time-out that kills; nothing of the session is left behind."""
    full = {"PATH": os.environ["PATH"], "HOME": "/", "LANG": "C.UTF-8", **(environment or {})}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        process = subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=error, env=full, start_new_session=True, executable=executable, cwd=directory,
                                   preexec_fn=limit_processor_time)
        handle = os.pidfd_open(process.pid)
        try:
            poller = select.poll()
            poller.register(handle, select.POLLIN)
            in_time = bool(poller.poll(seconds * 1000))
        finally:
            os.close(handle)
            kill_session(process.pid)
            process.wait()
        output.seek(0)
        error.seek(0)
        outcome = Outcome(process.returncode, output.read(), error.read())
    if not in_time:
        raise AssertionError(f"still running after {seconds:.0f} s: {shlex.join(map(str, command))}\n"
                             f"{outcome.output.decode(errors='replace')}\n{outcome.error.decode(errors='replace')}")
    return outcome
