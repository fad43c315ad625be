#!/usr/bin/env bats
# tr-repack: what is copied, what is converted, and how it is wrapped.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	trec=$top_srcdir/tests/data/trec/filter.trec
}

@test "-t trec copies the lines of a stream" {
	tr-repack -t trec "$trec" | cmp - "$trec"
	printf 'exec\t0\t-\t-\tgcc\targv=[ "a" ]\n' | tr-repack -t trec >out
	printf 'exec\t0\t-\t-\tgcc\targv=[ "a" ]\n' | cmp - out
}

@test "through the typed JSON and back" {
	tr-repack -t json "$trec" | tr-repack -t trec | cmp - "$trec"
}

@test "without -t it has to be known where the stream came from" {
	run -2 tr-repack "$trec"
	[ "$output" = "tr-repack: the stream does not say which format it came from: use -t FORMAT" ]
	run -2 bash -c 'grep ^call "$1" | tr-repack' _ "$trec"
	[[ $output == *"use -t FORMAT"* ]]
	run -2 tr-repack <(printf '%%trec\t1\tformat=nonsense\n')
	[[ $output == *"unknown format 'nonsense'"* ]]
	run -2 tr-repack -o out "$trec"
	[ ! -e out ]
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
		gzip=9 gzip
		xz=0 xz
		zstd=19 zstd
	END
}

@test "-z: what is wrong with it" {
	for bad in nonsense gzip=10 gzip= gzip=x none=1 zstd=1x; do
		run -2 tr-repack -t trec -z $bad "$trec"
		[[ ${lines[-1]} == "Try "* ]]
	done
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

@test "--verify needs a file" {
	run -2 tr-repack -t trec --verify "$trec"
	[[ $output == *"--verify needs -o FILE"* ]]
	run -2 tr-repack -t trec --verify -o /dev/null "$trec"
	[[ $output == *"--verify needs a regular file"* ]]
}

@test "several inputs go one after the other" {
	cat "$trec" "$trec" >two
	tr-repack -t trec "$trec" "$trec" | cmp - two
	tr-repack -t trec - "$trec" <"$trec" | cmp - two
}

@test "of nothing comes nothing" {
	: >empty
	run -0 tr-repack empty
	[ -z "$output" ]
	tr-repack -o out empty
	[ -f out ]
	[ ! -s out ]
}

@test "damage upstream arrives, and the file stands" {
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
