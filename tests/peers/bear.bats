#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares Debian's bear with tr-record on a build that is run here: both record the same files in the
# same directories, and Bear makes the same database from our events as from its own.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	for tool in bear strace gcc make jq; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	mkdir project
	cd project || return
	project
}

# A project with the usual elements of a build: folders, a library, several sources in one call, a response
# file, options in quotes, a compiler by another name, a call that only preprocesses.
project() {
	mkdir -p lib/deep bin
	local name
	for name in lib/one lib/two lib/deep/three main 'with blank' extra; do
		echo "int f_$(basename "${name%% *}")(void) { return 0; }" >"$name.c"
	done
	echo 'int main(void) { return 0; }' >main.c
	echo 'int g() { return 1; }' >plus.cc
	printf '%s\n' '-O1 "-DNAME=a b"' -Wall >opts.rsp
	ln -s "$(command -v gcc)" bin/arm-none-eabi-gcc
	# <<- takes the tabs away
	cat >lib/Makefile <<-'END'
		.RECIPEPREFIX = >
		liball.a: one.o two.o three.o
		> $(AR) rcs $@ $^
		three.o: deep/three.c
		> cd deep && $(CC) $(CFLAGS) -c three.c -o ../three.o
	END
	cat >Makefile <<-'END'
		.RECIPEPREFIX = >
		CFLAGS = -g '-DTEXT="x y"' -Ilib
		all: prog blank.o plus.o extra.o
		prog: main.c lib/liball.a
		> $(CC) $(CFLAGS) -E main.c >main.i
		> $(CC) $(CFLAGS) -MM main.c >main.d
		> $(CC) --version >/dev/null
		> $(CC) @opts.rsp main.c lib/one.c -Llib -lall -o $@
		lib/liball.a:
		> $(MAKE) -C lib CFLAGS=-O2
		blank.o:
		> sh -c "$(CC) -c 'with blank.c' -o $@"
		plus.o: plus.cc
		> $(CXX) -S -o plus.s plus.cc
		> $(CXX) -c -o $@ plus.cc
		extra.o: extra.c
		> ./bin/arm-none-eabi-gcc -c extra.c -o $@
		clean:
		> rm -f prog *.o lib/*.o lib/*.a
	END
}

# pairs FILE: prints each compiled file with its directory, with repetitions
pairs() {
	jq -r '.[] | [.directory, .file] | @json' "$1" | sort
}

trace='execve,execveat,clone,clone3,fork,vfork,chdir,fchdir,getcwd,exit_group'

@test "what both have watched" {
	bear --output bear.json -- make -s
	make -s clean
	strace -f -v -s 1048576 -ttt -y -e signal=none -e "trace=$trace" -o log make -s
	tr-repack -q -t compdb -o ours.json log
	pairs bear.json >want
	[ "$(wc -l <want)" -ge 9 ]
	pairs ours.json | diff want -
}

@test "what Bear intercepted" {
	bear intercept --output events.json -- make -s
	bear citnames --input events.json --output bear.json
	tr-repack -q -t compdb -o ours.json events.json
	pairs bear.json >want
	pairs ours.json | diff want -
	# its events after they were a stream, and after they were a Klocwork trace
	tr-parse -q events.json | tr-repack -q >again.json
	bear citnames --input again.json --output again
	jq -S 'sort_by(.file, .output)' bear.json >want
	jq -S 'sort_by(.file, .output)' again | diff want -
	tr-repack -q -t klocwork events.json | tr-repack -q -t bear >again.json
	bear citnames --input again.json --output again
	jq -S 'sort_by(.file, .output)' again | diff want -
}

@test "what strace saw, for Bear" {
	strace -f -v -s 1048576 -ttt -y -e signal=none -e "trace=$trace" -o log make -s
	tr-repack -q -t bear -o events.json log
	bear citnames --input events.json --output bear.json
	tr-repack -q -t compdb -o ours.json log
	pairs bear.json >want
	[ "$(wc -l <want)" -ge 9 ]
	pairs ours.json | diff want -
}

@test "Clang's tools read the database" {
	command -v clang-check >/dev/null || skip 'clang-check is not installed'
	strace -f -v -s 1048576 -ttt -y -e signal=none -e "trace=$trace" -o log make -s
	tr-repack -q -t compdb -O respfile-root=. -o compile_commands.json log
	jq -r '.[].file' compile_commands.json | sort -u | while read -r file; do
		clang-check -p . "$file"
	done
	tr-repack -q -t compdb -O respfile-root=. log | jq -r '.[].arguments[]' | grep -Fx -- '-DNAME=a b'
}

@test "Clang's tools read the database of response files that were deleted" {
	for tool in clang-check clangd; do
		command -v $tool >/dev/null || skip "$tool is not installed"
	done
	for i in $(seq 29); do
		echo "#ifndef A$i
		#error the options of the response file are not there
		#endif" >c$i.c
		printf -- '-DA%d -I"with blank" @more%d.rsp\n' "$i" "$i" >o$i.rsp
		echo '-DMORE' >more$i.rsp
		echo "gcc -c @o$i.rsp c$i.c" >>build.sh
	done
	# the recorder reads a response file soon after the program started, not at the same time
	echo 'sleep 1; rm ./*.rsp' >>build.sh
	tr-record -- sh build.sh | tr-repack -t compdb -o compile_commands.json
	[ "$(jq length compile_commands.json)" -eq 29 ]
	clang-check -p . c*.c
	clangd --check=c7.c --compile-commands-dir=. 2>clangd.log
	# the same with named files fails, so the test is effective
	tr-record --no-respfiles -- sh build.sh | tr-repack -q -t compdb -o compile_commands.json
	run ! clang-check -p . c7.c
}
