"""@fileoverview Makes heap files (DMD's JSON, version 5), and answers by plain definitions what `sonde report` answers fast.

The model here is slow and short on purpose: retained blocks by taking a block away and looking what is still reached, verdicts by
sets. The tests of `sonde report` compare the two.
"""
import bisect
import json
import random


def document(blocks, traces=None, frames=None, mode="scan", roots=None, options="--mode=scan"):
    made = {"version": 5, "invocation": {"dmdEnvVar": options, "mode": mode}, "blockList": blocks,
            "traceTable": traces if traces is not None else {"A": ["B"]},
            "frameTable": frames if frames is not None else {"B": "#00: main (a.c:1)"}}
    if roots is not None:
        made["roots"] = roots
    return made


def random_scan(seed, count=40, pointers=1.2, has_roots=True):
    """A scan of `count` blocks at random places with random pointers between them; some to insides, some one past the end."""
    chance = random.Random(seed)
    blocks, address = [], chance.choice((0x1000, 0x555500000000, 0x7f0000000000))
    for _ in range(count):
        address += chance.choice((0, 0, 16, 4096, 1 << 20, 1 << 31)) & ~15
        size = chance.choice((0, 1, 8, 24, 64, 100, 300, 5000, 300000 if chance.random() < 0.1 else 40))
        blocks.append({"addr": f"{address:x}", "req": size, "slop": chance.choice((0, 8)), "alloc": chance.choice("ABC")})
        address += max(size, 1) + 15 & ~15

    def word():
        block = chance.choice(blocks)
        start, size = int(block["addr"], 16), max(block["req"], 1)
        return f"{chance.choice((start, start, start + chance.randrange(size), start + size, chance.randrange(1 << 64))):x}"

    for block in blocks:
        words = ["0"] * (block["req"] // 8)
        for _ in range(min(len(words), int(chance.expovariate(1 / pointers)))):
            words[chance.randrange(len(words))] = word()
        if words and chance.random() < 0.9:
            block["contents"] = words
    chance.shuffle(blocks)
    roots = [{"kind": "global", "name": f"g{i}", "module": "/bin/some", "addr": f"{0x404000 + 64 * i:x}",
              "contents": [word() for _ in range(chance.randrange(3))]} for i in range(3)]
    roots += [{"kind": "stack", "thread": 1, "addr": "7ffc00000000", "contents": ["0", word()]},
              {"kind": "register", "thread": 1, "name": "rax", "contents": [word()]}]
    return document(blocks, {"A": ["a", "m"], "B": ["b", "m"], "C": ["a", "n"]},
                    {"a": "#00: f (a.c:1)", "b": "#00: g (b.c:2)", "m": "#00: main (m.c:3)", "n": "#00: other (m.c:4)"},
                    roots=roots if has_roots else None)


class Model:
    """What a scan says, by definition. Blocks go by their addresses, roots by their numbers below zero."""

    def __init__(self, made):
        self.blocks = {int(block["addr"], 16): block for block in made["blockList"]}
        self.starts = sorted(self.blocks)
        self.roots = made.get("roots", [])
        self.words = {address: [int(word, 16) for word in block.get("contents", [])] for address, block in self.blocks.items()}
        self.words |= {-1 - number: [int(word, 16) for word in root["contents"]] for number, root in enumerate(self.roots)}

    def block_at(self, word):
        place = bisect.bisect_right(self.starts, word) - 1
        if place < 0 or word >= self.starts[place] + max(self.blocks[self.starts[place]]["req"], 1):
            return None
        return self.starts[place]

    def targets(self, owner, is_exact=False):
        found = [(word, self.block_at(word)) for word in self.words[owner] if word]
        return {block for word, block in found if block is not None and (not is_exact or block == word)}

    def referrers(self, block):
        """Owner -> offsets."""
        found = {}
        for owner, words in self.words.items():
            offsets = [8 * place for place, word in enumerate(words) if word and self.block_at(word) == block]
            if offsets:
                found[owner] = offsets
        return found

    def reached(self, starts, without=None, is_exact=False):
        seen, waiting = set(starts) - {without}, list(set(starts) - {without})
        while waiting:
            for target in self.targets(waiting.pop(), is_exact) - seen - {without}:
                seen.add(target)
                waiting.append(target)
        return seen

    def from_roots(self, **options):
        return self.reached({-1 - number for number in range(len(self.roots))}, **options) - {-1 - n for n in range(len(self.roots))}

    def verdict(self, block):
        if block in self.from_roots(is_exact=True):
            return "still_reachable"
        if block in (alive := self.from_roots()):
            return "interior_reachable"
        below = {other: self.reached({other}) for other in self.blocks if other not in alive}
        others = {other for other in below if other != block and block in below[other]}
        cycle = {other for other in others if other in below[block]}
        return "unreachable" if others == cycle and all(block < other for other in cycle) else "reachable_through_unreachable"

    def retained(self, block):
        """What is not reached without the block: from the roots, or, for what these do not reach, from what nothing outside of
        its own circle leads to."""
        alive = self.from_roots()
        if block in alive:
            return alive - self.from_roots(without=block)
        dead = set(self.blocks) - alive
        below = {other: self.reached({other}) for other in dead}
        entries = {other for other in dead if all(third in below[other] for third in dead if other in below[third])}
        return (self.reached(entries) - self.reached(entries, without=block)) & dead

    def distance(self, block):
        """Pointers of the shortest way from a root; None: there is none."""
        seen, edge, steps = set(), {-1 - number for number in range(len(self.roots))}, 0
        while edge and block not in edge:
            seen |= edge
            edge = {target for owner in edge for target in self.targets(owner)} - seen
            steps += 1
        return steps if edge else None

    def clamped(self, owner):
        words = [self.block_at(word) or 0 if word else 0 for word in self.words[owner]]
        while words and not words[-1]:
            words.pop()
        return [f"{word:x}" for word in words]


def write_large(path, blocks, size, seed=1):
    """A scan of blocks of `size` bytes: of their words, an eighth are pointers, a quarter other numbers, the rest zero. Quick to make."""
    chance = random.Random(seed)
    base, step = 0x7f1200000000, size + 16
    templates = []
    for _ in range(64):
        kinds = [chance.random() for _ in range(size // 8)]
        templates.append(",".join('"%x"' if kind < 0.125 else f'"{chance.randrange(1, 1 << chance.choice((8, 32, 62))):x}"' if kind < 0.375
                                  else '"0"' for kind in kinds))
    with open(path, "w", encoding="ascii") as file:
        file.write('{"version":5,"invocation":{"dmdEnvVar":"--mode=scan","mode":"scan"},"blockList":[\n')
        for number in range(blocks):
            template = templates[chance.getrandbits(6)]
            values = tuple(base + step * chance.randrange(blocks) + 8 * chance.getrandbits(2) for _ in range(template.count("%x")))
            file.write(f'{"," if number else ""}{{"addr":"{base + step * number:x}","req":{size},"slop":8,"alloc":"{number % 100}",'
                       f'"contents":[{template % values}]}}\n')
        traces = {str(number): [str(number), "m"] for number in range(100)}
        frames = {str(number): f"#00: make{number} (make.c:{number})" for number in range(100)} | {"m": "#00: main (main.c:1)"}
        file.write(f'],"traceTable":{json.dumps(traces)},"frameTable":{json.dumps(frames)}}}\n')
