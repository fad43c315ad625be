#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Runs programs under qemu-user, converts its log to execution traces of both widths and byte orders,
# and compares the output of the tools with the log.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	helper=${top_srcdir:?}/tests/helper
	cat >gcd.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static int gcd(int a, int b)
{
	while (b) {
		int t = a % b;
		a = b;
		b = t;
	}
	return a;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12;
	if (n < 0)
		return puts("negative") < 0;
	for (int i = 1; i < n; i++)
		printf("%d %d\n", i, gcd(i * 6, n));
	return 0;
}
END
}

# run_logged NAME EMULATOR PROGRAM...: NAME.log
run_logged() {
	local name=$1 emulator=$2
	shift 2
	command -v "$emulator" >/dev/null || skip "no $emulator"
	"$emulator" -d in_asm,exec,nochain -D "$name.log" "$@" >/dev/null
}

# try NAME OPTION...: the log of that name as a trace, in words and in bytes
try() {
	local name=$1
	shift
	"$helper/qemu_recipe" "$@" "$name" <"$name.log" | "$helper/gnatcov_make" >"$name.trace"
	"$helper/qemu_recipe" -t "$@" "$name" <"$name.log" >lines
	[ "$(wc -l <lines)" -gt 500 ]
	tr-parse "$name.trace" | tr-repack | cmp - "$name.trace"
	tr-totext "$name.trace" | sed '1,/^Traces:$/d' | cmp - lines
	tr-parse "$name.trace" | tr-totext | sed '1,/^Traces:$/d' | cmp - lines
	tr-repack -t drcov "$name.trace" | tr-repack -t gnatcov | tr-repack -t drcov >again
	diff <(tr-parse -q again | grep -e ^block -e ^module | cut -f5-7) \
		<(tr-repack -t drcov "$name.trace" | tr-parse -q | grep -e ^block -e ^module | cut -f5-7)
}

ppc() {
	command -v powerpc-linux-gnu-gcc >/dev/null || skip 'no powerpc-linux-gnu-gcc'
	powerpc-linux-gnu-gcc -O1 -static -o gcd gcd.c
}

@test "a program for 32-bit PowerPC, which is big endian" {
	ppc
	run_logged gcd qemu-ppc ./gcd 9
	try gcd -b -w 32
	[ "$(tr-parse gcd.trace | grep -c $'bits=32\tendian=big\tmachine=EM_PPC(20)')" -eq 2 ]
	try gcd -h -b -w 32
	address=$(powerpc-linux-gnu-nm gcd | awk '$3 == "main" { print "0x" $1 }')
	[ "$(tr-filter -c "block and name == $address" gcd.trace)" -eq 1 ]
}

@test "runs that go different ways, merged: what any of them executed" {
	ppc
	for n in -1 2 9; do
		run_logged run$n qemu-ppc ./gcd $n
		try run$n -b -w 32
	done
	tr-filter --merge run-1.trace run2.trace run9.trace | tr-repack -o all
	# every instruction that a run executed is there, and no other
	instructions() { tr-totext --style=gnatcov-base "$1" | awk '
		function hex(digits,    i, n) {
			for (i = 1; i <= length(digits); i++)
				n = n * 16 + index("0123456789abcdef", substr(digits, i, 1)) - 1
			return n
		}
		{ for (i = hex(substr($1, 1, 8)); i <= hex(substr($1, 10)); i += 4) print i }'; }
	for n in -1 2 9; do
		instructions run$n.trace
	done | sort -u | cmp - <(instructions all | sort -u)
	[ "$(instructions all | wc -l)" -gt "$(instructions run9.trace | wc -l)" ]
}

@test "programs of Debian for x86-64, with their shared libraries" {
	[ "$(uname -m)" = x86_64 ] || skip 'no x86-64 programs here'
	printf 'b\na\nc\n' >input
	run_logged sort qemu-x86_64 /usr/bin/sort input
	try sort
	try sort -h
	run_logged sed qemu-x86_64 /bin/sed -n '/a/p;s/b/c/' input
	try sed
	try sed -b
}
