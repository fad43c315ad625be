#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Klocwork's build specification.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/build
}

@test "compile and link lines of a build" {
	tr-repack -z none -t kwspec "$data/zlib.kw.json.gz" >spec
	[ "$(head -n 1 spec)" = 'version;108' ]
	[ "$(grep -c '^compile;' spec)" -eq 34 ]
	[ "$(grep -c '^link;' spec)" -eq 8 ]
	[ "$(sed -n 3p spec)" = 'compile;/srv/build/zlib;/usr/bin/gcc;/srv/build/zlib/adler32.o;adler32.c;-D_LARGEFILE64_SOURCE=1;-DHAVE_HIDDEN' ]
	grep -qx 'link;/srv/build/zlib;/srv/build/zlib/example;/srv/build/zlib/example.o;/srv/build/zlib/libz.a' spec
	grep -q '^link;/srv/build/zlib;/srv/build/zlib/libz.a;/srv/build/zlib/adler32.o;' spec
}

# call ARGUMENTS: the lines of one call in /b
call() {
	printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\t%s\tcwd="/b"\targv=[%s]\n!end\t1\n' "$1" "$2" |
		tr-repack -t kwspec | tail -n +2
}

@test "a call with several sources gives a line for each, and one for the link" {
	run -0 call /usr/bin/cc '"cc","-O2","-D","A=1","-I","inc","-isystem","/s","-include","p.h","-std=c99","-iquote","q","a.c","b.S","c.cc","d.o","-lz","-o","bin/x"'
	flags='-DA=1;-Iinc;-J/s;-include;p.h;-std=c99;-Iq'
	[ "${lines[0]}" = "compile;/b;/usr/bin/cc;/b/a.o;a.c;$flags" ]
	[ "${lines[1]}" = "compile;/b;/usr/bin/cc;/b/c.o;c.cc;$flags" ]
	[ "${lines[2]}" = 'link;/b;/b/bin/x;/b/a.o;/b/b.o;/b/c.o;/b/d.o' ]
	[ "${#lines[@]}" -eq 3 ]
	[ "$(call gcc '"gcc","-c","x;%y.c","-DN=a\nb"')" = 'compile;/b;gcc;/b/x%3B%25y.o;x%3B%25y.c;-DN=a%0Ab' ]
	[ "$(call ../gcc '"gcc","-S","x.c"')" = 'compile;/b;/gcc;/b/x.s;x.c' ]
	[ "$(call gcc '"gcc","a.o"')" = 'link;/b;/b/a.out;/b/a.o' ]
	[ -z "$(call gcc '"gcc","-E","a.c"')" ]
	[ -z "$(call gcc '"gcc","--version"')" ]
	# tests on standard input link nothing that has a name
	[ -z "$(call gcc '"gcc","-Wl,-x","-o","/dev/null","-xc","-"')" ]
	[ "$(call gcc '"gcc","-o","x","a.o","-xc","-"')" = 'link;/b;/b/x;/b/a.o' ]
}

@test "calls of ar that add members are links" {
	[ "$(call ar '"ar","rcs","l.a","x.o","/y.o"')" = 'link;/b;/b/l.a;/b/x.o;/y.o' ]
	[ "$(call ar '"ar","--plugin","p.so","-q","l.a","x.o"')" = 'link;/b;/b/l.a;/b/x.o' ]
	[ "$(call gcc-ar-12 '"ar","ra","old.o","l.a","x.o"')" = 'link;/b;/b/l.a;/b/x.o' ]
	[ "$(call ar '"ar","-r","-c","-s","l.a","x.o"')" = 'link;/b;/b/l.a;/b/x.o' ]
	[ -z "$(call ar '"ar","t","l.a"')" ]
	[ -z "$(call ar '"ar","r"')" ]
	[ -z "$(call ar '"ar"')" ]
}

@test "options of response files, and those that are not there" {
	printf '%s\n' '-DX="a b"' >opts
	printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\tgcc\tcwd="%s"\targv=["gcc","-c","@opts","@gone","a.c"]\n!end\t1\n' \
		"$PWD" >trace
	run -0 --separate-stderr tr-repack -t kwspec -O respfile-root=. trace
	[ "${lines[1]}" = "compile;$PWD;gcc;$PWD/a.o;a.c;-DX=a b" ]
	[[ $stderr == *"response file 'gone' is not expanded"* ]]
}

@test "-o of clang-cl names the program if it links" {
	echo 'clang-cl a.c x.obj -o h.exe' | tr-repack -q -f makelog -O cwd=/w -t kwspec -o out -
	diff <(tail -n +2 out) - <<-'END'
		compile;/w;clang-cl;/w/a.obj;a.c
		link;/w;/w/h.exe;/w/a.obj;/w/x.obj
	END
}

@test "options of cl in the spelling of the others" {
	printf '%b' '%trec\t1\tformat=x\n' \
		'exec\t0\t-\t1\tcl.exe\tcwd="C:\\\\src"\targv=["cl","/c","/Foobj\\\\","/D","A=1","/FIpch.h","/std:c++17","/Tpb.txt"]\n' \
		'exec\t1\t-\t2\tcl.exe\tcwd="C:\\\\src"\targv=["cl","A.C","x.lib","/Fe:out.exe","/link","/DLL"]\n!end\t2\n' |
		tr-repack -t kwspec >got
	cat >want <<'END'
version;108
compile;C:\src;cl.exe;C:\src\obj\b.obj;b.txt;-DA=1;-include;pch.h;-std=c++17
compile;C:\src;cl.exe;C:\src\A.obj;A.C
link;C:\src;C:\src\out.exe;C:\src\A.obj;C:\src\x.lib
END
	diff want got
}

@test "config lines of another specification" {
	printf '%s\r\n' 'version;108' 'config;/usr/bin/gcc;-e;gnu;-D__GNUC__=3;-J/usr/include' 'compile;/;gcc;/a.o;a.c' >old.out
	printf 'config;/usr/bin/cc;%%3B' >>old.out
	tr-repack -t kwspec -O config=old.out "$data/zlib.kw.json.gz" -z none >spec
	[ "$(sed -n 2,3p spec)" = $'config;/usr/bin/gcc;-e;gnu;-D__GNUC__=3;-J/usr/include\nconfig;/usr/bin/cc;%3B' ]
	sed 2,3d spec | cmp - <(tr-repack -z none -t kwspec "$data/zlib.kw.json.gz")
	# also where there is nothing else
	[ "$(printf '%%trec\t1\tformat=x\n!end\t0\n' | tr-repack -t kwspec -O config=old.out | wc -l)" -eq 3 ]
	run -2 --separate-stderr tr-repack -t kwspec -O config=spec.gz -o out "$data/zlib.kw.json.gz"
	[[ $stderr == *"spec.gz"*"No such file"* && ! -e out ]]
	printf 'version;108\n' >empty
	run -2 --separate-stderr tr-repack -t kwspec -O config=empty "$data/zlib.kw.json.gz"
	[[ $stderr == *"empty: no line 'config;...' in it"* && -z $output ]]
}

# flat LINE...: a trace without parents, as kwwrap writes it; a line is a program and its words
flat() {
	local i=0 line
	printf '%%trec\t1\tformat=klocwork\n'
	for line in "$@"; do
		set -- $line
		printf 'exec\t%d\t-\t%d\t%s\tppid=-1\tcwd="/b"\targv=["%s"' $i $i "$1" "${1##*/}"
		shift
		printf ',"%s"' "$@"
		printf ']\n'
		i=$((i + 1))
	done
	printf '!end\t%d\n' $i
}

@test "without parents, linkers that no compiler call explains are links" {
	flat '/a/armlink --cpu Cortex-M4 --scatter s.sct a.o b.o --output=f.axf --map' '/a/armlink c.o' \
		'/u/arm-none-eabi-ld -T x.ld -M -E -x -S a.o -o f.elf' '/u/ld -melf_i386 -r -o p.o a.o -l c' \
		'/u/ar rcs l.a a.o' '/a/armar --create m.a b.o' '/u/as -o a.o a.s' >flat.trec
	cat >want <<-'END'
		link;/b;/b/__image.axf;/b/c.o
		link;/b;/b/f.axf;/b/a.o;/b/b.o
		link;/b;/b/f.elf;/b/a.o
		link;/b;/b/l.a;/b/a.o
		link;/b;/b/m.a;/b/b.o
		link;/b;/b/p.o;/b/a.o
	END
	run -0 --separate-stderr tr-repack -t kwspec -o spec flat.trec
	tail -n +2 spec | LC_ALL=C sort | diff want -
	[ "$(tr-repack -q -t buildspec flat.trec | grep -c '"arguments"')" -eq 6 ]
	# and so do those whose parent was left out of the trace
	sed 's/ppid=-1/parent=99/' flat.trec >lost.trec
	tr-repack -q -t kwspec lost.trec | tail -n +2 | LC_ALL=C sort | diff want -
}

@test "without parents, a driver's own linker is not a second link, in either order" {
	set -- '/u/gcc -c a.c -o a.o' '/u/gcc -o app a.o' '/g/collect2 -o app crt1.o a.o -lc' \
		'/u/ld -o app crt1.o a.o -lc' '/u/g++ m.cc' '/u/ld -o a.out /tmp/m.o' \
		'/g/lto-wrapper -flto a.o' '/g/collect2 -o alone a.o' '/u/ld -o alone a.o'
	flat "$@" >one.trec
	reversed=()
	for line in "$@"; do reversed=("$line" "${reversed[@]}"); done
	flat "${reversed[@]}" >other.trec
	for f in one other; do
		tr-repack -q -t kwspec $f.trec | grep ^link | LC_ALL=C sort | diff - <(printf '%s\n' \
			'link;/b;/b/a.out;/b/m.o' 'link;/b;/b/alone;/b/a.o' 'link;/b;/b/app;/b/a.o')
	done
	# values of the linker's options are no inputs of collect2, and the ld that it runs is no link
	printf '%%trec\t1\nexec\t1\t-\t1\t/g/collect2\tcwd="/b"\targv=%s\n' \
		'["collect2","-m","elf_x86_64","-plugin","/x/p.so","-o","app","a.o"]' >collect.trec
	printf 'exec\t2\t-\t2\t/u/ld\tparent=1\tcwd="/b"\targv=["ld","-o","app","a.o"]\n' >>collect.trec
	[ "$(tr-repack -q -t kwspec collect.trec | grep ^link)" = 'link;/b;/b/app;/b/a.o' ]
	[ "$(tr-tojson --computed collect.trec | jq -r .output | uniq -c | tr -s ' ')" = ' 2 app' ]
	# a whole build: as many links without its parents as with them
	tr-parse "$data/zlib.kw.json.gz" | sed -E 's/\t(parent|ppid)=-?[0-9]+//g' >zlib.trec
	run ! grep -q parent= zlib.trec
	tr-repack -q -t kwspec zlib.trec | LC_ALL=C sort |
		diff - <(tr-repack -q -z none -t kwspec "$data/zlib.kw.json.gz" | LC_ALL=C sort)
	tac <(grep ^exec zlib.trec) | tr-repack -q -t kwspec | LC_ALL=C sort |
		diff - <(tr-repack -q -z none -t kwspec "$data/zlib.kw.json.gz" | LC_ALL=C sort)
}

# again FILE: the specification after it was read as records and written again, sorted
again() {
	tr-parse --strict "$1" | tr-repack -q -t kwspec | LC_ALL=C sort
}

@test "a specification that is read and written again keeps every line" {
	local spec=$top_srcdir/tests/data/kwspec
	again "$spec/zlib.out.gz" | diff <(gzip -dc "$spec/zlib.out.gz" | LC_ALL=C sort) -
	again "$spec/good-lines.out" | diff <(LC_ALL=C sort "$spec/good-lines.out") -
	# the same without its version, with ends of lines of Windows, and byte by byte
	tail -n +3 "$spec/good-lines.out" | sed 's/$/\r/' >crlf
	[ "$(tr-parse --identify crlf)" = "crlf: kwspec" ]
	again crlf | diff <(sed '2d' "$spec/good-lines.out" | LC_ALL=C sort) -
	# a trace keeps its lines, too
	tr-repack -q -t kwspec -z none "$data/zlib.kw.json.gz" >one.out
	tr-parse one.out >one.trec
	[ "$(grep -c ^exec one.trec)" -eq "$(grep -cE '^(compile|link);' one.out)" ]
	again one.out | diff <(LC_ALL=C sort one.out) -
}

@test "lines that mean nothing here are written again, too" {
	printf '%s\n' 'version;107' 'config;gcc;-e;gnu' 'compile;/d;/opt/mycc;/d/b.o;/d/b.c;-DA' \
		'compile;/d;../gcc;a.o;@a.c;-foo;-include' 'compile;/d;gcc;/d/c.o;-;-J;-Jx' 'compile;/d;as;/d/c.o;c.s' \
		'compile;/d;cc1;/d/c.o;c.c;-O2' 'compile;/d;ld;/d/c.o;c.c;-o' 'compile;C:\d;cl.exe;C:\d\b.obj;b.c;/W4;-include' \
		'link;/d;/d/l.a' 'link;/d;/d/x' 'link;/d;/d/y;/d/a.o;-lfoo;b.c' >spec
	tr-parse --strict spec | tr-repack --strict -t kwspec | diff spec -
	# a file has one version
	tr-repack -q -t kwspec spec "$top_srcdir/tests/data/kwspec/good-lines.out" | grep -c '^version;107$' | grep -x 1
}

@test "a jconfig line that was kept applies until the next one" {
	printf '%b' 'exec\t0\t-\t1\tjavac\tcwd="/d"\targv=["javac","-cp","B","A.java"]\n' \
		'meta\t1\t-\t-\tjconfig\tvalue="javac;-classpath;A"\n' \
		'exec\t2\t-\t2\tjavac\tcwd="/d"\targv=["javac","-cp","B","C.java"]\n' |
		tr-repack -q -t kwspec | grep ^jconfig >got
	printf 'jconfig;javac;-classpath;%s\n' B A B | diff - got
}

@test "the records of a specification" {
	tr-parse "$top_srcdir/tests/data/kwspec/good-lines.out" >trec
	grep -F $'meta\t0\t-\t-\tversion\tvalue="108"' trec
	grep -F $'\t/usr/bin/cc\tcwd="/b"\targv=["/usr/bin/cc","-DA=1","-Iinc","-isystem","/s","-include","p.h","-std=c99","-c","a.c","-o","/b/a.o"]' trec
	grep -F 'argv=["g++","-DN=a\nb","-c","x;%y.cc","-o","/b/x;%y.o"]' trec
	grep -F 'argv=["/gcc","-S","x.c","-o","/b/x.s"]' trec
	grep -F 'argv=["gcc","-UA","-c","-x","c","odd.inc","-o","/b/odd.o"]' trec
	grep -F 'argv=["cl.exe","-DA=1","/external:IC:\\inc","/FIpch.h","/std:c++17","-c","/Tpb.txt","/FoC:\\src\\obj\\b.obj"]' trec
	grep -F 'argv=["ld","-o","/b/bin/x","/b/a.o","/b/d.o"]	flagged=["program-guessed"]' trec
	grep -F 'argv=["ar","rcs","/b/l.a","/b/x.o","/y.o"]	flagged=["program-guessed"]' trec
	grep -F $'\tjcompile\tvalue="/usr/bin/javac;/b;A.java"' trec
	printf 'version;108\n%%63onfig;/gcc;-DA%%3B\n' | tr-parse | grep -F $'\tconfig\tvalue="/gcc;-DA%3B"'
}

@test "a damaged line is kept and reported, and the others are read" {
	printf 'version;108\ncompile;/b;gcc\n\nnonsense\ncompile;/b;gcc;/b/a.o;a.c\n' >spec
	run -2 --separate-stderr tr-parse spec
	[[ $stderr == *"spec:2: not a line of kwinject.out: kept as a raw record"* ]]
	[[ $stderr == *"spec:4: not a line of kwinject.out"* ]]
	[ "$(grep -c ^raw <<<"$output")" -eq 2 ]
	[[ $output == *'"-c","a.c"'* ]]
	# a line that was cut may look complete
	printf 'version;108\ncompile;/b;gcc;/b/a.o;a.c;-DA' >spec
	run -2 --separate-stderr tr-parse spec
	[ "$stderr" = "tr-parse: spec:2: the last line has no newline: it may be truncated" ]
	[[ $output == *'"-c","a.c"'*$'\n!end\t2\terrors=1\ttruncated=true' ]]
	printf 'version;108\ncompile;/b' >spec
	run -2 --separate-stderr tr-parse spec
	[[ $stderr == "tr-parse: spec:2: not a line of kwinject.out"* && $output == *$'\ttruncated=true' ]]
	printf 'version;\n' >no
	run -2 tr-parse no
	[[ $output == *"not a known trace format"* ]]
}

@test "clang accepts the compilation database of a specification" {
	mkdir -p 'src dir' inc sys
	echo '#define P 1' >inc/p.h
	echo '#define S 2' >sys/s.h
	printf '#include <s.h>\n#if P + S != 3 || !defined Q\n#error\n#endif\nint x = V;\nchar *t = TEXT;\n' >'src dir/a.c'
	printf 'template<class T> T f(T a) { return a; }\nauto y = f(1);\n' >b.cc
	printf '%s\n' 'version;108' \
		"compile;$PWD;/usr/bin/gcc;$PWD/a.o;src dir/a.c;-DV=3;-DQ;-DTEXT=\"a %3B b\";-Iinc;-J$PWD/sys;-include;p.h" \
		"compile;$PWD;g++;$PWD/b.o;b.cc;-std=c++17" "link;$PWD;$PWD/app;$PWD/a.o;$PWD/b.o" >kwinject.out
	tr-repack -q -t compdb -o compile_commands.json kwinject.out
	[ "$(grep -c '"file"' compile_commands.json)" -eq 2 ]
	command -v clang-check >/dev/null || skip "clang-check is not installed"
	clang-check -p . 'src dir/a.c' b.cc
	# it does read these options
	sed -i 's/-DV=3/-DW=3/' compile_commands.json
	run ! clang-check -p . 'src dir/a.c'
}

@test "javac has the lines of Klocwork's examples" {
	# the examples of Klocwork's page, and others
	local java='/opt/jdk/bin/javac' record
	record() {
		local name=$1 word argv=; shift
		for word; do argv+=,\"$word\"; done
		printf 'exec\t0\t-\t-\t%s\tcwd="/s/A"\targv=[%s]\trespfile={"list":"-source 1.7 b.java"}\n' "$name" "${argv:1}"
	}
	{
		record $java javac a.java
		record $java javac -d out -cp 'x;y.jar:z.jar' -source 1.7 b.java c/D.java
		record $java javac --class-path='x;y.jar:z.jar' --release=1.7 e.java
		record $java javac -g @list
		record $java javac -version
		record /opt/jdk/bin/java java -jar ant.jar
		record /usr/bin/jar jar cf ../A.jar A.class
		record jar.exe jar -cvfe lib/B.jar p.Main -C out p/Main.class -C /r . --release 9 x
		record jar jar --create --file=C.jar --manifest m.txt d
		record jar jar ufm D.jar m.txt f
		record jar jar tf A.jar
		record jar jar xf A.jar B.class
		record jar jar -c d
		record jar jar cf
	} | tr-repack -q -t kwspec >got
	cat >want <<-'END'
		version;108
		jconfig;/opt/jdk/bin/javac
		jcompile;/opt/jdk/bin/javac;/s/A;a.java
		jconfig;/opt/jdk/bin/javac;-classpath;x%3By.jar:z.jar;-source;1.7
		jcompile;/opt/jdk/bin/javac;/s/A;b.java
		jcompile;/opt/jdk/bin/javac;/s/A;c/D.java
		jcompile;/opt/jdk/bin/javac;/s/A;e.java
		jconfig;/opt/jdk/bin/javac;-source;1.7
		jcompile;/opt/jdk/bin/javac;/s/A;b.java
		jar;/s/A.jar;/s/A/A.class
		jar;/s/A/lib/B.jar;/s/A/out/p/Main.class;/r;/s/A/x
		jar;/s/A/C.jar;/s/A/d
		jar;/s/A/D.jar;/s/A/f
	END
	diff want got
	# they are read and written again
	tr-parse --strict got | tr-repack -q -t kwspec | diff got -
}

@test "-O probe asks the compilers of a trace" {
	cat >fake-g++ <<-'END'
		#!/bin/sh
		echo "$@" >>"$0.log"
		echo '#define A 1'
		echo '#define F(a, b) a;b'
		echo '#define EMPTY '
		printf '%s\n' 'ignored' '#include "..." starts here:' '#include <...> search starts here:' ' /in c' ' /fw (framework directory)' 'End of search list.' ' /no' >&2
	END
	printf '#!/bin/sh\nexit 3\n' >fails-gcc
	chmod +x fake-g++ fails-gcc
	printf 'exec\t%d\t-\t-\t%s\tcwd="%s"\targv=["%s","-c","%s"]\n' 0 "$PWD/fake-g++" "$PWD" g++ a.cc 1 ./fake-g++ "$PWD" g++ b.cc \
		2 "$PWD/fails-gcc" "$PWD" gcc c.c 3 gcc "$PWD" gcc d.c 4 "$PWD/none-gcc" "$PWD" gcc e.c >trace
	# no compiler runs without the option
	tr-repack -q -t kwspec trace >without
	[ ! -e fake-g++.log ]
	run -0 --separate-stderr tr-repack -t kwspec -O probe=yes trace
	[[ $stderr == *"note: -O probe: compilers without a config line: 3; '$PWD/fails-gcc': it failed"* ]]
	[ "$(grep ^config <<<"$output")" = "config;$PWD/fake-g++;-e;gnu;-DA=1;-DF(a, b)=a%3Bb;-DEMPTY=;-J/in c" ]
	[ "${lines[0]}" = 'version;108' ]
	[ "$(cat fake-g++.log)" = '-x c++ -E -v -dM /dev/null' ]
	# the name of the compiler decides the language, not its folder
	mkdir c++
	cp fake-g++ c++/gcc
	printf 'exec\t0\t-\t-\t%s\tcwd="%s"\targv=["gcc","-c","a.c"]\n' "$PWD/c++/gcc" "$PWD" >in-folder
	tr-repack -q -t kwspec -O probe=yes in-folder >/dev/null
	[ "$(cat c++/gcc.log)" = '-x c -E -v -dM /dev/null' ]
	grep -v ^config <<<"$output" | diff without -
	command -v gcc >/dev/null || skip "gcc is not installed"
	printf 'exec\t0\t-\t-\t%s\tcwd="/"\targv=["gcc","-c","a.c"]\n' "$(command -v gcc)" |
		tr-repack --strict -t kwspec -O probe=yes >real
	grep -qE '^config;/[^;]*;-e;gnu;.*;-D__GNUC__=[0-9]+;' real
	grep -qE '^config;.*;-J/usr/include(;|$)' real
}

@test "a trace keeps its compile and link lines through a specification and back" {
	# klocwork -> kwspec -> klocwork -> kwspec
	tr-repack -q -z none -t kwspec "$data/zlib.kw.json.gz" >one.out
	tr-parse one.out | tr-repack -q -t klocwork >back.json
	tr-repack -q -t kwspec back.json >two.out
	diff <(LC_ALL=C sort one.out) <(LC_ALL=C sort two.out)
	[ "$(grep -cE '^(compile|link);' two.out)" -eq 42 ]
}
