#!/bin/sh
# SPDX-License-Identifier: MIT
# replay.sh: every target over its part of the corpus, as one TAP stream.
run=0 status=0
for corpus in "${top_srcdir:-.}"/tests/fuzz/corpus/*/; do
	target=$(basename "$corpus")
	for input in "$corpus"*; do
		run=$((run + 1))
		if "${top_builddir:-.}/tests/fuzz/fuzz_$target" "$input" >/dev/null 2>replay.err; then
			echo "ok $run - $target ${input##*/}"
		else
			echo "not ok $run - $target ${input##*/}"
			sed 's/^/# /' replay.err
			status=1
		fi
	done
done
rm -f replay.err
echo "1..$run"
exit $status
