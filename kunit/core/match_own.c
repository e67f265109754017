// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_match_own: hints that only the kernel has, and those for which 0 in the
 * offer is more than nothing: limits that are not there.
 */
#include <linux/numa.h>
#include "info.h"

struct ends {
	struct fi_info	*offer;
	struct fi_info	*hints;
};

static struct ends *begin(struct kunit *test)
{
	struct ends *ends = vt_buf(test, sizeof(*ends));

	ends->offer = info_adopt(test, fi_allocinfo());
	ends->hints = info_adopt(test, fi_allocinfo());
	KUNIT_ASSERT_NOT_NULL(test, ends->offer);
	KUNIT_ASSERT_NOT_NULL(test, ends->hints);
	return ends;
}

static bool fits(const struct ends *ends)
{
	return kofi_info_match(ends->offer, ends->hints);
}

static const struct numa_case {
	int	offer;
	int	wish;
	bool	fits;
} numa_cases[] = {
	{ 1, 1, true }, { 1, 2, false }, { 0, 1, false },
	{ NUMA_NO_NODE, 1, false },
	{ 1, 0, true }, { NUMA_NO_NODE, 0, true },
	{ 1, NUMA_NO_NODE, true }, { 0, NUMA_NO_NODE, true },
};

static void numa_case_desc(const struct numa_case *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%d offered %d wanted", row->offer, row->wish);
}

KUNIT_ARRAY_PARAM(numa, numa_cases, numa_case_desc);

static void device_is_found_by_its_numa_node(struct kunit *test)
{
	const struct numa_case *row = test->param_value;
	struct ends *ends = begin(test);

	ends->offer->domain_attr->numa_node = row->offer;
	ends->hints->domain_attr->numa_node = row->wish;

	KUNIT_EXPECT_EQ(test, fits(ends), row->fits);
}

static const struct gap_case {
	size_t	offer;
	size_t	wish;
	bool	fits;
} gap_cases[] = {
	{ 4096, 4096, true }, { 4096, 65536, true }, { 4096, 512, false },
	{ 0, 1, true }, { 0, 0, true }, { 4096, 0, true },
};

static void gap_case_desc(const struct gap_case *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%zu offered %zu wanted", row->offer, row->wish);
}

KUNIT_ARRAY_PARAM(gap, gap_cases, gap_case_desc);

static void gaps_fit_where_the_client_has_none_inside(struct kunit *test)
{
	const struct gap_case *row = test->param_value;
	struct ends *ends = begin(test);

	ends->offer->domain_attr->mr_gap_align = row->offer;
	ends->hints->domain_attr->mr_gap_align = row->wish;

	KUNIT_EXPECT_EQ(test, fits(ends), row->fits);
}

static const struct limit {
	const char	*name;
	size_t		offset;
} limits[] = {
	{ "max_cq_size", offsetof(struct fi_domain_attr, max_cq_size) },
	{ "max_cntr_value", offsetof(struct fi_domain_attr, max_cntr_value) },
	{ "max_err_cntr_value",
	  offsetof(struct fi_domain_attr, max_err_cntr_value) },
};

KUNIT_ARRAY_PARAM_DESC(limit, limits, name);

static bool limit_fits(struct ends *ends, const struct limit *row, u64 offer, u64 wish)
{
	*(u64 *)((void *)ends->offer->domain_attr + row->offset) = offer;
	*(u64 *)((void *)ends->hints->domain_attr + row->offset) = wish;
	return fits(ends);
}

static void limit_that_is_not_there_is_met(struct kunit *test)
{
	const struct limit *row = test->param_value;
	struct ends *ends = begin(test);

	KUNIT_EXPECT_TRUE(test, limit_fits(ends, row, 0, U64_MAX));
	KUNIT_EXPECT_TRUE(test, limit_fits(ends, row, 8, 8));
	KUNIT_EXPECT_FALSE(test, limit_fits(ends, row, 8, 9));
}

static void reads_and_writes_have_a_limit_each(struct kunit *test)
{
	struct fi_tx_attr *offer, *wish;
	struct ends *ends = begin(test);

	offer = ends->offer->tx_attr;
	wish = ends->hints->tx_attr;
	offer->iov_limit = 4;
	offer->rma_read_iov_limit = 8;
	offer->rma_write_iov_limit = 16;

	wish->rma_read_iov_limit = 8;
	wish->rma_write_iov_limit = 16;
	KUNIT_EXPECT_TRUE(test, fits(ends));
	wish->rma_read_iov_limit = 9;
	KUNIT_EXPECT_FALSE(test, fits(ends));
	wish->rma_read_iov_limit = 8;
	wish->rma_write_iov_limit = 17;
	KUNIT_EXPECT_FALSE(test, fits(ends));
}

static void limit_of_all_lists_stands_for_that_of_reads_and_writes(struct kunit *test)
{
	struct ends *ends = begin(test);
	struct fi_tx_attr *wish;

	wish = ends->hints->tx_attr;
	ends->offer->tx_attr->iov_limit = 4;

	wish->rma_read_iov_limit = 4;
	wish->rma_write_iov_limit = 4;
	KUNIT_EXPECT_TRUE(test, fits(ends));
	wish->rma_read_iov_limit = 5;
	KUNIT_EXPECT_FALSE(test, fits(ends));
	wish->rma_read_iov_limit = 0;
	wish->rma_write_iov_limit = 5;
	KUNIT_EXPECT_FALSE(test, fits(ends));

	/* Of what the client will have */
	wish->rma_write_iov_limit = 3;
	wish->iov_limit = 3;
	KUNIT_EXPECT_TRUE(test, fits(ends));
	wish->iov_limit = 2;
	KUNIT_EXPECT_FALSE(test, fits(ends));
}

static void end_of_keys_by_messages_can_be_asked_for(struct kunit *test)
{
	struct ends *ends = begin(test);

	ends->offer->caps = FI_MSG;
	ends->hints->caps = FI_MSG | FI_REMOTE_INV;
	KUNIT_EXPECT_FALSE(test, fits(ends));

	ends->offer->caps |= FI_REMOTE_INV;
	KUNIT_EXPECT_TRUE(test, fits(ends));

	ends->hints->tx_attr->caps = FI_REMOTE_INV;
	KUNIT_EXPECT_FALSE(test, fits(ends));
	ends->offer->tx_attr->caps = FI_REMOTE_INV;
	KUNIT_EXPECT_TRUE(test, fits(ends));

	ends->hints->rx_attr->caps = FI_REMOTE_INV;
	KUNIT_EXPECT_FALSE(test, fits(ends));
}

static const struct format_case {
	u32		offer;
	u32		wish;
	const char	*src;
	bool		fits;
} format_cases[] = {
	{ FI_SOCKADDR_IN, FI_SOCKADDR_IP, NULL, true },
	{ FI_SOCKADDR_IN6, FI_SOCKADDR_IP, NULL, true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IP, NULL, true },
	{ FI_SOCKADDR, FI_SOCKADDR_IP, NULL, true },
	{ FI_SOCKADDR_IB, FI_SOCKADDR_IP, NULL, false },
	{ FI_ADDR_STR, FI_SOCKADDR_IP, NULL, false },
	{ FI_SOCKADDR_IP, FI_FORMAT_UNSPEC, NULL, true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR, NULL, true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IN, NULL, true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IN6, NULL, true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IB, NULL, false },
	{ FI_SOCKADDR_IP, FI_ADDR_STR, NULL, false },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IN, "10.0.0.1", true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IN6, "10.0.0.1", false },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IN6, "fd77::1", true },
	{ FI_SOCKADDR_IP, FI_SOCKADDR_IP, "fd77::1", true },
};

static void format_case_desc(const struct format_case *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u at %s offered %u wanted",
		 row->offer, row->src ?: "nowhere", row->wish);
}

KUNIT_ARRAY_PARAM(format, format_cases, format_case_desc);

static void addresses_of_both_ip_families_have_one_format(struct kunit *test)
{
	const struct format_case *row = test->param_value;
	struct ends *ends = begin(test);

	ends->offer->addr_format = row->offer;
	ends->hints->addr_format = row->wish;
	if (row->src)
		info_set_addr(test, &ends->offer->src_addr, &ends->offer->src_addrlen, row->src, 0);

	KUNIT_EXPECT_EQ(test, fits(ends), row->fits);
}

static struct kunit_case match_own_cases[] = {
	KUNIT_CASE_PARAM(device_is_found_by_its_numa_node, numa_gen_params),
	KUNIT_CASE_PARAM(gaps_fit_where_the_client_has_none_inside, gap_gen_params),
	KUNIT_CASE_PARAM(limit_that_is_not_there_is_met, limit_gen_params),
	KUNIT_CASE(reads_and_writes_have_a_limit_each),
	KUNIT_CASE(limit_of_all_lists_stands_for_that_of_reads_and_writes),
	KUNIT_CASE(end_of_keys_by_messages_can_be_asked_for),
	KUNIT_CASE_PARAM(addresses_of_both_ip_families_have_one_format, format_gen_params),
	{}
};

struct kunit_suite kofi_match_own_suite = {
	.name		= "kofi_match_own",
	.test_cases	= match_own_cases,
};
