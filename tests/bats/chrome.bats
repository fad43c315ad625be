#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-tojson --as=chrome: the rules of viewers of trace events.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data
	kw=$data/build/zlib.kw.json.gz
	cat >build.trec <<'END'
%trec	1	format=strace
exec	0	100.000000001	1	/usr/bin/make	argv=["make","-j2"]	cwd="/srv"
fork	1	100.1	1	-	child=2
exec	2	100.2	2	/bin/sh	parent=0	argv=["sh","-c","echo 'a'"]
fork	3	100.3	2	-	child=3
fork	4	100.35	1	-	child=4
exec	5	100.4	3	/usr/bin/gcc	parent=2	argv=["gcc","-c","a\nb.c"]
exec	6	100.45	4	/usr/bin/gcc	parent=0	argv=["gcc","-c","b.c"]
sys	7	100.5	4	openat	path="a"	flags=O_RDONLY	error=ENOENT	dur=0.000250
signal	8	100.6	4	SIGCHLD
exit	9	101.5	3	-	status=0
exec	10	101.6	2	/usr/bin/true	parent=0	argv=["true"]
exit	11	101.7	2	-	status=1
exit	12	103	4	-	signal=SIGKILL
fork	13	103	1	-	child=5
exit	14	103.5	1	-	status=2
!end	15
END
}

chrome() { # chrome JQ-FILTER FILE...: on the list of events
	tr-tojson --as=chrome "${@:2}" | jq -rc ".traceEvents | $1"
}

# Every lane holds spans that lie in each other or apart; nothing else can be drawn.
nests() {
	chrome '.[] | select(.ph == "X") | "\(.pid)-\(.tid) \(.ts * 1000 | round) \((.ts + .dur) * 1000 | round)"' "$@" |
		sort -k1,1 -k2,2n -k3,3nr | awk '
		$1 != lane { lane = $1; depth = 0 }
		{ while (depth && stack[depth] <= $2) depth--
		  if (depth && $3 > stack[depth]) { print "overlaps: " $0; bad = 1 }
		  stack[++depth] = $3 }
		END { exit bad || !NR }'
}

@test "processes: names, times, lanes, how they ended" {
	chrome 'map(select(.ph == "X" and .pid == 1)) | .[] |
		"\(.name) \(.ts) \(.dur) \(.tid) \(.args.exit) \(.args.command)"' build.trec >got
	cat >wanted <<'END'
make 0 3499999.999 1 2 make -j2
sh 199999.999 1400000 1 exec sh -c 'echo '\''a'\'''
gcc 399999.999 1100000 1 0 gcc -c $'a\nb.c'
gcc 449999.999 2550000 2 SIGKILL gcc -c b.c
true 1599999.999 100000 1 1 true
(fork) 2999999.999 500000 1 unknown null
END
	diff wanted got
	chrome 'map(select(.args.seq == 0)) | .[0].args' build.trec |
		grep -xF '{"command":"make -j2","task":"1","cwd":"/srv","seq":0,"exit":"2"}'
	# those that failed can be found by their category
	chrome 'map(select((.cat // "") | contains("failed"))) | length' build.trec | grep -x 3
	tr-tojson --as=chrome build.trec | jq '.otherData.origins == ["100.000000001"]' | grep -x true
}

@test "other events have a duration or are instants; a counter shows live processes" {
	chrome '.[] | select(.name == "openat") | [.ph, .ts, .dur, .args.error]' build.trec |
		grep -xF '["X",499999.999,250,"ENOENT"]'
	chrome '.[] | select(.name == "SIGCHLD") | [.ph, .s, .args.kind]' build.trec |
		grep -xF '["i","t","signal"]'
	chrome 'map(select(.ph == "C") | .args.processes) | join(" ")' build.trec |
		grep -x '1 2 3 4 3 3 2 2 0'
	chrome '.[] | select(.ph == "M") | "\(.pid) \(.tid) \(.name) \(.args[])"' build.trec >got
	diff <(printf '%s\n' '3 0 process_name records' '3 4 thread_name task 4' \
		'1 0 process_name processes' '1 1 thread_name lane 1' '1 1 thread_sort_index 1' \
		'1 2 thread_name lane 2' '1 2 thread_sort_index 2') got
}

@test "there are as many lanes as jobs, and all slices nest" {
	nests build.trec
	nests "$kw"
	nests "$data/apitrace/mt4.trace"
	# sixteen at a time
	awk 'BEGIN { OFS = "\t"; print "exec", 0, 0, "m", "make"
		for (i = 1; i <= 4000; i++) { print "exec", i, i / 16, i, "cc", "parent=0"
			print "exec", 4000 + i, i / 16 + 0.01, "c" i, "cc1", "parent=" i
			if (i > 16) { print "exit", 10000 + i, i / 16 + 0.02, "c" i - 16, "-", "status=0"
				print "exit", 10000 + i, i / 16 + 0.03, i - 16, "-", "status=0" } } }' >many
	nests many
	chrome 'map(select(.ph == "X") | .tid) | max' many | grep -x 17
	chrome 'map(select(.ph == "X")) | length' many | grep -x 8001
}

@test "a trace without times is a sequence, and says so" {
	chrome '.[] | select(.ph == "M") | .args.name' "$kw" |
		grep -x 'processes in sequence (the trace has no times)'
	tr-tojson --as=chrome "$kw" | jq '.otherData.origins == ["sequence"]' | grep -x true
	chrome 'map(select(.ph == "X")) | length' "$kw" | grep -x 176
	# parents last as long as their children
	chrome 'map(select(.ph == "X")) | .[0] | [.name, .ts, .dur]' "$kw" | grep -xF '["make",0,176]'
}

@test "calls: by thread, with nested calls below, and frames counted" {
	cat >calls.trec <<'END'
%fn	F1	glDraw	args=["n","data"]
call	0	-	0	glClear	mask=?(0x10@M1)	->
enter	1	-	0	glFinish
call	2	-	1	glDrawArrays	mode=GL_LINES(1@E1)	data=b64:AQIDBA==	->	return=7
call	3	-	0	glXSwapBuffers	dpy=0x0	->
leave	1	-	0	glFinish	->	return=0x0
enter	4	-	1	glXSwapBuffers
END
	chrome '.[] | select(.ph == "X") | "\(.name) \(.ts) \(.dur) \(.tid) \(.args | tojson)"' calls.trec >got
	cat >wanted <<'END'
glClear 0 1 0 {"#":"0","mask":"0x10"}
glDrawArrays 2 1 1 {"#":"2","mode":"GL_LINES","data":"blob:4","return":7}
glXSwapBuffers 3 1 0 {"#":"3","dpy":"0x0"}
glFinish 1 4 0 {"#":"1","return":"0x0"}
glXSwapBuffers 5 1 1 {"#":"4","incomplete":true}
END
	diff wanted got
	chrome '.[] | select(.name == "per frame") | .args | "\(.calls) \(.draws)"' calls.trec |
		diff <(printf '3 2\n2 0\n') -
	chrome 'map(select(.name == "frame")) | length' "$data/apitrace/mt4.trace" | grep -x 240
	chrome 'map(select(.ph == "X")) | length' "$data/apitrace/mt4.trace" |
		grep -x "$(tr-filter -c call "$data/apitrace/mt4.trace")"
}

@test "calls that never return are all shown, and do not fill the memory" {
	awk 'BEGIN { OFS = "\t"; for (i = 0; i < 100000; i++) print "enter", i, "-", i % 7, "glFinish" }' >lost.trec
	# the same number again: the one before has lost its leave
	head -n 1 lost.trec >>lost.trec
	head -n 1 lost.trec >>lost.trec
	(
		[ -n "$TREC_SANITIZED" ] || ulimit -v 400000
		tr-tojson --as=chrome lost.trec >events
		tr-tohtml --limit=10 -o page.html lost.trec 2>said
	)
	[ "$(grep -c '"ph":"X"' events)" -eq 100002 ]
	grep -q '10 are on the page, 99992 more are not' said
}

@test "several segments, odd names, large values, nothing" {
	chrome '[.[] | select(.ph == "X") | .pid] | unique' build.trec build.trec | grep -xF '[1,3,4,6]'
	printf 'exec\t0\t-\t"\\x80"\t/a/\\xff\\n"\targv=["\\xff\\"\\n"]\tcwd="\\x80"\n' >odd
	chrome '.[] | select(.ph == "X") | [.name, .args.command, .args.task]' odd |
		grep -xF '["\\xff\\n\"","$'"'"'\\377\"\\n'"'"'","\"\\x80\""]'
	{ printf 'call\t0\t-\t0\tf\tx="'; head -c 100000 /dev/zero | tr '\0' 'a'; printf '"\t->\n'; } >large
	[ "$(tr-tojson --as=chrome large | wc -c)" -lt 3000 ]
	tr-tojson --as=chrome /dev/null | jq '.traceEvents == []' | grep -x true
	run -2 tr-tojson --as=chrome --pretty build.trec
	run -2 tr-tojson --as=chrome --typed build.trec
}

@test "times are relative to the earliest, in any order of records" {
	printf 'exec\t0\t5\t1\t/b/m\nexec\t1\t4.5\t2\t/b/a\nexit\t2\t6\t2\t-\tstatus=0\n' >late
	chrome '.[] | select(.ph == "X") | [.name, .ts, .dur]' late |
		diff <(printf '["a",0,1500000]\n["m",500000,1000000]\n') -
	tr-tojson --as=chrome late | jq '.otherData.origins == ["4.500000000"]' | grep -x true
	# as far as time goes
	printf 'exec\t0\t-4611686018\t1\t/b/m\nexit\t2\t4611686018\t1\t-\nexec\t3\t9e9\t2\tx\n' >far
	chrome '.[] | select(.name == "m") | [.ts, .dur]' far | grep -xF '[0,9223372036000000]'
}

@test "a signal can have any name" {
	printf 'exec\t0\t1\t%d\ta\nexit\t1\t2\t%d\t-\tsignal=%s\n' 1 1 '"aaaaaaaaaaaaaa\n"' 2 2 '["x"]' \
		3 3 '"ééééééééé"' 4 4 '"\xff"' >signals
	chrome '.[] | select(.ph == "X") | .args.exit' signals |
		diff <(printf '%s\n' 'aaaaaaaaaaaaaa\' '["x"]' ééééééé '\xff') -
	tr-totext --style=tree signals | iconv -f UTF-8 -t UTF-16 >/dev/null
	tr-totext --style=dot signals | grep -F ', exit [\"x\"]"'
	tr-totext --style=dot signals | grep -F ', exit aaaaaaaaaaaaaa\\"'
}

@test "truncated and damaged traces give a valid timeline" {
	for size in 100 300 500 700 901; do
		head -c $size build.trec >cut
		tr-tojson --as=chrome cut 2>/dev/null | jq '.traceEvents | length > 0' | grep -x true
	done
}

@test "input without an event is reported" {
	printf '%%trec\t1\ncomm\t1\t1.0\t10\t-\tcomm="x"\n' >comm
	run -2 --separate-stderr tr-tojson --as=chrome comm
	[ -z "$output" ]
	[ "$stderr" = 'tr-tojson: no events of a timeline here, only other records: 1 comm' ]
	# the end of a process that nothing began is one that the timeline could have shown
	printf '%%trec\t1\nexit\t1\t1.0\t10\t-\tstatus=1\n' >exit
	run -0 --separate-stderr tr-tojson --as=chrome exit
	[ "$(jq '.traceEvents | length' <<<"$output")" -eq 0 ]
	[ "$stderr" = 'tr-tojson: note: no processes and no other events to show' ]
	# context alone is no reason to complain
	printf '%%trec\t1\nmeta\t0\t-\t-\tx\tvalue=1\n' | tr-tojson --as=chrome >/dev/null
}

@test "a command of control bytes takes little more memory than its record twice" {
	{
		printf '%%trec\t1\nexec\t1\t1.0\t10\t/bin/a\targv=["a","'
		head -c 10M /dev/zero | sed 's/\x00/\\u0001/g'
		printf '"]\n!end\t1\n'
	} >long
	run -0 bash -c '[ -n "$TREC_SANITIZED" ] || ulimit -v 265000
		tr-tojson --as=chrome long | wc -c'
	[ "$output" -gt 50000000 ]
}

@test "a command longer than a piece is escaped like a short one" {
	{
		printf '%%trec\t1\nexec\t1\t1.0\t10\t/bin/a\targv=["a'
		# characters of three bytes and a quote, so that some straddle the ends of pieces
		printf 'x\u20ac\\"%.0s' {1..40000}
		printf '"]\n!end\t1\n'
	} >long
	tr-tojson --as=chrome long |
		jq -r '.traceEvents[] | select(.args.command) | .args.command' >command
	[ "$(tr -cd '\342' <command | wc -c)" -eq 40000 ]
	[ "$(tr -cd '"' <command | wc -c)" -eq 40000 ]
	run -1 grep -c $'\ufffd\|\\\\' command
}

# phases FILE BEGIN PROCESS EVENT...: a file of -ftime-trace; an event is "name ts dur thread [detail]", with _ for a blank
phases() {
	local file=$1 event name ts dur thread detail list=
	printf '{"traceEvents":[' >"$file"
	for event in "${@:4}"; do
		read -r name ts dur thread detail <<<"$event"
		list+=",{\"pid\":$3,\"tid\":$thread,\"ph\":\"X\",\"ts\":$ts,\"dur\":$dur,\"name\":\"${name//_/ }\""
		[ -z "$detail" ] || list+=",\"args\":{\"detail\":\"$detail\"}"
		list+=}
	done
	printf '%s,{"cat":"","pid":%s,"tid":%s,"ts":0,"ph":"M","name":"process_name","args":{"name":"clang"}}],"beginningOfTime":%s}' \
		"${list:1}" "$3" "$3" "$2" >>"$file"
}

@test "--phases shows what Clang recorded within its process" {
	command -v jq >/dev/null || skip "jq is not installed"
	cat >t.trec <<-'END'
		%trec	1	format=strace
		exec	0	1700000000	7	/usr/bin/make	argv=["make"]
		exec	1	1700000001	8	/usr/bin/clang	parent=0	argv=["clang","-c","a.c"]
		exit	2	1700000003	8	-	status=0
		exec	3	1700000004	8	/usr/bin/clang	parent=0	argv=["clang","-c","b.c"]
		exit	4	1700000005	8	-	status=0
		exit	5	1700000006	7	-	status=0
		!end	6
	END
	# the number of a process is used twice: the time decides
	phases b.json 1700000004100000 8 'Frontend 0 500 8' 'Source 100 50.5 8 /usr/in\u0000clude/\"x\".h' 'Total_Source 0 50 9' 'Other 0 1 9'
	phases a.json 1700000001100000 8 'Frontend 10 20 8'
	phases other.json 1700000001100000 9 'Frontend 10 20 9'
	phases late.json 1700000009000000 8 'Frontend 10 20 8'
	run -0 --separate-stderr tr-tojson --as=chrome --phases=b.json --phases=a.json --phases=other.json --phases=late.json t.trec
	[[ $stderr == *"note: --phases: 2 of 4 files match no process of the trace"* ]]
	jq -r '.traceEvents[] | select(.cat == "phase") | [.ph, .pid, .tid, .ts, .dur, .name, (.args.detail | @json)] | map(tostring) | join(" ")' <<<"$output" >got
	diff - got <<-'END'
		X 1 1 1100010 20 Frontend null
		X 1 1 4100000 500 Frontend null
		X 1 1 4100100 50 Source "/usr/in\u0000clude/\"x\".h"
	END
	# the events of processes are the same without
	tr-tojson --as=chrome t.trec | jq -c .traceEvents >without
	jq -c '[.traceEvents[] | select(.cat != "phase")]' <<<"$output" | cmp - without
	# only files of the user are read, and only such files are accepted
	run -2 tr-tojson --as=chrome --phases=none.json t.trec
	[[ $output == *"none.json: No such file or directory"* ]]
	for text in '' '[]' '{}' '{"traceEvents":[]}' '{"traceEvents":{},"beginningOfTime":1}' '{"traceEvents":[],"beginningOfTime":"1"}' "$(head -c 60 a.json)"; do
		printf '%s' "$text" >bad.json
		run -2 tr-tojson --as=chrome --phases=bad.json t.trec
		[[ $output == "tr-tojson: bad.json: not a file of -ftime-trace" ]]
	done
	run -2 tr-tojson --phases=a.json t.trec
	[[ $output == *"--phases needs --as=chrome"* ]]
	# events that are damaged are left out
	sed 's/"ts":10,/"ts":"x",/; s/\[{/[5,{"ph":{}},{/' a.json >odd.json
	tr-tojson -q --as=chrome --phases=odd.json t.trec | jq -e '[.traceEvents[] | select(.cat == "phase")] == []'
}

@test "--phases of a build with Clang" {
	command -v jq >/dev/null || skip "jq is not installed"
	seq 2000 | sed 's/.*/int f&(int x) { return x * &; }/' >a.c
	cp a.c b.c
	# skipped where it is not installed
	clang --version >/dev/null
	printf '%s\n' 'clang -ftime-trace -O1 -c a.c -o a.o' 'clang -ftime-trace -O1 -c b.c -o b.o' >build.sh
	tr-record --backend=preload -o build.trec -- sh build.sh
	[ -s a.json ] || skip "this Clang has no -ftime-trace"
	tr-tojson --as=chrome --phases=a.json --phases=b.json -o out.json build.trec
	[ "$(jq '[.traceEvents[] | select(.cat == "phase" and .name == "ExecuteCompiler")] | length' out.json)" -eq 2 ]
	# each phase is within a bar of its lane
	jq -e '[.traceEvents[] | select(.cat == "process" and .ph == "X")] as $bars |
		[.traceEvents[] | select(.cat == "phase") | . as $p |
		any($bars[]; .tid == $p.tid and .ts <= $p.ts and .ts + .dur + 1 >= $p.ts + $p.dur)] | all' out.json
}
