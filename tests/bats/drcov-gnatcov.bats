#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Coverage by modules (drcov) and execution traces (gnatcov): from one to the other and back.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for recipe in "$top_srcdir"/tests/data/drcov/good-*.recipe; do
		"$top_srcdir/tests/helper/bytes_make" <"$recipe" >"$(basename "$recipe" .recipe)"
	done
	traces=$top_srcdir/tests/data/gnatcov
}

# What has to survive: modules, and where each block was that has a size, without its hits.
shown() { tr-parse -q "$@" | grep -e ^module -e ^block | grep -v 'size=0	' | cut -f1,5- | sed 's/	hits=.*//;s/	\.row=.*//'; }

@test "drcov to a trace and back: every block with a size, and its module" {
	for f in good-v2 good-legacy good-v3-windows good-v4-32 good-v5-text good-hits good-odd \
		good-two-dumps; do
		echo $f
		tr-repack --strict -t gnatcov -o trace $f
		tr-parse trace >trace.trec
		[ "$(grep -c '^section.*	INFO' trace.trec)" -eq "$(grep -ac '^DRCOV VERSION' $f)" ]
		tr-repack -q -t drcov -o back trace
		diff <(shown $f) <(shown back)
		tr-parse $f | tr-repack -t gnatcov | cmp - trace
		tr-parse trace | tr-repack -q -t drcov | cmp - back
	done
	tr-repack -t gnatcov good-v2 | tr-repack -t drcov | cmp - good-v2
	# counts are lost, and so not promised
	tr-repack -t gnatcov good-hits | tr-repack -t drcov | grep -aqx 'DRCOV FLAVOR: frida'
	# another table on the way back
	tr-repack -t gnatcov good-v5-text | tr-repack -t drcov -O version=2 -O table=2 >old
	diff <(tr-parse old | grep ^block) <(tr-parse good-v5-text | grep ^block)
}

@test "the head of a drcov file comes back as it was spelled" {
	while read -r flaw edit; do
		echo "$edit"
		sed "$edit" good-v2 >odd
		run "-$flaw" tr-repack -q -f drcov -t gnatcov -o trace odd
		# the tag does not replace the list of modules
		tr-repack -O tag=run1 trace | tr-repack -t drcov | cmp - odd
	done <<'END'
0 1s/^/ /
0 1s/$/\n/
2 2s/^/Built by: hand\n/
0 4d
0 4s/^/\t/
END
}

@test "many modules, near each other and in any order" {
	awk 'BEGIN {
		srand(4)
		print "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count 200"
		print "Columns: id, base, end, entry, path"
		for (i = 0; i < 200; i++) {
			place = i * 77 % 200 # whose end is the base of another
			printf "%3d, 0x%016x, 0x%016x, 0x%016x,  /lib/lib%d.so\n", i,
				4194304 + place * 65536, 4194304 + (place + 1) * 65536, 0, i
		}
		print "BB Table: 5000 bbs\nmodule id, start, size:"
		for (i = 0; i < 5000; i++)
			printf "module[%3d]: 0x%016x, %3d\n", rand() * 200, rand() * 65536, 1 + rand() * 99
	}' >many
	tr-repack -t gnatcov many | tr-repack -t drcov -O text=yes | cmp - many
}

@test "a trace made from drcov has a tag in addition to its modules" {
	tr-repack -t gnatcov -O tag=run1 -O machine=x86_64 -o trace good-v2
	[ "$(tr-parse trace | grep -c USER_DATA)" -eq 2 ]
	tr-parse trace | grep -m 1 USER_DATA | grep -q 'data="run1"'
	[ "$(tr-parse trace | grep -c 'EM_X86_64(62)')" -eq 2 ]
	tr-parse trace | grep -q $'EXEC_FILE_NAME\tdata="/usr/bin/ls"'
	tr-repack -O tag=run2 trace | tr-parse | grep -c 'data="run[12]"' | grep -qx 1
	tr-repack -O tag= -o untagged trace
	tr-repack -t gnatcov -O machine=62 good-v2 | cmp - untagged
	tr-repack -t drcov trace | cmp - good-v2
	# some of it, and both byte orders
	tr-filter 'size == 8' trace | tr-repack -t drcov | shown >got
	diff got <(shown good-v2 | grep -e ^module -e size=8)
	tr-repack -O endian=big trace | tr-repack -t drcov | cmp - good-v2
}

@test "a trace becomes one module, from the page of its lowest block" {
	gzip -dc "$traces/true_flat.trace.gz" >true
	tr-repack -t drcov -o cov true
	[ "$(tr-parse cov | grep -c ^module)" -eq 1 ]
	tr-parse cov | grep -q $'^module\t0\t-\t-\t/bin/true\tid=0\tbase=0x4000002000\t'
	# a block for each outcome of its branch is one block
	diff <(tr-parse cov | grep ^block | cut -f5,6) \
		<(tr-parse true | grep ^block | cut -f5,6 | grep -v 'size=0$' | awk '!seen[$0]++')
	tr-repack -t drcov "$traces/plain_32le.trace" | grep -aqx 'DRCOV FLAVOR: drcov-32'
	run -2 --separate-stderr tr-repack -t drcov -o map "$traces/decision_map_64be.trace"
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *'a decision map is not an execution trace' ]]
	[ "$(tr-parse map | grep -c ^block)" -eq 0 ]
}

@test "executions of a history are hits" {
	run -0 tr-repack -t drcov -o cov "$traces/history_all_tags_32le.trace"
	tr-parse cov | grep ^block | cut -f5,6,8 >got
	[ -s got ]
	tr-parse "$traces/history_all_tags_32le.trace" | grep ^block | cut -f5,6 | sort | uniq -c |
		awk '{ print $2 "\t" $3 "\thits=" $1 }' | cmp - got
}

@test "-O module=PATH@BASE assigns blocks to modules, and the others stay in the program" {
	printf 'block\t0\t-\t-\t%s\tsize=4\top=block\n' 0x0000000000401000 0x0000000000402000 \
		0x00007f0000000010 0x00007f0000100020 0x00007f0000000010 0x00007ffff0000000 >blocks
	named() { tr-repack -q -t drcov "$@" blocks | tr-parse -q; }
	named >plain.trec
	[ "$(grep -c ^module plain.trec)" -eq 3 ] # 4 GiB do not reach
	named -O module=/lib/b@0x7f0000100000 -O module=/lib/a@0x7f0000000000 \
		-O module='[stack]@0x7fffe0000000' >got
	diff - <(grep ^module got | cut -f5-8) <<'END'
unknown	id=0	base=0x401000	end=0x402004
/lib/b	id=1	base=0x7f0000100000	end=0x7f0000100024
/lib/a	id=2	base=0x7f0000000000	end=0x7f0000000014
[stack]	id=3	base=0x7fffe0000000	end=0x7ffff0000004
END
	[ "$(grep ^block got | cut -f5,7 | sed 's/.*module=//' | paste -sd,)" = 0,0,2,1,3 ]
	# too far from the last module that has a name
	run -2 --separate-stderr bash -c 'tr-repack -t drcov -O module=/lib/a@0x7f0000000000 blocks -o far'
	[[ $stderr == *'left out: 1 blocks farther than 4 GiB'* ]]
	# all of it in one: no module for the rest
	named -O module=/bin/x@0x400000 | grep -c ^module | grep -qx 1
	for bad in x x@ @0x10 x@10 x@0xg x@0x; do
		run -2 tr-repack -t drcov -O module=$bad blocks
	done
}

@test "each shared object becomes one module" {
	tr-repack -t drcov "$traces/shared_objects_64le.trace" | tr-parse >got
	[ "$(grep ^module got | cut -f5 | paste -sd,)" = app,/lib/liba.so,/lib/libb.so ]
	grep -q $'^block\t.*\t0x0000000070000010\tsize=6\tmodule=1$' got
	# loaded again where it was: the same module
	tr-parse "$traces/shared_objects_64le.trace" |
		awk -F'\t' '{ print } /^load.*liba/ { again = $0 } /^unload.*7000/ { print again; print }' |
		tr-repack -q -t drcov | tr-parse | grep -c ^module | grep -qx 3
	tr-repack -t drcov "$traces/kernel_loadaddr_32le.trace" | tr-parse |
		grep -q $'\tvxWorks\tid=1\tbase=0x20000\t'
}

@test "addresses of 32 bits wrap, and none is longer" {
	# a start is counted modulo 2^32, in text and binary tables
	printf '%s\n' $'%trec\t1\tformat=drcov\tversion=2\tflavor="drcov-32"\ttable=2\tcolumns=["id","base","end","entry","path"]\tbits=32' \
		$'module\t0\t-\t-\t/a\tid=0\tbase=0x8000\tend=0x9000\tentry=0x0' \
		$'meta\t1\t-\t-\tbbs\tvalue="binary"' $'block\t2\t-\t-\t0x00001000\tsize=4\tmodule=0' $'!end\t3' >low.trec
	tr-repack -o low.drcov low.trec
	tr-parse low.drcov | cmp - low.trec
	tr-repack -O text=yes low.trec | grep -qx 'module\[  0\]: 0xffff9000,   4'
	# a module ends at the end of memory, and its last block extends beyond it
	for at in fffffff8 fffffffffffffff8; do
		printf 'block\t0\t-\t-\t0x%s\tsize=%d\top=block\n' $at 16 >top.trec
		tr-repack -q -t drcov top.trec | grep -a unknown >row
		[[ $(<row) == "  0, 0x${at%ff8}000, 0x${at%8}f, 0x"* ]]
	done
}
