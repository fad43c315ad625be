#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Branch flow of TRACE32 as execution traces.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/trace32
}

@test "a block from each target to the next caller" {
	run -0 --separate-stderr tr-parse "$data/good-thumb.txt"
	[ "$output" = $'%trec\t1\tformat=trace32
section\t0\t-\t-\tHISTORY\tbits=32
block\t1\t-\t-\t0x08000200\tsize=11\top=block
block\t2\t-\t-\t0x08000200\tsize=7\top=block
block\t3\t-\t-\t0x0800021c\tsize=5\top=block
!end\t4' ]
	[[ $stderr == *'note: the list has no sizes of instructions: the last one of a block counts as one byte, and jumps have no outcome, unless -O exe=PROG names the program'* ]]
	run -0 tr-parse -q "$data/good-64.txt"
	[ "${lines[2]}" = $'block\t1\t-\t-\t0x0000000000401000\tsize=17\top=block' ]
	[ "${#lines[@]}" -eq 4 ]
	sed 's/$/\r/' "$data/good-64.txt" | tr-parse -q | diff - <(tr-parse -q "$data/good-64.txt")
	dd bs=1 if="$data/good-64.txt" 2>/dev/null | tr-parse -q | diff - <(tr-parse -q "$data/good-64.txt")
}

@test "all addresses of a section have its width" {
	printf '%s\n' '###' '# Branch Flow trace file' '# target; caller' 'C:0x10; C:0x0' 'C:0x30; C:0x14' 'C:0x1234567890AB; C:0x34' \
		'C:0x10; C:0x1234567890AD' 'C:0x20; C:0x18' >flow.txt
	tr-parse -q flow.txt >trec
	[ "$(cut -f1,5,6 trec | grep -v '^[%!]')" = $'section\tHISTORY\tbits=32
block\t0x00000010\tsize=5
section\tHISTORY\tbits=64
block\t0x0000000000000030\tsize=5
block\t0x00001234567890ab\tsize=3
block\t0x0000000000000010\tsize=9' ]
	tr-repack --strict -t gnatcov trec | tr-filter -c block | grep -x 4
	tr-totext trec | grep ^00001234567890ab
}

@test "damage: the line is named, the rest is kept, and no code is guessed across it" {
	run -2 --separate-stderr tr-parse -q "$data/bad-lines.txt"
	[ "$(grep ^block <<<"$output" | cut -f5,6)" = $'0x00001000\tsize=17\n0x00001300\tsize=9\n0x00001600\tsize=5' ]
	[[ $stderr == *'bad-lines.txt:7: left out: a line that is not TARGET; CALLER, and the code between the lines before and after it'* ]]
	[[ $stderr == *'bad-lines.txt:10: left out: code between 0x1400 and 0x1300, because changes of flow are missing there'* ]]
	[[ $stderr == *'bad-lines.txt:11: left out: code between 0x1500 and 0x99999999,'* ]]
	run -2 --separate-stderr tr-parse -q "$data/bad-no-caller.txt"
	[[ $stderr == *'bad-no-caller.txt:3: the list has no callers: export it with the options /NOSYMBOL /CALLER'* ]]
	run -2 --separate-stderr tr-parse -q "$data/bad-cut.txt"
	[[ $stderr == *'left out: a truncated line'* && ${lines[-1]} == *truncated=true* ]]
	[ "$(grep -c ^block <<<"$output")" -eq 1 ]
	run -2 tr-parse -O exe=/nowhere "$data/good-64.txt"
	[[ $output == *'/nowhere: cannot be opened: No such file'* ]]
}

# with_program EMULATOR COMPILER FLAG...: makes prog and run.log
with_program() {
	local emulator=$1 compiler=$2
	shift 2
	command -v "$emulator" >/dev/null || skip "$emulator is not installed"
	command -v "$compiler" >/dev/null || skip "$compiler is not installed"
	run tr-repack -q -t lcov -O exe=/bin/sh /dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	cp "$top_srcdir/tests/data/lines/loops.c" .
	"$compiler" -O0 -g -static "$@" -o prog loops.c
	run -0 "$emulator" -d in_asm,exec,nochain -D run.log ./prog
}

# same_lines CLASS: the flow gives the lines, counts and branches of QEMU's log
same_lines() {
	"$top_srcdir/tests/helper/qemu_flow" "$1" <run.log >run.txt
	[ "$(wc -l <run.txt)" -lt "$(grep -c ^Trace run.log)" ]
	tr-repack -q -t lcov -O exe=prog -o want.info run.log
	run -0 --separate-stderr tr-repack -t lcov -O exe=prog -o got.info run.txt
	[ -z "$stderr" ]
	diff want.info got.info
	grep -q '^BRDA:.*,1,[1-9]' got.info
	grep -q 'loops.c$' got.info
	# a stream that was read with the program needs nothing else
	tr-parse -O exe=prog run.txt | tr-repack -q -t lcov -O exe=prog | diff want.info -
	# without it the lines are the same, and there are no outcomes
	tr-parse -q run.txt | tr-repack -q -t lcov -O exe=prog | grep -v ^BR | diff <(grep -v ^BR want.info) -
}

@test "a run on x86-64: the lines and branches of QEMU's own log" {
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	with_program qemu-x86_64 "${CC:-gcc}" -no-pie
	same_lines C
}

@test "a run on ARM, with instructions of 2 and 4 bytes" {
	with_program qemu-arm arm-linux-gnueabihf-gcc -mthumb
	same_lines T
	# by the symbols, where the class does not state it
	same_lines C
}

@test "a run on PowerPC: the lines of QEMU's own log" {
	with_program qemu-ppc powerpc-linux-gnu-gcc
	same_lines C
}

@test "-O base gives the records of a program that was loaded elsewhere" {
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	with_program qemu-x86_64 "${CC:-gcc}" -no-pie
	"$top_srcdir/tests/helper/qemu_flow" <run.log >run.txt
	head -n 100 run.txt | tr-parse -O exe=prog | cut -f5- >want
	sed -n '5,100s/0x000000/0x000050/gp' run.txt | cat <(head -n 4 run.txt) - |
		tr-parse -O exe=prog -O base=0x500000400000 2>messages | cut -f5- | sed 's/0x000050/0x000000/' | diff want -
	[ ! -s messages ]
	grep -q br1 want
}
