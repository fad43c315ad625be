# SPDX-License-Identifier: MIT
# Reads what gcov -n -b prints, and prints lines and branches of each file of lib and tools, and the sums. Exits with 1 if
# fewer than 92 % of the lines were executed.
function percent(part, whole) { return whole ? 100 * part / whole : 100 }

function row(name, lines, executed, branches, taken) {
	printf "%.1f\t%d\t%.1f\t%d\t%s\n", percent(executed, lines), lines, percent(taken, branches), branches, name
}

BEGIN { print "lines %\tlines\tbranches %\tbranches\tfile" }

/^File / {
	file = match($0, /(lib|tools)\/.*\.c/) ? substr($0, RSTART, RLENGTH) : ""
	lines = executed = branches = taken = 0
}
/^Lines executed:/ { split($0, word, /[:% ]+/); lines = word[5]; executed = word[3] * lines / 100 }
/^Taken at least once:/ { split($0, word, /[:% ]+/); branches = word[7]; taken = word[5] * branches / 100 }
/^(Calls|No calls)/ && file != "" {
	row(file, lines, executed, branches, taken)
	all_lines += lines
	all_executed += executed
	all_branches += branches
	all_taken += taken
	file = ""
}

END {
	row("all", all_lines, all_executed, all_branches, all_taken)
	exit percent(all_executed, all_lines) < 92
}
