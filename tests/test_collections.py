"""<sonde/collections.h> in a tool out of the tree, filled in the code cache; and in C++."""

import subprocess

import pytest

from conftest import ROOT

PROGRAM = """
#include <stdint.h>
#include <stdio.h>
enum { WORDS = 8 * 512 };
static uint64_t first[WORDS] __attribute__((aligned(4096))) = {1}, second[WORDS] __attribute__((aligned(4096))) = {1};
__attribute__((noipa)) void fill(volatile uint64_t *words) { for (int i = 0; i < WORDS; i++) words[i] = 7; }
__attribute__((noipa)) void touch(volatile uint64_t *words) { for (int i = 0; i < WORDS; i += 8) words[i] = 8; }
int main(void) {
    fill(first);
    for (int i = 0; i < 3; i++) touch(second);
    touch(first);
    printf("%p %p\\n", (void *)first, (void *)second);
    return 0;
}
"""


@pytest.fixture(scope="module")
def tool(build_tool):
    return build_tool("collections")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    program = tmp_path_factory.mktemp("program") / "program"
    subprocess.run(["gcc", "-O1", "-fno-tree-vectorize", "-x", "c", "-", "-o", program], input=PROGRAM, text=True, check=True,
                   timeout=60)
    return program


@pytest.mark.parametrize("words", [(), ("--debug-superblocks=no", "--debug-links=no")])
def test_pages_by_function(sonde, tool, program, tmp_path, words):
    report = tmp_path / "report"
    ended = sonde(str(tool), f"--output={report}", "--only=fill", "--only=touch", *words, str(program))
    assert ended.returncode == 0 and not ended.stderr
    first, second = (int(address, 0) for address in ended.stdout.split())
    rows = [line.split(" ") for line in report.read_text().splitlines()]
    assert rows.pop() == ["lost", "0"]
    of_data = [(name, int(page, 0), int(count)) for name, page, count, path in rows if path == str(program)]
    assert sorted(of_data) == sorted([(name, start + page, count) for page in range(0, 8 * 4096, 4096)
                                      for name, start, count in (("fill", first, 512), ("touch", first, 64), ("touch", second, 192))])


CXX = """
#include <sonde/collections.h>
struct pair { uint64_t from, to; };
struct edge { pair key; uint64_t count; };
struct range { uint64_t start, end; };
static SN_TABLE(edge) edges;
static SN_VECTOR(range) ranges;
static sn_hash map;
static sn_index index_;
SN_FAST uint64_t fast(uint64_t a) {
    edge *made = sn_table_insert_fast(&edges, (pair{a, 2}), nullptr);
    range *held = sn_sorted_holding(&ranges, start, end, a);
    return (made ? made->count++ : 0) + (held ? held->start : 0);
}
uint64_t slow(uint64_t a) {
    uint32_t number;
    sn_table_insert(&edges, (pair{a, 2}), nullptr)->count++;
    sn_table_each(&edges, entry) a += entry->count;
    sn_table_remove(&edges, (pair{a, 2}));
    sn_vector_add(&ranges)->start = 1;
    sn_sorted_sort(&ranges, start);
    sn_hash_set(&map, a, *sn_hash_insert(&map, 2, nullptr));
    sn_index_each(&index_, a, number) a += number;
    return a;
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cxx(tmp_path, compiler):
    built = subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared", f"-I{ROOT / 'include'}", "-x", "c++",
                            "-", "-o", tmp_path / "tool.so"], input=CXX, text=True, capture_output=True, timeout=60)
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("entry", ["uint32_t key, value;", "uint64_t value, key;", "struct { uint64_t words[11]; } key;",
                                   "uint64_t key; uint8_t value;"])
def test_what_is_no_entry_is_refused(tmp_path, compiler, entry):
    source = """
#include <sonde/collections.h>
typedef struct __attribute__((packed)) entry { %s } entry;
bool has(void *data) { SN_TABLE(entry) *table = data; return sn_table_count(table) && sn_table_next(&table->core, NULL, SN_TABLE_SHAPE(table)); }
""" % entry
    built = subprocess.run([compiler, "-std=gnu17", f"-I{ROOT / 'include'}", "-x", "c", "-fsyntax-only", "-"], input=source,
                           text=True, capture_output=True, timeout=60)
    assert built.returncode != 0 and "negative" in built.stderr


@pytest.mark.parametrize("header", sorted(path.name for path in (ROOT / "include/sonde").glob("*.h")))
def test_each_header_stands_alone(header):
    built = subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", "-x", "c", "-fsyntax-only",
                            "-"], input=f"#include <sonde/{header}>\n", text=True, capture_output=True, timeout=60)
    assert built.returncode == 0, built.stderr
