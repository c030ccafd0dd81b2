"""Random blocks of every instruction form that the decoder knows leave the same state under Sonde as natively.

Fixed seeds here; `make fuzz-engine` goes on without end. See tests/differential/ for the generator and the runner.
"""

import collections
import re

import pytest

import differential_driver as driver

# (seed, blocks, further arguments of the generator)
CORPORA = {
    "mixed": (1, 3000, ()),
    "long": (2, 400, ("--pieces=150",)),
    "sweep": (3, 1800, ("--pieces=20", "--straight", "--sweep")),
}
OPTIONS = ((), ("--debug-block-limit=1",), ("--debug-block-limit=3",), ("--debug-block-limit=40",),
           ("--debug-superblocks=no",), ("--debug-return-prediction=yes",), ("--debug-links=no",), ("--debug-fast-decode=no",))
CONFIGURATIONS = [(tool, *options) for tool in ("none", "count") for options in OPTIONS]


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    """Name -> (path, native outcome, coverage report)."""
    folder = tmp_path_factory.mktemp("differential")
    made = {}
    for name, (seed, blocks, more) in CORPORA.items():
        path = folder / f"{name}.txt"
        coverage = driver.generate(path, seed, blocks, "--coverage", *more)
        made[name] = (path, driver.run_native(path), coverage)
    return made


@pytest.mark.parametrize("name", CORPORA)
def test_native_runs_agree(corpora, name):
    """What differs between two native runs proves nothing about Sonde: the rules must keep it out."""
    path, native, _ = corpora[name]
    assert native.status == 0, native.error
    assert len(native.by_block()) == CORPORA[name][1]
    assert driver.run_native(path).lines == native.lines


def test_blocks_do_something(corpora):
    """Most blocks run to their end, some fault in each way, and hardly two leave the same state."""
    lines = [line.split(" ", 1)[1] for _, native, _ in corpora.values() for line in native.lines if line]
    ends = collections.Counter(line.split()[0] for line in lines)
    assert ends["end"] > len(lines) // 2
    assert all(ends[f"signal={number}"] > 0 for number in (4, 5, 8, 11)), ends
    assert len(set(lines)) == len(lines)


def test_coverage(corpora):
    """The sweep reaches the decoder's instruction forms, so that a rule that excludes too much is seen."""
    report = corpora["sweep"][2]
    for what, least in (("mnemonics", 0.97), ("definitions", 0.97), ("forms", 0.95)):
        totals = re.findall(r"(\d+) ([a-z][a-z ]*)", re.search(rf"^{what}: (.*)", report, re.M)[1])
        by_name = {name.strip(): int(number) for number, name in totals}
        # Privileged instructions only ever fault; what is excluded has its reason in tests/differential/rules.c.
        runnable = sum(by_name[name] for name in ("executed", "control flow", "never tried"))
        assert by_name["executed"] + by_name["control flow"] > least * runnable, report
        assert by_name["excluded"] < 0.07 * by_name["known to the decoder"], report


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=" ".join)
@pytest.mark.parametrize("name", CORPORA)
def test_same_under_sonde(corpora, name, configuration):
    assert driver.SONDE.exists(), f"{driver.SONDE} is not built: run make"
    path, native, _ = corpora[name]
    sonde = driver.run_sonde(path, configuration)
    if driver.first_difference(native, sonde) is not None:
        pytest.fail(driver.explain(path, native, sonde, configuration, driver.BUILD / "differential-failures"))


@pytest.mark.parametrize("configuration", [None, *CONFIGURATIONS[::2]], ids=lambda given: " ".join(given or ["native"]))
def test_same_with_signals(corpora, configuration):
    """Timer signals arrive anywhere in the blocks and change nothing; their handler sees the program's addresses."""
    path, native, _ = corpora["mixed"]
    often = "--interrupt=150"
    if configuration is None:
        outcome = driver.run_native(path, often)
    else:
        outcome = driver.run_sonde(path, configuration, often)
    if driver.first_difference(native, outcome) is not None:
        pytest.fail(driver.explain(path, native, outcome, configuration, driver.BUILD / "differential-failures", [often])
                    if configuration else outcome.error)
    told = re.search(r"(\d+) signals, (\d+) inside blocks", outcome.error)
    assert told and int(told[2]) > 20, outcome.error
