#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --backend=auto has the same programs, ends, compilation database and uses of files as strace.
# tests/long/auto-builds does this with larger builds, and with those that have to be configured.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL STATIC_MAKE # of the make that runs the tests
	export CCACHE_DISABLE=1
	# shellcheck source=tests/helper/deps_builds.bash
	. "$top_srcdir/tests/helper/deps_builds.bash"
	# shellcheck source=tests/helper/auto_builds.bash
	. "$top_srcdir/tests/helper/auto_builds.bash"
	for tool in make gcc ar tar jq; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# same KIND PROGRAMS: a build that runs at least so many programs
same() {
	local what
	record_both "$1" 4 auto || skip "what this build needs is not installed"
	[ "$(head -n 1 auto.execs)" -eq 0 ] || { cat auto.out; return 1; }
	for what in $RECORDED; do
		echo "$1: $what"
		diff strace.$what auto.$what
	done
	grep '^tr-record: ' auto*.out && return 1
	[ "$(wc -l <auto.execs)" -ge "$2" ]
	[ "$(wc -l <auto.edges)" -ge 15 ]
	[ "$(jq length auto.compdb)" -ge 5 ]
}

@test "a parallel build of make has the same records as with strace" {
	same make 40
}

@test "response files, which the build deletes" {
	same respfile 30
	[ "$(grep -c '"-DX=1"' auto.compdb)" -ge 5 ]
}

@test "programs of 64 and of 32 bits" {
	same mixed 35
}

@test "a statically linked program runs the build" {
	same static 45
	[ "$(tr-filter -c 'exec and has(parent)' auto.trec)" -ge 45 ]
}
