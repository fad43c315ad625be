#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lcov tracefiles of programs that the test compiles. The blocks are whole functions, with the
# addresses that nm prints; tests/peers/gcov.bats has real traces.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	run tr-repack -q -t lcov -O exe=/bin/sh /dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	cat >a.c <<'END'
static int twice(int x)
{
	return 2 * x;
}

static int never(int x)
{
	return 3 * x;
}

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += twice(i);
	if (sum > 100)
		sum = never(sum);
	return sum != 6;
}
END
}

# compile FLAG...: makes ./a
compile() {
	${CC:-gcc} -std=gnu11 -O0 -g "$@" -o a a.c
}

# trace KIND NAME... [-- BASE]: writes a section of that kind; each NAME is a function that ran
trace() {
	local kind=$1 base=0 name n=1
	shift
	printf 'section\t0\t-\t-\t%s\tbits=64\tendian="little"\tmachine=EM_X86_64\n' "$kind"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		nm -S ./a | while read -r address size _ symbol; do
			[ "$symbol" != "$1" ] || printf 'block\t%d\t-\t-\t0x%016x\tsize=%d\top=block\n' \
				$n $((16#$address + ${BASE:-0})) $((16#$size))
		done
		n=$((n + 1))
		shift
	done
}

@test "every line and function that has code, and whether it ran" {
	compile -no-pie
	trace FLAT main twice twice | tr-repack -q -t lcov -O exe=a >info
	# from a file of entries, most of which come without records
	trace FLAT main twice twice | sed s/.little./little/ | tr-repack -q -t gnatcov -o entries.trace
	tr-repack -q -t lcov -O exe=a entries.trace | cmp - info
	grep -qE '^VER:build-id [0-9a-f]{40}$' info || ! readelf -n a | grep -q 'Build ID'
	diff - <(grep -v ^VER info) <<END
TN:
SF:$PWD/a.c
FN:1,twice
FN:6,never
FN:11,main
FNDA:1,twice
FNDA:0,never
FNDA:1,main
FNF:3
FNH:2
DA:1,1
DA:3,1
DA:6,0
DA:8,0
DA:11,1
DA:13,1
DA:14,1
DA:15,1
DA:16,1
DA:17,1
DA:18,1
LF:11
LH:9
end_of_record
END
}

@test "counts where a trace has them: every entry of a HISTORY, and the hits of drcov" {
	compile -no-pie
	trace HISTORY main twice twice twice | tr-repack -q -t lcov -O exe=a >info
	grep -qx DA:3,3 info
	grep -qx FNDA:3,twice info
	grep -qx DA:13,1 info
	# traces are added up
	trace HISTORY main twice >one
	tr-repack -q -t lcov -O exe=a one one | grep -qx DA:3,2
	{
		printf 'module\t0\t-\t-\t/somewhere/a\tid=0\tbase=0x400000\tend=0x500000\n'
		trace FLAT twice | grep ^block | sed 's/op=block/module=0\thits=150/'
	} | tr-repack -q -t lcov -O exe=a | grep -qx DA:3,150
	# a decision map lists code that has not been executed
	trace DECISION_MAP main | tr-repack -q -t lcov -O exe=a | grep -qx DA:13,0
}

@test "a program that was loaded elsewhere: base, modules of drcov, shared objects of gnatcov" {
	compile -pie -fPIE
	BASE=0x5500000000 trace FLAT main >moved
	run --separate-stderr tr-repack -t lcov -O exe=a moved
	[[ $stderr == *'none of the 1 blocks is in a, which can be loaded anywhere: give its address with base=0x... (for QEMU the first address in the tables that -d page logs)' ]]
	[[ $output == *$'\nLH:0\n'* ]]
	run -2 tr-repack -q --strict -t lcov -O exe=a moved
	for base in 0x5500000000 a=0x5500000000; do
		tr-repack --strict -t lcov -O exe=a -O base=$base moved | grep -qx LH:7
	done
	# a wrong base is reported, wherever the blocks are then: in the headers of the file, or outside
	run --separate-stderr tr-repack -t lcov -O exe=a -O base=0x5500001000 moved
	[[ $stderr == *'none of the 1 blocks in a is in one of its lines: is the address given with base right?' ]]
	[[ $output == *$'\nLH:0\n'* ]]
	run --separate-stderr tr-repack -t lcov -O exe=a -O base=0x5500100000 moved
	[[ $stderr == *'none of the 1 blocks is in a: is the address given with base right?' ]]
	mkdir -p root/usr/lib && mv a root/usr/lib/liba.so
	{
		printf 'module\t0\t-\t-\t/usr/lib/liba.so\tid=0\tbase=0x5500000000\tend=0x5500010000\n'
		printf 'module\t1\t-\t-\t/usr/lib/libb.so\tid=1\tbase=0x6500000000\tend=0x6500010000\n'
		sed -n 's/op=block/module=0/p' moved
		sed -n 's/op=block/module=1/; s/0x00000055/0x00000065/p' moved
	} >modules
	tr-repack -q -t lcov -O path=root modules | grep -qx LH:7
	tr-repack -q -t lcov -O path=root/usr/lib modules | grep -qx LH:7
	tr-repack -q -t lcov -O exe=root/usr/lib/liba.so modules | grep -qx LH:7
	run ! grep -q DA <(tr-repack -q -t lcov -O path=/nowhere modules)
	{
		printf 'section\t0\t-\t-\tFLAT\tbits=64\tendian="little"\tmachine=EM_X86_64\n'
		printf 'load\t1\t-\t-\t0x0000005500000000\tEXEC_FILE_NAME="/usr/lib/liba.so"\tEXEC_CODE_SIZE=" 65536"\n'
		sed -n '/^block/p' moved
		printf 'unload\t3\t-\t-\t0x0000005500000000\n'
		sed -n '/^block/s/0x0000005500000000/0x0000005500000000/p' moved
	} | tr-repack -q -t lcov -O path=root | grep -qx LH:7
}

@test "conditional jumps have outcomes, other jumps have none" {
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	cat >b.s <<'END'
	.file 1 "/src/b.c"
	.text
	.globl _start, other
	.type _start, @function
_start:
	.loc 1 3
	cmpl $0, %edi
	jne 1f
	.loc 1 4
	jmp 2f
1:	.loc 1 5
	cmpl $1, %esi
	je 2f
2:	.loc 1 6
	hlt
	.size _start, . - _start
END
	${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x401000 -o b b.s
	b() { printf 'block\t%d\t-\t-\t0x%016x\tsize=%d\top=%s\n' "$@"; }
	{
		b 0 0x401000 5 'block|br0' # jne
		b 1 0x401000 5 'block|br1'
		b 2 0x401005 2 'block|br0' # jmp
		b 3 0x401007 5 'block|br1' # je
	} | tr-repack -q -t lcov -O exe=b | grep -vE '^(VER|FN)' | diff - <(cat <<'END'
TN:
SF:/src/b.c
BRDA:3,3,0,1
BRDA:3,3,1,1
BRDA:5,10,0,0
BRDA:5,10,1,1
BRF:4
BRH:3
DA:3,1
DA:4,1
DA:5,1
DA:6,0
LF:4
LH:3
end_of_record
END
	)
}

@test "each branch and each function is at a line: those of the compiler and inlined ones, too" {
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	cat >a.c <<'END'
static inline __attribute__((always_inline)) int
clamp(int x)
{
	if (x > 9)
		return 9;
	return x;
}

static inline __attribute__((always_inline)) int unused(int x)
{
	return x + 1;
}

int main(int argc, char **argv)
{
	char name[64] = { 0 };
	name[clamp(argc)] = 1;
	if (argc > 100)
		return unused(argc);
	return name[1] + !argv;
}
END
	compile -no-pie -fstack-protector-all
	# each conditional jump of main is the end of a block; the last one checks the stack
	trace FLAT main | head -n 1 >jumps
	objdump -d --no-show-raw-insn a | awk '/^[0-9a-f]+ <main>:/ { on = 1 } /^$/ { on = 0 }
		on && at { sub(":", ""); print at, $1; at = "" }
		on && $2 ~ /^j[^m]/ { sub(":", "", $1); at = $1 }' | while read -r from to; do
		printf 'block\t0\t-\t-\t0x%016x\tsize=%d\top=block|br0\n' "0x$from" $((0x$to - 0x$from))
	done >>jumps
	[ "$(wc -l <jumps)" -ge 4 ]
	cat jumps <(trace FLAT main | tail -n 1) | tr-repack -q -t lcov -O exe=a -o a.info
	grep -qx FN:2,clamp a.info
	grep -qx FNDA:1,clamp a.info
	grep -qx FN:9,unused a.info
	[ "$(grep ^BRDA a.info | cut -d, -f1 | sort | uniq -c | tr -s ' \n' ' ')" = ' 2 BRDA:18 2 BRDA:4 ' ]
	for kind in BRDA FN; do
		[ -z "$(comm -23 <(sed -n "s/^$kind:\([0-9]*\),.*/\1/p" a.info | sort -u) <(sed -n 's/^DA:\([0-9]*\),.*/\1/p' a.info | sort -u))" ]
	done
}

@test "a function is at its declaration, and no two functions of a file have one name" {
	command -v g++ >/dev/null || skip 'no g++'
	cat >names.cc <<'END'
static inline __attribute__((always_inline)) int clamp(int x)
{
	return x > 9 ? 9 : x;
}

int main(int argc, char **)
{
	int n = clamp(argc);
	auto one = [](int x) { return x + 1; };
	auto two = [n](int x) { return x + n; };
	return one(n) + two(n);
}
END
	for options in '-O2 -fno-inline' -O0; do
		# shellcheck disable=SC2086 # options
		g++ -g -no-pie $options -o a names.cc
		trace FLAT main | tr-repack -q -t lcov -O exe=a -o a.info
		grep -qx FN:6,main a.info
		[ -z "$(sed -n 's/^FN:[0-9]*,//p' a.info | sort | uniq -d)" ]
	done
	tr-repack -q -t lcov -O exe=a -O demangle=yes <(trace FLAT main) | grep -qxF 'FN:10,main::{lambda(int)#2}::operator()(int) const'
}

@test "a jump has the same number in each run, so that runs can be merged" {
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	cat >b.s <<'END'
	.file 1 "/src/b.c"
	.text
	.globl _start
	.type _start, @function
_start:
	.loc 1 3
	testl %edi, %edi
	je 1f
	testl %esi, %esi
	je 1f
	hlt
1:	hlt
	.size _start, . - _start
END
	${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x401000 -o b b.s
	b() { printf 'section\t0\t-\t-\tHISTORY\tbits=64\tendian="little"\tmachine=EM_X86_64\nblock\t1\t-\t-\t0x%016x\tsize=4\top=block|%s\n' "$@"; }
	b 0x401004 br0 >second
	{ b 0x401000 br1 && b 0x401004 br1; } >both
	for run in second both; do tr-repack -q -t lcov -O exe=b -o $run.info $run; done
	tr-filter --merge second.info both.info | tr-repack >merged.info
	tr-repack -q -t lcov -O exe=b second both | cmp - merged.info
	[ "$(grep ^BRDA merged.info | tr '\n' ' ')" = 'BRDA:3,2,0,0 BRDA:3,2,1,1 BRDA:3,6,0,1 BRDA:3,6,1,1 ' ]
}

@test "lcov and genhtml accept the file without a warning" {
	compile -no-pie
	trace FLAT main twice | tr-repack -q -t lcov -O exe=a -o a.info
	run -0 lcov --summary a.info
	[[ $output == *'81.8% (9 of 11 lines)'* && $output == *'66.7% (2 of 3 functions)'* ]]
	run -0 genhtml -q --function-coverage --branch-coverage -o html a.info
	[ -z "$output" ]
	grep -rq never html
	lcov -q -a a.info -a a.info -o sum.info
	grep -qx DA:13,2 sum.info
}

@test "several programs share their sources; inline functions and templates add up" {
	cat >h.h <<'END'
static inline int shared(int x)
{
	return x + 1;
}
END
	printf '#include "h.h"\nint main(void) { return shared(-1); }\n' >one.c
	printf '#include "h.h"\nint main(void) { return shared(-1); }\n' >two.c
	for p in one two; do
		${CC:-gcc} -O0 -g -no-pie -o $p $p.c
	done
	cp one a
	trace HISTORY main shared shared >one.trec
	tr-repack -q -t lcov -O exe=one -O exe=two one.trec >info
	[ "$(grep -c ^SF: info)" -eq 3 ]
	sed -n "\,^SF:$PWD/h.h,,/end_of/p" info | grep -qx DA:3,2
	grep -qx "FNDA:2,shared" info
}

@test "a program without debug information, and files that are not programs" {
	compile -no-pie
	trace FLAT main >main.trec
	strip a
	run -0 --separate-stderr tr-repack -t lcov -O exe=a main.trec
	[[ $stderr == *'a has no debug information, so it has no lines: compile it with -g'* ]]
	[ -z "$output" ]
	run -2 tr-repack -t lcov main.trec
	[[ $output == *'the source lines of blocks need the program that was run: -O exe=PROG'* ]]
	run -2 tr-repack -t lcov -O exe=a.c main.trec
	[[ $output == *'a.c: not an ELF file'* ]]
	run -2 tr-repack -t lcov -O exe=missing main.trec
	[[ $output == *'missing: cannot be opened: No such file'* ]]
	run -2 tr-repack -t lcov -O exe=a -O base=12 main.trec
	[[ $output == *"base takes 0xADDRESS or NAME=0xADDRESS, not '12'"* ]]
	run -2 tr-repack -t lcov -O exe=a -O base=b=0x12 main.trec
	[[ $output == *"base names 'b', which is not one of the programs"* ]]
	run -2 tr-repack -t lcov -O exe=a "$top_srcdir"/tests/data/etrace/hello.nfsdb.gz
	[[ $output == *'lcov cannot hold'* ]]
}

@test "debug information in a file of its own: debuglink, build id" {
	compile -no-pie
	trace FLAT main >main.trec
	tr-repack -q -t lcov -O exe=a main.trec >want
	objcopy --only-keep-debug a a.debug
	objcopy --strip-debug --add-gnu-debuglink=a.debug a
	tr-repack -q -t lcov -O exe=a main.trec | diff want -
	# no server is asked for it
	rm a.debug
	DEBUGINFOD_URLS=http://localhost:1/ tr-repack -q -t lcov -O exe=a main.trec >none
	[ ! -s none ]
}

@test "DWARF 2 to 5, compressed and split debug information give the same lines" {
	compile -no-pie -gdwarf-5
	trace FLAT main | tr-repack -q -t lcov -O exe=a | grep -v ^VER >want
	for flags in -gdwarf-2 -gdwarf-3 -gdwarf-4 '-gdwarf-5 -gz' '-gdwarf-4 -gsplit-dwarf' '-gdwarf-5 -gsplit-dwarf'; do
		# shellcheck disable=SC2086 # two words
		compile -no-pie $flags || continue
		echo "$flags"
		trace FLAT main | tr-repack -q -t lcov -O exe=a | grep -v ^VER | diff want -
	done
}

@test "debug information that cannot be read is reported, and what can be read is used" {
	compile -no-pie
	trace FLAT main >main.trec
	tr-repack --strict -t lcov -O exe=a main.trec >/dev/null
	head -c 200 /dev/zero | tr '\0' '\377' >junk
	objcopy --update-section .debug_line=junk a
	run -2 --separate-stderr tr-repack -t lcov -O exe=a main.trec
	[[ $stderr == *'a: 1 parts of its debug information cannot be read; their functions and lines are missing'* ]]
	run -2 --separate-stderr tr-symbolize --exe=a main.trec
	[[ $output == *'function="main"'* ]]
	# a file that is cut
	compile -no-pie
	head -c -1000 a >cut
	run -2 --separate-stderr tr-repack -t lcov -O exe=cut main.trec
	[[ $stderr == *'cut: 1 parts of its debug information cannot be read; '* ]]
	# a file that is not in the table of files, and an inlined function that is not there
	printf 'static inline __attribute__((always_inline)) int one(int x)\n{\n\treturn x;\n}\nint main(void)\n{\n\treturn one(0);\n}\n' >a.c
	${CC:-gcc} -O0 -g -dA -S a.c
	grep -q $'0x1\t# DW_AT_call_file' a.s || skip 'the compiler does not mark its debug information as gcc does'
	sed 's/0x1\(.*DW_AT_call_file\)/0xee\1/' a.s >file.s
	awk '/DW_TAG_inlined_subroutine/ { on = 1 } on && sub(/0x[0-9a-f]+(.*DW_AT_abstract_origin)/, "0xfffff0 # DW_AT_abstract_origin") { on = 0 } 1' a.s >origin.s
	for damaged in file origin; do
		run ! cmp -s a.s $damaged.s
		${CC:-gcc} -no-pie -o $damaged $damaged.s
		run -2 --separate-stderr tr-repack -t lcov -O exe=$damaged /dev/null
		[[ $stderr == *"$damaged: 1 parts of its debug information cannot be read; "* ]]
		grep -qx DA:7,0 <<<"$output"
	done
}

@test "a line table that is far larger than its file takes a bounded amount of memory, and is named" {
	[ -z "$TREC_SANITIZED" ] || skip 'sanitizers reserve more memory than this limit'
	compile -no-pie
	trace FLAT main >main.trec
	objcopy --dump-section .debug_line=table a
	# rows that add nothing, before the end of the only sequence
	at=$(grep -obUaP '\x00\x01\x01' table | tail -n 1 | cut -d: -f1)
	more=16000000 size=$(($(stat -c %s table) + more - 4))
	{
		for shift in 0 8 16 24; do
			printf '%b' "\\x$(printf %02x $((size >> shift & 255)))"
		done
		head -c "$at" table | tail -c +5
		head -c "$more" /dev/zero | tr '\0' '\022'
		tail -c +$((at + 1)) table
	} >huge
	objcopy --update-section .debug_line=huge a
	objcopy --compress-debug-sections=zlib a
	[ "$(stat -c %s a)" -lt 100000 ]
	# the limit of the process that reads it, which grows with the file
	run -2 --separate-stderr tr-repack -t lcov -O exe=a main.trec
	[[ $stderr == *'a: its debug information takes too much memory to read'* ]]
}

@test "a tracefile that is read and written again is the same, in one order" {
	data=$top_srcdir/tests/data/lcov
	tr-parse "$data/good-2.0.info" | tr-repack | cmp - "$data/good-2.0.info"
	# a function may have several names, and conditions are kept as they are
	tr-parse "$data/good-2.2.info" | grep -cx $'srcfunction\t2\t-\t-\t/src/b.c\tfunction="alias"\tline=3\tlast_line=9\thits=0'
	[ "$(tr-filter -c raw "$data/good-2.2.info")" -eq 2 ]
	# geninfo writes branches between lines: the same entries, and the same figures
	tr-parse "$data/geninfo.info" | tr-repack -o again.info
	diff <(grep -v '^[FBL][NR]*[FH]:' "$data/geninfo.info" | LC_ALL=C sort) \
		<(grep -v '^[FBL][NR]*[FH]:' again.info | LC_ALL=C sort)
	tr-parse again.info | tr-repack | cmp - again.info
	for file in "$data/geninfo.info" again.info; do
		lcov --summary --rc lcov_branch_coverage=1 "$file" | grep % >"${file##*/}.figures"
	done
	diff geninfo.info.figures again.info.figures
	[ "$(wc -l <again.info.figures)" -eq 3 ]
}

@test "functions of one name are told by their lines, and their counts by their order" {
	functions() { tr-parse "$1" | sed -n 's/^srcfunction.*function=//p' | tr '\t\n' ' ;'; }
	printf 'SF:/a.js\nFN:3,get\nFN:9,get\nFN:12,get\nFNDA:2,get\nFNDA:0,get\nFNDA:7,get\nend_of_record\n' >one
	[ "$(functions one)" = '"get" line=3 hits=2;"get" line=9 hits=0;"get" line=12 hits=7;' ]
	[ "$(tr-parse one | tr-repack | grep -e ^FN: -e ^FNDA:)" = "$(grep ^FN one)" ]
	printf 'SF:/b.c\nFNL:0,3\nFNL:1,9\nFNA:0,1,f\nFNA:1,2,f\nend_of_record\n' >two
	[ "$(functions two)" = '"f" line=3 hits=1;"f" line=9 hits=2;' ]
	# counts of one function are added up, up to the most
	printf 'SF:/c.c\nFN:3,f\nFNDA:2,f\nFN:3,f\nFNDA:5,f\nFNDA:18446744073709551610,g\nFNDA:9,g\nend_of_record\n' >three
	[ "$(functions three)" = '"f" line=3 hits=7;"g" hits=18446744073709551615;' ]
	# also those after other lines of the section
	printf 'SF:/d.c\nFN:1,f\nDA:1,1\nFNDA:5,f\nFN:7,g\nFNDA:2,g\nend_of_record\n' >four
	[ "$(functions four)" = '"f" line=1 hits=0;"f" line=1 hits=5;"g" line=7 hits=2;' ]
	[ "$(tr-parse four | tr-repack | grep ^FN | tr '\n' ' ')" = 'FN:1,f FN:7,g FNDA:5,f FNDA:2,g FNF:2 FNH:2 ' ]
}

@test "records of a tracefile are selected, and make a tracefile" {
	data=$top_srcdir/tests/data/lcov
	tr-filter 'srcline and hits == 0' "$data/good-2.0.info" | tr-repack | diff - <(cat <<'END'
TN:one
SF:/src/a.c
VER:build-id 00
FNF:0
FNH:0
DA:9,0
LF:1
LH:0
end_of_record
END
	)
	# a file without selected records has no section
	[ "$(tr-filter 'name $= "/loops.c"' "$data/geninfo.info" | tr-repack | grep ^SF:)" = SF:/srv/build/lcovdemo/loops.c ]
	[ "$(tr-filter --fields=function --raw 'srcfunction and hits == 0' "$data/good-2.0.info")" = other ]
}

@test "tracefiles are added up as lcov does it" {
	data=$top_srcdir/tests/data/lcov
	sed 's/^DA:5,1,/DA:5,41,/; s/^FNDA:1,sum/FNDA:7,sum/' "$data/geninfo.info" >other.info
	tr-filter --merge "$data/geninfo.info" other.info | tr-repack >sum.info
	lcov -q --checksum --rc lcov_branch_coverage=1 -a "$data/geninfo.info" -a other.info -o lcov.info
	diff <(LC_ALL=C sort lcov.info) <(LC_ALL=C sort sum.info)
	grep -q '^DA:5,42,' sum.info
	# the writer alone adds up, too
	tr-repack -t lcov "$data/geninfo.info" other.info | cmp - sum.info
	# the same file in another test is another section, as in lcov
	sed 's/^TN:.*/TN:second/' other.info >second.info
	[ "$(tr-filter --merge other.info second.info | tr-repack | grep -c ^SF)" -eq "$((2 * $(grep -c ^SF other.info)))" ]
	# counts do not overflow
	printf 'SF:/a\nDA:1,18446744073709551615\nend_of_record\n' >most
	tr-repack -t lcov most most | grep -qx DA:1,18446744073709551615
	# what cannot be added up is noted once
	run -0 --separate-stderr tr-filter --merge "$data/good-2.2.info" "$data/good-2.2.info"
	[ "$(grep -c 'note: left out: records of kind raw (conditions of MC/DC), which cannot be merged$' <<<"$stderr")" -eq 1 ]
	# blocks of a program and lines of a file go together
	compile -no-pie
	trace FLAT main | tr-repack -q -t lcov -O exe=a -o a.info
	{ trace HISTORY main && tr-parse a.info; } | tr-repack -q -t lcov -O exe=a | grep -qx DA:13,2
}

@test "damage in a tracefile is reported with its line, and all else is read" {
	run -2 --separate-stderr tr-parse "$top_srcdir/tests/data/lcov/bad-lines.info"
	grep -v '^[%!]' <<<"$output" | cut -f 1,5- | diff - <(cat <<'END'
source	/src/a.c
srcline	/src/a.c	line=7	hits=1
source	/src/b.c
srcfunction	/src/b.c	function="f"	line=1	hits=0
srcline	/src/b.c	line=1	hits=2
source	/src/c.c
srcfunction	/src/c.c	function="h"	hits=3
END
	)
	for message in '3: left out: a line in another form than its key requires' '15: left out: a line with an unknown key' \
		'17: left out: the section before has no end_of_record' '21: left out: a line outside of a section' \
		'24: left out: a truncated line' '24: the last section has no end_of_record'; do
		[[ $stderr == *"bad-lines.info:$message"* ]]
	done
	# each record has the path, so its length is limited
	for len in 4096 4097; do
		{ printf 'SF:' && head -c $len /dev/zero | tr '\0' a && printf '\nDA:1,1\nend_of_record\n'; } >long.$len
	done
	[ "$(tr-filter -c srcline long.4096)" -eq 1 ]
	run -2 tr-filter -c srcline long.4097
	[[ $output == *'long.4097:1: left out: a source file whose path is too long'* && $output == *$'\n0' ]]
	# what belongs before the entries of a section
	printf 'TN:a\nSF:/a.c\nDA:1,1\nVER:1\nTN:b\nend_of_record\nSF:/b.c\nVER:2\nDA:1,1\nend_of_record\n' >late
	run -2 --separate-stderr tr-parse late
	[ "$(grep ^source <<<"$output" | cut -f 6- | tr '\n' ' ')" = $'test="a" test="b"\tversion="2" ' ]
	[[ $stderr == *'late:4: left out: a version (VER:) after the first entry of its section'* ]]
	[[ $stderr == *'late:5: a test name (TN:) inside a section: it applies to the sections after it'* ]]
	# wrong fields of a stream
	run -2 tr-repack -t lcov <<<$'srcline\t0\t-\t-\t/a.c\tline="x"\thits=1'
	[[ $output == *line* ]]
	run -2 tr-repack -t lcov <<<$'srcline\t0\t-\t-\t/a.c\tline=4294967296\thits=1'
	[[ $output == *'line: at most 4294967295'* ]]
}

@test "records that a tracefile cannot hold are left out, each with a message" {
	sed 's/ | */\t/g' >odd.trec <<'END'
%trec | 1 | format=lcov
source | 0 | - | - | /a.c | test="x"...
srcline | 1 | - | - | /a.c | line=1 | hits=1
srcline | 2 | - | - | /a.c | line=2 | hits=1 | checksum="x"...
srcfunction | 3 | - | - | /a.c | function="f"... | line=3 | hits=1
srcfunction | 4 | - | - | /a.c | function="g" | line=4294967296 | hits=1
srcfunction | 5 | - | - | /a.c | function="g" | line=1 | last_line=4294967296 | hits=1
srcfunction | 6 | - | - | /a.c | function="g" | line=1 | hits="1"
srcbranch | 7 | - | - | /a.c | line=4294967297 | block=0 | branch=0 | hits=null
srcbranch | 8 | - | - | /a.c | line=2 | block=0 | branch="x"... | hits=1
!end | 9
END
	run -2 --separate-stderr tr-repack -t lcov -o odd.info odd.trec
	diff <(sed 's/^tr-repack: //' <<<"$stderr") - <<'END'
odd.trec:2: test: the value is cut
odd.trec:4: checksum: the value is cut
odd.trec:5: function: the value is cut
odd.trec:6: line: at most 4294967295
odd.trec:7: last_line: at most 4294967295
odd.trec:8: hits: the value has another type
odd.trec:9: line: at most 4294967295
odd.trec:10: branch: the value is cut
END
	[ "$(tr-parse odd.info | grep ^src | cut -f1,5-)" = $'srcline\t/a.c\tline=1\thits=1' ]
}

@test "a line feed in an outcome of a branch does not begin a line" {
	tr-repack -t lcov >feed.info <<'END'
source	0	-	-	/a.c
srcline	1	-	-	/a.c	line=1	hits=1
srcbranch	2	-	-	/a.c	line=1	block=0	branch="x\nend_of_record"	hits=1
END
	grep -qx 'BRDA:1,0,x end_of_record,1' feed.info
	tr-parse feed.info | grep -q 'branch="x end_of_record"'
}

@test "tr-stat prints the figures of lcov, by file and by function" {
	info=$top_srcdir/tests/data/lcov/geninfo.info
	tr-stat --json "$info" >figures.json
	jq -r '.coverage.parts[] | [.of, .executed, .all] | @tsv' figures.json |
		awk '{ printf "%.1f%% (%d of %d %s)\n", 100 * $2 / $3, $2, $3, $1 }' >ours
	lcov --summary --rc lcov_branch_coverage=1 "$info" | sed -n 's/^.*: //; /%/p' | diff - ours
	lcov --list-full-path --list "$info" | sed -nE 's/^(\/[^|]*[^ |]) *\|([0-9.]+)% +([0-9]+)\|.*/\1\t\2\t\3/p' | sort >list
	[ "$(wc -l <list)" -eq 2 ]
	jq -r '.coverage.sources[] | [.file, .executed, .lines] | @tsv' figures.json |
		awk '{ printf "%s\t%.1f\t%d\n", $1, 100 * $2 / $3, $3 }' | sort | diff list -
	jq -e '.coverage.functions | map(select(.function == "never")) == [{"entered":0,"executed":0,"share":0,"lines":5,"function":"never","file":"/srv/build/lcovdemo/loops.c"}]' figures.json
	# the file with most lines that were not executed comes first
	tr-stat --top=1 "$info" | grep -A 2 '^  sources' | tail -n 1 | grep -qE '^ +30  69.8 % +43  /srv/build/lcovdemo/switch.c$'
	# from a trace and the program
	compile -no-pie
	trace FLAT main twice >run.trec
	tr-stat -O exe=a --json run.trec | jq -c '.coverage.parts' | grep -qF '[{"executed":9,"share":0.8182,"all":11,"of":"lines"},{"executed":2,"share":0.6667,"all":3,"of":"functions"}]'
	tr-repack -q -t lcov -O exe=a run.trec | tr-stat --json | jq -c .coverage | diff <(tr-stat -O exe=a --json run.trec | jq -c .coverage) -
	# no program, no lines
	run ! grep -q coverage <(tr-stat run.trec)
}

@test "--style=source is the listing of gcov" {
	for source in loops.c switch.c; do
		rm -f ./*.gc*
		cp "$top_srcdir/tests/data/lines/$source" .
		gcc -O0 --coverage -o prog "$source" && ./prog >/dev/null
		gcov -t ./*.gcda 2>/dev/null | grep -v '^ *-:    0:' | sed 's/^ \([ 0-9]*\)\*:/  \1:/' >want
		lcov -q -c -d . -o prog.info 2>/dev/null
		tr-totext prog.info >got
		[ "$(head -n 1 got)" = "        -:    0:Source:$PWD/$source" ]
		sed 1d got | diff want -
	done
	# of a trace, with the branches, and of a source that has moved
	compile -no-pie
	trace HISTORY main twice twice >run.trec
	tr-totext --style=source -O exe=a run.trec | grep -qx '        2:    3:	return 2 \* x;'
	mkdir -p "moved/$PWD" && mv a.c "moved/$PWD"
	tr-totext --style=source -O exe=a -O sources=moved run.trec | grep -qx '    #####:    8:	return 3 \* x;'
	run --separate-stderr -0 tr-totext --style=source -O exe=a run.trec
	[[ $stderr == *"note: lines are listed without their text: $PWD/a.c: No such file"* ]]
	[ "$(grep -cE '^ *[0-9#]+: +[0-9]+:$' <<<"$output")" -eq 11 ]
	# a source that was changed, and a file that is not a source
	echo 'int other;' >a.c
	run --separate-stderr -0 tr-totext --style=source -O exe=a run.trec
	[[ $stderr =~ note:.*/a.c:\ line\ [0-9]+\ has\ code,\ and\ the\ file\ has\ 1\ lines:\ it\ is\ not\ the\ file\ that\ was\ compiled ]]
	[ "$(grep -cE '^ *[0-9#]+: +[0-9]+:$' <<<"$output")" -eq 10 ]
	rm a.c && mkfifo a.c
	run --separate-stderr -0 tr-totext --style=source -O exe=a run.trec
	[[ $stderr == *"a.c: not a regular file"* ]]
	tr-totext -O branches=yes "$top_srcdir/tests/data/lcov/good-2.0.info" 2>/dev/null | diff - <(cat <<'END'
        -:    0:Source:/src/a.c
        2:    3:
        2:    5:
branch  0 0 taken 1
branch  0 1 never executed
branch  1 x > 3 taken 2
    #####:    9:
END
	)
	run -2 tr-totext --style=source run.trec
	[[ $output == *'the source lines of blocks need the program that was run: -O exe=PROG'* ]]
	# files that are not sources are not read
	printf 'SF:/dev/zero\nDA:1,1\nend_of_record\nSF:/\nDA:1,1\nend_of_record\n' >odd.info
	[ "$(tr-totext odd.info 2>/dev/null | wc -l)" -eq 4 ]
}

@test "tr-tohtml shows the files and their lines" {
	mkdir -p "dir & <src>"
	printf 'int f(int a) { return a && 1 < 2; }\n\nint never(void) { return 0; }' >"dir & <src>/a.c"
	printf 'SF:%s\nFN:1,f\nFNDA:1,f\nDA:1,7\nDA:3,0\nBRDA:1,0,0,1\nBRDA:1,0,1,0\nend_of_record\nSF:/nowhere.c\nDA:9,1\nend_of_record\n' \
		"$PWD/dir & <src>/a.c" >in.info
	run -0 --separate-stderr tr-tohtml --title='A & <B>' -o page.html in.info
	[[ $stderr == *'note: lines are listed without their text: /nowhere.c: No such file'* ]]
	xmllint --html --noout --noblanks page.html 2>&1 | grep -v 'Tag \(meter\|details\|summary\) invalid' | grep error && false
	grep -qF '<title>A &amp; &lt;B></title>' page.html
	grep -qF '<td class=path>lines</td><td>66.7'$'\xc2\xa0''%</td><td>2 of 3</td>' page.html
	grep -qF '<td class=path>branches</td><td>50.0'$'\xc2\xa0''%</td><td>1 of 2</td>' page.html
	grep -qF "dir &amp; &lt;src>/a.c</td>" page.html
	# the listing in colours
	grep -qxF '<b>        7:    1:int f(int a) { return a &amp;&amp; 1 &lt; 2; }</b>' page.html
	grep -qxF '<i>    #####:    3:int never(void) { return 0; }</i>' page.html
	sed -n '/<pre>/,/<\/pre>/p' page.html | grep -E '^(<[bi]>)? +[-#0-9]+:' |
		sed 's/<[^>]*>//g; s/&lt;/</g; s/&amp;/\&/g' | diff <(tr-totext in.info 2>/dev/null | grep -v '    0:Source:') -
	# with the outcomes of branches, which can be expressions
	tr-tohtml -O branches=yes in.info 2>/dev/null | grep -qx 'branch  0 1 taken 0'
	tr-tohtml -O branches=yes "$top_srcdir/tests/data/lcov/good-2.0.info" 2>/dev/null | grep -qx 'branch  1 x > 3 taken 2'
	printf 'SF:/a.c\nDA:1,1\nBRDA:1,0,a<b&&c,1\nend_of_record\n' >expression.info
	tr-tohtml -O branches=yes expression.info 2>/dev/null | grep -qxF 'branch  0 a&lt;b&amp;&amp;c taken 1'
	# from a trace, of a source that has moved; without programs its blocks are nothing to show
	compile -no-pie
	trace HISTORY main twice >run.trec
	tr-tohtml -O exe=a run.trec | grep -cF 'a.c</td></tr>' | grep -qx 1
	mkdir -p "moved/$PWD" && mv a.c "moved/$PWD"
	tr-tohtml -O exe=a -O sources=moved run.trec | grep -qxF '<i>    #####:    8:'$'\t''return 3 * x;</i>'
	run -2 tr-tohtml run.trec
	[[ $output == *'no processes or API calls here, only other records: 2 block'* ]]
}

@test "a file that has only branches, and line 0, are shown and written" {
	printf 'int a;\nint b;\nint c;\n' >s.c
	printf 'TN:\nSF:%s\nDA:0,5\nDA:1,2\nDA:3,0\nend_of_record\n' "$PWD/s.c" | tr-totext |
		tail -n +2 | diff - <(printf '%9s:%5s:%s\n' 5 0 '' 2 1 'int a;' - 2 'int b;' '#####' 3 'int c;')
	# an outcome in a line without a count, in a source that cannot be read and in one that ends before it
	for source in "$PWD/none.c" "$PWD/s.c"; do
		printf 'SF:%s\nDA:1,2\nBRDA:2,0,0,1\nBRDA:9,0,1,4\nend_of_record\n' "$source" >in.info
		[ "$(tr-totext -q -O branches=yes in.info | grep -c '^branch  0 [01] taken [14]$')" -eq 2 ]
	done
	# without the option, a line that has only branches is not listed
	[ "$(tr-totext -q in.info | grep -c ':    9:')" -eq 0 ]
	printf 'SF:/x.c\nBRDA:1,0,0,1\nBRDA:1,0,1,0\nend_of_record\n' >only.info
	tr-parse only.info | tr-repack -t lcov | grep '^[SB]' | diff - <(printf '%s\n' SF:/x.c BRDA:1,0,0,1 BRDA:1,0,1,0 BRF:2 BRH:1)
	tr-totext -q -O branches=yes only.info | grep -qx 'branch  0 0 taken 1'
	# formats that have branches in lines say what they leave out
	for format in cobertura gcovjson; do
		run -0 --separate-stderr tr-repack -t $format only.info
		[[ $output == *x.c* && $stderr == *"note: 2 outcomes of branches are left out: $format has"* ]]
	done
	printf 'SF:/x.c\nend_of_record\n' | tr-tohtml 2>&1 >/dev/null | grep -F 'no lines of source files to show'
}
