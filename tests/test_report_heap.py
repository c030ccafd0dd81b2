"""`sonde report` on heap files: small ones with known answers, random ones against a model in Python, large ones for speed and memory,
and every kind of damage.
"""
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import time

import pytest

import heap_files
from conftest import BUILD, ROOT, SONDE
from report_runs import printed, report, run

SEEDS = int(os.environ.get("FUZZ_SEEDS", "20000"))
FIRST_SEED = int(os.environ.get("FUZZ_FIRST_SEED", "1"))
FRAMES = {"m": "#00: malloc (vm.c:1)", "n": "#00: operator new(unsigned long) (new.cc:4)", "f": "#00: f (f.c:10)", "g": "#00: g (g.c:20)",
          "M": "#00: main (main.c:30)", "r": "#00: report (r.c:5)", "s": "#00: other <report> (r.c:6)"}
TRACES = {"A": ["m", "f", "M"], "B": ["n", "m", "g", "M"], "C": ["m", "f", "g", "M"], "R": ["r", "M"], "S": ["s", "M"]}


def written(folder, name, made):
    path = folder / name
    text = json.dumps(made)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def found(*words):
    return json.loads(printed("--format=json", *words))


def summary(record):
    return record["blocks"], record["usable"], record["requested"], record["slop"], record["allocated_at"]


LIVE = heap_files.document(
    [{"req": 100, "slop": 12, "alloc": "A"}, {"req": 100, "slop": 12, "alloc": "A"}, {"req": 4000, "slop": 96, "alloc": "B"},
     {"req": 1, "slop": 15, "alloc": "C", "num": 5}, {"req": 64}], TRACES, FRAMES, "live", options="--mode=live")


# -------------------------------------------------------------------------------- records

def test_records(tmp_path):
    for name in ("live.json", "live.json.gz"):
        answer = found(written(tmp_path, name, LIVE))
        assert (answer["kind"], answer["mode"], answer["options"]) == ("heap", "live", ["--mode=live"])
        assert answer["total"] == {"blocks": 9, "usable": 4464, "requested": 4269, "slop": 195}
        assert [summary(record) for record in answer["records"]] == [
            (1, 4096, 4000, 96, ["operator new(unsigned long) (new.cc:4)", "malloc (vm.c:1)", "g (g.c:20)", "main (main.c:30)"]),
            (2, 224, 200, 24, ["malloc (vm.c:1)", "f (f.c:10)", "main (main.c:30)"]),
            (5, 80, 5, 75, ["malloc (vm.c:1)", "f (f.c:10)", "g (g.c:20)", "main (main.c:30)"]),
            (1, 64, 64, 0, ["(no stack was kept, as with --stacks=partial)"])]
        assert answer["records"][2]["sizes"] == [{"usable": 16, "blocks": 5}]


def test_a_compressed_file_is_told_by_its_beginning(tmp_path):
    path = tmp_path / "some.name"
    path.write_bytes(gzip.compress(json.dumps(LIVE).encode()))
    assert found(path)["total"]["blocks"] == 9


@pytest.mark.parametrize("order, blocks", [("usable", [1, 2, 5, 1]), ("req", [1, 2, 1, 5]), ("slop", [1, 5, 2, 1]),
                                           ("num-blocks", [5, 2, 1, 1])])
def test_orders(tmp_path, order, blocks):
    answer = found(f"--sort-by={order}", written(tmp_path, "live.json", LIVE))
    assert [record["blocks"] for record in answer["records"]] == blocks


def test_frames_decide_what_is_one_record(tmp_path):
    path = written(tmp_path, "live.json", LIVE)
    rows = [(record["blocks"], record["allocated_at"]) for record in found("--max-frames=2", path)["records"]]
    assert (7, ["malloc (vm.c:1)", "f (f.c:10)"]) in rows and len(rows) == 3
    rows = [(record["blocks"], record["allocated_at"]) for record in found("--ignore-alloc-fns", "--max-frames=1", path)["records"]]
    assert rows == [(1, ["g (g.c:20)"]), (7, ["f (f.c:10)"]), (1, ["(no stack was kept, as with --stacks=partial)"])]


def test_the_name_of_a_file_makes_no_allocator(tmp_path):
    frames = {"a": "#00: push (my_malloc.c:1)", "b": "#00: main (main.c:30)"}
    answer = found("--ignore-alloc-fns", written(tmp_path, "a.json", heap_files.document(
        [{"req": 1, "alloc": "A"}], {"A": ["a", "b"]}, frames, "live")))
    assert answer["records"][0]["allocated_at"] == ["push (my_malloc.c:1)", "main (main.c:30)"]


@pytest.mark.parametrize("filters, blocks", [
    (["--filter=g.c"], [1, 5]), (["--filter=!g.c"], [2, 1]), (["--filter=main", "--filter=f.c"], [2, 5]), (["--filter-out=main"], [1]),
    (["--filter=\\!g"], []), (["--filter=operator", "--filter-out=main"], [])])
def test_filters(tmp_path, filters, blocks):
    answer = found(*filters, written(tmp_path, "live.json", LIVE))
    assert [record["blocks"] for record in answer["records"]] == blocks
    assert answer["total"]["blocks"] == 9


def test_text(tmp_path):
    text = printed("--max-frames=2", written(tmp_path, "live.json", LIVE))
    assert text.splitlines()[:2] == [f"sonde report: {tmp_path}/live.json", "  mode live, options --mode=live"]
    assert "Record 1 of 3: 4,096 bytes in 1 block (4,000 requested, 96 slop)\n  91.76 % of the heap, 91.76 % with those before\n" \
           "  allocated at\n    #01: operator new(unsigned long) (new.cc:4)\n    #02: malloc (vm.c:1)\n" in text
    assert "Record 2 of 3: 304 bytes in 7 blocks (205 requested, 99 slop)\n  6.81 % of the heap, 98.57 % with those before\n" \
           "  block sizes: 112 x 2; 16 x 5\n" in text
    assert text.endswith("\nTotal: 4,464 bytes in 9 blocks (4,269 requested, 195 slop)\n")
    text = printed("--filter=f.c", "--records=1", tmp_path / "live.json")
    assert "  and 1 more records\n" in text and "  of 4,464 bytes in 9 blocks without the filters\n" in text


def test_nothing(tmp_path):
    path = written(tmp_path, "live.json", heap_files.document([], {}, {}, "cumulative", options=None))
    assert printed(path) == f"sonde report: {path}\n  mode cumulative\n\n  no blocks\n\nTotal: 0 bytes in 0 blocks (0 requested, 0 slop)\n"
    path = written(tmp_path, "scan.json", heap_files.document([], {}, {}, "scan", roots=[]))
    assert found(path)["leaks"]["unreachable"] == {"blocks": 0, "bytes": 0, "contexts": []}
    assert found("--retained", path)["blocks"] == []


def test_dark_matter(tmp_path):
    blocks = [{"req": 10, "alloc": "A"}, {"req": 20, "slop": 12, "alloc": "A", "reps": ["R"]},
              {"req": 20, "slop": 12, "alloc": "A", "reps": ["S"]}, {"req": 20, "slop": 12, "alloc": "A", "reps": ["R"]},
              {"req": 7, "slop": 9, "alloc": "C", "reps": ["R", "S"], "num": 3}]
    path = written(tmp_path, "dark.json", heap_files.document(blocks, TRACES, FRAMES, "dark-matter"))
    rows = [(record["section"], record["blocks"], record["usable"], record["reported_at"]) for record in found(path)["records"]]
    reports = [["report (r.c:5)", "main (main.c:30)"], ["other <report> (r.c:6)", "main (main.c:30)"]]
    assert rows == [("twice-reported", 3, 48, reports), ("unreported", 1, 10, []), ("once-reported", 2, 64, [reports[0]]),
                    ("once-reported", 1, 32, [reports[1]])]
    text = printed(path)
    assert [re.sub(" +", " ", line) for line in text.splitlines()[-5:]] == [
        "Total", " all 154 bytes (100.00 %) in 7 blocks (100.00 %)", " unreported 10 bytes ( 6.49 %) in 1 blocks ( 14.29 %)",
        " once-reported 96 bytes ( 62.34 %) in 3 blocks ( 42.86 %)", " twice-reported 48 bytes ( 31.17 %) in 3 blocks ( 42.86 %)"]
    assert "  66.67 % of once-reported, 66.67 % with those before\n" in text and "  reported again at\n    #01: other <report> (r.c:6)\n" in text


def test_difference(tmp_path):
    before = heap_files.document([{"req": 100, "slop": 12, "alloc": "X"}, {"req": 8, "alloc": "Y"}, {"req": 8, "alloc": "Z"}],
                                 {"X": ["1", "3"], "Y": ["2", "3"], "Z": ["3"]},
                                 {"1": FRAMES["f"], "2": FRAMES["g"], "3": FRAMES["M"]}, "live", options="before")
    after = heap_files.document([{"req": 100, "slop": 12, "alloc": "A", "num": 3}, {"req": 8, "alloc": "B"}],
                                {"A": ["9", "8"], "B": ["8"]}, {"9": FRAMES["f"], "8": FRAMES["M"]}, "live", options="after")
    paths = [written(tmp_path, "before.json", before), written(tmp_path, "after.json.gz", after)]
    answer = found(*paths)
    assert (answer["kind"], answer["options"]) == ("heap comparison", ["before", "after"])
    assert answer["total"] == {"blocks": 1, "usable": 216, "requested": 192, "slop": 24}
    assert [summary(record) for record in answer["records"]] == [(2, 224, 200, 24, ["f (f.c:10)", "main (main.c:30)"]),
                                                                 (-1, -8, -8, 0, ["g (g.c:20)", "main (main.c:30)"])]
    assert answer["records"][1]["sizes"] == [{"usable": 8, "blocks": -1}]
    assert "Total: 216 bytes in 1 block" in printed(*paths)


def test_lives(tmp_path):
    made = heap_files.document([{"req": 8, "num": 10, "alloc": "A", "freed": 4, "lived": 1000}, {"req": 8, "alloc": "A", "freed": 1, "lived": 5},
                                {"req": 8, "alloc": "C"}], TRACES, FRAMES, "cumulative")
    made["sonde"] = {"process": 7, "command": ["./a", "b c"], "cause": "exit", "number": 1}
    path = written(tmp_path, "a.json", made)
    answer = found(path)
    assert (answer["commands"], answer["causes"]) == (["./a b c"], ["exit"])
    assert [(record["freed"], record["lived"]) for record in answer["records"]] == [(5, 1005), (0, 0)]
    text = printed(path)
    assert "  command: ./a b c\n  written at: exit\n" in text and text.count("freed:") == 1
    assert "  freed: 5 blocks, each after 201 allocated bytes on average\n" in text


def test_memory(tmp_path):
    """The contents are never held: a dump of 60 MB takes less than 45, with the graph of its million pointers."""
    path = tmp_path / "scan.json"
    heap_files.write_large(path, 100000, 600)
    assert path.stat().st_size > 60e6
    for options in (["--leaks=no"], ["--block=7f1200000010", "--why-alive"], ["--clamp-contents", f"--clamped-output={tmp_path}/c.json"]):
        ended = run("sh", "-c", 'ulimit -d 45000 && exec "$@"', "sh", SONDE, "report", *options, path)
        assert ended.returncode == 0, (options, ended.stderr)
    ended = run("sh", "-c", 'ulimit -d 12000 && exec "$@"', "sh", SONDE, "report", "--retained", path)
    assert ended.returncode == 125 and "memory" in ended.stderr    # the limit is one


# ---------------------------------------------------------------------- blocks: known answers

BLOCKS = [{"addr": "1000", "req": 24, "slop": 8, "alloc": "A", "contents": ["2008", "0", "1000"]},
          {"addr": "2000", "req": 32, "alloc": "B", "contents": ["3000", "3000", "201f", "2020"]},
          {"addr": "3000", "req": 8, "alloc": "C", "contents": ["ffffffffffffffff"]},
          {"addr": "4000", "req": 16, "alloc": "C", "contents": ["5000"]}, {"addr": "5000", "req": 16, "alloc": "C", "contents": ["4000"]},
          {"addr": "6000", "req": 0, "alloc": "A"}]
ROOTS = [{"kind": "global", "name": "table", "module": "/opt/bin/prog", "addr": "404000", "contents": ["0", "1000"]},
         {"kind": "register", "name": "rbx", "thread": 2, "contents": ["6000"]}]


@pytest.fixture
def scan(tmp_path):
    return written(tmp_path, "scan.json", heap_files.document(BLOCKS, TRACES, FRAMES, roots=ROOTS))


def test_pointers_however_they_are_written(tmp_path):
    """Words are searched for in the text: with zeros before them, large letters, space, in arrays longer than what is read at once,
    and where many others begin alike."""
    chance = random.Random(7)
    low, size = 0x7fab12cab000, 0x300
    asked = low + 0x7000
    blocks, words_of = [], {}

    def text_of(word):
        text = f"{word:x}".rjust(chance.choice((1, 1, 13, 16)), "0")
        return chance.choice((f'"{text}"', f'"{text}"', f'"{text.upper()}"', f' "{text}"', f'"{text}" '))

    for number in range(60):
        address = low + 0x1000 * number
        words = [chance.choice((0, 0, 0, low + chance.randrange(0, 60000), chance.getrandbits(64), 0xab127fab12cab000 + number,
                                asked - 1, asked + size, asked + size - 1, 0x12cab)) for _ in range(size // 8 if number else 60000)]
        words_of[address] = words
        blocks.append(f'{{"addr":"{address + (0x100000 if not number else 0):x}","req":{8 * len(words)},"contents":['
                      + ",".join(map(text_of, words)) + "]}")
    words_of[low + 0x100000] = words_of.pop(low)
    blocks = ",\n".join(blocks)
    (tmp_path / "scan.json").write_text(
        f'{{"version":5,"invocation":{{"dmdEnvVar":null,"mode":"scan"}},"blockList":[{blocks}],"traceTable":{{}},"frameTable":{{}}}}')
    told = {int(owner["block"]["address"], 16): [pointer["offset"] for pointer in owner["pointers"]]
            for owner in found(f"--block={asked + 8:x}", tmp_path / "scan.json")["referrers"][0]["owners"]}
    expected = {address: [8 * i for i, word in enumerate(words) if asked <= word < asked + size] for address, words in words_of.items()}
    expected = {address: offsets for address, offsets in expected.items() if offsets}
    assert told == expected
    assert len(expected[low + 0x100000]) > 50


def test_block(scan):
    answer = found("--block=0x2010", scan)
    assert answer["block"]["address"] == "0x2000" and (answer["block"]["requested"], answer["offset"]) == (32, 16)
    assert answer["contents"] == ["0x3000", "0x3000", "0x201f", "0x2020"]
    owners = [(owner["block"]["address"], owner["pointers"]) for owner in answer["referrers"][0]["owners"]]
    assert owners == [("0x1000", [{"offset": 0, "to_inside": True}]), ("0x2000", [{"offset": 16, "to_inside": True}])]
    text = printed("--block=2010", "--ignore-alloc-fns", scan)
    assert text == f"""sonde report: {scan}

Block 0x2000: 32 bytes requested, 0 slop
  0x2010 is at offset 16
  allocated at
    #01: g (g.c:20)
    #02: main (main.c:30)
  contents
    +0      0x3000  block 0x3000 of 8 bytes
    +8      0x3000  block 0x3000 of 8 bytes
    +16     0x201f  offset 31 of  block 0x2000 of 32 bytes
    +24     0x2020

Referrers of 0x2000: 2
  block 0x1000 of 24 bytes, at offset 0 (to its inside)
    #01: f (f.c:10)
    #02: main (main.c:30)
  block 0x2000 of 32 bytes, at offset 16 (to its inside)
    #01: g (g.c:20)
    #02: main (main.c:30)
"""


def test_words_that_repeat(tmp_path):
    words = ["5"] * 2 + ["7"] * 40 + ["1000"] * 3 + ["0"] * 55
    path = written(tmp_path, "a.json", heap_files.document([{"addr": "1000", "req": 800, "alloc": "A", "contents": words}], TRACES, FRAMES))
    text = printed("--block=1000", path)
    shown = re.search(r"  contents\n(.*?)\n\n", text, re.S)[1].splitlines()
    assert shown == ["    +0      0x5", "    +8      0x5", "    +16     0x7", "    39 more words like it",
                     *(f"    +{offset}    0x1000  block 0x1000 of 800 bytes" for offset in (336, 344, 352)), "    +360    0x0",
                     "    18 more words like it", "    and 36 more words"]


def test_chain(tmp_path, scan):
    answer = found("--block=3000", "--chain", scan)
    assert [step["to"] for step in answer["referrers"]] == ["0x3000", "0x2000"] and answer["chain_end"] == "several"
    assert [pointer["offset"] for pointer in answer["referrers"][0]["owners"][0]["pointers"]] == [0, 8]
    assert found("--block=4000", "--chain", scan)["chain_end"] == "loop"
    assert found("--block=6000", "--chain", scan)["chain_end"] == "root"
    lonely = written(tmp_path, "lonely.json", heap_files.document(BLOCKS[2:3], TRACES, FRAMES))
    assert found("--block=3000", "--chain", lonely)["chain_end"] == "none"
    assert printed("--block=4000", "--chain", scan).endswith("\nThe chain ends: it goes round in a loop\n")


def test_why_alive(scan):
    answer = found("--block=3000", "--why-alive", scan)
    way = [(step.get("root", {}).get("name") or step["block"]["address"], step["offset"], step["to_inside"]) for step in answer["path"]]
    assert way == [("table", 8, False), ("0x1000", 0, True), ("0x2000", 0, False)] and answer["verdict"] == "interior_reachable"
    assert """
Why it is alive: 3 pointers from a root
  global table (prog) at 0x404000, offset 8, points to
  block 0x1000 of 24 bytes, offset 0, points to the inside of
      #01: malloc (vm.c:1)
""" in printed("--block=3000", "--why-alive", "--max-frames=1", scan)
    assert "Why it is alive: it is not, no root leads to it\n" in printed("--block=4000", "--why-alive", scan)
    assert "  register rbx of thread 2, offset 0, points to\n" in printed("--block=6000", "--why-alive", scan)


def test_retained(scan):
    assert found("--block=1000", "--retained", scan)["retained"] == {"blocks": 3, "bytes": 72}
    assert found("--block=4000", "--retained", scan)["retained"] == {"blocks": 1, "bytes": 16}
    rows = [(row["address"], row["blocks"], row["bytes"], row["dominator"]) for row in found("--retained", "--records=3", scan)["blocks"]]
    assert rows == [("0x1000", 3, 72, None), ("0x2000", 2, 40, "0x1000"), ("0x4000", 1, 16, None)]
    assert "72 bytes in 3 blocks: block 0x1000 of 24 bytes\n" in printed("--retained", scan)


def test_leaks(scan):
    leaks = found(scan)["leaks"]
    sums = {verdict: (row["blocks"], row["bytes"]) for verdict, row in leaks.items()}
    assert sums == {"unreachable": (1, 16), "reachable_through_unreachable": (1, 16), "interior_reachable": (2, 40),
                    "still_reachable": (2, 32)}
    assert leaks["unreachable"]["contexts"] == [{"blocks": 1, "bytes": 16, "allocated_at": [FRAMES[frame][5:] for frame in TRACES["C"]]}]
    assert "\nunreachable: 16 bytes in 1 block\n    #01: malloc (vm.c:1)\n" in printed(scan)
    assert "leaks" not in found("--leaks=no", scan)


def test_addresses_of_records(scan):
    assert [record["addresses"] for record in found(scan)["records"]] == [["0x3000", "0x4000", "0x5000"], ["0x1000", "0x6000"], ["0x2000"]] \
        or found("--sort-by=num-blocks", scan)["records"][0]["addresses"] == ["0x3000", "0x4000", "0x5000"]


def test_clamp_text(tmp_path, scan):
    log = tmp_path / "some.log"
    log.write_text("0x1008 [rc=2] node\n> 0X2020 edge\n00002008,deadbeef 0x000000000000201F 2008 x0x1008\nno end: 0x3000")
    assert printed(f"--clamp-text={log}", scan) == \
        "0x1000 [rc=2] node\n> 0X2020 edge\n00002000,deadbeef 0x0000000000002000 2008 x0x1008\nno end: 0x3000"


def test_clamping_in_place(scan, tmp_path):
    scan.chmod(0o640)
    text = printed("--clamp-contents", "--print-clamp-stats", scan)
    assert re.findall(r" (\d+)$", text, re.M) == ["7", "2", "2", "2"]
    clamped = json.loads(scan.read_text())
    assert [block.get("contents") for block in clamped["blockList"]] == \
        [["2000", "0", "1000"], ["3000", "3000", "2000"], [], ["5000"], ["4000"], None]
    assert [root["contents"] for root in clamped["roots"]] == [["0", "1000"], ["6000"]]
    assert scan.stat().st_mode & 0o777 == 0o640 and list(tmp_path.iterdir()) == [scan]
    printed("--clamp-contents", f"--clamped-output={tmp_path}/again.json.gz", scan)   # clamped once is clamped
    assert json.loads(gzip.decompress((tmp_path / "again.json.gz").read_bytes())) == clamped


# ----------------------------------------------------------------- blocks: against the model

def identity(owner):
    return int(owner["block"]["address"], 16) if "block" in owner else owner["root"]["name"] or owner["root"]["kind"]


@pytest.mark.parametrize("seed", range(24))
def test_random_scans(tmp_path, seed):
    made = heap_files.random_scan(seed, count=12 if seed % 3 == 0 else 60, pointers=(0.5, 1.2, 4)[seed % 3], has_roots=seed % 4 != 3)
    model, path = heap_files.Model(made), written(tmp_path, "scan.json.gz" if seed % 2 else "scan.json", made)
    names = {-1 - number: root.get("name") or root["kind"] for number, root in enumerate(model.roots)}
    for block in model.starts[::max(1, len(model.starts) // 12)]:
        address = block + max(model.blocks[block]["req"], 1) - 1
        answer = found(f"--block={address:x}", "--why-alive", "--retained", "--chain", path)
        assert int(answer["block"]["address"], 16) == block
        for step in answer["referrers"]:
            expected = {names.get(owner, owner): offsets for owner, offsets in model.referrers(int(step["to"], 16)).items()}
            assert {identity(owner): [pointer["offset"] for pointer in owner["pointers"]] for owner in step["owners"]} == expected
        kept = model.retained(block)
        assert answer["retained"] == {"blocks": len(kept), "bytes": sum(model.blocks[one]["req"] + model.blocks[one]["slop"] for one in kept)}
        assert len(answer["path"]) == (model.distance(block) or 0) or not model.roots
        if model.roots:
            assert answer["verdict"] == model.verdict(block)
    if model.roots:
        verdicts = [model.verdict(block) for block in model.starts]
        assert {verdict: row["blocks"] for verdict, row in found(path)["leaks"].items()} == \
            {verdict: verdicts.count(verdict) for verdict in found(path)["leaks"]}
    printed("--clamp-contents", f"--clamped-output={tmp_path}/clamped.json", path)
    clamped = json.loads((tmp_path / "clamped.json").read_text())
    for block in clamped["blockList"]:
        assert ("contents" in block) == ("contents" in model.blocks[int(block["addr"], 16)])
        assert block.pop("contents", []) == model.clamped(int(block["addr"], 16))
    for number, root in enumerate(clamped.get("roots", [])):
        assert root.pop("contents") == model.clamped(-1 - number)
    for owner in made["blockList"] + made.get("roots", []):
        owner.pop("contents", None)
    assert clamped == made


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\n", "\t: ")])
def test_any_white_space(tmp_path, separators):
    made = heap_files.random_scan(5)
    path = tmp_path / "scan.json"
    path.write_text("\n" + json.dumps(made, separators=separators, indent=1 if separators[0] == "," else None) + " \n")
    printed("--clamp-contents", path)
    model = heap_files.Model(made)
    assert all(block.get("contents", []) == model.clamped(int(block["addr"], 16)) for block in json.loads(path.read_text())["blockList"])


def test_escapes(tmp_path):
    frames = {"B": '#00: f<"\\\u00e9\u20ac\U0001f600\t> (a.c:1)', "\u00e9\\": "#1: no number", "longer than eight": "main"}
    path = written(tmp_path, "a.json", heap_files.document([{"req": 1, "alloc": "\n", "other": {"x": [1, -2.5e3, None, True, {}]}}],
                                                           {"\n": list(frames)}, frames, "live"))
    assert found(path)["records"][0]["allocated_at"] == [frames["B"][5:], "no number", "main"]


def test_long_chain(tmp_path):
    """Recursion would not survive it."""
    count = 300000
    blocks = [{"addr": f"{0x10000 + 16 * number:x}", "req": 16, "alloc": "A",
               "contents": [f"{0x10000 + 16 * (number + 1):x}", f"{0x10000 + 16 * max(0, number - 1):x}"]} for number in range(count)]
    path = written(tmp_path, "chain.json", heap_files.document(blocks, roots=[{"kind": "global", "addr": "8", "contents": ["10000"]}]))
    last = f"--block={0x10000 + 16 * (count - 1):x}"
    assert len(found(last, "--why-alive", path)["path"]) == count
    assert found("--block=10000", "--retained", path)["retained"]["blocks"] == count
    assert found("--block=10010", "--retained", path)["retained"]["blocks"] == count - 1
    unreachable = written(tmp_path, "free.json", heap_files.document(blocks, roots=[]))
    assert {verdict: row["blocks"] for verdict, row in found(unreachable)["leaks"].items()} == \
        {"unreachable": 1, "reachable_through_unreachable": count - 1, "interior_reachable": 0, "still_reachable": 0}


# ------------------------------------------------------------------------------ bad input

GOOD = json.dumps(heap_files.document(BLOCKS, TRACES, FRAMES, roots=ROOTS))


@pytest.mark.parametrize("text, message", [
    (GOOD[:-1], "the file ends too early"), (GOOD[:300], "the file ends too early"), (GOOD + "x", "something follows the end"),
    (GOOD.replace('"version": 5', '"version": 4'), "the version is 4, and only version 5 is read"),
    (GOOD.replace('"version": 5, ', ""), "it has no version"), (GOOD.replace('"mode": "scan"', '"mode": "other"'), "the mode is none of"),
    (GOOD.replace('"blockList"', '"blocks"'), "it has no blockList"), (GOOD.replace('"traceTable"', '"x"'), "it has no traceTable"),
    (GOOD.replace('"frameTable"', '"x"'), "it has no frameTable"), (GOOD.replace('"req": 24, ', ""), "a block has no size"),
    (GOOD.replace('"req": 24', '"req": -24'), "not negative"), (GOOD.replace('"req": 24', '"req": 2.5'), "a whole number is expected"),
    (GOOD.replace('"req": 24', '"req": 99999999999999999999'), "a number is too large"),
    (GOOD.replace('"req": 24', '"req": 9223372036854775807'), "the sizes of the blocks are too large"),
    (GOOD.replace('"req": 24', '"freed": 2, "req": 24'), "more blocks were freed than there were"),
    (GOOD.replace('"req": 24', '"unread": 2, "req": 24'), "never read or used than there were"),
    (GOOD.replace('"req": 24', '"unused": 1, "req": 24'), "never used than never read"),
    (GOOD.replace('"req": 24', '"read": 9223372036854775807, "written": 9223372036854775808, "req": 24'), "a number is too large"),
    (GOOD.replace('"alloc": "A"', '"alloc": "Q"'), "a trace that is not in the traceTable"),
    (GOOD.replace('"m", "f"', '"m", "Q"'), "a frame that is not in the frameTable"),
    (GOOD.replace('"addr": "1000"', '"addr": "xyz"'), "hexadecimal digits are expected"),
    (GOOD.replace('"blockList": [', '"blockList": {'), "an array is expected"), (GOOD.replace("}, {", "} {"), "',' or ']' is expected"),
    (GOOD.replace('"kind": "global", ', ""), "a root has no kind"), (GOOD.replace('"2008"', '"2\\q8"', 1).replace("main (", "\\q"), "escape"),
    ('{"version": ' + "[" * 100, "a number is expected"), ('{"version": 5, "x": ' + "[" * 100, "too many objects and arrays"),
])
def test_damage(tmp_path, text, message):
    path = tmp_path / "some.json"
    path.write_text(text)
    for option in ([], ["--block=1000"]):
        ended = report(*option, path)
        assert ended.returncode == 3 and message in ended.stderr, ended
        assert re.fullmatch(r"sonde: '[^']*', byte \d+: [^\n]*\n", ended.stderr) and ended.stdout == ""


@pytest.mark.parametrize("words, message", [('["2008", "g"]', "hexadecimal"), ('["12345678901234567"]', "hexadecimal"), ('["1" "2"]', "',' or ']'"),
                                            ('["1",]', "a string"), ('[1]', "a string"), ('[""]', "hexadecimal"), ('["1\\u0030"', "',' or ']'"),
                                            ('["12 "]', "hexadecimal"), ('["123456789/"]', "hexadecimal"), ('["`"]', "hexadecimal")])
def test_damaged_contents(tmp_path, words, message):
    path = tmp_path / "some.json"
    text = GOOD.replace(json.dumps(BLOCKS[0]["contents"]), words)
    padded = text.replace('"invocation"', '"pad": "' + "x" * ((1 << 18) - text.index(words) - 14) + '", "invocation"')   # across windows
    for one in (text, padded):
        path.write_text(one)
        for option in ("--block=1000", "--clamp-contents", "--leaks"):
            ended = report(option, path)
            assert ended.returncode == 3 and message in ended.stderr and ended.stdout == "", ended
        assert path.read_text() == one and list(tmp_path.iterdir()) == [path]


def test_other_trouble(tmp_path, scan):
    compressed = gzip.compress(GOOD.encode())
    bad = tmp_path / "bad.gz"
    for data, message in ((compressed[:-12], "the compressed data end too early"), (compressed[:100] + b"\x55" * 90 + compressed[190:], "damaged"),
                          (gzip.compress(b"text"), "byte 0: an object is expected")):
        bad.write_bytes(data)
        ended = report(bad)
        assert (ended.returncode, ended.stderr.count("\n")) == (3, 1) and message in ended.stderr, ended.stderr
    overlapping = written(tmp_path, "o.json", heap_files.document([{"addr": "1000", "req": 17}, {"addr": "1010", "req": 1}]))
    live = written(tmp_path, "live.json", LIVE)
    for words, status, message in (
            (["--block=1000", overlapping], 3, "the blocks at 0x1000 and 0x1010 overlap"), (["--block=1000", live], 2, "only mode scan has addresses"),
            (["--block=7777", scan], 2, "0x7777 lies in no block"), (["--block=zz", scan], 2, "--block needs an address"),
            (["--block=", scan], 2, "--block needs a value"), (["--block=11112222333344445", scan], 2, "--block needs an address"),
            (["--chain", scan], 2, "need --block=ADDRESS"), (["--max-frames=0", scan], 2, "--max-frames must be"),
            (["--records=-1", scan], 2, "--records must not"), ([scan, scan, scan], 2, "3 files"), (["--block=1000", scan, scan], 2, "are for one file"),
            ([scan, live], 3, "they cannot be compared"), (["--print-clamp-stats", scan], 2, "are for --clamp-contents"),
            (["--clamp-contents", "--clamped-output=/nowhere/x", scan], 2, "cannot write '/nowhere/x'"),
            (["--clamp-text=/nowhere", scan], 2, "cannot read '/nowhere'"), ([scan, tmp_path / "missing"], 2, "cannot read"),
            (["--frames=1", scan], 2, "unknown option")):
        ended = report(*words)
        assert ended.returncode == status and message in ended.stderr and ended.stderr.count("\n") == 1, (words, ended)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_no_room(scan):
    with open("/dev/full", "w", encoding="ascii") as full:
        ended = subprocess.run([SONDE, "report", scan], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.returncode == 1 and "cannot write" in ended.stderr


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_fuzz(tmp_path):
    program = tmp_path / "fuzz_heap"
    names = ("heap_clamp", "heap_dominators", "heap_file", "heap_graph", "heap_index", "heap_input", "heap_query", "heap_reach",
             "heap_records", "heap_scan", "heap_search", "heap_stacks", "text_form")
    sources = [*(ROOT / "src/report" / f"{name}.c" for name in names), *(ROOT / "src/base").glob("*.c")]
    built = run("gcc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE=", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{BUILD}", "-o", program, ROOT / "tests/fuzz/fuzz_heap.c", *sources, "-lz")
    assert built.returncode == 0, built.stderr
    count = max(1, SEEDS // 10)   # each is read five times and written twice
    ended = run(program, FIRST_SEED, count, timeout=300)
    assert (ended.returncode, ended.stdout) == (0, f"{count} inputs read\n"), ended.stderr
