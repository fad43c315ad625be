#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Logs of QEMU -d in_asm,exec,nochain as execution traces.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/qemulog
}

@test "a section and one block for each execution, with its size and the outcome of a direct jump" {
	tr-parse "$data/good-x86_64.log" >out
	[ "$(sed -n 2,5p out)" = $'section\t0\t-\t-\tHISTORY\tbits=64
block\t1\t-\t0\t0x0000004002820b70\tsize=8\top=block|br0
block\t2\t-\t0\t0x0000004002821770\tsize=119\top=block|br1
block\t3\t-\t0\t0x00000040028217e7\tsize=33\top=block|br0' ]
	# without those that were stopped before they ran
	traces=$(grep -c ^Trace "$data/good-x86_64.log")
	stopped=$(grep -c ^Stopped "$data/good-x86_64.log")
	[ "$stopped" -eq 1 ]
	[ "$(grep -c ^block out)" -eq $((traces - stopped)) ]
	dd bs=1 if="$data/good-x86_64.log" 2>/dev/null | tr-parse | cmp - out
}

@test "words of a big-endian target, and addresses of 32 bits" {
	run -0 tr-filter --fields=name,size,op 'block and seq <= 3' "$data/good-ppc.log"
	[ "$output" = $'0x10000394\t12\tblock|br0\n0x100003a0\t40\tblock|br0\n0x100006d0\t12\tblock|br0' ]
}

@test "older versions, whose logs have no bytes of instructions" {
	run -0 --separate-stderr tr-filter --fields=name,size 'block' "$data/good-old.log"
	[ "$output" = $'0x0000000000401136\t7\n0x0000000000401136\t7\n0x000000000040113e\t1' ]
	[[ $stderr == *'no instruction bytes: the last instruction of a block counts as one byte'* ]]
}

@test "damage: the line is named, the rest is kept, and no outcome is guessed across it" {
	run -2 --separate-stderr tr-parse "$data/bad-form.log"
	[[ $stderr == *'bad-form.log:7: left out: a Trace line in an unknown form'* ]]
	[ "$(grep -c ^block <<<"$output")" -eq 2 ]
	[[ $output != *'br0'* ]]
	run -2 --separate-stderr tr-parse "$data/bad-no-code.log"
	[[ $stderr == *'bad-no-code.log:1: left out: a block whose instructions are not in the log (-d in_asm shows them)'* ]]
	run -2 --separate-stderr tr-parse "$data/bad-cut.log"
	[[ $stderr == *'left out: a truncated line'* ]]
	[[ ${lines[-1]} == *truncated=true* ]]
}

@test "other tools take it for the execution trace that it is" {
	tr-repack -q -t gnatcov -O machine=x86_64 -o run.trace "$data/good-x86_64.log"
	[ "$(tr-filter -q -c block run.trace 2>/dev/null)" -eq "$(tr-filter -c block "$data/good-x86_64.log")" ]
	tr-repack -q -t drcov -o run.drcov "$data/good-x86_64.log"
	[ "$(tr-filter --fields=hits 'block and name == 0x000000400282182a' run.drcov)" -eq \
		"$(grep -c '^Trace.*/000000400282182a/' "$data/good-x86_64.log")" ]
	tr-totext --style=gnatcov run.trace 2>/dev/null | grep -q '^0000004002820b70-0000004002820b77 ?: 11 ---t block$'
}

# real_run FLAG...: makes ./a and its log, run.log
real_run() {
	command -v qemu-x86_64 >/dev/null || skip 'qemu-x86_64 is not installed'
	[ "$(uname -m)" = x86_64 ] || skip 'the program is for x86-64'
	run tr-repack -q -t lcov -O exe=/bin/sh /dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	cat >a.c <<'END'
int main(int argc, char **argv)
{
	int sum = 0;
	(void)argv;
	for (int i = 0; i < 3; i++)
		sum += argc;
	if (sum > 3)
		sum = 0;
	return sum != 3;
}
END
	${CC:-gcc} -O0 -g "$@" -o a a.c
	run -0 qemu-x86_64 -d in_asm,exec,nochain,page -D run.log ./a
}

# a jump is numbered by its place in the function, which is the compiler's choice
real_lines='BRDA:5,N,0,3 BRDA:5,N,1,1 BRDA:7,N,0,1 BRDA:7,N,1,0 DA:1,1 DA:3,1 DA:5,4 DA:6,3 DA:7,1 DA:8,0 DA:9,1'

@test "a real run: the lines that a program executed" {
	real_run -static -no-pie
	run -0 tr-repack -q -t lcov -O exe=a run.log
	[ "$(sed -nE 's/^(BRDA:[0-9]+),[0-9]+/\1,N/; /^(DA|BRDA)/p' <<<"$output" | paste -sd' ')" = "$real_lines" ]
}

@test "a real run: a position-independent program is at the first address of the log" {
	real_run -pie -fPIE
	mv a prog
	# the recipe of the cookbook
	sed -n '/^qemu-x86_64/,/^\.Ed/{/^\.Ed/!p}' "$top_srcdir/man/trec-tools.7" >recipe
	run -0 bash -e recipe
	[ -s html/index.html ]
	run -0 cat prog.info
	[ "$(sed -nE 's/^(BRDA:[0-9]+),[0-9]+/\1,N/; /^(DA|BRDA)/p' <<<"$output" | paste -sd' ')" = "$real_lines" ]
}
