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


PROGRAMS = {
    "bash": ["bash", "-c", "for i in 1 2 3; do echo $((i * 7)) | tr 1 x; done; (exit 3)"],
    "xz": ["xz", "-kc", "--threads=1", "INPUT"],
    "python3": ["/usr/bin/python3", "-S", "-c", "print(sum(1 / i for i in range(1, 50)))"],
    # Signals arrive at any moment.
    "perl": ["perl", "-e", "$SIG{ALRM} = sub { $n++ }; $SIG{USR1} = sub { $m++ }; kill USR1 => $$; "
                           "use Time::HiRes 'ualarm'; ualarm 3000, 3000; 1 while $n < 5; ualarm 0; print $m"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_real_programs_pass(name, tmp_path):
    given = tmp_path / "input"
    given.write_text("".join(f"{number}\n" for number in range(5000)))
    command = [str(given) if word == "INPUT" else word for word in PROGRAMS[name]]
    native = subprocess.run(command, check=False, timeout=TIMEOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    output, log = tmp_path / "output", tmp_path / "log"
    with output.open("wb") as to:
        ended = run_sonde("none", "--debug-verify=yes", "--stats=yes", f"--log-file={log}", "--", *command, stdout=to,
                          timeout=TIMEOUT)
    text = log.read_text()
    assert (ended.returncode, output.read_bytes()) == (native.returncode, native.stdout), text
    blocks, entries, _ = verified(text)
    translated = int(re.findall(r"translated: (\d+) blocks", text)[-1])
    # What is left out are system calls and the like, each in a block of its own.
    assert 0.9 * translated < blocks <= translated and entries >= blocks, text


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
