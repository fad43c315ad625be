#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Reading apitrace traces: every version, every container, and damage.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=$top_srcdir/tests/data/apitrace
	make=$top_builddir/tests/helper/apitrace_make
}

# The records, less the header, in which the container is.
records() {
	tr-parse "$@" | sed 1d
}

@test "every recipe gives the expected stream" {
	for recipe in "$data"/good-*.recipe; do
		name=$(basename "$recipe" .recipe)
		echo "$name"
		"$make" <"$recipe" >stream
		run -0 --separate-stderr tr-parse stream
		diff - "$data/$name.trec" <<<"$output"
	done
}

@test "damage is reported with its offset and call, and everything readable is read" {
	for recipe in "$data"/bad-*.recipe; do
		name=$(basename "$recipe" .recipe)
		echo "$name"
		"$make" <"$recipe" >stream
		run -2 --separate-stderr tr-parse stream
		sed 's/^tr-parse: stream:\?/#/' <<<"$stderr" >got
		cat >>got <<<"$output"
		diff got "$data/$name.trec"
	done
}

@test "the calls are those that apitrace dump shows, in their order" {
	for name in es2tri glxgears-br9; do
		trace=$data/$name.trace
		# of one thread, and one line each; a call that did not return is an enter
		zcat "$data/$name.txt.gz" |
			sed -nE 's/^([0-9]+) @([0-9]+) ([A-Za-z0-9]+)\(.*/\1\t\2\t\3/p' >shown
		tr-parse "$trace" | grep -E '^(call|enter)' | cut -f2,4,5 | diff - shown
		[ "$(tr-parse "$trace" | tail -n 1)" = $'!end\t'"$(wc -l <shown)" ]
	done
}

@test "calls have the same lines, whether they become records or not" {
	# tr-filter takes records, tr-parse has plain calls written by the reader
	for trace in "$data"/*.trace "$data"/good-*.recipe; do
		echo "$trace"
		if [[ $trace == *.recipe ]]; then
			"$make" <"$trace" >in
		else
			cat "$trace" >in
		fi
		tr-parse in >whole
		tr-filter 'kind != ""' in | cmp - whole
		dd bs=7 status=none <in | tr-parse | sed 1d | cmp - <(sed 1d whole)
	done
}

@test "structures and numbers that recur have the text of their own bytes" {
	tr-repack -q -z none -o in - <<-'EOF'
		%trec	1	format=apitrace	version=6
		%fn	F1	set	args=["mode","mask","place"]
		%enum	E1	-	LINES=1	POINTS=2
		%mask	M1	-	RED=1	BLUE=2
		%struct	S1	place	members=["x","y","z","w"]
		%struct	S2	other	members=["x","y","z","w"]
		call	0	-	0	set	mode=LINES(1@E1)	mask=RED(0x1@M1)	place={x=1,y=-2,z=0x3,w=0.5f}@S1	->
		call	1	-	0	set	mode=LINES(1@E1)	mask=RED(0x1@M1)	place={x=1,y=-2,z=0x3,w=0.5f}@S1	->
		call	2	-	0	set	mode=POINTS(2@E1)	mask=BLUE(0x2@M1)	place={x=1,y=-2,z=0x3,w=0.5f}@S2	->
		call	3	-	0	set	mode=POINTS(2@E1)	mask=RED|BLUE(0x3@M1)	place={x=1,y=-2,z=0x3,w=-0.5f}@S2	->
		call	4	-	0	set	mode=?(3@E1)	mask=?(0x4@M1)	place={x=1,y=-2,z=0x3,w=0.5f}@S1	->
		call	5	-	0	set	mode=?(-1@E1)	mask=RED(0x1@M1)	place={x={x=1,y=2,z=3,w=4}@S1,y=-2,z=0x3,w=0.5f}@S1	->
		call	6	-	0	set	mode=LINES(1@E1)	mask=RED(0x1@M1)	place={x={x=1,y=2,z=3,w=4}@S1,y=-2,z=0x3,w=0.5f}@S1	->
		!end	7
	EOF
	tr-parse in >whole
	[ "$(grep -c ^call whole)" -eq 7 ]
	tr-filter 'kind != ""' in | cmp - whole
	tr-totext in | cmp - <(tr-totext whole)
}

@test "every container, from files and pipes, gives the same records" {
	trace=$data/glxgears-br9.trace
	records "$trace" >want
	[ "$(tr-parse "$trace" | head -n 1 | cut -f4)" = container=brotli ]
	tr-repack -z none "$trace" >raw
	for codec in none snappy gzip zstd xz; do
		tr-repack -z $codec -O foreign=yes raw >"$codec"
		records "$codec" | cmp - want
		records <"$codec" | cmp - want
		cat "$codec" | records | cmp - want
	done
	records -f apitrace "$trace" | cmp - want
	cat "$trace" | records | cmp - want
	{ head -c 1000 raw | gzip -c && tail -c +1001 raw | gzip -c; } | records | cmp - want
	{ printf ' \n\t' && cat snappy; } | records | cmp - want
	xz -c snappy | records | cmp - want
	[ "$(cat snappy | tr-parse | head -n 1 | cut -f4)" = container=snappy ]
	[ "$(tr-parse raw | head -n 1 | cut -f4)" = version=6 ]
}

@test "a seek table after zstd frames is skipped" {
	command -v zstd >/dev/null || skip "zstd is not installed"
	"$make" <"$data/good-v6.recipe" >raw
	{
		zstd -qc raw
		printf '\x5e\x2a\x4d\x18\x11\x00\x00\x00\x20\x00\x00\x00\x40\x00\x00\x00'
		printf '\x01\x00\x00\x00\x00\xb1\xea\x92\x8f'
	} >seekable
	records raw >want
	[ -s want ]
	records seekable | cmp - want
}

@test "truncated containers give all data before the end, and the position is reported" {
	trace=$data/glxgears-br9.trace
	tr-repack -z none "$trace" >raw
	records raw >want
	for codec in snappy gzip zstd; do
		tr-repack -z $codec -O foreign=yes raw >whole
		head -c $(($(wc -c <whole) / 2)) whole >half
		run -2 --separate-stderr tr-parse half
		grep -E "$codec: .*(ends early).* \(at byte [0-9]+" <<<"$stderr"
		grep -E 'half:@0x[0-9a-f]+: at call [0-9]+: truncated' <<<"$stderr"
		grep -vE '^(%trec|!end)' <<<"$output" >got
		[ "$(wc -l <got)" -gt 500 ]
		# after them the truncated rest, and the last call may have lost its leave
		grep -v ^raw got >calls
		head -n "$(($(wc -l <calls) - 1))" calls | cmp - want 2>&1 | grep -q EOF
		[ "$(tail -n 1 <<<"$output" | cut -f3-)" = $'errors=2\ttruncated=true' ]
	done
	head -c 40000 "$trace" | run -2 tr-parse
}

@test "everything before a corrupt chunk is read" {
	printf '%s\n' 'version 5' 'fn 1 f a' 'repeat 120000' 'enter 0 1; arg 0 "text $"; .' \
		'leave last; .' end | "$make" | tr-repack -z snappy -O foreign=yes >whole
	# the chunks are of 1 MiB: in the middle is the second or third one
	middle=$(($(wc -c <whole) / 2))
	{
		head -c $middle whole
		head -c 1000 /dev/zero | tr '\0' '\377'
		tail -c +$((middle + 1001)) whole
	} >bad
	run -2 --separate-stderr tr-parse bad
	echo "$stderr"
	[[ $stderr =~ "snappy: chunk "[1-9]" is corrupt (at byte "[0-9]+ ]]
	tr-parse whole | grep ^call >want
	grep ^call <<<"$output" >got
	[ "$(wc -l <got)" -gt 20000 ]
	# the rest of a corrupt chunk may be wrong, but the records before it are not
	head -n 20000 got | cmp - <(head -n 20000 want)
}

# flip OFFSET OCTAL FILE: that byte is another one
flip() {
	head -c "$1" "$3"
	# shellcheck disable=SC2059
	printf "\\$2"
	tail -c +$(($1 + 2)) "$3"
}

@test "a chunk with an impossible length gives all data up to its end" {
	trace=$data/es2tri.trace
	tr-parse "$trace" | grep -v '^!end' >want
	run -2 --separate-stderr tr-parse <(flip 5 377 "$trace")
	[[ $stderr == *"snappy: chunk 0 ends early (at byte "* ]]
	grep -v '^!end' <<<"$output" | cmp - want
	flip 4 377 "$trace" >long
	head -c 3000000 /dev/zero >>long
	run -2 --separate-stderr tr-parse long
	[[ $stderr == *"snappy: chunk 0 has an impossible length (at byte "* ]]
	grep -v '^!end' <<<"$output" | cmp - want
}

@test "unknown content in a snappy container is a trace with a damaged head" {
	tr-repack -z none "$data/es2tri.trace" >raw
	# an unknown version, the length of a property's name, an invalid event
	for at in 0:211 2:314 49:140; do
		flip "${at%:*}" "${at#*:}" raw | tr-repack -f apitrace -z snappy -O foreign=yes >bad
		run -2 --separate-stderr tr-parse bad
		echo "$stderr"
		[[ $stderr != *"see -f"* ]]
		[ "$(head -n 1 <<<"$output" | cut -f1-4)" = $'%trec\t1\tformat=apitrace\tcontainer=snappy' ]
	done
}

@test "a control character in a name does not make it another format" {
	printf '%s\n' 'version 3' 'fn 7 "a\x0ab" "x\x09y" mode' 'fn 8 glDrawArrays first' \
		'enter 7; .' 'leave last; .' 'enter 8; .' 'leave last; .' | "$make" >stream
	[ "$(tr-parse --identify stream)" = "stream: apitrace" ]
	gzip stream
	run -0 tr-parse stream.gz
	[ "${#lines[@]}" -eq 6 ]
}

@test "a repeated name takes memory in proportion to the input" {
	long=$(printf 'A%.0s' $(seq 20000))
	for what in enum mask struct; do
		{
			printf 'version 5\nfn 1 f a\n'
			case $what in
			struct) printf 'struct 1 S %s\n' "$long" ;;
			*) printf '%s 1 %s 1\n' $what "$long" ;;
			esac
			printf 'enter 0 1; .\nleave last; .\nenter 0 1; arg 0 ['
			[ $what = struct ] && value=' struct 1 { 1 }' || value=" $what 1 1"
			printf "$value%.0s" $(seq 20000)
			printf ' ]; .\nleave last; .\n'
		} | "$make" >stream
		[ "$(wc -c <stream)" -lt 200000 ]
		run -2 --separate-stderr tr-parse stream
		[[ $stderr == *"at call 1: the names in it take more than "*" bytes of text; nothing after"* ]]
		[ "$(grep -c ^call <<<"$output")" -eq 1 ]
		run -2 tr-totext stream
		[ "${#output}" -lt 1000 ]
	done
}

@test "records are available before the input ends, except an enter at the end" {
	"$make" <"$data/good-v6.recipe" >stream
	mkfifo in out
	tr-parse <in >out &
	exec 4>in 5<out
	cat stream >&4
	for i in 1 2 3; do read -r -t 20 line <&5; done
	[[ $line == call$'\t'0$'\t'* ]]
	exec 4>&-
	[ "$(tail -n 1 <&5)" = $'!end\t5' ]
	wait
}

@test "an empty container is a truncated trace" {
	printf at >empty
	for tool in tr-parse tr-stat tr-totext tr-repack 'tr-repack -t trec' 'tr-filter call' tr-tojson; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr $tool empty
		[[ $stderr == *"empty:@0x0: at the head of the trace: truncated: "* ]]
		# shellcheck disable=SC2086
		run -2 --separate-stderr $tool <empty
	done
	run -2 tr-repack -o copies/ empty
	# the output of other compressors for empty input is an empty stream, like empty input
	for command in cat gzip xz zstd bzip2; do
		$command </dev/null >nothing
		run -0 --separate-stderr tr-parse nothing
		[ "$output$stderr" = "" ]
	done
}

@test "other formats keep their files" {
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >build.json
	"$make" <"$data/good-v0.recipe" >stream
	tr-parse stream >stream.trec
	run -0 tr-parse --identify build.json stream stream.trec "$data/es2tri.trace"
	[ "${lines[0]}" = "build.json: klocwork" ]
	[ "${lines[1]}" = "stream: apitrace" ]
	[ "${lines[2]}" = "stream.trec: trec" ]
	[[ ${lines[3]} == *": apitrace"* ]]
	head -c 300 /dev/zero >zeros # more are a tar without files
	printf '\1' >one
	for file in zeros one /bin/sh; do
		run -2 tr-parse "$file"
		[[ $output == *"not a known trace format"* ]]
	done
}
