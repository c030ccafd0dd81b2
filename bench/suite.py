"""@fileoverview What the benchmark measures: the table of workloads, and the table of tools with their peers.

A workload is one row, a tool is one row; bench/run.py knows neither by name. `prepare` builds the programs and writes
the inputs into a folder, from bench/workloads/ and bench/generate.py.
"""
import os
import subprocess
from dataclasses import dataclass

import generate

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "workloads")


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    command: tuple         # {work} and {sources} are replaced, and {full|quick} by the part that applies
    long: bool = True      # counts in the geometric mean
    children: bool = False  # the processes it starts are traced too
    repeats: str = "{1|1}"  # how many runs make one measurement
    limit: int = 600       # seconds until a measurement under a tool is given up
    same_output: bool = True  # its output is the same from run to run
    on_demand: bool = False   # only for tools that name it: the others have larger ones of its kind


@dataclass(frozen=True)
class Tool:
    name: str
    arguments: tuple       # of sonde
    peer: str              # what it is compared with, as a reader calls it; "" for nothing
    peer_arguments: tuple  # of valgrind
    peer_rounds: int = 1000  # how many of the rounds the peer takes part in: slow peers in few
    mean_goal: float = 0   # at most, for the geometric mean over the long workloads; 0 for none
    each_goal: float = 0   # at most, for each of them
    peer_goal: float = 0   # at most, for the geometric mean of its times by those of the peer
    peer_command: tuple = ()  # words that go before the program's, if the peer is not a tool of valgrind; it may print
    memory_goal: tuple = ()  # (times the native peak, megabytes more): at most, in each of the memory cases
    workloads: tuple = ()  # names of the workloads that it is measured on; () for all that are not on demand


@dataclass(frozen=True)
class Goal:
    """A figure that one workload has to reach with one tool: at most `limit` times native, or times the peer."""
    tool: str
    workload: str
    against: str           # "native" or "peer"
    limit: float


@dataclass(frozen=True)
class MemoryCase:
    name: str
    command: tuple
    goal_megabytes: float  # at most, on top of native, under the tool `none`; 0: only for tools with a memory goal of their own


SPEED_UP = ("threads-1", "threads-2")  # the two workloads whose quotient is the speed-up of two threads

WORKLOADS = (
    Workload("xz", "integer: xz -9 of text", ("/usr/bin/xz", "-9", "-T1", "-c", "{work}/part.txt")),
    Workload("bzip2", "integer: bzip2 -9 of text",
             ("/usr/bin/bzip2", "-9", "-c", "{work}/text.txt", "{work}/text.txt")),
    Workload("matrix", "floating point: matrix multiply", ("{work}/matrix", "{140|10}")),
    Workload("n-body", "floating point: n-body", ("{work}/n_body", "{16000000|1000000}")),
    Workload("perl", "interpreter: perl", ("/usr/bin/perl", "{sources}/interpreter.pl", "{130|10}")),
    Workload("python3", "interpreter: python3", ("/usr/bin/python3", "{sources}/interpreter.py", "{120|10}")),
    Workload("cc1", "compiler: cc1 -O2 of 3,000 lines", ("{cc1}", "-quiet", "-O2", "{work}/long.c", "-o", "-")),
    Workload("sqlite3", "database: sqlite3 script", ("/usr/bin/sqlite3", ":memory:", ".read {work}/script.sql")),
    Workload("grep", "regular expression: grep -E",
             ("/usr/bin/grep", "-E", "-c", r"([a-z]+)o [a-z]*\1|[0-9]{4}-(0[1-6]|1[02])-[0-9]+ .*@.*e$",
              "{work}/text.txt")),
    Workload("perl-regex", "regular expression: perl",
             ("/usr/bin/perl", "-ne",
              r'$n++ while /\b(\w+)(\w)\b[^@]{3,30}?\b\2\w+\b|\d{4}-(\d\d)-(?!\1)\d\d/g; END{print "$n\n"}',
              "{work}/text.txt")),
    Workload("fib", "recursive calls", ("{work}/fib", "{41|34}")),
    Workload("threads-1", "one computing thread", ("{work}/threads", "1", "{400|40}")),
    Workload("threads-2", "two computing threads", ("{work}/threads", "2", "{400|40}")),
    Workload("true", "start-up of /bin/true", ("/usr/bin/true",), long=False, repeats="{50|5}"),
    Workload("processes", "100 short processes, all traced",
             ("/usr/bin/dash", "-c", "i=0; while [ $i -lt {100|10} ]; do /usr/bin/true; i=$((i+1)); done; echo $i"),
             long=False, children=True),
    Workload("gcc-hello", "gcc compiles and links hello.c, all processes traced",
             ("/usr/bin/gcc", "-o", "{work}/hello", "{sources}/hello.c"), long=False, children=True,
             repeats="{8|1}"),
    # For peers that write a line for each access of memory: a tenth of a second already gives files of gigabytes.
    Workload("xz-small", "integer: xz -1 of 60 KB", ("/usr/bin/xz", "-1", "-T1", "-c", "{work}/small.txt"), on_demand=True),
    Workload("n-body-small", "floating point: n-body, 50,000 steps", ("{work}/n_body", "{50000|5000}"), on_demand=True),
    Workload("perl-small", "interpreter: perl, one round", ("/usr/bin/perl", "{sources}/interpreter.pl", "1"), on_demand=True),
    Workload("allocate", "nothing but malloc and free", ("{work}/allocate", "{20|2}"), on_demand=True),
    Workload("fib-small", "recursive calls, 1.5 million", ("{work}/fib", "{30|24}"), on_demand=True),
)

ALLOCATING = ("perl", "python3", "sqlite3", "allocate")
TRACED = ("xz-small", "n-body-small", "perl-small", "fib-small")

TOOLS = (
    Tool("none", ("none",), "valgrind --tool=none", ("--tool=none",), mean_goal=1.10, each_goal=1.30),
    # Lackey counts the same things, but at 200 to 800 times native it would be a peer of straw.
    Tool("count", ("count",), "cachegrind --cache-sim=no",
         ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"), peer_rounds=1, mean_goal=1.40),
    Tool("cache", ("cache", "--cachegrind-out-file=/dev/null"), "cachegrind",
         ("--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"), peer_rounds=1, peer_goal=1 / 4),
    Tool("cache-no-sim", ("cache", "--cache-sim=no", "--cachegrind-out-file=/dev/null"), "cachegrind --cache-sim=no",
         ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"), peer_rounds=1, mean_goal=1.80),
    # bench/addresses.c: the address of every access appended to a trace, and added up.
    Tool("addresses", ("{work}/addresses.so",), "", (), peer_rounds=0, mean_goal=3.20),
    # bench/values.c: address and value of every load appended, and dropped; and of all operands in memory and registers.
    Tool("values", ("{work}/values.so",), "", (), peer_rounds=0, mean_goal=4),
    Tool("values-all", ("{work}/values.so", "--registers=yes"), "", (), peer_rounds=0, mean_goal=20),
    # A round of these takes minutes; on runs of milliseconds it would be start-up that is measured.
    Tool("loadspy", ("loadspy", "--output=/dev/null"), "", (), peer_rounds=0, mean_goal=25),
    Tool("deadspy", ("deadspy", "--output=/dev/null"), "", (), peer_rounds=0, mean_goal=25),
    Tool("zerospy", ("zerospy", "--output=/dev/null"), "", (), peer_rounds=0, mean_goal=25),
    Tool("redspy", ("redspy", "--output=/dev/null"), "", (), peer_rounds=0, mean_goal=60),
    *(Tool(f"{name}-sampled", (name, "--output=/dev/null", "--sample-on=1000000", "--sample-off=100000000"), "", (),
           peer_rounds=0, mean_goal=1.8) for name in ("loadspy", "deadspy", "zerospy", "redspy")),
    # bench/contexts.c: shadow stacks alone.
    Tool("contexts", ("{work}/contexts.so",), "", (), peer_rounds=0, mean_goal=1.60),
    Tool("calls", ("calls", "--callgrind-out-file=/dev/null"), "callgrind",
         ("--tool=callgrind", "--callgrind-out-file=/dev/null"), peer_rounds=1, peer_goal=1 / 8),
    Tool("calls-sim", ("calls", "--cache-sim=yes", "--callgrind-out-file=/dev/null"), "callgrind --cache-sim=yes",
         ("--tool=callgrind", "--cache-sim=yes", "--callgrind-out-file=/dev/null"), peer_rounds=1, peer_goal=1 / 5),
    Tool("heap", ("heap", "--massif-out-file=/dev/null"), "massif", ("--tool=massif", "--massif-out-file=/dev/null"), peer_rounds=1,
         workloads=ALLOCATING),
    Tool("heap-live", ("heap", "--mode=live", "--output=/dev/null"), "massif", ("--tool=massif", "--massif-out-file=/dev/null"),
         peer_rounds=1, workloads=ALLOCATING),
    Tool("heap-cumulative", ("heap", "--mode=cumulative", "--output=/dev/null"), "massif",
         ("--tool=massif", "--massif-out-file=/dev/null"), peer_rounds=1, workloads=ALLOCATING),
    Tool("heap-all", ("heap", "--mode=cumulative", "--output={work}/log.json.gz"), "heaptrack", (), peer_goal=1, workloads=ALLOCATING,
         peer_command=("/usr/bin/heaptrack", "-o", "{work}/log.heaptrack")),
    Tool("memcheck", ("memcheck",), "memcheck", ("--tool=memcheck",), peer_rounds=1, each_goal=15, peer_goal=1 / 3,
         memory_goal=(2.5, 80)),
    Tool("memcheck-origins", ("memcheck", "--track-origins=yes"), "memcheck --track-origins=yes",
         ("--tool=memcheck", "--track-origins=yes"), peer_rounds=1, peer_goal=1 / 2.5),
    # Both write their trace to a file, which is deleted after the run with the logs.
    Tool("memtrace", ("memtrace", "--instructions=yes", "--output={work}/log.trace"), "lackey --trace-mem=yes",
         ("--tool=lackey", "--trace-mem=yes"), peer_rounds=1, workloads=TRACED),
)

GOALS = (
    Goal("none", "true", "peer", 1 / 20),
    Goal("none", "gcc-hello", "peer", 1 / 8),
    Goal("none", "cc1", "native", 2.5),
    Goal("memcheck", "true", "peer", 1 / 4),
    *(Goal("memtrace", name, "peer", 1 / 10) for name in TRACED),
    *(Goal(tool, name, "native", 6 if name == "allocate" else 1.5) for tool in ("heap", "heap-live", "heap-cumulative")
      for name in ALLOCATING),
    *(Goal("heap", name, "peer", 1 / 8) for name in ALLOCATING),
)

MEMORY = (
    MemoryCase("python3", ("/usr/bin/python3", "{sources}/interpreter.py", "{20|5}"), 40),
    MemoryCase("cc1 -O2 of 5,000 lines", ("{cc1}", "-quiet", "-O2", "{work}/longer.c", "-o", "-"), 100),
    MemoryCase("xz -9", ("/usr/bin/xz", "-9", "-T1", "-c", "{work}/part.txt"), 0),   # large blocks, hardly used
    MemoryCase("sqlite3", ("/usr/bin/sqlite3", ":memory:", ".read {work}/script.sql"), 0),   # many small ones
)

_PROGRAMS = (("matrix", "-O2"), ("n_body", "-O2"), ("fib", "-O1"), ("threads", "-O2"), ("allocate", "-O2"))

_INPUTS = (
    ("text.txt", generate.text, 6 << 20, 1 << 20),
    ("part.txt", generate.text, 2 << 20, 200 << 10),
    ("small.txt", generate.text, 60 << 10, 10 << 10),
    ("long.c", generate.c_file, 3000, 1000),
    ("longer.c", generate.c_file, 5000, 5000),
    ("script.sql", generate.sql, 40000, 3000),
)


def workloads_of(tool, workloads):
    """Those of the workloads that a tool is measured on."""
    return [workload for workload in workloads
            if (workload.name in tool.workloads if tool.workloads else not workload.on_demand)]


def prepare(work, quick):
    """Builds what the workloads run and read, into the folder `work`."""
    os.makedirs(work, exist_ok=True)
    for name, optimisation in _PROGRAMS:
        subprocess.run(["gcc", optimisation, "-g", "-pthread", "-o", os.path.join(work, name),
                        os.path.join(SOURCES, name + ".c"), "-lm"], check=True)
    for name in ("addresses", "contexts", "values"):
        subprocess.run(["gcc", "-O3", "-fPIC", "-shared", "-I" + os.path.join(HERE, "..", "include"),
                        "-o", os.path.join(work, name + ".so"), os.path.join(HERE, name + ".c")], check=True)
    for name, generator, full_size, quick_size in _INPUTS:
        with open(os.path.join(work, name), "w") as file:
            file.write(generator(quick_size if quick else full_size))


def expand(text, work, quick):
    """Replaces the places and the {full|quick} choices in one argument; other braces stay as they are."""
    for name, value in (("{work}", work), ("{sources}", SOURCES)):
        text = text.replace(name, value)
    if text == "{cc1}":
        return subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, capture_output=True,
                              text=True).stdout.strip()
    start = 0
    while (start := text.find("{", start)) >= 0:
        choice = text[start + 1:text.find("}", start)].split("|")
        if len(choice) == 2 and all(part.isdigit() for part in choice):
            text = text[:start] + choice[quick] + text[text.find("}", start) + 1:]
        start += 1
    return text


def command_of(case, work, quick):
    return [expand(part, work, quick) for part in case.command]
