#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Klocwork build traces through the tools; tests/unit/format/test_klocwork.c has the odd spellings.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >zlib.json
	zcat "$top_srcdir/tests/data/build/mc.kw.jsonl.gz" >mc.json
}

@test "a trace in kwinject's spelling is written back byte for byte, without .raw" {
	for f in zlib mc; do
		tr-parse $f.json >$f.trec
		run ! grep -q $'\t\\.raw=' $f.trec
		tr-repack $f.trec | cmp - $f.json
		tr-parse --exact $f.json | cmp - $f.trec
		[ "$(tail -n 1 $f.trec)" = $'!end\t'"$(wc -l <$f.json)" ]
	done
}

@test "a trace in another spelling is written back as equal JSON, and byte for byte with --exact" {
	command -v jq >/dev/null || skip "jq is not installed"
	jq . zlib.json >pretty.json
	jq -c . zlib.json | sed 's/,"/ , "/g; s/^/  /; s/$/ \r/' >blanks.json
	tr '\n' ' ' <zlib.json >line.json
	for f in pretty blanks line; do
		tr-parse $f.json >$f.trec
		tr-repack $f.trec | cmp - <(jq -c . $f.json)
		tr-parse --exact $f.json | tr-repack | cmp - $f.json
	done
	cmp pretty.trec <(tr-parse zlib.json)
}

@test "a byte order mark: --exact records it, and it is written back" {
	{ printf '\xef\xbb\xbf' && cat zlib.json; } >mark.json
	tr-parse mark.json | cmp - <(tr-parse zlib.json)
	tr-parse --exact mark.json | tr-repack | cmp - mark.json
	tr-parse --exact mark.json | tr-filter exec | tr-tojson --as=klocwork | head -c 3 |
		cmp - <(printf '\xef\xbb\xbf')
	# only at the beginning, and only of the same format
	tr-parse --exact zlib.json mark.json | tr-repack | cmp - <(cat zlib.json zlib.json)
	tr-parse --exact mark.json | tr-repack -t compdb | cmp - <(tr-repack -t compdb zlib.json)
	# where files were put together
	cat zlib.json mark.json >both.json
	cat both.json | tr-parse | cmp - <(cat zlib.json zlib.json | tr-parse)
	cat both.json | tr-parse --exact | tr-repack | cmp - both.json
	{ cat zlib.json && printf '\r\n' && cat mark.json; } >apart.json
	tr-parse --exact apart.json | tr-repack | cmp - apart.json
}

@test "an edited field takes precedence over .raw" {
	sed 's/,"/, "/g' zlib.json >blanks.json
	tr-parse --exact blanks.json | sed 's/-O3/-O0/' | tr-repack >edited.json
	[ "$(grep -c -e '-O0' edited.json)" -eq "$(grep -c -e '-O3' zlib.json)" ]
	grep -v -e '-O0' edited.json | cmp - <(grep -v -e '-O3' blanks.json)
}

@test "a trace is read from a pipe, in pieces, and with another one in the same file" {
	tr-parse zlib.json >want
	cmp want <(cat zlib.json | tr-parse)
	cmp want <(dd bs=1 count=20000 if=zlib.json 2>/dev/null | cat - <(tail -c +20001 zlib.json) | tr-parse)
	lines=$(($(wc -l <zlib.json) / 2))
	head -n $lines zlib.json >a.json
	tail -n +$((lines + 1)) zlib.json >b.json
	cat a.json b.json | tr-parse | cmp - want
	cat zlib.json mc.json | tr-parse >both
	[ "$(grep -c ^exec both)" -eq $((176 + 13)) ]
	run ! grep -q orphan both
	cat zlib.json mc.json | tr-parse | tr-repack | cmp - <(cat zlib.json mc.json)
}

@test "damage is kept, reported, and reported again at the end of the pipeline" {
	{ head -n 5 zlib.json; echo 'make: *** [x] Error 1'; tail -n +6 zlib.json; } >bad.json
	run -2 --separate-stderr tr-parse bad.json
	[ "$stderr" = "tr-parse: bad.json:6: not a JSON object: kept as a raw record" ]
	run -2 bash -c 'set -o pipefail; tr-parse -q bad.json | tr-filter -q "exec or raw" | tr-repack -q -o out'
	cmp out bad.json
	run -2 tr-parse --strict bad.json
	head -c 30000 zlib.json >cut.json
	run -2 --separate-stderr tr-parse cut.json
	[ "${#lines[@]}" -eq $(($(wc -l <cut.json) + 3)) ] # header, trailer, and the cut line as raw
	tr-parse -q --exact cut.json | tr-repack -q | cmp - cut.json
}

# lines COUNT TEXT
lines_of() {
	yes "$2" | head -n "$1" || :
}

@test "lines that open brackets and never close them" {
	# a part that can be closed is an object, and the text around it is garbage, line by line
	{ echo '{"version":101}'; lines_of 100 '{"a":'; echo 1; lines_of 60 '}'; } >nested.json
	run -2 --separate-stderr tr-parse -f klocwork nested.json
	[ "$(grep -c '^raw' <<<"$output")" -eq 40 ]
	[ "$(grep -c '^meta' <<<"$output")" -eq 2 ]
	[[ $stderr == *"nested.json:2: an object without an end: kept as a raw record"* ]]
	# each byte is looked at once
	lines_of 500000 '{"a":' >deep.json
	run -0 bash -c 'tr-parse -q -f klocwork deep.json 2>err | grep -c ^raw'
	[ "$output" -eq 500000 ]
}

@test "a filtered trace has its version, creator and env, and losses are reported" {
	tr-filter 'exec and basename(name) == "gcc"' zlib.json | tr-repack 2>messages >gcc.json
	head -n 3 gcc.json | cmp - <(head -n 3 zlib.json)
	grep -F '"executable":"/usr/bin/gcc"' zlib.json | cmp - <(tail -n +4 gcc.json)
	grep -q 'whose parent is not in this trace' messages
	run -2 bash -c 'set -o pipefail; tr-filter "exec and basename(name) == \"gcc\"" zlib.json | tr-repack --strict -o out'
	[ ! -e out ]
}

@test "a stream that lost its header gets a version and a creator" {
	run -0 --separate-stderr bash -c 'tr-parse zlib.json | grep ^exec | tr-repack -t klocwork'
	[ "${lines[0]}" = '{"version":101}' ]
	[[ ${lines[1]} == '{"creator":"trec-tools '* ]]
	[ "${lines[2]}" = "$(sed -n 4p zlib.json)" ]
	[[ $stderr == *"the stream has no version and creator: added" ]]
	run -0 --separate-stderr bash -c 'tr-parse zlib.json | head -n 100 | tr-repack -t klocwork'
	[[ $stderr == *"has no trailer"* ]]
	[ "$output" = "$(head -n 99 zlib.json)" ]
}

@test "-O env-base turns one reading of env-diff into the other and back" {
	tr-parse zlib.json | tr-repack -O env-base=top >top.json
	run ! cmp -s top.json zlib.json
	tr-parse -O env-base=top top.json | grep -q 'envtop='
	tr-parse -O env-base=top top.json | tr-repack | cmp - zlib.json
	tr-parse -O env-base=top top.json | tr-repack -O env-base=top | cmp - top.json
	run -2 tr-parse -O env-base=none zlib.json
}

@test "differences against the env line: an event without one has its environment" {
	printf '%s\n' '{"version":101}' '{"env":{"A":"1"}}' '{"id":1,"parent_id":-1,"work_dir":"/","executable":"/a","args":["a"],"env-diff":{"B":"2"}}' \
		'{"id":2,"parent_id":1,"work_dir":"/","executable":"/b","args":["b"]}' \
		'{"id":3,"parent_id":2,"work_dir":"/","executable":"/c","args":["c"],"env-diff":{"A":null}}' >top.json
	tr-parse -O env-base=top top.json | tr-repack >parent.json
	sed '4s/}$/,"env-diff":{"B":null}}/' top.json | cmp - parent.json
	tr-parse -O env-base=top top.json | tr-repack -O env-base=top | cmp - top.json
	tr-parse parent.json | tr-repack -O env-base=top | cmp - top.json
}

@test "a record is not pending while the input pauses" {
	head -n 3 zlib.json >begun.json
	echo '{"id":1,"parent_id":77,"executable":"a"}' >>begun.json
	mkfifo pipe
	{ cat begun.json; exec sleep 20; } >pipe 3>&- &
	sleeper=$!
	tr-parse pipe >out 3>&- &
	parser=$!
	for _ in $(seq 50); do
		grep -q ^exec out && break
		sleep 0.1
	done
	grep -q $'^exec\t3.*orphan' out
	kill $sleeper $parser
	wait $parser || true
}
