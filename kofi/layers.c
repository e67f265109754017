// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Providers on providers: their names.
 *
 * "verbs;ofi_rxm" names the provider ofi_rxm on top of the provider verbs.  The name of
 * a result has the lowest provider first and the uppermost last, as in libfabric.  The core
 * calls the uppermost provider only.  That provider asks for results below it with
 * kofi_lower_getinfo(), and opens them with kofi_lower_fabric().  kofi_lower_getinfo()
 * calls the provider that the caller names, or, if it names none, all providers that are
 * no layers.  So a layer never finds itself.  The provider below may be a layer again:
 * "a;b;c" makes c ask for "a;b".  KOFI_MAX_LAYERS limits the depth, because each layer
 * uses some of the kernel's stack.
 *
 * A lower fabric and the objects that are opened on it are objects like any other: the core
 * checks and counts them, and the lower fabric pins its provider.  Their client is the
 * upper provider.
 *
 * Hints are more liberal than the names of results:
 *
 *	a;b		this layering and no other; with two names, of which one begins
 *			with "ofi_", in either order
 *	a		results of a; and of layers that have a at the bottom
 *	ofi_b		results of ofi_b, whatever is below it
 *	ofi_hook_c	nothing: a hook is named together with what it is above
 *	^a;^b		results that have neither a nor b in their names; may follow any of
 *			the above
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <kofi/provider.h>
#include "info.h"
#include "kofi.h"

#define KOFI_LAYER_PREFIX	"ofi_"
#define KOFI_HOOK_PREFIX	"ofi_hook_"
#define KOFI_MAX_LAYERS		4

/**
 * struct kofi_layers - The parts of a name
 * @name: the parts, from the bottom to the top
 * @len: their lengths
 * @count: how many
 * @denied: the part of a hint that excludes providers, or an empty string
 */
struct kofi_layers {
	const char	*name[KOFI_MAX_LAYERS];
	size_t		len[KOFI_MAX_LAYERS];
	size_t		count;
	const char	*denied;
};

bool kofi_is_layer(const char *name)
{
	return strstarts(name, KOFI_LAYER_PREFIX);
}

bool kofi_is_hook(const char *name)
{
	return strstarts(name, KOFI_HOOK_PREFIX);
}

/* False: the name has more than KOFI_MAX_LAYERS parts */
static bool layers_parse(struct kofi_layers *layers, const char *name)
{
	const char *end;

	for (layers->count = 0; *name && *name != '^'; layers->count++) {
		if (layers->count == KOFI_MAX_LAYERS)
			return false;
		end = strchrnul(name, ';');
		layers->name[layers->count] = name;
		layers->len[layers->count] = end - name;
		name = *end ? end + 1 : end;
	}
	layers->denied = name;

	if (layers->count == 2 && kofi_is_layer(layers->name[0]) &&
	    !kofi_is_layer(layers->name[1])) {
		swap(layers->name[0], layers->name[1]);
		swap(layers->len[0], layers->len[1]);
	}
	return true;
}

static bool is_same(const struct kofi_layers *a, size_t i,
		    const struct kofi_layers *b, size_t j)
{
	return a->len[i] == b->len[j] &&
	       !memcmp(a->name[i], b->name[j], a->len[i]);
}

/* Is @name in the list "^a;^b"? */
static bool is_denied(const char *list, const char *name, size_t len)
{
	while (*list == '^') {
		list++;
		if (!strncmp(list, name, len) &&
		    (!list[len] || list[len] == ';'))
			return true;
		list = strchrnul(list, ';');
		if (*list)
			list++;
	}
	return false;
}

bool kofi_prov_name_denied(const char *wish, const char *name)
{
	struct kofi_layers layers;

	return wish && layers_parse(&layers, wish) &&
	       is_denied(layers.denied, name, strlen(name));
}

bool kofi_prov_name_fits(const char *wish, const char *name)
{
	struct kofi_layers wanted, offered;
	size_t i;

	if (!wish)
		return true;
	if (!*wish || !layers_parse(&wanted, wish) ||
	    !layers_parse(&offered, name))
		return false;

	for (i = 0; i < offered.count; i++)
		if (is_denied(wanted.denied, offered.name[i], offered.len[i]))
			return false;

	if (!wanted.count)
		return true;
	if (wanted.count == 1)
		return offered.count &&
		       (is_same(&wanted, 0, &offered, 0) ||
			is_same(&wanted, 0, &offered, offered.count - 1));

	if (wanted.count != offered.count)
		return false;
	for (i = 0; i < wanted.count; i++)
		if (!is_same(&wanted, i, &offered, i))
			return false;
	return true;
}

int kofi_prov_name_top(const char *wish, char *top, size_t len)
{
	struct kofi_layers layers;
	size_t last;

	*top = '\0';
	if (!wish)
		return 0;
	if (!layers_parse(&layers, wish))
		return -EINVAL;
	if (!layers.count)
		return 0;

	last = layers.count - 1;
	if (layers.len[last] >= len)
		return -EINVAL;
	strscpy(top, layers.name[last], layers.len[last] + 1);
	return layers.count;
}

/* The provider's name of the open domain or fabric in the hints, or the name in the hints */
static const char *layered_name(const struct fi_info *hints)
{
	const struct fi_fabric_attr *fabric = hints ? hints->fabric_attr : NULL;

	const struct kofi_obj *obj = NULL;

	if (hints && hints->domain_attr && hints->domain_attr->domain)
		obj = hints->domain_attr->domain->fid.obj->parent;
	else if (fabric && fabric->fabric)
		obj = fabric->fabric->fid.obj;
	if (obj)
		return obj->root->prov_name;
	return fabric ? fabric->prov_name : NULL;
}

/* Writes all parts below @upper, or all parts if the top is not @upper; 1: @upper is on others */
static int layers_below(const struct kofi_layers *layers, const char *upper,
			char *buf, size_t len)
{
	size_t last = layers->count - 1, count = layers->count, i, at = 0;
	bool is_top = layers->len[last] == strlen(upper) &&
		      !memcmp(layers->name[last], upper, layers->len[last]);

	if (is_top)
		count--;
	for (i = 0; i < count; i++) {
		if (at + layers->len[i] + 2 > len)
			return -EINVAL;
		if (i)
			buf[at++] = ';';
		memcpy(buf + at, layers->name[i], layers->len[i]);
		at += layers->len[i];
	}
	buf[at] = '\0';
	return is_top && count;
}

int kofi_lower_name(const struct fi_info *hints,
		    const struct kofi_provider *upper, char *buf, size_t len)
{
	const char *name = layered_name(hints);
	struct kofi_layers layers;

	*buf = '\0';
	if (!name)
		return 0;
	if (!layers_parse(&layers, name))
		return -EINVAL;
	return layers.count ? layers_below(&layers, upper->name, buf, len) : 0;
}
EXPORT_SYMBOL_GPL(kofi_lower_name);
