"""@fileoverview The texts say what is so: options, links, the runs that they show, and the man page.

What is compared with a text is always asked of the build, never written down here.
"""

import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, run_sonde

# Every text of the tree that a reader is sent to.
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
NAME = r"--?[A-Za-z][A-Za-z0-9-]*"   # of an option
TOOLS = ("cache", "calls", "count", "deadspy", "heap", "loadspy", "memcheck", "memtrace", "none", "redspy", "zerospy", "taint")


def run(*words, **options):
    options = {"timeout": 120, "check": True, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([str(word) for word in words], **options)


# ------------------------------------------------------------------------ options

def listed_by(*words):
    """Name -> default (None without one) of the options in a help text. A row may go on in the next lines."""
    text = run_sonde(*words).stdout
    rows = re.findall(r"^  (-[^\n]*(?:\n {10,}[^\n]*)*)", text, re.M)
    found = {}
    for row in rows:
        default = re.search(r"\[([^]]*)\]$", " ".join(row.split()))
        for name in re.findall(f"(?:^|, )({NAME})", row):
            found[name] = default[1] if default else None
    assert found, text
    return found


def documented_in(page):
    """Name -> default of the options in the tables of a page."""
    rows = re.findall(rf"^\| `({NAME})[^`]*` \|([^|]*)\| [^|]", page.read_text().replace("\\|", "/"), re.M)
    return {name: default.strip() for name, default in rows}


def own_options(tool):
    general = listed_by("--help")
    return {name: default for name, default in listed_by(tool, "--help").items() if name not in general}


def compare(help_text, page_text):
    assert set(help_text) == set(page_text)
    differing = {name: (default, page_text[name]) for name, default in help_text.items()
                 if default is not None and default != page_text[name]}
    assert not differing


def test_options_of_sonde():
    compare({**listed_by("--help"), **listed_by("--help-debug")}, documented_in(ROOT / "docs/options.md"))


@pytest.mark.parametrize("tool", TOOLS)
def test_options_of_a_tool(tool):
    options = own_options(tool)
    assert bool(options) == (tool != "none"), "the help text is not understood"
    compare(options, documented_in(ROOT / f"docs/{tool}.md"))


def test_every_tool_has_a_page():
    (names,) = re.findall(r"^  TOOL +(.*(?:\n {8}\S.*)*)$", run_sonde("--help").stdout, re.M)
    assert sorted(re.split(r",\s+", names)) == sorted(TOOLS)
    for tool in TOOLS:
        assert f"({tool}.md)" in (ROOT / "docs/manual.md").read_text()


# -------------------------------------------------------------------------- links

def anchors_of(page):
    """As the usual viewers make them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    text = re.sub(r"^    .*$", "", page.read_text(), flags=re.M)
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.is_relative_to(ROOT) or not file.exists() or (anchor and anchor not in anchors_of(file)):
            dead.append(target)
    assert not dead


def test_pages_are_reached():
    """From the README or the manual's index."""
    index = (ROOT / "README.md").read_text() + (ROOT / "docs/manual.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"{page.name})" not in index] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page):
    """What a text names as a file of the tree, in code marks, is there. Folders that a build makes are left out."""
    named = re.findall(r"`((?:src|tests|scripts|bench|examples|docs|include)/[\w./*-]+)`", page.read_text())
    planned = {"src/report"} if page.name == "ARCHITECTURE.md" else set()   # said not to exist yet
    assert [name for name in named if name not in planned and not list(ROOT.glob(name.rstrip("/")))] == []


# ----------------------------------------------------------------------- man page

def groff(page):
    """The page as a terminal shows it; what groff warns of is a failure."""
    shown = run("groff", "-man", "-ww", "-Tutf8", "-P-cbou", page)
    assert shown.stderr == ""
    return shown.stdout


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_man_page():
    text = groff(BUILD / "sonde.1")
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES"):
        assert f"\n{heading}\n" in text or text.startswith(f"{heading}\n")
    shown = set(re.findall(rf"^ +({NAME})", text, re.M))
    assert {*listed_by("--help"), *own_options("count")} <= shown
    version = run_sonde("--version").stdout.strip()
    assert version in text
    words = re.findall(r"^  (\w+)  ", run_sonde("control", "--help").stdout, re.M)
    requests = re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs/requests.md").read_text(), re.M)
    assert "zero" in words and "VALGRIND_PRINTF" in requests
    for word in words + requests:
        assert re.search(rf"^ +(\w+, )*{word}\b", text, re.M), word
    statuses = re.findall(r"^\| (\d+) \|", (ROOT / "docs/exit-status.md").read_text(), re.M)
    assert statuses and all(re.search(rf"^ +{status} ", text, re.M) for status in statuses)


def test_man_page_refuses_what_it_does_not_know(tmp_path):
    """Rather than to drop it."""
    folder = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", folder)
    make = [ROOT / "scripts/make-man", "1", folder, tmp_path / "page.1"]
    run(*make)
    with open(folder / "exit-status.md", "a", encoding="ascii") as page:
        page.write("\n> quoted\n")
    made = run(*make, check=False)
    assert made.returncode == 1 and made.stderr == "make-man: Markdown that is not known here: > quoted\n"


# --------------------------------------------------------------- runs that are shown

def shown_block(page, first):
    """The indented block of a page that has a line beginning with `first`, from behind that line."""
    for block in re.findall(r"(?:^(?:    .*)?\n)+", page.read_text(), re.M):
        lines = [line[4:] for line in block.rstrip("\n").split("\n")]
        for at, line in enumerate(lines):
            if line.startswith(first):
                return "\n".join(lines[at + 1:]).rstrip("\n")
    raise AssertionError(f"{page} shows no run of: {first}")


def without_process(text):
    return re.sub(r"process \d+", "process N", text)


def test_run_in_the_page_of_count(tmp_path):
    program = tmp_path / "primes"
    run("gcc", "-g", "-nostdlib", "-static", "-o", program, ROOT / "examples/primes.s")
    ended = run(BUILD / "sonde", "count", "./primes", cwd=tmp_path)
    assert ended.stdout.strip() == "1229"
    shown = shown_block(ROOT / "docs/count.md", "$ sonde count ./primes")
    assert without_process(ended.stderr.rstrip("\n")) == without_process(shown)


def without_shares(text):
    """Of a report: shares and miss rates depend on the C library's start, and so does how many functions there are."""
    text = re.sub(r" *\d+\.\d ?%| {5,}(?=[ \d]*\d  )", "", re.sub(r"\(\d+ more", "(N more", text))
    return [line.rstrip() for line in text.splitlines()]


def functions_and_sources(text):
    return without_shares(text[text.index("    Ir     Ir"):])


def test_run_in_the_readme():
    """make demo: what the program's own functions and lines count is the same everywhere."""
    ended = run("make", "--no-print-directory", "demo", cwd=ROOT)
    shown = shown_block(ROOT / "README.md", "$ build/sonde report")
    found = ended.stdout[ended.stdout.index(f"sonde report: {BUILD}"):] if f"sonde report: {BUILD}" in ended.stdout \
        else ended.stdout[ended.stdout.index("sonde report: "):]
    assert functions_and_sources(found) == functions_and_sources(shown)


def test_runs_in_the_page_of_cache(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    run("gcc", "-g", "-O1", f"-fdebug-prefix-map={tmp_path}=.", "-o", "traversal", "examples/traversal.c", cwd=tmp_path)
    caches = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
    ended = run(BUILD / "sonde", "cache", *caches, "./traversal", cwd=tmp_path)
    shown = shown_block(ROOT / "docs/cache.md", "$ sonde cache")
    assert shown.split("\n")[0] + "\n" == ended.stdout

    def labels(text):
        return re.findall(r"^(\w.*?):", without_process(text), re.M)
    assert labels(shown.partition("\n")[2]) == labels(ended.stderr)
    profile, = tmp_path.glob("cachegrind.out.*")
    reported = run(BUILD / "sonde", "report", "--functions=3", profile, cwd=tmp_path).stdout
    assert functions_and_sources(reported) == functions_and_sources(shown_block(ROOT / "docs/cache.md", "$ sonde report"))


@pytest.mark.parametrize("kind, page", [("cachegrind", "report.md"), ("callgrind", "report-calls.md"),
                                        ("heap", "heap-report.md"), ("massif", "report-massif.md")])
def test_options_of_report(kind, page):
    text = run(BUILD / "sonde", "report", "--help").stdout
    section = re.search(rf"^Options for {kind}.*?:$(.*?)(?:^Options|\Z)", text, re.M | re.S)[1]
    names = set(re.findall(r"^  (--[a-z-]+)", section, re.M))
    assert names and names == set(documented_in(ROOT / "docs" / page))
