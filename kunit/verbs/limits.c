// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What fi_getinfo() says of a device before anything is open on it, and what the
 * open objects make of that: each number is exactly what can be had.
 *
 * The device itself is the witness, found by its name among those of ib_core; a
 * reference holds it for as long as the case lasts.
 */
#include <linux/gfp.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>
#include "far.h"

/* Which device is looked for, and what has been found */
static const char *limit_name;
static struct ib_device *limit_found;

/* Nobody's client: it only looks */
static int limit_look(struct ib_device *ibdev)
{
	if (!strcmp(dev_name(&ibdev->dev), limit_name) && ib_device_try_get(ibdev))
		limit_found = ibdev;
	return -EOPNOTSUPP;
}

static struct ib_client limit_client = {
	.name	= "kofi_verbs_test",
	.add	= limit_look,
};

static void limit_put(void *ibdev)
{
	ib_device_put(ibdev);
}

static struct ib_device *limit_ibdev(struct kunit *test)
{
	limit_name = vt_info(test)->domain_attr->name;
	limit_found = NULL;
	KUNIT_ASSERT_EQ(test, ib_register_client(&limit_client), 0);
	ib_unregister_client(&limit_client);
	KUNIT_ASSERT_NOT_NULL(test, limit_found);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, limit_put, limit_found), 0);
	return limit_found;
}

static void a_domain_says_what_device_its_memory_is_mapped_for(struct kunit *test)
{
	vt_open(test, AF_INET, NULL);
	KUNIT_EXPECT_PTR_EQ(test, fi_domain_device(vt_of(test)->domain),
			    limit_ibdev(test)->dma_device);
}

static void numa_node_is_the_devices(struct kunit *test)
{
	vt_open(test, AF_INET, NULL);
	KUNIT_EXPECT_EQ(test, vt_info(test)->domain_attr->numa_node,
			ibdev_to_node(limit_ibdev(test)));
}

static void an_endpoint_counts_without_a_limit(struct kunit *test)
{
	vt_open(test, AF_INET, NULL);
	KUNIT_EXPECT_EQ(test, vt_info(test)->domain_attr->max_cntr_value, U64_MAX);
	KUNIT_EXPECT_EQ(test, vt_info(test)->domain_attr->max_err_cntr_value, U64_MAX);
}

static void the_largest_cq_opens_and_no_larger_one(struct kunit *test)
{
	struct fi_cq_attr attr = {};
	struct fid_cq *cq = NULL;

	vt_open(test, AF_INET, NULL);
	attr.size = vt_info(test)->domain_attr->max_cq_size;
	KUNIT_ASSERT_GT(test, attr.size, 0);
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), 0);
	if (cq)
		KUNIT_EXPECT_EQ(test, fi_close(&cq->fid), 0);
	attr.size++;
	KUNIT_EXPECT_EQ(test, fi_cq_open(vt_of(test)->domain, &attr, &cq, NULL), -EINVAL);
}

static void the_largest_cq_can_be_asked_for(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;

	vt_open(test, AF_INET, NULL);
	hints->domain_attr->max_cq_size =
		vt_info(test)->domain_attr->max_cq_size;
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	hints->domain_attr->max_cq_size++;
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -ENODATA);
}

/* A region of two elements, the second one far behind the first one's end */
static int limit_reg(struct kunit *test, u8 *mem, size_t end)
{
	struct kvec list[] = { { mem, end }, { mem + 4 * PAGE_SIZE, 64 } };
	struct fid_mr *mr;
	int ret = fi_mr_regv(vt_of(test)->domain, list, 2, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL);

	if (!ret)
		vt_adopt(test, &mr->fid);
	return ret;
}

static void limit_free(void *mem)
{
	free_pages((unsigned long)mem, 3);
}

static void elements_meet_where_mr_gap_align_says(struct kunit *test)
{
	u8 *mem = (u8 *)__get_free_pages(GFP_KERNEL, 3);
	size_t align;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, limit_free, mem), 0);
	vt_open(test, AF_INET, NULL);
	align = vt_info(test)->domain_attr->mr_gap_align;
	KUNIT_ASSERT_TRUE(test, !align || is_power_of_2(align));

	KUNIT_EXPECT_EQ(test, limit_reg(test, mem, align ? : 8), 0);
	KUNIT_EXPECT_EQ(test, limit_reg(test, mem, align ? align / 2 : 100), align ? -EINVAL : 0);
}

struct limit_list {
	const char	*name;
	size_t		size;		/* of the transmit queue; 0: default */
	size_t		iov_limit;
	bool		read;
};

static const struct limit_list limit_lists[] = {
	{ "write, 1", 0, 1, false },
	{ "write, 3", 0, 3, false },
	{ "write, 3, short queue", 8, 3, false },
	{ "read, 1", 0, 1, true },
	{ "read, 3", 0, 3, true },
	{ "read, 3, short queue", 8, 3, true },
};

KUNIT_ARRAY_PARAM_DESC(limit_list, limit_lists, name);

static size_t limit_of_list(struct kunit *test, const struct limit_list *list)
{
	const struct fi_tx_attr *tx = vt_info(test)->tx_attr;

	return list->read ? tx->rma_read_iov_limit : tx->rma_write_iov_limit;
}

static ssize_t limit_post(struct vt_far *far, const struct limit_list *list,
			  const struct vt_pieces *pieces, size_t count)
{
	struct fid_ep *ep = far->pair.a.ep;
	u64 addr = vt_far_addr(far), key = fi_mr_key(far->mr);

	if (list->read)
		return fi_readv(ep, pieces->kvec, NULL, count, 0, addr, key, vt_ctx(count));
	return fi_writev(ep, pieces->kvec, NULL, count, 0, addr, key, vt_ctx(count));
}

static void lists_up_to_the_limit_and_no_longer(struct kunit *test)
{
	const struct limit_list *list = test->param_value;
	struct vt_far far = {
		.size		= list->size,
		.iov_limit	= list->iov_limit,
	};
	struct vt_pieces *pieces = vt_pieces(test, VT_FAR_PIECES);
	size_t max;

	vt_far_open_for(test, &far, pieces);
	KUNIT_EXPECT_EQ(test, vt_info(test)->tx_attr->iov_limit, list->iov_limit);
	max = limit_of_list(test, list);
	KUNIT_ASSERT_GE(test, max, list->read ? 1 : list->iov_limit);
	KUNIT_ASSERT_LT(test, max, VT_FAR_PIECES);

	KUNIT_EXPECT_EQ(test, limit_post(&far, list, pieces, max + 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, limit_post(&far, list, pieces, max), 0);
	vt_done(test, far.pair.a.tx, vt_ctx(max));
	vt_none(test, far.pair.a.tx);
}

/* Memory of vmalloc is one element for each of its pages */
static void a_buffer_of_vmalloc_counts_its_pages(struct kunit *test)
{
	const struct limit_list *list = test->param_value;
	struct vt_far far = {
		.size		= list->size,
		.iov_limit	= list->iov_limit,
	};
	struct fid_ep *ep;
	size_t max, len;
	ssize_t ret;
	u64 addr, key;
	u8 *buf;

	vt_far_open(test, &far, VT_FAR_PIECES * PAGE_SIZE);
	max = limit_of_list(test, list);
	KUNIT_ASSERT_LT(test, max, VT_FAR_PIECES);
	buf = vt_vmalloc(test, (max + 1) * PAGE_SIZE);
	ep = far.pair.a.ep;
	addr = vt_far_addr(&far);
	key = fi_mr_key(far.mr);
	for (len = max * PAGE_SIZE; len <= max * PAGE_SIZE + 1; len++) {
		ret = list->read ?
			fi_read(ep, buf, len, NULL, 0, addr, key, vt_ctx(1)) :
			fi_write(ep, buf, len, NULL, 0, addr, key, vt_ctx(1));
		KUNIT_EXPECT_EQ(test, ret, len % PAGE_SIZE ? -EINVAL : 0);
		if (!ret)
			vt_done(test, far.pair.a.tx, vt_ctx(1));
	}
	vt_none(test, far.pair.a.tx);
}

static void an_open_endpoint_says_the_lesser_limit(struct kunit *test)
{
	const struct limit_list *list = test->param_value;
	struct vt_far far = {
		.size		= list->size,
		.iov_limit	= list->iov_limit,
	};
	size_t limit = 0, len = sizeof(limit);
	const struct fi_tx_attr *tx;

	vt_far_open(test, &far, 64);
	tx = vt_info(test)->tx_attr;
	KUNIT_ASSERT_EQ(test, fi_getopt(&far.pair.a.ep->fid, FI_OPT_ENDPOINT,
					FI_OPT_MAX_RMA_IOV, &limit, &len), 0);
	KUNIT_EXPECT_EQ(test, limit, min(tx->rma_read_iov_limit, tx->rma_write_iov_limit));
}

#define SHOW_RESOURCES	"PATH=$PATH:/usr/bin:/usr/sbin; rdma resource show "

/* "rdma resource show" names kofi_verbs as their owner */
static void resources_of_the_device_bear_our_name(struct kunit *test)
{
	static const char *const kinds[] = { "qp", "cq", "mr", "pd", "cm_id" };
	struct vt_far far = { .iov_limit = 1 };
	char command[160];
	int i;

	vt_far_open(test, &far, 64);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(command, sizeof(command),
			 SHOW_RESOURCES "%s | grep -q 'comm .kofi_verbs.'", kinds[i]);
		KUNIT_EXPECT_EQ_MSG(test, vt_shell(command), 0, "%s", kinds[i]);
	}
	KUNIT_EXPECT_NE(test, vt_shell(SHOW_RESOURCES "qp | grep 'type RC.*comm .rdma_cm.'"), 0);
}

/* Every device that is a result can do it: without it there are no regions */
static void remote_invalidation_can_be_asked_for(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;

	hints->caps = FI_MSG | FI_REMOTE_INV;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);

	for (; info; info = info->next) {
		KUNIT_EXPECT_TRUE(test, info->caps & FI_REMOTE_INV);
		KUNIT_EXPECT_TRUE(test, info->tx_attr->caps & FI_REMOTE_INV);
		KUNIT_EXPECT_TRUE(test, info->rx_attr->caps & FI_REMOTE_INV);
	}
}

/* Nor does a client get it that asks for other capabilities only */
static void remote_invalidation_is_not_for_remote_access_alone(struct kunit *test)
{
	struct fi_info *hints = vt_hints(test), *info;

	hints->caps = FI_RMA;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	KUNIT_ASSERT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), 0);
	for (; info; info = info->next)
		KUNIT_EXPECT_EQ(test, info->caps & FI_REMOTE_INV, 0);

	/* A message brings it, so this contradicts itself */
	hints->caps |= FI_REMOTE_INV;
	KUNIT_EXPECT_EQ(test, vt_getinfo(test, NULL, 0, 0, hints, &info), -EINVAL);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(a_domain_says_what_device_its_memory_is_mapped_for),
	KUNIT_CASE(numa_node_is_the_devices),
	KUNIT_CASE(an_endpoint_counts_without_a_limit),
	KUNIT_CASE(the_largest_cq_opens_and_no_larger_one),
	KUNIT_CASE(the_largest_cq_can_be_asked_for),
	KUNIT_CASE(elements_meet_where_mr_gap_align_says),
	KUNIT_CASE_PARAM(lists_up_to_the_limit_and_no_longer, limit_list_gen_params),
	KUNIT_CASE_PARAM(a_buffer_of_vmalloc_counts_its_pages, limit_list_gen_params),
	KUNIT_CASE_PARAM(an_open_endpoint_says_the_lesser_limit, limit_list_gen_params),
	KUNIT_CASE(resources_of_the_device_bear_our_name),
	KUNIT_CASE(remote_invalidation_can_be_asked_for),
	KUNIT_CASE(remote_invalidation_is_not_for_remote_access_alone),
	{}
};

struct kunit_suite kofi_verbs_limits_suite = {
	.name		= "kofi_verbs_limits",
	.init		= vt_init,
	.exit		= vt_exit,
	.test_cases	= limits_cases,
};
