#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Coverage by line of the programs of tests/data/lines: what qemu-user's log gives, and what gcov says
# of the same sources, compiled with --coverage and run natively. On the lines that both know they
# agree whether the line ran. Lines that only one of them knows are labels, jumps and braces.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	sources=${top_srcdir:?}/tests/data/lines
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

# compare SOURCE EMULATOR: prints figures, also into figures.EMULATOR; fails where the results contradict each other
compare() {
	join -j 1 gcov.lines log.lines >both
	join -v 1 gcov.lines log.lines | cut -d' ' -f1 >missing
	join -v 2 gcov.lines log.lines | cut -d' ' -f1 >extra
	echo "$1: gcov $(wc -l <gcov.lines), ours $(wc -l <log.lines), missing: $(paste -sd' ' missing), extra: $(paste -sd' ' extra)" |
		tee -a "figures.$2"
	[ -s both ]
	awk '$2 != $3 { print "line " $1 ": gcov " $2 ", ours " $3; bad = 1 } END { exit bad }' both
	# the label of a switch, a jump or a brace may have no row in the line table, a closing brace may have one
	while read -r line; do
		sed -n "${line}p" "$1" | grep -qE '^\s*(case .*:|default:|continue;|break;|[{}])$'
	done <missing
	while read -r line; do
		[ "$(sed -n "${line}p" "$1" | tr -d '[:blank:]')" = '}' ]
	done <extra
}

for_each() { # for_each PATTERN EMULATOR C C++ FLAG...
	local pattern=$1 emulator=$2 c=$3 cxx=$4 source compiler
	shift 4
	for source in "$sources"/$pattern; do
		source=${source##*/}
		rm -rf cov prog && cp "$sources/$source" .
		compiler=$c
		case $source in *.cc) compiler=$cxx ;; esac
		with_gcov "$source"
		with_log "$source" "$emulator" "$compiler" "$@"
		compare "$source" "$emulator"
	done
}

@test "x86-64: position-independent programs of C and C++, and a shared library" {
	for_each '*.c*' qemu-x86_64 gcc g++
}

@test "x86-64: static programs" {
	for_each '[!l]*.c*' qemu-x86_64 gcc g++ -static
	for_each 'lo*.c' qemu-x86_64 gcc g++ -static
}

@test "x86-64: 2 % of the lines are missing at most, besides labels of switches, and 1 % are extra" {
	for_each '*.c*' qemu-x86_64 gcc g++
	labels=$(cat "$sources"/*.c* | grep -cE '^\s*(case .*|default):$')
	awk -F': |, ' -v labels="$labels" '
		{ gcov += substr($2, 6); missing += split($5, list, " "); extra += split($7, list, " ") }
		END { print gcov, missing, labels, extra
			exit !(gcov > 250 && 50 * (missing - labels) <= gcov && 100 * extra <= gcov) }' figures.qemu-x86_64
}

@test "PowerPC, 32 bits, big endian: the figures of x86-64" {
	for_each '[!l]*.c' qemu-ppc powerpc-linux-gnu-gcc none -static
	for_each 'lo*.c' qemu-ppc powerpc-linux-gnu-gcc none -static
	for_each '[!l]*.c' qemu-x86_64 gcc none -static
	for_each 'lo*.c' qemu-x86_64 gcc none -static
	diff figures.qemu-x86_64 figures.qemu-ppc
}

@test "ARM, 32 bits, ARM and Thumb instructions: the figures of x86-64" {
	for_each '[!l]*.c' qemu-x86_64 gcc none -static
	for_each 'lo*.c' qemu-x86_64 gcc none -static
	for mode in -mthumb -marm; do
		rm -f figures.qemu-arm
		for_each '[!l]*.c' qemu-arm arm-linux-gnueabihf-gcc none -static $mode
		for_each 'lo*.c' qemu-arm arm-linux-gnueabihf-gcc none -static $mode
		diff figures.qemu-x86_64 figures.qemu-arm
	done
}
