#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-totext --style=asm: the instructions are those of objdump, the marks follow from the trace.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	run tr-symbolize --exe=/bin/sh </dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	cat >b.s <<'END'
	.text
	.globl _start, other, never
	.type _start, @function
_start:
	cmpl $0, %edi
	jne 1f
	nop
	jmp 2f
1:	cmpl $1, %esi
	je 2f
2:	hlt
	.size _start, . - _start
	.type other, @function
other:	nop
	ret
	.size other, . - other
	.type never, @function
never:	ret
	.size never, . - never
END
	${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x401000 -o b b.s
	{
		printf 'section\t0\t-\t-\tHISTORY\tbits=64\tendian="little"\tmachine=EM_X86_64\n'
		block 0x401000 5 'block|br0'
		block 0x401008 5 'block|br0'
		block 0x401008 5 'block|br1'
		block 0x40100e 2 block
	} >run.trec
}

block() {
	printf 'block\t1\t-\t-\t0x%016x\tsize=%d\top=%s\n' "$@"
}

@test "marks of instructions and functions" {
	run -0 --separate-stderr tr-totext --style=asm -O exe=b run.trec
	cut -d: -f1 <<<"$output" | diff - <(cat <<'END'
_start !
0000000000401000 +
0000000000401003 >
0000000000401005 -
0000000000401006 -
0000000000401008 +
000000000040100b +
000000000040100d -
other +
000000000040100e +
000000000040100f +
never -
0000000000401010 -
END
	)
	# a jump that was never taken
	block 0x401000 5 'block|br1' | tr-totext --style=asm -O exe=b | grep -q '^0000000000401003 v:'
	# the first and the last address, and the text of the instructions
	grep -qx 'other +: 000000000040100e-000000000040100f' <<<"$output"
	diff <(objdump -d -w b | sed -nE 's/^ *[0-9a-f]+:\t//p') <(sed -nE 's/^[0-9a-f]{16} [^ ]+ +//p' <<<"$output")
}

@test "several programs, other places, and other disassemblers" {
	cp b c
	tr-totext -q --style=asm -O exe=b -O exe=c run.trec | grep -c '^never -' | grep -qx 2
	sed 's/0x0000000000/0x0000005500/' run.trec >moved
	tr-totext --style=asm -O exe=b -O base=0x5500400000 moved | cmp - <(tr-totext --style=asm -O exe=b run.trec)
	run -2 tr-totext --style=asm run.trec
	[[ $output == *'the code of blocks need'*'-O exe=PROG'* ]]
	run -2 tr-totext --style=asm -O exe=b -O objdump=./missing run.trec
	[[ $output == *'./missing: cannot be run'* ]]
	run -2 tr-totext --style=asm -O exe=b -O objdump=false run.trec
	[[ $output == *'false cannot disassemble b'* ]]
	# a decision map has not been executed
	sed 's/HISTORY/DECISION_MAP/' run.trec | tr-totext -q --style=asm -O exe=b | grep -q '^_start -'
}
