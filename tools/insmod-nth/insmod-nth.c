// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Load a module while each allocation on the way fails once: for the errors of its init function,
 * which no suite calls.  scripts/guest/insmod.sh asks this of our modules.
 *
 *	insmod-nth FILE NAME [PARAMETERS]
 *
 * The kernel lets the n-th allocation of a task fail that has written n to its
 * /proc/self/fail-nth (Documentation/fault-injection/fault-injection.rst of the kernel), n = 1, 2
 * and so on until the whole load takes fewer.  A load that fails has to do so with ENOMEM; one that
 * does without what was refused has to be unloaded like any other.
 *
 * Prints what is wrong, a line each, and at last how many loads failed.  Exit status 0 only if
 * nothing is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int nth_file;

static void give_up(const char *what)
{
	perror(what);
	exit(2);
}

static void *read_file(const char *path, size_t *size)
{
	int file = open(path, O_RDONLY);
	struct stat stat;
	void *image;

	if (file < 0 || fstat(file, &stat))
		give_up(path);
	image = malloc(stat.st_size);
	if (!image || read(file, image, stat.st_size) != stat.st_size)
		give_up(path);
	close(file);
	*size = stat.st_size;
	return image;
}

static void set_nth(unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(nth_file, text, len, 0) != len)
		give_up("/proc/self/fail-nth");
}

/* 0: the allocation has failed */
static unsigned int nth_left(void)
{
	char text[16] = "";

	if (pread(nth_file, text, sizeof(text) - 1, 0) <= 0)
		give_up("/proc/self/fail-nth");
	return strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	unsigned int nth, left, refused = 0;
	int err, bad = 0;
	size_t size;
	void *image;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: insmod-nth FILE NAME [PARAMETERS]\n");
		return 2;
	}
	image = read_file(argv[1], &size);
	nth_file = open("/proc/self/fail-nth", O_RDWR);
	/* A page of this program that has to be read again would be one of the allocations */
	if (nth_file < 0 || mlockall(MCL_CURRENT | MCL_FUTURE))
		give_up("insmod-nth");
	for (nth = 1, left = 0; !left; nth++) {
		set_nth(nth);
		err = syscall(SYS_init_module, image, size, argc == 4 ? argv[3] : "") ? errno : 0;
		left = nth_left();
		set_nth(0);
		if (err) {
			refused++;
			if (err == ENOMEM && !left)
				continue;
			printf("allocation %u: it is refused with: %s\n", nth, strerror(err));
			bad = 1;
		} else if (syscall(SYS_delete_module, argv[2], 0)) {
			printf("allocation %u: it cannot be unloaded: %s\n", nth, strerror(errno));
			return 1;
		}
	}
	printf("%u loads of %s were refused\n", refused, argv[2]);
	if (!refused) {
		printf("so no allocation fails here\n");
		bad = 1;
	}
	return bad;
}
