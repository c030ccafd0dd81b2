"""@fileoverview Collects the results of the long tests into build/compatibility.json, from which
scripts/write-compatibility writes docs/compatibility.md. A run of some of the tests renews only their results."""
import json
import shutil

import pytest

import real_programs

RESULTS = real_programs.BUILD / "compatibility.json"
COLLECTED = {}



@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    entry = getattr(item, "compatibility", None)
    if entry is None or (report.when != "call" and report.outcome == "passed"):
        return
    program = COLLECTED.setdefault(entry["program"], {"version": entry["version"], "what": entry["what"],
                                                      "results": {}})
    reason = entry["exception"]
    if report.outcome == "failed":
        reason = str(call.excinfo.value).strip().splitlines()
        reason = " ".join(reason[:2])[:300] if reason else "failed"
    elif report.outcome == "skipped":
        reason = str(call.excinfo.value)
    program["results"][entry["tool"]] = {"outcome": report.outcome, "reason": reason}


def pytest_sessionfinish():
    shutil.rmtree(real_programs.scratch_folder(), ignore_errors=True)
    if not COLLECTED:
        return
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, program in COLLECTED.items():
        earlier = known.setdefault(name, {"results": {}})
        program["results"] = {**earlier["results"], **program["results"]}
        earlier.update(program)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


@pytest.fixture
def compatibility(request):
    """compatibility(program, version, what, tool, exception=""): says under which name this test's result is reported,
    and what it does not compare."""
    def note(program, version, what, tool, exception=""):
        request.node.compatibility = {"program": program, "version": version, "what": what, "tool": tool,
                                      "exception": exception}
    return note
