"""@fileoverview --debug-verify=yes: real programs pass, and a block that is translated wrongly is found and named.

The broken block is made by --debug-break-block. What must be found is known from the assembly of a small program: its
blocks are numbered in the order in which they are executed, and each of them shows its mistake in %rbx.
"""

import re
import subprocess

import pytest

from conftest import SONDE, run_sonde

TIMEOUT = 300

# Five blocks without a branch back; the second is entered 100 times, from itself. Each one's last instruction leaves
# %rbx alone, and all are executed to their end.
SOURCE = """
        .globl  _start
_start: xorl    %ebx, %ebx
        movl    $100, %ecx
        pushq   %rbx
        leaq    again(%rip), %rax
        jmp     *%rax
again:  addq    %rcx, (%rsp)
        pxor    %xmm1, %xmm1
        movq    %rcx, %xmm1
        decl    %ecx
        leaq    again(%rip), %rax
        leaq    done(%rip), %rdx
        cmovz   %rdx, %rax
        jmp     *%rax
done:   pushfq
        popq    %rdx
        call    other
        movl    $231, %eax
        xorl    %edi, %edi
        cmpq    $5050, %rbp
        setne   %dil
        syscall
other:  movq    8(%rsp), %rbp
        ret
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verify")
    source, target = folder / "blocks.s", folder / "blocks"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", target, source], check=True, timeout=60)
    return target


def verified(text):
    """Blocks that were compared, entries that were, and the entries that were skipped by reason."""
    found = re.findall(r"verified: (\d+) blocks in (\d+) entries; skipped: (.*)", text)
    assert found, text
    skipped = {reason: int(number) for number, reason in re.findall(r"(\d+) ([a-z ]+)", found[-1][2])}
    return int(found[-1][0]), int(found[-1][1]), skipped


def test_counts_of_a_known_program(program):
    ended = run_sonde("none", "--debug-verify=yes", "--stats=yes", "--", program, timeout=TIMEOUT)
    assert ended.returncode == 0, ended.stderr
    blocks, entries, skipped = verified(ended.stderr)
    # 100 entries of the second block: 8, and 4 of those from 8 on, 16 on, 32 on, and 3 of those from 64 on.
    assert (blocks, entries) == (5, 4 + 8 + 4 + 4 + 4 + 3)
    # The block behind the call ends before the system call, which stands alone.
    assert skipped.pop("seen often") == 100 - 23
    assert skipped.pop("not repeatable") == 1
    assert not any(skipped.values()), skipped


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("tool", ["none", "count"])
def test_a_wrong_block_is_named(program, number, tool):
    ended = run_sonde(tool, "--debug-verify=yes", f"--debug-break-block={number}", "--", program, timeout=TIMEOUT)
    assert ended.returncode == 125, ended.stderr
    assert re.findall(r"block (\d+) at 0x[0-9a-f]+ does not do", ended.stderr) == [str(number)], ended.stderr
    assert re.findall(r"^sonde:   (\w+): expected", ended.stderr, re.M) == ["rbx"], ended.stderr
    assert f"block {number} is translated wrongly" in ended.stderr


def test_a_wrong_block_is_not_found_without(program):
    """The option breaks the block, and only --debug-verify looks at it: the program does not notice."""
    assert run_sonde("none", "--debug-break-block=2", "--", program, timeout=TIMEOUT).returncode == 0
