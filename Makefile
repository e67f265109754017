# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What a person types. The work is done by Kbuild (modules) and by the small
# commands in scripts/.

# The newest kernel headers of this machine, unless told otherwise.
ifeq ($(origin KDIR),undefined)
KDIR := $(shell scripts/default-kdir)
endif

# Of make install
PREFIX ?= /usr/local
SHARE := $(PREFIX)/share/kofi
EXAMPLES := $(PREFIX)/share/doc/kofi-dev/examples
PLUGINS ?= $(PREFIX)/lib/wireshark/plugins
# What the kernel calls itself; Debian's kernel.release has the version it was made from
RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)

STAGE ?=
T ?=

.DEFAULT_GOAL := modules
.PHONY: modules modules_install install install-dev install-tools tools deb docs clean demo shell check coverage test two soak fuzz interop nvme bench lint mutants help check-kdir

modules: check-kdir	## build every module against KDIR
	@[ -n '$(KOFI_NVME_HEADERS)' ] || echo "clients/nvme is left out without KOFI_NVME_HEADERS; see Documentation/clients/nvme.rst"
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

# Before 6.3 Kbuild has another folder
modules_install: check-kdir
	@[ -e Module.symvers ] || { echo 'Nothing is built here: run "make" first.' >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_DIR=updates modules_install

install: modules_install install-dev install-tools	## install what is built, headers and tools (as root)
	install -m 644 Module.symvers $(INSTALL_MOD_PATH)/lib/modules/$(RELEASE)/updates/kofi.symvers
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(RELEASE)

# For modules that are kept outside this tree
install-dev:
	install -d $(DESTDIR)$(SHARE)/include/rdma $(DESTDIR)$(SHARE)/include/kofi
	install -m 644 include/rdma/*.h $(DESTDIR)$(SHARE)/include/rdma
	install -m 644 include/kofi/*.h $(DESTDIR)$(SHARE)/include/kofi
	install -d $(DESTDIR)$(SHARE)/kfi/include
	install -m 644 compat/kfi/include/*.h $(DESTDIR)$(SHARE)/kfi/include
	ln -sfn ../../include/rdma $(DESTDIR)$(SHARE)/kfi/include/rdma
	install -m 644 packaging/kofi.mk $(DESTDIR)$(SHARE)
	install -D -m 644 include/uapi/rdma/kofi_netlink.h \
		$(DESTDIR)$(PREFIX)/include/rdma/kofi_netlink.h
	cd Documentation/examples && find . -name Makefile -o -name '*.[ch]' ! -name '*.mod.c' | \
		xargs -I{} install -D -m 644 {} $(abspath $(DESTDIR)$(EXAMPLES))/{}

tools:	## kofi-info, into build/tools
	@mkdir -p build/tools
	$(MAKE) -C tools/kofi-info O=$(CURDIR)/build/tools

install-tools: tools
	$(MAKE) -C tools/kofi-info O=$(CURDIR)/build/tools DESTDIR=$(abspath $(DESTDIR)) \
		PREFIX=$(PREFIX) install
	install -D -m 644 tools/wireshark/kofi.lua $(DESTDIR)$(PLUGINS)/kofi.lua
	install -D -m 644 tools/wireshark/kofi_rxm.lua $(DESTDIR)$(PLUGINS)/kofi_rxm.lua

deb:	## Debian packages, into build/deb (scripts/deb)
	@scripts/deb

clean: check-kdir	## remove what "make" built here, and build/
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean
	$(RM) -r build

demo:	## boot QEMU and show ping-pong runs and an NVMe disk
	@scripts/demo

shell:	## the demo's guest, with a prompt
	@scripts/shell

check:	## KUnit in User-Mode Linux, in seconds; T="cq msg*" takes a part
	@set -f; scripts/check $(T)

coverage:	## what the suites execute: figures and build/coverage/index.html
	@set -f; scripts/coverage $(T)

test:	## the gate; STAGE="build kunit ..." runs some (see scripts/test)
	@scripts/test $(STAGE)

two:	## two guests joined by a network: loss, reordering, death (scripts/two)
	@scripts/two

soak:	## MINUTES=n (60): all that takes long, KCSAN=1: data races (scripts/soak)
	@MINUTES='$(MINUTES)' KCSAN='$(KCSAN)' scripts/soak $(PARTS)

fuzz:	## MINUTES=n (5): what peers may send, under libFuzzer (scripts/fuzz)
	@scripts/fuzz $(MINUTES)

interop:	## the kernel against stock user-space libfabric, both ways (scripts/interop)
	@scripts/interop

nvme:	## the NVMe host against the stock target (scripts/nvme)
	@scripts/nvme

bench:	## what it costs: figures and build/bench.svg (scripts/bench)
	@scripts/bench

docs:	## HTML of Documentation/, into build/docs (scripts/docs)
	@scripts/docs

lint:	## checkpatch, layout, cppcheck, kernel-doc, shellcheck on everything
	@scripts/lint

mutants:	## plant bugs in a copy: do the tests notice? SAMPLE=n SEED=s IN=folder
	@$(if $(SAMPLE),OPERATORS='$(OPERATORS)' scripts/mutants-sample '$(SAMPLE)' '$(or $(SEED),1)' $(IN),scripts/mutants)

help:	## this list
	@scripts/help

check-kdir:
	@scripts/default-kdir --check '$(KDIR)'
