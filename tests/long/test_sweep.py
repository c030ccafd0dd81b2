"""@fileoverview The sweep: each program in /usr/bin that answers --version or --help natively, within 2 seconds and
twice the same, answers the same under Sonde. What is left out, and why, goes to build/sweep.json.

Run one program: pytest tests/long -k 'sweep and sort-none'. SWEEP_FOLDER names another folder."""
import functools
import json
import os
import pathlib

import pytest

import real_programs

FOLDER = pathlib.Path(os.environ.get("SWEEP_FOLDER", "/usr/bin"))
REPORT = real_programs.BUILD / "sweep.json"
TOOLS = ("none", "count")
QUESTIONS = ("--version", "--help")
NATIVE_SECONDS, TOOL_SECONDS = 2, 60

# Never asked, natively or otherwise: what acts on the machine, and takes an unknown option for something to do.
DANGEROUS = {
    "X", "Xorg", "halt", "poweroff", "reboot", "shutdown", "init", "telinit", "runlevel", "startx", "login", "su",
    "sudo", "wall", "killall", "pkill", "systemctl", "service", "dpkg-reconfigure", "deb-systemd-invoke",
}
SCRATCH_HOME = {"DISPLAY": "", "PAGER": "cat", "EDITOR": "false"}


def programs():
    return sorted(path for path in FOLDER.iterdir() if path.is_file() and os.access(path, os.X_OK))


def ask(path, question, tool, limit):
    """One run in an empty folder that is also HOME; the outcome, with the logs when a tool ran it."""
    work, logs = real_programs.fresh_folders()
    words = [str(path), question]
    if tool != real_programs.NATIVE:
        words = [str(real_programs.SONDE), tool, f"--log-file={logs}/%p", "--", *words]
    status, stdout, stderr, seconds = real_programs.run_command(
        words, work, work, limit, real_programs.scratch_folder(), SCRATCH_HOME)
    texts = tuple(file.read_text(errors="replace") for file in sorted(logs.iterdir()))
    return real_programs.Outcome(status, stdout, stderr, texts, seconds)


def same(one, other):
    return (one.status, one.stdout, one.stderr) == (other.status, other.stdout, other.stderr)


@functools.cache
def native_answer(path):
    """(question, outcome, "") or (None, None, why the program is left out)."""
    if path.name in DANGEROUS:
        return None, None, "acts on the machine"
    reasons = []
    for question in QUESTIONS:
        first = ask(path, question, real_programs.NATIVE, NATIVE_SECONDS)
        if first.status == "time-out":
            reasons.append(f"{question}: no answer within {NATIVE_SECONDS} s")
        elif not first.stdout and not first.stderr:
            reasons.append(f"{question}: prints nothing")
        elif first.status != 0:
            reasons.append(f"{question}: status {first.status}")
        elif not same(first, ask(path, question, real_programs.NATIVE, NATIVE_SECONDS)):
            reasons.append(f"{question}: answers differ natively")
        else:
            return question, first, ""
    return None, None, "; ".join(reasons)


@pytest.fixture(scope="session")
def sweep_report():
    """The summary of this session, written when it ends; a part of the sweep leaves the file alone."""
    report = {"folder": str(FOLDER), "tested": {tool: {} for tool in TOOLS}, "left out": {}}
    yield report
    asked = sum(map(len, report["tested"].values())) + len(report["left out"])
    if asked > 2:
        REPORT.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in programs()])
def test_sweep(path, tool, sweep_report):
    question, expected, why_not = native_answer(path)
    if question is None:
        sweep_report["left out"][path.name] = why_not
        pytest.skip(why_not)
    assert real_programs.SONDE.exists(), f"{real_programs.SONDE} is not built: run make"
    found = ask(path, question, tool, TOOL_SECONDS)
    problems = real_programs.differences(expected, found) + real_programs.log_problems(found, tool)
    sweep_report["tested"][tool][path.name] = "; ".join(problems) or "same"
    if problems:
        pytest.fail(f"{path} {question} under {tool}: " + "\n".join(problems + list(found.logs)), pytrace=False)
