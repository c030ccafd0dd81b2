"""`sonde report` on Massif's files: a small one with known answers, Massif's own against ms_print, and every kind of damage."""
import json
import re
import shutil

import pytest

from conftest import BUILD, ROOT
from report_runs import FIRST_SEED, SEEDS, printed, report, run

LINE = "#-----------\n"


def snapshot(number, time, heap, extra, stacks, tree="heap_tree=empty\n"):
    return f"{LINE}snapshot={number}\n{LINE}time={time}\nmem_heap_B={heap}\nmem_heap_extra_B={extra}\nmem_stacks_B={stacks}\n{tree}"


TREE = """n2: 900 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n2: 600 0x1091B6: f (a.c:5)
  n1: 500 0x1091F0: g (a.c:15)
   n0: 500 0x109200: main (a.c:25)
  n0: 100 0x109210: main (a.c:26)
 n0: 300 in 3 places, all below massif's threshold (1.00%)
"""
HEAD = "desc: --time-unit=B\ncmd: ./a <b>\ntime_unit: B\n"
SMALL = HEAD + snapshot(0, 0, 0, 0, 0) + snapshot(1, 500, 400, 50, 10) + snapshot(2, 1000, 900, 100, 20, "heap_tree=peak\n" + TREE) \
    + snapshot(3, 2000, 10, 6, 0, "heap_tree=detailed\nn1: 10 (heap allocation functions) x\n n0: 10 0x1: h (b.c:1)\n")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "massif.out.1"
    path.write_text(SMALL)
    return path


def test_json(small):
    found = json.loads(printed("--format=json", small))
    assert {name: found[name] for name in ("kind", "command", "description", "time_unit", "peak")} == {
        "kind": "massif", "command": "./a <b>", "description": "--time-unit=B", "time_unit": "B", "peak": 2}
    assert [(row["time"], row["heap"], row["extra"], row["stacks"], row["detail"]) for row in found["snapshots"]] == [
        (0, 0, 0, 0, "empty"), (500, 400, 50, 10, "empty"), (1000, 900, 100, 20, "peak"), (2000, 10, 6, 0, "detailed")]
    assert [(node["depth"], node["bytes"], node["name"]) for node in found["snapshots"][2]["tree"]] == [
        (0, 900, "(heap allocation functions) malloc/new/new[], --alloc-fns, etc."), (1, 600, "f (a.c:5)"), (2, 500, "g (a.c:15)"),
        (3, 500, "main (a.c:25)"), (2, 100, "main (a.c:26)"), (1, 300, "in 3 places, all below massif's threshold (1.00%)")]


def test_text(small):
    text = printed(small)
    graph = re.findall(r"^ *(?:1020\.0 B)? *\|(.*)$", text, re.M)
    assert len(graph) == 20 and graph[0] == " " * 33 + "#" + ":" * 33 and graph[-1] == " " * 16 + ":" * 17 + "#" + ":" * 33 + "@"
    assert [line.count(":") + line.count("#") for line in graph] == [34] * 10 + [51] * 10    # 460 of 1020 bytes reach into the tenth of 20 rows
    assert re.search(r"^#  2 +1,000 +1,020 +900 +100 +20\n   88\.24 % 900 \(heap.*\n     58\.82 % 600 f \(a\.c:5\)\n       49\.02 % 500 g", text, re.M)
    assert "h (b.c:1)" in text and "h (b.c:1)" not in printed("--trees=peak", small) and "g (a.c:15)" not in printed("--trees=none", small)


def test_a_peak_that_is_not_marked(tmp_path):
    path = tmp_path / "massif.out"
    path.write_text(HEAD + snapshot(0, 0, 5, 1, 0) + snapshot(1, 3, 7, 1, 0) + snapshot(2, 3, 6, 1, 0))
    assert json.loads(printed("--format=json", path))["peak"] == 1
    path.write_text(HEAD + snapshot(0, 0, 0, 0, 0))
    assert "0.0 B |\n" in printed(path)


@pytest.mark.skipif(not shutil.which("valgrind") or not shutil.which("ms_print"), reason="valgrind is not installed")
@pytest.mark.parametrize("unit", ["i", "ms", "B"])
def test_massif_s_own(tmp_path, unit):
    path = tmp_path / "massif.out"
    run("valgrind", "--tool=massif", f"--massif-out-file={path}", f"--time-unit={unit}", "--stacks=yes", "perl", "-e",
        "my @a; for (1..3000) { push @a, 'x' x 50; @a = () if @a == 1000 }")
    found = json.loads(printed("--format=json", path))
    shown = run("ms_print", path).stdout
    rows = [tuple(int(number.replace(",", "")) for number in row) for row in
            re.findall(r"^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$", shown, re.M)]
    assert rows == [(number, row["time"], row["heap"] + row["extra"] + row["stacks"], row["heap"], row["extra"], row["stacks"])
                    for number, row in enumerate(found["snapshots"])]
    assert re.search(r"Detailed snapshots:.*\b(\d+) \(peak\)", shown)[1] == str(found["peak"])
    sums = {row["tree"][0]["bytes"] for row in found["snapshots"] if row["tree"]}
    assert sums == {row["heap"] for row in found["snapshots"] if row["tree"]}


@pytest.mark.parametrize("text, message", [
    (SMALL[:-1], "line 43: the file ends within a line"), (SMALL.replace("cmd:", "command:"), "line 2: cmd: is expected"),
    (SMALL.replace("time=500\n", "time=x\n"), "a number is expected"), (SMALL.replace("time=500\n", "time=5000\n"), "time goes backwards"),
    (SMALL.replace("time=500\n", "time=99999999999999999999\n"), "a number is expected"), (SMALL.replace("snapshot=1\n", "snapshot=2\n"), "not numbered"),
    (SMALL.replace("heap_tree=peak", "heap_tree=top"), "none of empty, detailed, peak"), (SMALL.replace("n1: 500", "n2: 500"), "at its depth"),
    (SMALL.replace("n2: 600", "n1: 600"), "at its depth"), (SMALL.replace("n0: 500", "n0: 501"), "more bytes than it"),
    (SMALL.replace("n0: 500 0x", "n0 500 0x"), "its children, bytes and text"), (SMALL.replace(" n0: 300 in", " x0: 300 in"), "at its depth"),
    (SMALL.replace("mem_heap_extra_B=50\n", ""), "mem_heap_extra_B= is expected"), (HEAD, "there are no snapshots"), (SMALL + "x\n", "#--- is expected"),
    (HEAD + snapshot(0, 1, 1, 0, 0, "heap_tree=detailed\n" + "".join(f"{' ' * depth}n1: 1 x\n" for depth in range(2000))), "the tree is too deep"),
], ids=lambda text: text[:30] if len(text) < 100 else "-")
def test_damage(tmp_path, text, message):
    path = tmp_path / "massif.out"
    path.write_text(text)
    ended = report(path)
    assert (ended.returncode, ended.stdout) == (3, "") and message in ended.stderr
    assert re.fullmatch(r"sonde: '[^']*', line \d+: [^\n]*\n", ended.stderr)


def test_every_truncation_is_noticed(tmp_path):
    """But where a snapshot ends: that is what a file looks like whose writer was stopped between two."""
    path, whole = tmp_path / "massif.out", {SMALL.index(LINE, SMALL.index(f"snapshot={number}\n") + 30) for number in range(3)}
    for length in range(len(HEAD), len(SMALL), 3):
        path.write_text(SMALL[:length])
        ended = report(path)
        is_whole = SMALL[:length].endswith("\n") and any(SMALL[length:].startswith(f"{LINE}snapshot={number}") for number in range(1, 4))
        assert ended.returncode == (0 if is_whole else 3), SMALL[:length]


def test_options(small):
    for words, message in (([small, small], "takes one file"), (["--trees=x", small], "--trees"), (["--depth=1", small], "unknown option")):
        ended = report(*words)
        assert ended.returncode == 2 and message in ended.stderr and ended.stderr.count("\n") == 1


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_fuzz(tmp_path):
    program = tmp_path / "fuzz_massif"
    sources = [*(ROOT / "src/report" / f"{name}.c" for name in ("massif_json", "massif_reader", "massif_text", "text_form")),
               *(ROOT / "src/base").glob("*.c")]
    built = run("gcc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE=", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{BUILD}", "-o", program, ROOT / "tests/fuzz/fuzz_massif.c", *sources)
    assert built.returncode == 0, built.stderr
    ended = run(program, FIRST_SEED, SEEDS, timeout=300)
    assert ended.returncode == 0 and re.fullmatch(r"\d+ accepted, \d+ refused\n", ended.stderr), ended.stderr
