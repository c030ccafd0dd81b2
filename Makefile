# A thin front to meson, ninja and the scripts: every target is a line or two.
#
#   make                  build/sonde and its tools (installs what the build needs, on Debian and as root)
#   make demo             shows which line of a program misses the caches
#   make check            unit tests, then the tests in tests/ (long ones left out)
#   make check-long       the heavy programs and the sweep over /usr/bin
#   make bench            ratios to native and to valgrind, as a Markdown table
#   make fuzz-engine      the differential test without end; make fuzz: what reads files, under sanitizers
#   make install          into PREFIX
#
# Variables: BUILD (folder), PREFIX, JOBS, MESON_OPTIONS (as -Dwerror=true), PYTEST_OPTIONS.

BUILD ?= build
PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
NINJA = ninja -C $(BUILD) $(if $(JOBS),-j$(JOBS))
export BUILD PYTHON

.PHONY: all configure demo check check-long bench fuzz-engine fuzz install clean

all: configure
	@$(NINJA)

configure:
	@scripts/install-dependencies build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX)
	@$(if $(MESON_OPTIONS),meson configure $(BUILD) $(MESON_OPTIONS))

demo: all
	@scripts/install-dependencies demo
	@scripts/demo

check: configure
	@scripts/install-dependencies check
	@meson setup --reconfigure $(BUILD) > /dev/null
	@$(NINJA)
	@meson test -C $(BUILD) --print-errorlogs --no-rebuild
	@$(PYTHON) -m pytest tests -q -n 2 --ignore=tests/long $(PYTEST_OPTIONS)

check-long: all
	@scripts/install-dependencies check long
	@$(PYTHON) -m pytest tests/long -q $(PYTEST_OPTIONS)
	@SONDE_TEST_MATRIX=core $(PYTHON) -m pytest tests/test_features.py -q -n 2 -k test_code_generation_options $(PYTEST_OPTIONS)

bench: all
	@scripts/install-dependencies bench
	@$(PYTHON) bench/run.py --build=$(BUILD)

fuzz-engine: all
	@scripts/fuzz-engine

fuzz: all
	@scripts/fuzz

install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@meson install -C $(BUILD)

clean:
	@rm -rf $(BUILD)
