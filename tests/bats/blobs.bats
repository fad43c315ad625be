#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Blobs left out of a stream, kept in files, and fetched from there.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	{
		printf '%%trec\t1\tformat=trec\n'
		for i in 0 1 2 3; do
			printf 'call\t%d\t-\t0\tglBufferData\tsize=%d\tdata=b64:%s\t->\n' "$i" "$i" \
				"$(head -c $((i % 3 * 1000)) /dev/zero | base64 -w0)"
		done
		printf 'call\t4\t-\t0\tglFlush\t->\n!end\t5\n'
	} >t.trec
}

@test "--no-blobs writes only the lengths of blobs" {
	tr-parse --no-blobs t.trec >out
	[ "$(tr-filter --fields='data' call out | tr '\n' ' ')" = 'blob:0 blob:1000 blob:2000 blob:0 - ' ]
	[ "$(tr-filter -c 'len(data) == 1000' out)" -eq 1 ]
	[ "$(tail -n1 out)" = $'!end\t5' ]
}

@test "--blob-dir: blobs become files named after their content, and are read back" {
	tr-parse --blob-dir=blobs t.trec >out
	[ "$(ls -A blobs | wc -l)" -eq 3 ]
	(cd blobs && sha256sum -- *) | while read -r sum name; do
		[ "$sum" = "$name" ]
	done
	[ "$(tr-filter -c 'len(data) == 2000' out)" -eq 1 ]
	run -1 grep b64: out
	tr-repack --blob-dir=blobs out | cmp - t.trec
	# once more changes nothing
	ls -li --time-style=full-iso blobs >before
	tr-parse --blob-dir=blobs t.trec | cmp - out
	ls -li --time-style=full-iso blobs | cmp - before
}

@test "--blob-dir: many processes at the same time" {
	tr-parse --blob-dir=one t.trec >out
	seq 40 | xargs -P8 -I{} sh -c 'tr-parse --blob-dir=many t.trec | cmp - out'
	diff -r one many
}

@test "--blob-dir: a file of the right size with other content is replaced" {
	{
		printf '%%trec\t1\tformat=trec\n'
		# longer than what is compared at once
		printf 'call\t0\t-\t0\tf\tdata=b64:%s\t->\n!end\t1\n' "$(seq 20000 | base64 -w0)"
	} >long.trec
	tr-parse --blob-dir=blobs long.trec >out
	name=$(seq 20000 | sha256sum | cut -d' ' -f1)
	size=$(wc -c <"blobs/$name")
	[ "$size" -gt 100000 ]
	# a crash of the system leaves zeros
	head -c "$size" /dev/zero >"blobs/$name"
	tr-parse --blob-dir=blobs long.trec | cmp - out
	seq 20000 | cmp - "blobs/$name"
	for at in 0 40000 $((size - 1)); do
		printf x | dd of="blobs/$name" bs=1 seek=$at conv=notrunc status=none
		tr-parse --blob-dir=blobs long.trec | cmp - out
		seq 20000 | cmp - "blobs/$name"
	done
	# a pipe is not waited for
	rm "blobs/$name"
	mkfifo "blobs/$name"
	timeout 60 tr-parse --blob-dir=blobs long.trec | cmp - out
	seq 20000 | cmp - "blobs/$name"
}

@test "--blob-dir: missing and wrong files" {
	tr-parse --blob-dir=blobs t.trec >out
	name=$(head -c1000 /dev/zero | sha256sum | cut -d' ' -f1)
	head -c998 /dev/zero >"blobs/$name"
	echo x >>"blobs/$name"
	run -2 --separate-stderr tr-repack --blob-dir=blobs out
	[[ $stderr == *"blobs/$name: the content does not match the SHA-256 in its name"* ]]
	[ "$(grep -c ^call <<<"$output")" -eq 4 ]
	[[ $output == *$'!end\t4\terrors=1' ]]
	rm "blobs/$name"
	run -2 --separate-stderr tr-repack --blob-dir=blobs --strict -o x.trec out
	[[ $stderr == *"blobs/$name: No such file or directory"* ]]
	[ ! -e x.trec ]
	mkfifo "blobs/$name"
	run -2 tr-repack --blob-dir=blobs out
	run -2 tr-repack --blob-dir=nowhere out
	run -2 tr-parse --blob-dir=nowhere/deep t.trec
	run -2 tr-parse --blob-dir=out t.trec
	run -2 tr-parse --blob-dir=blobs --no-blobs t.trec
}

@test "--blob-dir: a directory that cannot be written to" {
	[ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
	mkdir closed && chmod 555 closed
	run -2 --separate-stderr tr-parse --blob-dir=closed t.trec
	[[ $stderr == *'closed: Permission denied'* ]]
}

@test "--join and blobs" {
	printf 'enter\t0\t-\t0\tf\ta=b64:YWJj\nenter\t1\t-\t1\tg\nleave\t0\t-\t0\tf\t->\tb=b64:YWI=\nleave\t1\t-\t1\tg\t->\n' >u.trec
	run -0 tr-parse --join --no-blobs u.trec
	[ "${lines[0]}" = $'call\t0\t-\t0\tf\ta=blob:3\t->\tb=blob:2' ]
}
