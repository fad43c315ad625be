#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# drcov files through the tools, and their conversion to execution traces and back; test_drcov.c
# truncates them at every byte and changes every byte.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for recipe in "$top_srcdir"/tests/data/drcov/*.recipe; do
		"$top_srcdir/tests/helper/bytes_make" <"$recipe" >"$(basename "$recipe" .recipe)"
	done
}

@test "good files are written back byte for byte, also when read one byte at a time" {
	for f in good-v2 good-legacy good-v3-windows good-v4-32 good-v5-text good-hits good-odd good-qemu \
		good-v5-none; do
		echo $f
		tr-parse -q $f >$f.trec
		tr-repack $f.trec | cmp - $f
		dd bs=1 if=$f 2>/dev/null | tr-parse -q | cmp - $f.trec
		tr-tojson --typed $f.trec | tr-parse -f json | tr-repack | cmp - $f
	done
	run ! grep -qE '\.(row|head|lines)=' good-v2.trec good-v3-windows.trec good-v4-32.trec good-v5-text.trec
	tr-parse good-two-dumps | tr-repack -q | cmp - good-two-dumps
	[ "$(tr-parse good-two-dumps | grep -c ^%trec)" -eq 2 ]
}

@test "a file holds one dump, or all dumps of one source; otherwise each becomes a separate file" {
	tr-parse good-v2 good-hits >two.trec
	tr-parse good-two-dumps | tr-filter 'kind in {"block", "module"}' | tr-repack -q | cmp - good-two-dumps
	for source in two.trec 'good-v2 good-hits'; do
		# shellcheck disable=SC2086 # two operands
		run -2 --separate-stderr tr-repack -t drcov -o one $source
		[[ $stderr == *"a file of format drcov holds only one: "*"(-o NAME.tar) or a directory (-o NAME/)"* ]]
		[ ! -e one ]
	done
	for target in out/ out.tar; do
		tr-repack -q -t drcov -o $target two.trec
	done
	mkdir all && tar -xf out.tar -C all
	diff -r out all
	cmp out/two.drcov good-v2
	cmp out/two-2.drcov good-hits
	# the dumps of one file too, where each becomes a file of its own
	tr-parse good-two-dumps >dumps.trec
	tr-repack -q -t drcov -o apart/ dumps.trec
	[ "$(cd apart && grep -c "DRCOV VERSION" ./* | paste -sd' ')" = './dumps-2.drcov:1 ./dumps.drcov:1' ]
	cat apart/dumps.drcov apart/dumps-2.drcov | cmp - good-two-dumps
	# a further dump that is the first to be merged is the only one
	run ! grep -q stream= <(sed -n '/stream=2/,$p' dumps.trec | tr-filter --merge - good-v2)
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

@test "a filtered file has its modules, and counts the remaining blocks" {
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

@test "other versions and forms, for older readers, and back" {
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

@test "hit counts after a table in text form are read, with any flavor" {
	for flavor in drcov drcov-hits; do
		tr-parse good-hits | sed "s/flavor=\"[a-z-]*\"/flavor=\"$flavor\"/" >stream
		tr-repack -O text=yes stream >text
		grep -aq '^module\[' text
		run -0 --separate-stderr tr-parse text
		diff <(grep ^block stream) <(grep ^block <<<"$output")
		tr-repack <<<"$output" | cmp - text
	done
}

@test "a missing header is supplied, and blocks without a size or module are reported" {
	tr-parse good-v2 | grep -E '^(module|block)' >bare
	run -0 --separate-stderr bash -c 'tr-repack -t drcov bare | tr-parse | grep -c ^block'
	[ "$output" = 4 ]
	[[ $stderr == *"the stream has no header: version 2 is supplied"* ]]
	run -2 --separate-stderr bash -c 'sed "s/\tsize=8//" bare | tr-repack -q -t drcov -o less'
	[[ $stderr == *"a block without a size or a module"* ]]
	[ "$(tr-parse less | grep -c ^block)" -eq 2 ]
}

@test "a row keeps its spelling in a table of the same columns, and in no other" {
	for columns in 'id, base, end, mine, path' 'mine, base, end, entry, path'; do
		row='0,0x1000,   0x2000, 0x7,/a'
		printf 'DRCOV VERSION: 2\nDRCOV FLAVOR: x\nModule Table: version 2, count 1\nColumns: %s\n%s\n' \
			"$columns" "$row" >head
		{ cat head && printf 'BB Table: 1 bbs\n\0\0\0\0\10\0\0\0'; } >own
		tr-parse own | tr-repack | cmp - own
		tr-parse own | tr-repack -O table=2 | head -n 5 >got
		[ "$(tail -n 2 got | head -n 1)" = 'Columns: id, base, end, entry, path' ]
		[[ $(tail -n 1 got) == '  0, 0x0000000000001000, 0x0000000000002000, '*',  /a' ]]
		# the same in an execution trace and back
		tr-parse own | tr-repack -q -t gnatcov -o through
		grep -qaF "$row" through
	done
}

@test "a part of the header that a table cannot hold is left out" {
	for change in 's/flavor="[^"]*"/&.../' 's/flavor="/&x\\nModule Table: 0/' 's/"id",/&"a,b",/' 's/"id",/&"a\\nb",/'; do
		tr-parse good-v2 | sed "$change" >odd
		run -2 --separate-stderr tr-repack -o less odd
		[[ ${#stderr_lines[@]} -eq 1 && $stderr == "tr-repack: odd:1: "@(flavor|columns)": "* ]]
		run -0 --separate-stderr tr-parse less
		diff <(grep -v ^% <<<"$output") <(tr-parse good-v2 | grep -v ^%)
		[[ ${lines[0]} == *$'\tcolumns=["id","base","end","entry","path"]\t'* ]]
		# and through an execution trace
		run -2 tr-repack -q -t gnatcov -o through odd
		tr-repack -q -t drcov through | tr-parse | grep -q $'^module.*\tbase=0x400000'
	done
}

@test "a .head is used only if it is nothing but a head" {
	head=$(head -n 4 good-v2 | sed 's/, /,/g;s/$/\\\\n/' | tr -d '\n')
	tr-parse good-v2 | sed "1s|\$|\t.head=\"$head\"|" | tr-repack | head -n 4 | cmp - <(head -n 4 good-v2 | sed 's/, /,/g')
	for odd in "$head  9, 0x1, 0x2, 0x0,  /more\\\\n" "${head%???}"; do
		tr-parse good-v2 | sed "1s|\$|\t.head=\"$odd\"|" >stream
		tr-parse -q stream | grep -q '	\.head="DRCOV'
		tr-repack stream | cmp - good-v2
	done
}

@test "the path of a module is one line, whatever the program is called" {
	printf '%s\n' $'section\t0\t-\t-\tINFO\tbits=64' $'info\t1\t-\t-\tEXEC_FILE_NAME\tdata="a\\nb,c"' \
		$'section\t2\t-\t-\tFLAT\tbits=64' $'block\t3\t-\t-\t0x0000000000401000\tsize=4' >program
	tr-repack -q -t drcov program | tr-parse | grep -q $'^module\t0\t-\t-\ta b,c\t'
}

@test "hit counts of more than 32 bits are written as the largest one, with a note" {
	tr-parse good-hits | sed '0,/hits=[0-9]*$/s//hits=5000000000/' >many
	grep -q hits=5000000000 many
	run -0 --separate-stderr tr-repack -o most many
	[ "$stderr" = 'tr-repack: many: note: hit counts above 4294967295, written as that number: 1' ]
	tr-parse most | grep ^block | head -n 1 | grep -q hits=4294967295
	run -0 --separate-stderr tr-repack -o fits good-hits
	[ -z "$stderr" ]
}

@test "a start that is wider than the addresses is reported, and stays" {
	tr-repack -O text=yes good-v4-32 | sed 's/^\(module\[ *0\]: 0x\)/\100000001/' >wide
	run -2 --separate-stderr tr-parse wide
	[[ $stderr == *": the start of a block has more than 32 bits: its address is truncated" ]]
	tr-repack -q <<<"$output" | cmp - wide
	[ "$(cut -f5-7 <<<"$output")" = "$(tr-parse good-v4-32 | cut -f5-7 | sed 's/value="binary"/value="text"/')" ]
}

# bad NAME PLACE MESSAGE BLOCKS: expects the message at that place, exit 2, and this many blocks
bad() {
	run -2 --separate-stderr tr-parse "$1"
	echo "$stderr"
	[[ $stderr == "tr-parse: $1:$2: $3"* ]]
	[ "$(grep -c ^block <<<"$output")" -eq "$4" ]
	run -2 tr-repack -q -O text=no -o again "$1"
}

@test "bad files: the message, its position, and the remaining records" {
	bad bad-version 3 'drcov of version 1: versions 2 and 3 are read' 0
	bad bad-count @0xd0 'the block table announces 4000000000 blocks, there are 1' 1
	bad bad-modules 6 'the module table announces 4000000000 modules, there are 1' 1
	bad bad-row 5 'a row of the module table that does not match its columns: passed on' 1
	cmp again bad-row
	bad bad-no-blocks 6 'there is no table of blocks' 0
	bad bad-text 9 'not a block: module[  0]: x' 2
	bad bad-behind @0xc7 'bytes after the tables are ignored' 1
	bad bad-hits @0xfc 'hit counts for 1 of 2 blocks' 2
	bad bad-hits-count @0xc7 'hit counts do not match the blocks: ignored' 1
	bad bad-columns 4 'the module table has too many columns, or repeats one' 0
	bad bad-no-table 4 'the input ends before the module table' 0
	run -2 tr-parse --strict bad-row
}

@test "--merge has each block once, counted from its module, with the sum of its hits" {
	for f in good-v2 good-legacy good-v3-windows good-v4-32 good-v5-text; do
		echo $f
		tr-filter --merge $f $f | tr-repack >merged
		tr-filter --merge merged | tr-repack | cmp - merged
		tr-parse $f | grep ^block | cut -f5- | sort -u | diff - <(tr-parse merged | grep ^block | cut -f5- | sort -u)
		tr-parse $f | grep -v ^block | sed 's/^!end.*//' | diff - <(tr-parse merged | grep -v ^block | sed 's/^!end.*//')
	done
	tr-filter --merge good-hits good-hits good-hits | grep ^block | sed 's/.*hits=//' | tr '\n' ' ' | grep -x '3 450 12884901885 '
	# loaded elsewhere, with another number: the same module
	tr-parse good-v2 | sed '/^module\t0/d;s/module=0/module=65535/;s/id=1/id=0/;s/module=1/module=0/
		s/7ffff7a/7ffff6a/g;s/7ffff7c/7ffff6c/' >moved.trec
	grep -q $'^block.*0x00007ffff6a01008.*module=0' moved.trec
	tr-filter -e 'module == 1' --merge good-v2 moved.trec >merged
	[ "$(grep -c ^block merged)" -eq 1 ]
	grep -q $'^block.*0x00007ffff7a01008\tsize=3\tmodule=1$' merged
	[ "$(grep -c ^module merged)" -eq 2 ]
	# another size is another module; counts that one trace alone has are promised
	sed 's/7ffff6c/7ffff6d/' moved.trec | tr-filter --merge good-v2 - | grep -c ^module | grep -x 3
	tr-parse good-v2 | sed '/^meta/s/$/\thits=true/;/^block/s/$/\thits=4/' |
		tr-filter -e 'module == 1' --merge good-v2 - >merged
	grep -q 'flavor="drcov-64-hits"' merged
	grep -q $'module=1\thits=5$' merged
	tr-repack merged | tr-parse | diff - merged
}

@test "--merge of drcov: what cannot be merged is reported" {
	run -2 --separate-stderr tr-filter --merge good-v2 good-v4-32
	[[ $stderr == *"good-v4-32: left out: its addresses are not as wide as those of the first trace" ]]
	tr-parse good-v2 | sed 's/module=1$/module=7/' >unknown.trec
	run -2 --separate-stderr tr-filter --merge unknown.trec
	[[ $stderr == *"left out: a block of a module that is not in the table" ]]
	tr-parse good-v2 | tail -n +2 | tr-filter --merge | tr-repack >merged
	tr-parse merged | grep -c ^block | grep -x 3
	# in the merged table, the number would be that of another module
	tr-parse good-v5-none | sed 's/containing_id=-1/containing_id=7/' >unknown.trec
	grep -q containing_id=7 unknown.trec
	run -2 --separate-stderr tr-filter --merge unknown.trec
	[[ $stderr == *"containing_id=7: no earlier module has this id"* ]]
	[[ $output != *containing_id=7* ]]
}

@test "a containing_id of -1 is legal, and stays" {
	run -0 --separate-stderr tr-parse good-v5-none
	[ -z "$stderr" ]
	[[ ${lines[1]} == *$'\tcontaining_id=-1\t'* ]]
	[[ $output != *'.row='* ]]
	[[ $output == *$'\t0x0000555555555090\tsize=8\tmodule=0'* ]]
	[[ $output == *$'\t0x0000555555556328\tsize=8\tmodule=1'* ]] # version 2 counts from the whole
	tr-filter --merge good-v5-none good-v5-none | tr-repack | cmp - good-v5-none
	tr-parse good-v5-none | tr-repack -O table=4 | tr-parse | grep -c 'containing_id=-1' | grep -x 1
}

@test "the width is that of the flavor" {
	for flavor in drcov-64:16 drcov-64-hits:16 drcov-32:8 other:8; do
		sed "s/FLAVOR: drcov-64/FLAVOR: ${flavor%:*}/" good-qemu >other
		tr-parse -q other | sed -nE 's/^block.*\t0x([0-9a-f]+)\tsize=12\t.*/\1/p' >address
		[ "$(tr -d '\n' <address | wc -c)" -eq "${flavor#*:}" ]
		grep -qx '0*10001000' address
		tr-parse -q other | tr-repack | cmp - other
	done
	# a flavor that its addresses contradict cuts none of them
	sed 's/FLAVOR: drcov-64/FLAVOR: drcov-32/' good-v2 | tr-parse | grep -q '^block.*0x00007ffff7a01008'
}

@test "block starts that are addresses are recognised" {
	starts() { tr-parse "$@" | sed -nE 's/^block.*\t0x0*([0-9a-f]+)\tsize.*/\1/p' | tr '\n' ' '; }
	run -0 --separate-stderr tr-parse good-qemu
	[[ $stderr == "tr-parse: good-qemu:"*": note: block starts are addresses, as written by QEMU's plugin (-O starts=relative"* ]]
	[[ $output == *$'bbs\tvalue="binary"\tstarts=absolute'* ]]
	[ "$(starts -q good-qemu)" = "10001000 1000100c 1001ffff " ]
	[ "$(starts -O starts=relative good-qemu)" = "20001000 2000100c 2001ffff " ]
	run -0 --separate-stderr tr-parse -O starts=absolute good-qemu
	[ -z "$stderr" ]
	# merged, they count from the module as everybody expects
	tr-filter -q --merge good-qemu | tr-repack -o fixed
	[ "$(starts fixed)" = "10001000 1000100c 1001ffff " ]
	# cut to 32 bits in a program far above
	sed 's/0x1000\([0-9]\)/0x55551000\1/;s/0x1002/0x55551002/;s/, 0x1000/, 0x55551000/' good-qemu >far
	[ "$(starts -q far)" = "555510001000 55551000100c 55551001ffff " ]
	tr-parse -q far | tr-repack | cmp - far
	# no evidence: one start outside as an address, another module, version 3
	sed 's/0x10020000/0x1001ffff/' good-qemu >outside
	sed 's/VERSION: 2/VERSION: 3/' good-qemu >three
	sed 's/count 1/count 2/;s/^0, \(.*\)$/0, \1\n1, \1/' good-qemu >two
	for f in outside three two good-v2 good-v4-32; do
		run -0 --separate-stderr tr-parse $f
		[ -z "$stderr" ]
		[[ $output != *starts=absolute* ]]
	done
}
