"""`sonde report` on call-graph profiles: hand-written ones with known numbers, those of Callgrind against callgrind_annotate,
and every kind of damage.
"""
import json
import os
import re
import subprocess
import time

import pytest

import call_profiles
from conftest import BUILD, ROOT, SONDE
from report_runs import FIRST_SEED, SEEDS, needs_valgrind, printed, report, run

# main calls ping (10 times) and work; ping and pong call each other; both call work; work calls itself.
SMALL = """# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 7
cmd: ./program with words
part: 1

desc: I1 cache:
desc: Trigger: Program termination

positions: line
events: Ir Dr
summary: 1000 50

ob=(1) /bin/program
fl=(1) {folder}/source.c
fn=(1) main
2 10 1
+1 90 9
cfn=(2) ping
calls=10 +7
* 600 30
cfi=(2) {folder}/work.c
cfn=(3) work
calls=1 1
-1 300 10

fn=(2)
10 100 5
cfn=(4) pong
calls=40 20
11 450 21
cfi=(2)
cfn=(3)
calls=5 1
12 100 4

fn=(4)
20 150 6
cfn=(2)
calls=30 10
21 200 9
cfi=(2)
cfn=(3)
calls=10 1
22 250 15

fl=(2)
fn=(3)
1 500 20
fi=(1)
40 150 9
fe=(2)
cfn=(3)
calls=8 1
2 77 7

totals: 1000 50
"""
SOURCE = "int x;\nint main(void) {\n\tping();\n}\n" + "// far away\n" * 60


def functions_of(*words):
    return {row["function"]: row for row in json.loads(printed("--format=json", *words))["functions"]}


@pytest.fixture
def small(tmp_path):
    """A profile with its sources, which are older."""
    profile = tmp_path / "callgrind.out.7"
    profile.write_text(SMALL.format(folder=tmp_path))
    for name in ("source.c", "work.c"):
        (tmp_path / name).write_text(SOURCE)
        os.utime(tmp_path / name, (1e9, 1e9))
    return profile


# --------------------------------------------------------------------------- one file

def test_numbers(small, tmp_path):
    found = json.loads(printed("--format=json", small))
    assert found["kind"] == "callgrind" and found["command"] == "./program with words"
    assert found["creator"] == "callgrind-3.19.0" and found["descriptions"] == ["Trigger: Program termination"]
    assert found["totals"] == {"Ir": 1000, "Dr": 50}
    rows = {row["function"]: row for row in found["functions"]}
    assert [row["function"] for row in found["functions"]] == ["work", "pong", "main", "ping"]
    assert {name: row["self"] for name, row in rows.items()} == {
        "main": {"Ir": 100, "Dr": 10}, "ping": {"Ir": 100, "Dr": 5}, "pong": {"Ir": 150, "Dr": 6},
        "work": {"Ir": 650, "Dr": 29}}
    assert {name: row["inclusive"]["Ir"] for name, row in rows.items()} == {
        "main": 1000, "ping": 200, "pong": 400, "work": 650}, "a member of a cycle has its own part of it"
    assert (rows["work"]["calls"], rows["work"]["recursive_calls"]) == (16, 8)
    assert (rows["ping"]["calls"], rows["ping"]["recursive_calls"], rows["ping"]["cycle"]) == (10, 30, 1)
    assert "cycle" not in rows["work"], "a function that calls itself is no cycle"
    assert [(row["inclusive"]["Ir"], row["calls"], row["recursive_calls"], [m["function"] for m in row["members"]])
            for row in found["cycles"]] == [(600, 10, 70, ["pong", "ping"])], "inclusive cost is counted once"
    callees = {row["function"]: row for row in rows["main"]["callees"]}
    assert callees["ping"] == {
        "function": "ping", "file": f"{tmp_path}/source.c", "object": "/bin/program", "calls": 10,
        "inclusive": {"Ir": 600, "Dr": 30}, "recursive": False,
        "lines": [{"file": f"{tmp_path}/source.c", "line": 3, "calls": 10, "inclusive": {"Ir": 600, "Dr": 30}}]}
    assert [line["line"] for line in callees["work"]["lines"]] == [2], "relative positions"
    lines = {(os.path.basename(row["file"]), row["function"], row["line"]): row["self"]["Ir"] for row in found["lines"]}
    assert lines == {("source.c", "main", 2): 10, ("source.c", "main", 3): 90, ("source.c", "ping", 10): 100,
                     ("source.c", "pong", 20): 150, ("work.c", "work", 1): 500, ("source.c", "work", 40): 150}


def test_without_cycles(small):
    """As callgrind_annotate has it."""
    rows = functions_of("--cycles=no", small)
    assert {name: row["inclusive"]["Ir"] for name, row in rows.items()} == {
        "main": 1000, "ping": 800, "pong": 600, "work": 650}
    assert "cycle" not in rows["ping"]


def test_flat_list(small):
    ended = report(small)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert max(map(len, ended.stdout.splitlines())) <= 80 and "\x1b" not in ended.stdout
    listed = re.findall(r"^[> ] +([\d,]+) +([\d.]+)% +([\d.]+)% +(\d+)  (\w+) \(([^)]*)\)$", ended.stdout, re.M)
    assert listed == [("650", "65.0", "65.0", "24", "work", "work.c"), ("150", "15.0", "40.0", "40", "pong", "source.c"),
                      ("100", "10.0", "100.0", "0", "main", "source.c"), ("100", "10.0", "20.0", "40", "ping", "source.c")]
    assert re.search(r"^ +90 +9\.0% +18\.0% +3 +        ping\(\);$", ended.stdout, re.M), "source lines follow"
    inclusive = printed("--by=inclusive", "--annotate=no", "--sort=Dr", "--functions=2", small)
    listed = re.findall(r"^[> ] +([\d,]+) +([\d.]+)% +([\d.]+)% +(\d+)  (.*)$", inclusive, re.M)
    assert listed == [("50", "20.0", "100.0", "0", "main (source.c)"), ("30", "22.0", "60.0", "80", "<cycle 1> (pong, ping)")]
    assert "(3 more; --functions=N lists more)" in inclusive
    assert "\x1b[" in printed("--color=yes", small)


def tree_of(*words):
    text = printed(*words)
    assert max(map(len, text.splitlines())) <= 80
    rows = [(line[:14], line[21:31], line[33:]) for line in text.split("\n\n")[-1].splitlines()[1:]]
    return [(len(name) - len(name.lstrip()), name.strip(), int(cost.strip("> ").replace(",", "")), calls.strip())
            for cost, calls, name in rows]


def test_trees(small):
    assert tree_of("--tree=top-down", small) == [
        (0, "main (source.c)", 1000, ""), (1, "<cycle 1> (pong, ping)", 600, "10"), (2, "pong (source.c)", 400, ""),
        (3, "work (work.c)", 250, "10"), (2, "ping (source.c)", 200, ""), (3, "work (work.c)", 100, "5"),
        (1, "work (work.c)", 300, "1")]
    assert tree_of("--tree=bottom-up", "--threshold=12", small) == [
        (0, "work (work.c)", 650, "16"), (1, "main (source.c)", 300, "1"), (1, "pong (source.c)", 250, "10"),
        (2, "<cycle 1> (pong, ping)", 250, ""), (3, "main (source.c)", 250, "4"),
        (0, "pong (source.c)", 150, ""), (1, "<cycle 1> (pong, ping)", 150, ""), (2, "main (source.c)", 150, "3")]
    assert [row[1] for row in tree_of("--tree=top-down", "--depth=2", small)] == [
        "main (source.c)", "<cycle 1> (pong, ping)", "work (work.c)"]
    assert tree_of("--tree=top-down", "--function=work", small) == [(0, "work (work.c)", 650, "16")]
    again = printed("--tree=top-down", "--cycles=no", small)
    assert "(again) ping" in again or "(again) pong" in again


def test_tree_as_json(small):
    found = json.loads(printed("--format=json", "--tree=top-down", small))["tree"]
    assert [(row["depth"], row.get("function") or row["cycle"], row["cost"]) for row in found] == [
        (0, "main", 1000), (1, 1, 600), (2, "pong", 400), (3, "work", 250), (2, "ping", 200), (3, "work", 100),
        (1, "work", 300)]


def test_callers_and_callees(small):
    text = printed("--function=ping", small)
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"in: <cycle 1> \(pong, ping\)\n +self +100 +10.00 %\n +inclusive +200 +20.00 %\n +calls +10\n"
                     r" +recursive +30\n", text)
    callers, callees = text.split("Callers\n")[1].split("Callees\n")
    assert re.findall(r"^ +(\d+) +[\d.]+% +(\d+)  (.*)$", callers, re.M) == [
        ("600", "10", "main (source.c)"), ("200", "30", "(cycle) pong (source.c)")]
    assert re.findall(r"^ +(\d+) +[\d.]+% +(\d+)  (.*)$", callees, re.M) == [
        ("450", "40", "(cycle) pong (source.c)"), ("100", "5", "work (work.c)")]
    assert "(itself) work" in printed("--function=w?rk", small)
    assert set(functions_of("--function=p*g", small)) == {"ping", "pong"}
    refused = report("--function=wrok", small)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "sonde: --function: the profile has no function 'wrok'; did you mean 'work'?\n"


def test_control_characters_stay_off_the_terminal(small):
    small.write_text(small.read_text().replace("pong", "po\x1b[31mng"))
    for words in ([], ["--tree=top-down"], ["--function=ping"]):
        text = printed(*words, small)
        assert "\x1b" not in text and "po?[31mng" in text


# ------------------------------------------------------------------- pieces of the format

def profile(tmp_path, text):
    path = tmp_path / "some.out"
    path.write_text(text)
    return path


def test_instructions_and_jumps(tmp_path):
    found = json.loads(printed("--format=json", profile(tmp_path, """version: 1
positions: instr line
events: Ir

fl=a.c
fn=f
0x401000 7 3
+4 +1 2
jcnd=6/8 0x401000 7
* *
+2 * 1
jfi=(1) b.c
jfn=(1) g
jump=3 0x40 1
+3 +1
fi=(1)
-2 1 4
ob=(1) x.so
cfn=(1)
calls=2 0x40 +5
+1 * 9
fn=(1)
0x40 1 9
totals: 19
""")))
    assert [(row["file"], row["function"], row["line"], row["self"]["Ir"]) for row in found["lines"]] == [
        ("a.c", "f", 7, 3), ("a.c", "f", 8, 3), ("b.c", "f", 1, 4), ("b.c", "g", 1, 9)]
    assert found["jumps"] == [
        {"function": "f", "file": "a.c", "line": 8, "conditional": True, "executed": 8, "taken": 6},
        {"function": "f", "file": "a.c", "line": 9, "conditional": False, "executed": 3, "taken": 3}]
    rows = {row["function"]: row for row in found["functions"]}
    assert (rows["f"]["inclusive"]["Ir"], rows["g"]["inclusive"]["Ir"], rows["g"]["file"]) == (19, 9, "b.c")
    assert rows["f"]["callees"][0]["lines"] == [{"file": "b.c", "line": 1, "calls": 2, "inclusive": {"Ir": 9}}]


def test_parts_are_added_up(tmp_path):
    """Numbers of names go on, the order of events may be another, each part has its own totals."""
    found = json.loads(printed("--format=json", profile(tmp_path, """version: 1
part: 1
events: Ir Dr
fl=(1) a.c
fn=(1) f
1 5 2
totals: 5 2

version: 1
creator: callgrind
part: 2
positions: line
events: Dr Ir
fl=(1)
fn=(1)
1 1 10
cfn=(2) g
calls=1 5
2 3 4
fn=(2)
5 3 4
totals: 4 14
""")))
    assert found["totals"] == {"Ir": 19, "Dr": 6}
    rows = {row["function"]: row for row in found["functions"]}
    assert rows["f"]["self"] == {"Ir": 15, "Dr": 3} and rows["f"]["inclusive"] == {"Ir": 19, "Dr": 6}
    assert [row["line"] for row in found["lines"]] == [1, 5], "one row a line"


def test_derived_events(tmp_path):
    text = """event: Sum = Ir + 2 Dr : Everything
events: Ir Dr
event: Twice = 2*Sum
event: Ir : Instructions
fl=a
fn=f
1 5 2
cfn=g
calls=1 0
2 10 1
fn=g
3 10 1
totals: 15 3
"""
    found = json.loads(printed("--format=json", "--sort=Sum", profile(tmp_path, text)))
    assert found["totals"] == {"Ir": 15, "Dr": 3, "Sum": 21, "Twice": 42}
    assert found["meanings"] == ["Instructions", None, "Everything", None]
    assert re.search(r"^  Sum +21 +Everything$", printed(tmp_path / "some.out"), re.M)
    rows = {row["function"]: row for row in found["functions"]}
    assert rows["f"]["inclusive"] == {"Ir": 15, "Dr": 3, "Sum": 21, "Twice": 42}
    assert rows["f"]["self"] == {"Ir": 5, "Dr": 2, "Sum": 9, "Twice": 18}
    assert rows["f"]["callees"][0]["inclusive"]["Twice"] == 24


def test_names_with_parentheses_and_unknown_keys(tmp_path):
    rows = functions_of(profile(tmp_path, "# callgrind format\nnewkey: 3\nevents: Ir\nfl=a\nfn=(below main)\n1 5\n"
                                          "fn=(9lives)\n2 7\ntotals: 12\n"))
    assert {name: row["self"]["Ir"] for name, row in rows.items()} == {"(below main)": 5, "(9lives)": 7}


def test_profiles_of_other_programs(tmp_path):
    """As Xdebug and converters for Python write them: the summary at the end, target positions that are too many or missing."""
    rows = functions_of(profile(tmp_path, """version: 1
creator: xdebug 3.1.6 (PHP 8.1.2)
cmd: /srv/index.php
part: 1
positions: line

events: Time_(10ns) Memory_(bytes)

fl=(1) php:internal
fn=(1) php::strlen
3 12 0

fl=(2) /srv/index.php
fn=(2) {main}
1 100 2000
cfl=(1)
cfn=(1)
calls=1 0 0
3 12 0
cfl=(1)
cfn=(1)
calls=2
4 0 0

summary: 112 2000
"""))
    assert rows["{main}"]["inclusive"] == {"Time_(10ns)": 112, "Memory_(bytes)": 2000}
    assert (rows["php::strlen"]["calls"], rows["php::strlen"]["file"]) == (3, "php:internal")


def test_a_profile_that_cannot_be_proved_complete(tmp_path):
    path = profile(tmp_path, "version: 1\nevents: Ir\nfl=a\nfn=f\n1 5\n")
    ended = report(path)
    assert ended.returncode == 0 and "f (a)" in ended.stdout
    assert f"sonde: '{path}' has neither a summary nor totals: whether it is complete cannot be told\n" in ended.stderr


def test_deep_recursion_through_many_functions(tmp_path):
    """A chain of 200000 functions, closed to one cycle: nothing here may recurse with it."""
    count = 200000
    text = ["version: 1\nevents: Ir\nfl=a\n"]
    text += [f"fn=({i}) f{i}\n1 1\ncfn=({(i + 1) % count}) f{(i + 1) % count}\ncalls=1 1\n1 1\n" for i in range(count)]
    path = profile(tmp_path, "".join(text) + f"totals: {count}\n")
    assert f"<cycle 1> (f0, f1, f2" in printed("--by=inclusive", "--functions=1", "--annotate=no", path)
    assert len(printed("--tree=top-down", "--threshold=0", "--cycles=no", "--depth=1000", path)) > 0


# ------------------------------------------------------------------- two and more files

def test_compare(small, tmp_path):
    other = tmp_path / "other.out"
    other.write_text(small.read_text().replace("\n1 500 20\n", "\n1 100 20\n").replace("totals: 1000", "totals: 600"))
    found = json.loads(printed("--format=json", small, other))
    assert found["kind"] == "callgrind comparison, self" and found["totals"]["change"] == {"Ir": -400, "Dr": 0}
    assert {row["function"]: row["change"]["Ir"] for row in found["functions"]} == {
        "main": 0, "ping": 0, "pong": 0, "work": -400}
    text = printed(small, other)
    assert re.search(r"^ +650 +250 +-400  work \(work.c\)$", text, re.M) and max(map(len, text.splitlines())) <= 80
    other.write_text(small.read_text().replace("-1 300 10", "-1 200 10"))
    inclusive = json.loads(printed("--format=json", "--by=inclusive", "--cycles=no", small, other))
    assert {row["function"]: row["change"]["Ir"] for row in inclusive["functions"]}["main"] == -100
    assert report("--tree=top-down", small, other).returncode == 2


def test_merge(small, tmp_path):
    other = tmp_path / "other.out"
    other.write_text("version: 1\nevents: Dr Ir\nob=/bin/program\nfl=" + str(tmp_path / "source.c") + "\nfn=main\n2 7 40\n"
                     "cfn=new\ncalls=2 5\n2 1 10\nfn=new\n5 1 10\ntotals: 8 50\n")
    found = json.loads(printed("--merge", "--format=json", small, other, small))
    assert found["totals"] == {"Ir": 2050, "Dr": 108}
    rows = {row["function"]: row for row in found["functions"]}
    assert rows["main"]["self"] == {"Ir": 240, "Dr": 27} and rows["main"]["inclusive"]["Ir"] == 2050
    assert rows["new"]["calls"] == 2 and rows["work"]["calls"] == 32
    assert len({(row["file"], row["function"], row["line"]) for row in found["lines"]}) == len(found["lines"])
    assert "sum of 3 profiles" in printed("--merge", small, other, small)
    other.write_text("version: 1\nevents: Ir\nfl=a\nfn=f\n1 1\ntotals: 1\n")
    refused = report("--merge", small, other)
    assert (refused.returncode, refused.stderr) == (3, f"sonde: '{other}': it has other events than the files before it\n")


# -------------------------------------------------------------------- Callgrind's own files

PROGRAM = """#include <stdlib.h>
#include <string.h>
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int odd(int n);
__attribute__((noipa)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noipa)) int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
    int numbers[300];
    for (int i = 0; i < 300; i++) numbers[i] = i * 7919 % 301;
    qsort(numbers, 300, sizeof *numbers, compare);
    char *text = strdup("some text");
    return (fib(10) + even(31) + numbers[0] + text[0]) & 0;
}
"""
FORMS = {"plain": [], "instructions": ["--dump-instr=yes", "--collect-jumps=yes"], "caches": ["--cache-sim=yes", "--branch-sim=yes"],
         "parts": ["--dump-every-bb=5000", "--combine-dumps=yes"], "uncompressed": ["--compress-strings=no", "--compress-pos=no"],
         "callers": ["--separate-callers=3"], "recursion": ["--separate-recs=1"]}


@pytest.fixture(scope="module")
def callgrind(tmp_path_factory):
    """Callgrind's profiles of one program, one a form."""
    folder = tmp_path_factory.mktemp("callgrind")
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", folder / "program", folder / "program.c"], check=True)
    for form, options in FORMS.items():
        ended = run("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/{form}.out", *options, folder / "program")
        assert ended.returncode == 0, ended.stderr
    return folder


def annotated_inclusive(path):
    """function with its file -> inclusive costs of the first event, as callgrind_annotate says."""
    text = run("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no", "--auto=no", "--show=Ir",
               path, cwd="/").stdout
    rows = re.findall(r"^ *([\d,]+)  (\S.*?)(?: \[(.*)\])?$", text.split("file:function\n")[1], re.M)
    return {name: int(cost.replace(",", "")) for cost, name, _ in rows}


@needs_valgrind
@pytest.mark.parametrize("form", [form for form in FORMS if form != "parts"])
def test_inclusive_costs_are_those_of_callgrind_annotate(callgrind, form):
    """Of all functions that are called and do not call themselves: there it counts a cost several times."""
    path = callgrind / f"{form}.out"
    expected = annotated_inclusive(path)
    found = json.loads(printed("--format=json", path))
    assert sum(row["self"]["Ir"] for row in found["functions"]) == found["totals"]["Ir"] > 50000
    names = [f"{row['file']}:{row['function']}" for row in found["functions"]]
    compared = {f"{row['file']}:{row['function']}": row["inclusive"]["Ir"] for row in found["functions"]
                if row["calls"] and not row["recursive_calls"] and names.count(f"{row['file']}:{row['function']}") == 1}
    assert len(compared) > 100 and any("compare" in name for name in compared) and any("qsort" in name for name in compared)
    assert compared == {name: expected[name] for name in compared}


@needs_valgrind
def test_inclusive_costs_of_parts(callgrind):
    """A dump in the middle of a call leaves what came before it out of the callers' costs, all that callgrind_annotate
    looks at; it is known from the functions' own."""
    path = callgrind / "parts.out"
    expected = annotated_inclusive(path)
    rows = json.loads(printed("--format=json", path))["functions"]
    names = [f"{row['file']}:{row['function']}" for row in rows]
    compared = {name: row["inclusive"]["Ir"] for name, row in zip(names, rows)
                if row["calls"] and not row["recursive_calls"] and names.count(name) == 1}
    assert len(compared) > 100 and all(inclusive >= expected[name] for name, inclusive in compared.items())
    assert path.read_text().count("\npart: ") > 3


@needs_valgrind
def test_without_cycles_as_callgrind_annotate(callgrind):
    path = callgrind / "recursion.out"
    expected = annotated_inclusive(path)
    rows = functions_of("--cycles=no", path)
    even = rows["even"]
    assert even["recursive_calls"] == 0 and even["calls"] == 16
    assert even["inclusive"]["Ir"] == expected[f"{even['file']}:even"]
    with_cycles = functions_of(path)
    assert with_cycles["even"]["cycle"] == with_cycles["odd"]["cycle"]
    assert with_cycles["fib"]["inclusive"]["Ir"] == with_cycles["fib"]["self"]["Ir"] < expected[f"{even['file']}:fib"]


@needs_valgrind
def test_all_forms_of_a_profile_say_the_same(callgrind):
    """Instructions, compression and caches change how it is written; parts add up."""
    rows = {form: functions_of(callgrind / f"{form}.out") for form in ("plain", "instructions", "caches", "parts", "uncompressed")}
    for form, found in rows.items():
        for name in ("main", "compare", "fib", "fib'2", "even"):
            assert found[name]["self"]["Ir"] == rows["plain"][name]["self"]["Ir"], (form, name)
            assert found[name]["calls"] == rows["plain"][name]["calls"], (form, name)


@needs_valgrind
@pytest.mark.parametrize("options", [[], ["--dump-instr=yes", "--collect-jumps=yes"], ["--compress-strings=no"],
                                     ["--collect-systime=usec"]], ids=lambda options: "".join(options) or "plain")
def test_profiles_of_the_tool_calls(callgrind, options, tmp_path):
    """callgrind_annotate and the report read the same out of them; but for functions that were also entered otherwise than by
    a call, such as the linker's resolver: callgrind_annotate knows only what callers say."""
    path = tmp_path / "calls.out"
    ended = run(SONDE, "calls", f"--callgrind-out-file={path}", *options, callgrind / "program")
    assert ended.returncode == 0, ended.stderr
    expected = annotated_inclusive(path)
    found = json.loads(printed("--format=json", path))
    assert sum(row["self"]["Ir"] for row in found["functions"]) == found["totals"]["Ir"] > 50000
    names = [f"{row['file']}:{row['function']}" for row in found["functions"]]
    compared = {name: row["inclusive"]["Ir"] for name, row in zip(names, found["functions"])
                if row["calls"] and not row["recursive_calls"] and names.count(name) == 1}
    assert len(compared) > 80 and any(name.endswith(":compare") for name in compared)
    differing = [name for name in compared if compared[name] != expected[name]]
    assert len(differing) < len(compared) / 20 and all(compared[name] > expected[name] for name in differing)
    assert not any(name.endswith((":compare", ":main", ":even")) for name in differing)
    fib = next(row for row in found["functions"] if row["function"] == "fib")
    assert (fib["calls"], fib["recursive_calls"]) == (1, 176), "fib(10)"
    assert bool(found["jumps"]) == ("--collect-jumps=yes" in options)


# ------------------------------------------------------------------------ bad input

HEAD = "version: 1\nevents: Ir\nfl=a\nfn=b\n"
DAMAGED = [
    ("no events", "version: 1\nfl=a\n", "line 2: this line is out of place: no events are named before it"),
    ("costs first", "version: 1\n5 1\n", "line 2: this line is out of place: no events are named before it"),
    ("only a header", "version: 1\nevents: Ir\n", "line 2: the profile is incomplete: it ends before its costs"),
    ("version", "version: 2\n", "line 1: version 2 of the format is not known"),
    ("no totals", "version: 1\nevents: Ir\nsummary: 3\nfl=a\nfn=b\n1 2\n",
     "line 6: the profile is incomplete: it ends without totals, and its costs are not the summary's"),
    ("totals", HEAD + "1 25\ntotals: 2", "line 6: the totals are not the sum of the costs: the profile is damaged"),
    ("totals twice", HEAD + "1 2\ntotals: 2\ntotals: 2", "line 7: there are totals twice"),
    ("behind the totals", HEAD + "1 2\ntotals: 2\n3 4\n", "line 7: costs behind the totals"),
    ("first part incomplete", HEAD + "1 2\ntotals: 3\nversion: 1\n",
     "line 7: the totals are not the sum of the costs: the profile is damaged"),
    ("events of parts", HEAD + "1 2\ntotals: 2\nversion: 1\nevents: Dr\n", "line 8: a part has other events than the first"),
    ("too many counts", HEAD + "1 2 3\n", "line 5: there are more counts than events"),
    ("no number", HEAD + "1 x\n", "line 5: a number is expected"),
    ("a number and more", HEAD + "1 2x\n", "line 5: a number is expected"),
    ("no position", HEAD + "+ 2\n", "line 5: a number is expected"),
    ("below zero", HEAD + "-1 2\n", "line 5: a position is out of range"),
    ("too large", HEAD + "1 9223372036854775808\n", "line 5: a number is too large"),
    ("far too large", HEAD + "1 99999999999999999999\n", "line 5: a number is too large"),
    ("hexadecimal too large", HEAD + "1 0x11111111111111111\n", "line 5: a number is too large"),
    ("sum too large", HEAD + "1 9223372036854775807\n2 1\n", "line 6: the sum of the counts is too large"),
    ("line too large", HEAD + "4294967296 1\n", "line 5: the line number is too large"),
    ("calls too many", HEAD + "cfn=c\ncalls=18446744073709551615 1\n1 1\ncfn=c\ncalls=1 1\n1 1\n",
     "line 10: the sum of the counts is too large"),
    ("no function", "version: 1\nevents: Ir\nfl=a\n1 2\n", "line 4: costs before any function (fn=)"),
    ("call before a function", "version: 1\nevents: Ir\ncfn=a\ncalls=1 2\n", "line 4: a call or jump before any function (fn=)"),
    ("call of nothing", HEAD + "calls=1 2\n", "line 5: a call without the function called (cfn=)"),
    ("call without costs", HEAD + "cfn=c\ncalls=1 2\nfn=d\n", "line 7: a line of costs is expected behind a call or jump"),
    ("ends in a call", HEAD + "cfn=c\ncalls=1 2\n", "line 6: the profile is incomplete: a line of costs is missing"),
    ("jump of one count", HEAD + "jcnd=1 2\n", "line 5: a conditional jump needs two counts"),
    ("name not defined", "version: 1\nevents: Ir\nfl=(3)\n", "line 3: the name number 3 was not defined"),
    ("unknown line", HEAD + "hello\n", "line 5: this is no line of a callgrind profile"),
    ("unknown position", "version: 1\npositions: line place\n", "line 2: a kind of position is not known"),
    ("no position named", "version: 1\npositions:\n", "line 2: no position is named"),
    ("event twice", "version: 1\nevents: Ir Ir\n", "line 2: an event is named twice"),
    ("no event", "version: 1\nevents:\n", "line 2: no event is named"),
    ("derived of nothing", "version: 1\nevent: A = B\nevents: Ir\nfl=a\nfn=b\n1 1\n",
     "line 2: a derived event is made of one that there is not"),
    ("derived otherwise", "version: 1\nevent: A = Ir - Ir\nevents: Ir\nfl=a\nfn=b\n1 1\n",
     "line 2: a derived event is no sum of events"),
    ("derived too large", "version: 1\nevent: A = 18446744073709551615 Ir\nevents: Ir\nfl=a\nfn=b\n1 2\n",
     "line 2: the sum of a derived event is too large"),
    ("zero byte", "version: 1\nevents: Ir\nfl=a\0b\n", "line 3: there is a zero byte"),
]


@pytest.mark.parametrize("text, wrong", [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_damaged_profiles(tmp_path, text, wrong):
    path = profile(tmp_path, text)
    for words in ([path], ["--merge", path], ["--format=json", path]):
        ended = report(*words)
        assert (ended.returncode, ended.stdout) == (3, "")
        assert ended.stderr == f"sonde: '{path}', {wrong}\n"


def test_every_truncation_is_noticed(small, tmp_path):
    """But for that of the last line's end, which changes nothing, and of the totals behind what the summary proves."""
    text, path = small.read_text(), tmp_path / "cut.out"
    end = text.index("totals:")
    for length in [*range(20, end - 90, 7), *range(end + 8, len(text) - 1)]:
        path.write_text(text[:length])
        ended = report(path)
        assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (3, "", 1), text[:length]
    path.write_text(text[:-1])
    assert report(path).returncode == 0


def test_bad_words(small, tmp_path):
    cachegrind = tmp_path / "cachegrind.out"
    cachegrind.write_text("cmd: x\nevents: Ir\nfl=a\nfn=b\n1 2\nsummary: 2\n")
    cases = [
        ([small, tmp_path / "none"], 2, f"cannot read '{tmp_path}/none': No such file or directory"),
        ([small, tmp_path], 2, f"cannot read '{tmp_path}': Is a directory"),
        ([small, cachegrind], 3, f"'{cachegrind}' is no callgrind profile"),
        ([cachegrind, small], 3, f"'{small}' is no cachegrind profile"),
        ([small, small, small], 2, "3 files: two are compared, more are added up by --merge"),
        (["--sort=Dw", small], 2, "--sort: the profile has no event 'Dw'; it has Ir, Dr"),
        (["--depth=0", small], 2, "--depth must be from 1 to 1000"),
        (["--threshold=101", small], 2, "--threshold needs a number of per cent from 0 to 100, not '101'"),
        (["--threshold=nan", small], 2, "--threshold needs a number of per cent from 0 to 100, not 'nan'"),
        (["--tree=sideways", small], 2, "--tree needs one of none|top-down|bottom-up, not 'sideways'"),
        (["--functions=-1", small], 2, "--functions must not be negative"),
        (["--context=-1", small], 2, "--context must be from 0 to 4294967295"),
        (["--treee=top-down", small], 2, "unknown option '--treee=top-down' for a callgrind profile; did you mean --tree?"),
    ]
    for words, status, line in cases:
        ended = report(*words)
        assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", f"sonde: {line}\n")


def test_a_large_profile(tmp_path):
    """A tenth of what a reader may be given; how long it takes is printed, not judged."""
    path = tmp_path / "large.out"
    expected = call_profiles.write_large(path, 3000, 500000)
    start = time.monotonic()
    rows = functions_of("--function=function_1*", path)
    print(f"{path.stat().st_size >> 20} MiB read in {time.monotonic() - start:.1f} s")
    assert len(rows) > 1000
    assert all(row["inclusive"]["Ir"] == expected[name] for name, row in rows.items())


def test_hostile_profiles(tmp_path):
    program = tmp_path / "fuzz_callgrind"
    names = ("annotate", "call_graph", "call_profile", "call_tree", "call_view", "callgrind_costs", "callgrind_header", "callgrind_reader",
             "columns", "line_text",
             "page", "page_file", "page_instructions", "page_source", "page_text", "profile", "profile_text", "text_form")
    sources = [*(ROOT / "src/report" / f"{name}.c" for name in names), *(ROOT / "src/base").glob("*.c")]
    built = run("gcc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE=", "-fsanitize=address,undefined",
                "-fno-sanitize-recover=undefined", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{BUILD}", "-o", program,
                ROOT / "tests/fuzz/fuzz_callgrind.c", *sources, "-lz")
    assert built.returncode == 0, built.stderr
    ended = run(program, FIRST_SEED, SEEDS, timeout=300)
    assert (ended.returncode, ended.stdout) == (0, f"{SEEDS} inputs read\n"), ended.stderr
