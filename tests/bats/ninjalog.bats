#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The log of ninja.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	log=${top_srcdir:?}/tests/data/ninjalog/cmake.ninja_log
}

@test "commands with their times" {
	tr-parse --strict "$log" >trec
	[ "$(head -n 1 trec)" = $'%trec\t1\tformat=ninjalog' ]
	grep -Fx $'exec\t2\t0.031\t2\tlibutil.a\toutput="libutil.a"\tend=0.082\textra={"mtime":"1795431612081375792","hash":"95efd4e8becfc488"}' trec
	[ "$(tail -n 1 trec)" = $'!end\t4' ]
	tr-stat trec | grep -E '^ +peak-running +2$'
	tr-stat trec | grep -E '^ +0\.051000 +2 .*libutil\.a$'
	# the build lasts until the last command ends
	tr-stat trec | grep -E '^to +0\.112000000$'
	tr-stat trec | grep -E '^seconds +0\.111000$'
	# a timeline has each command with its time, on as few lanes as there were jobs
	tr-tojson --as=chrome trec >chrome.json
	[ "$(grep -c '"ph":"X"' chrome.json)" -eq 4 ]
	grep -E '"name":"libutil.a".*"ts":30000,.*"dur":51000,' chrome.json
	[ "$(grep -c '"name":"lane ' chrome.json)" -eq 2 ]
	tr-tohtml -o page.html trec
	[ -s page.html ]
}

@test "outputs of one command, several builds, and other lines" {
	printf '%s\n' '# ninja log v7' $'1000\t2500\t0\ta\\b.h\tab' $'1000\t2500\t0\tb.c\tab' \
		$'2500\t2600\t0\tc.o\tcd' '# ninja log v7' $'3\t3\t0\tc.o\tcd' >ninja_log
	tr-parse --strict ninja_log >trec
	grep -F $'exec\t0\t1.000\t0\ta\\\\b.h\toutput="a\\\\b.h"\tend=2.5\textra={"mtime":"0","hash":"ab","outputs":["b.c"]}' trec
	grep -F $'exec\t2\t0.003\t2\tc.o\toutput="c.o"\tend=0.003\t' trec
	[ "$(grep -c ^exec trec)" -eq 3 ]
	sed 's/$/\r/' ninja_log | tr-parse | cmp - trec
	{ cat ninja_log; printf '# end of ninja log\n{"cpus":2}'; } | tr-parse --strict | cmp - trec
}

@test "the times of further outputs, which ninja -t restat makes different" {
	printf '%s\n' '# ninja log v5' $'1\t2\t100\ta\tab' $'1\t2\t100\tb\tab' $'1\t2\t200\tc\tab' \
		$'3\t4\t300\td\tab' $'3\t4\t300\te\tab' | tr-parse >trec
	grep -F $'\textra={"mtime":"100","hash":"ab","outputs":["b","c"],"mtimes":["100","200"]}' trec
	grep -F $'\textra={"mtime":"300","hash":"ab","outputs":["e"]}' trec
	[ "$(grep -c ^exec trec)" -eq 2 ]
}

@test "damaged lines are reported and left out" {
	printf '%s\n' '# ninja log v5' 'nothing' $'5\t1\t0\tend before start\tab' $'1\t5\t0\ta.o\tab' \
		$'1\t5\t0\tb.o\txyz' $'1\t5\t0\t\tab' >ninja_log
	printf '7\t8\t0\tc.o\tab' >>ninja_log
	run -2 --separate-stderr tr-parse ninja_log
	for line in 2 3 5 6; do
		[[ $stderr == *"ninja_log:$line: not a line of a ninja log: left out"* ]]
	done
	[[ $stderr == *"ninja_log:7: the last line is truncated: left out"* ]]
	[ "$(grep -c ^exec <<<"$output")" -eq 1 ]
	# times up to 146 years, the limit of all tools
	printf '%s\n' '# ninja log v5' $'0\t4611686018427\t0\ta.o\tab' $'0\t4611686018428\t0\tb.o\tab' >ninja_log
	run -2 --separate-stderr tr-parse ninja_log
	[[ $stderr == *"ninja_log:3: not a line of a ninja log: left out"* ]]
	[[ $output == *$'\tend=4611686018.427\t'* ]]
	for version in 4 8 50; do
		printf '# ninja log v%s\n' $version >other
		run -2 tr-parse other
		[[ $output == *"a log of another version of ninja: versions 5 to 7 are read"* ]]
	done
}
