"""@fileoverview With the default sampling the ten greatest findings are those of the whole run, in the same order give or take two
places.

On programs that do the same for long: a simulation, recursion, and a database. Findings that are less than a fiftieth apart have no
order: n-body has several that are equal to the byte.
"""
import json
import pathlib
import subprocess

import pytest

from real_programs import SONDE

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLING = ("--sample-on=1000000", "--sample-off=100000000")
ROUND = "with recursive n(i) as (values(1) union all select i+1 from n where i < 9000) insert into t select i, i*i%997 from n; " \
        "select count(distinct b), sum(a) from t where b < 500; delete from t where a % 3;"
SCRIPT = "create table t(a, b); create index k on t(b);" + 30 * ROUND

# What is run, by which tool, and which of its lists is looked at.
CASES = [
    ("n_body", "3000000", "loadspy", "redundant"), ("n_body", "3000000", "deadspy", "dead"),
    ("n_body", "3000000", "zerospy", "integer"), ("n_body", "3000000", "redspy", "registers"),
    ("fib", "36", "loadspy", "redundant"), ("fib", "36", "redspy", "registers"),
    ("sqlite3", SCRIPT, "loadspy", "redundant"), ("sqlite3", SCRIPT, "zerospy", "integer"),
]


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampling")

    def make(name, argument):
        if name == "sqlite3":
            return ["/usr/bin/sqlite3", ":memory:", argument]
        built = folder / name
        if not built.exists():
            source = ROOT / "bench" / "workloads" / f"{name}.c"
            subprocess.run(["gcc", "-O2", "-g", "-o", built, source, "-lm"], check=True)
        return [built, argument]
    return make


def findings(target, tool, name, command, *options):
    subprocess.run([SONDE, tool, "--format=json", "--top=100", f"--output={target}", *options, "--", *command], check=True,
                   stdout=subprocess.DEVNULL, timeout=300)
    return json.loads(target.read_text())[name]


def places(finding):
    return [(which, finding[which]["address"], finding[which]["context"]) for which in ("first", "second") if which in finding]


def misplaced(whole, sampled, rank):
    """By how many places the finding of this rank lies outside of those that are its own in the whole run; None: it is not there."""
    share = whole[rank]["share"]
    own = [place for place, other in enumerate(whole) if abs(other["share"] - share) <= share / 50]
    found = [place for place, other in enumerate(sampled) if places(other) == places(whole[rank])]
    return max(own[0] - found[0], found[0] - own[-1], 0) if found else None


@pytest.mark.parametrize("program, argument, tool, name", CASES, ids=lambda value: "script" if value == SCRIPT else value)
def test_the_greatest_findings_are_the_same(tmp_path, command, program, argument, tool, name):
    words = command(program, argument)
    whole = findings(tmp_path / "whole", tool, name, words)
    sampled = findings(tmp_path / "sampled", tool, name, words, *SAMPLING)
    assert len(whole) >= 10
    off = {rank: misplaced(whole, sampled, rank) for rank in range(10)}
    assert {rank: places for rank, places in off.items() if places is None or places > 2} == {}
