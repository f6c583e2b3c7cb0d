# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# This file only dispatches. Kbuild builds the module, CMakeLists.txt files build user space, and
# scripts/ has everything else. All output goes to build/.
BUILD   := $(CURDIR)/build
JOBS    ?= 2
PREFIX  ?= /usr/local
DESTDIR ?=
# What is installed, for make uninstall
LISTS   ?= $(BUILD)/installed

ifneq ($(words [$(CURDIR)][$(BUILD)]),1)
$(error make takes no space in a path: $(CURDIR), $(BUILD))
endif
# cmake and kbuild run in other folders, so the path must be absolute.
ifneq ($(word 2,$(DESTDIR)),)
$(error DESTDIR must not have spaces: $(DESTDIR))
endif
override DESTDIR := $(patsubst /,,$(abspath $(DESTDIR)))

# The module: KDIR is a kernel's build folder; User-mode Linux also needs ARCH=um. Each kernel has
# its own folder of links to the sources, because older kbuild puts objects beside them.
KDIR    ?= /lib/modules/$(shell uname -r)/build
RELEASE  = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
NAME    ?= $(RELEASE)
MODULE   = $(BUILD)/module/$(NAME)
KBUILD   = $(MAKE) -C $(KDIR) M=$(MODULE) $(if $(ARCH),ARCH=$(ARCH)) $(if $(W),W=$(W)) $(if $(C),C=$(C))
CMAKE    = cmake -G Ninja -Wno-dev
ARM64    = --toolchain $(CURDIR)/scripts/lib/arm64.cmake

.PHONY: help module module-links module-ulp userlib tools install install-module install-userlib install-tools uninstall demo check test-unit test-unit-arm64 test-sim test-fuzz test-vm \
	bench style format clean userland-arm64

help:
	@echo 'make module [KDIR=…] [ARCH=um]   build sroce.ko in build/module/RELEASE/; takes W=1 and C=2, as the kernel does'
	@echo '                                 for a kernel of scripts/setup: make module $$(scripts/kdir 6.12)'
	@echo 'make userlib                     build the rdma-core provider in build/userlib/'
	@echo 'make tools                       build the sroce command in build/tools/'
	@echo 'make install [KDIR=…]            install the module and the tool; also install-module, install-tools; the tool goes'
	@echo '                                 to PREFIX=/usr/local, and all below DESTDIR='
	@echo 'make install-userlib             install the provider, and let libibverbs ask it first; also in a container'
	@echo 'make uninstall                   remove what these have put, everywhere or in DESTDIR; not after make clean'
	@echo 'make demo                        boot two guests and run stock RDMA tools between them'
	@echo 'make check                       run the tests that CI runs; scripts/check --full adds the slow ones'
	@echo 'make test-unit                   run the unit tests with the sanitizers'
	@echo 'make test-sim [FULL=--full]      run the protocol simulator and a quarter of the mutations, or all'
	@echo 'make test-fuzz                   replay the fuzzing corpora and try a fixed number of new inputs'
	@echo 'make test-vm                     run the guest cases'
	@echo 'make bench                       compare with rdma_rxe, siw and TCP; see scripts/bench --help'
	@echo 'make style                       check layering, purity, headers, comments and formatting'
	@echo 'make format                      format the C++ sources in place'
	@echo 'make clean                       remove build/'

module: module-links
	+$(KBUILD) modules
	@echo 'built $(MODULE)/sroce.ko'

# A consumer of RDMA devices inside the kernel and an exporter of DMA-BUFs, for guests.
module-ulp: MODULE = $(BUILD)/ulp/$(NAME)
module-ulp:
	@mkdir -p $(MODULE)
	@cp -rsfT $(CURDIR)/tests/vm/ulp $(MODULE)
	@find $(MODULE) -xtype l -delete
	+$(KBUILD) modules

module-links:
	@test -n '$(NAME)' || { echo 'no kernel build folder at KDIR=$(KDIR); install the linux-headers of this kernel, or: make module $$(scripts/kdir 6.12)' >&2; exit 1; }
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

# Compiled only, with the libraries of scripts/setup.
userland-arm64:
	for part in userlib tools; do \
		export SROCE_ARM64=$$(scripts/setup --path arm64); \
		$(CMAKE) $(ARM64) -S $$part -B $(BUILD)/$$part-arm64 && cmake --build $(BUILD)/$$part-arm64 -j $(JOBS) || exit; \
	done

# Each part has a list of what was installed last. The provider is not installed unless asked for: it
# changes how all RDMA programs open these devices.
install: install-module install-tools

# Before Linux 6.2, modules_install puts the module elsewhere unless INSTALL_MOD_DIR is set. In a DESTDIR,
# depmod is for whoever unpacks that. The module is not compressed, so that it can be signed. Modprobe would
# prefer a compressed one of an earlier install.
install-module: module
	rm -f $(foreach kind,gz xz zst,'$(DESTDIR)/lib/modules/$(RELEASE)/updates/sroce.ko.$(kind)')
	$(KBUILD) $(if $(DESTDIR),INSTALL_MOD_PATH='$(DESTDIR)') INSTALL_MOD_DIR=updates INSTALL_MOD_STRIP=1 $(foreach kind,GZIP XZ ZSTD,CONFIG_MODULE_COMPRESS_$(kind)=) DEPMOD=true modules_install
	cd '$(DESTDIR)/' && ls -d lib/modules/$(RELEASE)/updates/sroce.ko* | sed 's|^|/|' | $(CURDIR)/scripts/lib/installed.sh list '$(LISTS)/module-$(NAME)' '$(DESTDIR)'
	$(if $(DESTDIR),,depmod $(RELEASE))

install-tools: tools
	DESTDIR='$(DESTDIR)' cmake --install $(BUILD)/tools --prefix '$(PREFIX)' --strip
	scripts/lib/installed.sh list '$(LISTS)/tools' '$(DESTDIR)' <'$(BUILD)/tools/install_manifest.txt'

# Its folder is that of libibverbs, whatever PREFIX is.
install-userlib: userlib
	DESTDIR='$(DESTDIR)' cmake --install $(BUILD)/userlib --strip
	scripts/lib/installed.sh list '$(LISTS)/userlib' '$(DESTDIR)' <'$(BUILD)/userlib/install_manifest.txt'
	scripts/lib/provider.sh install '$(DESTDIR)'

uninstall:
	@scripts/lib/installed.sh remove '$(LISTS)' '$(DESTDIR)'

demo check bench:
	scripts/$@

test-unit:
	$(CMAKE) -S tests -B $(BUILD)/tests >/dev/null
	cmake --build $(BUILD)/tests -j $(JOBS) --target unit/all -- --quiet
	tests/unit/run $(BUILD)/tests

test-unit-arm64:
	$(CMAKE) $(ARM64) -S tests -B $(BUILD)/tests-arm64 -DSROCE_SANITIZE=OFF >/dev/null
	cmake --build $(BUILD)/tests-arm64 -j $(JOBS) --target unit/all -- --quiet
	EMULATOR="$$(command -v qemu-aarch64-static || echo qemu-aarch64) -L /usr/aarch64-linux-gnu" tests/unit/run $(BUILD)/tests-arm64

test-sim:
	$(CMAKE) -S tests -B $(BUILD)/tests >/dev/null
	cmake --build $(BUILD)/tests -j $(JOBS) --target sim/all unit/transport/all unit/kernel/all -- --quiet
	tests/sim/run $(BUILD)/tests $(filter --full,$(FULL))

test-fuzz:
	CC=clang CXX=clang++ $(CMAKE) -S tests -B $(BUILD)/fuzz -DSROCE_FUZZ=ON >/dev/null
	cmake --build $(BUILD)/fuzz -j $(JOBS) -- --quiet
	tests/fuzz/run $(BUILD)/fuzz

test-vm:
	scripts/vm

style:
	tests/style/run

format:
	clang-format -i $$(git ls-files --cached --others --exclude-standard '*.cc' 'tools/*.h' 'tests/*.h' ':!tests/port/linux' ':!tests/port/asm' ':!tests/stand_in' ':!tests/vm/ulp')

clean:
	rm -rf '$(BUILD)'
