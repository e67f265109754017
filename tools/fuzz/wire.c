// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a provider checks of what peers send, providers/PROVIDER/wire.c, under libFuzzer
 * (scripts/fuzz).
 *
 *	wire --seeds DIR	write the corpus of kunit/PROVIDER/corpus.c into files of DIR
 *	wire --rows FILE...	print files as rows of that corpus
 *	wire ...		libFuzzer
 */
#include <stdio.h>
#include <stdlib.h>
#include "replay.h"

u8 *replay_copy(const u8 *data, size_t len)
{
	u8 *copy = malloc(len);

	if (!copy)
		abort();
	return data ? memcpy(copy, data, len) : memset(copy, 0, len);
}

void replay_free(u8 *copy)
{
	free(copy);
}

/* The names are libFuzzer's */
int fuzz_input(const u8 *data, size_t len) asm("LLVMFuzzerTestOneInput");
int fuzz_begin(int *argc, char ***argv) asm("LLVMFuzzerInitialize");

int fuzz_input(const u8 *data, size_t len)
{
	size_t at, split;
	const char *why = replay(data, len, &at, &split);

	if (!why)
		return 0;
	fprintf(stderr, "%s, in the message at byte %zu, split at %zu\n", why, at, split);
	abort();
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void write_seeds(const char *dir)
{
	char path[4096];
	size_t i, n;
	FILE *file;

	for (i = 0; i < replay_corpus_count; i++) {
		snprintf(path, sizeof(path), "%s/seed-%03zu", dir, i);
		file = fopen(path, "w");
		if (!file)
			die(path);
		n = fwrite(replay_corpus[i].data, 1, replay_corpus[i].len, file);
		if (n != replay_corpus[i].len || fclose(file))
			die(path);
	}
}

static void print_row(const char *path)
{
	FILE *file = fopen(path, "r");
	int c, n = 0;

	if (!file)
		die(path);
	printf("\tROW(\"found\",");
	while ((c = getc(file)) != EOF)
		printf("%s\\x%02x", n++ % 16 ? "" : n == 1 ? "\n\t    \"" : "\"\n\t    \"", c);
	printf("\"),\n");
	fclose(file);
}

int fuzz_begin(int *argc, char ***argv)
{
	int i;

	if (*argc == 3 && !strcmp((*argv)[1], "--seeds")) {
		write_seeds((*argv)[2]);
		exit(0);
	}
	if (*argc > 2 && !strcmp((*argv)[1], "--rows")) {
		for (i = 2; i < *argc; i++)
			print_row((*argv)[i]);
		exit(0);
	}
	return 0;
}
