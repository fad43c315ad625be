#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
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

@test "the tree has the commands, their times and their exit statuses" {
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

@test "a trace without times has only the columns with data" {
	tr-totext "$kw" >got
	head -n2 got | diff - <(printf 'seq  command\n  3  make -j2\n')
	[ "$(wc -l <got)" = 177 ]
	# every child of the first process is shown below it
	tr-tojson "$kw" | jq -r 'select(.parent == 3) | .seq' | sort -n >children
	LC_ALL=C sed -nE 's/^ *([0-9]+)  (├|└)─ .*/\1/p' got | sort -n | diff children -
}

@test "several segments are several trees; other records are skipped" {
	cat build.trec build.trec | tr-totext | grep -c '^seconds' | grep -x 2
	tr-totext "$kw" "$kw" | grep -c '^seq' | grep -x 2
	printf 'call\t0\t-\t0\tglFinish\t->\n' | tr-totext --style=tree | cmp - /dev/null
}

@test "a very deep tree is drawn up to a limit" {
	awk 'BEGIN { print "exec\t0\t-\t0\tp"
		for (i = 1; i < 30000; i++) print "exec\t" i "\t-\t" i "\tp\tparent=" i - 1 }' >deep
	tr-totext deep >got
	[ "$(wc -l <got)" = 30001 ]
	tail -n1 got | grep -F '[29999] p'
	[ "$(wc -c <got)" -lt 8000000 ]
}

@test "processes that were killed by as many signals take linear time" {
	seq 100000 | sed 's/.*/exec\t&\t-\t&\tp\nexit\t&\t-\t&\t-\tsignal=SIG&/' >killed
	(ulimit -t 4 && tr-totext --style=tree killed | grep -cw 'SIG[0-9]*') | grep -x 100000
}

@test "dot: Graphviz accepts the graph, with every process and its parent" {
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

# A process per line: a program and a process without one that end before their fork returns, and
# the number of the second used again; then one that never ends.
early() {
	cat <<-'END'
		10 1700000000.000000 execve("/bin/make", ["make"], []) = 0
		10 1700000000.000100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
		11 1700000000.000200 close(3) = 0
		11 1700000000.000400 +++ exited with 3 +++
		10 1700000000.000500 <... clone resumed>) = 11
		10 1700000000.000600 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
		12 1700000000.000700 execve("/bin/true", ["true"], []) = 0
		12 1700000000.000900 +++ killed by SIGKILL +++
		10 1700000000.001000 <... clone resumed>) = 12
		10 1700000000.001100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 12
		12 1700000000.001200 execve("/bin/again", ["again"], []) = 0
		12 1700000000.001800 +++ exited with 7 +++
		13 1700000000.001900 close(3) = 0
		13 1700000000.002000 +++ exited with 0 +++
		10 1700000000.002100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 13
		10 1700000000.003000 +++ exited with 0 +++
	END
}

@test "a process whose end is printed before its fork has ended in every view" {
	early >early.strace
	run -0 tr-totext -q --style=tree early.strace
	diff - <(sed 's/ *$//' <<<"$output") <<-'END'
		seconds     exit  seq  command
		  0.003        0    0  make
		  0.000        3    3  ├─ (fork)
		  0.000  SIGKILL    4  ├─ true
		  0.001        7    8  ├─ again
		      -        -   12  └─ (fork)
	END
	run -0 tr-stat -q --json early.strace
	[[ $output == *'"forks":4,'* ]]
	grep -o '"count":[0-9]*,"share":[0-9.]*,"end":"unknown"' <<<"$output" | grep '^"count":1,'
	run -0 tr-tojson -q --as=chrome early.strace
	[ "$(grep -c '"cat":"process' <<<"$(grep '"ph":"X"' <<<"$output")")" -eq 5 ]
	[[ $output == *'"processes":2}}'* && $output != *'"processes":3}}'* ]]
	[ "$(tr-tohtml -q -o - early.strace | grep -c '(fork)')" -gt 0 ]
}

@test "a reused process number is another process, regardless of times" {
	# without times the parent decides: for 11 it is 1 at first, and then 10
	for time in "4 5 6 7 8" "4 5 6 6 8" "- - - - -"; do
		set -- $time
		printf 'exec\t0\t%s\t10\t/bin/make\tppid=1\targv=["make"]\n' "$1" >reuse
		printf 'exec\t1\t%s\t11\t/bin/old\tppid=1\targv=["old"]\n' "$2" >>reuse
		printf 'exit\t2\t%s\t11\t-\tstatus=1\n' "$3" >>reuse
		printf 'fork\t3\t%s\t10\t-\tchild=11\n' "$4" >>reuse
		printf 'exec\t4\t%s\t11\t/bin/new\targv=["new"]\n' "$5" >>reuse
		run -0 tr-totext -q --style=tree reuse
		[[ $output == *"make"*$'\n'*"└─ new"*$'\n'*" old"* ]] || { echo "$time: $output"; false; }
		[ "$(grep -c '(fork)' <<<"$output")" -eq 0 ]
		[[ ${lines[2]} == *" -  "*"new" ]]
	done
	# of a child of 10 that ended early nothing is left to end the second one
	printf 'exec\t0\t-\t10\t/bin/make\tppid=1\targv=["make"]\n' >twice
	printf 'exec\t1\t-\t11\t/bin/one\tppid=10\targv=["one"]\nexit\t2\t-\t11\t-\tstatus=1\n' >>twice
	printf 'fork\t3\t-\t10\t-\tchild=11\nfork\t4\t-\t10\t-\tchild=11\n' >>twice
	printf 'exec\t5\t-\t11\t/bin/two\targv=["two"]\n' >>twice
	run -0 tr-totext -q --style=tree twice
	[[ ${lines[2]} == *" 1 "*"├─ one" && ${lines[3]} == *" -  "*"└─ two" && ${#lines[@]} -eq 4 ]]
}

@test "threads that end before they are known make no process" {
	cat >thread.strace <<-'END'
		10 1700000000.000000 execve("/bin/a", ["a"], []) = 0
		10 1700000000.000100 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND <unfinished ...>
		11 1700000000.000400 +++ exited with 0 +++
		10 1700000000.000500 <... clone resumed>) = 11
		10 1700000000.001000 +++ exited with 0 +++
	END
	run -0 tr-totext -q --style=tree thread.strace
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[1]} == *" 0 "*" a" ]]
}

@test "views report a command that takes more memory than --max-record" {
	printf '%%trec\t1\nexec\t1\t1.0\t10\t/bin/make\targv=["make"]\n' >wide
	printf 'exec\t2\t2.0\t11\t/bin/gcc\tparent=1\targv=["a\\n"%s]\n' "$(printf ',"a"%.0s' {1..60000})" >>wide
	printf 'exit\t3\t3.0\t11\t-\tstatus=0\nexit\t4\t4.0\t10\t-\tstatus=0\n!end\t4\n' >>wide
	for view in 'totext --style=tree' 'totext --style=dot' tohtml 'tojson --as=chrome' stat; do
		run -2 --separate-stderr tr-$view --max-record=256K wide
		[[ $stderr == "tr-${view%% *}: wide:"[34]": once decoded, it takes more than "*"(--max-record raises it)" ]]
		[[ $output == *gcc* ]]
	done
	run -0 tr-totext --style=tree wide
	# words without escapes are not decoded
	sed 's/"a\\n"/"a"/' wide >plain
	run -0 tr-totext --style=tree --max-record=256K plain
	# where the view cannot go on, it names the same cause
	{
		sed '/gcc/,$d' wide
		awk 'BEGIN {
			printf "exec\t2\t2.0\t11\t/bin/gcc\tparent=1\tcwd=\"/\"\targv=[\"gcc\""
			for (i = 0; i < 3900; i++)
				printf ",\"\\\\%060d\"", 0
			print "]"
		}'
		sed '1,/gcc/d' wide
	} >escaped
	run -2 --separate-stderr tr-stat --max-record=256K escaped
	[[ $stderr == "tr-stat: escaped:4: once decoded,"*"(--max-record raises it)" ]]
}

@test "a command of control bytes takes no more memory than its record twice" {
	{
		printf '%%trec\t1\nexec\t1\t1.0\t10\t/bin/a\targv=["a","'
		head -c 10M /dev/zero | sed 's/\x00/\\u0001/g'
		printf '"]\n!end\t1\n'
	} >long
	run -0 bash -c '[ -n "$TREC_SANITIZED" ] || ulimit -v 245000
		tr-totext --style=tree long | wc -c'
	[ "$output" -gt 40000000 ]
}

@test "processes that ended before their fork: as many in each segment" {
	{ printf '%%trec\t1\n'
		for i in {1..1100}; do printf 'exit\t%d\t9\t%d\t-\tstatus=0\n' "$i" $((i + 100)); done
		printf '!end\t1100\n'; } >first
	printf '%s\n' $'%trec\t1' $'exec\t1\t10\t1\t/bin/make\targv=["make"]' $'exit\t2\t12\t5\t-\tstatus=3' \
		$'fork\t3\t10.5\t1\t-\tchild=5' $'exit\t4\t14\t1\t-\tstatus=0' $'!end\t4' >second
	run -0 tr-totext --style=tree second
	[ "${lines[2]}" = '  1.500     3    3  └─ (fork)' ]
	cat first second | tr-totext --style=tree | cmp - <(tr-totext --style=tree second)
}
