"""sonde memcheck on random C programs with at most one planted error each: it is found at its line and with its sentence, and nothing
else is; Valgrind says the same.

A program makes blocks, fills and adds them up by its own loops and by the C library's functions, and frees them. One of its steps
may be wrong. All is compiled with and without optimisation, with a limit on what the compiler may conclude from undefined behaviour:
pointers go through hide().
"""
import os
import random
import re
import shutil
import subprocess
import sys

import pytest

from real_programs import ROOT, SONDE

sys.path.insert(0, str(ROOT / "tests"))
from memcheck_reports import marks_of, report  # noqa: E402  (found by the line above)

PROGRAMS = int(os.environ.get("MEMCHECK_PROGRAMS", "60"))
LEVELS = ("-O0", "-O1", "-O2", "-O3")
HEAD = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *hide(void *pointer) { __asm__ volatile("" : "+r"(pointer) : : "memory"); return pointer; }
static volatile unsigned long sum;
"""
INVALID_FREE = "Invalid free() / delete / delete[] / realloc()"


class Program:
    """Source text, and what is to be reported: (sentence, mark), or nothing."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.expected = [], []
        self.blocks = {}   # name -> (type, elements)
        self.names = iter(f"b{i}" for i in range(1000))
        steps = self.random.randint(10, 30)
        wrong = self.random.choice(self.errors()) if self.random.random() < 0.85 else None
        at = self.random.randrange(steps // 2, steps)
        for step in range(steps):
            self.random.choice((self.allocate, self.allocate, self.fill, self.add, self.library, self.free))()
            if step == at and wrong:
                self.allocate()
                wrong()
        for name in list(self.blocks):
            self.put(f"free(hide({name}));")
        body = "\n    ".join(self.lines)
        self.text = f"{HEAD}\nint main(void) {{\n    {body}\n    return 0;\n}}\n"

    def put(self, text):
        self.lines.append(text)

    def plant(self, text, sentence):
        self.put(f"{text} /* line: planted */")
        self.expected.append(sentence)

    def some(self):
        if not self.blocks:
            self.allocate()
        name = self.random.choice(list(self.blocks))
        return name, *self.blocks[name]

    # ------------------------------------------------------------------------------------------------- right steps

    def allocate(self):
        name, kind = next(self.names), self.random.choice(("char", "short", "int", "long", "double"))
        count = self.random.choice((1, 2, 3, 7, 8, 15, 16, 31, 100, 1000, 40000))
        how = self.random.choice((f"malloc({count} * sizeof *{name})", f"calloc({count}, sizeof *{name})",
                                  f"realloc(malloc(3), {count} * sizeof *{name})"))
        self.put(f"{kind} *{name} = hide({how});")
        self.put(f"memset({name}, 1, {count} * sizeof *{name});")
        self.blocks[name] = (kind, count)

    def fill(self):
        name, kind, count = self.some()
        self.put(f"for (int i = 0; i < {count}; i++) {name}[i] = ({kind})(i * {self.random.randint(1, 9)});")

    def add(self):
        name, _, count = self.some()
        self.put(f"for (int i = 0; i < {count}; i++) sum += (unsigned long){name}[i];")

    def library(self):
        name, _, count = self.some()
        self.put(self.random.choice((f"sum += memcmp({name}, {name}, {count} * sizeof *{name}) != 0;",
                                     f"memmove({name}, {name}, {count} * sizeof *{name});",
                                     f"sum += memchr({name}, 77, {count} * sizeof *{name}) != NULL;",
                                     f"{{ char *t = (char *){name}; t[{count} * sizeof *{name} - 1] = 0; sum += strlen(hide(t)); }}")))

    def free(self):
        name, _, _ = self.some()
        self.put(f"free(hide({name}));")
        del self.blocks[name]

    # ------------------------------------------------------------------------------------------------- wrong steps

    def errors(self):
        return (self.read_behind, self.write_behind, self.read_before, self.read_freed, self.write_freed, self.free_twice, self.free_inside,
                self.copy_behind, self.leak)

    def access(self, name, index, is_write, size):
        target = f"*({{ volatile typeof(*{name}) *p = hide({name}); p + {index}; }})"
        self.plant(f"{target} = 1;" if is_write else f"sum += (unsigned long){target};",
                   f"Invalid {'write' if is_write else 'read'} of size {size}")

    @staticmethod
    def size_of(kind):
        return {"char": 1, "short": 2, "int": 4, "long": 8, "double": 8}[kind]

    def read_behind(self):
        name, kind, count = self.some()
        self.access(name, count, False, self.size_of(kind))

    def write_behind(self):
        name, kind, count = self.some()
        self.access(name, count, True, self.size_of(kind))

    def read_before(self):
        name, kind, _ = self.some()
        self.access(name, -1, False, self.size_of(kind))

    def freed(self, is_write):
        name, kind, count = self.some()
        self.put(f"free(hide({name}));")
        del self.blocks[name]
        self.access(name, self.random.randrange(count), is_write, self.size_of(kind))

    def read_freed(self):
        self.freed(False)

    def write_freed(self):
        self.freed(True)

    def free_twice(self):
        name, _, _ = self.some()
        self.put(f"free(hide({name}));")
        del self.blocks[name]
        self.plant(f"free(hide({name}));", INVALID_FREE)

    def free_inside(self):
        name, _, _ = self.some()
        self.plant(f"free((char *)hide({name}) + 1);", INVALID_FREE)

    def copy_behind(self):
        name, _, count = self.some()
        self.plant(f"memset(hide({name}), 0, {count} * sizeof *{name} + 1);", "Invalid write of size 1")

    def leak(self):
        size = self.random.randint(1, 5000)
        self.put("{ void *volatile lost;")
        self.plant(f"lost = malloc({size});", f"{size:,} bytes in 1 blocks are definitely lost in loss record 1 of 1")
        self.put("lost = NULL; }")


def found(command, program, marks):
    """(sentence, mark of the line of main that it is about) of each error."""
    done = subprocess.run([*command, "-q", "--leak-check=full", program], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=120,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    errors = []
    for error in report(done.stderr, marks):
        own = next((line for line in error[1:] if line.split()[1] == "main"), "no line of main")
        errors.append((error[0], own.split()[-1]))
    return errors


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random(tmp_path, seed):
    made = Program(seed)
    source, program = tmp_path / "memcheck_random.c", tmp_path / "random"
    source.write_text(made.text)
    level = LEVELS[seed % len(LEVELS)]
    subprocess.run(["gcc", "-g", level, "-fno-builtin", "-w", "-o", program, source], check=True, timeout=60)
    expected = [(sentence, "planted") for sentence in made.expected]
    ours = found([SONDE, "memcheck"], program, marks_of(source))
    assert ours == expected, f"seed {seed} {level}\n{made.text}"
    if shutil.which("valgrind") and seed % 4 == 0:
        theirs = found(["valgrind", "--undef-value-errors=no"], program, marks_of(source))
        assert [(re.sub(r"\d+", "N", what), where) for what, where in theirs] == [(re.sub(r"\d+", "N", what), where) for what, where in ours]
