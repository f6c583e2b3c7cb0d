# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Thin on purpose: what is built how is written in Kbuild (the module), CMakeLists.txt (user space)
# and scripts/ (everything else). All output goes to build/.
BUILD   := $(CURDIR)/build
JOBS    ?= 2
DESTDIR ?=

# The module: KDIR is a kernel's build folder, ARCH=um goes along for User-mode Linux. Each kernel has
# its own folder of links to the sources, because old kbuild puts objects beside them.
KDIR    ?= /lib/modules/$(shell uname -r)/build
RELEASE  = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
NAME    ?= $(RELEASE)
MODULE   = $(BUILD)/module/$(NAME)
KBUILD   = $(MAKE) -C $(KDIR) M=$(MODULE) $(if $(ARCH),ARCH=$(ARCH)) $(if $(W),W=$(W)) $(if $(C),C=$(C))
CMAKE    = cmake -G Ninja -Wno-dev

.PHONY: help module module-links userlib tools install install-module install-userlib install-tools uninstall demo check test-unit test-sim test-fuzz test-vm \
	bench style format clean

help:
	@echo 'make module [KDIR=…] [ARCH=um]   build sroce.ko in build/module/RELEASE/; W=1 and C=2 as in the kernel'
	@echo '                                 make module $$(scripts/kdir 6.12): in build/module/6.12/, for a kernel from scripts/setup'
	@echo 'make userlib                     build the rdma-core provider in build/userlib/'
	@echo 'make tools                       build the command sroce in build/tools/'
	@echo 'make install [KDIR=…]            install module, tool and, if it is built, the provider; DESTDIR= for a package'
	@echo 'make install-userlib             the provider alone, as in a container; also: install-module, install-tools'
	@echo 'make uninstall [KDIR=…]          remove what was installed from this folder'
	@echo 'make demo                        the main job: two guests and stock RDMA tools'
	@echo 'make check                       the tests that CI runs (scripts/check --full: what takes long, too)'
	@echo 'make test-unit                   unit tests with the sanitizers'
	@echo 'make test-sim                    whole conversations in virtual time'
	@echo 'make test-fuzz                   replay the fuzzers'\'' corpora and a fixed number of new inputs'
	@echo 'make test-vm                     the cases that need a kernel'
	@echo 'make bench                       measure beside rdma_rxe, siw and TCP (scripts/bench --help: more)'
	@echo 'make style                       layers, purity, headers, comments, formatting'
	@echo 'make format                      format C++ in place'
	@echo 'make clean                       remove build/'

module: module-links
	+$(KBUILD) modules
	@echo 'built $(MODULE)/sroce.ko'

module-links:
	@test -n '$(NAME)' || { echo 'no kernel build folder at KDIR=$(KDIR): linux-headers of this kernel, or make module $$(scripts/kdir 6.12)' >&2; exit 1; }
	@mkdir -p $(MODULE)
	@cp -rsfT $(CURDIR)/kernel $(MODULE)/kernel
	@ln -sf $(CURDIR)/Kbuild $(MODULE)/Kbuild
	@find $(MODULE) -xtype l -delete

userlib:
	$(CMAKE) -S userlib -B $(BUILD)/userlib
	cmake --build $(BUILD)/userlib -j $(JOBS)

tools:
	$(CMAKE) -S tools -B $(BUILD)/tools
	cmake --build $(BUILD)/tools -j $(JOBS)

install: install-module install-tools $(if $(wildcard $(BUILD)/userlib),install-userlib)

install-module: module
	$(KBUILD) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

install-tools install-userlib: install-%: %
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)/$*

uninstall:
	rm -f $(DESTDIR)/lib/modules/$(RELEASE)/updates/sroce.ko*
	sed 's|^|$(DESTDIR)|' /dev/null $(wildcard $(BUILD)/*/install_manifest.txt) | xargs -r -d '\n' rm -fv

demo check bench:
	scripts/$@

test-unit:
	$(CMAKE) -S tests -B $(BUILD)/tests >/dev/null
	cmake --build $(BUILD)/tests -j $(JOBS) --target unit/all -- --quiet
	tests/unit/run $(BUILD)/tests

test-sim:
	$(CMAKE) -S tests -B $(BUILD)/tests >/dev/null
	cmake --build $(BUILD)/tests -j $(JOBS) --target sim/all -- --quiet
	tests/sim/run $(BUILD)/tests

test-fuzz:
	CC=clang CXX=clang++ $(CMAKE) -S tests -B $(BUILD)/fuzz -DSROCE_FUZZ=ON >/dev/null
	cmake --build $(BUILD)/fuzz -j $(JOBS) -- --quiet
	tests/fuzz/run $(BUILD)/fuzz

test-vm:
	scripts/vm

style:
	tests/style/run

format:
	clang-format -i $$(git ls-files --cached --others --exclude-standard '*.cc' 'tools/*.h' 'tests/*.h' ':!tests/port/linux' ':!tests/port/asm' ':!tests/bench/ulp')

clean:
	rm -rf $(BUILD)
