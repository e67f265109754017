// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The user-space end of scripts/interop, over whatever libfabric its loader finds.
 * kunit/interop/interop.h describes what the two ends do.
 *
 *	interop listen PLAN ADDRESS PORT	prints "listening" when it listens
 *	interop connect PLAN ADDRESS PORT
 *
 * The program first prints the version of libfabric, "libfabric 1.17".  At the end it
 * prints the report, a line per case: the initiator, the case, operations, bytes,
 * errors, and the text of the first error.  It exits 0 only when nothing was wrong.
 */
#include "../../kunit/interop/interop.h"

#include <stdlib.h>

int interop_getinfo(const char *node, int service, __u64 flags,
		    const struct fi_info *hints, struct fi_info **info)
{
	struct fi_info *wanted = fi_dupinfo(hints);
	char port[16];
	int ret;

	if (!wanted)
		return -ENOMEM;
	/* libfabric's tcp takes virtual addresses only with this hint */
	if (!strcmp(hints->fabric_attr->prov_name, "tcp") &&
	    hints->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		wanted->domain_attr->mr_mode = FI_MR_BASIC;
	if (hints->ep_attr->type == FI_EP_RDM && INTEROP_LIB_BEFORE(1, 18) &&
	    !strcmp(hints->fabric_attr->prov_name, "tcp")) {
		free(wanted->fabric_attr->prov_name);
		wanted->fabric_attr->prov_name = strdup("net");
	}
	snprintf(port, sizeof(port), "%d", service);
	ret = fi_getinfo(INTEROP_API, node, port, flags, wanted, info);
	fi_freeinfo(wanted);
	return ret;
}

int interop_alloc(struct interop_mem *mem, size_t size)
{
	void *memory;

	if (posix_memalign(&memory, 4096, size))
		return -ENOMEM;
	mem->piece[0] = memory;
	mem->piece_size = size;
	mem->size = size;
	return 0;
}

void interop_free(struct interop_mem *mem)
{
	free(mem->piece[0]);
	memset(mem, 0, sizeof(*mem));
}

__u64 interop_persistent(void)
{
	return 0;
}

bool interop_durable(size_t len)
{
	(void)len;
	return true;
}

/* Counts only connections in the state ESTABLISHED */
int interop_connections(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	unsigned int addr, port, state;
	FILE *file = fopen("/proc/net/tcp", "r");
	char line[256];
	int count = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %*u: %x:%x %*x:%*x %x", &addr, &port, &state) != 3 || state != 1)
			continue;
		count += addr == a->sin_addr.s_addr && port == ntohs(a->sin_port);
		count += addr == b->sin_addr.s_addr && port == ntohs(b->sin_port);
	}
	fclose(file);
	return count;
}

static void report(const struct interop_end *end)
{
	char line[256];
	unsigned int i;

	for (i = 0; interop_line(end, i, line, sizeof(line)); i++)
		fputs(line, stdout);
}

static int run(struct interop_end *end, const char *role, const char *plan,
	       const char *node, int service)
{
	int ret;

	ret = interop_choose(end, plan);
	if (ret)
		return ret;
	if (!strcmp(role, "connect"))
		return interop_connect(end, node, service);
	ret = interop_listen(end, node, service);
	if (ret)
		return ret;
	puts("listening");
	fflush(stdout);
	return interop_serve(end);
}

int main(int argc, char **argv)
{
	static struct interop_end end;
	int ret, closed;

	if (argc != 5 || (strcmp(argv[1], "listen") && strcmp(argv[1], "connect"))) {
		fputs("usage: interop listen|connect PLAN ADDRESS PORT\n", stderr);
		return 2;
	}
	printf("libfabric %u.%u\n", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
	ret = run(&end, argv[1], argv[2], argv[3], atoi(argv[4]));
	if (ret)
		interop_say("%s: %s (%d)", argv[1], fi_strerror(-ret), ret);
	closed = interop_close(&end);
	report(&end);
	return ret || closed || !interop_good(&end);
}
