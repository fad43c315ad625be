#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --backend=preload: programs report what they do, and do not notice.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
}

needs_strace() {
	timeout 10 strace -V >/dev/null 2>&1 || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# record COMMAND...: into out.trec
record() {
	tr-record --backend=preload -o out.trec -- "$@"
}

# execs TRACE: each exec with its parent and its end; random parts of names are replaced
execs() {
	tr-tojson "$1" | jq -rs '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		(map(select(.kind == "exit")) | INDEX(.task)) as $exit |
		.[] | select(.kind == "exec") |
		[.name, .cwd, .argv, .env, .respfile,
			(if .parent == null then null else $exec[.parent | tostring] | [.name, .argv] end),
			($exit[.task | tostring] | [.status, .signal])] | tojson' |
		sed -E 's#/cc[A-Za-z0-9]{6}([.",\\]|$)#/ccXXXXXX\1#g; s/(TryCompile-|cmTC_)[A-Za-z0-9]+/\1X/g' |
		LC_ALL=C sort
}

# same COMMAND...: in copies of the folder "build", both backends see the same execs
same() {
	local backend status
	for backend in strace preload; do
		rm -rf work
		cp -R build work
		status=0
		(cd work && tr-record --backend=$backend -o ../$backend.trec -- "$@" >/dev/null) || status=$?
		echo "$status" >$backend.execs
		execs $backend.trec >>$backend.execs
	done
	diff strace.execs preload.execs
}

@test "the library sees every way to run a program, with its directory and parent" {
	mkdir sub other
	cp "$top_builddir/tests/helper/strace_execs" link
	run -3 --separate-stderr tr-record --backend=preload -o out.trec ./link "$PWD"
	[ -z "$stderr" ]
	"$top_srcdir/tests/helper/strace_happened" out.trec >happened
	tr-record --backend=preload -- ./link "$PWD" 2>truth >/dev/null || true
	diff happened <(LC_ALL=C sort truth)
	[ "$(wc -l <happened)" -eq 17 ]
	[ "$(tr-filter -c 'exit and signal == SIGTERM' out.trec)" -eq 1 ]
	run ! grep -q $'flagged=\|^raw\t' out.trec
}

@test "make with response files: the same execs as with strace" {
	needs_strace
	command -v make >/dev/null || skip "make is not installed"
	mkdir build
	cat >build/Makefile <<'END'
all: prog lib.a
prog: a.o b.o
	gcc -o $@ a.o b.o
%.o: %.c
	echo "-DX=1" >$@.rsp && gcc @$@.rsp -c $< && rm $@.rsp
lib.a: a.o b.o
	ar rcs $@ $^
	sh -c 'exit 3' || true
	-sh -c 'kill -9 $$$$'
	cd / && ls >/dev/null
	false
END
	echo 'int a(void) { return X; }' >build/a.c
	echo 'int a(void); int main(void) { return a() + X; }' >build/b.c
	same make -s -j2
	[ "$(wc -l <preload.execs)" -ge 20 ]
	for backend in strace preload; do # the two compilers run at the same time
		tr-repack -t compdb $backend.trec | jq 'sort_by(.file)' >$backend.json
	done
	diff strace.json preload.json
}

@test "exit status, signals and output are the command's" {
	run -7 --separate-stderr record sh -c 'echo out; echo err >&2; exit 7'
	[ "$output" = out ]
	[ "$stderr" = err ]
	[ "$(tr-filter -c 'exit and status == 7' out.trec)" -eq 1 ]
	run -143 record sh -c 'kill -TERM $$'
	[ "$(tr-filter -c 'exit and signal == SIGTERM' out.trec)" -eq 1 ]
	run -127 record no-such-command
	run -126 record "$PWD"
	printf '#!/no/such/shell\n' >orphan
	printf 'echo "$1"; exit 5\n' >plain
	chmod +x orphan plain
	run -126 record ./orphan
	run -5 record ./plain 'a b'
	[ "$output" = 'a b' ]
	run -0 --separate-stderr bash -c 'tr-record --backend=preload -- echo out | grep -c ^exec'
	[ "$output" = 1 ]
	[ "$stderr" = out ]
	run -3 bash -c 'tr-record --backend=preload -- sh -c "/bin/true; touch ran; exit 3" >/dev/full'
	[ -e ran ]
}

@test "where ptrace is forbidden the library records" {
	local helper=$top_builddir/tests/helper/no_ptrace status=0
	"$helper" true || status=$?
	[ "$status" -ne 99 ] || skip "no seccomp here"
	run -0 --separate-stderr env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" \
		"$helper" "$(command -v tr-record)" --backend=preload -o out.trec sh -c /bin/true
	[ -z "$stderr" ]
	[ "$(tr-filter -c exec out.trec)" -eq 2 ]
}

@test "what the command leaves behind is waited for, or not with --no-wait" {
	run -4 --separate-stderr record sh -c '(sleep 0.3; /bin/true) </dev/null >/dev/null 2>&1 & exit 4'
	[ "$(tr-filter -c 'exec and name == "/bin/true"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c exit out.trec)" -eq 3 ]
	run -3 --separate-stderr tr-record --backend=preload --no-wait -o out.trec -- \
		sh -c '(sleep 0.6; /bin/true; echo alive >alive) >/dev/null 2>&1 & exit 3'
	[[ $stderr == *"note: processes that the command left behind are not recorded further"* ]]
	[ "$(tail -n 1 out.trec)" = $'!end\t'"$(($(wc -l <out.trec) - 2))" ]
	for _ in $(seq 50); do
		[ ! -s alive ] || break
		sleep 0.1
	done
	[ -s alive ]
	# nothing of the recording remains
	TMPDIR=$PWD run -0 record true
	[ -z "$(ls -d tr-record-* 2>/dev/null)" ]
}

@test "options that the library does not support are refused" {
	run -2 --separate-stderr tr-record --backend=preload --files -o out.trec touch ran
	[[ $stderr == *"--files needs --backend=strace"* ]]
	[ ! -e ran ]
}
