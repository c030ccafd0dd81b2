"""Trace files that are cut, damaged or hostile: the fuzz target of the reader for a fixed number of seeds, and what
`sonde report` says."""

import json
import subprocess

import pytest

from conftest import BUILD, ROOT, run_sonde
from test_memtrace import build_assembly, build_c, parse

TIMEOUT = 280
THREADS = """
#include <pthread.h>
#include <unistd.h>
static volatile int numbers[3000];
static void *work(void *start) {
    for (int i = 0; i < 3000; i++) numbers[(i * i + (int)(long)start) % 3000] += i;
    __builtin_memset((void *)numbers, 1, 99);
    return write(2, "", 0) ? 0 : start;
}
int main(void) { pthread_t thread; return pthread_create(&thread, 0, work, (void *)1) || !work(start_of()) || pthread_join(thread, 0); }
""".replace("start_of()", "(void *)2")


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Files with all that a trace can hold."""
    folder = tmp_path_factory.mktemp("traces")
    threads = build_c(folder, "threads", THREADS)
    primes = build_assembly(folder, "primes", (ROOT / "examples/primes.s").read_text())
    made = {"threads.trace": ["--only=work", "--only=memset", "--instructions=yes", "--system-calls=yes", threads],
            "primes.trace": ["--address=0+0x404800", primes]}
    for name, words in made.items():
        ended = run_sonde("memtrace", f"--output={folder}/{name}", *words)
        assert (ended.returncode, ended.stderr) == (0, "")
    return [folder / name for name in made]


def test_hostile_traces(tmp_path, traces):
    fuzzer = tmp_path / "fuzz_memtrace"
    parts = ("reader", "code", "events", "tally", "reuse")
    sources = ["tests/fuzz/fuzz_memtrace.c", *(f"src/report/memtrace_{part}.c" for part in parts),
               *(path.relative_to(ROOT) for path in sorted((ROOT / "src/base").glob("*.c")))]
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE=", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
                    "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", f"-I{BUILD}", f"-I{ROOT}/include",
                    f"-I{ROOT}/src", *(ROOT / source for source in sources), "-lzstd", "-o", fuzzer], check=True, timeout=TIMEOUT)
    subprocess.run([fuzzer, "1", "400", *traces], check=True, cwd=tmp_path, timeout=TIMEOUT, stdout=subprocess.DEVNULL)


def test_cut(tmp_path, traces):
    """Everything before the cut is shown, then one line and status 3."""
    whole = run_sonde("report", "--view=trace", traces[0]).stdout
    content = traces[0].read_bytes()
    seen = []
    for size in range(40, len(content), len(content) // 25):
        (tmp_path / "cut").write_bytes(content[:size])
        ended = run_sonde("report", "--view=trace", tmp_path / "cut")
        assert ended.returncode == 3 and ended.stderr.count("\n") == 1 and f"'{tmp_path}/cut'" in ended.stderr
        assert whole.startswith(ended.stdout)
        seen.append(len(ended.stdout))
    assert seen == sorted(seen) and seen[0] == 0 and seen[-1] > len(whole) / 3
    report = json.loads(run_sonde("report", "--format=json", tmp_path / "cut").stdout)
    assert report["incomplete"] in ended.stderr


def test_damaged(tmp_path, traces):
    content = bytearray(traces[0].read_bytes())
    content[len(content) // 2] ^= 4
    (tmp_path / "damaged").write_bytes(content)
    ended = run_sonde("report", tmp_path / "damaged")
    assert ended.returncode == 3 and ended.stderr.count("\n") == 1 and "is damaged at byte" in ended.stderr
    assert "Accesses" in ended.stdout


@pytest.mark.parametrize("content, words", [
    (b"", "is empty"),
    (b"\x89SnMem\x09\n" + bytes(24), "is a trace of version 9, this is version 1"),
    (b"\x89SnMem\x01\n", "is cut off in the block that begins at byte 0"),
    (b"no trace at all", "is no profile that sonde report knows"),
])
def test_no_trace(tmp_path, content, words):
    (tmp_path / "file").write_bytes(content)
    ended = run_sonde("report", tmp_path / "file")
    assert ended.returncode == 3 and ended.stderr.count("\n") == 1 and words in ended.stderr


@pytest.mark.parametrize("options, words", [
    (["--view=everything"], "--view needs one of"),
    (["--limit=-1"], "--limit must not be negative"),
    (["--page-size=1000"], "--page-size must be a power of two"),
    (["--line-size=0"], "--line-size must be a power of two"),
    (["--sort=Ir"], "unknown option"),
])
def test_bad_options(traces, options, words):
    ended = run_sonde("report", *options, traces[0])
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and words in ended.stderr
    ended = run_sonde("report", *traces)
    assert ended.returncode == 2 and "takes one file" in ended.stderr


def reuse_distances(accesses, line_size):
    """By the definition: how many different lines since the last access of this one."""
    order, distances = [], {}
    for _, address, size in accesses:
        for line in range(address // line_size, (address + size - 1) // line_size + 1):
            distance = len(order) - 1 - order.index(line) if line in order else None
            if distance is not None:
                order.remove(line)
            order.append(line)
            distances[distance] = distances.get(distance, 0) + 1
    return distances


@pytest.mark.parametrize("line_size", [64, 512])
def test_sums(traces, line_size):
    """Sums against sums over the lines of the trace."""
    accesses = parse(run_sonde("report", "--view=trace", traces[1]).stdout)
    summary = json.loads(run_sonde("report", "--format=json", "--limit=100000", "--page-size=1k", traces[1]).stdout)
    count = {letter: sum(access[0] == letter for access in accesses) for letter in "LSM"}
    assert [summary["total"][key] for key in ("loads", "stores", "modifies", "bytes")] == \
        [count["L"], count["S"], count["M"], sum(size for *_, size in accesses)]
    pages = {}
    for _, address, _ in accesses:
        pages[address // 1024 * 1024] = pages.get(address // 1024 * 1024, 0) + 1
    assert {page["address"]: page["loads"] + page["stores"] + page["modifies"] for page in summary["pages"]} == pages
    events = json.loads(run_sonde("report", "--view=trace", "--format=json", traces[1]).stdout)["accesses"]
    strides, last = {}, {}
    for event in events:
        if event["code"] in last:
            stride = event["address"] - last[event["code"]]
            strides[stride] = strides.get(stride, 0) + 1
        last[event["code"]] = event["address"]
    assert {row["stride"]: row["count"] for row in summary["strides"]} == strides
    assert summary["stride count"] == sum(strides.values())
    lines = {}
    for event in events:
        lines[event["line"]] = lines.get(event["line"], 0) + 1
    assert {row["line"]: row["loads"] + row["stores"] for row in summary["lines"]} == lines
    assert sum(row["loads"] + row["stores"] for row in summary["functions"]) == len(events)
    reuse = json.loads(run_sonde("report", "--format=json", "--view=reuse", f"--line-size={line_size}", traces[1]).stdout)
    distances = reuse_distances(accesses, line_size)
    assert reuse["first accesses"] == distances.pop(None)
    for row in reuse["reuse"]:
        assert row["count"] == sum(number for distance, number in distances.items() if row["from"] <= distance <= row["to"])
    assert sum(row["count"] for row in reuse["reuse"]) == sum(distances.values())
