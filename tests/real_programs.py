"""@fileoverview Runs a real program's script natively and under Sonde, and compares: what test_programs.py and the
long tests share.

A case is one bash script in tests/real or tests/long/real. It starts what it tests by one of two functions:

    run COMMAND...      under Sonde, its children natively
    run_all COMMAND...  under Sonde, its children too

Natively both just run the command, so the script's two runs differ in nothing else. What the script prints, on either
stream, and its exit status must be equal byte for byte; whatever may differ by nature (process numbers, times) the
script leaves out itself. Sonde's own lines go to a log file of each process, which has to be there afterwards.

Lines `# key: value` at the script's head direct it:

    what:     one line about it
    program:  its name in docs/compatibility.md (the script's name otherwise)
    version:  a shell command whose first line of output is the version
    tools:    the tools it runs under; default `none`
    needs:    commands, or paths of files, that have to be installed, or the case is left out
    limit:    seconds allowed under a tool; default 60
    status:   the exit status natively; default 0
    except:   what the script leaves out although it differs, and why; printed in docs/compatibility.md

The script runs in an empty folder, always at the same path, with HOME there. $SOURCES is the folder `sources` beside
the script.
"""
import dataclasses
import functools
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
SONDE = pathlib.Path(os.environ.get("SONDE", BUILD / "sonde")).resolve()
NATIVE = "native"
NATIVE_LIMIT = 300
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/games"
MARK = "SONDE_TEST_MARK"   # in the environment of every process of a run, by which left-over ones are found
ENGINE_FAILURE = "internal error in version"
SHOWN = 6000               # characters of each text in a failure's message


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    path: pathlib.Path
    keys: tuple   # pairs out of the script's head

    def key(self, name, default=""):
        return dict(self.keys).get(name, default)

    @property
    def tools(self):
        return self.key("tools", "none").split()

    @property
    def missing(self):
        return [need for need in self.key("needs").split()
                if not (os.path.exists(need) if "/" in need else shutil.which(need, path=SEARCH_PATH))]


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: object   # of the shell, or "time-out"
    stdout: bytes
    stderr: bytes
    logs: tuple = ()
    seconds: float = 0


def read_case(path):
    keys = []
    for line in path.read_text().splitlines():
        found = re.fullmatch(r"# ([a-z]+): (.*)", line)
        if found:
            keys.append(found.groups())
        elif keys and not line.startswith("#"):
            break
    return Case(path.stem, path, tuple(keys))


def read_cases(folder):
    return [read_case(path) for path in sorted(pathlib.Path(folder).glob("*.sh"))]


def pairs(cases):
    """Each case with each of its tools, as pytest parameters called CASE-TOOL."""
    import pytest
    return [pytest.param(case, tool, id=f"{case.name}-{tool}") for case in cases for tool in case.tools]


@functools.cache
def scratch_folder():
    """One folder for all runs of this process."""
    return pathlib.Path(tempfile.mkdtemp(prefix="sonde-programs-"))


def prelude(tool, logs):
    """The shell text that defines `run` and `run_all`."""
    lines = []
    for name, follow in (("run", ()), ("run_all", ("--trace-children=yes",))):
        words = ("/usr/bin/env", "--") if tool == NATIVE else (str(SONDE), tool, f"--log-file={logs}/%p", *follow, "--")
        # By env, so that natively too a program is started and not a command built into bash, with the same words.
        lines.append('%s() { (exec %s "$@"); }' % (name, " ".join(map(shlex.quote, words))))
    return "\n".join(lines)


def environment(work, sources, mark):
    return {"PATH": SEARCH_PATH, "HOME": str(work), "LC_ALL": "C.UTF-8", "TZ": "UTC", "SOURCES": str(sources),
            "USER": "tester", "SHELL": "/bin/bash", "TERM": "dumb", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0",
            "GIT_CONFIG_NOSYSTEM": "1", "MALLOC_ARENA_MAX": "2", MARK: mark}


def kill_marked(mark):
    """Kills each process of a run, in whatever session or group it has got to, until none is left."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(50):
        found = False
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if wanted not in file.read().split(b"\0"):
                        continue
                os.kill(int(entry), signal.SIGKILL)
                found = True
            except OSError:
                continue
        if not found:
            return
        time.sleep(0.02)


def run_command(words, work, sources, limit, streams, environment_changes=None):
    """Runs a command in `work` with nothing on its input; returns (status or "time-out", stdout, stderr, seconds)."""
    mark = uuid.uuid4().hex
    started = time.monotonic()
    stdout, stderr = (pathlib.Path(streams) / name for name in ("stdout", "stderr"))
    with open(stdout, "wb") as out, open(stderr, "wb") as err:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=work,
                                   start_new_session=True,
                                   env={**environment(work, sources, mark), **(environment_changes or {})})
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = "time-out"
        finally:
            kill_marked(mark)
            if process.poll() is None:
                process.kill()
            process.wait()
    return status, stdout.read_bytes(), stderr.read_bytes(), time.monotonic() - started


def fresh_folders():
    """The work folder, emptied, and a folder for logs and streams beside it, emptied too."""
    scratch = scratch_folder()
    folders = scratch / "work", scratch / "logs"
    for folder in folders:
        if folder.exists():
            subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL)
            shutil.rmtree(folder)
        folder.mkdir()
    scratch.chmod(0o755)
    folders[1].chmod(0o777)   # a program that gives up root (PostgreSQL) writes its log too
    return folders


def run_case(case, tool, limit):
    work, logs = fresh_folders()
    entry = scratch_folder() / "entry.sh"
    entry.write_text(prelude(tool, logs) + f"\nsource {shlex.quote(str(case.path))}\n")
    status, stdout, stderr, seconds = run_command(
        ["/bin/bash", str(entry)], work, case.path.parent / "sources", limit, scratch_folder())
    log_texts = tuple(path.read_text(errors="replace") for path in sorted(logs.iterdir()) if path.is_file())
    return Outcome(status, stdout, stderr, log_texts, seconds)


@functools.cache
def native_outcome(case):
    return run_case(case, NATIVE, NATIVE_LIMIT)


def first_difference(expected, found):
    """A short text about where two byte strings part."""
    expected_lines, found_lines = expected.split(b"\n"), found.split(b"\n")
    for number, (one, other) in enumerate(zip(expected_lines, found_lines), 1):
        if one != other:
            return f"line {number}: natively {one[:200]!r}, under Sonde {other[:200]!r}"
    return f"natively {len(expected_lines)} lines, under Sonde {len(found_lines)}"


def differences(expected, found):
    """What is not as natively, as a list of texts; empty when all is."""
    result = []
    if found.status != expected.status:
        result.append(f"status: natively {expected.status}, under Sonde {found.status}")
    for name in ("stdout", "stderr"):
        one, other = getattr(expected, name), getattr(found, name)
        if one != other:
            result.append(f"{name}: {first_difference(one, other)}")
    return result


def log_problems(outcome, tool):
    """What Sonde's own logs say against a run: none written, an engine failure, a report that is missing."""
    if not outcome.logs:
        return ["no log was written: nothing ran under Sonde"]
    result = [line for text in outcome.logs for line in text.splitlines() if ENGINE_FAILURE in line]
    if tool != "none" and not any(text.strip() for text in outcome.logs):
        result.append(f"no report of {tool} was written")
    return result


def check_case(case, tool):
    """Returns the list of what went wrong; empty when the program behaves as natively."""
    expected = native_outcome(case)
    wanted = int(case.key("status", "0"))
    if expected.status != wanted:
        return [f"natively the script ends with {expected.status} instead of {wanted}: "
                f"{expected.stdout[-SHOWN:].decode(errors='replace')}{expected.stderr[-SHOWN:].decode(errors='replace')}"]
    found = run_case(case, tool, int(case.key("limit", "60")))
    problems = differences(expected, found) + log_problems(found, tool)
    if problems and found.logs:
        problems.append("logs: " + "\n".join(text for text in found.logs if text.strip())[-SHOWN:])
    if problems and found.stderr != expected.stderr:
        problems.append("stderr under Sonde: " + found.stderr[-SHOWN:].decode(errors="replace"))
    return problems


def version_of(case):
    command = case.key("version")
    if not command:
        return ""
    done = subprocess.run(["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=60, env=environment("/", case.path.parent / "sources", "version"))
    lines = (done.stdout + done.stderr).splitlines()
    return lines[0].strip() if lines else ""


def verify(case, tool):
    """The body of a test: leaves out what is not installed, fails with what differs."""
    import pytest
    if case.missing:
        pytest.skip("not installed: " + " ".join(case.missing))
    assert SONDE.exists(), f"{SONDE} is not built: run make"
    problems = check_case(case, tool)
    if problems:
        pytest.fail(f"{case.name} under {tool}: " + "\n".join(problems), pytrace=False)
