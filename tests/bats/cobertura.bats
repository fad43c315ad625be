#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Cobertura's XML. tests/data/format/coverage-04.dtd has the members of its published DTD.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data
}

# query XPATH FILE: prints the selection without surrounding blanks
query() {
	xmllint --nonet --xpath "$1" "$2" 2>/dev/null
}

@test "the file is valid, and its figures are those of lcov" {
	tr-repack -t cobertura -o gcov.xml "$data/lcov/geninfo.info"
	xmllint --nonet --noout --dtdvalid "$data/format/coverage-04.dtd" gcov.xml
	lcov --summary --rc lcov_branch_coverage=1 "$data/lcov/geninfo.info" >summary
	grep -qF "$(query 'concat(/coverage/@lines-covered, " of ", /coverage/@lines-valid, " lines")' gcov.xml)" summary
	grep -qF "$(query 'concat(/coverage/@branches-covered, " of ", /coverage/@branches-valid, " branches")' gcov.xml)" summary
	[ "$(query 'count(//method)' gcov.xml)" -eq "$(grep -c ^FN: "$data/lcov/geninfo.info")" ]
	[ "$(query 'count(//class/lines/line[@hits > 0])' gcov.xml)" -eq "$(grep -c '^DA:[0-9]*,[1-9]' "$data/lcov/geninfo.info")" ]
	# each line of a class is in one of its methods
	[ "$(query 'count(//method//line)' gcov.xml)" -eq "$(query 'count(//class/lines/line)' gcov.xml)" ]
	tr-repack -t cobertura "$data/lcov/geninfo.info" | cmp - gcov.xml
}

@test "rates, conditions, methods in one line, files of several tests" {
	cat >in <<'END'
TN:one
SF:/src/a.c
FN:3,a
FN:3,b
FN:9,c
FNDA:1,a
FNDA:0,b
FNDA:0,c
BRDA:4,0,0,5
BRDA:4,0,1,0
BRDA:4,1,0,-
BRDA:4,1,1,-
DA:3,1
DA:4,5
DA:9,0
end_of_record
TN:two
SF:/src/a.c
DA:4,2
end_of_record
END
	tr-repack -t cobertura in >out.xml
	xmllint --nonet --noout --dtdvalid "$data/format/coverage-04.dtd" out.xml
	[ "$(query 'concat(//class/@line-rate, " ", //class/@branch-rate)' out.xml)" = '0.6666 0.2500' ]
	[ "$(query 'concat(//method[@name="a"]/@line-rate, " ", count(//method[@name="a"]//line), " ", count(//method[@name="b"]//line), " ", //method[@name="c"]/@line-rate)' out.xml)" = '1.0000 0 2 0.0000' ]
	line='//class/lines/line[@number=4]'
	[ "$(query "concat($line/@hits, ' ', $line/@branch, ' ', $line/@condition-coverage)" out.xml)" = '7 true 25% (1/4)' ]
	[ "$(query "concat($line//condition[1]/@coverage, ' ', $line//condition[2]/@coverage)" out.xml)" = '50% 0%' ]
}

@test "packages are directories, below one that can be chosen" {
	for path in /p/src/b.c /p/src/a/x.c /p/src/a.c /p/lib/y.c; do
		printf 'SF:%s\nDA:1,1\nend_of_record\n' "$path"
	done >in
	tr-repack -t cobertura in >out.xml
	[ "$(query 'string(//source)' out.xml)" = /p ]
	[ "$(query '//package/@name' out.xml | tr -d '\n')" = ' name="lib" name="src" name="src/a"' ]
	[ "$(query '//class/@filename' out.xml | tr -d '\n')" = ' filename="lib/y.c" filename="src/a.c" filename="src/b.c" filename="src/a/x.c"' ]
	tr-repack -t cobertura -O root=/p/src/ -O timestamp=1700000000 in >out.xml
	[ "$(query 'string(//source)' out.xml)" = /p/src ]
	[ "$(query '//package/@name' out.xml | tr -d '\n')" = ' name="/p/lib" name="." name="a"' ]
	[ "$(query 'string(/coverage/@timestamp)' out.xml)" = 1700000000 ]
	run -2 tr-repack -t cobertura -O timestamp=now in
	[[ $output == *'timestamp takes seconds since 1970'* ]]
}

@test "names with any bytes are valid XML" {
	printf 'SF:/src/a&b"<c>\x01\xff\xed\xa0\x80\xc3\xa4.c\nFN:1,operator<<(T const&)\nFNDA:1,operator<<(T const&)\nDA:1,1\nend_of_record\n' >in
	tr-repack -t cobertura in >out.xml
	xmllint --nonet --noout --dtdvalid "$data/format/coverage-04.dtd" out.xml
	[ "$(query 'string(//method/@name)' out.xml)" = 'operator<<(T const&)' ]
	[ "$(query 'string(//class/@name)' out.xml)" = $'a&b"<c>\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4.c' ]
	# no file at all
	tr-filter 'srcline and line == 5' in >none || [ $? -eq 1 ]
	tr-repack -t cobertura none | xmllint --nonet --noout --dtdvalid "$data/format/coverage-04.dtd" -
}

@test "a consumer accepts the file" {
	command -v pycobertura >/dev/null || skip "pycobertura is not installed: it is not in Debian"
	tr-repack -t cobertura -o out.xml "$data/lcov/geninfo.info"
	pycobertura show out.xml | grep -q loops.c
}
