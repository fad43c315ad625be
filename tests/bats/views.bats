#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The timelines, the figures and the tree of one trace: tests/data/view/times.cases.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data
}

# What the views show of these records.
summary() { # summary RECORDS
	printf '%%trec\t1\n%s\n!end\t%d\n' "${1// /$'\t'}" "$(wc -l <<<"$1")" >trace
	tr-tojson --as=chrome trace | jq -r '.traceEvents[] | select(.ph != "M") |
		"chrome " + ([.ph, .name, .ts, .dur, .tid, (.args | .processes // .calls)] | tojson)'
	tr-tohtml trace >page 2>/dev/null || true # the page shows no system calls
	awk '/id="data">/ { on = 1; sub(/.*id="data">/, "") } on { end = index($0, "</script>")
		print end ? substr($0, 1, end - 1) : $0; if (end) exit }' page |
		jq -r '"page " + ([.begin, .dur, .lane, .level, .parent, .frames] | tojson)'
	# newer versions of jq keep how numbers are spelled
	tr-stat --json trace | jq -r 'walk(if type == "number" then . + 0 else . end) | "stat " + ([
		[."busiest-names"[]? | select(.seconds != null) | [.name, .seconds, .longest]],
		[.processes.longest[]? | [.command, .seconds]],
		.processes."peak-alive", .processes."peak-running",
		(.calls // {} | .calls, .incomplete, .frames, ."calls-per-frame".most)] | tojson)'
	! grep -q exec trace || tr-totext --style=tree trace | sed 's/^/tree /'
}

@test "runs and calls at the edges of time" {
	local records='' name='' count=0 bad=0
	: >want
	check() {
		[ -n "$name" ] || return 0
		summary "$records" >got 2>&1
		diff want got || { echo "# $name" && bad=1; }
		records='' count=$((count + 1))
		: >want
	}
	while IFS= read -r line; do
		case $line in
		'@ '*) check; name=${line#@ } ;;
		'< '*) records+=${records:+$'\n'}${line#< } ;;
		'> '*) printf '%s\n' "${line#> }" >>want ;;
		esac
	done <"$data/view/times.cases"
	check
	[ "$bad" -eq 0 ] && [ "$count" -ge 23 ]
}
