"""@fileoverview The tools that look at values take at most 8 times the memory that the program takes, and 100 MB.

On interpreters and a database, which execute much code in many contexts: what takes memory is the numbers of places, and at the
end, before anything is given back, the findings.
"""
import pathlib
import subprocess

import pytest

from real_programs import SONDE

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "bench" / "workloads"
SCRIPT = "create table t(a, b); with recursive n(i) as (values(1) union all select i+1 from n where i < 20000) " \
         "insert into t select i, i*i%997 from n; create index k on t(b); select count(distinct b), sum(a) from t;"
PROGRAMS = {
    "perl": ["/usr/bin/perl", WORKLOADS / "interpreter.pl", "6"],
    "python3": ["/usr/bin/python3", WORKLOADS / "interpreter.py", "6"],
    "sqlite3": ["/usr/bin/sqlite3", ":memory:", SCRIPT],
}


@pytest.fixture(scope="module")
def peak(tmp_path_factory):
    """Peak memory of a command in MB. A Python parent's own would count into its child's."""
    launch = tmp_path_factory.mktemp("memory") / "launch"
    subprocess.run(["gcc", "-O2", "-o", launch, ROOT / "bench" / "launch.c"], check=True)

    def measure(*command):
        words = [str(word) for word in (launch, "300", "1", "/dev/null", "/dev/null", *command)]
        *_, kilobytes, status = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        assert status == "0"
        return int(kilobytes) / 1024
    return measure


@pytest.mark.parametrize("tool", ["loadspy", "deadspy", "zerospy", "redspy"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_memory(peak, tool, name):
    native = peak(*PROGRAMS[name])
    assert peak(SONDE, tool, "--output=/dev/null", "--", *PROGRAMS[name]) <= 8 * native + 100
