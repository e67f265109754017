# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# For the Makefile of a module that is kept outside the tree of kOFI, a client or a provider:
#
#	obj-m := my_client.o
#	include $(or $(KOFI),/usr/share/kofi)/kofi.mk
#
# "make" builds for the running kernel, "make KDIR=DIR" for another one.  Kbuild reads the
# Makefile a second time, with KBUILD_EXTMOD set; then this names kOFI's headers and the
# versions of its symbols.  Those are where DKMS has built kOFI for that kernel, or where
# "make install" has put them, with KOFI=/usr/local/share/kofi and, if that had one, the same
# INSTALL_MOD_PATH; KOFI_SYMVERS names another file.

ifneq ($(KBUILD_EXTMOD),)

subdir-ccflags-y += -I$(dir $(lastword $(MAKEFILE_LIST)))include

KOFI_SYMVERS ?= $(firstword \
	$(wildcard $(INSTALL_MOD_PATH)/lib/modules/$(KERNELRELEASE)/updates/kofi.symvers \
		   /var/lib/dkms/kofi/*/$(KERNELRELEASE)/*/Module.symvers))
ifeq ($(KOFI_SYMVERS),)
$(error kOFI is not installed for kernel $(KERNELRELEASE); install kofi-dkms and the headers of that kernel, or have KOFI_SYMVERS name kOFI's Module.symvers)
endif
KBUILD_EXTRA_SYMBOLS += $(KOFI_SYMVERS)

else

KDIR ?= /lib/modules/$(shell uname -r)/build

.DEFAULT_GOAL := modules
.PHONY: modules modules_install clean

modules modules_install clean:
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@

endif
