"""Programs in which sonde memcheck finds nothing: no invalid access, no wrong free, no system call given what it must not be given; and
they print what they print natively. Where Valgrind is installed, it is asked as well: nothing that it finds is missed."""
import functools
import http.server
import os
import re
import shutil
import subprocess
import threading

import pytest

from real_programs import ROOT, SONDE

SQL = ("create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<20000) insert into t select x, x*x from c;"
       "create index i on t(b); select count(*), sum(b) from t group by a%10;")
PYTHON = ("import json,re,collections,decimal\n"
          "d = collections.Counter(re.findall(r'\\w+', 'the quick brown fox ' * 5000))\n"
          "print(json.dumps(d, sort_keys=True), decimal.Decimal(2).sqrt(), sorted(map(str, range(2000)))[:5])")
PERL = 'my %h; $h{$_ % 97} .= "x$_" for 1..50000; print length(join ",", map {"$_=$h{$_}"} sort keys %h), "\\n"'

COMMANDS = {
    "ls": ["ls", "-l", "/usr/bin"],
    "python3": ["/usr/bin/python3", "-I", "-c", PYTHON],
    "perl": ["perl", "-e", PERL],
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "git": ["git", "-C", ROOT, "log", "--oneline", "-100", "--stat"],
    "bash": ["bash", "-c", "for i in {1..200}; do x=$x$i; done; echo ${#x}; (echo a; echo b) | sort -r"],
    "xz": ["sh", "-c", f"xz -c '{ROOT}/CHANGELOG.md' | xz -dc | md5sum"],
    "node": ["node", "-e", "const a = []; for (let i = 0; i < 20000; i++) a.push({i, s: 'x' + i}); console.log(JSON.stringify(a).length)"],
    "openssl": ["openssl", "dgst", "-sha256", ROOT / "LICENSE"],
    "awk": ["awk", 'BEGIN { for (i = 0; i < 20000; i++) a[i % 100] = a[i % 100] "x"; print length(a[5]) }'],
    "tar": ["sh", "-c", f"tar cf - -C '{ROOT}' docs | wc -c"],
}


def errors_of(log):
    return [line for line in log.splitlines() if line.startswith("==")]


def missed(folder, command, **options):
    """What Valgrind finds in a command in which Sonde finds nothing; but for what its own false reports are: the dynamic linker's strncmp()
    reads whole words, of which it only looks at the text."""
    if not shutil.which("valgrind"):
        return []
    logs = folder / "valgrind"
    logs.mkdir()
    subprocess.run(["valgrind", "-q", "--leak-check=no", "--trace-children=yes", f"--log-file={logs}/%p", *command], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=600, **options)
    assert any(logs.iterdir())
    errors = [error for log in logs.iterdir() for error in re.split(r"==\d+== *\n", log.read_text()) if "    at 0x" in error]
    return [error for error in errors if not re.search(r"at 0x\w+: strncmp .*\n.*: is_dst \(dl-load\.c", error)]


@pytest.mark.parametrize("name", COMMANDS)
def test_clean(tmp_path, name):
    command = COMMANDS[name]
    if not shutil.which(command[0]) or not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    words = [SONDE, "memcheck", "-q", "--leak-check=no", "--trace-children=yes", f"--log-file={tmp_path}/%p", "--", shutil.which(command[0])]
    done = subprocess.run([*words, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=True)
    native = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True)
    assert done.stdout == native.stdout
    assert [errors_of(log.read_text()) for log in tmp_path.iterdir() if errors_of(log.read_text())] == []
    assert missed(tmp_path, command) == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_curl(tmp_path):
    """From a server on this machine."""
    (tmp_path / "page").write_text("a page\n" * 5000)
    handler = functools.partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/page"
        done = subprocess.run([SONDE, "memcheck", "-q", "--leak-check=no", "--", shutil.which("curl"), "-s", address], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300, check=True)
        (tmp_path / "logs").mkdir()
        unseen = missed(tmp_path / "logs", ["curl", "-s", address])
        server.shutdown()
    assert (errors_of(done.stderr), done.stdout, unseen) == ([], "a page\n" * 5000, [])


@pytest.fixture
def display(tmp_path):
    """Of an X server of its own, which chooses a number that is free."""
    if not shutil.which("Xvfb"):
        pytest.skip("Xvfb is not installed")
    server = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    yield ":" + server.stdout.readline().strip()
    server.terminate()
    server.wait(timeout=60)


DIALOGS = {
    "message": (["--info", "--text=a message", "--timeout=1"], 5),
    "list": (["--list", "--column=name", "--column=size", *(str(i) for i in range(60)), "--timeout=1"], 5),
    "form": (["--forms", "--add-entry=name", "--add-password=word", "--add-calendar=day", "--timeout=1"], 5),
}


@pytest.mark.skipif(not shutil.which("zenity"), reason="zenity is not installed")
@pytest.mark.parametrize("name", DIALOGS)
def test_gtk(tmp_path, display, name):
    """A dialog of GTK's, which goes away by itself."""
    words, status = DIALOGS[name]
    settings = {**os.environ, "DISPLAY": display, "HOME": str(tmp_path), "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1", "GIO_USE_VFS": "local"}
    done = subprocess.run([SONDE, "memcheck", "-q", "--leak-check=no", f"--log-file={tmp_path}/log", "--", shutil.which("zenity"), *words],
                          env=settings, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=300)
    assert (done.returncode, errors_of((tmp_path / "log").read_text())) == (status, [])
    assert name != "message" or missed(tmp_path, ["zenity", *words], env=settings) == []


def places(log):
    """Sentence and address of each error."""
    return set(re.findall(r"==\d+== (\w.*)\n==\d+==    at 0x([0-9A-F]+):", log))


def test_compiler(tmp_path):
    """cc1 uses values that nobody has set, knowingly (sparse sets): what is told of is told of by Valgrind, too, and output is the same."""
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout.strip()
    source = tmp_path / "source.c"
    source.write_text("int f(int a, int b) { int s = 0; for (int i = 0; i < a; i++) { if (i & b) s += i * b; else s ^= a; } return s; }\n"
                      "double g(double *p, int n) { double t = 0; for (int i = 0; i < n; i++) t += p[i] * p[i]; return t + f(n, 3); }\n")
    command = [compiler, "-quiet", "-O2", "-w", source, "-o"]
    native, ours, theirs = tmp_path / "native.s", tmp_path / "ours.s", tmp_path / "theirs.s"
    subprocess.run([*command, native], check=True, timeout=60)
    logs = []
    for tool, output in ([SONDE, "memcheck"], ours), (["valgrind"], theirs):
        if tool[0] == "valgrind" and not shutil.which("valgrind"):
            pytest.skip("Valgrind is not installed")
        done = subprocess.run([*tool, "-q", "--leak-check=no", "--error-limit=no", *command, output], stderr=subprocess.PIPE, text=True, timeout=900,
                              check=True)
        assert output.read_text() == native.read_text()
        logs.append(places(done.stderr))
    assert logs[0] and not logs[0] - logs[1]
    # Valgrind does not know that no number is below zero: a set that is empty decides.
    missed = logs[1] - logs[0]
    assert len(missed) <= 6 and {what for what, _ in missed} <= {"Conditional jump or move depends on uninitialised value(s)"}
