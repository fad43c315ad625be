#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The JSON of gcov: its shape is compared with gcov's own, and geninfo reads it.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data
}

@test "the members are those of gcov, and the values those of the tracefile" {
	tr-repack -t gcovjson "$data/lcov/good-2.0.info" | jq -c . >got
	[ "$(tr-tojson --as=gcovjson "$data/lcov/good-2.0.info" | jq -c .)" = "$(cat got)" ]
	jq -c '.files[0].functions[]' got | diff - <(cat <<'END'
{"name":"main","demangled_name":"main","start_line":3,"execution_count":2}
{"name":"other","demangled_name":"other","start_line":9,"end_line":12,"execution_count":0}
END
	)
	jq -c '.files[0].lines[]' got | diff - <(cat <<'END'
{"line_number":3,"function_name":"main","count":2,"unexecuted_block":false,"branches":[]}
{"line_number":5,"function_name":"main","count":2,"unexecuted_block":false,"branches":[{"count":1,"throw":false,"fallthrough":false},{"count":0,"throw":false,"fallthrough":true},{"count":2,"throw":true,"fallthrough":false}]}
{"line_number":9,"function_name":"other","count":0,"unexecuted_block":true,"branches":[]}
END
	)
	jq -c '[.format_version, .files[0].file]' got | grep -qx '\["1","/src/a.c"\]'
	printf 'SF:/a"\\\xff\nDA:1,1\nend_of_record\n' | tr-repack -t gcovjson | jq -e '.files | length == 1'
}

@test "gcov's own output has the same members and types" {
	cp "$data/lines/loops.c" .
	gcc -O0 --coverage -o loops loops.c && ./loops >/dev/null
	gcov -b -i -t ./*.gcda >gcov.json 2>/dev/null
	lcov -q -c -d . --rc lcov_branch_coverage=1 -o loops.info 2>/dev/null
	tr-repack -t gcovjson -o ours.json loops.info
	# every member that ours has is one of gcov's, of the same type
	shape='[paths(type != "object" and type != "array") as $p | [($p | map(if type == "number" then 0 else . end)), (getpath($p) | type)]] | unique | .[]'
	jq -c "$shape" gcov.json | sort >theirs
	jq -c "$shape" ours.json | sort >ours
	[ "$(wc -l <ours)" -ge 13 ]
	[ -z "$(comm -13 theirs ours)" ]
	# the same lines, in the same functions, with the same counts
	lines='.files[] | select(.file | endswith("loops.c")) | .lines[] | [.line_number, .function_name, .count, [.branches[].count]]'
	diff <(jq -c "$lines" gcov.json) <(jq -c "$lines" ours.json)
}

@test "geninfo reads it" {
	cp "$data/lines/loops.c" .
	gcc -O0 --coverage -o loops loops.c && ./loops >/dev/null
	lcov -q -c -d . --rc lcov_branch_coverage=1 -o want.info 2>/dev/null
	tr-repack -t gcovjson -o ours.json want.info
	# in place of gcov, a program that writes our file where geninfo expects gcov's
	cat >fake-gcov <<'END'
#!/bin/sh
case "$*" in
*--help* | *--version* | -v) exec gcov "$@" ;;
esac
jq --arg dir "$PWD" '.current_working_directory = $dir' "$OURS" | gzip >loops.gcov.json.gz
END
	chmod +x fake-gcov
	OURS=$PWD/ours.json lcov -q -c -d . --gcov-tool "$PWD/fake-gcov" --rc lcov_branch_coverage=1 -o got.info 2>/dev/null
	grep -q 'loops.c$' got.info
	diff <(grep -v '^BR' want.info) <(grep -v '^BR' got.info)
	diff <(lcov --summary --rc lcov_branch_coverage=1 want.info) <(lcov --summary --rc lcov_branch_coverage=1 got.info | sed 's/got/want/')
}
