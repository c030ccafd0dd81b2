"""The examples: built outside of the tree against an installed Sonde by what pkg-config says alone, and run there."""

import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_memtrace import instructions_of, parse, run_sonde, trace

EXAMPLES = ["branches", "calls", "instructions", "memory", "values"]
TIMEOUT = 120


def run(*words, **options):
    options = {"timeout": TIMEOUT, "check": True, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([str(word) for word in words], **options)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The build of these tests, installed elsewhere."""
    folder = tmp_path_factory.mktemp("prefix")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder)
    (header,) = folder.rglob("sonde/tool.h")
    return header.parent.parent.parent


@pytest.fixture(scope="module")
def tools(prefix, tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    (pkgconfig,) = prefix.rglob("sonde.pc")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(pkgconfig.parent)}
    # Installed into a folder that stands for the root: as packages are built.
    root = str(prefix)[:-len(run("pkg-config", "--variable=prefix", "sonde", env=environment).stdout.strip())]
    flags = run("pkg-config", "--cflags", "--libs", "sonde", env={**environment, "PKG_CONFIG_SYSROOT_DIR": root}).stdout.split()
    built = {}
    for name in EXAMPLES:
        source = folder / f"{name}.c"
        source.write_text((ROOT / f"examples/{name}.c").read_text())
        for compiler in ("gcc", "clang"):
            built[name] = folder / f"{name}.so"
            run(compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", built[name], source, *flags,
                cwd=folder)
    return prefix / "bin/sonde", built


@pytest.fixture(scope="module")
def primes(tmp_path_factory):
    program = tmp_path_factory.mktemp("primes") / "primes"
    run("gcc", "-g", "-nostdlib", "-static", "-o", program, ROOT / "examples/primes.s")
    return program


def report_of(tools, name, folder, *words):
    """The tool's report, of a run that ends well and prints nothing else."""
    sonde, built = tools
    ended = run(sonde, built[name], f"--output={folder}/report", *words)
    assert ended.stderr == ""
    return (folder / "report").read_text()


@pytest.mark.parametrize("name", EXAMPLES)
def test_size(name):
    """The manual says less than 80 lines."""
    assert len((ROOT / f"examples/{name}.c").read_text().splitlines()) < 80


def test_every_example_is_here():
    """Of the tools; the others are programs to look at."""
    sources = (ROOT / "examples").glob("*.c")
    assert sorted(path.stem for path in sources if "sn_tool_descriptor" in path.read_text()) == EXAMPLES


def test_instructions(tools, primes, tmp_path):
    """As many as memtrace fetches; of a program with threads, forks and signals, as many as count counts."""
    fetched = [access for access in parse(trace(tmp_path, "text", "--instructions=yes", primes)) if access[0] == "I"]
    assert report_of(tools, "instructions", tmp_path, primes) == f"{len(fetched)} instructions\n"


FORKS = """
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
__asm__(".globl ten\\n.type ten,@function\\nten:\\n.rept 8\\nnop\\n.endr\\ntest %edi,%edi\\njz 1f\\nnop\\n1: ret\\n.size ten,.-ten\\n");
void ten(int more); /* 11 instructions, or 12 */
static void handle(int number) { (void)number; }
static void *work(void *rounds) { for (long i = 0; i < (long)rounds; i++) ten(i & 1); return rounds; }
int main(void) {
    struct itimerval often = {{0, 500}, {0, 500}};
    pthread_t thread;
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_create(&thread, NULL, work, (void *)400000L);
    work((void *)600000L);
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) { work((void *)10L); _exit(0); }
    return waitpid(child, NULL, 0) != child;
}
"""


def test_instructions_of_threads(tools, tmp_path):
    (tmp_path / "forks.c").write_text(FORKS)
    run("gcc", "-O1", "-pthread", "-o", tmp_path / "forks", tmp_path / "forks.c")
    text = report_of(tools, "instructions", tmp_path, "--only=function:ten", tmp_path / "forks")
    assert sorted(int(line.split()[0]) for line in text.splitlines()) == [10 * 11 + 5, 1000000 * 11 + 500000]


def test_memory(tools, primes, tmp_path):
    """The same accesses as memtrace's."""
    lines = [re.fullmatch(r"(\d+) ([LSM]) 0x([0-9a-f]+),(\d+)", line).groups()
             for line in report_of(tools, "memory", tmp_path, primes).splitlines()]
    assert len({thread for thread, *_ in lines}) == 1
    assert [(letter, int(address, 16), int(size)) for _, letter, address, size in lines] == parse(trace(tmp_path, "text", primes))


def test_branches(tools, primes, tmp_path):
    """Against the fetches of the branches and of what follows them."""
    fetched = [address for letter, address, _ in parse(trace(tmp_path, "text", "--instructions=yes", primes)) if letter == "I"]
    instructions = instructions_of(primes)
    expected = {}
    for address, after in zip(fetched, fetched[1:]):
        length, text = instructions[address]
        if text.startswith("j") and not text.startswith("jmp"):
            reached, taken = expected.get(address, (0, 0))
            expected[address] = (reached + 1, taken + (after != address + length))
    shown = [line.split() for line in report_of(tools, "branches", tmp_path, primes).splitlines()]
    assert sorted((int(words[0]), words[1]) for words in shown) == \
        sorted((reached, f"{100 * taken / reached:.1f}") for reached, taken in expected.values())
    assert [int(words[0]) for words in shown] == sorted((int(words[0]) for words in shown), reverse=True)
    assert {words[4].split(":")[0] for words in shown} == {"sieve", "count", "print"}


VALUES = """
    .globl _start
    .type show, @function
_start:
    call show
    mov $60, %eax
    syscall
show:
    mov $7, %ecx
    lea (%rcx,%rcx,4), %rdx
    movb $-1, %dl
    mov %dx, value(%rip)
    mov $value, %eax
    mov %rax, (%rax)
    mov (%rax), %rax
    incl 4(%rax)
    xor %edi, %edi
    push %rcx
    pop %rsi
    movq $5, %xmm0
    ret
    .size show, . - show
    .data
value: .quad 0
""".replace("    movq $5, %xmm0\n", "    movd %ecx, %xmm0\n    movd %xmm0, %ebp\n")


def test_values(tools, tmp_path):
    (tmp_path / "values.s").write_text(VALUES)
    program = tmp_path / "values"
    run("gcc", "-g", "-nostdlib", "-static", "-o", program, tmp_path / "values.s")
    value = next(int(line.split()[0], 16) for line in run("nm", program).stdout.splitlines() if line.endswith(" value"))
    lines = [re.fullmatch(r"0x[0-9a-f]+ show:\d+ (register \d+|memory) = (0x[0-9a-f]+|0)", line).groups()
             for line in report_of(tools, "values", tmp_path, "--only=show", program).splitlines()]
    expected = [("register 1", 7), ("register 2", 35), ("register 2", 255), ("memory", 255), ("register 0", value),
                ("memory", value), ("register 0", value), ("memory", (value >> 32) + 1), ("register 7", 0), ("register 6", 7),
                ("register 5", 7)]
    assert [(what, int(number, 16)) for what, number in lines] == expected


def test_calls(tools, primes, tmp_path):
    assert sorted(report_of(tools, "calls", tmp_path, primes).split()) == ["1", "1", "1", "count", "print", "sieve"]


@pytest.mark.parametrize("compiler", [["gcc", "-xc", "-std=c17"], ["clang", "-xc", "-std=c17"], ["g++", "-xc++", "-std=c++17"],
                                      ["clang++", "-xc++", "-std=c++17"]], ids=lambda words: words[0])
def test_headers_alone(prefix, compiler):
    """Each installed header needs no other one before it, in C and in C++."""
    headers = sorted(path.name for path in (prefix / "include/sonde").glob("*.h"))
    assert headers == sorted(path.name for path in (ROOT / "include/sonde").glob("*.h"))
    for header in headers:
        run(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{prefix}/include", "-",
            input=f"#include <sonde/{header}>\n")
