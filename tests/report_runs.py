"""@fileoverview What the tests of `sonde report` share: running it, and how much its fuzzers are given."""
import os
import shutil
import subprocess

import pytest

from conftest import SONDE

SEEDS = int(os.environ.get("FUZZ_SEEDS", "20000"))
FIRST_SEED = int(os.environ.get("FUZZ_FIRST_SEED", "1"))
needs_valgrind = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")


def run(*command, **options):
    """Any command; the completed process with its texts."""
    options = {"timeout": 200, "capture_output": True, "text": True, "check": False, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([str(word) for word in command], **options)


def report(*words, **options):
    return run(SONDE, "report", *words, **options)


def printed(*words, **options):
    """What a report that succeeds prints."""
    ended = report(*words, **options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
