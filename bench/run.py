#!/usr/bin/python3
"""@fileoverview `make bench`: how much slower programs run under Sonde, and under its peer, than natively.

Each round runs native, Sonde and the peer in turn on every workload, so that a change of the machine's speed hits all
three; the figure shown is the median of the ratios of the rounds. A run whose output or status differs from native
is void, and the table says so. Times never make it fail: its status is 0 unless it could not measure (2).
"""
import argparse
import fcntl
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass

import suite
import table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NATIVE = "native"
PROCESSOR = "processor"
MEMORY = "memory"   # the name by which --only asks for the memory table


@dataclass
class Measurement:
    seconds: float = 0  # by the clock that was asked for
    wall: float = 0     # what passed, which is what the speed-up of two threads is made of
    peak_kilobytes: int = 0
    problem: str = ""   # why the figure is void; empty when it counts


class Bench:
    """What is the same for all measurements: the options, the folders, the launcher."""

    def __init__(self, options):
        self.options = options
        self.work = os.path.join(options.build, "bench")
        self.sonde = os.path.abspath(options.sonde or os.path.join(options.build, "sonde"))
        os.makedirs(self.work, exist_ok=True)
        self.lock = open(os.path.join(self.work, "lock"), "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit("bench: another benchmark runs in %s" % self.work)
        suite.prepare(self.work, options.quick)
        self.launcher = os.path.join(self.work, "launch")
        subprocess.run(["gcc", "-O2", "-o", self.launcher, os.path.join(HERE, "launch.c")], check=True)
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": self.work, "TMPDIR": self.work,
                            "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}
        self.native_output = {}   # workload -> what it printed natively, as a digest

    def runner(self, tool, subject, workload):
        """The words that go before the command: nothing, sonde with its tool, or the peer."""
        log = "--log-file=" + os.path.join(self.work, "log.%p")
        follow = ["--trace-children=yes"] if workload.children else []
        if subject == "sonde":
            arguments = [suite.expand(word, self.work, self.options.quick) for word in tool.arguments]
            return [self.sonde, *arguments, log, *follow, "--"]
        if subject == "peer" and tool.peer_command:
            return [suite.expand(word, self.work, self.options.quick) for word in tool.peer_command]
        if subject == "peer":
            return ["/usr/bin/valgrind", *tool.peer_arguments, log, *follow]
        return []

    def launch(self, words, repeats, limit):
        """Runs a command by the launcher; returns (wall, processor, peak, status text, digest of its two streams)."""
        streams = [os.path.join(self.work, name) for name in ("stdout", "stderr")]
        done = subprocess.run([self.launcher, str(limit), str(repeats), *streams, *words], env=self.environment,
                              cwd=self.work, capture_output=True, text=True, check=True)
        wall, user, system, peak, status = done.stdout.split()
        digest = hashlib.sha256()
        for stream in streams:
            with open(stream, "rb") as file:
                digest.update(file.read() + b"\0")
        self.remove_logs()
        return float(wall), float(user) + float(system), int(peak), status, digest.hexdigest()

    def remove_logs(self):
        for name in os.listdir(self.work):
            if name.startswith("log."):
                os.unlink(os.path.join(self.work, name))

    def measure(self, tool, subject, workload):
        command = suite.command_of(workload, self.work, self.options.quick)
        repeats = int(suite.expand(workload.repeats, self.work, self.options.quick))
        limit = self.options.timeout or workload.limit
        words = self.runner(tool, subject, workload) + command
        wall, processor, peak, status, digest = self.launch(words, repeats, limit)
        result = Measurement(processor if self.options.clock == PROCESSOR else wall, wall, peak)
        expected = self.native_output.setdefault(workload.name, (status, digest))
        if status == "timeout":
            result.problem = "time-out of %d s" % limit
        elif status != expected[0]:
            result.problem = "exit status %s" % status
        elif digest != expected[1] and not (subject == "peer" and tool.peer_command):
            result.problem = "wrong output"
        if subject == NATIVE and status != "0":
            raise SystemExit("bench: %s fails natively with status %s" % (workload.name, status))
        return result


def run_rounds(bench, tools, workloads):
    """Returns {(tool, workload): [{subject: Measurement} of each round]}."""
    results = {}
    for number in range(bench.options.rounds):
        for tool in tools:
            for workload in suite.workloads_of(tool, workloads):
                subjects = [subject for subject in bench.options.subjects if subject != "peer"
                            or (tool.peer and number < tool.peer_rounds)]
                known = results.setdefault((tool.name, workload.name), [])
                one_round = {}
                for subject in subjects:
                    # What timed out or went wrong once is not run again: only time would be lost.
                    earlier = known[0].get(subject) if known else None
                    one_round[subject] = earlier if earlier and earlier.problem else bench.measure(
                        tool, subject, workload)
                    announce(number, tool, workload, subject, one_round[subject])
                known.append(one_round)
    return results


def announce(number, tool, workload, subject, measurement):
    print("round %d  %-8s %-11s %-7s %8.3f s  %7.1f MB  %s" % (
        number + 1, tool.name, workload.name, subject, measurement.seconds, measurement.peak_kilobytes / 1024,
        measurement.problem), file=sys.stderr, flush=True)


def run_memory(bench, tools):
    """Returns {(tool, case): {subject: Measurement}}."""
    results = {}
    for case in suite.MEMORY:
        workload = suite.Workload("memory " + case.name, "", case.command)
        for tool in tools:
            if tool.workloads:  # its peer would take hours
                continue
            if not case.goal_megabytes and not tool.memory_goal:
                continue
            measured = {}
            for subject in bench.options.subjects:
                if subject == "peer" and not tool.peer:
                    continue
                measured[subject] = bench.measure(tool, subject, workload)
                announce(0, tool, workload, subject, measured[subject])
            results[tool.name, case.name] = measured
    return results


def summarise(rounds):
    """One row of the speed table out of the rounds of one workload under one tool."""
    row = {"native": statistics.median(one[NATIVE].seconds for one in rounds)}
    for subject in ("sonde", "peer"):
        taken = [one for one in rounds if subject in one]
        problems = [one[subject].problem for one in taken if one[subject].problem]
        if problems:
            row[subject] = problems[0]
        elif taken:
            row[subject] = statistics.median(one[subject].seconds / one[NATIVE].seconds for one in taken)
            row[subject + " seconds"] = statistics.median(one[subject].seconds for one in taken)
    both = [one for one in rounds if "sonde" in one and "peer" in one]
    if both and all(isinstance(row.get(subject), float) for subject in ("sonde", "peer")):
        row["peer/sonde"] = statistics.median(one["peer"].seconds / one["sonde"].seconds for one in both)
    return row


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return "%s, %d processors, Linux %s" % (model, os.cpu_count(), platform.release().split("-")[0])


def versions(bench):
    def first_line(command):
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.split("\n")[0].strip()
        except OSError:
            return ""
    return ", ".join(filter(None, [first_line([bench.sonde, "--version"]), first_line(["valgrind", "--version"])]))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often each is run (5)")
    parser.add_argument("--only", default="", metavar="NAMES", help="workloads, separated by commas; `memory` is the memory table")
    parser.add_argument("--tools", default="", metavar="NAMES", help="tools, separated by commas")
    parser.add_argument("--subjects", default="native,sonde,peer", help="native, sonde, peer: which of them to run")
    parser.add_argument("--quick", action="store_true", help="one round with small inputs")
    parser.add_argument("--clock", choices=("wall", PROCESSOR), default="wall",
                        help="what ratios are made of: the time that passed, or, on a machine that does other work too, "
                             "that of the processor (wall)")
    parser.add_argument("--timeout", type=int, default=0, metavar="SECONDS", help="for each run")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="FOLDER", help="the build folder")
    parser.add_argument("--sonde", default="", metavar="PATH", help="the command (sonde of the build folder)")
    parser.add_argument("--output", default="", metavar="FILE", help="the Markdown file (bench.md of the build folder)")
    parser.add_argument("--write-docs", action="store_true", help="renew the figures of docs/performance.md too")
    parser.add_argument("--list", action="store_true", help="list workloads and tools")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.rounds = 1 if options.quick else max(1, options.rounds)
    options.subjects = options.subjects.split(",")
    if options.subjects[0] != NATIVE or set(options.subjects) - {NATIVE, "sonde", "peer"}:
        parser.error("--subjects takes native first, then sonde and peer")
    return parser, options


def choose(parser, rows, names, what):
    known = {row.name: row for row in rows}
    chosen = [name for name in names.split(",") if name]
    for name in chosen:
        if name not in known and name != MEMORY:
            parser.error("there is no %s %s (there are: %s)" % (what, name, ", ".join(known)))
    return [row for row in rows if not chosen or row.name in chosen]


def main():
    parser, options = parse()
    if options.list:
        for row in suite.WORKLOADS + suite.TOOLS:
            print("%-12s %s" % (row.name, getattr(row, "what", "tool")))
        return 0
    workloads = choose(parser, suite.WORKLOADS, options.only, "workload")
    tools = choose(parser, suite.TOOLS, options.tools, "tool")
    bench = Bench(options)
    if "sonde" in options.subjects and not os.access(bench.sonde, os.X_OK):
        print("bench: %s is not there; build Sonde first" % bench.sonde, file=sys.stderr)
        return 2
    if "peer" in options.subjects and not os.access("/usr/bin/valgrind", os.X_OK):
        print("bench: valgrind is not installed; its columns stay empty", file=sys.stderr)
        options.subjects.remove("peer")

    rounds = run_rounds(bench, tools, workloads)
    wants_memory = not options.only or MEMORY in options.only.split(",")
    memory = run_memory(bench, tools) if wants_memory else {}
    rows = {key: summarise(value) for key, value in rounds.items()}
    text = table.page(tools, workloads, rows, rounds, memory,
                      about="%s; %s; %d round%s%s%s" % (
                          machine(), versions(bench), options.rounds, "s" * (options.rounds > 1),
                          ", small inputs" * options.quick, ", processor time" * (options.clock == PROCESSOR)))
    print(text)
    output = options.output or os.path.join(options.build, "bench.md")
    with open(output, "w") as file:
        file.write(text)
    with open(os.path.splitext(output)[0] + ".json", "w") as file:
        json.dump([{"tool": key[0], "workload": key[1], **row} for key, row in rows.items()], file, indent=1)
    if options.write_docs:
        table.write_into(os.path.join(ROOT, "docs", "performance.md"), text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.CalledProcessError) as error:
        print("bench: %s" % error, file=sys.stderr)
        sys.exit(2)
