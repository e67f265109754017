// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Module parameters.  Their names are the long forms of fabtests' option letters.
 *
 * A bad value fails the load with one line that says what is allowed.  ft_params is constant
 * afterwards.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fabtests.h"

/* As cm_data without -q */
#define FT_CM_DATA_PORT	2710
#define FT_OOB_PORT	3000

#define FT_WINDOW_MAX	4096

/* Of unexpected_msg without -S */
#define FT_UNEXPECTED_SIZE	128

struct ft_params ft_params = {
	.nr_sizes = 6,
	.sizes = { 64, 256, 1024, 4096, 65536, 1048576 },
};

static char *test = "msg_pingpong";
module_param(test, charp, 0444);
MODULE_PARM_DESC(test, "the test, as the program without fi_ (default msg_pingpong)");

static char *node = "";
module_param(node, charp, 0444);
MODULE_PARM_DESC(node, "numeric address of the server; without it this is the server");

static bool both;
module_param(both, bool, 0444);
MODULE_PARM_DESC(both, "run the server, too, in the same module (default 0)");

static bool background;
module_param(background, bool, 0444);
MODULE_PARM_DESC(background, "return from loading as soon as a client can connect (default 0)");

static char *src = "";
module_param(src, charp, 0444);
MODULE_PARM_DESC(src, "numeric address that the server listens on, as -s (default any)");

static char *port = "9228";
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "fabric port of the server, as -B and -P, 1 to 65535 (default 9228)");

static char *oob = "none";
module_param(oob, charp, 0444);
MODULE_PARM_DESC(oob, "out of band: none, addr for names as -E, sync for syncs, too, as -b");

static char *oob_port = "";
module_param(oob_port, charp, 0444);
MODULE_PARM_DESC(oob_port, "TCP port beside the fabric, 1 to 65535 (default 3000, of cm_data 2710)");

static char *prov = "tcp";
module_param(prov, charp, 0444);
MODULE_PARM_DESC(prov, "provider, as -p (default tcp)");

static char *domain = "";
module_param(domain, charp, 0444);
MODULE_PARM_DESC(domain, "domain, as -d (default: the first that fits)");

static char *ep = "rdm";
module_param(ep, charp, 0444);
MODULE_PARM_DESC(ep, "endpoint type of rma_bw and cq_data, as -e: msg or rdm (default rdm)");

static char *op = "";
module_param(op, charp, 0444);
MODULE_PARM_DESC(op, "as -o: write, read or writedata of rma_bw, senddata or writedata of cq_data");

static unsigned int sizes[FT_SIZES_MAX];
static unsigned int nr_sizes;
module_param_array(sizes, uint, &nr_sizes, 0444);
MODULE_PARM_DESC(sizes, "sizes separated by commas, as -S (default 64 to 1048576)");

static char *iterations = "0";
module_param(iterations, charp, 0444);
MODULE_PARM_DESC(iterations, "messages of each size, as -I, 1 to 2147483647 (default 0: fabtests' for the size)");

static char *warmup = "10";
module_param(warmup, charp, 0444);
MODULE_PARM_DESC(warmup, "messages before these, as -w, 0 to 2147483647 (default 10)");

static char *window = "64";
module_param(window, charp, 0444);
MODULE_PARM_DESC(window, "messages in flight, as -W, 1 to 4096 (default 64)");

static char *messages = "4";
module_param(messages, charp, 0444);
MODULE_PARM_DESC(messages, "unexpected messages at a time, as -M of unexpected_msg, 1 to 4096 (default 4)");

static bool verify;
module_param(verify, bool, 0444);
MODULE_PARM_DESC(verify, "fill and check contents, as -v (default 0)");

static char *script = "2.6";
module_param(script, charp, 0444);
MODULE_PARM_DESC(script, "version of fabtests that the peer is (default 2.6)");

static int ft_bad(const char *name, const char *value, const char *allowed)
{
	pr_err("%s=%s: %s\n", name, value, allowed);
	return -EINVAL;
}

static int ft_parse_number(const char *name, const char *value, unsigned int min,
			   unsigned int max, unsigned int *out)
{
	if (!kstrtouint(value, 10, out) && *out >= min && *out <= max)
		return 0;
	pr_err("%s=%s: allowed are %u to %u\n", name, value, min, max);
	return -EINVAL;
}

static int ft_parse_test(void)
{
	const struct ft_test *t;

	for (t = ft_tests; t->name; t++)
		if (!strcmp(t->name, test))
			break;
	if (!t->name)
		return ft_bad("test", test, "no such test; Documentation/fabtests.rst has them");
	ft_params.test = t;
	if (strcmp(ep, "msg") && strcmp(ep, "rdm"))
		return ft_bad("ep", ep, "allowed are msg and rdm");
	ft_params.ep_type = t->type ?: strcmp(ep, "rdm") ? FI_EP_MSG : FI_EP_RDM;
	return 0;
}

static int ft_parse_op(void)
{
	static const char * const names[] = { "write", "writedata", "read", "senddata" };
	bool rma = ft_params.test->caps & FI_RMA;
	int nth;

	if (!*op) {
		ft_params.op = rma ? FT_WRITE : FT_SENDDATA;
		return 0;
	}
	nth = match_string(names, ARRAY_SIZE(names), op);
	if (nth < 0 || (rma && nth == FT_SENDDATA) ||
	    (!rma && nth != FT_SENDDATA && nth != FT_WRITEDATA))
		return ft_bad("op", op,
			      "rma_bw has write, writedata, read, cq_data senddata, writedata");
	ft_params.op = nth;
	return 0;
}

static int ft_parse_address(struct net *net, const char *name, const char *value,
			    const char **text, struct sockaddr_storage *addr)
{
	if (!*value)
		return 0;
	if (inet_pton_with_scope(net, AF_UNSPEC, value, NULL, addr))
		return ft_bad(name, value,
			      "allowed is a numeric IPv4 or IPv6 address, link-local ones with %interface");
	*text = value;
	return 0;
}

static int ft_parse_ends(struct net *net)
{
	int ret;

	ret = ft_parse_address(net, "node", node, &ft_params.node, &ft_params.addr);
	if (!ret && both && !*src)
		src = node;
	if (!ret)
		ret = ft_parse_address(net, "src", src, &ft_params.src, &ft_params.src_addr);
	if (ret)
		return ret;
	if (both && !ft_params.node)
		return ft_bad("both", "1", "needs node=, the server's address");
	ft_params.client = ft_params.node;
	ft_params.server = both || !ft_params.node;
	ft_params.background = background;
	return 0;
}

static int ft_parse_names(void)
{
	if (!*prov || strlen(prov) >= FI_NAME_MAX)
		return ft_bad("prov", prov, "allowed is a provider's name of 1 to 63 bytes");
	if (strlen(domain) >= FI_NAME_MAX)
		return ft_bad("domain", domain, "allowed is a domain's name of at most 63 bytes");
	ft_params.prov = prov;
	ft_params.domain = *domain ? domain : NULL;
	return 0;
}

static int ft_parse_oob(void)
{
	static const char * const names[] = { "none", "addr", "sync" };
	int nth = match_string(names, ARRAY_SIZE(names), oob);

	if (nth < 0)
		return ft_bad("oob", oob, "allowed are none, addr and sync");
	if (nth != FT_OOB_NONE && ft_params.ep_type == FI_EP_MSG)
		return ft_bad("oob", oob, "endpoints with connections have no names to exchange");
	if (nth != FT_OOB_SYNC && ft_params.test->run == ft_unexpected)
		return ft_bad("oob", oob, "unexpected_msg needs oob=sync, and its peer -b");
	ft_params.oob = nth;
	return 0;
}

static int ft_parse_ports(void)
{
	unsigned int number = 0, oob_number = ft_params.test->meet ? FT_CM_DATA_PORT : FT_OOB_PORT;
	int ret;

	ret = ft_parse_number("port", port, 1, U16_MAX, &number);
	if (!ret && *oob_port)
		ret = ft_parse_number("oob_port", oob_port, 1, U16_MAX, &oob_number);
	ft_params.port = number;
	ft_params.oob_port = oob_number;
	return ret;
}

static int ft_parse_sizes(void)
{
	unsigned int i;

	if (ft_params.test->run == ft_unexpected && !nr_sizes)
		sizes[nr_sizes++] = FT_UNEXPECTED_SIZE;
	/* A test without run_size() takes only the sizes that the user gives */
	if (nr_sizes || !ft_params.test->run_size) {
		memcpy(ft_params.sizes, sizes, sizeof(sizes));
		ft_params.nr_sizes = nr_sizes;
	}
	for (i = 0; i < ft_params.nr_sizes; i++)
		ft_params.size_max = max(ft_params.size_max, ft_params.sizes[i]);
	if (ft_params.size_max > KMALLOC_MAX_SIZE)
		return ft_bad("sizes", "", "one of them is more than an allocation can give");
	if (ft_params.test->caps & FI_RMA && !nr_sizes)
		return ft_bad("sizes", "", "rma_bw needs those of its peer, for the region's size");
	return 0;
}

static int ft_parse_counts(void)
{
	unsigned int major, minor;
	char rest;
	int ret;

	ret = ft_parse_number("iterations", iterations, 0, INT_MAX, &ft_params.iterations) ?:
	      ft_parse_number("warmup", warmup, 0, INT_MAX, &ft_params.warmup) ?:
	      ft_parse_number("window", window, 1, FT_WINDOW_MAX, &ft_params.window) ?:
	      ft_parse_number("messages", messages, 1, FT_WINDOW_MAX, &ft_params.messages);
	if (ret)
		return ret;
	if (sscanf(script, "%u.%u%c", &major, &minor, &rest) != 2)
		return ft_bad("script", script, "allowed is a version, for example 2.1");
	ft_params.verify = verify;
	ft_params.script = FI_VERSION(major, minor);
	return 0;
}

int ft_params_parse(struct net *net)
{
	int ret;

	ret = ft_parse_test();
	if (!ret)
		ret = ft_parse_op();
	if (!ret)
		ret = ft_parse_ends(net);
	if (!ret)
		ret = ft_parse_names();
	if (!ret)
		ret = ft_parse_oob();
	if (!ret)
		ret = ft_parse_ports();
	if (!ret)
		ret = ft_parse_sizes();
	return ret ?: ft_parse_counts();
}
