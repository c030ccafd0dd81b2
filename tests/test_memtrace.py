"""The tool memtrace: traces of programs of which every access is known, as text and through the file and its report."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, SONDE, run_sonde
from memtrace_forms import FORMS

TIMEOUT = 120

DATA = """
    .bss
    .balign 4096
    .globl d
d:  .skip 65536
    .skip 4096
sp: .skip 4096
    .data
    .balign 64
words:
    .set number, 0
    .rept 32
    .quad number
    .set number, number + 1
    .endr
masks:
    .byte 0x80, 0, 0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    .long 0x80000000, 0, 0x7fffffff, 0xffffffff, 0, 0, 0, 0x80000001
bytes:
    .ascii "abcabdabc"
pointer:
    .quad 0
marker:
    .byte 0
    .text
    .globl _start
_start:
"""


def processor_flags():
    return set(re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split())


def known_forms():
    flags = processor_flags()
    return [form for form in FORMS if set(form[1].split()) <= flags]


def source_of(forms):
    """One straight program; a store to `marker` ends each form."""
    text = DATA
    for _, _, code, _ in forms:
        text += "    mov $sp, %esp\n    mov $d, %ebx\n    mov $words, %esi\n    mov $d, %edi\n    xor %eax, %eax\n"
        if "9:" in code:
            text += "    movq $9f, pointer\n"
        text += "\n".join(f"    {line.strip()}" for line in code.split(";")) + "\n    movb $1, marker\n"
    return text + "    mov $231, %eax\n    xor %edi, %edi\n    syscall\n"


def build_assembly(folder, name, source):
    (folder / f"{name}.s").write_text(source)
    subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-no-pie", "-o", folder / name, folder / f"{name}.s"], check=True,
                   timeout=TIMEOUT)
    return folder / name


def symbols_of(program):
    listed = subprocess.run(["nm", program], check=True, text=True, stdout=subprocess.PIPE, timeout=TIMEOUT).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in listed.splitlines() if len(line.split()) == 3}


def accesses_of(expected, symbols):
    """"L d+4 8 ..." -> [("L", address, 8), ...]"""
    words = expected.split()
    result = []
    for letter, place, size in zip(words[::3], words[1::3], words[2::3]):
        name, sign, offset = re.fullmatch(r"(\w+?)(?:([+-])(\d+))?", place).groups()
        result.append((letter, symbols[name] + (int(offset) if sign == "+" else -int(offset) if sign else 0), int(size)))
    return result


def parse(text):
    """Lines of Lackey's form -> [(letter, address, size), ...]"""
    result = []
    for line in text.splitlines():
        match = re.fullmatch(r"(I |" " L| S| M) ([0-9a-f]{8,}),([0-9]+)", line)
        assert match, line
        result.append((match[1].strip(), int(match[2], 16), int(match[3])))
    return result


def trace(folder, form, *words, status=0, **options):
    """Run memtrace; the trace as text, written directly or read from the file."""
    output = folder / "trace"
    ended = run_sonde("memtrace", f"--format={form}", f"--output={output}", *words, **options)
    assert ended.returncode == status, ended.stderr
    if form == "text":
        return output.read_text()
    report = run_sonde("report", "--view=trace", output)
    assert (report.returncode, report.stderr) == (0, ""), report.stderr
    return report.stdout


# Options that change how code is generated and must not change what is traced.
CODE_OPTIONS = [[], ["--debug-block-limit=1"], ["--debug-block-limit=3"], ["--debug-superblocks=no"], ["--debug-links=no"],
                ["--debug-fast-decode=no"], ["--debug-fsgsbase=no"]]
ids = dict(ids=lambda options: "".join(options) or "plain")


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    rows = known_forms()
    program = build_assembly(folder, "forms", source_of(rows))
    assert subprocess.run([program], timeout=TIMEOUT).returncode == 0
    return program, rows, symbols_of(program)


def check_forms(traced, rows, symbols):
    """The trace, cut at the stores to `marker`, against the rows. The first of a row that jumps by memory sets `pointer`."""
    marker = ("S", symbols["marker"], 1)
    parts = [[]]
    for access in traced:
        if access[0] == "I":
            continue
        if access == marker:
            parts.append([])
        else:
            parts[-1].append(access)
    assert len(parts) == len(rows) + 1 and parts[-1] == []
    wrong = {}
    for (name, _, code, expected), got in zip(rows, parts):
        prefix = [("S", symbols["pointer"], 8)] if "9:" in code else []
        wanted = prefix + accesses_of(expected, symbols)
        if got != wanted:
            wrong[name] = (got[:20], wanted[:20])
    assert not wrong


@pytest.mark.parametrize("options", CODE_OPTIONS, **ids)
@pytest.mark.parametrize("form", ["text", "binary"])
def test_forms(forms, tmp_path, form, options):
    program, rows, symbols = forms
    check_forms(parse(trace(tmp_path, form, *options, program)), rows, symbols)
