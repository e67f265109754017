// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A plugin for QEMU's emulator.  It counts how often each instruction of a guest is
 * executed, and how often it touches memory, while a run of kofi_perf is under way.
 * For scripts/profile.
 *
 *	-plugin file=count.so,where=FILE,out=FILE
 *
 * A run is from the instruction at begin to the next one at end; a run that begins once
 * more before it ends is forgotten.  The plugin knows both addresses as soon as the first
 * lines of the file where= are
 *
 *	begin ADDRESS
 *	end ADDRESS
 *
 * The guest may write that file.  The file out= gets a line "runs COUNT", and for each
 * instruction
 *
 *	ADDRESS executed touches
 *
 * Counting makes the emulator slow, so it starts when the instruction at begin is
 * translated for the first time; before that, the plugin looks only at addresses.
 *
 * The guest must have one processor.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define API __attribute__((visibility("default")))

API int qemu_plugin_version = 1;

/* An instruction, once for each time that it has been translated */
struct insn {
	struct insn	*next;
	uint64_t	addr;
	uint64_t	executed;	/* in this run */
	uint64_t	touches;
	uint64_t	sum_executed;	/* in runs that have ended */
	uint64_t	sum_touches;
};

static struct insn *insns;
static const char *where;
static FILE *out;
static uint64_t begin, end;
static uint64_t runs;
static bool running, counting;

static void on_insn(unsigned int vcpu, void *data)
{
	struct insn *insn = data;

	insn->executed++;
}

static void on_touch(unsigned int vcpu, uint32_t what, uint64_t addr, void *data)
{
	struct insn *insn = data;

	insn->touches++;
}

/* Forget the counts of a run that has not ended */
static void insn_forget(struct insn *insn)
{
	insn->executed = 0;
	insn->touches = 0;
}

static void on_begin(unsigned int vcpu, void *data)
{
	struct insn *insn;

	for (insn = insns; insn; insn = insn->next)
		insn_forget(insn);
	running = true;
}

static void on_end(unsigned int vcpu, void *data)
{
	struct insn *insn;

	if (!running)
		return;
	for (insn = insns; insn; insn = insn->next) {
		insn->sum_executed += insn->executed;
		insn->sum_touches += insn->touches;
	}
	running = false;
	runs++;
}

static void insn_watch(struct qemu_plugin_insn *its)
{
	struct insn *insn = calloc(1, sizeof(*insn));

	if (!insn) {
		fprintf(stderr, "the counter has no memory left\n");
		exit(1);
	}
	insn->addr = qemu_plugin_insn_vaddr(its);
	insn->next = insns;
	insns = insn;
	/* A run may end where the next one begins */
	if (insn->addr == end)
		qemu_plugin_register_vcpu_insn_exec_cb(its, on_end,
						       NO_REGISTERS, NULL);
	if (insn->addr == begin)
		qemu_plugin_register_vcpu_insn_exec_cb(its, on_begin,
						       NO_REGISTERS, NULL);
	qemu_plugin_register_vcpu_insn_exec_cb(its, on_insn, NO_REGISTERS, insn);
	qemu_plugin_register_vcpu_mem_cb(its, on_touch, NO_REGISTERS,
					 READS_AND_WRITES, insn);
}

static void on_translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t i;

	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		insn_watch(qemu_plugin_tb_get_insn(tb, i));
}

static void on_guest_exit(plugin_id id, void *data)
{
	const struct insn *insn;

	fprintf(out, "runs %llu\n", (unsigned long long)runs);
	for (insn = insns; insn; insn = insn->next)
		if (insn->sum_executed)
			fprintf(out, "%016llx %llu %llu\n",
				(unsigned long long)insn->addr,
				(unsigned long long)insn->sum_executed,
				(unsigned long long)insn->sum_touches);
	fclose(out);
}

/* Called after qemu_plugin_reset(); QEMU translates all instructions once more */
static void start(plugin_id id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_atexit_cb(id, on_guest_exit, NULL);
}

/* Reads the file only in every 64th call, as each translated block calls this */
static bool begin_is_known(void)
{
	static unsigned int asked;
	unsigned long long from, to;
	FILE *file;

	if (begin || asked++ % 64)
		return begin;
	file = fopen(where, "r");
	if (!file)
		return false;
	if (fscanf(file, "begin %llx end %llx\n", &from, &to) == 2) {
		begin = from;
		end = to;
	}
	fclose(file);
	return begin;
}

static void await_begin(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t i;

	if (counting || !begin_is_known())
		return;
	for (i = 0; i < qemu_plugin_tb_n_insns(tb) && !counting; i++)
		counting = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)) ==
			   begin;
	if (counting)
		qemu_plugin_reset(id, start);
}

API int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "where=", 6))
			where = argv[i] + 6;
		else if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	}
	if (!where || !out) {
		fprintf(stderr, "the counter needs where= and out=, a file to write\n");
		return 1;
	}
	where = strdup(where);
	qemu_plugin_register_vcpu_tb_trans_cb(id, await_begin);
	return !where;
}
