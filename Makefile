# make          build everything into build/
# make demo     trace a bundled program, print which field misses the cache, what to change and what that gains
# make test     lint, unit tests, tests of the pass, end-to-end tests
# make bench WHAT=record
# make dynamorio  what records unmodified binaries; make dynamorio-aarch64  the same for AArch64
# make program  bin/trackway without bin/trackway-lake, which takes longer to compile than all the rest: SQL, folders of
#               Parquet, object stores
# make quick-program  bin/trackway as the demo builds it: in a third of the time of make program, and only what records and
#               analyses is optimised
# make preload  what records allocations; part of make
# make place    what places allocations in far memory; part of make
# make python   the Python package, in a virtual environment of its own in build/python
# make kafka    a broker for tests of live queries, in build/kafka
# make install PREFIX=/usr/local DESTDIR=    what make built, into a folder
# make package  a Debian package, a tarball and a wheel, in dist
# make test-long  what takes too long for make test: the packages, each in a fresh Debian system
# make docs     the documentation as a book, in build/docs
# make linters  what checks Python and the page's scripts, in build/linters
# make format   bring all sources into the project's style

BUILD := build
JOBS ?= 2
WHAT ?= record
# The versions of LLVM that the pass is built for; trackway cc takes the plugin that fits the compiler.
LLVM ?= 19 22
# Processors that the runtime is built for, beside this machine's.
FOREIGN ?= aarch64-linux-gnu riscv64-linux-gnu powerpc64le-linux-gnu x86_64-linux-gnu
PREFIX ?= /usr/local
CC_OF_PASS ?= clang-22
CXX_OF_PASS ?= clang++-22

LIBRARY := $(abspath $(BUILD))/lib/trackway
FORMATTED = $(shell git ls-files '*.c' '*.h' '*.cpp' ':!collectors/pass/test')

all: build

setup:
	@setup/install $(PURPOSE)

build: pass uses runtime streams preload place lake

pass: $(LLVM:%=pass-%)
	@cd $(LIBRARY) && test ! -e TrackwayPass22.so || ln -sf TrackwayPass22.so TrackwayPass.so

pass-%: setup
	@mkdir -p $(BUILD)
	@cmake -S collectors/pass -B $(BUILD)/pass-$* -DCMAKE_BUILD_TYPE=Release -DTRACKWAY_LLVM_VERSION=$* \
		-DCMAKE_C_COMPILER=$(CC_OF_PASS) -DCMAKE_CXX_COMPILER=$(CXX_OF_PASS) \
		-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$(LIBRARY) >$(BUILD)/pass-$*.log 2>&1 || { cat $(BUILD)/pass-$*.log; exit 1; }
	@cmake --build $(BUILD)/pass-$* --parallel $(JOBS) -- --no-print-directory

uses: $(LLVM:%=uses-%)

uses-%: setup
	@mkdir -p $(BUILD)
	@cmake -S fix/uses -B $(BUILD)/uses-$* -DCMAKE_BUILD_TYPE=Release -DTRACKWAY_LLVM_VERSION=$* \
		-DCMAKE_CXX_COMPILER=$(CXX_OF_PASS) -DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$(LIBRARY) \
		>$(BUILD)/uses-$*.log 2>&1 || { cat $(BUILD)/uses-$*.log; exit 1; }
	@cmake --build $(BUILD)/uses-$* --parallel $(JOBS) -- --no-print-directory

runtime: setup $(FOREIGN:%=runtime-%)
	@$(MAKE) --no-print-directory -C collectors/runtime OUT=$(LIBRARY) INCLUDE=$(abspath $(BUILD))/include
	@ln -sfn ../../include $(LIBRARY)/include

# Streams of C++ are compiled with the pass, for the programs that are linked with them.
streams: pass runtime
	@$(MAKE) --no-print-directory -C collectors/runtime/libstdcxx OUT=$(LIBRARY) OBJ=$(abspath $(BUILD))/obj/streams

preload: setup
	@$(MAKE) --no-print-directory -C collectors/preload OUT=$(LIBRARY) OBJ=$(abspath $(BUILD))/obj/preload

place: setup
	@$(MAKE) --no-print-directory -C collectors/place OUT=$(LIBRARY) OBJ=$(abspath $(BUILD))/obj/place

# For programs of other processors, where their C library is installed.
runtime-%: setup
	@test ! -e /usr/$*/include/stdio.h || $(MAKE) --no-print-directory -C collectors/runtime TARGET=$* \
		OUT=$(LIBRARY)/$* OBJ=$(abspath $(BUILD))/obj/runtime-$* INCLUDE=$(abspath $(BUILD))/include

# trackway, and trackway-lake, too, if that is there already: both must be of the same sources.
program: PROGRAMS := trackway $(notdir $(wildcard $(BUILD)/bin/trackway-lake))
lake: PROGRAMS := trackway trackway-lake

# Programs of all packages, as setup/python and the tests do: of another selection cargo would choose other features of
# what they share, and build that once more.
program lake: PROFILE := release
program lake: setup
	cargo build --release --locked --quiet --workspace $(PROGRAMS:%=--bin %)
	$(install-programs)

# With no more features than trackway itself asks for.
quick-program: PROGRAMS := trackway
quick-program: PROFILE := demo
quick-program: setup
	cargo build --profile demo --locked --package trackway --bin trackway
	$(install-programs)

# Copied only when they changed, so that programs built by them aren't built again for nothing.
define install-programs
@mkdir -p $(BUILD)/bin
@for name in $(PROGRAMS); do \
	cmp -s target/$(PROFILE)/$$name $(BUILD)/bin/$$name || install target/$(PROFILE)/$$name $(BUILD)/bin || exit 1; \
done
@for name in trackway-cc trackway-c++ trackway-fc trackway-rustc cargo-trackway; do ln -sf trackway $(BUILD)/bin/$$name; done
endef

python: setup
	@setup/python
	@setup/spark

kafka: python
	@setup/kafka >/dev/null

demo:
	+@setup/demo

# Builds nothing, so that root needs no Rust.
install:
	@packaging/stage "$(DESTDIR)$(PREFIX)"

package: PURPOSE := --package
package: build $(if $(filter x86_64,$(shell uname -m)),dynamorio)
	@packaging/package

linters: setup
	@setup/linters

docs:
	@setup/mdbook
	@$(BUILD)/mdbook/bin/mdbook build --dest-dir $(abspath $(BUILD))/docs
	@echo "the book begins at $(BUILD)/docs/index.html"

# Crates are compiled without optimising, but for those that Cargo.toml names with 3 (tests/own_crates.py).
test: export CARGO_PROFILE_RELEASE_OPT_LEVEL := 0
test: build dynamorio dynamorio-aarch64 python kafka linters
	@tests/run

test-long: package
	@tests/long

dynamorio: setup
	@folder=$$(setup/dynamorio) && $(MAKE) --no-print-directory -C collectors/dynamorio DYNAMORIO=$$folder \
		OUT=$(LIBRARY)/dynamorio && $(MAKE) --no-print-directory -C bench/dynamorio DYNAMORIO=$$folder OUT=$(LIBRARY)/dynamorio

dynamorio-aarch64: setup
	@folder=$$(setup/dynamorio --aarch64) && $(MAKE) --no-print-directory -C collectors/dynamorio DYNAMORIO=$$folder \
		TARGET=aarch64-linux-gnu OUT=$(LIBRARY)/aarch64-linux-gnu/dynamorio

bench: build $(if $(filter live scale,$(firstword $(WHAT))),kafka)
	@bench/run $(WHAT)

format: setup
	cargo fmt --all
	clang-format-19 -i $(FORMATTED)

clean:
	rm -rf $(BUILD) dist
	cargo clean

.PHONY: all setup build pass uses runtime preload place program quick-program lake python kafka linters docs demo install package test test-long dynamorio dynamorio-aarch64 bench format clean
