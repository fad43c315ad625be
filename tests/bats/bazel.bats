#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The commands of a build as Bazel writes them: aquery and the execution log.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/bazel corpus=$top_srcdir/tests/fuzz/corpus/bazel
}

# short [ARG...]: the records without the fields extra and env, and without header and trailer
short() {
	tr-parse -q "$@" | grep ^exec | sed -E 's/\textra=.*//; s/\tenv=[^\t]*//'
}

@test "aquery: an action with arguments is a command that the build would run" {
	diff <(short "$data/aquery.json") - <<-'EOF'
		exec	0	-	0	/usr/bin/gcc	argv=["/usr/bin/gcc","-Wall","-iquote",".","-DNAME=\"a b\"","-c","src/util.cc","-o","bazel-out/k8-fastbuild/bin/src/_objs/util/util.pic.o"]	flagged=["planned","env-trimmed"]
		exec	1	-	1	/usr/bin/gcc	argv=["/usr/bin/gcc","@bazel-out/k8-fastbuild/bin/src/prog-2.params"]	respfile={"bazel-out/k8-fastbuild/bin/src/prog-2.params":"-o\nbazel-out/k8-fastbuild/bin/src/prog\nbazel-out/k8-fastbuild/bin/src/_objs/util/util.pic.o\n-Wl,-rpath,a\\ \\\"b\\\"\n-lstdc++\n"}	flagged=["planned"]
	EOF
	# proto3 omits empty fields
	tr-parse -q "$data/aquery.json" | grep -cF $'\tenv={"PATH":"/bin:/usr/bin","EMPTY":""}\t' | grep -x 1
	tr-parse -q "$data/aquery.json" | grep -cF '"mnemonic":"CppCompile","configurationId":1,"inputDepSetIds":[2]' | grep -x 1
	run -0 --separate-stderr tr-parse --verbose "$data/aquery.json"
	[[ $stderr == *"note: Bazel does not record where commands run: 2; -O cwd=DIR names"* ]]
	[[ $stderr == *"note: actions that run no command: 2"* ]]
}

@test "aquery: compilation database, and a link whose arguments are in a parameter file" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-repack -t compdb -O cwd=/w "$data/aquery.json" >db
	jq -e 'length == 1 and .[0].file == "/w/src/util.cc" and .[0].directory == "/w" and
		.[0].arguments[4] == "-DNAME=\"a b\""' db
	tr-repack -t kwspec -O cwd=/w "$data/aquery.json" |
		grep -x 'link;/w;/w/bazel-out/k8-fastbuild/bin/src/prog;/w/bazel-out/k8-fastbuild/bin/src/_objs/util/util.pic.o'
}

@test "aquery: lists in another order, on one line, and several containers" {
	command -v jq >/dev/null || skip "jq is not installed"
	short "$data/aquery.json" >want
	jq -cS . "$data/aquery.json" >sorted
	[ "$(tr-parse --identify sorted)" = "sorted: bazel" ]
	diff want <(short sorted)
	jq -c '{actions}' "$data/aquery.json" >alone
	diff want <(short alone)
	cat alone "$data/aquery.json" >twice
	[ "$(tr-parse -q twice | grep -c ^exec)" = 4 ]
}

@test "execution log: times and ends" {
	diff <(short -O cwd=/w "$data/execlog.json") - <<-'EOF'
		exec	0	1795428000.5	0	/usr/bin/gcc	cwd="/w"	argv=["/usr/bin/gcc","-c","src/util.cc","-o","bazel-out/k8-opt/bin/util.o"]	status=0	end=1795428001.75
		exec	1	-	1	/usr/bin/ar	cwd="/w"	argv=["/usr/bin/ar","rcsD","bazel-out/k8-opt/bin/libutil.a","bazel-out/k8-opt/bin/util.o"]	status=0
		exec	2	-	2	tools/check	cwd="/w"	argv=["tools/check","--all"]
		exec	3	-	3	tools/check	cwd="/w"	argv=["tools/check","x"]	status=3
	EOF
	[ "$(date -u -d @1795428000 +%FT%T)" = 2026-11-23T10:00:00 ]
	# every other member is kept
	tr-parse -q "$data/execlog.json" | grep -F '"status":"TIMEOUT","metrics":{"startTime":"soon"}'
	tr-parse -q "$data/execlog.json" | grep -F '"inputs":[{"path":"src/util.cc","digest":{"hash":"9316644c"'
	# a date that is too far away for nanoseconds is no time
	sed 's/"startTime": *"2026/"startTime":"2390/' "$data/execlog.json" >far
	[ "$(short far | head -n 1 | cut -f 3)" = - ]
}

@test "hostile input: everything complete is kept" {
	head -c 900 "$data/aquery.json" >cut
	run -2 --separate-stderr tr-parse cut
	[[ $stderr == *"cut:18: the input ends in the middle of an object"* ]]
	# a damaged action costs no other one
	sed 's/"targetId": 1,/"targetId": ],/' "$data/aquery.json" >bad
	run -2 --separate-stderr tr-parse -f bazel bad
	[[ $stderr == *"bad:9: an object that is not JSON"* ]]
	[[ $output == *'prog-2.params"]'* && $output != *util.cc* ]]
	# the container holds something that is no list
	sed 's/"targets": \[{/"size": 3, "targets": [{/' "$data/aquery.json" >odd
	run -2 --separate-stderr tr-parse odd
	[[ $stderr == *"odd:50: unexpected text in Bazel's output"* ]]
	[ "$(grep -c ^exec <<<"$output")" = 2 ]
	printf '{"commandArgs":["a"],"remotable":true}\n{"x":1}\n{"commandArgs":["b",{"c":[]}]}\n' >log
	run -2 --separate-stderr tr-parse log
	[[ $stderr == *"log:2: an object that is not a command of Bazel"* ]]
	[[ $output == *$'\ta\targv=["a"]'* && $output == *$'\tb\targv=["b",{"c":[]}]'* ]]
	printf '{"actions":[{"mnemonic":"x","arguments":["a"],"environmentVariables":[{"key":3},{}],"paramFiles":[{"arguments":[1,null]}]}]}' >types
	run -0 tr-parse -q types
	[[ $output == *$'\tenv={"":"","":""}\trespfile={"":""}\t'* ]]
}

@test "the end of a command is spelled as a real number of the stream, also with nanoseconds" {
	tr-parse -q "$corpus/end-in-nanoseconds" | grep -F $'\t1795428000.123456789\t' |
		grep -cF $'\tend=1795428001.1234567\t' | grep -x 1
	# a time so small that it has an exponent
	printf '{"commandArgs":["a"],"remotable":true,"metrics":{"startTime":"1970-01-01T00:00:00Z","executionWallTime":"0.000000001s"}}' >small
	tr-parse -q small | grep -cF $'\tend=1e-9\t' | grep -x 1
}

@test "the form of the input does not depend on the blanks in it, nor on how they arrive" {
	short "$corpus/blanks-before-graph" >want
	grep -cF $'\targv=["gcc"]' want | grep -x 1
	# before the object, before its first key, and around the colon of a list
	local format
	for format in '%5000s{"artifacts":[],%s"actions"%s:%s[%s' '%s{%5000s"artifacts":[],%s"actions"%s:[%s' \
		'%s{"artifacts"%300s:%300s[],%s"actions":[%s' '%s{"artifacts":[],%5000s"actions"%300s:%300s[%s'; do
		# shellcheck disable=SC2059
		printf "$format"'{"mnemonic":"X","arguments":["gcc"]}]}\n' '' '' '' '' '' >blanks
		diff want <(short -f bazel blanks)
		diff want <({ head -c 4500 blanks; sleep 0.2; tail -c +4501 blanks; } | short -f bazel)
	done
	printf '%5000s{%5000s"commandArgs":["a"],"remotable":true}\n' '' '' >spawn
	[ "$(short -f bazel spawn)" = $'exec\t0\t-\t0\ta\targv=["a"]\tstatus=0' ]
}

@test "each argument of a parameter file is a word, whatever blanks it has" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '{"actions":[{"mnemonic":"X","arguments":["gcc","@p"],"paramFiles":[{"execPath":"p","arguments":%s}]}]}' \
		'["-c","a.c","-DA=a\u000bb\fc\rd\te f\ng"]' >params
	tr-repack -q -t compdb -O cwd=/b -O respfiles=inline -o - params >db
	[ "$(jq -c '.[0].arguments[-1]' db)" = '"-DA=a\u000bb\fc\rd\te f\ng"' ]
}

@test "a list with something that Bazel does not write in it is kept as it is" {
	printf '{"actions":[{"mnemonic":"x","arguments":["a"],"environmentVariables":[{"key":"B","value":"c"},"A=B"],"paramFiles":[[]]}]}' >lists
	run -0 tr-parse -q lists
	[[ $output == *$'\targv=["a"]\tflagged=["planned"]\textra={"mnemonic":"x","environmentVariables":[{"key":"B","value":"c"},"A=B"],"paramFiles":[[]]}'* ]]
}

@test "memory does not grow with the graph" {
	{
		printf '{"artifacts":['
		awk 'BEGIN { for (i = 1; i < 300000; i++) printf "{\"id\":%d,\"pathFragmentId\":%d},", i, i }'
		printf '{"id":0}],"actions":[{"mnemonic":"x","arguments":["a"]}],"pathFragments":['
		awk 'BEGIN { for (i = 1; i < 300000; i++) printf "{\"id\":%d,\"label\":\"%d\"},", i, i }'
		printf '{"id":0}]}\n'
	} >big
	# AddressSanitizer takes more addresses than that for itself
	([ -n "${TREC_SANITIZED-}" ] || ulimit -v 200000; tr-parse -q --max-record=1M big) | grep -c ^exec | grep -x 1
}
