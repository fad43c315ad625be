#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The table of compilers: tr-record --list-compilers, and the options that add to it.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cat >own.txt <<-'END'
		# a compiler with an unknown name
		[own driver]
		names owncc
		notation plain
		object .ob
		respfile -f space
		compile alone -k
		output next -out
		define joined -def:
		search equal --dir

		[own linker]
		names ownld
		like gcc
	END
}

# trace NAME ARGUMENT...: a stream with one call in /b
trace() {
	local name=$1 words=
	for word; do words+=,\"$word\"; done
	printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\t%s\tcwd="/b"\targv=[%s]\n!end\t1\n' "$name" "${words#,}"
}

# sources FORMAT OPTION...: prints the sources that FORMAT has for the call on standard input
sources() {
	local format=$1
	shift
	tr-repack -q -t "$format" "$@" >out
	case $format in
	kwspec) tail -n +2 out ;;
	*) jq -r '.[] | [.arguments, .file, .output] | flatten | map(select(.)) | join(" ")' out ;;
	esac
}

@test "--list-compilers: name, family, kind" {
	tr-record --list-compilers >list
	[ "$(awk -F'\t' 'NF != 3' list | wc -l)" -eq 0 ]
	[ "$(cut -f1 list | sort | uniq -d | wc -l)" -eq 0 ]
	grep -qx $'gcc\tgcc\tdriver' list
	grep -qx $'link.exe\tcl\tlinker' list
	grep -qx $'zig cc\tzig\tdriver' list
	grep -qx $'ranlib\tgcc\tother' list
	[ "$(wc -l <list)" -eq "$(awk '$1 == "names" { n += NF - 1 } $1 == "call" { n++ } END { print n }' \
		"${top_srcdir:?}/lib/process/compilers.txt")" ]
	tr-record --list-compilers -o file
	cmp file list
}

@test "-O compiler adds a name of a known family, in every format" {
	command -v jq >/dev/null || skip "jq is not installed"
	trace /opt/mycc -DX -c a.c -o a.o >mycc
	[ -z "$(sources compdb <mycc)" ]
	[ "$(sources compdb -O compiler=mycc=gcc <mycc)" = '/opt/mycc -DX -c a.c -o a.o /b/a.c /b/a.o' ]
	[ "$(sources buildspec -O compiler=mycc=gcc <mycc)" = '/opt/mycc -DX -c a.c -o a.o' ]
	[ "$(sources kwspec -O compiler=mycc=gcc <mycc)" = 'compile;/b;/opt/mycc;/b/a.o;a.c;-DX' ]
	trace C:/bin/MYCC.EXE /DX /c a.c >mycc
	[ "$(sources kwspec -O compiler=mycc=cl <mycc)" = 'compile;/b;C:/bin/MYCC.EXE;/b/a.obj;a.c;-DX' ]
	trace arm-none-eabi-mycc-4.2 -c a.c | sources kwspec -O compiler=other=cl -O compiler=mycc=gcc >got
	[ "$(cat got)" = 'compile;/b;arm-none-eabi-mycc-4.2;/b/a.o;a.c' ]
	echo 'mycc -c a.c' >log
	[ -z "$(tr-parse -f makelog log | grep ^exec)" ]
	tr-parse -f makelog -O compiler=mycc=gcc log | grep -q '^exec.*argv=\["mycc","-c","a.c"\]'
}

@test "-O compilers adds families, and -O only-compilers leaves the others out" {
	command -v jq >/dev/null || skip "jq is not installed"
	trace owncc -k -def:N=1 --dir=inc a.c b.c >own
	trace gcc -c c.c >gcc
	[ -z "$(sources kwspec <own)" ]
	sources kwspec -O compilers=own.txt <own >got
	diff - got <<-'END'
		compile;/b;owncc;/b/a.ob;a.c;-DN=1;-Iinc
		compile;/b;owncc;/b/b.ob;b.c;-DN=1;-Iinc
	END
	[ "$(sources kwspec -O compilers=own.txt <gcc)" = 'compile;/b;gcc;/b/c.o;c.c' ]
	[ -z "$(sources kwspec -O compilers=own.txt -O only-compilers=yes <gcc)" ]
	[ "$(sources kwspec -O compilers=own.txt -O only-compilers=yes <own | wc -l)" -eq 2 ]
	[ "$(sources kwspec -O only-compilers=yes -O compiler=gcc=clang <gcc | wc -l)" -eq 1 ]
	trace other -k a.c | sources kwspec -O compiler=other=own -O compilers=own.txt >got
	[ "$(cat got)" = 'compile;/b;other;/b/a.ob;a.c' ]
	trace ownld -o prog a.o | sources kwspec -O compilers=own.txt >got
	[ "$(cat got)" = 'link;/b;/b/prog;/b/a.o' ]
	# tools=CONFIG replaces all names, as without these options
	echo '[{"binary":"gcc"}]' >tools.json
	cat gcc own | sources compdb -O compilers=own.txt -O tools=tools.json >got
	[ "$(cat got)" = 'gcc -c c.c /b/c.c' ]
}

@test "-O for=clangd knows the options of a user's compiler by their roles" {
	command -v jq >/dev/null || skip "jq is not installed"
	cat >own.txt <<-'END'
		[own driver]
		names owncc
		notation plain
		compile alone -k
		output next -out
		define joined -def: -undef:
		search equal --dir
		system next -sys
		include next -pre
		dialect joined --lang=
		source next -src
		other next -cpu
		other three -ranges
		other both -for-

		[mine driver]
		names mycc
		like gcc
		other alone -myflag
		other next -mycpu
		define next -mydef
	END
	# CASE: the arguments after the program | the arguments for Clang
	while IFS='|' read -r given want; do
		trace $given >call
		sources compdb -O for=clangd -O compilers=own.txt -O output=no <call >got
		[ "$(sed 's, /b/[^ ]*$,,' got)" = "$want" ] || { echo "$given: $(cat got)"; return 1; }
		# an entry of a database is changed in the same way, once
		tr-repack -q -t compdb -O compilers=own.txt call | sources compdb -O for=clangd -O compilers=own.txt -O output=no >again
		cmp got again
	done <<-'END'
		owncc -k -def:N=1 -undef:M --dir=inc --dir inc2 a.c -out a.o|owncc -DN=1 -UM -Iinc -Iinc2 a.c
		owncc -k -cpu x -pre p.h -sys /s --lang=c1x a.c|owncc --include=p.h -isystem/s a.c
		owncc -k -def:X -src b.c|owncc -DX b.c
		owncc -k -ranges 1 2 3 -for-x y -def:X b.c|owncc -DX b.c
		mycc -O2 -myflag -mycpu x -mydef A=1 -Iinc -c a.c -o a.o|mycc -O2 -DA=1 -Iinc -c a.c -o a.o
	END
	# without a table of the user, and for others, they stay
	trace mycc -myflag -c a.c | sources compdb -O compiler=mycc=gcc -O for=clangd -O output=no >got
	grep -qF -e '-myflag' got
	trace mycc -myflag -c a.c | sources compdb -O compilers=own.txt -O output=no >got
	grep -qF -e '-myflag' got
}

@test "clang --driver-mode=cl has the options of clang-cl" {
	command -v jq >/dev/null || skip "jq is not installed"
	trace clang --driver-mode=cl /c /I inc /DX /w/h1.c /Foh1.obj >call
	want='clang --driver-mode=cl /c /I inc /DX /w/h1.c /Foh1.obj /w/h1.c /b/h1.obj'
	[ "$(sources compdb <call)" = "$want" ]
	# two entries of a database that differ in the object
	tr-repack -q -t compdb -o db.json call
	sed s/h1.obj/h2.obj/ call | tr-repack -q -t compdb -O append=db.json -o - | jq -c 'map(.output) | sort' >got
	[ "$(cat got)" = '["/b/h1.obj","/b/h2.obj"]' ] || { cat got; return 1; }
}

@test "response files of a user's compiler" {
	echo '-def:A b.c' >args
	trace owncc -k -f "$PWD/args" a.c | sources kwspec -O compilers=own.txt -O respfile-root=. >got
	diff - got <<-'END'
		compile;/b;owncc;/b/b.ob;b.c;-DA
		compile;/b;owncc;/b/a.ob;a.c;-DA
	END
}

@test "bitcode and modules are other outputs than objects and assembly" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf 'clang %s\n' '-emit-llvm -c v.c' '-c v.c' '-S -emit-llvm v.c' '-S v.c' '--precompile t.cppm' '-c t.cppm' >log
	sources kwspec -f makelog -O cwd=/w log | cut -d ';' -f 4 >got
	sources compdb -f makelog -O cwd=/w log >entries
	printf '/w/%s\n' v.bc v.o v.ll v.s t.pcm t.o | diff - got
	[ "$(wc -l <entries)" -eq 6 ]
}

@test "response files in UTF-16" {
	{ printf '\377\376' && printf '/c a.c "b c.c"' | iconv -t UTF-16LE; } >u.rsp
	trace cl "@$PWD/u.rsp" | sources kwspec -O respfile-root=. >got
	diff - got <<-'END'
		compile;/b;cl;/b/a.obj;a.c
		compile;/b;cl;/b/b c.obj;b c.c
	END
}

@test "a kwspec file with the compiler of a user" {
	printf 'version;108\ncompile;/b;mycl;/b/a.obj;a.c;-std=c++17\n' >spec
	[ "$(tr-filter --fields=argv exec spec)" = \
		'["mycl","-std=c++17","-c","a.c","-o","/b/a.obj"]' ]
	[ "$(tr-filter -O compiler=mycl=cl --fields=argv exec spec)" = \
		'["mycl","/std:c++17","-c","a.c","/Fo/b/a.obj"]' ]
}

@test "errors in a user's table are reported with file and line" {
	trace gcc -c a.c >trace
	run -2 --separate-stderr tr-repack -t compdb -O compilers=none trace
	[[ $stderr == "tr-repack: "*"compilers: none: No such file or directory"* ]]
	printf '[own driver]\nnames a\nfancy x y\n' >bad.txt
	run -2 --separate-stderr tr-repack -t compdb -O compilers=bad.txt trace
	[[ $stderr == *"compilers: bad.txt:3: unknown line: 'fancy'; known: names, call, "* ]]
	[ -z "$output" ]
	printf '[own driver]\ndefine either -D\n' >bad.txt
	run -2 --separate-stderr tr-repack -t compdb -O compilers=bad.txt trace
	[[ $stderr == *"-O compilers: [own driver] has no names, so it applies to no program"* ]]
	tr-repack -q -t compdb -O compilers=bad.txt -O compiler=mycc=own trace
	head -c 1048577 /dev/zero >big.txt
	run -2 --separate-stderr tr-repack -t compdb -O compilers=big.txt trace
	[[ $stderr == *"compilers: big.txt: larger than the limit of 1048576 bytes" ]]
	seq -f '[f%g driver]' 1001 >bad.txt
	run -2 --separate-stderr tr-repack -t compdb -O compilers=bad.txt trace
	[[ $stderr == *"compilers: bad.txt:1001: more than 1000 sections" ]]
	printf '[own driver]\nnames a' | iconv -t UTF-16 >bad.txt
	run -2 --separate-stderr tr-repack -t compdb -O compilers=bad.txt trace
	[[ $stderr == *"compilers: bad.txt:1: a NUL byte: UTF-8 text is expected" ]]
	for option in compdb:compilers kwspec:config compdb:tools; do
		run -2 --separate-stderr tr-repack -t ${option%:*} -O ${option#*:}=/dev/null trace
		[[ $stderr == *"${option#*:}: /dev/null: not a regular file" ]]
	done
	run -2 --separate-stderr tr-repack -t kwspec -O compiler=mycc trace
	[[ $stderr == *"compiler=mycc: NAME=FAMILY expected, such as mycc=gcc"* ]]
	run -2 --separate-stderr tr-parse -f makelog -O compiler=x=nosuch /dev/null
	[[ $stderr == *"compiler=x=nosuch: unknown family 'nosuch': gcc, mpi, "* ]]
	run -2 --separate-stderr tr-repack -t compdb -O only-compilers=maybe trace
	[[ $stderr == *"-O only-compilers takes no|yes, not 'maybe'"* ]]
}

@test "the words of a table are in its head and in messages" {
	trace gcc -c a.c >trace
	sed '/^$/q' "$top_srcdir/lib/process/compilers.txt" | tr -cs 'a-zA-Z+-' '\n' >head
	local line word words count=0
	for line in 'x y' 'notation x' 'case x' 'default x' 'beside x' 'entries x' 'quoting x' 'comments x' \
		'respfile @ x' 'environment x Y' 'define x -D' '[own x]'; do
		printf '[own driver]\n%s\n' "$line" >bad.txt
		run -2 --separate-stderr tr-repack -t compdb -O compilers=bad.txt trace
		[[ $stderr == *"bad.txt:2: unknown "*"; known: "* ]]
		words=${stderr##*; known: }
		for word in ${words//,/}; do
			grep -qxF -e "$word" head || { echo "$line: $word"; return 1; }
			count=$((count + 1))
		done
	done
	echo "$count words"
	[ "$count" -gt 70 ]
}

@test "zig cc: two words that stay together" {
	command -v jq >/dev/null || skip "jq is not installed"
	[ "$(trace zig cc -target x86_64-linux a.c b.o -o p | sources compdb)" = \
		'zig cc -c -target x86_64-linux a.c -o p /b/a.c /b/p' ]
	[ -z "$(trace zig build-exe a.zig | sources compdb)" ]
	printf 'zig cc -c a.c\nzig build\n' >log
	[ "$(tr-parse -f makelog log | grep -c '^exec')" -eq 1 ]
}

@test "Java, Go and Rust have sources, but no entries" {
	command -v jq >/dev/null || skip "jq is not installed"
	trace javac -d out A.java >java
	[ -z "$(sources compdb <java)" ]
	[ -z "$(sources kwspec <java | grep '^compile;')" ]
	[ "$(tr-filter -q --fields=source,output exec java)" = $'"A.java"\t-' ]
	trace rustc --edition=2021 src/main.rs -o main >rust
	[ -z "$(sources compdb <rust)" ]
	[ "$(tr-filter --fields=source,output exec rust)" = $'"src/main.rs"\t"main"' ]
}

@test "fields of tr-filter, tables of tr-stat and pages of tr-tohtml know a user's compiler" {
	trace mycc -c a.c -o obj/a.o >trace
	[ -z "$(tr-filter -q --fields=source,output 'has(source)' trace || true)" ]
	[ "$(tr-filter -O compiler=mycc=gcc --fields=source,output 'has(source)' trace)" = \
		$'"a.c"\t"obj/a.o"' ]
	tr-stat -O compiler=mycc=gcc --by=output trace | grep -qF 'obj/a.o'
	printf '%%trec\t1\tformat=x\nexec\t0\t0.5\t1\tmycc\tcwd="/b"\targv=["mycc","-c","a.c","-o","o.o"]\nexit\t1\t2.5\t1\t-\tstatus=0\n!end\t2\n' >run
	tr-stat -O compiler=mycc=gcc run | grep -qF 'o.o'
	tr-tohtml run >page
	tr-tohtml -O compiler=mycc=gcc run >own
	run ! cmp -s page own
	for tool in "tr-filter exec" tr-stat tr-tohtml; do
		run -2 --separate-stderr $tool -O compiler=x=nosuch trace
		[[ $stderr == *"compiler=x=nosuch: unknown family 'nosuch': gcc, mpi, "* ]]
		[ -z "$output" ]
	done
}

@test "tr-record reads the response files that a family names its own way" {
	mkdir bin
	cp "$(type -P true)" bin/iccarm
	cp bin/iccarm bin/owncc
	echo '-DX -f more.xcl' >args.xcl
	echo 'a.c' >more.xcl
	tr-record -o trace -- bin/iccarm -f args.xcl
	grep -qF $'\trespfile={"args.xcl":"-DX -f more.xcl\\n","more.xcl":"a.c\\n"}' trace
	[ "$(tr-filter --fields=source 'has(source)' trace)" = '"a.c"' ]
	echo '-k b.c' >args.xcl
	tr-record -O compilers=own.txt -o trace -- bin/owncc -f args.xcl
	grep -qF $'\trespfile={"args.xcl":"-k b.c\\n"}' trace
	tr-record -O compilers=own.txt --list-compilers | grep -qx $'owncc\town\tdriver'
	run -2 --separate-stderr tr-record -O compilers=none -o trace -- true
	[[ $stderr == *"compilers: none: No such file or directory"* ]]
}

@test "ccache that is called by the name of a compiler" {
	command -v jq >/dev/null || skip "jq is not installed"
	trace /usr/bin/ccache -c a.c | sed 's,\["/usr/bin/ccache",["/usr/lib/ccache/gcc",' >masked
	[ "$(sources compdb <masked)" = '/usr/lib/ccache/gcc -c a.c /b/a.c' ]
	[ "$(sources kwspec <masked)" = 'compile;/b;/usr/lib/ccache/gcc;/b/a.o;a.c' ]
	# the compiler that it runs is not a second call
	{
		head -n 2 masked
		printf 'exec\t1\t-\t2\t/usr/bin/gcc\tparent=0\tcwd="/b"\targv=["gcc","-c","a.c"]\n'
	} >both
	[ "$(sources compdb <both)" = '/usr/lib/ccache/gcc -c a.c /b/a.c' ]
}
