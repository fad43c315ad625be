#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-filter: its options, its exit status, and streams that were mangled on the way.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	data=${top_srcdir:?}/tests/data
	filter=$data/trec/filter.trec
	gzip -dc "$data/build/zlib.kw.json.gz" >z.json
	tr-parse z.json >z.trec
	[ -s z.trec ]
}

# stream NAME LINE...: writes a stream; ">" stands for TAB
stream() {
	name=$1
	shift
	printf '%s\n' "$@" | tr '>' '\t' >"$name"
}

# column N of the records on stdin, one blank between
column() {
	grep -v '^[%!#]' | cut -f"$1" | tr '\n' ' '
}

@test "selected records are copied byte for byte, between header and trailer" {
	tr-filter 'exec or sys' "$filter" >out
	grep -E '^(%trec|exec|sys)' "$filter" >expected
	printf '!end\t4\n' >>expected
	cmp out expected
}

@test "an expression that is always true gives all records" {
	tr-filter 'has(seq)' z.trec | cmp - z.trec
}

@test "a trace file and its record stream give the same" {
	tr-filter 'exec and argv == "-c"' z.json >a
	tr-parse z.json | tr-filter 'exec and argv == "-c"' >b
	cmp a b
	[ "$(grep -c ^exec a)" -gt 5 ]
}

@test "it agrees with jq on what gcc did" {
	command -v jq >/dev/null || skip "jq is not installed"
	for trace in zlib.kw.json.gz mc.kw.jsonl.gz; do
		gzip -dc "$data/build/$trace" >t.json
		want=$(jq -c 'select(.executable? and (.executable|split("/")|last)=="gcc")' t.json | wc -l)
		[ "$(tr-filter -c 'exec and basename(name) == "gcc"' t.json)" -eq "$want" ]
		want=$(jq -c 'select(.args? and (.args|index("-c")))' t.json | wc -l)
		have=$(tr-filter -c 'exec and argv == "-c"' t.json || true)
		[ "$want" -eq 0 ] || [ "$have" -eq "$want" ]
	done
}

@test "exit status: 0 something, 1 nothing, 2 trouble" {
	run -0 tr-filter exec "$filter"
	run -1 tr-filter nothing "$filter"
	run -1 --separate-stderr tr-filter -c nothing "$filter"
	[ "$output" = 0 ]
	run -2 tr-filter 'exec and' "$filter"
	run -2 tr-filter exec missing.trec
	run -2 tr-filter --fields=name -c exec "$filter"
	run -2 tr-filter --raw exec "$filter"
	run -2 tr-filter --rebase --fields=envtop exec z.trec
	[[ $output == *'cannot be combined with --fields'* ]]
	run -2 tr-filter --merge -v "$filter"
	run -2 tr-filter --merge --context=none "$filter"
	run -2 tr-filter --merge --definitions=all "$filter"
	run -2 tr-filter --merge --since=1 "$filter"
	[[ $output == *'--merge goes with -e, --expr-file and -v alone'* ]]
	run -2 tr-filter --merge --until=1 "$filter"
	run -2 tr-filter -m x exec "$filter"
	run -2 tr-filter
}

@test "a bad expression is reported with its byte column" {
	run -2 --separate-stderr tr-filter 'name == gcc' "$filter"
	[[ $stderr == *'byte 9: a string is expected; quote it: "gcc"'* ]]
	[ -z "$output" ]
	run -2 --separate-stderr tr-filter --fields='name,(' "$filter"
	[[ $stderr == *'byte 6'* ]]
}

@test "an expression that begins with an arrow is not an option" {
	[ "$(tr-filter -c '->return == 3' "$filter")" = 1 ]
	[ "$(tr-filter '->return == 3' -c - <"$filter")" = 1 ]
	[ "$(tr-filter -c -- '->return == 3' "$filter")" = 1 ]
	[ "$(tr-filter -c -e '->return == 3' "$filter")" = 1 ]
	run -2 --separate-stderr tr-filter '->' "$filter"
	[[ $stderr == *'byte 3: '* ]]
	run -2 --separate-stderr tr-filter '-c>' "$filter"
	[[ $stderr == *"unknown option '->'"* ]]
	run -2 --separate-stderr tr-filter -e exec '->x' "$filter"
	[[ $stderr == *'all operands are files'* ]]
	run -2 --separate-stderr tr-parse '->x'
	[[ $stderr == *"unknown option '->'"* ]]
}

@test "a file name where the expression should be is reported" {
	run -2 --separate-stderr tr-filter z.trec
	[[ $stderr == *"there is a file 'z.trec'"* ]]
	cp z.trec build
	run -2 --separate-stderr tr-filter build
	[[ $stderr == *"is a file, not a kind of record"* ]]
	cp z.trec exec
	run -0 tr-filter exec exec
}

@test "a long list to choose from costs a record no more than a short one" {
	seq 100000 | awk '{ print "exec\t" NR "\t-\t" NR "\t/bin/" NR }' >many
	seq 1000000 10 3000000 | paste -sd, | sed 's/.*/task in {5,&,99990..99999}/' >numbers
	seq 1000000 10 3000000 | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/basename(name) in {"5",&}/' >names
	[ "$(timeout 10 tr-filter -q -c --expr-file=numbers many)" = 11 ]
	[ "$(timeout 10 tr-filter -q -c --expr-file=names many)" = 1 ]
}

@test "an expression where a file name should be is reported" {
	for expression in exec 'exec and seq > 1' '!exec'; do
		run -2 --separate-stderr tr-filter --tree=100 "$expression" "$filter"
		[ -z "$output" ]
		[[ $stderr == *"'$expression' is not a file: with -e, --tree and the like an expression needs -e before it"* ]]
	done
	# an operand that can be the name of a file is one
	run -2 --separate-stderr tr-filter -e exec build "$filter"
	[[ $stderr == *"build: cannot open: "* ]]
	[ -n "$output" ]
	cp --no-preserve=mode "$filter" exec
	run -0 tr-filter --tree=100 exec
	run -0 tr-filter --tree=100 - <exec
}

@test "-e: a record must match all; --expr-file" {
	printf 'name\n  $= "/gcc"\n' >expr
	tr-filter -e exec -e 'seq > 1' --expr-file=expr "$filter" >out
	[ "$(column 2 <out)" = "2 " ]
	# each of them alone takes something away
	tr-filter -e exec --expr-file=expr "$filter" | column 2 | grep -x '2 '
	tr-filter --expr-file=expr -e 'seq < 2' "$filter" | column 2 | cmp - /dev/null
	tr-filter -e exec "$filter" | column 2 | grep -x '0 2 '
	run -2 tr-filter --expr-file=missing "$filter"
	[[ $output == *missing* ]]
}

@test "-v inverts, -c counts, -m stops" {
	[ "$(tr-filter -v exec "$filter" | column 2)" = "1 3 4 5 6 7 10 11 12 13 12 14 20 21 " ]
	[ "$(tr-filter -c exec "$filter")" = 2 ]
	[ "$(tr-filter -vc exec "$filter")" = 13 ]
	[ "$(tr-filter -c exec "$filter" "$filter")" = 4 ]
	tr-filter -m 3 'has(seq)' "$filter" >out
	[ "$(column 2 <out)" = "0 1 2 " ]
	[ "$(tail -n 1 out)" = "$(printf '!end\t3')" ]
	run -1 tr-filter -m 0 exec "$filter"
	[ "$(tr-filter -m 2 -c 'has(seq)' "$filter")" = 2 ]
}

@test "-m stops reading" {
	mkfifo in
	exec 9<>in # holds it open: its end never comes
	head -n 9 z.trec >&9
	timeout 20 tr-filter -m 1 exec <in >out
	exec 9>&-
	[ "$(grep -c ^exec out)" -eq 1 ]
}

@test "if reading ends early, the trailer reports the damage so far" {
	stream d.trec '%trec>1' 'exec>0>->1>/a' 'BAD' 'exec>1>->1>/b' 'BAD' 'exec>2>->1>/c' '!end>3'
	run -2 --separate-stderr tr-filter -m 2 exec d.trec
	[ "${lines[3]}" = "$(printf '!end\t2\terrors=1')" ]
	run -2 --separate-stderr tr-filter -m 3 exec d.trec
	[ "${lines[4]}" = "$(printf '!end\t3\terrors=2')" ]
	run -0 --separate-stderr tr-filter -m 1 exec d.trec
	[ "${lines[2]}" = "$(printf '!end\t1')" ]
}

@test "--fields shows cells and values, --raw bytes, -0 ends rows with NUL" {
	run -0 tr-filter --fields='seq,name,argv[1],len(argv),`cwd`' exec "$filter"
	[ "${lines[0]}" = "$(printf '0\t/usr/bin/make\t"-j8"\t3\t"/src"')" ]
	[ "${lines[1]}" = "$(printf '2\t/usr/bin/gcc\t"-c"\t6\t-')" ]
	run -0 tr-filter --raw --fields='basename(name),argv[1],cwd,argv' exec "$filter"
	[ "${lines[0]}" = "$(printf 'make\t-j8\t/src\t["make","-j8","all"]')" ]
	[ "${lines[1]}" = "$(printf 'gcc\t-c\t\t["gcc","-c","-O2","x.c","-o","x.o"]')" ]
	tr-filter -0 --raw --fields=path 'sys' "$filter" >out
	printf '/src/x.c\0/src/caf\303\251\377.h\0' | cmp - out
	[ "$(tr-filter --fields=name,path,time fork "$filter")" = "$(printf -- '-\t-\t1.625')" ]
}

@test "--fields shows an enter and its leave as one row" {
	[ "$(tr-filter --fields=seq,ctx,return 'name == "glGetError"' "$filter")" = \
		"$(printf '12\t1\tGL_NO_ERROR(0@E12)')" ]
}

@test "definitions are written before their first use, all or none on demand" {
	stream d.trec '%trec>1' '%enum>E1>->A=1' '%fn>F1>f>args=["a"]' '%fn>F2>g>args=[]' \
		'%mask>M1>->X=1' '%fn>F3>f>args=["b"]' '%frame>K1>->function="main"' \
		'%other>O1>->x=1' 'call>0>->0>f>a=A(1@E1)>->' 'call>1>->0>g>.bt=[K1]>s="(1@M1)">->' \
		'call>2>->0>f>.sig=F3>b=?(0x2@M1)>->' '!end>3'
	tr-filter 'seq == 0' d.trec >out
	stream e.trec '%trec>1' '%other>O1>->x=1' '%enum>E1>->A=1' '%fn>F1>f>args=["a"]' \
		'call>0>->0>f>a=A(1@E1)>->' '!end>1'
	cmp out e.trec
	# the first function of a name stays the first one: a call without .sig means it
	tr-filter 'seq > 0' d.trec >out
	stream e.trec '%trec>1' '%other>O1>->x=1' '%fn>F2>g>args=[]' \
		'%frame>K1>->function="main"' 'call>1>->0>g>.bt=[K1]>s="(1@M1)">->' \
		'%fn>F1>f>args=["a"]' '%mask>M1>->X=1' '%fn>F3>f>args=["b"]' \
		'call>2>->0>f>.sig=F3>b=?(0x2@M1)>->' '!end>2'
	cmp out e.trec
	tr-filter --definitions=all 'seq == 5 or seq == 1' d.trec | grep -c '^%' | grep -x 8
	tr-filter --definitions=none 'seq == 1' d.trec | grep -c '^%' | grep -x 1
}

@test "context is copied with the first selected record, and is not counted" {
	stream c.trec '%trec>1' 'meta>0>->->version>value=101' 'env>1>->->->vars={"A":"b"}' \
		'exec>2>->1>/a' 'meta>3>->->x>value=1' 'exec>4>->2>/b' '!end>5'
	[ "$(tr-filter 'name == "/b"' c.trec | column 2)" = "0 1 3 4 " ]
	[ "$(tr-filter 'name == "/b"' c.trec | tail -n 1)" = "$(printf '!end\t4')" ]
	[ "$(tr-filter -c 'name == "/b"' c.trec)" = 1 ]
	[ "$(tr-filter --context=none 'name == "/b"' c.trec | column 2)" = "4 " ]
	run -1 tr-filter 'name == "/c"' c.trec
	[ "$output" = "$(printf '%%trec\t1\n!end\t0')" ]
	# one that the expression names is a record like others
	[ "$(tr-filter meta c.trec | column 2)" = "0 1 3 " ]
	[ "$(tr-filter -c meta c.trec)" = 2 ]
	[ "$(tr-filter -c 'meta or exec' c.trec)" = 4 ]
	[ "$(tr-filter 'exec and not kind == "meta"' c.trec | column 2)" = "1 2 4 " ]
}

@test "enter and leave are tested and selected together, in order" {
	stream t.trec '%trec>1' 'enter>0>->0>f>a=1' 'enter>1>->1>g>a=2' 'call>2>->2>h>->' \
		'leave>1>->1>g>->>return=5' 'call>3>->2>i>->' 'leave>0>->0>f>->>return=6' \
		'enter>4>->0>k>a=9' '!end>5'
	[ "$(tr-filter 'return == 6' t.trec | column 1)" = "enter leave " ]
	[ "$(tr-filter 'return == 6 or name == "h"' t.trec | column 5)" = "f h f " ]
	[ "$(tr-filter 'return >= 5 or name == "i"' t.trec | column 2)" = "0 1 1 3 0 " ]
	[ "$(tr-filter 'a == 9 or name == "i"' t.trec | column 2)" = "3 4 " ]
	[ "$(tr-filter -v 'return == 5' t.trec | column 2)" = "0 2 3 0 4 " ]
	[ "$(tr-filter -c 'call' t.trec)" = 5 ]
	run -1 tr-filter leave t.trec
	tr-filter 'name == "f"' t.trec | grep -x "$(printf '!end\t1')"
	# both halves of the calls that -m selects
	[ "$(tr-filter -m 1 'call' t.trec | column 2)" = "0 0 " ]
	[ "$(tr-filter -m 2 'return > 0' t.trec | column 2)" = "0 1 1 0 " ]
	[ "$(tr-filter -m 1 'return > 0' t.trec | column 2)" = "0 0 " ]
}

@test "a leave without an enter is a record of its own" {
	stream t.trec '%trec>1' 'leave>7>->0>->->>return=5' 'leave>8>->0>f>->>return=5' '!end>1'
	[ "$(tr-filter leave t.trec | column 2)" = "7 8 " ]
	[ "$(tr-filter -c 'return == 5' t.trec)" = 2 ]
	tr-filter leave t.trec | cmp - t.trec
}

@test "--tree follows forks, parents and exits" {
	stream p.trec '%trec>1' 'exec>0>->1>/init' 'fork>1>->1>->child=2' 'fork>2>->1>->child=3' \
		'exec>3>->2>/a>parent=0' 'fork>4>->2>->child=4' 'exec>5>->4>/b>parent=3' \
		'exec>6>->3>/c>parent=0' 'exit>7>->4>->status=0' 'exec>8>->4>/again' \
		'exec>9>->5>/d>ppid=2' 'exec>10>->6>/e>parent=9' 'exec>11>->7>/f>parent=6>ppid=2' '!end>12'
	[ "$(tr-filter --tree=2 p.trec | column 2)" = "3 4 5 7 9 10 " ]
	[ "$(tr-filter --tree=2 -e exec p.trec | column 2)" = "3 5 9 10 " ]
	[ "$(tr-filter --tree=1 -c p.trec)" = 11 ]
	run -1 tr-filter --tree=77 p.trec
	stream q.trec '%trec>1' 'exec>0>->"x">/a' 'exec>1>->"y">/b>ppid="x"' '!end>2'
	[ "$(tr-filter --tree=x -c q.trec)" = 2 ]
	# children may name any exec record of a task that has not ended: it was called before another one, or failed
	stream again.trec '%trec>1' 'exec>0>->1>/init' 'exec>1>->2>/a>parent=0' 'exec>2>->2>/b>parent=0' \
		'exec>3>->2>/missing>parent=0>error=ENOENT' 'exec>4>->3>/c>parent=1' 'exec>5>->4>/d>parent=2' \
		'exit>6>->2>->status=0' 'exec>7>->5>/e>parent=4' 'exec>8>->6>/f>parent=0' '!end>9'
	[ "$(tr-filter --tree=2 again.trec | column 2)" = "1 2 3 4 5 6 7 " ]
}

@test "--tree: a task whose exit is printed before its fork is no task afterwards" {
	# with times and without; 5 ends early, and its number is used again by a stranger
	for times in '1 2 3 4' '- - - -'; do
		set -- $times
		stream early.trec '%trec>1' "exec>0>$1>1>/init" "fork>1>$1>1>->child=2" \
			"exec>2>$2>2>/a" "exec>3>$2>5>/b>ppid=2" "exit>4>$3>5>->status=0" \
			"fork>5>$2>2>->child=5" "exec>6>$4>5>/stranger>ppid=1" "exit>7>$4>5>->status=0" '!end>8'
		[ "$(tr-filter --tree=2 early.trec | column 2)" = "2 3 4 5 " ]
	done
	# without an exec nothing shows where the exit belongs until the fork comes
	stream forked.trec '%trec>1' 'exec>0>1>2>/a' 'exit>1>3>5>->status=0' 'fork>2>2>2>->child=5' \
		'exec>3>4>5>/stranger>ppid=1' '!end>4'
	run -0 --separate-stderr tr-filter --tree=2 forked.trec
	[ "$(column 2 <<<"$output")" = "0 2 " ]
	[[ $stderr == *"note: --tree: 1 exit records are left out because they come before the fork of their task" ]]
	# a number that was used before the fork is a task of the tree
	stream reused.trec '%trec>1' 'exec>0>1>2>/a' 'exit>1>2>5>->status=0' 'fork>2>3>2>->child=5' \
		'exec>3>4>5>/b' '!end>4'
	[ "$(tr-filter -q --tree=2 reused.trec | column 2)" = "0 2 3 " ]
}

@test "--rebase: environments do not depend on records that are not selected" {
	stream r.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1","B":"2"}' \
		'exec>1>->1>/make>argv=["make"]>envdiff={"C":"3"}' \
		'exec>2>->2>/sh>parent=1>argv=["sh"]>envdiff={"A":null}' \
		'exec>3>->3>/gcc>parent=2>argv=["gcc"]>envdiff={"B":"9"}>flagged=["x"]' \
		'exec>4>->4>/as>parent=2>argv=["as"]' 'exec>5>->5>/ld>env={"A":"1","Z":"z"}' \
		'exec>6>->6>/ar>parent=77>argv=["ar"]>envdiff={"Q":"q"}' '!end>7'
	run -2 --separate-stderr tr-filter --rebase 'seq > 2' r.trec
	stream e.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1","B":"2"}' \
		'exec>3>->3>/gcc>parent=2>argv=["gcc"]>envtop={"A":null,"B":"9","C":"3"}>flagged=["x"]' \
		'exec>4>->4>/as>parent=2>argv=["as"]>envtop={"A":null,"C":"3"}' \
		'exec>5>->5>/ld>envtop={"B":null,"Z":"z"}' \
		'exec>6>->6>/ar>parent=77>argv=["ar"]>envdiff={"Q":"q"}' '!end>5'
	# the order of names within a map is not promised
	normal() { sed 's/{\([^}]*\)}/\n&\n/g' | while IFS= read -r part; do
		printf '%s\n' "$part" | tr -d '{}' | tr ',' '\n' | sort | tr '\n' ' '; done; }
	[ "$(printf '%s\n' "$output" | normal)" = "$(normal <e.trec)" ]
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *'r.trec:8: '*'is unknown'* ]]
}

@test "--rebase: parents may come after their children, form a circle, or be left out" {
	stream r.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1"}' \
		'exec>4>->4>/c>parent=3>envdiff={"C":"1"}' '# remark' 'exec>9>->9>/z>parent=9>envdiff={"Z":"1"}' \
		'exec>3>->3>/b>parent=2>envdiff={"B":"1"}' 'exec>2>->2>/a>envdiff={"A":null}' \
		'exec>6>->6>/p>parent=7>envdiff={"P":"1"}' 'exec>7>->7>/q>parent=6>envdiff={"Q":"1"}' '!end>7'
	tr-filter --rebase 'seq < 6' r.trec >got
	stream e.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1"}' \
		'exec>4>->4>/c>parent=3>envtop={"B":"1","C":"1","A":null}' '# remark' \
		'exec>3>->3>/b>parent=2>envtop={"B":"1","A":null}' 'exec>2>->2>/a>envtop={"A":null}' '!end>4'
	diff e.trec got
	tr-filter --rebase -m 1 exec r.trec | grep -v ^# | cmp - <(sed '4,6d' e.trec | sed 's/end.*/end\t2/')
	run -2 --separate-stderr tr-filter --rebase 'seq >= 6' r.trec
	[[ $output == *'/z'*'envdiff={"Z":"1"}'*'/p'*'envdiff={"P":"1"}'*'/q'* ]]
	[[ $stderr == *'its own parent'*'its own ancestor'* ]]
	[ "$(tr-filter --rebase -c exec r.trec)" = 6 ]
	# a record that is whole depends on nothing
	stream w.trec 'exec>1>->1>/a>env={"A":"1"}' 'exec>2>->2>/b>parent=1>env={"B":"1"}'
	tr-filter --rebase 'seq == 2' w.trec | cmp - <(tail -n 1 w.trec)
}

@test "a bad value counts as absent: a message, exit 2, the line is copied" {
	stream b.trec '%trec>1' 'exec>0>->1>/a>argv=["a",]' 'exec>1>->1>/b>argv=["b"]' '!end>2'
	run -2 --separate-stderr tr-filter 'argv == "b"' b.trec
	[[ $stderr == *'b.trec:2: argv counts as absent'* ]]
	[[ $output == *'/b'* && $output != *'/a'* ]]
	run -0 tr-filter 'name == "/a"' b.trec
	[[ $output == *'argv=["a",]'* ]]
}

@test "a value that takes more memory than --max-record is absent, and reported" {
	{ printf 'exec\t0\t-\t1\t/a\targv=[1'; seq 200000 | sed 's/.*/,1/' | tr -d '\n'; printf ']\n'; } >wide.trec
	run --separate-stderr -2 tr-filter -c --max-record=2000000 'argv == 1' wide.trec
	[ "$output" = 0 ]
	[[ $stderr == *"argv counts as absent: once decoded, it takes more than "*" bytes of memory (--max-record raises it)" ]]
	[ "$(tr-filter -c 'argv == 1' wide.trec)" = 1 ]
}

@test "comparing a word with a string: reported once, exit 2" {
	run -2 --separate-stderr tr-filter 'argv == gcc' "$filter"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *'quote'* ]]
}

@test "upstream errors are reported again, and are in the trailer" {
	stream u.trec '%trec>1' 'exec>0>->1>/a' '!end>1>errors=3>truncated=true'
	run -2 --separate-stderr tr-filter exec u.trec
	[[ ${lines[-1]} == "$(printf '!end\t1\terrors=3\ttruncated=true')" ]]
	(head -c 3000 z.json) >cut.json
	run -2 bash -c 'tr-parse cut.json 2>/dev/null | tr-filter exec >out 2>err'
	grep -q 'errors=' out
}

@test "damaged lines are left out, and the others are tested" {
	{ printf '%%trec\t1\nexec\t0\t-\t1\t/a\nexec\t1\n\nexec\t2\t-\t1\t/b\n'
	  printf 'exec\t3\t-\t1\t/\377\n!end\t5\n'; } >d.trec
	run -2 --separate-stderr tr-filter exec d.trec
	[ "$(printf '%s\n' "$output" | column 2)" = "0 2 " ]
}

@test "mangled: cat, head, sort, shuf, split, grep" {
	all=$(tr-filter -c exec z.trec)
	[ "$(cat z.trec z.trec | tr-filter -c exec)" = $((2 * all)) ]
	[ "$(grep ^exec z.trec | tr-filter -c exec)" = "$all" ]
	[ "$(head -n 20 z.trec | tr-filter -c exec)" = "$(head -n 20 z.trec | grep -c ^exec)" ]
	[ "$(LC_ALL=C sort z.trec | tr-filter -c exec)" = "$all" ]
	[ "$(shuf --random-source=z.trec z.trec | tr-filter -c exec)" = "$all" ]
	split -n l/3 z.trec part.
	[ "$(tr-filter -c exec part.*)" = "$all" ]
	sum=0
	for part in part.*; do sum=$((sum + $(tr-filter -c exec "$part"))); done
	[ "$sum" -eq "$all" ]
	# sorted: the definitions come before the header and still belong to it
	LC_ALL=C sort "$filter" | tr-filter 'mode == 4' >out
	[ "$(grep -c '^%enum' out)" -eq 1 ]
	grep -n . out | grep -q '^1:%trec\|^2:%trec'
}

@test "compressed, archived, from stdin: the same records" {
	tr-filter exec z.trec >want
	gzip -k z.json
	tr-filter exec z.json.gz | grep -v '^%trec' | cmp - <(grep -v '^%trec' want)
	tr-filter exec <z.trec | cmp - want
	tr-filter exec - <z.trec | cmp - want
	tr-filter -o out exec z.trec
	cmp out want
}

@test "the output of a failed run is marked or missing" {
	stream u.trec '%trec>1' 'exec>0>->1>/a' 'bad line' '!end>1'
	run -2 tr-filter -o out exec u.trec
	grep -q 'errors=1' out
	run -2 tr-filter --strict -o strict exec u.trec
	[ ! -e strict ]
}

@test "available input is processed" {
	mkfifo in
	tr-filter exec <in >out &
	pid=$!
	exec 5>in
	printf '%%trec\t1\nexec\t0\t-\t1\t/a\n' >&5
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		grep -q /a out && break
		sleep 0.2
	done
	grep -q /a out
	exec 5>&-
	wait "$pid"
}

@test "--help and --version exit with 0" {
	run -0 tr-filter --help
	[[ $output == *'--definitions'* ]]
	run -0 tr-filter --version
	[[ $output == *PCRE2* ]]
}

# sifted EXPR FILE: checks that records skipped by the reader make no difference; with a limit on the depth
# it leaves nothing out
sifted() {
	local status=0 sifted=0
	tr-filter "$@" >a 2>a.err || sifted=$?
	tr-filter --max-depth=59 "$@" >b 2>b.err || status=$?
	cmp a b && cmp a.err b.err && [ $sifted -eq $status ]
}

@test "records that are left out by their columns leave no other trace" {
	for stream in z.trec "$filter"; do
		for expr in exec 'exec and name $= "gcc"' 'name == "/bin/sh" or exit' 'not exec' \
			'exec and argv == "-c"' 'name =~ /gcc/' 'seq < 10' 'nothing' 'meta' \
			'call and name == "glFlush"' 'time > 1'; do
			sifted "$expr" "$stream" || { echo "$expr $stream" && false; }
			sifted -c "$expr" "$stream"
			sifted -m 2 "$expr" "$stream"
			sifted -v "$expr" "$stream"
			sifted --fields=name,seq "$expr" "$stream"
			sifted -e "$expr" -e 'has(name)' "$stream"
		done
	done
}

@test "left out or not: damage is reported, lines and segments are counted" {
	{
		for ((i = 0; i < 400; i++)); do printf 'exec>%d>->7>/bin/a>\n' $i; done
		printf 'exec>1>->7>/bin\\q\nexec>1>->7\nexec>1>>7>a\nExec>1>->7>a\nexec>2>->7>/bin/b>x\n'
		printf 'exec>3>->7>/bin/a>"\001"\n%%trec>1>format=x\nexec>1>->7>/bin/a>argv=[\n'
		printf 'exec>1>->7>\xc3\xbc>argv=[\n'
		for ((i = 0; i < 400; i++)); do printf 'exec>%d>->7>/bin/\xc3\xbc>\n' $i; done
		printf '!end>402\nexec>1>->7>/bin/a>\n!end>1>errors=2\nexec>1>->7>/bin/b>cut'
	} | tr '>' '\t' >mixed.trec
	for expr in 'name == "/bin/b"' 'exec and name == "/bin/b"' 'not name == "/bin/a"' exit; do
		sifted "$expr" mixed.trec
		sifted -c "$expr" mixed.trec
		sifted --strict "$expr" mixed.trec
	done
	run -2 --separate-stderr tr-filter 'name == "/bin/b"' mixed.trec
	[[ $stderr == *'mixed.trec:401: '*'mixed.trec:402: '*'mixed.trec:406: '* ]]
}

# long_call N: N calls of three threads, while the first call of a fourth returns at the very end
long_call() {
	awk -v n="$1" 'BEGIN {
		OFS = "\t"; print "%trec", "1"; print "enter", 0, "-", 9, "glLong", "a=1"
		text = "text=\"what makes the lines of this trace a bit longer than they were\""
		for (i = 1; i <= n + 3; i++) {
			t = i % 3
			if (t in last)
				print "leave", last[t], "-", t, "glDraw", "->", "return=" last[t] % 2
			if (i <= n)
				print "enter", i, "-", t, "glDraw", "count=" i, text
			last[t] = i
		}
		print "leave", 0, "-", 9, "glLong", "->", "return=1"
		print "!end", n + 1
	}'
}

@test "records that wait for a leave are spooled if there are many" {
	long_call 200000 >long.trec
	tr-filter 'call and return >= 0' long.trec | cmp - long.trec
	awk -F'\t' '!/^[%!]/ && ($2 % 2 == 1 || $2 == 0)' long.trec >want
	tr-filter 'call and return == 1' long.trec >out
	grep -v '^[%!]' out | cmp - want
	[ "$(tail -n 1 out)" = $'!end\t100001' ]
	[ "$(tr-filter -c 'call and return == 1' long.trec)" -eq 100001 ]
	tr-filter --fields=seq 'call and return == 1' long.trec | cmp - <(grep ^enter want | cut -f2)
	tr-filter -m 20000 'call and return == 1' long.trec | grep ^enter | cmp - <(grep ^enter want | head -n 20000)
	TMPDIR=$PWD/nowhere run -2 --separate-stderr tr-filter -o none 'call and return == 1' long.trec
	[[ $stderr == *"cannot make a temporary file in $PWD/nowhere"* ]]
	[ ! -e none ]
}

@test "the references of a long value are found in one pass" {
	awk 'BEGIN {
		OFS = "\t"; ORS = ""; print "%trec", "1\n%enum", "E1", "-", "A=1\n%enum", "E2", "-", "B=1\n"
		print "%fn", "F1", "f\n%fn", "F2", "g\n" "call", 0, "-", 0, "f", "x=["
		for (i = 0; i < 900000; i++) print "\"s\","
		print "A(1@E1)]", "->\n!end", "1\n"
	}' >wide.trec
	timeout 20 tr-filter call wide.trec | cut -f1,2 >got
	printf '%s\t%s\n' %trec 1 %enum E1 %fn F1 call 0 '!end' 1 | cmp - got
}

@test "context that waits for the first record is spooled if it is large" {
	awk 'BEGIN {
		OFS = "\t"; print "%trec", "1"
		text = "value=\"what makes the lines of this trace a bit longer than they were\""
		for (i = 0; i < 200000; i++) print "meta", i, "-", "-", "m", text
		print "exec", i, "-", "1", "/a"; print "meta", i + 1, "-", "-", "m", text
		print "!end", i + 2
	}' >meta.trec
	tr-filter exec meta.trec | cmp - meta.trec
	run -1 tr-filter 'name == "/b"' meta.trec
	[ "$output" = $'%trec\t1\n!end\t0' ]
	tr-filter 'name == "/a"' meta.trec meta.trec | cmp - <(cat meta.trec meta.trec)
	TMPDIR=$PWD/nowhere run -2 --separate-stderr tr-filter -o none exec meta.trec
	[[ $stderr == *"cannot make a temporary file in $PWD/nowhere"* ]]
	[ ! -e none ]
}

@test "calls that never return do not fill the memory" {
	long_call 100000 | grep -v ^leave >lost.trec
	run -2 --separate-stderr tr-filter -c 'call and count > 1' lost.trec
	[ "$output" -eq 99999 ]
	[[ $stderr == *"too many calls have not returned"* ]]
}

@test "--side: one side of values for people and machines, at any depth" {
	printf 'call\t0\t-\t0\tf\ta=<"x";7>\tb=[1,<GL_A(1@E1);{p=<"in";0x5>}>]\tc={m=<<"i";"j">;2>,n=3}@S1\td={"k":<1;2>}\te=4\t->\n' >in
	run -0 tr-filter --fields=a,b,c,d,e --side=human call in
	[ "$output" = $'"x"\t[1,GL_A(1@E1)]\t{m="i",n=3}@S1\t{"k":1}\t4' ]
	run -0 tr-filter --fields=a,b,c,d,e --side=machine call in
	[ "$output" = $'7\t[1,{p=0x5}]\t{m=2,n=3}@S1\t{"k":2}\t4' ]
	run -0 tr-filter --fields=a,c.m,b[1].p --side=machine --raw call in
	[ "$output" = $'7\t2\t0x5' ]
	run -0 tr-filter --fields=a,c.m --side=human --raw call in
	[ "$output" = $'x\ti' ]
	run -0 tr-filter --fields=a call in
	[ "$output" = '<"x";7>' ]
	run -2 tr-filter --side=human call in
	run -2 tr-filter --fields=a --side=both call in
}

# to_stream PREFIX: the lines of a case with this prefix as a stream
to_stream() {
	printf '%%trec\t1\n'
	sed -n "s/^$1 //p" case | awk '{ printf "%s\t%d\t-\t-\t%s", $1, NR - 1, $2; sub(/^[^ ]+ [^ ]+/, ""); gsub(/ ([a-zA-Z_]+=)/, "\t&"); gsub(/\t /, "\t"); print }'
}

@test "--minus and --common: the cases" {
	local count=0
	while IFS= read -r -d $'\001' case; do
		printf '%s' "$case" >case
		count=$((count + 1))
		head -n 1 case
		to_stream '<' >here
		to_stream '>' >there
		for set in '- minus' '= common'; do
			to_stream "${set% *}" | sed 1d | cut -f1,5- >want
			tr-filter --context=none --"${set#* }"=there here | grep -v '^[%!]' | cut -f1,5- | diff want - || return 1
			# the file of the option can be read from a pipe, and the input too
			tr-filter -c --"${set#* }"=<(cat there) <here | grep -qx "$(wc -l <want)"
		done
	done < <(sed '/^#/d' "$data/coverage/sets.cases" | awk '/^@/ && n++ { printf "\001" } { print } END { printf "\001" }')
	[ "$count" -eq 8 ]
}

@test "--minus and --common: entries of a history that overlap, in any order" {
	entry() {
		printf 'block\t0\t-\t-\t0x%08x\tsize=%d\top=%s\n' "$1" "$2" "$3"
	}
	section=$'section\t0\t-\t-\tHISTORY\tbits=32\tendian=little\tmachine=EM_ARM(40)'
	entries=("$(entry 4101 5 br1)" "$(entry 4096 10 br0)" "$(entry 4096 4 br1)" "$(entry 4100 2 block)")
	for order in '0 1 2 3' '3 2 1 0' '1 0 3 2' '2 3 1 0'; do
		{ echo "$section"; for i in $order; do echo "${entries[$i]}"; done; } >history
		run -1 --separate-stderr tr-filter -c --minus=history -e block history
		[ "$(tr-filter -c --common=history -e block history)" -eq 4 ]
		# the outcome belongs to the instruction at the end
		{ echo "$section"; entry 4096 4 br0; entry 4096 6 br1; entry 4096 10 br1; entry 4096 12 block; } >other
		tr-filter --minus=history -e block other | grep ^block | cut -f 5-7 |
			diff - <(printf '%s\n' $'0x00001000\tsize=4\top=br0' $'0x00001000\tsize=6\top=br1' $'0x00001000\tsize=12\top=block')
	done
}

@test "--minus and --common: with expressions, merged, several files, and no coverage" {
	gzip -dc "$data/gnatcov/true_flat.trace.gz" >all.trace
	tr-filter 'op has br0' all.trace | tr-repack -o some.trace
	all=$(tr-filter -c block all.trace)
	some=$(tr-filter -c block some.trace)
	[ "$(tr-filter -c --common=some.trace all.trace)" -eq "$some" ]
	[ "$(tr-filter -c --minus=some.trace all.trace)" -eq $((all - some)) ]
	run -1 tr-filter --minus=all.trace some.trace
	[ "$(tr-filter -c --minus=some.trace -e 'op has br1' all.trace)" -eq "$(tr-filter -c 'op has br1 and not op has br0' all.trace)" ]
	[ "$(tr-filter -c --common=all.trace --minus=some.trace all.trace)" -eq $((all - some)) ]
	tr-filter --merge --minus=some.trace all.trace | cmp - <(tr-filter --minus=some.trace all.trace | tr-filter --merge)
	# the whole of a trace is its two parts
	cmp <(tr-filter --merge all.trace) <(tr-filter --merge <(tr-filter --minus=some.trace all.trace) <(tr-filter --common=some.trace all.trace))
	run -2 tr-filter --minus=z.json all.trace
	[[ $output == *'--minus=z.json: no blocks, units or source lines to compare with'* ]]
	# and that of another format has no records of this kind
	printf 'TN:\nSF:/a.c\nDA:1,1\nend_of_record\n' >lines.info
	run -0 --separate-stderr tr-filter -c --minus=lines.info all.trace
	[ "$output" -eq "$all" ]
	[ "$(grep -c 'note: --minus=lines.info has no blocks to compare with' <<<"$stderr")" -eq 1 ]
	run -1 --separate-stderr tr-filter -c --common=all.trace lines.info
	[[ $stderr == *'note: --common=all.trace has no source lines to compare with'* ]]
	# without the file there is no result, which would be a wrong one
	for file in missing z.json; do
		run -2 --separate-stderr tr-filter -o wrong --minus=$file all.trace
		[[ $stderr == *$file* && ! -e wrong ]]
		run -2 --separate-stderr tr-filter --minus=$file all.trace
		[ -z "$output" ]
	done
	run -2 tr-filter -o some.trace --minus=some.trace all.trace
}

@test "--minus and --common: many modules with a few blocks each take little memory" {
	{
		printf '%%trec\t1\tformat=drcov\n'
		for id in {1..2000}; do
			printf 'module\t0\t-\t-\t/m%d\tid=%d\tbase=0x1000\tend=0x2000\n' "$id" "$id"
			printf 'block\t0\t-\t-\t0x0000000000001010\tsize=4\tmodule=%d\n' "$id"
		done
	} >modules.trec
	run -0 bash -c '[ -n "$TREC_SANITIZED" ] || ulimit -v 200000
		tr-filter -c --common=modules.trec modules.trec'
	[ "$output" -eq 2000 ]
}
