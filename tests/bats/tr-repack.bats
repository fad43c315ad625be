#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-repack: copying, converting, compression and archives.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	trec=$top_srcdir/tests/data/trec/filter.trec
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >z.json
	zcat "$top_srcdir/tests/data/build/mc.kw.jsonl.gz" >m.json
}

@test "-t trec copies the lines of a stream" {
	tr-repack -t trec "$trec" | cmp - "$trec"
	printf 'exec\t0\t-\t-\tgcc\targv=[ "a" ]\n' | tr-repack -t trec >out
	printf 'exec\t0\t-\t-\tgcc\targv=[ "a" ]\n' | cmp - out
}

@test "to typed JSON and back" {
	tr-repack -t json "$trec" | tr-repack -t trec | cmp - "$trec"
}

@test "without -t, the format of the stream must be known" {
	run -2 tr-repack "$trec"
	[ "$output" = "tr-repack: $trec: the stream does not name its format: use -t FORMAT" ]
	run -2 bash -c 'grep ^call "$1" | tr-repack' _ "$trec"
	[[ $output == *"use -t FORMAT"* ]]
	run -2 tr-repack <(printf '%%trec\t1\tformat=nonsense\n')
	[[ $output == *"unknown format 'nonsense'"* ]]
	printf '%%trec\t1\tformat=strace\n!end\t0\n' >s.trec
	run -2 tr-repack -o out s.trec
	[ "$output" = "tr-repack: s.trec: format 'strace' can only be read: use -t FORMAT (-t trec keeps the stream)" ]
	tr-repack -t trec s.trec | cmp - s.trec
	run -2 tr-repack -o out "$trec"
	[ ! -e out ]
}

@test "a name that ends in .trec keeps a stream whose format cannot be written" {
	printf '%%trec\t1\tformat=strace\n!end\t0\n' >s
	for name in x.trec x.trec.gz x.trec.zst; do
		tr-repack -o $name s
		tr-repack -t trec -z none $name | cmp - s
	done
	zstd -dc <x.trec.zst | cmp - s
	tr-repack -z xz -o x.trec s
	xz -dc <x.trec | cmp - s
	# the trace itself, no header, and a header that names no format
	echo '1 execve("/bin/cc", ["cc"], 0x1 /* 0 vars */) = 0' >log
	tr-repack -o x.trec log
	tr-parse log | cmp - x.trec
	grep ^exec <(tr-parse log) | tr-repack -o x.trec
	grep ^exec <(tr-parse log) | cmp - x.trec
	tr-repack -o x.trec "$trec"
	cmp "$trec" x.trec
	# another name, another format
	run -2 tr-repack -o x.log s
	run -2 tr-repack -o trec s
	run -2 tr-repack -t strace -o x.trec s
	tr-parse z.json | tr-repack -o y.trec
	cmp y.trec z.json
}

@test "-z: every codec, and back" {
	while read -r codec tool; do
		tr-repack -t trec -z $codec -o out --verify "$trec"
		$tool -dc <out | cmp - "$trec"
		tr-parse out | cmp - "$trec"
		tr-repack -t trec -z none out | cmp - "$trec"
	done <<-'END'
		gzip gzip
		xz xz
		zstd zstd
		bzip2 bzip2
		lz4 lz4
		gzip=9 gzip
		xz=0 xz
		zstd=19 zstd
	END
}

@test "-z: errors" {
	for bad in nonsense gzip=10 gzip= gzip=x none=1 zstd=1x; do
		run -2 tr-repack -t trec -z $bad "$trec"
		[[ ${lines[-1]} == "Try "* ]]
	done
	for bad in none snappy; do
		run -2 tr-repack -t trec -z $bad=1 "$trec"
		[ "${lines[0]}" = "tr-repack: codec $bad has no levels" ]
	done
	run -2 tr-repack -t trec -z snappy "$trec"
	[[ $output == *"-O foreign=yes"* ]]
	run -2 tr-repack -t trec -z brotli "$trec"
	tr-repack -t trec -z brotli -O foreign=yes -o out --verify "$trec"
	tr-repack -t trec -z snappy -O foreign=yes -o out --verify "$trec"
}

@test "the container of the input is kept" {
	for codec in gzip xz zstd; do
		tr-repack -t trec -z $codec -o in "$trec"
		tr-repack -t trec -o out in
		$codec -dc <out | cmp - "$trec"
	done
}

@test "-j: threads" {
	for _ in $(seq 200); do cat "$trec"; done >many
	tr-repack -t trec -z zstd -j 2 many | zstd -dc | cmp - many
	run -2 tr-repack -j x many
}

@test "the name of -o selects the codec, -z takes precedence over it" {
	gzip -c z.json >y.json.gz
	for input in z.json y.json.gz; do
		for ext in gz xz zst bz2 lz4; do
			run -0 --separate-stderr tr-repack --verify -o out.json.$ext $input
			[ -z "$stderr" ]
			[ "$(tr-parse --identify out.json.$ext)" = "out.json.$ext: klocwork" ]
			! cmp -s out.json.$ext $input || [ $ext.$input = gz.y.json.gz ]
			tr-repack -z none out.json.$ext | cmp - z.json
		done
	done
	tr-repack -z none -o out.json.gz z.json
	cmp out.json.gz z.json
	tr-repack -z zstd -o out.json.gz z.json
	zstdcat out.json.gz | cmp - z.json
	# a name that ends in something else: not compressed
	tr-repack -o out.json y.json.gz
	cmp out.json z.json
	tr-repack -z gzip -o out.json y.json.gz
	zcat out.json | cmp - z.json
	mkdir in.dir
	for out in out in.dir/out .out; do # no extension: as the input
		tr-repack -o $out y.json.gz
		zcat $out | cmp - z.json
	done
	tr-repack y.json.gz | zcat | cmp - z.json
	# a container of the format's own
	tr-repack -t trec "$top_srcdir/tests/data/apitrace/mt4.trace" >calls.trec
	tr-repack -o calls.trace.gz calls.trec
	zcat calls.trace.gz | cmp - <(tr-repack -z none calls.trec)
	run -2 tr-repack -o calls.trace.bz2 calls.trec
	[[ $output == *"tr-repack: "*": no tool for apitrace reads bzip2: use -O foreign=yes to write it anyway" ]]
}

@test "--verify accepts output that is compressed beyond --max-ratio" {
	{
		printf '%%trec\t1\tformat=x\n'
		yes "$(printf 'exec\t1\t-\t1\t/bin/make\targv=["make","-j8","-j8","-j8","-j8","-j8"]')" |
			head -n 1500000
		printf '!end\t1500000\n'
	} >long.trec
	for out in out out.tar out.tar.zst; do
		tr-repack -t trec -z zstd --verify -o $out long.trec
	done
	run -2 --separate-stderr tr-parse -o copy out # the limit stays for all others
	[[ $stderr == *"(--max-ratio)"* ]]
	tr-parse --max-ratio=1000000 out | cmp - long.trec
	rm long.trec copy
}

@test "a file that becomes shorter while it is read is an error" {
	for _ in {1..400}; do cat z.json; done >big.json
	for arguments in "" "-z gzip" "-t trec"; do
		cat big.json >shrinks.json
		# the pipe is full, so the tool waits
		run -2 --separate-stderr bash -c 'set -o pipefail
			tr-repack $1 shrinks.json | { head -c 1 && truncate -s 20M shrinks.json && cat; } >out' _ "$arguments"
		[[ ${stderr_lines[-1]} == *"shrinks.json"*": became shorter while it was read" ]]
	done
}

@test "--verify needs a file" {
	run -2 tr-repack -t trec --verify "$trec"
	[[ $output == *"--verify needs -o FILE"* ]]
	run -2 tr-repack -t trec --verify -o /dev/null "$trec"
	[[ $output == *"--verify needs a regular file"* ]]
}

@test "several inputs are written one after the other" {
	cat "$trec" "$trec" >two
	tr-repack -t trec "$trec" "$trec" | cmp - two
	tr-repack -t trec - "$trec" <"$trec" | cmp - two
}

@test "empty input gives empty output" {
	: >empty
	run -0 tr-repack empty
	[ -z "$output" ]
	tr-repack -o out empty
	[ -f out ]
	[ ! -s out ]
}

@test "with -t, empty input gives the format's empty file" {
	[ "$(tr-repack -t compdb </dev/null)" = "[]" ]
	[ "$(tr-repack -t buildspec </dev/null | jq -c .)" = "[]" ]
	[ "$(tr-repack -t compdb -z gzip </dev/null | zcat)" = "[]" ]
	[ "$(tr-repack -t kwspec </dev/null)" = "version;108" ]
	for format in klocwork bear gnatcov srctrace drcov etrace trec json; do
		run -0 tr-repack -t $format </dev/null
		[ -z "$output" ]
	done
	tr-repack -t apitrace --verify -o none.trace /dev/null
	[ "$(tr-parse --identify none.trace)" = "none.trace: apitrace" ]
	run -1 --separate-stderr tr-filter -c call none.trace
	[ -z "$stderr" ]
	# among others
	: >empty.trec && tr-parse z.json >one.trec && tar -cf in.tar empty.trec one.trec
	run -0 tr-repack -t compdb -o out.tar in.tar
	[ -z "$output" ]
	[ "$(tar -xOf out.tar empty.compile_commands.json)" = "[]" ]
	run -0 tr-repack -t buildspec -o out/ empty.trec
	[ "$(cat out/* | jq -c .)" = "[]" ]
	cp z.json one.json && tar -cf in.tar empty.trec one.json
	run -0 tr-repack -o out.tar in.tar
	[ "$output" = "tr-repack: in.tar:empty.trec: note: is empty: left out" ]
	[ "$(tar -tf out.tar)" = one.json ]
	# grep that found nothing
	[ "$(tr-parse z.json | grep nothing | tr-repack -t compdb)" = "[]" ]
	# a name that was mistyped is not nothing
	run -2 --separate-stderr tr-repack -t compdb missing
	[ -z "$output" ]
}

@test "upstream damage is reported, and the file is kept" {
	sed '4s/^/ /' "$trec" >bad
	run -2 bash -c 'tr-parse bad 2>/dev/null | tr-repack -t trec -o out'
	[[ $output == *"upstream reported 1 error"* ]]
	[ -s out ]
	run -2 bash -c 'tr-parse bad 2>/dev/null | tr-repack --strict -t trec -o strict'
	[ ! -e strict ]
}

@test "input that is damaged while it is copied" {
	gzip -c "$trec" | head -c 300 >cut.gz
	run -2 tr-repack -t trec -z none -o out cut.gz
	[ -s out ]
}

@test "records are written back to their trace" {
	for trace in z.json m.json; do
		tr-parse $trace >records
		run -1 grep -F .raw= records
		tr-repack records | cmp - $trace
		tr-parse $trace | tr-repack -t klocwork | cmp - $trace
	done
}

@test "an edited record is written" {
	tr-parse --exact z.json | sed 's/-O3/-O0/' | tr-repack >out
	sed 's/-O3/-O0/' z.json | cmp - out
}

@test "a trace file that keeps its format is copied, regardless of its content" {
	{ printf '\xef\xbb\xbf'; cat z.json; echo garbage; head -c -20 m.json; } >odd
	tr-repack odd | cmp - odd
	tr-repack -z zstd odd | zstd -dc | cmp - odd
}

@test "an option of the format makes tr-repack parse the input" {
	printf '{"version": 101}\n' >v.json
	tr-repack v.json | cmp - v.json
	tr-repack -O foreign=no v.json | cmp - v.json
	tr-repack -O env-base=parent v.json | cmp - <(printf '{"version":101}\n')
}

@test "copies do not share a line" {
	head -c -1 m.json >cut
	tr-repack cut z.json >out
	cat m.json z.json | cmp - out
}

@test "traces and streams together" {
	tr-parse m.json >m.trec
	tr-repack m.trec z.json >out
	cat m.json z.json | cmp - out
	tr-repack z.json m.trec z.json >out
	cat z.json m.json z.json | cmp - out
	run -2 tr-repack z.json <(tr-parse m.json | sed '1s/klocwork/trec/')
	[[ $output == *"is trec, and the input before it is klocwork: use -t FORMAT"* ]]
}

@test "the container: of the input file, or -z" {
	gzip -k z.json
	tr-repack z.json.gz | zcat | cmp - z.json
	tr-repack -z none z.json.gz | cmp - z.json
	tr-repack -z xz z.json.gz | xz -dc | cmp - z.json
	tr-parse z.json.gz | tr-repack | cmp - z.json
}

@test "records that the format cannot hold are reported with --verbose and refused with --strict" {
	run --separate-stderr -0 tr-repack -q -t klocwork "$trec"
	[ -z "$stderr" ]
	run --separate-stderr -0 tr-repack -t klocwork "$trec"
	[[ $stderr != *"cannot hold"* ]]
	run --separate-stderr -0 tr-repack --verbose -t klocwork "$trec"
	[[ $stderr == *"note: klocwork cannot hold sys records: 2 left out"* ]]
	run --separate-stderr -2 tr-repack --strict -t klocwork -o out "$trec"
	[ ! -e out ]
}

@test "records that the format cannot hold are counted by kind, from the 32nd kind on together" {
	{ printf '%%trec\t1\n'; for i in {1..40} {1..31}; do printf 'kind%d\t%d\t-\t-\tx\n' "$i" "$i"; done
		printf 'exec\t1\t-\t7\t/a\n!end\t72\n'; } >kinds.trec
	run -0 tr-repack --report=report -t klocwork -o out kinds.trec
	grep -o 'kind[0-9]* records: [0-9]*' report | diff - <(for i in {1..31}; do echo "kind$i records: 2"; done
		echo "kind32 records: 9")
	# in one line: as many as it has room for
	sed -i /^exec/d kinds.trec
	run -2 tr-repack -q -t klocwork -o none kinds.trec
	[[ $output == *"cannot hold any of the records here: 2 kind1, 2 kind2, 2 kind3, "* ]]
}

@test "a format that holds none of the input's kinds fails and names them" {
	printf 'use\t0\t-\t-\t/a\nprobe\t1\t-\t1\t-\nuse\t2\t-\t-\t/b\n' >other
	printf 'meta\t0\t-\t-\tversion\tvalue="1"\n' >context
	while read -r format; do
		run -2 --separate-stderr tr-repack -q -t $format -o out context other
		[[ $stderr == *": $format cannot hold any of the records here: 2 use, 1 probe" ]]
		[ ! -e out ]
	done < <(tr-repack --list-formats | awk -F'\t' '$3 == "yes" && $1 !~ /^(trec|json)$/ { print $1 }')
	for format in klocwork compdb buildspec bear; do
		run -2 tr-tojson --as=$format -o out other
		[ ! -e out ]
	done
	# the file of the last run stays
	cp z.json kept
	run -2 tr-repack -t gnatcov -o kept z.json
	[[ $output == *"gnatcov cannot hold any of the records here: 176 exec" ]]
	cmp kept z.json
	# each member is a trace of its own, and the others are written
	tar -cf in.tar z.json && cp --no-preserve=mode "$top_srcdir/tests/data/apitrace/mt4.trace" . && tar -rf in.tar mt4.trace
	run --separate-stderr -2 tr-repack -t klocwork -o out.tar in.tar
	[[ $stderr == *"in.tar:mt4.trace: klocwork cannot hold any of the records here: 4135 call,"* ]]
	[[ $stderr != *z.json* ]]
	[ "$(tar -tf out.tar)" = z.json ]
	# nothing is left of nothing
	run --separate-stderr -0 bash -c 'tr-filter -q never z.json | tr-repack -t compdb'
	[ -z "$stderr" ]
}

@test "context kinds are not losses, and alone give a note" {
	for kind in env envset meta section info module load unload loadaddr; do
		printf '%s\t0\t-\t-\t0x00001000\n' $kind
	done >context
	run -0 --separate-stderr tr-repack -t compdb context
	[ "$output" = '[]' ]
	[[ $stderr == *"note: no events here, only context records"* ]]
	{ cat context && tr-parse z.json; } >both
	tr-repack --strict -t compdb both | cmp - <(tr-repack -t compdb z.json)
	tr-repack --strict -t kwspec both | cmp - <(tr-repack -t kwspec z.json)
}

@test "a build that compiles nothing is an empty list and a note" {
	printf 'exec\t0\t-\t1\t/bin/true\tcwd="/"\targv=["true"]\n' >none
	for format in compdb buildspec kwspec; do
		run -0 --separate-stderr tr-repack -t $format none
		[[ $stderr == *": note: no command here compiles"*"has no entries" ]]
		[[ $format == kwspec ]] || [ "$(jq -c . <<<"$output")" = '[]' ]
		run -0 --separate-stderr tr-repack -t $format z.json
		[[ $stderr != *"no entries"* ]]
	done
}

@test "-t: formats that cannot be written" {
	for format in strace checkpoint; do
		run -2 tr-repack -t $format z.json
		[ "${lines[0]}" = "tr-repack: format '$format' cannot be written" ]
	done
}

@test "archives in, archive out" {
	echo read me >README
	gzip -k z.json
	tar -cf in.tar README m.json z.json.gz
	for out in out.tar out.tar.zst out.tgz out.zip out.7z out.cpio; do
		run --separate-stderr -0 tr-repack --verify -o $out in.tar
		[ "$stderr" = "tr-repack: in.tar:README: note: member of no known format is skipped" ]
		tr-parse --list $out | cut -f1,2 >list
		printf 'm.json\tklocwork\nz.json.gz\tklocwork\n' | cmp - list
		tr-parse --member=z.json.gz $out >records
		tr-parse --member=z.json.gz in.tar | cmp - records
	done
	tar -xOf out.tar m.json | cmp - m.json
	tar -xOf out.tar z.json.gz | zcat | cmp - z.json
}

@test "archives: names follow the format and the codec" {
	gzip -k z.json
	tr-parse m.json >m.trec
	tar -cf in.tar m.trec z.json.gz
	tr-repack -t trec -z zstd -o out.zip in.tar
	[ "$(tr-parse --list out.zip | cut -f1)" = "$(printf 'm.trec.zst\nz.trec.zst')" ]
	tr-repack -o out.zip -z none m.json z.json.gz
	[ "$(tr-parse --list out.zip | cut -f1)" = "$(printf 'm.json\nz.json')" ]
	tr-repack -o back.zip in.tar
	[ "$(tr-parse --list back.zip | cut -f1)" = "$(printf 'm.kw.json\nz.json.gz')" ]
	tr-parse --member='m*' back.zip | sed 1d | cmp - <(sed 1d m.trec)
}

@test "archives: a name gets the extension of any format, and keeps the rest" {
	mkdir -p a
	cp z.json a/z.json
	for to in bear:z.bear.json buildspec:z.buildspec.json compdb:z.compile_commands.json \
		json:z.json kwspec:z.out trec:z.trec; do
		tr-repack -q -t ${to%%:*} -o out.tar a/z.json
		[ "$(tar -tf out.tar)" = "a/${to#*:}" ]
	done
	# names that the tools of a format always give have no extension but the last
	tr-repack -q -t compdb -o a/compile_commands.json z.json
	tr-repack -q -t bear -o a/events.json z.json
	tr-repack -q -t trec -o out.tar a/compile_commands.json a/events.json
	[ "$(tar -tf out.tar)" = "$(printf '%s\n' a/compile_commands.trec a/events.trec)" ]
}

@test "-o of a directory: a file for every file or member" {
	mkdir -p a
	cp z.json a/z.json
	gzip -c m.json >m.json.gz
	tar -cf in.tar a/z.json m.json.gz
	tr-repack --verify -o out/ in.tar m.json
	[ "$(find out -type f | LC_ALL=C sort)" = "$(printf '%s\n' out/a/z.json out/m.json out/m.json.gz)" ]
	cmp out/a/z.json z.json
	zcat out/m.json.gz | cmp - m.json
	# an existing directory: files with other names are kept
	tr-repack --verify -t trec -z zstd -o out in.tar
	[ "$(find out -type f | LC_ALL=C sort)" = \
		"$(printf '%s\n' out/a/z.json out/a/z.trec.zst out/m.json out/m.json.gz out/m.trec.zst)" ]
	tr-parse out/a/z.trec.zst | sed 1d | cmp - <(tr-parse z.json | sed 1d)
	# nothing leads out of it, and each name is there once
	run -0 --separate-stderr tr-repack -o new/deep/ ../"${PWD##*/}"/a/z.json a/z.json a/z.json
	[[ $stderr == *"a/z.json: note: the name a/z.json is taken: written as a/z-2.json" ]]
	[ "$(cd new/deep && find . -type f | LC_ALL=C sort)" = \
		"$(printf './%s\n' "${PWD##*/}/a/z.json" a/z-2.json a/z.json | LC_ALL=C sort)" ]
	# a bad one is reported, the others are done
	{ tr-parse m.json | sed '4s/^/ /'; } >bad.trec
	printf '%%trec\t1\tformat=apitrace\tversion=9\ncall\t0\t-\t0\tf\t->\n!end\t1\n' >new.trec
	run -2 --separate-stderr tr-repack -o some/ new.trec bad.trec a/z.json missing.json
	[ "$(cd some && find . -type f | LC_ALL=C sort)" = "$(printf './%s\n' a/z.json bad.kw.json)" ]
	# empty input gives no file, and files that cannot be made are reported
	run -2 tr-repack -o none/ missing.json
	[ ! -e none ]
	run -2 --separate-stderr tr-repack -o m.json/ z.json
	[[ $stderr == *"cannot create m.json/z.json: Not a directory" ]]
	[ -f m.json ]
	# a file and a directory with one name: the later one is left out, the rest is converted
	mkdir -p one two/a
	cp z.json one/a
	cp z.json two/a/b
	tar -cf both.tar -C one a
	tar -rf both.tar -C "$PWD/two" a/b
	tar -rf both.tar m.json.gz
	run -2 --separate-stderr tr-repack -o both/ both.tar
	[[ $stderr == *"both.tar:a/b: cannot create both/a/b: Not a directory
tr-repack: 3 files and members: 2 converted, 1 with trouble" ]]
	[ "$(cd both && find . -type f | LC_ALL=C sort)" = "$(printf './%s\n' a m.json.gz)" ]
}

@test "a trace of a stream that cannot be written is left out, and the others are written" {
	# header NAME FORMAT: an empty trace
	trace() { printf '%%trec\t1\tformat=%s\tversion=5\tmember="%s"\n!end\t0\n' "$2" "$1"; }
	for one in apitrace srctrace drcov; do
		{ trace a $one && trace b strace && trace c nothing && trace d $one; } >s.trec
		{ trace x/b $one && trace c strace; } >t.trec
		for j in 1 3; do
			mkdir $one$j
			touch $one$j/x
			run -2 --separate-stderr tr-repack -j $j -z gzip -o $one$j/ s.trec t.trec
			stderr=${stderr/b.gz:/b:}
			[ "$stderr" = "tr-repack: s.trec: format 'strace' can only be read: use -t FORMAT (-t trec keeps the stream)
tr-repack: s.trec: the stream came from the unknown format 'nothing': use -t FORMAT
tr-repack: t.trec: cannot create $one$j/x/b: Not a directory
tr-repack: t.trec: format 'strace' can only be read: use -t FORMAT (-t trec keeps the stream)
tr-repack: 2 files and members: 2 with trouble" ] || { echo "$stderr"; return 1; }
			[ "$(cd $one$j && find . -type f | sed 's/[.]gz$//' | LC_ALL=C sort)" = "$(printf './%s\n' a d x)" ]
		done
		run -2 tr-repack -q -o $one.tar s.trec t.trec
		[ "$(tar -tf $one.tar)" = "$(printf '%s\n' a d x/b)" ]
	done
	# the trace after one of which nothing can be written, too
	{ printf '%%trec\t1\tformat=klocwork\nexec\t0\t-\t1\ta\n!end\t1\n' && trace d drcov; } >s.trec
	run -2 tr-repack -q -t drcov -o after/ s.trec
	[ "$(ls after)" = d ]
}

@test "--resume skips files that were made without errors, and makes the others" {
	mkdir -p a
	cp z.json a/z.json
	cp m.json a/m.json
	tar -cf in.tar a/z.json a/m.json
	# 2 of 3: the damaged one is written as far as it can be read, and again by every run
	{ tr-parse m.json | sed '4s/^/ /'; } >bad.trec
	run -2 --separate-stderr tr-repack -t trec -o out/ in.tar bad.trec
	first=${stderr%$'\n'*}
	[ "${stderr##*$'\n'}" = "tr-repack: 3 files and members: 2 converted, 1 with trouble" ]
	before=$(cd out && find . -type f -printf '%p %i\n' | sort)
	run -2 --separate-stderr tr-repack --resume -t trec -o out/ in.tar bad.trec
	[ "$stderr" = "$first
tr-repack: note: kept 2 files that an earlier run wrote
tr-repack: 3 files and members: 2 written by an earlier run, 1 with trouble" ]
	[ "$(diff <(echo "$before") <(cd out && find . -type f -printf '%p %i\n' | sort) | grep -c bad.trec)" -eq 2 ]
	# one is missing, one was changed, and one is no file
	cp -r out expected
	rm out/a/z.trec
	run -0 --separate-stderr tr-repack --resume -t trec -o out/ in.tar
	[ "$stderr" = "tr-repack: note: kept 1 file that an earlier run wrote" ]
	echo >>out/a/z.trec
	ln -sf z.trec out/a/m.trec
	run -0 --separate-stderr tr-repack --resume -t trec -o out/ in.tar
	[ -z "$stderr" ]
	diff -r expected out
	# standard input is a different trace each time
	for trace in z.json m.json; do
		run -0 --separate-stderr tr-repack --resume -t trec -o out/ <$trace
		[ -z "$stderr" ]
		tr-parse <$trace | cmp - out/stdin.trec
	done
	# a file that would be renamed is not mistaken for an existing one
	run -0 --separate-stderr tr-repack --resume -t trec -z gzip -o out/ in.tar
	[ -z "$stderr" ]
	[ "$(ls out/a)" = "$(printf '%s\n' m.trec m.trec.gz z.trec z.trec.gz)" ]
}

@test "--resume makes the output of another input again, whatever the dates are" {
	tr-parse m.json >m.trec
	tr-parse z.json >z.trec
	touch -d 2000-01-01 z.json m.json z.trec m.trec
	# an archive is replaced: its members have their old dates and names
	tar -cf in.tar --transform=s/m/x/ m.json
	tr-repack -t trec -o replaced/ in.tar
	tar -cf in.tar --transform=s/z/x/ z.json
	for made in "" "tr-repack: note: kept 1 file that an earlier run wrote"; do
		run -0 --separate-stderr tr-repack --resume -t trec -o replaced/ in.tar
		[ "$stderr" = "$made" ]
		sed 1d replaced/x.trec | cmp - <(sed 1d z.trec)
	done
	# the input is written to in the second in which the output was written
	cp m.trec x.trec
	tr-repack -t trec -o second/ x.trec
	cat z.trec >x.trec
	touch -d @"$(stat -c %Y second/x.trec).999999999" x.trec
	run -0 --separate-stderr tr-repack --resume -t trec -o second/ x.trec
	cmp x.trec second/x.trec
	# a further input takes the name that another one had
	cp z.json x.json
	cp m.trec x.trec
	tr-repack --resume -t trec -o further/ x.trec
	tr-repack -q --resume -t trec -o further/ x.json x.trec
	cmp <(sed 1d further/x.trec) <(sed 1d z.trec)
	cmp further/x-2.trec m.trec
	# a first member of a name was not made, because the process was killed
	tar -cf in.tar --transform=s/[mz]/y/ m.json z.json
	tr-repack -q -t trec -o killed/ in.tar
	cp -r killed expected
	mv killed/y-2.trec killed/y.trec
	run -0 --separate-stderr tr-repack --resume -t trec -o killed/ in.tar
	diff -r expected killed
}

@test "--resume makes a damaged input again that is as old as a file system can say" {
	head -c 30000 z.json >bad.json
	for date in 1901-01-01 1970-01-01; do
		touch -d $date bad.json
		tar -cf in.tar --format=pax bad.json
		for resume in "" --resume --resume; do
			run -2 tr-repack $resume -t trec -o "$date/" in.tar
		done
	done
}

@test "an output that cannot be written fails alone, and its message names the member" {
	{ head -3 z.json; for _ in {1..60}; do sed '1,3d;$d' z.json; done; tail -1 z.json; } >large.json
	tar -cf in.tar z.json large.json m.json
	for j in 1 3; do
		# without a handler, the signal of the limit would end the process
		run -2 --separate-stderr bash -c 'ulimit -f 1000; exec env --default-signal=XFSZ "$@"' _ \
			tr-repack -j $j --report=$j.report -t trec -o $j/ in.tar
		[ "$stderr" = "tr-repack: in.tar:large.json: $j/large.trec: cannot write: File too large
tr-repack: 3 files and members: 2 converted, 1 with trouble" ]
		[ "$(ls -A $j)" = "$(printf '%s\n' m.trec z.trec)" ]
		[ "$(grep -c '"type":"member".*"result":"ok"' $j.report)" -eq 2 ]
	done
	# an archive that misses a member because of us is not complete
	run -2 bash -c 'ulimit -f 1000; exec tr-repack -t trec -o out.tar in.tar'
	[ ! -e out.tar ]
	# names that a file system does not take, or that are in use
	cp z.json "$(printf 'z%.0s' {1..250}).json"
	mkdir -p names/z.trec.gz
	for j in 1 3; do
		run -2 --separate-stderr tr-repack -j $j --report=names/m.trec.gz -t trec -z gzip -o names/ zz*.json z.json m.json
		[[ ${stderr_lines[0]} == "tr-repack: zzz"*".json: cannot create names/zzz"*": File name too long" ]]
		[ "${stderr_lines[1]}" = "tr-repack: z.json: cannot create names/z.trec.gz: Is a directory" ]
		[ "${stderr_lines[2]}" = "tr-repack: m.json: names/m.trec.gz is the report: choose another name for the output" ]
		[ "${stderr_lines[3]}" = "tr-repack: 3 files and members: 3 with trouble" ]
	done
}

@test "few descriptors are enough for many files" {
	for i in {1..50}; do
		mkdir -p in/$i
		cat m.json >in/$i/m.json
	done
	tar -cf in.tar in
	for limit in 24 40; do
		for j in 1 3; do
			for input in in.tar "in/*/*"; do
				rm -rf out
				run -0 --separate-stderr bash -c "ulimit -n $limit; exec tr-repack -j $j -t trec -z gzip -o out/ $input"
				[ -z "$stderr" ]
				[ "$(find out -type f | wc -l)" -eq 50 ]
			done
		done
	done
}

@test "an output that is dropped gives one message" {
	cat "$top_srcdir/tests/data/apitrace/gears.trace" >gears.trace
	for j in 1 3; do
		run -2 --separate-stderr tr-repack -j $j -t klocwork -z gzip=9 -o $j/ z.json m.json gears.trace
		[ "$stderr" = "tr-repack: gears.trace: klocwork cannot hold any of the records here: 11600 call, 1 enter
tr-repack: 3 files and members: 2 converted, 1 with trouble" ]
		[ "$(ls -A $j)" = "$(printf '%s\n' m.json.gz z.json.gz)" ]
	done
}

@test "--resume looks at each trace of a stream" {
	traces=$top_srcdir/tests/data/apitrace
	tr-parse "$traces/threads.trace" "$traces/killed.trace" "$traces/threads.trace" >three.trec
	tr-repack -q -o out/ three.trec
	cp -r out expected
	rm out/three-2.trace
	run -0 --separate-stderr tr-repack --resume -o out/ three.trec
	[ "$stderr" = "tr-repack: note: kept 2 files that an earlier run wrote" ]
	diff -r expected out
}

@test "--resume needs a directory" {
	run -2 tr-repack --resume -o out.tar z.json
	[ "${lines[0]}" = "tr-repack: --resume needs a directory: -o DIR/" ]
	run -2 tr-repack --resume z.json
	[ ! -e out.tar ]
}

@test "SIGKILL leaves the old file or the new one, and --resume continues" {
	"$top_srcdir/tests/long/kills" 7 50
}

# appears FILE: waits for it
appears() {
	for _ in $(seq 500); do [ -e "$1" ] && return; sleep 0.02; done
	return 1
}

@test "-o of a directory: files appear while others are converted; what a signal leaves, --resume makes again" {
	cat z.json >c.json
	for j in 1 3; do
		rm -rf d slow wait && mkfifo slow wait
		tr-repack -j $j -t trec -o d/ z.json slow c.json wait 3>&- &
		pid=$!
		{ sleep 1.1; cat m.json; } >slow
		exec 9>wait
		# a file that takes a second does not wait, nor do those before it; the one after it does
		appears d/slow.trec
		[ "$(ls d | grep -vx c.trec)" = "$(printf '%s\n' slow.trec z.trec)" ]
		# on a slow machine, that one may take a second, too
		for _ in $(seq 500); do ls -A d | grep -qE '^(\.c\.trec\..*|c\.trec)$' && break; sleep 0.02; done
		kill -0 $pid
		# SIGTERM removes the others
		kill -TERM $pid
		exec 9>&-
		wait $pid || [ $? -eq 143 ]
		[ "$(ls -A d | grep -vx c.trec)" = "$(printf '%s\n' slow.trec z.trec)" ]
		run -0 --separate-stderr tr-repack -j $j --resume -t trec -o d/ z.json c.json
		[[ $stderr == "tr-repack: note: kept "?" file"*" that an earlier run wrote" ]]
		cmp <(tr-parse d/c.trec | sed 1d) <(tr-parse z.json | sed 1d)
	done
}

@test "-o of a directory: each trace of a stream that holds several" {
	traces=$top_srcdir/tests/data/apitrace
	tr-parse "$traces/threads.trace" "$traces/killed.trace" >two.trec
	run -2 --separate-stderr tr-repack -o two.trace two.trec
	[[ $stderr == *"(-o NAME.tar) or a directory (-o NAME/)"* ]]
	tr-repack -q --verify -o two/ two.trec
	[ "$(ls two)" = "$(printf '%s\n' two-2.trace two.trace)" ]
	tr-parse two/two.trace | sed 1d | cmp - <(tr-parse "$traces/threads.trace" | sed 1d)
}

@test "archives: a bad member is reported, the others are converted" {
	{ tr-parse m.json | sed '4s/^/ /'; } >bad.trec
	tr-parse m.json >good.trec
	tar -cf in.tar bad.trec good.trec
	run -2 tr-repack -o out.tar in.tar
	[[ $output == *"in.tar:bad.trec:4: "* ]]
	[ "$(tr-parse --list out.tar | wc -l)" -eq 2 ]
	tar -xOf out.tar good.kw.json | cmp - m.json
	run -2 tr-repack --strict -o strict.tar in.tar
	[ ! -e strict.tar ]
	[ -z "$(ls -A | grep '^\.strict')" ]
}

@test "the last line has totals: after errors, and with --verbose" {
	echo nothing >README
	for _ in $(seq 30); do echo bad; done >bad.trec
	tar -cf in.tar z.json README bad.trec m.json
	for j in 1 2; do
		run -2 --separate-stderr tr-repack -f trec -j $j -t trec -o d/ in.tar missing
		last=${stderr##*$'\n'}
		[ "$last" = "tr-repack: 5 files and members: 4 with trouble, 1 unreadable" ]
		run -2 --separate-stderr tr-repack -j $j -t trec -o d/ in.tar missing bad.trec
		last=${stderr##*$'\n'}
		[ "$last" = "tr-repack: 6 files and members: 2 converted, 1 with trouble, 1 unreadable, 2 skipped" ]
		run -0 --separate-stderr tr-repack -j $j --verbose -t trec -o d/ z.json m.json
		[ "${stderr##*$'\n'}" = "tr-repack: 2 files and members: 2 converted" ]
		run -0 --separate-stderr tr-repack -j $j --resume -q --verbose -t trec -o d/ z.json m.json
		[ -z "$stderr" ]
		run -2 --separate-stderr tr-repack -j $j --strict -t trec -o d/ z.json missing m.json
		[ "${stderr##*$'\n'}" = "tr-repack: 2 files and members: 1 converted, 1 unreadable, and no more after that" ]
	done
}

@test "archives: a member whose writer gives up is left out, the others are done" {
	segment='%%trec\t1\tformat=apitrace\tversion=%d\n%%%%fn\tF0\tglFlush\targs=[]\n'
	segment+='call\t0\t-\t0\tglFlush\t->\n!end\t1\n'
	printf "$segment" 6 >first.trec
	printf "$segment" 9 >new.trec # nobody knows this version yet
	cp first.trec last.trec
	tar -cf in.tar first.trec new.trec last.trec
	run -2 --separate-stderr tr-repack --verify -o out.tar in.tar
	[[ $stderr == *"in.tar:new.trec:1: version 9 of apitrace's format is not known"* ]]
	[ "$(tar -tf out.tar)" = "$(printf '%s\n' first.trace last.trace)" ]
	cmp <(tar -xOf out.tar first.trace) <(tar -xOf out.tar last.trace)
	# alone, nothing is left of it
	run -2 tr-repack -o out.trace new.trec
	[ ! -e out.trace ]
}

@test "members are named as tar names them, each once" {
	mkdir -p a b
	cp m.json a/x.json
	cp m.json b/x.json
	gzip -c m.json >a/x.json.gz
	run --separate-stderr -0 tr-repack -o out.tar a/x.json b/x.json
	[ -z "$stderr" ]
	[ "$(tar -tf out.tar)" = "$(printf '%s\n' a/x.json b/x.json)" ]
	# nothing absolute, nothing above
	tr-repack -o out.tar "$PWD/a/x.json" ../"${PWD##*/}"/b/x.json
	[ "$(tar -tf out.tar)" = "$(printf '%s\n' "${PWD#/}/a/x.json" "${PWD##*/}/b/x.json")" ]
	# the same name again, and two that become the same
	run --separate-stderr -0 tr-repack --verify -o out.tar a/x.json ./a/x.json a/x.json a/x.json.gz
	[ "$(tar -tf out.tar)" = "$(printf '%s\n' a/x.json ./a/x-2.json a/x-3.json a/x.json.gz)" ]
	[[ $stderr == *"a/x.json: note: the name a/x.json is taken: written as a/x-3.json"* ]]
	tr-repack -q -t trec -o out.zip a/x.json a/x.json.gz
	[ "$(tr-parse --list out.zip | cut -f1)" = "$(printf '%s\n' a/x.trec a/x-2.trec)" ]
	# of archives, and of streams that name the member
	tar -cf in.tar a/x.json
	(cd b && tar -P -cf ../up.tar ../a/x.json)
	run --separate-stderr -0 tr-repack -o out.cpio in.tar up.tar in.tar
	[ "$(tr-parse --list out.cpio | cut -f1)" = "$(printf '%s\n' a/x.json a/x-2.json a/x-3.json)" ]
	tr-parse in.tar up.tar | sed 's/member="[^"]*"/member="..\/..\/evil.json"/' |
		tr-repack -q -o out.tar
	[ "$(tar -tf out.tar)" = evil.json ]
}

# mangled FILTER [OPTION...]: the trace through FILTER on its way back
mangled() {
	filter=$1
	shift
	tr-parse z.json | bash -c "$filter" >mangled.trec
	run --separate-stderr tr-repack "$@" -o out.json mangled.trec
	echo "$filter: exit $status: $stderr"
}

# events N: the trace that came out is JSON, line by line, with N events
events() {
	jq -c . out.json >/dev/null
	[ "$(grep -c '^{"id":' out.json)" -eq "$1" ]
}

@test "mangled on the way: cat a b" {
	tr-parse m.json >m.trec
	mangled 'cat - m.trec'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	events $((176 + 13))
}

@test "mangled on the way: grep ^exec" {
	mangled 'grep ^exec'
	[ "$status" -eq 2 ]
	[[ $stderr == *"no header"*"use -t FORMAT" ]]
	mangled 'grep ^exec' -t klocwork
	[ "$status" -eq 0 ]
	[[ $stderr == *"note: the stream has no version and creator"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	events 176
	mangled 'grep ^exec' -t klocwork --strict
	[ "$status" -eq 2 ]
}

@test "mangled on the way: head, tail" {
	mangled 'head -20'
	[ "$status" -eq 0 ]
	[[ $stderr == *"note: "*"no trailer"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	events 16
	mangled 'tail -21' -t klocwork
	[ "$status" -eq 0 ]
	[[ $stderr == *"note: the stream has no version and creator"* ]]
	[[ $stderr == *"note: events whose parent is not in this trace"* ]]
	events 20
}

@test "mangled on the way: sort, shuf" {
	mangled 'LC_ALL=C sort'
	[ "$status" -eq 0 ]
	[[ $stderr == *"note: "*"no trailer"* ]]
	events 176
	mangled shuf -t klocwork
	[ "$status" -eq 0 ]
	events 176
}

@test "mangled on the way: lines left out by other means" {
	mangled 'grep -v ^meta'
	[ "$status" -eq 0 ]
	[[ $stderr == *"note: the trailer counts 179 records, 177 were there"* ]]
	events 176
}

@test "mangled on the way: split into files and put together again" {
	tr-parse z.json | split -l 50 - part.
	tr-parse part.* | tr-repack -t klocwork -q -o out.json
	events 176
	cat part.* | tr-repack | cmp - z.json
}

@test "tr-filter on the way: a valid trace with its version, creator and environment" {
	tr-filter 'exec and basename(name) == "gcc"' z.json | tr-repack -q -o out.json
	head -3 z.json | cmp - <(head -3 out.json)
	events "$(jq -c 'select(.executable? | strings | endswith("/gcc"))' z.json | wc -l)"
}

@test "-j: threads that compress, as many as are asked for" {
	[ -d /proc/self/task ] || skip "there is no /proc"
	mkfifo in
	tr-repack -t trec -z zstd -j 3 -o out <in 9>&- &
	pid=$!
	exec 9>in
	printf '%%trec\t1\n' >&9
	seq 50000 | sed 's/.*/exec\t&\t-\t1\tgcc\targv=["gcc","-c","file&.c"]/' >&9
	for _ in $(seq 200); do
		threads=$(ls /proc/$pid/task | wc -l)
		[ "$threads" -lt 4 ] || break
		sleep 0.05
	done
	exec 9>&-
	wait $pid
	[ "$threads" -ge 4 ]
	zstd -dc out | grep -c ^exec | grep -x 50000
	run -2 tr-repack -t trec -z zstd -j x -o none out
	[ ! -e none ]
}

@test "a record that a format cannot hold is left out and reported, and all else is written" {
	local format='' before=() record='' count=0 bad=0
	while IFS= read -r line; do
		case $line in
		'@ '*) format=${line#@ } ;;
		'= %trec'*) before=("${line#= }") ;;
		'= '*) before+=("${line#= }") ;;
		'< '*) record=${line#< } ;;
		'! '*)
			count=$((count + 1))
			printf '%s\n' "${before[@]}" >good.trec
			printf '%s\n' "${before[@]}" "$record" >bad.trec
			tr-repack -q -t "$format" -z none -o want good.trec
			run -2 tr-repack -q -t "$format" -z none -o got bad.trec
			[ "$output" = "tr-repack: bad.trec:$((${#before[@]} + 1)): ${line#! }" ] && cmp got want ||
				{ echo "$format: $record: $output" && bad=1; }
			;;
		esac
	done <"$top_srcdir/tests/data/format/left-out.cases"
	[ "$bad" -eq 0 ] && [ "$count" -ge 100 ]
}
