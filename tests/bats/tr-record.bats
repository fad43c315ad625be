#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record: a command is recorded, and behaves as without it.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
	cat >Makefile <<'END'
all: a.o
	@echo built
a.o: a.c
	echo "-DX=1 @more.rsp" >t.rsp && $(CC) @t.rsp -c a.c && rm t.rsp
END
	echo 'int a(void) { return X; }' >a.c
	echo -O1 >more.rsp
}

needs_strace() {
	timeout 10 strace -V >/dev/null 2>&1 || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

@test "a build: programs, directories and parents; the command's output is not changed" {
	needs_strace
	command -v make >/dev/null || skip "make is not installed"
	run -0 --separate-stderr tr-record -o build.trec -- make -s CC=gcc
	[ "$output" = built ]
	[ -z "$stderr" ]
	[ "$(tail -n 1 build.trec)" = $'!end\t'"$(($(wc -l <build.trec) - 2))" ]
	run ! grep -q $'flagged=\|^raw\t' build.trec
	[ "$(tr-filter --raw --fields=cwd exec build.trec | sort -u)" = "$PWD" ]
	[ "$(tr-filter -c 'exec and basename(name) == "make"' build.trec)" -eq 1 ]
	[ "$(tr-filter -c 'exec and argv == "a.c" and has(parent)' build.trec)" -ge 1 ]
}

@test "response files that the build deletes are in the records, and those that they name" {
	needs_strace
	command -v make >/dev/null || skip "make is not installed"
	tr-record -o build.trec -- make -s CC=gcc
	[ ! -e t.rsp ]
	grep -qF $'\trespfile={"t.rsp":"-DX=1 @more.rsp\\n","more.rsp":"-O1\\n"}' build.trec
	tr-repack -t compdb build.trec >db.json
	grep -q -e '"-DX=1"' db.json
	tr-record --no-respfiles -o build.trec -- gcc @more.rsp -DX -c a.c
	run ! grep -q $'\trespfile=' build.trec
}

@test "response files are read for the programs that have them, not for curl -d @token" {
	needs_strace
	command -v gcc >/dev/null || skip "gcc is not installed"
	echo 'SECRET' >token
	echo '-DX=1' >opts
	cp "$(type -P true)" curl
	tr-record -o build.trec -- sh -c './curl -d @token; ./curl @opts; gcc @opts -E @/dev/fd/0 2>/dev/null; true' <token
	grep -qF $'\trespfile={"opts":"-DX=1\\n"}' build.trec
	[ "$(grep -c $'\trespfile=' build.trec)" -eq "$(grep $'\trespfile=' build.trec | grep -c gcc)" ]
	run ! grep -q SECRET build.trec
}

@test "clang's tools take the database of a recorded build" {
	needs_strace
	command -v make >/dev/null || skip "make is not installed"
	command -v clang-check >/dev/null || skip "clang-check is not installed"
	tr-record -- make -s CC=gcc | tr-repack -q -t compdb -o compile_commands.json
	clang-check -p . a.c
}

@test "records to a pipe while the command runs, its output to stderr" {
	needs_strace
	run -0 --separate-stderr bash -c 'tr-record -- echo out | grep -c ^exec'
	[ "$output" = 1 ]
	[ "$stderr" = out ]
	{ tr-record -- sh -c 'true; /bin/true; sleep 3'; } | { timeout 2 grep -m 2 -c ^exec; } >count
	[ "$(cat count)" -eq 2 ]
}

@test "exit status and signals are the command's" {
	needs_strace
	run -0 tr-record -o out true
	run -1 tr-record -o out false
	run -7 tr-record -o out -- sh -c 'exit 7'
	[ "$(tr-filter -c 'exit and status == 7' out)" -eq 1 ]
	run -143 tr-record -o out -- sh -c 'kill -TERM $$'
	[ "$(tr-filter -c 'exit and signal == SIGTERM' out)" -eq 1 ]
	# sent to us it reaches the command
	tr-record -o out -- sh -c 'trap "exit 9" TERM; touch ready; while :; do sleep 0.1; done' &
	for _ in {1..100}; do [ -e ready ] || sleep 0.1; done
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 9 ]
	[ "$(tail -n 1 out | cut -c1-4)" = '!end' ]
}

@test "--only keeps the given programs" {
	needs_strace
	tr-record --only='t*e,cc1' -o out -- sh -c '/bin/true; /bin/false; exec /bin/true'
	[ "$(grep -c ^exec out)" -eq 2 ]
	[ "$(wc -l <out)" -eq 4 ]
	tr-filter -c exec out
	run -0 --separate-stderr tr-record --only='nothing,tr?e,no*e,' -o out true
	[ "$(grep -c ^exec out)" -eq 1 ]
	[ "$stderr" = "tr-record: note: --only: no program 'nothing' was run
tr-record: note: --only: no program 'no*e' was run" ]
	run -0 --separate-stderr tr-record --only=nothing -o out true
	[ "$(wc -l <out)" -eq 2 ]
	[ "$stderr" = "tr-record: note: --only: no program 'nothing' was run" ]
}

@test "options that select nothing are refused before anything runs" {
	for option in --only= --only=,, -Ocwd= -Onosuch=1 --backend=nosuch; do
		run -2 --separate-stderr tr-record "$option" -o out touch ran
		[[ ${stderr_lines[0]} == *"${option:2:3}"* ]]
		[ ! -e ran ]
		[ ! -e out ]
	done
}

@test "unusual commands are recorded exactly" {
	needs_strace
	cp --no-preserve=mode "$top_srcdir/tests/data/strace/small.strace" . # any file
	env -i PS1='[\u] $ ' "B=$(printf '\377[')" PATH="$PATH" "$(command -v tr-record)" -o out \
		sh -c 'cd / && /bin/true "$1" "" ")= 0"' - $'a\nb\t\xff'
	[ "$(tr-filter --fields=cwd,argv 'exec and name == "/bin/true"' out)" = \
		$'"/"\t["/bin/true","a\\nb\\t\\xff","",")= 0"]' ]
	grep -qF '"PS1":"[\\u] $ "' out
	grep -qF '"B":"\xff["' out
}

@test "errors are reported before anything runs" {
	run -2 --separate-stderr env PATH="$PWD" "$(command -v tr-record)" --backend=strace /bin/true
	[ "${stderr_lines[0]}" = "tr-record: strace(1), which watches the command, is not installed" ]
	[ "${stderr_lines[1]}" = "tr-record: note: without --backend=strace, programs report themselves" ]
	run -2 --separate-stderr tr-record
	[[ $stderr == "tr-record: no command given"* ]]
	# the library does not need it
	run -0 --separate-stderr env PATH="$PWD" "$(command -v tr-record)" -o out.trec /bin/true
	[ -z "$stderr" ]
	needs_strace
	run -127 --separate-stderr tr-record no-such-command
	[ "$stderr" = "tr-record: no-such-command: command not found" ]
	run -126 tr-record ./Makefile
	# a mistyped command does not empty the file of the last run
	echo before >last.trec
	run -127 tr-record -o last.trec no-such-command
	[ "$(cat last.trec)" = before ]
	run -127 tr-record -o new.trec no-such-command
	[ ! -e new.trec ]
	tr-record -o last.trec true
	[ "$(head -n 1 last.trec | cut -f1)" = %trec ]
	[ "$(tail -n 1 last.trec | cut -f1)" = '!end' ]
	run -2 tr-record -o no/such/folder touch ran
	[ ! -e ran ]
}

@test "strace: the numbers of processes in other pid namespaces" {
	needs_strace
	unshare -Urp true 2>/dev/null || skip "no user namespaces here"
	run -0 --separate-stderr tr-record --backend=strace -o out.trec unshare -Urpf sh -c '/bin/true; /bin/echo; exit 0'
	[ -z "$stderr" ]
	run ! grep -q orphan out.trec
	[ "$(tr-filter --raw --fields=child fork out.trec | sort)" = "$(tr-filter --raw --fields=task exit out.trec | sort | tail -n 3)" ]
}

@test "a recording that never ends is ended by the test" {
	[[ "$(head -n 2 "$(type -P tr-record)" | tr -d '\0')" == *"/timeout\" "* ]]
}

@test "if ptrace is forbidden, nothing runs, and the reason is reported" {
	local helper=$top_builddir/tests/helper/no_ptrace status=0
	"$helper" true || status=$?
	[ "$status" -ne 99 ] || skip "no seccomp here"
	needs_strace
	# a sanitizer that looks for leaks wants ptrace as well
	run -2 --separate-stderr env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" \
		"$helper" "$(command -v tr-record)" --backend=strace touch ran
	[[ $stderr == *"cannot be traced here (ptrace: "*SYS_PTRACE* ]]
	[ ! -e ran ]
}

@test "a strace that fails, or dies before the command, is not the command's end" {
	needs_strace
	mkdir bin
	printf '#!/bin/sh\necho "strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted" >&2\nexit 1\n' >bin/strace
	chmod +x bin/strace
	PATH=$PWD/bin:$PATH run -2 --separate-stderr tr-record --backend=strace -o out touch ran
	[[ $stderr == *"tr-record: strace did not run the command" ]]
	[ ! -e ran ]
	printf '#!/bin/sh\nexit 0\n' >bin/strace
	PATH=$PWD/bin:$PATH run -2 tr-record --backend=strace -o out touch ran
	# its parent is strace
	run -2 --separate-stderr tr-record --backend=strace -o out sh -c '/bin/true; kill -KILL $PPID; exit 0'
	[[ $stderr == *"tr-record: strace ended before the command did: the records are incomplete" ]]
	[ "$(grep -c ^exec out)" -eq 2 ]
	tail -n 1 out | grep -q 'truncated=true'
}

@test "scripts without an interpreter line" {
	needs_strace
	printf 'echo "$1"; /bin/true; exit 5\n' >plain
	printf '#!/no/such/shell\n' >orphan
	chmod +x plain orphan
	run -5 tr-record -o out ./plain 'a b'
	[ "$output" = "a b" ]
	[ "$(tr-filter --fields='argv[1]' exec out | head -n 1)" = '"./plain"' ]
	run -126 tr-record -o out ./orphan
	run -126 tr-record -o out "$PWD"
}

@test "tr-record reports that it waits for processes that outlive the command" {
	needs_strace
	run -4 --separate-stderr tr-record -o out -- sh -c 'sleep 6 </dev/null >/dev/null 2>&1 & exit 4'
	[ "$stderr" = "tr-record: the command has ended; waiting for the processes that it left running (Ctrl-C ends the wait)" ]
	[ "$(tr-filter -c exit out)" -eq 2 ]
	run -0 --separate-stderr tr-record -o out true
	[ -z "$stderr" ]
}

@test "--backend is auto, preload or strace, and nothing else" {
	needs_strace
	run -0 tr-record --backend=strace -o out true
	tr-filter -c exec out | grep -x 1
	run -2 tr-record --backend=ptrace -o none true
	[[ $output == *"--backend takes auto|preload|strace, not 'ptrace'"* ]]
	[ ! -e none ]
}

@test "a command outlives the readers of its records" {
	needs_strace
	run -3 bash -c 'tr-record -- sh -c "/bin/true; touch ran; exit 3" >/dev/full'
	[ -e ran ] && rm ran
	bash -c 'tr-record -- sh -c "sleep 0.3; /bin/true; touch ran" | true'
	[ -e ran ]
}

@test "--no-wait: processes that outlive the command continue unwatched" {
	needs_strace
	SECONDS=0
	run -3 --separate-stderr tr-record --no-wait -o left.trec -- \
		sh -c '(sleep 0.6; "$(type -P true)"; echo alive >alive; exec sleep 2) >/dev/null 2>&1 & exit 3'
	[ "$SECONDS" -lt 2 ]
	[[ $stderr == *"note: processes that outlive the command are not recorded any further"* ]]
	[ "$(tail -n 1 left.trec)" = $'!end\t'"$(($(wc -l <left.trec) - 2))" ]
	[ "$(tr-filter -c 'exit and status == 3' left.trec)" -eq 1 ]
	for _ in $(seq 50); do
		[ ! -s alive ] || break
		sleep 0.1
	done
	[ -s alive ]
	run -137 --separate-stderr tr-record --no-wait -o left.trec -- sh -c 'sleep 2 >/dev/null 2>&1 & kill -9 $$'
	# without remaining processes there is no message
	run -0 --separate-stderr tr-record --no-wait -o left.trec -- true
	[ -z "$stderr" ]
}

@test "Ctrl-C ends only the wait for processes that outlive the command" {
	needs_strace
	# timeout(1) sends SIGCONT after SIGINT; a process that LeakSanitizer has just stopped waits for ever then
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	tr-record -o left.trec -- sh -c '(sleep 1.2; "$(type -P true)"; echo alive >alive) >/dev/null 2>&1 & exit 4' 2>stderr &
	local recorder=$! status=0
	for _ in $(seq 50); do
		! grep -q $'\tstatus=4' left.trec || break
		sleep 0.1
	done
	kill -INT "$recorder"
	wait "$recorder" || status=$?
	[ "$status" -eq 4 ]
	[ ! -s alive ]
	grep -q "note: processes that outlive the command are not recorded any further" stderr
	[ "$(tail -n 1 left.trec)" = $'!end\t'"$(($(wc -l <left.trec) - 2))" ]
	for _ in $(seq 50); do
		[ ! -s alive ] || break
		sleep 0.1
	done
	[ -s alive ]
}

@test "programs that are traced already, or cannot be traced for their sanitizer, are named" {
	needs_strace
	run -2 --separate-stderr env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" \
		timeout 60 strace -f -o log tr-record --backend=strace -o inner.trec -- true
	[[ $stderr =~ ^"tr-record: process "[0-9]+" (strace) already traces tr-record, and a process can have only one tracer" ]]
	run -2 --separate-stderr env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" \
		tr-record --backend=strace -o outer.trec -- tr-record --backend=strace -o inner.trec -- true
	[[ $stderr == *" (strace) already traces tr-record"* ]]
	echo 'int main(void) { return 0; }' >main.c
	gcc -fsanitize=address -o sanitized main.c 2>/dev/null || skip "gcc has no AddressSanitizer"
	unset ASAN_OPTIONS LSAN_OPTIONS
	run -1 --separate-stderr tr-record --backend=strace -o s.trec -- sh -c './sanitized; ./sanitized; false'
	[ "$(grep -c "note: $PWD/sanitized failed: it is built with LeakSanitizer, which does not work" <<<"$stderr")" -eq 1 ]
	[[ $stderr != *"/sh failed"* ]]
	LSAN_OPTIONS=detect_leaks=0 run -0 --separate-stderr tr-record --backend=strace -o s.trec -- ./sanitized
	[ -z "$stderr" ]
}

@test "only a program with the runtime of a sanitizer is named as one" {
	needs_strace
	unset ASAN_OPTIONS LSAN_OPTIONS
	# these fail, and hold the names of the runtime as text, as a weak reference, in a script
	cat >weak.c <<-'END'
	extern void __asan_init(void) __attribute__((weak));
	const char *const text[] = { "__asan_init", "__lsan_init", "libasan.so.8" };
	int main(int argc, char **argv) { (void)argv; return __asan_init ? 2 : text[argc][2] != 0; }
	END
	gcc -o weak weak.c
	printf '#!/bin/sh\n# __asan_init\nexit 1\n' >script
	chmod +x script
	echo 'int x = ;' >bad.c
	run -1 --separate-stderr tr-record --backend=strace -o s.trec -- sh -c './weak; ./script; gcc -c bad.c'
	[[ $stderr == *"bad.c:1"* && $stderr != *LeakSanitizer* ]]
	# the runtime may be a library or in the program, with or without symbols to debug
	echo 'int main(void) { return 1; }' >main.c
	local count=0 options
	for options in 'gcc -fsanitize=address' 'gcc -fsanitize=leak' 'gcc -fsanitize=address -static-libasan' \
		'gcc -fsanitize=address -s' 'clang -fsanitize=address' 'clang -fsanitize=leak -s'; do
		# shellcheck disable=SC2086
		$options -o "with$count" main.c 2>/dev/null || continue
		echo "$options"
		run --separate-stderr tr-record --backend=strace -o s.trec -- "./with$count"
		[[ $stderr == *"note: $PWD/with$count failed: it is built with LeakSanitizer"* ]]
		count=$((count + 1))
	done
	[ "$count" -gt 0 ] || skip "no compiler has a sanitizer"
}
