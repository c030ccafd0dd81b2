"""Data objects of the tools that look at values (--data-centric=yes): blocks of the heap, variables, frames, mapped files."""
import json
import subprocess

import pytest

from conftest import ROOT, SONDE

SOURCE = ROOT / "tests" / "programs" / "values_objects.c"
FUNCTIONS = "load", "twice", "one", "other", "in_frame", "main"


def run(*command):
    return subprocess.run([str(word) for word in command], timeout=120, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    target = tmp_path_factory.mktemp("objects") / "objects"
    built = run("gcc", "-g", "-O1", "-fno-stack-protector", "-no-pie", "-o", target, SOURCE)
    assert built.returncode == 0, built.stderr
    return target


def objects_of(tmp_path, tool, program):
    target = tmp_path / "report.json"
    ended = run(SONDE, tool, "--data-centric=yes", "--format=json", "--top=1000000", f"--output={target}",
                *(f"--only={name}" for name in FUNCTIONS), "--", program, SOURCE)
    assert ended.returncode == 0, ended.stderr
    return json.loads(target.read_text())


def by_name(got):
    """(kind, name; of the heap's: the function that allocated) -> bytes."""
    return {(found["kind"], found["name"] or found["context"][0].split()[0]): found["bytes"] for found in got["objects"]}


def test_loadspy_by_object(tmp_path, program):
    got = objects_of(tmp_path, "loadspy", program)
    found = by_name(got)
    assert found["variable", "initialised"] == 16 * 4
    assert found["variable", "zeroed"] == 32 * 4
    assert found["file", str(SOURCE)] == 20 * 4
    assert found["frames", "in_frame"] == 64 * 4 + 4
    assert found["heap", "one"] >= 3 * 10 * 4 and found["heap", "other"] >= 3 * 12 * 4  # more where memory is used again
    assert sum(found.values()) == got["totals"]["redundant bytes"]
    assert abs(sum(entry["share"] for entry in got["objects"]) - 1) < 1e-9


def test_zerospy_by_object(tmp_path, program):
    """Blocks that follow each other at the same address are different objects."""
    got = objects_of(tmp_path, "zerospy", program)
    found = by_name(got)
    assert found["heap", "one"] == 3 * 2 * 10 * 4 and found["heap", "other"] == 3 * 2 * 12 * 4
    assert found["variable", "zeroed"] == 2 * 32 * 4
    assert found["variable", "initialised"] == 2 * (13 * 4 + 3 * 3)
    assert found["frames", "in_frame"] >= 2 * 64 * 4 + 4
    assert sum(found.values()) == got["totals"]["zero bytes"]


@pytest.mark.parametrize("tool, total", [("deadspy", "dead bytes: overwritten unread"), ("redspy", "redundant bytes in memory")])
def test_objects_add_up(tmp_path, program, tool, total):
    got = objects_of(tmp_path, tool, program)
    assert sum(by_name(got).values()) == got["totals"][total] > 0


def test_text(program):
    ended = run(SONDE, "loadspy", "--data-centric=yes", *(f"--only={name}" for name in FUNCTIONS), "--", program, SOURCE)
    _, _, objects = ended.stderr.partition("\nData objects, by bytes")
    assert "   variable zeroed\n      in " in objects
    assert "   frames of in_frame\n" in objects
    assert "   heap blocks allocated by\n      one (" in objects


def test_not_with_workers(program):
    ended = run(SONDE, "loadspy", "--data-centric=yes", "--analysis-threads=1", "--", program, SOURCE)
    assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1 and "--analysis-threads" in ended.stderr
