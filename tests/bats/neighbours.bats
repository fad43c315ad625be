#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every trace of tests/data is recognised as its own format, and as no other one.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data
}

# format_of FILE: the format that a file of tests/data is in; nothing if it holds no trace
format_of() {
	case $1 in
	*.md | *.sh | *.c | *.cc | *.dtd | *.conf | *.tsv | *.cases | *.txt.gz | *.golden | */expected/* | */truth | *.lines.gz) ;;
	*.trec | trec/*) echo trec ;;
	etrace/hello.counts.json | etrace/hello.truth.jsonl.gz | strace/execs/options*) ;;
	*compile_commands.json) echo compdb ;;
	*.kw.json* | examples/*.json) echo klocwork ;;
	*.bear.json*) echo bear ;;
	*.strace*) echo strace ;;
	*/*) echo "${1%%/*}" ;;
	esac
}

# make FILE: the trace as a file of this folder, made from its recipe if it is one
make() {
	case $1 in
	apitrace/*.recipe) "$top_builddir/tests/helper/apitrace_make" <"$data/$1" ;;
	gnatcov/*.recipe) "$top_srcdir/tests/helper/gnatcov_make" <"$data/$1" ;;
	*.recipe) "$top_srcdir/tests/helper/bytes_make" <"$data/$1" ;;
	*.recipe.gz) gzip -dc "$data/$1" | "$top_srcdir/tests/helper/gnatcov_make" ;;
	*.gz) gzip -dc "$data/$1" ;;
	*) cat "$data/$1" ;;
	esac >trace
}

@test "every trace of tests/data is claimed by its own format only" {
	local count=0 bad=0 file wanted found formats=""
	while IFS= read -r file; do
		wanted=$(format_of "$file")
		[ -n "$wanted" ] || continue
		make "$file" || continue
		# an archive has a line for each member
		found=$(tr-parse --identify trace 2>/dev/null | sed 's/^[^:]*: *\([a-z0-9]*\).*/\1/' | sort -u)
		# a damaged trace may not be known at all, but not be taken for another one
		case $file:$found in
		*/bad*:unknown | */bad*:) continue ;;
		esac
		if [ "$found" != "$wanted" ]; then
			echo "$file: $found"
			bad=$((bad + 1))
		fi
		count=$((count + 1)) formats+="$wanted "
	done < <(cd "$data" && find . -type f -printf '%P\n' | LC_ALL=C sort)
	echo "$count traces, $bad of them wrong"
	[ "$bad" -eq 0 ]
	# every tracer's format has a trace there
	for wanted in $(tr-parse --list-formats | awk -F'\t' '$2 == "yes" { print $1 }'); do
		case $wanted in json | buildspec) continue ;; esac # made by tests from other traces
		[[ $formats == *"$wanted "* ]] || { echo "no trace of $wanted" && false; }
	done
	[ "$count" -gt 100 ]
}
