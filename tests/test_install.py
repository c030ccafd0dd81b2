"""@fileoverview `make install` into a prefix, and what can be done with it: run programs, read the manual, build a tool."""

import os
import re
import subprocess

import pytest

from conftest import ROOT

TIMEOUT = 300

# fib(20) makes 21,891 calls of fib: by a recursion that the compiler may not change.
PROGRAM = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void *work(void *argument) { fib(20); return argument; }
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        fib(10);
        _exit(0);
    }
    int status;
    work(NULL);
    return waitpid(child, &status, 0) == child ? status : 1;
}
"""


def run(*words, **options):
    options = {"timeout": TIMEOUT, "check": True, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([str(word) for word in words], **options)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Sonde, built anew and installed; away from its build folder, which is gone."""
    folder = tmp_path_factory.mktemp("install")
    environment = {name: value for name, value in os.environ.items() if name not in ("BUILD", "MAKEFLAGS", "DESTDIR")}
    made = run("make", "--no-print-directory", "install", f"BUILD={folder / 'build'}", f"PREFIX={folder / 'prefix'}",
               "JOBS=2", cwd=ROOT, env=environment, check=False)
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    (folder / "build").rename(folder / "gone")
    return folder / "prefix"


def test_installed_command(prefix):
    sonde = prefix / "bin/sonde"
    listed = re.search(r"\n  TOOL ((?:.|\n)*?)\n\n", run(sonde, "--help").stdout)[1]
    tools = {path.stem for path in prefix.rglob("tools/*.so")}
    assert "count" in tools and set(re.findall(r"\w+", listed)) == tools
    ended = run(sonde, "count", "--", "echo", "hello")
    assert ended.stdout == "hello\n" and re.search(r"^  instructions +[\d,]+$", ended.stderr, re.M)
    assert run(sonde, "none", "--trace-children=yes", "sh", "-c", "/bin/echo hello").stdout == "hello\n"
    assert "sonde none" in run(sonde, "none", "--help").stdout


def test_installed_manual(prefix):
    text = (prefix / "share/man/man1/sonde.1").read_text()
    assert run(prefix / "bin/sonde", "--version").stdout.strip() in text
    installed = {page.name for page in (prefix / "share/doc/sonde").glob("*.md")}
    assert installed == {page.name for page in (ROOT / "docs").glob("*.md")}


@pytest.fixture(scope="module")
def example_tool(prefix, tmp_path_factory):
    """examples/calls.c, built outside of the tree by nothing but what is installed."""
    folder = tmp_path_factory.mktemp("tool")
    source = folder / "calls.c"
    source.write_text((ROOT / "examples/calls.c").read_text())
    (pkgconfig,) = prefix.rglob("sonde.pc")
    flags = run("pkg-config", "--cflags", "sonde", env={**os.environ, "PKG_CONFIG_PATH": str(pkgconfig.parent)}).stdout.split()
    assert flags == [f"-I{prefix}/include"]
    run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", *flags, "-o", folder / "calls.so", source)
    return folder / "calls.so"


def test_tool_out_of_the_tree(prefix, example_tool, tmp_path):
    (tmp_path / "fib.c").write_text(PROGRAM)
    run("gcc", "-O1", "-fno-optimize-sibling-calls", "-pthread", "-o", tmp_path / "fib", tmp_path / "fib.c")
    ended = run(prefix / "bin/sonde", "./calls.so", f"--output={tmp_path}/report.%p", tmp_path / "fib", cwd=example_tool.parent)
    assert (ended.stdout, ended.stderr) == ("", "")
    reports = [dict(reversed(line.split(None, 1)) for line in report.read_text().splitlines())
               for report in tmp_path.glob("report.*")]
    # Twice fib(20), in two threads; in the child of fork fib(10).
    assert sorted(int(report["fib"]) for report in reports) == [177, 2 * 21891]


def test_options_of_the_tool(prefix, example_tool):
    help_text = run(prefix / "bin/sonde", example_tool, "--help").stdout
    assert "--least=N" in help_text and "only with this many calls [1]" in help_text
    program = example_tool.parent / "primes"
    run("gcc", "-nostdlib", "-static", "-o", program, ROOT / "examples/primes.s")
    # As a name, found by SONDE_TOOLS.
    environment = {**os.environ, "SONDE_TOOLS": str(example_tool.parent)}
    words = [prefix / "bin/sonde", "calls", program]
    assert sorted(run(*words, env=environment).stderr.split()) == ["1", "1", "1", "count", "print", "sieve"]
    assert run(*words[:2], "--least=2", *words[2:], env=environment).stderr == ""


def test_size_of_the_example():
    """The manual says less than 80 lines."""
    assert len((ROOT / "examples/calls.c").read_text().splitlines()) < 80
