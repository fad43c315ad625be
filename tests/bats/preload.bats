#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --backend=preload: programs are recorded, and behave as without it.

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
		sed -E 's#/cc[A-Za-z0-9]{6}([.",\\]|$)#/ccXXXXXX\1#g; s#/GMfifo[0-9]+#/GMfifo#g; s/(TryCompile-|cmTC_)[A-Za-z0-9]+/\1X/g' |
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
	[[ $stderr != *tr-record* ]] # AddressSanitizer warns of clone
	"$top_srcdir/tests/helper/strace_happened" out.trec >happened
	diff happened <(LC_ALL=C sort <<<"$output")
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

@test "tr-record waits for processes that outlive the command, unless --no-wait is given" {
	run -4 --separate-stderr record sh -c '(sleep 0.3; /bin/true) </dev/null >/dev/null 2>&1 & exit 4'
	[ "$(tr-filter -c 'exec and name == "/bin/true"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c exit out.trec)" -eq 3 ]
	run -3 --separate-stderr tr-record --backend=preload --no-wait -o out.trec -- \
		sh -c '(until [ -e go ]; do sleep 0.1; done; /bin/true; echo alive >alive) >/dev/null 2>&1 & exit 3'
	[[ $stderr == *"note: processes that outlive the command are not recorded any further"* ]]
	[ "$(tail -n 1 out.trec)" = $'!end\t'"$(($(wc -l <out.trec) - 2))" ]
	touch go
	for _ in $(seq 100); do
		[ ! -s alive ] || break
		sleep 0.1
	done
	[ -s alive ]
	# nothing of the recording remains
	TMPDIR=$PWD run -0 record true
	[ -z "$(ls -d tr-record-* 2>/dev/null)" ]
}

@test "options that the library does not support are refused" {
	run -2 --separate-stderr tr-record --backend=preload --files --stat -o out.trec touch ran
	[[ $stderr == *"--stat needs --backend=strace"* ]]
	[ ! -e ran ]
}

# trap NAME [ARGUMENT...]: both backends see the same execs and ends of processes in it
trap_is_seen() {
	local backend
	for backend in strace preload; do
		tr-record --backend=$backend -o $backend.trec -- "$top_builddir/tests/helper/preload_traps" "$@"
		execs $backend.trec >$backend.execs
		# posix_spawn of nothing has a child as well; the ends of threads are not processes'
		tr-filter --raw --fields=status,signal 'exit and not has(tgid) and not status == 127' \
			$backend.trec 2>/dev/null | sort >>$backend.execs
	done
	diff strace.execs preload.execs
}

@test "every form of exec, posix_spawn, system and popen, and every end" {
	needs_strace
	# a sanitizer that looks for leaks cannot do so under strace
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	trap_is_seen forms
	[ "$(tr-filter -c 'exec and basename(name) == "true"' preload.trec)" -eq 10 ]
	trap_is_seen spawns
	[ "$(tr-filter -c 'exec and cwd == "/"' preload.trec)" -eq 1 ]
	trap_is_seen ends
	[ "$(tr-filter -c 'exit and has(signal)' preload.trec)" -eq 2 ]
	trap_is_seen daemons
	[ "$(tr-filter -c 'exec and argv == "daemon" and cwd == "/"' preload.trec)" -eq 1 ]
	run ! grep -q flagged= preload.trec
	trap_is_seen vforks /bin/true
	trap_is_seen small-stack /bin/true
	trap_is_seen directories
	trap_is_seen nameless /bin/true
}

@test "response files are read before the command deletes them" {
	cp "$(type -P true)" gcc
	cp "$(type -P true)" curl
	echo '-DX=1 "@more rsp" @none' >t.rsp
	echo '-O1' >'more rsp'
	echo SECRET >token
	# nothing that tr-record reads later is the same
	record sh -c './gcc @t.rsp -c a.c; ./curl -d @token; rm t.rsp "more rsp" token; echo "-DY" >t.rsp'
	grep -qF $'\trespfile={"t.rsp":"-DX=1 \\"@more rsp\\" @none\\n","more rsp":"-O1\\n"}' out.trec
	run ! grep -q SECRET out.trec
	mkfifo fifo
	run -0 timeout 10 tr-record --backend=preload -o out.trec ./gcc @fifo @/dev/stdin @.
}

@test "environments are not changed, and programs started with an environment of their own are recorded" {
	export EMPTY= 'B=\[x' _=x
	sh -c 'env -u _ | sort' >bare
	record sh -c 'env -u _ | sort' >recorded
	diff bare recorded
	record env -i A=1 sh -c '/bin/true; env -i /bin/true; env' >recorded
	[ "$(grep -v ^PWD= recorded)" = A=1 ]
	[ "$(tr-filter -c 'exec and name == "/bin/true"' out.trec)" -eq 2 ]
	run ! grep -q 'TREC_PRELOAD\|LD_PRELOAD=' out.trec
	record sh -c 'tr "\0" "\n" </proc/self/environ; set' >recorded
	run ! grep -q TREC_PRELOAD recorded
	# a library of the program itself stays
	command -v stdbuf >/dev/null || skip "stdbuf is not installed"
	stdbuf -oL env | grep ^LD_PRELOAD= >bare
	record stdbuf -oL env | grep ^LD_PRELOAD= >recorded
	diff bare recorded
	tr-filter --raw --fields='env["LD_PRELOAD"]' 'exec and name $= "/env"' out.trec | grep -qF "$(cut -d= -f2 bare)"
}

@test "programs that cannot load the library are recorded and flagged" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >run.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	if (argc > 1 && fork() == 0)
		return execv(argv[1], argv + 1);
	wait(&status);
	return 4;
}
END
	gcc -static -o static run.c 2>/dev/null || skip "no static libc"
	printf '#!%s/static /bin/true\n' "$PWD" >script
	chmod +x script
	run -4 --separate-stderr record sh -c './static /bin/true; ./script; exec ./static'
	[[ $stderr == "tr-record: note: programs that could not load the library: 3; "* ]]
	[ "$(tr-filter --raw --fields=name 'exec and flagged == "unwatched"' out.trec | sed 's,.*/,,' | xargs)" = \
		'static script static' ]
	# it inherits what makes its children load the library
	[ "$(tr-filter -c 'exec and name == "/bin/true" and has(parent)' out.trec)" -eq 2 ]
	[ "$(tr-filter -c 'exit and status == 4' out.trec)" -eq 3 ]
	[ "$(id -u)" -eq 0 ] || skip "only root makes a program that gains rights here"
	gcc -o gains run.c
	chown nobody gains
	chmod 4755 gains
	run -0 record sh -c './gains; true'
	[ "$(tr-filter -c 'exec and flagged == "unwatched"' out.trec)" -eq 1 ]
}

@test "programs of another libc run without the library, and are flagged" {
	command -v musl-gcc >/dev/null || skip "musl is not installed"
	printf '#include <stdlib.h>\nint main(void) { return system("env; exit 3") == 3 << 8 ? 4 : 1; }\n' >run.c
	musl-gcc -o run run.c
	run -4 env -i PATH="$PATH" ./run
	sort -u <<<"$output" >bare
	run -4 --separate-stderr record env -i PATH="$PATH" ./run
	sort -u <<<"$output" | diff bare -
	[[ $stderr == "tr-record: note: programs that could not load the library: 1; "* ]]
	[ "$(tr-filter --raw --fields=name 'flagged == "unwatched"' out.trec)" = "$PWD/run" ]
	[ "$(tr-filter -c 'exit and status == 4' out.trec)" -eq 1 ]
	# strace follows it where it may
	needs_strace
	run -4 --separate-stderr tr-record --backend=auto -o out.trec env -i PATH="$PATH" ./run
	[ -z "$stderr" ]
	[ "$(tr-filter -c 'exit and status == 3' out.trec)" -eq 1 ]
	run ! grep -q 'flagged=' out.trec
}

# flags: the kinds and flags of the flagged records of out.trec
flags() {
	tr-tojson out.trec | jq -r '(.flagged // .results.flagged) as $flags | select($flags) | .kind + " " + ($flags | join(","))' | sort | xargs
}

@test "programs that make system calls themselves are flagged, and what they run if they can be" {
	[ -z "${TREC_SANITIZED-}" ] || skip "LeakSanitizer creates processes itself, too"
	local traps=$top_builddir/tests/helper/preload_traps trap
	run "$traps" raw-fork "$(type -P true)"
	[ "$status" -ne 97 ] || skip "this processor has no test"
	for trap in raw raw-mixed raw-fork raw-end; do
		run -0 --separate-stderr record "$traps" $trap "$(type -P true)"
		[[ $stderr == "tr-record: note: programs that make system calls directly: 1; "* ]]
		[ "$(flags)" = 'exit unwatched' ]
	done
	[ "$(tr-filter -c exec out.trec)" -eq 1 ]
	# one that sets a filter, but not one that fails to
	run "$traps" refused "$(type -P true)"
	[ "$status" -ne 98 ] || skip "no seccomp here"
	run -0 record "$traps" refused "$(type -P true)"
	[ "$(flags)" = 'sys unwatched' ]
	[ "$(tr-filter -c exec out.trec)" -eq 2 ]
	command -v gcc >/dev/null || skip "gcc is not installed"
	gcc -w -D_GNU_SOURCE -DGO_NOTE -pthread -o go "$top_srcdir/tests/helper/preload_traps.c"
	run -0 --separate-stderr record ./go raw /bin/sh -c '/bin/true; exit 0'
	[[ $stderr == "tr-record: note: programs that make system calls directly: 1; "* ]]
	[ "$(flags)" = 'exec unwatched' ]
	[ "$(tr-filter -c 'exec and name == "/bin/true" and has(parent)' out.trec)" -eq 1 ]
	[ "$(tr-filter -c 'exec and name == "/bin/sh" and parent == 0' out.trec)" -eq 1 ]
}

@test "ends and parents that are unknown are marked" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >run.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
/* Runs a program as a grandchild; "wait": waits for it. */
int main(int argc, char **argv)
{
	int status, waits = argv[1][0] == 'w';
	if (fork() == 0) {
		if (fork() == 0) {
			usleep(waits ? 0 : 300000);
			execv(argv[2], argv + 2);
		}
		if (waits)
			wait(&status);
		_exit(0);
	}
	wait(&status);
	return 0;
}
END
	gcc -static -o run run.c 2>/dev/null || skip "no static libc"
	run -0 --separate-stderr record ./run wait /bin/sh -c '/bin/true; kill -9 $$'
	[ "$(flags)" = 'exec unwatched exit end-unknown exit end-unknown' ]
	[[ $stderr == *"note: processes whose end is unknown: 2" ]]
	[ "$(grep -cP '^exit\t[0-9]+\t-\t[0-9]+\t-\tflagged=\["end-unknown"\]$' out.trec)" -eq 2 ]
	# the process between was found by its child
	[ "$(tr-filter -c 'exec and name == "/bin/sh" and parent == 0' out.trec)" -eq 1 ]
	tr-totext --style=tree out.trec
	run -0 --separate-stderr record ./run leave /bin/sh -c '/bin/true; exit 3'
	[ "$(flags)" = 'exec orphan exec unwatched' ]
	[ "$(tr-filter -c 'exec and name == "/bin/true" and has(parent)' out.trec)" -eq 1 ]
	# a process of which only the end is recorded
	cat >leave.c <<'END'
#include <unistd.h>
int main(void)
{
	if (fork() == 0)
		usleep(300000);
	return 0;
}
END
	gcc -static -o leave leave.c
	run -0 --separate-stderr record ./leave
	[ "$(flags)" = 'exec unwatched exit orphan' ]
	[[ $stderr == *"note: processes of which only the end was recorded, "*": 1" ]]
	# a program that the loader cannot start
	echo 'int f(void); int main(void) { return f(); }' >main.c
	echo 'int f(void) { return 0; }' >f.c
	gcc -shared -fPIC -o libf.so f.c
	gcc -o main main.c -L. -lf -Wl,-rpath,"$PWD"
	rm libf.so
	run -0 record sh -c './main 2>/dev/null; true'
	[ "$(flags)" = 'exec unwatched' ]
	# one that is killed before the library begins
	cat >early.c <<'END'
#include <signal.h>
static void end(void) { raise(SIGKILL); }
__attribute__((section(".preinit_array"), used)) static void (*first)(void) = end;
int main(void) { return 0; }
END
	gcc -o early early.c
	run -0 --separate-stderr record sh -c './early; true' 2>/dev/null
	[ "$(flags)" = 'exec unwatched' ]
	[ "$(tr-filter -c 'exec and name $= "/early"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c 'exit and signal == SIGKILL' out.trec)" -eq 1 ]
	[[ $stderr == *"note: programs that could not load the library: 1; "* ]]
}

@test "a child of vfork that has one itself: its parent is known" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >run.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	if (vfork() == 0) {
		if (vfork() == 0)
			execl("/bin/echo", "echo", "deep", (char *)0);
		execl("/bin/echo", "echo", "mid", (char *)0);
	}
	return wait(0) < 0;
}
END
	gcc -w -o run run.c
	run -0 --separate-stderr record ./run
	[ -z "$stderr" ]
	[ "$(tr-filter -c 'exec and parent == 0 and name == "/bin/echo"' out.trec)" -eq 2 ]
	[ "$(flags)" = '' ]
}

@test "a library of the program with the same functions is called, in their default version" {
	echo 'int chdir(const char *path); int main(void) { return chdir("called") == 5 ? 5 : 6; }' >main.c
	echo 'int old_chdir(const char *path) { return path ? 5 : 0; }
		__asm__(".symver old_chdir,chdir@OLD");' >old.c
	echo 'OLD { };' >versions
	echo 'int chdir(const char *path) { return path ? 5 : 0; }' >new.c
	# without the hash table of GNU the loader itself has to search
	for style in gnu sysv; do
		gcc -shared -fPIC -Wl,--hash-style=$style,--version-script=versions -o libold.so old.c
		gcc -shared -fPIC -Wl,--hash-style=$style -o libnew.so new.c
		for lib in old new; do
			gcc -o main main.c -Wl,--no-as-needed ./lib$lib.so
			run ./main
			[ "$lib-$status" = old-6 ] || [ "$lib-$status" = new-5 ]
			run "-$status" record ./main
			[ "$(tr-filter -c 'sys and name == "chdir" and path == "called"' out.trec)" -eq 1 ]
		done
	done
}

@test "strace records ends before the parents do, also those of threads" {
	needs_strace
	# a sanitizer that looks for leaks cannot do so under strace
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	run -3 --separate-stderr record strace -f -o log sh -c '/bin/true; exit 3'
	[ -z "$stderr" ]
	[ "$(tr-filter -c exec out.trec)" -eq 3 ]
	run ! grep -q 'flagged=' out.trec
	# each process has a fork and an end, and a thread has none
	run -0 --separate-stderr record strace -f -o log "$top_builddir/tests/helper/preload_traps" small-stack /bin/true
	[ -z "$stderr" ]
	[ "$(tr-filter -c exit out.trec)" -eq "$(tr-filter -c 'fork or exec and seq == 0' out.trec)" ]
	[ "$(tr-filter -c 'exec' out.trec)" -eq 3 ]
}

@test "children of vfork leave no memory to their parent" {
	record "$top_builddir/tests/helper/preload_traps" vforks-leak /bin/true
}

@test "programs that are started one after the other share the memory of their start" {
	local bare traps=$top_builddir/tests/helper/preload_traps
	bare=$("$traps" spawns-pages /bin/true)
	run -0 --separate-stderr record "$traps" spawns-pages /bin/true
	[ "$output" -lt $((bare + 100)) ]
}

@test "handlers on alternate stacks need at most 1 KiB more" {
	local size=3584 option traps=$top_builddir/tests/helper/preload_traps
	[ -z "${TREC_SANITIZED-}" ] || skip "sanitizers handle the signal of a full stack themselves"
	status=1
	while [ "$status" -ne 0 ]; do
		size=$((size + 512))
		[ $size -le 16384 ] || skip "no program starts here from a small stack"
		run timeout 20 "$traps" alt-stack $size /bin/true
	done
	for option in '' --files; do
		run -0 --separate-stderr tr-record --backend=preload $option -o out.trec -- \
			"$traps" alt-stack $((size + 1024)) /bin/true
		[ -z "$stderr" ]
		[ "$(tr-filter -c 'exec and not name =~ /traps/' out.trec)" -eq 9 ]
	done
}

@test "calls with addresses of no memory and other wrong arguments fail as without the library" {
	local option kind traps=$top_builddir/tests/helper/preload_traps
	[ -z "${TREC_SANITIZED-}" ] || skip "sanitizers look at addresses themselves"
	for kind in none protected beyond; do
		"$traps" addresses $kind >bare
		grep -q '^1 -1 14$' bare
		for option in '' --files; do
			run -0 --separate-stderr tr-record --backend=preload $option -o out.trec -- \
				"$traps" addresses $kind
			diff bare - <<<"$output"
			[ -z "$stderr" ]
			[ "$(tr-filter -c exec out.trec)" -eq 1 ]
		done
	done
}

@test "system and popen do what those of libc do" {
	local option shells=$top_builddir/tests/helper/preload_shells
	"$shells" >bare
	grep -qx 'cancelled 1, at once 1' bare
	for option in '' --files; do
		run -0 --separate-stderr tr-record --backend=preload $option -o out.trec "$shells"
		diff bare - <<<"$output"
		[ -z "$stderr" ]
	done
	[ "$(tr-filter -c 'exec and name == "/bin/sh"' out.trec)" -eq 20 ]
}

@test "threads that call system and popen: every command is recorded, environ does not change" {
	local option
	for option in '' --files; do
		run -0 tr-record --backend=preload $option -o out.trec \
			"$top_builddir/tests/helper/preload_shells" threads
		[ "$output" = $'seen 0\nsignals: 0 0 0 0' ]
		[ "$(tr-filter -c 'exec and name == "/bin/sh"' out.trec)" -eq 120 ]
		[ "$(tr-filter -c 'exec and name $= "/sleep"' out.trec)" -eq 60 ]
	done
}

@test "long argument lists, many variables, closed descriptors, limited files" {
	# shellcheck disable=SC2046 # many words
	record "$(type -P true)" $(seq 20000)
	[ "$(tr-filter --raw --fields='argv[20000]' exec out.trec)" = 20000 ]
	"$top_builddir/tests/helper/preload_traps" closed /bin/true >bare
	record "$top_builddir/tests/helper/preload_traps" closed /bin/true >recorded
	diff bare recorded
	[ "$(tr-filter -c exec out.trec)" -eq 2 ]
	# the journal may be longer than a program's files
	run -2 --separate-stderr record sh -c 'ulimit -f 0; /bin/true; exec /bin/true'
	[[ $stderr == "tr-record: records that could not be written: "* ]]
	tail -n 2 out.trec | grep -q $'^lost\t[0-9]*\t-\t-\t-\tevents='
	# the loader finds no library at all, with the same message as ever; strace is not waited for
	sh -c 'ulimit -n 3; exec /bin/true' 2>bare || true
	run -127 --separate-stderr timeout 20 tr-record -o out.trec -- sh -c 'ulimit -n 3; exec /bin/true'
	[ "$(grep -v '^tr-record: ' <<<"$stderr")" = "$(cat bare)" ]
	[[ $stderr == *"tr-record: records that could not be written: 1"* ]]
	[ -z "${TREC_SANITIZED-}${TREC_COVERAGE-}" ] || return 0 # LeakSanitizer and gcov need a descriptor
	run -2 --separate-stderr record "$top_builddir/tests/helper/preload_traps" full /bin/true
	[[ $stderr == "tr-record: records that could not be written: "[1-9]* ]]
	[ "$(tail -n 1 out.trec | cut -f 1-2)" = $'!end\t'"$(($(wc -l <out.trec) - 2))" ]
}

@test "children that are killed at any time, each with its end" {
	# a record that was being written is lost, and counted
	run --separate-stderr record "$top_builddir/tests/helper/preload_traps" killed /bin/true
	[ "$status" -eq 0 ] || [[ $stderr == "tr-record: truncated records, "* ]]
	[ "$(tr-filter -c fork out.trec)" -eq 100 ]
	[ "$(tr-filter -c exit out.trec)" -eq 101 ]
	[ "$(tr-filter --raw --fields=task fork out.trec | sort -u | wc -l)" -eq 1 ]
}

@test "stopping or killing the recorder does not disturb the command" {
	run -0 --separate-stderr record sh -c 'kill -STOP $PPID; /bin/true; kill -CONT $PPID'
	[ -z "$stderr" ]
	[ "$(tr-filter -c exec out.trec)" -eq 2 ]
	TMPDIR=$PWD run -2 --separate-stderr record sh -c 'kill -KILL $PPID; /bin/true; echo end >end'
	[[ $stderr == *"the recorder ended before the command did"* || $stderr == *"the recorder did not run"* ]]
	for _ in $(seq 50); do
		[ ! -s end ] || break
		sleep 0.1
	done
	[ "$(cat end)" = end ]
	[ -z "$(ls -d tr-record-* 2>/dev/null)" ]
}

# report: prints the output of the last run, without the parts that differ between runs (process ids, addresses, the
# order of threads) and without the recorder's own notes
report() {
	printf '%s\n' "$status" "$output" "$stderr" |
		sed -E 's/==[0-9]+==|\<T[12]\>|[pt]id=[0-9]+, [a-z]+|pid=[0-9]+|0x[0-9a-f]+//g; /^tr-record: note: /d; /^ +#|^ *$/d'
}

@test "programs with sanitizers and under valgrind have the same output and status" {
	unset ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS
	cat >main.c <<'END'
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *add(void *unused)
{
	(void)unused;
	shared++;
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mistake = argc > 1 ? argv[1] : "none";
	char *volatile block = malloc(10);
	volatile int most = INT_MAX;
	pthread_t threads[2];
	int i;

	printf("%d\n", system("exit 3"));
	fflush(stdout);
	if (strcmp(mistake, "address") == 0)
		block[10] = 1;
	else if (strcmp(mistake, "undefined") == 0)
		most++;
	for (i = 0; i < 2 && strcmp(mistake, "thread") == 0; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	while (i-- > 0)
		pthread_join(threads[i], NULL);
	if (strcmp(mistake, "leak") == 0)
		block = NULL;
	free(block);
	return 0;
}
END
	local compiler sanitizer mistake count=0
	local -a run_by
	# the runtime is a library for gcc, and in the program for clang
	for compiler in gcc clang valgrind; do
		for sanitizer in address leak thread undefined; do
			[ -z "${TREC_SANITIZED-}" ] || [ "$count" -lt 2 ] || break # a build with sanitizers is slow
			if [ "$compiler" = valgrind ]; then
				[ "$sanitizer" = address ] && command -v valgrind >/dev/null || continue
				gcc -g0 -o with main.c 2>/dev/null || continue
				run_by=(valgrind -q --error-exitcode=9)
			else
				"$compiler" -fsanitize="$sanitizer" -g0 -o with main.c 2>/dev/null || continue
				run_by=()
			fi
			for mistake in none "$sanitizer"; do
				run --separate-stderr "${run_by[@]}" ./with "$mistake"
				report >bare
				[ "$mistake" = none ] || [ -n "$stderr" ] # it was found
				run --separate-stderr record "${run_by[@]}" ./with "$mistake"
				report | diff bare -
				[ "$(tr-filter -c 'exit and status == 3' out.trec)" -ge 1 ]
				# a sanitizer that found something ends the program itself, and valgrind is static
				[ "$mistake$compiler" != "none${compiler#valgrind}" ] || run ! grep -q 'flagged=' out.trec
			done
			count=$((count + 1))
		done
	done
	[ "$count" -gt 0 ] || skip "no compiler has a sanitizer, and valgrind is not installed"
}

# tests/long/preload-trees does this with 10,000
@test "random process trees: no record is missing or wrong" {
	local count=30
	[ -z "${TREC_SANITIZED-}" ] || count=5
	: >truth
	record "$top_builddir/tests/helper/preload_trees" 20261123 $count "$PWD/truth"
	[ "$(wc -l <truth)" -gt $((count * 5)) ]
	LC_ALL=C sort truth | diff - <("$top_srcdir/tests/helper/preload_seen" out.trec)
	run ! grep -q $'flagged=\|^lost\t\|^raw\t' out.trec
}

@test "a process with a filter for system calls is not killed for those of the library" {
	run "$top_builddir/tests/helper/preload_traps" filtered
	[ "$status" -ne 98 ] || skip "no seccomp here"
	[ "$status" -eq 0 ]
	run -0 --separate-stderr record "$top_builddir/tests/helper/preload_traps" filtered
	[[ $stderr == "tr-record: note: processes that set a system call filter, "*": 2; "* ]]
	[ "$(flags)" = 'sys unwatched sys unwatched' ]
	[ "$(tr-filter -c 'exit and status == 3' out.trec)" -eq 2 ]
}

@test "other roots and pid namespaces: nothing is printed, and a note reports them" {
	unshare -Ur true 2>/dev/null || skip "no user namespaces here"
	record unshare -Ur sh -c '/bin/true; exit 0'
	[ "$(tr-filter -c 'exec and name == "/bin/true"' out.trec)" -eq 1 ]
	run -5 --separate-stderr record unshare -Urpf sh -c '/bin/true; exit 5'
	[ "$stderr" = "tr-record: note: processes in other pid namespaces, which are not watched, and neither are their children: 1" ]
	[ "$(tr-filter -c 'exit and status == 5' out.trec)" -eq 2 ]
	# the process that created it is flagged, and so is its end
	[ "$(tr-filter -c 'sys and name == "clone" and flagged == "unwatched"' out.trec)" -eq 1 ]
	[ "$(tr-filter -c 'exit and flagged == "unwatched"' out.trec)" -eq 1 ]
	# the same of a system call, whose process has a child: both have numbers of their own
	run -0 --separate-stderr record "$top_builddir/tests/helper/preload_traps" namespaced /bin/true
	[[ $stderr == *"processes in other pid namespaces, which are not watched"*": 1"* ]]
	[ "$(tr-filter -c exec out.trec) $(tr-filter -c fork out.trec)" = '1 1' ]
	[ "$(tr-filter -c exit out.trec) $(tr-filter -c 'sys and name == "chdir"' out.trec)" = '2 0' ]
	command -v gcc >/dev/null || skip "gcc is not installed"
	mkdir root
	echo 'int main(void) { return 4; }' >main.c
	gcc -static -o root/first main.c 2>/dev/null || skip "no static libc"
	run -4 --separate-stderr record unshare -Ur chroot root /first
	# the journal is outside of it as well
	[[ $stderr == "tr-record: records that could not be written: "* ]]
	[ "$(tr-filter -c 'exit and status == 4' out.trec)" -ge 1 ]
	tr-filter -c lost out.trec
}
