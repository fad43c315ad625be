#!/usr/bin/env bats
# The strace that is installed here, with every line of options, on a program that says itself what
# it did.

bats_require_minimum_version 1.5.0

setup() {
	command -v strace >/dev/null || skip "strace is not installed"
	strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# executions LOG...: in the words of tests/helper/strace_execs
executions() {
	tr-parse -q "$@" | awk -F'\t' '$1 == "exec" {
		parent = "-"; cwd = argv = env = "?"
		for (i = 6; i <= NF; i++) {
			if ($i ~ /^parent=/) parent = did[substr($i, 8)]
			if ($i ~ /^cwd=/) cwd = substr($i, 6, length($i) - 6)
			if ($i ~ /^argv=/) argv = substr($i, 6)
			if ($i ~ /^env=/) env = substr($i, 5)
		}
		of = substr(argv, 3, length(argv) - 4)
		gsub(/","/, " ", of)
		did[$2] = of
		print cwd "\t" argv "\t" env "\t" parent
	}' | LC_ALL=C sort
}

@test "every set of options gives the executions that there were" {
	mkdir logs
	bash "$top_srcdir/tests/data/strace/execs/record.sh" "$top_builddir/tests/helper/strace_execs" "$PWD/logs"
	for log in logs/*.strace; do
		echo "$log"
		executions "$log" | diff - <(LC_ALL=C sort "${log%.strace}.truth")
	done
}
