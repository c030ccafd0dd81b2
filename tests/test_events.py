"""@fileoverview The events of the tool interface, each on programs whose events are known.

The tool tests/tools/show_events.c writes a line an event. What system calls read and write is compared with what they do in
test_events_writes.py; that events change nothing for any program is the matter of test_events_features.py.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from conftest import ROOT, SONDE

TOOLS = ROOT / "tests" / "tools"
PAGE = 4096


@pytest.fixture(scope="module")
def tool(build_tool):
    return build_tool("show_events")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """build(name, source, *flags) -> path of a program; source: text, or a file of tests/tools."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_one(name, source, *flags):
        if isinstance(source, pathlib.Path):
            file = source
        else:
            file = folder / f"{name}.c"
            file.write_text(source)
        subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Wextra", "-O1", "-o", folder / name, file, *flags], check=True,
                       timeout=60)
        return folder / name

    return compile_one


@pytest.fixture
def events(sonde, tool, tmp_path):
    """events(options, program, arguments...) -> (lines, completed process)."""

    def run(options, *command, **more):
        report = tmp_path / "report"
        ended = sonde(tool, f"--output={report}", *options, *command, **more)
        return report.read_text().splitlines(), ended

    return run


def of(lines, *kinds):
    return [line for line in lines if line.split(" ")[0] in kinds]


# ---------------------------------------------------------------------------- memory


def test_memory_changes(events, build):
    """Every way to change memory tells exactly what changed."""
    program = build("memory_changes", TOOLS / "memory_changes.c", "-static")
    file = os.path.realpath("/bin/sh")
    lines, ended = events((), program, file)
    assert ended.returncode == 0, ended.stderr
    wanted = ended.stdout.splitlines()
    told = [line for line in lines if line.startswith("memory-")]
    start = told.index(wanted[0])
    assert len(wanted) >= 45 and told[start:start + len(wanted)] == wanted


def only(build_tool, *callbacks):
    """The tool with none but these callbacks: of what others would need nothing is done."""
    source = re.sub(r"^    \.(\w+) = \w+,$", lambda row: row[0] if row[1] in ("name", "interface", *callbacks) else "",
                    (TOOLS / "show_events.c").read_text(), flags=re.M)
    source = source.replace("static ", "__attribute__((unused)) static ")
    return build_tool("only_" + "_".join(callbacks), source)


@pytest.mark.parametrize("callback", ["memory_mapped", "memory_unmapped", "memory_protected", "memory_moved"])
def test_one_callback_alone(sonde, build_tool, build, tmp_path, callback):
    program = build("memory_changes", TOOLS / "memory_changes.c", "-static")
    ended = sonde(only(build_tool, callback), f"--output={tmp_path / 'report'}", program, os.path.realpath("/bin/sh"))
    assert ended.returncode == 0, ended.stderr
    wanted = of(ended.stdout.splitlines(), callback.replace("_", "-"))
    told = (tmp_path / "report").read_text().splitlines()
    assert wanted and told == of(told, callback.replace("_", "-"))
    assert any(told[start:start + len(wanted)] == wanted for start in range(len(told)))


def test_modules_alone(sonde, build_tool, build, tmp_path):
    program = build("still", "int main(void) { return 0; }")
    sonde(only(build_tool, "module_mapped"), f"--output={tmp_path / 'report'}", program)
    told = (tmp_path / "report").read_text().splitlines()
    assert len(told) >= 3 and told == of(told, "module-mapped") and any("/libc.so" in line for line in told)


@pytest.mark.parametrize("callback, line", [("system_call_before", "before exit_group"), ("system_call_after", "after write")])
def test_system_calls_alone(sonde, build_tool, build, tmp_path, callback, line):
    program = build("writes", "#include <unistd.h>\nint main(void) { return write(1, \"x\", 1) != 1; }")
    ended = sonde(only(build_tool, callback, "options"), "--calls=yes", f"--output={tmp_path / 'report'}", program)
    told = (tmp_path / "report").read_text().splitlines()
    word, name = line.split()
    assert ended.stdout == "x" and told == of(told, word) and [t for t in told if t.split()[2] == name]


def replay(lines):
    """The map that the events describe: {page: (protection, what)}; every event must fit the map before it."""
    pages = {}
    for line in lines:
        kind, *words = line.split(" ", 6)
        if kind == "memory-mapped":
            for page in range(int(words[0], 16), int(words[1], 16), PAGE):
                assert page not in pages, line
                pages[page] = (int(words[2]), words[5])
        elif kind == "memory-unmapped":
            for page in range(int(words[0], 16), int(words[1], 16), PAGE):
                del pages[page]
        elif kind == "memory-protected":
            for page in range(int(words[0], 16), int(words[1], 16), PAGE):
                assert pages[page][0] != int(words[2]), line
                pages[page] = (int(words[2]), pages[page][1])
        elif kind == "memory-moved":
            source, target, size = (int(word, 16) for word in words)
            for offset in range(0, size, PAGE):
                assert target + offset not in pages, line
                pages[target + offset] = pages.pop(source + offset)
    return pages


def pages_of(maps):
    pages = {}
    for line in maps.splitlines():
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (r|-)(w|-)(x|-). \S+ \S+ \S+ *(.*)", line)
        if "[vsyscall]" in line:
            continue  # no mapping
        protection = (match[3] == "r") + 2 * (match[4] == "w") + 4 * (match[5] == "x")
        what = "-" if match[6] in ("", "[heap]", "[stack]") else match[6]
        for page in range(int(match[1], 16), int(match[2], 16), PAGE):
            pages[page] = (protection, what)
    return pages


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("flags", [("-static",), ()], ids=["static", "dynamic"])
def test_memory_of_threads(events, build, seed, flags):
    """The events of threads that change memory all at once add up to what /proc/self/maps shows in the end."""
    program = build("memory_threads" + "-static" * len(flags), TOOLS / "memory_threads.c", "-pthread", *flags)
    lines, ended = events((), program, seed)
    assert ended.returncode == 0, ended.stderr
    told = [line for line in lines if line.startswith("memory-")]
    assert len(told) > 1000
    assert replay(told) == pages_of(ended.stdout)


def test_initial_memory(events, build):
    """Program, linker, stack and vdso are there before the first thread; the stack as a whole."""
    program = build("nothing", "int main(void) { return 0; }")
    lines, _ = events((), program)
    first = lines.index(of(lines, "thread-start")[0])
    before = [line.split(" ", 6) for line in of(lines[:first], "memory-mapped")]
    assert len(before) == len(of(lines[:first], "memory-mapped", "memory-unmapped", "memory-protected"))
    assert [words[6] for words in before if words[3] == "5"].count(str(program)) == 1
    assert sum("/ld-linux" in words[6] for words in before) >= 3
    (stack,) = [words for words in before if words[5] == "stack"]
    assert int(stack[2], 16) - int(stack[1], 16) >= 1 << 20 and stack[3] == "3"
    assert any(words[6] == "[vdso]" for words in before)
    assert [line.split(" ", 3)[3] for line in of(lines[:first], "module-mapped")][0] == str(program)


# --------------------------------------------------------------------------- modules

OPENS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
static int show(struct dl_phdr_info *info, size_t size, void *data) {
    unsigned long low = ~0ul, high = 0;
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        unsigned long start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        if (start < low) low = start;
        if (end > high) high = end;
    }
    printf("%lx %lx %s\n", low & -4096ul, (high + 4095) & -4096ul, info->dlpi_name);
    return 0;
}
int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        void *library = dlopen(words[i], RTLD_NOW);
        if (!library) return 3;
        dl_iterate_phdr(show, NULL);
        if (dlclose(library)) return 4;
    }
    return 0;
}
"""


@pytest.mark.parametrize("linked", ["", "-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-fuse-ld=gold", "-fuse-ld=lld"])
def test_modules(events, build, linked):
    """Told with the extent that the dynamic linker knows, when they are whole; told again when they are gone."""
    if "ld=" in linked and not shutil.which(f"ld.{linked.rpartition('=')[2]}"):
        pytest.skip("that linker is not installed")
    program = build("opens", OPENS)
    one = build("one.so", "int one = 5; int big[5000]; int f(void) { return one; }", "-shared", "-fPIC", *linked.split())
    two = build("two.so", "int g(void) { return 2; }", "-shared", "-fPIC", "-nostdlib")
    lines, ended = events((), program, one, two, one)
    assert ended.returncode == 0, ended.stderr
    told = {line.split(" ", 1)[1] for line in of(lines, "module-mapped")}
    known = [line for line in ended.stdout.splitlines() if "linux-vdso" not in line]
    for line in known:
        start, end, path = line.split(" ", 2)
        assert f"{start} {end} {os.path.realpath(path) if path else program}" in told
    changes = [tuple(line.split(" ", 3)[i] for i in (0, 3)) for line in of(lines, "module-mapped", "module-unmapped")]
    libraries = [(kind, path) for kind, path in changes if path.endswith(("one.so", "two.so"))]
    assert libraries == [(kind, str(path)) for path in (one, two, one) for kind in ("module-mapped", "module-unmapped")]
    assert len(changes) - len(libraries) == len({line.split(" ", 2)[2] for line in known}) - 2
    # All of its memory was told before.
    at = next(i for i, line in enumerate(lines) if line.startswith("module-mapped") and line.endswith("/one.so"))
    start, end = (int(word, 16) for word in lines[at].split()[1:3])
    assert {page for page in range(start, end, PAGE)} <= replay(lines[:at]).keys()
    protections = {replay(lines[:at])[page][0] for page in range(start, end, PAGE)}
    assert {3, 5} <= protections


def test_file_mapped_as_data_is_no_module(events, build):
    program = build("reads", r"""
        #include <fcntl.h>
        #include <sys/mman.h>
        int main(int count, char **words) {
            int file = open(words[count - 1], 0);
            return mmap(0, 100000, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED;
        }""")
    library = build("three.so", "int h(void) { return 2; }", "-shared", "-fPIC")
    lines, ended = events((), program, library)
    assert ended.returncode == 0
    assert any(str(library) in line for line in of(lines, "memory-mapped"))
    assert not any(str(library) in line for line in of(lines, "module-mapped"))


def test_static_program_is_the_only_module(events, build):
    program = build("still", "int main(void) { return 0; }", "-static")
    lines, _ = events((), program)
    assert [line.split(" ", 3)[3] for line in of(lines, "module-mapped")] == [str(program)]


# ---------------------------------------------------------------------- system calls

BARE = r"""
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
static char buffer[16];
__attribute__((used, noreturn)) void _start(void) {
    int ends[2];
    static int *shown;
    shown = ends;
    call(22, (long)ends, 0, 0);                       /* pipe */
    call(1, ends[1], (long)"hello", 5);               /* write */
    call(0, ends[0], (long)buffer, sizeof buffer);    /* read */
    call(3, -1, 0, 0);                                /* close */
    call(0x40000027, 0, 0, 0);                        /* of another table */
    call(999, 0, 0, 0);
    call(60, shown[0] ? 7 : 8, 0, 0);                 /* exit */
    __builtin_unreachable();
}
"""


def test_all_calls_of_a_program(events, build):
    """A program without a library: these events and no others, in this order."""
    program = build("bare", BARE, "-static", "-nostdlib", "-fno-stack-protector")
    lines, ended = events(["--calls=yes"], program)
    assert ended.returncode == 7
    shown = []
    for line in lines[lines.index(of(lines, "thread-start")[0]):]:
        words = line.split(" ")
        if words[0] in ("before", "after"):
            words = [words[0], words[2], words[3], words[5], *(re.sub(r":[0-9a-f]+\+", "+", word) for word in words[6:])]
        else:
            words = words[:1]
        shown.append(" ".join(words))
    assert shown == [
        "thread-start",
        "before pipe 22 0 w0+8", "after pipe 22 0 w0+8",
        "before write 1 0 r1+5", "after write 1 5",
        "before read 0 0 w1+10", "after read 0 5 w1+5",
        "before close 3 0", "after close 3 -9",
        "before ? 1073741863 0", "after ? 1073741863 -38",
        "before ? 999 0", "after ? 999 -38",
        "before exit 60 0",
        "end",
    ]
    addresses = {line.split(" ")[4] for line in of(lines, "before", "after")}
    code = [line.split(" ") for line in of(lines, "memory-mapped") if line.split(" ")[3] == "5" and str(program) in line]
    low, high = (int(word, 16) for word in code[0][1:3])
    assert all(low <= int(address, 16) < high for address in addresses)
    binary = program.read_bytes()
    offset = int(code[0][4], 16) - low
    assert all(binary[int(a, 16) + offset:int(a, 16) + offset + 2] == b"\x0f\x05" for a in addresses)


def test_every_number_has_a_row(tmp_path):
    """The table knows each number of <asm/unistd_64.h> by its name, and has a row of that name."""
    header = subprocess.run(["gcc", "-E", "-dM", "-include", "asm/unistd_64.h", "-x", "c", "/dev/null"], check=True, timeout=60,
                            stdout=subprocess.PIPE, text=True).stdout
    wanted = {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)$", header, re.M)}
    assert len(wanted) > 350
    lister = tmp_path / "lister.c"
    lister.write_text(r"""
        #include <stdio.h>
        #include "guest/system_call_table.h"
        int main(void) {
            for (int i = 0; i < 2000; i++)
                if (sn_system_call_name(i)) printf("%d %s %s\n", i, sn_system_call_name(i), sn_call_row_of(i)->name);
        }""")
    source = ROOT / "src" / "guest"
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", "-o", tmp_path / "lister",
                    lister, source / "system_call_table.c", source / "x86_64" / "system_call_numbers.c"], check=True, timeout=60)
    listed = subprocess.run([tmp_path / "lister"], check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout
    known = {}
    for line in listed.splitlines():
        number, name, row = line.split()
        assert name == row
        known[int(number)] = name
    assert {number: known.get(number) for number in wanted} == wanted
    assert len(set(known.values())) == len(known)


WAITS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static int handled;
static void handle(int number) { (void)number; handled++; }
static void soon(int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    struct itimerval time = {.it_value = {0, 100000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &time, NULL);
}
int main(void) {
    int ends[2];
    char byte;
    if (pipe(ends)) return 1;
    soon(0);
    ssize_t size = read(ends[0], &byte, 1);
    printf("%zd %d %d\n", size, errno, handled);
    fflush(stdout);
    soon(SA_RESTART);
    if (!fork()) {
        usleep(400000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    size = read(ends[0], &byte, 1);
    printf("%zd %d\n", size, handled);
    return 0;
}
"""


def test_waits_are_interrupted_and_begun_again(events, build):
    """A call that a handler ended is told as such; one that begins again is told by the kernel's own number, and anew."""
    program = build("waits", WAITS)
    lines, ended = events(["--call=read", "--calls=yes"], program)
    native = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=60)
    assert ended.stdout == native.stdout == "-1 4 1\n1 2\n"
    results = [int(line.split(" ")[5]) for line in of(lines, "after")][-3:]
    assert results[0] == -4 and results[-1] == 1 and results[1] in (-512, -4)
    assert len(of(lines, "before")) == len(of(lines, "after"))


# --------------------------------------------------------------------------- signals

SIGNALS = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void *page;
static void handle(int number) {
    if (number == SIGSEGV) mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
__attribute__((noipa)) static void store(char *to) { *to = 1; }
int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    signal(SIGUSR2, SIG_IGN);
    printf("%p %p\n", (void *)store, (void *)main);
    fflush(stdout);
    raise(SIGUSR1);
    raise(SIGUSR2);  /* ignored */
    raise(SIGWINCH); /* nothing happens by default */
    page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    store(page);
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    raise(SIGTERM);
    return 0;
}
"""


def test_signals(events, build):
    program = build("signals", SIGNALS)
    lines, ended = events((), program)
    assert ended.returncode == -signal.SIGTERM
    told = [(int(line.split(" ")[2]), int(line.split(" ")[3], 16)) for line in of(lines, "signal")]
    assert [number for number, _ in told] == [signal.SIGUSR1, signal.SIGSEGV, signal.SIGUSR1, signal.SIGTERM]
    store, _ = (int(word, 16) for word in ended.stdout.split())
    assert store <= told[1][1] < store + 16
    assert lines[-2].startswith("signal") and lines[-1] == "end"


def test_deadly_fault(events, build):
    program = build("faults", "int main(int count, char **words) { (void)words; return *(volatile int *)(long)(count * 8); }")
    lines, ended = events((), program)
    assert ended.returncode == -signal.SIGSEGV
    assert lines[-2].split(" ")[:3:2] == ["signal", str(int(signal.SIGSEGV))] and lines[-1] == "end"


# ------------------------------------------------------------------------- processes

PROCESSES = r"""
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "again")) return 0;
    char *arguments[] = {words[0], "again", NULL};
    if (!fork()) _exit(0);
    wait(NULL);
    pid_t child;
    if (posix_spawn(&child, words[0], NULL, NULL, arguments, environ)) return 1;
    wait(NULL);
    execv("/nowhere/at/all", arguments);
    execv(words[0], arguments);
    return 2;
}
"""


@pytest.mark.parametrize("followed", [False, True])
def test_processes(events, build, followed):
    """fork, posix_spawn (whose child borrows the parent's memory: it is nobody of its own), execve that fails and succeeds."""
    program = build("processes", PROCESSES)
    lines, ended = events([f"--trace-children={'yes' if followed else 'no'}"], program)
    assert ended.returncode == 0, ended.stderr
    shown = [line.split(" ")[0] for line in of(lines, "thread-start", "thread-end", "fork-child", "exec", "end")]
    one = ["thread-start", "end"] if followed else []
    assert shown == ["thread-start", "fork-child", "end", *one, "exec", "end", *one]
    assert of(lines, "exec")[0].endswith(f" {program}")


# ------------------------------------------------------------------------------ dump

STAYS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile int done;
static void *spin(void *unused) { while (!done) {} return unused; }
static void *wait(void *unused) { pause(); return unused; }
int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "";
    pthread_t thread;
    char line[8];
    if (strchr(how, 's')) pthread_create(&thread, NULL, spin, NULL);
    if (strchr(how, 'w')) pthread_create(&thread, NULL, wait, NULL);
    puts("ready");
    fflush(stdout);
    if (strchr(how, 'g')) {
        sigset_t all;
        const struct timespec second = {1, 0};
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        int got = sigtimedwait(&all, NULL, &second);
        if (got != -1 || errno != EAGAIN) printf("disturbed: got %d\n", got);
    }
    /* Waits that a handler would end: until there is a line. */
    struct pollfd input = {.fd = 0, .events = POLLIN};
    int result;
    if (strchr(how, 'p')) result = poll(&input, 1, -1);
    else if (strchr(how, 'r')) result = 1;
    else while ((result = poll(&input, 1, 0)) == 0) {}
    if (result != 1 || read(0, line, sizeof line) != 5) printf("disturbed: %d %s\n", result, strerror(errno));
    printf("%.4s\n", line);
    return 0;
}
"""


@pytest.fixture
def staying(build, tool, tmp_path):
    """A process under Sonde that has begun and waits for a line."""
    program = build("stays", STAYS, "-pthread")
    running = []

    def start(how, *options, tool=tool):
        process = subprocess.Popen([SONDE, tool, f"--output={tmp_path / 'report'}", *options, program, how],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("calls", ["no", "yes"])
@pytest.mark.parametrize("how", ["b", "p", "r", "g", "ps", "pw", "rs", "bw"])
def test_dump(sonde, staying, tmp_path, how, calls):
    """Of a process that runs, waits in poll, in read or for any signal, alone or with other threads: told, and nobody notices."""
    process = staying(how, f"--calls={calls}", "--call=write")
    time.sleep(0.1)
    asked = sonde("dump", process.pid, "--to=-")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert re.fullmatch(r"dump \d+\n", asked.stdout)
    for _ in range(3):
        assert sonde("dump", process.pid).returncode == 0
    to = tmp_path / "dump"
    assert sonde("dump", process.pid, f"--to={to}").returncode == 0
    assert re.fullmatch(r"dump \d+\n", to.read_text())
    report = (tmp_path / "report").read_text().splitlines()
    assert len(of(report, "dump")) == 3
    out, error = process.communicate("line\n", timeout=60)
    assert (process.returncode, out, error) == (0, "line\n", "")
    assert of((tmp_path / "report").read_text().splitlines(), "signal") == []


def test_dump_of_a_tool_without(sonde, staying):
    process = staying("p", tool="none")
    asked = sonde("dump", process.pid)
    assert asked.returncode == 1
    assert asked.stderr == f"sonde: process {process.pid} runs 'none', which tells nothing before the end\n"
    out, _ = process.communicate("line\n", timeout=60)
    assert (process.returncode, out) == (0, "line\n")


def test_dump_of_a_process_with_full_disk(sonde, staying):
    process = staying("p")
    asked = sonde("dump", process.pid, "--to=/dev/full")
    assert asked.returncode == 1 and "cannot write '/dev/full'" in asked.stderr


def test_dump_of_others(sonde, staying):
    """What is no process under Sonde gets no signal."""
    other = subprocess.Popen(["sleep", "60"])
    try:
        asked = sonde("dump", other.pid)
        assert asked.returncode == 2 and asked.stderr == f"sonde: process {other.pid} does not run under Sonde\n"
        time.sleep(0.1)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
    assert sonde("dump", other.pid).stderr == f"sonde: there is no process {other.pid}\n"


@pytest.mark.parametrize("words, text", [
    ((), "no process is named"),
    (("x",), "'x' is no process number"),
    (("-3",), "unknown option '-3'"),
    (("99999999999999",), "'99999999999999' is no process number"),
    (("1", "2"), "two processes are named"),
    (("--two=1", "1"), "unknown option '--two=1'"),
])
def test_dump_asked_wrongly(sonde, words, text):
    asked = sonde("dump", *words)
    assert asked.returncode == 2 and asked.stderr.startswith(f"sonde: {text}") and asked.stderr.count("\n") == 1


def test_dump_to_a_file_that_cannot_be_written(sonde, staying):
    process = staying("p")
    asked = sonde("dump", process.pid, "--to=/nowhere/at/all")
    assert asked.returncode == 2 and asked.stderr == "sonde: --to: cannot write '/nowhere/at/all': No such file or directory\n"


def test_dump_help(sonde):
    asked = sonde("dump", "--help")
    assert asked.returncode == 0 and "--to=" in asked.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_dump_across_users(sonde, build, tool):
    """Root asks a user's process; a user asks nobody else's."""
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*user, SONDE, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode:
        pytest.skip("the build is closed to other users")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program, own_tool = (shutil.copy(file, folder) for file in (build("stays", STAYS, "-pthread"), tool))
        command = [SONDE, own_tool, "--output=/dev/null", program, "p"]
        started = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                   for words in ([*user, *command], command)]
        try:
            assert [process.stdout.readline() for process in started] == ["ready\n"] * 2
            asked = sonde("dump", started[0].pid, "--to=-")
            assert (asked.returncode, asked.stderr) == (0, "") and asked.stdout.startswith("dump ")
            refused = subprocess.run([*user, SONDE, "dump", str(started[1].pid)], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, timeout=60)
            assert refused.returncode == 2
            assert refused.stderr == f"sonde: process {started[1].pid} belongs to somebody else\n"
            assert [process.communicate("line\n", timeout=60)[0] for process in started] == ["line\n"] * 2
        finally:
            for process in started:
                process.kill()
                process.communicate()
