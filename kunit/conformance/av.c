// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address vectors: insertion in arrays and as text, duplicates, removal, look-up, ids of
 * the client.  The addresses are those of open endpoints, in the format of the result.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include "conformance.h"

#define NR	3

/**
 * struct names - Addresses of open endpoints
 * @av: an address vector
 * @ends: the endpoints
 * @array: their addresses, one behind the other
 * @len: bytes of one
 */
struct names {
	struct fid_av	*av;
	struct vt_end	ends[NR];
	u8		array[NR * sizeof(struct sockaddr_storage)];
	size_t		len;
};

static struct names *names_open(struct kunit *test, u64 av_flags)
{
	struct names *names = vt_buf(test, sizeof(*names));
	size_t len, i;

	conf_shallow(test, 4);
	conf_serve(test);
	names->len = vt_of(test)->info->src_addrlen;
	KUNIT_ASSERT_LE(test, names->len, sizeof(struct sockaddr_storage));
	names->av = vt_av(test, av_flags);
	for (i = 0; i < NR; i++) {
		vt_client(test, &names->ends[i], &vt_default_kind);
		len = names->len;
		KUNIT_ASSERT_EQ(test, fi_getname(&names->ends[i].ep->fid,
						 names->array + i * names->len, &len), 0);
		KUNIT_ASSERT_EQ(test, len, names->len);
	}
	return names;
}

static void expect_name(struct kunit *test, struct names *names, fi_addr_t addr, size_t nr)
{
	struct sockaddr_storage found = {};
	size_t len = sizeof(found);

	KUNIT_ASSERT_EQ(test, fi_av_lookup(names->av, addr, &found, &len), 0);
	KUNIT_EXPECT_EQ(test, len, names->len);
	KUNIT_EXPECT_MEMEQ(test, &found, names->array + nr * names->len, len);
}

static void expect_nothing(struct kunit *test, struct fid_av *av, fi_addr_t addr)
{
	struct sockaddr_storage found;
	size_t len = sizeof(found);

	KUNIT_EXPECT_EQ(test, fi_av_lookup(av, addr, &found, &len), -EINVAL);
}

static void an_array_of_addresses_is_inserted(struct kunit *test)
{
	struct names *names;
	fi_addr_t addrs[NR];
	u8 cut[4] = {};
	size_t len, i;

	if (!conf_is_rdm(test))
		return;
	names = names_open(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(names->av, names->array, NR, addrs, 0, NULL), NR);
	for (i = 0; i < NR; i++) {
		/* FI_AV_TABLE */
		KUNIT_EXPECT_EQ(test, addrs[i], i);
		expect_name(test, names, addrs[i], i);
	}
	len = sizeof(cut) - 1;
	KUNIT_EXPECT_EQ(test, fi_av_lookup(names->av, addrs[0], cut, &len), 0);
	KUNIT_EXPECT_EQ(test, len, names->len);
	KUNIT_EXPECT_MEMEQ(test, cut, names->array, sizeof(cut) - 1);
	KUNIT_EXPECT_EQ(test, cut[sizeof(cut) - 1], 0);
	expect_nothing(test, names->av, NR);
	expect_nothing(test, names->av, FI_ADDR_NOTAVAIL);
	expect_nothing(test, names->av, FI_ADDR_UNSPEC);
}

/* One more removal than insertions is an error */
static void an_address_has_one_number_however_often_it_is_inserted(struct kunit *test)
{
	fi_addr_t first = 7, again = 8, other = 9;
	struct names *names;

	if (!conf_is_rdm(test))
		return;
	names = names_open(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(names->av, names->array, 1, &first, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_av_insert(names->av, names->array, 1, &again, 0, NULL), 1);
	KUNIT_ASSERT_EQ(test,
			fi_av_insert(names->av, names->array + names->len, 1, &other, 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, first, again);
	KUNIT_EXPECT_NE(test, first, other);

	KUNIT_EXPECT_EQ(test, fi_av_remove(names->av, &first, 1, 0), 0);
	expect_name(test, names, first, 0);
	KUNIT_EXPECT_EQ(test, fi_av_remove(names->av, &first, 1, 0), 0);
	expect_nothing(test, names->av, first);
	KUNIT_EXPECT_EQ(test, fi_av_remove(names->av, &first, 1, 0), -EINVAL);
	expect_name(test, names, other, 1);
}

static void a_removed_address_makes_room(struct kunit *test)
{
	struct names *names;
	fi_addr_t addrs[NR];

	if (!conf_is_rdm(test))
		return;
	names = names_open(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insert(names->av, names->array, NR, addrs, 0, NULL), NR);
	conf_says(test, &names->av->fid, "addresses", NR);
	KUNIT_ASSERT_EQ(test, fi_av_remove(names->av, &addrs[1], 2, 0), 0);
	expect_name(test, names, addrs[0], 0);
	expect_nothing(test, names->av, addrs[1]);
	expect_nothing(test, names->av, addrs[2]);
	KUNIT_ASSERT_EQ(test, fi_av_insert(names->av, names->array + 2 * names->len, 1, &addrs[2],
					   0, NULL), 1);
	expect_name(test, names, addrs[2], 2);
	conf_says(test, &names->av->fid, "addresses", NR - 1);
	KUNIT_EXPECT_EQ(test, fi_av_remove(names->av, addrs, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_av_remove(names->av, NULL, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_remove(names->av, addrs, 1, FI_MORE), -FI_EBADFLAGS);
	expect_name(test, names, addrs[0], 0);
}

/* The good ones of an array are inserted; FI_SYNC_ERR says which are bad */
static void addresses_that_are_none_are_told_apart(struct kunit *test)
{
	int errors[NR] = { 1, 1, 1 };
	struct names *names;
	fi_addr_t addrs[NR];

	if (!conf_is_rdm(test))
		return;
	names = names_open(test, 0);
	/* Neither family nor port */
	memset(names->array + names->len, 0, names->len);
	KUNIT_EXPECT_EQ(test, fi_av_insert(names->av, names->array, NR, addrs,
					   FI_SYNC_ERR, errors), NR - 1);
	KUNIT_EXPECT_EQ(test, errors[0], 0);
	KUNIT_EXPECT_GT(test, errors[1], 0);
	KUNIT_EXPECT_EQ(test, errors[2], 0);
	expect_name(test, names, addrs[0], 0);
	KUNIT_EXPECT_EQ(test, addrs[1], FI_ADDR_NOTAVAIL);
	expect_name(test, names, addrs[2], 2);
	KUNIT_EXPECT_EQ(test, fi_av_insert(names->av, names->array, 1, addrs,
					   FI_SYNC_ERR, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insert(names->av, NULL, 1, addrs, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_av_insert(names->av, names->array, 1, addrs,
					   FI_PEEK, NULL), -FI_EBADFLAGS);
}

static void port_set(void *addr, int port)
{
	struct sockaddr_in6 *sin6 = addr;
	struct sockaddr_in *sin = addr;

	if (sin->sin_family == AF_INET)
		sin->sin_port = htons(port);
	else
		sin6->sin6_port = htons(port);
}

/* A row of services at the endpoints' node */
static void addresses_are_inserted_as_text(struct kunit *test)
{
	const struct sockaddr *sa = vt_of(test)->info->src_addr;
	struct names *names;
	fi_addr_t addrs[NR];
	char node[64];
	size_t i;

	if (!conf_is_rdm(test))
		return;
	/* An address that is not of IP has no text of this kind */
	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return;
	/* The text of a link-local address ends with the name of an interface */
	if (sa->sa_family == AF_INET6 && ((const struct sockaddr_in6 *)sa)->sin6_scope_id)
		return;
	names = names_open(test, 0);
	snprintf(node, sizeof(node), "%pISc", sa);
	for (i = 0; i < NR; i++)
		port_set(names->array + i * names->len, 4711 + i);
	KUNIT_ASSERT_EQ(test, fi_av_insertsym(names->av, node, 1, 4711, NR, addrs, 0, NULL), NR);
	for (i = 0; i < NR; i++)
		expect_name(test, names, addrs[i], i);
	KUNIT_ASSERT_EQ(test, fi_av_insertsvc(names->av, node, 4712, &addrs[0], 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, addrs[0], addrs[1]);
	KUNIT_EXPECT_LT(test, fi_av_insertsvc(names->av, "no.such.node", 4712, addrs, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(names->av, node, -1, addrs, 0, NULL), -EINVAL);
}

static void an_address_has_a_text(struct kunit *test)
{
	char one[96], other[96];
	struct names *names;
	size_t len;

	if (!conf_is_rdm(test))
		return;
	names = names_open(test, 0);
	len = sizeof(one);
	KUNIT_EXPECT_PTR_EQ(test, fi_av_straddr(names->av, names->array, one,
						&len), (const char *)one);
	KUNIT_EXPECT_EQ(test, len, strlen(one) + 1);
	len = sizeof(other);
	fi_av_straddr(names->av, names->array + names->len, other, &len);
	KUNIT_EXPECT_STRNEQ(test, one, other);
	len = 4;
	fi_av_straddr(names->av, names->array, other, &len);
	KUNIT_EXPECT_EQ(test, strlen(other), 3);
	KUNIT_EXPECT_EQ(test, len, strlen(one) + 1);
}

/* As in fi_getinfo(); the text of the address leads back to it.  Interface 1 is lo */
static void an_interface_is_a_scope_by_name_and_number(struct kunit *test)
{
	const struct sockaddr *sa = vt_of(test)->info->src_addr;
	struct sockaddr_in6 found = {};
	size_t len = sizeof(found);
	fi_addr_t addrs[2];
	struct fid_av *av;
	char text[96];

	if (!conf_is_rdm(test) || sa->sa_family != AF_INET6)
		return;
	conf_serve(test);
	av = vt_av(test, 0);
	KUNIT_ASSERT_EQ(test, fi_av_insertsvc(av, "fe80::7%lo", 4711, &addrs[0], 0, NULL), 1);
	KUNIT_ASSERT_EQ(test, fi_av_insertsvc(av, "fe80::7%1", 4711, &addrs[1], 0, NULL), 1);
	KUNIT_EXPECT_EQ(test, addrs[0], addrs[1]);
	KUNIT_EXPECT_EQ(test, fi_av_insertsvc(av, "fe80::7%none", 4711, addrs, 0, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, fi_av_lookup(av, addrs[1], &found, &len), 0);
	KUNIT_EXPECT_EQ(test, found.sin6_scope_id, 1);
	len = sizeof(text);
	KUNIT_EXPECT_STREQ(test, fi_av_straddr(av, &found, text, &len),
			   "fi_sockaddr_in6://[fe80::7%1]:4711");
}

static void other_vectors_are_refused(struct kunit *test)
{
	static const struct {
		struct fi_av_attr	attr;
		int			ret;
	} bad[] = {
		{ { .type = FI_AV_TABLE + 1 }, -EINVAL },
		{ { .rx_ctx_bits = -1 }, -EINVAL },
		{ { .rx_ctx_bits = 65 }, -EINVAL },
		{ { .name = "shared" }, -ENOSYS },
		{ { .flags = FI_PEEK }, -FI_EBADFLAGS },
	};
	struct fi_av_attr attr;
	struct fid_av *av;
	size_t i;

	if (!conf_is_rdm(test))
		return;
	vt_open_info(test, vt_of(test)->info);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		attr = bad[i].attr;
		KUNIT_EXPECT_EQ_MSG(test, fi_av_open(vt_of(test)->domain, &attr, &av, NULL),
				    bad[i].ret, "attributes %zu", i);
	}
	attr = (struct fi_av_attr) {};
	KUNIT_ASSERT_EQ(test, fi_av_open(vt_of(test)->domain, &attr, &av, NULL), 0);
	vt_adopt(test, &av->fid);
	KUNIT_EXPECT_NE(test, attr.type, FI_AV_UNSPEC);
}

static void an_endpoint_needs_and_keeps_its_vector(struct kunit *test)
{
	struct vt *vt = vt_of(test);
	struct fid_av *av;
	struct fid_ep *ep;
	struct vt_cq *cq;

	if (!conf_is_rdm(test))
		return;
	conf_shallow(test, 4);
	vt_open_info(test, vt->info);
	av = vt_av(test, 0);
	cq = vt_cq(test, &vt_default_kind, 16);
	ep = vt_ep(test, vt->info);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &cq->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_ENOAV);
	KUNIT_ASSERT_EQ(test, fi_ep_bind(ep, &av->fid, 0), 0);
	KUNIT_EXPECT_EQ(test, fi_ep_bind(ep, &av->fid, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, fi_close(&av->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), 0);
	KUNIT_EXPECT_EQ(test, fi_enable(ep), -FI_EOPBADSTATE);
	KUNIT_EXPECT_EQ(test, fi_close(&av->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&cq->cq->fid), -EBUSY);
	KUNIT_EXPECT_EQ(test, fi_close(&vt->domain->fid), -EBUSY);
}

static struct kunit_case av_cases[] = {
	KUNIT_CASE_PARAM(an_array_of_addresses_is_inserted, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_address_has_one_number_however_often_it_is_inserted, conf_gen_rdm),
	KUNIT_CASE_PARAM(a_removed_address_makes_room, conf_gen_rdm),
	KUNIT_CASE_PARAM(addresses_that_are_none_are_told_apart, conf_gen_rdm),
	KUNIT_CASE_PARAM(addresses_are_inserted_as_text, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_address_has_a_text, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_interface_is_a_scope_by_name_and_number, conf_gen_rdm),
	KUNIT_CASE_PARAM(other_vectors_are_refused, conf_gen_rdm),
	KUNIT_CASE_PARAM(an_endpoint_needs_and_keeps_its_vector, conf_gen_rdm),
	{}
};

struct kunit_suite conf_av_suite = {
	.name		= "kofi_conformance_av",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= av_cases,
};
