"""The cache models and predictors of src/tools/simulator, reference by reference, against tests/cache_simulator.py.

On random references of several kinds, and on a trace recorded from a program by `sonde memtrace`.
"""
import random
import subprocess

import pytest

import cache_simulator
from conftest import ROOT, SONDE

SIMULATOR = ROOT / "src" / "tools" / "simulator"
MODEL_FILES = [SIMULATOR / f"{name}.c" for name in (
    "code_cache", "geometry", "level", "memory", "shared_level", "model", "model_cachegrind", "model_hierarchy", "passes", "predictor",
    "runs", "segments", "simulate", "sites", "tally", "x86_64/vector_passes")]
MODEL_FILES += [ROOT / "src/base/table.c", ROOT / "src/base/arena.c"]

# I1, D1, L2, LL as size, ways, line.
GEOMETRIES = {
    "usual": [(32768, 8, 64), (32768, 8, 64), (262144, 8, 64), (2097152, 16, 64)],
    "direct-mapped": [(1024, 1, 32), (512, 1, 16), (2048, 1, 32), (4096, 1, 32)],
    "one set": [(256, 4, 64), (512, 8, 64), (1024, 16, 64), (2048, 32, 64)],
    "odd ways": [(49152, 12, 64), (3072, 3, 64), (5 * 4096, 5, 64), (30 * 4096, 30, 64)],
    "long lines": [(4096, 2, 256), (8192, 4, 128), (16384, 4, 256), (65536, 2, 1024)],
    "longest lines": [(32768, 4, 512), (32768, 8, 512), (65536, 4, 1024), (262144, 16, 4096)],
    "lines of two sizes": [(2048, 2, 16), (4096, 2, 64), (8192, 4, 32), (16384, 8, 128)],
    "last level smallest": [(4096, 4, 64), (4096, 4, 64), (1024, 2, 64), (512, 2, 64)],
}


PASSES = ["plain", "best"]  # in plain C, and with the processor's vectors


@pytest.fixture(scope="module")
def replay(tmp_path_factory):
    program = tmp_path_factory.mktemp("replay") / "cache_replay"
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
                    "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", f"-I{ROOT / 'include'}",
                    f"-I{ROOT / 'src'}", f"-I{SIMULATOR}", ROOT / "tests/programs/cache_replay.c", *MODEL_FILES, "-o", program],
                   check=True, timeout=120)

    def run(words, lines):
        ended = subprocess.run([program, *words], input="\n".join(lines) + "\n", capture_output=True, text=True,
                               timeout=120, check=False)
        assert ended.returncode == 0, ended.stderr
        return [int(line) for line in ended.stdout.split()]

    return run


def compare(replay, model, passes, geometry, references):
    words = [model, passes, *(",".join(map(str, cache)) for cache in geometry)]
    found = replay(words, [f"{kind} {address:x} {size:x} {at:x}" for kind, address, size, at in references])
    simulator = cache_simulator.MODELS[model](*geometry)
    expected = [simulator.refer(*reference) for reference in references]
    differing = next((at for at, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), None)
    assert differing is None, (differing, references[differing], found[differing], expected[differing])
    assert len(found) == len(expected)
    return expected


def some_references(seed, count=6000):
    """Loops of strides, stacks, random places, at all sizes; now and then far away."""
    numbers = random.Random(seed)
    references, places = [], [numbers.randrange(1 << 44) for _ in range(6)]
    while len(references) < count:
        place, kind, at = numbers.choice(places), numbers.randrange(3), numbers.randrange(1 << 30)
        stride = numbers.choice([1, 4, 8, 16, 64, 100, 256, 4096, -8, -64, 0])
        size = numbers.choice([1, 2, 4, 8, 10, 16, 32, 64])
        if kind == cache_simulator.FETCH:
            size = numbers.randrange(1, 16)
        spread = numbers.choice([0, 0, 1 << 10, 1 << 16])
        for _ in range(numbers.randrange(1, 60)):
            references.append((kind, place + (numbers.randrange(spread) if spread else 0), size, at))
            place += stride
    return references


@pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
@pytest.mark.parametrize("model", cache_simulator.MODELS)
@pytest.mark.parametrize("passes", PASSES)
def test_random_references(replay, model, passes, geometry):
    levels = set()
    for seed in range(3):
        levels |= set(compare(replay, model, passes, geometry, some_references(seed)))
    if geometry != GEOMETRIES["last level smallest"]:
        assert levels == ({0, 1, 2} if model == "cachegrind" else {0, 1, 2, 3}), "the references try too little"


@pytest.mark.parametrize("model", cache_simulator.MODELS)
@pytest.mark.parametrize("passes", PASSES)
def test_recorded_trace(replay, model, passes, tmp_path):
    program, trace = tmp_path / "primes", tmp_path / "trace"
    subprocess.run(["gcc", "-g", "-nostdlib", "-static", "-o", program, ROOT / "examples/primes.s"], check=True)
    subprocess.run([SONDE, "memtrace", "--format=text", "--instructions=yes", f"--output={trace}", program],
                   check=True, timeout=120, stdout=subprocess.DEVNULL)
    references = []
    for line in trace.read_text().splitlines():
        kind, _, place = line.strip().partition(" ")
        if kind in ("I", "L", "S", "M"):
            address, size = place.strip().split(",")
            references.append(({"I": 0, "L": 1, "S": 2, "M": 1}[kind], int(address, 16), int(size), 0))
    assert len(references) > 40000
    for geometry in (GEOMETRIES["usual"], GEOMETRIES["direct-mapped"], GEOMETRIES["odd ways"]):
        compare(replay, model, passes, geometry, references[:60000])


def test_prefetcher_hides_a_walk_and_not_a_jump(replay):
    """A walk through lines misses the second level at its beginning, and at the beginning of each page."""
    def missed(distance):
        walk = [(cache_simulator.READ, 0x10000000 + i * distance, 8, 0x401000) for i in range(640)]
        return sum(level >= 2 for level in compare(replay, "hierarchy", "best", GEOMETRIES["usual"], walk))
    assert 640 * 64 // 4096 <= missed(64) <= 3 * 640 * 64 // 4096
    assert missed(4096) == 640


def test_predictors(replay):
    numbers, predictor = random.Random(7), cache_simulator.Predictor()
    lines, expected = [], []
    branches = [numbers.randrange(1 << 32) for _ in range(40)]
    for step in range(20000):
        address = numbers.choice(branches)
        if numbers.random() < 0.3:
            target = numbers.choice([0x401000, 0x402000, address])
            lines.append(f"i {address:x} {target:x}")
            expected.append(int(predictor.indirect(address, target)))
        else:
            taken = bool(step // 3 % 2) if address % 2 else numbers.random() < 0.8
            lines.append(f"c {address:x} {taken:d}")
            expected.append(int(predictor.conditional(address, taken)))
    assert replay(["predict"], lines) == expected
    assert 0.1 < sum(expected) / len(expected) < 0.9


@pytest.mark.parametrize("wrong", [
    "", "64", "32768,8", "32768,8,64,1", "32768,8,", "a,b,c", "32768,8,64x", "-1,8,64", "32768,0,64", "0,8,64",
    "32768,8,0", "32768,8,48", "32768,8,8", "32768,8,8192", "32768,1024,64", "32769,8,64", "49152,8,64", "100,1,64",
    "99999999999999999999,8,64", "68719476736,16,64",
])
def test_impossible_geometries(wrong, replay, tmp_path):
    """One line that names the option and says what is wrong; nothing of the program runs."""
    ended = subprocess.run([SONDE, "cache", f"--D1={wrong}", "/bin/echo", "ran"], capture_output=True, text=True,
                           timeout=30, cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert "--D1" in ended.stderr and list(tmp_path.iterdir()) == []
