"""@fileoverview Caches and branch predictors simulated in the simplest way, as docs/cache.md defines them.

Written from the definition and not from the C code, which test_cache_model.py and test_cache.py compare with it. Slow.
"""


class Cache:
    """Set-associative, least recently used out first, filled on reads and writes alike."""

    def __init__(self, size, ways, line):
        self.ways, self.line = ways, line
        self.set_count = size // line // ways
        self.sets = {}

    def use_line(self, number):
        """Returns whether it was there."""
        lines = self.sets.setdefault(number % self.set_count, [])
        was_there = number in lines
        if was_there:
            lines.remove(number)
        elif len(lines) == self.ways:
            lines.pop(0)
        lines.append(number)
        return was_there

    def refer(self, address, size):
        """All lines of the reference are used; one that is not there makes it a miss."""
        lines = range(address // self.line, (address + size - 1) // self.line + 1)
        return all([self.use_line(number) for number in lines])


FETCH, READ, WRITE = 0, 1, 2


class Cachegrind:
    """First-level caches for instructions and data, and a last level behind both."""

    def __init__(self, i1, d1, l2, ll):
        self.first = {FETCH: Cache(*i1), READ: Cache(*d1)}
        self.first[WRITE] = self.first[READ]
        self.last = Cache(*ll)

    def refer(self, kind, address, size, instruction):
        """How many levels are missed."""
        if self.first[kind].refer(address, size):
            return 0
        return 1 if self.last.refer(address, size) else 2


class Hierarchy(Cachegrind):
    """With a second level between, and the prefetcher in front of that."""

    def __init__(self, i1, d1, l2, ll):
        super().__init__(i1, d1, l2, ll)
        self.second = Cache(*l2)
        self.streams = {}   # entry -> [instruction, line, distance, times that this was the distance]

    def refer(self, kind, address, size, instruction):
        if self.first[kind].refer(address, size):
            return 0
        missed = 1
        if not self.second.refer(address, size):
            missed = 2 if self.last.refer(address, size) else 3
        if kind != FETCH:
            self.watch(address // self.second.line, instruction)
        return missed

    def watch(self, line, instruction):
        entry = (instruction ^ instruction >> 8) % 256
        stream = self.streams.get(entry)
        if stream is None or stream[0] != instruction:
            self.streams[entry] = [instruction, line, 0, 0]
            return
        distance = line - stream[1]
        if distance == 0:
            return
        stream[3] = stream[3] + 1 if distance == stream[2] else 1
        stream[1:3] = [line, distance]
        if stream[3] >= 2:
            self.bring_ahead(line, distance)

    def bring_ahead(self, line, distance):
        lines_of_page = 4096 // self.second.line
        for ahead in (line + distance, line + 2 * distance):
            if ahead // lines_of_page != line // lines_of_page:
                break
            if not self.second.use_line(ahead):
                self.last.refer(ahead * self.second.line, 1)


class Predictor:
    def __init__(self):
        self.counters = [0] * 16384
        self.history = []
        self.targets = {}

    def conditional(self, address, taken):
        """Whether the prediction is wrong. The index: the address, with the way that the last seven branches went in its
        low bits (the last one lowest)."""
        recent = sum(went << age for age, went in enumerate(reversed(self.history[-7:])))
        index = (address * 128 ^ recent) % 16384
        wrong = (self.counters[index] >= 2) != taken
        self.counters[index] = min(3, self.counters[index] + 1) if taken else max(0, self.counters[index] - 1)
        self.history.append(int(taken))
        return wrong

    def indirect(self, address, target):
        wrong = self.targets.get(address % 512, 0) != target
        self.targets[address % 512] = target
        return wrong


MODELS = {"cachegrind": Cachegrind, "hierarchy": Hierarchy}
