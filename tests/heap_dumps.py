"""@fileoverview Reads what `sonde heap` writes, for tests: Massif's files, and DMD's JSON, whose rules are checked on the way."""
import gzip
import json
import re


def massif(text):
    """(head: name -> text, snapshots: dicts with numbers, `heap_tree`, and `tree`: the lines of it)."""
    parts = re.split(r"^#-+\nsnapshot=\d+\n#-+\n", text, flags=re.M)
    head = dict(line.split(": ", 1) for line in parts[0].splitlines())
    snapshots = []
    for part in parts[1:]:
        lines = part.splitlines()
        values = dict(line.split("=", 1) for line in lines if re.match(r"[a-z_A-Z]+=", line))
        snapshot = {name: int(value) for name, value in values.items() if value.isdigit()}
        snapshot["heap_tree"] = values["heap_tree"]
        snapshot["tree"] = [line for line in lines if re.match(r" *n\d+: ", line)]
        snapshots.append(snapshot)
    return head, snapshots


def peak(text):
    return next(snapshot for snapshot in massif(text)[1] if snapshot["heap_tree"] == "peak")


def check_tree(lines):
    """Each branch is as large as its twigs, which come in the order of their size and are as many as it says."""
    twigs, stack = {}, []
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip(" "))
        count, size = map(int, re.match(r" *n(\d+): (\d+) ", line).groups())
        del stack[depth:]
        if stack:
            twigs[stack[-1]].append((size, " in " in line and "threshold" in line))
        stack.append(number)
        twigs[number] = []
        lines[number] = (count, size, line)
    for number, (count, size, line) in enumerate(lines):
        sizes = [twig for twig, is_rest in twigs[number] if not is_rest]
        assert len(twigs[number]) == count, line
        assert sizes == sorted(sizes, reverse=True), line
        assert not twigs[number] or sum(twig for twig, _ in twigs[number]) <= size, line


HEXADECIMAL = re.compile(r"[0-9a-f]+")


def dmd(path):
    """The file as an object, after a look whether it keeps the rules of docs/heap-file.md."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        profile = json.load(file)
    assert profile["version"] == 5
    mode = profile["invocation"]["mode"]
    assert mode in ("live", "cumulative", "dark-matter", "scan") and "dmdEnvVar" in profile["invocation"]
    for text in profile["frameTable"].values():
        assert text.startswith("#00: ")
    for frames in profile["traceTable"].values():
        assert all(frame in profile["frameTable"] for frame in frames)
    for block in profile["blockList"]:
        assert block["req"] >= 0 and block.get("slop", 1) > 0 and block.get("num", 2) > 1
        assert all(trace in profile["traceTable"] for trace in [block["alloc"], *block.get("reps", [])])
        assert 1 <= len(block.get("reps", [0])) <= 2 and ("reps" not in block or mode == "dark-matter")
        assert ("addr" in block) == (mode == "scan")
        assert all(HEXADECIMAL.fullmatch(word) for word in [block.get("addr", "0"), *block.get("contents", [])])
    return profile


def functions(profile, trace):
    """The names of a trace's functions, innermost first."""
    return [re.match(r"#00: (.*?)(?: \(.*)?$", profile["frameTable"][frame]).group(1) for frame in profile["traceTable"][trace]]


def total(profile, member="req", having=None):
    """Sum over the blocks; `having`: only those with this function in their context."""
    return sum(block.get(member, 0) * block.get("num", 1) for block in profile["blockList"]
               if having is None or having in functions(profile, block["alloc"]))


def count(profile, having=None):
    return sum(block.get("num", 1) for block in profile["blockList"]
               if having is None or having in functions(profile, block["alloc"]))
