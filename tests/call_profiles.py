"""@fileoverview Makes large call-graph profiles in Callgrind's format, in order: inclusive costs are the sums that they must be.

The tests of `sonde report` and of its pages use it. Functions call only ones with higher numbers, so that costs are summed
from the last to the first; some call themselves.
"""

import random

EVENTS = ("Ir", "Dr", "D1mr")


def write_large(path, functions, lines, seed=1, calls=5):
    """A profile of `functions` functions with about `lines` lines of costs and `calls` callees each. Returns the
    inclusive costs of the first event by name."""
    chance = random.Random(seed)
    self_costs, rows = [], []
    for _ in range(functions):
        scale = int(2 ** chance.uniform(1, 20))
        own = [(chance.randrange(1, 2000), chance.randrange(1, scale + 1), chance.randrange(scale + 1) // 3)
               for _ in range(max(1, lines // functions))]
        rows.append(own)
        self_costs.append([sum(row[1] for row in own), sum(row[2] for row in own), len(own)])
    callees = [sorted({min(functions - 1, number + int(chance.expovariate(0.02)) + 1) for _ in range(calls)} - {number})
               if number + 1 < functions else [] for number in range(functions)]
    # Each function's cost is shared out evenly among those that call it; one that nobody calls is called by main.
    callers = [0] * functions
    for number in range(functions):
        for callee in callees[number]:
            callers[callee] += 1
    callees[0] = sorted({*callees[0], *(number for number in range(1, functions) if callers[number] == 0)})
    callers = [0] * functions
    for number in range(functions):
        for callee in callees[number]:
            callers[callee] += 1
    inclusive, arcs = [None] * functions, [None] * functions
    given = [0] * functions
    for number in reversed(range(functions)):
        inclusive[number] = list(self_costs[number])
        arcs[number] = []
        for callee in callees[number]:
            given[callee] += 1
            part = [total * given[callee] // callers[callee] - total * (given[callee] - 1) // callers[callee]
                    for total in inclusive[callee]]
            arcs[number].append((callee, part))
            inclusive[number] = [a + b for a, b in zip(inclusive[number], part)]
    with open(path, "w", encoding="ascii") as file:
        file.write(f"# callgrind format\nversion: 1\ncreator: call_profiles.py\ncmd: ./large\npart: 1\n\n"
                   f"positions: line\nevents: {' '.join(EVENTS)}\n\n")
        for number in range(functions):
            text = [f"fl=({number // 20 + 1}) /nowhere/file_{number // 20}.c\nfn=({number + 1}) function_{number}\n"]
            text += [f"{line} {ir} {dr} 1\n" for line, ir, dr in rows[number]]
            for callee, part in arcs[number]:
                line = chance.randrange(1, 2000)
                text.append(f"cfi=({callee // 20 + 1}) /nowhere/file_{callee // 20}.c\ncfn=({callee + 1}) function_{callee}\n"
                            f"calls={chance.randrange(1, 1000)} {line}\n{line} {' '.join(map(str, part))}\n")
            if number % 50 == 7:
                text.append(f"cfn=({number + 1})\ncalls=3 1\n5 {inclusive[number][0]} 0 0\n")
            file.write("".join(text) + "\n")
        totals = [sum(costs[event] for costs in self_costs) for event in range(3)]
        file.write("totals: " + " ".join(map(str, totals)) + "\n")
    return {f"function_{number}": inclusive[number][0] for number in range(functions)}
