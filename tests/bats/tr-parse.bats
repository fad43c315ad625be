#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-parse: inputs in all compressions and archives, and the messages about them.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	trec=$top_srcdir/tests/data/trec/filter.trec
	zlib=$top_srcdir/tests/data/build/zlib.kw.json.gz
	mc=$top_srcdir/tests/data/build/mc.kw.jsonl.gz
}

# records: the stream without its headers
records() {
	grep -v '^%trec'
}

# rows FILE: the rows of a table of vectors
rows() {
	sed '/^[^#]/,$!{/^# /d}' "$top_srcdir/tests/data/trec/$1"
}

@test "a stream is passed on unchanged" {
	tr-parse "$trec" | cmp - "$trec"
	cat "$trec" | tr-parse | cmp - "$trec"
	tr-parse -f trec "$trec" | cmp - "$trec"
}

@test "a stream is written in canonical form" {
	printf 'exec\t0\t-\t-\t\\x67cc\targv=[ "a" , "\\u0062" ]\tn=0x0A\n' | tr-parse >out
	printf 'exec\t0\t-\t-\tgcc\targv=["a","b"]\tn=0xa\n' | cmp - out
}

@test "good lines come back to the byte" {
	rows lines-good.tsv | cut -f1 | grep -v -e 'feature=' -e '^!end' |
		while IFS= read -r line; do printf '%b\n' "$line"; done >good.trec
	run -0 tr-parse -f trec good.trec
	tr-parse -f trec good.trec | cmp - good.trec
}

@test "bad lines are left out, lines with bad values are passed on unchanged, and both exit with 2" {
	rows lines-bad.tsv >rows
	while IFS= read -r row; do
		line=${row%%	*} layer=${row#*	}
		[[ $layer == *noncanonical* ]] && continue
		{
			printf 'exec\t0\t-\t-\tfirst\n'
			printf '%b\n' "$line"
			printf 'exec\t1\t-\t-\tlast\n'
		} >in
		echo "line: $line"
		run -2 --separate-stderr tr-parse -f trec in
		[ "${#stderr_lines[@]}" -ge 1 ]
		if [[ $layer != line* ]]; then
			[ "$output" = "$(cat in)" ]
		elif [[ $line == %trec\\t* ]]; then
			# the line is a header of another version: nothing can come after it
			[ "${lines[0]}" = "$(head -1 in)" ]
			[ "${#lines[@]}" -eq 2 ]
		else
			[ "${lines[0]}" = "$(head -1 in)" ]
			[ "${lines[1]}" = "$(tail -1 in)" ]
			[[ ${lines[2]} == $'!end\t2\terrors='* ]]
		fi
	done <rows
}

@test "a line with an unknown value is not lost" {
	printf 'exec\t0\t-\t-\tgcc\targv=[\n' >in
	run --separate-stderr -2 tr-parse in
	[ "$output" = "$(cat in)" ]
	[[ $stderr == "tr-parse: in:1: argv: column 2: "* ]]
}

@test "the last line without an end may be cut: left out, and the trailer says so" {
	printf '%%trec\t1\nexec\t0\t-\t-\tgcc\nexec\t1\t-\t-\tgc' >in
	run --separate-stderr -2 tr-parse in
	[ "${lines[2]}" = "$(printf '!end\t1\terrors=1\ttruncated=true')" ]
}

@test "CR LF is damage, reported once" {
	{ cat "$trec"; sed 's/$/\r/' "$trec"; } >in
	run --separate-stderr -2 tr-parse in
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"CR LF"* ]]
}

@test "a byte order mark at the very start is dropped" {
	{ printf '\xef\xbb\xbf'; cat "$trec"; } | tr-parse | cmp - "$trec"
	run -2 bash -c '{ cat "$1"; printf "\xef\xbb\xbf"; cat "$1"; } | tr-parse' _ "$trec"
}

@test "an unknown version or feature of trec is a fatal error" {
	run -2 tr-parse -f trec <(printf '%%trec\t2\nexec\t0\t-\t-\tgcc\n')
	[[ $output == *"version '2' is unknown"* ]]
	[[ $output != *exec* ]]
	run -2 tr-parse <(printf '%%trec\t1\tfeature=colour\nexec\t0\t-\t-\tgcc\n')
	[[ $output == *"feature colour"* ]]
	[[ $output != *exec* ]]
}

@test "errors are reported again by every tool of a pipeline" {
	sed '4s/^/ /' "$trec" >in
	run -0 bash -c 'tr-parse in 2>/dev/null | tail -1 | cut -f3'
	[ "$output" = "errors=1" ]
	run -2 bash -c 'tr-parse in 2>/dev/null | tr-parse'
	[[ $output == *"upstream reported 1 error"* ]]
	run -2 bash -c 'tr-parse in 2>/dev/null | tr-parse 2>/dev/null | tr-parse 2>/dev/null | tr-parse'
}

@test "streams changed by other programs are accepted" {
	run -0 --separate-stderr bash -c 'cat "$1" "$1" | tr-parse' _ "$trec"
	[ -z "$stderr" ]
	for filter in 'grep ^call' 'head -5' 'tail -5' 'LC_ALL=C sort' 'shuf' 'sed 1d'; do
		bash -c "$filter" <"$trec" >mangled
		run -0 --separate-stderr tr-parse -f trec mangled
		[ -z "$stderr" ]
		grep -v '^!end' mangled >records
		[ "$(printf '%s\n' "${lines[@]}" | grep -v '^!end')" = "$(cat records)" ]
	done
}

@test "a record larger than --max-record is left out" {
	{ cat "$trec"; printf 'exec\t0\t-\t-\t'; head -c 10000 /dev/zero | tr '\0' x; echo; } >in
	run --separate-stderr -2 tr-parse --max-record=4K in
	[[ $stderr == *"limit of 4096 (--max-record raises it)"* ]]
	run -0 tr-parse in
}

@test "a line that its escapes make larger than --max-record is left out" {
	{
		echo '7 execve("/bin/a", ["a"], 0x7ffe /* 3 vars */) = 0'
		head -c 10000 /dev/zero | tr '\0' '\1'
		printf '\n7 execve("/bin/b", ["b"], 0x7ffe /* 3 vars */) = 0\n'
	} >in
	for format in strace etrace klocwork; do
		run --separate-stderr -2 tr-parse -f $format --max-record=20K in
		[[ $stderr == *"is, with its escapes, longer than the limit of 20480 (--max-record raises it)"* ]]
		[ "${#output}" -lt 3000 ]
	done
	run --separate-stderr -2 tr-parse -f strace --max-record=20K in
	[[ $output == *$'\t/bin/a\t'*$'\t/bin/b\t'* ]]
	run --separate-stderr -2 tr-parse -f strace --max-record=61K in
	[ "${#output}" -gt 60000 ]
}

@test "nesting deeper than --max-depth" {
	deep=$(printf '[%.0s' $(seq 61))$(printf ']%.0s' $(seq 61))
	printf 'exec\t0\t-\t-\tx\ta=%s\n' "$deep" >in
	run -2 tr-parse in
	printf 'exec\t0\t-\t-\tx\ta=%s\n' "${deep:1:120}" | tr-parse | grep -q '\[\]'
	printf '%%trec\t1\nexec\t0\t-\t-\tx[[[\ta=[[1],"[[[\\"["]\n!end\t1\n' >in
	tr-parse --max-depth=2 in | cmp - in
	run --separate-stderr -2 tr-parse --max-depth=1 in
	[ "$stderr" = "tr-parse: in:2: more than 1 open brackets (--max-depth)" ]
	[ "${lines[1]}" = "$(printf '!end\t0\terrors=1')" ]
}

@test "compressed streams are recognised" {
	for codec in 'gzip:gz' 'xz:xz' 'zstd:zst' 'bzip2:bz2' 'lz4:lz4'; do
		tool=${codec%:*}
		$tool -qc <"$trec" >"in.${codec#*:}"
		tr-parse "in.${codec#*:}" | cmp - "$trec"
		tr-parse <"in.${codec#*:}" | cmp - "$trec"
	done
	gzip -c <"$trec" | xz | zstd -q | tr-parse | cmp - "$trec"
}

@test "a truncated compressed stream gives all data before the end" {
	gzip -c <"$trec" >in.gz
	head -c $(($(stat -c %s in.gz) - 30)) in.gz >cut.gz
	zcat cut.gz 2>/dev/null >whole || true
	run --separate-stderr -2 tr-parse cut.gz
	[[ $stderr == "tr-parse: cut.gz: gzip: "* ]]
	[ "$(grep -c . whole)" -le $((${#lines[@]} + 1)) ]
	[[ ${lines[-1]} == *"truncated=true" ]]
}

@test "--identify and --list" {
	cp --no-preserve=mode "$trec" a.trec
	gzip -k a.trec
	echo text >b
	: >c
	run --separate-stderr -2 tr-parse --identify a.trec a.trec.gz b c
	[ "${lines[0]}" = "a.trec: trec" ]
	[ "${lines[1]}" = "a.trec.gz: trec" ]
	[ "${lines[2]}" = "b: unknown" ]
	[ "${lines[3]}" = "c: empty" ]
	run -0 tr-parse --list a.trec
	[ "$output" = "$(printf 'a.trec\ttrec\t%d' "$(stat -c %s a.trec)")" ]
	run -0 bash -c 'cat a.trec | tr-parse --list'
	[ "$output" = "$(printf 'stdin\ttrec\t-')" ]
	run -2 tr-parse --list --identify a.trec
	for option in --exact --lines --join --no-blobs --blob-dir=blobs; do
		run -2 tr-parse --list $option a.trec
		run -2 tr-parse --identify $option a.trec
	done
	[ ! -e blobs ]
}

@test "a trace in every compression and archive gives the same records" {
	zcat "$zlib" >z.json
	tr-parse z.json | records >expected
	[ "$(wc -l <expected)" -eq 180 ]
	for codec in gzip:gz xz:xz zstd:zst bzip2:bz2 lz4:lz4; do
		${codec%:*} -qc <z.json >"z.json.${codec#*:}"
	done
	tar -cf z.tar z.json
	tar -c z.json | zstd -q >z.tar.zst
	tar -c z.json.gz | gzip >z.tgz
	zip -q z.zip z.json
	7z a z.7z z.json >/dev/null
	echo z.json | cpio -oc --quiet >z.cpio
	for file in z.*; do
		echo "$file"
		tr-parse "$file" | records | cmp - expected
		tr-parse <"$file" | records | cmp - expected
		cat "$file" | tr-parse | records | cmp - expected
	done
}

@test "the header names the format and version of the source" {
	zcat "$zlib" >z.json
	run -0 bash -c 'tr-parse z.json | head -1'
	[ "$output" = "$(printf '%%trec\t1\tformat=klocwork')" ]
	xz -k z.json
	run -0 bash -c 'tr-parse z.json.xz | head -1'
	[ "$output" = "$(printf '%%trec\t1\tformat=klocwork\tcontainer=xz')" ]
	zip -q z.zip z.json.xz
	run -0 bash -c 'tr-parse z.zip | head -1'
	[ "$output" = "$(printf '%%trec\t1\tformat=klocwork\tcontainer=xz\tmember="z.json.xz"')" ]
}

@test "split in two: the same records, numbered anew" {
	zcat "$zlib" >z.json
	head -100 z.json >1
	tail -n +101 z.json >2
	tr-parse z.json | grep ^exec | cut -f1,4,5 >expected
	[ -s expected ]
	tr-parse 1 2 | grep ^exec | cut -f1,4,5 | cmp - expected
}

@test "archives: members in order, --member, --list, other files are skipped" {
	zcat "$zlib" >z.json
	zcat "$mc" >'m c.json'
	echo read me >README
	tar -cf t.tar README z.json 'm c.json'
	run --separate-stderr -0 tr-parse --list t.tar
	[ "$output" = "$(printf 'README\tunknown\t8\nz.json\tklocwork\t%d\nm c.json\tklocwork\t%d' \
		"$(stat -c %s z.json)" "$(stat -c %s 'm c.json')")" ]
	run --separate-stderr -0 tr-parse t.tar
	[ "$stderr" = "tr-parse: t.tar:README: note: member of no known format is skipped" ]
	[ "$(grep -c ^%trec <<<"$output")" -eq 2 ]
	run --separate-stderr -2 tr-parse --strict t.tar
	run --separate-stderr -0 tr-parse --member='m*' t.tar
	[ "$output" = "$(tr-parse --member='m c.json' t.tar)" ]
	[ "$(grep -c ^exec <<<"$output")" -eq 13 ]
	run --separate-stderr -0 tr-parse --member='m*' --member='z*' t.tar
	[ "$(grep -c ^%trec <<<"$output")" -eq 2 ]
	run -2 --separate-stderr tr-parse --member='x*' t.tar
	[ "$stderr" = "tr-parse: t.tar: no member matches --member" ]
	[ "$output" = $'!end\t0\terrors=1\ttruncated=true' ]
	run -2 tr-parse --member=README t.tar
	[[ $output == "tr-parse: t.tar:README: not a known trace format"* ]]
}

@test "a damaged archive gives all readable data" {
	zcat "$zlib" >z.json
	zcat "$mc" >m.json
	tar -cf t.tar m.json z.json
	head -c 30000 t.tar >cut.tar
	run --separate-stderr -2 tr-parse cut.tar
	[ "$(grep -c ^%trec <<<"$output")" -eq 2 ]
	[[ ${lines[-1]} == *"truncated=true" ]]
}

@test "-f: a trace with an unknown beginning" {
	{ echo 'make: entering'; zcat "$zlib"; } >log
	run -2 tr-parse -f klocwork log
	[ "$(grep -c ^exec <<<"$output")" -eq 176 ]
}

@test "--join: one call for enter and leave" {
	printf '%s\t%d\t-\t%d\t%s\n' enter 3 0 'f	a=1' enter 4 1 g leave 4 1 'g	->	return="x"' \
		call 5 1 'h	->' leave 3 0 'f	->	b=2' enter 6 0 i >half
	{ printf '%%trec\t1\n'; cat half; printf '!end\t4\n'; } >stream
	{
		printf '%%trec\t1\n'
		printf '%s\t%d\t-\t%d\t%s\n' call 4 1 'g	->	return="x"' call 5 1 'h	->' \
			call 3 0 'f	a=1	->	b=2' enter 6 0 i
		printf '!end\t4\n'
	} >joined
	tr-parse --join stream | cmp - joined
	tr-parse --join joined | cmp - joined
	cat half | tr-parse --join | cmp - <(sed '/^[%!]/d' joined)
	# records of other formats have no halves
	tr-parse --join "$zlib" | cmp - <(tr-parse "$zlib")
	run -2 tr-parse --join --exact stream
}

@test "--join: enters that return in another file do not return" {
	printf '%%trec\t1\nenter\t0\t-\t0\tf\n!end\t1\n' >one
	printf '%%trec\t1\nleave\t0\t-\t0\tf\t->\n!end\t0\n' >two
	tr-parse --join one two | cmp - <(cat one two)
	# nor if nothing marks the end of a segment
	sed -i '/^[%!]/d' one two
	tr-parse --join one two | cmp - <(cat one two)
}

@test "--join: damage is reported, the other calls are joined" {
	printf '%%trec\t1\nenter\t0\t-\t0\tf\tx=01\nenter\nleave\t0\t-\t0\tf\t->\n!end\t1\n' >bad
	run -2 --separate-stderr tr-parse --join bad
	[ "${lines[1]}" = 'call	0	-	0	f	x=01	->' ]
	[ "${lines[2]}" = '!end	1	errors=1' ]
	[ "${#stderr_lines[@]}" -eq 2 ]
}
