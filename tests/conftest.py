"""@fileoverview What all Python tests share: where the build is, and how to run Sonde.

The build folder is that of the variable BUILD (as the Makefile sets it), `build` of the tree otherwise.
"""
import os
import pathlib
import subprocess

import pytest

import browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
SONDE = BUILD / "sonde"

# What reads symbols and lines, with what it needs: tests compile it apart, with sanitizers.
IMAGE_SOURCES = sorted((ROOT / "src" / "image").glob("*.c")) + [
    ROOT / "src" / "base" / name for name in ("arena.c", "hash.c", "intern.c", "lock.c", "table.c", "vector.c")
]


def run_sonde(*arguments, timeout=60, **options):
    """Run build/sonde; returns the completed process with its texts."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([str(SONDE), *map(str, arguments)], timeout=timeout, text=True, errors="replace", **options)


@pytest.fixture(scope="session")
def sonde():
    """run_sonde, after a look whether there is a build at all."""
    assert SONDE.exists(), f"{SONDE} is not built: run make"
    return run_sonde


@pytest.fixture(scope="session")
def build_tool(tmp_path_factory):
    """Build a tool as a stranger would: build_tool(name) -> path of the shared object. Its source is tests/tools/NAME.c, or given."""
    folder = tmp_path_factory.mktemp("tools")

    def build(name, source=None):
        source_file, target = folder / f"{name}.c", folder / f"{name}.so"
        source_file.write_text(source or (ROOT / "tests" / "tools" / f"{name}.c").read_text())
        subprocess.run(["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared",
                        f"-I{ROOT / 'include'}", "-o", target, source_file], check=True, timeout=60)
        return target

    return build


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A headless Chromium, for a module's tests of pages: browser.needed skips them where there is none."""
    opened = browser.Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
