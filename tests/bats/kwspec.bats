#!/usr/bin/env bats
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

@test "one call, many lines" {
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
}

@test "archives" {
	[ "$(call ar '"ar","rcs","l.a","x.o","/y.o"')" = 'link;/b;/b/l.a;/b/x.o;/y.o' ]
	[ "$(call ar '"ar","--plugin","p.so","-q","l.a","x.o"')" = 'link;/b;/b/l.a;/b/x.o' ]
	[ "$(call gcc-ar-12 '"ar","ra","old.o","l.a","x.o"')" = 'link;/b;/b/l.a;/b/x.o' ]
	[ -z "$(call ar '"ar","t","l.a"')" ]
	[ -z "$(call ar '"ar","r"')" ]
	[ -z "$(call ar '"ar"')" ]
}

@test "options of response files, and those that are not there" {
	printf '%s\n' '-DX="a b"' >opts
	printf '%%trec\t1\tformat=x\nexec\t0\t-\t1\tgcc\tcwd="%s"\targv=["gcc","-c","@opts","@gone","a.c"]\n!end\t1\n' \
		"$PWD" >trace
	run -0 --separate-stderr tr-repack -t kwspec trace
	[ "${lines[1]}" = "compile;$PWD;gcc;$PWD/a.o;a.c;-DX=a b" ]
	[[ $stderr == *"no response file 'gone' here"* ]]
}

@test "options of cl in the words of the others" {
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
