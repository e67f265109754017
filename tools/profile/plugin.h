/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of QEMU's interface for plugins, version 1, that count.c uses: Debian 12 has no
 * header for it.  As in include/qemu/qemu-plugin.h and docs/devel/tcg-plugins.rst of QEMU 7.2.
 */
#ifndef _KOFI_PLUGIN_H
#define _KOFI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;

#define NO_REGISTERS		0	/* QEMU_PLUGIN_CB_NO_REGS */
#define READS_AND_WRITES	3	/* QEMU_PLUGIN_MEM_RW */

typedef uint64_t plugin_id;
typedef void (*translated_fn)(plugin_id id, struct qemu_plugin_tb *tb);
typedef void (*executed_fn)(unsigned int vcpu, void *data);
typedef void (*touched_fn)(unsigned int vcpu, uint32_t what, uint64_t addr,
			   void *data);

void qemu_plugin_reset(plugin_id id, void (*done)(plugin_id id));
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translated_fn fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    executed_fn fn, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      touched_fn fn, int flags, int rw, void *data);
void qemu_plugin_register_atexit_cb(plugin_id id,
				    void (*fn)(plugin_id id, void *data),
				    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t nth);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

#endif /* _KOFI_PLUGIN_H */
