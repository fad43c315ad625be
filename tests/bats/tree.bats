#!/usr/bin/env bats
# tr-totext --style=tree.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	kw=${top_srcdir:?}/tests/data/build/zlib.kw.json.gz
	cat >build.trec <<'END'
%trec	1	format=strace
exec	0	100.000000001	1	/usr/bin/make	argv=["make","-j2"]
fork	1	100.1	1	-	child=2
exec	2	100.2	2	/bin/sh	parent=0	argv=["sh","-c","echo 'a'"]
fork	3	100.3	2	-	child=3
fork	4	100.35	1	-	child=4
exec	5	100.4	3	/usr/bin/gcc	parent=2	argv=["gcc","-c","a\nb.c"]
exec	6	100.45	4	/usr/bin/gcc	parent=0	argv=["gcc","-c","b.c"]
exit	7	101.5	3	-	status=0
exec	8	101.6	2	/usr/bin/true	parent=0	argv=["true"]
exit	9	101.7	2	-	status=1
exit	10	103	4	-	signal=SIGKILL
fork	11	103	1	-	child=5
exit	12	103.5	1	-	status=2
!end	13
END
}

@test "who ran what, how long it took, how it ended" {
	tr-totext --style=tree build.trec >got
	cat >wanted <<'END'
seconds     exit  seq  command
  3.500        2    0  make -j2
  1.400     exec    2  ├─ sh -c 'echo '\''a'\'''
  1.100        0    5  │  └─ gcc -c $'a\nb.c'
  0.100        1    8  ├─ exec true
  2.550  SIGKILL    6  ├─ gcc -c b.c
      -        -   11  └─ (fork)
END
	diff wanted got
	# the style of the format
	tr-totext build.trec | diff wanted -
	tail -n +2 build.trec | tr-totext | diff wanted -
}

@test "-O width and lines" {
	tr-totext -O width=30 -O lines=ascii build.trec >got
	[ "$(wc -L <got)" = 30 ]
	sed -n 4p got | grep -x "  1\.100        0    5  |  \`- >"
	[ "$(tr-totext -O width=30 build.trec | LC_ALL=C.UTF-8 wc -L)" = 30 ]
	run -2 tr-totext -O width=wide build.trec
	run -2 tr-totext -O lines=thick build.trec
}

@test "a trace without times: only what it tells" {
	tr-totext "$kw" >got
	head -n2 got | diff - <(printf 'seq  command\n  3  make -j2\n')
	[ "$(wc -l <got)" = 177 ]
	# every child of the first process is there, and stands under it
	tr-tojson "$kw" | jq -r 'select(.parent == 3) | .seq' | sort -n >children
	LC_ALL=C sed -nE 's/^ *([0-9]+)  (├|└)─ .*/\1/p' got | sort -n | diff children -
}

@test "several segments are several trees; what is no process is passed over" {
	cat build.trec build.trec | tr-totext | grep -c '^seconds' | grep -x 2
	tr-totext "$kw" "$kw" | grep -c '^seq' | grep -x 2
	printf 'call\t0\t-\t0\tglFinish\t->\n' | tr-totext --style=tree | cmp - /dev/null
}

@test "a tree as deep as it is long is drawn to a bound" {
	awk 'BEGIN { print "exec\t0\t-\t0\tp"
		for (i = 1; i < 30000; i++) print "exec\t" i "\t-\t" i "\tp\tparent=" i - 1 }' >deep
	tr-totext deep >got
	[ "$(wc -l <got)" = 30001 ]
	tail -n1 got | grep -F '[29999] p'
	[ "$(wc -c <got)" -lt 8000000 ]
}

@test "dot: a graph that Graphviz takes, with every process and who started it" {
	tr-totext --style=dot build.trec >got
	grep -F 'n3 [label="gcc -c b.c\n2.550 s, exit SIGKILL", tooltip="gcc -c b.c"' got
	grep -F 'n1 -> n4 [style=dashed, label="exec"];' got
	[ "$(grep -c '\[label="[^e]' got)" = 6 ]
	[ "$(tr-totext --style=dot "$kw" | grep -c -- '->')" = 175 ]
	# a long command keeps its end, where the source is, and its characters
	printf 'exec\t0\t-\t1\ta\targv=["gcc","öööööööööö","-c","a.c"]\n' | tr-totext --style=dot -O width=19 |
		grep -F '[label="gcc ööö…ö -c a.c", '
	[ "$(tr-totext --style=dot build.trec "$kw" | grep -c '^digraph')" = 2 ]
	printf 'exec\t0\t-\t1\ta\targv=["&<\\">","\\\\n\\xff\\n","%s"]\n' "$(head -c 20000 /dev/zero |
		tr '\0' x)" >odd
	tr-totext --style=dot odd | awk 'length > 16000 { exit 1 }'
	command -v dot >/dev/null || skip "Graphviz is not installed"
	for file in build.trec "$kw" odd; do
		tr-totext --style=dot -O width=0 "$file" | dot -T svg >/dev/null
	done
}
