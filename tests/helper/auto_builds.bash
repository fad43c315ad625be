# SPDX-License-Identifier: MIT
# For tests of tr-record: builds of six kinds, and comparisons of two recordings of a build. To be
# sourced after tests/helper/deps_builds.bash, whose projects these use.

# Each function below makes a project of N sources in the current directory, and prints the command that
# builds it. False: a required program is missing.

build_make() {
	sources "$1"
	printf '@X@\n' >gen.in
	cat >Makefile <<-'END'
		objects = $(patsubst src/%.c,%.o,$(wildcard src/*.c))
		all: demo libf.a inst/demo out.tar gen.txt
		demo: $(objects) ; $(CC) -o $@ $(objects)
		%.o: src/%.c gen.h ; $(CC) -pipe -Iinc -MMD -c -o $@ $<
		gen.h: gen.in ; sed 's/@X@/7/' <$< | sed -n p | grep -v none >$@.tmp && mv $@.tmp $@
		libf.a: $(objects) ; ar rcs $@ $^
		inst/demo: demo ; mkdir -p inst && install -m 755 demo $@ && cp -p gen.in inst/copy && ln -s copy inst/link && sed -i s/a/b/ inst/link
		out.tar: gen.h ; tar cf $@ gen.in gen.h && mkdir -p x && tar xf $@ -C x && rm -r x
		gen.txt: demo ; ./demo && (cat gen.in; echo hi; cat gen.h) | sort | tee t1 >$@; rm t1; sh -c 'kill -9 $$$$'; sh -c 'exit 3' || cd / && ls >/dev/null
	END
	echo 'make -s -j2 CC=gcc'
}

build_respfile() {
	sources "$1"
	cat >Makefile <<-'END'
		objects = $(patsubst src/%.c,%.o,$(wildcard src/*.c))
		demo: $(objects) ; echo $(objects) >$@.rsp && gcc -o $@ @$@.rsp && rm $@.rsp
		%.o: src/%.c ; echo "-Iinc -DX=1 @more.rsp" >$@.rsp && gcc @$@.rsp -c -o $@ $< && rm $@.rsp
	END
	echo '-O1' >more.rsp
	echo 'make -s -j2'
}

build_cmake() {
	command -v cmake >/dev/null && command -v ninja >/dev/null || return
	cmake_project "$1"
	cat >all.sh <<-'END'
		cmake -G Ninja -S . -B build -DCMAKE_C_COMPILER="$(command -v gcc)" >log && ninja -j2 -C build >>log &&
			DESTDIR=$PWD/to cmake --install build --prefix /usr >>log
	END
	echo 'sh all.sh'
}

build_libtool() {
	command -v libtoolize >/dev/null && command -v aclocal >/dev/null || return
	libtool_project "$1" || return
	rm -f Makefile libtool config.*
	echo 'CONFIG_SHELL=$(command -v dash) dash ./configure >log && make -s -j2 && mkdir to && make -s install DESTDIR=$PWD/to >>log 2>&1' >all.sh
	echo 'sh all.sh'
}

# Every second object, and a tool that the build runs, have 32 bits.
build_mixed() {
	local flags
	flags=$(sed -n 's/^PRELOAD32_FLAGS = //p' "$top_builddir/Makefile")
	[ -e "$top_builddir/lib/preload/libtrec-files32.so" ] || return
	sources "$1"
	cat >tool.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
			for (int c; argc == 4 && in && out && (c = getc(in)) != EOF;)
				putc(c, out);
			return fclose(in) || fclose(out) || system(argv[3]);
		}
	END
	cat >Makefile <<-END
		flags32 = $flags
		even = \$(patsubst src/%.c,%.o,\$(wildcard src/f*[02468].c))
		odd = \$(patsubst src/%.c,%.o,\$(wildcard src/f*[13579].c))
		all: lib64.a lib32.a
		lib64.a: \$(even) ; ar rcs \$@ \$^
		lib32.a: \$(odd) ; ar rcs \$@ \$^
		tool: tool.c ; gcc \$(flags32) -o \$@ tool.c
		\$(odd) \$(even): tool
		\$(even): %.o: src/%.c ; ./tool \$< \$*.i.c 'sort src/main.c | ./tool /dev/stdin \$*.txt true' && gcc -Iinc -c -o \$@ \$*.i.c
		\$(odd): %.o: src/%.c ; ./tool \$< \$*.i.c 'gcc \$(flags32) -Iinc -c -o \$@ \$*.i.c'
	END
	echo 'make -s -j2'
}

# The same as build_make, by a program that is linked statically: $STATIC_MAKE, or else one that runs two
# lines of a file at a time.
build_static() {
	build_make "$1" >command
	if [ -n "${STATIC_MAKE-}" ]; then
		echo "$STATIC_MAKE -s -j2 CC=gcc"
		return
	fi
	cat >driver.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char line[4096];
			int running = 0, bad = 0, status;
			FILE *file = fopen(argv[1], "re");
			while (argc == 2 && file && fgets(line, sizeof line, file)) {
				line[strcspn(line, "\n")] = '\0';
				while (running > 1 || (running && strcmp(line, "wait") == 0)) {
					wait(&status);
					bad |= status;
					running--;
				}
				char *const arguments[] = { "sh", "-c", line, NULL };
				if (strcmp(line, "wait") != 0 && ++running && vfork() == 0) {
					execv("/bin/sh", arguments);
					_exit(127);
				}
			}
			while (wait(&status) > 0)
				bad |= status;
			return bad != 0;
		}
	END
	gcc -w -D_GNU_SOURCE -static -o driver driver.c 2>/dev/null || return
	make -n CC=gcc | sed -e 's/^\(gcc -o demo\|ar rcs\|mkdir -p inst\|cp -p\|tar cf\|(cat\)/wait\n&/' >lines
	sed -i '/gen.h$/a wait' lines # all others need it
	echo './driver lines'
}

# Replaces the parts of names that change from run to run.
neutral() {
	sed -E 's#/(cc|cg|st|sed|Gm)[A-Za-z0-9]{6}\b#/\1XXXXXX#g; s#/GMfifo[0-9]+#/GMfifo#g; s#\bconf([0-9]+|[A-Za-z0-9]{6})\b#confX#g
		s#\bconf[0-9]+(\.|subs)#confX\1#g; s#/sh-thd\.[A-Za-z0-9]+#/sh-thd.X#g
		s#(TryCompile-|cmTC_)[A-Za-z0-9]+#\1X#g; s#\.tmp[0-9a-f]{5}\b#.tmpX#g'
}

# execs TRACE: each exec with its parent and its end
execs() {
	tr-tojson "$1" | jq -rs '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		(map(select(.kind == "exit")) | INDEX(.task)) as $exit |
		.[] | select(.kind == "exec") |
		[.name, .cwd, .argv, .env, .respfile, .flagged,
			(if .parent == null then null else $exec[.parent | tostring] | [.name, .argv] end),
			($exit[.task | tostring] | [.status, .signal])] | tojson' | neutral | LC_ALL=C sort
}

# uses TRACE: prints which command read and wrote which file, except for files that libc opens internally
uses() {
	tr-deps -q "$1" | tr-tojson | jq -rs '
		(map(select(.kind == "exec")) | INDEX(.seq)) as $exec |
		.[] | select(.kind == "use") |
		select(.name | test("^/usr/(lib|share)/locale/|/gconv/|^/etc/(ld.so.cache|locale.alias|nsswitch.conf|passwd|group)$") | not) |
		# a command may read a file that it writes; this is not a dependency
		((.does - ["stat"]) | if index("write") then . - ["read"] else . end | sort) as $does |
		select($does != [] and $does != ["missing"]) |
		[($exec[.exec | tostring].argv | join(" ")), .name, ($does | join(" "))] | @tsv' | neutral | LC_ALL=C sort -u
}

# project_edges TRACE: which file of the project depends on which. Logs are left out: many commands have them
# open, and the writer is assumed if the trace has no transfers.
project_edges() {
	tr-deps -q --as=dot --project="$PWD/demo" "$1" | sed -n "s,^  \"\($PWD/demo/.*\)\" -> \"\($PWD/demo/.*\)\";$,\2 \1,p" |
		grep -v '^[^ ]*/\(config[.]log\|log\|[.]ninja_[a-z]*\) ' | neutral | LC_ALL=C sort -u
}

# record_both KIND N BACKEND: the build, recorded with strace and with BACKEND, without and with --files.
# The compared parts are written to strace.WHAT and BACKEND.WHAT for each WHAT of $RECORDED. False: the
# project cannot be built here.
RECORDED='execs compdb uses edges outputs inputs'
record_both() {
	local kind=$1 count=$2 backend=$3 watcher command options status
	mkdir project
	command=$(cd project && "build_$kind" "$count") || return
	for watcher in strace "$backend"; do
		for options in '' --files; do
			rm -rf demo
			cp -R project demo
			status=0
			# shellcheck disable=SC2086
			(cd demo && tr-record --backend="$watcher" $options -o "../$watcher$options.trec" -- $command) \
				>"$watcher$options.out" 2>&1 || status=$?
			echo "$status" >>"$watcher.execs"
		done
		execs "$watcher.trec" >>"$watcher.execs"
		tr-repack -q -t compdb "$watcher.trec" | jq 'sort_by(.file, .output, .arguments)' | neutral >"$watcher.compdb"
		uses "$watcher--files.trec" >"$watcher.uses"
		project_edges "$watcher--files.trec" >"$watcher.edges"
		tr-deps -q --outputs "$watcher--files.trec" | neutral | LC_ALL=C sort >"$watcher.outputs"
		tr-deps -q --inputs "$watcher--files.trec" | grep -v '^/usr/\|^/etc/' | neutral | LC_ALL=C sort >"$watcher.inputs"
	done
}
