#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Runs the installed strace with every line of options on a program that reports its own actions.

bats_require_minimum_version 1.5.0

setup() {
	command -v strace >/dev/null || skip "strace is not installed"
	strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "every set of options gives the executions that there were" {
	mkdir logs
	bash "$top_srcdir/tests/data/strace/execs/record.sh" "$top_builddir/tests/helper/strace_execs" "$PWD/logs"
	for log in logs/*.strace; do
		echo "$log"
		"$top_srcdir/tests/helper/strace_happened" "$log" | diff - <(LC_ALL=C sort "${log%.strace}.truth")
	done
}
