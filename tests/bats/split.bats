#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-repack --split and --join: parts that are filtered or converted separately and then put together again give the same
# result as the whole trace.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=$top_srcdir/tests/data
}

# a trace of each format
traces() {
	printf '%s\n' apitrace/gears.trace apitrace/mt4.trace build/files.strace.gz build/zlib.bear.json.gz \
		build/zlib.compile_commands.json build/zlib.kw.json.gz etrace/hello.nfsdb.gz gnatcov/history_all_tags_32le.trace \
		kwspec/good-lines.out lcov/geninfo.info ltrace/indent.ltrace makelog/kbuild.log.gz qemulog/good-x86_64.log
}

# cut_in COUNT: in.x into about so many parts, and whole.trec
cut_in() {
	tr-parse in.x >whole.trec
	count=$(grep -vcE '^([%!#]|(env|envset|meta|section|info|module|load|unload|loadaddr|source)	)' whole.trec)
	rm -rf parts
	tr-repack -t trec --split=records=$((count / $1 + 1)) -o parts/ in.x
}

# joined FILE WHAT: checks that the parts give the same result as the whole trace
equal() {
	cmp "$1" "$2" || { echo "$trace: $3"; return 1; }
}

@test "parts are joined, in every format" {
	while read -r trace; do
		cp --no-preserve=mode "$data/$trace" in.x
		cut_in 5
		[ "$(ls parts | wc -l)" -ge 2 ]
		tr-repack --join -t trec -o joined parts/*
		equal joined whole.trec files
		cat parts/* | tr-repack --join -t trec -o joined
		equal joined whole.trec "one stream"
		tar -cf all.tar parts/*
		tr-repack --join -t trec -o joined all.tar
		equal joined whole.trec archive
		# a part is copied as it is without --join
		cat parts/* >all
		tr-repack -t trec all | cmp - all
		# formats that can be written put parts together by themselves
		tr-parse --list-formats | grep -q "^$(sed -n '1s/.*format=\([a-z]*\).*/\1/p' whole.trec)	yes	yes" || continue
		tr-repack -q -o whole whole.trec
		tr-repack -q -o joined parts/*
		equal joined whole "own format"
	done < <(traces)
}

@test "parts are filtered separately" {
	while read -r trace; do
		cp --no-preserve=mode "$data/$trace" in.x
		cut_in 4
		# the most frequent name, none, all, and a range in some of the parts
		name=$(awk -F'\t' '!/^[%!#]/ { if (++seen[$5] > most) { most = seen[$5]; name = $5 } } END { print name }' whole.trec)
		for expression in "name == \"$name\"" "name != \"$name\"" 'name == "no such name"' 'seq > 20' 'seq < 20 and seq > 5'; do
			[[ $expression != *\\* ]] || continue
			tr-filter "$expression" whole.trec >expected 2>messages || [ $? -eq 1 ]
			for part in parts/*; do
				tr-filter "$expression" "$part" >"filtered-${part##*/}" 2>messages || [ $? -eq 1 ]
			done
			cat filtered-* | tr-repack --join -t trec -o joined
			equal joined expected "$expression"
			rm filtered-*
		done
	done < <(traces)
}

@test "context and definitions are filtered separately, too" {
	# context before, between and after the records that are selected, and after the last one
	context='%trec	1	format=trec
%fn	F1	f	args=["a"]
%other	O1	-	value=1
meta	0	-	-	version	value=1
exec	1	-	1	x
exec	2	-	1	y
load	3	-	-	a	size=1
call	4	-	1	f	a=1	->
exec	5	-	1	x
load	6	-	-	b	size=1
exec	7	-	1	z
meta	8	-	-	version	value=1
!end	9'
	while read -r trace; do
		if [ "$trace" ]; then
			cp --no-preserve=mode "$data/$trace" in.x
		else
			printf '%s\n' "$context" >in.x
		fi
		cut_in 4
		[ "$(ls parts | wc -l)" -gt 2 ]
		while IFS='|' read -r option expression; do
			filter=(tr-filter ${option:+"$option"} "$expression")
			"${filter[@]}" whole.trec >expected 2>messages || [ $? -eq 1 ]
			for part in parts/*; do
				"${filter[@]}" "$part" >"filtered-${part##*/}" 2>messages || [ $? -eq 1 ]
			done
			cat filtered-* | tr-repack --join -t trec -o joined
			equal joined expected "$option $expression"
			# the filtered parts are filtered again
			for part in filtered-*; do
				tr-filter -v 'kind == "nothing"' "$part" >"again-$part" 2>messages || [ $? -eq 1 ]
			done
			cat again-* | tr-repack --join -t trec -o joined
			equal joined <(tr-filter -v 'kind == "nothing"' expected 2>messages) "$option $expression, twice"
			rm filtered-* again-*
		done <<'END'
|load
|meta
--context=none|load or meta
|kind =~ /./
-v|load
|load and name == "b" or source or env or section
--definitions=all|name == "no such name"
--definitions=none|load or exec
--definitions=all|load and name == "no such name"
|exec and name == "x"
|exec and name == "z"
END
	done < <(echo && traces | grep -v kwspec)
	# lines that no tool of this package counts
	cut_in 4
	cat parts/* | grep -v '^!end' | tr-repack --join -t trec 2>messages | cmp - <(grep -v '^!end' whole.trec)
	for part in parts/*; do
		[[ $(<messages) == *"note: part $((10#${part//[!0-9]/})) of the trace has no trailer: it may be incomplete"* ]]
	done
	# a trace after one that has only context
	printf '%%trec\t1\tformat=trec\nmeta\t0\t-\t-\tversion\tvalue=1\n!end\t1\n' >m.trec
	printf '%%trec\t1\tformat=trec\nexec\t0\t-\t1\ta\n!end\t1\n' >n.trec
	tr-repack -t trec --split=records=9 -o few/ m.trec n.trec
	tr-repack --join -t trec few/* | cmp - <(cat m.trec n.trec)
}

@test "each part is complete: it is read and converted without a message" {
	while read -r trace; do
		cp --no-preserve=mode "$data/$trace" in.x
		cut_in 3
		for part in parts/*; do
			run -0 --separate-stderr tr-parse "$part"
			[ -z "$stderr" ]
		done
		grep -l '^%fn' whole.trec >fn && [ "$(grep -l '^%fn' parts/* | wc -l)" -eq "$(ls parts | wc -l)" ]
		format=$(sed -n '1s/.*format=\([a-z]*\).*/\1/p' whole.trec)
		tr-parse --list-formats | grep -q "^$format	yes	yes" || continue
		# in the format itself
		rm -rf native
		tr-repack -q --split=records=$((count / 3 + 1)) -o native/ in.x
		[ "$(ls native | wc -l)" -eq "$(ls parts | wc -l)" ]
		own='!/^[%!#]/ && !/^(env|envset|meta|section|info|module|load|unload|loadaddr|source)\t/ { print $1, $5 }'
		for part in native/*; do
			[ "$(tr-parse --identify "$part")" = "$part: $format" ]
			number=${part#*-}
			# (a tracefile of lcov is sorted)
			tr-parse -q "$part" | awk -F'\t' "$own" | sort >seen
			awk -F'\t' "$own" parts/*-"${number%%.*}".* | sort >expected
			cmp seen expected || { echo "$trace: $part"; return 1; }
		done
	done < <(traces | grep -v kwspec)
}

@test "by size, by records and by frames" {
	cp "$data/apitrace/gears.trace" in.trace
	tr-parse in.trace >whole.trec
	frames=$(grep -c '^call.*	glXSwapBuffers	' whole.trec)
	for n in 1 2 1000; do
		rm -rf parts
		tr-repack -t trec --split=frames=$n -o parts/ in.trace
		full=$(grep -hc '^call.*	glXSwapBuffers	' parts/*1.trec | head -1)
		[ "$full" -eq $((n < frames ? n : frames)) ]
		[ "$(ls parts | wc -l)" -ge $((frames / n)) ]
		cat parts/* | tr-repack --join -t trec | cmp - whole.trec
	done
	zcat "$data/build/zlib.kw.json.gz" >in.json
	tr-repack -t trec --split=size=20K -o size/ in.json
	[ "$(ls size | wc -l)" -ge 4 ]
	[ "$(find size -size +24k | wc -l)" -eq 0 ]
	# a begin that is larger than the parts is not repeated for every record
	tr-repack -t trec --split=size=1 -o small/ in.json
	[ "$(ls small | wc -l)" -lt "$(wc -l <in.json)" ]
	tr-parse in.json | cmp - <(cat small/* | tr-repack --join -t trec)
	# a call stays with its return
	cp "$data/apitrace/mt4.trace" mt4.trace
	tr-repack -t trec --split=records=1 -o calls/ mt4.trace
	for part in calls/*; do
		[ "$(grep -c ^enter "$part")" -eq "$(grep -c ^leave "$part")" ] || [ "$part" = "$(ls -d calls/* | tail -1)" ]
	done
}

@test "what parts have in common does not multiply the trace" {
	# definition N / context N: as many lines as records, each of which uses one
	definition() { printf '%%%%fn\tF%d\tf%d\targs=[]\n' "$1" "$1"; }
	context() { printf 'load\t%d\t-\t-\tf%d\tsize=1\n' "$1" "$1"; }
	for kind in definition context; do
		{ printf '%%trec\t1\tformat=trec\n'
		for i in $(seq 2000); do $kind "$i"; done | sed 's/^%%/%/'
		for i in $(seq 2000); do printf 'call\t%d\t-\t1\tf%d\t->\n' "$i" "$i"; done; } >$kind
		[ $kind = context ] && count=4000 || count=2000
		printf '!end\t%d\n' $count >>$kind
		for by in records=50 records=1 size=2K; do
			rm -rf parts
			tr-repack -t trec --split=$by -o parts/ $kind
			tr-repack --join -t trec parts/* | cmp - $kind
			[ "$(cat parts/* | wc -c)" -lt $((5 * $(wc -c <$kind))) ]
		done
	done
	# a part has the definitions that its records use, and no others
	tr-repack -t trec --split=records=50 -o d/ definition
	[ "$(ls d | wc -l)" -eq 40 ]
	for part in d/definition-00000[2-9]; do
		[ "$(grep -c ^%fn "$part")" -eq 50 ]
		[ "$(tr-filter call "$part" | grep -c ^%fn)" -eq 50 ]
	done
	# one that was replaced is there as the records before and after it need it
	{ printf '%%trec\t1\tformat=trec\n%%enum\tE1\t-\tA=1\n'
	printf 'call\t%d\t-\t1\tf\ta=A(1@E1)\t->\n' 1 2
	printf '%%enum\tE1\t-\tB=1\n'
	printf 'call\t%d\t-\t1\tf\ta=B(1@E1)\t->\n' 3 4
	printf '!end\t4\n'; } >replaced
	tr-repack -t trec --split=records=1 -o e/ replaced
	[ "$(cat e/* | grep -A1 ^%enum | grep -c 'A=1$')" -eq 2 ]
	for part in e/*-00000[134]; do
		[ "$(grep -c ^%enum "$part")" -eq 1 ]
	done
	tr-repack --join -t trec e/* | cmp - replaced
	# also if its use is unknown, and it is replaced before the first record and after it
	sed '/^%enum/ { s/enum/other/; p; s/1$/2/ }; s/@E1//' replaced >other
	tr-repack -t trec --split=records=1 -o f/ other
	[ "$(grep -hc ^%other f/* | tr '\n' ' ')" = '2 3 1 1 ' ]
	tr-repack --join -t trec f/* | cmp - other
	# a part has the first function of a name before others of this name
	printf '%s\n' '%trec	1	format=apitrace	version=5' '%fn	F1	f	args=[]' '%fn	F2	f	args=["a"]' 'call	0	-	1	f	->' \
		'call	1	-	1	f	a=1	->	.sig=F2' 'call	2	-	1	f	->' '!end	3' >same
	tr-repack -t trec --split=records=2 -o g/ same
	tr-repack -t trec --split=records=1 -o h/ same
	[ "$(sed -n '/^%fn/p' h/same-000002)" = "$(grep ^%fn same)" ]
	[ "$(grep ^%fn h/same-000003)" = '%fn	F1	f	args=[]' ]
	tr-repack --join -t trec h/* | cmp - same
}

@test "a note counts the parts that become large, because a call does not return" {
	{ printf '%%trec\t1\tformat=trec\nenter\t0\t-\t1\tf\n'
	printf 'call\t%d\t-\t2\tg\t->\n' $(seq 100)
	printf '!end\t101\n'; } >o.trec
	run -0 --separate-stderr tr-repack -t trec --split=records=10 -o p/ o.trec
	[ "$stderr" = "tr-repack: o.trec: note: a trace is not cut while a call has not returned: 1 part is larger, with up to 101 records" ]
	# one for all parts, and none if calls return
	run -0 --separate-stderr tr-repack -t trec --split=records=50 -o p/ "$data/apitrace/mt4.trace"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *": 8 parts are larger, with up to 1204 records" ]]
	run -0 --separate-stderr tr-repack -t trec --split=records=50 -o p/ "$data/apitrace/gears.trace"
	[ -z "$stderr" ]
}

@test "--list0 prints the names of parts that are complete" {
	mkdir $'a\nb'
	zcat "$data/build/zlib.kw.json.gz" >$'a\nb/in.json'
	tr-repack -t trec --split=records=50 --list0 -o parts/ $'a\nb/in.json' >names
	[ "$(tr '\0\n' '\nX' <names | head -2)" = "parts/aXb/in-000001.trec
parts/aXb/in-000002.trec" ]
	xargs -0 -n 1 tr-filter 'exec and name $= "/gcc"' <names | tr-repack --join -t trec >joined
	tr-filter 'exec and name $= "/gcc"' $'a\nb/in.json' | cmp - joined
	# the exit status tells a part without a match from an error (tr-repack(1))
	xargs -0 -n 1 sh -c 'tr-filter "$@" || test $? = 1' sh 'name == "x"' <names >joined
	run -123 xargs -0 -n 1 sh -c 'tr-filter "$@" || test $? = 1' sh 'name == ' <names
	# whoever wants no more names gets no more parts
	run -0 bash -c 'tr-repack -t trec --split=records=10 --list0 -o few/ $'"'a\nb/in.json'"' | head -c 1'
}

@test "--list0 does not print the name of a part that could not be written" {
	strace -qq -o log true 2>/dev/null || skip "strace cannot watch programs here"
	# LeakSanitizer cannot work in a program that is watched
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	{
		printf '%%trec\t1\tformat=klocwork\n'
		for i in {1..9}; do printf 'exec\t%d\t-\t1\tgcc\targv=["gcc"]\n' "$i"; done
		printf '!end\t9\n'
	} >in.trec
	for call in renameat fsync; do
		for nth in 1 2 3; do
			rm -rf parts
			run -2 --separate-stderr strace -qq -o log -e trace=$call -e inject=$call:error=EIO:when=$nth \
				bash -c 'exec tr-repack -q -t trec --split=records=3 --list0 -o parts/ in.trec >names'
			[[ $stderr == "tr-repack: parts/in-00000$nth.trec: cannot "* ]]
			[ "$(xargs -0 -n 1 <names)" = "$(printf '%s\n' parts/*)" ]
			[ "$(ls parts | wc -l)" -eq 2 ]
		done
	done
}

@test "damage is in the last part, and several traces have their own" {
	zcat "$data/build/zlib.kw.json.gz" >a.json
	{ head -50 a.json; echo '{"bad'; tail -n +51 a.json; } >b.json
	run -2 tr-repack -t trec --split=records=60 -o parts/ a.json b.json
	[ "$(ls parts | wc -l)" -eq 6 ]
	[ "$(grep -l errors=1 parts/*)" = parts/b-000003.trec ]
	run -2 tr-repack -q --join -t trec -o joined parts/*
	tr-parse -q a.json b.json 2>messages | cmp - joined
}

@test "context of a trace without other records and without a trailer is a part" {
	printf '%%trec\t1\tformat=klocwork\nmeta\t0\t-\t-\tversion\tvalue=101\n' >a.trec
	printf 'meta\t0\t-\t-\tversion\tvalue=101\n' >b.trec
	tr-repack -t trec --split=records=3 -o p/ a.trec b.trec
	for trace in a b; do
		tr-repack --join -t trec -o - p/$trace-* | grep -v '^%' >joined
		{ grep ^meta $trace.trec; printf '!end\t1\n'; } | cmp - joined
	done
}

@test "a part that is missing, twice, out of order or of another trace is an error that names it" {
	zcat "$data/build/zlib.kw.json.gz" >a.json
	tr-repack -t trec --split=records=40 -o p/ a.json
	[ "$(ls p | wc -l)" -eq 5 ] || { ls p; return 1; }
	# another trace of the same name and size
	mkdir other
	sed 's/zlib/blib/g' a.json >other/a.json
	(cd other && tr-repack -t trec --split=records=40 -o ../o/ a.json)
	n() { printf '%s\n' "${@/#/p/a-00000}" | sed 's/$/.trec/; s:^p/a-00000o:o/a-00000:'; }
	# parts | the message | the parts that are in the output
	while IFS='|' read -r parts message kept; do
		# shellcheck disable=SC2086
		mapfile -t files < <(n $parts)
		echo "$parts"
		if [ -z "$message" ]; then
			run -0 --separate-stderr tr-repack --join -t trec -o joined "${files[@]}"
			[ -z "$stderr" ]
			tr-parse a.json | cmp - joined
			continue
		fi
		run -2 --separate-stderr tr-repack --join -t trec -o joined "${files[@]}"
		[ "$stderr" = "tr-repack: $message" ] || { echo "$stderr"; return 1; }
		# shellcheck disable=SC2086
		mapfile -t files < <(n $kept)
		cmp <(grep '^exec' joined) <(grep -h '^exec' "${files[@]}")
		# without --join a part is converted by itself
		tr-repack -q -t klocwork -o one.json "${files[0]}"
	done <<'END'
1 2 3 4 5||
1 3 4 5|p/a-000003.trec: part 2 of the trace is missing before it, or out of order|1 3 4 5
1 4 5|p/a-000004.trec: parts 2 to 3 of the trace are missing before it, or out of order|1 4 5
2 3 4 5|p/a-000002.trec: part 1 of the trace is missing before it, or out of order|2 3 4 5
1 2 3 4|p/a-000004.trec: the parts after part 4 of the trace are missing, or out of order|1 2 3 4
1 2 2 3 4 5|p/a-000002.trec:1: part 2 is left out after part 2: it is a duplicate or out of order|1 2 3 4 5
1 2 3 4 5 3|p/a-000003.trec:1: part 3 is left out after part 5: it is a duplicate or out of order|1 2 3 4 5
1 2 o3 3 4 5|o/a-000003.trec:1: part 3 is left out after part 2: it belongs to another trace or split|1 2 3 4 5
END
	# another trace whose records after the cuts are equal
	for n in 1 2; do
		{ printf '%%trec\t1\tformat=trec\n' && printf 'exec\t%d\t-\t1\tx\n' 1 2$n 3 4 5; printf '!end\t5\n'; } >e.trec
		sed -i "s/2$n/2${n/2/22}/" e.trec
		tr-repack -t trec --split=records=2 -o e$n/ e.trec
	done
	run -2 tr-repack --join -t trec -o joined e1/e-000001.trec e2/e-000002.trec e1/e-00000[23].trec
	[ "$output" = "tr-repack: e2/e-000002.trec:1: part 2 is left out after part 1: it belongs to another trace or split" ]
	# after each part was filtered, too
	for part in p/*; do
		tr-filter exec "$part" >"${part##*/}"
	done
	run -2 tr-repack --join -t trec -o joined a-00000[1245].trec
	[ "$output" = "tr-repack: a-000004.trec: part 3 of the trace is missing before it, or out of order" ]
	run -2 tr-repack --join -t trec -o joined a.json
	[ "$output" = "tr-repack: a.json: is not a part of a trace as written by tr-repack -t trec --split" ]
	# the result is marked as incomplete
	tr-repack -q --join -t trec -o joined p/*[1-4].trec || [ $? -eq 2 ]
	[[ $(tail -1 joined) == *'	errors=1' ]]
}

@test "what comes after the last part of a trace is not joined with it" {
	zcat "$data/build/zlib.kw.json.gz" >a.json
	tr-parse a.json >whole.trec
	tr-repack -t trec --split=records=40 -o p/ a.json
	# of another split
	run -0 --separate-stderr tr-repack -t trec --split=records=60 -o p/ a.json
	[ "$stderr" = "tr-repack: note: p/: has parts of an earlier split, from a-000004.trec on: remove them, or split into an empty directory" ]
	run -2 --separate-stderr tr-repack --join -t trec -o joined p/*
	[ "$stderr" = "tr-repack: p/a-000004.trec:1: part 4 is left out after part 3: it belongs to another trace or split
tr-repack: p/a-000005.trec:1: part 5 is left out after part 3: it belongs to another trace or split" ]
	cmp joined whole.trec
	# other formats take it as a trace of its own
	run -0 --separate-stderr tr-repack -t klocwork -o joined.json p/*
	[ "${stderr_lines[0]}" = "tr-repack: p/a-000004.trec:1: note: part 4 is not joined with part 3: it belongs to another trace or split" ]
	# further traces are joined
	run -0 --separate-stderr tr-repack --join -t trec -o joined p/a-00000{1,2,3,1,2,3}.trec
	[ -z "$stderr" ]
	cat whole.trec whole.trec | cmp - joined
	# a part that was cut, and one after which a file could not be read, may not be the last one
	head -c 5000 p/a-000002.trec >cut.trec
	run -2 --separate-stderr tr-repack --join -t trec -o joined p/a-000001.trec cut.trec p/a-000003.trec
	[ "$stderr" = "tr-repack: cut.trec:$(($(wc -l <cut.trec) + 1)): the last line has no newline: it may be truncated" ]
	cmp <(grep ^exec joined | tail -1) <(grep ^exec p/a-000003.trec | tail -1)
	{ tr-filter -q exec p/a-000001.trec none || [ $? -eq 2 ]; cat p/a-00000[23].trec; } >s.trec
	run -2 --separate-stderr tr-repack --join -t trec -o joined s.trec
	[[ ${stderr_lines[0]} == *": upstream reported 1 error and truncated input" ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	cmp <(grep -v ^!end joined) <(grep -v ^!end whole.trec)
}

@test "parts in a wrong order are called missing or out of order" {
	zcat "$data/build/zlib.kw.json.gz" >a.json
	tr-repack -t trec --split=records=60 -o p/ a.json
	run -2 --separate-stderr tr-repack --join -t trec -o joined p/a-00000{3,2,1}.trec
	[ "$stderr" = "tr-repack: p/a-000003.trec: parts 1 to 2 of the trace are missing before it, or out of order
tr-repack: p/a-000002.trec:1: part 2 is left out after part 3: it is a duplicate or out of order
tr-repack: p/a-000001.trec: the parts after part 1 of the trace are missing, or out of order" ]
	run -2 --separate-stderr tr-repack --join -t trec -o joined p/a-00000{2,1,3}.trec
	[ "$stderr" = "tr-repack: p/a-000002.trec: part 1 of the trace is missing before it, or out of order
tr-repack: p/a-000001.trec: the parts after part 2 of the trace are missing, or out of order
tr-repack: p/a-000003.trec: part 2 of the trace is missing before it, or out of order" ]
	# all of them
	run -2 --separate-stderr tr-repack --join -t trec -o none </dev/null
	[ "$stderr" = "tr-repack: --join: the input has no parts" ]
	[ ! -e none ]
}

@test "a note names the parts of an earlier split" {
	zcat "$data/build/zlib.kw.json.gz" | tee a.json >b.json
	mkdir c
	cp a.json c/
	split() { run "-$1" --separate-stderr tr-repack -t trec -o p/ "${@:2}"; }
	split 0 --split=records=40 a.json b.json c/a.json
	[ -z "$stderr" ]
	split 0 --split=records=40 a.json b.json c/a.json
	[ -z "$stderr" ]
	split 0 --split=records=90 a.json b.json ./a.json c/a.json
	note='note: p/: has parts of an earlier split, from %s on: remove them, or split into an empty directory\n'
	# shellcheck disable=SC2059
	[ "$stderr" = "$(printf "tr-repack: $note" a-000005.trec b-000003.trec c/a-000003.trec)" ]
	[ -e p/b-000003.trec ]
	split 2 --strict --split=records=90 b.json
	split 0 -z gzip --split=records=40 a.json
	[ -z "$stderr" ]
	split 0 -z gzip --split=records=90 a.json
	[[ $stderr == *", from a-000003.trec.gz on: "* ]]
}

@test "parts that become files of a directory or members of an archive are complete" {
	zcat "$data/build/zlib.kw.json.gz" >a.json
	tr-repack -t trec --split=records=60 -o p/ a.json
	tr-repack -q -t klocwork -o d/ p/*
	tr-repack -q -t klocwork -o all.tar p/*
	tar -xf all.tar
	for part in p/*.trec; do
		tr-repack -q -t klocwork -o one.json "$part"
		cmp one.json "d/${part%.trec}.kw.json"
		cmp one.json "${part%.trec}.kw.json"
	done
}

@test "the names of the parts of several traces sort in order" {
	# two traces with equal headers in a stream, and a file of the same name elsewhere
	for n in 1 2; do
		printf '%%trec\t1\tformat=trec\n'
		printf 'exec\t%d\t-\t1\tx\n' 1 2 3 4
		printf '!end\t4\n'
	done >two.trec
	printf '%%trec\t1\tformat=trec\nexec\t1\t-\t1\ty\n!end\t1\n' >y.trec
	mkdir other
	cp y.trec other/two.trec
	tar -cf other.tar -C other two.trec
	tr-repack -t trec --split=records=2 -o parts/ two.trec ./two.trec other.tar y.trec
	(cd parts && printf '%s\n' *) | cmp - <(printf '%s.trec\n' two-00000{1,2,3,4,5,6,7,8,9} y-000001)
	tr-repack --join -t trec parts/* | sed 's/\tmember="two.trec"//' | cmp - <(cat two.trec two.trec y.trec y.trec)
	# a trace whose last part is missing does not take another one with it
	run -2 --separate-stderr tr-repack --join -t trec -o joined parts/two-00000[134].trec
	[ "$stderr" = "tr-repack: parts/two-000003.trec: the parts after part 1 of the trace are missing, or out of order" ]
	[ "$(grep -c ^exec joined)" -eq 6 ]
	[ "$(grep -c ^%trec joined)" -eq 2 ]
	# a process that forked
	cp "$data/apitrace/streams/forks.trace" forks.trace
	tr-repack -t trec --split=records=9 -o forks/ forks.trace
	LC_ALL=C ls forks | cmp - <(ls forks)
	[ "$(find forks -name '*-*-*')" = "" ]
	tr-repack --join -t trec forks/* | cmp - <(tr-parse forks.trace)
}

@test "a part is not split again" {
	zcat "$data/build/zlib.kw.json.gz" >a.json
	tr-repack -t trec --split=records=90 -o p/ a.json
	run -2 --separate-stderr tr-repack -t trec --split=records=9 -o q/ p/a-000001.trec
	[ "$stderr" = "tr-repack: p/a-000001.trec:1: is a part of a trace already: join the parts (--join) before they are split again" ]
	[ ! -e q ]
	# files of another format have no marks
	tr-repack -q -t klocwork --split=records=9 -o q/ p/a-000001.trec
	[ "$(find q -type f | wc -l)" -gt 4 ]
}

@test "a trace that cannot be split does not end the stream" {
	for m in x x-000001.trec/y z; do
		printf '%%trec\t1\tformat=apitrace\tversion=5\tmember="%s"\n!end\t0\n' $m
	done >s.trec
	{ cat s.trec && printf '%%trec\t1\tformat=strace\n!end\t0\n' && cat s.trec; } >t.trec
	run -2 --separate-stderr tr-repack -t trec --split=records=1 -o d/ s.trec
	[ "$stderr" = "tr-repack: s.trec: cannot create d/x-000001.trec/y-000001.trec: Not a directory" ]
	[ "$(cd d && ls)" = "$(printf '%s\n' x-000001.trec z-000001.trec)" ]
	run -2 --separate-stderr tr-repack -O foreign=yes --split=records=1 -o e/ t.trec
	[ "$stderr" = "tr-repack: t.trec: format 'strace' can only be read: use -t FORMAT (-t trec keeps the stream)" ]
	[ "$(find e -type f | wc -l)" -eq 6 ]
	# a part of which the format can hold nothing does not end the trace
	{ tr-parse "$data/build/zlib.compile_commands.json" | sed '$d'
	printf 'call\t99%d\t-\t1\tf\t->\n' 1 2 3 4 5 6 7 8
	tr-parse "$data/build/zlib.compile_commands.json" | sed 1d; } >mixed.trec
	run -2 tr-repack -q --split=records=4 -o f/ mixed.trec
	[ "$(cat f/* | grep -c '"file"')" -eq "$((2 * $(grep -c '"file"' "$data/build/zlib.compile_commands.json")))" ]
}

@test "options that cannot be combined" {
	run -2 tr-repack --split=records=1 -t trec a
	[ "${lines[0]}" = "tr-repack: --split needs a directory: -o DIR/" ]
	for kind in records=0 records= lines=1 size 5; do
		run -2 tr-repack --split=$kind -o d/ a
	done
	[ "${lines[0]}" = "tr-repack: --split takes size=N, records=N or frames=N, not '5'" ]
	run -2 tr-repack --list0 -o d/ a
	[ "${lines[0]}" = "tr-repack: --list0 needs --split" ]
	run -2 tr-repack --resume --split=records=1 -o d/ a
	[ "${lines[0]}" = "tr-repack: --split cannot be combined with --resume" ]
	run -2 tr-repack --join --split=records=1 -o d/ a
	[ "${lines[0]}" = "tr-repack: --split cannot be combined with --join" ]
	[ ! -e d ]
}
