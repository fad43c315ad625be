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

@test "static programs, their children and parents are recorded as with strace" {
	same 3 sh -c './dynamic /bin/true; ./static /bin/true; ./static; exit 3'
	same 4 ./static
	same 4 ./static "$PWD/static"
	same 4 ./static "$PWD/dynamic" "$PWD/static"
	same 4 ./dynamic "$PWD/static" "$PWD/dynamic" "$PWD/static"
	same 143 ./static -k
	same 0 sh -c 'exec 2>/dev/null; ./static -k; ./static "$PWD/dynamic" "$PWD/static" -k; true'
	same 0 ./dynamic /bin/sh -c 'cd / && env -i A=1 /bin/true'
	[ "$(tr-filter -c 'exec and basename(name) == "sh" and argv == "-c" and has(parent)' auto.trec)" -eq 2 ]
	run -0 --separate-stderr tr-record --verbose -o out.trec sh -c './static ./static; ./dynamic; ./static; true'
	[[ $stderr == *"note: programs that could not load the library and were watched by strace "*": 2" ]]
}

@test "static programs that are started in another directory" {
	cat >spawn.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
/* Runs the program in the directory, which libc enters by its name and then by a descriptor. */
int main(int argc, char **argv, char **env)
{
	posix_spawn_file_actions_t actions;
	int status = argc < 3;
	pid_t pid;
	for (int way = 0; way < 2 && !status; way++) {
		posix_spawn_file_actions_init(&actions);
		if (way == 0)
			posix_spawn_file_actions_addchdir_np(&actions, argv[1]);
		else
			posix_spawn_file_actions_addfchdir_np(&actions, open(argv[1], O_RDONLY | O_CLOEXEC));
		if (posix_spawn(&pid, argv[2], &actions, 0, argv + 2, env) != 0)
			return 9;
		waitpid(pid, &status, 0);
		status = WEXITSTATUS(status) & ~4;
		posix_spawn_file_actions_destroy(&actions);
	}
	return status;
}
END
	gcc -o spawn spawn.c
	same 0 ./spawn sub "$PWD/static" "$PWD/static"
	[ "$(tr-filter -c "exec and cwd == \"$PWD/sub\" and basename(name) == \"static\"" auto.trec)" -eq 2 ]
	[ "$(tr-filter -c "exec and cwd == \"$PWD/sub/sub\" and basename(name) == \"static\"" auto.trec)" -eq 4 ]
	same 0 ./spawn sub ../static
	[ "$(tr-filter -c chdir auto.trec)" -eq "$(tr-filter -c 'chdir or fchdir' strace.trec)" ]
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

@test "many static programs at the same time are recorded in order, and no process remains" {
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

@test "random trees of processes, of which every third program is static" {
	gcc -w -D_GNU_SOURCE -pthread -o trees "$top_srcdir/tests/helper/preload_trees.c"
	gcc -static -w -D_GNU_SOURCE -pthread -o trees.static "$top_srcdir/tests/helper/preload_trees.c" 2>/dev/null ||
		skip "no static libc"
	local options
	for options in '' --files; do
		: >truth
		# shellcheck disable=SC2086
		tr-record --backend=auto $options -o out.trec -- ./trees 20261123 10 "$PWD/truth"
		[ "$(wc -l <truth)" -gt 50 ]
		[ "$(tr-filter -c 'exec and name $= ".static"' out.trec)" -gt 10 ]
		LC_ALL=C sort truth | diff - <("$top_srcdir/tests/helper/preload_seen" out.trec)
	done
}

@test "--no-wait: processes that outlive the command continue unwatched" {
	run -3 --separate-stderr tr-record --backend=auto --no-wait -o out.trec -- \
		sh -c './static /bin/sh -c "(sleep 1; cat /proc/self/status; echo alive) >alive 2>&1 &"; exit 3'
	[[ $stderr == *"note: processes that outlive the command are not recorded any further"* ]]
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

@test "a killed strace is reported, and the program continues" {
	run -2 --separate-stderr tr-record --backend=auto -o out.trec -- \
		sh -c './static /bin/sh -c "t=\$(sed -n s/TracerPid:.//p /proc/\$\$/status); [ \$t -eq 0 ] || kill -9 \$t; echo on"; echo end'
	[ "$output" = $'on\non\nend' ]
	[[ $stderr == *"records are missing"* ]]
}

# uses TRACE: prints which program read and wrote which file in this directory
uses() {
	tr-deps -q "$1" | tr-tojson | jq -rs --arg here "$PWD/" '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		.[] | select(.kind == "use" and (.name | startswith($here))) |
		(.does - ["stat"] | if index("write") then . - ["read"] else . end | sort) as $does |
		select($does != [] and $does != ["missing"]) | [($exec[.exec | tostring].argv | join(" ")), .name, ($does | join(" "))] | @tsv' |
		LC_ALL=C sort -u
}

# same_uses COMMAND...: both backends see the same uses and edges of files in this directory
same_uses() {
	local backend
	for backend in strace auto; do
		rm -rf made
		mkdir made
		run -0 --separate-stderr tr-record --backend=$backend --files -o $backend.trec -- "$@"
		[ -z "$stderr" ] || { echo "$backend: $stderr"; return 1; }
		uses $backend.trec >$backend.uses
		tr-deps -q --as=dot --project="$PWD" $backend.trec | grep "^  \"$PWD/.* -> \"$PWD/" | LC_ALL=C sort >$backend.edges
	done
	diff strace.uses auto.uses
	diff strace.edges auto.edges
}

@test "a strace that ends with much unread is read to its end" {
	cat >many.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* Stops the recorder, and runs programs whose lines in the log are long. */
int main(int argc, char **argv)
{
	static char big[100 << 10];
	memset(big, 'a', sizeof big - 1);
	if (argc < 2 || kill(atoi(argv[1]), SIGSTOP) != 0)
		return 9;
	for (int i = 0; i < 100; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", big, big, big, big, NULL);
			_exit(8);
		}
		if (waitpid(pid, NULL, 0) != pid)
			return 7;
	}
	return 0;
}
END
	gcc -static -o many many.c
	# strace has ended when the recorder continues
	run -5 --separate-stderr tr-record --backend=auto -o out.trec -- \
		sh -c './many $PPID; status=$?; sleep 0.5; kill -CONT $PPID; exit $((status + 5))'
	[ -z "$stderr" ]
	[ "$(stat -c %s out.trec)" -gt $((32 << 20)) ] # twice 8 MiB are read anyway
	[ "$(tr-filter -c exec out.trec) $(tr-filter -c exit out.trec)" = '103 103' ]
}

@test "--files: static programs and others read what the other has written" {
	cat >copy.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
/* Copies the input to the output, or the file to the second one, or makes the second one a link to it. */
int main(int argc, char **argv)
{
	char bytes[100];
	if (argc == 4)
		return (unlink(argv[2]) != 0) + symlink(argv[1], argv[2]) > 1;
	int in = argc == 3 ? open(argv[1], O_RDONLY) : 0;
	int out = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666) : 1;
	for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
		if (write(out, bytes, (size_t)n) != n)
			return 2;
	return in < 0 || out < 0;
}
END
	gcc -static -o copy copy.c
	cp copy copier
	gcc -o dynamic-copy copy.c
	echo text >source
	same_uses sh -c './copy source made/a && cat made/a >made/b && ./copy <made/b >made/c && cat made/c | ./copy | sort >made/d
		(./dynamic-copy <made/a; ./copy <made/d) >made/e && mv made/e made/f && ./copy made/f made/g'
	[ "$(tr-deps --of="$PWD/made/g" auto.trec | grep -c "^$PWD/\(source\|made/[abcd]\)$")" -eq 5 ]
	# the cached target of a link is dropped when a static program changes the link
	mkdir -p x y
	tee x/file >y/file <source
	same_uses sh -c 'ln -s ../x made/link && cat made/link/file >made/1 && ./copy ../y made/link - && cat made/link/file >made/2'
	[ "$(tr-deps --of="$PWD/made/2" --direct auto.trec | grep -c "^$PWD/y/file$")" -eq 1 ]
}

@test "--files: what libc does with descriptors before a static program begins" {
	cat >spawn.c <<'END'
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
int main(int argc, char **argv, char **env)
{
	posix_spawn_file_actions_t actions;
	int status = 0, other = open("other", O_RDONLY);
	for (int i = 1; i < argc; i++) {
		pid_t pid;
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addopen(&actions, 0, "source", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&actions, 7, i % 2 ? "made/odd" : "made/even", O_WRONLY | O_CREAT, 0666);
		posix_spawn_file_actions_adddup2(&actions, 7, 1);
		posix_spawn_file_actions_addclose(&actions, other);
		if (posix_spawn(&pid, argv[i], &actions, 0, argv + argc, env) != 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "no/such/file", O_RDONLY, 0);
	return posix_spawn(0, argv[1], &actions, 0, argv + argc, env) == 0;
}
END
	cat >cat.c <<'END'
#include <unistd.h>
int main(void)
{
	char bytes[100];
	ssize_t n = read(0, bytes, sizeof bytes);
	return n <= 0 || write(1, bytes, (size_t)n) != n;
}
END
	gcc -o spawn spawn.c
	gcc -static -o static-cat cat.c
	gcc -o dynamic-cat cat.c
	echo text >source
	echo other >other
	same_uses ./spawn ./static-cat ./dynamic-cat
	diff made/odd source
	[ "$(tr-deps --of="$PWD/made/odd" --direct auto.trec | grep -c "^$PWD/\(source\|static-cat\)$")" -eq 2 ]
}

@test "a static program that is spawned in another pid namespace runs" {
	unshare -Urp true 2>/dev/null || skip "no user namespaces here"
	cat >spawn.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
int main(int argc, char **argv, char **env)
{
	int status = 0;
	pid_t pid;
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		return 99;
	return posix_spawn(&pid, argv[argc - 1], 0, 0, argv + 1, env) != 0 || wait(&status) != pid || WEXITSTATUS(status) != 4;
}
END
	gcc -o spawn spawn.c
	run -0 --separate-stderr tr-record --backend=auto -o out.trec -- ./spawn ./static
}

@test "a command that cannot be executed: the status and the message, and no records" {
	printf '#!/nonexist/i\n' >gone
	printf '#!' >empty
	chmod +x gone empty
	for backend in strace preload auto; do
		for command in ./gone ./empty; do
			run -126 --separate-stderr tr-record --backend=$backend -o out.trec $command
			[[ $stderr != *note:* && -n $stderr ]]
			[ "$(tail -n +2 out.trec)" = $'!end\t0' ]
		done
		# as a child it leaves none either
		run -126 tr-record --backend=$backend -o out.trec sh -c './gone 2>/dev/null; ./gone 2>/dev/null || exit 126'
		[ "$(tr-filter -c exec out.trec)" -eq 1 ]
	done
}

@test "messages about what strace has written name no input" {
	mkdir bin
	cat >bin/strace <<'END'
#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done
[ $# -gt 0 ] || exit 0
cat >"$2" <<'LOG'
1 1.0 execve("/x", ["x"], []) = 0
2 1.1 execve("/y", ["y"], []) = 0
1 1.2 +++ exited with 0 +++
LOG
END
	chmod +x bin/strace
	PATH=$PWD/bin:$PATH run -0 --separate-stderr tr-record --backend=strace -o out.trec true
	[ "$stderr" = 'tr-record: note: executions whose parent is not in the trace (flagged "orphan"): 1' ]
}

@test "ends of otherwise unknown processes are flagged, and those after a fork are not" {
	mkdir bin
	cat >bin/strace <<'END'
#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done
[ $# -gt 0 ] || exit 0
cat >"$2" <<'LOG'
1 1.0 execve("/x", ["x"], []) = 0
1 1.1 vfork( <unfinished ...>
2 1.2 +++ exited with 0 +++
3 1.3 +++ killed by SIGKILL +++
1 1.4 <... vfork resumed>) = 2
1 1.5 +++ exited with 0 +++
LOG
END
	chmod +x bin/strace
	PATH=$PWD/bin:$PATH run -0 --separate-stderr tr-record --backend=strace -o out.trec true
	[[ $stderr == "tr-record: note: processes of which only the end was recorded, "*": 1" ]]
	[ "$(tr-filter --raw --fields=task 'flagged == "orphan"' out.trec)" = 3 ]
}

@test "a group that is killed while strace is attached: nothing is lost" {
	cat >groups.c <<'END'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			execl("/bin/sh", "sh", "-c", "./static /bin/true; /bin/true; ./static", (char *)0);
			_exit(1);
		}
		usleep(1000 + i * 1000);
		kill(-pid, SIGKILL);
		waitpid(pid, 0, 0);
	}
	return 0;
}
END
	gcc -w -o groups groups.c
	# a record that was being written is lost, and counted
	run --separate-stderr tr-record --backend=auto -o out.trec ./groups
	[ "$status" -eq 0 ] || [[ $stderr == *"truncated records, "* ]]
	[ "$(tail -n 1 out.trec)" = $'!end\t'"$(($(wc -l <out.trec) - 2))" ]
	# an end without fork and exec has a flag, unless the call that created the process was cut
	[ "$(tr-tojson -q out.trec | jq -s '(map(select(.kind == "fork").child | tostring)) as $forks |
		(map(select(.kind == "exec").task)) as $execs |
		(map(select(.kind == "sys" and (.name | test("^(clone3?|v?fork)$")))) | length) as $cut |
		(map(select(.kind == "exit" and .flagged == null) | .task) - $forks - $execs | length) <= $cut')" = true ]
}

@test "ends that strace writes late, or never, are recorded once" {
	cat >orphans.c <<'END'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
/* Kills groups of a process and its child, which is only created. */
int main(void)
{
	for (int i = 0; i < 3; i++) {
		int ends[2];
		char byte;
		pid_t pid = pipe(ends) == 0 ? fork() : -1;
		if (pid == 0) {
			setpgid(0, 0);
			if (fork() > 0)
				(void)!write(ends[1], "", 1);
			pause();
		}
		(void)!read(ends[0], &byte, 1);
		kill(-pid, SIGKILL);
		waitpid(pid, 0, 0);
	}
	return 0;
}
END
	gcc -static -w -o orphans orphans.c
	# ends reach the log after a while; strace ignores ends that it learns before it stops a process
	mkdir bin
	cat >bin/strace <<END
#!/bin/bash
real=$(type -P strace)
END
	cat >>bin/strace <<'END'
arguments=("$@")
for ((i = 0; i < $#; i++)); do
	[ "${arguments[i]}" != -o ] || { log=${arguments[i + 1]}; arguments[i + 1]='!late'; }
done
[ -n "${log-}" ] || exec "$real" "$@"
export log
exec "$real" "${arguments[@]}"
END
	cat >bin/late <<'END'
#!/bin/bash
begun=' ' ignored=
while IFS= read -r line; do
	case $line in
	*+++*)
		[ -n "$ignored" ] || [[ $begun = *" ${line%% *} "* ]] || { ignored=1 && continue; }
		sleep 0.05
		;;
	*) begun+="${line%% *} " ;;
	esac
	printf '%s\n' "$line"
done >>"$log"
END
	chmod +x bin/strace bin/late
	PATH=$PWD/bin:$PATH run -0 --separate-stderr tr-record --backend=auto -o out.trec ./orphans
	[ -z "$stderr" ] || { echo "$stderr"; return 1; }
	[ "$(tr-filter -c fork out.trec)" -eq 6 ]
	[ "$(tr-filter -c exit out.trec)" -eq 7 ]
	[ "$(tr-filter --raw --fields=task exit out.trec | sort -u | wc -l)" -eq 7 ]
	run ! grep -q flagged= out.trec
}

@test "ends while a program that strace watches runs another one" {
	cat >again.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
/* Kills its children and runs itself at once, as often as its argument says. */
int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]);
	char next[] = { (char)('0' + (rounds - 1) / 10), (char)('0' + (rounds - 1) % 10), 0 };
	char *arguments[] = { argv[0], next, 0 };
	int children[8];
	for (int i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			pause();
			_exit(1);
		}
	}
	for (int i = 0; i < 8; i++)
		kill(children[i], SIGKILL);
	if (rounds > 1)
		execv(argv[0], arguments);
	return 0;
}
END
	gcc -static -w -o again again.c
	run -0 --separate-stderr tr-record --backend=auto -o out.trec ./again 20
	[ -z "$stderr" ] || { echo "$stderr"; return 1; }
	[ "$(tr-filter -c exec out.trec)" -eq 20 ]
	[ "$(tr-filter -c fork out.trec)" -eq 160 ]
	[ "$(tr-filter -c exit out.trec)" -eq 161 ]
}

@test "threads that end because another one runs a static program are not recorded" {
	cat >threads.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void *idle(void *unused) { for (;;) pause(); return unused; }
static void *run(void *unused) { execl("./static", "static", (char *)0); return unused; }
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, 0, idle, 0);
	usleep(20000);
	if (argc == 1)
		return run(0) == 0;
	pthread_create(&thread, 0, run, 0);
	return idle(0) == 0;
}
END
	gcc -w -pthread -o threads threads.c
	for in in '' thread; do
		# shellcheck disable=SC2086
		run -4 --separate-stderr tr-record --backend=auto -o out.trec ./threads $in
		[ -z "$stderr" ]
		[ "$(tr-filter -c exec out.trec) $(tr-filter -c exit out.trec)" = '2 1' ]
		[ "$(tr-filter -c 'exec and argv == "static" and cwd == "'"$PWD"'"' out.trec)" -eq 1 ]
	done
}

@test "without PATH the command is found where execvp looks, and has none either" {
	for backend in strace preload auto; do
		run -3 --separate-stderr env -i "$(type -P tr-record)" --backend=$backend -o out.trec sh -c 'exit 3'
		[ -z "$stderr" ]
		[ "$(tr-filter -c 'exec and argv[0] == "sh" and not has(env["PATH"])' out.trec)" -eq 1 ]
		# an empty one is the working directory; strace is elsewhere
		run -4 --separate-stderr env -i PATH= "$(type -P tr-record)" --backend=$backend -o out.trec static
		[ "$backend" = preload ] || [ -z "$stderr" ]
		[ "$(tr-filter -c 'exec and argv[0] == "static" and env["PATH"] == ""' out.trec)" -eq 1 ]
	done
}

@test "--stat: strace watches everything" {
	echo text >file
	tr-record --backend=auto --files --stat -o out.trec -- test -e file
	tr-filter 'name in {"stat", "newfstatat", "faccessat", "faccessat2"} and path == "file"' out.trec >seen
	[ -s seen ]
}

@test "where the library cannot be used, strace watches everything" {
	# LD_PRELOAD takes no blanks
	mkdir -p "to ols/lib/preload"
	cp "$top_builddir/tr-record" "to ols"
	cp -R "$top_builddir/lib/preload/libasan.so" "$top_builddir/lib/preload/libtrec-preload.so" "to ols/lib/preload"
	run -2 "to ols/tr-record" --backend=preload -o out.trec true
	run -4 --separate-stderr "to ols/tr-record" --backend=auto -o out.trec sh -c './static; exit 4'
	[ -z "$stderr" ]
	[ "$(tr-filter -c exec out.trec)" -eq 2 ]
	run ! grep -q $'flagged=' out.trec
	# nor where the records of programs find no place
	TMPDIR=$PWD/none run -2 tr-record --backend=preload -o out.trec ./static
	TMPDIR=$PWD/none run -4 --separate-stderr tr-record --backend=auto -o out.trec ./static
	[ -z "$stderr" ]
	[ "$(tr-filter -c exec out.trec)" -eq 1 ]
}

@test "a disk that is full: nothing is disturbed, and what is lost is counted" {
	unshare -Urm sh -c 'mount -t tmpfs none /dev/shm' 2>/dev/null || skip "no user namespaces here"
	mkdir tmp
	cat >small.sh <<'END'
mount -t tmpfs -o size=256k none tmp || exit 99
[ "$1" = before ] && dd if=/dev/zero of=tmp/all bs=4k 2>/dev/null
shift
TMPDIR=$PWD/tmp exec tr-record --backend=auto -o out.trec -- "$@"
END
	fill='dd if=/dev/zero of=tmp/all bs=4k 2>/dev/null; i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done
		rm tmp/all; ./dynamic; echo $?; exit 3'
	# where there is no room for the records of programs, strace needs none
	run -3 --separate-stderr unshare -Urm sh small.sh before sh -c "$fill"
	[ "$output$stderr" = 4 ]
	[ "$(tr-filter -c exec out.trec)" -eq 54 ]
	# or there is none after a while, for the library, and for strace
	for command in sh './static /bin/sh'; do
		# shellcheck disable=SC2086
		run -3 --separate-stderr unshare -Urm sh small.sh while $command -c "cd '$PWD'; $fill"
		[ "$output" = 4 ] || [ "$output" = $'4\n4' ] # ./static runs it twice
		[[ $stderr == *"tr-record: records that could not be written: "* ]]
		[ "$(tr-filter --raw --fields=events lost out.trec)" -ge 50 ]
		[ "$(tr-filter -c 'exec and basename(name) == "dynamic"' out.trec)" -eq "${#lines[@]}" ]
		[ "$(tail -n 1 out.trec | cut -f 1-2)" = $'!end\t'"$(($(wc -l <out.trec) - 2))" ]
	done
}

@test "a seccomp filter, user namespaces, no capabilities: the same is recorded there" {
	local helper=$top_builddir/tests/helper/no_ptrace place count=0
	local command="./dynamic /bin/true; ./dynamic $PWD/static /bin/true; exit 4"
	run -4 --separate-stderr tr-record --backend=strace -o strace.trec -- sh -c "$command"
	execs strace.trec | jq -c 'del(.[3])' >strace.execs # without environments
	for place in "unshare -Ur" "unshare -U" "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs" \
		"capsh --drop=all --" "$helper"; do
		rm -f out.trec
		echo "$place"
		if [[ $place == capsh* ]]; then
			$place -c true 2>/dev/null || continue
			run -4 --separate-stderr capsh --drop=all -- -c "exec tr-record --backend=auto -o out.trec -- sh -c '$command'"
		else
			$place true 2>/dev/null || continue
			# LeakSanitizer wants ptrace as well
			# shellcheck disable=SC2086
			run -4 --separate-stderr env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" \
				$place "$(command -v tr-record)" --backend=auto -o out.trec -- sh -c "$command"
		fi
		if [ "$place" = "$helper" ]; then # what static programs start is not known
			[[ $stderr == "tr-record: note: programs that could not load the library: 2; "* ]]
			[ "$(tr-filter -c 'exec and flagged == "unwatched"' out.trec)" -eq 2 ]
		else
			[ -z "$stderr" ] || { echo "$stderr"; return 1; }
			execs out.trec | jq -c 'del(.[3])' | diff strace.execs -
		fi
		count=$((count + 1))
	done
	[ "$count" -gt 0 ]
}

@test "a program that fails because strace watches it is named, and no other" {
	unset ASAN_OPTIONS LSAN_OPTIONS
	echo 'int main(int argc, char **argv) { (void)argv; return argc > 1; }' >main.c
	gcc -fsanitize=address -o sanitized main.c 2>/dev/null || skip "gcc has no AddressSanitizer"
	cp sanitized other
	run -1 --separate-stderr tr-record --backend=auto -o out.trec -- sh -c './other -; ./static "$PWD/sanitized"; ./other -'
	[ "$(grep -c ^tr-record: <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"note: $PWD/sanitized failed: it is built with LeakSanitizer, which does not work in a program that strace watches"* ]]
	run ! grep -q flagged out.trec
}
