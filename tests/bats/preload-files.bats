#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --backend=preload --files: the library sees the calls that concern files, as strace does.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
	calls=$top_builddir/tests/helper/preload_calls
}

needs_strace() {
	timeout 10 strace -V >/dev/null 2>&1 || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# record COMMAND...: into out.trec
record() {
	tr-record --backend=preload --files -o out.trec -- "$@"
}

# both COMMAND...: records it in copies of the folder "build" in demo, into strace.trec and preload.trec
both() {
	local backend
	for backend in strace preload; do
		rm -rf demo
		cp -R build demo
		(cd demo && tr-record --backend=$backend --files -o ../$backend.trec -- "$@" >/dev/null)
	done
}

# calls TRACE: those between mkdir of "begin" and "end", without the paths that strace adds to
# descriptors, random names, and calls that the library does not see: transfers, and fcntl without effect
calls() {
	sed -n '/mkdir\tpath="begin"/,/mkdir\tpath="end"/p' "$1" | grep ^sys | cut -f5- |
		sed -E 's/(\t[a-z]*fd=)<"[^\t]*;(-?[0-9]+|AT_FDCWD)>/\1\2/g
			s/<"[/a-z]*:[^"]*";([0-9]+)>/\1/g; s/<"[^"]*#[^"]*";([0-9]+)>/\1/g
			s/^(dup[23]?|fcntl)(.*return=)<.*;([0-9]+)>/\1\2\3/
			s#(["/])[td][A-Za-z0-9]{6}(\.c|")#\1tXXXXXX\2#g; s/path=(0x8|null)/path=/' |
		grep -vE $'^(read|write|pread64)\t|\tcmd=F_GET'
}

# uses TRACE: prints which command read and wrote which file, except for files that libc opens internally
uses() {
	tr-deps "$1" | tr-tojson | jq -rs '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		.[] | select(.kind == "use") |
		select(.name | test("^/usr/(lib|share)/locale/|/gconv/|^/etc/(ld.so.cache|locale.alias|nsswitch.conf|passwd|group)$") | not) |
		# a command may read a file that it writes; this is not a dependency
		((.does - ["stat"]) | if index("write") then . - ["read"] else . end | sort) as $does |
		select($does != [] and $does != ["missing"]) |
		[($exec[.exec | tostring].argv | join(" ")), .name, ($does | join(" "))] | @tsv' |
		sed -E 's#/(cc|st|sed|t|d)[A-Za-z0-9]{6}([.\t ]|$)#/\1XXXXXX\2#g; s#/GMfifo[0-9]+#/GMfifo#g' | LC_ALL=C sort -u
}

# same: both recordings have the same uses, outputs, and inputs
same() {
	local backend
	for backend in strace preload; do
		uses $backend.trec >$backend.uses
		tr-deps --outputs $backend.trec | LC_ALL=C sort >$backend.outputs
		tr-deps --inputs $backend.trec | grep -v '^/usr/\|^/etc/' | LC_ALL=C sort >$backend.inputs
	done
	diff strace.uses preload.uses
	diff strace.outputs preload.outputs
	diff strace.inputs preload.inputs
}

@test "every call, with its arguments, result and error" {
	needs_strace
	# LeakSanitizer does not work in a program that strace watches
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	mkdir build
	both "$calls"
	# freopen opens the file under another number, and then gives it the one of the stream
	calls strace.trec | sed -zE \
		's/;([0-9]+)>\ndup3\toldfd=\1\tnewfd=([0-9]+)\tflags=0[^\n]*\nclose\tfd=\1[^\n]*/;\2>/g' >strace.calls
	calls preload.trec >preload.calls
	diff strace.calls preload.calls
	[ "$(wc -l <preload.calls)" -ge 150 ]
	same
}

@test "a build has the same inputs, outputs and dependencies" {
	needs_strace
	for tool in make gcc tar; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	mkdir build
	cat >build/Makefile <<'END'
all: prog lib.a inst/prog out.tar gen.txt
prog: a.o b.o
	gcc -o $@ a.o b.o
%.o: %.c
	gcc -pipe -O1 -MMD -c $< -o $@
b.o: gen.h
gen.h: gen.in
	sed 's/@X@/7/' <gen.in | sed -n p | grep -v none >$@.tmp && mv $@.tmp $@
lib.a: a.o b.o
	ar rcs $@ $^
inst/prog: prog
	mkdir -p inst
	install -m 755 prog inst/prog
	cp -p a.c inst/copy.c
	ln -s copy.c inst/link.c
	sed -i s/a/b/ inst/link.c
out.tar: a.c b.c
	tar cf $@ a.c b.c && mkdir -p x && tar xf $@ -C x && rm -r x
gen.txt: prog
	(cat a.c; echo hi; ./prog) | sort | tee t1 >gen.txt; rm t1
END
	echo 'int a(void) { return 1; }' >build/a.c
	printf '#include <stdio.h>\n#include "gen.h"\nint a(void);\nint main(void) { return puts("x") < a() - X; }\n' >build/b.c
	echo '#define X @X@' >build/gen.in
	both make -s -j2
	same
	[ "$(wc -l <preload.uses)" -ge 100 ]
	tr-deps --of='*/demo/prog' preload.trec >needs
	grep -q '/a\.c$' needs
	grep -q '/gen\.in$' needs
}

@test "a library that is loaded by dlopen is used before what is written after it" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	mkdir -p objects/further
	echo 'int further(void) { return 3; }' | gcc -shared -fPIC -x c -o objects/further/libfurther.so -
	cat >objects/plugin.c <<'END'
#include <dlfcn.h>
int further(void);
int plugin(void) { return dlopen("libfurther.so", RTLD_NOW) ? 3 : 4; }
END
	# only the path in the plugin leads to the library, for the plugin alone
	gcc -shared -fPIC -o plugin.so objects/plugin.c -Wl,-rpath,"$PWD/objects/further"
	cat >main.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	void *object = dlopen("./plugin.so", RTLD_NOW);
	int (*plugin)(void) = object ? (int (*)(void))dlsym(object, "plugin") : 0;
	int status = plugin ? plugin() : 9;
	close(open("written", O_WRONLY | O_CREAT, 0600));
	return status;
}
END
	gcc -o main main.c -ldl
	run -3 ./main
	run -3 record ./main
	tr-deps --of='*/written' out.trec >needs
	grep -q '/plugin\.so$' needs
	grep -q '/objects/further/libfurther\.so$' needs
}

@test "a recorder that is stopped loses nothing" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >opens.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 50000; i++)
		close(open("opens.c", O_RDONLY));
	return 0;
}
END
	gcc -O2 -o opens opens.c
	record sh -c 'kill -STOP $PPID; ./opens & ./opens; wait; kill -CONT $PPID'
	[ "$(tr-filter -c 'name == "openat" and path == "opens.c"' out.trec)" -eq 100000 ]
	run ! grep -q ^lost out.trec
	[ -z "$(ls -d /dev/shm/tr-record-* 2>/dev/null)" ] || ls -d /dev/shm/tr-record-*
}

@test "threads: a number is closed before another thread has it" {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >threads.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *run(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		int fd = open("threads.c", O_RDONLY), copy = dup(fd);
		close(fd);
		fclose(fdopen(copy, "r"));
	}
	return unused;
}
int main(void)
{
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
	gcc -O2 -pthread -o threads threads.c
	record ./threads
	run ! grep -q ^lost out.trec
	tr-filter --raw --fields=name,fd,return 'sys' out.trec | sed 's/<"[^"]*";\([0-9]*\)>/\1/g; s/\t.*;/\t\t/; s/>//' | awk -F'\t' '
		$1 == "close" { closed++; wrong += !open[$2]; delete open[$2]; next }
		{ wrong += open[$3]; open[$3] = 1; opened++ }
		END { print (opened >= 80000), (closed >= 80000), wrong + 0 }' >seen
	[ "$(cat seen)" = "1 1 0" ]
}

# of tests/bats/preload.bats, which explains them
@test "programs that interfere with the library, with file calls" {
	local trap traps=$top_builddir/tests/helper/preload_traps
	for trap in small-stack forms spawns vforks; do
		run -0 --separate-stderr record "$traps" $trap /bin/true
		[ -z "$stderr" ]
	done
	"$traps" closed /bin/true >bare
	record "$traps" closed /bin/true >recorded
	diff bare recorded
	run --separate-stderr record "$traps" killed /bin/true
	[ "$status" -eq 0 ] || [[ $stderr == "tr-record: truncated records, "* ]]
	[ "$(tr-filter -c exit out.trec)" -eq 101 ]
	: >truth
	record "$top_builddir/tests/helper/preload_trees" 20261123 5 "$PWD/truth"
	LC_ALL=C sort truth | diff - <("$top_srcdir/tests/helper/preload_seen" out.trec)
	run ! grep -q $'^lost\t\|^raw\t' out.trec
	run "$traps" filtered
	[ "$status" -ne 98 ] || skip "no seccomp here"
	run -0 --separate-stderr record "$traps" filtered
	[[ $stderr == "tr-record: note: processes that set a system call filter, "* ]]
}

@test "programs with sanitizers, which replace the same functions" {
	unset ASAN_OPTIONS LSAN_OPTIONS
	cat >main.c <<'END'
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	char line[100] = "";
	int ends[2], fd = open("main.c", O_RDONLY);
	FILE *file = fopen("main.c", "r"), *again = fdopen(dup(fd), "r");
	DIR *directory = opendir(".");
	if (!file || !again || !directory || pipe(ends) != 0 || dup2(fd, ends[0]) < 0)
		return 1;
	if (!fgets(line, sizeof line, file) || fclose(file) || fclose(again) || closedir(directory))
		return 2;
	printf("%s%d\n", line, fd);
	unlink("made");
	return close(open("made", O_WRONLY | O_CREAT, 0600)) + rename("made", "kept");
}
END
	local count=0 options
	for options in {gcc,clang}\ -fsanitize={address,leak,thread,undefined}; do
		[ -z "${TREC_SANITIZED-}" ] || [ "$count" -lt 2 ] || break # a build with sanitizers is slow
		# shellcheck disable=SC2086
		$options -g0 -o with main.c 2>/dev/null || continue
		run -0 --separate-stderr ./with
		printf '%s\n' "$output" "$stderr" >bare
		run -0 --separate-stderr record ./with
		# LeakSanitizer creates a process itself
		printf '%s\n' "$output" "$(grep -v '^tr-record: note: ' <<<"$stderr")" | diff bare -
		[ "$(tr-filter -c 'name == "openat" and path == "main.c"' out.trec)" -eq 2 ]
		[ "$(tr-deps --outputs out.trec)" = "$PWD/kept" ]
		rm kept
		count=$((count + 1))
	done
	[ "$count" -gt 0 ] || skip "no compiler has a sanitizer"
}

@test "other mounts and roots: paths are those that the program sees" {
	unshare -Urm true 2>/dev/null || skip "no user namespaces here"
	mkdir -p inside outside
	ln -s x inside/link
	ln -s y outside/link
	echo text | tee inside/x >outside/y
	record unshare -Urm sh -c 'mount --bind inside outside && exec cat outside/link'
	tr-filter --raw --fields=return 'name == "openat" and path == "outside/link"' out.trec >seen
	grep -qF "$PWD/outside/x" seen
	# dash goes there and calls cat relative to a descriptor
	record tar cf out.tar -C inside x
	[ "$(tr-deps --inputs out.trec | grep -c "^$PWD/inside/x$")" -eq 1 ]
}

@test "if the memory for file calls is full, the lost calls are counted" {
	unshare -Urm sh -c 'mount -t tmpfs none /dev/shm' 2>/dev/null || skip "no user namespaces here"
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >opens.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 100000; i++)
		if (close(open("opens.c", O_RDONLY)) != 0)
			return 1;
	return 3;
}
END
	gcc -O2 -o opens opens.c
	cat >small.sh <<'END'
mount -t tmpfs -o size=$1 none /dev/shm || exit 99
exec tr-record --backend=preload --files -o out.trec sh -c 'kill -STOP $PPID; ./opens; s=$?; kill -CONT $PPID; exit $s'
END
	run -3 --separate-stderr unshare -Urm sh small.sh 5m
	[[ $stderr == "tr-record: records that could not be written: "* ]]
	lost=$(tr-filter --raw --fields=events lost out.trec)
	seen=$(tr-filter -c 'name in {"openat", "close"} and time >= 0' out.trec)
	[ "$lost" -gt 1000 ]
	[ $((lost + seen)) -ge 200000 ]
	[ $((lost + seen)) -le 200100 ]
	# where there is no room for the first lanes they are in TMPDIR
	TMPDIR=$PWD run -3 --separate-stderr unshare -Urm sh small.sh 1m
	[ -z "$stderr" ]
	[ "$(tr-filter -c 'name == "openat" and path == "opens.c"' out.trec)" -eq 100000 ]
	[ -z "$(ls -d tr-record-* 2>/dev/null)" ]
}
