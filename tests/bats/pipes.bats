#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Difficult input and output, for each tool: slow, short and interrupted pipes, files that shrink or grow while they
# are read, and readers that exit early.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >build.json
	tr-parse build.json >build.trec
	cp "$top_srcdir/tests/data/apitrace/threads.trace" calls.trace
	cp "$top_srcdir/tests/data/etrace/small.nfsdb" small.nfsdb
	gzip -k build.json
	tar -cf build.tar build.json
	sed 4d build.trec >other.trec
}

# the input | the command that reads it on standard input
commands() {
	cat <<'END'
build.json|tr-parse
build.json.gz|tr-parse
build.tar|tr-parse
calls.trace|tr-parse --join
build.trec|tr-filter exec
build.trec|tr-envdiff --base=none
build.trec|tr-repack -t compdb
build.json|tr-repack -t trec -z zstd
calls.trace|tr-totext
build.json|tr-totext --style=tree
build.json|tr-stat
build.trec|tr-tojson
build.json|tr-tohtml
build.trec|tr-symbolize --path=.
build.trec|tr-diff - other.trec
small.nfsdb|tr-deps
END
}

# drip FILE: writes it in pieces of one byte and of a few, with pauses
drip() {
	perl -e '$| = 1; local $/; open F, "<", shift; $_ = <F>; my ($at, $n) = (0, 0);
		while ($at < length) {
			my $len = ++$n <= 600 ? 1 : 1 + $n * 7 % 4999;
			syswrite STDOUT, $_, $len, $at; $at += $len;
			select undef, undef, undef, 0.002 if $n % 40 == 0 }' "$1"
}

# interrupt PID: stops and continues it, and asks for its progress when it can answer
interrupt() {
	for _ in 1 2 3 4 5 6; do
		sleep 0.01
		grep -q '^SigCgt:.*[2367abef]..$' "/proc/$1/status" && kill -USR1 "$1" || :
		kill -STOP "$1" && kill -CONT "$1" || :
	done 2>/dev/null
}

@test "slow, short and interrupted pipes change nothing" {
	# LeakSanitizer, which traces the process at its end, may wait for ever for one that is stopped meanwhile
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	while IFS='|' read -r input command; do
		usual=0
		# shellcheck disable=SC2086
		$command <"$input" >expected 2>/dev/null || usual=$?
		[ $usual -le 1 ]
		status=0
		# shellcheck disable=SC2086
		$command < <(drip "$input") >seen 2>messages &
		interrupt $!
		wait $! || status=$?
		if [ $status -ne $usual ] || ! cmp expected seen; then
			echo "$command <$input: status $status"
			cat messages
			return 1
		fi
		[ ! -s messages ] || answered=yes
	done < <(commands)
	[ "${answered-no}" = yes ]
}

@test "a file that shrinks or grows while it is read ends no tool" {
	for _ in {1..30}; do cat build.json; done >large.json
	for _ in {1..30}; do grep -v '^[%!]' build.trec; done | cat <(head -n 1 build.trec) - >large.trec
	for _ in {1..200}; do cat small.nfsdb; done >large.nfsdb
	before=$(stat -c %s large.*)
	while IFS='|' read -r input command; do
		case $input in
		build.json) large=large.json ;;
		build.trec) large=large.trec ;;
		small.nfsdb) large=large.nfsdb ;;
		*) continue ;;
		esac
		command=${command/ - / moving }
		for change in -s1000 -s0 -s+100K -s-1; do
			cp $large moving
			status=0
			# it waits for its reader, if it writes as it reads
			mkfifo out
			case $command in
			*moving*) timeout 60 $command >out 2>messages & ;;
			*) timeout 60 $command moving >out 2>messages & ;;
			esac
			pid=$!
			exec 9<out
			sleep 0.01
			truncate $change moving
			cat <&9 >seen
			exec 9<&-
			rm out
			wait $pid || status=$?
			# no signal, no hang; if something is missing, there is a message
			if [ $status -gt 2 ] || { [ $status -eq 2 ] && [ ! -s messages ]; }; then
				echo "$command moving, truncate $change: status $status"
				cat messages
				return 1
			fi
		done
	done < <(commands)
	[ "$before" = "$(stat -c %s large.*)" ]
}

@test "a closed pipe ends every tool silently" {
	for _ in {1..30}; do cat build.json; done >large.json
	tr-parse large.json >large.trec
	tr-repack -t trec -z none calls.trace >large.calls
	for _ in {1..60}; do cat small.nfsdb; done >large.nfsdb
	while IFS='|' read -r input command; do
		case $input in
		build.json) input=large.json ;;
		build.trec) input=large.trec ;;
		small.nfsdb) input=large.nfsdb ;;
		esac
		for trap in '' 'trap "" PIPE;'; do
			# shellcheck disable=SC2016
			timeout 60 bash -c "$trap"' input=$1; shift; "$@" <"$input" 2>messages; echo $? >status' - "$input" $command |
				head -c 1 >seen
			if [ -s messages ] || [ ! -s seen ] || ! grep -qxE '0|1|2|141' status; then
				echo "$command <$input: status $(<status) $trap"
				cat messages
				return 1
			fi
		done
	done < <(commands)
}
