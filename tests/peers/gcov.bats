#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Coverage by line of the programs of tests/data/lines, each of which has the constructs of one kind,
# and of tests/data/programs, ten programs of ordinary size. The coverage from qemu-user's log is
# compared with gcov's for the same sources, compiled with --coverage and run natively. Both agree
# whether a line ran if both list it. Lines that only one of them lists have a named class.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data
	for program in gcov jq "$CXX" gcc; do
		[ -z "$program" ] || command -v "$program" >/dev/null || skip "no $program"
	done
	base=0x4000000000 # where qemu-user loads a position-independent program
}

# with_gcov SOURCE: gcov.lines has LINE and whether it ran
with_gcov() {
	local compile=gcc library=
	case $1 in *.cc) compile=g++ ;; esac
	mkdir -p cov && (
		cd cov
		if [ "$1" = library.c ]; then
			mkdir shared && (cd shared && gcc -O0 --coverage -fPIC -shared -DLIBRARY -o ../liblib.so "../../$1")
			library="-L. -llib -Wl,-rpath,$PWD"
		fi
		# shellcheck disable=SC2086 # options
		$compile -O0 --coverage -o prog "../$1" $library
		./prog >/dev/null
		find . -name '*.gcda' | while read -r data; do
			gcov -i -t "$data" 2>/dev/null
		done
	) | jq -r --arg name "$1" '.files[] | select(.file | endswith("/" + $name) or . == $name) | .lines[] |
		[.line_number, .count > 0] | @tsv' | merge >gcov.lines
}

# merge: of several entries for a line, it ran if one of them did
merge() {
	awk '{ n = $2 == "true" || $2 + 0 > 0; ran[$1] = ran[$1] || n } END { for (l in ran) print l "\t" ran[l] }' | sort
}

# with_log SOURCE EMULATOR COMPILER FLAG...: log.lines is the same from the log of the emulator
with_log() {
	local source=$1 emulator=$2 compiler=$3 options=(-O exe=prog)
	shift 3
	command -v "$emulator" >/dev/null || skip "no $emulator"
	command -v "$compiler" >/dev/null || skip "no $compiler"
	if [ "$source" = library.c ]; then
		"$compiler" -O0 -g -fPIC -shared -DLIBRARY -o liblib.so "$source"
		set -- "$@" -L. -llib "-Wl,-rpath,$PWD"
	fi
	"$compiler" -O0 -g -o prog "$source" "$@"
	case $* in *-static*) ;; *) options+=(-O "base=$base") ;; esac
	if [ "$source" = library.c ]; then
		# the first mapping after the library was opened
		"$emulator" -strace ./prog 2>strace.log >/dev/null
		library=$(awk '/liblib.so.*= [0-9]/ { on = 1 } on && /mmap.*DENYWRITE/ { print $NF; exit }' strace.log)
		options+=(-O exe=liblib.so -O "base=liblib.so=$library")
	fi
	"$emulator" -d in_asm,exec,nochain -D run.log ./prog >/dev/null
	tr-repack -q -t lcov "${options[@]}" -o prog.info run.log
	awk -F'[:,]' -v name="/$source" '
		/^SF:/ { on = substr($0, length($0) - length(name) + 1) == name }
		on && /^DA:/ { print $2 "\t" $3 }' prog.info | merge >log.lines
}

# compare SOURCE EMULATOR: prints figures, also into figures.EMULATOR, and the lines that only one of them
# knows into lines.EMULATOR; fails where the results contradict each other
compare() {
	join -j 1 gcov.lines log.lines >both
	join -v 1 gcov.lines log.lines | cut -d' ' -f1 >missing
	join -v 2 gcov.lines log.lines | cut -d' ' -f1 >extra
	echo "$1: gcov $(wc -l <gcov.lines), ours $(wc -l <log.lines), missing: $(paste -sd' ' missing), extra: $(paste -sd' ' extra)" |
		tee -a "figures.$2"
	# whether an opening brace has a row depends on the processor
	while read -r line; do
		sed -n "${line}p" "$1" | grep -qE '^\s*\{$' || echo "$1:$line"
	done < <(cat missing extra) >>"lines.$2"
	[ -s both ]
	awk '$2 != $3 { print "line " $1 ": gcov " $2 ", ours " $3; bad = 1 } END { exit bad }' both
	# no row in the line table: a label of a switch, a jump, the head of an endless loop, a macro without
	# code, and the opening brace of a function on some processors
	while read -r line; do
		sed -n "${line}p" "$1" | grep -qE \
			'^\s*((case .*|default):( \{)?|(continue|break|return);|for \(;;\) \{|va_end\(.*\);|\{)$'
	done <missing
	# gcov leaves out: the closing brace of a function without a value, and a function that is only inlined
	while read -r line; do
		sed -n "${line}p" "$1" | grep -qE '^\s*\}$|always_inline'
	done <extra
}

for_each() { # for_each FOLDER/PATTERN EMULATOR C C++ FLAG...
	local pattern=$1 emulator=$2 c=$3 cxx=$4 source compiler
	shift 4
	for source in "$data"/$pattern; do
		source=${source##*/}
		rm -rf cov prog && cp "$data/${pattern%/*}/$source" .
		compiler=$c
		case $source in *.cc) compiler=$cxx ;; esac
		with_gcov "$source"
		with_log "$source" "$emulator" "$compiler" "$@"
		compare "$source" "$emulator"
	done
}

# for_all EMULATOR C C++ FLAG...: all programs but those with a shared library
for_all() {
	for_each 'lines/[!l]*.c*' "$@"
	for_each 'lines/lo*.c' "$@"
	for_each 'programs/[!l]*.c*' "$@"
}

@test "x86-64: position-independent programs of C and C++, and a shared library" {
	for_each 'lines/*.c*' qemu-x86_64 gcc g++
}

@test "x86-64: ten programs of ordinary size miss 2 % of the lines at most, and 1 % are extra" {
	for_each 'programs/*.c*' qemu-x86_64 gcc g++
	awk -F': |, ' '
		{ gcov += substr($2, 6); missing += split($5, list, " "); extra += split($7, list, " ") }
		END { print gcov, missing, extra
			exit !(NR == 10 && gcov > 1000 && 100 * missing <= 2 * gcov && 100 * extra <= gcov) }' \
		figures.qemu-x86_64
}

@test "x86-64: static programs" {
	for_all qemu-x86_64 gcc g++ -static
}

@test "PowerPC, 32 bits, big endian: the lines of x86-64" {
	for_all qemu-ppc powerpc-linux-gnu-gcc powerpc-linux-gnu-g++ -static
	for_all qemu-x86_64 gcc g++ -static
	diff lines.qemu-x86_64 lines.qemu-ppc
}

@test "ARM, 32 bits, ARM and Thumb instructions: the lines of x86-64" {
	for_all qemu-x86_64 gcc g++ -static
	for mode in -mthumb -marm; do
		rm -f lines.qemu-arm
		for_all qemu-arm arm-linux-gnueabihf-gcc arm-linux-gnueabihf-g++ -static -Wno-psabi $mode
		diff lines.qemu-x86_64 lines.qemu-arm
	done
}
