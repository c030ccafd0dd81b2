"""Files of calling contexts: written by a test tool through <sonde/context_file.h>, read back by `sonde report`, with the
exact tree; and files that are damaged.
"""
import json
import subprocess

import pytest

from conftest import BUILD, ROOT, run_sonde
from report_runs import FIRST_SEED, SEEDS, printed, report

SOURCE = ROOT / "tests/programs/counted_contexts.c"


@pytest.fixture(scope="module")
def tool(build_tool):
    return build_tool("context_counts")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    program = tmp_path_factory.mktemp("contexts") / "counted"
    subprocess.run(["gcc", "-g", "-O2", "-fno-optimize-sibling-calls", "-pthread", "-o", program, SOURCE], check=True,
                   timeout=60)
    return program


def written(tool, program, folder, *options, words=()):
    file = folder / "contexts"
    run = run_sonde(tool, f"--contexts-file={file}", *options, "--", program, *words)
    assert run.returncode == 0 and not run.stderr, run.stderr
    return file


def stacks(found):
    """Amounts by stack, innermost first, up to main or the thread's function; functions with their lines."""
    contexts = {context["number"]: context for context in found["contexts"]}
    result = {}
    for value in found["values"]:
        place, at, names = value["place"], value["context"], []
        while at:
            context = contexts[at]
            names += [f"{frame['function']}:{frame['line']}" for frame in place or [context["function"]]]
            names += ["!"] if context["entered"] == "signal" else []
            place, at = context["site"], context["caller"]
        ends = [i for i, name in enumerate(names) if name.split(":")[0] in ("main", "work")]
        result[" ".join(names[:ends[0] + 1])] = (value["counts"]["calls"], value["counts"]["amount"])
    return result


def line_of(text, occurrence=0):
    return [i + 1 for i, line in enumerate(SOURCE.read_text().splitlines()) if text in line][occurrence]


def test_exact_tree(tool, program, tmp_path):
    found = json.loads(printed("--format=json", written(tool, program, tmp_path)))
    assert found["kind"] == "contexts" and found["tool"] == "context_counts" and found["command"] == str(program)
    assert found["totals"] == {"calls": 8, "amount": 11222}
    leaf = "note:%d leaf:%d" % (line_of('volatile("syscall'), line_of("void leaf"))
    first, second = line_of("    leaf(1);"), line_of("    first();")
    down, bottom = line_of("down(n - 1)"), line_of("else leaf(1000)")
    expected = {}
    for outermost in (f"work:{line_of('    second();')}", f"main:{line_of('    second();', 1)}"):
        expected[f"{leaf} first:{first} second:{second} {outermost}"] = (1, 1)
        expected[f"{leaf} first:{first + 1} second:{second} {outermost}"] = (1, 10)
        expected[f"{leaf} second:{second + 1} {outermost}"] = (1, 100)
    expected[f"{leaf} down:{bottom} down:{down} down:{down} down:{down} main:{line_of('down(3)')}"] = (1, 1000)
    found_stacks = stacks(found)
    handled, = (stack for stack in found_stacks if " ! " in stack)
    assert found_stacks.pop(handled) == (1, 10000)
    assert handled.startswith(f"{leaf} handler:{line_of('void handler')} ! ")
    assert handled.endswith(f" main:{line_of('raise(SIGUSR1)')}")
    assert found_stacks == expected


def test_threads_are_one_tree(tool, program, tmp_path):
    """What two threads did in the same contexts below their beginnings has one frame each, and stands once in the file."""
    file = written(tool, program, tmp_path)
    names = [line for line in file.read_text().splitlines() if line.startswith("n ")]
    assert len(names) == len(set(names)) and "n first" in names
    found = json.loads(printed("--format=json", file))
    assert len({json.dumps({**context, "number": 0}) for context in found["contexts"]}) == len(found["contexts"])


def test_without_places(tool, program, tmp_path):
    found = json.loads(printed("--format=json", written(tool, program, tmp_path, "--places=no")))
    # The two calls in `first` are two contexts, for they are two call sites.
    assert sorted(value["counts"]["amount"] for value in found["values"]) == [1, 1, 10, 10, 100, 100, 1000, 10000]
    assert all(value["place"] == [] for value in found["values"])


def rows(text):
    """Of a tree: (cost, depth, function)."""
    lines = text.split("what it calls\n" if "what it calls" in text else "its callers\n")[1].splitlines()
    return [(int(line[1:14].replace(",", "")), len(line[30:]) - len(line[30:].lstrip()), line[30:].split()[0])
            for line in lines if line.strip()]


def test_top_down(tool, program, tmp_path):
    text = printed("--sort=amount", "--threshold=0", written(tool, program, tmp_path))
    found = rows(text)
    start = next(i for i, row in enumerate(found) if row[2] == "main")
    depth = found[start][1]
    below = [(cost, level - depth, name) for cost, level, name in found[start:] if level >= depth]
    assert (111, 1, "second") in below and (11, 2, "first") in below and (11, 3, "leaf") in below and (11, 4, "note") in below
    assert below[0] == (11111, 0, "main")
    assert [row for row in below if row[2] == "down"] == [(1000, level, "down") for level in range(1, 5)]
    assert [cost for cost, _, name in found if name == "work"] == [111]


def test_bottom_up(tool, program, tmp_path):
    found = rows(printed("--tree=bottom-up", "--threshold=0", written(tool, program, tmp_path)))
    assert found[0] == (8, 0, "note") and found[1] == (8, 1, "leaf")
    assert (4, 2, "first") in found and (2, 2, "second") in found and (1, 2, "down") in found and (1, 2, "handler") in found


def test_options(tool, program, tmp_path):
    file = written(tool, program, tmp_path)
    assert printed("--tree=none", "--stacks=1", "--sort=amount", file).count("<signal handler called>") == 1
    assert len(rows(printed("--depth=2", "--threshold=0", file))) == 4
    for words, said in ((["--sort=bytes"], "no event 'bytes'"), (["--depth=0"], "--depth must be"),
                        (["--stacks=-1"], "--stacks must"), ([file], "one by one"), (["--threshold=x"], "--threshold needs")):
        run = report(*words, file)
        assert run.returncode == 2 and said in run.stderr and run.stderr.count("\n") == 1


def test_deep(tool, program, tmp_path):
    """A chain that is a hundred thousand calls long."""
    file = written(tool, program, tmp_path, words=["100000"])
    assert sum(line.startswith("c ") for line in file.read_text().splitlines()) > 100000
    assert printed("--tree=none", "--stacks=1", file).count("down (") == 100001
    assert len(rows(printed("--depth=1000", "--threshold=0", file))) == 1000


GOOD = """# sonde contexts
version: 1
tool: some tool
pid: 7
cmd: ./a b
events: calls bytes
n main
n /x/a b.c
f 1 2 3 0
f 0 0 0 0
c 0 f 1
c 1 c 2 1
v 2 5 70 @ 2 1
v 1 1 2
v 0 0 9
totals: 6 81
"""


def test_by_hand(tmp_path):
    file = tmp_path / "contexts"
    file.write_text(GOOD)
    found = json.loads(printed("--format=json", file))
    main = {"function": "main", "file": "/x/a b.c", "line": 3, "module": None}
    nothing = {"function": None, "file": None, "line": 0, "module": None}
    assert found["contexts"] == [
        {"number": 1, "caller": 0, "entered": "first", "function": main, "site": []},
        {"number": 2, "caller": 1, "entered": "call", "function": nothing, "site": [main]}]
    assert found["values"] == [
        {"context": 2, "place": [nothing, main], "counts": {"calls": 5, "bytes": 70}},
        {"context": 1, "place": [], "counts": {"calls": 1, "bytes": 2}},
        {"context": 0, "place": [], "counts": {"calls": 0, "bytes": 9}}]
    assert "(unknown)" in printed("--sort=bytes", file)


@pytest.mark.parametrize("old,new,said", [
    ("totals: 6 81\n", "", "the file is incomplete: it ends without totals"),
    ("totals: 6 81", "totals: 6 82", "line 16: the totals are not the sum of the counts"),
    ("version: 1", "version: 2", "line 2: version 2 of the format is not known"),
    ("c 1 c 2 1", "c 2 c 2 1", "line 12: context 2 was not defined"),
    ("c 1 c 2 1", "c 1 f 2", "line 12: the first context has a caller"),
    ("c 0 f 1", "c 0 s 1", "line 11: the context has no caller"),
    ("c 1 c 2 1", "c 1 x 2 1", "line 12: one of f, c, j and s is expected"),
    ("c 1 c 2 1", "c 1 c 2", "line 12: a frame is expected"),
    ("f 1 2 3 0", "f 1 3 3 0", "line 9: name 3 was not defined"),
    ("f 1 2 3 0", "f 1 2 3 0 4", "line 9: there is more than belongs here"),
    ("v 1 1 2", "v 1 1", "line 14: a number is expected"),
    ("v 1 1 2", "v 1 1 9223372036854775807", "line 14: the sum of the counts is too large"),
    ("v 1 1 2", "v 1 1 -2", "line 14: a number is expected"),
    ("events: calls bytes", "events: calls calls", "line 6: an event is named twice"),
    ("events: calls bytes", "events:", "line 6: no event is named"),
    ("n main", "x main", "line 7: this is no line of a file of contexts"),
    ("n main", "pid: 8", "line 7: this line is out of place"),
])
def test_damage(tmp_path, old, new, said):
    file = tmp_path / "contexts"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    run = report(file)
    assert run.returncode == 3 and said in run.stderr and run.stderr.count("\n") == 1 and not run.stdout


def test_hostile_files(tmp_path):
    program = tmp_path / "fuzz_contexts"
    sources = [*(ROOT / "src/report" / name for name in ("contexts_reader.c", "contexts_tree.c", "line_text.c")),
               *(ROOT / "src/base" / name for name in ("arena.c", "hash.c", "intern.c", "lock.c", "table.c", "vector.c"))]
    built = subprocess.run(["gcc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE=", "-fsanitize=address,undefined",
                            "-fno-sanitize-recover=undefined", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{BUILD}",
                            "-o", program, ROOT / "tests/fuzz/fuzz_contexts.c", *sources], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([program, str(FIRST_SEED), str(SEEDS)], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0 and run.stdout == f"{SEEDS} inputs read\n", run.stderr[-2000:]
