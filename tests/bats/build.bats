#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The help of configure, and the behaviour of tests on a machine that lacks programs.

bats_require_minimum_version 1.5.0

@test "configure --help shows every switch with words" {
	switches=$(sed -nE 's/^ *AC_ARG_ENABLE\(\[([a-z]+)\].*/\1/p' "$top_srcdir"/m4/*.m4 "$top_srcdir/configure.ac")
	[ "$(wc -w <<<"$switches")" -ge 5 ]
	"$top_srcdir/configure" --help >"$BATS_TEST_TMPDIR/help"
	for switch in $switches; do
		grep -E -A1 -- "^ +--(en|dis)able-$switch( |$)" "$BATS_TEST_TMPDIR/help" | tr '\n' ' ' |
			grep -qE -- "--(en|dis)able-$switch +[A-Za-z]{4}"
	done
}

@test "programs are hardened, unless configure has --disable-hardening" {
	grep -q '^#define TREC_HARDENED 1' "$top_builddir/config.h" || skip "this build is not hardened"
	# config.status has the flags of the user; without optimisation no function is fortified
	optimised=$("$top_builddir/config.status" --config | grep -qE -- '-O0' || echo yes)
	for tool in "$top_builddir"/tr-*[a-z]; do
		[ -x "$tool" ] && [ ! -d "$tool" ] || continue
		readelf -dlW "$tool" >"$BATS_TEST_TMPDIR/elf"
		grep -q 'FLAGS_1.*NOW.*PIE' "$BATS_TEST_TMPDIR/elf"
		grep -q GNU_RELRO "$BATS_TEST_TMPDIR/elf"
		grep -qE 'GNU_STACK .* RW  ' "$BATS_TEST_TMPDIR/elf"
	done
	readelf --dyn-syms -W "$top_builddir/tr-parse" >"$BATS_TEST_TMPDIR/elf"
	grep -q '__stack_chk_fail' "$BATS_TEST_TMPDIR/elf"
	[ -z "$optimised" ] || grep -qE '__[a-z]+_chk@' "$BATS_TEST_TMPDIR/elf"
	# a library that other programs load does not bring this along
	! readelf --dyn-syms -W "$top_builddir/lib/preload/libtrec-preload.so" | grep -q '_chk@'
}

@test "a test that needs a program that is not installed is skipped with the reason, others are not" {
	cd "$BATS_TEST_TMPDIR"
	mkdir bin
	cp -s /usr/bin/* bin/ 2>/dev/null || true
	rm -f bin/jq
	[ -e bin/bats ] || ln -s "$(command -v bats)" bin/
	printf '@test "%s" { %s; }\n' 'needs it' 'echo x | jq .' 'fails by itself' false passes true >some.bats
	run -1 env -i PATH="$PWD/bin" HOME="$PWD" "$top_srcdir/tests/helper/run_bats" --tap some.bats
	[[ $output == *"ok 1 needs it # skip jq is not installed"* ]]
	[[ $output == *"not ok 2 fails by itself"* ]]
	[[ $output == *"ok 3 passes"* ]]
	sed -i 2d some.bats
	run -0 env -i PATH="$PWD/bin" HOME="$PWD" "$top_srcdir/tests/helper/run_bats" --tap some.bats
}
