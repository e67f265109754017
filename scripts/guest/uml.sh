#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What User-Mode Linux runs as its command: the file "cmd" of the folder that
# the host shares with it (scripts/uml).

mkdir -p /host
mount -t hostfs none /host || exit 1
exec sh /host/cmd
