#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compressed files and archives, made and read by their own tools.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cp --no-preserve=mode "$top_srcdir/tests/data/trec/filter.trec" one.trec
	sed 's/pid=1/pid=2/' one.trec >two.trec
	cat one.trec two.trec >both
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

# a trace of N records, large enough for several blocks of any codec
long_trace() {
	seq 0 "$1" | awk 'BEGIN { OFS = "\t"; srand(1) }
		{ print "exec", $1, "-", $1 * 7, "/usr/bin/gcc-" int(rand() * 1e6), "argv=[\"gcc\",\"-c\",\"f" int(rand() * 1e9) ".c\"]" }'
}

same() { # same FILE: as it is and through a pipe
	tr-parse "$1" | cmp - both
	cat "$1" | tr-parse | cmp - both
}

@test "gzip xz zstd bzip2 lz4: files of their tools are read" {
	for tool in gzip xz zstd bzip2 lz4; do
		need $tool
		for level in 1 9; do
			$tool -c -$level <both >packed
			same packed
		done
	done
}

# loaded FILE: the libraries among those of codecs that few traces need, by which FILE is read
loaded() {
	LD_DEBUG=files tr-parse "$1" 2>&1 >/dev/null |
		grep -oE 'file=lib(archive|brotli[a-z]*|bz2|lzma|snappy)\.' | sort -u
}

@test "libraries of containers are loaded only for their files" {
	LD_DEBUG=files tr-parse both 2>&1 >/dev/null | grep -q 'file=libc\.' || skip "the loader does not list files"
	run loaded both
	[ -z "$output" ]
	need xz
	xz -c both >both.xz
	run loaded both.xz
	[ "$output" = file=liblzma. ]
	need bzip2
	bzip2 -c both >both.bz2
	run loaded both.bz2
	[ "$output" = file=libbz2. ]
}

@test "several members and frames in a row" {
	for tool in gzip xz zstd bzip2 lz4; do
		need $tool
		{ $tool -c <one.trec; $tool -c </dev/null; $tool -c <two.trec; } >packed
		same packed
	done
}

@test "their tools read the files of tr-repack" {
	for tool in gzip xz zstd bzip2 lz4; do
		need $tool
		tr-repack -t trec -z $tool both | $tool -dc | cmp - both
		tr-repack -t trec -z $tool -j 3 both | $tool -dc | cmp - both
		: | tr-repack -t trec -z $tool | $tool -dc | cmp - /dev/null
	done
}

@test "a file that is compressed twice is read" {
	gzip -c both | xz -c >packed
	same packed
}

# cut_anywhere TOOL [OPTION...]: every truncation gives at least the data of TOOL -dc, and a message
cut_anywhere() {
	"$@" -c long >packed
	size=$(wc -c <packed)
	for cut in 1 11 12 100 1000 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 8)) $((size - 1)); do
		head -c "$cut" packed >cut
		$1 -dc <cut >want 2>tool.err || :
		run -2 --separate-stderr bash -c 'tr-parse -f trec cut | grep -v "^%" >out; exit "${PIPESTATUS[0]}"'
		[[ $stderr == *"$1: "* ]] || [ "$cut" -lt 15 ]
		# all whole lines of the tool's are there
		lines=$(wc -l <want)
		[ "$(wc -l <out)" -ge "$lines" ]
		cmp <(head -n "$lines" want) <(head -n "$lines" out)
		# and nothing but the trace's, but for a line that is cut
		lines=$(($(wc -l <out) - 2))
		[ "$lines" -lt 0 ] || cmp <(head -n "$lines" long) <(head -n "$lines" out)
	done
}

@test "truncated anywhere: as much as the codec's own tool reads, and a message" {
	long_trace 3000 >long
	cut_anywhere gzip
	need bzip2
	cut_anywhere bzip2 -1
	need lz4
	cut_anywhere lz4 -q
	cut_anywhere lz4 -q -B4 -BD
	cut_anywhere lz4 -q -BX --no-frame-crc
}

@test "a truncated or corrupt lz4 block gives all data before the damage" {
	need lz4
	long_trace 30000 >long
	for options in "" "-B4 -BD" "-l"; do
		lz4 -q -c $options long >packed
		size=$(wc -c <packed)
		head -c $((size / 2)) packed >cut
		{ cat cut; head -c 64 /dev/zero; tail -c +$((size / 2 + 65)) packed; } >bad
		for file in cut bad; do
			run -2 --separate-stderr bash -c 'tr-parse -f trec $0 | grep ^exec >out; exit "${PIPESTATUS[0]}"' $file
			[[ $stderr == *"lz4: "* ]]
			[ "$(wc -l <out)" -gt 12000 ]
			cmp <(head -n 12000 out) <(head -n 12000 long)
		done
	done
}

@test "lz4: frames from before 2013, frames to skip, stored blocks" {
	need lz4
	lz4 -q -l -c one.trec >old
	lz4 -q -c two.trec >new
	cat old new >packed
	same packed
	head -c $(($(wc -c <old) - 1)) old >cut
	run -2 --separate-stderr tr-parse cut
	[[ $stderr == *"lz4: ends early"* ]]
	{ lz4 -q -c one.trec; printf '\x5a\x2a\x4d\x18\x05\0\0\0hello'; cat new; } >packed
	same packed
	head -c 3000000 /dev/urandom | base64 -w 100 | sed 's/^/#/' >comments
	cat one.trec comments two.trec | lz4 -q -c >packed
	tr-filter exec packed | cmp - <(cat one.trec comments two.trec | tr-filter exec)
}

@test "truncated and damaged in every codec: complete lines, then the message" {
	long_trace 3000 >long
	for tool in gzip xz zstd bzip2 lz4; do
		need $tool
		$tool -c <long >packed
		size=$(wc -c <packed)
		head -c $((size / 2)) packed >cut
		run -2 --separate-stderr bash -c 'tr-parse -f trec cut | grep ^exec >out; exit "${PIPESTATUS[0]}"'
		[[ $stderr == *"$tool: "* ]]
		# less than a block of bzip2 is nothing; the last line may be cut
		whole=$(($(wc -l <out) - 1))
		[ "$whole" -le 0 ] || cmp <(head -n "$whole" out) <(head -n "$whole" long)
		{ head -c $((size / 2)) packed; printf 'garbage'; tail -c +$((size / 2 + 8)) packed; } >bad
		run -2 --separate-stderr bash -c 'tr-parse -f trec bad >out'
		[[ $stderr == *"$tool: "* ]]
	done
}

@test "garbage after the end is reported, zeros are not" {
	for tool in gzip bzip2 lz4; do
		need $tool
		{ $tool -c both; head -c 1000 /dev/zero; } >zeros
		same zeros
		{ $tool -c both; echo garbage; } >garbage
		run -2 --separate-stderr tr-parse garbage
		[[ $stderr == *"$tool: garbage after the end"* ]]
		[[ $output == "$(cat one.trec)"* ]]
	done
}

@test "a decompression bomb is stopped" {
	# long lines, so that the time is spent on decompression and not on a message for each line
	yes "$(head -c 50000 /dev/zero | tr '\0' x)" | head -c 100000000 | gzip -9 >bomb.gz
	run -2 --separate-stderr tr-parse --max-ratio=100 -f trec bomb.gz
	[[ $stderr == *"more than 100 times its size (--max-ratio)"* ]]
}

@test "a flipped bit or a truncation in a compressed archive never gives other records with exit 0" {
	"$top_srcdir/tests/long/archive-flips" 4
}

@test "a bad byte in brotli loses no data before it, and the format is still recognised" {
	"$top_srcdir/tests/long/brotli-flips" 3
	# in the prefix codes before all data
	tr-repack -z brotli=5 "$top_srcdir/tests/data/apitrace/gears.trace" >packed
	{ head -c 100 packed; printf '\377\377'; tail -c +103 packed; } >bad
	run -2 --separate-stderr tr-parse bad
	[[ $stderr == *"brotli: corrupt data (at byte "* ]]
	# neither brotli nor another format
	head -c 1000 packed | tr '\000-\377' '\001-\377\000' >noise
	run -2 --separate-stderr tr-parse noise
	[[ $stderr == *"not a known trace format"* ]]
}

@test "archives that follow each other are read, and other trailing data is reported" {
	need cpio
	need zip
	tar -cf a.tar one.trec
	tar -cf b.tar two.trec
	zip -q a.zip one.trec
	echo two.trec | cpio -o --quiet -H newc >b.cpio
	for files in "a.tar b.tar" "a.zip b.tar" "a.tar b.cpio"; do
		cat $files >all
		same all
		gzip -c all >all.gz
		same all.gz
		{ cat $files; head -c 100000 /dev/zero; } | tr-parse | cmp - both
		{ cat $files; echo garbage; } >all
		run -2 --separate-stderr tr-parse all
		[[ $output == "$(cat one.trec)"* ]]
		[[ $stderr == *"garbage follows the end of the archive"* ]]
	done
	for file in a.tar b.tar; do gzip $file; done
	cat a.tar.gz b.tar.gz >all
	same all
	# archives without an end are not read to the end
	run -2 --separate-stderr bash -c 'zcat a.tar.gz | cat - /dev/zero | tr-parse'
	[[ $stderr == *"more than 64 MiB of zeros follow the end"* ]]
	# members that the directory of a zip lists, and that are not found
	zip -q both.zip one.trec two.trec both
	name=$(LC_ALL=C grep -abo two.trec both.zip | head -1 | cut -d: -f1)
	printf X | dd of=both.zip bs=1 seek=$((name - 30)) conv=notrunc status=none
	run -2 --separate-stderr tr-parse both.zip
	[[ $stderr == *"the directory at the end lists 3 members, but 2 were found"* ]]
	need 7z
	7z a -bd a.7z one.trec >7z.log
	{ cat a.7z b.cpio; } >all
	run -2 --separate-stderr tr-parse all
	[[ $stderr == *"7z: data after the end of the archive is not read"* ]]
	# the list of members is at the end
	for len in 31 $(($(stat -c %s a.7z) - 1)); do
		head -c "$len" a.7z >short
		run -2 --separate-stderr tr-parse short
		[[ $stderr == *"7z: truncated or damaged: the list of its members"* ]]
	done
}

@test "cpio: an impossible length of a name takes no memory, wherever the header is" {
	need cpio
	# newc has it as eight hexadecimal digits at byte 94
	for before in '' one.trec; do
		# the last two look like headers, but for a letter, or of the old format
		for garbage in '' xy "$(printf '070701z%0103d' 0)" "$(printf '070707%0104d' 0)"; do
			printf '%s\n' one.trec | cpio -o --quiet -H newc >last.cpio
			printf 55555555 | dd of=last.cpio bs=1 seek=94 conv=notrunc status=none
			: >first.cpio
			if [ "$before" ]; then
				for filler in 0 1000 65000 260000 262000; do
					head -c $filler /dev/zero | tr '\0' '#' >filler.trec
					echo >>filler.trec
					printf '%s\n' one.trec filler.trec | cpio -o --quiet -H newc >first.cpio
					end=$(LC_ALL=C grep -abo 070701 first.cpio | tail -n 1 | cut -d: -f1)
					{ head -c "$end" first.cpio; printf %s "$garbage"; cat last.cpio; } >bad.cpio
					run -2 --separate-stderr bash -c '[ -n "${TREC_SANITIZED-}" ] || ulimit -v 1000000; tr-parse bad.cpio'
					[[ $stderr == *"cpio: damaged: a name of 1431655765 bytes"* ]]
					[[ $output == "$(head -n 5 one.trec)"* ]]
				done
			else
				run -2 --separate-stderr bash -c '[ -n "${TREC_SANITIZED-}" ] || ulimit -v 1000000; tr-parse last.cpio'
				[[ $stderr == *"cpio: damaged: a name of 1431655765 bytes"* ]]
			fi
		done
	done
}

# put FILE OFFSET: writes standard input there
put() {
	dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# offset FILE TEXT: the first byte of it
offset() {
	LC_ALL=C grep -abo -e "$2" "$1" | head -n 1 | cut -d: -f1
}

# listed FILE NAME...: it is reported as damaged, and these members are found nevertheless
listed() {
	run -2 --separate-stderr tr-parse --list "$1"
	[[ $stderr == *": damaged: "* ]]
	[ "$(cut -f1 <<<"$output" | paste -sd' ')" = "${*:2}" ]
}

@test "cpio: a damaged header is an error, and the members after it are read" {
	local dialect header
	need cpio
	cp one.trec three.trec
	while read -r dialect header; do
		for name in two.trec three.trec; do
			printf '%s\n' one.trec two.trec three.trec | cpio -o --quiet -H "$dialect" >a.cpio
			printf X | put a.cpio $(($(offset a.cpio $name) - header))
			[ $name = two.trec ] || listed a.cpio one.trec two.trec
			[ $name = three.trec ] || listed a.cpio one.trec three.trec
		done
	done <<-'END'
		newc 110
		crc 110
		odc 76
	END
	# a size that leaves the last bytes of the last member before the end
	printf '%s\n' one.trec two.trec | cpio -o --quiet -H odc >a.cpio
	printf %011o $(($(stat -c %s two.trec) - 4)) | put a.cpio $(($(offset a.cpio two.trec) - 11))
	listed a.cpio one.trec two.trec
}

@test "cpio: of several links to a file, one without data is not an empty file" {
	need cpio
	ln one.trec first.trec
	: >empty1 && ln empty1 empty2
	for dialect in newc crc; do
		printf '%s\n' first.trec one.trec two.trec empty1 empty2 | cpio -o --quiet -H $dialect >a.cpio
		tr-repack -t trec -o $dialect/ a.cpio 2>err
		cat $dialect/* | cmp - both
		[ "$(ls $dialect | wc -l)" -eq 2 ]
		[ "$(grep -c 'note: .*: a hard link without data, skipped$' err)" -eq 2 ]
	done
}

@test "tar: a damaged extended header is an error, and its member is read" {
	local long
	long=$(printf 'x%.0s' {1..120})
	cp one.trec "$long"
	tar -cf a.tar --format=pax "$long" two.trec
	run -0 tr-parse a.tar
	# the length that is before each attribute
	printf X | put a.tar $(($(offset a.tar ' path=x') - 1))
	listed a.tar "${long:0:100}" two.trec
	# what is not UTF-8 is not damage
	cp one.trec $'b\xe4d.trec'
	tar -cf a.tar --format=pax b*.trec two.trec
	run -0 --separate-stderr tr-parse a.tar
	[ -z "$stderr" ]
}

@test "zip: a header without the sizes of its data is an error, and the other members are read" {
	local at
	need zip
	: >empty
	mkdir dir
	for option in -0 -9; do
		zip -q $option a.zip one.trec empty dir two.trec
		run -0 tr-parse a.zip
		# the compressed size and the size have four bytes each
		for size in 4 8; do
			at=$(($(offset a.zip one.trec) - 30))
			cat a.zip >bad.zip
			head -c $size /dev/zero | put bad.zip $((at + 18))
			listed bad.zip one.trec empty two.trec
			[[ $stderr == *": one.trec: zip: damaged: its header states no data, but data follows"* ]]
		done
		rm a.zip
	done
}

@test "tar, in all its dialects" {
	for dialect in v7 oldgnu gnu ustar pax; do
		tar -cf a.tar --format=$dialect one.trec two.trec
		same a.tar
	done
	for tool in gzip xz zstd bzip2 lz4; do
		need $tool
		$tool -c <a.tar >a.tar.packed
		same a.tar.packed
	done
}

@test "an archive without files is an error, because zeros are an empty tar" {
	need cpio
	tar -cf gnu.tar -T /dev/null
	head -c 1024 /dev/zero >two-blocks.tar
	gzip -k gnu.tar
	for dialect in newc crc odc bin; do
		: | cpio -o --quiet -H $dialect >$dialect.cpio
	done
	mkdir folder && tar -cf folder.tar folder
	head -c 4096 /dev/zero >zeros.json
	for file in gnu.tar gnu.tar.gz two-blocks.tar folder.tar zeros.json *.cpio; do
		run -2 --separate-stderr tr-parse "$file"
		[ "$output" = $'!end\t0\terrors=1\ttruncated=true' ]
		[[ $stderr == "tr-parse: $file: "*": contains no files" ]]
		run -2 bash -c 'cat "$0" | tr-parse' "$file"
	done
	tar -cf in.tar one.trec zeros.json two.trec
	for j in 1 3; do
		run -2 --separate-stderr tr-repack -j $j -t trec --report=report -o out$j/ in.tar two-blocks.tar
		[[ $stderr == *"tr-repack: in.tar:zeros.json: tar: contains no files
tr-repack: two-blocks.tar: tar: contains no files
tr-repack: 4 files and members: 2 converted, 2 unreadable" ]]
		[ "$(ls out$j)" = one.trec$'\n'two.trec ]
		[ "$(grep -c '"type":"member".*"result":"unreadable"' report)" -eq 2 ]
	done
	# nothing of it is asked for
	run -0 tr-parse --member=one.trec in.tar
}

@test "a tar that ends between two members is an error" {
	local size
	tar -cf a.tar one.trec two.trec
	size=$(($(stat -c %s one.trec) / 512 * 512 + 1024))
	head -c $size a.tar >cut.tar
	gzip -k cut.tar
	for file in cut.tar cut.tar.gz; do
		run -2 --separate-stderr tr-parse "$file"
		[ "$(sed '$d' <<<"$output")" = "$(tr-parse one.trec)" ]
		[ "$stderr" = "tr-parse: $file: tar: ends without a block of zeros; members may be missing" ]
	done
	# one block of zeros is enough, and another archive may follow instead
	{ cat cut.tar && head -c 512 /dev/zero; } >one-block.tar
	run -0 tr-parse one-block.tar
	cat cut.tar a.tar >three.tar
	run -0 --separate-stderr tr-parse three.tar
	[ "$(grep -c '^%trec' <<<"$output")" -eq 3 ]
}

@test "zeros that are not an empty tar are not a known format" {
	for size in 1 511 512 1000 1025 20480 1000000; do
		head -c $size /dev/zero >zeros
		run -2 --separate-stderr tr-parse zeros
		[[ $stderr == *"not a known trace format"* ]]
	done
	head -c 2000 /dev/zero | cat - one.trec >zeros
	run -2 tr-parse zeros
}

@test "zip, cpio and 7z" {
	need zip
	need cpio
	need 7z
	zip -q a.zip one.trec two.trec
	same a.zip
	zip -q -0 stored.zip one.trec two.trec
	same stored.zip
	zip -q - one.trec two.trec | cat >piped.zip
	same piped.zip
	for dialect in newc crc odc bin; do
		printf '%s\n' one.trec two.trec | cpio -o --quiet -H $dialect >a.cpio
		same a.cpio
	done
	7z a -bd a.7z one.trec two.trec >7z.log
	same a.7z
	7z a -bd -ms=off -m0=PPMd b.7z one.trec two.trec >7z.log
	same b.7z
}

@test "only files are members, not directories or links" {
	mkdir -p dir
	mv one.trec dir/1.trec
	ln -s 1.trec dir/2.trec
	ln dir/1.trec dir/3.trec
	mkfifo dir/4.trec
	mv two.trec dir/5.trec
	tar -cf a.tar dir/1.trec dir/2.trec dir/3.trec dir/4.trec dir/5.trec
	run -0 --separate-stderr tr-parse a.tar
	[ "$output" = "$(cat both)" ]
	[[ $stderr == *"dir/3.trec: the same file as dir/1.trec, skipped"* ]]
}

@test "archives in archives are read" {
	need zip
	mkdir logs
	cp one.trec two.trec logs
	echo nothing >logs/README
	ln logs/one.trec logs/again.trec
	tar -cf - logs/one.trec logs/README logs/again.trec logs/two.trec | gzip >logs.tar.gz
	zip -q logs.zip logs/one.trec logs/two.trec
	tar -cf all.tar logs.tar.gz logs.zip one.trec
	zip -q all.zip all.tar
	cat >names <<-'END'
		logs.tar.gz/logs/one.trec
		logs.tar.gz/logs/README
		logs.tar.gz/logs/two.trec
		logs.zip/logs/one.trec
		logs.zip/logs/two.trec
		one.trec
	END
	run --separate-stderr -0 tr-parse --list all.tar
	cut -f1 <<<"$output" | cmp - names
	[ "$stderr" = "tr-parse: all.tar:logs.tar.gz: note: logs/again.trec: the same file as logs/one.trec, skipped" ]
	tr-parse --list all.zip 2>err | cut -f1 | sed 's,^all.tar/,,' | cmp - names
	tr-parse -q all.zip | cmp - <(cat both both one.trec)
	tr-parse -q <all.zip | cmp - <(cat both both one.trec)
	# the whole path is matched, or that of the archive it is in
	tr-parse -q --member='*/two.trec' all.tar | cmp - <(cat two.trec two.trec)
	tr-parse -q --member=logs.zip all.tar | cmp - both
	tr-parse -q --member=one.trec all.tar | cmp - one.trec
	run -2 --separate-stderr tr-parse --member='*.json' all.tar
	[[ $stderr == *"all.tar: no member matches --member" ]]
	# a truncated archive is left, and reading continues in the outer one
	head -c 700 logs.zip >cut.zip
	tar -cf cut.tar cut.zip one.trec
	run --separate-stderr -2 tr-parse --list cut.tar
	[[ $stderr == *"cut.tar:cut.zip"* ]]
	[ "$(tail -n 1 <<<"$output" | cut -f1)" = one.trec ]
	tr-repack -q -t trec -o out.tar all.zip
	[ "$(tar -tf out.tar)" = "$(grep -v README names | sed 's,^,all.tar/,')" ]
}

@test "a member that is not read to its end does not end the archive in a pipe" {
	long_trace 60000 >long.trec
	gzip <long.trec >long.trec.gz
	cp --no-preserve=mode "$top_srcdir/tests/data/apitrace/mt4.trace" .
	cp mt4.trace again.trace
	tar -cf all.tar mt4.trace long.trec.gz long.trec again.trace one.trec
	gzip -k all.tar
	tr-parse all.tar >whole
	tr-parse --list all.tar >list
	[ "$(cut -f1 list | paste -sd' ')" = "mt4.trace long.trec.gz long.trec again.trace one.trec" ]
	for file in all.tar all.tar.gz; do
		cat $file | tr-parse --list | cmp - list
		cat $file | tr-parse | cmp - whole
	done
	# a tool that has enough input does not wait for more
	mkfifo pipe
	for file in all.tar all.tar.gz; do
		head -c 300000 $file >begin
		{ cat begin; exec sleep 20; } >pipe 3>&- &
		begun=$!
		timeout 10 tr-filter -m 1 call <pipe >out
		kill $begun
		[ "$(tail -n 1 out)" = $'!end\t1' ]
	done
}

@test "archives that have no end" {
	cp one.trec in
	for _ in 1 2 3 4; do
		tar -cf in.tar in
		mv in.tar in
	done
	tr-parse in | cmp - one.trec
	tar -cf in.tar in
	run -2 --separate-stderr tr-parse in.tar
	[ "$stderr" = "tr-parse: in.tar:in/in/in/in: is nested in 4 archives: not opened" ]
}

@test "names are bytes, whatever the locale" {
	cp one.trec grüße.trec
	cp one.trec $'b\xe4d.trec'
	cp -- one.trec $'-two\nlines'
	tar -cf a.tar -- $'-two\nlines'
	[ "$(tr-parse --list a.tar | cut -f1)" = '-two\nlines' ]
	tr-parse <a.tar | cmp - one.trec
	tar -cf a.tar --format=pax b*.trec g*.trec
	for locale in C C.UTF-8; do
		LC_ALL=$locale tr-parse --list a.tar | cut -f1 | cmp - <(printf 'b\\xe4d.trec\ngrüße.trec\n')
		LC_ALL=$locale tr-repack -t trec -o b.tar a.tar
		cmp <(tar -tf a.tar) <(tar -tf b.tar)
	done
}

@test "a bad member does not affect the others" {
	need zip
	head -c 3000 /dev/urandom >noise
	{ cat one.trec; sed 's/^/# /' noise | tr -d '\000-\010\013-\037\177-\377'; echo; } >bad.trec
	zip -q a.zip one.trec bad.trec two.trec
	at=$(LC_ALL=C grep -abo bad.trec a.zip | head -1 | cut -d: -f1)
	printf 'XXXXXXXX' | dd of=a.zip bs=1 seek=$((at + 100)) conv=notrunc status=none
	run -2 --separate-stderr tr-parse a.zip
	[[ $output == *"$(cat two.trec)"* ]]
	[[ $stderr == *"zip: "* ]]
}

@test "an encrypted member is named" {
	need 7z
	7z a -bd -psecret -tzip a.zip one.trec >7z.log
	run -2 --separate-stderr tr-parse a.zip
	[[ $stderr == *"one.trec: is encrypted"* ]]
}

@test "archive tools read the archives of tr-repack" {
	need zip
	need cpio
	need 7z
	tar -cf in.tar one.trec two.trec
	tr-repack -t trec -o a.tar in.tar
	tar -xOf a.tar | cmp - both
	tr-repack -t trec -o a.tar.zst in.tar
	zstd -dc a.tar.zst | tar -xO | cmp - both
	tr-repack -t trec -o a.zip in.tar
	7z e -so a.zip 2>7z.log | cmp - both
	tr-repack -t trec -o a.7z in.tar
	7z e -so a.7z 2>7z.log | cmp - both
	tr-repack -t trec -o a.cpio in.tar
	mkdir out
	(cd out && cpio -i --quiet -m <../a.cpio && cat one.trec two.trec | cmp - ../both)
	[ "$(stat -c %Y out/one.trec)" = "$(stat -c %Y one.trec)" ]
}

@test "archives are reproducible" {
	tar -cf in.tar one.trec two.trec
	for extension in tar tar.gz zip 7z cpio; do
		tr-repack -t trec -o "1.$extension" in.tar
		tr-repack -t trec -o "2.$extension" in.tar
		cmp "1.$extension" "2.$extension"
	done
}
