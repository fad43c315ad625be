#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compilation databases made from build traces. The rules that recognise compilers are in tests/unit/process.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/build
	mkdir -p sub
}

# event ID PARENT EXECUTABLE ARGUMENT...: a line of a Klocwork trace in ./sub
event() {
	local id=$1 parent=$2 executable=$3 args='' arg
	shift 3
	for arg; do
		args+=,\"${arg//\"/\\\"}\"
	done
	printf '{"id":%s,"parent_id":%s,"work_dir":"%s/sub","executable":"%s","args":[%s]}\n' \
		"$id" "$parent" "$PWD" "$executable" "${args:1}"
}

# a build: make, then the commands of the argument
build() {
	echo '{"version":101}'
	event 1 -1 /usr/bin/make make
	"$@"
}

# files: "file" and "output" of each entry on standard input, without the directory
files() {
	jq -r ".[] | [.file, .output // \"-\"] | map(ltrimstr(\"$PWD/sub/\")) | join(\" \")"
}

@test "zlib: Bear's own database, but for the order" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-repack -z none -t compdb "$data/zlib.kw.json.gz" >ours.json
	jq -S 'sort_by(.output)' ours.json >ours
	jq -S 'sort_by(.output)' "$data/zlib.compile_commands.json" | cmp - ours
	# the layout is the same too
	sort ours.json | cmp - <(sort "$data/zlib.compile_commands.json")
	tr-tojson --as=compdb "$data/zlib.kw.json.gz" | cmp - ours.json
	tr-parse "$data/zlib.kw.json.gz" | tr-repack -t compdb | cmp - ours.json
}

@test "two sources of one call, options from a response file" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%s\n' '-O1 "-DX=a b"' -Wall >sub/opts.rsp
	zcat "$data/mc.kw.jsonl.gz" | sed "s,/srv/lab/build/mc,$PWD/sub,g" >mc.json
	tr-repack -t compdb -O respfiles=keep mc.json >keep.json
	[ "$(files <keep.json)" = $'a.c -\nb.c prog\nc.c prog' ]
	[ "$(jq -r '.[2].arguments | join("|")' keep.json)" = '/usr/bin/gcc|-c|@opts.rsp|c.c|-o|prog' ]
	tr-repack -t compdb -O respfile-root=sub mc.json >inline.json
	[ "$(jq -r '.[1].arguments | join("|")' inline.json)" = \
		'/usr/bin/gcc|-c|-O1|-DX=a b|-Wall|b.c|-o|prog' ]
	tr-repack -t compdb -O respfile-root=sub -O respfiles=keep mc.json | cmp - keep.json
	rm sub/opts.rsp
	run -0 --separate-stderr tr-repack -t compdb -O respfile-root=sub mc.json
	[ "$output" = "$(cat keep.json)" ]
	[[ $stderr == *"response file 'opts.rsp' is not expanded: it is not in the trace, and not a regular file below respfile-root"* ]]
	run -2 --separate-stderr tr-repack --strict -t compdb -O respfile-root=sub mc.json
	run -2 --separate-stderr tr-repack -t compdb -O respfile-root=sub/none mc.json
	[[ $stderr == *"respfile-root: sub/none: No such file or directory"* ]]
}

@test "response files in the record are inlined, regardless of the disk" {
	command -v jq >/dev/null || skip "jq is not installed"
	for where in gone.rsp sub/there.rsp; do
		echo '-DFROM_DISK disk.c' >sub/there.rsp
		printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\tgcc\tcwd="%s"\targv=["gcc","-c","@%s","a.c"]\trespfile={"%s":"-DR=\\"a b\\" @more","more":"-I x"}\n!end\t1\n' \
			"$PWD" $where $where >trace
		run -0 --separate-stderr tr-repack -t compdb -O respfile-root=. trace
		[ -z "$stderr" ]
		[ "$(jq -r '.[] | .arguments | join("|")' <<<"$output")" = 'gcc|-c|-DR=a b|-I|x|a.c' ]
		[ "$(tr-tojson --as=compdb trace)" = "$output" ]
		# a database of such entries, which has the field file, does the same
		sed 's/\trespfile/\tfile="a.c"&/' trace | tr-repack -t compdb | jq -r '.[].arguments[2]' | grep -Fx -- '-DR=a b'
		[ "$(tr-repack -q -t compdb -O respfiles=keep trace | jq -r '.[].arguments[2]')" = "@$where" ]
	done
}

# nested N: a command whose response file is the first of N that name each other
nested() {
	local map='"f1":"-DDEPTH=1' i
	for ((i = 2; i <= $1; i++)); do map+=" @f$i\",\"f$i\":\"-DDEPTH=$i"; done
	printf '%%trec\t1\tformat=x\n'
	printf 'exec\t0\t-\t1\tgcc\tcwd="/b"\targv=["gcc","-c","@f1","a.c"]\trespfile={%s last.c"}\n' "$map"
	printf 'exec\t1\t-\t2\tgcc\tcwd="/b"\targv=["gcc","-c","b.c"]\n!end\t2\n'
}

@test "a response file beyond a limit is reported with its command, and all else is written" {
	command -v jq >/dev/null || skip "jq is not installed"
	for target in compdb kwspec 'buildspec -O respfiles=inline'; do
		# shellcheck disable=SC2086
		set -- $target
		nested 32 >trace
		run -0 --separate-stderr tr-repack -t "$@" trace
		[ -z "$stderr" ]
		[[ $output == *last.c* && $output == *b.c* ]]
		nested 33 >trace
		run -2 --separate-stderr tr-repack -t "$@" trace
		[[ $stderr == "tr-repack: trace:2: response file 'f33' is not expanded: files are nested more than 32 levels deep"* ]]
		[[ $output != *last.c* && $output == *a.c* && $output == *b.c* ]]
	done
	echo '-DX @self.rsp' >sub/self.rsp
	build event 2 1 /usr/bin/gcc gcc -c @self.rsp x.c >build.json
	run -2 --separate-stderr tr-repack -t compdb -O respfile-root=. build.json
	[[ $stderr == "tr-repack: build.json:3: response file 'self.rsp' is not expanded"* ]]
	[ "$(jq -r '.[0].arguments | join(" ")' <<<"$output" | tr ' ' '\n' | grep -c -- -DX)" -eq 32 ]
}

@test "each source in a response file has an entry" {
	command -v jq >/dev/null || skip "jq is not installed"
	echo '-c -DY x.c y.c' >sub/all.rsp
	build event 2 1 /usr/bin/gcc gcc @all.rsp -O2 | tr-repack -t compdb -O respfile-root=. >db
	[ "$(jq -r '.[] | .arguments | join(" ")' db)" = \
		$'/usr/bin/gcc -c -DY x.c -O2\n/usr/bin/gcc -c -DY y.c -O2' ]
	echo '-c "C:\\x.c"' >sub/win.rsp
	build event 2 1 /usr/bin/gcc gcc @win.rsp |
		tr-repack -t compdb -O respfile-root=. -O quoting=windows |
		jq -r '.[0].file' | grep -F 'C:\\x.c'
}

@test "a trace cannot choose which files are read from this machine" {
	command -v jq >/dev/null || skip "jq is not installed"
	mkdir root
	echo '-DSECRET inside.c' >root/in
	echo '-DSECRET outside.c' >outside
	ln -s ../outside root/link
	ln -s /proc/self/environ root/environ
	mkfifo root/fifo
	export VARIABLE=SECRET
	echo '[{"binary":"gcc","responseFileArgs":[{"argument":"@","argFormat":["attached"]}]}]' >tools
	for name in root/in outside root/link root/../outside "$PWD/outside" ../../../../../etc/passwd \
		root/fifo root/environ /proc/self/environ /proc/self/cmdline /dev/zero root; do
		echo "{\"directory\":\"$PWD\",\"arguments\":[\"gcc\",\"-c\",\"@$name\",\"a.c\"]}"
	done | jq -s . >spec
	jq 'map(. + { file: "a.c" })' spec >db
	while read -r operand options; do
		# shellcheck disable=SC2086
		tr-repack -q $options $operand >got
		run ! grep -aE 'SECRET|root:|respfile-root' got
		# shellcheck disable=SC2086
		tr-repack -q $options -O respfile-root=root $operand >got
		grep -q SECRET got
		run ! grep -aE 'outside.c|root:|VARIABLE' got
	done <<-END
		db -t compdb -O unique=none
		db -t compdb -O unique=none -O tools=tools
		spec -t compdb -O unique=none
		spec -t buildspec -O respfiles=inline
		spec -t buildspec -O respfiles=attach
		spec -t buildspec -O respfiles=inline -O tools=tools
		spec -t kwspec
	END
}

one_of_each() {
	event 2 1 /usr/bin/gcc gcc -c a.c -o a.o
	event 3 2 /usr/lib/gcc/12/cc1 cc1 a.c -o /tmp/x.s
	event 4 2 /usr/bin/as as -o a.o /tmp/x.s
	event 5 1 /usr/bin/ccache ccache gcc -c b.c
	event 6 5 /usr/bin/gcc gcc -E b.c
	event 7 5 /usr/bin/gcc gcc -c -o b.o b.c
	event 8 1 /usr/bin/gcc gcc -E c.c
	event 9 1 /usr/bin/gcc gcc -MM c.c
	event 10 1 /usr/bin/gcc gcc --version
	event 11 1 /usr/bin/gcc gcc a.o b.o -o prog
	event 12 1 /usr/bin/as as -o d.o d.s
	event 13 1 /usr/bin/mpicc mpicc -c e.c
	event 14 13 /usr/bin/gcc gcc -I/usr/include/mpi -c e.c
	event 15 1 /opt/zcc zcc -c f.c
	event 16 15 /opt/cc1 cc1 f.c -o /tmp/f.s
	event 17 15 /opt/as as /tmp/f.s -o f.o
	event 18 1 /usr/bin/clang-16 clang -c g.c
	event 19 18 /usr/bin/clang-16 clang-16 -cc1 g.c -o g.o
}

@test "the process tree decides which calls are part of another one" {
	command -v jq >/dev/null || skip "jq is not installed"
	build one_of_each | tr-repack -t compdb | files >got
	printf '%s\n' 'a.c a.o' 'b.c -' 'd.s d.o' 'e.c -' 'f.c /tmp/f.s' 'g.c -' | diff - got
	# children that are printed before their parents are the same processes
	{ build one_of_each | head -n 2; build one_of_each | tail -n +3 | grep -v /opt/as | tac; } |
		tr-repack -t compdb | files | sort | diff got -
	# nor are they where the parent of these was left out
	printf 'exec\t%d\t-\t-\t/usr/bin/%s\tparent=%d\tcwd="/s"\targv=["%s","-c","e.c"]\n' \
		1 gcc 5 gcc 5 mpicc 9 mpicc | tr-repack -q -t compdb -O unique=all |
		jq -r '.[].arguments[0]' | diff <(echo /usr/bin/mpicc) -
	# without parents the names have to do
	build one_of_each | sed 's/"parent_id":[0-9]*/"parent_id":-1/' | tr-repack -t compdb | files |
		grep -vE '^(a|b|e|g).c' >rest || true
	[ ! -s rest ]
}

@test "a compiler that an unknown program started: the note names the option that makes its entries" {
	# mycc SEQ NAME COMPILER: a program and the compiler that it starts
	mycc() {
		printf 'exec\t%d\t-\t-\t/opt/bin/%s\tparent=0\tcwd="/s"\targv=["%s","-c","%s.c"]\n' \
			"$1" "$2" "$2" "$1"
		printf 'exec\t%d\t-\t-\t/usr/libexec/%s\tparent=%d\tcwd="/s"\targv=["cc1","-quiet","%s.c","-o","/tmp/x.s"]\n' \
			$(($1 + 1)) "$3" "$1" "$1"
	}
	{
		printf '%%trec\t1\tformat=x\nexec\t0\t-\t-\t/usr/bin/make\tcwd="/s"\targv=["make"]\n'
		mycc 1 mycc cc1
		mycc 3 mycc cc1plus
		mycc 5 mycc-12 cc1plus
		mycc 7 sh cc1
		mycc 9 make cc1
		mycc 11 gcc cc1
		printf 'exec\t13\t-\t-\t/bin/sed\tparent=0\tcwd="/s"\targv=["sed"]\n!end\t14\n'
		# another segment, in which the parent has the number of sed
		printf '%%trec\t1\tformat=x\n'
		mycc 13 lto-wrapper lto1
		printf '!end\t2\n'
	} >trace
	run -0 --separate-stderr tr-repack -t compdb -o db trace
	[ "$stderr" = 'tr-repack: trace: note: mycc started cc1: -O compiler=mycc=gcc makes its entries
tr-repack: trace: note: mycc-12 started cc1plus: -O compiler=mycc-12=gcc makes its entries' ]
	grep -q '"-quiet"' db
	# the claim is true
	run -0 --separate-stderr tr-repack -t compdb -O compiler=mycc=gcc -O compiler=mycc-12=gcc -o db trace
	[ -z "$stderr" ]
	grep -q '"/opt/bin/mycc-12"' db
	run ! grep -q '"-quiet","[135][.]c"' db
}

@test "an unknown program that is called as a compiler: the note names the option that makes its entries" {
	# call SEQ PARENT TASK PROGRAM ARGUMENT...
	call() {
		printf 'exec\t%d\t-\t%d\t%s\tparent=%d\tcwd="/s"\targv=["%s"' "$1" "$3" "$4" "$2" "$4"
		shift 4
		[ $# -eq 0 ] || printf ',"%s"' "$@"
		printf ']\n'
	}
	{
		printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\t/usr/bin/make\tcwd="/s"\targv=["make"]\n'
		call 1 0 2 /opt/bin/mycc -c a.c -o a.o
		call 2 0 3 /opt/bin/mycc -Iinc -c b.c
		# wrappers: a known compiler runs below them, in their place, or below a shell
		call 3 0 4 /opt/bin/below -c c.c -o c.o
		call 4 3 5 /usr/bin/gcc -c c.c -o c.o
		call 5 0 6 /opt/bin/place -c d.c -o d.o
		call 6 0 6 /usr/bin/gcc -c d.c -o d.o
		call 7 0 7 /opt/bin/shell -c e.c -o e.o
		call 8 7 8 /bin/sh -c 'gcc -c e.c -o e.o'
		call 9 8 9 /usr/bin/gcc -c e.c -o e.o
		# one of two calls is lost, and others are no compilers
		call 10 0 10 /opt/bin/below -c f.c -o f.o
		call 11 0 11 /usr/bin/python3 -c g.c -o g.o
		call 12 0 12 /usr/bin/grep -c main h.c
		printf '!end\t13\n'
	} >trace
	run -0 --separate-stderr tr-repack -t compdb -o db trace
	[ "$stderr" = 'tr-repack: trace: note: unknown program that is called like a compiler: below, 1 time; -O compiler=below=gcc if it has the options of GCC
tr-repack: trace: note: unknown program that is called like a compiler: mycc, 2 times; -O compiler=mycc=gcc if it has the options of GCC' ]
	[ "$(grep -c '"file"' db)" -eq 3 ]
	run -0 --separate-stderr tr-repack -t compdb -O compiler=mycc=gcc -O unique=none -o db trace
	[[ $stderr != *mycc* ]]
	[ "$(grep -c '"file"' db)" -eq 5 ]
	# an empty database, too
	{ head -n 3 trace; printf '!end\t2\n'; } >own
	run -0 --separate-stderr tr-repack -t compdb own
	[ "$output" = '[]' ]
	[[ $stderr == *'unknown program that is called like a compiler: mycc, 1 time'* ]]
}

@test "an empty list is a database, and nothing else is" {
	for text in '[]' '[]\n' ' [\r\n\t]\n\n'; do
		printf "$text" >list.json
		[ "$(tr-parse list.json)" = $'%trec\t1\tformat=compdb\n!end\t0' ]
		# the end of a pipe is known late
		[ "$({ printf "$text" | head -c 1; sleep 0.1; printf "$text" | tail -c +2; sleep 0.1; } | tr-parse --identify)" = 'stdin: compdb' ]
	done
	for text in '[' ']' '[]x' '[][]' '[[]]' '[]{}' '{}' '[]\n[]\n'; do
		printf "$text" >list.json
		run -2 tr-parse --report=r list.json
		grep -q '"format":null.*"result":"unknown"' r
	done
	# what tr-repack writes is read, in an archive, too
	printf '[]\n' >list.json
	tar -cf in.tar list.json
	run -0 --separate-stderr tr-repack -o out.tar in.tar
	[ -z "$stderr" ]
	tar -xOf out.tar list.json | cmp - list.json
	# a list that is not empty is recognised by its entries
	[ "$(printf '[\n]\n' | tr-parse --identify)" = 'stdin: compdb' ]
	[ "$(printf '[\n{"directory":"/","arguments":["a"]}]\n' | tr-parse --identify)" = 'stdin: buildspec' ]
}

libtool_build() {
	event 2 1 /bin/bash /bin/bash ./libtool --mode=compile gcc -c a.c -o a.lo
	event 3 2 /usr/bin/gcc gcc -c a.c -fPIC -o .libs/a.o
	event 4 2 /usr/bin/gcc gcc -c a.c -o a.o
	event 5 1 /bin/bash /bin/bash ./libtool --mode=compile gcc -c b.c -o b.lo
	event 6 1 /bin/bash /bin/bash ./libtool --mode=link gcc a.lo b.lo c.c -o liba.la
	event 7 1 /bin/sh /bin/sh -c 'echo libtool gcc -c x.c'
}

@test "libtool has an entry if its commands are not in the trace" {
	command -v jq >/dev/null || skip "jq is not installed"
	build libtool_build | tr-repack -t compdb >db
	[ "$(files <db)" = $'a.c .libs/a.o\na.c a.o\nb.c b.lo' ]
	[ "$(jq -r '.[2].arguments | join(" ")' db)" = 'gcc -c b.c -o b.lo' ]
}

twice() {
	event 2 1 /usr/bin/gcc gcc -c a.c -o a.o
	event 3 1 /usr/bin/gcc gcc -c a.c -o a.o
	event 4 1 /usr/bin/gcc gcc -c -DX a.c -o a.o
	event 5 1 /usr/bin/gcc gcc -c -DX a.c -o b.o
	event 6 1 /usr/bin/gcc gcc -fsyntax-only a.c
	event 7 1 /usr/bin/gcc gcc -fsyntax-only -DX a.c
	event 8 1 /usr/bin/gcc gcc -c a.c
	event 9 1 /usr/bin/gcc gcc -c ../sub/a.c
}

@test "-O include, exclude and existing choose sources by their paths" {
	command -v jq >/dev/null || skip "jq is not installed"
	calls() {
		event 2 1 /usr/bin/gcc gcc -c a.c
		event 3 1 /usr/bin/gcc gcc -c x/b.c -o b.o
		event 4 1 /usr/bin/gcc gcc -c "$PWD/sub/gone.c"
		event 5 1 /usr/bin/gcc gcc -c a.c ./x/b.c
	}
	mkdir -p sub/x
	touch sub/a.c sub/x/b.c
	chosen() { build calls | tr-repack -q -t compdb -O unique=none "$@" | jq -r '.[].file' | sed "s,$PWD/sub/,,"; }
	[ "$(chosen | sort -u | tr '\n' ' ')" = 'a.c gone.c x/b.c ' ]
	[ "$(chosen -O existing=yes | sort -u | tr '\n' ' ')" = 'a.c x/b.c ' ]
	[ "$(chosen -O include='*/x/*' | tr '\n' ' ')" = 'x/b.c x/b.c ' ]
	[ "$(chosen -O include='*/x/*' -O include="$PWD/sub/a.?" | tr '\n' ' ')" = 'a.c x/b.c a.c x/b.c ' ]
	[ "$(chosen -O exclude='*/x/*' -O exclude='*/gone.c' | tr '\n' ' ')" = 'a.c a.c ' ]
	[ "$(chosen -O include='*.c' -O exclude='*/[ab].c' -O existing=no)" = gone.c ]
	# a GLOB is for the whole path
	[ -z "$(chosen -O include=a.c -O include='*/sub')" ]
	build calls >trace
	run -0 --separate-stderr tr-repack -t compdb -O include='*.f' trace
	[ "$output" = '[]' ]
	[ "$stderr" = 'tr-repack: trace: note: -O leaves out all 5 entries: the database has none' ]
	# headers are chosen, too, and come from sources that were chosen
	headers() { tr-repack -q -t compdb -O headers=yes "$@" "$data/files.strace.gz" | jq -r '.[].file' | sed -n 's,.*/\(.*[.]h\)$,\1,p' | tr '\n' ' '; }
	[ "$(headers)" = 'gen.h h1.h h3.h h6.h ' ]
	[ "$(headers -O exclude='*/h?.h')" = 'gen.h ' ]
	[ "$(headers -O exclude='*/main.c')" = 'h1.h h3.h h6.h ' ]
	# a database is chosen from, too
	tr-repack -q -t compdb trace | tr-repack -q -t compdb -O existing=yes | jq -r '.[].file' | { run -1 grep gone; }
}

@test "-O form=command and output=no" {
	command -v jq >/dev/null || skip "jq is not installed"
	calls() { event 2 1 /usr/bin/gcc gcc "-DX=a b" "-DY='\"'" -c 'a$.c' -o a.o; }
	build calls >trace
	tr-repack -t compdb trace >list
	tr-repack -t compdb -O form=command -O output=no trace >texts
	[ "$(jq -c '.[] | keys' texts)" = '["command","directory","file"]' ]
	# a shell, and the reader, split it into the same words
	eval "printf '%s\n' $(jq -r '.[0].command' texts)" >words
	jq -r '.[0].arguments[]' list | cmp - words
	tr-parse texts | tr-repack -q -t compdb | jq -c '.[0].arguments' | cmp - <(jq -c '.[0].arguments' list)
}

@test "-O unique keeps the first of equal entries" {
	command -v jq >/dev/null || skip "jq is not installed"
	count() { build twice | tr-repack -t compdb "$@" | jq length; }
	[ "$(count)" -eq 4 ]
	[ "$(count -O unique=file+output)" -eq 4 ]
	[ "$(count -O unique=file)" -eq 1 ]
	[ "$(count -O unique=all)" -eq 7 ]
	[ "$(count -O unique=none)" -eq 8 ]
	run -2 bash -c 'echo "{\"version\":101}" | tr-repack -t compdb -O unique=some'
	# the first one is kept
	build twice | tr-repack -t compdb -O unique=file | jq -r '.[0].arguments | join(" ")' |
		grep -x '/usr/bin/gcc -c a.c -o a.o'
}

linking() {
	event 2 1 /usr/bin/gcc gcc -O2 -L. -lz -Wl,-x -Xlinker -y -shared -pthread x.c y.o z.a -o prog
	event 3 1 ../bin/gcc gcc -L. -c u.c
}

@test "options for linking are removed if the call also compiles" {
	command -v jq >/dev/null || skip "jq is not installed"
	build linking | tr-repack -t compdb | jq -r '.[] | .arguments | join(" ")' >got
	printf '%s\n' '/usr/bin/gcc -c -O2 -pthread x.c -o prog' "$PWD/bin/gcc -L. -c u.c" | diff - got
}

@test "-O tools selects programs and their response files" {
	command -v jq >/dev/null || skip "jq is not installed"
	cat >tools.json <<-'END'
		[{"binary":"mycc","responseFileArgs":[{"argument":"--via","argFormat":["equal","space"]}]}]
	END
	echo '-DX x.c' >sub/v
	calls() {
		event 2 1 /opt/MyCC.exe mycc -c --via v
		event 3 1 /opt/mycc mycc -c --Via=v -o y.o
		event 4 1 /usr/bin/gcc gcc -c z.c
	}
	build calls | tr-repack -t compdb -O respfile-root=. -O tools=tools.json >db
	[ "$(jq -r '.[] | .arguments | join(" ")' db)" = \
		$'/opt/MyCC.exe -c -DX x.c\n/opt/mycc -c -DX x.c -o y.o' ]
	[ "$(build calls | tr-repack -t compdb -O tools=xcalbuild | jq -r '.[].file')" = "$PWD/sub/z.c" ]
	# every program matters, but not every one compiles
	echo '[]' >every.json
	tr-repack -q -t compdb -O tools=every.json "$data/zlib.kw.json.gz" -z none | sort |
		cmp - <(sort "$data/zlib.compile_commands.json")
	build calls >trace
	run -2 --separate-stderr tr-repack -t compdb -O tools=none.json trace
	[[ $stderr == *"none.json: No such file or directory"* ]]
	echo '[{}]' >tools.json
	run -2 --separate-stderr tr-repack -t compdb -O tools=tools.json trace
	[[ $stderr == *"tools.json: every tool needs the name of its binary"* ]]
}

@test "command lines of Windows have files, outputs and response files" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t1\tC:\\\\VC\\\\CL.EXE\tcwd="C:\\\\src"\targv=["cl","/nologo","@a.rsp","b.cpp"]\trespfile="/c /DX=\\"a b\\" /Foobj\\\\b.obj"\n' \
		'exec\t1\t-\t2\tcl.exe\tcwd="C:\\\\src"\targv=["cl.exe","a.c","x.lib","/link","/OUT:a.exe"]\n!end\t2\n' |
		tr-repack -t compdb -O respfiles=inline >db
	[ "$(jq -r '.[0] | .file, .output, (.arguments | join("|"))' db)" = \
		'C:\src\b.cpp
C:\src\obj\b.obj
C:\VC\CL.EXE|/nologo|/c|/DX=a b|/Foobj\b.obj|b.cpp' ]
	[ "$(jq -r '.[1].arguments | join("|")' db)" = 'cl.exe|/c|a.c' ]
	# options that name sources, and a directory for their outputs
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t1\tcl.exe\tcwd="C:\\\\src"\targv=["cl","/c","/Foobj\\\\","/Tpb.txt","/Tc","x.foo"]\n!end\t1\n' |
		tr-repack -t compdb | jq -r '.[] | .file, .output, (.arguments | join("|"))' >got
	cat >want <<'END'
C:\src\b.txt
C:\src\obj\b.obj
cl.exe|/c|/Foobj\|/Tpb.txt
C:\src\x.foo
C:\src\obj\x.obj
cl.exe|/c|/Foobj\|/Tc|x.foo
END
	diff want got
}

@test "programs of a driver that are run directly" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t1\t/bin/sh\tcwd="/w"\targv=["sh"]\n' \
		'exec\t1\t-\t2\t/usr/bin/clang\tparent=0\tcwd="/w"\targv=["clang","-cc1","-emit-obj","a.c","-o","x.o"]\n!end\t2\n' |
		tr-repack -t compdb >db
	[ "$(jq -r '.[] | .output, (.arguments | join(" "))' db)" = '/w/x.o
/usr/bin/clang -cc1 -emit-obj a.c -o x.o' ]
}

@test "commands without an entry are reported, and the others are written" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t1\tgcc\tcwd="/a"\targv=["gcc","-c","x.c"...]\n' \
		'exec\t1\t-\t2\tgcc\tcwd="/a"\targv=["gcc","-c"]...\n' \
		'exec\t2\t-\t3\tgcc\targv=["gcc","-c","y.c"]\n' \
		'exec\t3\t-\t4\tgcc\tcwd="/a"\targv=["gcc","-c",7]\n' \
		'exec\t4\t-\t5\tgcc\tcwd="/a"\targv=["gcc","-c","z.c"]\terror=ENOENT\n' \
		'exec\t5\t-\t6\tgcc\tcwd="/a"\n' \
		'exec\t6\t-\t7\t-\tcwd="/a"\targv=["gcc","-c","\\xff.c"]\n' \
		'exec\t7\t-\t8\tls\tcwd="/a"\targv="?"\n' \
		'exit\t8\t-\t7\t-\tstatus=0\n!end\t9\n' >trace
	run -2 --separate-stderr tr-repack -t compdb trace
	[ "$(grep -c 'the tracer cut its arguments: no entry' <<<"$stderr")" -eq 2 ]
	[[ $stderr == *"its directory is unknown: no entry"* ]]
	[[ $stderr == *"an argument is not a string"* ]]
	[[ $stderr == *"no argv in the record"* ]]
	[ "$(wc -l <<<"$stderr")" -eq 5 ]
	[[ $output == *$'"file": "/a/\xff.c"'* ]]
	[ "$(grep -c file <<<"$output")" -eq 1 ]
}

@test "a build that compiles nothing gives an empty database" {
	build true | tr-repack -t compdb | cmp - <(echo '[]')
}

@test "a database is read and written back" {
	command -v jq >/dev/null || skip "jq is not installed"
	db=$data/zlib.compile_commands.json
	tr-parse "$db" >trec
	[ "$(tail -n 1 trec)" = $'!end\t34' ]
	tr-repack trec | cmp - "$db"
	# spelled otherwise: as one line, as lines, in pieces
	jq -c . "$db" | tr-parse | cmp - trec
	jq -c '.[]' "$db" | tr-parse | cmp - trec
	jq -S --tab . "$db" | tr-parse | cmp - trec
	dd bs=1 if="$db" 2>/dev/null | tr-parse | cmp - trec
	{ printf '\xef\xbb\xbf'; cat "$db"; } | tr-parse | cmp - trec
}

@test "command, other keys, and what is missing" {
	command -v jq >/dev/null || skip "jq is not installed"
	cat >db.json <<-'END'
		[ { "directory": "/b", "command": "/usr/bin/c++ -DX=\"a b\" '-DY=\\z' -DZ=\\\"q\\\" -c x.cc",
		    "file": "x.cc", "note": [1, {"a": 2.5}], "index": null },
		{ "directory": "C:\\b", "command": "cl.exe /c \"C:\\my src\\y.c\"", "file": "y.c" },
		{ "directory": "C:\\b", "command": "C:\\LLVM\\bin\\clang.exe -c w.c", "file": "w.c" },
		{ "file": "z.c", "arguments": ["cc", "-c", "z.c"], "directory": "/b", "command": "other" },
		{ "directory": "/b", "file": "none.c", "arguments": [] } ]
	END
	tr-parse db.json >trec
	grep -F 'argv=["/usr/bin/c++","-DX=a b","-DY=\\z","-DZ=\"q\"","-c","x.cc"]' trec
	grep -F $'\textra={"note":[1,{"a":2.5}],"index":null}' trec
	grep -F $'cl.exe\tcwd="C:\\\\b"\targv=["cl.exe","/c","C:\\\\my src\\\\y.c"]\tfile="y.c"' trec
	grep -F $'\tC:\\\\LLVM\\\\bin\\\\clang.exe\tcwd="C:\\\\b"\targv=["C:\\\\LLVM\\\\bin\\\\clang.exe","-c","w.c"]' trec
	grep -F $'argv=["cc","-c","z.c"]\tfile="z.c"\textra={"command":"other"}' trec
	tr-repack trec >again.json
	jq '.[0].note == [1, {"a": 2.5}] and .[3].command == "other" and length == 5' again.json | grep -x true
	tr-parse again.json | cmp - trec
}

@test "the content of a response file stays in an entry that was read, or replaces its name" {
	command -v jq >/dev/null || skip "jq is not installed"
	echo '[{"directory":"/b","file":"a.c","arguments":["gcc","-c","a.c"],"respfile":"-DX","note":1},
		{"directory":"/b","file":"b.c","arguments":["gcc","-c","@b","b.c"],"respfile":"-DX\n"}]' >db.json
	tr-parse db.json >trec
	tr-repack -O respfiles=keep trec | jq -S . | cmp - <(jq -S . db.json)
	tr-repack trec | jq -c '.[] | [.arguments, .respfile]' >got
	printf '%s\n' '[["gcc","-c","a.c"],"-DX"]' '[["gcc","-c","-DX","b.c"],null]' | cmp - got
	# outputs in response files distinguish entries, also if the names stay; what Clang does not know stays there
	cat >db.json <<-'END'
		[{"directory":"/b","file":"a.c","arguments":["gcc","-c","@a","a.c","@gone","-fipa-pta"],"respfile":"-oa.o -Wall\n--param x=1"},
		{"directory":"/b","file":"a.c","arguments":["gcc","-c","@a","a.c"],"respfile":"-ob.o"},
		{"directory":"/b","file":"a.c","arguments":["gcc","-c","a.c","-oa.o"]}]
	END
	tr-parse db.json >trec
	tr-repack --strict -t compdb -O respfiles=keep trec | jq -S . | cmp - <(jq -S '.[:2]' db.json)
	tr-repack --strict -t compdb -O respfiles=keep -O for=clangd trec | jq -r '.[].arguments | join(" ")' >got
	printf '%s\n' 'gcc -Wno-unknown-warning-option -c @a a.c @gone' 'gcc -c @a a.c' | cmp - got
}

@test "the program of an entry that was read decides how it names response files" {
	command -v jq >/dev/null || skip "jq is not installed"
	words() { jq -r '.[].arguments | join(" ")' "$@"; }
	echo -DX >sub/x
	printf '[{"directory":"%s","file":"a.cu","command":"%s"%s}]\n' "$PWD/sub" 'nvcc --options-file x -c a.cu' '' >nvcc.json
	printf '[{"directory":"%s","file":"a.c","command":"%s"%s}]\n' /b 'ccache armcc --via=x -c a.c' ',"respfile":"-DY"' >armcc.json
	tr-repack -t compdb -O respfile-root=sub -o - nvcc.json armcc.json | words >got
	printf '%s\n' 'nvcc -DX -c a.cu' 'ccache armcc -DY -c a.c' | cmp - got
	run -0 --separate-stderr tr-repack -t compdb -o out nvcc.json armcc.json
	[[ $stderr == *"response file 'x' is not expanded"* ]]
	tr-repack -t compdb -O respfile-root=sub -O respfiles=keep -o - nvcc.json armcc.json | words >got
	printf '%s\n' 'nvcc --options-file x -c a.cu' 'ccache armcc --via=x -c a.c' | cmp - got
	# with tools, only their rules count
	echo '[{"binary":"nvcc","responseFileArgs":[{"argument":"-f","argFormat":["space"]}]}]' >tools.json
	tr-parse nvcc.json | tr-repack -t compdb -O respfile-root=sub -O tools=tools.json | words | grep -Fx 'nvcc --options-file x -c a.cu'
	# items of a build specification, too
	jq -s 'add | [.[] | del(.file)]' nvcc.json armcc.json | tr-parse >items
	tr-repack -t buildspec -O respfile-root=sub -O respfiles=inline items | words >got
	printf '%s\n' 'nvcc -DX -c a.cu' 'ccache armcc -DY -c a.c' | cmp - got
	tr-repack -t buildspec -O respfile-root=sub -O respfiles=attach items | jq -c '[.[].respfile]' >got
	echo '["-DX\n","-DY"]' | cmp - got
}

@test "several databases become one" {
	command -v jq >/dev/null || skip "jq is not installed"
	db=$data/zlib.compile_commands.json
	[ "$(tr-repack "$db" "$db" | jq length)" -eq 34 ]
	[ "$(tr-repack -O unique=none "$db" "$db" | jq length)" -eq 68 ]
	[ "$(tr-repack -t compdb "$db" "$data/mc.kw.jsonl.gz" | jq length)" -eq 37 ]
	[ "$(tr-tojson --as=compdb "$db" "$db" | jq length)" -eq 34 ]
	tr-repack "$db" | cmp - "$db"
	cat "$db" "$db" | tr-parse | grep -c ^exec | grep -x 68
	{ cat "$db" && printf '\xef\xbb\xbf' && cat "$db"; } >marked.json
	run -0 --separate-stderr tr-parse marked.json
	[ "$(grep -c ^exec <<<"$output")" -eq 68 ]
}

@test "a damaged database: complete entries are kept" {
	db=$data/zlib.compile_commands.json
	total=$(wc -l <"$db")
	for line in 1 2 9 14 15 16 200 $((total - 1)) "$total"; do
		sed "${line}d" "$db" | { tr-parse -q -f compdb || true; } >out
		echo "without line $line: $(grep -c ^exec out)"
		[ "$(grep -c ^exec out)" -ge 32 ]
		sed "${line}s/..\$//" "$db" | { tr-parse -q -f compdb || true; } >out
		echo "line $line cut: $(grep -c ^exec out)"
		[ "$(grep -c ^exec out)" -ge 32 ]
	done
	head -c 5000 "$db" >cut
	run -2 --separate-stderr tr-parse cut
	[[ $stderr == *"cut:"*": the input ends in the middle of an object"* ]]
	[[ ${lines[-1]} == $'!end\t'*$'\terrors=1\ttruncated=true' ]]
	echo '[{"directory":"/","arguments":["a"],"file":"a.c"},{"directory":"/","arguments":"a","file":"b.c"},{"a":1}]' >odd
	run -2 --separate-stderr tr-parse odd
	[[ $stderr == *"a value of the wrong type: arguments"*"an object without directory and arguments"* ]]
	[ "$(grep -c ^exec <<<"$output")" -eq 1 ]
	head -n -1 "$db" >cut
	run -2 --separate-stderr tr-parse cut
	[[ $stderr == *"the input ends in the middle of the list"* ]]
}

@test "a compressed log makes a database that is not" {
	kw=$top_srcdir/tests/data/build/zlib.kw.json.gz
	tr-repack -t compdb "$kw" | jq 'length == 34' | grep -x true
	tr-repack -z gzip -t compdb "$kw" | zcat | cmp - <(tr-repack -t compdb "$kw")
}

@test "lone surrogates, which stand for invalid UTF-8, are written back" {
	printf '[\n  {\n    "arguments": [\n      "gcc",\n      "caf\\udce9.c"\n    ],\n    "directory": "/\\udce9",\n    "file": "caf\\udce9.c",\n    "output": "\\ud800.o"\n  }\n]\n' >db.json
	tr-parse db.json | tr-repack | cmp - db.json
	tr-parse db.json | tr-filter exec | tr-repack -t buildspec | grep -F '"arguments": ["gcc","caf\udce9.c"]'
}

@test "a command of N sources takes time in proportion to N, and to what is written of it" {
	words() { # SED-TEXT: a command with these words for each of 80,000 numbers
		printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\tgcc\tcwd="/b"\targv=["gcc","-c"'
		seq 80000 | sed "s/.*/$1/" | tr -d '\n'
		printf ']\n!end\t1\n'
	}
	words ',"s&.c"' >sources
	words ',"s&.c","-DA&"' >both
	# 17 s of processor time where each entry looks at each word
	ulimit -t 4
	[ "$(tr-repack -t compdb sources | grep -c '"file": "/b/s[0-9]*.c"')" -eq 80000 ]
	[ "$(tr-repack -q -t compdb -O headers=yes sources 2>messages | grep -c '"file": "/b/s[0-9]*.c"')" -eq 80000 ]
	[ "$(tr-repack -t kwspec sources | grep -c '^compile;/b;gcc;/b/s[0-9]*.o;s[0-9]*.c$')" -eq 80000 ]
	# N sources with N options each have no limit but the one that is set
	for format in compdb kwspec; do
		run -2 --separate-stderr tr-repack -t $format both
		[[ $stderr == *":2: left out: its 80000 sources with all of its options would take more than 256 MiB"* ]]
		[ "${#output}" -lt 20 ] # nothing but the frame
	done
}

@test "an option that takes a value and is the last word has none" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\tcl.exe\tcwd="/b"\targv=["cl","/c","a.c","/%s"]\n!end\t1\n' Tc >trace
	[ "$(tr-repack -t compdb trace | jq -r '.[].file')" = /b/a.c ]
	[ "$(tr-repack -t kwspec trace | tail -n +2)" = 'compile;/b;cl.exe;/b/a.obj;a.c' ]
}

# headers LOG MODE: the entries that -O headers=MODE adds, as in tests/data/deps/headers.cases
headers() {
	tr-repack -q -t compdb "$1" >without
	tr-repack -t compdb -O headers="$2" "$1" >with
	jq -r --argjson n "$(jq length without)" --arg mode "$2" '.[$n:][] | .file as $file |
		"\($mode) \($file) \([.arguments[] | select(. != $file)] | join(" "))"' with
}

@test "headers: the rules of tests/data/deps/headers.cases" {
	command -v jq >/dev/null || skip "jq is not installed"
	local rule= line count=0 failed=0 mode
	: >log
	: >want
	while IFS= read -r line; do
		case $line in
		'# '*) rule=${line#??} ;;
		[0-9]*) printf '%s\n' "$line" >>log ;;
		yes* | all*) printf '%s\n' "$line" >>want ;;
		'')
			for mode in yes all; do
				grep -q "^$mode" want || continue
				count=$((count + 1))
				if ! diff <(grep "^$mode" want) <(headers log $mode); then
					failed=$((failed + 1))
					echo "# $rule"
				fi
			done
			: >log
			: >want
			;;
		esac
	done < <(cat "${data%/*}/deps/headers.cases" && echo)
	echo "$count answers, $failed wrong"
	[ "$count" -gt 9 ]
	[ $failed = 0 ]
}

@test "headers: a trace without file calls has none, and a note reports this" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-repack -t compdb "$data/zlib.kw.json.gz" >want
	run -2 --separate-stderr tr-repack -t compdb -O headers=yes "$data/zlib.kw.json.gz"
	[ "$output" = "$(cat want)" ]
	[[ $stderr == *"no header has an entry, because the trace has no file calls: record them with "* ]]
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 openat(AT_FDCWD, "in", O_RDONLY) = 3' \
		'1 openat(AT_FDCWD, "/w/in", O_RDONLY) = 3' >log
	run -2 --separate-stderr tr-repack -t compdb -O headers=yes log
	[[ $stderr == *"headers may be missing, because the working directory is not known"* ]]
	# two traces: a header has one entry, and a source none among the headers
	sed -n '/^# the flags/,/^$/p' "${data%/*}/deps/headers.cases" | grep '^[0-9]' >one
	sed 's,inc/a.h,a.c,; s,a\.c"\],b.c"],; s/-DA=1/-DB/' one >two
	tr-repack -t compdb -O headers=yes one two >both
	[ "$(jq -r '.[].file' both | sort | uniq -d)" = "" ]
	tr-tojson --as=compdb -O headers=yes one two | cmp - both
	tr-parse one two | tr-repack -t compdb -O headers=yes | cmp - both
}

@test "headers: gcc and clangd understand the entries of a real build" {
	command -v jq >/dev/null || skip "jq is not installed"
	command -v strace >/dev/null || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	mkdir -p project/inc project/src && cd project
	printf '#pragma once\n#ifndef A\n#error A\n#endif\n#include "two.h"\nint one(void);\n' >inc/one.h
	printf '#pragma once\nstatic inline int two(void) { return A; }\n' >inc/two.h
	printf '#pragma once\n#include "one.h"\ntemplate<class T> T three(T x) { return x + B; }\n' >inc/three.h
	printf '#include <stdio.h>\n#include "one.h"\nint one(void) { return two(); }\n' >src/one.c
	printf '#include "three.h"\nint main() { return three(1); }\n' >src/main.cc
	printf 'all:\n\tgcc -Iinc -DA=1 -MMD -c src/one.c -o one.o\n\tg++ -Iinc -DA=1 -DB=2 -c src/main.cc\n' >Makefile
	timeout -k 30 120 strace -f -s 4096 -e trace=%file,%process,%desc -o ../log make >/dev/null
	tr-repack -t compdb -O headers=yes -o compile_commands.json ../log
	[ "$(jq -r ".[].file | ltrimstr(\"$PWD/\")" compile_commands.json | xargs)" = \
		'src/one.c src/main.cc inc/one.h inc/three.h inc/two.h' ]
	# the compiler accepts each, and writes nothing
	jq -r '.[2:][] | [.arguments[] | @sh] | join(" ")' compile_commands.json >commands
	rm one.d one.o main.o
	ls -R >../before
	while read -r command; do
		eval "$command"
	done <commands
	ls -R | cmp - ../before
	command -v clangd >/dev/null || skip "clangd is not installed: gcc accepts the entries"
	for header in inc/one.h inc/three.h; do
		HOME=$PWD/.. timeout 60 clangd --check=$header --log=info --enable-config=0 >../check 2>&1
		grep -q 'All checks completed, 0 errors' ../check
		grep -q 'Compile command from CDB is: .*-x c.*-header' ../check
	done
}

# shown: one line for each entry of a database: directory, file, output and words, with ~ for blanks
shown() {
	jq -r '.[] | [.directory, .file, .output // "-", .arguments[]] | map(gsub(" "; "~")) | join(" ")'
}

# A command of the cases as a record: "DIR: [NAME=VALUE...] EXECUTABLE WORDS"
case_record() {
	local directory=${1%%: *} words env= argv= word
	read -r -a words <<<"${1#*: }"
	while [[ ${words[0]} == [A-Z_]*=* ]]; do
		word=${words[0]//\\/\\\\} word=${word//\"/\\\"}
		env+=,\"${word%%=*}\":\"${word#*=}\"
		words=("${words[@]:1}")
	done
	for word in "${words[@]:1}"; do
		word=${word//\\/\\\\}
		argv+=,\"${word//\"/\\\"}\"
	done
	printf 'exec\t%s\t-\t-\t%s\tcwd="%s"\targv=[%s]\tenv={%s}\n' "$2" "${words[0]}" \
		"${directory//\\/\\\\}" "${argv:1}" "${env:1}" | tr '~' ' '
}

@test "the entries are those of Bear 4's own cases" {
	command -v jq >/dev/null || skip "jq is not installed"
	local line title= count=0 bad=0 options=() word
	: >want; : >trace
	while IFS= read -r line; do
		case $line in
		'@ '*) title=$line ;;
		'- '*) for word in ${line#- }; do options+=(-O "$word"); done ;;
		'$ '*) case_record "${line#$ }" "$(wc -l <trace)" >>trace ;;
		'> '*) printf '%s\n' "${line#> }" >>want ;;
		'')
			[ -s trace ] || continue
			tr-repack -q -t compdb "${options[@]}" trace | shown >got
			diff want got >diff || { echo "$title"; cat diff; bad=$((bad + 1)); }
			count=$((count + 1)) options=(); : >want; : >trace
			;;
		esac
	done < <(set -f; cat "$data/bear4.cases"; echo)
	echo "$count cases, $bad of them wrong"
	[ "$bad" -eq 0 ] && [ "$count" -ge 30 ]
}

@test "-O paths=canonical resolves links as the kernel does" {
	command -v jq >/dev/null || skip "jq is not installed"
	mkdir -p real/deep src
	touch real/a.c src/b.c real/deep/c.c
	ln -s real/deep link
	calls() {
		printf 'exec\t%d\t-\t-\tcc\tcwd="%s"\targv=["cc","-c","%s","-o","%s"]\n' \
			0 "$PWD" link/../a.c none/a.o 1 "$PWD/link" ../../src/b.c b.o 2 "$PWD/link" c.c gone/./c.o
	}
	calls | tr-repack -q -t compdb -O paths=canonical |
		jq -r '.[] | "\(.directory) \(.file) \(.output)"' | sed "s,$(pwd -P),.,g" >got
	printf '%s\n' '. ./real/a.c ./none/a.o' './real/deep ./src/b.c ./real/deep/b.o' \
		'./real/deep ./real/deep/c.c ./real/deep/gone/c.o' | diff - got
	# one file has one entry, whatever its names are
	printf 'exec\t%d\t-\t-\tcc\tcwd="%s"\targv=["cc","-c","c.c"]\n' 0 "$PWD/link" 1 "$PWD/real/deep" >twice
	[ "$(tr-repack -q -t compdb twice | jq length)" -eq 2 ]
	[ "$(tr-repack -q -t compdb -O paths=canonical twice | jq length)" -eq 1 ]
	# entries of a database change only on request
	tr-repack -q -t compdb -O paths=relative twice >db
	tr-repack -q -t compdb db | cmp - db
	[ "$(tr-repack -q -t compdb -O paths=absolute db | jq -r '.[0].file')" = "$PWD/link/c.c" ]
}

# unit ARGUMENTS...: the record of a command that compiles, in ./sub
unit() {
	local word argv=
	for word; do argv+=,\"$word\"; done
	printf 'exec\t0\t-\t-\tcc\tcwd="%s/sub"\targv=["cc"%s]\n' "$PWD" "$argv"
}

@test "-O append keeps entries that are not compiled again" {
	command -v jq >/dev/null || skip "jq is not installed"
	show() { jq -r '.[].arguments[1:] | join(" ")' "$@"; }
	# Bear: append_works_as_expected, and the first time there is nothing to append to
	run -0 --separate-stderr tr-repack -t compdb -O append=db -o db <(unit -c a.c -o a.o; unit -c b.c)
	[[ $stderr == *"note: -O append: 'db' does not exist, so no entries are kept"* ]]
	unit -c c.c | tr-repack -q --strict -t compdb -O append=db -o db
	[ "$(show db)" = $'-c c.c\n-c a.c -o a.o\n-c b.c' ]
	# the same object of the same source is replaced (Bear keeps the old entry), others are not
	{ unit -DN -c a.c -o a.o; unit -DN -c b.c -o other.o; unit -DN -c b.c; } >again
	tr-repack -q -t compdb -O append=db again >new
	[ "$(show new)" = $'-DN -c a.c -o a.o\n-DN -c b.c -o other.o\n-DN -c b.c\n-c c.c' ]
	[ "$(tr-repack -q -t compdb -O append=db -O unique=file again | show)" = $'-DN -c a.c -o a.o\n-DN -c b.c -o other.o\n-c c.c' ]
	[ "$(tr-repack -q -t compdb -O append=new -O unique=all again | jq length)" -eq 4 ]
	[ "$(tr-repack -q -t compdb -O append=new -O unique=none again | jq length)" -eq 7 ]
	# an entry without an output, with other options
	unit -fsyntax-only s.c | tr-repack -q -t compdb >db2
	[ "$(unit -fsyntax-only -DN s.c | tr-repack -q -t compdb -O append=db2 | show)" = '-fsyntax-only -DN s.c' ]
	# settings apply to kept entries; a trace without compilers changes nothing
	touch sub/c.c
	[ "$(unit -c x.c | tr-repack -q -t compdb -O append=db -O existing=yes | show)" = '-c c.c' ]
	[ "$(printf 'exec\t0\t-\t-\ttrue\tcwd="/"\targv=["true"]\n' | tr-repack -q -t compdb -O append=db | jq -cS .)" = "$(jq -cS . db)" ]
	[ "$(unit -c x.c | tr-repack -q -t compdb -O append=db -O headers=no -O form=command | jq -r '.[1].command')" = 'cc -c c.c' ]
	# compressed, as command texts, and with keys of other tools
	jq '[.[] | {directory, file, command: (.arguments | join(" ")), x: 1}]' db | gzip >db.gz
	[ "$(unit -c b.c | tr-repack -q -t compdb -O append=db.gz | jq -c '[.[] | .x]')" = '[null,1,1]' ]
}

@test "-O append of damaged files" {
	command -v jq >/dev/null || skip "jq is not installed"
	unit -c a.c >trace
	echo 'int main;' >text
	run -2 --separate-stderr tr-repack -t compdb -O append=text -o out trace
	[[ $stderr == *"-O append: 'text' is not a compilation database"* && ! -e out ]]
	mkdir dir
	run -2 --separate-stderr tr-repack -t compdb -O append=dir -o out trace
	[[ $stderr == *"dir"*directory* && ! -e out ]]
	# Bear: invalid entries are left out, and the valid ones kept
	cat >bad <<-'END'
		[{"directory":"/b","file":"x.c","arguments":["cc","-c","x.c"]},
		{"directory":"/b","file":5,"arguments":["cc"]},
		{"directory":"/b","arguments":["cc"]},
		{"directory":"/b","file":"y.c","arguments":["cc","-c","y.c"]},
		{"directory":"/b","fi
	END
	run -2 --separate-stderr tr-repack -t compdb -O append=bad trace
	[ "$(jq -r '.[].file' <<<"$output" | sed "s,$PWD/sub/,,")" = $'a.c\nx.c\ny.c' ]
	[[ $stderr == *"bad: line 2: an object with a value of the wrong type: file"* ]]
	[[ $stderr == *"bad: line 3: an entry without file: left out"* ]]
	[[ $stderr == *"bad: line 5: "* ]]
	: >nothing
	[ "$(tr-repack -q -t compdb -O append=nothing trace | jq length)" -eq 1 ]
	gzip <bad | head -c 60 >cut.gz
	run -2 tr-repack -t compdb -O append=cut.gz trace
}

@test "clang finds headers by the variables of the environment" {
	command -v jq >/dev/null || skip "jq is not installed"
	mkdir -p one two cpp
	echo '#define FROM 1' >one/f.h
	echo '#define FROM 2' >two/f.h
	echo '#define SYSTEM 3' >two/s.h
	echo '#define SYSTEM 4' >cpp/s.h
	printf '#include <f.h>\n#include <s.h>\n#if FROM != 1 || SYSTEM != WANT\n#error\n#endif\nint x;\n' | tee sub/a.c >sub/b.cc
	printf 'exec\t%d\t-\t-\tgcc\tcwd="%s"\targv=["gcc","-DWANT=%d","-c","%s"]\tenv={"CPATH":"%s/one:","C_INCLUDE_PATH":"%s/two","CPLUS_INCLUDE_PATH":"../cpp"}\n' \
		0 "$PWD/sub" 3 a.c "$PWD" "$PWD" 1 "$PWD/sub" 4 b.cc "$PWD" "$PWD" >trace
	# the parent's environment is inherited
	printf 'exec\t2\t-\t-\tgcc\tparent=0\tcwd="%s"\targv=["gcc","-c","-DWANT=3","../sub/a.c","-o","c.o"]\tenvdiff={"A":"b"}\n' "$PWD/sub" >>trace
	tr-repack -q -t compdb trace >without.json
	tr-repack -q --strict -t compdb -O env-includes=yes trace >compile_commands.json
	[ "$(jq -c '[.[] | .arguments[4:]]' compile_commands.json)" = "[[\"-I$PWD/one\",\"-I.\",\"-isystem\",\"$PWD/two\"],[\"-I$PWD/one\",\"-I.\",\"-isystem\",\"../cpp\"]]" ]
	[ "$(jq length compile_commands.json)" -eq "$(jq length without.json)" ]
	# the third is a part of the first and has no entry
	run -0 --separate-stderr tr-repack -t compdb -O env-includes=yes <(sed 's/env={[^}]*}/flagged=["env-unknown"]/' trace)
	[[ $stderr == *"note: -O env-includes: calls whose environment is not in the trace: 2"* ]]
	# a trace with all environments, in each form, has no note
	for name in zlib.kw.json zlib.strace zlib.bear.json; do
		tr-repack --strict -z none -t compdb -O env-includes=yes "$data/$name.gz" | cmp - <(tr-repack -z none -t compdb "$data/$name.gz")
	done
	command -v clang-check >/dev/null || skip "clang-check is not installed"
	clang-check -p . sub/a.c sub/b.cc
	mv without.json compile_commands.json
	run ! clang-check -p . sub/a.c
}

@test "directories of the environment come before --, after which there are no options" {
	command -v jq >/dev/null || skip "jq is not installed"
	words() { tr-repack -q -t compdb -O env-includes=yes "$@" | jq -r '.[].arguments | join(" ")'; }
	cat >log <<-'END'
		1 execve("/bin/sh", ["sh"], []) = 0
		1 chdir("/b") = 0
		1 fork() = 2
		2 execve("/usr/bin/clang-cl", ["clang-cl", "/c", "/MD", "--", "f.c"], ["INCLUDE=/i;/j"]) = 0
		2 openat(AT_FDCWD, "f.c", O_RDONLY) = 3
		2 openat(AT_FDCWD, "f.h", O_RDONLY) = 3
		1 fork() = 3
		3 execve("/usr/bin/gcc", ["gcc", "-c", "-O2", "--", "g.c"], ["CPATH=/i:/j"]) = 0
		1 fork() = 4
		4 execve("/usr/bin/cl", ["cl", "h.c", "/MD", "/link", "/x"], ["INCLUDE=/i"]) = 0
	END
	words -O headers=yes log >got
	cat >want <<-'END'
		/usr/bin/clang-cl /c /MD /I/i /I/j -- f.c
		/usr/bin/gcc -c -O2 -I/i -I/j -- g.c
		/usr/bin/cl /c h.c /MD /I/i
		/usr/bin/clang-cl /Zs /TC /MD /I/i /I/j -- /b/f.h
	END
	diff want got
}

@test "-O for=clangd leaves out options that Clang does not know" {
	command -v jq >/dev/null || skip "jq is not installed"
	# a kernel's options, and those of others; "|" before words that stay
	local words='-fno-allow-store-data-races -fconserve-stack -fno-var-tracking-assignments
		-mindirect-branch=thunk-extern -mindirect-branch-register -fno-ipa-sra -flto=4 -fuse-linker-plugin
		-fno-tree-loop-im -fipa-pta -fplugin=x.so -fplugin-arg-x-y=1 --param=a=1 --param|a=1 -wrapper|gdb,--args
		-specs=nano.specs -Wa,-mrelax -Xassembler|-x -mno-sched-prolog -fanalyzer -mpreferred-stack-boundary=3
		-fmin-function-alignment=16 -fno-reorder-blocks -free -fdebug-cpp -fdirectives-only -fno-mudflap
		-fnothrow-opt -mnop-mcount -mrecord-mcount -fno-extended-identifiers -fno-force-addr -fno-freestanding
		-fno-hosted -fno-instrument-functions -gno-as-loc-support -gno-as-locview-support -mno-fentry'
	local stay='-O2 -Wall -Wlogical-op -Wno-maybe-uninitialized -fno-strict-aliasing -fno-builtin-memcpy
		-ffixed-x18 -ftree-vectorize -fno-common -fstack-protector-strong -DA=1 -march=x86-64 -fshort-wchar -g -gdwarf-4 -Iinc
		-fextended-identifiers -fforce-addr -ffreestanding -mfentry'
	local word argv=
	for word in $words $stay; do argv+=,\"${word//|/\",\"}\"; done
	echo 'int x;' >sub/a.c
	printf 'exec\t0\t-\t-\t/usr/bin/gcc\tcwd="%s/sub"\targv=["gcc"%s,"-c","a.c"]\n' "$PWD" "$argv" >trace
	want="/usr/bin/gcc -Wno-unknown-warning-option $(echo $stay) -c a.c"
	[ "$(tr-repack -q -t compdb -O for=clangd trace | jq -r '.[0].arguments | join(" ")')" = "$want" ]
	# a database is changed in the same way, once; Clang's own commands are not
	tr-repack -q -t compdb trace | tr-repack -q -t compdb -O for=clangd >compile_commands.json
	[ "$(jq -r '.[0].arguments | join(" ")' compile_commands.json)" = "$want" ]
	tr-repack -q -t compdb -O for=clangd compile_commands.json | cmp - compile_commands.json
	sed 's,/usr/bin/gcc,clang,' trace >clang.trace
	tr-repack -q -t compdb -O for=clangd clang.trace | cmp - <(tr-repack -q -t compdb clang.trace)
	command -v clang >/dev/null || skip "clang is not installed"
	for word in $words; do
		# later versions may know more
		clang --version | grep -q ' version 1[4-6]' || break
		# Clang has plugins, but not those of GCC
		[[ $word != -fplugin* ]] || continue
		run clang -### -Werror -c sub/a.c ${word//|/ }
		[[ $output == *error:* ]] || { echo "clang knows $word"; return 1; }
	done
	(cd sub && clang -### -Werror=ignored-optimization-argument $(jq -r '.[0].arguments[1:] | map(select(. != "-ffixed-x18")) | join(" ")' ../compile_commands.json)) >log 2>&1
	run ! grep -E 'unknown argument|unsupported|not supported|unused' log
	command -v clang-check >/dev/null || skip "clang-check is not installed"
	sed -i '/-ffixed-x18/d' compile_commands.json
	clang-check -p . sub/a.c
}

@test "a part of another call needs no arguments" {
	# cc1 cannot be read, and runs gcc, which is a part of the first call nevertheless
	printf 'exec\t%s\t-\t%s\t%s\tcwd="/b"\t%s\n' 0 1 gcc 'argv=["gcc","-c","a.c"]' \
		1 2 /usr/lib/cc1 $'argv=[1]\tparent=0' 2 3 gcc $'argv=["gcc","-c","b.c"]\tparent=1' >trace
	run -0 --separate-stderr tr-repack --strict -t compdb trace
	[ -z "$stderr" ]
	[ "$(grep '"file"' <<<"$output")" = '    "file": "/b/a.c"' ]
}

# entry FILE COMMAND [MEMBERS]: a database with that entry
entry() {
	printf '[{"directory":"/b","file":"%s","command":"%s"%s}]\n' "$1" "$2" "${3:+,$3}"
}

@test "an entry that was read is that of the program after its launchers" {
	command -v jq >/dev/null || skip "jq is not installed"
	words() { jq -r '.[].arguments | join(" ")' "$@"; }
	# different outputs are different entries
	entry x.cc 'ccache g++ -o a/x.o -c x.cc' >a.json
	entry x.cc 'distcc ccache g++ -c x.cc -oa/x.o' >a2.json
	entry x.cc 'ccache g++ -o b/x.o -c x.cc' >b.json
	[ "$(tr-repack -t compdb -o - a.json b.json a2.json | words)" = $'ccache g++ -o a/x.o -c x.cc\nccache g++ -o b/x.o -c x.cc' ]
	# equal outputs replace each other
	for command in 'cl /c d.c /Fod.obj' 'gcc -S d.c'; do
		entry d.c "ccache $command" >old.json
		echo "$command -DNEW" |
			tr-repack -q -f makelog -O cwd=/b -t compdb -O append=old.json -o - - | words >got
		[ "$(cat got)" = "$command -DNEW" ]
	done
	# the words before the program stay
	entry a.c 'xcrun -sdk macosx gcc -c a.c -fconserve-stack --param foo=1 -Wall' |
		tr-repack -t compdb -O for=clangd | words >got
	[ "$(cat got)" = 'xcrun -sdk macosx gcc -Wno-unknown-warning-option -c a.c -Wall' ]
	# so do all words of the program itself
	entry a.c 'ccache zig cc -c a.c -fconserve-stack -Wall' | tr-repack -t compdb -O for=clangd | words >got
	[ "$(cat got)" = 'ccache zig cc -Wno-unknown-warning-option -c a.c -Wall' ]
	# the program decides how response files are quoted
	entry e.c 'ccache cl /c e.c @e.rsp' '"respfile":"/Ic:\\inc"' >e.json
	[ "$(tr-parse e.json | tr-repack -t compdb | words)" = 'ccache cl /c e.c /Ic:\inc' ]
	jq 'del(.[].file)' e.json | tr-parse | tr-repack -t buildspec -O respfiles=inline | words >got
	[ "$(cat got)" = 'ccache cl /c e.c /Ic:\inc' ]
	# no program, or no words at all
	for words in '"ccache"' '"xcrun","-sdk"' ''; do
		echo "[{\"directory\":\"/b\",\"file\":\"a.c\",\"arguments\":[$words]}]" >none.json
		[ "$(tr-parse none.json | tr-repack --strict -t compdb -O for=clangd | jq -c '.[].arguments')" = "[$words]" ]
	done
}

@test "an option for the directory of objects is a part of the output" {
	command -v jq >/dev/null || skip "jq is not installed"
	read_log() { tr-repack -q -f makelog -O cwd=/b -t compdb -O append="$1" -o - -; }
	words() { jq -r '.[].arguments | join(" ")' "$@"; }
	for command in 'cl /c e.c /Foobj/' 'armcc -c e.c --output_dir=obj' 'nvcc -c e.c -odir obj/'; do
		entry e.c "$command -DOLD" >old.json
		entry e.c "${command/obj/other} -DOLD" >other.json
		echo "$command -DNEW" | read_log old.json | words >got
		[ "$(cat got)" = "$command -DNEW" ]
		echo "$command -DNEW" | read_log other.json | words >got
		[ "$(cat got)" = "$command -DNEW"$'\n'"${command/obj/other} -DOLD" ]
		# entries without a member output, and those of a trace
		[ "$(tr-repack -t compdb -o - old.json other.json old.json | jq length)" -eq 2 ]
		printf '%s\n' "$command" "${command/obj/other}" "$command" | read_log none | jq -r '.[].output' >got
		[ "$(sed 's/[.]obj$/.o/' got)" = $'/b/obj/e.o\n/b/other/e.o' ]
	done
	# each source has an object of its own; an output that is named is the only one
	[ "$(echo 'armcc -c a.c b.c --output_dir=z' | read_log none | jq -r '.[].output')" = $'/b/z/a.o\n/b/z/b.o' ]
	[ "$(echo 'armcc -c a.c -o x.o --output_dir=z' | read_log none | jq -r '.[].output')" = /b/x.o ]
}
