"""@fileoverview Makes the inputs of the benchmark's workloads: text, a C file, an SQL script.

Each is a function of its size alone, so that figures of different days and machines belong to the same work. The
numbers come from a generator written out here, not from Python's random module, whose sequence is not promised.
bench/suite.py calls it.
"""


class Sequence:
    """A 64-bit xorshift generator."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF or 1

    def below(self, limit):
        state = self.state
        state ^= state << 13 & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= state << 17 & 0xFFFFFFFFFFFFFFFF
        self.state = state
        return (state >> 11) % limit


def words(sequence, count):
    """A vocabulary whose words look like a language's: syllables, one to four a word."""
    consonants, vowels = "bcdfghklmnprstvwz", "aeiou"
    result = []
    for _ in range(count):
        syllables = 1 + sequence.below(4)
        result.append("".join(consonants[sequence.below(17)] + vowels[sequence.below(5)] for _ in range(syllables)))
    return result


def text(size):
    """Lines of words with some numbers, dates and addresses among them: what compressors and expressions work on."""
    sequence = Sequence(1)
    vocabulary = words(sequence, 4000)
    lines, length = [], 0
    while length < size:
        parts = []
        for _ in range(6 + sequence.below(8)):
            # The smaller of two draws: frequent and rare words, as in any language.
            parts.append(vocabulary[min(sequence.below(4000), sequence.below(4000))])
        kind = sequence.below(12)
        if kind == 0:
            parts.insert(2, "%04d-%02d-%02d" % (1990 + sequence.below(40), 1 + sequence.below(12), 1 + sequence.below(28)))
        elif kind == 1:
            parts.insert(3, "%s@%s.example" % (parts[0], parts[1]))
        elif kind == 2:
            parts.insert(1, str(sequence.below(1000000)))
        line = " ".join(parts)
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines) + "\n"


_FUNCTIONS = (
    """static unsigned mix_{n}(const unsigned *values, unsigned count, unsigned seed)
{{
    unsigned hash = seed * {a}u + {b}u;
    for (unsigned index = 0; index < count; index++) {{
        hash ^= values[index] + (hash << {s}) + (hash >> {t});
        if (hash % {c}u == {n}u % {c}u)
            hash = hash * {a}u + index;
        else
            hash += values[(index * {b}u) % count];
    }}
    return hash;
}}
""",
    """static double curve_{n}(const double *points, int count, double scale)
{{
    double sum = {b}.5, product = 1.0;
    for (int index = 1; index < count; index++) {{
        double slope = points[index] - points[index - 1];
        sum += slope * scale / ({c}.0 + slope * slope);
        if (slope > {s}.25)
            product *= 1.0 + slope / {a}.0;
        else if (slope < -{t}.75)
            product /= 1.0 - slope / {b}.0;
    }}
    return sum * product;
}}
""",
    """static int classify_{n}(struct record *record, int key)
{{
    switch ((key * {a} + {b}) & 15) {{
    case 0: record->total += key; return {s};
    case 1: record->total -= key * {t}; break;
    case 2: record->count++; record->tag[key & 7] = (char)('a' + key % {c}); break;
    case 3: if (record->next) return record->next->count + {n}; break;
    case 4: case 5: record->ratio *= 1.0 + key / {a}.0; return {t};
    case 7: for (int bit = 0; bit < {s}; bit++) record->total ^= key << bit; break;
    case 9: record->count = (int)(record->ratio * {b}.0) % {c}; break;
    case 12: return record->tag[0] == 'x' ? -{n} : {n};
    default: record->total = record->total * {c} + {n};
    }}
    return (int)(record->total % {a});
}}
""",
    """static struct record *search_{n}(struct record *list, long wanted)
{{
    struct record *best = list;
    long distance = {a};
    for (struct record *here = list; here; here = here->next) {{
        long apart = here->total > wanted ? here->total - wanted : wanted - here->total;
        if (apart * {s} < distance || (apart == distance && here->count > {b})) {{
            distance = apart;
            best = here;
        }}
        if (!distance)
            break;
    }}
    if (best)
        best->count += (int)(distance % {c});
    return best;
}}
""",
    """static void transform_{n}(unsigned char *bytes, unsigned size)
{{
    for (unsigned index = 0; index + {t} < size; index++) {{
        unsigned char byte = bytes[index];
        byte = (unsigned char)((byte << {r}) | (byte >> (8 - {r})));
        bytes[index] = (unsigned char)(byte ^ bytes[index + {t}] ^ {c});
    }}
    for (unsigned low = 0, high = size - 1; low < high; low++, high--) {{
        unsigned char kept = bytes[low];
        bytes[low] = (unsigned char)(bytes[high] + {s});
        bytes[high] = (unsigned char)(kept - {s});
    }}
}}
""",
)

_CALLS = (
    "result += mix_{n}(numbers, 64, (unsigned)result);",
    "result += (long)curve_{n}(points, 64, result % 7 + 0.5);",
    "result += classify_{n}(&records[result & 7], (int)(result & 1023));",
    "result += search_{n}(records, result)->total;",
    "transform_{n}(bytes, 64); result += bytes[result & 63];",
)


def c_file(lines):
    """A C translation unit of about that many lines that includes nothing, so that the compiler alone can read it."""
    sequence = Sequence(2)
    out = ["struct record { long total; int count; double ratio; char tag[8]; struct record *next; };\n"]
    calls, length, number = [], 1, 0
    while length + len(calls) + 12 < lines:
        kind = sequence.below(len(_FUNCTIONS))
        function = _FUNCTIONS[kind].format(
            n=number, a=3 + 2 * sequence.below(500), b=1 + sequence.below(97), c=3 + sequence.below(20),
            s=1 + sequence.below(7), t=2 + sequence.below(6), r=1 + sequence.below(7))
        out.append(function)
        calls.append("    " + _CALLS[kind].format(n=number) + "\n")
        length += function.count("\n")
        number += 1
    out.append("long drive(unsigned *numbers, double *points, unsigned char *bytes, struct record *records)\n{\n"
               "    long result = 1;\n")
    out.extend(calls)
    out.append("    return result;\n}\n")
    return "".join(out)


def sql(rows):
    """An SQL script: a table filled, indexed, joined, grouped, updated and searched."""
    sequence = Sequence(3)
    vocabulary = words(sequence, 300)
    out = ["PRAGMA journal_mode=MEMORY;", "BEGIN;",
           "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, shelf INTEGER, price REAL);",
           "CREATE TABLE sale(item INTEGER, day INTEGER, amount INTEGER);"]
    for number in range(rows):
        out.append("INSERT INTO item VALUES(%d,'%s %s',%d,%d.%02d);" % (
            number, vocabulary[sequence.below(300)], vocabulary[sequence.below(300)], sequence.below(50),
            sequence.below(900), sequence.below(100)))
        for _ in range(3):
            out.append("INSERT INTO sale VALUES(%d,%d,%d);" % (
                sequence.below(rows), sequence.below(365), 1 + sequence.below(9)))
    out += ["COMMIT;", "CREATE INDEX by_item ON sale(item);", "CREATE INDEX by_name ON item(name);"]
    for _ in range(3):
        out += [
            "SELECT shelf, count(*), round(sum(price * amount), 2) FROM item JOIN sale ON item.id = sale.item"
            " WHERE day BETWEEN %d AND 300 GROUP BY shelf ORDER BY 3 DESC;" % sequence.below(100),
            "SELECT count(*) FROM item WHERE name LIKE '%%%s%%';" % vocabulary[sequence.below(300)],
            "UPDATE item SET price = price * 1.01 WHERE shelf %% 7 = %d;" % sequence.below(7),
            "SELECT a.name, count(*) FROM item a JOIN item b ON a.name = b.name AND a.id < b.id"
            " GROUP BY a.name ORDER BY 2 DESC, 1 LIMIT 20;",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
            " SELECT sum(i * i %% 7), group_concat(DISTINCT i %% 11) FROM n;" % (rows * 10),
        ]
    return "\n".join(out) + "\n"
