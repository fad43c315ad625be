#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# GNATcoverage source traces through the tools; test_srctrace.c truncates at and changes every byte.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=$top_srcdir/tests/data/srctrace
	for recipe in "$data"/*.recipe; do
		"$top_srcdir/tests/helper/bytes_make" <"$recipe" >"$(basename "$recipe" .recipe)"
	done
}

@test "good traces come back to the byte, with and without a pipe of one byte at a time" {
	for f in good-tiny good-a1 good-a2-be good-a16-be good-pads good-empty good-v2 good-v2-project-be; do
		echo $f
		tr-parse $f >$f.trec
		tr-repack $f.trec | cmp - $f
		dd bs=1 if=$f 2>/dev/null | tr-parse | cmp - $f.trec
		tr-tojson --typed $f.trec | tr-parse -f json | cmp - $f.trec
	done
	run ! grep -q '\.raw=' good-tiny.trec
	[ "$(grep -c '\.raw=' good-pads.trec)" -eq 2 ]
}

@test "a trace becomes records for its header, information and units" {
	run -0 tr-parse good-tiny
	[ "${lines[0]}" = $'%trec\t1\tformat=srctrace\tversion=4\talign=8\tendian=little' ]
	[ "${lines[1]}" = $'info\t0\t-\t-\tPROGRAM_NAME\tdata="tiny"' ]
	[[ ${lines[2]} == *$'\tvalue="2023-11-14T22:13:20Z"' ]]
	[[ ${lines[4]} == $'unit\t3\t-\t-\t/src/app/main.c\tstatement_bits=37\tstatements=[0,3,6,'* ]]
	[[ ${lines[4]} == *$'\tdecision_bits=6\tdecisions=[0,3]\tmcdc_bits=9\tmcdc=[2,8]\t'* ]]
	[ "$(tr-filter -c 'unit and statements == 36' good-tiny)" = 1 ]
	[ "$(tr-filter --fields=name 'unit and len(statements) == 0' good-tiny)" = /src/app/hdr.h ]
	tr-parse good-a16-be | grep -q 'value=9223372036854775807'
}

@test "version 2: units of Ada and C, with and without the name of a project" {
	run -0 tr-parse good-v2
	[ "${lines[0]}" = $'%trec\t1\tformat=srctrace\tversion=2\talign=8\tendian=little' ]
	[[ ${lines[2]} == $'unit\t1\t-\t-\tpkg.main\tstatement_bits=9\tstatements=[0,8]\tdecision_bits=1\tdecisions=[0]\tmcdc_bits=0\tmcdc=[]\tscos="000102'*$'\tbit_maps="808182'*$'"\tlanguage=unit\tpart=body' ]]
	[[ ${lines[3]} == *$'\tlanguage=unit\tpart=spec' && ${lines[4]} == *$'\tlanguage=file\tpart=none' ]]
	run -0 tr-parse good-v2-project-be
	[[ ${lines[1]} == *$'\tmain.c\tstatement_bits=3\tstatements=[0,2]\t'*$'mcdc=[0]\t'*$'\tpart=none\tproject="app"' ]]
	[[ ${lines[2]} == *$'\tunit\t'*$'\tstatements=[7]\t'*$'\tpart=separate\tproject=""' ]]
	# spec and body are two units; merging keeps the fields that only this version has
	tr-filter --merge good-v2 good-v2 | tr-repack | cmp - good-v2
	tr-filter --merge good-v2-project-be good-v2-project-be | tr-repack | cmp - good-v2-project-be
	[ "$(tr-filter --minus=good-v2 -c -e unit good-v2 2>/dev/null)" = 0 ]
	tr-totext good-v2 | grep -qx 'Unit main.c (SCOs hash=202122232425262728292a2b2c2d2e2f30313233, bit maps hash=a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3)'
	# another layout, and back
	tr-repack -O align=16 -O endian=little good-v2-project-be | tr-repack -O align=4 -O endian=big | cmp - good-v2-project-be
	# the words of a unit can be edited, and must be known
	tr-parse good-v2 | sed 's/part=spec/part=7/' | tr-repack | tr-parse | grep -q 'part=7$'
	run -2 tr-repack -o /dev/null <(tr-parse good-v2 | sed 's/part=spec/part=specs/')
	[[ $output == *'part: neither none, body, spec nor separate, nor a byte'* ]]
}

@test "version 2: all units of a trace have the name of a project, or none has" {
	# a missing name is written as an empty one
	tr-parse good-v2-project-be | sed 's/\tproject=""$//' | tr-repack | cmp - good-v2-project-be
	# the first unit has none, so that a later one with a name is left out
	tr-parse good-v2 | sed '/part=spec/s/$/\tproject="app"/' >mixed.trec
	run -2 --separate-stderr tr-repack -o mixed mixed.trec
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *"project: the first unit of the trace has none" ]]
	run -0 --separate-stderr tr-parse mixed
	diff <(grep ^unit <<<"$output" | cut -f5-) <(tr-parse good-v2 | grep ^unit | grep -v part=spec | cut -f5-)
	tr-parse good-v2 | sed '/part=spec/s/$/\tproject=""/' | tr-repack | cmp - good-v2
}

@test "a string that is cut is not written as a whole one" {
	tr-parse good-tiny | sed 's/data="tiny"/&.../' >cut.trec
	run -2 --separate-stderr tr-repack -o cut cut.trec
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *"cut.trec:2: data: the value is cut" ]]
	[ "$(tr-parse cut | grep -c tiny)" -eq 0 ]
	tr-parse good-v2-project-be | sed 's/project="app"/&.../' | tr-repack -o cut 2>message || true
	grep -q 'project: the value is cut$' message
	[ "$(tr-parse cut | grep -c ^unit)" -eq 1 ]
}

@test "the style gnatcov-src prints what gnatcov prints, directly and through the pipe" {
	for f in good-tiny good-a2-be; do
		echo $f
		tr-totext --style=gnatcov-src $f | cmp - "$data/expected/$f.out"
		tr-totext $f | cmp - "$data/expected/$f.out"
		tr-parse $f | tr-totext | cmp - "$data/expected/$f.out"
		tr-parse $f | tail -n +2 | tr-totext | cmp - "$data/expected/$f.out"
		tr-parse $f | tr-tojson --typed | tr-totext -f json --style=gnatcov-src |
			cmp - "$data/expected/$f.out"
	done
	tr-totext "$data/good-log.console" | cmp - <(tr-totext good-tiny good-empty)
	# lists as somebody may spell them, and units that lack something
	tr-parse good-tiny | sed 's/\[0,3,6,/[0, 3, 6,/' | tr-totext | cmp - "$data/expected/good-tiny.out"
	tr-parse good-tiny | sed '/main.c/s/\tmcdc=[^\t]*//' >less.trec
	run -2 --separate-stderr tr-totext less.trec
	[[ $stderr == *'not shown: mcdc: the field is missing' ]]
	[ "$(grep -ac ^Unit <<<"$output")" -eq 2 ]
	run -2 --separate-stderr tr-totext bad-version
	[ -z "$output" ]
}

@test "an edited field takes precedence over .raw; a trace with fewer units is valid" {
	tr-parse good-pads | sed 's/statements=\[0,2\]/statements=[1]/' | tr-repack >edited
	tr-parse edited | grep -q 'statements=\[1\]'
	tr-filter 'name != "/src/app/main.c"' good-tiny | tr-repack -q | tr-parse >less
	[ "$(grep -c ^unit less)" -eq 2 ]
	[ "$(grep -c ^info less)" -eq 3 ]
}

@test "-O endian and align lay it out anew, and back" {
	for align in 1 2 4 8 16; do
		tr-repack -O align=$align -O endian=big good-tiny >other
		run ! cmp -s other good-tiny
		diff <(tr-parse other | tail -n +2) <(tr-parse good-tiny | tail -n +2)
		tr-repack -O align=8 -O endian=little other | cmp - good-tiny
	done
	tr-repack -O align=1 good-pads | tr-parse | run ! grep -q '\.raw='
	run -2 tr-repack -O align=3 good-tiny
}

@test "the Base64 form is found in a log, each trace a segment" {
	cp --no-preserve=mode "$data"/good-log.console log
	run -0 tr-parse --identify log
	[ "$output" = "log: srctrace" ]
	tr-parse log >log.trec
	[ "$(grep -c ^%trec log.trec)" -eq 2 ]
	[ "$(grep -c ^unit log.trec)" -eq 3 ]
	{ yes 'nothing to see here' | head -n 100000; sed 's/$/\r/' log; } | tr-parse | cmp - log.trec
	run ! bash -c 'yes "nothing to see here" | head -n 300000 | cat - log | tr-parse --identify'
	yes 'nothing to see here' | head -n 300000 | cat - log | tr-parse -f srctrace | cmp - log.trec
	tr-parse "$data"/good-tiny.console | tr-repack | cmp - good-tiny
}

@test "the Base64 form is written with -O base64=yes" {
	tr-repack -O base64=yes good-tiny | cmp - "$data"/good-tiny.console
	tr-parse "$data"/good-log.console | tr-repack -O base64=yes | tr-parse | cmp - <(tr-parse "$data"/good-log.console)
	[ "$(tr-parse good-two | grep -c ^%trec)" -eq 2 ]
}

@test "a binary file holds one trace: each of several becomes a file of its own" {
	cp --no-preserve=mode "$data"/good-log.console log
	tr-parse log >log.trec
	tr-parse good-two >two.trec
	for source in log.trec log two.trec; do
		echo "$source"
		run -2 --separate-stderr tr-repack -t srctrace -o one "$source"
		[[ $stderr == *"a file of format srctrace holds only one: "*"(-o NAME.tar) or a directory (-o NAME/)"* ]]
		[ ! -e one ]
		rm -rf out
		tr-repack -q -t srctrace --verify -o out/ "$source"
		tr-repack -q -t srctrace -o out.tar "$source"
		[ "$(ls out | wc -l)" -eq 2 ]
		[ "$(ls out | grep -c 'srctrace$')" -eq 2 ]
		mkdir out/archive && tar -xf out.tar -C out/archive && diff <(cd out && cat *.srctrace) <(cd out/archive && cat *)
		for f in out/*.srctrace; do [ "$(tr-parse "$f" | grep -c ^%trec)" -eq 1 ]; done
		tr-parse out/*.srctrace | grep -v '^[%!]' | sort | diff - <(tr-parse "$source" | grep -v '^[%!]' | sort)
	done
	run -2 --separate-stderr tr-repack -o one good-tiny good-tiny
	[[ $stderr == *"a file of format srctrace holds only one"* ]]
	# a log holds them all
	tr-repack -O base64=yes good-tiny good-a1 | tr-parse | cmp - <(tr-parse good-tiny good-a1)
	tr-repack log log | cmp - <(cat log log)
	run -2 tr-repack -o one log good-tiny
}

@test "--merge sets the bits that are set in any trace, by unit and fingerprint" {
	tr-parse good-tiny >tiny.trec
	tr-filter --merge good-tiny good-tiny tiny.trec | tr-repack | cmp - good-tiny
	# bits of both, whatever the order of the lists
	sed '/main.c/s/statements=[^\t]*/statements=[7,1,0]/;/main.c/s/decisions=[^\t]*/decisions=[5]/' tiny.trec >other.trec
	tr-filter --merge other.trec good-tiny >merged
	grep -q $'main.c\tstatement_bits=37\tstatements=\\[0,1,3,6,7,9,12,.*\tdecisions=\\[0,3,5\\]\t.*mcdc=\\[2,8\\]' merged
	tr-filter --merge good-tiny other.trec | cmp - merged
	tr-repack merged | tr-filter --merge good-tiny - | cmp - merged
	# units that only one trace has; the expression selects units
	head -n 5 tiny.trec | tr-filter -q --merge - good-tiny | cmp - tiny.trec
	[ "$(tr-filter --merge -e 'name *= "main"' good-tiny good-tiny | grep -c ^unit)" -eq 1 ]
	# the Base64 form, and without a header
	tr-filter --merge "$data"/good-tiny.console <(tail -n +2 tiny.trec) | cmp - tiny.trec
	tail -n +2 tiny.trec | tr-filter --merge - good-tiny | grep -v ^% | cmp - <(grep -v ^% tiny.trec)
}

@test "--merge of another version of a unit: both fingerprints are named, the rest is merged" {
	for key in scos bit_maps annotations; do
		tr-parse good-tiny | sed "/main.c/s/$key=\"../$key=\"ee/" >changed.trec
		was=$(sed -nE "/main.c/s/.*\\t$key=\"([0-9a-f]*)\".*/\\1/p" <(tr-parse good-tiny))
		run -2 --separate-stderr tr-filter --merge good-tiny changed.trec
		[[ $stderr == "tr-filter: changed.trec:5: /src/app/main.c: left out: "*"$key is ee${was:2}, in a trace before $was" ]]
		diff <(grep -v '^!' <<<"$output") <(tr-parse good-tiny | grep -v '^!')
		[[ ${lines[-1]} == '!end'*'errors=1' ]]
	done
	tr-parse good-tiny | sed 's/decision_bits=6/decision_bits=7/' >changed.trec
	run -2 --separate-stderr tr-filter --merge good-tiny changed.trec
	[[ $stderr == *"decision_bits is 7, there 6" ]]
	# one trace may have several units of a name
	tr-parse good-tiny | sed '/util/{p;s/scos="../scos="ee/}' >homonyms.trec
	tr-filter --merge homonyms.trec good-tiny homonyms.trec >merged
	[ "$(grep -c util merged)" -eq 2 ]
	# of another version, which has other fields
	run -2 --separate-stderr tr-filter --merge good-v2 good-tiny good-v2
	[[ $stderr == *"good-tiny: left out: a source trace of version 4, the first one is of version 2" ]]
	grep -v '^!' <<<"$output" | cmp - <(tr-parse good-v2 | grep -v '^!')
	# of another kind, or of none that can be merged
	gzip -dc "$top_srcdir/tests/data/gnatcov/true_flat.trace.gz" >flat.trace
	run -2 --separate-stderr tr-filter --merge good-tiny flat.trace
	[[ $stderr == *"flat.trace: left out: the first trace is a source trace (srctrace), and this is not" ]]
	gzip -dc "$top_srcdir/tests/data/build/zlib.kw.json.gz" >build.json
	run -2 --separate-stderr tr-filter --merge build.json
	[[ $stderr == *"records of kind exec: only gnatcov, srctrace, drcov and lcov can be merged" ]]
}

@test "-t srctrace takes a trace out of its log; without -t a log is copied" {
	tr-repack "$data"/good-tiny.console | cmp - "$data"/good-tiny.console
	tr-repack -t srctrace "$data"/good-tiny.console | cmp - good-tiny
	gzip -c "$data"/good-tiny.console | tr-repack -t srctrace -z none | cmp - good-tiny
	{ echo booting; cat "$data"/good-tiny.console; } | tr-repack -t srctrace -O base64=yes |
		cmp - "$data"/good-tiny.console
	tr-repack -t srctrace -z none good-pads | cmp - good-pads
}

@test "logs that are damaged say where, and the next trace is read" {
	cp --no-preserve=mode "$data"/good-log.console log
	broken() { # broken SED-COMMAND: message with the line
		sed "$1" log >broken.log
		run -2 --separate-stderr tr-parse broken.log
		echo "$stderr"
	}
	broken '5s/.$/?/;6s/DwAA/D!AA/'
	[[ $stderr == *"broken.log:6: Base64 of a source trace: "* ]]
	[[ $output == *"align=8"*$'\n!end\t'*"truncated=true"*$'\n!end\t0' ]]
	broken '7s/=*$/x/;8s/.$//'
	[[ $stderr == *"broken.log:7: Base64 of a source trace: incomplete group of 4 characters"* ]]
	broken '/cpu0> == End/d'
	[[ $stderr == *"the log ends before"* ]]
	sed '/== End/d' "$data"/good-tiny.console >open.log
	cat open.log "$data"/good-tiny.console >again.log
	run -2 --separate-stderr tr-parse again.log
	[[ $stderr == *"another one begins before"* ]]
	[ "$(grep -c ^unit <<<"$output")" -eq 6 ]
	run -2 --separate-stderr tr-parse -f srctrace "$data"/good-tiny.recipe
	[[ $stderr == *"not a source trace, and not the Base64 of one" ]]
}

@test "traces whose lines are mixed in a log are all read" {
	for f in good-tiny good-a1 good-a2-be; do
		tr-repack -O base64=yes $f | sed 1d >$f.console
	done
	# each line with the name of its trace, one of each in turn; other text in between
	paste -d '\n' <(sed 's/^/cpu0> /' good-tiny.console) <(sed 's/^/cpu10> /' good-a1.console) \
		<(sed 's/^/cpu1> /' good-a2-be.console) <(yes 'cpu2> watchdog' | head -n 30) | grep . >mixed
	tr-parse mixed | grep -v ^! | cmp - <(tr-parse good-tiny good-a1 good-a2-be | grep -v ^!)
	tr-repack -q -t srctrace -o out/ mixed
	cmp out/mixed.srctrace good-tiny
	cmp out/mixed-2.srctrace good-a1
	cmp out/mixed-3.srctrace good-a2-be
	# the first never ends, one is damaged: the others are there, messages name the line
	grep -v 'cpu0> == End' mixed | sed '/^cpu10> ==/!s/^cpu10> .*/cpu10> ?!/' >damaged
	run -2 --separate-stderr tr-parse damaged
	[[ $stderr == *"the log ends before"* ]]
	[[ $stderr == *"damaged:6: Base64 of a source trace: incomplete group"* ]]
	[ "$(grep -c ^%trec <<<"$output")" -ge 2 ]
	diff <(grep ^unit <<<"$output") <(tr-parse good-tiny good-a2-be | grep ^unit)
	# the limit applies to the kept bytes of the others: the first is never kept
	run -2 --separate-stderr tr-parse --max-record=200 mixed
	[ "$(grep -c 'too long to be kept (--max-record)' <<<"$stderr")" -eq 2 ]
	[ "$(grep ^unit <<<"$output" | head -n 3)" = "$(tr-parse good-tiny | grep ^unit)" ]
	# more at a time than are expected
	for i in $(seq 1 100); do echo "<$i> == GNATcoverage source trace file =="; done >begun
	run -2 --separate-stderr timeout 20 tr-parse begun
	[[ $stderr == *"36 source traces are left out: they begin within 64 others"* ]]
}

# bad NAME OFFSET MESSAGE RECORDS: expects the message at that offset, exit 2, and this many records
bad() {
	run -2 --separate-stderr tr-parse "$1"
	echo "$stderr"
	[[ $stderr == "tr-parse: $1:@$2 "*": $3"* ]]
	[ "$(grep -cE '^(info|unit)' <<<"$output")" -eq "$4" ]
	tr-parse -q "$1" 2>/dev/null | tr-repack -q >again 2>/dev/null || [ $? -eq 2 ]
}

@test "bad traces: the message, its position, and the remaining records" {
	bad bad-version 0x0 'source trace of version 3 (without project names): only versions 2 and 4 are read' 0
	bad bad-v2-form 0x30 'the units of this trace of version 2 have an unknown form' 0
	bad bad-align 0x0 'bad alignment 3' 0
	bad bad-endian 0x0 'bad endianness 2' 0
	bad bad-header-padding 0x0 'the padding of the header is not zero' 0
	cmp again bad-header-padding
	bad bad-info-kind 0x28 'unknown kind of information: passed on by its number' 1
	cmp again bad-info-kind
	bad bad-end-length 0x28 'the end of the information entries has a length: 4' 0
	bad bad-encoding 0x82 'unknown encoding of bits: 3' 1
	bad bad-checked 0x30 "padding of a unit's header or bits is not zero" 2
	cmp again bad-checked
	bad bad-huge 0x8b 'the trace ends in an entry' 0
	bad bad-huge-info 0x33 'the trace ends in an entry' 0
	run -2 tr-parse --strict bad-checked
}

@test "entries longer than --max-record are left out: which, and all others are there" {
	for limit in 300:3 119:2 111:1 96:1 95:0; do
		run --separate-stderr tr-parse --max-record=${limit%:*} good-tiny
		[ "$(grep -c ^unit <<<"$output")" -eq ${limit#*:} ]
	done
	[ "$stderr" = "tr-parse: good-tiny:@0x60 (record 3): an entry of 120 bytes is left out (--max-record)
tr-parse: good-tiny:@0xd8 (record 3): an entry of 112 bytes is left out (--max-record)
tr-parse: good-tiny:@0x148 (record 3): an entry of 96 bytes is left out (--max-record)" ]
	tr-repack -O base64=yes good-tiny >log # its lines are the positions
	run -2 --separate-stderr tr-parse -f srctrace --max-record=119 log
	[ "$stderr" = "tr-parse: log:5: an entry of 120 bytes is left out (--max-record)" ]
	[ "$(grep -c ^unit <<<"$output")" -eq 2 ]
}

@test "a unit with an invalid fingerprint is left out" {
	tr-parse good-tiny | sed '0,/scos="./s//scos="x/' >edited.trec
	run -2 --separate-stderr tr-repack -o edited edited.trec
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *"scos: not a fingerprint of 40 hex digits" ]]
	[ "$(tr-parse -q edited | grep -c ^unit)" -eq $(($(tr-parse good-tiny | grep -c ^unit) - 1)) ]
}

@test "a header of a unit that is cut is noticed at every length" {
	for n in 97 98 175; do
		head -c $n good-tiny >cut
		run -2 --separate-stderr tr-parse cut
		[[ $stderr == *"the trace ends in the header of a unit" ]]
	done
	head -c 176 good-tiny >cut
	run -2 --separate-stderr tr-parse cut
	[[ $stderr == *"the trace ends in a unit" ]]
}

@test "checkpoints and raw profiles are named, not read" {
	printf 'GNATcov checkpoint\0\x16\0\0\0\1\2\0\0\1\1\1\0\0\0\0\0\2' >x.ckpt
	printf 'GNATcov checkpoint\0\x16\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2' >x.sid
	printf '\x81rforpl\xff\x08\0\0\0\0\0\0\x01' >x.profraw
	run -0 tr-parse --identify x.ckpt x.sid x.profraw
	[[ ${lines[0]} == "x.ckpt: checkpoint (GNATcov checkpoint (consolidation), version 22, 64 bits, levels stmt+decision+mcdc, traces source: recognised, not read)" ]]
	[[ ${lines[1]} == "x.sid: checkpoint (GNATcov SID file (instrumentation), version 22, no target, levels none, traces source: recognised, not read)" ]]
	[[ ${lines[2]} == "x.profraw: profraw (LLVM raw profile, version 8, 64 bits, little endian: recognised, not read (see llvm-profdata))" ]]
	for f in x.ckpt x.sid x.profraw; do
		run -2 tr-parse $f
		[[ $output == *"recognised, not read"* ]]
		run -2 tr-repack $f
	done
	run -2 tr-parse -f checkpoint x.ckpt
}

@test "a stream without a header becomes a trace, and one note says of which layout" {
	tr-parse good-tiny | grep -v ^% >bare.trec
	run -0 --separate-stderr tr-repack -t srctrace -o little bare.trec
	[ "$stderr" = 'tr-repack: bare.trec:1: note: the stream has no header: alignment 8, little endian are supplied' ]
	tr-parse little | tail -n +2 | cmp - bare.trec
	run -0 --separate-stderr tr-repack -t srctrace -O align=2 -O endian=big -o big bare.trec
	[[ $stderr == *': alignment 2, big endian are supplied' ]]
	tr-parse big | head -n 1 | grep -q $'align=2\tendian=big'
	tr-parse big | tail -n +2 | cmp - bare.trec
	run -2 tr-repack --strict -t srctrace -o strict bare.trec
	# a record that is left out is reported, and the note is not lost with it
	sed 's/scos="[0-9a-f]*"/scos=""/' bare.trec >odd.trec
	run -2 --separate-stderr tr-repack -t srctrace -o odd odd.trec
	[[ $stderr == *'has no header'*'not a fingerprint of 40 hex digits'* ]]
}
