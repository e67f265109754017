# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Adds up instructions by function, for scripts/profile. Lines of two kinds, sorted by
# address together:
#
#	ADDRESS FUNCTION
#	ADDRESS EXECUTED TOUCHES
#
# An instruction that was translated more than once has several lines. Prints, for one
# of ops operations:
#
#	FUNCTION INSTRUCTIONS TOUCHES OFTEN

# flush: what is known of the instruction that has just been passed
function flush()
{
	if (!at)
		return
	executed[name] += times / ops
	touched[name] += touches / ops
	often[name] += times * 2 >= ops
	at = ""
}

NF == 2 {
	flush()
	name = $2
	next
}

$1 != at {
	flush()
	at = $1
	times = touches = 0
}

{
	times += $2
	touches += $3
}

END {
	flush()
	for (name in executed)
		print name, executed[name], touched[name], often[name]
}
