#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-diff: equal records of two traces, and the reports about the others.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=$top_srcdir/tests/data
}

# Runs one case: name, options, and the files a, b, want and messages.
run_case() {
	local status=0 expected=0
	[ ! -s want ] || expected=1
	! grep -qv '^tr-diff: note: ' messages || expected=2
	# shellcheck disable=SC2086
	tr-diff --color=never $2 a b >got 2>err || status=$?
	if ! diff want got || ! diff messages err || [ "$status" -ne "$expected" ]; then
		echo "case: $1"
		cat err
		return 1
	fi
	[ "$expected" -eq 2 ] || "$top_srcdir/tests/helper/diff_mirror" a b
}

@test "the rules of tests/data/diff" {
	local count=0 name= options= line
	: >a && : >b && : >want && : >messages
	while IFS= read -r line; do
		case $line in
		'# '*) name=${line#??} ;;
		'? '*) options=${line#??} ;;
		'a '*) printf '%s\n' "${line#??}" >>a ;;
		'b '*) printf '%s\n' "${line#??}" >>b ;;
		'! '*) printf 'tr-diff: note: %s\n' "${line#??}" >>messages ;;
		'x '*) printf 'tr-diff: %s\n' "${line#??}" >>messages ;;
		'= '*) printf '%s\n' "${line#??}" >>want ;;
		.)
			run_case "$name" "$options"
			count=$((count + 1)) options=
			: >a && : >b && : >want && : >messages
			;;
		esac
	done <"$data/diff/changes.cases"
	[ "$count" -ge 25 ]
}

@test "names of temporary files are equal if they differ only in the random part" {
	local what one other count=0
	while read -r what one other; do
		case $what in [=!]) ;; *) continue ;; esac
		printf 'news\t0\t-\t-\tn\tpath="%s"\n' "$one" >a
		printf 'news\t0\t-\t-\tn\tpath="%s"\n' "$other" >b
		if tr-diff --brief a b >/dev/null; then [ "$what" = = ]; else [ "$what" = ! ]; fi ||
			{ echo "$what $one $other" && return 1; }
		count=$((count + 1))
	done <"$data/diff/temporary.cases"
	[ "$count" -ge 60 ]
}

# tests/long/diff-changes does this with 2,000
@test "a random change is reported, and nothing else" {
	local trace seed count=0 most=8
	[ -z "${TREC_SANITIZED-}" ] || most=2
	for trace in build/zlib.kw.json.gz build/zlib.strace.gz build/zlib.bear.json.gz apitrace/gears.trace \
		apitrace/eglinfo.trace gnatcov/plain_32le.trace srctrace/good-log.console; do
		tr-parse "$data/$trace" >a
		for seed in $(seq $most); do
			"$top_srcdir/tests/helper/diff_mutate" "$seed" a >b 2>want
			tr-diff --json a b | jq -r '[.what, .kind, .key] | join(" ")' >got
			sed '/^$/d' want | diff - got || { echo "$trace $seed" && return 1; }
			count=$((count + 1))
		done
	done
	[ "$count" -eq $((7 * most)) ]
}

# tests/long/diff-mirror does this with thousands
@test "the other direction reports the mirror image" {
	run -0 "$top_srcdir/tests/long/diff-mirror" 15
	[[ $output == "41 pairs, "*" differ, "*" are damaged, 0 reported wrongly" ]]
}

@test "traces of formats that have nothing in common produce a note, others do not" {
	run -1 --separate-stderr tr-diff -s "$data/build/zlib.kw.json.gz" "$data/apitrace/gears.trace"
	[ "$stderr" = "tr-diff: note: no kind of record is in both traces: A has env, exec; B has call, enter" ]
	# info is no kind that shows that traces have the same subject
	run -1 --separate-stderr tr-diff -s "$data/gnatcov/plain_32le.trace" "$data/srctrace/good-log.console"
	[ "$stderr" = "tr-diff: note: no kind of record is in both traces: A has section, block; B has unit" ]
	# the commands of a build in two formats are the same
	run -1 --separate-stderr tr-diff -s "$data/build/zlib.strace.gz" "$data/build/zlib.bear.json.gz"
	[ -z "$stderr" ]
	[ "$(tr -s ' ' <<<"${lines[1]}")" = "exec 176 0 0 0 0" ]
}

# 32 processes in as many files
@test "the parts of an archive are one trace" {
	tr-parse -q "$data/strace/execs/ff.tar.gz" >ff.trec
	run -0 tr-diff "$data/strace/execs/ff.tar.gz" ff.trec
	[ -z "$output" ]
}

@test "a trace is equal to itself" {
	local file status
	for file in "$data"/*/*; do
		status=0
		[ -f "$file" ] || continue
		tr-diff "$file" "$file" >out 2>err || status=$?
		# damaged ones are 2
		[ ! -s out ] && { [ "$status" -eq 0 ] || { [ "$status" -eq 2 ] && [ -s err ]; }; } || { echo "$file" && return 1; }
		# also to its stream, unless that is spelled in another way
		[[ $file != */expr/* ]] || continue
		run -"$status" --separate-stderr tr-diff -q "$file" <(tr-parse -q "$file" 2>/dev/null)
		[ -z "$output" ] || { echo "$file: its stream differs" && return 1; }
	done
}

# build DIRECTORY JOBS OPTION...: records a build into DIRECTORY.trec
build() {
	rm -rf "$1" && mkdir "$1"
	(
		cd "$1"
		for i in 1 2 3 4 5 6; do echo "int f$i(void) { return $i; }" >f$i.c; done
		echo 'int main(void) { return 0; }' >main.c
		cat >Makefile <<'END'
objects = main.o f1.o f2.o f3.o f4.o f5.o f6.o
prog: $(objects)
	gcc -o $@ $(objects)
%.o: %.c
	gcc -O1 -I$(CURDIR) -c -o $@ $<
END
		tr-record --backend=preload "${@:3}" -o "../$1.trec" make -j"$2" >/dev/null 2>"../$1.err"
	)
	! grep 'could not load the library' "$1.err" || skip "make is a program for another machine than these tools"
}

# only_jobs TEXT: fails with the lines that are no change of -j
only_jobs() {
	grep -vE '^~ .*exec |^    (argv: - "-j1" \+ "-j4"|envdiff:( "(MAKEFLAGS|MFLAGS)": - -j1 \+ -j4)+)$' "$1" || return 0
	return 1
}

@test "a build with another -j in another directory: only the -j differs" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	build one 1
	build other 4
	run -1 tr-diff --json --root="$PWD/one:$PWD/other" one.trec other.trec
	# the arguments of make, and MAKEFLAGS and MFLAGS of its children
	run -0 jq -cs '[.[] | .what, .kind, (.fields | keys[])] | unique' <<<"$output"
	[ "$output" = '["argv","changed","envdiff","exec"]' ]
	tr-diff --root="$PWD/one:$PWD/other" one.trec other.trec >text || [ $? -eq 1 ]
	only_jobs text
	grep -qF 'argv: - "-j1" + "-j4"' text
	# also what make did to files and descriptors
	build one 1 --files
	build other 4 --files
	tr-diff --root="$PWD/one:$PWD/other" one.trec other.trec >text || [ $? -eq 1 ]
	only_jobs text
	[ "$(tr-filter -q -c 'sys and name == "pipe2"' other.trec)" -gt 1 ]
}

@test "relative directories of --root" {
	printf 'exec\t0\t-\t1\t/bin/cc\tcwd="%s/one/x"\n' "$PWD" >a
	printf 'exec\t0\t-\t1\t/bin/cc\tcwd="/srv/other/x"\n' >b
	run -1 tr-diff a b
	run -0 tr-diff --root=one/:/srv/other a b
	run -0 tr-diff --root=/srv/other:./one b a
}

@test "each form of output shows the differences" {
	printf 'call\t0\t-\t0\ta\tx=1\ty="\\u0001"\t->\n' >a
	printf 'call\t7\t-\t0\ta\tx=2\tz=[1.5]\t->\ncall\t8\t-\t0\tb\t->\n' >b
	run -1 tr-diff --brief a b
	[ "$output" = 'a and b differ' ]
	run -0 tr-diff --brief a a
	[ -z "$output" ]
	run -1 tr-diff --json a b
	[ "${lines[0]}" = '{"what":"changed","kind":"call","key":"a","seq":[0,7],"fields":{"x":[1,2],"y":["\u0001",null],"z":[null,[1.5]]}}' ]
	[ "${lines[1]}" = '{"what":"added","kind":"call","key":"b","seq":[null,8],"fields":{}}' ]
	[ "${#lines[@]}" -eq 2 ]
	printf 'call\t1\t-\t0\tc\ty="\\u0001"\tx=1\t->\n' >c
	sed 's/\ta\t/\tc\t/' a >d
	run -1 tr-diff --json d c
	[ "$output" = '{"what":"changed","kind":"call","key":"c","seq":[0,1],"fields":{},"reason":"order of fields"}' ]
	# only the changes of an environment; paths as in their trace
	printf 'exec\t0\t-\t1\t/bin/a\tcwd="/o"\tenv={"A":"1","B":"/o/x","C":"/o"}\n' >c
	printf 'exec\t0\t-\t1\t/bin/a\tcwd="/n"\tenv={"A":"1","B":"/n/y","C":"/n","D":"2"}\n' >d
	run -1 tr-diff --json --root=/o:/n c d
	run -0 jq -c .fields <<<"$output"
	[ "$output" = '{"envdiff":[{"B":"/o/x"},{"B":"/n/y","D":"2"}]}' ]
	printf 'call\t0\t-\t0\ta\tx="/o"\t->\n' >c
	run -1 tr-diff --json --root=/o:/n c c
	run -0 jq -c '[.fields.x, .reason]' <<<"$output"
	[ "$output" = '[["/o","/o","--root"],null]' ]
	run -1 tr-diff --as=trec a b
	[ "$(tr-filter --raw --fields=name,diff call <<<"$output")" = $'a\tbefore\na\tafter\nb\tadded' ]
	run -1 tr-diff -s a b
	[ "$(tr -s ' ' <<<"${lines[1]}")" = 'call 0 1 0 1 0' ]
	run -0 tr-diff -s a a
	[ "$(tr -s ' ' <<<"${lines[1]}")" = 'call 1 0 0 0 0' ]
	printf 'exec\t0\t-\t1\t/bin/a\nexit\t1\t-\t1\t-\tstatus=0\n' >c
	sed s/=0/=1/ c >d
	run -1 tr-diff --json c d
	[ "$output" = '{"what":"changed","kind":"exit","key":"-","program":"/bin/a","seq":[1,1],"fields":{"status":[0,1]}}' ]
	run -1 tr-diff --color=always a b
	[[ ${lines[1]} == $'    x: \e[31m- 1\e[0m \e[32m+ 2\e[0m' ]]
	run -1 tr-diff a - <b
	[ "${#lines[@]}" -eq 5 ]
}

# fields_of A B OPTION...: fields and more of each difference; fails if an object repeats a key
fields_of() {
	tr-diff --json "${@:3}" "$1" "$2" >objects || [ $? -eq 1 ]
	# jq writes the last of repeated members
	jq -c . objects | cmp - objects
	jq -c '[.fields, .more]' objects
}

@test "JSON has each field once, and says why it differs" {
	printf 'call\t0\t-\t0\ta\tname="n"\tx=1\tx=2\t->\tx=3\ty=1\n' >a
	printf 'call\t0\t-\t0\ta\tname="m"\tx=4\tx=5\t->\tx=6\tx=7\ty=2\n' >b
	run -0 fields_of a b
	[ "$output" = '[{"x":[1,4],"y":[1,2]},[["name","n","m"],["x",2,5],["x",3,6],["x",null,7]]]' ]
	run -0 fields_of b a
	[ "$output" = '[{"x":[4,1],"y":[2,1]},[["name","m","n"],["x",5,2],["x",6,3],["x",7,null]]]' ]
	# of records in one trace only
	: >empty
	run -0 fields_of a empty -q
	[ "$output" = '[{"x":[1,null],"y":[1,null]},[["name","n",null],["x",2,null],["x",3,null]]]' ]
	# keys that mean the same, in other spellings
	printf 'call\t0\t-\t0\ta\tk=1\t\\x6b=1\t.d=1\t\\x2ed=1\t->\n' >a
	sed 's/=1/=2/g' a >b
	run -0 fields_of a b
	[ "$output" = '[{"k":[1,2],".d":[1,2]},[["k",1,2],[".d",1,2]]]' ]
	# a field that is added to the record
	printf 'exec\t0\t1.0\t1\t/bin/a\nsys\t1\t1.5\t1\tnanosleep\tdur=1.5\tduration=1\t->\n' >a
	printf 'exec\t0\t1.0\t1\t/bin/a\nsys\t1\t1.5\t1\tnanosleep\tdur=8.5\tduration=3\t->\n' >b
	run -0 fields_of a b --times=2
	[ "$output" = '[{"duration":[1,3]},[["duration",1.5,8.5]]]' ]
	# names that do not correspond
	printf 'call\t%s\t-\t0\tuse\tp=%s\t->\n' 0 0x5000 1 0x5000 2 0x5000 >a
	printf 'call\t%s\t-\t0\tuse\tp=%s\t->\n' 0 0x7000 1 0x7000 2 0x8000 >b
	run -0 fields_of a b
	[ "$output" = '[{"p":["0x5000","0x8000","names do not correspond"]},null]' ]
	# an environment that is unknown
	printf 'exec\t0\t-\t1\t/bin/a\targv=["a"]\tenv={"A":"1"}\n' >a
	printf 'exec\t0\t-\t1\t/bin/a\targv=["a","x"]\tflagged=["env-unknown"]\n' >b
	run -0 fields_of a b
	[ "$output" = '[{"env":[null,null,"unknown in B"],"argv":[["a"],["a","x"]]},null]' ]
	run -0 fields_of b a
	[ "$output" = '[{"env":[null,null,"unknown in A"],"argv":[["a","x"],["a"]]},null]' ]
	run -1 tr-diff --as=trec a b
	[ "$(tr-filter --raw --fields=flagged exec <<<"$output")" = $'\n["env-unknown"]' ]
}

@test "text shows of a long string the place that differs, other forms all of it" {
	local a b
	a=$(printf 'a%.0s' {1..1000}) b=$(printf 'ä%.0s' {1..1000})
	# line PLACE: a call with a string, an item of a list, an entry of a map, and a word of a string
	line() { printf 'call\t0\t-\t0\tf\tx="%s"\ty=["%s",1]\tz={"k":"%s"}\tw="one %s"\t->\n' "$a$1$a" "$b$1$b" "$a$1" "$1$a"; }
	line '' >a
	line one >b
	tr-diff a b >text || [ $? -eq 1 ]
	[ "$(wc -l <text)" -eq 5 ]
	[ "$(wc -L <text)" -lt 2300 ]
	iconv -f utf-8 -t utf-8 text | cmp - text
	run -0 sed -n '2,$p' text
	[[ ${lines[0]} == "    x: - [...941 bytes...]aaaa"*"aaa[...941 bytes...] + [...941 bytes...]aaa"*"aonea"*"[...941 bytes...]" ]]
	[[ ${lines[1]} == "    y: - [...1941 bytes...]ä"*"[...1941 bytes...] + [...1941 bytes...]ä"*"äoneä"*"ä[...1941 bytes...]" ]]
	[[ ${lines[2]} == '    z: - [...945 bytes...]aaa'*'a" + [...945 bytes...]aaa'*'aone"' ]]
	[[ ${lines[3]} == '    w: - aaa'*'[...940 bytes...] + oneaaa'*'[...940 bytes...]' ]]
	# other changes are not the same because they look alike
	{ line '' && line '' | sed 's/aaa/bbb/'; } >c
	{ line one && line one | sed 's/aaa/bbb/'; } >d
	run -1 --separate-stderr tr-diff c d
	[ "${#lines[@]}" -eq 10 ]
	# what is in one trace only, and records
	tr-diff --json a b | jq -r '.fields.x[1]' | cmp - <(echo "${a}one$a")
	tr-diff --as=trec a b | grep -c -F "\"${a}one$a\""
}

@test "why a program ran again, as JSON" {
	printf 'exec\t0\t-\t1\t/bin/make\tcwd="/s"\nsys\t1\t-\t1\topenat\tpath="Makefile"\t->\treturn=3\n' >a
	{
		cat a
		printf 'fork\t2\t-\t1\t-\tchild=2\nexec\t3\t-\t2\t/s/configure\tparent=0\tcwd="/s"\n'
		printf 'sys\t4\t-\t2\topenat\tpath="a\\u0001.h"\tflags=O_WRONLY|O_CREAT|O_TRUNC\t->\treturn=3\n'
		printf 'fork\t5\t-\t1\t-\tchild=3\nexec\t6\t-\t3\t/bin/cc\tparent=0\tcwd="/s"\n'
		printf 'sys\t7\t-\t3\topenat\tpath="a\\u0001.h"\tflags=O_RDONLY\t->\treturn=3\n'
	} >b
	run -1 tr-diff --files --json a b
	run -0 jq -c 'select(.because) | [.key, .because]' <<<"$output"
	[ "$output" = '["/bin/cc",[{"input":"/s/a\u0001.h","writer":"/s/configure"}]]' ]
	# of a step that changed, its arguments
	{
		cat a
		grep -P '\t2\t' b | sed 's/cwd=.*/&\targv=["configure","-x"]/'
		grep -P 'child=2' b
	} >c
	sed -i 's/\(configure.*cwd="\/s"\)/\1\targv=["configure","-y","z"]/' b
	run -1 tr-diff --files --json c b
	run -0 jq -c 'select(.because).because[] | [.removed, .added]' <<<"$output"
	[ "$output" = '[["-x"],["-y","z"]]' ]
}

@test "what is malformed in a stream is reported as by tr-parse, and compared as it is spelled" {
	local file
	# also if it comes again, in a value that is not compared, in a key, and in a definition
	{
		printf 'call\t%s\t-\t0\ta\tv="abc\n' 0 1
		printf 'call\t2\t-\t0\ta\tx="abcdefghijklmnopqrstuvwxyz\n%.0s' 1 2
		printf '%%fn\tF1\tb\targs=[\ncall\t3\t-\t0\tb\tdur=1.2.3\tx=1\n'
		printf 'call\t4\t-\t0\tb\t%s=1\n' - 'x\q'
	} >a
	for file in "$data/expr/cases.trec" "$data/expr/environment.trec" a; do
		run -2 --separate-stderr tr-diff "$file" "$file"
		[ -z "$output" ]
		[ "$stderr" = "$(tr-parse "$file" "$file" 2>&1 >/dev/null | sed 's/^tr-parse/tr-diff/')" ]
	done
	[ "${#stderr_lines[@]}" -eq 16 ]
	# the fields that are not malformed are compared
	printf 'call\t0\t-\t0\ta\tv="abc\tw=1\n' >a
	printf 'call\t0\t-\t0\ta\tv="abc\tw=2\n' >b
	run -2 --separate-stderr tr-diff a b
	[ "$output" = $'~ call 0 a v="abc w=1\n    w: - 1 + 2' ]
	# in JSON they have a tag, as those of tr-tojson
	printf 'call\t0\t-\t0\ta\\q\tv="abc\n' >a
	run -2 --separate-stderr tr-diff --json a /dev/null
	[ "$(jq -c '[.key, .fields.v]' <<<"$output")" = '[{"$raw":"a\\q"},[{"$raw":"\"abc"},null]]' ]
	# values that are malformed have no parts
	printf 'call\t0\t-\t0\ta\tv={"a":1\tenv={"A":"1\tw=["a"\n' >a
	printf 'call\t0\t-\t0\ta\tv={"a":2\tenv={"A":"2\tw=["b"\n' >b
	run -2 --separate-stderr tr-diff a b
	[ "${output#*$'\n'}" = $'    v: - {"a":1 + {"a":2\n    env: - {"A":"1 + {"A":"2\n    w: - ["a" + ["b"' ]
	# an environment that cannot be read is unknown
	printf 'exec\t0\t-\t1\t/bin/a\tenv={"A":"1"\n' >a
	printf 'exec\t0\t-\t1\t/bin/a\tenv={"A":"1"}\n' >b
	run -2 --separate-stderr tr-diff a b
	[ "$output" = $'~ exec 0 /bin/a\n    env: unknown in A' ]
	run -2 --separate-stderr tr-diff b a
	[ "$output" = $'~ exec 0 /bin/a\n    env: unknown in B' ]
}

@test "operands that are not two traces" {
	printf 'call\t0\t-\t0\ta\t->\n' >a
	run -2 tr-diff a
	[[ ${lines[0]} == "tr-diff: two traces are needed" ]]
	run -2 tr-diff - -
	run -2 tr-diff /dev/stdin - < <(cat a)
	[ "${lines[0]}" = "tr-diff: /dev/stdin and - are the same pipe" ]
	run -0 tr-diff /dev/stdin - <a
	mkfifo pipe
	run -2 timeout 20 tr-diff pipe ./pipe
	[ "${lines[0]}" = "tr-diff: pipe and ./pipe are the same pipe" ]
	run -2 --separate-stderr tr-diff a missing
	[ -z "$output" ]
	[[ $stderr == *"missing"* ]]
	# after calls of make, which are sorted out at the end of a trace
	printf 'exec\t0\t-\t1\t/bin/make\nsys\t1\t-\t1\tclose\tfd=5\t->\treturn=0\n' >b
	run -2 --separate-stderr tr-diff b missing
	[ "$stderr" = "tr-diff: missing: cannot open: No such file or directory" ]
	run -2 tr-diff --root=x a a
	run -2 tr-diff --root=x: a a
	run -2 tr-diff --root=/:/x a a
	[ "${lines[0]}" = "tr-diff: --root=/:/x: every path is below /; exchange the traces, and use --root=/x:/" ]
	# a directory may be mapped to itself, which scripts do
	run -0 tr-diff --root=/:/ a a
	[ -z "$output" ]
	printf 'exec\t0\t-\t1\t/bin/a\tcwd="/b/c"\n' >b
	run -0 tr-diff --root=/b:/b --root=/:/ b b
	[ -z "$output" ]
	run -2 tr-diff --root=/a:/b --root=/a:/c a a
	[ "${lines[0]}" = "tr-diff: --root=/a:/c: another --root has the same directory" ]
	run -2 tr-diff --times=0.5 a a
	run -2 tr-diff --tolerance=ulp a a
	run -2 tr-diff --tolerance=-1 a a
	run -2 tr-diff --tolerance=1.5ulp a a
	[ "${lines[0]}" = "tr-diff: --tolerance=1.5ulp: units in the last place are a whole number" ]
	run -0 tr-diff --tolerance=1e3ulp a a
	run -2 tr-diff --as-is=objects,x a a
	[ "${lines[0]}" = "tr-diff: --as-is takes addresses|objects|temporary|descriptors|tasks|readings, not 'x'" ]
	run -2 tr-diff --as-is=objects, a a
	run -2 tr-diff '--same=(=x' a a
	run -2 tr-diff --brief --json a a
	: >empty
	run -0 tr-diff empty empty
	[ "$output" = "tr-diff: note: both traces are empty" ]
	run -1 tr-diff --brief a empty
	[ "${lines[0]}" = "tr-diff: note: B has no records" ]
	run -1 tr-diff --brief empty a
	[ "${lines[0]}" = "tr-diff: note: A has no records" ]
	# options that change nothing, or cannot be applied
	run -2 tr-diff --ignore= a a
	[ "${lines[0]}" = "tr-diff: --ignore: an empty name" ]
	run -0 tr-diff --ignore=name,nothing a a
	[ "$output" = "tr-diff: note: --ignore=nothing: no compared field has this name" ]
	printf 'exec\t0\t-\t1\t/bin/a\tcwd="/srv/a"\targv=["/srv/one/"]\n' >b
	run -0 tr-diff --root=/srv/a:/srv/a --root=/srv/on:/x --root=/srv/one:/srv/one b b
	[ "$output" = "tr-diff: note: --root=/srv/on: no path in A is below this directory" ]
	printf 'call\t0\t-\t0\t%s!\t->\n' "$(printf 'a%.0s' {1..60})" >b
	run -2 --separate-stderr tr-diff '--same=(a+)+$=x' b b
	[[ $stderr == "tr-diff: --same=(a+)+\$=x takes too long on some strings"* ]]
	# and not on each of thousands
	for _ in {1..2000}; do cat b; done >many
	run -2 bash -c 'ulimit -t 10; exec tr-diff "--same=(a+)+\$=x" many many'
	run -1 --separate-stderr tr-diff --files a b
	[[ $stderr == "tr-diff: note: --files: not both traces have file calls; record them"* ]]
	# damage is reported, and the rest is compared
	printf '%%trec\t1\ncall\t0\t-\t0\tb\t->\ndamage\n' >b
	run -2 --separate-stderr tr-diff a b
	[ "${#lines[@]}" -eq 2 ]
}

# the names of records are found again by a mark for every 64th record
@test "names that many records use are paired" {
	# calls FIRST ADDRESS: 500 calls with two addresses each, but the 301st with one of the 101st
	calls() {
		awk -v first="$1" -v other="$2" -v OFS='\t' 'BEGIN {
			for (i = 0; i < 500; i++)
				print "call", i, "-", 0, "f" i % 7, sprintf("p=0x%x", first + 32 * i),
					sprintf("q=0x%x", first + 32 * (i == 300 ? other : i) + 16), "->"
		}'
	}
	calls 1048576 300 >a
	calls 2097152 300 >b
	calls 2097152 100 >c
	run -0 tr-diff a b
	[ -z "$output" ]
	run -1 tr-diff a c
	[ "${lines[0]}" = "~ call 300 f6 p=0x102580 q=0x102590" ]
	[ "${lines[1]}" = "    q: - 0x102590 + 0x200c90 (elsewhere these do not correspond)" ]
	[ "${#lines[@]}" -eq 2 ]
	# one that moved is read out of order
	sed -n '1,400p;402,500p' b >moved && sed -n 401p b >>moved
	run -1 tr-diff a moved
	[ "${lines[0]}" = "> call 400 f1 p=0x103200 q=0x103210" ]
	[ "${#lines[@]}" -eq 2 ]
}

# a search through all fields for each of them takes minutes
@test "a record with 100000 fields is compared in linear time" {
	for first in 0 1; do
		printf 'news\t0\t-\t-\tn'
		seq -f "$first,%.0f" 100000 | awk -F, '{ printf "\tk%d=%d", $2, $2 % 1000 ? 1 : $1 }'
		echo
	done | split -l 1 - fields.
	run -1 timeout 30 tr-diff fields.aa fields.ab
	[ "${#lines[@]}" -eq 101 ]
	[[ ${lines[1]} == "    k1000: - 0 + 1" ]]
}

@test "an environment of 100000 variables is compared in linear time" {
	# environment NAME=VALUE: a record with a variable for each line, and this one at the end
	environment() {
		printf 'other\t0\t-\t-\tn\tenv={'
		sed 's/.*/"V&":"1",/' | tr -d '\n'
		echo "\"${1%=*}\":\"${1#*=}\"}"
	}
	seq 100000 | environment V5=x >a
	seq 100000 -1 1 | environment V5=x >b
	run -0 timeout 30 tr-diff a b
	seq 100000 -1 1 | environment V5=y >b
	run -1 timeout 30 tr-diff a b
}

@test "without their arguments, commands still match by the files that they make" {
	command() { printf 'exec\t%d\t-\t%d\t/usr/bin/gcc\targv=["gcc","-c","%s.c","-o","%s.o"]\tcwd="/b"\tstatus=%d\n' "$1" "$1" "$2" "$2" "$3"; }
	{ command 0 one 0 && command 1 two 0; } >a
	{ command 0 two 0 && command 1 one 1; } >b
	run -1 tr-diff --ignore=argv --json a b
	[ "$output" = '{"what":"changed","kind":"exec","key":"/usr/bin/gcc","seq":[0,1],"fields":{"status":[0,1]}}' ]
	run -1 tr-diff --ignore=argv --json b a
	[ "$output" = '{"what":"changed","kind":"exec","key":"/usr/bin/gcc","seq":[1,0],"fields":{"status":[1,0]}}' ]
}

# blocks CHANGED BITS ENDIAN: a trace of 4000 blocks, of which few are distinct and some have padding
blocks() {
	awk -v changed="$1" -v bits="$2" -v endian="$3" '
		function section(kind) { printf "section\t%d\t-\t-\t%s\tbits=%d\tendian=%s\tmachine=62\n", seq++, kind, bits, endian }
		BEGIN {
			print "%trec\t1\tformat=gnatcov"
			section("INFO")
			printf "info\t%d\t-\t-\tEXEC_FILE_NAME\tdata=\"prog\"\n", seq++
			section("FLAT")
			for (i = 0; i < 4000; i++) {
				if (i == 2500) section("FLAT")
				if (changed && i % 300 == 77) continue
				at = i * i % 701
				size = changed && i % 400 == 99 ? 63 : at % 60
				op = at % 3 ? "block|br0" : "block|br1"
				if (changed && i % 500 == 222) op = "block|fault"
				printf "block\t%d\t-\t-\t0x%0*x\tsize=%d\top=%s%s\n", seq++, bits / 4, 4194304 + 8 * at,
					size, op, i % 97 == 5 ? "\t.pad=0x1" : ""
			}
		}'
}

@test "decoded blocks are compared like their records" {
	local bits endian option status
	mkdir direct through
	for bits in 32 64; do
		for endian in little big; do
			blocks 0 $bits $endian | tr-repack -q -t gnatcov -o direct/a
			blocks 1 $bits $endian | tr-repack -q -t gnatcov -o direct/b
			for side in a b; do tr-parse -q direct/$side >through/$side; done
			for option in --as=text --json --as=trec --summary --brief --ignore=size --ignore=name --ignore=op,name,seq \
				--by=name --by=seq --same=size=length --same=0x4=0x5 --as-is=addresses --tolerance=1 \
				--times=2 --root=/one:/other --files; do
				for pair in 'a b' 'b a' 'a a'; do
					status=0
					# shellcheck disable=SC2086
					(cd through && tr-diff $option $pair >../want 2>../notes) || status=$?
					# shellcheck disable=SC2086
					run -$status --separate-stderr bash -c 'cd direct && tr-diff "$@" >../got 2>../more' - $option $pair
					cmp got want && cmp more notes || { echo "$bits $endian $option $pair" && return 1; }
				done
			done
			# one as its blocks, the other as records or in another format
			tr-diff --as=trec through/a through/b >want || true
			tr-diff --as=trec direct/a through/b | cmp - want
			tr-diff --as=trec through/a direct/b | cmp - want
			[ "$(grep -c 'diff="after"' want)" -gt 10 ]
			[ "$(grep -c 'diff="removed"' want)" -gt 10 ]
			tr-repack -q -t drcov -o drcov through/b
			tr-diff -q --json through/a drcov >want || true
			tr-diff -q --json direct/a drcov | cmp - want
		done
	done
}

@test "the result does not depend on the random seed, even if a program follows what it started" {
	# $1: the arguments of an assembler; $2: whether the trace says, later, which compiler started it
	started() {
		printf '%%trec\t1\tformat=trec\nexec\t0\t-\t2\t/bin/as\targv=["as","-o","f.o",%s]\n' "$1"
		printf 'exec\t1\t-\t1\t/bin/gcc\targv=["gcc","-c","x.c","-o","x.o"]\n'
		[ -z "${2-}" ] || printf 'fork\t2\t-\t1\t-\tchild=2\n'
		printf '!end\t3\n'
	}
	started '"a.s","1","2","3"' known >a.trec
	started '"b.s","q","r","s"' >b.trec
	for try in {1..12}; do
		{ tr-diff --summary a.trec b.trec || true; } | grep ^exec
	done | sort -u >results
	# one program is the same, one has changed
	cmp results <(printf 'exec %18s %12s %12s %12s %12s\n' 1 1 0 0 0)
}

@test "nor does the order of variables, which is that of a similar environment" {
	printf 'exec\t0\t-\t1\t/bin/a\tenv={"A":"1","B":"2","C":"3","D":"4"}\n' >a.trec
	awk -v OFS='\t' 'BEGIN {
		env = "env={\"A\":\"1\",\"B\":\"2\",\"C\":\"3\",\"D\":\"4\"}"
		print "exec", 0, "-", 1, "/bin/a", env
		# each has the variables of the first one in another order, then also without a parent
		for (i = 1; i <= 1200; i++)
			print "exec", i, "-", 1 + i, "/bin/b", "argv=[\"" i "\"]", i <= 600 ? "parent=0" : "ppid=1",
				"env={\"C\":\"3\",\"B\":\"2\",\"A\":\"1\",\"X\":\"" i % 600 "\"}"
	}' >b.trec
	for try in 1 2 3; do
		tr-diff --json a.trec b.trec | cksum
	done | sort -u >results
	[ "$(wc -l <results)" -eq 1 ]
}

@test "where the tracer cut a list or a string, the dots are an item of their own" {
	local list='["ld","a","b","c"]' cut='["ld","a","X"]...'
	expect() { # A B CHANGE
		printf 'exec\t0\t-\t1\t/bin/ld\tx=%s\n' "$1" >a.trec
		printf 'exec\t0\t-\t1\t/bin/ld\tx=%s\n' "$2" >b.trec
		{ tr-diff a.trec b.trec || [ $? -eq 1 ]; } | tail -n 1 | cmp - <(printf '    x:%s\n' "$3")
	}
	expect "$list" "$cut" ' - "b" - "c" + "X" + ...'
	expect "$cut" "$list" ' - "X" - ... + "b" + "c"'
	expect '["ld","a"]...' "$cut" ' + "X"'
	expect '"a b c"' '"a b"...' ' - c + ...'
}

@test "a thread has the descriptors of its process before clone returns, too" {
	local flags='CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM'
	cat >a.strace <<-EOF
		100 1.000000 execve("/bin/a", ["a"], 0x7ffd00000000 /* 3 vars */) = 0
		100 1.000100 openat(AT_FDCWD, "/x", O_RDONLY) = 3
		100 1.000300 clone3({flags=$flags, stack=0x7f1000000000, stack_size=0x9000}, 88) = 101
		101 1.000400 set_robust_list(0x7f4000000920, 24) = 0
		100 1.000500 read(3, "abc", 3) = 3
		101 1.000600 read(3, "x", 1) = 1
		101 1.000620 close(3) = 0
		101 1.000650 +++ exited with 0 +++
		100 1.002 +++ exited with 0 +++
	EOF
	sed -e 's/, 88) = 101/, 88 <unfinished ...>/' \
		-e '/set_robust_list/a 100 1.000410 <... clone3 resumed>) = 101' a.strace >b.strace
	tr-diff a.strace b.strace
	tr-diff b.strace a.strace
}
