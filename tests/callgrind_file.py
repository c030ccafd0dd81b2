"""A reader of Callgrind's format for tests: what a file says, with names resolved and nothing summed up that it does not."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Profile:
    headers: dict = field(default_factory=dict)
    events: list = field(default_factory=list)
    self_costs: Counter = field(default_factory=Counter)   # function -> first event
    lines: Counter = field(default_factory=Counter)        # (function, line or address) -> first event
    calls: Counter = field(default_factory=Counter)        # (caller, callee) -> number of calls
    inclusive: Counter = field(default_factory=Counter)    # (caller, callee) -> first event
    jumps: Counter = field(default_factory=Counter)        # (function, from, to) -> taken
    executed: Counter = field(default_factory=Counter)     # (function, from, to) -> executed, of conditional ones
    objects: dict = field(default_factory=dict)            # function -> the object file of its costs
    other_costs: Counter = field(default_factory=Counter)  # (event, function) -> self costs of the other events
    other_inclusive: Counter = field(default_factory=Counter)  # (event, caller, callee)

    def inclusive_of(self, function):
        """Self cost and what its calls cost."""
        return self.self_costs[function] + sum(cost for (caller, _), cost in self.inclusive.items() if caller == function)


class _Positions:
    """Those of costs and jumps, which may be distances from the ones before."""
    def __init__(self):
        self.last = []

    def resolve(self, words, begins_with_address):
        found = []
        for i, word in enumerate(words):
            last = self.last[i] if i < len(self.last) else 0
            found.append(last + int(word) if word[0] in "+-" else last if word == "*" else int(word, 0))
        self.last = found
        return [hex(number) if begins_with_address and i == 0 else str(number) for i, number in enumerate(found)]


class _Names:
    def __init__(self):
        self.known = {}

    def resolve(self, text):
        match = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        if not match:
            return text
        if match[2] is not None:
            self.known[match[1]] = match[2]
        return self.known[match[1]]


def complaints(path):
    """What callgrind_annotate has to say of a file that it does not like. It is asked as it is by default, where it shows sources
    with their costs, but for a file without lines (--dump-line=no): of Callgrind's own one it says the same then, three uses of
    undefined values of its own, since it looks for lines that have costs."""
    has_lines = re.search(r"^positions:.*\bline$", path.read_text(), re.M)
    command = ["callgrind_annotate", *([] if has_lines else ["--auto=no"]), path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    told = re.findall(r"^(?:WARNING|Line \d+|.* at /\S*callgrind_annotate line).*", done.stdout, re.M | re.I)
    return told + ([done.stdout] if done.returncode else [])


def read(path):
    """Of those that sonde calls has written, callgrind_annotate reads each, too."""
    if "\ncreator: sonde " in path.read_text():
        assert complaints(path) == []
    profile, functions, objects, places = Profile(), _Names(), _Names(), _Positions()
    object_file = ""
    function = callee = pending = jump = None
    for line in path.read_text().splitlines():
        match = re.fullmatch(r"(\w+)[:=] ?(.*)", line)
        if match and match[1] in ("fn", "cfn"):
            name = functions.resolve(match[2])
            if match[1] == "fn":
                function = name
                profile.objects[name] = object_file
            else:
                callee = name
        elif match and match[1] in ("ob", "cob"):
            name = objects.resolve(match[2])
            object_file = name if match[1] == "ob" else object_file
        elif match and match[1] == "calls":
            pending = int(match[2].split()[0])
        elif match and match[1] in ("jump", "jcnd"):
            taken, *target = match[2].split()
            jump = (taken, target[0])
        elif match and match[1] == "events":
            profile.events = match[2].split()
        elif match:
            if match[1] not in ("fl", "fi", "fe", "cfi", "cfl", "jfi"):
                profile.headers[match[1]] = match[2]
        elif re.match(r"[\d+*-]", line):
            words = line.split()
            kinds = profile.headers.get("positions", "line").split()
            position, costs = places.resolve(words[:len(kinds)], kinds[0] == "instr")[0], [int(word) for word in words[len(kinds):]]
            if jump:
                taken, *executed = map(int, jump[0].split("/"))
                profile.jumps[function, position, jump[1]] += taken
                profile.executed[function, position, jump[1]] += executed[0] if executed else 0
                jump = None
            elif pending is not None:
                profile.calls[function, callee] += pending
                profile.inclusive[function, callee] += costs[0]
                for event, cost in zip(profile.events[1:], costs[1:]):
                    profile.other_inclusive[event, function, callee] += cost
                pending = None
            else:
                profile.self_costs[function] += costs[0]
                profile.lines[function, position] += costs[0]
                for event, cost in zip(profile.events[1:], costs[1:]):
                    profile.other_costs[event, function] += cost
    return profile
