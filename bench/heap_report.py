#!/usr/bin/python3
"""@fileoverview How much faster `sonde report` answers about a large heap dump than a straightforward script over the parsed JSON.

Makes a scan of 1 GB in two million blocks (or of --blocks), asks both who points to a block, and has both clamp the contents; the
answers must be the same. Shown are processor time (user and system) and peak memory: medians of the rounds of Sonde, one run of the
script, which takes minutes and gigabytes.

Usage: heap_report.py [--build=FOLDER] [--blocks=N] [--rounds=N] [--keep=FOLDER]
"""
import argparse
import bisect
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import heap_files  # noqa: E402

ADDRESS = 0x7f1200000010


def seconds(usage):
    return usage.ru_utime + usage.ru_stime


def measure(*command):
    """Processor seconds and peak kilobytes of a program, and what it printed."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        if status != 0:
            raise SystemExit(f"heap_report: {command} ended with {status}")
        output.seek(0)
        return seconds(usage), usage.ru_maxrss, output.read().decode()


def straightforward(path, clamped):
    """The script: what somebody would write who has the parsed JSON. Returns the referrers, and prints its seconds."""
    made = json.load(open(path, encoding="ascii"))
    blocks = {int(block["addr"], 16): block for block in made["blockList"]}
    starts = sorted(blocks)

    def holder(word):
        place = bisect.bisect_right(starts, word) - 1
        return starts[place] if place >= 0 and word < starts[place] + blocks[starts[place]]["req"] else None

    loaded = seconds(resource.getrusage(resource.RUSAGE_SELF))
    low = holder(ADDRESS)
    high, found = low + blocks[low]["req"], []
    for block in made["blockList"]:
        for number, word in enumerate(block["contents"]):
            if low <= int(word, 16) < high:
                found.append([block["addr"], 8 * number])
    asked = seconds(resource.getrusage(resource.RUSAGE_SELF))
    for block in made["blockList"]:
        words = block["contents"]
        for number, text in enumerate(words):
            word = int(text, 16)
            words[number] = f"{word and holder(word) or 0:x}"
        while words and words[-1] == "0":
            words.pop()
    with open(clamped, "w", encoding="ascii") as file:
        json.dump(made, file)
    done = seconds(resource.getrusage(resource.RUSAGE_SELF))
    return {"found": found, "block": asked, "clamp": loaded + done - asked,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def referrers(text):
    return [[owner["block"]["address"][2:], pointer["offset"]] for owner in json.loads(text)["referrers"][0]["owners"]
            for pointer in owner["pointers"]]


def same_contents(one, other):
    """Whether two dumps have the same words, block by block (each is on a line of its own in what Sonde copied)."""
    made = json.load(open(other, encoding="ascii"))["blockList"]
    with open(one, encoding="ascii") as file:
        next(file)
        return all(json.loads(line.lstrip(","))["contents"] == block["contents"] for line, block in zip(file, made))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--blocks", type=int, default=2000000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", help="a folder in which the files stay")
    parser.add_argument("--script", nargs=2, help=argparse.SUPPRESS)   # this program again, as the script that is compared
    options = parser.parse_args()
    if options.script:
        print(json.dumps(straightforward(*options.script)))
        return
    with tempfile.TemporaryDirectory(dir=options.keep) as folder:
        path, ours, theirs = (os.path.join(folder, name) for name in ("scan.json", "ours.json", "theirs.json"))
        heap_files.write_large(path, options.blocks, 512)
        sonde = os.path.join(options.build, "sonde")
        asked = [measure(sonde, "report", "--format=json", f"--block={ADDRESS:x}", path) for _ in range(options.rounds)]
        clamped = [measure(sonde, "report", "--clamp-contents", f"--clamped-output={ours}", path) for _ in range(options.rounds)]
        script = json.loads(measure(sys.executable, os.path.abspath(__file__), "--script", path, theirs)[2])
        if referrers(asked[0][2]) != script["found"] or not same_contents(ours, theirs):
            raise SystemExit("heap_report: the answers differ")
        print(f"{os.path.getsize(path):,} bytes, {options.blocks:,} blocks, {len(script['found'])} referrers; processor seconds, peak memory")
        for name, runs in (("block", asked), ("clamp", clamped)):
            median = statistics.median(run[0] for run in runs)
            print(f"{name}: sonde {median:.2f} s, {max(run[1] for run in runs) // 1024} MB; script {script[name]:.1f} s, "
                  f"{script['memory'] // 1024} MB; {script[name] / median:.1f} times")


if __name__ == "__main__":
    main()
