// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The sample clients, loaded as a user would: that of README.md against a server here,
 * and that of the client guide, which is its own server; kofi_bulk, which is its own peer; and
 * kofi_pingpong, which is unloaded while it waits.  And what the clients say of parameters that
 * are wrong.
 *
 * They work while they are being loaded, so modprobe runs from a work item; its exit
 * status tells how the client fared.
 */
#include <linux/umh.h>
#include <linux/workqueue.h>
#include "../lib/log.h"
#include "verbs.h"

#define VT_TEXT	"hello from the sample"

/* One run of the sample may lose its message to siw, hardly all of them */
#define VT_IWARP_RUNS	5

/**
 * struct vt_modprobe - A run of modprobe
 * @work: runs it
 * @node: parameter of that name
 * @service: parameter of that name
 * @args: command line
 * @env: environment
 * @loads: not a run that unloads
 * @status: how it ended
 * @loaded: the sample that is loaded, or NULL
 */
struct vt_modprobe {
	struct work_struct	work;
	char			node[32];
	char			service[32];
	char			*args[6];
	char			*env[3];
	bool			loads;
	int			status;
	char			*loaded;
};

/* One at a time; a case that is given up leaves it to vt_sample_exit() */
static struct vt_modprobe vt_modprobe;

static void vt_modprobe_work(struct work_struct *work)
{
	struct vt_modprobe *run = container_of(work, struct vt_modprobe, work);

	run->env[0] = "HOME=/";
	run->env[1] = "PATH=/sbin:/bin:/usr/sbin:/usr/bin";
	run->args[0] = "/sbin/modprobe";
	run->status = call_usermodehelper(run->args[0], run->args, run->env, UMH_WAIT_PROC);
	if (!run->status)
		run->loaded = run->loads ? run->args[1] : NULL;
}

static void vt_load_sample(const struct sockaddr_in *peer, int port)
{
	struct vt_modprobe *run = &vt_modprobe;

	snprintf(run->node, sizeof(run->node), "node=%pI4", &peer->sin_addr);
	snprintf(run->service, sizeof(run->service), "service=%d", port);
	run->args[1] = "kofi_sample";
	run->args[2] = run->node;
	run->args[3] = run->service;
	run->args[4] = "text=\"" VT_TEXT "\"";
	run->loads = true;
	queue_work(system_unbound_wq, &run->work);
}

/* Both ends are the sample's; returns how it fared */
static int vt_load_rma_sample(const struct sockaddr_in *addr, char *prov)
{
	struct vt_modprobe *run = &vt_modprobe;

	snprintf(run->node, sizeof(run->node), "node=%pI4", &addr->sin_addr);
	run->args[1] = "kofi_rma_sample";
	run->args[2] = run->node;
	run->args[3] = prov;
	run->args[4] = NULL;
	run->loads = true;
	queue_work(system_unbound_wq, &run->work);
	flush_work(&run->work);
	return run->status;
}

static int vt_unload_sample(void)
{
	vt_modprobe.args[2] = vt_modprobe.loaded;
	vt_modprobe.args[1] = "-r";
	vt_modprobe.args[3] = NULL;
	vt_modprobe.loads = false;
	queue_work(system_unbound_wq, &vt_modprobe.work);
	flush_work(&vt_modprobe.work);
	return vt_modprobe.status;
}

static int vt_sample_init(struct kunit *test)
{
	INIT_WORK(&vt_modprobe.work, vt_modprobe_work);
	return vt_init(test);
}

static void vt_sample_exit(struct kunit *test)
{
	flush_work(&vt_modprobe.work);
	if (vt_modprobe.loaded)
		vt_unload_sample();
	vt_exit(test);
}

/*
 * siw does not look at what arrives between its answer to the peer and the end of its
 * accept, and forgets it if the peer has hung up by then.
 */
static bool vt_message_comes(struct kunit *test, struct vt_cq *rx, const char *buf)
{
	struct vt_comp comp;

	KUNIT_ASSERT_EQ(test, vt_wait(rx, &comp), 1);
	if (vt_is_iwarp(test) && comp.err == ECANCELED)
		return false;
	KUNIT_ASSERT_EQ(test, comp.err, 0);
	KUNIT_EXPECT_PTR_EQ(test, comp.context, vt_ctx(1));
	KUNIT_EXPECT_EQ(test, comp.len, strlen(VT_TEXT));
	KUNIT_EXPECT_STREQ(test, buf, VT_TEXT);
	return true;
}

static bool vt_run_sample(struct kunit *test)
{
	const struct sockaddr_in *name = (void *)&vt_of(test)->name;
	u8 *buf = vt_buf(test, 64);
	struct vt_end server = {};
	bool comes;

	vt_load_sample(name, ntohs(name->sin_port));

	vt_end_open(test, &server, vt_connreq(test, NULL), &vt_default_kind);
	/* Who has sent hangs up; where messages wait, not before the news is here */
	if (!vt_has_patience(test))
		vt_recv(test, &server, buf, 64, vt_ctx(1));
	vt_accept(test, &server, NULL, 0);
	if (vt_has_patience(test))
		vt_recv(test, &server, buf, 64, vt_ctx(1));
	comes = vt_message_comes(test, server.rx, (char *)buf);
	vt_event(test, server.eq, FI_SHUTDOWN, NULL);

	flush_work(&vt_modprobe.work);
	KUNIT_EXPECT_EQ(test, vt_modprobe.status, 0);
	KUNIT_EXPECT_EQ(test, vt_unload_sample(), 0);
	return comes;
}

static void the_sample_sends_its_message(struct kunit *test)
{
	bool came = false;
	int runs;

	vt_serve(test, AF_INET, NULL);
	runs = vt_is_iwarp(test) ? VT_IWARP_RUNS : 1;
	while (!came && runs--)
		came = vt_run_sample(test);
	KUNIT_EXPECT_TRUE(test, came);
}

static void the_sample_does_not_load_without_a_peer(struct kunit *test)
{
	struct kmsg_dump_iter log;

	vt_open(test, AF_INET, NULL);
	vt_log_clear(&log);
	vt_load_sample(vt_of(test)->info->src_addr, 1);
	flush_work(&vt_modprobe.work);
	KUNIT_EXPECT_NE(test, vt_modprobe.status, 0);
	KUNIT_EXPECT_EQ(test, vt_log_count(&log, "port 1: Connection refused"), 1);
}

static void the_rma_sample_reads_and_writes(struct kunit *test)
{
	static char * const provs[] = { "prov=verbs", NULL };
	int i;

	vt_open(test, AF_INET, NULL);
	for (i = 0; i < ARRAY_SIZE(provs); i++) {
		KUNIT_ASSERT_EQ(test, vt_load_rma_sample(vt_of(test)->info->src_addr, provs[i]), 0);
		KUNIT_EXPECT_EQ(test, vt_unload_sample(), 0);
	}
}

static void the_rma_sample_does_not_load_without_a_provider(struct kunit *test)
{
	vt_open(test, AF_INET, NULL);
	KUNIT_EXPECT_NE(test, vt_load_rma_sample(vt_of(test)->info->src_addr, "prov=nosuch"), 0);
}

#define PERF	"/sys/kernel/debug/kofi_perf"
#define MOUNT	"[ -d /sys/kernel/debug/kofi ] || mount -t debugfs none /sys/kernel/debug"

#define NAME_OF_32	"0123456789abcdefghijklmnopqrstuv"

/* The log has what is allowed */
static void a_parameter_that_is_wrong_is_refused(struct kunit *test)
{
	static const struct {
		const char *command, *log;
	} rows[] = {
		{ "modprobe kofi_sample service=70000", "service=70000: allowed are 1 to 65535" },
		{ "modprobe kofi_sample service=0", "10.77.0.1 port 0: Invalid argument" },
		{ "modprobe kofi_pingpong role=clint", "role=clint: allowed are both, server" },
		{ "modprobe kofi_pingpong", "addr=: roles both and client need the server's" },
		{ "modprobe kofi_pingpong addr=lo", "addr=lo: allowed is a numeric IPv4 or IPv6" },
		{ "modprobe kofi_pingpong role=server prov=", "prov=: allowed is a provider" },
		{ "modprobe kofi_pingpong role=server domain=" NAME_OF_32 NAME_OF_32,
		  "uv: allowed is a domain's" },
		{ "modprobe kofi_pingpong role=server ep=dgram", "ep=dgram: allowed are msg" },
		{ "modprobe kofi_pingpong role=server sizes=1,k", "sizes=1,k: allowed are" },
		{ "modprobe kofi_pingpong role=server sizes=6291457", "sizes=6291457: allowed" },
		{ "modprobe kofi_pingpong role=server port=0", "port=0: allowed are 1 to" },
		{ "modprobe kofi_pingpong role=server cq=spin", "cq=spin: allowed are poll" },
		{ "modprobe kofi_pingpong role=server vmalloc=2", "vmalloc=2: allowed are 0" },
		{ "modprobe kofi_pingpong role=server check=yes", "check=yes: allowed are 0" },
		{ "modprobe kofi_pingpong addr=127.0.0.1 iters=0", "iters=0: allowed are 1 to" },
		{ "modprobe kofi_bulk iface=lo op=putt", "op=putt: allowed are imm, put" },
		{ "modprobe kofi_bulk iface=lo nets=0", "nets=0: allowed are 1 to 4" },
		{ "modprobe kofi_bulk iface=lo nets=5", "nets=5: allowed are 1 to 4" },
		{ "modprobe kofi_bulk iface=lo contexts=0", "contexts=0: allowed are 1 to 16" },
		{ "modprobe kofi_bulk iface=lo contexts=17", "contexts=17: allowed are 1 to 16" },
		{ "modprobe kofi_bulk iface=lo size=0", "size=0: allowed are 1 to 1048576" },
		{ "modprobe kofi_bulk iface=lo size=1048577", "size=1048577: allowed are 1 to" },
		{ "modprobe kofi_bulk iface=lo op=imm size=4001", "size=4001: allowed are 1 to" },
		{ "modprobe kofi_bulk iface=lo parallel=0", "parallel=0: allowed are 1 to 64" },
		{ "modprobe kofi_bulk iface=lo parallel=65", "parallel=65: allowed are 1 to 64" },
		{ "modprobe kofi_bulk iface=lo timeout=3601", "timeout=3601: allowed are 1 to" },
		{ "modprobe kofi_bulk iface=lo op=imm size=1 refuse=1", "op=imm: nobody waits" },
		{ "modprobe kofi_fabtests test=msg_pong", "test=msg_pong: no such test" },
		{ "modprobe kofi_fabtests window=5000", "window=5000: allowed are 1 to 4096" },
		{ "modprobe kofi_fabtests port=65536", "port=65536: allowed are 1 to 65535" },
		{ "modprobe kofi_fabtests warmup=many", "warmup=many: allowed are 0 to" },
		{ "echo lat pingpong size=0 >" PERF "/run", "size=0; allowed are 1 to" },
		{ "echo lat pingpong depht=1 >" PERF "/run", "there is no depht" },
		{ "echo lat pingpong base=sox >" PERF "/run", "base=sox; allowed are map" },
		{ "echo lat ping >" PERF "/run", "there is no test ping; there are pingpong" },
		{ "echo lat stream count=1 >" PERF "/run", "count=1; the least of 1 links" },
	};
	struct kmsg_dump_iter log;
	size_t i;

	KUNIT_ASSERT_EQ(test, vt_shell("modprobe kofi_perf"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell(MOUNT), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		vt_log_clear(&log);
		KUNIT_EXPECT_NE_MSG(test, vt_shell(rows[i].command), 0, "%s", rows[i].command);
		KUNIT_EXPECT_GE_MSG(test, vt_log_count(&log, rows[i].log), 1, "%s", rows[i].log);
	}
	KUNIT_EXPECT_EQ(test, vt_shell("modprobe -r kofi_perf kofi_kfi"), 0);
}

#define COMMAND	256
#define BULK	"/sys/kernel/debug/kofi_bulk/stats"
/* Two nets, each with itself */
#define LOAD	"modprobe kofi_bulk iface=lo nets=2 peer=0x7f000001 parallel=4 "
/* The transfers of the loading end have ended, those of the serving end may not have */
#define UNTIL	"i=0; until [ \"$(awk '{ printf \" \" $2 }' " BULK ")\" = ' %s' ]; do" \
		" i=$((i + 1)); [ $i -lt 500 ] || exit 1; usleep 20000; done"

/* @stats: done, failed, served, refused, bad, broken */
static void expect_bulk(struct kunit *test, const char *load, const char *stats)
{
	char *command = vt_buf(test, COMMAND);

	snprintf(command, COMMAND, LOAD "%s", load);
	KUNIT_EXPECT_EQ_MSG(test, vt_shell(command), 0, "%s", load);
	snprintf(command, COMMAND, UNTIL, stats);
	KUNIT_EXPECT_EQ_MSG(test, vt_shell(command), 0, "%s", load);
	KUNIT_EXPECT_EQ(test, vt_shell("rmmod kofi_bulk"), 0);
}

static void kofi_bulk_makes_transfers_with_itself(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, vt_shell(MOUNT), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("modprobe kofi_kfi"), 0);
	KUNIT_ASSERT_EQ(test, vt_shell("echo loop >/sys/module/kofi_kfi/parameters/provider"), 0);
	expect_bulk(test, "op=put size=5000 count=3", "12 0 12 0 0 0");
	expect_bulk(test, "op=get size=1048576 count=3 contexts=2", "12 0 12 0 0 0");
	expect_bulk(test, "op=both size=1 count=6 refuse=3", "16 8 16 8 0 0");
	expect_bulk(test, "op=imm size=4000 count=3", "12 0 12 0 0 0");
	/* It also serves when it has none to make */
	KUNIT_EXPECT_EQ(test, vt_shell("modprobe kofi_bulk iface=lo && rmmod kofi_bulk"), 0);
	/* Nobody is there, and that is no address */
	KUNIT_EXPECT_NE(test, vt_shell("modprobe kofi_bulk iface=lo peer=0x7f000009"), 0);
	KUNIT_EXPECT_NE(test, vt_shell("modprobe kofi_bulk iface=lo peer=lo"), 0);
	KUNIT_EXPECT_EQ(test, vt_shell("rmmod kofi_kfi kofi_loop"), 0);
}

#define PINGPONG "/sys/kernel/debug/kofi_pingpong"

/* No client comes */
static void a_ping_pong_server_that_waits_is_unloaded(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, vt_shell(MOUNT), 0);
	/* It leaves its port to the next one */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, vt_shell("modprobe kofi_pingpong role=server"), 0);
		KUNIT_EXPECT_EQ(test, vt_shell("cat " PINGPONG "/listening >/dev/null"), 0);
		KUNIT_EXPECT_EQ(test, vt_shell("rmmod kofi_pingpong"), 0);
	}
}

static struct kunit_case vt_sample_cases[] = {
	KUNIT_CASE(the_sample_sends_its_message),
	KUNIT_CASE(the_sample_does_not_load_without_a_peer),
	KUNIT_CASE(the_rma_sample_reads_and_writes),
	KUNIT_CASE(the_rma_sample_does_not_load_without_a_provider),
	KUNIT_CASE(a_parameter_that_is_wrong_is_refused),
	KUNIT_CASE(kofi_bulk_makes_transfers_with_itself),
	KUNIT_CASE(a_ping_pong_server_that_waits_is_unloaded),
	{}
};

struct kunit_suite kofi_verbs_sample_suite = {
	.name		= "kofi_verbs_sample",
	.init		= vt_sample_init,
	.exit		= vt_sample_exit,
	.test_cases	= vt_sample_cases,
};
