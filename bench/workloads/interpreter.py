"""Interpreter workload: dictionaries, objects, closures, generators and strings in Python. Argument: rounds."""
import sys


class Node:
    __slots__ = ("key", "left", "right")

    def __init__(self, key):
        self.key, self.left, self.right = key, None, None


def insert(root, key):
    while True:
        side = "left" if key < root.key else "right"
        child = getattr(root, side)
        if child is None:
            setattr(root, side, Node(key))
            return
        root = child


def walk(node):
    if node is not None:
        yield from walk(node.left)
        yield node.key
        yield from walk(node.right)


def pseudo_random(state, count):
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield state


def one_round(number):
    root = Node(1 << 30)
    for key in pseudo_random(number + 1, 1500):
        insert(root, key)
    checksum = sum(index * key for index, key in enumerate(walk(root))) % 1000000007
    counts = {}
    for value in pseudo_random(number + 7, 12000):
        word = "word%d" % (value % 701)
        counts[word] = counts.get(word, 0) + (lambda scale: value % scale)(13)
    for word, count in sorted(counts.items(), key=lambda pair: (pair[1], pair[0])):
        checksum = (checksum * 31 + count * len(word)) % 1000000007
    sieve = bytearray([1]) * 20000
    for candidate in range(2, 142):
        if sieve[candidate]:
            for multiple in range(candidate * candidate, 20000, candidate):
                sieve[multiple] = 0
    return checksum + sum(sieve)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(sum(one_round(number) for number in range(rounds)))


main()
