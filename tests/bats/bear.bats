#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Bear's events, and conversions between them and other build traces.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/build
	zcat "$data/zlib.bear.json.gz" >bear.json
	zcat "$data/zlib.kw.json.gz" >kw.json
}

@test "every event is read and written back" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-parse bear.json >trec
	[ "$(head -n 1 trec)" = $'%trec\t1\tformat=bear\tversion=3' ]
	[ "$(grep -c ^exec trec)" -eq 176 ]
	[ "$(grep -cE $'^exit\t.*\tstatus=[0-9]+\trid=' trec)" -eq 176 ]
	[ "$(grep ^exec trec | grep -vc $'\tparent=')" -eq 2 ]
	tr-parse -O intercept=keep bear.json | tr-repack | jq -c . | cmp - <(jq -c . bear.json)
	dd bs=1 count=60000 if=bear.json 2>/dev/null | cat - <(tail -c +60001 bear.json) | tr-parse |
		cmp - trec
	jq . bear.json | tr-parse | cmp - trec
}

@test "variables added by Bear are removed" {
	run ! grep -qE 'INTERCEPT_|LD_PRELOAD' <(tr-parse bear.json)
	tr-parse -O intercept=keep bear.json | grep -c LD_PRELOAD | grep -x 176
	cat >some.json <<-'END'
		{"rid":"1","started":{"execution":{"executable":"a","arguments":["a"],"working_dir":"/","environment":{"LD_PRELOAD":"/usr/$LIB/bear/libexec.so:/my.so","INTERCEPT_X":"1","A":"b"}},"pid":2,"ppid":1},"timestamp":"2026-11-21T00:29:13Z"}
		{"rid":"2","started":{"execution":{"executable":"a","arguments":["a"],"working_dir":"/","environment":{"LD_PRELOAD":"/bin/libexec.so /x/bear/libexec.so"}},"pid":3,"ppid":2}}
	END
	tr-parse some.json | grep -F $'\tenv={"LD_PRELOAD":"/my.so","A":"b"}\t'
	tr-parse some.json | grep -F $'\tenv={"LD_PRELOAD":"/bin/libexec.so"}\t'
	# a variable that it has not touched stays as it is
	sed 's#/x/bear/libexec.so##' some.json | tr-parse |
		grep -F $'\tenv={"LD_PRELOAD":"/bin/libexec.so "}\t'
	sed 's#"LD_PRELOAD":"/usr[^"]*",##; s#INTERCEPT_X":"1#LD_PRELOAD":"#' some.json | tr-parse |
		grep -F $'\tenv={"LD_PRELOAD":"","A":"b"}\t'
	tr-parse some.json | grep -F $'exec\t0\t1795220953\t2\ta\tppid=1\t'
	tr-parse some.json | grep -F $'exec\t1\t-\t3\ta\tparent=0\tppid=2\t'
}

@test "both traces of a build give the same compilation database" {
	tr-tojson --as=compdb bear.json | sort | cmp - <(sort "$data/zlib.compile_commands.json")
	# as a Klocwork trace, too, with either meaning of its environments
	for base in parent top; do
		tr-repack -q -t klocwork -O env-base=$base bear.json >kw
		[ "$(grep -c '"id"' kw)" -eq 176 ]
		tr-tojson --as=compdb kw | cmp - <(tr-tojson --as=compdb bear.json)
	done
}

# events FILE: id, parent, directory, executable, arguments and the whole environment of each
events() {
	jq -nc --arg base "${2:-parent}" '
		reduce inputs as $e ({top: {}, envs: {}, out: []};
			if $e.env then .top = $e.env
			elif $e | has("id") then
				(if $base == "top" then .top else .envs[$e.parent_id | tostring] // .top end) as $from
				| ($from + ($e["env-diff"] // {}) | with_entries(select(.value != null))) as $env
				| .envs[$e.id | tostring] = $env
				| .out += [[$e.id, $e.parent_id, $e.work_dir, $e.executable, $e.args,
					($env | to_entries | sort_by(.key))]]
			else . end) | .out[]' "$1"
}

@test "klocwork to bear and back keeps every execution, under both readings" {
	command -v jq >/dev/null || skip "jq is not installed"
	events kw.json >want
	[ "$(wc -l <want)" -eq 176 ]
	tr-repack -t bear kw.json >events.json
	tr-repack -q -t klocwork events.json >back.json
	events back.json | cmp - want
	tr-repack -q -t klocwork -O env-base=top events.json >top.json
	events top.json top | cmp - want
	# read the other way it is another build, and that one comes back as well
	events kw.json top >want
	tr-parse -O env-base=top kw.json | tr-repack -t bear |
		tr-repack -q -t klocwork -O env-base=top >back.json
	events back.json top | cmp - want
	tr-parse -O env-base=top kw.json | tr-repack -t bear | tr-repack -q -t klocwork >back.json
	events back.json | cmp - want
}

@test "version 4 is read and written back, and its environments are flagged as trimmed" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-repack -t bear -O version=4 kw.json >v4.json
	jq -se 'length == 176 and all(.[]; keys == ["execution", "pid"])' v4.json
	tr-parse v4.json >trec
	[ "$(head -n 1 trec)" = $'%trec\t1\tformat=bear\tversion=4' ]
	[ "$(grep -c $'\tflagged=\\["env-trimmed"\\]$' trec)" -eq 176 ]
	tr-repack trec | cmp - v4.json
	tr-repack -O version=3 trec | head -n 1 | jq '.started.pid == 1' | grep -x true
	tr-tojson --as=compdb v4.json | sort | cmp - <(sort "$data/zlib.compile_commands.json")
}

@test "each event is written in the form of the version in which it was read" {
	cat >mixed.json <<-'END'
		{"note":"no event"}
		{"pid":3,"execution":{"executable":"a","arguments":["a"],"working_dir":"/","environment":{}}}
		{"rid":"2","started":{"execution":{"executable":"b","arguments":["b"],"working_dir":"/","environment":{}},"pid":4,"ppid":3}}
		{"rid":"2","terminated":{"status":"0"}}
	END
	tr-parse -q -f bear mixed.json | tr-repack -q | cmp - mixed.json
	# the first event decides nothing for the others
	sed 1d mixed.json | tr-parse | tr-repack | cmp - <(sed 1d mixed.json)
}

@test "an end is read and written back as it is" {
	cat >ends.json <<-'END'
		{"rid":"1","terminated":{"status":"3"}}
		{"rid":"1","terminated":{"status":"1.0"}}
		{"rid":"1","signalled":{"number":9}}
		{"rid":"1","terminated":{"status":"0"},"signalled":{"number":9}}
		{"rid":"1","terminated":{"status":2}}
		{"rid":"1","signalled":{"number":"9"}}
		{"rid":"1","terminated":{}}
	END
	run -2 --separate-stderr tr-parse ends.json
	[ "$(grep -c ^exit <<<"$output")" -eq 3 ]
	[ "$(grep -c 'kept as a raw record' <<<"$stderr")" -eq 4 ]
	[[ $stderr == *"ends.json:4: "* && ${lines[1]} == *$'\tstatus=3\t'* ]]
	tr-repack -q <<<"$output" | cmp - ends.json
	# other members are kept
	printf '{"rid":"1","terminated":{"status":"0","usage":5}}\n' | tr-parse | grep -F $'\tstatus=0\trid="1"\textra={"usage":5}'
}

@test "any line removed or truncated: all others are kept" {
	for line in 1 2 100 176 352; do
		sed "${line}d" bear.json | tr-parse -f bear >out
		[ "$(grep -cE '^(exec|exit)' out)" -eq 351 ]
		for length in 0 1 9 60 400 2000; do
			sed -E "${line}s/^(.{$length}).+/\\1/" bear.json >cut.json
			tr-parse -q -f bear cut.json >out || [ $? -eq 2 ]
			echo "line $line, $length bytes: $(grep -cE '^(exec|exit)' out)"
			[ "$(grep -cE '^(exec|exit)' out)" -ge 351 ]
		done
	done
	{ head -n 3 bear.json; echo 'make: *** [x] Error 1'; echo '{"rid":"5"}'; tail -n +4 bear.json; } >bad.json
	run -2 --separate-stderr tr-parse bad.json
	[[ $stderr == *"bad.json:4: text that is not a JSON object"* ]]
	[[ $stderr == *"bad.json:5: not an event of Bear: kept as a raw record"* ]]
	tr-parse -q bad.json | tr-repack -q | grep -Fx '{"rid":"5"}'
	# the message names the rule that the event breaks
	sed 's/^{"rid":/{"pid":5,"rid":/' bear.json | head -n 1 >bad.json
	run -2 --separate-stderr tr-parse -f bear bad.json
	[[ $stderr == *"bad.json:1: an event in a form that Bear does not write (a key of Bear in the wrong place): "* ]]
}

@test "ends, signals and times of traces in other formats are written" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t1795220953.5\t7\t/bin/a\tcwd="/"\targv=["a"]\n' \
		'exec\t1\t1795220954\t8\t/bin/b\tparent=0\tcwd="/"\targv=["b","\\xff\\n"]\tenvdiff={"A":"x"}\n' \
		'exit\t2\t1795220955.25\t8\t-\tsignal=SIGKILL\n' \
		'exit\t3\t-\t7\t-\tstatus=3\n' \
		'exit\t4\t-\t99\t-\tstatus=0\n' \
		'exec\t5\tsoon\t7\t/bin/c\tcwd="/"\targv=["c"]\terror=ENOENT\n' \
		'exec\t6\t-\t9\t/bin/d\tcwd="/"\targv=["d"...]\n' \
		'exec\t7\t-\tx y\t-\tcwd="/"\targv=["e"]\textra={"k":1}\n!end\t8\n' >trace
	run -2 --separate-stderr tr-repack -t bear trace
	[ "${#lines[@]}" -eq 5 ]
	[ "${lines[0]}" = '{"rid":"1","started":{"execution":{"executable":"/bin/a","arguments":["a"],"working_dir":"/","environment":{}},"pid":7,"ppid":0},"timestamp":"2026-11-21T00:29:13.5Z"}' ]
	[[ ${lines[1]} == *$'"arguments":["b","\xff\\n"],"working_dir":"/","environment":{"A":"x"}},"pid":8,"ppid":7}'* ]]
	[ "${lines[2]}" = '{"rid":"2","signalled":{"number":9},"timestamp":"2026-11-21T00:29:15.25Z"}' ]
	[ "${lines[3]}" = '{"rid":"1","terminated":{"status":"3"}}' ]
	[[ ${lines[4]} == *'"executable":"e"'*'"pid":8,"ppid":0}}' ]]
	[[ $stderr == *"the tracer cut its arguments: left out"* ]]
}

@test "names of real-time signals become numbers, and unknown signals are reported" {
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t7\t/bin/a\tcwd="/"\targv=["a"]\nexit\t1\t-\t7\t-\tsignal=SIGRT_5\n' \
		'exec\t2\t-\t8\t/bin/b\tcwd="/"\targv=["b"]\nexit\t3\t-\t8\t-\tsignal=SIGFOO\n!end\t4\n' >trace
	run -2 --separate-stderr tr-repack -t bear trace
	[ "${lines[1]}" = '{"rid":"1","signalled":{"number":37}}' ]
	[ "${#lines[@]}" -eq 3 ]
	[ "$stderr" = "tr-repack: trace:5: unknown signal number: left out" ]
}

@test "version 4 has no ends, and a note reports this" {
	printf %b '%trec\t1\tformat=x\nexec\t0\t-\t7\t/bin/a\tcwd="/"\targv=["a"]\n' \
		'exit\t1\t-\t7\t-\tstatus=0\n!end\t2\n' >trace
	run -0 --separate-stderr tr-repack --verbose -t bear -O version=4 trace
	[ "${#lines[@]}" -eq 1 ]
	[ "$stderr" = "tr-repack: trace: note: bear cannot hold exit records: 1 left out" ]
}

@test "signals as numbers, and names that are joined" {
	printf %b '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t7\t/bin/a\tcwd="/"\targv=["a"]\nexit\t1\t-\t7\t-\tsignal=11\n' \
		'exec\t2\t-\t8\t/bin/b\tcwd="/"\targv=["b"]\nexit\t3\t-\t8\t-\tsignal=A|B\n!end\t4\n' >trace
	run -2 --separate-stderr tr-repack -t bear trace
	[ "${lines[1]}" = '{"rid":"1","signalled":{"number":11}}' ]
	[ "${#lines[@]}" -eq 3 ]
	[ "$stderr" = "tr-repack: trace:5: signal: JSON cannot hold a symbol" ]
}

@test "a reused process number belongs to another process" {
	cat >some.json <<-'END'
		{"rid":"1","started":{"execution":{"executable":"gcc","arguments":["gcc","-c","a.c"],"working_dir":"/"},"pid":5,"ppid":1},"timestamp":"2026-11-21T00:29:13.5Z"}
		{"rid":"1","terminated":{"status":"0"},"timestamp":"2026-11-21T00:29:14.5Z"}
		{"rid":"3","started":{"execution":{"executable":"gcc","arguments":["gcc","-c","b.c"],"working_dir":"/"},"pid":7,"ppid":5},"timestamp":"2026-11-21T00:29:15Z"}
	END
	tr-parse some.json >trec
	grep -P '^exec\t2\t.*\tgcc\tppid=5\t' trec
	[ "$(tr-tojson --as=compdb some.json | grep -c '"file"')" -eq 2 ]
}

@test "lone surrogates are written back, and a missing executable stays missing" {
	printf '%s\n' '{"rid":"1","started":{"execution":{"executable":"/b/\udce9","arguments":["a\udce9"],"working_dir":"/\udce9","environment":{"A":"\ud800"}},"pid":1,"ppid":0},"timestamp":"2026-11-21T00:29:14.172292Z"}' \
		'{"rid":"2","started":{"execution":{"arguments":["a"],"working_dir":"/","environment":{}},"pid":2,"ppid":0},"timestamp":"2026-11-21T00:29:14.172292Z"}' >in
	tr-parse in | tr-repack | cmp - in
}
