#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --backend=preload with programs of 32 bits, among programs of 64 bits.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	[ -e "$top_builddir/lib/preload/libtrec-files32.so" ] || skip "there is no library for 32 bits"
	local flags
	flags=$(sed -n 's/^PRELOAD32_FLAGS = //p' "$top_builddir/Makefile")
	# shellcheck disable=SC2086
	gcc $flags -w -D_GNU_SOURCE -pthread -o traps "$top_srcdir/tests/helper/preload_traps.c"
	# shellcheck disable=SC2086
	gcc $flags -w -D_GNU_SOURCE -o calls "$top_srcdir/tests/helper/preload_calls.c" -ldl
}

needs_strace() {
	timeout 10 strace -V >/dev/null 2>&1 || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# execs TRACE: each exec with its parent and its end
execs() {
	tr-tojson "$1" | jq -rs '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		(map(select(.kind == "exit")) | INDEX(.task)) as $exit |
		.[] | select(.kind == "exec") |
		[.name, .cwd, .argv, .env, .flagged,
			(if .parent == null then null else $exec[.parent | tostring] | [.name, .argv] end),
			($exit[.task | tostring] | [.status, .signal])] | tojson' | LC_ALL=C sort
}

@test "every form of exec, posix_spawn, system and popen, and every end" {
	needs_strace
	local trap backend
	for trap in forms spawns ends 'vforks /bin/true' 'small-stack /bin/true' 'vforks-leak /bin/true'; do
		for backend in strace preload; do
			# shellcheck disable=SC2086
			tr-record --backend=$backend -o $backend.trec -- ./traps $trap
			execs $backend.trec >$backend.execs
			tr-filter --raw --fields=status,signal 'exit and not has(tgid) and not status == 127' \
				$backend.trec 2>/dev/null | sort >>$backend.execs
		done
		diff strace.execs preload.execs
	done
}

@test "programs of 32 and 64 bits start each other, and do not notice" {
	run -3 --separate-stderr tr-record --backend=preload -o out.trec -- \
		sh -c './traps small-stack /bin/sh -c "env -i PATH=\"$PATH\" ./traps small-stack /bin/sh -c \"env; ./traps forms; exit 3\""'
	[ -z "$stderr" ]
	[ "$(grep -v '^PATH=\|^PWD=' <<<"$output")" = '' ]
	[ "$(tr-filter -c 'exec and basename(name) == "traps" and has(parent)' out.trec)" -eq 3 ]
	[ "$(tr-filter -c 'exec and basename(name) == "true" and has(parent)' out.trec)" -eq 10 ]
	run ! grep -q $'flagged=\|^lost\t' out.trec
}

@test "file calls: the same uses as with strace" {
	needs_strace
	local backend
	for backend in strace preload; do
		rm -rf work
		mkdir work
		(cd work && tr-record --backend=$backend --files -o ../$backend.trec -- ../calls >/dev/null)
		tr-deps $backend.trec | tr-tojson | jq -r 'select(.kind == "use") |
			select(.name | test("^/usr/(lib|share)/locale/|/gconv/|^/etc/") | not) |
			((.does - ["stat"]) | if index("write") then . - ["read"] else . end | sort) as $does |
			select($does != [] and $does != ["missing"]) | .name + " " + ($does | join(" "))' |
			sed -E 's#/[td][A-Za-z0-9]{6}(\.c| )#/tXXXXXX\1#' | LC_ALL=C sort -u >$backend.uses
	done
	diff strace.uses preload.uses
	[ "$(wc -l <preload.uses)" -ge 20 ]
}

@test "without the second library the program is flagged" {
	mkdir -p tools/lib/preload
	cp "$top_builddir/tr-record" tools
	cp "$top_builddir/lib/preload/libtrec-preload.so" tools/lib/preload
	ln -s . tools/lib/preload/libasan.so
	run -0 --separate-stderr tools/tr-record --backend=preload -o out.trec -- ./traps small-stack /bin/true
	[[ $stderr == "tr-record: note: programs that could not load the library: 1; "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ "$(tr-filter -c 'exec and flagged == "unwatched"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c exec out.trec)" -eq 1 ]
}
