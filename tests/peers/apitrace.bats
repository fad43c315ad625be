#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Debian's apitrace and ours: the same text of the same trace, for every switch.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data/apitrace
	command -v apitrace >/dev/null || skip 'apitrace is not installed'
}

# make NAME: a trace of the recipe, in a container that apitrace reads
make_trace() {
	"${top_builddir:?}/tests/helper/apitrace_make" <"$data/$1.recipe" | gzip >"$1.trace"
}

# ours COMMAND...: apitrace does not report leaves without enters, while our tools exit with 2
ours() {
	"$@" 2>messages || [ $? -eq 2 ]
	[ ! -s messages ] || grep -qE 'leave of a call that was not entered|upstream|damage'"${stopped:+|truncated}" messages
}

# same FILE THEIRS OURS: apitrace dump with THEIRS is tr-totext with OURS, for words in both
same() {
	echo "$1: $2"
	# shellcheck disable=SC2086
	apitrace dump --color=never $2 "$1" >theirs 2>messages
	# shellcheck disable=SC2086,SC2094
	ours tr-totext $3 "$1" >ours
	cmp ours theirs
	ours tr-parse "$1" >stream
	# shellcheck disable=SC2086,SC2094
	ours tr-totext $3 stream >ours
	cmp ours theirs
}

# colored FILE: the same with colors
colored() {
	apitrace dump -v --color=always --thread-ids "$1" 2>messages >theirs
	ours tr-totext -O color=yes "$1" >ours
	cmp ours theirs
}

# every FILE: all switches
every() {
	same "$1" '-v --thread-ids=yes' ''
	same "$1" '--thread-ids' '-O verbose=no'
	same "$1" '-v' '-O thread-ids=no'
	same "$1" '-v --call-nos=no --arg-names=no --thread-ids' '-O call-nos=no -O arg-names=no'
	same "$1" '-v --multiline=no --thread-ids' '-O multiline=no'
	same "$1" '-v --grep=^gl[A-Z]*[a-z]*s --thread-ids' '-O grep=^gl[A-Z]*[a-z]*s'
}

@test "recorded traces" {
	for trace in "$data"/*.trace; do
		every "$trace"
		colored "$trace"
	done
}

@test "hand-made traces of every version and every type" {
	for recipe in "$data"/good-*.recipe; do
		name=$(basename "$recipe" .recipe)
		# apitrace allocates memory for the largest id, and does not read thread details
		[[ $name = good-ids || $name = good-thread-details ]] && continue
		make_trace "$name"
		every "$name.trace"
	done
}

@test "blobs in files" {
	make_trace good-values
	for trace in good-values.trace "$data/textures.trace"; do
		mkdir theirs.d ours.d
		cp "$trace" this.trace
		(cd theirs.d && apitrace dump -v --color=never --thread-ids --blobs ../this.trace >text)
		(cd ours.d && tr-totext -O blobs=. ../this.trace >text)
		diff -r ours.d theirs.d
		rm -r ours.d theirs.d
	done
}

@test "every GUID that has a name, and some that have none" {
	printf '%s\n' 'version 5' 'fn 0 f guid' 'struct 0 GUID a b c d' >recipe
	awk -F'[ ,]+' '/^\{/ { print substr($2, 3) substr($3, 3) }' \
		"$top_srcdir/lib/format/apitrace/text_guid_names.h" | gawk --non-decimal-data '
		function hex(from, digits) { return ("0x" substr($0, from, digits)) + 0 }
		function row(   i) {
			printf "enter 0 0; arg 0 struct 0 { %d %d %d [", hex(1, 8), hex(9, 4), hex(13, 4)
			for (i = 17; i < 33; i += 2)
				printf " %d", hex(i, 2)
			print " ] }; .\nleave last; ."
		}
		{ row(); $0 = substr($0, 1, 31) (substr($0, 32) == "0" ? "1" : "0"); row() }' >>recipe
	"${top_builddir:?}/tests/helper/apitrace_make" <recipe | gzip >guids.trace
	same guids.trace '-v --thread-ids' ''
	[ "$(grep -vc uuid theirs)" -gt 600 ]
}

@test "calls that depend on the verbose switch" {
	{
		echo 'version 5'
		grep -v '^#' "$data/call-kinds.tsv" | cut -f1 | awk '{ print "fn " NR " \"" $0 "\"" }'
		grep -v '^#' "$data/call-kinds.tsv" | awk '{ print "enter 0 " NR "; .\nleave last; ." }'
	} >recipe
	"${top_builddir:?}/tests/helper/apitrace_make" <recipe | gzip >names.trace
	every names.trace
	colored names.trace
}

@test "functions without side effects have plain names" {
	{
		echo 'version 5'
		grep -v '^#' "$data/call-plain.tsv" | cut -f1 | awk '{ print "fn " NR " \"" $0 "\"" }'
		grep -v '^#' "$data/call-plain.tsv" | awk '{ print "enter 0 " NR "; .\nleave last; ." }'
	} >recipe
	"${top_builddir:?}/tests/helper/apitrace_make" <recipe | gzip >names.trace
	colored names.trace
}

@test "traces recorded just now" {
	for tool in xvfb-run glxgears eglinfo cc; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	cp "$data/record.sh" "$data/glx.c" .
	./record.sh "$PWD/work" >messages 2>&1 || skip "recording does not work here: $(tail -n 1 messages)"
	for trace in *.trace; do
		# this program was stopped, which may be while it wrote; apitrace does not report that
		[ "$trace" != gears.trace ] || stopped=yes
		every "$trace"
		stopped=
	done
	# they interleave, and one was killed in a call
	tr-parse threads.trace | grep -q ^leave
	tr-totext killed.trace | grep -q incomplete
}

@test "glretrace replays a trace without what its first frames drew, and not one of some frames" {
	for tool in xvfb-run glretrace; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	export LIBGL_ALWAYS_SOFTWARE=1 LP_NUM_THREADS=0
	tr-filter --frames=20-29 "$data/gears.trace" | tr-repack -o frames.trace
	# glxgears draws with glBegin and glEnd, so its draws have to stay
	tr-filter -v --frames=0-10 --calls=frame "$data/gears.trace" | tr-repack -o later.trace
	# after frame 0, which makes its display lists, only they draw
	tr-filter -v --frames=1-10 --calls=draw,frame "$data/gears.trace" | tr-repack -o fewer.trace
	xvfb-run -a timeout 60 glretrace "$data/gears.trace" >whole 2>&1 || skip "replaying does not work here: $(tail -n 1 whole)"
	frames=$(sed -n 's/^Rendered \([0-9]*\) frames.*/\1/p' whole)
	xvfb-run -a timeout 60 glretrace later.trace >later 2>&1
	grep "^Rendered $((frames - 11)) frames" later
	run ! grep -E 'no current context|error' later
	xvfb-run -a timeout 60 glretrace fewer.trace >fewer 2>&1
	grep "^Rendered $((frames - 10)) frames" fewer
	run ! grep -E 'no current context|error' fewer
	xvfb-run -a timeout 60 glretrace frames.trace >some 2>&1 || true
	grep 'no current context' some
}
