"""Every program of tests/features behaves under Sonde as natively: standard output, standard error, exit status.

Each program runs natively (where it checks its own expectations of Linux), under `none`, under `count`, and under
combinations of the options that change code generation: a quarter of them for programs marked as core, three for the others,
other ones every day (SONDE_TEST_ROTATION=N fixes the choice). SONDE_TEST_MATRIX=core runs all for the core programs, as
`make check-long` does, SONDE_TEST_MATRIX=full all for all.
"""

import datetime
import functools
import itertools
import os
import zlib

import pytest

import feature_programs as features

BLOCKS = ("--debug-block-limit=1", "--debug-block-limit=3", "--debug-block-limit=40")
SWITCHES = ("--debug-superblocks=no", "--debug-return-prediction=yes", "--debug-links=no", "--debug-fsgsbase=no", "--debug-fast-decode=no")
COMBINATIONS = [
    (block, *(switch for switch, on in zip(SWITCHES, chosen) if on))
    for block in BLOCKS
    for chosen in itertools.product((False, True), repeat=len(SWITCHES))
]
NO_LINKS = 4  # its place in the number of a combination: the second of four switches, the last one varies fastest
assert all(("--debug-links=no" in words) == bool(number & NO_LINKS) for number, words in enumerate(COMBINATIONS))
ROTATION = int(os.environ.get("SONDE_TEST_ROTATION", datetime.date.today().toordinal()))


@functools.cache
def native(program, variant, arguments):
    path = features.build(program, variant)
    return features.run([path, *arguments], environment(program))


def environment(program):
    return {"FEATURE": "value with spaces", **program.environment}


def cases(under_sonde):
    for program in features.programs():
        if under_sonde and program.get("native") == "yes":
            continue
        for variant in program.variants:
            for arguments, status in program.runs:
                name = program.name + (f"-{variant}" if len(program.variants) > 1 else "")
                if program.get("runs"):
                    name += f"-{arguments[0]}"
                yield pytest.param(program, variant, arguments, status, id=name)


def matrix():
    """(program, variant, arguments, tool, options): a rotating part of the full matrix."""
    wanted = os.environ.get("SONDE_TEST_MATRIX")
    full = wanted == "full"
    for program in features.programs():
        if program.get("native") == "yes":
            continue
        runs = program.runs if full else program.runs[-1:]
        variants = program.variants if full else program.variants[:2]
        for variant, (arguments, _) in itertools.product(variants, runs):
            start = zlib.crc32(f"{program.name}-{variant}".encode()) + ROTATION
            numbers = range(len(COMBINATIONS))
            if not full and not program.is_core:
                numbers = [(start + 17 * k) % len(COMBINATIONS) for k in range(3)]
            elif not full and variant != program.variants[0]:
                numbers = [start % len(COMBINATIONS)]
            elif not wanted:
                # 5 and 96 have no common factor: neighbours differ in most switches.
                numbers = [(start + 5 * k) % len(COMBINATIONS) for k in range(len(COMBINATIONS) // 4)]
            for number in numbers:
                if program.get("heavy") == "yes" and not full:
                    number &= ~NO_LINKS
                # By parity, so that each switch alone meets both tools.
                tool = ("none", "count")[(bin(number).count("1") + ROTATION) % 2]
                short = ",".join(word.removeprefix("--debug-") for word in COMBINATIONS[number])
                name = f"{program.name}-{variant}-{tool}-{short}"
                yield pytest.param(program, variant, arguments, tool, COMBINATIONS[number], id=name)


def prepare(program, variant):
    if program.get("needs") == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    try:
        return features.build(program, variant)
    except features.MissingTool as problem:
        pytest.skip(str(problem))


def compare(program, variant, arguments, tool, options, directory):
    path = prepare(program, variant)
    if not features.SONDE.exists():
        pytest.fail(f"{features.SONDE} is not built")
    wanted = native(program, variant, arguments)
    log = directory / "log"
    report = directory / "report"
    command = [features.SONDE, tool, *options, f"--log-file={log}"]
    if tool == "count":
        command.append(f"--output={report}")
    got = features.run([*command, path, *arguments], environment(program))
    told = log.read_text(errors="replace") if log.exists() else ""
    assert got.output.decode(errors="replace") == wanted.output.decode(errors="replace"), told
    assert got.error.decode(errors="replace") == wanted.error.decode(errors="replace"), told
    assert got.status == wanted.status, told
    if tool == "count" and not set(arguments) & set(program.get("unreported").split()):
        assert report.exists() and report.stat().st_size > 0, f"no report\n{told}"


@pytest.mark.parametrize("program, variant, arguments, status", cases(under_sonde=False))
def test_native(program, variant, arguments, status):
    """The program is right about Linux: every check holds and it ends as its directives say."""
    prepare(program, variant)
    outcome = native(program, variant, arguments)
    text = outcome.output.decode(errors="replace")
    assert "WRONG" not in text and outcome.status == status, text + outcome.error.decode(errors="replace")


@pytest.mark.parametrize("tool", ["none", "count"])
@pytest.mark.parametrize("program, variant, arguments, status", cases(under_sonde=True))
def test_same(program, variant, arguments, status, tool, tmp_path):
    compare(program, variant, arguments, tool, (), tmp_path)


@pytest.mark.parametrize("tool", ["none", "count"])
@pytest.mark.parametrize("program", [p for p in features.programs() if p.get("children") == "yes"], ids=lambda p: p.name)
def test_children_followed(program, tool, tmp_path):
    for variant in program.variants:
        for arguments, _ in program.runs:
            compare(program, variant, arguments, tool, ("--trace-children=yes",), tmp_path)


@pytest.mark.parametrize("program, variant, arguments, tool, options", matrix())
def test_code_generation_options(program, variant, arguments, tool, options, tmp_path):
    compare(program, variant, arguments, tool, options, tmp_path)
