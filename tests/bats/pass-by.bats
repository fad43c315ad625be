#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-filter skips the unselected records of a file without reading them. The results are the same as
# with a pipe, also if the file changes meanwhile.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# execs N FROM [TIMES FILL]: N exec lines of two programs in turn, each with so many times FILL
execs() {
	awk -v n="$1" -v from="$2" -v times="$3" -v fill="$4" 'BEGIN {
		OFS = "\t"
		for (i = 0; i < times; i++)
			more = more fill
		for (i = from; i < from + n; i++)
			print "exec", i, "-", i % 7, "/bin/" (i % 3 ? "b" : "a"), "argv=[\"x\",\"" i more "\"]"
	}'
}

# Everything that a reader may meet, with stretches that are passed by in between.
everything() {
	printf '%%trec\t1\tformat=x\nmeta\t0\t-\t-\tversion\tvalue=101\n'
	execs 9000 1
	execs 20 10001 20000 y
	execs 3000 11001
	execs 2 15001 300000 z
	execs 3000 16001 1 ü
	execs 9000 20001
	printf 'exec\t1\t-\t7\t/bin/a\tx="\001"\n'
	execs 9000 30001
	printf 'exec\t1\t-\t7\t/bin/b\tx=\xff\n'
	execs 9000 40001
	printf 'exec\t1\t-\t7\n\nEXEC\n#\n'
	execs 9000 50001
	printf '!end\t5\n'
	printf '%%trec\t1\tformat=x\n'
	execs 9000 60001
	printf 'env\t1\t-\t-\t-\tvars={A=1}\n'
	execs 9000 70001 | sed 's/$/\r/'
	execs 9000 80001
	printf 'exec\t1\t-\t7\t/bin\\t/a\tx=1\n!end\t27001\n'
	execs 9000 90001
	printf 'exec\t1\t-\t7\t/bin/a'
}

# same ARG...: compares output, messages and exit status for a file and for a pipe
same() {
	local file=0 pipe=0
	tr-filter "$@" all.trec >file.out 2>file.err || file=$?
	cat all.trec | tr-filter "$@" >pipe.out 2>pipe.err || pipe=$?
	cmp file.out pipe.out
	diff <(sed 's/all\.trec/stdin/' file.err) pipe.err
	[ $file -eq $pipe ]
}

@test "a file and a pipe give the same records, messages, counts and status" {
	everything >all.trec
	[ "$(stat -c %s all.trec)" -gt 3000000 ]
	for expr in 'exec and name == "/bin/a"' 'exec and name == "/bin/none"' exec 'seq > 85000' \
		'task in {1,2}' meta 'exec and argv has "90000"' 'not exec'; do
		same "$expr"
		same -c "$expr"
		same -m 3 "$expr"
		same --fields=name,seq "$expr"
	done
	same --max-record=5K 'exec and name == "/bin/a"'
	same --max-record=100K 'exec and name == "/bin/a"'
	same --strict 'exec and name == "/bin/a"'
}

@test "messages have the right line numbers after skipped records" {
	{
		printf '%%trec\t1\n'
		execs 20000 0
		printf 'exec\t1\t-\t7\t/bin/b\tx="\001"\n'
		execs 20000 0
		printf 'exec\t1\t-\t7\n!end\t40000\n'
	} >lines.trec
	run -2 --separate-stderr tr-filter -c 'exec and name == "/bin/none"' lines.trec
	[[ $stderr == *lines.trec:20002:*lines.trec:40003:* ]]
}

@test "skipped records count as read for processes that share the descriptor" {
	{
		printf '%%trec\t1\n'
		execs 20000 0
		printf '!end\t20000\n'
	} >whole.trec
	{
		tr-filter -c 'exec and name == "/bin/a"'
		cat
	} <whole.trec >out
	[ "$(cat out)" = 6667 ]
	# and begins at the current offset
	{
		head -c 600000 >/dev/null
		tr-filter -q -f trec -c 'seq >= 19000'
	} <whole.trec >out || [ $? -eq 2 ]
	[ "$(cat out)" = 1000 ]
}

# Waits until PID, whose output is not read from descriptor 5, blocks in a write.
stuck() {
	local i asleep=0
	IFS= read -r -u 5 first
	for ((i = 0; asleep < 3 && i < 300; i++)); do
		sleep 0.02
		[[ $(cut -d' ' -f3 "/proc/$1/stat") == S ]] && asleep=$((asleep + 1)) || asleep=0
	done
	[ $asleep -eq 3 ]
}

# cut SIZE: the file becomes that long while tr-filter, which takes its lines, waits for its reader
cut_while_read() {
	{
		printf '%%trec\t1\n'
		execs 100000 0 50 q
		printf '!end\t100000\n'
	} >cut.trec
	cp cut.trec whole.trec
	mkfifo out
	tr-filter 'exec and name == "/bin/b"' cut.trec >out 2>err &
	pid=$!
	exec 5<out
	stuck "$pid"
	grep -q 'cut\.trec$' "/proc/$pid/maps" # or else nothing of this is tried
	truncate -s "$1" cut.trec
	{
		printf '%s\n' "$first"
		cat <&5
	} >got
	exec 5<&-
	status=0
	wait "$pid" || status=$?
	rm out
}

@test "a file that is cut while it is read: what was there, a message, and no crash" {
	[ -e /proc/self/maps ] || skip "no /proc to see a process wait"
	for size in 0 5000 2000000 4000001; do
		cut_while_read "$size"
		echo "size $size status $status: $(cat err)"
		[ $status -eq 2 ]
		grep -q 'cut' err
		# complete lines of it, in order, and a trailer that reports the truncation
		grep -v '^[%!]' got >lines
		[ -s lines ]
		grep -c . lines >count
		grep "/bin/b" whole.trec | head -n "$(cat count)" | cmp - lines
		[[ $(tail -n 1 got) == '!end'*errors=* ]]
	done
}

@test "a file that grows while it is read is read to its end" {
	[ -e /proc/self/stat ] || skip "no /proc to see a process wait"
	{
		printf '%%trec\t1\n'
		execs 100000 0 50 q
	} >grow.trec
	mkfifo out
	tr-filter 'exec and name == "/bin/b"' grow.trec >out &
	pid=$!
	exec 5<out
	stuck "$pid"
	{
		execs 20000 100000
		printf '!end\t120000\n'
	} >>grow.trec
	{
		printf '%s\n' "$first"
		cat <&5
	} >got
	exec 5<&-
	wait "$pid"
	cmp got <(grep -v '/bin/a' grow.trec | sed 's/^!end.*/!end\t80000/')
}
