#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Traces converted on several machines, by GNU parallel over ssh and by Slurm: examples/ on machines that
# the test starts in namespaces, one of which is killed halfway.

# hosts ssh|slurm: a sample of tests/long/hosts
hosts() {
	status=0
	timeout 120 "${top_srcdir:?}/tests/long/hosts" "$1" 30 >said 2>&1 || status=$?
	[ $status -ne 77 ] || skip "$(cat said)"
	cat said
	[ $status -eq 0 ]
}

@test "GNU parallel over ssh: a machine is killed, and nothing is missing" {
	cd "$BATS_TEST_TMPDIR"
	hosts ssh
}

@test "a Slurm array: a machine is killed, and nothing is missing" {
	cd "$BATS_TEST_TMPDIR"
	hosts slurm
}
