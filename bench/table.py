"""@fileoverview Writes the benchmark's results as Markdown. bench/run.py is its only caller."""
import math
import os
import statistics

import suite

BEGIN, END = "<!-- bench: begin (written by make bench) -->", "<!-- bench: end -->"


def _ratio(value):
    return "%.2f" % value if isinstance(value, float) else "void: %s" % value if value else ""


def _table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "|".join([" --- "] + [" ---: "] * (len(heads) - 1)) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def mean_over_long(tool, workloads, rows, column):
    """The geometric mean, or None unless every long workload has a figure: a mean over the lucky ones misleads."""
    values = [rows[tool.name, workload.name].get(column) for workload in suite.workloads_of(tool, workloads) if workload.long]
    return geometric_mean(values) if values and all(isinstance(value, float) for value in values) else None


def speed_table(tool, workloads, rows):
    heads = ["workload", "native, s", "sonde " + tool.name, tool.peer or "peer", "peer / sonde"]
    lines = []
    for workload in suite.workloads_of(tool, workloads):
        row = rows[tool.name, workload.name]
        lines.append([workload.what + ("" if workload.long else " *"), "%.3f" % row["native"], _ratio(row.get("sonde")),
                      _ratio(row.get("peer")), _ratio(row.get("peer/sonde"))])
    means = [_ratio(mean_over_long(tool, workloads, rows, column)) for column in ("sonde", "peer", "peer/sonde")]
    lines.append(["**geometric mean of the long ones**", ""] + ["**%s**" % mean if mean else "" for mean in means])
    return _table(heads, lines)


def speed_up_table(tools, rounds):
    lines = []
    for tool in tools:
        one, two = (rounds.get((tool.name, name)) for name in suite.SPEED_UP)
        if not one or not two:
            continue
        for subject, called in (("native", "native"), ("sonde", "sonde " + tool.name), ("peer", tool.peer)):
            pairs = [(first[subject], second[subject]) for first, second in zip(one, two)
                     if subject in first and subject in second]
            if pairs and not any(measured.problem for pair in pairs for measured in pair):
                quotient = statistics.median(first.wall / second.wall for first, second in pairs)
                lines.append(["%s (with %s)" % (called, tool.name) if subject == "native" else called,
                              "%.2f" % quotient])
    return ["Speed-up of two threads over one:", ""] + _table(["run", "speed-up"], lines) if lines else []


def memory_table(tools, memory):
    lines = []
    for case in suite.MEMORY:
        for tool in tools:
            measured = memory.get((tool.name, case.name))
            if not measured:
                continue
            native = measured["native"].peak_kilobytes / 1024

            def extra(subject):
                found = measured.get(subject)
                if not found:
                    return ""
                return "void: " + found.problem if found.problem else "%.0f" % (found.peak_kilobytes / 1024 - native)
            lines.append([case.name, tool.name, "%.0f" % native, extra("sonde"), extra("peer")])
    heads = ["program", "tool", "native, MB", "sonde, MB more", "peer, MB more"]
    return ["Peak memory on top of native:", ""] + _table(heads, lines) if lines else []


def _verdict(value, limit, form="%.2f"):
    if not isinstance(value, (int, float)):
        return ["not measured" if not value else "void: %s" % value, ""]
    return [form % value, "yes" if value <= limit else "no"]


def _memory_goal(tool, case, measured):
    times, more = tool.memory_goal
    limit = times * measured["native"].peak_kilobytes / 1024 + more
    value = measured["sonde"].problem or measured["sonde"].peak_kilobytes / 1024
    return ["%s: memory of %s, MB (%g times native and %g more)" % (tool.name, case.name, times, more), "%.0f" % limit,
            *_verdict(value, limit, "%.0f")]


def goal_table(tools, workloads, rows, memory):
    lines = []
    for tool in tools:
        long_names = [workload.name for workload in suite.workloads_of(tool, workloads) if workload.long]
        if tool.mean_goal and long_names:
            mean = mean_over_long(tool, workloads, rows, "sonde")
            lines.append(["%s: geometric mean of the long workloads" % tool.name, "%.2f" % tool.mean_goal]
                         + _verdict(mean, tool.mean_goal))
        if tool.peer_goal and long_names:
            mean = mean_over_long(tool, workloads, rows, "peer/sonde")
            lines.append(["%s: geometric mean of the long workloads, times the peer" % tool.name, "%.3f" % tool.peer_goal]
                         + _verdict(1 / mean if mean else None, tool.peer_goal, "%.3f"))
        if tool.each_goal and long_names:
            worst = max((rows[tool.name, name].get("sonde") for name in long_names),
                        key=lambda value: value if isinstance(value, float) else math.inf if value else 0)
            lines.append(["%s: the slowest long workload" % tool.name, "%.2f" % tool.each_goal]
                         + _verdict(worst, tool.each_goal))
    for goal in suite.GOALS:
        row = rows.get((goal.tool, goal.workload))
        if row is None:
            continue
        value = row.get("sonde")
        if goal.against == "peer":
            value = 1 / row["peer/sonde"] if "peer/sonde" in row else None
        lines.append(["%s: %s, times %s" % (goal.tool, goal.workload, goal.against), "%.3f" % goal.limit]
                     + _verdict(value, goal.limit, "%.3f"))
    for case in suite.MEMORY:
        lines += [_memory_goal(tool, case, memory[tool.name, case.name]) for tool in tools
                  if tool.memory_goal and "sonde" in memory.get((tool.name, case.name), {})]
        measured = memory.get(("none", case.name), {})
        if "sonde" in measured:
            value = measured["sonde"].problem or (
                measured["sonde"].peak_kilobytes - measured["native"].peak_kilobytes) / 1024
            lines.append(["none: memory of %s, MB more" % case.name, "%.0f" % case.goal_megabytes]
                         + _verdict(value, case.goal_megabytes, "%.0f"))
    return ["Goals:", ""] + _table(["figure", "at most", "measured", "reached"], lines) if lines else []


def page(tools, workloads, rows, rounds, memory, about):
    lines = ["Times as multiples of native, medians of the ratios of each round (%s)." % about,
             "A star marks what is too short to count in the mean. A run whose output or status is not the native one "
             "is void.", ""]
    for tool in tools if workloads else ():
        if not suite.workloads_of(tool, workloads):
            continue
        lines += speed_table(tool, workloads, rows)
    lines += speed_up_table(tools, rounds)
    lines += memory_table(tools, memory)
    lines += goal_table(tools, workloads, rows, memory)
    return "\n".join(lines).rstrip("\n") + "\n"


def write_into(path, text):
    """Puts the tables between the two marks of a page, and leaves what people wrote around them alone."""
    old = "# Performance\n\n" + BEGIN + "\n" + END + "\n"
    if os.path.exists(path):
        with open(path) as file:
            old = file.read()
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        before, after = old.rstrip("\n") + "\n\n", "\n"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(before + BEGIN + "\n\n" + text + "\n" + END + after)
