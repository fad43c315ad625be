#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares tr-filter with Debian's apitrace: both select the same calls for the same sets and frames,
# including the tables of the unit tests, and apitrace reads the selected trace.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data/apitrace
	command -v apitrace >/dev/null || skip 'apitrace is not installed'
}

# calls NAME...: a trace of calls without arguments
calls() {
	local i=0
	for name; do
		printf 'call\t%d\t-\t0\t%s\t->\n' $((i++)) "$name"
	done | tr-repack -q -t apitrace -z gzip -o calls.trace
}

# dump ARGUMENT...: the numbers of the calls that apitrace shows
dump() {
	apitrace dump --color=never "$@" | sed -nE 's/^([0-9]+) .*/\1/p'
}

# theirs FILE, ours: "@THREAD NAME" of all calls, in apitrace's order
theirs() {
	apitrace dump -v --color=never --thread-ids=yes "$1" | sed -nE 's/^[0-9]+ (@[0-9a-f]+ \w+)\(.*/\1/p'
}

ours() {
	tr-parse --join | awk -F'\t' '/^(call|enter)\t/ { printf "@%x %s\n", $4, $5 }'
}

@test "classes of functions" {
	grep -v '^# ' "$data/call-kinds.tsv" >table
	mapfile -t names < <(cut -f1 table)
	calls "${names[@]}"
	dump -v --calls='*/frame' calls.trace >frame
	dump -v --calls='*/rendertarget' calls.trace >rendertarget
	dump -v --calls='*/render' calls.trace >render
	dump calls.trace >quiet
	dump -v calls.trace | grep -vxFf quiet >verbose
	for class in frame rendertarget render verbose; do
		cut -f2 table | grep -nwE "$class" | awk -F: '{ print $1 - 1 }' | diff - $class
	done
}

@test "sets" {
	sed -n '1,/^[^#]/p' "$data/call-sets.tsv" | grep -oE '[0-9]+ gl[A-Za-z]+' | cut -d' ' -f2 >names
	mapfile -t names <names
	[ "${#names[@]}" -eq 22 ]
	calls "${names[@]}"
	grep -v '^# ' "$data/call-sets.tsv" | while IFS=$'\t' read -r set want; do
		echo "$set"
		[ "$(dump -v --calls="$set" calls.trace | paste -sd' ')" = "$want" ]
	done
}

@test "calls in sets, in traces of several threads" {
	for trace in mt4 threads gears; do
		for set in '*/draw' '*/frame' '*/fbo' '*/13' '5' '7-/100' 'frame,draw 0-3'; do
			echo "$trace $set"
			dump -v --calls="$set" "$data/$trace.trace" | sort -n >want
			tr-filter --calls="$set" --fields=seq "$data/$trace.trace" | sort -n | cmp - want
		done
	done
}

@test "frames are those of trim" {
	for trace in mt4 gears killed; do
		for set in 0 1 7 '3-5' '*/7' frame '10-12/draw' '20-' '460-,2'; do
			echo "$trace $set"
			apitrace trim --frames="$set" -o trimmed.trace "$data/$trace.trace" 2>/dev/null
			theirs trimmed.trace >want
			tr-filter --frames="$set" "$data/$trace.trace" | ours | cmp - want
		done
	done
}

@test "what is selected is a trace again, of the same calls" {
	for expr in 'name == "glClear"' 'call and has(return)' 'task == 2 or task == 0' \
		'len(pixels) > 0' 'not has(return)'; do
		for trace in mt4 gears textures threads; do
			echo "$trace $expr"
			tr-filter -e "$expr" "$data/$trace.trace" >kept || continue
			tr-repack -o kept.trace kept
			theirs kept.trace >want
			ours <kept | cmp - want
			tr-totext kept.trace >text
			apitrace dump -v --color=never --thread-ids=yes kept.trace | cmp - text
		done
	done
}

@test "arguments that were edited arrive" {
	tr-filter --frames=1-2 "$data/gears.trace" | sed '/glRotatef/s/angle=[^\t]*/angle=42.5f/' |
		tr-repack -o edited.trace
	tr-filter --frames=1-2 "$data/gears.trace" | tr-totext -O call-nos=no |
		sed '/glRotatef/s/angle = [^,]*/angle = 42.5/' >want
	apitrace dump -v --color=never --thread-ids=yes --call-nos=no edited.trace | cmp - want
}
