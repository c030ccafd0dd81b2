"""The data flow of instructions (<sonde/flow.h>): the tables against what was decided, and against the processor.

flow_classes.txt says which classes the flows of each mnemonic have; after a change that is meant:
build/tests/differential/flow-classes > tests/flow_classes.txt. The flips are explained in tests/differential/flow_flip.c;
more of them are in tests/long/test_flow_flips.py.
"""

import difflib
import pathlib
import re

import differential_driver as driver

CLASSES = pathlib.Path(__file__).parent / "flow_classes.txt"

def flip(*arguments, timeout=120):
    return driver.execute([*driver.FIXED_ADDRESSES, driver.program("flow-flip"), *arguments], timeout)


def test_classes_of_every_mnemonic():
    """A mnemonic that is missing, or whose flows have other classes, shows."""
    outcome = driver.execute([driver.program("flow-classes")], timeout=60)
    assert outcome.status == 0, outcome.error
    kept = CLASSES.read_text().split("\n")
    changes = "\n".join(difflib.unified_diff(kept, outcome.lines, "flow_classes.txt", "now", lineterm="", n=0))
    assert not changes, changes


def test_flipped_inputs():
    """Where flipping a bit of the input changes a bit of the output, the list says that it may."""
    outcome = flip("--seed=1", "--trials=2", "--flips=12")
    assert outcome.status == 0, outcome.error
    forms, flips, changed = map(int, re.match(r"(\d+) forms, (\d+) flips, (\d+) changed bits", outcome.lines[0]).groups())
    assert forms > 1000 and flips > 10 * forms and changed > flips


def test_flips_find_a_wrong_class():
    """With the flows of any one class taken for constants, the same test fails: it looks at each class."""
    outcome = flip("--seed=1", "--trials=1", "--flips=12", "--deny")
    *missed, _, _ = outcome.lines
    assert outcome.status == 0, outcome.error
    if "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text():
        assert missed == []
    else:
        assert len(missed) < 12, missed
