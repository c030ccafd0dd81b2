"""`sonde report --html`: pages in a headless Chromium. What they show is what the profile says; they are driven by mouse and
keyboard; nothing but the page's own file is ever asked for.
"""
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

import browser
import call_profiles
import callgrind_file
from conftest import BUILD, ROOT, SONDE
from report_runs import printed, report, run
from test_report import SMALL as CACHEGRIND
from test_report_callgrind import SMALL

pytestmark = browser.needed

SOURCE = "int x;\nint main(void) {\n\tping(); // <b>&amp;</b>\n}\n" + "// far away\n" * 60


@pytest.fixture
def folder(tmp_path):
    """Sources of the small profiles, which are older."""
    for name in ("source.c", "work.c"):
        (tmp_path / name).write_text(SOURCE)
        os.utime(tmp_path / name, (1e9, 1e9))
    return tmp_path


def page_of(folder, text, *options):
    profile, page = folder / "some.out", folder / "page.html"
    profile.write_text(text.replace("{folder}", str(folder)))
    assert printed(f"--html={page}", *options, profile) == ""
    return page


@pytest.fixture
def small(folder, chromium):
    """The page of a small call-graph profile, opened."""
    page = page_of(folder, SMALL)
    chromium.open(page)
    yield chromium
    assert chromium.problems == [] and set(chromium.requests) <= {f"file://{page}"}


def rows_of(opened):
    """Function -> what the list shows of it."""
    return {row["name"]: row for row in opened.run("""[...document.querySelectorAll('#functions tbody tr')].map((row) => ({
        node: Number(row.dataset.node), name: row.querySelector('.name').textContent,
        self: row.querySelector('.self .number').textContent, share: row.querySelector('.self .share').textContent,
        inclusive: row.querySelector('.inclusive .number')?.textContent, calls: row.querySelector('.calls')?.textContent}))""")}


def show(opened, view, function=None, event=0):
    node = -1 if function is None else opened.run(f"sondePage.state.profile.names.indexOf({json.dumps(function)})")
    opened.run(f"location.hash = '#{view}/{node}/{event}'")
    opened.wait_for(f"document.querySelector('#tab-{view}').getAttribute('aria-selected') === 'true' && "
                    f"sondePage.state.node === {node} && sondePage.state.event === {event}")


def chosen(opened):
    return opened.run("document.querySelector('#chosen').textContent")


# -------------------------------------------------------------------------- what it shows

def test_costs_are_the_file_s(small, folder):
    expected = {row["function"]: row for row in json.loads(printed("--format=json", folder / "some.out"))["functions"]}
    for event, name in enumerate(("Ir", "Dr")):
        small.run(f"(() => {{ const choice = document.querySelector('#event'); choice.value = '{event}';"
                  " choice.dispatchEvent(new Event('change')); })()")
        small.wait_for(f"sondePage.state.event === {event}")
        shown = rows_of(small)
        assert set(shown) == {*expected, "<cycle 1> pong, ping"}
        for function, row in expected.items():
            assert shown[function]["self"] == f"{row['self'][name]:,}"
            assert shown[function]["inclusive"] == f"{row['inclusive'][name]:,}"
            assert shown[function]["calls"] == f"{row['calls'] + row['recursive_calls']:,}"
    assert small.run("document.querySelector('#command').textContent") == "./program with words"
    assert small.run("document.title").endswith("some.out - sonde report")


def test_search_and_sorting(small):
    assert list(rows_of(small)) == ["main", "work", "<cycle 1> pong, ping", "pong", "ping"]
    small.click("#search")
    small.type("p")
    assert list(rows_of(small)) == ["main", "work", "<cycle 1> pong, ping", "pong", "ping"], "the object is searched too"
    small.run("document.querySelector('#search').select()")
    small.type("WORK.c")
    assert list(rows_of(small)) == ["work"]
    assert small.run("document.querySelector('#more').textContent") == "1 functions"
    small.run("document.querySelector('#search').select()")
    small.type("nothing of this kind")
    assert rows_of(small) == {}
    small.run("(() => { const search = document.querySelector('#search'); search.value = ''; search.dispatchEvent(new Event('input')); })()")
    small.click("[data-sort=self]")
    assert list(rows_of(small))[0] == "work"
    small.click("[data-sort=name]")
    assert list(rows_of(small)) == ["<cycle 1> pong, ping", "main", "ping", "pong", "work"]
    small.click("[data-sort=name]")
    assert list(rows_of(small))[0] == "work"
    assert small.run("document.querySelector('th[aria-sort=descending]').textContent").startswith("Function")


def test_back_to_the_beginning(small):
    """An address that says nothing shows what the page showed at first, whatever was looked at since."""
    shown = ("JSON.stringify([document.querySelector('[aria-selected=true][role=tab]').id, document.querySelector('#event').value, "
             "document.querySelector('#chosen').textContent])")
    first = small.run(shown)
    show(small, "treemap", "work", event=1)
    assert small.run(shown) == '["tab-treemap","1","work"]' != first
    small.run("history.back()")
    small.wait_for(f"{shown} === {json.dumps(first)}")


def test_call_graph(small):
    show(small, "graph", "main")
    boxes = small.run("""[...document.querySelectorAll('#graph .box')].map((box) => ({
        label: box.getAttribute('aria-label'), width: box.querySelector('rect').width.baseVal.value,
        height: box.querySelector('rect').height.baseVal.value}))""")
    sizes = {box["label"].splitlines()[0]: box["width"] * box["height"] for box in boxes}
    assert sizes["main"] > sizes["work"] > 0 and sizes["work"] > sizes["<cycle 1> pong, ping"], "as large as what they cost"
    (work,) = [box["label"] for box in boxes if box["label"].startswith("work")]
    assert "650 Ir (65.0 %)" in work
    edges = small.run("[...document.querySelectorAll('#graph .edge title')].map((title) => title.textContent)")
    assert "main → <cycle 1> pong, ping\n600 Ir (60.0 %), 10 calls" in edges and len(edges) == 3
    node = small.run("sondePage.state.profile.names.indexOf('work')")
    small.click(f"#graph .box[data-node='{node}']")
    small.wait_for("document.querySelector('#chosen').textContent === 'work'")
    assert small.run("document.querySelector('tr[aria-selected=true] .name').textContent") == "work"
    labels = small.run("[...document.querySelectorAll('#graph .box')].map((box) => box.getAttribute('aria-label'))")
    callers = {label.splitlines()[0]: label for label in labels}
    assert "650 Ir" in callers["main"] and "350 Ir" in next(text for name, text in callers.items() if "cycle" in name), \
        "callers with what of the chosen cost they caused"
    small.run("history.back()")
    small.wait_for("document.querySelector('#chosen').textContent === 'main'")


def test_tree_map_drills_down(small):
    show(small, "treemap")
    areas = """[...document.querySelectorAll('#treemap .area')].map((area) =>
        [Number(area.dataset.depth), area.dataset.name, area.clientWidth * area.clientHeight])"""
    shown = small.run(areas)
    names = [(depth, name) for depth, name, _ in shown]
    assert names[0] == (0, "main"), "it begins where the cost first parts"
    assert (1, "<cycle 1> pong, ping") in names and (2, "pong") in names
    steps = "[...document.querySelectorAll('.crumbs button')].map((step) => step.textContent)"
    assert small.run(steps) == ["all", "main"]
    small.click("#treemap .area[data-name^='<cycle']")
    small.wait_for("document.querySelectorAll('.crumbs button').length === 3")
    assert small.run(steps) == ["all", "main", "<cycle 1> pong, ping"]
    shown = small.run(areas)
    assert shown[0][1] == "<cycle 1> pong, ping" and {name for _, name, _ in shown if name != "(self)"} == {
        "<cycle 1> pong, ping", "pong", "ping", "work"}
    small.click("#treemap .area[data-name=pong]")
    small.wait_for("document.querySelectorAll('.crumbs button').length === 4")
    area = {name: size for _, name, size in small.run(areas)}
    assert 1.2 < area["work"] / area["(self)"] < 2.2, "250 of 400, and 150"
    small.click(".crumbs button")
    assert small.run(steps) == ["all"] and small.run(areas)[1][1] == "main"


def test_flame_graph(small):
    show(small, "flame")
    frames = "[...document.querySelectorAll('#flame g.frame')].map((frame) => [frame.getAttribute('name'), frame.getAttribute('aria-label')])"
    shown = dict(small.run(frames))
    assert shown["main"] == "main, 100.0 %" and shown["<cycle 1> pong, ping"].endswith("60.0 %") and shown["pong"] == "pong, 40.0 %"
    small.wait_for("document.querySelector('#flame g.frame[name=pong] rect').width.baseVal.value > 100")
    small.click("#flame g.frame[name=pong] rect")
    small.wait_for("document.querySelector('#view .note').textContent.includes('pong: 400')")
    small.wait_for("document.querySelector('#flame g.frame[name=pong] rect').width.baseVal.value > 700", timeout=10)
    small.run("[...document.querySelectorAll('#view button')].find((one) => one.textContent === 'Choose this function').click()")
    small.wait_for("document.querySelector('#chosen').textContent === 'pong'")
    assert set(dict(small.run(frames))) == {"pong", "work"}


def test_callers_and_callees(small):
    show(small, "calls", "ping")
    tables = small.run("""Object.fromEntries([...document.querySelectorAll('section.calls')].map((part) => [part.dataset.title,
        [...part.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))]))""")
    assert tables == {"Callers": [["600", "60.0 %", "10", "main", "source.c"], ["200", "20.0 %", "30", "pong (in the cycle)", "source.c"]],
                      "Callees": [["450", "45.0 %", "40", "pong (in the cycle)", "source.c"], ["100", "10.0 %", "5", "work", "work.c"]]}
    small.click("section.calls[data-title=Callees] tr:last-child button")
    small.wait_for("document.querySelector('#chosen').textContent === 'work'")
    show(small, "calls", "<cycle 1> pong, ping")
    assert small.run("[...document.querySelectorAll('section.calls[data-title=Members] .name')].map((one) => one.textContent)") == ["pong", "ping"]


# Two lines of a loop: 0x10 to 0x18, of which the last jumps back to the first or on to another line.
INSTRUCTIONS = """# callgrind format
version: 1
creator: some
cmd: ./loop
positions: instr line
events: Ir Dr

fl={folder}/source.c
fn=main
0x10 2 20 5
0x14 2 20
jcnd=19/20 0x10 2
0x18 2
0x18 2 20
jump=1 +16 4
0x1c 3
0x1c 3 1
0x28 4 1
totals: 62 5
"""


def instruction_rows(opened):
    return opened.run("""[...document.querySelectorAll('#source tr.instruction')].map((row) =>
        [row.dataset.address, row.cells[0].textContent, row.cells[1].textContent,
         ...[...row.querySelectorAll('.jump')].map((jump) => jump.textContent)])""")


def test_instructions_and_jumps(folder, chromium):
    page = page_of(folder, INSTRUCTIONS)
    chromium.open(page)
    show(chromium, "source", "main")
    assert instruction_rows(chromium) == []
    chromium.click("#instructions")
    assert instruction_rows(chromium) == [
        ["0x10", "20", "32.3 %", "← 19 of 20× 0x18, line 2"], ["0x14", "20", "32.3 %"],
        ["0x18", "20", "32.3 %", "↑ 19 of 20× 0x10, line 2"], ["0x1c", "1", "1.61 %", "↓ 1× 0x28, line 4"],
        ["0x28", "1", "1.61 %", "← 1× 0x1c, line 3"]]
    # They stand below their line, in front of the next.
    order = chromium.run("""[...document.querySelectorAll('#source tr')].map((row) => row.dataset.address ?? row.dataset.line)
        .filter((name) => name !== undefined).slice(0, 9)""")
    assert order[:8] == ["1", "2", "0x10", "0x14", "0x18", "3", "0x1c", "4"]
    chromium.run("(() => { const choice = document.querySelector('#event'); choice.value = '1';"
                 " choice.dispatchEvent(new Event('change')); })()")
    chromium.wait_for("sondePage.state.event === 1")
    assert [row[1] for row in instruction_rows(chromium)] == ["5", "0", "0", "0", "0"]
    chromium.click("#instructions")
    assert instruction_rows(chromium) == []
    assert chromium.problems == [] and set(chromium.requests) <= {f"file://{page}"}


def test_instructions_of_a_run(tmp_path, chromium):
    """What the page shows of the instructions is the file's, and adds up to what it shows of their lines."""
    (tmp_path / "loops.c").write_text("""int main(void) {
    volatile int sum = 0;
    for (int i = 0; i < 1000; i++)
        if (i % 3) sum += i;
    return sum == 0;
}
""")
    run("gcc", "-g", "-O1", "-o", tmp_path / "loops", tmp_path / "loops.c")
    os.utime(tmp_path / "loops.c", (1e9, 1e9))
    run(SONDE, "calls", f"--callgrind-out-file={tmp_path}/out", "--dump-instr=yes", "--collect-jumps=yes", "--",
        tmp_path / "loops")
    profile = callgrind_file.read(tmp_path / "out")
    assert printed(f"--html={tmp_path}/page.html", tmp_path / "out") == ""
    chromium.open(tmp_path / "page.html")
    show(chromium, "source", "main")
    chromium.click("#instructions")
    shown = {row[0]: int(row[1].replace(",", "")) for row in instruction_rows(chromium)}
    assert shown == {address: cost for (function, address), cost in profile.lines.items() if function == "main"}
    line = chromium.run("document.querySelector('#source tr[data-line=\"4\"] .self').textContent")
    below = chromium.run("""(() => { let sum = 0, row = document.querySelector('#source tr[data-line="4"]').nextElementSibling;
        for (; row.className === 'instruction'; row = row.nextElementSibling) sum += Number(row.cells[0].textContent.replace(/,/g, ''));
        return sum; })()""")
    assert below == int(line.replace(",", "")) > 1000
    jumps = {text for row in instruction_rows(chromium) for text in row[3:] if not text.startswith("←")}
    taken = {count for (function, *_), count in profile.jumps.items() if function == "main"}
    assert {int(text.split()[1].rstrip("×").replace(",", "")) for text in jumps} == taken


def test_source(small):
    show(small, "source", "main")
    line = small.run("[...document.querySelector('#source tr[data-line=\"3\"]').cells].map((cell) => cell.textContent)")
    assert line == ["90", "9.00 %", "3", "\tping(); // <b>&amp;</b>"]
    calls = small.run("""[...document.querySelectorAll('#source tr.call')].slice(0, 2).map((row) => row.textContent)""")
    assert calls == ["30030.0 %→ 1× work", "60060.0 %→ 10× ping"]
    folded = small.run("document.querySelectorAll('#source tr[data-line]').length")
    small.click("#source .fold button")
    assert small.run("document.querySelectorAll('#source tr[data-line]').length") > folded
    assert small.run("document.querySelectorAll('#source tr.fold').length") == 0 or folded > 0


def test_cachegrind_profiles_open_in_the_same_page(folder, chromium):
    page = page_of(folder, CACHEGRIND)
    chromium.open(page)
    shown = rows_of(chromium)
    assert {name: row["self"] for name, row in shown.items()} == {"main": "115", "helper": "40", "???": "50"}
    assert chromium.run("[...document.querySelectorAll('#tabs button')].map((tab) => tab.textContent)") == [
        "Tree-map", "Flame graph", "Source"]
    assert chromium.run(f"document.querySelector('#treemap .area[data-depth=\"1\"]').dataset.name") == f"{folder}/source.c"
    chromium.click("#treemap .area[data-depth='1']")
    chromium.wait_for("document.querySelectorAll('.crumbs button').length === 2")
    assert chromium.run("[...document.querySelectorAll('#treemap .area')].map((area) => area.dataset.name)")[1:] == ["main", "helper"]
    chromium.click("#treemap .area[data-name=helper]")
    chromium.wait_for("document.querySelector('#chosen').textContent === 'helper'")
    show(chromium, "source", "helper")
    assert chromium.run("document.querySelector('#source tr[data-line=\"5\"] td').textContent") == "40"
    show(chromium, "flame")
    assert chromium.problems == [] and set(chromium.requests) == {f"file://{page}"}


# -------------------------------------------------------------------------- how it is used

def test_by_keyboard(small):
    """Every view's things can be reached and pressed."""
    show(small, "graph", "main")
    small.run("document.querySelector('#tab-graph').focus()")
    small.key("ArrowRight", 39)
    small.wait_for("document.activeElement.id === 'tab-treemap'")
    small.wait_for("document.querySelector('#tab-treemap').getAttribute('aria-selected') === 'true'")
    small.key("Tab", 9)
    assert small.run("document.activeElement.closest('.crumbs') !== null")
    small.key("Tab", 9)
    assert small.run("document.activeElement.classList.contains('area')"), "one step only: a function was chosen"
    name = small.run("document.activeElement.dataset.name")
    small.key("Enter", 13, "\r")
    small.wait_for("document.querySelectorAll('.crumbs button').length > 1")
    assert small.run("document.querySelector('.crumbs [aria-current]').textContent") == name
    for view, thing in (("graph", "#graph .box[data-node='{}']"), ("flame", "#flame g.frame[data-node='{}']")):
        show(small, view, "main")
        node = small.run("sondePage.state.profile.names.indexOf('work')")
        small.run(f"document.querySelector(\"{thing.format(node)}\").focus()")
        small.key("Enter", 13, "\r")
        small.wait_for("document.querySelector('#chosen').textContent === 'work' || "
                       "document.querySelector('#view .note').textContent.includes('work')")


def test_light_and_dark(small):
    back = "getComputedStyle(document.body).backgroundColor"
    colors = {}
    for scheme in ("light", "dark"):
        small.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colors[scheme] = small.run(back)
    assert colors == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 28)"}
    small.click("#theme")
    assert small.run(back) == colors["light"], "the button has its own mind"
    small.send("Emulation.setEmulatedMedia", features=[])


def test_names_are_never_read_as_html(folder, chromium):
    evil = "</script><img src=x onerror=window.hacked=1><b>&amp;\\u003c'\""
    text = SMALL.replace("pong", evil).replace("./program with words", evil).replace("Trigger: ", evil)
    page = page_of(folder, text)
    chromium.open(page)
    assert evil in rows_of(chromium)
    for view in ("graph", "treemap", "flame", "calls", "source"):
        for function in (None, evil, "main"):
            show(chromium, view, function)
    assert chromium.run("window.hacked === undefined && document.querySelectorAll('img').length === 0")
    assert chromium.run("document.querySelector('#command').textContent") == evil
    assert chromium.problems == [] and set(chromium.requests) == {f"file://{page}"}


def test_the_function_that_it_begins_with(folder, chromium):
    page = page_of(folder, SMALL, "--function=pong")
    chromium.open(page)
    assert chosen(chromium) == "pong"
    chromium.click("#whole")
    chromium.wait_for("sondePage.state.node === -1")
    assert chosen(chromium) == "main", "the call graph needs one"


def test_an_address_that_says_nothing(folder, chromium):
    page = page_of(folder, SMALL)
    for address in ("#graph/99999/7", "#nothing/x/y", "#calls/-5/-1", "#treemap/1.5/0"):
        chromium.open(page, address)
        assert chromium.run("document.documentElement.dataset.ready") == "yes"
        assert chromium.problems == []


@pytest.mark.parametrize("text", [
    "version: 1\nevents: Ir Dr\nfl=a\nfn=f\n1 5\ntotals: 5\n", "version: 1\nevents: Ir Dr\ntotals: 0\n",
    "version: 1\nevents: Ir Dr\nfl=a\nfn=f\ntotals: 0\n", "cmd: x\nevents: Ir Dr\nfl=a\nfn=b\n1 -20\nfn=c\n2 5\nsummary: -15\n",
    "cmd: x\nevents: Ir Dr\nsummary: 0\n"], ids=["zero event", "no function", "no cost", "difference", "empty"])
def test_profiles_of_next_to_nothing(folder, chromium, text):
    chromium.open(page_of(folder, text))
    for view in chromium.run("sondePage.names"):
        for event in (0, 1):
            show(chromium, view, event=event)
    assert chromium.run("document.documentElement.dataset.ready") == "yes" and chromium.problems == []


def test_what_cannot_be_decoded_is_told(folder, chromium):
    page = page_of(folder, SMALL)
    text = page.read_text()
    at = text.index('id="data"') + 60
    page.write_text(text[:at] + "AAAA" + text[at:])
    chromium.open(page)
    assert chromium.run("document.documentElement.dataset.ready") == "failed"
    assert chromium.run("document.querySelector('#title').textContent").startswith("This page cannot be shown: ")


def test_a_profile_of_100_mb(tmp_path, chromium):
    """How long it takes is printed, not judged."""
    profile, page = tmp_path / "large.out", tmp_path / "large.html"
    expected = call_profiles.write_large(profile, 30000, 6000000)
    assert profile.stat().st_size > 100_000_000
    start = time.monotonic()
    printed(f"--html={page}", profile)
    made = time.monotonic() - start
    opened = chromium.open(page)
    print(f"page of {page.stat().st_size >> 20} MiB made in {made:.1f} s, open in {opened:.1f} s")
    profile.unlink()
    shown = rows_of(chromium)
    assert len(shown) == 200 and all(row["inclusive"] == f"{expected[name]:,}" for name, row in shown.items())
    left_out = chromium.run("document.querySelector('#left-out').textContent")
    assert "functions with less than 0.01 % of every total" in left_out and "lines" in left_out
    for view in ("treemap", "flame", "calls", "source", "graph"):
        show(chromium, view, "function_5")
    assert chromium.problems == [] and set(chromium.requests) == {f"file://{page}"}


def test_threshold_of_the_page(tmp_path, chromium):
    profile, page = tmp_path / "some.out", tmp_path / "some.html"
    call_profiles.write_large(profile, 4000, 8000)
    printed(f"--html={page}", "--page-threshold=0", profile)
    chromium.open(page)
    assert chromium.run("sondePage.state.profile.functionCount") == 4000
    assert chromium.run("document.querySelector('#left-out').textContent") == ""
    printed(f"--html={page}", "--page-threshold=1", profile)
    chromium.open(page)
    count = chromium.run("sondePage.state.profile.functionCount")
    found = json.loads(printed("--format=json", profile))
    expected = [row for row in found["functions"] if any(
        100 * row[kind][event] >= total for kind in ("self", "inclusive") for event, total in found["totals"].items())]
    assert 0 < count == len(expected) < 4000 and f"{4000 - count:,} functions" in chromium.run("document.querySelector('#left-out').textContent")


# ---------------------------------------------------------------------------- bad input

def test_bad_words(folder):
    page = page_of(folder, SMALL)
    profile = folder / "some.out"
    cases = [
        ([f"--html={page}", profile, profile], 2, "--html is for one profile, or for the sum of several by --merge"),
        ([f"--html={folder}", profile], 2, f"--html: cannot write '{folder}': Is a directory"),
        (["--page-threshold=x", profile], 2, "--page-threshold needs a number of per cent from 0 to 100, not 'x'"),
        (["--html=/dev/full", profile], 1, "cannot write '/dev/full': No space left on device"),
    ]
    for words, status, line in cases:
        ended = report(*words)
        assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", f"sonde: {line}\n")


def test_sums_have_a_page(folder, chromium):
    page_of(folder, SMALL)
    printed("--merge", f"--html={folder}/sum.html", folder / "some.out", folder / "some.out")
    chromium.open(folder / "sum.html")
    assert rows_of(chromium)["work"]["self"] == "1,300"
    assert chromium.run("document.querySelector('#title').textContent") == "sum of 2 profiles"


def test_a_build_without_npm(tmp_path):
    """The script makes a file that says that there is no page, or fails where the page is required."""
    for folder in ("bin", "work"):
        (tmp_path / folder).mkdir()
    for program in ("sh", "cat", "rm", "mkdir"):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program))
    words = [ROOT / "scripts/build-page", ROOT / "src/report/page", tmp_path / "work", tmp_path / "form.c"]
    ended = run(*words, "no", env={"PATH": str(tmp_path / "bin")})
    assert ended.returncode == 0 and ended.stderr.startswith("build-page: npm is not installed\n")
    (tmp_path / "main.c").write_text('#include "report/page.h"\nint main(void) { size_t size = 1; sn_page_form(&size); return size != 0; }\n')
    subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Werror", "-D_GNU_SOURCE=", f"-I{ROOT}/include", f"-I{ROOT}/src", f"-I{BUILD}",
                    "-o", tmp_path / "main", tmp_path / "main.c", tmp_path / "form.c"], check=True)
    assert run(tmp_path / "main").returncode == 0
    assert run(*words, "yes", env={"PATH": str(tmp_path / "bin")}).returncode == 1


def test_the_lock_file_names_no_registry():
    text = (ROOT / "src/report/page/package-lock.json").read_text()
    assert "http" not in text.replace("https://github.com/", "").replace("https://opencollective.com/", "")
    lock = json.loads(text)
    wanted = json.loads((ROOT / "src/report/page/package.json").read_text())["devDependencies"]
    assert lock["packages"][""]["devDependencies"] == wanted
    assert all("integrity" in package for path, package in lock["packages"].items() if path)
    assert not list(pathlib.Path(ROOT / "src/report/page").glob("*.min.js"))
