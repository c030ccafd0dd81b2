#!/usr/bin/python3
"""@fileoverview What each form of analysis code costs: nanoseconds an execution, for docs/costs.md.

A form is inserted before each of eight additions in a loop (bench/workloads/additions.S, bench/form_costs.c), or, for those
that need an instruction whose accesses vary, before each of eight bit tests; its cost is the time over that with nothing
inserted, divided by the executions. Median of the rounds, which take the forms in turn.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ROUND = 10_000_000 * 8   # additions an argument of the program

# (name in form_costs.c, what the manual calls it, arguments of the program); of the program bit_tests those in VARYING
FORMS = (
    ("count", "`sn_count` of a constant", 4),
    ("count value", "`sn_count` of a value", 4),
    ("slot", "`sn_slot_store` of an operand's value", 4),
    ("load and store", "`sn_load` and `sn_store` of tool memory", 4),
    ("compute", "`sn_slot_load`, `sn_compute`, `sn_slot_store`", 4),
    ("branch", "`sn_branch_if`, taken", 4),
    ("append constant", "`sn_trace_append` of a constant", 4),
    ("append address", "`sn_trace_append` of an address", 4),
    ("append address and value", "`sn_trace_append` of an address and a value", 4),
    ("fast call", "`sn_call_fast`", 2),
    ("call", "`sn_call`", 1),
    ("accesses", "`sn_insert_accesses`", 1),
    ("append accesses", "`sn_trace_append_accesses`, of one access", 2),
)

VARYING = ("accesses", "append accesses")


def seconds(sonde, tool, form, program, arguments):
    start = time.perf_counter()
    subprocess.run([sonde, tool, f"--form={form}", "--", program, *["x"] * (arguments - 1)], check=True)
    return time.perf_counter() - start


def measure(sonde, tool, programs, rounds):
    """Form -> the nanoseconds of each round."""
    costs = {form: [] for form, _, _ in FORMS}
    for _ in range(rounds):
        for form, _, arguments in FORMS:
            program = programs[form in VARYING]
            bare = seconds(sonde, tool, "nothing", program, arguments)
            costs[form].append((seconds(sonde, tool, form, program, arguments) - bare) * 1e9 / (arguments * ROUND))
    return costs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--write-docs", action="store_true", help="renew the table of docs/costs.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, "form_costs.so")
        programs = [os.path.join(folder, name) for name in ("additions", "bit_tests")]
        subprocess.run(["gcc", "-O2", "-fPIC", "-shared", f"-I{ROOT}/include", "-o", tool, f"{HERE}/form_costs.c"], check=True)
        for program in programs:
            source = f"{HERE}/workloads/{os.path.basename(program)}.S"
            subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source], check=True)
        costs = measure(os.path.join(options.build, "sonde"), tool, programs, options.rounds)
    rows = ["| form | ns |", "| --- | ---: |"]
    rows += [f"| {what} | {max(statistics.median(costs[form]), 0):.1f} |" for form, what, _ in FORMS]
    print("\n".join(rows))
    if options.write_docs:
        page = os.path.join(ROOT, "docs", "costs.md")
        with open(page) as file:
            text = file.read()
        with open(page, "w") as file:
            file.write(re.sub(r"\| form \|.*?\n(?=\n|\Z)", lambda _: "\n".join(rows) + "\n", text, flags=re.S))


main()
