#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-filter: notes about names that no record has, and points in time.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# two tasks, one of which opens a file; the first record has no time
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' \
		comm 0 - 1 - 'comm="sh"' \
		exec 1 1584275696.25 1 /bin/sh 'argv=["sh"]' \
		sys 2 1584275700 1 open 'path="/etc/x"	flags=O_RDONLY	->	return=3' \
		exec 3 1584275701.5 2 /bin/cc 'argv=["cc","-c"]' \
		exit 4 1584320000 1 - status=0 >t.trec
}

@test "a field that no tested record has is named, with the nearest one; one that any has is not" {
	local key expr found
	for key in argv return nosuch; do
		for kind in exec sys exit comm; do
			found=$(grep "^$kind" t.trec | grep -c "	$key=" || true)
			# by the columns alone, by all of the record, and where the test is not the last
			for expr in "$kind and $key == 1" "not (not $kind or $key != 1)" \
				"$kind and ($key == 1 or $key == 2)"; do
				run --separate-stderr tr-filter -c "$expr" t.trec
				[ "$status" -eq 1 ]
				if [ "$found" -gt 0 ]; then
					[ -z "$stderr" ]
				else
					[[ $stderr = *"no record that was tested has the field '$key'"* ]]
					[ "$(grep -c note <<<"$stderr")" -eq 1 ]
				fi
			done
		done
	done
	# near means: a few letters of difference, to a key of the stream or of trec(5)
	run --separate-stderr tr-filter -c 'exec and agv == "-c"' t.trec
	[[ $stderr = *"'agv'; did you mean argv?" ]]
	run --separate-stderr tr-filter -c 'exec and evn["A"] == "x"' t.trec
	[[ $stderr = *"'evn'; did you mean env?" ]]
	run --separate-stderr tr-filter -c 'exec and xyzzyx == 1' t.trec
	[[ $stderr = *"has the field 'xyzzyx'" ]]
	# a key of this stream alone
	sed 's/status=/elevation=/' t.trec >u.trec
	run --separate-stderr tr-filter -c 'exit and elevaton == 1' u.trec
	[[ $stderr = *"'elevaton'; did you mean elevation?" ]]
	# the note about a test that no record reached names only the field
	run --separate-stderr tr-filter -c 'name == "none" and agv == 1' t.trec
	[[ $stderr = *"no record reached the test of 'agv'; did you mean argv?" ]]
	run --separate-stderr tr-filter -c 'name == "none" and argv == 1' t.trec
	[ -z "$stderr" ]
	run --separate-stderr tr-filter -c 'name $= "none" and argv == 1' t.trec
	[ -z "$stderr" ]
	# has() tests fields that may be absent
	run --separate-stderr tr-filter -c 'exec and has(error)' t.trec
	[ -z "$stderr" ]
	run --separate-stderr tr-filter -c 'exec and has(eror)' t.trec
	[[ $stderr = *"'eror'; did you mean error?" ]]
	run --separate-stderr tr-filter -q -c 'exec and has(eror)' t.trec
	[ -z "$stderr" ]
	# the exit status stays
	run -0 tr-filter -c 'exec and agv != "-c"' t.trec
}

@test "fields of --fields and --by that no record has are named" {
	run -0 --separate-stderr tr-filter --fields=seq,agv,path exec t.trec
	[ "$output" = $'1\t-\t-\n3\t-\t-' ]
	[[ $stderr = *"--fields: no selected record has the field 'agv'; did you mean argv?"*"'path'"* ]]
	run -0 --separate-stderr tr-filter --fields=seq,status 'exit or exec' t.trec
	[ -z "$stderr" ]
	run -0 --separate-stderr tr-stat --by=nmae t.trec
	[[ $stderr = *"--by: no record has the field 'nmae'; did you mean name?" ]]
	run -0 --separate-stderr tr-stat --by=argv t.trec
	[ -z "$stderr" ]
}

@test "a kind that does not occur is named, with the nearest one" {
	run -1 --separate-stderr tr-filter -c exce t.trec
	[[ $stderr = *"no records of kind 'exce'; did you mean exec?" ]]
	run -1 --separate-stderr tr-filter -c 'kind in {"exce", "sis"}' t.trec
	[[ $stderr = *"'exce'; did you mean exec?"*"'sis'; did you mean sys?" ]]
	run -1 --separate-stderr tr-filter -c glClear t.trec
	[[ $stderr = *"no records of kind 'glClear'; did you mean name == \"glClear\"?" ]]
	# a kind that trec(5) knows may be absent; one that it does not may be there
	run -1 --separate-stderr tr-filter -c signal t.trec
	[ -z "$stderr" ]
	sed 's/^comm/reload/' t.trec >u.trec
	run -0 --separate-stderr tr-filter -c reload u.trec
	[ -z "$stderr" ]
	for expr in 'name == "x" and reload' 'exec or reload' 'not exec and not reload'; do
		for options in '' -v --tree=1; do
			run --separate-stderr tr-filter -c $options -e "$expr" u.trec
			[[ $stderr != *reload* ]]
		done
	done
	# nothing is known about input that was not read to the end
	run -0 --separate-stderr tr-filter -m1 -c 'exec or relaod' u.trec
	[ -z "$stderr" ]
}

@test "a missing task, and --member without an archive" {
	run -1 --separate-stderr tr-filter -c --tree=abc t.trec
	[[ $stderr = *"--tree: no record of task 'abc'" ]]
	run -0 --separate-stderr tr-filter -c --tree=1 t.trec
	[ -z "$stderr" ]
	run -0 --separate-stderr tr-filter -c --member='*.x' exec t.trec
	[[ $stderr = *"--member selects nothing: no input is an archive" ]]
	tar -cf a.tar t.trec
	run -0 --separate-stderr tr-filter -c --member='t*' exec a.tar t.trec
	[ -z "$stderr" ]
}

@test "points in time: seconds, ISO 8601, a time of day, after the first record" {
	# the first record with a time is at 2020-03-15T12:34:56.25Z, the second at 12:35:00
	local spec
	unset TZ
	for spec in 1584275700 1584275700.0 2020-03-15T12:35 2020-03-15T12:35:00Z 20200315T123500Z \
		2020-03-15T13:35+01:00 2020-03-15T02:35:00.000-1000 12:35 12:35:00.0 13:35+01 \
		+3.75s +3750ms +3750000us +0.0625m +3.75; do
		[ "$(tr-filter --fields=seq "time == $spec" t.trec)" = 2 ]
	done
	for spec in 1584275700 2020-03-15T13:35+01:00 12:35:00.0 +3.75s; do
		[ "$(tr-filter --fields=seq "time == \"$spec\"" t.trec)" = 2 ]
		[ "$(tr-filter --fields=seq "time in {1, $spec..$spec}" t.trec)" = 2 ]
		[ "$(tr-filter --fields=seq --since="$spec" t.trec | tr '\n' ' ')" = '2 3 4 ' ]
		[ "$(tr-filter --fields=seq --until="$spec" t.trec | tr '\n' ' ')" = '1 2 ' ]
	done
	[ "$(tr-filter --fields=seq 'time > +12h' t.trec)" = 4 ]
	[ "$(tr-filter --fields=seq 'time > 24:00' t.trec)" = 4 ]
	[ "$(tr-filter --fields=seq 'time > 2020-03-16' t.trec)" = 4 ]
	[ "$(tr-filter --fields=seq 'time > "2020-03-16 00:00"' t.trec)" = 4 ]
	[ "$(TZ=UTC-2 tr-filter --fields=seq 'time == 14:35' t.trec)" = 2 ]
	[ "$(TZ=UTC-2 tr-filter --fields=seq 'time == 2020-03-15T14:35' t.trec)" = 2 ]
	[ "$(TZ=UTC-2 tr-filter --fields=seq 'time == 12:35Z' t.trec)" = 2 ]
	for spec in 25:00 12:60 12:35:61 2020-02-30 2020-13-01 2019-02-29 noon +5x 12:35+25 ''; do
		run -2 tr-filter --since="$spec" t.trec
		[[ $output = *"not a time"* ]]
		run -2 tr-filter "time < \"$spec\"" t.trec
		[[ $output = *"not a time"* ]]
	done
}

@test "the first record counts for +5s, selected or not" {
	for expr in 'exit and time > +12h' 'time > +12h and exit' 'not (time <= +12h) and has(time)'; do
		[ "$(tr-filter --fields=seq "$expr" t.trec)" = 4 ]
		[ "$(tr-filter --fields=seq "$expr" <t.trec)" = 4 ]
		[ "$(tr-filter --fields=seq --tree=1 -e "$expr" t.trec)" = 4 ]
	done
	# exact: not a digit is rounded away
	printf 'exit\t0\t1584275696.123456789012\t1\t-\nexit\t1\t1584275696.123456789013\t1\t-\n' >n.trec
	[ "$(tr-filter --fields=seq 'time == +0s' n.trec)" = 0 ]
}

@test "--since and --until: the expression is optional, and a file is no expression" {
	[ "$(tr-filter -c --since=+4s exec t.trec)" = 1 ]
	[ "$(tr-filter -c --since=+4s -e exec t.trec)" = 1 ]
	[ "$(tr-filter -c --since=+4s t.trec)" = 2 ]
	[ "$(tr-filter -c --since=+4s <t.trec)" = 2 ]
	[ "$(tr-filter -c --since=+4s - <t.trec)" = 2 ]
	[ "$(tr-filter -c --since=+1s --until=+6s t.trec)" = 2 ]
	cp t.trec exec
	[ "$(tr-filter -c --until=+4s exec)" = 2 ]
	# an operand that is not a file is an expression, valid or not, and never selects everything
	run -2 tr-filter -c --since=+4s missing.trec t.trec
	[[ $output = *"no file has this name"*missing.trec* ]]
	run -1 --separate-stderr tr-filter -c --since=+4s exce t.trec
	[ "$output" = 0 ]
	[[ $stderr = *"no records of kind 'exce'; did you mean exec?"* ]]
	long=$(printf ' or exec%.0s' $(seq 1000))
	[ "$(tr-filter -c --since=+4s "exec$long" t.trec)" = 1 ]
	run -2 tr-filter -c --since=+4s 'exec and' t.trec
	[[ $output = *expression* ]]
	# no times at all
	run -1 --separate-stderr tr-filter -c --since=+4s <<<$'exit\t1\t-\t1\t-'
	[[ $stderr = *"no record that was tested has the field 'time'" ]]
}

@test "a note reports bounds that select nothing" {
	local args
	for args in '--since=+20h' '--since=+20h -e exec' '-e exec --since=+20h' '--tree=1 --since=+20h'; do
		run -1 --separate-stderr tr-filter -c $args t.trec
		[ "$stderr" = 'tr-filter: note: no record is at or after --since=+20h' ]
	done
	run -1 --separate-stderr tr-filter -c --until=2020-01-01 exec t.trec
	[ "$stderr" = 'tr-filter: note: no record is at or before --until=2020-01-01' ]
	for args in '--since=+5s --until=+4s' '--until=+4s --since=+5s' '--until=1584275699 --since=1584275699'; do
		run -1 --separate-stderr tr-filter -c $args t.trec
		[[ $stderr == 'tr-filter: note: no record is between --since='*' and --until='* ]]
	done
	# there is no note if other tests exclude the records, or if any record is selected
	for args in '--since=+5s -e sys' '--since=+20h -v' '--since=+5s'; do
		run --separate-stderr tr-filter -c $args t.trec
		[ -z "$stderr" ]
	done
	local gears=$top_srcdir/tests/data/apitrace/gears.trace
	run -1 --separate-stderr tr-filter -c --frames=1000-1010 "$gears"
	[ "$stderr" = 'tr-filter: note: --frames selects none: the last frame is 465' ]
	run -1 --separate-stderr tr-filter -c --frames=0- t.trec
	[ "$stderr" = 'tr-filter: note: --frames selects none: no record is an API call' ]
	for args in '--frames=465' '--frames=465 -e name=="none"' '--frames=1000- -v'; do
		run --separate-stderr tr-filter -c $args "$gears"
		[ -z "$stderr" ]
	done
}

@test "the note about a computed field names the records that have it" {
	run -1 --separate-stderr tr-filter -c 'exec and duration > 1' t.trec
	[ "$stderr" = "tr-filter: note: no record that was tested has the field 'duration'; it is a field of exit, sys, enter and leave records" ]
	run -0 --separate-stderr tr-stat --by=end t.trec
	[ "$stderr" = "tr-stat: note: --by: no record has the field 'end'; it is a field of block records" ]
}

# Patterns that take quadratic or exponential time without ever reaching PCRE2's match limit, or
# reach it late: each has to be given up after a second, reported, and the records behind it judged.
@test "a regular expression that takes too long on one value is given up and reported" {
	local long pattern
	long=$(head -c 150000 /dev/zero | tr '\0' a)
	printf 'exec\t0\t-\t1\tx\targv=["%s"]\nexec\t1\t-\t1\tx\targv=["ax","ay","xy"]\n' "$long" >long.trec
	for pattern in '(?=.*x)(?=.*y)' '(?=(?:a|b)*+[xy])a'; do
		SECONDS=0
		run -2 --separate-stderr tr-filter --fields=seq "argv =~ /$pattern/" long.trec
		[ "$output" = 1 ]
		[ "$(grep -c 'long.trec:1: argv: the regular expression takes more than' <<<"$stderr")" -eq 1 ]
		[ "$SECONDS" -lt 60 ] # of a machine that does other things too
	done
	# and a match that only needs many steps is not given up
	printf 'exec\t0\t-\t1\tx\targv=["%sb"]\n' "${long:0:9000}" >long.trec
	[ "$(tr-filter --fields=seq 'argv =~ /(?=.*b$)a*[b]/' long.trec)" = 0 ]
	[ "$(tr-filter --fields=seq 'argv =~ /^(a|ab)*$/' long.trec)" = 0 ]
	run -1 tr-filter --fields=seq 'argv =~ /a*c/' long.trec
	[ -z "$output" ]
}

# The clock of the processor is made fast, so that this test need not lose 20 s.
@test "a regular expression that takes too long on all values together stops the reading" {
	[ "${TREC_SANITIZED-}" != yes ] || skip "sanitizers refuse a preloaded library"
	getconf GNU_LIBC_VERSION >/dev/null 2>&1 || skip "the preloaded library is made for glibc"
	{
		printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\tx\targv=["ab"]\n'
		seq 20000 | sed 's/.*/exec\t&\t-\t1\tx\targv=["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa&"]/'
		printf '!end\t20001\n'
	} >many.trec
	for pattern in '(a+)+[bc]' '(a|aa)+[bc]'; do
		status=0
		LD_PRELOAD=$top_builddir/tests/helper/fast_clock.so \
			tr-filter -o out "argv =~ /$pattern/" many.trec 2>messages || status=$?
		[ "$status" -eq 2 ]
		[ "$(grep -cF "argv =~ /$pattern/ took more than 20 s" messages)" -eq 1 ]
		grep -q 'many.trec:[0-9]*: .*Avoid nested repetition' messages
		grep -q 'many.trec:3: argv: the regular expression takes more than 1 s' messages
		[ "$(head -n 2 out | tail -n 1 | cut -f 2)" = 0 ]
		grep -qx $'!end\t1\terrors=1\ttruncated=true' out
	done
	# -c and --fields keep their results
	run -2 --separate-stderr env LD_PRELOAD="$top_builddir/tests/helper/fast_clock.so" \
		tr-filter -c 'argv =~ /(a+)+[bc]/' many.trec
	[ "$output" = 1 ]
}

@test "frame is a field, and the same as that of --frames" {
	for trace in gears mt4; do
		tr-filter --fields=seq,frame call "$top_srcdir/tests/data/apitrace/$trace.trace" >rows
		for n in 0 1 2 7 30; do
			# of both, the calls in the order in which they are written
			tr-filter --frames=$n "$top_srcdir/tests/data/apitrace/$trace.trace" |
				tr-filter --fields=seq call | sort >want || true
			awk -v n=$n '$2 == n { print $1 }' rows | sort | diff want -
			run tr-filter -c "frame == $n" "$top_srcdir/tests/data/apitrace/$trace.trace"
			[ "$output" = "$(sort -u want | wc -l)" ]
		done
	done
	tr-stat --by=frame,name --top=0 --json "$top_srcdir/tests/data/apitrace/gears.trace" >stat.json
	[ "$(jq '[.by[] | select(.frame == null or .frame == "-")] | length' stat.json)" -eq 0 ]
	[ "$(jq '[.by[].count] | add' stat.json)" -eq \
		"$(tr-filter -c call "$top_srcdir/tests/data/apitrace/gears.trace")" ]
}

@test "a record's own field comes before a computed one of its name" {
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' \
		call 0 - 1 glClear 'mask=1	frame="mine"	->' \
		exec 1 5.5 7 /usr/bin/gcc 'cwd="/s"	argv=["gcc","-c","a.c","b.c"]	output="mine.o"' \
		exec 2 6 8 /usr/bin/gcc 'cwd="/s"	argv=["gcc","-c","a.c"]' \
		block 3 - - 0x00001000 'size=16	op=block' \
		block 4 - - 0x00001000 'size=16	op=block	end="mine"' \
		exit 5 8.75 7 - status=0 \
		exit 6 9 8 - 'status=0	duration="mine"' >own.trec
	[ "$(tr-filter --fields=seq,frame call own.trec)" = $'0\t"mine"' ]
	[ "$(tr-filter --fields=source,output exec own.trec)" = \
		$'["a.c","b.c"]\t"mine.o"\n"a.c"\t"a.o"' ]
	[ "$(tr-filter --fields=end block own.trec)" = $'0x1010\n"mine"' ]
	[ "$(tr-filter --fields=duration exit own.trec)" = $'3.25\n"mine"' ]
	# JSON has them on demand only
	run -0 tr-tojson own.trec
	[ "$(jq -c '[.frame, .args.frame, .source, .output, .end, .duration]' <<<"$output" | head -3)" = \
		$'[null,"mine",null,null,null,null]\n[null,null,null,"mine.o",null,null]\n[null,null,null,null,null,null]' ]
	run -0 tr-tojson --computed own.trec
	[ "$(jq -c '[.args.frame, .source, .output, .end, .duration]' <<<"$output")" = \
		'["mine",null,null,null,null]
[null,["a.c","b.c"],"mine.o",null,null]
[null,"a.c","a.o",null,null]
[null,null,null,"0x1010",null]
[null,null,null,"mine",null]
[null,null,null,null,3.25]
[null,null,null,null,"mine"]' ]
	[ "$(jq -c '[.frame]' <<<"$output" | head -1)" = '[null]' ]
	# addresses wrap at their own width
	printf 'block\t0\t-\t-\t%s\tsize=32\top=block\n' 0xfffffff0 0x00000000fffffff0 0xfffffffffffffff0 >wrap.trec
	[ "$(tr-filter --fields=end block wrap.trec)" = $'0x10\n0x100000010\n0x10' ]
	run -2 tr-tojson --computed --typed own.trec
}

@test "durations of processes, system calls and calls; backtraces" {
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' \
		%frame K1 - 'module="libfoo.so"' 'function="main"' 'file="a.c"	line=12' \
		%frame K2 - 'module="libbar.so"' 'function="draw"' offset=31 \
		fork 0 1.5 1 - child=2 \
		exec 1 2 2 /bin/sh 'argv=["sh"]' \
		exit 2 4 2 - status=0 \
		exit 3 5 3 - status=0 \
		sys 4 6 1 read 'fd=3	->	return=1	dur=0.25' \
		enter 5 7 1 glFinish '.bt=[K2,K1]' \
		call 6 7.5 2 glFlush '.bt=[K3]	->' \
		leave 5 9 1 glFinish '->' >t.trec
	run -0 tr-filter --fields=kind,seq,duration 'has(duration)' t.trec
	[ "$output" = $'exit\t2\t2.5\nsys\t4\t0.25\nenter\t5\t2.0' ]
	[ "$(tr-filter --fields=seq 'backtrace.function == "main"' t.trec)" = 5 ]
	[ "$(tr-filter --fields=seq 'backtrace[0].function == "draw" and backtrace[1].line == 12' t.trec)" = 5 ]
	[ "$(tr-filter --fields=seq 'backtrace.module $= "bar.so" and len(backtrace) == 2' t.trec)" = 5 ]
	[ "$(tr-filter --fields=seq 'has(backtrace)' t.trec)" = $'5\n6' ]
	# frames are those of the segment, and of definitions before its header
	printf '%s\t%s\t-\t%s\n' %trec 1 x=1 %frame K1 'function="a"' %frame K2 'function="b"' \
		call 0 $'-\tg\t.bt=[K1,K2]\t->' !end 1 x=1 %frame K1 'function="new"' %trec 1 x=1 \
		%frame K3 'function="c"' call 0 $'-\tg\t.bt=[K1,K2,K3]\t->' |
		sed -E 's/^(%trec|!end)\t1\t-/\1\t1/' >segments.trec
	[ "$(tr-filter --fields=backtrace call segments.trec)" = '[{"function":"a"},{"function":"b"}]
[{"function":"new"},K2,{"function":"c"}]' ]
	[ "$(tr-stat --by=backtrace[0].function --json t.trec | jq -c '[.by[].count]')" != '[]' ]
}

@test "backtraces: definitions between the last record and a header belong to that header" {
	local call=$'call\t0\t-\t1\tglFlush\t.bt=[K1,K2]\t->'
	printf '%s\n' $'%trec\t1\tformat=apitrace' $'%frame\tK1\t-\tfunction="one"' "$call" \
		$'%frame\tK2\t-\tfunction="two"' $'%trec\t1\tformat=apitrace' "$call" >t.trec
	run -0 tr-filter --fields=backtrace call t.trec
	[ "$output" = '[{"function":"one"},K2]'$'\n''[K1,{"function":"two"}]' ]
	# a trailer ends them
	sed 's/^%trec/!end\t1\n&/' t.trec | tail -n +2 >trailer.trec
	run -0 tr-filter --fields=backtrace call trailer.trec
	[ "$output" = '[{"function":"one"},K2]'$'\n''[K1,K2]' ]
	# without a header in between they belong to the current segment
	run -0 tr-filter --fields=backtrace call <(sed '5d' t.trec)
	[ "${lines[1]}" = '[{"function":"one"},{"function":"two"}]' ]
}

@test "errors in an expression are explained, with a caret under the position" {
	local expr want
	while IFS='|' read -r expr want; do
		run -2 --separate-stderr tr-filter "$expr" t.trec
		[[ $stderr = *": $want"* ]] || { echo "$expr: $stderr"; return 1; }
	done <<'END'
name = "gcc"|'=' is not an operator; use '=='
'gcc'|strings take double quotes
name == 'gcc'|strings take double quotes
name contains "gcc"|unknown operator 'contains'; use *=
basname(name) == "gcc"|unknown function 'basname'; did you mean basename()?
basename(name|unclosed '(' after basename
exec and|expression ends after 'and'
(exec or sys|unclosed '('
name =~ "gcc"|=~ takes /gcc/, not "gcc"
END
	run -2 --separate-stderr tr-filter 'exec and' t.trec
	[ "${stderr_lines[1]}" = '  exec and' ]
	[ "${stderr_lines[2]}" = '          ^' ]
	# the caret is under the character, whatever the bytes in front of it
	run -2 --separate-stderr tr-filter $'name == "\xc3\xa9\e" = x' t.trec
	[ "${stderr_lines[1]}" = '  name == "é\x1b" = x' ]
	[ "${stderr_lines[2]}" = '                  ^' ]
	run -2 --separate-stderr tr-filter --frames=x t.trec
	[[ $stderr = *"--frames"*"numbers such as 10-19"*"expected"* ]]
}
