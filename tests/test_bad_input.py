"""What cannot be run, and scripts: Sonde's exit status is a shell's, its message is one line, nothing is run in part.

The wanted status is asked of bash on the same machine, so that the test knows no number by heart. Programs that need
a particular command line (large arguments, another argv[0], int 0x80) are here too.
"""

import os
import shlex
import subprocess

import pytest

import feature_programs as features

TOOLS = ["none", "count"]


def shell_status(path):
    return features.run(["/bin/bash", "-c", f"exec {shlex.quote(str(path))}"]).status


def program_file(name):
    """A built program of tests/features, by its name."""
    program = next(p for p in features.programs() if p.name == name)
    return features.build(program, program.variants[0])


def written(path, data, mode=0o755):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)
    return path


def patched(folder, name, changes, source="program/hello"):
    """A copy of a program with bytes changed: {offset: bytes}."""
    data = bytearray(program_file(source).read_bytes())
    for offset, new in changes.items():
        data[offset:offset + len(new)] = new
    return written(folder / name, bytes(data))


def missing_interpreter(folder):
    data = program_file("program/hello").read_bytes()
    name = b"/lib64/ld-linux-x86-64.so.2"
    assert data.count(name) >= 1
    return written(folder / "no-interpreter", data.replace(name, b"/lib64/ld-linux-x86-64.so.X", 1))


def truncated(folder, size):
    return written(folder / f"truncated-{size}", program_file("program/hello").read_bytes()[:size])


def directory(folder):
    path = folder / "directory"
    path.mkdir()
    return path


def link_loop(folder):
    path = folder / "loop"
    path.symlink_to(path)
    return path


def script_loop(folder):
    path = folder / "endless"
    return written(path, f"#!{path}\n")


BAD = {
    "missing": lambda folder: folder / "nothing",
    "missing-folder": lambda folder: folder / "nothing" / "program",
    "below-a-file": lambda folder: written(folder / "file", "text") / "program",
    "not-executable": lambda folder: written(folder / "plain", program_file("program/hello").read_bytes(), 0o644),
    "directory": directory,
    "link-loop": link_loop,
    "binary-junk": lambda folder: written(folder / "junk", bytes(range(256)) * 40),
    "missing-interpreter": missing_interpreter,
    "truncated-in-header": lambda folder: truncated(folder, 40),
    "truncated-in-table": lambda folder: truncated(folder, 100),
    "wrong-machine": lambda folder: patched(folder, "arm", {18: b"\xb7\x00"}),
    "wrong-class": lambda folder: patched(folder, "class32", {4: b"\x01", 18: b"\x03\x00"}),
    "wrong-type": lambda folder: patched(folder, "core-file", {16: b"\x04\x00"}),
    "no-program-headers": lambda folder: patched(folder, "no-table", {56: b"\x00\x00"}),
    "odd-table-entries": lambda folder: patched(folder, "odd-table", {54: b"\x11\x00"}),
    "table-out-of-file": lambda folder: patched(folder, "far-table", {32: b"\xff\xff\xff\x7f"}),
    "script-without-interpreter": lambda folder: written(folder / "script", "#!/nonexistent/interpreter\n"),
    "script-for-a-directory": lambda folder: written(folder / "script", "#!/tmp\n"),
    "script-for-itself": script_loop,
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("kind", BAD)
def test_refused(kind, tool, tmp_path):
    """One line on standard error that names the file, a shell's status, no output."""
    path = BAD[kind](tmp_path)
    wanted = shell_status(path)
    assert wanted in (126, 127), "the shell runs this: the test is wrong"
    report = tmp_path / "report"
    got = features.run([features.SONDE, tool, *([f"--output={report}"] if tool == "count" else []), path])
    text = got.error.decode(errors="replace")
    assert (got.status, got.output) == (wanted, b""), text
    assert text.count("\n") == 1 and text.endswith("\n") and text.startswith("sonde: ") and path.name in text
    assert not report.exists() or report.stat().st_size == 0


def sonde(*words, tool="none", **options):
    return features.run([features.SONDE, tool, "--log-file=/dev/stderr", *words], **options)


SCRIPTS = {
    "shell": "#!/bin/sh\necho \"$0:$#:$1:$2\"; echo error >&2; exit 5\n",
    "with-argument": "#!/bin/sh -eu\necho before; false; echo not reached\n",
    "argument-with-spaces": "#!/usr/bin/env -S sh -c 'echo \"$0 $1\"'\n",
    "spaces": "#!   /bin/sh   \necho spaces\n",
    "through-env": "#!/usr/bin/env sh\necho $#\nkill -TERM $$\n",
    "without-newline": "#!/bin/sh",
    "other-interpreter": "#!/bin/cat\nonly this text\n",
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("kind", SCRIPTS)
def test_script(kind, tool, tmp_path):
    path = written(tmp_path / "script", SCRIPTS[kind])
    words = [path] if kind == "other-interpreter" else [path, "one two", ""]
    wanted = features.run(words)
    extra = [f"--output={tmp_path / 'report'}"] if tool == "count" else []
    assert sonde(*extra, *words, tool=tool) == wanted
    assert wanted.output or kind == "without-newline"


@pytest.mark.parametrize("tool", TOOLS)
def test_script_of_a_script(tool, tmp_path):
    written(tmp_path / "inner", "#!/bin/sh -u\necho \"$0 $*\"\n")
    path = written(tmp_path / "outer", f"#!{tmp_path}/inner argument\n")
    wanted = features.run([path, "x"])
    assert wanted.output.decode().split() == [f"{tmp_path}/inner", "argument", str(path), "x"]
    extra = [f"--output={tmp_path / 'report'}"] if tool == "count" else []
    assert sonde(*extra, path, "x", tool=tool) == wanted


def test_text_without_interpreter(tmp_path):
    """A text without #! is run by /bin/sh, as a shell would."""
    path = written(tmp_path / "text", "echo \"text $1\"\nexit 9\n")
    wanted = features.run(["/bin/sh", path, "x"])
    assert wanted.status == 9 and sonde(path, "x") == wanted


def test_found_in_path(tmp_path):
    written(tmp_path / "only-here", "#!/bin/sh\necho found\n")
    got = sonde("only-here", environment={"PATH": f"/nonexistent:{tmp_path}:/bin"})
    assert (got.status, got.output) == (0, b"found\n")
    got = sonde("not-anywhere-here")
    assert got.status == 127 and got.error.decode() == "sonde: not-anywhere-here: command not found\n"


def test_relative_path(tmp_path):
    written(tmp_path / "here", "#!/bin/sh\necho \"$0\"\n")
    assert sonde("./here", directory=tmp_path) == features.run(["./here"], directory=tmp_path)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("count, length", [(0, 0), (20000, 5), (10, 100000), (1, 131000)])
def test_large_arguments_and_environment(count, length, tool, tmp_path):
    path = program_file("program/arguments")
    words = [f"{number:x}".rjust(length, "a") for number in range(count)]
    environment = {f"VARIABLE_{number}": "v" * (length % 5000) for number in range(count // 4 + 1)}
    wanted = features.run([path, *words], environment)
    assert wanted.status == 0 and b"WRONG" not in wanted.output
    extra = [f"--output={tmp_path / 'report'}"] if tool == "count" else []
    assert sonde(*extra, path, *words, environment=environment, tool=tool) == wanted


def test_many_options_of_the_programs_own(tmp_path):
    """What stands behind the program belongs to it, whatever it looks like."""
    path = program_file("program/arguments")
    words = ["--help", "-q", "--tool=x", "--", "-v", "--log-file=no"]
    wanted = features.run([path, *words])
    assert sonde(path, *words) == wanted
    assert sonde("--", path, *words) == wanted


@pytest.mark.parametrize("tool", TOOLS)
def test_int_80_is_refused_clearly(tool, tmp_path):
    path = program_file("machine/refused_int80")
    extra = [f"--output={tmp_path / 'report'}"] if tool == "count" else []
    got = sonde(*extra, path, tool=tool)
    lines = got.error.decode().splitlines()
    assert got.output == b"before\n" and got.status == -11
    assert len(lines) == 1 and "int 0x80" in lines[0] and "0x" in lines[0]


def test_unwritable_report_runs_nothing(tmp_path):
    path = program_file("program/arguments")
    got = features.run([features.SONDE, "count", "--output=/nonexistent/folder/report", path])
    assert got.status not in (0, -6, -11) and got.output == b"" and got.error.count(b"\n") == 1


@pytest.mark.parametrize("words", [["no-such-tool"], ["none", "--no-such-option"], ["count", "--format=odd"]])
def test_wrong_use_runs_nothing(words):
    got = features.run([features.SONDE, *words, program_file("program/arguments")])
    assert got.status > 0 and got.output == b"" and got.error.startswith(b"sonde: ")


@pytest.mark.parametrize("limit", ["-v 200000", "-v 3000", "-d 3000", "-d 20000", "-d 4000000"])
@pytest.mark.parametrize("tool", TOOLS)
def test_no_memory(tool, limit, tmp_path):
    """A limit on the address space or the data below what Sonde needs: one line and a status, no crash."""
    path = program_file("program/arguments")
    extra = f"--output={shlex.quote(str(tmp_path / 'report'))}" if tool == "count" else ""
    got = features.run(["/bin/bash", "-c", f"ulimit {limit}; exec {features.SONDE} {tool} {extra} {path}"])
    assert got.status > 0 and got.output == b"" and got.error.count(b"\n") == 1, got.error.decode(errors="replace")


def test_nothing_is_left_behind():
    """The harness itself: a program that goes into the background and never ends is killed with its session."""
    marker = f"/tmp/left-{os.getpid()}"
    got = features.run(["/bin/sh", "-c", f"sleep 1234 & echo $! > {marker}"])
    with open(marker) as file:
        left = int(file.read())
    os.unlink(marker)
    assert got.status == 0
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(left)], capture_output=True, text=True, timeout=10).stdout.strip()
    assert state == "" or state.startswith("Z")
    with pytest.raises(AssertionError, match="still running"):
        features.run(["/bin/sleep", "1234"], seconds=0.2)
