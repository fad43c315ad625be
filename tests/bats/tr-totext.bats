#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-totext: the style of apitrace. Next to the real traces is the output of apitrace itself;
# tests/peers/apitrace.bats runs apitrace.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data/apitrace
	cat >small <<'END'
%trec	1	format=apitrace	version=6	semantic=6	properties=[["process.name","/usr/bin/demo"],["a","1"],["a","2"]]
%fn	F4	glXQueryExtension	args=["dpy","errorb","event"]
call	0	-	0	glXQueryExtension	dpy=0x55aa	->	errorb=[0]	event=[-5]	return=true
%fn	F5	glDrawArrays	args=["mode","first","count"]
%enum	E1	-	GL_TRIANGLES=4
%frame	K1	-	module="libfoo.so"	function="main"	file="a.c"	line=12	offset=31
enter	1	-	10	glDrawArrays	.bt=[K1]	mode=GL_TRIANGLES(4@E1)	first=0
%fn	F6	glXSwapBuffers	args=["dpy","drawable"]
call	2	-	1	glXSwapBuffers	.flags=1	dpy=0x55aa	drawable=77	->
leave	1	-	10	glDrawArrays	->
%fn	F7	glGetError	args=[]
call	3	-	0	glGetError	->	return=GL_NO_ERROR(0@E1)
call	4	-	0	glGetError	->	return=?(1281@E1)
%fn	F8	glShaderSource	args=["string","blob"]
call	5	-	0	glShaderSource	string=["a\"\n\tcafé\u0000b"]	blob=b64:AQID	->
enter	6	-	0	glXSwapBuffers	dpy=0x0
!end	7
END
}

small() {
	tr-totext "$@" small
}

@test "the style of apitrace" {
	cat >wanted <<'END'
// a = "2"
// process.name = "/usr/bin/demo"
0 @0 glXQueryExtension(dpy = 0x55aa, errorb = &0, event = &-5) = true
2 @1 glXSwapBuffers(dpy = 0x55aa, drawable = 77) // fake

1 @a glDrawArrays(mode = GL_TRIANGLES, first = 0, count = ?)
Backtrace:
libfoo.so: main+0x1f: a.c:12
3 @0 glGetError() = GL_NO_ERROR
4 @0 glGetError() = 1281
5 @0 glShaderSource(string = &"a\"
	caf\3\551", blob = blob(3))
6 @0 glXSwapBuffers(dpy = 0x0, drawable = ?) // incomplete

END
	small | cmp - wanted
	small --style=apitrace | cmp - wanted
	tr-totext <small | cmp - wanted
	tr-parse --join small | tr-totext | cmp - wanted
	# definitions can come before the header, where sort puts them
	{ grep '^%' small | grep -v '^%trec'; grep '^%trec' small; grep -v '^%' small; } >sorted
	tr-totext sorted | cmp - wanted
}

@test "-O: the parts of a call that are shown" {
	small >all
	small -O call-nos=no | cmp - <(sed -E 's/^[0-9]+ @/@/' all)
	sed 's/\t10\t/\t4294967306\t/' small | tr-totext | cmp - all
	sed 's/\t10\t/\t4294967306\t/' small | tr-totext -O blobs=. | sed 's/blob(".*")/blob(3)/' | cmp - all
	small -O thread-ids=no | cmp - <(sed -E 's/^([0-9]+) @[0-9a-f]+ /\1 /' all)
	small -O arg-names=no | cmp - <(sed -E -e '/^[0-9]/s/[A-Za-z]+ = //g' -e 's/ blob = / /' all)
	small -O verbose=no | cmp - <(grep -vE ' (glXQueryExtension|glGetError.*NO_ERROR)' all)
	small -O grep='^gl[DG]' | cmp - <(sed -n -e '/ gl[DG]/p' -e '/^Back/,+1p' all)
	small -O multiline=no | cmp - <(sed -e '/^$/d' -e '/^Backtrace/,+1d' -e '/^5/{N;s/\n/\\n/}' all)
	small -O octal=fixed -O multiline=no | grep -F 'string = &"a\"\n	caf\303\251\000b"'
}

@test "-O verbose=no: whatever is no error as an integer was none" {
	{
		printf '%%fn\tF0\tglGetError\targs=[]\n%%fn\tF1\tglGetError\targs=["of"]\n'
		for value in 0 1 -0 null false true 0x0 0x1 0.5 -0.9 1.0 -1.0 nan inf 0.99f 1.0f nanf \
			'?(0x0@M3)' '?(0)' '?(-3)'; do
			printf 'call\t-\t-\t0\tglGetError\t->\treturn=%s\n' "$value"
		done
		printf 'call\t-\t-\t0\tglGetError\tof=1\t->\treturn=0\t.sig=F1\n'
	} >errors
	run -0 tr-totext -O verbose=no -O call-nos=no -O thread-ids=no errors
	# so apitrace 11.1
	[ "$output" = "$(printf 'glGetError(%s) = %s\n' '' 1 '' true '' 0x1 '' 1 '' -1 '' nan '' inf \
		'' 1 '' nan '' -3 'of = 1' 0)" ]
}

@test "-O color: the same with escape sequences" {
	small >all
	small -O color=no | cmp - all
	small -O color=yes >colored
	sed 's/\x1b\[[0-9]*m//g' colored | cmp - all
	sed -n '/glQ\|glD\|incomplete/s/\x1b\[//gp' colored >got
	cat >wanted <<'END'
1 @a 1mglDrawArrays0m(mode0m = 34mGL_TRIANGLES0m, first0m = 34m00m, count0m = ?)
6 @0 1mglXSwapBuffers0m(dpy0m = 32m0x00m, drawable0m = ?) // 31mincomplete0m
END
	cmp got wanted
}

@test "-O blobs: in files, by the number of the call" {
	small -O blobs=there | grep -F 'blob = blob("there/blob_call5.bin")'
	printf '\1\2\3' | cmp - there/blob_call5.bin
	small -O blobs=. | grep -F 'blob = blob("blob_call5.bin")'
	cmp blob_call5.bin there/blob_call5.bin
	# with all directories above it, and not where nothing is to be kept
	small -O blobs=a/b/c/ >/dev/null
	cmp blob_call5.bin a/b/c/blob_call5.bin
	grep -v b64: small | tr-totext -O blobs=unused >/dev/null
	[ ! -e unused ]
	echo text >nowhere
	run -2 --separate-stderr tr-totext -O blobs=nowhere/dir small
	[[ $output == *'blob = blob(3)'* ]]
	[[ $stderr == *nowhere/dir* ]]
	# a link in it is replaced, not followed
	ln -sf ../nowhere there/blob_call5.bin
	small -O blobs=there >/dev/null
	[ "$(cat nowhere)" = text ]
	cmp blob_call5.bin there/blob_call5.bin
}

@test "without definitions: arguments as the records have them" {
	grep -v '^%[a-z]*	[A-Z]' small | tr-totext >out
	grep -Fx '1 @a glDrawArrays(mode = GL_TRIANGLES, first = 0)' out
	grep -Fx K1 out
	# of a field that is given twice, the last is shown
	printf 'enter\t0\t-\t0\tf\ta=1\tb=2\nleave\t0\t-\t0\tf\t->\ta=3\tc=4\treturn=5\n' | tr-totext >out
	[ "$(cat out)" = '0 @0 f(a = 3, b = 2, c = 4) = 5' ]
}

@test "GUIDs have the names that apitrace knows, or their digits; others are structures" {
	shows() { # shows VALUE TEXT
		printf '%%struct\tS5\tGUID\ncall\t0\t-\t0\tf\ta=%s\t->\n' "$1" | tr-totext >out
		cat out
		[ "$(cat out)" = "0 @0 f(a = $2)" ]
	}
	local end='Data4=[192,0,0,0,0,0,0,7' known='0xfff32f81,Data2=0xd953,Data3=0x473a'
	shows "{Data1=0,Data2=0,Data3=0,${end}0]}@S5" IID_IUnknown
	shows "{Data1=0,Data2=0,Data3=0,${end}1]}@S5" 'uuid(00000000-0000-0000-c000-000000000047)'
	shows "{Data1=$known,Data4=[146,35,147,214,82,171,169,63]}@S5" IID_IDirect3DCubeTexture9
	shows '{Data1=4294967297,Data2=-1,Data3=0x10003,Data4=[1,2,3,4,5,6,7,-1]}@S5' \
		'uuid(00000001-ffff-0003-0102-0304050607ff)'
	shows '{Data1=1,Data2=2,Data3=3,Data4=4}@S5' '{Data1 = 1, Data2 = 2, Data3 = 3, Data4 = 4}'
	shows '{Data1=1,Data2=2,Data3=3}@S5' '{Data1 = 1, Data2 = 2, Data3 = 3}'
	shows '{Data1=1,Data2=2,Data3=3,Data4=[1,2,3,4,5,6,7]}@S5' \
		'{Data1 = 1, Data2 = 2, Data3 = 3, Data4 = {1, 2, 3, 4, 5, 6, 7}}'
	shows "{Data1=0,Data2=0,Data3=0,${end}0]}@S55" \
		'{Data1 = 0, Data2 = 0, Data3 = 0, Data4 = {192, 0, 0, 0, 0, 0, 0, 70}}'
}

@test "arguments that the definition does not have are shown, too" {
	printf '%%fn\tF1\tf\targs=["a","","return","x","x"]\n' >odd
	printf 'call\t0\t-\t0\tf\t#1=1\tz=7\t#2=2\ta=0\t#4=4\t#9=8\t->\treturn=9\n' >>odd
	[ "$(tr-totext odd)" = '0 @0 f(a = 0,  = 1, return = 2, x = ?, x = 4, z = 7, #9 = 8) = 9' ]
}

@test "a function with many arguments, in any order" {
	printf '%%fn\tF1\tf\targs=["a0"' >many
	for i in {1..40}; do printf ',"a%d"' "$i"; done >>many
	printf ']\ncall\t0\t-\t0\tf' >>many
	for i in {40..0}; do printf '\ta%d=%d' "$i" "$i"; done >>many
	printf '\t->\n' >>many
	[ "$(tr-totext many)" = "0 @0 f($(for i in {0..40}; do printf 'a%d = %d\n' "$i" "$i"; done | paste -sd, | sed 's/,/, /g'))" ]
}

@test "several segments and files, one after the other" {
	small >all
	tr-totext small small | cmp - <(cat all all)
	cat small small | tr-totext | cmp - <(cat all all)
	# nothing of the first is known in the second
	printf '%%trec\t1\tformat=apitrace\ncall\t0\t-\t0\tglDrawArrays\tmode=1\t->\n!end\t1\n' >next
	[ "$(cat small next | tr-totext | tail -n 1)" = '0 @0 glDrawArrays(mode = 1)' ]
}

@test "a format without a style and an unknown style are errors" {
	printf '%%trec\t1\tformat=drcov\tversion=2\nmodule\t0\t-\t-\t-\tid=0\n!end\t1\n' >other.trec
	run -2 tr-totext other.trec
	[[ $output == *'format drcov has no style'* ]]
	printf 'module\t0\t-\t-\ta\n' >module.trec
	run -2 tr-totext module.trec
	[[ $output == *'a stream without a header has no style of its own; choose one with --style'* ]]
	run -2 --separate-stderr tr-totext small other.trec
	[ "$output" = "$(small)" ]
	[[ $stderr == *'format drcov'* ]]
	run -2 tr-totext --style=treee small
	run -2 tr-totext -O octal=9 small
	run -2 tr-totext -O grep='(' small
	[[ $output == *grep* ]]
	[ -z "$(tr-totext </dev/null)" ]
}

@test "records that a style does not show are reported on request" {
	printf 'call\t0\t-\t0\tf\t->\nexec\t0\t-\t-\ta\nleave\t1\t-\t0\tg\t->\n' >mixed
	run -0 --separate-stderr tr-totext mixed
	[ "$output" = '0 @0 f()' ]
	[ -z "$stderr" ]
	run -0 --separate-stderr tr-totext --verbose mixed
	[[ $stderr == *'kind exec'*'leave without its enter'* ]]
	run -2 tr-totext --strict mixed
}

@test "a style that shows none of the input's kinds fails and names them" {
	for style in apitrace gnatcov gnatcov-raw gnatcov-base gnatcov-src tree dot script; do
		printf 'use\t0\t-\t-\t/a\nx\t1\t-\t1\tread\nuse\t2\t-\t-\t/b\n' >other
		run -2 --separate-stderr tr-totext --style=$style -o out other
		[[ $stderr == "tr-totext: no "*" here, only other records: 2 use, 1 x" ]]
		[ ! -e out ]
		# context is not among them, and alone is no error
		printf 'meta\t0\t-\t-\tversion\tvalue=1\nenvset\t0\t-\t-\t-\n' >context
		run -0 tr-totext -q --style=$style context
		cat context other >both
		run -2 --separate-stderr tr-totext -q --style=$style both
		[[ $stderr == *": 2 use, 1 x" ]]
	done
	# another style that shows them is named
	for style in gnatcov gnatcov-src tree dot script; do
		run -2 --separate-stderr tr-totext --style=$style small
		[[ $stderr == *"; try --style=apitrace" ]]
	done
	# the right kind, but none is left
	run -0 --separate-stderr tr-totext --style=apitrace -O verbose=no <(printf 'call\t0\t-\t0\tglIsEnabled\t->\n')
	[ "$stderr" = "tr-totext: note: --style=apitrace shows nothing of this input" ]
	# one segment that is shown is enough
	printf 'exec\t3\t-\t1\t/a\targv=["a"]\n' | cat other - >both
	run -0 tr-totext --style=tree both
}

@test "a style that shows nothing is reported" {
	# no name is like that, and the style is the right one
	run -0 tr-totext --style=apitrace -O grep=nothing "$top_srcdir/tests/data/apitrace/eglinfo.trace"
	[ -z "$output" ]
	printf '%%trec\t1\tformat=klocwork\nmeta\t0\t-\t-\t-\n!end\t1\n%%trec\t1\tformat=json\n!end\t0\n' >several
	run -2 --separate-stderr tr-totext several
	[[ $stderr == *'json has no style of its own; choose one with --style (see --help)' ]]
	# the records of a format without a style of its own name one that shows them
	printf '%%trec\t1\tformat=drcov\nmodule\t0\t-\t-\t/a\nblock\t1\t-\t-\t0x00001000\tsize=2\n' >drcov
	run -2 --separate-stderr tr-totext drcov
	[[ $stderr == *'format drcov has no style of its own: 1 block; try --style=gnatcov' ]]
	run -2 --separate-stderr tr-totext <(tail -n +2 drcov) several drcov
	[[ ${stderr_lines[0]} == *'a stream without a header has no style of its own: 1 block; try --style=gnatcov' ]]
	[ "${#stderr_lines[@]}" -eq 3 ]
	printf '%%trec\t1\tformat=klocwork\n!end\t0\n' >none
	run -0 tr-totext none
	[ -z "$output" ]
}

@test "malformed values are shown as they are, and reported" {
	printf 'call\t0\t-\tx y\tf\ta=01\tb\tc=2\t->\treturn=zz(\n' >bad
	run -2 --separate-stderr tr-totext bad
	[ "$output" = '0 @x y f(a = 01, c = 2) = zz(' ]
	[ "${#stderr_lines[@]}" -ge 1 ]
}

@test "real traces: what apitrace shows, directly and through the pipe" {
	for trace in "$data"/*.trace; do
		name=$(basename "$trace" .trace)
		zcat "$data/$name.txt.gz" >wanted
		echo "$name"
		tr-totext "$trace" | cmp - wanted
		tr-parse "$trace" | tr-totext | cmp - wanted
		tr-parse --join "$trace" | tr-totext | cmp - wanted
	done
}

# both_ways FILE: plain calls are shown without records, which others are made of
both_ways() {
	local direct=0 piped=0
	tr-totext -q "$1" >direct || direct=$?
	tr-parse -q "$1" | tr-totext -q >piped || piped=$?
	cmp direct piped && [ "$direct" -eq "$piped" ]
}

@test "hand-made, cut and damaged traces are shown the same without records and with them" {
	local recipe i size
	for recipe in "$data"/*.recipe; do
		"${top_builddir:?}/tests/helper/apitrace_make" <"$recipe" >made
		both_ways made
	done
	tr-repack -z none "$data/es2tri.trace" >whole
	both_ways whole
	[ "$(wc -l <direct)" -gt 10 ]
	size=$(stat -c %s whole)
	for ((i = 1; i < 100; i++)); do
		head -c $((i * size / 100)) whole >cut
		both_ways cut
		{ head -c $((i * size / 100)) whole && printf 'x' && tail -c +$((i * size / 100 + 2)) whole; } >bad
		both_ways bad
	done
}

@test "calls whose definitions came earlier are shown the same without records and with them" {
	local recipe
	for recipe in "$data"/good-*.recipe; do
		"${top_builddir:?}/tests/helper/apitrace_make" <"$recipe" | tr-parse -q >stream
		# the second time, no call defines anything
		{ grep -v '^!' stream && { grep -E '^(call|enter|leave)' stream || true; }; } |
			tr-repack -q -z none >twice
		both_ways twice
		tr-totext -q -O octal=fixed -O multiline=no twice >direct
		tr-parse -q twice | tr-totext -q -O octal=fixed -O multiline=no | cmp - direct
	done
}

@test "traces of several kinds, one after the other" {
	local gnatcov=$data/../gnatcov/plain_32le.trace
	{ zcat "$data/gears.txt.gz" && tr-totext "$gnatcov" && zcat "$data/es2tri.txt.gz"; } >wanted
	tr-totext "$data/gears.trace" "$gnatcov" "$data/es2tri.trace" | cmp - wanted
}

@test "every format that is read, but streams and drcov, has a style by default" {
	for format in $(tr-parse --list-formats | awk -F'\t' '$2 == "yes" && $1 !~ /^(trec|json|drcov)$/ { print $1 }'); do
		run -0 tr-totext <<-EOF
			%trec	1	format=$format
			!end	0
		EOF
		[ -z "$output" ]
	done
	# the list of formats makes the choices, and a choice that no format has is refused
	run -2 tr-totext --style=nothing
	[[ $output == *apitrace*gnatcov*gnatcov-raw*gnatcov-base*gnatcov-src*tree*dot*script* ]]
}
