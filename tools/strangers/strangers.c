// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections that do no good, for scripts/guest/nobody.sh: forty that keep silent, forty that
 * stop behind the first byte of a request over TCP, forty behind its header, and as many that
 * send what no request is.
 *
 * usage: strangers ADDRESS PORT
 * Prints "connected" when all have been opened, and keeps them until it is killed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EACH	40
#define KINDS	4

/* struct ktcp_wire_cm of providers/tcp/wire.h: version 3, a request, 16 bytes follow */
static const unsigned char request[32] = { [0] = 3, [3] = 16, [24] = 1 };
static const char rubbish[] = "GET / HTTP/1.0\r\n\r\nmore than a request's header";

static const struct {
	const void	*bytes;
	size_t		len;
} kinds[KINDS] = {
	{ rubbish, sizeof(rubbish) },
	{ request, 0 },
	{ request, 1 },
	{ request, sizeof(request) },
};

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (argc != 3 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(2, "usage: strangers ADDRESS PORT");
	to.sin_port = htons(atoi(argv[2]));
	for (size_t kind = 0; kind < KINDS; kind++) {
		for (int i = 0; i < EACH; i++) {
			int fd = socket(AF_INET, SOCK_STREAM, 0);

			if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
				err(1, "connection %d", i);
			if (send(fd, kinds[kind].bytes, kinds[kind].len, MSG_NOSIGNAL) !=
			    (ssize_t)kinds[kind].len)
				err(1, "send");
		}
	}
	puts("connected");
	fflush(stdout);
	pause();
	return 0;
}
