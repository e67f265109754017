// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * usage: peer TEST [options] [SERVER]
 *
 * TEST is a program of fabtests without its "fi_", and the options are those of fabtests: -p
 * provider, -e msg|rdm, -s own address, -S size, -I iterations, -w warm-up, -W window, -M messages,
 * -o operation, -v, -E, -b.  -V is the version of fabtests whose script is spoken; without it the
 * version of libfabric decides.
 *
 * Prints the version of libfabric and, at the end, how many contents were checked.
 */
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options opt = {
	.provider = "tcp",
	.type = FI_EP_RDM,
	.size = CTRL_BYTES,
	.iterations = 1000,
	.warmup = 10,
	.window = 64,
	.messages = 4,
	.op = -1,
};

struct peer peer = { .sock = -1 };

static const struct test tests[] = {
	{ "msg", FI_EP_MSG, FI_MSG, .run = run_greeting },
	{ "rdm", FI_EP_RDM, FI_MSG, .run = run_greeting },
	{ "msg_pingpong", FI_EP_MSG, FI_MSG, .finalize = true, .run = run_pingpong },
	{ "rdm_pingpong", FI_EP_RDM, FI_MSG, .finalize = true, .run = run_pingpong },
	{ "rdm_tagged_pingpong", FI_EP_RDM, FI_TAGGED, .finalize = true, .run = run_pingpong },
	{ "msg_bw", FI_EP_MSG, FI_MSG, .windowed = true, .finalize = true, .run = run_bw },
	{ "rdm_bw", FI_EP_RDM, FI_MSG, .windowed = true, .finalize = true, .run = run_bw },
	{ "rdm_tagged_bw", FI_EP_RDM, FI_TAGGED, .windowed = true, .finalize = true,
	  .run = run_bw },
	{ "rma_bw", FI_EP_UNSPEC, FI_MSG | FI_RMA, .windowed = true, .finalize = true,
	  .run = run_rma_bw },
	{ "cq_data", FI_EP_UNSPEC, FI_MSG, .run = run_cq_data },
	{ "cm_data", FI_EP_MSG, FI_MSG, .unposted = true, .alone = true, .run = run_cm_data },
	{ "unexpected_msg", FI_EP_RDM, FI_TAGGED, .unposted = true, .run = run_unexpected },
};

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("peer: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

void check_ret(long ret, const char *what)
{
	if (ret < 0)
		die("%s: %s (%ld)", what, fi_strerror(-ret), ret);
}

static void choose_test(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, name))
			opt.test = &tests[i];
	if (!opt.test)
		die("no such test: %s", name);
}

static int operation(const char *name)
{
	static const char * const names[] = { "write", "writedata", "read", "senddata" };
	int i;

	for (i = 0; i < 4; i++)
		if (!strcmp(names[i], name))
			return i;
	die("-o %s is unknown", name);
}

static int script(const char *text)
{
	int major, minor;

	if (sscanf(text, "%d.%d", &major, &minor) != 2)
		die("no version: %s", text);
	return SCRIPT(major, minor);
}

static void parse(int argc, char **argv)
{
	int letter;

	if (argc < 2)
		die("usage: peer TEST [options] [SERVER]");
	choose_test(argv[1]);
	while ((letter = getopt(argc - 1, argv + 1, "p:e:s:S:I:w:W:M:o:V:vEb")) != -1) {
		switch (letter) {
		case 'p':
			opt.provider = optarg;
			break;
		case 'e':
			opt.type = strcmp(optarg, "msg") ? FI_EP_RDM : FI_EP_MSG;
			break;
		case 's':
			opt.source = optarg;
			break;
		case 'S':
			opt.size = strtoul(optarg, NULL, 10);
			break;
		case 'I':
			opt.iterations = atoi(optarg);
			break;
		case 'w':
			opt.warmup = atoi(optarg);
			break;
		case 'W':
			opt.window = atoi(optarg);
			break;
		case 'M':
			opt.messages = atoi(optarg);
			break;
		case 'o':
			opt.op = operation(optarg);
			break;
		case 'V':
			opt.script = script(optarg);
			break;
		case 'v':
			opt.verify = true;
			break;
		case 'E':
			opt.oob = OOB_NAMES;
			break;
		case 'b':
			opt.oob = OOB_SYNC;
			break;
		default:
			exit(2);
		}
	}
	opt.server = argv[1 + optind];
	if (opt.test->type != FI_EP_UNSPEC)
		opt.type = opt.test->type;
	if (opt.op < 0)
		opt.op = opt.test->caps & FI_RMA ? OP_WRITE : OP_SENDDATA;
}

int main(int argc, char **argv)
{
	uint32_t version = fi_version();

	opt.script = SCRIPT(FI_MAJOR(version), FI_MINOR(version));
	parse(argc, argv);
	printf("libfabric %u.%u\n", FI_MAJOR(version), FI_MINOR(version));
	if (!opt.test->alone)
		meet();
	opt.test->run();
	if (opt.test->finalize)
		finalize();
	close_all();
	printf("%lu contents checked\n", peer.checked);
	return 0;
}
