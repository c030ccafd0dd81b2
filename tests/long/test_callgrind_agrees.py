"""sonde calls and Callgrind on perl, python3, sqlite3 and cc1, in the same run: the inclusive costs of the 20 functions that
Callgrind has as the heaviest agree within 2 %.

What differs for a known reason is in is_explained(), without_jumps() and in docs/calls.md.
"""
import os
import re
import shutil
import subprocess
import sys

import pytest

import callgrind_file
from real_programs import ROOT, SONDE

sys.path.insert(0, str(ROOT / "bench"))
import generate  # noqa: E402  (found by the line above)

FUNCTIONS = 20
AGREEMENT = 0.02

# Valgrind's processor has no AVX-512, so that libc takes other functions there: both get the same. Hashes are not to be random.
ENVIRONMENT = {**os.environ, "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0", "GLIBC_TUNABLES":
               "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-ERMS,-FSRM"}

def cc1():
    return subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, capture_output=True, text=True).stdout.strip()


PROGRAMS = {
    "perl": lambda folder: ["/usr/bin/perl", ROOT / "bench/workloads/interpreter.pl", "1"],
    "python3": lambda folder: ["/usr/bin/python3", "-S", ROOT / "bench/workloads/interpreter.py", "1"],
    "sqlite3": lambda folder: [shutil.which("sqlite3"), ":memory:", f".read {folder}/script.sql"],
    "cc1": lambda folder: [cc1(), "-quiet", "-O1", folder / "short.c", "-o", "/dev/null"],
}


def plain(name):
    """Without the symbol's version."""
    return re.sub(r"@@?[A-Z].*", "", name)


def inclusive(profile):
    """Of each function: its own cost and that of its calls to others."""
    found = {}
    for name, cost in profile.self_costs.items():
        found[plain(name)] = found.get(plain(name), 0) + cost
    for (caller, callee), cost in profile.inclusive.items():
        if caller != callee:
            found[plain(caller)] = found.get(plain(caller), 0) + cost
    return found


def profiles(name, folder):
    (folder / "script.sql").write_text(generate.sql(1500))
    (folder / "short.c").write_text(generate.c_file(100))
    command = PROGRAMS[name](folder)
    options = {"env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "check": True, "timeout": 1200}
    subprocess.run(["valgrind", "-q", "--tool=callgrind", "--separate-recs=1", "--show-below-main=yes", "--compress-pos=no",
                    f"--callgrind-out-file={folder}/theirs", *command], **options)
    subprocess.run([SONDE, "calls", f"--callgrind-out-file={folder}/ours", "--", *command], **options)
    return callgrind_file.read(folder / "theirs"), callgrind_file.read(folder / "ours")


def is_explained(name, objects):
    """Whether the costs of a function may differ: the dynamic linker's first code jumps to the program, which Callgrind takes for a
    call."""
    return "ld-linux" in objects.get(name, "")


def without_jumps(function, cost, ours, theirs):
    """The cost of a function without a symbol less that of its calls by those of which Callgrind knows no call to it, although
    they execute the same: what they jump to counts as their own there."""
    return cost - sum(inclusive for (caller, callee), inclusive in ours.inclusive.items()
                      if callee == function and (caller, callee) not in theirs.calls)


@pytest.mark.parametrize("name", PROGRAMS)
def test_inclusive_costs_agree(name, tmp_path):
    theirs, ours = profiles(name, tmp_path)
    mine, wanted = inclusive(ours), inclusive(theirs)
    heaviest = sorted(wanted, key=lambda function: -wanted[function])[:FUNCTIONS]
    wrong = []
    for function in heaviest:
        cost = mine.get(function, 0)
        if function.startswith("0x") and abs(cost - wanted[function]) > AGREEMENT * wanted[function]:
            cost = without_jumps(function, cost, ours, theirs)
        if abs(cost - wanted[function]) > AGREEMENT * wanted[function]:
            if not is_explained(function, theirs.objects):
                wrong.append((function, wanted[function], cost))
    assert not wrong


# Functions, by patterns of the whole name, of which calls do not add up to what was executed, and why.
DO_NOT_ADD_UP = {
    r"__(mem|str).*": "variants that share code: it counts as that one's in which it lies",
    r"sqlite3_mutex_(enter|leave)": "a call through a stub that is jumped to: the stub's instruction counts for itself",
}


@pytest.mark.parametrize("name", ["perl", "sqlite3"])
def test_calls_add_up(name, tmp_path):
    """What the callers of a function say that its calls cost is what it cost: itself, and in what it called. Recursion and what
    is jumped to aside: of functions that neither call themselves, nor others that call them."""
    _, ours = profiles(name, tmp_path)
    mine = inclusive(ours)
    said = {}
    for (_, callee), cost in ours.inclusive.items():
        said[plain(callee)] = said.get(plain(callee), 0) + cost
    called_by = {}
    for caller, callee in ours.inclusive:
        called_by.setdefault(plain(callee), set()).add(plain(caller))

    def is_recursive(function):
        seen, todo = set(), [function]
        while todo:
            for caller in called_by.get(todo.pop(), ()):
                if caller == function:
                    return True
                if caller not in seen:
                    seen.add(caller)
                    todo.append(caller)
        return False

    heaviest = sorted(mine, key=lambda function: -mine[function])[:100]
    compared = [function for function in heaviest if function in said and not function.startswith("0x")
                and not is_recursive(function)]
    assert len(compared) > 20
    wrong = [(function, mine[function], said[function]) for function in compared
             if abs(mine[function] - said[function]) > AGREEMENT * mine[function]
             and not any(re.fullmatch(pattern, function) for pattern in DO_NOT_ADD_UP)]
    assert not wrong
