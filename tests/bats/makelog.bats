#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Logs of builds: the printed commands of make, ninja and libtool.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/makelog
}

# short FILE: the records of a log, a line each: directory, argv and further flags
short() {
	tr-parse -q -f makelog -O cwd=/b "$1" | grep ^exec | sed -E \
		-e 's/^exec\t[0-9]+\t-\t-\t[^\t]*\t(cwd="([^"]*)")?/\2/' -e 's/^\t*argv=/-\targv=/' \
		-e 's/\targv=/ /' -e 's/\tflagged=\["from-log",?/ /' -e 's/]$//' -e 's/ $//' |
		sed -E ':a; s/(] [^]]*)"([a-z-]+)",?([^]]*)$/\1\2 \3/; ta; s/ +$//'
}

@test "each case gives its commands" {
	local count=0 bad=0 line title=""
	: >log; : >want
	while IFS= read -r line; do
		case $line in
		'#'*) title=$line ;;
		'|'*)
			line=${line#|} line=${line//@ESC@/$'\e'} line=${line//@CR@/$'\r'}
			printf '%s\n' "${line//@BEL@/$'\a'}" >>log
			;;
		'')
			[ -s log ] || continue
			short log >got
			diff want got >diff || { echo "$title"; cat diff; bad=$((bad + 1)); }
			count=$((count + 1)); : >log; : >want
			;;
		*) printf '%s\n' "$line" >>want ;;
		esac
	done < <(cat "$data/commands.cases"; echo)
	echo "$count cases, $bad of them wrong"
	[ "$bad" -eq 0 ] && [ "$count" -gt 12 ]
}

# compiledb_case: compares the database of log, in which that of db may be kept, with want
compiledb_case() {
	local options=() option
	for option in $1; do options+=(-O "$option"); done
	tr-repack -q -f makelog -t compdb -O cwd=/b "${options[@]}" -o made log || return 1
	jq -r '.[] | [.directory, .file, .output // "-"] + .arguments | map(gsub(" "; "~")) | join(" ")' \
		made | diff want - >diff
}

@test "compiledb's cases give its commands" {
	command -v jq >/dev/null || skip "jq is not installed"
	local count=0 bad=0 line title="" options=""
	: >log; : >want; : >db
	while IFS= read -r line; do
		case $line in
		'@'*) title=$line ;;
		'#'*) ;;
		'- '*) options=${line#- } ;;
		'|'*) line=${line#|}; printf '%s\n' "${line# }" >>log ;;
		'+ '*) printf '[%s]\n' "${line#+ }" >db ;;
		'> '*) printf '%s\n' "${line#> }" >>want ;;
		'')
			[ -n "$title" ] || continue
			compiledb_case "$options" || { echo "$title"; cat diff; bad=$((bad + 1)); }
			count=$((count + 1)); title="" options=""; : >log; : >want; : >db
			;;
		esac
	done < <(set -f; cat "$data/compiledb.cases"; echo)
	echo "$count cases, $bad of them wrong"
	[ "$bad" -eq 0 ] && [ "$count" -eq 10 ]
}

# database FILE FOLDER: the compilation database of a log, an entry a line, programs without folder
database() {
	tr-repack -q -t compdb -z none -O cwd="$2" "$1" | jq -cS '.[] | .arguments[0] |= sub(".*/"; "")' |
		LC_ALL=C sort
}

@test "a log gives the compilation database that tr-record gives" {
	command -v jq >/dev/null || skip "jq is not installed"
	local name
	for name in autotools:popt kbuild:busybox cmake:cm/build-Unix ninja:cm/build-Ninja; do
		database "$data/${name%:*}".log* "/srv/build/${name#*:}" >got
		# a log cannot know: the folder of a program, commands that make and scripts do not print
		# (busybox tries options of the compiler, and links with scripts/trylink)
		gzip -dc "$data/expected/${name%:*}.json.gz" | jq -cS . |
			grep -vE '"file":"(/dev/null|.*/bb_libtest.c|.*/tmp\.[A-Za-z0-9]+\.c)"' |
			LC_ALL=C sort >want
		echo "${name%:*}: $(wc -l <got) of $(wc -l <want)"
		diff want got
		[ -s got ]
	done
}

@test "an unknown program that is called like a compiler is named, and a log without commands is reported" {
	printf '%s\n' "make[1]: Entering directory '/srv/p'" '[1/3] gcc -c sub.c -o a.o' \
		'[2/3] env X=1 /opt/bin/acmecc.exe -c main.c -o b.o' 'acmecc -Iinc -c x.cpp' \
		'diff -c a.c b.c' 'wc -c a.c' 'python3 -c import a.c -o x' 'grep -c -I x a.c' 'acmecc -c x.o -o x' >log
	run -0 --separate-stderr tr-repack -t compdb log
	[ "$stderr" = "tr-repack: log: note: unknown program that is called like a compiler: acmecc, 2 times; -O compiler=acmecc=gcc if it has the options of GCC" ]
	run -0 --separate-stderr tr-repack -t compdb -O compiler=acmecc=gcc log
	[ -z "$stderr" ]
	[ "$(grep -c '"file"' <<<"$output")" -eq 3 ]
	echo '$CC -c a.c' >variable
	run -0 --separate-stderr tr-repack -t compdb -f makelog -O cwd=/b variable
	[[ $stderr == *'called like a compiler: $CC, 1 time; -O compiler=$CC=gcc '* ]]
	[ "$(tr-repack -q -t compdb -f makelog -O cwd=/b -O 'compiler=$CC=gcc' variable | grep -c '"file"')" -eq 1 ]
	for i in 1 2 3 4 5 6; do echo "acme$i -O2 -c $i.c"; done >>log
	run -0 --separate-stderr tr-parse log
	[ "$(grep -c 'called like a compiler' <<<"$stderr")" -eq 4 ]
	printf '%s\n' "make[1]: Entering directory '/srv/p'" '  CC  x.o' "make[1]: Leaving directory '/srv/p'" >quiet
	run -0 --separate-stderr tr-repack -t compdb quiet
	[ "$output" = '[]' ]
	[ "$stderr" = "tr-repack: quiet: note: no command of a build tool in 3 lines; make V=1, ninja -v and cmake --build -v print the commands that they run" ]
	# a build that compiles in an unknown directory is not reported as compiling nothing
	echo 'gcc -c a.c -o a.o' >log
	run -2 --separate-stderr tr-repack -t compdb -f makelog log
	[[ $stderr != *'no command here compiles'* ]]
}

@test "shells with options, shells in shells, and programs that change the directory" {
	{
		printf '%s\n' "/bin/sh -ec 'cc -c a.c'" "bash -o pipefail -c 'cc -c b.c'" "bash -lc 'cc -c c.c'" \
			"sh -c \"sh -e -c 'cd x && cc -c d.c'\"" 'sh -e script.sh' 'cmake -E chdir sub cc -c e.c' \
			'env -C sub A=1 gcc -c f.c' 'env --chdir=/abs gcc -c g.c' 'pushd y && cc -c h.c' 'cd ~/x && cc -c i.c'
		printf '\033[1mcc -c j.c\033[0m\r\n\033[32mcc -c k.c -o k.o\033[m\n'
	} >log
	run -0 --separate-stderr tr-filter -f makelog -O cwd=/w --raw --fields=cwd,argv exec log
	[ "$output" = '/w	["cc","-c","a.c"]
/w	["cc","-c","b.c"]
/w	["cc","-c","c.c"]
/w/x	["cc","-c","d.c"]
/w/sub	["cc","-c","e.c"]
/w/sub	["gcc","-c","f.c"]
/abs	["gcc","-c","g.c"]
/w/y	["cc","-c","h.c"]
	["cc","-c","i.c"]
/w	["cc","-c","j.c"]
/w	["cc","-c","k.c","-o","k.o"]' ]
	# paths that grow without end
	for i in {1..300}; do printf "make[%d]: Entering directory '%0100d'\ncc -c a.c\n" $i $i; done >log
	run -2 --separate-stderr tr-filter -f makelog -O cwd=/w --fields=cwd exec log
	[ "$(wc -l <<<"$output")" -eq 300 ]
	[ "$(wc -c <<<"$output")" -lt $((300 * 16500)) ]
	[[ $stderr == *'a directory whose path is longer than 16384 bytes is not entered'* ]]
}

@test "words are separated by any number of blanks, wherever they begin" {
	local length fill
	for ((length = 1; length < 140; length++)); do
		printf -v fill '%*s' "$length" ''
		printf "gcc -c a.c -I%s   -DX='\"y\"' -DZ  'b c.c'\n" "${fill// /f}"
	done >log
	tr-parse -q -f makelog log | grep -c '"-c","a.c","-If*","-DX=\\"y\\"","-DZ","b c.c"\]' >count
	[ "$(cat count)" -eq 139 ]
}

@test "records that tr-parse writes as lines are those that other tools read" {
	local name
	grep '^|' "$data/commands.cases" | cut -c 2- >cases.log
	for name in "$data"/*.log.gz cases.log; do
		tr-parse -q -f makelog "$name" >lines || true
		tr-parse -q -f makelog --no-blobs "$name" >records || true
		cmp lines records
		[ "$(wc -l <lines)" -gt 4 ]
	done
	# limits hold for both, and a log that is still written to is read at once
	printf 'cc -c a.c%.0s;' {1..5} >log
	run -2 --separate-stderr tr-parse -f makelog --max-record=60 log
	[[ $stderr == *'log:1: the commands of a line exceed --max-record'* && $output != *exec* ]]
	printf 'cc -c a.c\ncc -c b.c\n' >log
	mkfifo slow
	{ cat log; read -r _ <slow; } | tr-parse -q -f makelog | { head -n 3 >got; echo >slow; }
	grep -c ^exec got | grep -x 2
}

@test "a log that ends within a command is truncated" {
	local end
	# a line, several that belong together, those of a quote, a shell, and a command with an unclosed quote
	for end in 'cc -c b.c -o b' $'cc -c b.c \\\n -o b' $'cc -DX="\n" -c b.c -o b' 'sh -c "cc -c b.c -o b"' 'cc -c b.c "-o'; do
		printf 'cc -c a.c -o a.o\n%s' "$end" >log
		run -2 --separate-stderr tr-parse -f makelog -O cwd=/b log
		[[ $stderr == 'tr-parse: log:'*': the last line has no newline: its command may be truncated' ||
			$stderr == 'tr-parse: log:2: a command with an unclosed quote'* ]]
		[[ $output == *'"a.o"]'*$'\terrors=1\ttruncated=true' ]]
		echo >>log
		tr-parse -q -f makelog -O cwd=/b log >whole || true
		[[ $(<whole) != *truncated* ]]
		cmp <(grep ^exec <<<"$output") <(grep ^exec whole)
	done
	# a limit stays the reason
	printf 'cc -c a.c %0200d\\\n%0200d' 0 0 >log
	run -2 tr-parse -f makelog --max-record=230 --report=report log
	[ "$(jq -r 'select(.severity == "damage").cause' report | sort -u)" = limit ]
	# not where the last line is something else
	printf 'cc -c a.c -o a.o\nmake: Nothing to be d' >log
	run -0 --separate-stderr tr-parse -f makelog -O cwd=/b log
	[ -z "$stderr" ]
}

@test "a log that ends after a backslash is truncated, and its command has no argument for it" {
	local end
	for end in 'cc -c b.c \' 'cc -c b.c\' $'cc \\\n-c b.c \\' 'cl -c b.c \'; do
		for newline in $'\n' ''; do
			printf 'cc -c a.c\n%s%s' "$end" "$newline" >log
			run -2 --separate-stderr tr-parse -f makelog -O cwd=/b log
			[ "$stderr" = 'tr-parse: log:2: the last line ends with a backslash: its command may be truncated' ]
			[[ $output == *'","-c","b.c"]'*$'\terrors=1\ttruncated=true' ]]
		done
	done
	# text is not truncated, and at the end of a script a shell keeps the backslash
	printf '%s\n' "sh -c 'cc -c a.c \\'" 'a folder, C:\b, or \' >log
	run -0 --separate-stderr tr-parse -q -f makelog log
	[ -z "$stderr" ]
	[[ $output == *'["cc","-c","a.c","\\"]'* ]]
}

@test "how far a log is read for the end of a command does not depend on how it arrives" {
	{ printf "gcc -c 'a.c\n"; head -c 16368 /dev/zero | tr '\0' z; printf "\nb.c' -o q.o -DX"; } >log
	[ "$(tail -n +2 log | wc -c)" -eq 16384 ]
	local way
	for way in 'tr-parse -O cwd=/b log' 'tr-parse -f makelog -O cwd=/b log' 'cat log | tr-parse -f makelog -O cwd=/b'; do
		run -2 --separate-stderr bash -c "$way"
		[[ $stderr == *': the last line has no newline: its command may be truncated' ]]
		[[ $output == *'"-o","q.o","-DX"]'* ]]
	done
}

@test "joined lines without a command are read one by one, also after one that cannot be read" {
	printf '%s\n' 'foo \' "gcc -c 'a.c \\" 'gcc -c b.c' >log
	run -2 --separate-stderr tr-parse -f makelog -O cwd=/b log
	[ "$stderr" = "tr-parse: log:1: a command with an unclosed quote or bracket: left out" ]
	[[ $output == *'["gcc","-c","b.c"]'*$'\terrors=1' ]]
}

@test "a command with a bracket that no shell accepts is reported, and text with brackets is not" {
	printf '%s\n' 'cc -DX=(1) -c a.c' "sh -c 'cc -DX=(1) -c b.c'" 'cc -c c.c' 'cc (a compiler) 1.0' 'no -c (option)' >log
	run -2 --separate-stderr tr-parse -q -f makelog log
	[ "$(grep -o 'log:.*' <<<"$stderr")" = "log:1: a command with an unquoted or unmatched bracket: left out
log:2: a command with an unquoted or unmatched bracket: left out" ]
	[ "$(grep -c ^exec <<<"$output")" -eq 1 ]
}

@test "what is counted, and what a log does not contain" {
	run -0 --separate-stderr tr-parse --verbose "$data/ninja.log.gz"
	[[ $stderr == *"note: commands whose directory is not in the log: 4; -O cwd=DIR says where the build began"* ]]
	run -0 --separate-stderr tr-parse --verbose "$data/autotools.log.gz"
	[[ $stderr == *"note: lines without a command of a build tool: 34"* ]]
	[[ $stderr != *"directory is not in the log"* ]]
	printf 'cc -c $A.c\n' >log
	run -0 --separate-stderr tr-parse -O cwd=/b log
	[[ $stderr == *'(flagged "unexpanded"): 1'* ]]
	tr-parse -q -f makelog -O cwd=. log | grep -F "cwd=\"$(pwd -P)\""
	tr-parse -q -f makelog -O 'cwd=C:\b' log | grep -F 'cwd="C:\\b"'
	run -2 tr-parse -f makelog -O cwd= log
	[[ $output == *"-O cwd takes a directory, not ''"* ]]
}

@test "a log is only recognised where no trace is" {
	printf 'hello\nThe gcc is a compiler.\n' >text
	run -2 tr-parse text
	[[ $output == *"not a known trace format"* ]]
	printf 'hello\ngcc -c a.c\r\n' >log
	[ "$(tr-parse --identify log)" = "log: makelog" ]
	printf 'x\n  "C:\\VC\\bin\\cl.exe" /c a.c\n' >log
	[ "$(tr-parse --identify log)" = "log: makelog" ]
	# a compiler of the user is as good
	printf 'hello\nmycc -O2 a.o -o prog\n' >log
	run -2 tr-parse --identify log
	[ "$(tr-parse --identify -O compiler=mycc=gcc log)" = "log: makelog" ]
	[ "$(tr-repack -q -t kwspec -O cwd=/b -O compiler=mycc=gcc log | tail -n 1)" = 'link;/b;/b/prog;/b/a.o' ]
	printf '[own driver]\nnames mycc\ncompile alone -k\n' >own.txt
	[ "$(tr-parse --identify -O compilers=own.txt -O only-compilers=yes log)" = "log: makelog" ]
	run -2 tr-parse --identify -O compiler=other=gcc log
	run -2 tr-parse -O compiler=mycc=nosuch log
	[[ $output == *"compiler=mycc=nosuch: unknown family 'nosuch'"* ]]
	printf 'hello\ngcc -c a.c\r\n' >log
	{ cat log; cat "$top_srcdir/tests/data/srctrace/good-log.console"; } >console
	[[ $(tr-parse --identify console) == *srctrace* ]]
}

@test "hostile logs take a bounded amount of memory, and other commands are kept" {
	printf 'cc -c "a.c\ncc -c b.c\n' >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1: a command with an unclosed quote or bracket: left out"* ]]
	[[ $output == *'"b.c"'* && $output != *'a.c'* ]]
	{ head -c 10000 /dev/zero | tr '\0' '('; echo 'cc -c a.c'; echo 'cc -c b.c'; } >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1: a command with more than 1000 nested subshells or substitutions: left out"* ]]
	[[ $output == *'"b.c"'* ]]
	{ echo "cc -c a.c $(printf '$(%.0s' {1..1001})x$(printf ')%.0s' {1..1001})"; echo 'cc -c b.c'; } >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1: a command with more than 1000 nested subshells or substitutions: left out"* ]]
	[[ $output == *'"b.c"'* && $output != *'a.c'* ]]
	# as are those of a script in it
	{ echo "sh -c '$(head -c 1100 /dev/zero | tr '\0' '(')cc'; cc -c a.c"; } >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1: a command with more than 1000 nested"* && $output == *'"a.c"'* ]]
	echo "cc -c a.c -DX=$(printf '${x:-%.0s' {1..100})$(printf '}%.0s' {1..100})" >log
	run -0 --separate-stderr tr-parse -q -f makelog log
	[[ $output == *'"a.c"'*'"unexpanded"'* ]]
	{ seq 1002 | sed "s:.*:make[&]\: Entering directory '/d&':"; echo 'cc -c b.c'; } >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1001: more than 1000 directories are entered and not left"* ]]
	[[ $output == *'cwd="/d1002"'* ]]
	{ printf 'cc -c a\0b.c\n'; printf 'cc -DX='; head -c 3000000 /dev/zero | tr '\0' x; printf ' -c c.c\ncc -c d.c\n'; } >log
	run -2 --separate-stderr tr-parse -f makelog --max-record=1M log
	[[ $stderr == *"log:2:"* ]]
	[[ $output == *'"a\u0000b.c"'* && $output == *'"d.c"'* ]]
	{ printf 'cc -c'; yes ' a' | head -n 1000000 | tr -d '\n'; printf '\ncc -c b.c\n'; } >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1: a command with more than 1000000 words: left out"* ]]
	[[ $output == *'"b.c"'* && $output != *'"a"'* ]]
	# within scripts, too, a part that cannot be read is reported, and the others are read
	printf '%s\n' "sh -c \"sh -c 'cc -c a.c\"; cc -c b.c" 'eval "cc -c \"c.c"' >log
	run -2 --separate-stderr tr-parse -f makelog log
	[ "$(grep -c 'an unclosed quote or bracket: left out' <<<"$stderr")" -eq 2 ]
	[[ $output == *'"b.c"'* && $output != *'a.c'* && $output != *'c.c'* ]]
	eval_of=()
	for i in {1..8}; do eval_of+=(eval); done
	echo "${eval_of[*]} cc -c a.c; cc -c b.c; ${eval_of[*]:1} cc -c c.c" >log
	run -2 --separate-stderr tr-parse -f makelog log
	[[ $stderr == *"log:1: commands in more than 7 nested scripts: left out"* ]]
	[[ $output == *'"b.c"'*'"c.c"'* && $output != *'a.c'* ]]
	# the words of an eval are not kept while its script is read
	{ printf 'eval eval eval eval eval eval cc -c'; yes ' a' | head -n 500000 | tr -d '\n'; echo; } >log
	([ -n "${TREC_SANITIZED-}" ] || ulimit -v 150000; tr-parse -q -f makelog log) >got
	[ "$(wc -c <got)" -gt 2000000 ]
	# the end of a command is not looked for without end
	{ printf '( cd x;%.0s\n' $(seq 30000); echo 'cc -c d.c'; } >log
	run -0 --separate-stderr timeout 20 tr-parse -q -f makelog log
	[[ $output == *'"d.c"'* ]]
	# nor is that of a link that a terminal shows, and a directory has a longest path
	{ yes $'\e]' | head -n 300000 | tr -d '\n'; echo 'cc -c e.c'; } >log
	run -0 --separate-stderr timeout 20 tr-parse -q -f makelog log
	[[ $output == *'"e.c"'* ]]
	{ printf 'cmd.exe /C "'; yes 'cd x && ' | head -n 9000 | tr -d '\n'; echo 'cl /c f.c"'; } >log
	run -0 --separate-stderr tr-parse -q -f makelog -O cwd=/b log
	[[ $output == *$'\tcl\targv=["cl","/c","f.c"]'* ]]
	yes 'cc -c x.c \' | head -n 100000 >log
	run -2 --separate-stderr tr-parse -f makelog --max-record=500k log
	[[ $stderr == *"log:1: lines that backslashes join exceed --max-record: left out"* ]]
}

@test "records that are a little longer than --max-record are read or reported, also by filters" {
	local length cwd=/0123456789012345678901234567890123456789
	for length in 100 240 250 260 270 280 288; do
		printf 'gcc -c %0*d.c\ngcc -c b.c\n' "$length" 0 >log
		tr-parse -q -f makelog -O cwd=$cwd --max-record=300 log >want 2>parse || true
		tr-filter -q -f makelog -O cwd=$cwd --max-record=300 'kind == "exec"' log >got 2>filter || true
		diff want got && diff <(sed 's/^tr-parse//' parse) <(sed 's/^tr-filter//' filter)
		grep '"b.c"' got
	done
}
