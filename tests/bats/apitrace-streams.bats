#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# apitrace files with several streams, as programs that fork leave them.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=$top_srcdir/tests/data/apitrace
	make=$top_builddir/tests/helper/apitrace_make
}

# stream RECIPE: the stream of one of the recipes
stream() {
	"$make" <"$data/$1.recipe"
}

# body [FILE]: prints the stream without the additional fields in the header of a second stream
body() {
	sed -E '/^%trec/s/\t(stream|container)=[^\t]*//g' "$@"
}

# apart FILE...: prints the records of the files, each read separately
apart() {
	for file; do
		tr-parse -q "$file" || [ $? -eq 2 ]
	done | body
}

@test "every version: each stream becomes a segment with the same calls as when it is alone" {
	for version in 0 1 2 3 4 5 6; do
		stream good-v$version >one
		cat one one one >three
		tr-parse three >records
		apart one one one | diff - <(body records)
		[ "$(grep -o 'stream=[0-9]*' records | tr '\n' ' ')" = "stream=2 stream=3 " ]
		tr-repack -q -z none records | cmp - three
		tr-parse --exact three | tr-repack -q -z none | cmp - three
		tr-tojson --typed three | tr-parse -f json | tr-repack -q -z none | cmp - three
	done
}

@test "streams of different versions, and without calls" {
	stream good-v6 >6
	stream good-v4 >4
	stream good-v2 >2
	stream good-empty >empty
	for order in "6 4 2" "2 6" "4 6 4" "empty 6" "6 empty" "6 empty 4"; do
		# shellcheck disable=SC2086
		cat $order >in
		tr-parse in >records
		# shellcheck disable=SC2086
		apart $order | diff - <(body records)
		tr-repack -q -z none records | cmp - in
	done
}

@test "every container, from a file and from a pipe in small pieces" {
	stream good-v6 >one
	cat one one >in
	tr-parse in | body >want
	for codec in snappy gzip brotli zstd; do
		tr-repack -z $codec -o packed in
		tr-parse packed | body | diff - want
		dd bs=7 status=none <packed | tr-parse | body | diff - want
		tr-parse packed | tr-repack -q | tr-repack -z none | cmp - in
	done
}

@test "a call that has not returned stays in its stream" {
	stream good-v6 >whole
	{
		cat <(stream good-v6)
		printf '\0\0\5\1\0\11\1\4\4\1\1\4\0\1\2\4\3\0' # an enter of the function 5
		cat whole whole
	} >in
	tr-parse in >records
	[ "$(grep -c '^enter' records)" -eq 1 ]
	[ "$(grep -c '^!end' records)" -eq 3 ]
	tr-repack -q -z none records | cmp - in
}

# What follows damage is read as events until it makes no sense, which may take a stream's head.
@test "damage does not affect the streams after the next one" {
	for version in 3 6; do
		stream good-v$version >one
		tr-parse one | body >alone
		size=$(wc -c <one)
		for ((n = 40; n < size; n += 61)); do
			# the first stream is truncated: the file continues within one of its events
			cat <(head -c $n one) one one >in
			run --separate-stderr tr-parse in
			body <<<"$output" | tail -n "$(wc -l <alone)" | diff - alone
			[ "$status" -eq 2 ] || [ "$(grep -c '^%trec' <<<"$output")" -eq 3 ]
		done
		for ((n = 40; n < size; n += 61)); do
			cat one one one >in
			printf '\xff' | dd of=in bs=1 seek=$n conv=notrunc status=none
			run --separate-stderr tr-parse in
			body <<<"$output" | tail -n "$(wc -l <alone)" | diff - alone
			[ "$status" -eq 2 ] || [ "$(grep -c '^%trec' <<<"$output")" -eq 3 ]
		done
	done
}

@test "a stream that ends within an event is written back unchanged, followed by the next one" {
	stream good-v6 >one
	size=$(wc -c <one)
	# a string that would take the next stream with it
	cat one <(printf '\0\0\x11\5fancy\1\1a\1\0\7\xff\x7fabc') one >in
	run -2 --separate-stderr tr-parse in
	[ "$(grep -c '^%trec' <<<"$output")" -eq 2 ]
	[[ $stderr == *"truncated: at least "*" bytes needed"* ]]
	tr-repack -q -z none -o out <<<"$output" || [ $? -eq 2 ]
	cmp out in
}

@test "a number or string that looks like the beginning of a stream does not begin one" {
	cat >recipe <<-'EOF'
		version 6
		semantic 6
		property process.name demo
		events
		fn 4 name string number
		enter 0 4; arg 0 "\x06\x06\x0cprocess.name\x04demo\x00"; arg 1 6; .
		leave 0; .
		bytes 06 06 00 00 00 00 00 00 00 00 00 00
	EOF
	"$make" <recipe >in
	run -2 --separate-stderr tr-parse in
	[ "$(grep -c '^%trec' <<<"$output")" -eq 1 ]
	[[ $stderr == *"6 is not an event; nothing after it can be read"* ]]
}

@test "a stream that is cut at any byte of its head or first event is kept by --exact" {
	for version in 3 4 5 6; do
		one=$top_srcdir/tests/fuzz/corpus/apitrace/good-v$version
		size=$(stat -c %s "$one")
		for ((n = size; n <= 2 * size; n++)); do
			cat "$one" "$one" | head -c "$n" >in
			tr-parse -q --exact in >records || [ "$?" -eq 2 ]
			tr-repack -q -z none -t apitrace records >again || [ "$?" -eq 2 ]
			cmp in again
		done
	done
	# 6 and 0 could be the versions of another stream
	run -2 --separate-stderr tr-parse <(head -c $((size + 2)) in)
	[[ $stderr == *": truncated: "* ]]
	[[ $output == *$'\nraw\t'* ]]
}

@test "copies that children wrote after the parent had written chunks are left out, with a note" {
	# the calls of the program: see forks_behind in tests/data/apitrace/glx.c
	for of in "early 6" "late 12"; do
		read -r when uploads <<<"$of"
		trace=$data/streams/forks-$when.trace.xz
		run -0 --separate-stderr tr-parse "$trace"
		[ "$(grep -c '^%trec' <<<"$output")" -eq 1 ]
		[ "$(grep -c $'^call\t[0-9]*\t-\t0\tglBufferData\t' <<<"$output")" -eq "$uploads" ]
		[ "$(grep -c $'\tglClear\tmask=GL_DEPTH_BUFFER_BIT(' <<<"$output")" -eq 2 ]
		[ "$(grep -c '^raw' <<<"$output")" -eq 0 ]
		# call numbers without a gap, to the last call of the program
		grep ^call <<<"$output" | cut -f2 | diff - <(seq 0 "$(($(grep -c ^call <<<"$output") - 1))")
		grep ^call <<<"$output" | tail -n 1 | grep glXDestroyPbuffer
		[ "$(grep -c . <<<"$stderr")" -eq 1 ]
		[[ $stderr == *"note: 2 chunks that repeat others are left out"* ]]
		cmp <(tr-repack -z none <<<"$output") <(tr-repack -q -z none "$trace")
		run -2 tr-parse --strict "$trace"
	done
}

@test "a recording is counted, shown, filtered, and written back to the same file" {
	trace=$data/streams/forks.trace
	tr-parse "$trace" >records
	calls=$(grep -c '^call' records)
	[ "$(grep -c '^!end' records)" -eq 3 ]
	[ "$(tr-stat --json "$trace" | grep -o '"segments":[0-9]*,"records":[0-9]*')" = \
		"\"segments\":3,\"records\":$calls" ]
	[ "$(tr-filter -c call "$trace")" -eq "$calls" ]
	tr-totext "$trace" >text
	[ "$(grep -c '^[0-9]' text)" -eq "$calls" ]
	tr-totext records | cmp - text
	tr-repack -q -o again records
	cmp <(tr-repack -z none again) <(tr-repack -z none "$trace")
	run -0 --separate-stderr tr-repack -o again records
	[[ $stderr == *"several streams"*"-o NAME/"* ]]
	# each in its own file: the beginning of the parent's recording, and all of it
	tr-repack -o out/ records
	[ "$(cat out/* | wc -c)" -gt 0 ]
	for file in out/*; do
		[ "$(tr-parse "$file" | grep -c '^%trec')" -eq 1 ]
	done
	last=$(tr-parse out/records-3.trace | grep ^call)
	head -n "$(tr-parse out/records.trace | grep -c ^call)" <<<"$last" |
		diff - <(tr-parse out/records.trace | grep ^call)
}
