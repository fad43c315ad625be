#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Debian's apitrace reads our files: the same text, in every container, after every edit.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data/apitrace
	command -v apitrace >/dev/null || skip 'apitrace is not installed'
}

text() {
	apitrace dump -v --color=never --thread-ids=yes "$1"
}

# reads FILE ORIGINAL: the text of both is the same
reads() {
	cmp <(text "$1") <(text "$2")
}

@test "every container, level and number of threads" {
	for trace in "$data"/*.trace; do
		for codec in snappy gzip gzip=1 gzip=9 brotli=0 brotli=5 brotli=11; do
			[ "$codec" != brotli=11 ] || [ "$(basename "$trace")" = threads.trace ] || continue
			for jobs in 1 3; do
				echo "$trace $codec $jobs"
				tr-repack -z $codec -j $jobs --verify -o out.trace "$trace"
				reads out.trace "$trace"
			done
		done
	done
}

@test "a stream larger than the blocks of every codec" {
	tr-parse "$data/gears.trace" >gears
	{ grep -v '^!' gears; for _ in $(seq 40); do grep -E '^(call|enter|leave)' gears; done; } |
		tr-repack -q -z none -o large
	[ "$(wc -c <large)" -gt 9000000 ]
	tr-repack -z snappy -o large.trace large
	text large.trace >want
	for codec in gzip brotli=2; do
		tr-repack -z $codec -j 2 -o out.trace large
		text out.trace | cmp - want
	done
	tr-repack -z zstd -j 2 -o out.trace large
	[ ! -x "$(command -v zstd)" ] || zstd -dcq out.trace | cmp - large
}

@test "by way of the records" {
	for trace in "$data"/*.trace; do
		tr-parse "$trace" | tr-repack -o out.trace
		reads out.trace "$trace"
		tr-parse --join "$trace" | tr-repack -q -o out.trace
		# calls that interleaved do not any more, and so have other numbers
		diff <(text out.trace | sed 's/^[0-9]* //' | sort) <(text "$trace" | sed 's/^[0-9]* //' | sort)
		tr-tojson --typed "$trace" | tr-parse -f json | tr-repack -o out.trace
		reads out.trace "$trace"
	done
}

@test "apitrace's own repack makes the same bytes of it" {
	for trace in "$data"/*.trace; do
		tr-repack -z none "$trace" >stream
		tr-repack -z gzip -j 2 -o out.trace "$trace"
		apitrace repack out.trace back.trace
		tr-repack -z none back.trace | cmp - stream
	done
}

# without the parts that older versions lack: properties and threads
bare() {
	sed -E '0,/^[0-9]+ @/{/^[0-9]+ @/!d}; s/^([0-9]+) @[0-9a-f]*/\1/'
}

@test "hand-made traces, in their version and in others" {
	for recipe in "$data"/good-*.recipe; do
		name=$(basename "$recipe" .recipe)
		# apitrace allocates memory for the largest id, and does not read thread details
		[[ $name != good-ids && $name != good-thread-details ]] || continue
		"${top_builddir:?}/tests/helper/apitrace_make" <"$recipe" >"$name"
		gzip -c "$name" >want.trace
		tr-parse "$name" | tr-repack -q -t apitrace -z gzip -o out.trace || [ $? -eq 2 ]
		reads out.trace want.trace
		for version in 0 1 2 3 4 5 6; do
			tr-parse "$name" | tr-repack -q -z gzip -O version=$version -o out.trace
			diff <(text out.trace | bare) <(text want.trace | bare)
		done
	done
}

@test "edited: sed, awk, tr-filter" {
	trace=$data/lists.trace
	tr-parse "$trace" | sed -E 's/=0\.5(f?)\t/=0.25\1\t/g' | tr-repack -o out.trace
	diff <(text "$trace" | sed -E 's/ = 0\.5([,)])/ = 0.25\1/g') <(text out.trace)
	tr-parse "$trace" | awk -F'\t' '!/^call/ || $5 != "glVertex3f"' | tr-repack -q -o out.trace
	diff <(text "$trace" | grep -v ' glVertex3f(' | sed 's/^[0-9]* //') <(text out.trace | sed 's/^[0-9]* //')
	tr-filter 'name =~ /^gl[A-Z]/' "$trace" | tr-repack -q -o out.trace
	diff <(text "$trace" | grep '@0 gl[A-Z]' | sed 's/^[0-9]* //; s/ ([^ ]* = $//' | grep -v ^$) \
		<(text out.trace | grep '@0 gl[A-Z]' | sed 's/^[0-9]* //' | grep -v ^$)
}

@test "without definitions, but for what the stack frames are" {
	for name in lists textures threads; do
		tr-parse "$data/$name.trace" | grep -vE '^%(fn|enum|mask|struct)' | tr-repack -q -o out.trace
		reads out.trace "$data/$name.trace"
	done
}
