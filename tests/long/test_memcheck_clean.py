"""Programs in which sonde memcheck finds nothing: no invalid access, no wrong free, no system call given what it must not be given; and
they print what they print natively."""
import shutil
import subprocess

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
    "openssl": ["openssl", "dgst", "-sha256", ROOT / "LICENSE"],
    "awk": ["awk", 'BEGIN { for (i = 0; i < 20000; i++) a[i % 100] = a[i % 100] "x"; print length(a[5]) }'],
    "tar": ["sh", "-c", f"tar cf - -C '{ROOT}' docs | wc -c"],
}


def errors_of(log):
    return [line for line in log.splitlines() if line.startswith("==")]


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


def test_compiler(tmp_path):
    """cc1 on a large file of the tree."""
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout.strip()
    source = ROOT / "tests" / "programs" / "memcheck_heap.c"
    command = [compiler, "-quiet", "-O2", "-w", source, "-o"]
    native, ours = tmp_path / "native.s", tmp_path / "ours.s"
    subprocess.run([*command, native], check=True, timeout=60)
    done = subprocess.run([SONDE, "memcheck", "-q", "--leak-check=no", "--", *command, ours], stderr=subprocess.PIPE, text=True, timeout=300,
                          check=True)
    assert errors_of(done.stderr) == []
    assert ours.read_text() == native.read_text()
