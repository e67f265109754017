// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Suite kofi_sysfs: /sys/class/kofi, as Documentation/ABI/testing/sysfs-class-kofi says.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/string.h>
#include "../lib/file.h"
#include "core.h"

#define HOME	"/sys/class/kofi/"
#define ROOM	256

/* What a program reads in a file; an error: there is no such file */
static ssize_t read_file(const char *directory, const char *name, char text[ROOM])
{
	char path[ROOM];
	struct file *file;
	loff_t pos = 0;
	ssize_t len;

	snprintf(path, sizeof(path), HOME "%s/%s", directory, name);
	file = vt_file_open(path, O_RDONLY);
	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_read(file, text, ROOM - 1, &pos);
	text[max_t(ssize_t, len, 0)] = 0;
	filp_close(file, NULL);
	return len;
}

static void expect(struct kunit *test, const char *directory, const char *name,
		   const char *expected)
{
	char text[ROOM] = "";

	KUNIT_EXPECT_GE_MSG(test, read_file(directory, name, text), 0, "%s/%s", directory, name);
	KUNIT_EXPECT_STREQ(test, text, expected);
}

static void expect_absent(struct kunit *test, const char *directory)
{
	char text[ROOM];

	KUNIT_EXPECT_EQ(test, read_file(directory, "version", text), -ENOENT);
}

static void expect_number(struct kunit *test, const char *directory, const char *name, size_t value)
{
	char number[32];

	snprintf(number, sizeof(number), "%zu\n", value);
	expect(test, directory, name, number);
}

static void provider_has_a_directory(struct kunit *test)
{
	core_mock(test, "mock", FI_VERSION(1, 2));

	expect(test, "mock", "version", "1.2\n");
	expect(test, "mock", "api_version",
	       __stringify(KOFI_PROVIDER_MAJOR) "." __stringify(KOFI_PROVIDER_MINOR) "\n");
	expect(test, "mock", "references", "1\n");
}

static void module_of_the_provider_is_named(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	char name[MODULE_NAME_LEN + 1];

	snprintf(name, sizeof(name), "%s\n",
		 mock->provider.owner ? mock->provider.owner->name : "");
	expect(test, "mock", "module", name);
}

static void open_fabric_is_a_reference(struct kunit *test)
{
	struct core_set set;

	core_open_parents(test, &set, core_mock(test, "mock", 1), MOCK_DOMAIN);

	expect(test, "mock", "references", "2\n");
}

static void directory_goes_with_the_provider(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	KUNIT_ASSERT_EQ(test, kofi_provider_deregister(&mock->provider), 0);

	expect_absent(test, "mock");
}

static void refused_provider_has_no_directory(struct kunit *test)
{
	struct mock *mock = core_mock_new(test, "mock", 1);

	mock->provider.getinfo = NULL;
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &mock->provider),
			-EINVAL);

	expect_absent(test, "mock");
}

static void second_version_has_its_version_in_the_name(struct kunit *test)
{
	struct mock *first = core_mock(test, "mock", FI_VERSION(1, 2));

	core_mock(test, "mock", FI_VERSION(2, 0));

	expect(test, "mock", "version", "1.2\n");
	expect(test, "mock-2.0", "version", "2.0\n");
	KUNIT_ASSERT_EQ(test, kofi_provider_deregister(&first->provider), 0);
	KUNIT_ASSERT_EQ(test, kofi_provider_register(KOFI_PROVIDER_VERSION, &first->provider), 0);
	expect_absent(test, "mock");
	expect(test, "mock-1.2", "version", "1.2\n");
}

static void domains_are_those_of_getinfo_once_each(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *second = mock_info(mock), *third = mock_info(mock);

	KUNIT_ASSERT_NOT_NULL(test, second);
	mock->infos->next = second;
	KUNIT_ASSERT_NOT_NULL(test, third);
	second->next = third;
	core_set_string(test, &second->domain_attr->name, "second");

	expect(test, "mock", "domains", "mock0\nsecond\n");
}

/* Names of 64 bytes, of which 63 and the dots fit into a page; of the next, a byte is too many */
static void domains_that_do_not_fit_are_said_to_be_more(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	char name[64], *want = vt_buf(test, PAGE_SIZE);
	char *text = vt_buf(test, PAGE_SIZE);
	struct fi_info *info = mock->infos;
	struct file *file;
	loff_t pos = 0;
	int i;

	for (i = 0; i < PAGE_SIZE / 64; i++) {
		snprintf(name, sizeof(name), "%0*d", i < PAGE_SIZE / 64 - 1 ? 63 : 59, i);
		core_set_string(test, &info->domain_attr->name, name);
		if (i < PAGE_SIZE / 64 - 1)
			snprintf(want + i * 64, 65, "%s\n", name);
		info->next = mock_info(mock);
		info = info->next;
		KUNIT_ASSERT_NOT_NULL(test, info);
	}
	strcat(want, "...\n");
	file = vt_file_open(HOME "mock/domains", O_RDONLY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_EXPECT_EQ(test, kernel_read(file, text, PAGE_SIZE - 1, &pos), (ssize_t)strlen(want));
	filp_close(file, NULL);
	KUNIT_EXPECT_STREQ(test, text, want);
}

static void limits_are_the_highest_of_all_domains(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);
	struct fi_info *second = mock_info(mock);

	KUNIT_ASSERT_NOT_NULL(test, second);
	mock->infos->next = second;
	second->tx_attr->size++;
	second->tx_attr->inject_size--;

	expect_number(test, "mock", "limits/tx_size", second->tx_attr->size);
	expect_number(test, "mock", "limits/inject_size", mock->infos->tx_attr->inject_size);
	expect_number(test, "mock", "limits/rx_size", mock->infos->rx_attr->size);
	expect_number(test, "mock", "limits/max_msg_size", mock->infos->ep_attr->max_msg_size);
	expect_number(test, "mock", "limits/iov_limit", mock->infos->tx_attr->iov_limit);
	expect_number(test, "mock", "limits/rma_iov_limit", mock->infos->tx_attr->rma_iov_limit);
	expect_number(test, "mock", "limits/cq_data_size", mock->infos->domain_attr->cq_data_size);
}

static void nothing_found_is_no_domain_and_no_limit(struct kunit *test)
{
	struct mock *mock = core_mock(test, "mock", 1);

	mock->empty = true;

	expect(test, "mock", "domains", "");
	expect(test, "mock", "limits/tx_size", "0\n");
}

static void version_that_nobody_gets_has_no_domains(struct kunit *test)
{
	core_mock(test, "mock", FI_VERSION(1, 2));
	core_mock(test, "mock", FI_VERSION(2, 0));

	expect(test, "mock", "domains", "");
	expect(test, "mock-2.0", "domains", "mock0\n");
}

static struct kunit_case sysfs_cases[] = {
	KUNIT_CASE(provider_has_a_directory),
	KUNIT_CASE(module_of_the_provider_is_named),
	KUNIT_CASE(open_fabric_is_a_reference),
	KUNIT_CASE(directory_goes_with_the_provider),
	KUNIT_CASE(refused_provider_has_no_directory),
	KUNIT_CASE(second_version_has_its_version_in_the_name),
	KUNIT_CASE(domains_are_those_of_getinfo_once_each),
	KUNIT_CASE(domains_that_do_not_fit_are_said_to_be_more),
	KUNIT_CASE(limits_are_the_highest_of_all_domains),
	KUNIT_CASE(nothing_found_is_no_domain_and_no_limit),
	KUNIT_CASE(version_that_nobody_gets_has_no_domains),
	{}
};

struct kunit_suite kofi_sysfs_suite = {
	.name		= "kofi_sysfs",
	.init		= core_init,
	.exit		= core_exit,
	.test_cases	= sysfs_cases,
};
