#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Hand the counts of our modules, loaded or not, to the host: the .gcda files in
# /host/gcov, under the path of their build folder.

from=/sys/kernel/debug/gcov
find $from -name '*.gcda' | while read -r f; do
	to=/host/gcov${f#"$from"}
	mkdir -p "${to%/*}"
	# The size that debugfs gives is 0, so cp would copy nothing.
	cat "$f" >"$to" || echo "gcov: $f cannot be copied"
done
sync
