#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-deps against compilers and other programs: builds that are recorded here. tests/long/deps-builds
# does the same with projects of others.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	# shellcheck source=tests/helper/deps_builds.bash
	. "$top_srcdir/tests/helper/deps_builds.bash"
	export CCACHE_DISABLE=1
}

# needs PROGRAM...
needs() {
	local program
	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# wanted FILE SEEN: the pairs of tests/data/deps/commands.sh; SEEN: the trace has transfers
wanted() {
	sed -n 's/.*# \([a-z0-9/.]*: .*\)$/\1/p' "$1" | tr ';' '\n' | if [ "$2" ]; then
		sed 's/ ([^)]*)//'
	else
		tr -d '()'
	fi | awk -v here="$PWD/" '{ sub(/:$/, "", $1); for (i = 2; i <= NF; i++) print here $1, here $i }' | sort
}

@test "the uses of files by commands and shells: tests/data/deps/commands.sh" {
	needs strace bash dash tar ar gzip awk xargs find install
	local shell
	for shell in dash bash; do
		mkdir $shell && cd $shell
		wanted "$top_srcdir/tests/data/deps/commands.sh" yes >../seen
		wanted "$top_srcdir/tests/data/deps/commands.sh" '' >../assumed
		[ "$(wc -l <../seen)" -gt 40 ]
		begin() {
			rm -rf -- *
			cp "$top_srcdir/tests/data/deps/commands.sh" script
			for file in in1 in2 o1 o2 edit tomove new1; do echo "text of $file" >$file; done
			echo in2 >list
		}
		begin
		tr-record --backend=strace --files -o ../files $shell script
		begin
		tr-record --backend=preload --files -o ../library $shell script
		begin
		timeout -k 30 120 strace -f -y -s 4096 -o ../plain \
			-e trace=%file,%process,close,dup,dup2,dup3,fcntl,pipe,pipe2,fchdir $shell script
		tr-repack -q -t etrace -o ../etrace ../plain
		echo "$shell: files" && diff ../seen <(edges "$PWD" ../files)
		echo "$shell: library" && diff ../assumed <(edges "$PWD" ../library)
		echo "$shell: strace" && diff ../assumed <(edges "$PWD" ../plain)
		# which does not show that ar has deleted its temporary file
		echo "$shell: etrace" && diff ../assumed <(edges "$PWD" ../etrace | grep -v '/st...... ')
		cd ..
	done
}

# exact LOG ROOT BUILD: the objects below BUILD have exactly the dependencies that gcc declares
exact() {
	local log=$1 root=$2 build=$3 list
	mapfile -t list < <(cd "$build" && find . -name '*.d' ! -name link.d | sort)
	[ "${#list[@]}" -gt 0 ]
	(cd "$build" && pairs "$root" "${list[@]}") >want
	diff want <(edges "$root" "$log" | awk 'NR == FNR { made[$1]; next } $1 in made' want -)
	# the same by another way, of three of them
	for object in $(cut -d' ' -f1 want | sort -u | sed -n '1p;7p;$p'); do
		diff <(awk -v object="$object" '$1 == object { print $2 }' want) \
			<(tr-deps --of="$object" --direct --project="$root" "$log" | grep "^$root/" | sort)
	done
	run -0 tr-deps --project="$root" --declared='*.d' "$log"
	[ -z "$output" ]
}

@test "cmake and ninja: 55 objects, two libraries, a program; its rules build it again" {
	needs strace cmake ninja gcc
	mkdir p && cd p
	local root=$PWD
	cmake_project 54
	cmake -G Ninja -S . -B build -DCMAKE_C_COMPILER="$(command -v gcc)" -DCMAKE_C_FLAGS=-pipe >../log
	tr-record --backend=strace --files -o ../files ninja -d keepdepfile -C build >../log
	cd ..
	exact "$PWD/files" "$root" "$root/build"
	[ "$(cut -d' ' -f1 want | sort -u | wc -l)" = 55 ]
	# archives, shared libraries and programs
	edges "$root" files >all
	objects=$root/build/CMakeFiles
	diff <(cd "$objects" && printf '%s\n' "$PWD"/first.dir/src/*.o | sort) <(sed -n "s,^$root/build/libfirst.a ,,p" all)
	diff <(cd "$objects" && printf '%s\n' "$PWD"/second.dir/src/*.o | sort) <(sed -n "s,^$root/build/libsecond.so ,,p" all)
	diff - <(sed -n "s,^$root/build/demo ,,p" all) <<-END
		$objects/demo.dir/src/main.c.o
		$root/build/libfirst.a
		$root/build/libsecond.so
	END
	# the same with the library
	ninja -C p/build -t clean >log
	tr-record --backend=preload --files -o library ninja -d keepdepfile -C p/build >log
	exact "$PWD/library" "$root" "$root/build"
	# except for the files that ninja keeps from the previous build
	diff <(grep -v '/[.]ninja_\|/link[.]d ' all) <(edges "$root" library | grep -v '/[.]ninja_\|/link[.]d ')
	# installation
	local backend
	for backend in strace preload; do
		DESTDIR=$PWD/to tr-record --backend=$backend --files -o installed \
			cmake --install p/build --prefix /usr >log
		tr-deps --of="$PWD/to/usr/bin/libsecond.so" --direct installed | grep -x "$root/build/libsecond.so"
		rm -r to
	done

	# ninja builds by its rules: everything, nothing, then the dependents of a header
	tr-deps --as=ninja --of="$root/build/demo" --project="$root" files >build.ninja
	rm -r "$objects"/*.dir/src/* "$root"/build/demo "$root"/build/lib*
	mkdir again
	ninja -C again -f ../build.ninja >log
	"$root/build/demo"
	run -0 ninja -C again -f ../build.ninja -n
	[[ $output == *"no work to do"* ]]
	ninja -C again -f ../build.ninja -t graph >graph
	grep -q 'inc/h5.h' graph
	touch "$root/inc/h5.h" marker
	sleep 0.01
	touch -r "$root/inc/h5.h" marker
	ninja -C again -f ../build.ninja >log
	diff <(grep "/h5.h$" want | cut -d' ' -f1) <(find "$objects" -name '*.o' -newer marker | sort)
	run -0 ninja -C again -f ../build.ninja -n
	[[ $output == *"no work to do"* ]]
	# without a rule's dependency ninja would not know
	sed '/inc.h5.h/d' build.ninja >less.ninja
	touch "$root/inc/h5.h"
	run -0 ninja -C again -f ../less.ninja -n
	[[ $output == *"no work to do"* ]]
	command -v dot >/dev/null || skip "dot is not installed: ninja did its part"
	dot -Tsvg graph >graph.svg
	tr-deps --as=dot --of="$root/build/demo" --project="$root" files | dot -Tplain >plain
	[ "$(grep -c '^edge' plain)" -gt 350 ]
}

@test "files that several commands make: the rules make the same ones" {
	needs strace make ninja gcc ar ranlib strip objcopy
	mkdir p && cd p
	printf 'int %s(void) { return 0; }\n' f >f.c
	printf 'int %s(void) { return 0; }\n' g >g.c
	echo 'int f(void), g(void); int main(void) { return f() + g(); }' >main.c
	cat >Makefile <<-'END'
		.RECIPEPREFIX = >
		all: prog demo tool notes
		%.o: %.c
		> gcc -MD -MF $*.Tpo -c -o $@ $<
		> mv -f $*.Tpo $*.Po
		libf.a: f.o g.o
		> rm -f $@
		> ar rcD $@ f.o
		> ar rD $@ g.o
		> ranlib -D $@
		prog: main.o libf.a
		> gcc -g -o $@ main.o libf.a
		> cp $@ $@.whole
		> objcopy --only-keep-debug $@ $@.debug
		> strip $@
		> objcopy --add-gnu-debuglink=$@.debug $@
		demo: main.o libf.a
		> gcc -Wl,-Map=$@.map -o $@ main.o libf.a
		> grep -c libf.a $@.map >$@.count
		> objcopy --add-section .count=$@.count $@
		tool: main.o libf.a
		> gcc -o $@.new main.o libf.a
		> cp $@.new $@.copy
		> mv $@.new $@
		> ln $@ $@.link
		notes: Makefile
		> echo first >$@
		> sed -n 1p Makefile >$@.tmp
		> cat $@.tmp >$@
		> rm $@.tmp
		> echo second >>$@
		> cp $@ $@.old
		> sort -r -o $@ $@
	END
	local backend tool
	for backend in strace preload; do
		tr-record --backend=$backend --files -o ../files make -j2 >../log
		mkdir ../made
		mv prog* demo* tool* notes* ./*.[ao] ./*.Po ../made
		for tool in make ninja; do
			tr-deps --as=$tool ../files >../rules
			(cd .. && $tool -j2 -f rules >log)
			rm notes.tmp # no rule deletes it
			diff -r . ../made | diff <(printf 'Only in .: %s\n' Makefile f.c g.c main.c) -
			run -0 $tool -C .. -f rules -n
			[[ $output == *"othing to be done"* || $output == *"no work to do"* ]]
			rm prog* demo* tool* notes* ./*.[ao] ./*.Po
		done
		rm -r ../made ../.ninja*
	done
}

@test "libtool: objects with and without -fPIC, a library, its program and their installation" {
	needs strace libtoolize aclocal autoconf make gcc
	mkdir p && cd p
	local root=$PWD
	libtool_project 4 || skip "libtoolize and autoconf make no configure script here"
	local backend
	for backend in strace preload; do
		rm -rf to .libs ./*.o ./*.lo ./*.la ./*.a ./*.d
		tr-record --backend=$backend --files -o ../files make -j2
		mkdir to
		tr-record --backend=$backend --files -o ../installed make install DESTDIR="$PWD/to" >../log 2>&1
		cd ..
		exact "$PWD/files" "$root" "$root"
		[ "$(cut -d' ' -f1 want | sort -u | wc -l)" = 9 ]
		edges "$root" files >all
		diff - <(sed -n "s,^$root/.libs/libdemo.so.0.0.0 ,,p" all) < <(printf "$root/.libs/f%d.o\n" 1 2 3 4)
		diff - <(sed -n "s,^$root/.libs/libdemo.a ,,p" all) < <(printf "$root/f%d.o\n" 1 2 3 4)
		diff - <(sed -n "s,^$root/.libs/demo ,,p" all) < <(printf "$root/%s\n" .libs/libdemo.so.0.0.0 main.o)
		[ "$(tr-deps --of="$root/to/demo" --direct installed | grep "^$root")" = "$root/.libs/demo" ]
		[ "$(tr-deps --of="$root/to/libdemo.a" --direct installed | grep "^$root")" = "$root/.libs/libdemo.a" ]
		cd p
	done
}

@test "ccache: the same dependencies for a miss and a hit" {
	needs strace ccache gcc make
	mkdir p && cd p
	local root=$PWD run
	sources 10
	printf 'all: $(patsubst src/%%.c,%%.o,$(wildcard src/*.c))\n%%.o: src/%%.c ; ccache gcc -Iinc -MMD -c -o $@ $<\n' >Makefile
	unset CCACHE_DISABLE
	# newer versions share a file that all of them write, which connects everything: see --cut
	export CCACHE_DIR=$BATS_TEST_TMPDIR/cache CCACHE_NOINODECACHE=1
	for run in miss hit library; do
		rm -f ./*.o ./*.d
		if [ $run = library ]; then
			tr-record --backend=preload --files -o ../files make -j2
		else
			tr-record --backend=strace --files -o ../files make -j2
		fi
		(cd .. && exact "$PWD/files" "$root" "$root")
		compilers=$(tr-filter -c 'exec and basename(name) == "cc1"' ../files) || true
		[ $run != miss ] && [ "$compilers" = 0 ] || [ "$compilers" -ge 11 ]
	done
}

@test "one build, recorded in six ways: the same inputs, outputs and edges" {
	needs strace gcc make ar
	mkdir p && cd p
	sources 6
	cat >Makefile <<-'END'
		prog: main.o libf.a ; gcc -o $@ main.o libf.a
		libf.a: f1.o f2.o f3.o f4.o f5.o f6.o ; ar rcs $@ $^
		made.h: Makefile ; sed s/a/b/ Makefile | sort >$@.tmp && mv $@.tmp $@
		main.o: made.h
		%.o: src/%.c ; gcc -Iinc -c $<
	END
	local calls=%file,%process,%desc
	clean() { rm -f ./*.o ./*.a made.h prog; }
	timeout -k 30 120 strace -f -y -s 4096 -e trace=$calls -o ../strace make
	clean
	timeout -k 30 120 strace -f -s 4096 -e trace=$calls -o ../plain make
	clean
	tr-record --backend=strace --files -o ../files make
	clean
	tr-record --backend=preload --files -o ../library make
	cd ..
	tr-repack -q -t etrace -o etrace strace
	tr-parse strace | tr-filter 'not (sys and name in {"read", "write", "pread64", "sendfile", "copy_file_range"})' >assumed

	# names that change from run to run
	same() { sed -E 's,/(cc|st)[A-Za-z0-9]{6}\b,/\1XXXXXX,g' | sort -u; }
	# links resolved: without -y, strace shows paths as the programs spelled them
	resolved() { xargs -n 1000 realpath -m; }
	all_edges() { # as edges, of the whole system
		tr-deps -q --as=dot "$1" | sed -n 's/^  "\(.*\)" -> "\(.*\)";$/\2\n\1/p' | resolved | paste -d' ' - -
	}
	for log in strace plain files library assumed etrace; do
		for question in inputs outputs; do
			tr-deps -q --$question $log | resolved | same >$log.$question
		done
		all_edges $log | same >$log.edges
	done
	[ "$(wc -l <strace.edges)" -gt 100 ]
	tr-deps --temporary strace | same >temporary
	grep -q '/ccXXXXXX.s$' temporary
	for log in plain files assumed; do
		for question in inputs outputs edges; do
			echo "$log $question"
			diff strace.$question $log.$question
		done
		diff temporary <(tr-deps --temporary $log | same)
	done
	# the library does not see files that libc opens internally
	local own='/etc/(ld\.so\.cache|locale\.alias)|/locale/|/gconv/'
	for question in inputs outputs edges; do
		echo "library $question"
		diff <(grep -vE "$own" strace.$question) library.$question
	done
	diff temporary <(tr-deps --temporary library | same)
	# etrace has no removals: temporary files remain, and are the only difference
	diff strace.inputs etrace.inputs
	diff <(sort -u strace.outputs temporary) etrace.outputs
	diff strace.edges <(grep -vFf temporary etrace.edges)
	# nor failed calls, or files that were only looked at
	[ "$(tr-deps --missing --of='*/prog' strace | wc -l)" -gt "$(tr-deps --of='*/prog' strace | wc -l)" ]
	diff <(tr-deps -q --missing --of='*/prog' etrace) <(tr-deps -q --of='*/prog' etrace)
	# whose transfers are recorded, nothing is assumed
	run -1 grep $'\tassumed=' <(tr-deps strace; tr-deps files)
	grep -q $'\tassumed=' <(tr-deps assumed)
	grep -q $'\tassumed=' <(tr-deps library)
	grep -q $'\tassumed=' <(tr-deps -q etrace)
}

@test "--declared finds exactly the dependency that a Makefile lacks" {
	needs strace gcc make
	mkdir p && cd p
	local root=$PWD
	sources 8
	(cd src && gcc -I../inc -MM ./*.c) >rules
	{
		echo 'all: main.o f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o'
		sed 's,\([ :]\)\.\./inc,\1inc,g; s,: \([a-z0-9]*\.c\),: src/\1,; s,:,: Makefile,' rules | sed 's/: Makefile/:/'
		printf '%%.o: src/%%.c ; gcc -Iinc -c -o $@ $<\n'
	} >Makefile
	tr-record --files -o ../files make
	run -0 tr-deps --declared=Makefile ../files
	[ -z "$output" ]
	# f3.o needs inc/h4.h
	sed -i '/^f3.o/,/[^\\]$/s, inc/h4.h,,' Makefile
	rm ./*.o
	tr-record --files -o ../files make
	run -1 tr-deps --declared=Makefile ../files
	[ "$output" = "used, not declared: $root/f3.o  $root/inc/h4.h" ]
	# its paths are relative to where make went
	rm ./*.o
	cd ..
	tr-record --files -o files make -C p
	run -1 tr-deps --declared=p/Makefile files
	[ "$output" = "used, not declared: $root/f3.o  $root/inc/h4.h" ]
	# two compilers share a cache, which one of them reads after it has written its rule
	cat >log <<-END
		1 chdir("$PWD") = 0
		1 execve("/usr/bin/ccache", ["ccache"], 0x1) = 0
		1 openat(AT_FDCWD, "b.c", O_RDONLY) = 3
		1 openat(AT_FDCWD, "/cache/stats", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		1 +++ exited with 0 +++
		2 chdir("$PWD") = 0
		2 execve("/usr/bin/ccache", ["ccache"], 0x1) = 0
		2 openat(AT_FDCWD, "a.c", O_RDONLY) = 3
		2 openat(AT_FDCWD, "a.o", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		2 close(4) = 0
		2 openat(AT_FDCWD, "a.d", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		2 close(4) = 0
		2 openat(AT_FDCWD, "/cache/stats", O_RDONLY) = 4
		2 +++ exited with 0 +++
	END
	echo 'a.o: a.c' >a.d
	run -0 tr-deps --declared='*.d' log
	[ -z "$output" ]
	# a directory that is not known is no reason to find nothing
	printf '%s\n' '1 execve("/usr/bin/cc", ["cc"], 0x1) = 0' "1 openat(AT_FDCWD, \"$PWD/a.h\", O_RDONLY) = 3" \
		"1 openat(AT_FDCWD, \"$PWD/a.d\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3" \
		"1 openat(AT_FDCWD, \"$PWD/a.o\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3" >log
	echo 'a.o: a.c' >a.d
	run -2 --separate-stderr tr-deps --declared='*.d' log
	[ "$stderr" = "tr-deps: $PWD/a.d: 2 relative paths are left out, because the directory of the command that wrote it is not known: add --project=DIR, or for strace -O cwd=DIR" ]
	run -1 tr-deps --declared='*.d' -O cwd="$PWD" log
	[ "${lines[0]}" = "used, not declared: $PWD/a.o  $PWD/a.h" ]
	[ "${lines[1]}" = "declared, not used: $PWD/a.o  $PWD/a.c" ]
}
