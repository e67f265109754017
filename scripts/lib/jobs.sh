# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The runner of scripts/check, scripts/test and scripts/soak (sourced, after lib.sh): jobs side by
# side, as many as there are places for.
#
# The script calls jobs_run, and has three functions:
#
#   job NAME                 does it, in a process group of its own
#   job_ended NAME [killed]  a job has ended; "killed": without its end
#   job_where                prints the line of progress, every 15 seconds (2 on a terminal)
#
# A job ends by writing its name to a pipe, which jobs_run waits for.

# Of the jobs that run: process, and when they began
# shellcheck disable=SC2034 # a script shows job_began
declare -A job_pid=() job_began=()
jobs_every=15
[ ! -t 2 ] || jobs_every=2

# jobs_run DIR PLACES NAME[=PLACES]...: run the jobs, each when it has its places, one unless it
# says so; one that needs more than there are runs alone. Returns when all have ended. What a job
# says is in DIR/NAME.out.
jobs_run()
{
	local places=$2 used=0 fifo queue need name

	jobs_dir=$1
	shift 2
	mkdir -p "$jobs_dir"
	fifo=$(mktemp -u "$jobs_dir/ended.XXXXXX")
	mkfifo "$fifo"
	exec {jobs_pipe}<>"$fifo"
	rm "$fifo"
	trap jobs_stop EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	declare -gA job_places=()
	queue=("$@")
	while [ $((${#queue[@]} + ${#job_pid[@]})) -gt 0 ]; do
		while [ ${#queue[@]} -gt 0 ]; do
			name=${queue[0]%%=*} need=1
			[[ ${queue[0]} != *=* ]] || need=${queue[0]#*=}
			[ $used -eq 0 ] || [ $((used + need)) -le "$places" ] || break
			queue=("${queue[@]:1}")
			job_places[$name]=$need used=$((used + need))
			jobs_start "$name"
		done
		jobs_next
	done
	trap - EXIT INT TERM HUP
}

jobs_start()
{
	local name=$1

	: >"$jobs_dir/$name.out"
	job_began[$name]=$SECONDS
	set -m
	{
		trap 'times >"$jobs_dir/$name.times"; echo "$name" >&"$jobs_pipe"' EXIT
		job "$name"
	} >>"$jobs_dir/$name.out" 2>&1 </dev/null &
	job_pid[$name]=$!
	set +m
}

# jobs_hear SECONDS: wait until a job says that it has ended; its name is in ended. Of a
# line that comes just when the time is over, there may be a part, and the next call has
# the rest.
jobs_part=''
jobs_hear()
{
	local line=''

	if read -r -t "$1" -u "$jobs_pipe" line; then
		ended=$jobs_part$line
		jobs_part=''
		return 0
	fi
	jobs_part+=$line
	return 1
}

# jobs_end NAME [killed]
jobs_end()
{
	wait "${job_pid[$1]}" 2>/dev/null || true
	unset "job_pid[$1]"
	used=$((used - job_places[$1]))
	[ "$jobs_every" -eq 15 ] || printf '\r\033[K' >&2
	job_ended "$@"
}

# jobs_next: wait until a job ends, or it is time to say where all are.
jobs_next()
{
	local name ended=''

	if jobs_hear $jobs_every; then
		jobs_end "$ended"
		return
	fi
	for name in "${!job_pid[@]}"; do
		kill -0 "${job_pid[$name]}" 2>/dev/null && continue
		# It may have said so only just now
		if jobs_hear 1; then jobs_end "$ended"; else jobs_end "$name" killed; fi
		break
	done
	[ ${#job_pid[@]} -eq 0 ] || progress_line "    $(job_where)"
}

jobs_stop()
{
	local name

	for name in "${!job_pid[@]}"; do
		kill -TERM -- "-${job_pid[$name]}" 2>/dev/null || true
	done
}

# jobs_busy NAME: the seconds that it has kept a processor busy, once it has ended.
jobs_busy()
{
	sed -n 2p "$jobs_dir/$1.times" 2>/dev/null | tr 'ms' '  ' |
		awk '{ n = $1 * 60 + $2 + $3 * 60 + $4 } END { printf "%d", n }'
}
