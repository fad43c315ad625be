#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-totext --style=script: running the commands again gives the same results.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	kw=${top_srcdir:?}/tests/data/build/zlib.kw.json.gz
}

commands() { # the lines of a script that run something
	tr-totext --style=script "$@" | grep '^run [0-9-]'
}

# A build whose result depends on directory, environment, odd arguments and argv[0].
make_sources() {
	mkdir -p build/sub
	echo 'int add(int a, int b) { return a + b; }' >build/sub/add.c
	cat >build/main.c <<'END'
#include <stdio.h>
int add(int, int);
int main(void) { printf("%s %d\n", TEXT, add(2, 3)); return 0; }
END
	cat >build/Makefile <<'END'
export SOURCE_DATE_EPOCH = 1
all: main text
main: main.o sub/add.o
	gcc -o $@ main.o sub/add.o
main.o: main.c
	gcc '-DTEXT="it'\''s $$HOME \\\\ and more"' -c main.c
sub/add.o: sub/add.c
	cd sub && A='x  y' gcc -g0 -c add.c
text:
	A='x  y' B= env -u HOME sh -c 'echo "$$A|$$B|$${HOME-none}|$$PWD" >text'
	bash -c 'exec -a other-name sh -c "echo \$$0 >>text"'
END
}

trace_build() {
	(cd build && env -i PATH="$PATH" PWD="$PWD" HOME=/nowhere KEEP='a
b' strace -f -v -qq -s 1000000 -ttt -y -e trace=execve,clone,clone3,fork,vfork,chdir,fchdir \
		-e signal=none -o ../log make -s)
	(cd build && cat text && ./main) >before
	(cd build && cat main.o sub/add.o main) | cksum >>before
	(cd build && rm -f main main.o sub/add.o text)
}

@test "a build is run again, as a whole and in parts" {
	for tool in strace gcc make bash; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	strace -qq -o /dev/null true || skip "strace may not trace here"
	make_sources
	trace_build
	after() { (cd build && cat text && ./main; cat main.o sub/add.o main | cksum; rm -f main main.o sub/add.o text); }
	# all of it is one command
	[ "$(commands log | wc -l)" = 1 ]
	tr-totext --style=script log | env -i sh
	after | diff before -
	# those who did the work, in an environment of their own
	tr-filter --rebase 'exec and basename(name) in {"gcc"}' log >gcc.trec
	tr-filter --rebase 'exec and basename(name) in {"gcc", "sh", "bash"} and argv *= "text"' log >text.trec
	tr-totext --style=script gcc.trec >again.sh
	[ "$(grep -c '^run [0-9]' again.sh)" = 3 ]
	env -i PATH="$PATH" WRONG=1 sh again.sh
	tr-totext --style=script text.trec | env -i sh
	after | diff before -
}

@test "commands that another command starts are left out unless requested" {
	commands "$kw" | cut -c1-60 | diff - <(echo 'run 3 /srv/build/zlib top /usr/bin/make -j2')
	[ "$(commands -O nested=yes "$kw" | wc -l)" = 176 ]
	tr-filter 'exec and seq != 3' "$kw" >parts
	[ "$(commands -q parts | wc -l)" = "$(tr-filter -c 'parent == 3' "$kw")" ]
	# forks and a second exec belong to who is run
	cat >forks.trec <<'END'
exec	0	-	1	/bin/sh	cwd="/"	argv=["sh"]
fork	1	-	1	-	child=2
fork	2	-	2	-	child=3
exec	3	-	3	/bin/a	cwd="/"	argv=["a"]
exec	4	-	1	/bin/b	cwd="/"	argv=["b"]
exit	5	-	1	-	status=0
exec	6	-	1	/bin/c	cwd="/"	argv=["c"]
END
	commands forks.trec | diff - <(printf 'run 0 / /bin/sh\nrun 6 / /bin/c\n')
}

@test "environment and arguments are exact" {
	cat >odd.trec <<'END'
env	0	-	-	-	vars={"A":"1","B B":"it's","C":"x\ny"}
exec	1	-	1	/usr/bin/env	cwd="/"	argv=["env"]	envtop={"A":null,"D":"\xff","E":""}
exec	2	-	2	/bin/sh	cwd="/"	argv=["sh","-c","printf '%s|' \"$@\"","x","","a b","\xfe","'\n'","$A","-n"]	envtop={}
exec	3	-	3	/bin/sh	cwd="/"	argv=["-my sh","-c","echo $0"]	envtop={}
exec	4	-	4	/bin/true=x	cwd="/"	argv=["true=x"]	envtop={}
END
	tr-totext --style=script odd.trec | sh >got 2>err || [ $? = 1 ]
	{ printf "B B=it's\nC=x\ny\nD=\xff\nE=\n"
		printf '|a b|\xfe|'"'"'\n'"'"'|$A|-n|'
		printf -- '-my sh\n'; } >wanted
	cmp wanted got
	grep -c 'exit status' err | grep -x 1
	grep -F 'command 4: exit status 127' err
}

@test "the shells of the script are not looked up in the PATH of a command" {
	command -v bash >/dev/null || skip "bash is not installed"
	cp /bin/echo a=b
	cat >path.trec <<END
env	0	-	-	-	vars={"PATH":"/usr/bin:/bin"}
exec	1	-	1	$PWD/a\\x3db	cwd="/"	argv=["$PWD/a=b","sh"]	envtop={"PATH":"."}
exec	2	-	2	/bin/sh	cwd="/"	argv=["other-name","-c","echo \$0"]	envtop={"PATH":"."}
exec	3	-	3	/bin/sh	cwd="/"	argv=["third-name","-c","echo \$0"]	envtop={"PATH":"."}
END
	tr-totext --style=script path.trec | sh >got
	printf '%s\n' sh other-name third-name | cmp - got
}

@test "nothing in a trace is taken for a part of the script" {
	cat >tricks.trec <<END
env	0	-	-	-	vars={"-S":"touch made","A":"1"}
exec	\$(touch made)	-	1	/usr/bin/env	cwd="$PWD"	argv=["env"]	envtop={"-u":"x"}
exec	;touch made	-	2	-i	cwd="$PWD"	argv=["-i","/bin/touch","made"]	envtop={"-S":null}
exec	x'y	-	3	/usr/bin/env	cwd="$PWD"	argv=["env"]	envtop={"\\u002dS":"again"}
END
	run -0 tr-totext --style=script -o script tricks.trec
	sh script >got 2>err || [ $? = 1 ]
	[ ! -e made ]
	diff <(printf '%s\n' '-S=touch made' A=1 -u=x -S=again A=1) got
	grep -F 'command ;touch made: exit status 127' err
}

@test "commands that cannot be reproduced are left out or reported" {
	cat >bad.trec <<'END'
exec	0	-	1	/bin/a	argv=["a"]
exec	1	-	1	/bin/b	cwd="/"	argv=["b"...]
exec	2	-	2	/bin/c	cwd="/"	argv=["c\u0000"]
exec	3	-	3	/bin/d	cwd="/"
exec	4	-	4	/bin/e	cwd="/"	argv=["e"]	parent=77	envdiff={"A":"1"}
exec	5	-	5	/bin/f	cwd="d d"	argv=["f"]	error=ENOENT
exec	6	-	6	/bin/g	cwd="d d"	argv=["g"]
END
	run -2 --separate-stderr tr-totext --style=script bad.trec
	printf '%s\n' "$output" | grep '^run [0-9]' | diff - <(
		printf "run 4 / env A=1 /bin/e\nrun 6 ./'d d' /bin/g\n")
	[[ $stderr == *'directory is unknown'*'cut by the tracer'*'NUL'*'no argv'*'note: the environment'* ]]
}

@test "env is not looked up in the PATH that it sets" {
	cat >path.trec <<'END2'
exec	1	-	1	/bin/echo	cwd="/"	argv=["echo","hi"]	env={"PATH":"/nowhere"}
END2
	tr-totext --style=script path.trec | sh | grep -x hi
}

@test "a variable that was cut, or that env cannot set, is reported" {
	for map in '{"A":"abc"...}' '{"A":"abc","N":5}' '{"A":"abc","":"x"}' '{"A":"abc","N":"\u0000"}'; do
		printf 'exec\t1\t-\t1\t/bin/env\tcwd="/"\targv=["env"]\tenv=%s\n' "$map" >changed.trec
		run -2 --separate-stderr tr-totext --style=script changed.trec
		[[ $stderr == *'changed.trec:1: a variable '* ]]
		[ "$(sh <<<"$output")" = A=abc ]
	done
}
