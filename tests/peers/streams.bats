#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gzip and similar programs, tar, grep, cut: they read our output, and we read theirs.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	trace=${top_srcdir:?}/tests/data/build/zlib.kw.json.gz
	zcat "$trace" >zlib.kw.json
	tr-parse zlib.kw.json | grep -v '^%trec' >records
}

@test "a gzip cut anywhere gives at least the lines that zcat gives" {
	size=$(stat -c %s "$trace")
	for ((at = 30; at < size; at += 97)); do
		head -c "$at" "$trace" >cut.gz
		zcat cut.gz >theirs 2>/dev/null || :
		status=0
		tr-parse cut.gz >ours 2>messages || status=$?
		[ "$status" -eq 2 ]
		[ -s messages ]
		# a record for every whole line, in the order of the file, and the very same ones
		lines=$(wc -l <theirs)
		grep -vE '^(%trec|!end)' ours | head -n "$lines" >begin
		echo "at $at: zcat has $lines lines, we $(wc -l <begin)"
		head -n "$lines" records | cmp - begin
	done
}

@test "gzip, xz, zstd, bzip2 and lz4 read what tr-repack -z writes" {
	for codec in gzip:gzip xz:xz zstd:zstd bzip2:bzip2 lz4:lz4; do
		tr-repack -z "${codec%:*}" -O foreign=yes -o packed zlib.kw.json
		"${codec#*:}" -dc <packed | cmp - zlib.kw.json
	done
}

@test "several compressed members, one after the other" {
	head -n 100 zlib.kw.json | gzip >joined
	tail -n +101 zlib.kw.json | gzip >>joined
	tr-parse joined | grep -v '^%trec' | cmp - records
	head -n 100 zlib.kw.json | zstd -qc >joined
	tail -n +101 zlib.kw.json | zstd -qc >>joined
	tr-parse joined | grep -v '^%trec' | cmp - records
	head -n 100 zlib.kw.json | xz -c >joined
	tail -n +101 zlib.kw.json | xz -c >>joined
	tr-parse joined | grep -v '^%trec' | cmp - records
}

@test "tar, cpio and zip, from a file and from a pipe" {
	mkdir d && cp zlib.kw.json d
	tar -cf a.tar d
	tar -czf a.tar.gz d
	tar -cf a.tar.zst --zstd d
	find d -type f | cpio -o --quiet -H newc >a.cpio
	zip -qr a.zip d
	for archive in a.tar a.tar.gz a.tar.zst a.cpio a.zip; do
		tr-parse "$archive" | grep -v '^%trec' | cmp - records
		cat "$archive" | tr-parse | grep -v '^%trec' | cmp - records
	done
}

@test "grep -F finds the records that an equal test selects" {
	grep -F '"executable":"/usr/bin/gcc"' zlib.kw.json | wc -l >theirs
	tr-filter -c 'exec and name == "/usr/bin/gcc"' zlib.kw.json | cmp - theirs
	tr-parse zlib.kw.json | grep -cP '^exec\t.*[[,]"-c"[],]' >theirs
	tr-filter -c 'exec and argv == "-c"' zlib.kw.json | cmp - theirs
}

@test "awk and cut read the columns" {
	tr-filter --fields=task,name exec zlib.kw.json >ours
	tr-parse zlib.kw.json | awk -F'\t' '$1 == "exec"' | cut -f 4,5 | cmp - ours
}

@test "sort, split and parallel cats keep the records" {
	tr-parse zlib.kw.json | grep ^exec | sort >theirs
	tr-parse zlib.kw.json | split -l 37 - part.
	for part in part.*; do
		tr-filter exec "$part" 2>/dev/null || :
	done | grep ^exec | sort | cmp - theirs
}
