#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Build specifications of xcalbuild.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/build
	zcat "$data/mc.kw.jsonl.gz" | sed "s,/srv/lab/build/mc,$PWD,g" >mc.json
	printf '%s\n' '-O1 "-DX=a b"' -Wall >opts.rsp
}

# names: prints the programs, with counts
names() {
	jq -r '.[].arguments[0] | split("/") | last' | sort | uniq -c | awk '{ print $2, $1 }' | paste -sd' '
}

@test "the tools of a build have entries, and the programs that they run have none" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-repack -z none -t buildspec "$data/zlib.kw.json.gz" >spec
	[ "$(names <spec)" = 'ar 1 gcc 41' ]
	jq 'all(.[]; keys == ["arguments", "directory"])' spec | grep -x true
	tr-parse "$data/zlib.kw.json.gz" | tr-repack -t buildspec | cmp - spec
	tr-tojson --as=buildspec "$data/zlib.kw.json.gz" | cmp - spec
}

@test "-O tools selects all of the given programs" {
	command -v jq >/dev/null || skip "jq is not installed"
	[ "$(tr-tojson --as=buildspec -O tools=xcalbuild "$data/zlib.kw.json.gz" | names)" = 'ar 1 gcc 41 ld 7' ]
	echo '[]' >every
	[ "$(tr-tojson --as=buildspec -O tools=every "$data/zlib.kw.json.gz" | jq length)" -eq 176 ]
	echo '[{"binary":"MAKE"},{"binary":"as"}]' >some
	[ "$(tr-tojson --as=buildspec -O tools=some "$data/zlib.kw.json.gz" | names)" = 'as 34 make 1' ]
}

@test "response files: named, with their content, in place" {
	command -v jq >/dev/null || skip "jq is not installed"
	[ "$(tr-tojson --as=buildspec mc.json | jq -c '.[1]')" = \
		"{\"directory\":\"$PWD\",\"arguments\":[\"gcc\",\"@opts.rsp\",\"b.c\",\"c.c\",\"-o\",\"prog\"]}" ]
	tr-repack -t buildspec -O respfiles=attach -O respfile-root=. mc.json >attached
	[ "$(jq -r '.[1].respfile' attached)" = "$(cat opts.rsp)" ]
	tr-tojson --as=buildspec -O respfiles=inline -O respfile-root=. mc.json |
		jq -c '.[1].arguments' | grep -Fx '["gcc","-O1","-DX=a b","-Wall","b.c","c.c","-o","prog"]'
	rm opts.rsp
	# the content in the specification is used, here and in a database
	[ "$(tr-repack -O respfiles=inline attached | jq -c '.[1].arguments')" = \
		'["gcc","-O1","-DX=a b","-Wall","b.c","c.c","-o","prog"]' ]
	[ "$(tr-repack -t compdb attached | jq -c '.[2].arguments')" = \
		'["gcc","-c","-O1","-DX=a b","-Wall","c.c","-o","prog"]' ]
	run -0 --separate-stderr tr-repack -t buildspec -O respfiles=attach mc.json
	[[ $stderr == *"note: response file 'opts.rsp' is not expanded: it is not in the trace; to read it"*"use -O respfile-root=DIR" ]]
}

@test "a specification is written back, with keys of the tracer's debug output" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-repack -t buildspec -O respfiles=attach -O respfile-root=. mc.json >spec
	tr-parse spec >trec
	grep -q $'\trespfile="-O1 \\\\"-DX=a b\\\\"\\\\n-Wall\\\\n"' trec
	tr-repack trec | cmp - spec
	[ "$(tr-parse --identify spec)" = 'spec: buildspec' ]
	cat >debug <<-'END'
		[
		{
		  "pid": "12", "ppid": "1", "function": "execve", "isKnown": true,
		  "directory": "/b",
		  "arguments": ["mytool","a\tb","ü"]
		}
		]
	END
	tr-parse debug | tr-repack | jq -S . | cmp - <(jq -S . debug)
	[ "$(tr-repack spec spec | jq length)" -eq 4 ]
}

@test "records that it cannot hold are reported" {
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t1\tgcc\tcwd="/a"\targv=["gcc","-c","x.c"...]\n' \
		'exec\t1\t-\t2\tgcc\targv=["gcc","-c","y.c"]\n' \
		'exec\t2\t-\t3\tgcc\tcwd="/a"\targv=["gcc","-c","z.c"]\n!end\t3\n' >trace
	run -2 --separate-stderr tr-repack -t buildspec trace
	[[ $stderr == *"the tracer cut its arguments: left out"*"its directory is unknown: left out"* ]]
	[ "$(grep -c arguments <<<"$output")" -eq 1 ]
	printf '%%trec\t1\tformat=x\n!end\t0\n' | tr-repack -t buildspec | cmp - <(printf '[\n]\n')
}
