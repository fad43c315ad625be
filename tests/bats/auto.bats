#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --backend=auto: the library, and strace for programs that cannot load it.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
	timeout 10 strace -V >/dev/null 2>&1 || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >run.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* Runs its arguments twice, with posix_spawn and in a child; "-k": ends by a signal. */
int main(int argc, char **argv, char **env)
{
	int status, second;
	pid_t pid;
	if (argc > 1 && strcmp(argv[1], "-k") == 0)
		raise(SIGTERM);
	if (argc == 1)
		return 4;
	if (chdir("sub") != 0 || posix_spawn(&pid, argv[1], NULL, NULL, argv + 1, env) != 0)
		return 9;
	waitpid(pid, &status, 0);
	pid = vfork();
	if (pid == 0) {
		execve(argv[1], argv + 1, NULL);
		_exit(8);
	}
	waitpid(pid, &second, 0);
	return status == second ? WEXITSTATUS(status) : 7;
}
END
	gcc -o dynamic run.c
	gcc -static -o static run.c 2>/dev/null || skip "no static libc"
	mkdir -p sub/sub/sub
}

# execs TRACE: each exec with its parent and its end
execs() {
	tr-tojson "$1" | jq -rs '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		(map(select(.kind == "exit")) | INDEX(.task)) as $exit |
		.[] | select(.kind == "exec") |
		[.name, .cwd, .argv, .env, .respfile, .flagged,
			(if .parent == null then null else $exec[.parent | tostring] | [.name, .argv] end),
			($exit[.task | tostring] | [.status, .signal])] | tojson' | LC_ALL=C sort
}

# same STATUS COMMAND...: both backends see the same execs and ends, and nothing is printed
same() {
	local backend expected=$1
	shift
	for backend in strace auto; do
		run "-$expected" --separate-stderr tr-record --backend=$backend -o $backend.trec -- "$@"
		[ -z "$stderr" ] || { echo "$backend: $stderr"; return 1; }
		execs $backend.trec >$backend.execs
		tr-filter --raw --fields=status,signal 'exit and not has(tgid)' $backend.trec 2>/dev/null |
			sort >>$backend.execs
		[ "$(tail -n 1 $backend.trec)" = $'!end\t'"$(($(wc -l <$backend.trec) - 2))" ]
	done
	diff strace.execs auto.execs
}

@test "static programs, what they start, and what starts them: the same as with strace" {
	same 3 sh -c './dynamic /bin/true; ./static /bin/true; ./static; exit 3'
	same 4 ./static
	same 4 ./static "$PWD/static"
	same 4 ./static "$PWD/dynamic" "$PWD/static"
	same 4 ./dynamic "$PWD/static" "$PWD/dynamic" "$PWD/static"
	same 143 ./static -k
	same 0 sh -c 'exec 2>/dev/null; ./static -k; ./static "$PWD/dynamic" "$PWD/static" -k; true'
	same 0 ./dynamic /bin/sh -c 'cd / && env -i A=1 /bin/true'
	[ "$(tr-filter -c 'exec and basename(name) == "sh" and argv == "-c" and has(parent)' auto.trec)" -eq 2 ]
}

@test "the path by which a program is called stays, and so do input, output and environment" {
	cat >env.c <<'END'
#include <stdio.h>
int main(int argc, char **argv, char **env)
{
	char line[100];
	printf("%s %s", argv[0], fgets(line, sizeof line, stdin));
	for (; argc && *env; env++)
		puts(*env);
	return 0;
}
END
	gcc -static -o env env.c
	cat >spawn.c <<'END'
#include <spawn.h>
#include <sys/wait.h>
int main(int argc, char **argv, char **env)
{
	char *const arguments[] = { (char *)"other name", (char *)0 };
	int status;
	pid_t pid;
	return argc != 2 || posix_spawnp(&pid, argv[1], 0, 0, arguments, env) != 0 || wait(&status) != pid;
}
END
	gcc -o spawn spawn.c
	for command in './env' './spawn ./env'; do
		# shellcheck disable=SC2086
		env -i A=1 B= C=x $command <<<in >bare
		# shellcheck disable=SC2086
		run -0 --separate-stderr tr-record --backend=auto -o out.trec -- env -i A=1 B= C=x $command <<<in
		diff bare - <<<"$output"
		[ -z "$stderr" ]
	done
	[ "$(tr-filter -c 'exec and argv == "other name"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c exec out.trec)" -eq 3 ]
}

@test "many at the same time, in the order of time, and nothing is left" {
	mkdir tmp
	export TMPDIR=$PWD/tmp
	local count=40
	# a program waits for strace for a limited time, which is too short for a slow build on a busy machine
	[ -z "${TREC_SANITIZED-}" ] || count=4
	run -0 --separate-stderr tr-record --backend=auto -o out.trec -- \
		sh -c "seq $count"' | xargs -P 8 -I{} ./dynamic "$PWD/static" /bin/sh -c "exit 0"'
	[ -z "$stderr" ] || { echo "$stderr"; return 1; }
	[ -z "$(ls tmp)" ]
	[ "$(tr-filter -c 'exec and basename(name) == "static"' out.trec)" -eq $((2 * count)) ]
	[ "$(tr-filter -c 'exec and basename(name) == "sh" and has(parent)' out.trec)" -eq $((4 * count)) ]
	[ "$(tr-filter -c 'exit and not has(tgid)' out.trec)" -eq "$(($(tr-filter -c 'fork' out.trec) + 1))" ]
	run ! grep -q $'flagged=\|^raw\t\|^lost\t' out.trec
}

@test "random trees of processes, of static programs" {
	gcc -static -w -D_GNU_SOURCE -pthread -o trees "$top_srcdir/tests/helper/preload_trees.c" 2>/dev/null ||
		skip "no static libc"
	: >truth
	tr-record --backend=auto -o out.trec -- ./trees 20261123 10 "$PWD/truth"
	[ "$(wc -l <truth)" -gt 50 ]
	LC_ALL=C sort truth | diff - <("$top_srcdir/tests/helper/preload_seen" out.trec)
}

@test "--no-wait: what the command leaves behind goes on unwatched" {
	run -3 --separate-stderr tr-record --backend=auto --no-wait -o out.trec -- \
		sh -c './static /bin/sh -c "(sleep 1; cat /proc/self/status; echo alive) >alive 2>&1 &"; exit 3'
	[[ $stderr == *"note: processes that the command left behind are not recorded further"* ]]
	[ "$(tr-filter -c 'exec and basename(name) == "static"' out.trec)" -eq 1 ]
	[ "$(tail -n 1 out.trec)" = $'!end\t'"$(($(wc -l <out.trec) - 2))" ]
	for _ in $(seq 50); do
		! grep -q alive sub/alive || break
		sleep 0.1
	done
	grep -q "^TracerPid:.0$" sub/alive
}

@test "where processes cannot be traced, the program is flagged" {
	local helper=$top_builddir/tests/helper/no_ptrace status=0
	"$helper" true || status=$?
	[ "$status" -ne 99 ] || skip "no seccomp here"
	run -4 --separate-stderr env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" \
		"$helper" "$(command -v tr-record)" --backend=auto -o out.trec sh -c './static; exit 4'
	[[ $stderr == "tr-record: note: programs that could not load the library: 1; "* ]]
	[ "$(tr-filter -c 'exec and flagged == "unwatched"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c 'exit and status == 4' out.trec)" -eq 2 ]
}

@test "a strace that is killed is reported, and the program goes on" {
	run -2 --separate-stderr tr-record --backend=auto -o out.trec -- \
		sh -c './static /bin/sh -c "t=\$(sed -n s/TracerPid:.//p /proc/\$\$/status); [ \$t -eq 0 ] || kill -9 \$t; echo on"; echo end'
	[ "$output" = $'on\non\nend' ]
	[[ $stderr == *"records are missing"* ]]
	run -2 --separate-stderr tr-record --backend=auto --files -o out.trec -- touch ran
	[ "${stderr_lines[0]}" = "tr-record: --files needs --backend=strace or --backend=preload" ]
	[ ! -e ran ]
}
