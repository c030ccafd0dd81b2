"""`sonde report` on what `sonde heap` writes: types, members and variables of a C and a C++ program; a forgotten reference is found."""
import json
import shutil

import pytest

from conftest import SONDE
from report_runs import printed, run

pytestmark = pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="gcc or g++ is not installed")

WINDOWS = """
#include <cstdlib>
#include <map>
#include <string>
namespace app {
struct Base { virtual ~Base() {} long count = 1; };
struct Document : Base { std::string title; Document *next = nullptr; };
struct Window : Base { Document *mDocument; int handles[4]; };
}
static std::map<int, app::Window *> table;
static struct { int other; app::Window *window; } forgotten;
int main() {
    for (int i = 0; i < 100; i++) {
        app::Window *window = new app::Window;
        window->mDocument = new app::Document;
        window->mDocument->title = std::string(1000 + i, 'x');
        table[i] = window;
    }
    forgotten.window = table[50];
    table.clear();
    return 0;
}
"""
NODES = """
#include <stdlib.h>
struct node { struct node *next; struct { int id; void *data[3]; } in; };
struct node *head;
void *plain;
int main(void) {
    struct node *first = malloc(sizeof *first);
    struct node *many = calloc(4, sizeof *many);
    head = first;
    first->next = many;
    many[2].in.data[1] = malloc(7);
    plain = malloc(40);
    return 0;
}
"""


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scans")
    made = {}
    for name, source, compiler in (("windows", WINDOWS, "g++"), ("nodes", NODES, "gcc")):
        code = folder / f"{name}.{'cpp' if compiler == 'g++' else 'c'}"
        code.write_text(source)
        assert run(compiler, "-g", "-O0", "-o", folder / name, code).returncode == 0
        made[name] = folder / f"{name}.json"
        ended = run(SONDE, "heap", "--mode=scan", f"--output={made[name]}", folder / name)
        assert ended.returncode == 0, ended.stderr
    return made


def asked(*words):
    return json.loads(printed("--format=json", *words))


def blocks_of(scan, size):
    return [block["addr"] for block in json.loads(scan.read_text())["blockList"] if block["req"] == size]


def test_a_forgotten_reference(scans):
    """The four commands of the manual."""
    scan = scans["windows"]
    text = blocks_of(scan, 1051)    # what the title of the 51st document points to, with its zero byte
    assert len(text) == 1
    answer = asked(f"--block={text[0]}", "--chain", "--why-alive", "--retained", scan)
    members = [owner["pointers"][0].get("member") for step in answer["referrers"] for owner in step["owners"]]
    assert members == ["app::Document::title._M_dataplus._M_p", "app::Window::mDocument", None] and answer["chain_end"] == "root"
    root = answer["path"][0]["root"]
    assert (root["kind"], root["name"]) == ("global", "forgotten+8") and answer["verdict"] == "still_reachable"
    assert [step.get("is_guess") for step in answer["path"]] == [None, False, False]
    leaks = asked(scan)["leaks"]
    assert leaks["unreachable"]["blocks"] == 99 and leaks["reachable_through_unreachable"]["blocks"] == 198
    window = answer["path"][1]["block"]["address"]
    kept = asked(f"--block={window}", "--retained", scan)
    assert kept["retained"]["blocks"] == 3 and (kept["type"], kept["type_is_guess"]) == ("app::Window", False)
    assert "at offset 16 (app::Window::mDocument)\n" in printed(f"--block={answer['path'][2]['block']['address']}", scan)


def test_guesses_say_so(scans):
    scan = scans["nodes"]
    (seven,), (many,) = blocks_of(scan, 7), blocks_of(scan, 160)
    pointer, = [owner["pointers"][0] for owner in asked(f"--block={seven}", scan)["referrers"][0]["owners"]]
    assert (pointer["member"], pointer["is_guess"]) == ("node[2].in.data[1]", True)
    text = printed(f"--block={many}", scan)
    assert "  type: node (a guess, by the line that allocated it)\n" in text and "at offset 0 (node::next?)\n" in text
    types = sorted(str(asked(f"--block={address}", scan)["type"]) for address in blocks_of(scan, 40))
    assert types == ["None", "node"]    # nothing is declared where `plain` is allocated


def test_without_the_program(scans, tmp_path):
    """The files that the dump names may be gone, or others."""
    made = json.loads(scans["nodes"].read_text())
    for module in made["modules"]:
        module["path"] = str(tmp_path / "gone")
    made["modules"] += [{"path": "/etc/passwd", "addr": "0"}, {"path": "/bin/true", "addr": "ffffffffffffff00"}]
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps(made))
    answer = asked(f"--block={blocks_of(moved, 160)[0]}", "--why-alive", moved)
    assert answer["type"] is None and len(answer["path"]) in (1, 2)
