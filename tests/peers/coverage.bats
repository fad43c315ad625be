#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Other programs read our coverage by line, and report the same figures as tr-stat. diff-cover,
# node-lcov-parse, gcovr and lcov are packages of Debian 12; pycobertura, fastcov and lcov 2 are not.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data
	for program in jq gcc gcov lcov; do
		command -v "$program" >/dev/null || skip "no $program"
	done
}

# coverage: run.info and run.xml of three functions, one of which was never called; lines.never has the
# numbers of lines that were not executed
coverage() {
	run tr-repack -q -t lcov -O exe=/bin/sh /dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	cat >prog.c <<'END'
int twice(int x)
{
	return 2 * x;
}

int never(int x)
{
	x++;
	return x;
}

int main(void)
{
	return twice(0);
}
END
	gcc -O0 -g -no-pie -o prog prog.c
	nm -S prog | awk '$4 == "twice" || $4 == "main" {
		printf "block\t%d\t-\t-\t0x%s\tsize=%d\n", n++, $1, $4 == "main" ? 15 : 12 }' >run.trec
	[ "$(wc -l <run.trec)" -eq 2 ]
	tr-repack -q -t lcov -O exe=prog -o run.info run.trec
	tr-repack -q -t cobertura -O exe=prog -O "root=$PWD" -o run.xml run.trec
	sed -n 's/^DA:\([0-9]*\),0$/\1/p' run.info >lines.never
	[ "$(paste -sd' ' lines.never)" = '6 8 9' ]
}

# new_in_git: a repository in which prog.c is new
new_in_git() {
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1
	git init -q -b main
	git -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m 'nothing'
	git switch -q -c work
	git add prog.c
	git -c user.name=t -c user.email=t@example.org commit -q -m 'the program'
}

@test "diff-cover finds the changed lines that were not executed, in Cobertura's XML and in lcov" {
	command -v diff-cover >/dev/null || skip 'no diff-cover'
	command -v git >/dev/null || skip 'no git'
	coverage
	new_in_git
	# diff-cover 7 stops at VER, which tracefiles of geninfo have, too
	grep -v ^VER: run.info >plain.info
	for report in run.xml plain.info; do
		diff-cover -q --compare-branch main --json-report diff.json "$report"
		jq -r '.src_stats["prog.c"].violation_lines[]' diff.json | diff lines.never -
		jq -e --argjson lines "$(grep -c ^DA: run.info)" \
			--argjson never "$(wc -l <lines.never)" '.total_num_lines == $lines and .total_num_violations == $never' diff.json
	done
}

@test "node-lcov-parse reads the lines, functions and branches of tracefiles" {
	command -v node >/dev/null || skip 'no node'
	export NODE_PATH=/usr/share/nodejs
	node -e 'require("lcov-parse")' 2>/dev/null || skip 'no node-lcov-parse'
	coverage
	for file in run.info "$data/lcov/geninfo.info"; do
		tr-repack -o ours.info "$file"
		node -e 'require("lcov-parse")(process.argv[1], (error, files) => { if (error) throw error; console.log(JSON.stringify(files)) })' \
			"$PWD/ours.info" >read.json
		tr-stat --json ours.info >figures.json
		jq -r '.[] | .file as $f | .lines.details[] | [$f, .line, .hit] | @tsv' read.json | sort >theirs
		awk -F'[:,]' -v OFS='\t' '/^SF:/ { f = substr($0, 4) } /^DA:/ { print f, $2, $3 }' ours.info | sort | diff theirs -
		diff <(jq -c '[[.[].lines.details[].hit], [.[].functions.details[].hit], [.[].branches.details[].taken]] |
				map(map(select(. > 0)) | length)' read.json) \
			<(jq -c '[.coverage.parts[].executed] | if length == 2 then . + [0] else . end' figures.json)
	done
}

@test "gcovr's Cobertura file of a run has the lines and counts of ours" {
	command -v gcovr >/dev/null || skip 'no gcovr'
	command -v xmllint >/dev/null || skip 'no xmllint'
	cp "$data/lines/loops.c" "$data/lines/switch.c" .
	[ "$(sed -n 34p loops.c)" = '}' ]
	for name in loops switch; do
		gcc -O0 --coverage -o $name $name.c
		./$name >/dev/null
	done
	lcov -q -c -d . --rc lcov_branch_coverage=1 -o run.info 2>/dev/null
	tr-repack -q -t cobertura -O "root=$PWD" -o ours.xml run.info
	gcovr -r . -x theirs.xml 2>/dev/null
	for file in ours theirs; do
		for class in loops.c switch.c; do
			xmllint --nonet --xpath "//class[@filename='$class']/lines/line/@*[name() = 'number' or name() = 'hits']" $file.xml |
				tr -d ' \n' | sed 's/number/\n&/g' | sed "s/^/$class /"
			echo
		done | grep hits | tr -d '"' | sed -E 's/(hits=[0-9]+)(number=[0-9]+)/\2\1/' | sort >$file.lines
	done
	[ "$(wc -l <theirs.lines)" -gt 50 ]
	# gcovr leaves out a brace that was not executed, as line 34 of loops.c
	diff <(grep -vx 'loops.c number=34hits=0' ours.lines) theirs.lines
}

@test "pycobertura reads the Cobertura file" {
	command -v pycobertura >/dev/null || skip 'no pycobertura, which is no package of Debian 12'
	coverage
	pycobertura show run.xml >shown
	awk '$1 == "prog.c" { exit !($2 == 7 && $3 == 3) }' shown
}

@test "lcov 2 and its genhtml take the tracefile without a message" {
	version=$(lcov --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
	[ "${version%%.*}" -ge 2 ] || skip "lcov $version, which tests/bats/lcov.bats tries; Debian 12 has no lcov 2"
	coverage
	run -0 genhtml -q --rc derive_function_end_line=0 --branch-coverage -o html run.info
	[[ $output != *WARNING* && $output != *ERROR* ]]
	run -0 lcov --summary run.info
	[[ $output == *"$(grep -c ^DA: run.info) lines"* ]]
}
