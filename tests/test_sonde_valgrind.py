"""@fileoverview sonde-valgrind: Valgrind's command line, as scripts and CTest give it."""
import os
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import BUILD, ROOT

PROGRAM = ROOT / "examples" / "blunders.c"
COMMAND = BUILD / "sonde-valgrind"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("valgrind") / "a program"
    subprocess.run(["gcc", "-g", "-w", "-fno-builtin", "-o", made, PROGRAM], check=True, timeout=60)
    return made


def run(*words, **options):
    return subprocess.run([COMMAND, *words], timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)


@pytest.mark.parametrize("words", (
    ["-q", "--leak-check=yes"],
    ["--tool=memcheck", "--leak-check=full", "--track-origins=yes", "--vgdb=no", "--read-var-info=yes", "-q"],
    ["--tool", "memcheck", "-q", "--leak-check=full", "--"],
))
def test_memcheck(program, words):
    done = run(*words, program)
    assert done.returncode == 0
    assert done.stderr.count("Invalid free()") == 1 and done.stderr.count("definitely lost") == 1


def test_options_from_the_environment(program):
    done = run(program, env={**os.environ, "VALGRIND_OPTS": "--error-exitcode=5 --show-reachable=yes --leak-check=yes -s"})
    assert done.returncode == 5
    assert "1 errors in context 1 of 2:" in done.stderr and "indirectly lost in loss record" in done.stderr


def test_through_a_link_and_to_a_file(program, tmp_path):
    (tmp_path / "valgrind").symlink_to(COMMAND)
    done = subprocess.run([tmp_path / "valgrind", f"--xml-file={tmp_path}/it's %p.xml", "--xml=yes", program], timeout=60,
                          stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    (file,) = tmp_path.glob("it's *.xml")
    assert xml.etree.ElementTree.parse(file).getroot().findtext("error/kind") == "InvalidWrite"


def test_other_tools_and_questions(tmp_path):
    assert run("--tool=none", "echo", "a  b", "it's").stdout == "a  b it's\n"
    assert run("--version").stdout.startswith("valgrind-3.")
    assert "--leak-check=" in run("--help").stdout
    done = run("--tool=helgrind", "echo")
    assert done.returncode == 1 and "--tool=helgrind" in done.stderr
    assert run().returncode == 1
    done = run("--no-such-option", "echo")
    assert done.returncode == 2 and "--no-such-option" in done.stderr


@pytest.mark.skipif(not shutil.which("ctest"), reason="cmake is not there")
def test_ctest(tmp_path):
    """Its memcheck step reads the log and counts what it knows of Valgrind's sentences."""
    (tmp_path / "blunders.c").write_text(PROGRAM.read_text())
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(it C)\nset(MEMORYCHECK_COMMAND_OPTIONS \"--leak-check=full\")\n"
        "include(CTest)\nadd_executable(blunders blunders.c)\nadd_test(NAME blunders COMMAND blunders)\n")
    build = tmp_path / "build"
    for command in (["cmake", "-S", tmp_path, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", f"-DMEMORYCHECK_COMMAND={COMMAND}"],
                    ["cmake", "--build", build]):
        subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = subprocess.run(["ctest", "-T", "memcheck"], cwd=build, timeout=120, stdout=subprocess.PIPE, text=True, check=False)
    assert "MemCheck log files can be found here" in done.stdout
    assert done.stdout.rstrip().endswith("Memory checking results:\nFIM - 1\nIPW - 1\nMemory Leak - 1"), done.stdout
