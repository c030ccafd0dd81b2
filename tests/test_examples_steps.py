"""The steps of docs/writing-a-tool.md: they give the same sum, and the page quotes them as they are."""

import re
import subprocess

import pytest

from conftest import ROOT, run_sonde
from test_memtrace import THREADS, build_c, parse, trace

STEPS = ["calls", "fast", "fewer", "inline", "batches"]
SOURCE = ROOT / "tests/programs/memtrace_steps.c"


@pytest.fixture(scope="module")
def tool(build_tool):
    return build_tool("steps", SOURCE.read_text())


def sum_of(tool, step, folder, *words):
    ended = run_sonde(tool, f"--step={step}", f"--output={folder}/report", *words)
    assert ended.returncode == 0 and ended.stderr == ""
    return (folder / "report").read_text()


@pytest.mark.parametrize("options", [[], ["--debug-block-limit=1"], ["--debug-superblocks=no"]], ids=lambda words: "".join(words) or "plain")
def test_steps(tool, tmp_path, options):
    """Against the sum over memtrace's trace."""
    program = tmp_path / "primes"
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, ROOT / "examples/primes.s"], check=True, timeout=60)
    addresses = [address for _, address, _ in parse(trace(tmp_path, "text", program))]
    expected = f"{len(addresses)} accesses, sum {sum(addresses):#x}\n"
    assert {step: sum_of(tool, step, tmp_path, *options, program) for step in STEPS} == {step: expected for step in STEPS}


def test_steps_of_threads(tool, tmp_path):
    """No access of a thread that ends is lost."""
    program = build_c(tmp_path, "threads", THREADS.replace("pid_t child = fork();", "pid_t child = 1;").replace("waitpid", "(void)"),
                      "-no-pie", "-w")
    sums = {step: sum_of(tool, step, tmp_path, "--only=work", program).split()[0] for step in STEPS}
    assert sums == {step: str(4 * 20001) for step in STEPS}


# What the page shows before it is right, and is made so in the text that follows.
FIRST_DRAFTS = ("(void)block;", 'fprintf(sn_output(), "%d %#lx')


def without_spaces(text):
    return re.sub(r"\s+", " ", text)


def test_the_page_quotes(tmp_path):
    page = (ROOT / "docs/writing-a-tool.md").read_text()
    sources = without_spaces("".join(path.read_text() for path in [SOURCE, *sorted((ROOT / "examples").glob("*.c"))]))
    part = page[page.index("## A memory tracer"):page.index("## What each form costs")]
    blocks = [re.sub("^    ", "", block, flags=re.M).strip() for block in re.findall(r"(?:^(?: {4}.*)?\n)+", part, re.M) if block.strip()]
    assert len(blocks) >= 10
    for block in blocks:
        if any(words in block for words in FIRST_DRAFTS):
            source = tmp_path / "draft.c"
            include = "" if "#include" in block else "#include <sonde/tool.h>\n"
            source.write_text(include + block + "\n")
            subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only",
                            f"-I{ROOT}/include", source], check=True, timeout=60)
        else:
            for piece in re.split(r"\n\n", block):
                assert without_spaces(piece) in sources, piece


def test_draft_runs(tmp_path, build_tool):
    """The first draft of the page is a tool that works, as far as it goes."""
    page = (ROOT / "docs/writing-a-tool.md").read_text()
    block = next(block for block in re.findall(r"(?:^(?: {4}.*)?\n)+", page, re.M) if FIRST_DRAFTS[1] in block)
    descriptor = page[page.index("    SN_EXPORT const sn_tool sn_tool_descriptor = {\n        .interface = SN_TOOL_INTERFACE, .name = \"memory\""):]
    draft = build_tool("draft", "#include <sonde/tool.h>\n" + block + descriptor[:descriptor.index("};") + 2] + "\n")
    program = tmp_path / "primes"
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, ROOT / "examples/primes.s"], check=True, timeout=60)
    ended = run_sonde(draft, f"--output={tmp_path}/report", program)
    assert ended.returncode == 0 and len((tmp_path / "report").read_text().splitlines()) >= 43091 - 15
