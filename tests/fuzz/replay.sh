#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every target on its folder of the corpus, as one TAP stream. A folder without a target of that
# name has inputs of the format of that name.
run=0 status=0
for corpus in "${top_srcdir:-.}"/tests/fuzz/corpus/*/; do
	name=$(basename "$corpus") fuzz=${top_builddir:-.}/tests/fuzz/fuzz_
	if [ -x "$fuzz$name" ]; then
		set -- "$fuzz$name"
	else
		set -- "${fuzz}format" "$name"
	fi
	for input in "$corpus"*; do
		run=$((run + 1))
		if "$@" "$input" >/dev/null 2>replay.err; then
			echo "ok $run - $name ${input##*/}"
		else
			echo "not ok $run - $name ${input##*/}"
			sed 's/^/# /' replay.err
			status=1
		fi
	done
done
rm -f replay.err
echo "1..$run"
exit $status
