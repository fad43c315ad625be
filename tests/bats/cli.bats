#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The parts of the command line that all tools share, tested with tr-parse.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	trec=$top_srcdir/tests/data/trec/filter.trec
}

# many N: a stream of N records
many() {
	printf '%%trec\t1\tformat=klocwork\n'
	seq 0 $(($1 - 1)) | sed 's/.*/exec\t&\t-\t1\tgcc\targv=["gcc","-c","file&.c"]/'
	printf '!end\t%d\n' "$1"
}

@test "--help: exit 0, every option, an example" {
	run -0 tr-parse --help
	[[ $output == "Usage: tr-parse "* ]]
	[[ $output == *"--exact"* && $output != *"-o, --output=FILE"* ]]
	[[ $output == *"Examples:"* ]]
	run -0 tr-parse --help=all
	[[ $output == *"--exact"* && $output == *"-o, --output=FILE"* && $output != *"pid-bits="* ]]
	run -0 tr-parse --help=formats
	[[ $output != *"--exact"* && $output == *"pid-bits=N"* ]]
	run -2 tr-parse --help=options
	[[ ${lines[0]} == "tr-parse: --help takes all|formats, not 'options'" ]]
	run -0 tr-parse -h
	[[ $output == "Usage: tr-parse "* ]]
}

@test "--help keeps within 50 lines of 80 columns" {
	for tool in tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-deps tr-diff tr-repack tr-symbolize tr-record; do
		# but for an option whose choices are many
		[ "$($tool --help | wc -l)" -le 50 ]
		{ $tool --help=formats && $tool --help=all; } | sed -E -e '/^Examples:/,$d' -e '/^ +--[^ ]+$/d' >help
		[ -s help ]
		run -1 grep -E '^.{80}' help
		# no letter has two meanings
		[ -z "$(grep -oE '^  -., ' help | sort | uniq -d)" ]
	done
}

@test "--version: the tool and its libraries" {
	run -0 tr-parse --version
	[[ ${lines[0]} == "tr-parse (trec-tools) "* ]]
	[ "${#lines[@]}" -gt 1 ]
	run -0 tr-parse -V
}

@test "--list-formats: a table of five columns" {
	tr-parse --list-formats >table
	run -0 awk -F'\t' 'NF != 5 || $2 !~ /^(yes|no)$/ || $3 !~ /^(yes|no)$/ { exit 1 }' table
	grep -q '^trec	yes	yes	' table
}

@test "a bad option: one line, a hint, exit 2" {
	for bad in --nonsense -Y --output '--exact=1' --max-depth=61 --max-record=1X --max-ratio=0 \
		--progress=perhaps '-f nonsense' '-O x' '-O x=y'; do
		# shellcheck disable=SC2086
		run --separate-stderr -2 tr-parse "$trec" $bad
		[ -z "$output" ]
		[[ ${stderr_lines[0]} == "tr-parse: "* ]]
		[ "${stderr_lines[1]}" = "Try 'tr-parse --help' for more." ]
		[ "${#stderr_lines[@]}" -eq 2 ]
	done
}

@test "options can be abbreviated, and can come after operands" {
	run -0 tr-parse "$trec" --identi
	[ "$output" = "$trec: trec" ]
}

@test "sizes take K, M and G" {
	for size in 4096 4k 4K 1M 1G; do
		tr-parse --max-record=$size "$trec" | cmp - "$trec"
	done
	for size in '1 ' ' 1' 1T 1KB K ''; do
		run -2 --separate-stderr tr-parse --max-record="$size" "$trec"
		[[ $stderr == *"--max-record takes a size"* ]]
	done
}

@test "a trace is larger than --max-record, which limits its records" {
	for trace in ltrace/plain.ltrace bazel/aquery.json bazel/execlog.json; do
		[ "$(wc -c <"$top_srcdir/tests/data/$trace")" -gt 1100 ]
		run --separate-stderr tr-parse --max-record=1100 "$top_srcdir/tests/data/$trace"
		[[ $stderr != *@0x0:* ]] || { echo "$stderr" && return 1; }
		[ "${#lines[@]}" -gt 3 ]
	done
}

@test "no operand or - is stdin, several are read in order, -- ends options" {
	tr-parse <"$trec" | cmp - "$trec"
	tr-parse - <"$trec" | cmp - "$trec"
	cp --no-preserve=mode "$trec" -- -file
	tr-parse "$trec" - -- -file <"$trec" >out
	cat "$trec" "$trec" "$trec" | cmp - out
}

@test "-o - is stdout" {
	tr-parse "$trec" -o - | cmp - "$trec"
	[ ! -e - ]
}

# script(1) wants a pseudo-terminal, and a bare chroot has none
need_terminal() {
	script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "no pseudo-terminal here"
}

@test "a terminal on stdin and no operand: short usage, exit 2" {
	need_terminal
	run -2 script -qec 'tr-parse' /dev/null
	[[ $output == "Usage: tr-parse "* ]]
}

@test "binary output to a terminal is refused" {
	need_terminal
	run -2 script -qec "tr-repack -t trec -z gzip '$trec'" /dev/null
	[[ $output == *"binary output to a terminal"* ]]
}

@test "files that cannot be opened are reported, the others are read, exit 2" {
	run --separate-stderr -2 tr-parse missing "$trec" .
	[ "$output" = "$(cat "$trec"; printf '!end\t0\terrors=2\ttruncated=true')" ]
	[ "${stderr_lines[0]}" = "tr-parse: missing: cannot open: No such file or directory" ]
	[ "${stderr_lines[1]}" = "tr-parse: .: is a directory" ]
}

@test "an empty input is an empty stream" {
	: >empty
	run -0 tr-parse empty /dev/null
	[ -z "$output" ]
}

@test "garbage: a message, exit 2, no other output" {
	head -c 100000 /dev/urandom >garbage
	run --separate-stderr -2 tr-parse garbage
	[ "$output" = $'!end\t0\terrors=1\ttruncated=true' ]
	run --separate-stderr -2 tr-tojson garbage
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "tr-tojson: garbage: "* ]]
	# not a trace of a later version, because the name of its property is invalid
	{ printf '\x08\x21\x04\xff\xfe\xfd\xfc\x01x' && head -c 1000 garbage; } >later
	run --separate-stderr -2 tr-parse later
	[ "$stderr" = "tr-parse: later: not a known trace format: see -f and --list-formats" ]
	echo hello world >text
	run --separate-stderr -2 tr-parse text
	[ "$stderr" = "tr-parse: text: not a known trace format (it looks like text): see -f and --list-formats" ]
}

@test "-O: the message lists the values of a key" {
	run -2 tr-repack -O version=9 one.trec
	[ "${lines[0]}" = "tr-repack: -O version=9: apitrace takes 0|1|2|3|4|5|6; drcov takes 2|3; bear takes 3|4" ]
	run -2 tr-repack -O quoting=none one.trec
	[ "${lines[0]}" = "tr-repack: -O quoting takes auto|gnu|windows, not 'none'" ]
	run -2 tr-totext -O lines=none one.trec
	[ "${lines[0]}" = "tr-totext: -O lines takes utf8|ascii, not 'none'" ]
	run -2 tr-parse -O nothing=none one.trec
	[ "${lines[0]}" = "tr-parse: unknown key in -O 'nothing=none'" ]
}

@test "unknown formats, codecs and keys: the message names a similar one, or where to find them" {
	run -2 tr-repack -t compbd one.trec
	[ "${lines[0]}" = "tr-repack: unknown format 'compbd'; similar: compdb" ]
	run -2 tr-parse -f klocwok one.trec
	[ "${lines[0]}" = "tr-parse: unknown format 'klocwok'; similar: klocwork" ]
	# of a short word, one change: two letters in the other order are one
	run -2 tr-repack -t baer build.json
	[ "${lines[0]}" = "tr-repack: unknown format 'baer'; similar: bear" ]
	run -2 tr-repack -t brae build.json
	[[ ${lines[0]} != *similar* ]]
	run -2 tr-repack -t strac one.trec
	[ "${lines[0]}" = "tr-repack: unknown format 'strac': see --list-formats" ]
	run -2 tr-repack -z zst one.trec
	[ "${lines[0]}" = "tr-repack: unknown codec 'zst'; similar: zstd" ]
	run -2 tr-repack -z lzma=3 one.trec
	[ "${lines[0]}" = "tr-repack: unknown codec 'lzma': -z takes none|gzip|xz|zstd|bzip2|lz4|snappy|brotli[=LEVEL]" ]
	run -2 tr-repack -O versoin=3 one.trec
	[ "${lines[0]}" = "tr-repack: unknown key in -O 'versoin=3'; similar: version" ]
}

@test "unknown options: the message names a similar one or a replacement" {
	run -2 tr-tojson --pretyt
	[ "${lines[0]}" = "tr-tojson: unknown option '--pretyt'; similar: --pretty" ]
	run -2 tr-parse --max
	[ "${lines[0]}" = "tr-parse: ambiguous option '--max': --max-record, --max-depth ..." ]
	run -2 tr-parse --nothing-of-the-kind=1
	[ "${lines[0]}" = "tr-parse: unknown option '--nothing-of-the-kind'" ]
	run -2 tr-totext -v
	[ "${lines[0]}" = "tr-totext: unknown option '-v': see -O verbose=yes" ]
	run -2 tr-totext --calls=1-2
	[ "${lines[0]}" = "tr-totext: unknown option '--calls': see tr-filter --calls" ]
	run -2 tr-parse --max-depth=100
	[ "${lines[0]}" = "tr-parse: --max-depth: at most 60, not '100'" ]
	run -2 tr-parse --exact --list
	[ "${lines[0]}" = "tr-parse: --list cannot be combined with --exact" ]
}

@test "input of no known format: what it looks like" {
	local build=" (it looks like the output of a build: use -f makelog, and also -O compiler=NAME=gcc if NAME is an unknown compiler with GCC's options)"
	unknown() { [[ $(tr-parse 2>&1 >/dev/null) == *"not a known trace format$1: see"* ]]; }
	printf '\n [1,2]\n' | unknown ' (it looks like JSON)'
	printf '[1/20] acmecc a.c\n' | unknown "$build"
	printf 'x\nacmecc -c a.c -o a.o\n' | unknown "$build"
	# what the message says makes a trace of it
	[ "$(printf 'x\nacmecc -c a.c -o a.o\n' | tr-parse -q -O compiler=acmecc=gcc | grep -c ^exec)" -eq 1 ]
	printf '[ 50%%] Building\n' | unknown "$build"
	printf '[ 1, 2]' | unknown ' (it looks like JSON)'
	printf '\377\376c\0l\0' | unknown ' (it is text in UTF-16, which iconv -f UTF-16 -t UTF-8 converts)'
	run -2 tr-parse -f makelog < <(printf '\377\376c\0l\0\n\0')
	[[ $output == *'stdin: text in UTF-16, which iconv -f UTF-16 -t UTF-8 converts'* ]]
	printf '{"traceEvents":[{"pid":1,"tid":1,"ph":"X"}]}\n' |
		unknown ' (it looks like trace events: tr-tohtml --phases=FILE shows those of -ftime-trace)'
	printf '<!DOCTYPE html>\n' | unknown ' (it looks like HTML)'
	printf '<?xml version="1.0"?>\n' | unknown ' (it looks like XML)'
	head -c 600 "$(type -P cat)" | unknown ' (it looks like an ELF file)'
	printf '\001\002' | unknown ''
}

@test "-O that applies to no format in use is reported" {
	many 1 >one.trec
	echo '{"id":1,"executable":"/a","args":["a"],"work_dir":"/"}' >one.kw
	run -0 --separate-stderr tr-parse -O unique=none -O env-base=top one.kw
	[ "$stderr" = "tr-parse: one.kw: note: -O unique ignored: only compdb has it" ]
	run -2 tr-parse --strict -O unique=none one.kw
	run -0 --separate-stderr tr-parse -O env-base=top one.trec one.kw
	[ -z "$stderr" ]
	run -0 --separate-stderr tr-repack -t compdb -O unique=none one.kw
	[[ $stderr != *"-O unique"* ]]
	run -0 --separate-stderr tr-repack -t klocwork -O unique=none one.kw
	[[ $stderr == *"-O unique ignored: only compdb has it"* ]]
}

@test "messages: file and line; after 20 of a kind only the count" {
	many 10 | sed '4s/exec/ex_ec/' >bad.trec
	run --separate-stderr -2 tr-parse bad.trec
	[ "$stderr" = "tr-parse: bad.trec:4: the line does not begin with a kind" ]
	many 100 | sed 's/^exec/ex_ec/' >bad.trec
	run --separate-stderr -2 tr-parse bad.trec
	[ "${#stderr_lines[@]}" -eq 21 ]
	[ "${stderr_lines[19]}" = "tr-parse: bad.trec:21: the line does not begin with a kind" ]
	[ "${stderr_lines[20]}" = "tr-parse: 80 more like this: the line does not begin with a kind" ]
	# more notes are a note
	{ printf 'call\t0\t-\t0\tf\t->\n'; many 100; } >good.trec
	run --separate-stderr -0 tr-totext --verbose --style=apitrace good.trec
	[[ ${stderr_lines[19]} == *": note: a record of kind exec is not shown" ]]
	[[ ${stderr_lines[20]} == "tr-totext: note: "*" more like this: a record of kind exec is not shown" ]]
}

@test "messages: nothing from outside reaches the terminal as a control sequence" {
	name=$(printf 'a\033[2Jb\x9b\nc')
	run -2 --separate-stderr tr-parse "$name"
	[ "$stderr" = 'tr-parse: a\x1b[2Jb\x9b\x0ac: cannot open: No such file or directory' ]
	name=$(printf 'a\xc2\x9bb')
	run -2 tr-parse "$name"
	[[ $output == 'tr-parse: a\xc2\x9bb: '* ]]
	run -2 tr-parse ü
	[[ $output == 'tr-parse: ü: '* ]]
}

@test "--strict stops at the first error, and prints the messages before it" {
	many 5 | sed '4s/exec/ex_ec/' >bad.trec
	run --separate-stderr -2 tr-parse --strict bad.trec
	[ "${#lines[@]}" -eq 3 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "--strict leaves no -o file; without it the file is kept" {
	many 5 | sed '4s/exec/ex_ec/' >bad.trec
	run -2 tr-parse --strict -o out bad.trec
	[ ! -e out ]
	run -2 tr-parse -o out bad.trec
	[ "$(wc -l <out)" -eq 6 ]
	[ "$(ls -A)" = "$(printf 'bad.trec\nout')" ]
}

@test "-o: the file is not changed if no operand can be read" {
	echo 'no trace at all' >text
	for file in out out.tar; do
		echo precious >$file
		for operand in nonexistent text . "-f trace32 -O exe=nonexistent text"; do
			for tool in tr-parse 'tr-filter exec' 'tr-tojson --as=array' 'tr-repack -t trec'; do
				run -2 $tool -o $file $operand
				[ "$(cat $file)" = precious ]
			done
		done
	done
	run -2 tr-parse -o out nonexistent "$trec"
	head -n -1 out | cmp - "$trec"
	[ -z "$(ls -A | grep '^\.')" ]
}

@test "-o: a file is replaced only by a complete one" {
	echo old >out
	mkfifo in
	tr-parse -o out in &
	pid=$!
	exec 9>in
	many 1000 >&9
	for _ in $(seq 100); do
		ls .out.* >/dev/null 2>&1 && break
		sleep 0.05
	done
	[ "$(cat out)" = old ]
	ls .out.* >/dev/null
	exec 9>&-
	wait $pid
	[ "$(wc -l <out)" -eq 1002 ]
	run -0 ls -A
	[ "$output" = "$(printf 'in\nout')" ]
}

@test "-o: a signal leaves no temporary file" {
	for signal in INT TERM HUP QUIT PIPE XCPU; do
		echo old >out
		rm -f in
		mkfifo in
		# a background job ignores SIGINT, and so do the children of a make in the background
		env --default-signal=INT,TERM,HUP,QUIT,PIPE,XCPU tr-parse -o out in &
		pid=$!
		exec 9>in
		many 1000 >&9
		for _ in $(seq 100); do
			ls .out.* >/dev/null 2>&1 && break
			sleep 0.05
		done
		kill -$signal $pid
		status=0
		wait $pid || status=$?
		exec 9>&-
		[ $status -gt 128 ]
		[ "$(cat out)" = old ]
		[ "$(ls -A)" = "$(printf 'in\nout')" ]
	done
}

@test "-o of a special file is written as it is" {
	run -0 tr-parse -o /dev/null "$trec"
	run -0 bash -c 'tr-parse -o /dev/stdout "$1" | cmp - "$1"' _ "$trec"
}

@test "write errors: message, exit 2" {
	run -2 bash -c 'tr-parse "$1" >/dev/full' _ "$trec"
	[[ $output == "tr-parse: stdout: "*"No space left on device" ]]
	run -2 tr-parse -o /dev/full "$trec"
	[[ $output == "tr-parse: /dev/full: "*"No space left on device" ]]
	run -2 bash -c 'tr-parse --help >/dev/full'
	run -2 tr-parse -o missing/out "$trec"
	[[ $output == *"No such file or directory" ]]
}

@test "closed descriptors do no harm" {
	run -2 bash -c 'tr-parse "$1" >&-' _ "$trec"
	run -2 bash -c 'tr-parse <&-'
	run -2 bash -c 'tr-parse missing 2>&-'
	bash -c 'tr-parse "$1" 2>&- <&-' _ "$trec" | cmp - "$trec"
}

@test "a closed pipe ends a tool silently" {
	many 100000 >many.trec
	run -141 --separate-stderr bash -c 'set -o pipefail; tr-parse many.trec | head -1'
	[ "${#lines[@]}" -eq 1 ]
	[ -z "$stderr" ]
}

@test "a closed pipe ends a tool silently even if SIGPIPE is ignored" {
	many 100000 >many.trec
	run -0 --separate-stderr bash -c \
		'set -o pipefail; trap "" PIPE; tr-parse many.trec | head -1'
	[ "${#lines[@]}" -eq 1 ]
	[ -z "$stderr" ]
}

@test "available records are written without waiting for more" {
	mkfifo in out
	tr-parse <in >out &
	exec 9>in 8<out
	printf '%%trec\t1\n' >&9
	IFS= read -r -t 10 line <&8
	[ "$line" = "$(printf '%%trec\t1')" ]
	printf 'exec\t0\t-\t-\tgcc\nexec\t1\t-' >&9
	IFS= read -r -t 10 line <&8
	[ "$line" = "$(printf 'exec\t0\t-\t-\tgcc')" ]
	printf '\t-\tld\n' >&9
	IFS= read -r -t 10 line <&8
	[ "$line" = "$(printf 'exec\t1\t-\t-\tld')" ]
	exec 9>&- 8<&-
	wait
}

@test "parallel tools do not mix their output" {
	for i in 1 2 3 4 5 6 7 8; do many 2000 >$i.trec; done
	printf '%s\n' *.trec | xargs -P4 -I{} tr-parse -o {}.out {}
	for i in 1 2 3 4 5 6 7 8; do cmp $i.trec $i.trec.out; done
}

@test "--line-buffered changes only when records are written" {
	many 1000 >many.trec
	tr-parse --line-buffered many.trec | cmp - many.trec
}

@test "--progress=always reports progress, never prints nothing" {
	mkfifo in
	tr-parse --progress=always <in >out 2>err &
	in_two_parts >in
	wait
	grep -Eq '^tr-parse: [0-9]+ B, [0-9]+ B/s' err
	run --separate-stderr -0 tr-parse --progress=never out
	[ -z "$stderr" ]
}

# ten records, the second half so late that progress is shown meanwhile, which begins a second
# after the tool does
in_two_parts() {
	many 10 | head -5
	sleep 2.5
	many 10 | tail -n +6
}

@test "on a terminal progress takes one line, however narrow, and none in the background" {
	need_terminal
	mkfifo in
	for width in 80 20 9; do
		script -qfec "stty cols $width; tr-parse <in >out" typescript >/dev/null &
		in_two_parts >in
		wait
		sed 1d typescript | grep -o 'tr-pa[^[:cntrl:]]*' >line
		[ "$(wc -L <line)" -lt $width ]
	done
	# facts are whole where there is room for one
	grep -x 'tr-parse' line
	script -qfec "bash -mc 'tr-parse <in >out & wait'" typescript >/dev/null &
	in_two_parts >in
	wait
	[ "$(sed 1d typescript | grep -c 'tr-parse:')" -eq 0 ]
	grep -q '!end' out
}

@test "SIGUSR1 prints one line, even while waiting for input" {
	mkfifo in
	tr-parse <in >out 2>err &
	pid=$!
	exec 9>in
	many 10 | head -5 >&9
	for _ in $(seq 100); do
		[ -s out ] && break
		sleep 0.05
	done
	kill -USR1 $pid
	for _ in $(seq 100); do
		[ -s err ] && break
		sleep 0.05
	done
	exec 9>&-
	wait $pid
	[ "$(wc -l <err)" -eq 1 ]
	grep -Eq '^tr-parse: [0-9]+ B, ' err
}

@test "on a terminal every record is written at once" {
	need_terminal
	many 3 >few.trec
	mkfifo in
	script -qfec "tr-parse <in" typescript >/dev/null &
	exec 9>in # holds it open: its end comes only below
	cat few.trec >&9
	for _ in $(seq 100); do
		grep -q '!end' typescript 2>/dev/null && break
		sleep 0.05
	done
	grep -q '!end' typescript
	exec 9>&-
	wait
}

@test "-q silences notes, not errors" {
	many 3 | sed '$d' >open.trec
	run --separate-stderr -0 tr-repack -t klocwork open.trec
	[[ $stderr == *"note: "* ]]
	run --separate-stderr -0 tr-repack -q -t klocwork open.trec
	[ -z "$stderr" ]
	run -2 tr-repack -q -t klocwork missing
	[ -n "$output" ]
	run -2 tr-repack --strict -t klocwork open.trec
}

# preload LIBRARY COMMAND...: runs the command with the library; sanitizers must come first
preload() {
	[ -z "$TREC_SANITIZED" ] || skip "preloaded libraries and sanitizers exclude each other"
	library=$top_builddir/tests/helper/$1.so
	[ -e "$library" ]
}

@test "every write may fail, or take only a part" {
	preload fail_write
	many 20000 >in.trec
	for failure in ENOSPC EIO EPIPE EINTR EAGAIN short; do
		for i in 1 2 3; do
			code=0
			TREC_FAIL_WRITE=$i:$failure LD_PRELOAD=$library tr-parse in.trec >out 2>err ||
				code=$?
			echo "$i $failure: $code"
			case $failure in
			ENOSPC | EIO)
				[ $code -eq 2 ]
				[ "$(wc -l <err)" -eq 1 ]
				;;
			EPIPE)
				[ $code -eq 0 ]
				[ ! -s err ]
				[ "$(wc -c <out)" -lt "$(wc -c <in.trec)" ]
				;;
			*)
				[ $code -eq 0 ]
				cmp out in.trec
				;;
			esac
		done
	done
}
