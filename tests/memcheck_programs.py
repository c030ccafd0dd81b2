"""@fileoverview Random C programs for memcheck, with at most one planted error each, whose line and sentence are known. Used by
tests/test_memcheck_planted.py, and by tests/long/test_memcheck_random.py for many.

A program makes blocks, fills and adds them up by its own loops and by the C library's functions, and frees them; some blocks are filled
in part, copied, and looked at where they have values, or through masks that leave nothing else. One of its steps
may be wrong: an access, a free, or a value that nobody has set and that decides, makes an address, or goes to the kernel. All is compiled with and without optimisation, with a limit on what the compiler may conclude from undefined behaviour:
pointers go through hide().
"""
import random
import subprocess

from memcheck_reports import marks_of, report

LEVELS = ("-O0", "-O1", "-O2", "-O3")
HEAD = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
static void *hide(void *pointer) { __asm__ volatile("" : "+r"(pointer) : : "memory"); return pointer; }
static inline unsigned long see(unsigned long value) { __asm__ volatile("" : "+r"(value)); return value; }
static volatile unsigned long sum, table[8];
static int null;
"""
CONDITION = "Conditional jump or move depends on uninitialised value(s)"
ADDRESS = "Use of uninitialised value of size 8"
SENT = "Syscall param write(buf) points to uninitialised byte(s)"
INVALID_FREE = "Invalid free() / delete / delete[] / realloc()"


class Program:
    """Source text, and what is to be reported: (sentence, mark), or nothing."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.expected = [], []
        self.blocks = {}   # name -> (type, elements)
        self.halves = {}   # name -> (type, elements, those of them that have values, from the first on)
        self.names = iter(f"b{i}" for i in range(1000))
        steps = self.random.randint(10, 30)
        wrong = self.random.choice(self.errors()) if self.random.random() < 0.85 else None
        at = self.random.randrange(steps // 2, steps)
        for step in range(steps):
            self.random.choice((self.allocate, self.allocate, self.fill, self.add, self.library, self.free,
                                self.half, self.copy_half, self.look_at_known, self.mask, self.padded))()
            if step == at and wrong:
                self.allocate()
                wrong()
        for name in [*self.blocks, *self.halves]:
            self.put(f"free(hide({name}));")
        body = "\n    ".join(self.lines)
        self.text = f"{HEAD}\nint main(void) {{\n    null = open(\"/dev/null\", O_WRONLY);\n    {body}\n    return 0;\n}}\n"

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

    def half(self):
        name, kind = next(self.names), self.random.choice(("unsigned char", "short", "int", "long", "double"))
        count = self.random.choice((2, 3, 8, 17, 64, 333))
        known = self.random.randrange(count)
        self.put(f"{kind} *{name} = hide(malloc({count} * sizeof *{name}));")
        self.put(f"for (int i = 0; i < {known}; i++) {name}[i] = ({kind})(i + 1);")
        self.halves[name] = (kind, count, known)

    def some_half(self, kinds=None):
        names = [name for name, (kind, _, _) in self.halves.items() if not kinds or kind in kinds]
        if not names:
            self.half()
            return self.some_half(kinds)
        name = self.random.choice(names)
        return name, *self.halves[name]

    def copy_half(self):
        name, kind, count, known = self.some_half()
        copy = next(self.names)
        how = self.random.choice((f"memcpy({copy}, {name}, {count} * sizeof *{name});",
                                  f"for (int i = 0; i < {count}; i++) {copy}[i] = {name}[i];",
                                  f"memmove({copy}, {name}, {count} * sizeof *{name});"))
        self.put(f"{kind} *{copy} = hide(calloc({count}, sizeof *{name}));")
        self.put(how)
        self.halves[copy] = (kind, count, known)

    def look_at_known(self):
        name, _, _, known = self.some_half()
        self.put(self.random.choice((f"for (int i = 0; i < {known}; i++) if ({name}[i] == 3) sum++;",
                                     f"sum += (unsigned long)write(null, {name}, {known} * sizeof *{name});",
                                     f"for (int i = 0; i < {known}; i++) sum += table[(unsigned long){name}[i] & 7];")))

    def unset(self, kinds=None):
        """An element that has no value, read where it is."""
        name, kind, count, known = self.some_half(kinds)
        return f"((volatile {kind} *)hide({name}))[{self.random.randrange(known, count)}]"

    WHOLE = ("unsigned char", "short", "int", "long")

    def mask(self):
        """All bits without a value are masked away, or set."""
        value = f"see((unsigned long){self.unset(self.WHOLE)})"
        self.put(self.random.choice((f"if (see({value} & 0xf0) & 0x0f) sum++;", f"if ((see({value} | 0xff) & 0xff) != 0xff) sum++;",
                                     f"if (see(({value} & 0xff) << 8) & 0xff) sum++;", f"if (see({value} & 0xff) >> 8) sum++;",
                                     f"if (see({value} * 2) & 1) sum++;",
                                     f"{{ struct {{ unsigned a : 5, b : 7; }} f; f.a = see({value}); f.b = 9; if (f.b == 7) sum++; }}")))

    def padded(self):
        name = next(self.names)
        self.put(f"struct {{ char c; int i; short s; }} {name}, {name}_copy; {name}.c = 1; {name}.i = 2; {name}.s = 3;")
        self.put(f"memcpy(hide(&{name}_copy), hide(&{name}), sizeof {name}); if ({name}_copy.c + {name}_copy.i == {name}_copy.s) sum++;")

    # ------------------------------------------------------------------------------------------------- wrong steps

    def errors(self):
        return (self.read_behind, self.write_behind, self.read_before, self.read_freed, self.write_freed, self.free_twice, self.free_inside,
                self.copy_behind, self.leak, self.undefined_condition, self.undefined_condition, self.undefined_address, self.undefined_sent,
                self.undefined_on_stack)

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

    def undefined_condition(self):
        value = self.unset(self.WHOLE)
        test = self.random.choice((f"{value} == 3", f"see({value}) & 0x10", f"(unsigned)({value}) * 5 + 1 > 7", f"see({value} ^ 0x55) & 1",
                                   f"see((unsigned long){value} << 3) & 8", f"{self.unset(('double',))} > 1.5"))
        self.plant(f"if ({test}) sum++;", CONDITION)

    def undefined_address(self):
        self.plant(f"sum += table[(unsigned long){self.unset(self.WHOLE)} & 7];", ADDRESS)

    def undefined_sent(self):
        name, _, _, known = self.some_half()
        self.plant(f"sum += (unsigned long)write(null, {name}, {known} * sizeof *{name} + 1);", SENT)

    def undefined_on_stack(self):
        count = self.random.choice((2, 9, 50, 700))
        self.put(f"{{ volatile int cells[{count}]; cells[0] = 1; if (cells[0] == 2) sum++;")
        self.plant(f"if (((volatile int *)hide((void *)cells))[{self.random.randrange(1, count)}] == 3) sum++;", CONDITION)
        self.put("}")

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


def run(seed, folder, commands):
    """What must be found in the program of that seed, and what each of the commands finds; and what to say if these differ."""
    made, level = Program(seed), LEVELS[seed % len(LEVELS)]
    source, program = folder / "memcheck_random.c", folder / "random"
    source.write_text(made.text)
    subprocess.run(["gcc", "-g", level, "-fno-builtin", "-w", "-o", program, source], check=True, timeout=60)
    expected = [(sentence, "planted") for sentence in made.expected]
    return expected, [found(command, program, marks_of(source)) for command in commands], f"seed {seed} {level}\n{made.text}"
