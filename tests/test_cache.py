"""The tool `cache`, end to end: against `valgrind --tool=cachegrind`, against the simulator of cache_simulator.py fed with
what `sonde memtrace` records of the same run, and against numbers that follow from the programs.
"""
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

import cache_simulator
from conftest import ROOT, SONDE

PROGRAMS = ROOT / "tests" / "programs"
FREESTANDING = ["-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns"]
CACHES = {"I1": (32768, 8, 64), "D1": (32768, 8, 64), "LL": (262144, 8, 64)}
needs_valgrind = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")

# Options that change how code is generated and must not change what is counted.
CODE_OPTIONS = [[], ["--analysis-threads=2"], ["--debug-block-limit=1"], ["--debug-block-limit=7"], ["--debug-superblocks=no"],
                ["--debug-links=no"]]


def run(*command, **options):
    options = {"timeout": 200, "capture_output": True, "text": True, "check": False, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([str(word) for word in command], **options)


def build(source, program, *options):
    built = run("gcc", "-g", *options, "-o", program, source)
    assert built.returncode == 0, built.stderr
    return program


def geometry_options(caches):
    return [f"--{name}={','.join(map(str, numbers))}" for name, numbers in caches.items()]


def events_of(profile):
    """Totals of a cachegrind.out file, by event."""
    text = profile.read_text()
    names, = re.findall(r"^events: *(.*)$", text, re.M)
    numbers, = re.findall(r"^summary: *(.*)$", text, re.M)
    return dict(zip(names.split(), map(int, numbers.split()), strict=True))


def cache(tmp_path, program, *options, arguments=(), status=0, caches=None, **run_options):
    """Totals of a run under the tool."""
    profile = tmp_path / "sonde.out"
    ended = run(SONDE, "cache", f"--cachegrind-out-file={profile}", f"--log-file={tmp_path}/log",
                *geometry_options(CACHES if caches is None else caches), *options, "--", program, *arguments,
                **run_options)
    assert ended.returncode == status, ended.stderr + (tmp_path / "log").read_text()
    return events_of(profile)


def cachegrind(tmp_path, program, *options):
    """Totals of a run under Cachegrind. Without following branches into blocks, since this version miscounts then: its
    instruction count differs from that of single-stepping."""
    profile = tmp_path / "valgrind.out"
    ended = run("valgrind", "--tool=cachegrind", "--cache-sim=yes", "--vex-guest-chase=no", *options,
                *geometry_options(CACHES), f"--cachegrind-out-file={profile}", program)
    assert ended.returncode == 0, ended.stderr
    return events_of(profile)


def report(profile, *options):
    ended = run(SONDE, "report", "--format=json", *options, profile)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def line_counts(profile, source, mark):
    """The counts of the source line that has the comment `mark` in it, all of them added up."""
    numbers = {number for number, line in enumerate(source.read_text().splitlines(), 1) if mark in line}
    assert numbers
    sums = {}
    for function in report(profile)["functions"]:
        if function["file"] == str(source):
            for line in function["lines"]:
                if line["line"] in numbers:
                    for event, count in line["counts"].items():
                        sums[event] = sums.get(event, 0) + count
    return sums


# ------------------------------------------------------------------ against Cachegrind

PATTERNS = ["rows", "columns", "list", "blocks"]


@pytest.fixture(scope="module")
def patterns(tmp_path_factory):
    folder = tmp_path_factory.mktemp("patterns")
    return {name: build(PROGRAMS / "cache_patterns.c", folder / name, "-O1", f"-DPATTERN={name}", *FREESTANDING)
            for name in PATTERNS}


def assert_near(found, expected, events):
    for event in events:
        assert abs(found[event] - expected[event]) <= max(2, expected[event] / 100), event


@needs_valgrind
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(tmp_path, patterns, name):
    found, expected = cache(tmp_path, patterns[name]), cachegrind(tmp_path, patterns[name])
    assert set(found) == set(expected)
    for event in ("Ir", "Dr", "Dw"):
        assert found[event] == expected[event], event
    assert_near(found, expected, ("I1mr", "ILmr", "D1mr", "DLmr", "D1mw", "DLmw"))
    misses = {"rows": 3 * 65536 / 8, "columns": 3 * 65536, "list": 4 * 20000, "blocks": 0}
    assert found["D1mr"] >= misses[name]
    marked = line_counts(tmp_path / "sonde.out", PROGRAMS / "cache_patterns.c", "the line that misses")
    assert marked["D1mr"] + marked["D1mw"] > 0


@needs_valgrind
@pytest.mark.parametrize("source, level", [("count_sieve.c", "-O2"), ("count_sieve.c", "-O0"), ("count_matrix.c", "-O2")])
def test_branches_and_references(tmp_path, source, level):
    """Mispredictions too: both start from nothing and see the same branches. (Cachegrind misses a branch here and there.)"""
    program = build(PROGRAMS / source, tmp_path / "program", level, *FREESTANDING)
    found = cache(tmp_path, program, "--branch-sim=yes")
    expected = cachegrind(tmp_path, program, "--branch-sim=yes", "--vex-iropt-unroll-thresh=0")
    for event in ("Ir", "Dr", "Dw"):
        assert found[event] == expected[event], event
    assert_near(found, expected, ("Bc", "Bcm", "Bi", "Bim", "D1mr", "D1mw", "DLmr", "DLmw"))


@pytest.mark.parametrize("options", CODE_OPTIONS, ids=" ".join)
def test_translation_changes_nothing(tmp_path, patterns, options):
    plain = cache(tmp_path, patterns["blocks"], "--branch-sim=yes")
    assert cache(tmp_path, patterns["blocks"], "--branch-sim=yes", *options) == plain
    counted = run(SONDE, "count", "--format=json", f"--output={tmp_path}/count.json", patterns["blocks"])
    assert counted.returncode == 0
    total = json.loads((tmp_path / "count.json").read_text())["total"]
    assert plain["Ir"] == total["instructions"]
    assert plain["Bc"] == total["conditional_branches"]["total"]
    assert cache(tmp_path, patterns["blocks"], "--cache-sim=no", *options) == {"Ir": plain["Ir"]}
    branches = {event: plain[event] for event in ("Ir", "Bc", "Bcm", "Bi", "Bim")}
    assert cache(tmp_path, patterns["blocks"], "--cache-sim=no", "--branch-sim=yes", *options) == branches


# ------------------------------------------------------------- against a recorded trace

def references_of(tmp_path, program):
    """What the program refers to, in order, as `sonde memtrace` records it: (kind, address, size, instruction)."""
    trace = tmp_path / "trace"
    ended = run(SONDE, "memtrace", "--format=text", "--instructions=yes", f"--output={trace}", program, env={})
    assert ended.returncode == 0, ended.stderr
    kinds = {"I": cache_simulator.FETCH, "L": cache_simulator.READ, "S": cache_simulator.WRITE, "M": cache_simulator.READ}
    references, instruction = [], 0
    for line in trace.read_text().splitlines():
        kind, _, place = line.strip().partition(" ")
        if kind in kinds:
            address, size = place.strip().split(",")
            if kind == "I":
                instruction = int(address, 16)
            references.append((kinds[kind], int(address, 16), int(size), instruction))
    return references


def simulated(references, model, caches):
    """Totals as the tool names them."""
    names = {"cachegrind": ("1", "L"), "hierarchy": ("1", "2", "L")}[model]
    totals = {"Dr": 0, "Dw": 0}
    for kind, letter in ((cache_simulator.FETCH, "I"), (cache_simulator.READ, "D"), (cache_simulator.WRITE, "D")):
        for level in names:
            totals[letter + level + ("mw" if kind == cache_simulator.WRITE else "mr")] = 0
    simulator = cache_simulator.MODELS[model](caches["I1"], caches["D1"], caches.get("L2"), caches["LL"]) \
        if model == "hierarchy" else cache_simulator.Cachegrind(caches["I1"], caches["D1"], None, caches["LL"])
    for kind, address, size, instruction in references:
        missed = simulator.refer(kind, address, size, instruction)
        if kind != cache_simulator.FETCH:
            totals["Dr" if kind == cache_simulator.READ else "Dw"] += 1
        for level in names[:missed]:
            totals[("I" if kind == cache_simulator.FETCH else "D") + level
                   + ("mw" if kind == cache_simulator.WRITE else "mr")] += 1
    return totals


TRACED = [
    ("cachegrind", CACHES),
    ("cachegrind", {"I1": (512, 2, 32), "D1": (1024, 2, 32), "LL": (8192, 4, 64)}),
    ("cachegrind", {"I1": (256, 1, 16), "D1": (256, 1, 16), "LL": (4096, 2, 32)}),
    ("cachegrind", {"I1": (64, 1, 64), "D1": (64, 1, 64), "LL": (512, 8, 64)}),
    ("cachegrind", {"I1": (3072, 12, 64), "D1": (768, 3, 64), "LL": (30 * 256, 30, 64)}),
    ("hierarchy", {"I1": (512, 2, 64), "D1": (1024, 2, 64), "L2": (4096, 4, 64), "LL": (16384, 8, 64)}),
]


@pytest.fixture(scope="module")
def traced_programs(tmp_path_factory):
    """Each with the references of its run."""
    folder = tmp_path_factory.mktemp("traced")
    flags = re.search(r"^flags\s*:(.*)$", open("/proc/cpuinfo", encoding="ascii").read(), re.M).group(1).split()
    special = build(PROGRAMS / "cache_special.c", folder / "special", "-O1", *FREESTANDING,
                    *(["-mavx2"] if "avx2" in flags else []))
    primes = build(ROOT / "examples/primes.s", folder / "primes", "-nostdlib", "-static")
    runs = build(PROGRAMS / "cache_runs.S", folder / "runs", "-nostdlib", "-static")
    return {name: (program, references_of(folder, program))
            for name, program in (("special", special), ("primes", primes), ("runs", runs))}


@pytest.mark.parametrize("model, caches", TRACED)
@pytest.mark.parametrize("name", ["special", "primes", "runs"])
def test_recorded_references(tmp_path, traced_programs, name, model, caches):
    """Exactly: what the inserted code leaves out, since it cannot matter, does not matter. Without environment variables,
    whose size decides where the stack begins."""
    program, references = traced_programs[name]
    for options in CODE_OPTIONS[:4]:
        found = cache(tmp_path, program, f"--model={model}", *options, caches=caches, env={})
        expected = simulated(references, model, caches)
        assert {event: found[event] for event in expected} == expected, options
        assert set(found) == {"Ir", *expected}


# ------------------------------------------------------------------------------ threads

@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    return build(PROGRAMS / "cache_threads.c", tmp_path_factory.mktemp("threads") / "threads", "-O1", "-pthread")


@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("options", [[], ["--model=hierarchy"]], ids=str)
def test_threads_have_caches_of_their_own(tmp_path, threads, count, options):
    """An array is 256 KiB: each round misses D1 once a line; all of the arrays fit into LL, which is shared."""
    caches = {**CACHES, "LL": (8 << 20, 16, 64)}
    if options:
        caches["L2"] = (65536, 8, 64)
    cache(tmp_path, threads, *options, arguments=[count, 6], caches=caches)
    marked = line_counts(tmp_path / "sonde.out", PROGRAMS / "cache_threads.c", "the line that misses")
    references = count * 6 * 4096
    assert references <= marked["Dr"] <= references * 1.01
    assert references * 0.99 <= marked["D1mr"] <= references * 1.01
    if not options:
        assert count * 4096 * 0.98 <= marked["DLmr"] <= count * 4096 * 1.02
    else:
        assert marked["D2mr"] < references / 2, "the prefetcher does nothing"


def test_what_fits_into_a_thread_s_own_cache(tmp_path, threads):
    """With D1 larger than the array, rounds after the first hit, however many threads there are."""
    cache(tmp_path, threads, arguments=[4, 20], caches={**CACHES, "D1": (1 << 20, 16, 64), "LL": (8 << 20, 16, 64)})
    marked = line_counts(tmp_path / "sonde.out", PROGRAMS / "cache_threads.c", "the line that misses")
    assert 4 * 4096 * 0.99 <= marked["D1mr"] <= 4 * 4096 * 1.02


# --------------------------------------------------------------------------------- ends

@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    return build(PROGRAMS / "cache_ends.c", tmp_path_factory.mktemp("ends") / "ends", "-O1", "-pthread")


def stores_of(profile):
    """Of the line that is executed 1000 times a round."""
    return line_counts(profile, PROGRAMS / "cache_ends.c", "the line that counts")


@pytest.mark.parametrize("end, status", [
    ("exit", 0), ("_exit", 7), ("abort", -signal.SIGABRT), ("fault", -signal.SIGSEGV), ("term", -signal.SIGTERM),
    ("thread", 3), ("exec", 0),
])
@pytest.mark.parametrize("options", [[], ["--cache-sim=no"]], ids=str)
def test_nothing_is_lost_at_the_end(tmp_path, ends, end, status, options):
    cache(tmp_path, ends, *options, arguments=[end], status=status)
    counts = stores_of(tmp_path / "sonde.out")
    assert 10 * 1000 <= counts["Ir"] <= 10 * 1000 * 3 + 100
    if not options:
        assert counts["Dw"] == 10 * 1000
        assert 63 <= counts["D1mw"] <= 64


@pytest.mark.parametrize("options", [[], ["--analysis-threads=2"], ["--model=hierarchy"], ["--branch-sim=yes"]], ids=str)
def test_repeated_instruction_that_is_interrupted(tmp_path, options):
    """What it did before each fault is counted, once."""
    source = PROGRAMS / "cache_repeat.c"
    program = build(source, tmp_path / "repeat", "-O1")
    cache(tmp_path, program, *options)
    counts = line_counts(tmp_path / "sonde.out", source, "the line that counts")
    done = 3 * 4096 - 100
    assert counts["Dw"] == done
    assert counts["D1mw"] == -(-done // 64)
    assert done <= counts["Ir"] <= done + 10


def test_fork(tmp_path, ends):
    """Each process writes what it did itself; the child's caches are as warm as its parent's."""
    ended = run(SONDE, "cache", *geometry_options(CACHES), f"--cachegrind-out-file={tmp_path}/%p.out",
                f"--log-file={tmp_path}/log.%p", ends, "fork")
    assert ended.returncode == 0, ended.stderr
    counts = sorted((stores_of(profile) for profile in tmp_path.glob("*.out")), key=lambda counts: counts["Dw"])
    assert [count["Dw"] for count in counts] == [5 * 1000, 12 * 1000]
    assert 63 <= counts[1]["D1mw"] <= 64 and counts[0]["D1mw"] <= 64
    logs = [path.read_text() for path in tmp_path.glob("log.*")]
    assert len(logs) == 2 and all("I   refs:" in log for log in logs)


@pytest.mark.parametrize("options", [[], ["--trace-children=yes"], ["--branch-sim=yes"]], ids=str)
def test_vfork(tmp_path, ends, options):
    """The child runs on its parent's memory, inserted code included; what it does is not counted."""
    cache(tmp_path, ends, *options, arguments=["spawn"])
    counts = stores_of(tmp_path / "sonde.out")
    assert counts["Dw"] == 20 * 1000 and 63 <= counts["D1mw"] <= 64


def test_followed_programs_keep_their_profiles(tmp_path, ends):
    """The program before the execve wrote its own, in the same process."""
    ended = run(SONDE, "cache", "--trace-children=yes", f"--cachegrind-out-file={tmp_path}/%p.out",
                f"--log-file={tmp_path}/log", ends, "exec")
    assert ended.returncode == 0, ended.stderr
    files = sorted(tmp_path.glob("*.out*"))
    assert [re.sub(r"^\d+", "N", file.name) for file in files] == ["N.out", "N.out.1"]
    commands = [re.search("^cmd: (.*)$", file.read_text(), re.M)[1] for file in files]
    assert commands == [f"{ends} exec", "true"]


def test_dump(tmp_path, ends):
    """What is known so far, while the program goes on."""
    profile = tmp_path / "profile"
    with subprocess.Popen([SONDE, "cache", f"--cachegrind-out-file={profile}", f"--log-file={tmp_path}/log",
                           *geometry_options(CACHES), ends, "wait"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        asked = run(SONDE, "dump", process.pid, "--to=-")
        assert asked.returncode == 0, asked.stderr
        assert "D   refs:" in asked.stdout and stores_of(profile)["Dw"] == 10 * 1000
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM
    assert stores_of(profile)["Dw"] == 10 * 1000


def test_default_file_is_where_sonde_was_started(tmp_path, ends):
    ended = run(SONDE, "cache", "--cache-sim=no", ends, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    file, = tmp_path.glob("cachegrind.out.*")
    assert f"(process {file.name.split('.')[-1]})" in ended.stderr
    name = run(SONDE, "cache", "--cache-sim=no", "--cachegrind-out-file=%q{NAME}-%%.out", ends, cwd=tmp_path,
               env={**os.environ, "NAME": "some"})
    assert name.returncode == 0 and (tmp_path / "some-%.out").exists()


# ------------------------------------------------------------------------------ summary

def test_summary_is_that_of_the_profile(tmp_path, patterns):
    found = cache(tmp_path, patterns["columns"], "--branch-sim=yes")
    text = (tmp_path / "log").read_text()
    numbers = {name: [int(number.replace(",", "")) for number in re.findall(r"(?<![\d.,%])[\d,]+(?![\d.,%])", rest)]
               for name, rest in re.findall(r"^(.*(?:refs|misses|Branches|Mispredicts)):(.*)$", text, re.M)}
    names = {re.sub(" +", " ", name): value for name, value in numbers.items()}
    assert names == {
        "I refs": [found["Ir"]], "I1 misses": [found["I1mr"]], "LLi misses": [found["ILmr"]],
        "D refs": [found["Dr"] + found["Dw"], found["Dr"], found["Dw"]],
        "D1 misses": [found["D1mr"] + found["D1mw"], found["D1mr"], found["D1mw"]],
        "LLd misses": [found["DLmr"] + found["DLmw"], found["DLmr"], found["DLmw"]],
        "LL refs": [found["I1mr"] + found["D1mr"] + found["D1mw"], found["I1mr"] + found["D1mr"], found["D1mw"]],
        "LL misses": [found["ILmr"] + found["DLmr"] + found["DLmw"], found["ILmr"] + found["DLmr"], found["DLmw"]],
        "Branches": [found["Bc"] + found["Bi"], found["Bc"], found["Bi"]],
        "Mispredicts": [found["Bcm"] + found["Bim"], found["Bcm"], found["Bim"]],
    }
    assert max(map(len, text.splitlines())) <= 80 or len(str(patterns["columns"])) > 40


def test_processor_s_caches_by_default(tmp_path, patterns):
    """As Cachegrind finds them, which asks the processor too."""
    cache(tmp_path, patterns["rows"], caches={})
    mine = re.findall(r"^desc: (.*)$", (tmp_path / "sonde.out").read_text(), re.M)
    assert len(mine) == 3
    if shutil.which("valgrind"):
        run("valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={tmp_path}/v.out", "/bin/true")
        assert mine == re.findall(r"^desc: (.*)$", (tmp_path / "v.out").read_text(), re.M)


# ---------------------------------------------------------------------------- bad input

@pytest.mark.parametrize("options, what", [
    (["--L2=65536,8,64"], "--L2"), (["--model=none"], "--model"), (["--cache-sim=maybe"], "--cache-sim"),
    (["--cachegrind-out-file=%x"], "--cachegrind-out-file"), (["--cachegrind-out-file=%q{NOT_SET}"], "NOT_SET"),
])
def test_bad_options(tmp_path, options, what):
    ended = run(SONDE, "cache", *options, "/bin/echo", "ran", cwd=tmp_path)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert what in ended.stderr and list(tmp_path.iterdir()) == []


def test_profile_that_cannot_be_written(tmp_path, ends):
    ended = run(SONDE, "cache", "--cache-sim=no", f"--cachegrind-out-file={tmp_path}/no/such/folder", ends)
    assert ended.returncode == 1
    assert len([line for line in ended.stderr.splitlines() if "cannot write" in line]) == 1
    full = run(SONDE, "cache", "--cache-sim=no", "--cachegrind-out-file=/dev/full", ends, "_exit")
    assert full.returncode == 7, "the program's own status is kept"
    assert "cannot write '/dev/full': No space left" in full.stderr
