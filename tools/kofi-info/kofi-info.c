// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kofi-info: libfabric's fi_info, for the kernel.
 *
 * Options and output are those of fi_info, where both programs have them.
 * include/uapi/rdma/kofi_netlink.h defines the requests and the answers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <limits.h>
#include <netinet/in.h>
#include <rdma/kofi_netlink.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "names.h"
#include "netlink.h"
#include "out.h"

#define FI_PROV_ATTR_ONLY	0x0040000000000000ULL
#define FI_SOURCE		0x0200000000000000ULL
#define MAJOR(version)	((version) >> 16)
#define MINOR(version)	((version) & 0xffff)

/* The options of the user; strings are arguments of the program, or NULL */
static struct {
	const char	*node;
	const char	*source;
	const char	*port;
	const char	*prov_name;
	const char	*domain;
	const char	*fabric;
	const char	*substring;
	const char	*env;
	uint64_t	caps;
	uint64_t	mode;
	uint64_t	mr_mode;
	uint64_t	ep_type;
	uint64_t	addr_format;
	bool		help;
	bool		all_env;
	bool		verbose;
	bool		list;
	bool		version;
	bool		objects;
	bool		why;
	bool		json;
} args = {
	.mode = UINT64_MAX,
	.mr_mode = UINT32_MAX,
};

enum {
	OPT_VERSION = 256,
	OPT_WHY,
	OPT_JSON,
	OPT_MR_MODE,
};

/**
 * struct option_row - An option
 * @option: as getopt_long() wants it
 * @arg: name of its argument, or NULL
 * @text: what it is for
 * @flag: what it sets, or NULL
 * @string: where its argument goes, or NULL
 * @value: where the value of its argument goes, if that is made of constants
 * @names: the constants of @value
 * @what: what a constant of @names is called in an error text
 */
struct option_row {
	struct option		option;
	const char		*arg;
	const char		*text;
	bool			*flag;
	const char		**string;
	uint64_t		*value;
	const struct name	*names;
	const char		*what;
};

static const struct option_row options[] = {
	{ { "help", 0, NULL, 'h' }, NULL, "display this help and exit", .flag = &args.help },
	{ { "src_addr", 1, NULL, 's' }, "ADDR", "source address", .string = &args.source },
	{ { "node", 1, NULL, 'n' }, "ADDR", "dest node address", .string = &args.node },
	{ { "port", 1, NULL, 'P' }, "PNUM", "port number", .string = &args.port },
	{ { "caps", 1, NULL, 'c' }, "CAP1|CAP2..", "one or more capabilities: FI_MSG|FI_RMA...",
	  .value = &args.caps, .names = names_caps, .what = "capability" },
	{ { "mode", 1, NULL, 'm' }, "MOD1|MOD2..", "one or more modes, default all modes",
	  .value = &args.mode, .names = names_mode, .what = "mode" },
	{ { "mr_mode", 1, NULL, OPT_MR_MODE }, "MOD1|MOD2..",
	  "one or more registration modes, default all",
	  .value = &args.mr_mode, .names = names_mr_mode, .what = "registration mode" },
	{ { "ep_type", 1, NULL, 't' }, "EPTYPE",
	  "specify single endpoint type: FI_EP_MSG, FI_EP_RDM...",
	  .value = &args.ep_type, .names = names_ep_type, .what = "endpoint type" },
	{ { "domain", 1, NULL, 'd' }, "DOMAIN", "specify the domain name",
	  .string = &args.domain },
	{ { "fabric", 1, NULL, 'f' }, "FABRIC", "specify the fabric name",
	  .string = &args.fabric },
	{ { "addr_format", 1, NULL, 'a' }, "FMT",
	  "specify accepted address format: FI_FORMAT_UNSPEC, FI_SOCKADDR...",
	  .value = &args.addr_format, .names = names_addr_format, .what = "address format" },
	{ { "provider", 1, NULL, 'p' }, "PROV", "specify provider explicitly",
	  .string = &args.prov_name },
	{ { "env", 0, NULL, 'e' }, NULL, "print parameters of kOFI's modules",
	  .flag = &args.all_env },
	{ { "getenv", 1, NULL, 'g' }, "SUBSTR", "print parameters with substr",
	  .string = &args.env },
	{ { "info", 1, NULL, 'i' }, "SUBSTR", "print fi_info structures containing substr",
	  .string = &args.substring },
	{ { "list", 0, NULL, 'l' }, NULL, "list registered providers", .flag = &args.list },
	{ { "objects", 0, NULL, 'o' }, NULL, "list open objects", .flag = &args.objects },
	{ { "why", 0, NULL, OPT_WHY }, NULL, "print why something is not among the results",
	  .flag = &args.why },
	{ { "json", 0, NULL, OPT_JSON }, NULL, "print JSON", .flag = &args.json },
	{ { "verbose", 0, NULL, 'v' }, NULL, "verbose output", .flag = &args.verbose },
	{ { "version", 0, NULL, OPT_VERSION }, NULL, "print version info and exit",
	  .flag = &args.version },
};

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static void usage(FILE *file)
{
	const struct option_row *row;
	char left[64];

	fprintf(file, "Usage: kofi-info\n");
	for (row = options; row < options + ARRAY_SIZE(options); row++) {
		snprintf(left, sizeof(left), "--%s%s%s", row->option.name, row->arg ? "=" : "",
			 row->arg ?: "");
		if (row->option.val < 256)
			fprintf(file, "  -%c, %-24s %s\n", row->option.val, left, row->text);
		else
			fprintf(file, "      %-24s %s\n", left, row->text);
	}
}

/* End the program, as the arguments make no sense */
static void refuse(const char *what, const char *text)
{
	fprintf(stderr, "error: %s%s\n", what, text);
	exit(EINVAL);
}

static void take_option(const struct option_row *row)
{
	char bad[64], what[64];

	if (row->flag) {
		*row->flag = true;
	} else if (row->string) {
		*row->string = optarg;
	} else if (!names_find(row->names, optarg, row->value, bad, sizeof(bad))) {
		snprintf(what, sizeof(what), "Unrecognized %s: ", row->what);
		refuse(what, bad);
	}
}

static void take_args(int argc, char **argv)
{
	struct option longopts[ARRAY_SIZE(options) + 1] = {};
	char shortopts[2 * ARRAY_SIZE(options) + 1], *at = shortopts;
	int option;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		longopts[i] = options[i].option;
		if (longopts[i].val >= 256)
			continue;
		*at++ = longopts[i].val;
		if (longopts[i].has_arg)
			*at++ = ':';
	}
	*at = '\0';

	while ((option = getopt_long(argc, argv, shortopts, longopts, NULL)) != -1) {
		for (i = 0; i < ARRAY_SIZE(options) && options[i].option.val != option;)
			i++;
		if (i == ARRAY_SIZE(options)) {
			usage(stderr);
			exit(EINVAL);
		}
		take_option(&options[i]);
	}
	if (optind < argc)
		refuse("this is no option: ", argv[optind]);
	if (args.source && args.node)
		refuse("-s and -n exclude each other", "");
	if (args.all_env)
		args.env = "";
}

static unsigned long port_number(void)
{
	char *end;
	unsigned long port = strtoul(args.port, &end, 10);

	if (*end || end == args.port || port > USHRT_MAX)
		refuse("this is no port number: ", args.port);
	return port;
}

/* The kernel loads no provider for a netlink request; root can load the provider before */
static void load_provider(const char *name)
{
	char module[80], *argv[4] = {};
	pid_t pid;

	argv[0] = "modprobe";
	argv[1] = "-q";
	argv[2] = module;
	snprintf(module, sizeof(module), "kofi-%s", name);
	if (!posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
		waitpid(pid, NULL, 0);
}

static void load_providers(void)
{
	char names[256], *name, *rest = names;

	if (!args.prov_name || geteuid())
		return;
	snprintf(names, sizeof(names), "%s", args.prov_name);
	while ((name = strsep(&rest, ";")))
		if (*name && *name != '^')
			load_provider(name);
}

/* Print the parameters of kOFI's modules, in place of libfabric's environment */
static int print_env(void)
{
	const char *name, *module, *end;
	char line[256];
	glob_t found;
	FILE *file;
	size_t i;

	if (glob("/sys/module/kofi*/parameters/*", 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc; i++) {
		module = found.gl_pathv[i] + strlen("/sys/module/");
		end = strchr(module, '/');
		name = strrchr(end, '/') + 1;
		file = fopen(found.gl_pathv[i], "r");
		if (!file)
			continue;
		if (!fgets(line, sizeof(line), file))
			*line = '\0';
		fclose(file);
		line[strcspn(line, "\n")] = '\0';
		if (strstr(name, args.env) || strstr(module, args.env))
			printf("%.*s.%s=%s\n", (int)(end - module), module, name, line);
	}
	globfree(&found);
	return 0;
}

/* The value of the first line "name: value" in the lines of fi_tostr() from @block on */
static const char *line_value(const char *text, const char *block, const char *name, char *value,
			      size_t size)
{
	const char *at = strstr(text, block);

	*value = '\0';
	at = at ? strstr(at, name) : NULL;
	if (at)
		snprintf(value, size, "%.*s", (int)strcspn(at + strlen(name), "\n"),
			 at + strlen(name));
	return value;
}

static void print_version(const char *name, uint32_t version)
{
	char text[32];

	snprintf(text, sizeof(text), "%u.%u", MAJOR(version), MINOR(version));
	out_string(name, text);
}

static void print_info(const struct nl_attrs *info)
{
	const char *text = nl_string(info->attr[KOFI_INFO_TEXT]);
	char title[128], value[128];

	if (args.substring && !strstr(text, args.substring))
		return;
	if (args.json || args.verbose || args.substring) {
		out_item("---");
		out_lines(text);
		out_item_end();
		return;
	}
	snprintf(title, sizeof(title), "provider: %s",
		 nl_string(info->attr[KOFI_INFO_PROV_NAME]));
	out_item(title);
	out_string("fabric", nl_string(info->attr[KOFI_INFO_FABRIC]));
	out_string("domain", nl_string(info->attr[KOFI_INFO_DOMAIN]));
	/* An interface may have several addresses, which differ in nothing else */
	out_string("src_addr", line_value(text, "fi_info:", " src_addr: ", value, sizeof(value)));
	print_version("version", nl_u32(info->attr[KOFI_INFO_PROV_VERSION]));
	out_string("type", line_value(text, "fi_ep_attr:", " type: ", value, sizeof(value)));
	out_string("protocol", line_value(text, "fi_ep_attr:", " protocol: ", value,
					  sizeof(value)));
	out_item_end();
}

static void print_reason(const struct nl_attrs *reason)
{
	const char *prov_name = nl_string(reason->attr[KOFI_REASON_PROV_NAME]);
	const char *domain = nl_string(reason->attr[KOFI_REASON_DOMAIN]);
	const char *text = nl_string(reason->attr[KOFI_REASON_TEXT]);

	if (!args.json) {
		printf("why: %s%s%s%s%s\n", prov_name, *domain ? " " : "", domain,
		       *prov_name || *domain ? ": " : "", text);
		return;
	}
	out_item(NULL);
	out_number("kind", nl_u32(reason->attr[KOFI_REASON_KIND]));
	out_signed("err", (int32_t)nl_u32(reason->attr[KOFI_REASON_ERR]));
	out_number("misfits", nl_u32(reason->attr[KOFI_REASON_MISFITS]));
	out_string("provider", prov_name);
	out_string("domain", domain);
	out_string("field", nl_string(reason->attr[KOFI_REASON_FIELD]));
	out_string("wanted", nl_string(reason->attr[KOFI_REASON_WANTED]));
	out_string("offered", nl_string(reason->attr[KOFI_REASON_OFFERED]));
	out_string("text", text);
	out_item_end();
}

/* Results come before reasons, and each part is a list of its own */
enum part {
	RESULTS,
	REASONS,
};

/**
 * struct answer - How far the answer to GETINFO has been printed
 * @part: which list is open
 * @error: what fi_getinfo() has returned
 */
struct answer {
	enum part	part;
	int		error;
};

static void begin_reasons(struct answer *answer)
{
	if (answer->part == REASONS)
		return;
	answer->part = REASONS;
	out_list_end();
	if (args.why)
		out_list("reasons");
}

static void take_getinfo(const struct nl_attrs *attrs, void *arg)
{
	struct answer *answer = arg;
	struct nl_attrs nest;

	if (attrs->attr[KOFI_A_INFO]) {
		nl_parse_nest(&nest, attrs->attr[KOFI_A_INFO]);
		print_info(&nest);
	} else if (attrs->attr[KOFI_A_REASON]) {
		begin_reasons(answer);
		nl_parse_nest(&nest, attrs->attr[KOFI_A_REASON]);
		if (args.why)
			print_reason(&nest);
	} else if (attrs->attr[KOFI_A_ERROR]) {
		begin_reasons(answer);
		answer->error = nl_u32(attrs->attr[KOFI_A_ERROR]);
	}
}

static void put_hints(struct nl *nl)
{
	size_t nest = nl_nest(nl, KOFI_A_HINTS);

	nl_put_u64(nl, KOFI_INFO_CAPS, args.caps);
	nl_put_u64(nl, KOFI_INFO_MODE, args.mode);
	nl_put_u64(nl, KOFI_INFO_DOMAIN_MODE, UINT64_MAX);
	nl_put_u32(nl, KOFI_INFO_MR_MODE, args.mr_mode);
	nl_put_u32(nl, KOFI_INFO_EP_TYPE, args.ep_type);
	nl_put_u32(nl, KOFI_INFO_ADDR_FORMAT, args.addr_format);
	if (args.prov_name)
		nl_put_string(nl, KOFI_INFO_PROV_NAME, args.prov_name);
	if (args.fabric)
		nl_put_string(nl, KOFI_INFO_FABRIC, args.fabric);
	if (args.domain)
		nl_put_string(nl, KOFI_INFO_DOMAIN, args.domain);
	nl_nest_end(nl, nest);
}

static int getinfo(struct nl *nl)
{
	const char *node = args.source ?: args.node;
	struct answer answer = {};
	int ret;

	load_providers();
	nl_begin(nl, KOFI_CMD_GETINFO);
	put_hints(nl);
	if (node)
		nl_put_string(nl, KOFI_A_NODE, node);
	if (args.port)
		nl_put_u16(nl, KOFI_A_SERVICE, port_number());
	if (args.source)
		nl_put_u64(nl, KOFI_A_FLAGS, FI_SOURCE);

	out_begin(args.json);
	out_list("results");
	ret = nl_dump(nl, take_getinfo, &answer);
	begin_reasons(&answer);
	if (args.why)
		out_list_end();
	if (args.json)
		out_signed("error", ret ?: answer.error);
	out_end();
	if (!ret)
		ret = answer.error;
	if (ret)
		fprintf(stderr, "fi_getinfo: %d (%s)%s\n", ret, strerror(-ret),
			args.why ? "" : "; --why says why");
	return -ret;
}

static void take_version(const struct nl_attrs *attrs, void *arg)
{
	uint32_t number = nl_u32(attrs->attr[KOFI_A_VERSION]);

	(void)arg;
	if (attrs->attr[KOFI_A_VERSION])
		printf("kofi api: %u.%u\n", MAJOR(number), MINOR(number));
}

static int version(struct nl *nl)
{
	nl_begin(nl, KOFI_CMD_GETINFO);
	nl_put_u64(nl, KOFI_A_FLAGS, FI_PROV_ATTR_ONLY);
	return -nl_dump(nl, take_version, NULL);
}

static void take_provider(const struct nl_attrs *attrs, void *arg)
{
	struct nl_attrs provider;
	char title[128];

	(void)arg;
	if (!attrs->attr[KOFI_A_PROVIDER])
		return;
	nl_parse_nest(&provider, attrs->attr[KOFI_A_PROVIDER]);
	snprintf(title, sizeof(title), "%s:", nl_string(provider.attr[KOFI_PROVIDER_NAME]));
	out_item(title);
	if (args.json)
		out_string("name", nl_string(provider.attr[KOFI_PROVIDER_NAME]));
	print_version("version", nl_u32(provider.attr[KOFI_PROVIDER_NR]));
	if (args.json || args.verbose) {
		print_version("api_version", nl_u32(provider.attr[KOFI_PROVIDER_API]));
		out_number("references", nl_u32(provider.attr[KOFI_PROVIDER_REFS]));
		out_string("module", nl_string(provider.attr[KOFI_PROVIDER_MODULE]));
	}
	out_item_end();
}

static int list(struct nl *nl)
{
	int ret;

	nl_begin(nl, KOFI_CMD_PROVIDERS);
	out_begin(args.json);
	out_list("providers");
	ret = nl_dump(nl, take_provider, NULL);
	out_list_end();
	out_end();
	return -ret;
}

enum how {
	U32,
	U64,
	HEX,
	STRING,
	FLAG,
	ADDR,
};

/* How an attribute of an object is printed, in this order */
static const struct {
	int		attr;
	const char	*name;
	enum how	how;
} object_fields[] = {
	{ KOFI_OBJECT_CLASS_NAME, "class", STRING },
	{ KOFI_OBJECT_PROV_NAME, "provider", STRING },
	{ KOFI_OBJECT_NAME, "name", STRING },
	{ KOFI_OBJECT_OWNER, "owner", STRING },
	{ KOFI_OBJECT_UNLOADED, "unloaded", FLAG },
	{ KOFI_OBJECT_PARENT, "parent", U64 },
	{ KOFI_OBJECT_USERS, "users", U32 },
	{ KOFI_OBJECT_STATE, "state", STRING },
	{ KOFI_OBJECT_SRC_ADDR, "src_addr", ADDR },
	{ KOFI_OBJECT_DEST_ADDR, "dest_addr", ADDR },
	{ KOFI_OBJECT_KEY, "key", HEX },
	{ KOFI_OBJECT_HASH, "hash", STRING },
	{ KOFI_OBJECT_ADDR, "address", HEX },
};

static void print_addr(const char *name, const struct nlattr *attr)
{
	char text[INET6_ADDRSTRLEN + 16], host[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in6 sin6 = {};
	struct sockaddr_in *sin = (void *)&sin6;

	memcpy(&sin6, nl_string(attr), attr->nla_len - NLA_HDRLEN < (int)sizeof(sin6) ?
	       attr->nla_len - NLA_HDRLEN : (int)sizeof(sin6));
	if (sin->sin_family == AF_INET) {
		inet_ntop(AF_INET, &sin->sin_addr, host, sizeof(host));
		snprintf(text, sizeof(text), "%s:%u", host, ntohs(sin->sin_port));
	} else {
		inet_ntop(AF_INET6, &sin6.sin6_addr, host, sizeof(host));
		snprintf(text, sizeof(text), "[%s]:%u", host, ntohs(sin6.sin6_port));
	}
	out_string(name, text);
}

static void print_field(enum how how, const char *name, const struct nlattr *attr)
{
	switch (how) {
	case U32:
		out_number(name, nl_u32(attr));
		break;
	case U64:
		out_number(name, nl_u64(attr));
		break;
	case HEX:
		out_hex(name, nl_u64(attr));
		break;
	case STRING:
		out_string(name, nl_string(attr));
		break;
	case FLAG:
		out_true(name);
		break;
	case ADDR:
		print_addr(name, attr);
		break;
	}
}

static void print_bound(const struct nlattr *attr)
{
	struct nl_attrs bound;
	char value[64];

	nl_parse_nest(&bound, attr);
	if (args.json) {
		out_item(NULL);
		out_number("object", nl_u64(bound.attr[KOFI_BOUND_ID]));
		out_hex("flags", nl_u64(bound.attr[KOFI_BOUND_FLAGS]));
		out_item_end();
		return;
	}
	snprintf(value, sizeof(value), "%llu flags %#llx",
		 (unsigned long long)nl_u64(bound.attr[KOFI_BOUND_ID]),
		 (unsigned long long)nl_u64(bound.attr[KOFI_BOUND_FLAGS]));
	out_string("bound", value);
}

static void take_object(const struct nl_attrs *attrs, void *arg)
{
	const struct nlattr *nest = attrs->attr[KOFI_A_OBJECT], *attr = NULL;
	struct nl_attrs object, value;
	char title[64];
	size_t i;

	(void)arg;
	if (!nest)
		return;
	nl_parse_nest(&object, nest);
	snprintf(title, sizeof(title), "object: %llu",
		 (unsigned long long)nl_u64(object.attr[KOFI_OBJECT_ID]));
	out_item(title);
	if (args.json)
		out_number("object", nl_u64(object.attr[KOFI_OBJECT_ID]));
	for (i = 0; i < ARRAY_SIZE(object_fields); i++)
		if (object.attr[object_fields[i].attr])
			print_field(object_fields[i].how, object_fields[i].name,
				    object.attr[object_fields[i].attr]);
	while ((attr = nl_next(nest, attr)))
		if (nl_type(attr) == KOFI_OBJECT_VALUE) {
			nl_parse_nest(&value, attr);
			out_number(nl_string(value.attr[KOFI_VALUE_NAME]),
				   nl_u64(value.attr[KOFI_VALUE_NUMBER]));
		}
	out_list("bound");
	while ((attr = nl_next(nest, attr)))
		if (nl_type(attr) == KOFI_OBJECT_BOUND)
			print_bound(attr);
	out_list_end();
	out_item_end();
}

static int objects(struct nl *nl)
{
	int ret;

	nl_begin(nl, KOFI_CMD_OBJECTS);
	out_begin(args.json);
	out_list("objects");
	ret = nl_dump(nl, take_object, NULL);
	out_list_end();
	out_end();
	return -ret;
}

int main(int argc, char **argv)
{
	struct nl nl;
	int ret;

	take_args(argc, argv);
	if (args.help) {
		usage(stdout);
		return EXIT_SUCCESS;
	}
	if (args.env)
		return print_env();

	ret = nl_open(&nl, KOFI_GENL_NAME);
	if (ret) {
		fprintf(stderr, "kofi-info: %s\n", ret == -ENOENT ?
			"the kernel has no kOFI; modprobe kofi loads it" : strerror(-ret));
		return -ret;
	}
	if (args.version)
		ret = version(&nl);
	else if (args.list)
		ret = list(&nl);
	else if (args.objects)
		ret = objects(&nl);
	else
		ret = getinfo(&nl);
	nl_close(&nl);
	return ret;
}
