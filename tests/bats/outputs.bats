#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Output files: no input is replaced, and each file is complete or does not exist.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cp --no-preserve=mode "$top_srcdir/tests/data/trec/filter.trec" trace.trec
	cp trace.trec before
}

# refused NAME COMMAND...: exit 2 with this message, and the trace is as it was
refused() {
	local name=$1
	shift
	run --separate-stderr -2 "$@"
	[ "${stderr_lines[0]#*: }" = "$name is an input file: choose another name for the output" ]
	[ -z "$output" ]
	cmp trace.trec before
	[ "$(find . -name '.*.trec.*' | wc -l)" -eq 0 ]
}

readers='tr-parse tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff'

@test "no tool replaces an operand, whatever the name or the link" {
	ln -s trace.trec soft
	ln -s soft softer
	ln trace.trec hard
	for tool in $readers 'tr-filter exec' 'tr-repack -t trec'; do
		refused trace.trec $tool -o trace.trec trace.trec
		refused soft $tool -o soft trace.trec
		refused hard $tool -o hard softer
	done
	refused "./../${PWD##*/}/trace.trec" tr-parse -o "./../${PWD##*/}/trace.trec" trace.trec
	refused trace.trec tr-parse trace.trec -o trace.trec before
	refused trace.trec tr-parse before soft -o trace.trec
	refused trace.trec tr-filter -o trace.trec 'exec and nmae == "x"' trace.trec
	refused trace.trec tr-repack -t trec --verify -z gzip -o trace.trec trace.trec
	refused trace.trec tr-envdiff --compare -o trace.trec trace.trec before
	refused trace.trec bash -c 'tr-parse -o trace.trec <trace.trec'
	refused trace.trec bash -c 'tr-record -o trace.trec cat <trace.trec'
	refused /dev/stdout bash -c 'tr-parse -o /dev/stdout trace.trec >>trace.trec'
}

@test "other files that a tool reads are not replaced either" {
	echo exec >expr
	echo 1-2 >set
	printf 'version;108\nconfig;x\n' >conf
	mv trace.trec t && ln before trace.trec
	for args in '--expr-file=expr -o expr' '--calls=7,@set -o set' '--frames=@set,9 -o set'; do
		# shellcheck disable=SC2086
		refused "${args##* }" tr-filter $args trace.trec
	done
	refused conf tr-repack -t kwspec -O config=conf -o conf trace.trec
	refused conf tr-repack -t buildspec -O tools=conf -o conf trace.trec
}

@test "other files, devices and pipes are written" {
	cp trace.trec other
	tr-parse -o other trace.trec
	cmp other trace.trec
	tr-parse -o /dev/null /dev/null
	tr-parse -o /dev/stdout trace.trec | cmp - trace.trec
	mkfifo pipe
	cat pipe >got &
	tr-parse -o pipe trace.trec
	wait $!
	cmp got trace.trec
	tr-parse -o trace.trec <other # the name alone says nothing
	cmp trace.trec before
}

@test "-o DIR/ refuses the files that are operands, and writes the others" {
	mkdir dir
	cp trace.trec dir/a.trec
	cp trace.trec dir/b.trec
	cd dir
	run --separate-stderr -2 tr-repack -t trec -o . a.trec ../before
	[ "$stderr" = "tr-repack: a.trec: ./a.trec is an input file: choose another name for the output
tr-repack: 2 files and members: 1 converted, 1 with trouble" ]
	cmp a.trec ../before
	cmp before ../before
	ln -s ../dir link
	tar -cf all.tar a.trec b.trec
	run --separate-stderr -2 tr-repack -t trec -o link/ all.tar link/b.trec
	[[ $stderr == *"link/link/b.trec"* || $stderr == *"link/b.trec is an input file"* ]]
	cmp b.trec ../before
}

@test "output that would be read back is refused, an empty file is not" {
	for tool in $readers 'tr-filter exec' 'tr-repack -t trec' 'tr-parse --list'; do
		for command in "$tool trace.trec >>trace.trec" "$tool <trace.trec >>trace.trec" \
			"$tool /dev/null trace.trec 1<>trace.trec"; do
			run --separate-stderr -2 timeout 10 bash -c "$command"
			[[ $stderr == *": input file is output file" ]]
			cmp trace.trec before
		done
	done
	: >empty
	tr-parse empty >empty
	tr-parse empty >>empty
	tr-parse <trace.trec >>other
	cmp other trace.trec
}

@test "-o DIR/ follows no link below the directory" {
	mkdir -p in/sub out away
	cp trace.trec in/a.trec
	cp trace.trec in/sub/b.trec
	tar -cf all.tar -C in a.trec sub/b.trec
	echo precious >victim
	ln -s ../victim out/a.trec
	ln -s ../away out/sub
	ln -s out links
	run --separate-stderr -2 tr-repack -t trec -o links/ all.tar
	[[ $stderr == *"all.tar:sub/b.trec: cannot create links/sub/b.trec: sub is a symbolic link, which is not followed
tr-repack: 2 files and members: 1 converted, 1 with trouble" ]]
	[ "$(cat victim)" = precious ]
	[ -z "$(ls away)" ]
	[ ! -L out/a.trec ]
	cmp out/a.trec trace.trec
	# ".." in a link that stays below is a link, too
	rm out/sub
	mkdir out/real
	ln -s real out/sub
	run -2 tr-repack -t trec -o out/ all.tar
	[ -z "$(ls out/real)" ]
}

@test "--blob-dir follows no link in the directory, writing or reading" {
	printf '%%trec\t1\ncall\t0\t-\t0\tf\tx=b64:YWJjZA==\t->\n!end\t1\n' >blob.trec
	name=$(printf abcd | sha256sum | cut -d' ' -f1)
	echo precious >victim
	printf abcd >same
	mkdir blobs
	tr-parse --blob-dir=other blob.trec >fetched
	ln -s blobs links # the directory itself is the user's choice
	for target in ../victim ../missing ../same; do
		ln -sf "$target" "blobs/$name"
		run -2 --separate-stderr tr-repack -t trec --blob-dir=links fetched
		[[ $stderr == *"links/$name: Too many levels of symbolic links"* ]]
		tr-parse --blob-dir=links blob.trec >named
		[ "$(cat victim)" = precious ]
		[ ! -e missing ]
		[ ! -L "blobs/$name" ]
		[ "$(cat "blobs/$name")" = abcd ]
		tr-repack -t trec --blob-dir=links named | cmp - blob.trec
	done
}

# prints what reaches the disk, in order: names and synced files
synced() {
	strace -qq -y -e trace=fsync,fdatasync,rename,renameat,renameat2 -o log "$@" >stdout 2>/dev/null
	sed -E 's/\(.*//' log
}

@test "a file is on the disk before it has its name, and all are before exit 0" {
	synced true 2>/dev/null || skip "strace cannot watch programs here"
	# LeakSanitizer cannot work in a program that is watched
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	synced tr-parse -o new trace.trec
	[ "$(synced tr-parse -o new trace.trec)" = "$(printf 'fsync\nrenameat')" ]
	[ "$(synced tr-repack -t trec -o new.tar trace.trec)" = "$(printf 'fsync\nrenameat')" ]
	mkdir many
	for i in $(seq 100); do
		ln trace.trec "many/$i.trec"
	done
	synced tr-repack -t trec -o out/ many/* >calls
	[ "$(grep -c fsync calls)" -eq 100 ]
	[ "$(grep -c renameat calls)" -eq 100 ]
	# each file's before its name
	grep -oE '^fsync\([^)]*|^renameat\([^"]*"[^"]*' log | sed -E 's/.*[/"]//; s/>$//' | uniq -c |
		awk '$1 != 2 { exit 1 }'
	# of blobs too, which have their names before
	printf '%%trec\t1\ncall\t0\t-\t0\tf\tx=b64:YWJjZA==\t->\n!end\t1\n' >blob.trec
	[ "$(synced tr-parse --blob-dir=blobs blob.trec)" = "$(printf 'renameat\nfsync')" ]
}

@test "if a sync fails, this is reported and the file is not renamed" {
	synced true 2>/dev/null || skip "strace cannot watch programs here"
	# LeakSanitizer cannot work in a program that is watched
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	fail() {
		run -2 --separate-stderr strace -qq -o /dev/null -e trace=fsync -e inject=fsync:error=EIO "$@"
	}
	fail tr-parse -o new trace.trec
	[ "$stderr" = "tr-parse: new: cannot write: Input/output error" ]
	[ ! -e new ]
	fail tr-repack -t trec -o out/ trace.trec before
	[[ $stderr == *"tr-repack: out/trace.trec: cannot write: Input/output error"* ]]
	[[ $stderr == *"tr-repack: out/before: cannot write: Input/output error"* ]]
	[ "${stderr##*$'\n'}" = "tr-repack: 2 files and members: 2 with trouble" ]
	[ -z "$(ls -A out)" ]
	# the message shows which file of a directory it is, however long its path is
	deep=$PWD/$(printf '%060d' {1..3})
	deep=$deep/$deep
	run -2 --separate-stderr strace -qq -o log -e trace=fsync -e inject=fsync:error=EIO:when=2 \
		tr-repack -q -t trec --report=report -o "$deep/" trace.trec before
	for text in "$stderr" "$(grep '"type":"trouble"' report)"; do
		[[ $text == *"000003/trace.trec: cannot write: Input/output error"* ||
			$text == *"000003/before: cannot write: Input/output error"* ]]
	done
	strace -qq -o /dev/null -e trace=fsync -e inject=fsync:error=EINVAL tr-parse -o new trace.trec
	cmp new trace.trec
	tr-parse -o /dev/null trace.trec
	tr-parse -o /dev/stdout trace.trec | cmp - trace.trec
}

@test "if the sync of a blob fails, this is reported and its name is taken back" {
	synced true 2>/dev/null || skip "strace cannot watch programs here"
	# LeakSanitizer cannot work in a program that is watched
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	{
		printf '%%trec\t1\n'
		for i in {0..39}; do printf 'call\t%d\t-\t0\tf\tx=b64:%s\t->\n' "$i" "$(printf %02d "$i" | base64)"; done
		printf '!end\t40\n'
	} >blobs.trec
	tr-parse --blob-dir=expected blobs.trec >out
	for nth in 1 32 40; do
		run -2 --separate-stderr strace -qq -o log -e trace=fsync -e inject=fsync:error=EIO:when=$nth \
			tr-parse --blob-dir=blobs blobs.trec
		name=${stderr%%: cannot write: Input/output error*}
		[ -e "expected/${name##*/}" ]
		[ ! -e "blobs/${name##*/}" ]
		# the next run stores it, and what the end of this one has left out
		tr-parse --blob-dir=blobs blobs.trec | cmp - out
		diff -r expected blobs
		rm -r blobs
	done
}

@test "a signal removes all files that are not complete" {
	mkdir many
	for i in 1 2 3; do
		ln trace.trec "many/$i.trec"
	done
	mkfifo slow
	tr-repack -t trec -o out/ many/* slow 2>/dev/null &
	pid=$!
	exec 9>slow
	head -n 2 trace.trec >&9
	for _ in $(seq 100); do
		[ "$(find out -name '.*.trec.*' 2>/dev/null | wc -l)" -lt 3 ] || break
		sleep 0.05
	done
	[ "$(find out -name '.*.trec.*' | wc -l)" -ge 3 ]
	kill "$pid"
	exec 9>&-
	! wait "$pid"
	[ -z "$(find out -type f)" ]
}

@test "the name of -o selects the codec, in every tool" {
	unpack=(gz:zcat xz:xzcat zst:zstdcat bz2:bzcat lz4:lz4cat)
	for tool in 'tr-parse' 'tr-filter exec' 'tr-tojson' 'tr-totext --style=tree' 'tr-stat' 'tr-tohtml' \
		'tr-envdiff' 'tr-parse --list' 'tr-repack -t trec'; do
		$tool trace.trec >plain
		for pair in "${unpack[@]}"; do
			command -v "${pair#*:}" >/dev/null || continue
			$tool -o "out.x.${pair%:*}" trace.trec
			"${pair#*:}" "out.x.${pair%:*}" | cmp - plain
		done
		$tool -o out.x trace.trec
		cmp out.x plain
	done
}

@test "tr-record -o: the name selects the codec" {
	tr-record true >/dev/null 2>&1 || skip "programs cannot be watched here"
	tr-record -o out.trec.gz true
	zcat out.trec.gz | grep -q '^exec'
	[ "$(tr-parse out.trec.gz | grep -c '^!end')" -eq 1 ]
	run -2 tr-record -o out.rar touch ran
	[ ! -e ran ]
	[ ! -e out.rar ]
}

@test "names of files that are not written are refused before anything is" {
	for tool in $readers 'tr-filter exec' 'tr-repack -t trec'; do
		for name in x.tar.xyz x.rar x.trec.Z x.json.lzma x.tar.Z x.tlz x.json.br; do
			[ "$tool$name" != 'tr-repack -t trecx.json.br' ] || continue
			run --separate-stderr -2 $tool -o $name trace.trec
			[[ ${stderr_lines[0]} == *": $name: cannot write this kind of file: use .gz, "* ]]
			[ ! -e $name ]
		done
		[ "${tool%% *}" = tr-repack ] || for name in x.tar x.tar.gz x.tgz x.zip x.7z x.cpio; do
			run --separate-stderr -2 $tool -o $name trace.trec
			[[ ${stderr_lines[0]} == *": $name: only tr-repack writes archives" ]]
			[ ! -e $name ]
		done
	done
	# a file that only mentions an archive is not one
	for name in x.tar.trec x.tar.txt x.rar.json tar zst .gz x.targz; do
		tr-parse -o $name trace.trec
		cmp $name trace.trec
	done
	tr-repack -t trec -z brotli -O foreign=yes -o x.br trace.trec
	[ -s x.br ]
	run -2 tr-repack -t trec -z gzip -o x.tar.xyz trace.trec
}

# hostile: a trace with a control, a mark and a byte of each kind in names, values and fields
hostile() {
	local bad=$'\xc2\x9b31m \xc2\x80\xc2\x9f \xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9'
	bad+=$'gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80'
	printf '%%trec\t1\tformat=klocwork\n'
	printf 'exec\t0\t1.0\t1\t/bin/%s\targv=["%s"]\tcwd="/%s"\n!end\t1\n' "$bad" "$bad" "$bad"
}

# on_terminal COMMAND: prints what the command writes to a terminal
on_terminal() {
	script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

@test "no trace controls the terminal, and pipes get its bytes as they are" {
	on_terminal true >/dev/null 2>&1 || skip "no pseudo-terminal here"
	controls='\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]'
	hostile >hostile.trec
	cp hostile.trec $'na\xc2\x9bme.trec'
	for tool in 'tr-totext --style=tree' 'tr-totext --style=dot' 'tr-totext --style=script' tr-stat \
		'tr-stat --by=name' 'tr-parse --list' 'tr-parse --identify' 'tr-filter --fields=name,argv exec' \
		'tr-filter --fields=name --raw exec' 'tr-parse' 'tr-tojson' 'tr-envdiff'; do
		$tool hostile.trec na*.trec >piped
		LC_ALL=C grep -qP "$controls" piped || [[ $tool == *apitrace* ]]
		on_terminal "$tool hostile.trec na*.trec" >shown
		[ -s shown ]
		run -1 env LC_ALL=C grep -P "$controls|[^\t\n\x20-\x7e\x80-\xff]" shown
		grep -qF '\xc2\x9b' shown
		grep -q 'grüß € 😀' shown || [[ $tool == *--list || $tool == *--identify ]]
	done
}

@test "colours of the tools stay on a terminal" {
	on_terminal true >/dev/null 2>&1 || skip "no pseudo-terminal here"
	tool="tr-totext -O color=yes $top_srcdir/tests/data/apitrace/mt4.trace"
	on_terminal "$tool" | head -n 50 | cmp - <($tool | head -n 50)
	$tool | grep -q $'\e\['
}

@test "--list: a file of no known format is reported" {
	head -c 100 /dev/urandom >garbage
	: >empty
	tar -cf all.tar garbage empty trace.trec
	for option in --list --identify; do
		run --separate-stderr -2 tr-parse $option garbage trace.trec
		[ "${#lines[@]}" -eq 2 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "tr-parse: garbage: "* ]]
		run --separate-stderr -0 tr-parse $option empty all.tar /dev/null
		[ "${#lines[@]}" -eq 5 ]
		[ -z "$stderr" ]
	done
}
