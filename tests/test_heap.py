"""@fileoverview The tool `heap`: sizes, contexts, peaks and contents of programs that say themselves what is right; Massif."""
import json
import pathlib
import shutil
import subprocess
import time
import sys

import pytest

import heap_dumps as files
from conftest import ROOT, SONDE

PATTERN = ROOT / "tests" / "programs" / "heap_pattern.c"
CPLUSPLUS = """#include <map>
#include <string>
#include <vector>
int main() {
    std::map<int, std::vector<std::string>> all;
    for (int i = 0; i < 20000; i++) all[i * 7919 % 3001].push_back(std::string(i % 60, 'x'));
    for (int i = 0; i < 3001; i += 3) all.erase(i);
    return all.size() == 2000 ? 0 : 1;
}
"""
PYTHON = "import json; d = [{'a': [str(i)] * 20, 'b': i} for i in range(3000)]; print(len(json.loads(json.dumps(d))))"
PERL = "my %h; $h{$_ % 500} .= \"x$_\" for 1..20000; my @a = map { [split /x/, $h{$_}] } sort keys %h; print scalar(@a), \"\\n\";"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    target = tmp_path_factory.mktemp("heap") / "pattern"
    subprocess.run(["gcc", "-O1", "-g", "-w", "-pthread", f"-I{ROOT / 'include'}", "-o", target, PATTERN], check=True, timeout=60)
    return target


def run(sonde, folder, *words, status=0, **options):
    done = sonde("heap", *words, cwd=folder, timeout=120, **options)
    assert done.returncode == status, done.stderr
    return done


def known(done):
    return {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}


# ---------------------------------------------------------------------------------------------------------- timeline

@pytest.mark.parametrize("unit", ("i", "ms", "B"))
def test_peak_is_exact(sonde, program, tmp_path, unit):
    right = known(run(sonde, tmp_path, f"--time-unit={unit}", "--massif-out-file=m", program, "peak"))
    text = (tmp_path / "m").read_text()
    head, snapshots = files.massif(text)
    peak, last = files.peak(text), snapshots[-1]
    assert head["time_unit"] == unit and head["cmd"] == f"{program} peak"
    assert peak["mem_heap_B"] == right["peak_bytes"]
    assert peak["mem_heap_extra_B"] == right["peak_slop"] + 8 * right["peak_blocks"]
    assert last["mem_heap_B"] == right["live_bytes"]
    assert last["mem_heap_extra_B"] == right["live_slop"] + 8 * right["live_blocks"]
    times = [snapshot["time"] for snapshot in snapshots]
    assert times == sorted(times) and len(snapshots) <= 102
    assert max(s["mem_heap_B"] + s["mem_heap_extra_B"] for s in snapshots) == peak["mem_heap_B"] + peak["mem_heap_extra_B"]


def test_trees(sonde, program, tmp_path):
    run(sonde, tmp_path, "--massif-out-file=m", "--threshold=0", program, "peak")
    text = (tmp_path / "m").read_text()
    detailed = [snapshot for snapshot in files.massif(text)[1] if snapshot["heap_tree"] != "empty"]
    assert len(detailed) > 3
    for snapshot in detailed:
        assert snapshot["tree"][0].split()[1] == str(snapshot["mem_heap_B"])
        files.check_tree(list(snapshot["tree"]))
    names = " ".join(files.peak(text)["tree"])
    assert "small (heap_pattern.c:" in names and "large (heap_pattern.c:" in names and "peak (heap_pattern.c:" in names


def test_options_of_trees(sonde, program, tmp_path):
    run(sonde, tmp_path, "--massif-out-file=m", "--depth=1", "--alloc-fn=small", "--alloc-fn=large", program, "peak")
    tree = files.peak((tmp_path / "m").read_text())["tree"]
    assert len(tree) == 3 and all(line.startswith(" n0: ") and ": peak (heap_pattern.c:" in line for line in tree[1:])
    run(sonde, tmp_path, "--massif-out-file=m", "--threshold=90", "--max-snapshots=10", "--heap-admin=0", program, "peak")
    text = (tmp_path / "m").read_text()
    assert "all below massif's threshold (90.00%)" in " ".join(files.peak(text)["tree"])
    assert len(files.massif(text)[1]) <= 12


def test_ignored_functions(sonde, program, tmp_path):
    run(sonde, tmp_path, "--massif-out-file=a", "--threshold=0", program, "peak")
    all_sites = files.peak((tmp_path / "a").read_text())["tree"]
    large = sum(int(line.split()[1]) for line in all_sites if line.startswith(" n") and ": large (" in line)
    last = files.massif((tmp_path / "a").read_text())[1][-1]["mem_heap_B"]
    run(sonde, tmp_path, "--massif-out-file=i", "--threshold=0", "--ignore-fn=large", program, "peak")
    text = (tmp_path / "i").read_text()
    assert large > 0 and not any(": large (" in line for line in text.splitlines())
    peak = files.peak(text)
    assert int(peak["tree"][0].split()[1]) == peak["mem_heap_B"]
    assert 0 < files.massif(text)[1][-1]["mem_heap_B"] < last
    run(sonde, tmp_path, "--massif-out-file=n", "--ignore-fn=no_such_function", program, "peak")
    assert files.peak((tmp_path / "n").read_text())["mem_heap_B"] == files.peak((tmp_path / "a").read_text())["mem_heap_B"]


def test_ms_print_reads_it(sonde, program, tmp_path):
    if not shutil.which("ms_print"):
        pytest.skip("ms_print is not installed")
    right = known(run(sonde, tmp_path, "--massif-out-file=m", program, "peak"))
    printed = subprocess.run(["ms_print", tmp_path / "m"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert f"{right['peak_bytes']:,}" in printed and "(peak)" in printed and "small (heap_pattern.c:" in printed


@pytest.mark.parametrize("what", ("python3", "perl", "c++"))
def test_massif_sees_the_same_peak(sonde, tmp_path, what):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if what == "c++":
        (tmp_path / "p.cpp").write_text(CPLUSPLUS)
        subprocess.run(["g++", "-O1", "-g", "-o", tmp_path / "p", tmp_path / "p.cpp"], check=True, timeout=120)
    command = {"c++": [tmp_path / "p"], "python3": ["/usr/bin/python3", "-c", PYTHON], "perl": ["/usr/bin/perl", "-e", PERL]}[what]
    # Both runs get the same environment and seeds: what is allocated depends on them.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PYTHONMALLOC": "malloc", "LC_ALL": "C"}
    run(sonde, tmp_path, "--massif-out-file=s", *command, env=environment)
    subprocess.run(["valgrind", "-q", "--tool=massif", "--massif-out-file=v", "--peak-inaccuracy=0.0", *command], cwd=tmp_path,
                   env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL)
    ours, theirs = (files.peak((tmp_path / name).read_text())["mem_heap_B"] for name in "sv")
    assert abs(ours - theirs) <= theirs / 1000


def test_stacks(sonde, program, tmp_path):
    run(sonde, tmp_path, "--massif-out-file=m", "--stacks=yes", program, "peak")
    snapshots = files.massif((tmp_path / "m").read_text())[1]
    assert max(snapshot["mem_stacks_B"] for snapshot in snapshots) > 50


DEEP = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static char *volatile kept;
static uintptr_t highest, lowest;
static void note(volatile char *room) { if ((uintptr_t)room < lowest) lowest = (uintptr_t)room; }
__attribute__((noipa)) static int deep(int levels) {
    volatile char room[100];
    room[0] = (char)levels;
    note(room);
    int more = levels ? deep(levels - 1) : 0;
    return more + room[0];
}
__attribute__((noipa)) static int wide(void) { /* calls nothing */
    volatile char room[70000];
    room[0] = room[69999] = 1;
    note(room);
    return room[0];
}
static void *go(void *way) {
    highest = lowest = (uintptr_t)__builtin_frame_address(0);
    char *first = malloc(40000);
    kept = malloc(100000);
    free(first);
    if (*(char *)way != 'n') *(char *)way == 'd' ? deep(2000) : wide();
    char *more = malloc(20000);
    free(kept);
    deep(100); /* little then */
    free(more);
    return NULL;
}
int main(int count, char **arguments) {
    pthread_t thread;
    if (count > 2 && !pthread_create(&thread, NULL, go, arguments[1])) pthread_join(thread, NULL);
    else go(arguments[1]);
    printf("%lu\\n", (unsigned long)(highest - lowest));
    return 0;
}
"""


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep")
    (folder / "deep.c").write_text(DEEP)
    # What the dynamic linker needs to find a function takes more of the stack than those here, but not under Massif.
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-Wl,-z,now", "-o", folder / "deep", folder / "deep.c"], check=True, timeout=60)
    return folder / "deep"


@pytest.mark.parametrize("words", (["deep"], ["wide"], ["deep", "thread"], ["wide", "thread"]), ids=" ".join)
@pytest.mark.parametrize("switches", ([], ["--debug-block-limit=1"]), ids=("", "one"))
def test_a_peak_of_the_stack(sonde, deep, tmp_path, words, switches):
    """The most is there where nothing is allocated nor freed."""
    depth = int(run(sonde, tmp_path, *switches, "--massif-out-file=m", "--stacks=yes", deep, *words).stdout)
    peak = files.peak((tmp_path / "m").read_text())
    assert 100000 <= peak["mem_heap_B"] < 102000 and any("100000" in line and "go" in line for line in peak["tree"])
    assert depth > 69000 and depth <= peak["mem_stacks_B"] <= depth + 3000


def test_massif_sees_the_same_peak_of_the_stack(sonde, deep, tmp_path):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    for way in ("deep", "wide", "neither"):
        run(sonde, tmp_path, "--massif-out-file=s", "--stacks=yes", deep, way)
        subprocess.run(["valgrind", "-q", "--tool=massif", "--stacks=yes", "--massif-out-file=v", "--peak-inaccuracy=0.0", deep, way],
                       cwd=tmp_path, check=True, timeout=300, stdout=subprocess.DEVNULL)
        ours, theirs = (files.peak((tmp_path / name).read_text()) for name in "sv")
        assert ours["mem_heap_B"] == theirs["mem_heap_B"]
        # Massif has an allocator of its own.
        assert abs(ours["mem_stacks_B"] - theirs["mem_stacks_B"]) <= 500, way


def test_stacks_of_threads_that_come_and_go(sonde, tmp_path):
    source = ROOT / "tests" / "programs" / "heap_threads.c"
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", tmp_path / "threads", source], check=True, timeout=60)
    run(sonde, tmp_path, "--massif-out-file=m.%p", "--stacks=yes", "--ignore-fn=step_make", "--dump-every-bytes=3000000",
        tmp_path / "threads", "4", "10000", "fork")
    # One at the end of each process, and some before: how many depends on how long each takes to write.
    assert len(list(tmp_path.glob("m.*"))) >= 3
    for path in tmp_path.glob("m.*"):
        peak = files.peak(path.read_text())
        assert peak["mem_heap_B"] + peak["mem_stacks_B"] > 1000 # which is the larger at its most depends on the loader


def test_pages_as_heap(sonde, program, tmp_path):
    run(sonde, tmp_path, "--massif-out-file=m", "--pages-as-heap=yes", "--threshold=0", program, "peak")
    head, snapshots = files.massif((tmp_path / "m").read_text())
    assert all(snapshot["mem_heap_B"] % 4096 == 0 for snapshot in snapshots)
    tree = files.peak((tmp_path / "m").read_text())["tree"]
    assert "page allocation syscalls" in tree[0] and any("malloc" in line for line in tree)


# ------------------------------------------------------------------------------------------------------- other modes

@pytest.mark.parametrize("name", ("live.json", "live.json.gz"))
def test_live(sonde, program, tmp_path, name):
    right = known(run(sonde, tmp_path, "--mode=live", f"--output={name}", program, "peak"))
    profile = files.dmd(tmp_path / name)
    assert profile["sonde"]["cause"] == "exit" and profile["sonde"]["command"] == [str(program), "peak"]
    ours = {"req": 0, "slop": 0, "num": 0}
    for having in ("small", "large"):
        ours["req"] += files.total(profile, "req", having)
        ours["slop"] += files.total(profile, "slop", having)
        ours["num"] += files.count(profile, having)
    assert ours == {"req": right["live_bytes"], "slop": right["live_slop"], "num": right["live_blocks"]}
    for block in profile["blockList"]:
        names = files.functions(profile, block["alloc"])
        assert names[0] in ("malloc", "calloc", "__libc_malloc", "__libc_calloc"), names
        assert names[1:4] in (["small", "peak", "main"], ["large", "peak", "main"]) or "peak" not in names


def test_partial_stacks(sonde, program, tmp_path):
    run(sonde, tmp_path, "--mode=cumulative", "--stacks-kept=partial", "--output=p.json", program, "churn")
    run(sonde, tmp_path, "--mode=cumulative", "--output=f.json", program, "churn")
    profile = json.loads((tmp_path / "p.json").read_text())
    full = files.dmd(tmp_path / "f.json")
    assert files.total(profile) == files.total(full) and files.total(profile, "slop") == files.total(full, "slop")
    kept = sum(block.get("num", 1) for block in profile["blockList"] if "alloc" in block)
    assert 10 <= kept <= 40 and files.count(full) > 1100


def test_samples(sonde, program, tmp_path):
    run(sonde, tmp_path, "--mode=cumulative", "--sample-below=1000", "--output=s.json", program, "churn")
    profile = files.dmd(tmp_path / "s.json")
    sizes = {1000: 0, 5000: 0}
    for block in profile["blockList"]:
        if "churn" in files.functions(profile, block["alloc"]):
            sizes[block["req"]] += block.get("num", 1)
    assert sizes[5000] == 1 and 62 <= sum(sizes.values()) - 1 <= 70 and set(sizes) == {1000, 5000}
    assert abs(sizes[1000] * 1000 - (64 * 1000 + 32 * 100)) <= 2000


def test_blocks_at_the_peak(sonde, program, tmp_path):
    right = known(run(sonde, tmp_path, "--mode=live", "--dump-at-peak=yes", "--output=l.json", program, "peak"))
    profile = files.dmd(tmp_path / "l.json.peak")
    assert profile["sonde"]["cause"] == "peak"
    assert files.total(profile) == right["peak_bytes"] and files.count(profile) == right["peak_blocks"]
    assert files.total(profile, "slop") == right["peak_slop"]


def test_cumulative(sonde, program, tmp_path):
    run(sonde, tmp_path, "--mode=cumulative", "--output=c.json", program, "churn")
    rows = {(block["req"], files.functions(profile, block["alloc"])[1]): block
            for profile in [files.dmd(tmp_path / "c.json")] for block in profile["blockList"]}
    assert rows[64, "small"]["num"] == rows[64, "small"]["freed"] == 1000 and "lived" not in rows[64, "small"]
    assert rows[32, "large"]["num"] == 100
    assert rows[5000, "large"]["freed"] == 1 and rows[5000, "large"]["lived"] == 3200


def test_dark_matter(sonde, program, tmp_path):
    run(sonde, tmp_path, "--mode=dark-matter", "--output=d.json", program, "reports")
    profile = files.dmd(tmp_path / "d.json")
    reports = {block["req"]: [files.functions(profile, report)[0] for report in block.get("reps", [])]
               for block in profile["blockList"] if "reports" in files.functions(profile, block["alloc"])}
    assert reports == {100: [], 200: ["report_once"], 300: ["report_once", "report_twice"], 400: ["reports"]}


def test_scan(sonde, program, tmp_path):
    done = run(sonde, tmp_path, "--mode=scan", "--output=s.json.gz", program, "graph")
    right = {name: int(value, 16) for name, value in (line.split() for line in done.stdout.splitlines())}
    profile = files.dmd(tmp_path / "s.json.1.gz")
    blocks = {int(block["addr"], 16): block for block in profile["blockList"]}
    words = [int(word, 16) for word in blocks[right["first"]]["contents"]]
    assert words == [right["second"], 1, right["text"]] and blocks[right["first"]]["req"] == 56
    assert [int(word, 16) for word in blocks[right["text"]]["contents"]] == [int.from_bytes(b"knot", "little")]
    addresses = sorted(blocks)
    assert all(low + blocks[low]["req"] <= high for low, high in zip(addresses, addresses[1:]))

    roots = profile["roots"]
    variable = [root for root in roots if root.get("addr") == f"{right['variable']:x}"]
    assert len(variable) == 1 and variable[0]["kind"] == "global" and variable[0]["module"] == str(program)
    assert variable[0]["name"] == "first_knot"
    assert variable[0]["contents"] == [f"{right['first']:x}"]
    held = [address for address, block in blocks.items() if block["contents"][1:2] in (["4d"], ["4e"])]
    assert len(held) == 2
    for address in held:
        kinds = {root["kind"] for root in roots if root["contents"] == [f"{address:x}"]}
        assert "stack" in kinds, roots


# -------------------------------------------------------------------------------------------------------------- dumps

def test_dumps_by_requests_and_signals(sonde, program, tmp_path):
    done = run(sonde, tmp_path, "--mode=live", "--dump-signal=10", "--output=r.json", program, "dumps", "dump", "usr1", "status")
    assert "dump 0\n" in done.stdout and "handled 0" in done.stdout  # the program does not see its own signal either
    assert "bytes live" in done.stderr and "2 files written" in done.stderr
    sizes = [{block["req"] for block in files.dmd(tmp_path / name)["blockList"]} & {1000, 1001, 1002, 2000}
             for name in ("r.json.1", "r.json.2", "r.json")]
    assert sizes == [{1000}, {1000, 1001}, {1000, 1001, 1002, 2000}]
    assert [files.dmd(tmp_path / name)["sonde"]["cause"] for name in ("r.json.1", "r.json.2", "r.json")] == ["asked", "signal", "exit"]


@pytest.mark.parametrize("signal", (10, 37))
def test_dump_signal_from_outside(program, tmp_path, signal):
    """One that the program handles, and one that would kill it; the call that it waits in goes on."""
    command = [SONDE, "heap", "--mode=live", f"--dump-signal={signal}", "--output=o.json", program, "dumps", "wait"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "waiting\n"
        for number in (1, 2):
            child.send_signal(signal)
            until = time.monotonic() + 60
            while not (tmp_path / f"o.json.{number}").exists() and time.monotonic() < until:
                time.sleep(0.01)
        printed, _ = child.communicate("\n", timeout=60)
        assert child.returncode == 0 and "handled 0" in printed
    for number in (1, 2):
        profile = files.dmd(tmp_path / f"o.json.{number}")
        assert profile["sonde"]["cause"] == "signal" and 1000 in {block["req"] for block in profile["blockList"]}


@pytest.mark.parametrize("signal", (9, 11, 19))
def test_signals_that_cannot_be_taken(sonde, program, tmp_path, signal):
    done = run(sonde, tmp_path, f"--dump-signal={signal}", program, "peak", status=2)
    assert done.stderr == f"sonde: signal {signal} cannot be taken from the program\n"


def test_dump_from_outside(program, tmp_path):
    command = [SONDE, "heap", "--mode=live", "--output=o.json", program, "dumps", "wait"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "waiting\n"
        for words in (["control", str(child.pid), "dump"], ["control", str(child.pid), "status"], ["dump", str(child.pid)]):
            subprocess.run([SONDE, *words], check=True, timeout=60, stdout=subprocess.DEVNULL)
        child.communicate("\n", timeout=60)
        assert child.returncode == 0
    for number in (1, 2):
        sizes = {block["req"] for block in files.dmd(tmp_path / f"o.json.{number}")["blockList"]}
        assert 1000 in sizes and 2000 not in sizes


def test_dumps_by_bytes(sonde, program, tmp_path):
    run(sonde, tmp_path, "--mode=cumulative", "--dump-every-bytes=20000", "--output=b.json", program, "churn")
    totals = [files.total(files.dmd(path)) for path in sorted(tmp_path.glob("b.json.*"), key=lambda path: int(path.suffix[1:]))]
    assert totals == sorted(totals) and len(totals) in (2, 3) and totals[0] >= 20000


def test_dumps_to_a_device(sonde, program, tmp_path):
    run(sonde, tmp_path, "--mode=live", "--dump-at-peak=yes", "--output=/dev/null", program, "dumps", "dump")
    assert not pathlib.Path("/dev/null.1").exists() and not pathlib.Path("/dev/null.peak").exists()


def test_timeline_so_far(program, sonde, tmp_path):
    run(sonde, tmp_path, "--massif-out-file=t", program, "dumps", "dump")
    first, last = (files.massif((tmp_path / name).read_text())[1][-1]["mem_heap_B"] for name in ("t.1", "t"))
    assert last == first + 2000


def test_threads_and_fork(sonde, tmp_path):
    source = ROOT / "tests" / "programs" / "heap_threads.c"
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", tmp_path / "threads", source], check=True, timeout=60)
    done = run(sonde, tmp_path, "--mode=cumulative", "--output=f.%p.json", tmp_path / "threads", "4", "5000", "fork")
    made = {profile["sonde"]["process"]: profile for profile in map(files.dmd, tmp_path.glob("f.*.json"))}
    assert len(made) == 2
    allocated = [files.total(profile, "req", "step_make") for profile in made.values()]
    assert int(done.stdout.split()[1]) in allocated
    for profile in made.values():
        assert all(block.get("freed", 0) <= block.get("num", 1) for block in profile["blockList"])


def test_timeline_of_a_forked_child(sonde, tmp_path):
    source = ROOT / "tests" / "programs" / "heap_threads.c"
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", tmp_path / "threads", source], check=True, timeout=60)
    run(sonde, tmp_path, "--time-unit=i", "--massif-out-file=t.%p", tmp_path / "threads", "1", "20000", "late")
    profiles = [files.massif(path.read_text())[1] for path in tmp_path.glob("t.*")]
    assert len(profiles) == 2
    for snapshots in profiles:
        times = [snapshot["time"] for snapshot in snapshots]
        assert times == sorted(times) and len(snapshots) <= 102
        # The program goes on allocating all the time, and so do the snapshots.
        assert sum(time > times[-1] / 2 for time in times) >= 10


@pytest.mark.parametrize("word, message", (
    ("--threshold=x", "--threshold=x: a number from 0 to 100"),
    ("--depth=0", "--depth=0: a number from 1 to 200"),
    ("--max-snapshots=5", "--max-snapshots=5: a number from 10 to 1000"),
    ("--mode=scan --dump-at-peak=yes", "--dump-at-peak=yes is for --mode=live"),
    ("--sample-below=100", "--stacks-kept=partial and --sample-below= are not for --mode=timeline"),
    ("--mode=live --pages-as-heap=yes", "--pages-as-heap=yes is for --mode=timeline"),
    ("--mode=live --output=/nowhere/x", "--output: cannot write '/nowhere/x'"),
))
def test_wrong_options(sonde, tmp_path, word, message):
    done = run(sonde, tmp_path, *word.split(), sys.executable, status=2)
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
