"""@fileoverview Runs the differential test: blocks natively and under Sonde, what differs made small and shown.

The generator writes a corpus of random blocks (tests/differential/corpus.h), the runner prints a line a block. Used by
tests/test_differential.py with fixed seeds and by scripts/fuzz-engine without end.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
SONDE = BUILD / "sonde"


def program(name):
    """Where the build left one of the two programs."""
    return BUILD / "tests" / "differential" / name


@dataclasses.dataclass
class Outcome:
    """What a run of the runner printed, and how it ended."""

    lines: list
    status: int | str
    error: str

    def by_block(self):
        """Number -> its line; with signals, the lines of a block that did not end the same each time."""
        found = {}
        for line in self.lines:
            number = line.split(" ", 1)[0]
            if number.isdigit():
                found[number] = f"{found[number]}\n{line}" if number in found else line
        return found


# Natively the program break lies at random near the program, and now and then where a corpus has its code: the runner then
# finds the address taken and stops. Under Sonde the break is elsewhere.
FIXED_ADDRESSES = ("setarch", "-R")


def execute(command, timeout):
    """Run to the end or to the time-out; output is kept either way."""
    # Files, not pipes: a process that is killed leaves what it wrote.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=error, start_new_session=True)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            status = f"no end after {timeout} s"
        output.seek(0)
        error.seek(0)
        return Outcome(output.read().split("\n"), status, error.read())


def generate(target, seed, blocks, *more):
    """Write a corpus; says on a failure what the generator said."""
    outcome = execute([*FIXED_ADDRESSES, program("differential-generate"), f"--seed={seed}", f"--blocks={blocks}",
                       f"--output={target}", *more], timeout=600)
    if outcome.status != 0:
        raise RuntimeError(f"differential-generate --seed={seed} ended with {outcome.status}: {outcome.error}")
    return outcome.error


def run_native(corpus, *more, timeout=60):
    return execute([*FIXED_ADDRESSES, program("differential-run"), corpus, *more], timeout)


def run_sonde(corpus, configuration, *more, timeout=120):
    """`configuration` is the tool's name and Sonde's options."""
    # What Sonde itself has to say goes to files of its own: the outcome is the runner's.
    options = list(configuration)
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        options += [f"--log-file={log}"]
        if configuration[0] == "count":
            options += [f"--output={folder}/report"]
        outcome = execute([SONDE, *options, program("differential-run"), corpus, *more], timeout)
        if log.exists():
            outcome.error += log.read_text(errors="replace")
    return outcome


def first_difference(native, sonde):
    """Number of the first block that differs, None when all is the same; 0-based numbers as texts."""
    theirs = sonde.by_block()
    for number, line in native.by_block().items():
        if theirs.get(number) != line:
            return number
    if native.status != sonde.status:
        return list(native.by_block())[-1] if native.lines else "0"
    return None


def count_differences(native, sonde):
    theirs = sonde.by_block()
    return sum(theirs.get(number) != line for number, line in native.by_block().items())


def ended(outcome, number):
    """How a block ended: `end`, or signal, code, place and address."""
    words = outcome.by_block().get(number, "").split(" ")[1:5]
    return words[:1] if words[:1] == ["end"] else words


# ---- making a difference small ----


class Corpus:
    """Lines of a corpus: batches, and their blocks."""

    def __init__(self, lines):
        self.lines = lines

    @classmethod
    def read(cls, path):
        return cls(pathlib.Path(path).read_text().splitlines())

    def batch_of(self, number):
        """The batch that holds a block, up to the block, as a corpus of its own."""
        start = 0
        for index, line in enumerate(self.lines):
            if line.startswith("batch "):
                start = index
            elif line.startswith(f"block {number} "):
                return Corpus(self.lines[start:index + 1])
        raise ValueError(f"no block {number}")

    def write(self, path):
        pathlib.Path(path).write_text("\n".join(self.lines) + "\n")


class Shrinker:
    """Drops blocks, then instructions, as long as native and Sonde's run still differ."""

    def __init__(self, configuration, arguments, folder, native, number):
        self.number = number
        self.end = ended(native, number)  # dropping shall not lead to another fault, and so to another difference
        self.configuration = configuration
        self.arguments = arguments
        self.path = pathlib.Path(folder) / "shrinking.txt"

    def differs(self, corpus):
        corpus.write(self.path)
        native = run_native(self.path, timeout=5)
        if native.status != 0 or ended(native, self.number) != self.end:
            return False  # for example: the end of a loop was dropped, or what loads an address
        sonde = run_sonde(self.path, self.configuration, *self.arguments, timeout=20)
        return first_difference(native, sonde) is not None

    def drop(self, items, keeps):
        """The items that remain when as many as possible are dropped: halves first, single ones last."""
        size = max(1, len(items) // 2)
        while True:
            start, dropped = 0, False
            while start < len(items):
                rest = items[:start] + items[start + size:]
                if keeps(rest):
                    items, dropped = rest, True
                else:
                    start += size
            if size == 1 and not dropped:
                return items
            size = max(1, size // 2)

    def shrink_blocks(self, corpus):
        """The block alone when that is enough, else with the fewest blocks before it."""
        head, blocks = corpus.lines[0], corpus.lines[1:]
        if self.differs(Corpus([head, blocks[-1]])):
            return Corpus([head, blocks[-1]])
        if not self.differs(corpus):
            return None
        kept = self.drop(blocks[:-1], lambda rest: self.differs(Corpus([head, *rest, blocks[-1]])))
        return Corpus([head, *kept, blocks[-1]])

    def shrink_code(self, corpus, index):
        """Replace instructions and data of one block by nops of the same length."""
        before, code = corpus.lines[index].split(" code=")
        groups = code.split()
        candidates = [i for i, group in enumerate(groups) if set(group) != set("90")]
        # The jump back stays, and in high blocks the address behind it.
        end = [candidates.pop()]
        if groups[end[0]].startswith("."):
            end.append(candidates.pop())

        def with_only(kept):
            kept = {*kept, *end}
            words = [group if i in kept else "90" * (len(group.lstrip(".")) // 2) for i, group in enumerate(groups)]
            lines = list(corpus.lines)
            lines[index] = f"{before} code={' '.join(words)}"
            return Corpus(lines)

        return with_only(self.drop(candidates, lambda rest: self.differs(with_only(rest))))

    def shrink(self, corpus):
        """The smallest corpus found, or None when the difference does not come again."""
        small = self.shrink_blocks(corpus.batch_of(self.number))
        if small is None:
            return None
        for index in range(len(small.lines) - 1, 0, -1):
            small = self.shrink_code(small, index)
        return small


# ---- showing it ----


def disassemble(code, address):
    """One instruction, as objdump shows it."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        text = subprocess.run(["objdump", "-D", "-b", "binary", "-mi386:x86-64", f"--adjust-vma={address:#x}", file.name],
                              capture_output=True, text=True, timeout=20).stdout
    parts = [line.split("\t") for line in text.splitlines() if "\t" in line]
    shown = "; ".join(part[2].strip() for part in parts if len(part) > 2)
    return f"  {address:12x}  {code.hex():30}  {shown}"


def show_block(line):
    """Disassembly of a block without the nops that shrinking left."""
    address = int(re.search(r" at=(\w+)", line)[1], 16)
    shown = [line.split(" code=")[0]]
    for group in line.split(" code=")[1].split():
        data = group.startswith(".")
        code = bytes.fromhex(group.lstrip("."))
        if data:
            shown.append(f"  {address:12x}  {code.hex():30}  (data)")
        elif set(code) != {0x90}:
            shown.append(disassemble(code, address))
        address += len(code)
    return shown


def show_fields(path, number, configuration):
    """The fields that differ, natively and under Sonde."""
    native = run_native(path, f"--full={number}")
    sonde = run_sonde(path, configuration, f"--full={number}", timeout=20)
    fields = [dict(line.split(" = ", 1) for line in outcome.lines if " = " in line) for outcome in (native, sonde)]
    shown = [f"ended: natively {native.status}, under Sonde {sonde.status}"]
    for name in dict.fromkeys([*fields[0], *fields[1]]):
        values = [field.get(name, "(unchanged or not reached)") for field in fields]
        if values[0] != values[1]:
            shown += [f"  {name}:", f"    natively     {values[0]}", f"    under Sonde  {values[1]}"]
    return shown + ([sonde.error.strip()] if sonde.error.strip() else [])


def explain(corpus_path, native, sonde, configuration, keep, arguments=()):
    """Text about the first difference; the smallest corpus that still shows it stays in the folder `keep`.

    `arguments` are further ones of the runner, for Sonde's run only.
    """
    number = first_difference(native, sonde)
    told = [f"block {number} of {corpus_path} differs under {' '.join(configuration)}; in all "
            f"{count_differences(native, sonde)} of {len(native.by_block())} blocks; ended: {sonde.status}",
            f"natively:    {native.by_block().get(number)}", f"under Sonde: {sonde.by_block().get(number)}"]
    keep = pathlib.Path(keep)
    keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        small = Shrinker(configuration, arguments, folder, native, number).shrink(Corpus.read(corpus_path))
    if small is None:
        told += ["it does not come again in the block's batch alone", f"ended: {sonde.status}", sonde.error.strip()]
        return "\n".join(told)
    name = "-".join(word.removeprefix("--debug-") for word in configuration)
    path = keep / f"{pathlib.Path(corpus_path).stem}-{number}-{name}.txt"
    small.write(path)
    for line in small.lines[1:]:
        told += show_block(line)
    differing = first_difference(run_native(path), run_sonde(path, configuration, *arguments, timeout=20)) or number
    told += show_fields(path, differing, configuration)
    told += [f"again: {SONDE} {' '.join(configuration)} {program('differential-run')} {path} "
             f"{' '.join([*arguments, f'--full={differing}'])}"]
    return "\n".join(told)
