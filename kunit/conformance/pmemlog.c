// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The log of clients/pmemlog, over whatever provider has persistent memory: what a crash of one
 * replica or both leaves is what was saved.
 */
#include <linux/export.h>

/* The log is compiled in; it is kofi_pmemlog.ko that exports it */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)	static_assert(sizeof(typeof(symbol) *) != 0)

#include "../../clients/pmemlog/log.c"
#include "../lib/pmem.h"
#include "conformance.h"

#define LOG_SIZE	SZ_4K
#define LOG_ID		0x1122334455667788ULL

/**
 * struct log_test - A log with two replicas, each half of the memory
 * @log: the log
 * @pair: connections to the replicas
 * @mem: the memory
 * @text: record that recovery has found last
 */
struct log_test {
	struct pmemlog	log;
	struct vt_pair	pair[PMEMLOG_REPLICAS];
	struct vt_pmem	*mem;
	char		text[64];
};

static void close_log(void *data)
{
	pmemlog_close(data);
}

/* false: the provider has no persistent memory */
static bool start(struct kunit *test, struct log_test *lt)
{
	struct pmemlog_replica *replica;
	struct fi_mr_attr attr = { .access = CONF_ACCESS, .iov_count = 1 };
	struct kvec kvec;
	struct fid_mr *mr;
	int i;

	if (!conf_want(test, FI_RMA | FI_RMA_PMEM))
		return false;
	conf_serve(test);
	lt->mem = vt_pmem(test, PMEMLOG_REPLICAS * LOG_SIZE);
	for (i = 0; i < PMEMLOG_REPLICAS; i++) {
		replica = &lt->log.replica[i];
		vt_join(test, &lt->pair[i], &vt_default_kind);
		kvec = (struct kvec) { lt->mem->mem + i * LOG_SIZE, LOG_SIZE };
		attr.mr_iov = &kvec;
		attr.requested_key = 5000 + i;
		KUNIT_ASSERT_EQ(test, fi_mr_regattr(vt_of(test)->domain, &attr, FI_RMA_PMEM, &mr),
				0);
		vt_adopt(test, &mr->fid);
		replica->ep = lt->pair[i].a.ep;
		replica->cq = lt->pair[i].a.tx->cq;
		replica->addr = fi_mr_addr(mr);
		replica->key = fi_mr_key(mr);
	}
	KUNIT_ASSERT_EQ(test, pmemlog_open(&lt->log, LOG_SIZE, LOG_ID), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_log, &lt->log), 0);
	return true;
}

static struct log_test *new_test(struct kunit *test)
{
	return vt_buf(test, sizeof(struct log_test));
}

static int append(struct log_test *lt, const char *text)
{
	return pmemlog_append(&lt->log, text, strlen(text) + 1);
}

static int keep_text(void *arg, const void *data, u32 len)
{
	struct log_test *lt = arg;

	strscpy(lt->text, data, sizeof(lt->text));
	return 0;
}

/* What a crash leaves at a replica */
static u64 recover(struct log_test *lt, int replica)
{
	lt->text[0] = 0;
	return pmemlog_recover(lt->mem->media + replica * LOG_SIZE, LOG_SIZE, LOG_ID, keep_text,
			       lt);
}

static void what_was_saved_is_recovered(struct kunit *test)
{
	struct log_test *lt = new_test(test);
	int i;

	if (!start(test, lt))
		return;
	KUNIT_EXPECT_EQ(test, append(lt, "one"), 0);
	KUNIT_EXPECT_EQ(test, append(lt, "two, which is longer"), 0);
	KUNIT_EXPECT_EQ(test, recover(lt, 0), 0);
	KUNIT_ASSERT_EQ(test, pmemlog_save(&lt->log), 0);
	KUNIT_EXPECT_EQ(test, append(lt, "three"), 0);
	for (i = 0; i < PMEMLOG_REPLICAS; i++) {
		KUNIT_EXPECT_EQ(test, recover(lt, i), 2);
		KUNIT_EXPECT_STREQ(test, lt->text, "two, which is longer");
	}
	KUNIT_ASSERT_EQ(test, pmemlog_save(&lt->log), 0);
	KUNIT_EXPECT_EQ(test, recover(lt, 1), 3);
	KUNIT_EXPECT_STREQ(test, lt->text, "three");
}

static void recovery_stops_at_what_is_not_whole(struct kunit *test)
{
	struct log_test *lt = new_test(test);
	u8 *media;

	if (!start(test, lt))
		return;
	KUNIT_EXPECT_EQ(test, append(lt, "one"), 0);
	KUNIT_EXPECT_EQ(test, append(lt, "two"), 0);
	KUNIT_ASSERT_EQ(test, pmemlog_save(&lt->log), 0);
	media = lt->mem->media;
	KUNIT_EXPECT_EQ(test, pmemlog_recover(media, LOG_SIZE, LOG_ID + 1, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, pmemlog_recover(media, pmemlog_bytes(4) + 20, LOG_ID, NULL, NULL), 1);
	KUNIT_EXPECT_EQ(test, pmemlog_recover(media, 2 * pmemlog_bytes(4) - 5, LOG_ID, NULL, NULL),
			1);
	/* A byte of the second one's data, then the length of the first one */
	media[2 * pmemlog_bytes(4) - 8] ^= 1;
	KUNIT_EXPECT_EQ(test, recover(lt, 0), 1);
	media[offsetof(struct pmemlog_header, len) + 3] = 0xff;
	KUNIT_EXPECT_EQ(test, recover(lt, 0), 0);
	KUNIT_EXPECT_EQ(test, recover(lt, 1), 2);
}

static void a_log_has_an_end(struct kunit *test)
{
	struct log_test *lt = new_test(test);
	u8 *data = vt_buf(test, LOG_SIZE);
	u64 count;

	/* So that appending has to read completions */
	conf_shallow(test, 4);
	if (!start(test, lt))
		return;
	for (count = 0; !pmemlog_append(&lt->log, data, 100); count++)
		;
	KUNIT_EXPECT_EQ(test, count, LOG_SIZE / pmemlog_bytes(100));
	KUNIT_EXPECT_EQ(test, pmemlog_append(&lt->log, data, 100), -ENOSPC);
	KUNIT_EXPECT_EQ(test, pmemlog_save(&lt->log), 0);
	KUNIT_EXPECT_EQ(test, recover(lt, 0), count);
	KUNIT_EXPECT_EQ(test, recover(lt, 1), count);
}

static void a_replica_that_goes_is_noticed(struct kunit *test)
{
	struct log_test *lt = new_test(test);
	int ret;

	if (!start(test, lt))
		return;
	KUNIT_EXPECT_EQ(test, append(lt, "one"), 0);
	KUNIT_ASSERT_EQ(test, pmemlog_save(&lt->log), 0);
	vt_close(test, &lt->pair[1].b.ep->fid);
	ret = append(lt, "two");
	if (!ret)
		ret = pmemlog_save(&lt->log);
	KUNIT_EXPECT_LT(test, ret, 0);
	KUNIT_EXPECT_EQ(test, append(lt, "three"), ret);
	KUNIT_EXPECT_EQ(test, pmemlog_save(&lt->log), ret);
	KUNIT_EXPECT_GE(test, recover(lt, 0), 1);
	KUNIT_EXPECT_EQ(test, recover(lt, 1), 1);
}

static struct kunit_case pmemlog_cases[] = {
	KUNIT_CASE_PARAM(what_was_saved_is_recovered, conf_gen_params),
	KUNIT_CASE_PARAM(recovery_stops_at_what_is_not_whole, conf_gen_params),
	KUNIT_CASE_PARAM(a_log_has_an_end, conf_gen_params),
	KUNIT_CASE_PARAM(a_replica_that_goes_is_noticed, conf_gen_params),
	{}
};

struct kunit_suite conf_pmemlog_suite = {
	.name		= "kofi_conformance_pmemlog",
	.init		= conf_init,
	.exit		= vt_exit,
	.test_cases	= pmemlog_cases,
};
