"""Hostile ELF headers and #! lines: the fuzz target of src/image/elf_header.c and src/guest/script_line.c for a fixed
number of seeds, under sanitizers."""

import os
import subprocess

from conftest import ROOT

SEEDS = int(os.environ.get("FUZZ_SEEDS", "30000"))
FIRST_SEED = int(os.environ.get("FUZZ_FIRST_SEED", "1"))


def test_hostile_headers(tmp_path):
    fuzzer = tmp_path / "fuzz_elf_header"
    sources = ["tests/fuzz/fuzz_elf_header.c", "src/image/elf_header.c", "src/guest/script_line.c"]
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=undefined", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}",
                    *(ROOT / source for source in sources), "-o", fuzzer], check=True, timeout=120)
    ended = subprocess.run([fuzzer, str(FIRST_SEED), str(SEEDS)], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"{SEEDS} inputs read\n"
