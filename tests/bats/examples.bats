#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Runs the examples of the manual pages and the README. Compares their output with the output that is
# shown after them, and with tests/data/examples/PAGE.golden.

bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	gzip -dc "$top_srcdir/tests/data/build/zlib.kw.json.gz" >build.json
	cp --no-preserve=mode "$top_srcdir/tests/data/apitrace/gears.trace" .
	cp --no-preserve=mode "$top_srcdir/tests/data/apitrace/mt4.trace" game.trace
	gzip -dc "$top_srcdir/tests/data/etrace/hello.nfsdb.gz" >build.nfsdb
	gzip -dc "$top_srcdir/tests/data/gnatcov/true_flat.trace.gz" >run1.trace
	tr-filter 'op has br0' run1.trace | tr-repack -o run2.trace
	cp --no-preserve=mode "$top_srcdir/tests/data/srctrace/good-log.console" console.log
	"$top_srcdir/tests/helper/lexer_log"
	# a build of busybox: the output of make V=1, and the database of its recording
	gzip -dc "$top_srcdir/tests/data/makelog/kbuild.log.gz" >build.log
	gzip -dc "$top_srcdir/tests/data/makelog/expected/kbuild.json.gz" | sed '1s/^/[/; $!s/$/,/; $s/$/]/' >recorded.json
	gzip -k build.json
	tar -cf builds.tar build.json && zstd -q builds.tar && zip -q builds.zip build.json
}

# Writes the examples of a page as N.command, with N.output if the page shows their output, and N.on
# if a trace of tests/data/examples replaces build.json.
split_page() {
	awk -v dir="$2" '/^\.Sh/ { on = /EXAMPLES|COOKBOOK/ } !on { next }
		/^\.\\" on: / { trace = $3 }
		/^\.Bd -literal -offset indent$/ { file = dir "/" sprintf("%02d", ++n); to = file ".command"
			if (trace) print trace >(file ".on"); trace = ""; next }
		/^\.Bd -literal -offset indent-two$/ { to = file ".output"; next }
		/^\.Ed/ { to = "" }
		to { gsub(/\\&/, ""); gsub(/\\e/, "\\"); gsub(/\\\(dq/, "\""); print >to }' "$1"
}

# Runs N.command in the folder of the traces and writes its output to N.got.
run_example() {
	local base=$1 trace= command
	[ ! -f "$base.on" ] || trace=$(cat "$base.on")
	(
		if [ -n "$trace" ]; then
			mkdir -p "$base.d" && cd "$base.d" && cp --no-preserve=mode "$top_srcdir/tests/data/examples/$trace" build.json
		fi
		command=$(cat "$base.command")
		case $command in *'tail -n +1 -f'*) command=${command//tail/timeout 1 tail} ;; esac
		LC_ALL=C timeout 60 bash -c "$command" >"$base.got" 2>"$base.messages" </dev/null
	) || {
		cat "$base.command" "$base.messages"
		return 1
	}
	# the trace of the examples has no secrets that --mask could find
	if grep -v ': note: no variable matches --mask=.*; nothing was masked for it$' "$base.messages"; then
		cat "$base.command"
		return 1
	fi
}

# compare WANT GOT: three dots in the last line of WANT match all further lines
compare() {
	local lines
	if [ "$(tail -n1 "$1")" != ... ]; then
		diff "$1" "$2"
		return
	fi
	lines=$(($(wc -l <"$1") - 1))
	[ "$(wc -l <"$2")" -gt "$lines" ] && diff <(head -n "$lines" "$1") <(head -n "$lines" "$2")
}

@test "examples print what their pages show" {
	local shown=0 page base
	cd "$BATS_FILE_TMPDIR"
	for page in "$top_srcdir"/man/*.[157]; do
		mkdir -p "shown/${page##*/}"
		split_page "$page" "$PWD/shown/${page##*/}"
		for base in "$PWD/shown/${page##*/}"/*.output; do
			[ -f "$base" ] || continue
			base=${base%.output}
			cat "$base.command"
			run_example "$base"
			compare "$base.output" "$base.got"
			shown=$((shown + 1))
		done
	done
	[ "$shown" -ge 5 ]
}

@test "the README shows what its commands print" {
	local n=0 line
	mkdir "$BATS_FILE_TMPDIR/readme" && cd "$BATS_FILE_TMPDIR/readme"
	tr-parse ../build.nfsdb >build.trec
	while IFS= read -r line; do
		case $line in
		'$ '*) n=$((n + 1)) && echo "${line#$ }" >$n.command && : >$n.output ;;
		*) printf '%s\n' "$line" >>$n.output ;;
		esac
	done < <(sed -n '/^```console$/,/^```$/{/^```/d; p}' "$top_srcdir/README.md")
	[ "$n" -ge 4 ]
	for line in $(seq $n); do
		cat $line.command
		bash -c "$(cat $line.command)" >$line.got </dev/null
		compare $line.output $line.got
	done
}

# Runs each block of standard input that ends with "#end"; it has to succeed and to print or write
# something.
run_blocks() {
	local block="" line blocks=0
	while IFS= read -r line; do
		if [ "$line" != "#end" ]; then
			block+=$line$'\n'
			continue
		fi
		case $block in *'tail -n +1 -f'*) block=${block//tail/timeout 1 tail} ;; esac
		echo "running: $block"
		touch marker
		timeout 60 bash -c "$block" >out 2>err </dev/null || { cat err; return 1; }
		# the trace of the examples has no secrets that --mask could find
		! grep -v ': note: no variable matches --mask=.*; nothing was masked for it$' err || return 1
		[ -s out ] || [ -n "$(find . -newer marker -name '*.*' -size +0)" ] || return 1
		block="" blocks=$((blocks + 1))
	done
	[ "$blocks" -gt 0 ]
}

@test "pipelines of the README run" {
	mkdir "$BATS_FILE_TMPDIR/pipelines" && cd "$BATS_FILE_TMPDIR/pipelines"
	cp ../*.* . && cp build.json one.kw.json
	awk '/^## /{on = /pipeline/} on && /^    [a-z]/ {print; print "#end"}' "$top_srcdir/README.md" |
		sed 's/^    //' >examples
	# a program, and a trace of its main; libdw is optional
	cp "$top_builddir/tr-parse" prog
	printf 'section\t0\t-\t-\tFLAT\tbits=64\nblock\t1\t-\t-\t0x%s\tsize=4\n' \
		"$(nm prog | awk '$3 == "main" { print $1 }')" >run.trace
	run tr-repack -q -t lcov -O exe=prog run.trace
	[[ $output != *'without libdw'* ]] || sed -i '/-t lcov/,/^#end/d' examples
	# qemu-user is one of the peers, and does not run programs with AddressSanitizer
	if [ "${TREC_SANITIZED-}" = yes ] || ! type -P qemu-x86_64 >/dev/null; then
		sed -i -e '/^qemu-x86_64/,/^#end/d' -e '/-t lcov/,/^#end/d' examples
	fi
	# a build for the log of make, which is not that of the make that runs the tests
	unset MAKEFLAGS MFLAGS MAKELEVEL
	printf 'one.o: one.c\n\tcc -c one.c -o one.o\n' >Makefile
	echo 'int one;' >one.c
	run_blocks <examples
}

# A golden file contains, for each example, its command, its first lines up to 120 characters, and
# the number of lines. TREC_WRITE_EXAMPLES=yes writes these files again.
@test "examples print what they printed before" {
	local want page base
	cd "$BATS_FILE_TMPDIR"
	for want in "$top_srcdir"/tests/data/examples/*.golden; do
		page=${want##*/} page=${page%.golden}
		mkdir -p "golden/$page"
		split_page "$top_srcdir/man/$page" "$PWD/golden/$page"
		for base in "$PWD/golden/$page"/*.command; do
			base=${base%.command}
			run_example "$base"
			sed 's/^/$ /' "$base.command"
			head -n5 "$base.got" | cut -c1-120
			echo "($(wc -l <"$base.got") lines)"
		done >"$page.now"
		[ -z "$TREC_WRITE_EXAMPLES" ] || cp "$page.now" "$want"
		diff "$want" "$page.now"
	done
}

@test "examples of --help print something and no message" {
	local tool command count=0 most
	mkdir -p "$BATS_FILE_TMPDIR/help" && cd "$BATS_FILE_TMPDIR/help"
	cp ../*.trace ../build.json ../build.nfsdb .
	cp gears.trace glxgears.trace && cp gears.trace unknown.bin && cp run1.trace run2.trace
	gzip -k build.json
	printf '%s\n' '1 execve("/bin/sh", ["sh"], 0x1 /* 0 vars */) = 0' \
		'1 execve("/bin/cc", ["cc"], 0x1 /* 0 vars */) = -1 ENOENT (No such file or directory)' \
		'1 +++ exited with 1 +++' >build.strace
	tar -cf traces.tar build.json && zstd -q traces.tar && zip -q traces.zip build.json
	for tool in tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-deps tr-diff tr-repack; do
		while IFS= read -r command; do
			case $command in
			*'| dot '*) command -v dot >/dev/null || continue ;;
			*ShaderSource*) cp --no-preserve=mode "$top_srcdir/tests/data/apitrace/es2tri.trace" glxgears.trace ;;
			*exe=prog*)
				! tr-repack -q -t lcov -O exe=/bin/sh /dev/null 2>&1 | grep -q 'without libdw' || continue
				printf 'int main(void)\n{\n\treturn 0;\n}\n' >prog.c
				gcc -g -no-pie -o prog prog.c
				nm -S prog | sed -n 's/^0*\([0-9a-f]*\) 0*\([0-9a-f]*\) T main$/\1 \2/p' |
					{ read -r begin size
					printf 'section\t0\t-\t-\tFLAT\tbits=64\tendian=little\tmachine=EM_X86_64\n'
					printf 'block\t1\t-\t-\t0x%016x\tsize=%d\top=block\n' "0x$begin" "0x$size"; } >run.trace
				;;
			*--keep=PATH*) cp --no-preserve=mode "$top_srcdir/tests/data/examples/path.json" build.json ;;
			esac
			most=0
			# there are differences
			case $command in *--compare* | *'| tr-diff '*) most=1 ;; esac
			echo "running: $command"
			touch marker
			run --separate-stderr timeout 60 bash -c "${command/| less/| cat}" </dev/null
			[ "$status" -le "$most" ]
			# the trace has no secrets that --mask could find
			stderr=$(grep -v ': note: no variable matches --mask=.*; nothing was masked for it$' <<<"$stderr" || :)
			[ -z "$stderr" ]
			[ -n "$output" ] || [ -n "$(find . -newer marker -name '*.*' -size +0)" ]
			cp ../build.json .
			count=$((count + 1))
		done < <("$tool" --help | sed -n '/^Examples:/,/^$/s/^  \([^#].*\)/\1/p')
	done
	[ "$count" -ge 20 ]
}
