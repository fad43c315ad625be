#!/usr/bin/env bats
# drcov files through the tools, and their way to execution traces and back; test_drcov.c tries
# every cut and changed byte.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for recipe in "$top_srcdir"/tests/data/drcov/*.recipe; do
		"$top_srcdir/tests/helper/bytes_make" <"$recipe" >"$(basename "$recipe" .recipe)"
	done
}

@test "good files come back to the byte, with and without a pipe of one byte at a time" {
	for f in good-v2 good-legacy good-v3-windows good-v4-32 good-v5-text good-hits good-odd; do
		echo $f
		tr-parse $f >$f.trec
		tr-repack $f.trec | cmp - $f
		dd bs=1 if=$f 2>/dev/null | tr-parse | cmp - $f.trec
		tr-tojson --typed $f.trec | tr-parse -f json | tr-repack | cmp - $f
	done
	run ! grep -qE '\.(row|head|lines)=' good-v2.trec good-v3-windows.trec good-v4-32.trec good-v5-text.trec
	tr-parse good-two-dumps | tr-repack -q | cmp - good-two-dumps
	[ "$(tr-parse good-two-dumps | grep -c ^%trec)" -eq 2 ]
}

@test "modules, and blocks at the addresses where they were" {
	run -0 tr-parse good-v2
	[ "${lines[0]}" = $'%trec\t1\tformat=drcov\tversion=2\tflavor="drcov-64"\ttable=2\tcolumns=["id","base","end","entry","path"]\tbits=64' ]
	[ "${lines[2]}" = $'module\t1\t-\t-\t/lib/a, b.so\tid=1\tbase=0x7ffff7a00000\tend=0x7ffff7c00000\tentry=0x7ffff7a01000' ]
	[ "${lines[3]}" = $'meta\t2\t-\t-\tbbs\tvalue="binary"' ]
	[ "${lines[5]}" = $'block\t4\t-\t-\t0x00007ffff7a01008\tsize=3\tmodule=1' ]
	[ "${lines[7]}" = $'block\t6\t-\t-\t0x0000000000012345\tsize=9\tmodule=65535' ]
	# from the whole module in version 2, from the segment in version 3
	tr-parse good-v3-windows | grep -q $'^block\t3\t-\t-\t0x0000000140008020\t'
	tr-parse good-v5-text | grep -q $'^block\t4\t-\t-\t0x0000555555556ea0\tsize=85\tmodule=1$'
	tr-parse good-v4-32 | grep -q $'^block\t2\t-\t-\t0x08049000\t'
	[ "$(tr-filter --fields=hits 'block and size > 9' good-hits | paste -sd,)" = 1,150 ]
}

@test "a filtered file has its modules, and counts what is left" {
	tr-filter 'block and module == 1' good-v2 | tr-repack -q >less
	[ "$(head -n 7 less | tail -n 3 | head -n 2)" = "$(sed -n 5,6p good-v2)" ]
	grep -aq '^BB Table: 1 bbs' less
	tr-filter 'block and hits > 1' good-hits | tr-repack -q | tr-parse >hits
	[ "$(grep -c ^block hits)" -eq 2 ]
	tr-parse good-hits | sed 's/hits=150/hits=7/' | tr-repack | tr-parse | grep -q 'hits=7$'
	# an edit of a row wins over its spelling
	tr-parse good-hits | sed 's,^\(module.*\)/usr/lib/dyld\tid,\1/usr/lib/other\tid,' | tr-repack |
		grep -aq '^  1, 0x00007fff2030f000, 0x00007fff204f0fff, .*,  /usr/lib/other$'
}

@test "other versions and forms: what older readers want, and back" {
	tr-repack -O version=2 -O table=2 -O text=no good-v5-text >old
	grep -aq '^Columns: id, base, end, entry, path$' old
	diff <(tr-parse old | grep ^block) <(tr-parse good-v5-text | grep ^block)
	tr-repack -O text=yes good-v2 >text
	grep -q '^module\[  1\]: 0x0000000000001008,   3$' text
	tr-repack -O text=no text | cmp - good-v2
	tr-repack -O table=5 good-v3-windows | grep -aq '^Columns: .*, offset, preferred_base, checksum, timestamp, path$'
	tr-repack -O version=3 good-v3-windows >v3
	diff <(tr-parse v3 | grep ^block) <(tr-parse good-v3-windows | grep ^block)
	run -2 tr-repack -O version=4 good-v2
}

@test "hit counts behind a table as text, whatever the flavor" {
	for flavor in drcov drcov-hits; do
		tr-parse good-hits | sed "s/flavor=\"[a-z-]*\"/flavor=\"$flavor\"/" >stream
		tr-repack -O text=yes stream >text
		grep -aq '^module\[' text
		run -0 --separate-stderr tr-parse text
		diff <(grep ^block stream) <(grep ^block <<<"$output")
		tr-repack <<<"$output" | cmp - text
	done
}

@test "a stream without a header, a count or a module" {
	tr-parse good-v2 | grep -E '^(module|block)' >bare
	run -0 --separate-stderr bash -c 'tr-repack -t drcov bare | tr-parse | grep -c ^block'
	[ "$output" = 4 ]
	[[ $stderr == *"the stream has no header: version 2 is supplied"* ]]
	run -2 --separate-stderr bash -c 'sed "s/\tsize=8//" bare | tr-repack -q -t drcov -o less'
	[[ $stderr == *"a block without a size or a module"* ]]
	[ "$(tr-parse less | grep -c ^block)" -eq 2 ]
}

# bad NAME PLACE MESSAGE BLOCKS: reported there, exit 2, so many blocks all the same
bad() {
	run -2 --separate-stderr tr-parse "$1"
	echo "$stderr"
	[[ $stderr == "tr-parse: $1:$2: $3"* ]]
	[ "$(grep -c ^block <<<"$output")" -eq "$4" ]
	run -2 tr-repack -q -O text=no -o again "$1"
}

@test "bad files: what, where, and what is left" {
	bad bad-version 3 'drcov of version 1: versions 2 and 3 are read' 0
	bad bad-count @0xd0 'the table of blocks says 4000000000 blocks, there are 1' 1
	bad bad-modules 6 'the module table says 4000000000 modules, there are 1' 1
	bad bad-row 5 'a row of the module table that is not like its columns: passed on' 1
	cmp again bad-row
	bad bad-no-blocks 6 'there is no table of blocks' 0
	bad bad-text 9 'no block: module[  0]: x' 2
	bad bad-behind @0xc7 'what stands behind the tables is not read' 1
	bad bad-hits @0xfc 'hit counts for 1 of 2 blocks' 2
	bad bad-hits-count @0xc7 'hit counts that do not go with the blocks are not read' 1
	bad bad-columns 4 'columns of a module table that are too many, or not told apart' 0
	bad bad-no-table 4 'the input ends before the module table' 0
	run -2 tr-parse --strict bad-row
}
