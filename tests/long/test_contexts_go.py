"""Calling contexts of a Go program: goroutines that wait for each other, and one whose stack is moved several times."""

import pathlib
import subprocess

TESTS = pathlib.Path(__file__).resolve().parent.parent


def test_goroutines(sonde, build_tool, tmp_path):
    tool = build_tool("contexts")
    program = tmp_path / "goroutines"
    subprocess.run(["go", "build", "-o", program, TESTS / "long/contexts/goroutines.go"], check=True, timeout=300,
                   env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"})
    output = tmp_path / "contexts"
    run = sonde(tool, f"--output={output}", "--", program)
    assert run.returncode == 0, run.stderr
    chains = [[name for name in line.split()[1:] if name.startswith("main.")] for line in output.read_text().splitlines()]
    depths = [int(line.split()[0]) for line in output.read_text().splitlines()]
    assert chains[0] == ["main.leaf", "main.main"]
    assert chains[1] == ["main.leaf", "main.pauses", "main.worker", "main.main.func1"]
    # Printed chains are cut after 100: three of the system call's own functions, leaf, and grows 96 times.
    assert chains[2] == ["main.leaf"] + 96 * ["main.grows"]
    assert depths[2] == depths[0] + 101
    assert chains[3] == chains[0]
