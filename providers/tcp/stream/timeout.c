// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How long a peer may be silent, take nothing, or owe something: parameters of the module.
 *
 * alive.c looks at the time of a connection.  TCP itself looks at that of one that is idle
 * (ktcp_alive_setup()).
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/tcp.h>
#include <kofi/param.h>
#include "stream.h"

#define KTCP_MIN_S		5
#define KTCP_MAX_S		3600
#define KTCP_RTS_S		300
#define KTCP_RTS_MAX_S		86400U

static struct kofi_param peer_timeout = { .value = 10, .min = KTCP_MIN_S, .max = KTCP_MAX_S };
module_param_cb(peer_timeout, &kofi_param_ops, &peer_timeout, 0644);
__MODULE_PARM_TYPE(peer_timeout, "uint");
MODULE_PARM_DESC(peer_timeout, "seconds after which a peer that answers nothing has gone, 5 to 3600; connections that are idle keep the value they began with");

static struct kofi_param window_timeout = { .value = 60, .min = KTCP_MIN_S, .max = KTCP_MAX_S };
module_param_cb(window_timeout, &kofi_param_ops, &window_timeout, 0644);
__MODULE_PARM_TYPE(window_timeout, "uint");
MODULE_PARM_DESC(window_timeout, "seconds that a peer may take nothing of what is sent to it, 5 to 3600");

static struct kofi_param message_timeout = { .value = 60, .min = KTCP_MIN_S, .max = KTCP_MAX_S };
module_param_cb(message_timeout, &kofi_param_ops, &message_timeout, 0644);
__MODULE_PARM_TYPE(message_timeout, "uint");
MODULE_PARM_DESC(message_timeout, "seconds within which a message that has begun to come must end, or 64 KiB of it must come, 5 to 3600");

static struct kofi_param message_rate = { .value = 16, .max = SZ_1M };
module_param_cb(message_rate, &kofi_param_ops, &message_rate, 0644);
__MODULE_PARM_TYPE(message_rate, "uint");
MODULE_PARM_DESC(message_rate, "KiB of a message that have to come in each second after message_timeout, on average, at most 1048576; 0: there is no limit");

static struct kofi_param rts_timeout = { .value = KTCP_RTS_S, .max = KTCP_RTS_MAX_S };
module_param_cb(rts_timeout, &kofi_param_ops, &rts_timeout, 0644);
__MODULE_PARM_TYPE(rts_timeout, "uint");
MODULE_PARM_DESC(rts_timeout, "seconds after which a long tagged message of a kOFI peer that no receive takes is refused, and within which the response to a read or the acknowledgment of a write must come, at most 86400; 0: never");

static unsigned long ktcp_time(const struct kofi_param *seconds)
{
	return READ_ONCE(seconds->value) * (unsigned long)HZ;
}

/**
 * ktcp_peer_timeout() - How long may a peer answer nothing?
 *
 * Context: any.
 * Return: jiffies, as the module's parameter says now.
 */
unsigned long ktcp_peer_timeout(void)
{
	return ktcp_time(&peer_timeout);
}

/**
 * ktcp_window_timeout() - How long may a peer take nothing of what is sent to it?
 *
 * Context: any.
 * Return: jiffies, as the module's parameter says now.
 */
unsigned long ktcp_window_timeout(void)
{
	return ktcp_time(&window_timeout);
}

/**
 * ktcp_message_timeout() - How long may a peer owe the rest of a message?
 *
 * Context: any.
 * Return: jiffies, as the module's parameter says now.
 */
unsigned long ktcp_message_timeout(void)
{
	return ktcp_time(&message_timeout);
}

/**
 * ktcp_message_rate() - How much of a message has to come in a second?
 *
 * Context: any.
 * Return: KiB, as the module's parameter says now; 0: there is no limit.
 */
u32 ktcp_message_rate(void)
{
	return READ_ONCE(message_rate.value);
}

/**
 * ktcp_rts_timeout() - How long may an RTS wait for its receive, or what is behind a message?
 *
 * Context: any.
 * Return: jiffies, as the module's parameter says now; 0: for ever.
 */
unsigned long ktcp_rts_timeout(void)
{
	return ktcp_time(&rts_timeout);
}

/**
 * ktcp_alive_setup() - Let keepalive report an idle peer that has gone
 * @sk: the socket
 *
 * Context: may sleep.
 */
void ktcp_alive_setup(struct sock *sk)
{
	unsigned int timeout = READ_ONCE(peer_timeout.value);

	/* Three probes in the last three fifths of the timeout */
	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, timeout - 3 * (timeout / 5));
	tcp_sock_set_keepintvl(sk, timeout / 5);
	tcp_sock_set_keepcnt(sk, 3);
}
