"""The data flow of instructions (<sonde/flow.h>): the tables against what was decided, and against the processor.

flow_classes.txt says which classes the flows of each mnemonic have; after a change that is meant:
build/tests/differential/flow-classes > tests/flow_classes.txt. The flips are explained in tests/differential/flow_flip.c;
more of them are in tests/long/test_flow_flips.py.
"""

import difflib
import pathlib
import re
import subprocess

import differential_driver as driver
from conftest import ROOT, run_sonde

CLASSES = pathlib.Path(__file__).parent / "flow_classes.txt"

def flip(*arguments, timeout=120):
    return driver.execute([*driver.FIXED_ADDRESSES, driver.program("flow-flip"), *arguments], timeout)


def test_classes_of_every_mnemonic():
    """A mnemonic that is missing, or whose flows have other classes, shows."""
    outcome = driver.execute([driver.program("flow-classes")], timeout=60)
    assert outcome.status == 0, outcome.error
    kept = CLASSES.read_text().split("\n")
    changes = "\n".join(difflib.unified_diff(kept, outcome.lines, "flow_classes.txt", "now", lineterm="", n=0))
    assert not changes, changes


def test_flipped_inputs():
    """Where flipping a bit of the input changes a bit of the output, the list says that it may."""
    outcome = flip("--seed=1", "--trials=2", "--flips=12")
    assert outcome.status == 0, outcome.error
    forms, flips, changed = map(int, re.match(r"(\d+) forms, (\d+) flips, (\d+) changed bits", outcome.lines[0]).groups())
    assert forms > 1000 and flips > 10 * forms and changed > flips


def test_flips_find_a_wrong_class():
    """With the flows of any one class taken for constants, the same test fails: it looks at each class."""
    outcome = flip("--seed=1", "--trials=1", "--flips=12", "--deny")
    *missed, _, _ = outcome.lines
    assert outcome.status == 0, outcome.error
    if "avx512bw" in pathlib.Path("/proc/cpuinfo").read_text():
        assert missed == []
    else:
        assert len(missed) < 12, missed


PROGRAM = """
    .globl _start
    .type _start, @function
_start:
    call shown
    mov $60, %eax
    xor %edi, %edi
    syscall
    .size _start, . - _start
    .globl shown
    .type shown, @function
shown:
    add %ecx, %eax
    lea 8(%rax,%rcx,4), %rdx
    xor %esi, %esi
    movzbl %ah, %ebx
    shl $3, %r8
    cmovz %rdx, %rbx
    push %rax
    pop %rcx
    pshufd $0x1b, %xmm1, %xmm2
    pmovmskb %xmm2, %eax
    vzeroupper
    cmp $7, %eax
    ja 1f
1:  ret
    .size shown, . - shown
"""

SHOWN = [
    "2: general 0[0+4] <- add(general 0[0+4], general 1[0+4]); general 0[4+4] <- constant(); "
    "flags 0x3f <- add(general 0[0+4], general 1[0+4]);",
    "5: general 2[0+8] <- add(memory base[0+8], memory index[0+8], constant);",
    "2: general 6[0+4] <- constant(); general 6[4+4] <- constant(); flags 0x3b <- constant(); flags 0x4 <- undefined();",
    "3: general 3[0+4] <- zero-extend(general 0[0+1]); general 3[4+4] <- constant();",
    "4: general 8[0+8] <- shift-left(general 8[0+8]); flags 0x1b <- shift-left(general 8[0+8]); "
    "flags 0x4 <- undefined(); flags 0x20 <- undefined();",
    "4: general 3[0+8] <- copy(general 2[0+8]) if flags 0x8;",
    "1: memory[0+8] <- copy(general 0[0+8]); general 4[0+8] <- subtract(general 4[0+8], constant);",
    "1: general 4[0+8] <- add(general 4[0+8], constant); general 1[0+8] <- copy(memory[0+8]);",
    "5: vector 2[0+16] <- shuffle(vector 1[0+16]);",
    "4: general 0[0+4] <- sign-mask(vector 2[0+16]); general 0[4+4] <- constant();",
    "3:" + "".join(f" vector {number}[16+48] <- constant();" for number in range(16)),
    "3: flags 0x3f <- subtract(general 0[0+4], immediate[0+4]);",
    "2: by flags 0x9",
    "1: general 4[0+8] <- add(general 4[0+8], constant);",
]


def test_what_a_tool_sees(build_tool, tmp_path):
    """Lists as <sonde/flow.h> gives them, of instructions without operands too."""
    source, program = tmp_path / "program.s", tmp_path / "program"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source], check=True, timeout=60)
    tool = build_tool("flows", (ROOT / "tests" / "tools" / "show_flows.c").read_text())
    report = tmp_path / "report"
    outcome = run_sonde(tool, "--only=shown", f"--output={report}", program)
    assert outcome.returncode == 0, outcome.stderr
    assert report.read_text().splitlines()[:len(SHOWN)] == SHOWN
