"""@fileoverview The programs of tests/features under the tools that look at every value, each once (its first variant, its last run):
they behave as natively.

Here and not in tests/test_features_tools.py for their time.
"""
import pytest

import feature_programs as features
from test_features_tools import compare

TOOLS = {
    "memcheck": ("memcheck", "--leak-check=full"),
    "taint": ("taint", "--taint-arguments=yes", "--taint-stdin=yes"),
    "deadspy": ("deadspy", "--output=/dev/null"),
    "redspy": ("redspy", "--output=/dev/null"),
    "zerospy": ("zerospy", "--output=/dev/null", "--data-centric=yes"),
}

# Dozens of processes, each of which writes its report: half a minute of processor time, which is up to the program.
MANY_REPORTS = ("process/children", "threads/fork_threaded")


def cases():
    for program in features.programs():
        for tool in TOOLS:
            if program.get("native") != "yes" and not (tool.endswith("spy") and program.name in MANY_REPORTS):
                arguments, _ = program.runs[-1]
                yield pytest.param(tool, program, program.variants[0], arguments, id=f"{tool}-{program.name}")


@pytest.mark.parametrize("tool, program, variant, arguments", cases())
def test_as_natively(tool, program, variant, arguments, tmp_path):
    compare(program, variant, arguments, TOOLS[tool], tmp_path)
