"""@fileoverview `sonde heap --mode=cumulative --accesses=yes`: what is read from blocks and written to them, and what never is."""
import json
import subprocess

import pytest

from conftest import ROOT

PROGRAM = ROOT / "tests" / "programs" / "heap_accesses.c"
# Function that allocates -> blocks, bytes read, bytes written, blocks never read, blocks never used.
EXPECTED = {
    "untouched": (3, 0, 0, 3, 3),
    "written": (2, 0, 4, 2, 0),
    "used": (1, 88, 408, 0, 0),
    "grown": (1, 0, 8, 1, 0),
    "cleared": (1, 8, 0, 0, 0),
    "for_kernel": (1, 6, 10, 0, 0),
    "strings": (1, 0, 1000, 1, 0),
    "alive": (1, 0, 16, 1, 0),
    "shared": (1, 0, 16000, 1, 0),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    target = tmp_path_factory.mktemp("accesses") / "program"
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", target, PROGRAM], check=True, timeout=60)
    return target


def run(sonde, *words, status=0):
    done = sonde(*words, timeout=120)
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.parametrize("contexts", ("unwound", "followed"))
def test_known_accesses(sonde, program, tmp_path, contexts):
    path = tmp_path / "dump.json"
    run(sonde, "heap", "--mode=cumulative", "--accesses=yes", f"--contexts={contexts}", f"--output={path}", program)
    dump = json.loads(path.read_text())
    found = {}
    for block in dump["blockList"]:
        frames = [dump["frameTable"][frame].split(": ", 1)[1].split(" (")[0] for frame in dump["traceTable"][block["alloc"]]]
        name = next((frame for frame in frames if frame in EXPECTED), None)
        if name:  # several rows, where the allocator gives blocks of other sizes
            row = (block.get("num", 1), block["read"], block["written"], block.get("unread", 0), block.get("unused", 0))
            found[name] = tuple(map(sum, zip(found.get(name, (0,) * len(row)), row)))
    assert found == EXPECTED


def test_report(sonde, program, tmp_path):
    path = tmp_path / "dump.json"
    run(sonde, "heap", "--mode=cumulative", "--accesses=yes", f"--output={path}", program)
    answer = json.loads(run(sonde, "report", "--sort-by=never-used", "--format=json", path).stdout)
    first = answer["records"][0]
    assert (first["blocks"], first["read"], first["written"], first["never_read"], first["never_used"]) == (3, 0, 0, 3, 3)
    text = run(sonde, "report", "--sort-by=never-used", path).stdout
    record = text[text.index("Record 1 of"):text.index("Record 2 of")]
    assert "  read: 0 bytes (0.00 for each byte), written: 0 (0.00)\n  never read: 3 blocks, 3 of them not written either\n" in record
    most = json.loads(run(sonde, "report", "--sort-by=written", "--format=json", path).stdout)["records"]
    assert most[0]["written"] == 16000


def test_only_where_it_means_something(sonde, program):
    for words in (["--accesses=yes"], ["--accesses=yes", "--mode=live"], ["--accesses=yes", "--mode=cumulative", "--sample-below=100"]):
        done = run(sonde, "heap", *words, program, status=2)
        assert done.stderr == "sonde: --accesses=yes is for --mode=cumulative, without --sample-below=\n"
