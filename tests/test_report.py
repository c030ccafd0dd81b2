"""`sonde report` on cachegrind profiles: those of Valgrind and of Sonde, in text and JSON, compared and added up; and every
kind of file that is none.
"""
import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, SONDE
from report_runs import FIRST_SEED, SEEDS, needs_valgrind, printed, report, run

SMALL = """desc: I1 cache: some
cmd: ./program with words
events: Ir D1mr
fl={folder}/source.c
fn=main
2 10 1
3 100 90
fn=helper
5 40 .
fl=???
fn=???
0 50 9
fl={folder}/source.c
fn=main
3 5
summary: 205 100
"""
SOURCE = "int x;\nint main(void) {\n\tslow();\n}\nvoid helper(void) {}\n" + "// far away\n" * 20


@pytest.fixture
def small(tmp_path):
    """A profile with its source, which is older."""
    source, profile = tmp_path / "source.c", tmp_path / "small.out"
    source.write_text(SOURCE)
    os.utime(source, (1e9, 1e9))
    profile.write_text(SMALL.format(folder=tmp_path))
    return profile


# --------------------------------------------------------------------------- one file

def test_json(small, tmp_path):
    found = json.loads(printed("--format=json", small))
    assert found == {
        "kind": "cachegrind", "files": [str(small)], "command": "./program with words",
        "descriptions": ["I1 cache: some"], "events": ["Ir", "D1mr"], "totals": {"Ir": 205, "D1mr": 100},
        "functions": [
            {"function": "main", "file": f"{tmp_path}/source.c", "counts": {"Ir": 115, "D1mr": 91},
             "lines": [{"line": 2, "counts": {"Ir": 10, "D1mr": 1}}, {"line": 3, "counts": {"Ir": 105, "D1mr": 90}}]},
            {"function": "???", "file": "???", "counts": {"Ir": 50, "D1mr": 9},
             "lines": [{"line": 0, "counts": {"Ir": 50, "D1mr": 9}}]},
            {"function": "helper", "file": f"{tmp_path}/source.c", "counts": {"Ir": 40, "D1mr": 0},
             "lines": [{"line": 5, "counts": {"Ir": 40, "D1mr": 0}}]},
        ],
    }


def test_text(small):
    ended = report(small)
    assert (ended.returncode, ended.stderr) == (0, "")
    text = ended.stdout
    assert max(map(len, text.splitlines())) <= 80 and "\x1b" not in text
    assert re.search(r"^  Ir +205 +instructions read$", text, re.M)
    functions, source = text.split("Source: ", 1)
    rows = re.findall(r"^[> ] +([\d,]+) +([\d.]+)% +(?:([\d.]+)%)? +(\S+) \(([^)]*)\)$", functions, re.M)
    assert rows == [("115", "56.1", "91.0", "main", "source.c:2"), ("50", "24.4", "9.0", "???", "???"),
                    ("40", "19.5", "", "helper", "source.c:5")]
    assert re.search(r"^> +105 +51\.2% +90\.0% +3 +        slow\(\);$", source, re.M), "the slow line is marked"
    assert re.search(r"^ +1  int x;$", source, re.M), "lines around it are shown"
    assert source.count("far away") == 2, "and no more"


def test_sort_show_and_limits(small):
    by_misses = json.loads(printed("--format=json", "--sort=D1mr", small))["functions"]
    assert [row["function"] for row in by_misses] == ["main", "???", "helper"]
    text = printed("--show=D1mr+Ir,Ir", "--sort=Ir", "--functions=1", "--annotate=no", small)
    assert "Source:" not in text and "helper" not in text and "(2 more; --functions=N lists more)" in text
    assert re.search(r"115 +67\.5% +56\.1%  main", text), "the share of a sum of events"
    assert "Source" not in printed("--functions=0", small)
    assert len(printed("--context=30", small)) > len(printed("--context=0", small))


def test_color_is_for_terminals(small):
    assert "\x1b[" in printed("--color=yes", small)
    for words, environment, expected in [([], {}, True), (["--color=no"], {}, False), ([], {"NO_COLOR": "1"}, False)]:
        master, slave = pty.openpty()
        ended = report(*words, small, stdout=slave, capture_output=False, stderr=subprocess.PIPE,
                       env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **environment})
        os.close(slave)
        shown = os.read(master, 1 << 16)
        os.close(master)
        assert ended.returncode == 0 and (b"\x1b[" in shown) == expected


def test_control_characters_stay_off_the_terminal(small):
    small.write_text(small.read_text().replace("main", "ma\x1b[31min"))
    assert "\x1b" not in printed(small) and "ma?[31min" in printed(small)


# ---------------------------------------------------------------------------- sources

def test_source_is_missing(small, tmp_path):
    (tmp_path / "source.c").unlink()
    ended = report(small)
    assert ended.returncode == 0 and "Source:" not in ended.stdout
    assert ended.stderr == f"sonde: the source '{tmp_path}/source.c' cannot be read: No such file or directory\n"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "source.c").write_text(SOURCE)
    os.utime(tmp_path / "elsewhere" / "source.c", (1e9, 1e9))
    found = report(f"--sources=/nowhere:{tmp_path}/elsewhere", small)
    assert (found.returncode, found.stderr) == (0, "") and "slow();" in found.stdout


def test_source_is_no_file(small, tmp_path):
    """A pipe would be waited for, a folder cannot be read."""
    (tmp_path / "source.c").unlink()
    for make in (os.mkfifo, os.mkdir):
        make(tmp_path / "source.c")
        ended = report(small, timeout=20)
        assert (ended.returncode, ended.stderr) == (0, f"sonde: the source '{tmp_path}/source.c' cannot be read: Invalid argument\n")
        (os.unlink if make is os.mkfifo else os.rmdir)(tmp_path / "source.c")


def test_source_is_newer(small, tmp_path):
    os.utime(small, (1e9, 1e9))
    os.utime(tmp_path / "source.c", (2e9, 2e9))
    ended = report(small)
    assert ended.returncode == 0 and "slow();" in ended.stdout
    assert ended.stderr == (f"sonde: the source '{tmp_path}/source.c' is newer than the profile '{small}': "
                            "lines may not match\n")


def test_source_is_shorter_than_its_profile(small, tmp_path):
    (tmp_path / "source.c").write_text("one\n")
    os.utime(tmp_path / "source.c", (1e9, 1e9))
    assert re.search(r"105 +51\.2% +90\.0% +3$", printed(small), re.M)


# ------------------------------------------------------------------- two and more files

def changed(small, tmp_path):
    other = tmp_path / "other.out"
    other.write_text(small.read_text().replace("3 100 90", "3 20 90").replace("helper", "new_one")
                     .replace("summary: 205", "summary: 125"))
    return other


def test_compare(small, tmp_path):
    other = changed(small, tmp_path)
    found = json.loads(printed("--format=json", small, other))
    assert found["totals"] == {"before": {"Ir": 205, "D1mr": 100}, "after": {"Ir": 125, "D1mr": 100},
                               "change": {"Ir": -80, "D1mr": 0}}
    changes = {row["function"]: row["change"]["Ir"] for row in found["functions"]}
    assert changes == {"main": -80, "helper": -40, "new_one": 40, "???": 0}
    text = printed(small, other)
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"^  Ir +205 +125 +-80 +-39\.02 %$", text, re.M)
    listed = re.findall(r"^ +([\d,]+) +([\d,]+) +([-+][\d,]+)  (\w+) ", text, re.M)
    assert listed == [("115", "35", "-80", "main"), ("40", "0", "-40", "helper"), ("0", "40", "+40", "new_one")]
    assert "(no function has changed)" in printed(small, small)
    assert "(1 more; --functions=N lists more)" in printed("--functions=2", small, other)


def test_difference_as_a_profile(small, tmp_path):
    difference = tmp_path / "difference.out"
    difference.write_text(printed("--format=cachegrind", small, changed(small, tmp_path)))
    found = json.loads(printed("--format=json", difference))
    assert found["totals"] == {"Ir": -80, "D1mr": 0}
    assert {row["function"]: row["counts"]["Ir"] for row in found["functions"]}["helper"] == -40


def test_merge(small, tmp_path):
    other = changed(small, tmp_path)
    found = json.loads(printed("--merge", "--format=json", small, other, small))
    assert found["totals"] == {"Ir": 2 * 205 + 125, "D1mr": 300}
    assert found["files"] == [str(small), str(other), str(small)]
    functions = {row["function"]: row for row in found["functions"]}
    assert functions["main"]["counts"] == {"Ir": 2 * 115 + 35, "D1mr": 273}
    assert [line["line"] for line in functions["main"]["lines"]] == [2, 3]
    merged = tmp_path / "merged.out"
    merged.write_text(printed("--merge", "--format=cachegrind", small, other, small))
    again = json.loads(printed("--format=json", merged))
    assert again["totals"] == found["totals"] and again["functions"] == found["functions"]
    assert "sum of 3 profiles" in printed("--merge=yes", small, other, small)


def test_merge_and_compare_by_the_names_of_events(small, tmp_path):
    """Events may be in another order; a sum needs the same ones, a comparison one in common."""
    other = tmp_path / "other.out"
    other.write_text("cmd: x\nevents: D1mr Ir\nfl=a\nfn=b\n1 7 1000\nsummary: 7 1000\n")
    assert json.loads(printed("--merge", "--format=json", small, other))["totals"] == {"Ir": 1205, "D1mr": 107}
    other.write_text("cmd: x\nevents: Bc Ir\nfl=a\nfn=b\n1 7 1000\nsummary: 7 1000\n")
    refused = report("--merge", small, other)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert refused.stderr == f"sonde: '{other}' has other events than the files before it\n"
    assert json.loads(printed("--format=json", small, other))["totals"]["change"] == {"Ir": 795}
    other.write_text("cmd: x\nevents: Bc\nfl=a\nfn=b\n1 7\nsummary: 7\n")
    assert report(small, other).returncode == 3


# --------------------------------------------------------- the programs of others

@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Profiles of one program: two of Sonde's, one of Valgrind's."""
    folder = tmp_path_factory.mktemp("real")
    program = folder / "matrix"
    subprocess.run(["gcc", "-g", "-O1", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-o", program,
                    ROOT / "tests/programs/count_matrix.c"], check=True)
    files = [folder / "one.out", folder / "two.out", folder / "valgrind.out"]
    for file, options in zip(files, ([], ["--D1=512,2,64"])):
        ended = run(SONDE, "cache", "--branch-sim=yes", f"--cachegrind-out-file={file}", *options, program)
        assert ended.returncode == 0, ended.stderr
    if shutil.which("valgrind"):
        run("valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={files[2]}", "/bin/true")
    return files


@needs_valgrind
def test_valgrind_s_programs_read_our_profiles(real, tmp_path):
    one, two, _ = real
    summary = re.search(r"^summary: (.*)$", one.read_text(), re.M)[1].split()
    annotated = run("cg_annotate", one)
    assert annotated.returncode == 0 and annotated.stderr == ""
    totals = re.search(r"^(.*) PROGRAM TOTALS$", annotated.stdout, re.M)[1]
    assert [n.replace(",", "") for n in re.findall(r"([\d,]+) \(", totals)] == [n for n in summary if n != "0"]
    assert str(ROOT / "tests/programs/count_matrix.c") in annotated.stdout
    difference = run("cg_diff", one, two)
    assert difference.returncode == 0
    expected = [int(b) - int(a) for a, b in zip(summary, re.search(r"^summary: (.*)$", two.read_text(), re.M)[1].split())]
    assert re.search(r"^summary: *(.*)$", difference.stdout, re.M)[1].split() == [str(n) for n in expected]
    assert any(expected)
    merged = tmp_path / "merged"
    assert run("cg_merge", "-o", merged, one, two).returncode == 0
    assert json.loads(printed("--format=json", merged))["totals"]["Ir"] == 2 * int(summary[0])


@needs_valgrind
def test_valgrind_s_profiles_are_read(real, tmp_path):
    one, two, valgrind = real
    found = json.loads(printed("--format=json", valgrind))
    assert found["totals"]["Ir"] > 50000 and len(found["events"]) == 9 and len(found["functions"]) > 20
    sums = {event: sum(row["counts"][event] for row in found["functions"]) for event in found["events"]}
    assert sums == found["totals"]
    difference = tmp_path / "difference"
    difference.write_text(run("cg_diff", one, two).stdout)
    assert json.loads(printed("--format=json", difference))["totals"]["Ir"] == 0
    merged = tmp_path / "merged"
    merged.write_text(printed("--merge", "--format=cachegrind", one, two))
    annotated = run("cg_annotate", merged)
    assert annotated.returncode == 0 and annotated.stderr == ""


# ------------------------------------------------------------------------ bad input

DAMAGED = [
    ("no events", "cmd: x\nfl=a\n", "line 2: this line is out of place"),
    ("no command", "events: Ir\n", "line 1: this line is out of place"),
    ("no summary", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 2\n", "line 5: the profile is incomplete: it ends without a summary"),
    ("only a description", "desc: x\n", "line 1: the profile is incomplete: it ends without a summary"),
    ("cut in a number", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 25\nsummary: 2",
     "line 6: the summary is not the sum of the counts: the profile is damaged"),
    ("too many counts", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 2 3\nsummary: 2\n", "line 5: there are more counts than events"),
    ("no number", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 x\nsummary: 2\n", "line 5: a number is expected"),
    ("a number and more", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 2x\nsummary: 2\n", "line 5: a number is expected"),
    ("too large", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 9223372036854775808\n", "line 5: a number is too large"),
    ("far too large", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 99999999999999999999\n", "line 5: a number is too large"),
    ("sum too large", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 9223372036854775807\n2 1\n",
     "line 6: the sum of the counts is too large"),
    ("line too large", "cmd: x\nevents: Ir\nfl=a\nfn=b\n4294967296 1\n", "line 5: the line number is too large"),
    ("no function", "cmd: x\nevents: Ir\nfl=a\n1 2\n", "line 4: counts before any function (fn=)"),
    ("no file", "cmd: x\nevents: Ir\nfn=a\n", "line 3: a function before any file (fl=)"),
    ("unknown line", "cmd: x\nevents: Ir\nfl=a\nfn=b\nhello\n", "line 5: this is no line of a cachegrind profile"),
    ("behind the summary", "cmd: x\nevents: Ir\nfl=a\nfn=b\n1 2\nsummary: 2\n1 2\n", "line 7: this line is out of place"),
    ("event twice", "cmd: x\nevents: Ir Ir\n", "line 2: an event is named twice"),
    ("no event", "cmd: x\nevents:\n", "line 2: no event is named"),
    ("zero byte", "cmd: x\nevents: Ir\nfl=a\0b\n", "line 3: there is a zero byte"),
]


@pytest.mark.parametrize("text, wrong", [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_damaged_profiles(tmp_path, text, wrong):
    profile = tmp_path / "damaged.out"
    profile.write_text(text)
    for words in ([profile], ["--merge", profile], ["--format=json", profile]):
        ended = report(*words)
        assert (ended.returncode, ended.stdout) == (3, "")
        assert ended.stderr == f"sonde: '{profile}', {wrong}\n"


def test_every_truncation_is_noticed(small, tmp_path):
    """But for that of the last line's end, which changes nothing."""
    text, profile = small.read_text(), tmp_path / "cut.out"
    for length in range(1, len(text) - 1, 7):
        profile.write_text(text[:length])
        ended = report(profile)
        assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (3, "", 1), length
    profile.write_text(text[:-1])
    assert report(profile).returncode == 0


@pytest.mark.parametrize("text, owner", [
    ('{"dhatFileVersion":2,"mode":"heap"}', "DHAT"), ("PERFILE2" + "\0" * 80, "perf"),
])
def test_profiles_of_other_tools_are_named(tmp_path, text, owner):
    profile = tmp_path / "foreign.out"
    profile.write_text(text)
    ended = report(profile)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == f"sonde: '{profile}' is a profile of {owner}, which sonde report does not read\n"


def test_what_is_no_profile(small, tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("")
    cases = [
        (["/bin/true"], 3, "'/bin/true' is no profile that sonde report knows"),
        ([empty], 3, f"'{empty}' is empty"),
        ([tmp_path / "none"], 2, f"cannot read '{tmp_path}/none': No such file or directory"),
        ([tmp_path], 2, f"cannot read '{tmp_path}': Is a directory"),
        ([small, tmp_path / "none"], 2, f"cannot read '{tmp_path}/none': No such file or directory"),
        ([small, "/bin/true"], 3, "'/bin/true' is no cachegrind profile"),
        ([small, small, small], 2, "3 files: two are compared, more are added up by --merge"),
        ([], 2, "no profile is named; usage: sonde report [options] FILE..."),
        (["--sotr=Ir", small], 2, "unknown option '--sotr=Ir' for a cachegrind profile; did you mean --sort?"),
        (["--sort=Dw", small], 2, "--sort: the profile has no event 'Dw'; it has Ir, D1mr"),
        (["--show=Ir,x", small], 2, "--show: the profile has no event 'x'; it has Ir, D1mr"),
        (["--show=Ir,Ir,Ir,Ir,Ir", small], 2, "--show: more than 4 columns"),
        (["--format=xml", small], 2, "--format needs one of text|json|cachegrind, not 'xml'"),
        (["--functions=-1", small], 2, "--functions must not be negative"),
        (["--context=-1", small], 2, "--context must be from 0 to 4294967295"),
        (["--sort=Dw", small, small], 2, "--sort: the two profiles do not both have an event 'Dw'"),
    ]
    for words, status, line in cases:
        ended = report(*words)
        assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", f"sonde: {line}\n")


def test_output_that_cannot_be_written(small):
    with open("/dev/full", "w", encoding="ascii") as full:
        ended = report(small, stdout=full, capture_output=False, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert ended.stderr == "sonde: cannot write to standard output: No space left on device\n"


def test_hostile_profiles(tmp_path):
    program = tmp_path / "fuzz_cachegrind"
    sources = [ROOT / "src/report" / name for name in ("cachegrind_reader.c", "line_text.c", "profile.c")] + [
        ROOT / "src/base" / name for name in ("arena.c", "cachegrind.c", "hash.c", "intern.c", "lock.c", "table.c", "vector.c")]
    built = run("gcc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE=", "-fsanitize=address,undefined",
                "-fno-sanitize-recover=undefined", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-o", program,
                ROOT / "tests/fuzz/fuzz_cachegrind.c", *sources)
    assert built.returncode == 0, built.stderr
    ended = run(program, FIRST_SEED, SEEDS, timeout=300)
    assert (ended.returncode, ended.stdout) == (0, f"{SEEDS} inputs read\n"), ended.stderr
