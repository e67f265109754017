#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The prompt of "make shell". Leaving the shell powers the guest off.

export PS1='kofi:\w# '
modprobe -a kofi kofi_verbs || echo "kofi did not load; see dmesg"
[ -n "$ROWS" ] && stty rows "$ROWS" cols "$COLS" 2>/dev/null
cat <<'END'

kOFI guest: rxe0 over dummy0 (10.77.0.1, fd77::1); modules are in /kofi.
Try: rdma link; kofi-info -p verbs; fi_info -p verbs; insmod /kofi/kofi_pingpong.ko role=both addr=10.77.0.1;
     cat /sys/kernel/debug/kofi_pingpong/results; dmesg
Leave with "exit" or Ctrl-D; if the guest hangs, Ctrl-A X stops it.

END
setsid cttyhack bash --norc
poweroff -f
