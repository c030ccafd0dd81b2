"""@fileoverview The command line: help, errors with their exit status, how tools are found, what the engine's environment is.

What needs no engine is asked of tools that end the run in their start callback.
"""
import os
import subprocess

import pytest

from conftest import BUILD, ROOT, SONDE

PROBE = r"""
#define _GNU_SOURCE
#include <sonde/tool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool flag;
static int64_t number = 3;
static const char *text = "none";
static int colour;

static const sn_option options[] = {
    {"probe-flag", SN_OPTION_FLAG, &flag, "no", NULL, "a flag"},
    {"probe-number", SN_OPTION_NUMBER, &number, "3", NULL, "a number"},
    {"probe-text", SN_OPTION_STRING, &text, "none", NULL, "a text"},
    {"probe-colour", SN_OPTION_CHOICE, &colour, "red", "red|green", "a colour"},
    {0},
};

static int maps_hold(const char *what) {
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, what) != NULL;
    return found;
}

static void start(void) {
    printf("flag=%d number=%lld text=%s colour=%d\n", flag, (long long)number, text, colour);
    for (char **variable = environ; *variable; variable++)
        puts(*variable);
    printf("preloaded=%d\n", maps_hold("preloaded"));
    fprintf(sn_output(), "report\n");
    sn_message("a message");
    fflush(NULL);
    _exit(42);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "probe",
    .version = "7",
    .description = "tell what was given",
    .options = options,
    .start = start,
};
"""


@pytest.fixture(scope="module")
def probe(build_tool):
    return build_tool("probe", PROBE)


def fails(result, status, message):
    """One line on standard error, nothing on standard output."""
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr == f"sonde: {message}\n"


# ---------------------------------------------------------------- help

@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--stats=yes", "--help"]])
def test_help_fits_a_terminal(sonde, words):
    result = sonde(*words)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) < 80
    assert lines[0] == "Usage: sonde TOOL [options] [--] PROGRAM [arguments]"
    for name in ("--tool=", "--trace-children=yes|no", "--trace-children-skip=", "--log-file=", "--output=", "--stats=",
                 "-q", "-v", "--version", "count, deadspy, heap"):
        assert name in result.stdout


def test_debug_options_are_listed_apart(sonde):
    debug = sonde("--help-debug").stdout
    settings = (ROOT / "src/base/settings.h").read_text()
    documented = {word.split("=")[0].rstrip(":") for word in settings.split() if word.startswith("--debug-")}
    assert documented
    for name in documented:
        assert f"  {name}=" in debug
    assert "--debug-" not in sonde("--help").stdout
    assert "--exec-" not in debug + sonde("--help").stdout


def test_help_of_a_tool(sonde, probe):
    result = sonde(f"--tool={probe}", "--help")
    assert (result.returncode, result.stderr) == (0, "")
    for part in ("probe: tell what was given (version 7)", "--probe-flag=yes|no           a flag [no]",
                 "--probe-number=N              a number [3]", "--probe-colour=red|green      a colour [red]", "--stats="):
        assert part in result.stdout


def test_version(sonde):
    result = sonde("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("sonde ") and result.stdout.count("\n") == 1


@pytest.mark.parametrize("word", ["--help", "--version", "--help-debug"])
def test_help_to_a_full_disk(sonde, word):
    with open("/dev/full", "w", encoding="ascii") as full:
        result = sonde(word, stdout=full)
    assert result.returncode == 1
    assert result.stderr == "sonde: cannot write to standard output: No space left on device\n"


# -------------------------------------------------------------- errors

@pytest.mark.parametrize("words, message", [
    ([], "no tool is named; usage: sonde TOOL [options] [--] PROGRAM [arguments]"),
    (["--stats=yes"], "no tool is named; usage: sonde TOOL [options] [--] PROGRAM [arguments]"),
    (["--", "none"], "no tool is named; usage: sonde TOOL [options] [--] PROGRAM [arguments]"),
    (["none"], "no program to run; usage: sonde none [options] [--] PROGRAM [arguments]"),
    (["none", "--"], "no program to run; usage: sonde none [options] [--] PROGRAM [arguments]"),
    (["nnoe", "true"], "unknown tool 'nnoe'; did you mean 'none'?"),
    (["/bin/true", "x"], None),
    (["frobnicate", "true"], "unknown tool 'frobnicate'; sonde --help lists the tools"),
    (["--tool=", "true"], "unknown tool ''; sonde --help lists the tools"),
    (["--tool", "none", "true"], "--tool needs a value"),
    (["none", "--tool=none", "true"], "two tools are named: 'none' and 'none'"),
    (["none", "--stast=yes", "true"], "unknown option '--stast=yes'; did you mean --stats?"),
    (["--stast=yes", "none", "true"], "unknown option '--stast=yes'; did you mean --stats?"),
    (["none", "--hlep", "true"], "unknown option '--hlep'; did you mean --help?"),
    (["none", "--frobnicate", "true"], "unknown option '--frobnicate'; see sonde none --help"),
    (["none", "-x", "true"], "unknown option '-x'; see sonde --help"),
    (["none", "--stats", "true"], "--stats needs one of yes|no"),
    (["none", "--stats=1", "true"], "--stats needs one of yes|no, not '1'"),
    (["none", "--debug-block-limit=0", "true"], "--debug-block-limit must be from 1 to 1000"),
    (["none", "--debug-bisect=x", "true"], "--debug-bisect needs a number (suffixes k, M, G), not 'x'"),
    (["none", "--log-file=/nonexistent/x", "true"],
     "--log-file: cannot write '/nonexistent/x': No such file or directory"),
    (["none", "--output=/nonexistent/x", "true"], "--output: cannot write '/nonexistent/x': No such file or directory"),
    (["none", "--output=/tmp/%z", "true"],
     "--output: cannot write '/tmp/%z': after % only p, n, q{VARIABLE} and % are known"),
    (["none", "--output=/tmp/%q{SONDE_ABSENT}", "true"],
     "--output: cannot write '/tmp/%q{SONDE_ABSENT}': the environment variable SONDE_ABSENT is not set"),
])
def test_wrong_use(sonde, words, message):
    result = sonde(*words)
    if message is None:
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("sonde: ") and result.stderr.count("\n") == 1
    else:
        fails(result, 2, message)


def test_tool_files_that_are_none(sonde, build_tool, tmp_path):
    fails(sonde(f"--tool={tmp_path}/absent.so", "true"), 2,
          f"cannot open the tool '{tmp_path}/absent.so': No such file or directory")
    empty = build_tool("empty", "int unused;\n")
    fails(sonde(f"--tool={empty}", "true"), 2, f"'{empty}' is no tool: it does not define sn_tool_descriptor")
    old = build_tool("old", PROBE.replace(".interface = SN_TOOL_INTERFACE", ".interface = 999"))
    result = sonde(f"--tool={old}", "true")
    assert result.returncode == 2
    assert "was built for version 999 of the tool interface" in result.stderr and result.stderr.count("\n") == 1
    unlinkable = build_tool("unlinkable", PROBE.replace("start(void) {", "start(void) { extern void sn_run(void); sn_run();"))
    result = sonde(f"--tool={unlinkable}", "true")   # what sonde/tool.h does not declare is not there for tools
    assert result.returncode == 2
    assert "undefined symbol: sn_run" in result.stderr and result.stderr.count("\n") == 1


# ------------------------------------------------------ options and tools

def test_options_in_any_order(sonde, probe):
    values = ["--probe-flag=yes", "--probe-number=0x10k", "--probe-text=a b", "--probe-colour=green"]
    for words in ([*values, f"--tool={probe}", "-v", "true"], [str(probe), "--stats=no", *values, "--", "true"],
                  ["--trace-children=yes", probe, *values, "true", "--probe-flag=no"]):
        result = sonde(*words)
        assert result.returncode == 42
        assert result.stdout.startswith("flag=1 number=16384 text=a b colour=1\n")
    assert sonde(probe, "true").stdout.startswith("flag=0 number=3 text=none colour=0\n")


def test_folders_of_tools(sonde, probe):
    environment = dict(os.environ, SONDE_TOOLS=f"/nonexistent::{probe.parent}")
    assert sonde("probe", "true", env=environment).returncode == 42
    assert "probe" in sonde("--help", env=environment).stdout
    fails(sonde("prob", "true", env=environment), 2, "unknown tool 'prob'; did you mean 'probe'?")
    assert sonde("./" + probe.name, "true", cwd=probe.parent).returncode == 42


def test_messages_and_report_go_where_told(sonde, probe, tmp_path):
    result = sonde(probe, "true")
    assert sorted(result.stderr.splitlines()) == ["report", "sonde: a message"]
    environment = dict(os.environ, WHERE="here")
    result = sonde(probe, "--log-file=log.%q{WHERE}.%n", "--output=out%%", "true", cwd=tmp_path, env=environment)
    assert result.stderr == ""
    assert (tmp_path / "log.here.1").read_text() == "sonde: a message\n"
    assert (tmp_path / "out%").read_text() == "report\n"


def test_works_without_standard_descriptors(probe, tmp_path):
    output = tmp_path / "out"
    status = subprocess.run(["sh", "-c", f"exec {SONDE} {probe} --output={output} true <&- >&- 2>&-"], timeout=60,
                            check=False).returncode
    assert (status, output.read_text()) == (42, "report\n")


# -------------------------------------------------------------- environment

def test_what_is_meant_for_the_client_stays_out(sonde, probe, build_tool):
    preloaded = build_tool("preloaded", "int unused;\n")
    variables = {"LD_PRELOAD": str(preloaded), "LD_LIBRARY_PATH": "/nonexistent", "LD_AUDIT": str(preloaded),
                 "GLIBC_TUNABLES": "glibc.malloc.check=1", "SONDE_CLIENT_X": "1", "SONDE_CLIENT_LD_PRELOAD": "2",
                 "HOME": "/root", "MALLOC_ARENA_MAX": "1"}
    result = sonde(probe, "true", env=variables)
    assert result.returncode == 42 and "ERROR" not in result.stderr
    lines = result.stdout.splitlines()
    assert lines[1:-1] == [f"{name}={value}" for name, value in variables.items()]
    assert lines[-1] == "preloaded=0"
    # The probe tells the truth: with the engine started past the launcher, the library is there.
    bypassed = subprocess.run([BUILD / "sonde-engine", probe, "true"], env={"LD_PRELOAD": str(preloaded)}, text=True,
                              stdout=subprocess.PIPE, timeout=60, check=False)
    assert bypassed.stdout.splitlines()[-1] == "preloaded=1"


def test_moved_installation(probe, tmp_path):
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    (command,) = tmp_path.rglob("bin/sonde")
    moved = tmp_path / "moved"
    command.parent.parent.rename(moved)
    help_text = subprocess.run([moved / "bin/sonde", "--help"], text=True, stdout=subprocess.PIPE, timeout=60, check=True)
    assert "count, deadspy, heap" in help_text.stdout
    assert subprocess.run([moved / "bin/sonde", "none", "--help"], stdout=subprocess.DEVNULL, timeout=60,
                          check=False).returncode == 0
    assert subprocess.run([moved / "bin/sonde", probe, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          timeout=60, check=False).returncode == 42
    assert (moved / "include/sonde/tool.h").exists()
    assert list(moved.rglob("sonde.pc")) and list(moved.rglob("sonde.1*"))
    (moved / "libexec/sonde/sonde-engine").unlink()
    result = subprocess.run([moved / "bin/sonde", "--help"], text=True, stderr=subprocess.PIPE, timeout=60, check=False)
    assert result.returncode in (0, 125)   # 0: an installed Sonde has stepped in
    assert result.returncode == 0 or result.stderr == \
        f"sonde: the engine (sonde-engine) is not installed next to {moved}/bin/sonde\n"


# ------------------------------------------------- with the engine behind it

def test_program_that_cannot_be_run(sonde, tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"\x7fELF" + bytes(100))
    output = tmp_path / "out"
    for program, status in ((tmp_path / "absent", 127), (plain, 126), (tmp_path, 126), ("absent-from-path", 127)):
        if program == plain:
            plain.chmod(0o755)
        result = sonde("none", f"--output={output}", program)
        assert (result.returncode, result.stdout) == (status, "")
        assert result.stderr.startswith("sonde: ") and result.stderr.count("\n") == 1


def test_the_client_has_its_environment(sonde):
    variables = {"A": "1", "LD_LIBRARY_PATH": "/nonexistent", "SONDE_CLIENT_B": "2", "LD_BIND_NOW": "1"}
    result = sonde("none", "/usr/bin/env", env=variables)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "".join(f"{name}={value}\n" for name, value in variables.items())


def test_argument_zero_and_exact_path(sonde, tmp_path):
    result = sonde("none", "--exec-path=/bin/sh", "--exec-arg0=other", "--", "sh", "-c", "echo $0")
    assert (result.returncode, result.stdout) == (0, "other\n")
    result = sonde("none", "--exec-path=/bin/sh", "--", "named", "-c", "echo $0")
    assert (result.returncode, result.stdout) == (0, "named\n")
    assert sonde("none", "--exec-path=sh", "--", "sh", cwd=tmp_path).returncode == 127
