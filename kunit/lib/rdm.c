// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints without connections: each end has an address vector of its own, in which
 * the other end is the first address.  So 0 names the peer at either end, and cases for
 * connected endpoints, which pass 0 for an address that does not matter, run here, too.
 */
#include <linux/module.h>
#include "client.h"

struct fid_av *vt_av(struct kunit *test, u64 flags)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .flags = flags };
	struct fid_av *av;

	KUNIT_ASSERT_EQ(test, fi_av_open(vt_of(test)->domain, &attr, &av, NULL),
			0);
	vt_adopt(test, &av->fid);
	return av;
}
EXPORT_SYMBOL_GPL(vt_av);

fi_addr_t vt_know(struct kunit *test, struct vt_end *end,
		  const struct vt_end *other)
{
	fi_addr_t addr = FI_ADDR_NOTAVAIL;

	KUNIT_ASSERT_EQ(test, tb_know(end->av, other->ep, &addr), 0);
	return addr;
}
EXPORT_SYMBOL_GPL(vt_know);

void vt_meet(struct kunit *test, struct vt_pair *pair)
{
	KUNIT_ASSERT_EQ(test, vt_know(test, &pair->a, &pair->b), 0);
	KUNIT_ASSERT_EQ(test, vt_know(test, &pair->b, &pair->a), 0);
}
EXPORT_SYMBOL_GPL(vt_meet);
