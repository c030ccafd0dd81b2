"""`sonde report` on what loadspy, deadspy, redspy and zerospy write with --format=json: as text, and as a page in a headless
Chromium, which shows what the file says and asks for nothing but itself."""
import json
import re
import shutil

import pytest

import browser
from conftest import BUILD, ROOT, SONDE
from report_runs import printed, report, run

SOURCE = ROOT / "tests" / "programs" / "values_objects.c"
FUNCTIONS = "load", "twice", "one", "other", "in_frame", "main"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A report of loadspy's with data objects: its path."""
    folder = tmp_path_factory.mktemp("values")
    built = run("gcc", "-g", "-O1", "-fno-stack-protector", "-no-pie", "-o", folder / "objects", SOURCE)
    assert built.returncode == 0, built.stderr
    ended = run(SONDE, "loadspy", "--data-centric=yes", "--format=json", f"--output={folder}/found.json",
                *(f"--only={name}" for name in FUNCTIONS), "--", folder / "objects", SOURCE)
    assert ended.returncode == 0, ended.stderr
    return folder / "found.json"


def test_text(found):
    data = json.loads(found.read_text())
    text = printed("--top=2", found)
    assert text.startswith("loadspy: loads of what was loaded before\n")
    assert f"  {'redundant bytes':42} {data['totals']['redundant bytes']:16}\n" in text
    lists = {entry["name"]: entry for entry in data["lists"]}
    assert f"\nRedundant loads, by bytes (2 of {lists['redundant']['count']})\n1. " in text
    first = data["redundant"][0]
    assert f"1. {100 * first['share']:.1f} %: {first['bytes']} bytes, {first['times']} times\n   loaded by {first['first']['instruction']}" in text
    assert f"   loaded again by {first['second']['instruction']} (int32, 4 bytes)\n      {first['second']['context'][0]}\n" in text
    assert f"\nData objects, by bytes (2 of {lists['objects']['count']})\n1. " in text


@pytest.mark.parametrize("content, words", [
    ('{"values_report": 1, "tool": "x"}', "does not say which tool"), ('{"values_report": 2, "tool": "x", "title": "y"}', "another version"),
    ('{"values_report": 1, "tool": "x", "title": "y", "lists": [{"name": "a", "title": "A"}], "a": [{"share": 0.5}]}', "no amounts"),
    ('{"values_report": 1, "tool": "x", "title": "y", "lists": [{"name": "a"}]}', "no title"),
    ('{"values_report": 1, "tool": 5}', ""), ('{"values_report": 1, "tool": "x", "title"', ""), ('{"values_report": 1} {}', ""),
])
def test_damaged(tmp_path, content, words):
    (tmp_path / "bad.json").write_text(content)
    ended = report(tmp_path / "bad.json")
    assert ended.returncode == 3 and words in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr


def test_one_file_alone(found):
    ended = report(found, found)
    assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1


@browser.needed
def test_page(tmp_path, found, chromium):
    data = json.loads(found.read_text())
    page = tmp_path / "page.html"
    assert printed(f"--html={page}", found) == ""
    opened = chromium
    opened.open(page)
    shown = "[...document.querySelectorAll('#functions tbody tr')].map((row) => [row.querySelector('.self').textContent, row.querySelector('.name').textContent])"
    assert [int(row[0].replace(",", "")) for row in opened.run(shown)] == [entry["bytes"] for entry in data["redundant"]]
    first = data["redundant"][0]
    assert opened.run(shown)[0][1] == " → ".join(f"{first[key]['function']}:{first[key]['line']}" for key in ("first", "second"))
    stacks = "[...document.querySelectorAll('#view ol.stack')].map((list) => [...list.children].map((line) => line.textContent))"
    assert opened.run(stacks) == [first["first"]["context"], first["second"]["context"]]
    assert first["second"]["instruction"] in opened.run("document.querySelectorAll('#view h3')[1].textContent")
    opened.click("#functions tbody tr:nth-child(2) button")
    opened.wait_for("location.hash === '#finding/0/1'")
    second = json.dumps(json.dumps(data["redundant"][1]["first"]["context"], separators=(",", ":"), ensure_ascii=False))
    opened.wait_for(f"JSON.stringify({stacks}[0]) === {second}")    # it is shown behind the change of the address
    number = [entry["name"] for entry in data["lists"]].index("objects")
    opened.run(f"document.querySelector('#event').value = '{number}'; document.querySelector('#event').dispatchEvent(new Event('change'))")
    opened.wait_for(f"location.hash === '#finding/{number}/0'")
    opened.wait_for(f"document.querySelectorAll('#functions tbody tr').length === {len(data['objects'])}")
    names = [row[1] for row in opened.run(shown)]
    assert "variable zeroed" in names and "frames in_frame" in names
    opened.click("#search")
    opened.type("zeroed variable")
    opened.wait_for("document.querySelectorAll('#functions tbody tr').length === 1")
    opened.click("#tab-totals")
    opened.wait_for("document.querySelector('#tab-totals').getAttribute('aria-selected') === 'true'")
    totals = opened.run("[...document.querySelectorAll('#view dd')].map((value) => value.textContent)")
    assert [int(text.replace(",", "")) for text in totals] == list(data["totals"].values())
    opened.run("history.back()")
    opened.wait_for("document.querySelector('#tab-finding').getAttribute('aria-selected') === 'true'")
    assert opened.problems == [] and set(opened.requests) <= {f"file://{page}"}


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_fuzz(tmp_path):
    program = tmp_path / "fuzz_values"
    sources = [*(ROOT / "src/report" / f"{name}.c" for name in ("values_reader", "heap_input", "heap_scan")),
               *(ROOT / "src/base").glob("*.c")]
    built = run("gcc", "-std=gnu17", "-g", "-O1", "-D_GNU_SOURCE=", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
                f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", f"-I{BUILD}", "-o", program, ROOT / "tests/fuzz/fuzz_values.c", *sources, "-lz")
    assert built.returncode == 0, built.stderr
    ended = run(program, 1, 2000, timeout=300)
    assert ended.returncode == 0 and re.fullmatch(r"\d+ accepted, \d+ refused\n", ended.stderr), ended.stderr
    assert int(ended.stderr.split()[0]) > 200
