"""`sonde report --html` of heap dumps and of the heap over time, in a headless Chromium: what they show is what the file says; they are
driven by mouse and keyboard; nothing but the page's own file is ever asked for.
"""
import json
import re

import pytest

import browser
import heap_files
from report_runs import printed, report
from test_report_heap import BLOCKS, FRAMES, LIVE, ROOTS, TRACES, written
from test_report_massif import HEAD, snapshot

pytestmark = browser.needed


@pytest.fixture
def shown(tmp_path, chromium):
    """Opens the page of a file."""
    page = tmp_path / "page.html"

    def show(path, *options, address=""):
        assert printed(f"--html={page}", *options, path) == ""
        chromium.open(page, address)
        return chromium

    yield show
    assert chromium.problems == [] and set(chromium.requests) <= {f"file://{page}"}


def text(opened, selector):
    return opened.run(f"document.querySelector({json.dumps(selector)})?.textContent")


def sites(opened):
    return opened.run("[...document.querySelectorAll('#functions tbody tr')].map((row) => [row.querySelector('.self').textContent,"
                      " row.querySelector('.name').textContent])")


def frames(opened):
    """Name -> value of the flame graph."""
    return dict(opened.run("[...document.querySelectorAll('#flame g.frame')].map((frame) => [frame.dataset.name, frame.__data__.data.value])"))


def view(opened, name):
    opened.click(f"#tab-{name}")
    opened.wait_for(f"document.querySelector('#tab-{name}').getAttribute('aria-selected') === 'true'")


# ---------------------------------------------------------------------------------- dumps

def test_flame_graph_of_a_dump(shown, tmp_path):
    opened = shown(written(tmp_path, "live.json.gz", LIVE))
    assert frames(opened) == {"all": 4464, "main (main.c:30)": 4400, "g (g.c:20)": 4176, "malloc (vm.c:1)": frames(opened)["malloc (vm.c:1)"],
                              "operator new(unsigned long) (new.cc:4)": 4096, "f (f.c:10)": frames(opened)["f (f.c:10)"],
                              "(no stack was kept, as with --stacks=partial)": 64}
    tree = opened.run("(() => { const walk = (node) => [node.data.name, node.data.value, (node.children ?? []).map(walk)]; return walk("
                      "document.querySelector('#flame g.frame').__data__); })()")
    assert tree[:2] == ["all", 4464] and sorted(child[:2] for child in tree[2]) == [["(no stack was kept, as with --stacks=partial)", 64],
                                                                                ["main (main.c:30)", 4400]]
    assert sites(opened) == [["4,096", "operator new(unsigned long) (new.cc:4)"], ["224", "malloc (vm.c:1)"], ["80", "malloc (vm.c:1)"],
                             ["64", "(no stack was kept, as with --stacks=partial)"]]
    opened.run("document.querySelector('#event').value = '3'; document.querySelector('#event').dispatchEvent(new Event('change'))")
    opened.wait_for("document.querySelector('#flame g.frame').__data__.data.value === 9")
    assert [row[0] for row in sites(opened)] == ["5", "2", "1", "1"]
    opened.wait_for("document.querySelector('#flame g.frame rect').getBoundingClientRect().width > 600")    # it grows to its width
    opened.click("#flame g.frame[data-name='main (main.c:30)']")
    assert "main (main.c:30): 8 (88.9 %)" in text(opened, "#flame-details")


def test_a_record_s_stack(shown, tmp_path):
    opened = shown(written(tmp_path, "live.json", LIVE))
    opened.click("#functions tbody tr:nth-child(2) button")
    opened.wait_for("document.querySelector('#tab-stack').getAttribute('aria-selected') === 'true'")
    assert opened.run("[...document.querySelectorAll('ol.stack li')].map((row) => row.textContent)") == \
        ["malloc (vm.c:1)", "f (f.c:10)", "main (main.c:30)"]
    assert opened.run("[...document.querySelectorAll('dl.numbers dd')].map((row) => row.textContent)") == ["224", "200", "24", "2"]
    opened.run("history.back()")
    opened.wait_for("document.querySelector('#tab-flame').getAttribute('aria-selected') === 'true'")
    opened.click("#search")
    opened.type("g.c main")
    opened.wait_for("document.querySelectorAll('#functions tbody tr').length === 2")
    assert [row[0] for row in sites(opened)] == ["4,096", "80"]


def test_difference(shown, tmp_path):
    after = heap_files.document([{"req": 100, "slop": 12, "alloc": "A", "num": 5}], TRACES, FRAMES, "live")
    page = tmp_path / "page.html"
    assert printed(f"--html={page}", written(tmp_path, "a.json", LIVE), written(tmp_path, "b.json", after)) == ""
    opened = shown(tmp_path / "b.json")
    assert printed(f"--html={page}", tmp_path / "a.json", tmp_path / "b.json") == ""
    opened.open(page)
    assert sites(opened)[:2] == [["-4,096", "operator new(unsigned long) (new.cc:4)"], ["336", "malloc (vm.c:1)"]]
    assert frames(opened)["all"] == 336 and "3 records that shrank" in text(opened, "#flame-details")


def test_texts_are_no_markup(shown, tmp_path):
    frame = "#00: f<img src=x onerror=alert(1)></script><!-- (a.c:1)"
    opened = shown(written(tmp_path, "a.json", heap_files.document([{"req": 8, "alloc": "A"}], {"A": ["B"]}, {"B": frame}, "live", options="<b>")))
    assert sites(opened) == [["8", frame[5:]]] and opened.run("document.querySelectorAll('img, b').length") == 0


def test_nothing(shown, tmp_path):
    opened = shown(written(tmp_path, "a.json", heap_files.document([], {}, {}, "live")))
    assert sites(opened) == []
    view(opened, "stack")
    assert text(opened, "#view") == "There are no records."


def test_blocks_around_a_block(shown, tmp_path):
    path = written(tmp_path, "scan.json", heap_files.document(BLOCKS, TRACES, FRAMES, roots=ROOTS))
    opened = shown(path, "--block=0x2004")
    boxes = opened.run("[...document.querySelectorAll('#blocks .box')].map((box) => [box.querySelector('text').textContent, box.classList.contains('center')])")
    assert sorted(boxes) == [["0x1000", False], ["0x2000", True], ["0x3000", False], ["global table (prog)", False]]
    labels = opened.run("[...document.querySelectorAll('#blocks .offset')].map((one) => [one.dataset.from, one.dataset.to, one.textContent])")
    names = opened.run("sondePage.model.data.graph.nodes.map((node) => node.root ?? node.address)")
    edges = {(names[int(start)], names[int(end)]): label for start, end, label in labels}
    assert edges == {("global table (prog)", "0x1000"): "+8", ("0x1000", "0x2000"): "+0 (inside)", ("0x2000", "0x3000"): "+0, +8"}
    assert "itself at +16 (inside)" in text(opened, "#blocks .box.center title")
    opened.run("document.querySelector('#blocks .box:not(.center)[aria-label^=\"0x1000\"]').focus()")
    opened.key("Enter", 13, "\r")
    assert text(opened, "#block-details h3") == "0x1000, 24 bytes"
    view(opened, "flame")
    assert frames(opened)["all"] == 104


def test_many_neighbours_are_left_out(shown, tmp_path):
    blocks = [{"addr": f"{0x10000 + 4096 * number:x}", "req": 4096, "alloc": "A", "contents": ["10000"] if number else
               [f"{0x10000 + 4096 * other:x}" for other in range(1, 400)]} for number in range(400)]
    opened = shown(written(tmp_path, "scan.json", heap_files.document(blocks)), "--block=10000")
    assert opened.run("document.querySelectorAll('#blocks .box').length") == 81
    assert "some are left out" in text(opened, "#view .note")


# ------------------------------------------------------------------------------- over time

def tree(of_f, of_g, name="detailed"):
    return (f"heap_tree={name}\nn2: {of_f + of_g} (heap allocation functions) x\n n2: {of_f} 0x1: f (a.c:1)\n  n0: {of_f // 2} 0x2: main (a.c:9)\n"
            f"  n0: {of_f - of_f // 2} 0x3: other (a.c:8)\n n0: {of_g} 0x4: g (b.c:1)\n")


TIMELINE = HEAD + snapshot(0, 0, 100, 10, 0, tree(60, 40)) + snapshot(1, 50, 150, 10, 5) + snapshot(2, 100, 400, 20, 8, tree(300, 100, "peak")) \
    + snapshot(3, 200, 200, 15, 8, tree(0, 200))


def bands(opened):
    return dict(opened.run("[...document.querySelectorAll('#timeline .band')].map((band) => [band.dataset.name, Number(band.dataset.most)])"))


def test_timeline(shown, tmp_path):
    path = tmp_path / "massif.out"
    path.write_text(TIMELINE)
    opened = shown(path)
    assert bands(opened) == {"f (a.c:1)": 300, "g (b.c:1)": 200, "added by the allocator": 20, "stacks": 8}
    assert text(opened, "#timeline text.peak") == "peak: 428"
    place = opened.run("['x1'].map((name) => Number(document.querySelector('#timeline line.peak').getAttribute(name)))")[0]
    left, right = opened.run("(() => { const way = document.querySelector('#timeline .axis').getAttribute('d'); return [...way.matchAll(/[\\d.]+/g)].map(Number); })()")[0::3]
    assert abs((place - left) / (right - left) - 0.5) < 0.01    # 100 of 200
    assert sites(opened) == [["300", "f (a.c:1)"], ["100", "g (b.c:1)"]]
    tops = opened.run("document.querySelector('#timeline .band').getAttribute('d')").split("L")[0:4]
    heights = [float(point.split(",")[1]) for point in tops]
    zero, unit = heights[3], (heights[3] - heights[2]) / 300
    assert [round((zero - height) / unit) for height in heights] == [60, 101, 300, 0]   # at 1: 150 * (0.6 + 0.75) / 2
    points = opened.run("document.querySelector('#timeline .total').getAttribute('d')")
    assert len(re.findall("[ML]", points)) == 4
    opened.run("document.querySelector('#timeline .band[data-name^=\"f \"]').focus()")
    opened.key("Enter", 13, "\r")
    opened.wait_for("document.querySelector('#chosen').textContent === 'f (a.c:1)'")
    assert bands(opened) == {"main (a.c:9)": 150, "other (a.c:8)": 150}
    assert sites(opened) == [["150", "main (a.c:9)"], ["150", "other (a.c:8)"]]
    opened.click(".crumbs button")
    opened.wait_for("document.querySelectorAll('#timeline .band').length === 4")


def test_flame_graph_of_a_snapshot(shown, tmp_path):
    path = tmp_path / "massif.out"
    path.write_text(TIMELINE)
    opened = shown(path)
    view(opened, "flame")
    assert opened.run("document.querySelector('#snapshot').value") == "2"
    assert opened.run("[...document.querySelectorAll('#snapshot option')].map((option) => option.textContent)") == \
        ["0: 100 bytes", "2: 400 bytes, peak", "3: 200 bytes"]
    assert frames(opened) == {"all": 400, "main (a.c:9)": 150, "other (a.c:8)": 150, "g (b.c:1)": 100, "f (a.c:1)": 150}
    opened.run("document.querySelector('#snapshot').value = '3'; document.querySelector('#snapshot').dispatchEvent(new Event('change'))")
    opened.wait_for("document.querySelector('#flame g.frame').__data__.data.value === 200")
    assert frames(opened) == {"all": 200, "g (b.c:1)": 200} and sites(opened)[0] == ["200", "g (b.c:1)"]


def test_many_sites_are_one_band(shown, tmp_path):
    path, sites_count = tmp_path / "massif.out", 30
    path.write_text(HEAD + "".join(snapshot(number, number, 9, 0, 0, f"heap_tree=detailed\nn2: 9 x\n n0: 5 0x1: f (a.c:1)\n n0: 4 in {number + 1} place"
                                   f"{'s, all' if number else ','} below massif's threshold (1.00%)\n") for number in range(3)))
    assert bands(shown(path)) == {"f (a.c:1)": 5, "places below the threshold": 4}
    lines = "".join(f" n0: {100 + number} 0x1: f{number} (a.c:1)\n" for number in range(sites_count))
    total = sum(100 + number for number in range(sites_count))
    path.write_text(HEAD + "".join(snapshot(number, number, total, 0, 0, f"heap_tree=detailed\nn{sites_count}: {total} x\n{lines}") for number in range(2)))
    found = bands(shown(path))
    assert len(found) == 13 and found["others"] == sum(100 + number for number in range(18)) and found["f29 (a.c:1)"] == 129


def test_few_snapshots(shown, tmp_path):
    path = tmp_path / "massif.out"
    path.write_text(HEAD + snapshot(0, 0, 0, 0, 0) + snapshot(1, 10, 50, 3, 0))
    opened = shown(path)
    assert bands(opened) == {} and "Bands need a detailed snapshot" in text(opened, "#band-details") and text(opened, "#timeline text.peak") == "peak: 53"


# ------------------------------------------------------------------------------- bad input

def test_what_cannot_be_written(tmp_path):
    live = written(tmp_path, "live.json", LIVE)
    massif = tmp_path / "massif.out"
    massif.write_text(TIMELINE)
    for words, message in (([f"--html={tmp_path}", live], "cannot write"), ([f"--html={tmp_path}", massif], "cannot write"),
                           ([f"--html={tmp_path}/x", "--retained", live], "--html is for records and --block")):
        ended = report(*words)
        assert ended.returncode == 2 and message in ended.stderr and ended.stderr.count("\n") == 1
