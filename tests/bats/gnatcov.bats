#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Execution traces of GNATcoverage through the tools.

bats_require_minimum_version 1.5.0

setup() {
	data=$top_srcdir/tests/data/gnatcov
	cd "$BATS_TEST_TMPDIR" || return 1
	cp --no-preserve=mode "$data"/*.trace .
	gzip -dc "$data/true_flat.trace.gz" >true_flat.trace
}

make_recipes() { # make_recipes PATTERN: NAME.trace for each NAME.recipe
	for recipe in "$data"/$1.recipe; do
		"$top_srcdir/tests/helper/gnatcov_make" <"$recipe" >"$(basename "$recipe" .recipe).trace"
	done
}

@test "every good trace comes back byte for byte, without .raw" {
	make_recipes 'good-*'
	rm bad_*
	for f in *.trace; do
		echo "$f"
		tr-parse -q "$f" >stream
		run ! grep -q $'\t\\.raw=' stream
		tr-repack stream | cmp - "$f"
		tr-repack -q "$f" | cmp - "$f"
		tr-parse -q "$f" | tr-parse | cmp - stream
		tr-parse -q --exact "$f" | cmp - stream
		tr-tojson --typed stream | tr-parse -f json | cmp - stream
	done
}

@test "damage is reported with its offset, and all else is read" {
	make_recipes 'bad-*'
	for recipe in "$data"/bad-*.recipe; do
		f=$(basename "$recipe" .recipe).trace
		echo "$f"
		run -2 --separate-stderr tr-parse "$f"
		sed "s/^tr-parse: $f:\([^ ]* \)\((record [0-9]*): \)\?/\1/" <<<"$stderr" >got
		sed -n 's/^#! //p' "$recipe" >want
		diff want got
		[ "${lines[-1]}" = "$(sed -n 's/^#> //p' "$recipe" | tr ' ' '\t')" ]
		run -2 tr-parse --strict "$f"
	done
}

@test "bad traces without losses are written back, too" {
	make_recipes 'bad-*'
	for name in flat-first second-info second-map unknown-tag info-padding month no-loadaddr \
		unexpected-loadaddr second-loadaddr loadaddr-0 special-before-loadaddr special \
		object-incomplete object-size object-overlap; do
		echo "$name"
		tr-parse -q bad-$name.trace >stream || true
		tr-repack -q stream | cmp - bad-$name.trace
	done
}

@test "a list without an end takes a bounded amount of memory" {
	awk 'BEGIN {
		print "section INFO 32 little 40\nend\nsection FLAT 32 little 40\nblock 00001000 2 80"
		for (i = 0; i < 5000; i++)
			print "info USER_DATA \"\""
		print "section FLAT 32 little 40\nblock 00001000 4 10"
	}' | "$top_srcdir/tests/helper/gnatcov_make" >many
	run -2 --separate-stderr tr-parse many
	[[ $stderr == *': more than 4096 entries of information on a shared object' ]]
	[ "$(grep -c ^load <<<"$output")" -eq 0 ]
	[ "$(grep -c ^block <<<"$output")" -eq 1 ]
}

@test "an empty file is not recognised, but is read with -f" {
	: >empty
	tr-parse empty
	run -2 tr-parse -f gnatcov empty
	[[ $output == *'@0x0: the file is empty'* ]]
}

@test "a stream of records has the fields that trec(5) says" {
	tr-parse shared_objects_64le.trace >stream
	grep -q $'^section\t0\t-\t-\tINFO\tbits=64\tendian=little\tmachine=EM_AARCH64(183)$' stream
	grep -q $'^info\t4\t-\t-\tEXEC_FILE_CRC32\tdata=" 1963677934"\tvalue=1963677934$' stream
	grep -q $'^block\t8\t-\t-\t0x0000000070000010\tsize=6\top=block|br0$' stream
	grep -q $'^load\t7\t-\t-\t0x0000000070000000\tEXEC_FILE_NAME="/lib/liba.so"\t' stream
	grep -q $'^unload\t13\t-\t-\t0x0000000070000000$' stream
	grep -q $'^!end\t16$' stream
	tr-parse kernel_loadaddr_32le.trace | grep -q $'^loadaddr\t.\t-\t-\t0x00020000$'
	tr-parse plain_32le.trace | grep -q $'value="2012-02-21T08:00:37Z"'
	tr-parse odd_pads_64le.trace | grep -q $'\t.pad=0x5aefbeadde$'
	tr-tojson -q shared_objects_64le.trace | grep -q '"name":"0x0000000070000010"'
}

@test "a filtered trace has its sections and its information, and is read back" {
	tr-filter 'block and name in {0xfff00000..0xfff0ffff}' plain_32le.trace | tr-repack -o part
	tr-parse part >got
	[ "$(grep -c ^info got)" -eq 3 ]
	[ "$(grep -c ^section got)" -eq 2 ]
	[ "$(grep -c ^block got)" -eq 6 ]
	[ "$(tr-filter -c 'op has fault' plain_32le.trace)" -eq 2 ]
	[ "$(tr-filter -c 'op has block|br0' plain_32le.trace)" -eq 4 ]
	tr-parse plain_32le.trace | tr-filter 'op has fault' | tr-repack | tr-parse | grep -c ^block |
		grep -qx 2
	# only blocks: missing sections are added
	tr-filter --context=none 'op has fault' plain_32le.trace >blocks
	run --separate-stderr tr-repack -t gnatcov -o bare blocks
	[ "$status" -eq 0 ]
	[[ $stderr == *'added'* ]]
	[ "$(tr-parse bare | grep -c -e ^block -e ^section)" -eq 4 ]
}

@test "tag, byte order and machine can be set" {
	tr-repack -O tag='another tag' -o out plain_64be.trace
	tr-parse out | grep -q $'\tUSER_DATA\tdata="another tag"$'
	[ "$(tr-parse out | grep -c USER_DATA)" -eq 1 ]
	tr-repack -O tag='sample tag' out | cmp - plain_64be.trace
	tr-repack -O tag= out | tr-parse | run ! grep -q USER_DATA
	tr-repack -O tag=new true_flat.trace | tr-parse | grep -c 'data="new"' | grep -qx 1
	tr-repack -O tag=new decision_map_64be.trace | cmp - decision_map_64be.trace
	make_recipes bad-flat-first
	tr-repack -q -O tag=new bad-flat-first.trace >tagged || true
	tr-parse tagged | grep -q $'\tUSER_DATA\tdata="new"$'

	tr-repack -O endian=little -o little plain_64be.trace
	tr-parse little | grep -c 'endian=little' | grep -qx 2
	diff <(tr-parse little | grep -v -e ^section -e DATE_TIME) \
		<(tr-parse plain_64be.trace | grep -v -e ^section -e DATE_TIME)
	tr-parse little | grep -q 'value="2012-02-21T08:00:37Z"'
	tr-repack -O endian=big little | cmp - plain_64be.trace

	for machine in 20 ppc EM_PPC; do
		tr-repack -O machine=$machine plain_32le.trace | tr-parse | grep -c 'EM_PPC(20)' | grep -qx 2
	done
	run -2 tr-repack -O machine=nonesuch plain_32le.trace
}

@test "several in one file, and from a pipe however slow" {
	cat plain_32le.trace plain_64be.trace decision_map_64be.trace >all
	tr-parse all >stream
	[ "$(grep -c ^section stream)" -eq 5 ]
	tr-repack stream | cmp - all
	{ head -c 30 all; sleep 0.1; tail -c +31 all; } | tr-parse | cmp - stream
	tr-parse plain_32le.trace plain_64be.trace decision_map_64be.trace | tr-repack | cmp - all
	gzip -c all | tr-parse | tail -n +2 | cmp - <(tail -n +2 stream)
}

@test "blocks are counted with cut, sort and uniq" {
	tr-parse true_flat.trace | grep ^block | cut -f5- | sort | uniq -c | sort -rn >counts
	[ "$(wc -l <counts)" -gt 1000 ]
}

expected() { # expected NAME STYLE: what gnatcov prints
	local file=$data/expected/$1.$2.out
	if [ -e "$file" ]; then cat "$file"; else gzip -dc "$file.gz"; fi
}

@test "decoded blocks are the same as those of the records" {
	# 4000 entries of 64 bits, some of them with padding and with unusual bits
	{
		printf '#QEMU-Traces\1\2\10\0\0\76\0\0\1\0\0\0\4\0\0\0prog\0\0\0\0\0\0\0\0'
		printf '#QEMU-Traces\1\1\10\0\0\76\0\0'
		awk 'BEGIN {
			for (i = 0; i < 4000; i++) {
				op = i % 11 == 3 ? 0x51 : i % 13 == 4 ? 0x91 : i % 3 ? 0x11 : 0x12
				printf "\\%o\\%o\\100\\0\\0\\0\\0\\0\\%o\\0\\%o\\%o\\0\\0\\0\\0",
					i * 8 % 256, i % 40, i % 60, op, i % 7 == 5 ? 1 : 0
			}
		}' | { IFS= read -r entries || true; printf "$entries"; }
	} >mixed.trace
	tr-parse -q mixed.trace >stream
	tr-repack stream | cmp - mixed.trace
	[ "$(grep -c ^block stream)" -eq 4000 ]
	[ "$(grep -c '\.pad=' stream)" -eq 571 ]
	grep ^block stream | cut -f2 | cmp - <(seq 3 4002)
	for style in gnatcov gnatcov-raw gnatcov-base; do
		tr-totext -q --style=$style mixed.trace >direct || true
		tr-totext -q --style=$style stream | cmp - direct
	done
	tr-repack -q -t drcov mixed.trace >direct || true
	tr-repack -q -t drcov stream | cmp - direct
	for expr in block 'op has br0' 'name in {0x400000..0x400800}' 'size > 30 and seq < 500' \
		'has(.pad)' 'op == 0x51' 'nosuch == 3' 'size == 7 or name =~ /8$/'; do
		for option in -c -v -cv -m100 --definitions=all --fields=seq,name,op; do
			run -0 --separate-stderr bash -c '
				tr-filter "$1" "$2" mixed.trace >direct 2>notes
				status=$?
				tr-filter "$1" "$2" stream >through 2>more
				[ $? -eq $status ] && cmp direct through &&
					diff <(sed "s/mixed.trace/stream/" notes) more' - $option "$expr"
		done
	done
}

@test "the text is that of gnatcov, from the trace and through the pipe" {
	export TZ=UTC
	for f in *.trace; do
		for style in dump raw base; do
			name=gnatcov-$style
			[ $style != dump ] || name=gnatcov
			echo "$f $style"
			expected "${f%.trace}" $style >want
			tr-totext -q --style=$name "$f" >got || true
			cmp got want
			{ tr-parse -q "$f" || true; } | { tr-totext -q --style=$name || true; } | cmp - want
			tr-parse -q "$f" | tr-tojson -q --typed |
				{ tr-totext -q -f json --style=$name || true; } | cmp - want
		done
	done
	tr-totext plain_32le.trace | cmp - <(expected plain_32le dump)
	tr-parse plain_32le.trace | tail -n +2 | tr-totext | cmp - <(expected plain_32le dump)
}

@test "dates are shown in the time zone of TZ" {
	TZ=America/New_York tr-totext plain_32le.trace >got
	run diff got <(expected plain_32le dump)
	[ "$output" = '6c6
<        2012-02-21 03:00:37 -05:00
---
>        2012-02-21 08:00:37 +00:00' ]
	TZ=Asia/Kolkata tr-totext plain_64be.trace | grep -qx '       2012-02-21 13:30:37 +05:30'
	make_recipes bad-month
	tr-totext -q bad-month.trace | grep -qx '       !Bad Format!'
}

@test "the base style adds up from file to file, and reports an empty block" {
	tr-totext --style=gnatcov-base plain_32le.trace plain_32le.trace |
		cmp - <(expected plain_32le base; expected plain_32le base)
	run -2 --separate-stderr tr-totext --style=gnatcov-base ok_wrap.trace
	[[ $stderr == *'empty trace entry discarded' ]]
	run -2 --separate-stderr tr-totext --style=gnatcov-base decision_map_64be.trace
	[ -z "$output" ]
	run -2 --separate-stderr tr-totext --style=gnatcov-base plain_32le.trace true_flat.trace \
		plain_32le.trace
	[[ $stderr == *'left out: a trace for another machine than the first' ]]
	diff <(expected plain_32le base; expected plain_32le base) <(echo "$output")
}

@test "real programs, 32 bits big endian and 64 bits little" {
	for name in qemu-ppc qemu-x86_64; do
		echo $name
		zcat "$data/$name.recipe.gz" | "$top_srcdir/tests/helper/gnatcov_make" >$name
		zcat "$data/expected/$name.lines.gz" >lines
		tr-parse $name >stream
		tr-repack stream | cmp - $name
		tr-totext $name | sed '1,/^Traces:$/d' | cmp - lines
		tr-totext --style=gnatcov-raw stream | sed '1,/^Traces:$/d' | cmp - lines
		[ "$(tr-filter -c block stream)" -eq "$(wc -l <lines)" ]
		[ "$(tr-filter -c 'op has br0' $name)" -eq "$(grep -c -e '---t' lines)" ]
		# how often each block was executed
		diff <(grep ^block stream | cut -f5- | sort | uniq -c | awk '{ print $1 }' | sort -n) \
			<(sort lines | uniq -c | awk '{ print $1 }' | sort -n)
		# another byte order and back
		tr-repack -O endian=big $name | tr-repack -O endian=little >little
		tr-repack -O endian=big little | tr-repack -O endian="$(sed -n '/section\t0/s/.*endian=\([a-z]*\).*/\1/p' stream)" |
			cmp - $name
		# parts of it are it, whatever their order
		tr-filter 'seq < 2000' stream | tr-repack -o low
		tr-filter 'seq >= 2000' stream | tr-repack -o high
		tr-filter --merge high low high | cmp - <(tr-filter --merge $name)
		tr-repack -t drcov $name | tr-repack -t gnatcov | tr-parse | grep ^block | cut -f5,6 |
			cmp - <(grep ^block stream | cut -f5,6 | awk '!seen[$0]++')
	done
}

@test "merged traces are one, by the same rule" {
	for f in plain_32le plain_64be history_all_tags_32le kernel_loadaddr_32le odd_pads_64le \
		shared_objects_64le true_flat; do
		echo $f
		tr-filter --merge $f.trace $f.trace | tr-repack -o merged
		tr-totext --style=gnatcov-base merged | cmp - <(expected $f base)
		tr-filter --merge merged | tr-repack | cmp - merged
	done
	tr-filter --merge true_flat.trace >stream
	tr-parse true_flat.trace | grep ^info | diff - <(grep ^info stream)
	# parts of a trace give the whole again
	tr-filter 'seq < 1000' true_flat.trace | tr-repack -o low
	tr-filter 'seq >= 1000' true_flat.trace | tr-repack -o high
	tr-filter --merge high low | cmp - stream
	# blocks may be selected
	tr-filter --merge -e 'op has fault' plain_32le.trace | grep ^block >blocks
	[ "$(cut -f5- blocks)" = $'0xfff006c4\tsize=8\top=block|fault' ]
	run -1 tr-filter --merge -e 'op has special' plain_32le.trace
}

@test "a merge does not look at every name of a program for every other" {
	n=100000
	{
		printf '%%trec\t1\tformat=gnatcov\n'
		for last in 0 1; do
			printf 'section\t0\t-\t-\tINFO\tbits=64\tendian=little\tmachine=62\n'
			awk -v n=$n -v last=$last 'BEGIN {
				for (i = 1; i <= n; i++)
					printf "info\t%d\t-\t-\tEXEC_FILE_NAME\tdata=\"p%d\"\n", i, last ? n : i }'
			printf 'section\t0\t-\t-\tFLAT\tbits=64\tendian=little\tmachine=62\n'
			printf 'block\t1\t-\t-\t0x0000000000400000\tsize=4\top=block\n'
		done
	} >names.trec
	timeout 30 tr-filter --merge names.trec >merged
	[ "$(grep -c ^info merged)" -eq $n ]
	[ "$(grep -c ^block merged)" -eq 1 ]
}

@test "records that cannot be merged are left out and reported" {
	run -2 --separate-stderr tr-filter --merge plain_32le.trace plain_64be.trace
	[[ $stderr == *'left out: a trace for another machine than the first' ]]
	[ "$(grep -c ^block <<<"$output")" -eq 8 ]
	[[ ${lines[-1]} == *$'\terrors=1' ]]
	run -2 --separate-stderr tr-filter --merge decision_map_64be.trace
	[[ $stderr == *'a decision map is not an execution trace' ]]
	run -0 --separate-stderr tr-filter --merge plain_32le.trace history_all_tags_32le.trace
	[[ $stderr == *'of another program than the first: merged anyway' ]]
	run -2 tr-filter --merge -c plain_32le.trace
	run -2 --separate-stderr tr-filter --merge bad_truncated_entry.trace
	[[ ${lines[-1]} == *$'\terrors=1\ttruncated=true' ]]
}

@test "kinds of information and machines by number, up to the last one" {
	section=$'section\t0\t-\t-\tINFO\tbits=32\tendian=little\tmachine='
	printf '%s\n' "${section}65535" $'info\t1\t-\t-\t65535\tdata="x"' $'info\t2\t-\t-\tUSER_DATA\tdata="y"' >last.trec
	run -0 tr-repack -t gnatcov -o last last.trec
	tr-parse -q last >last.again || true
	grep -qx $'info\t1\t-\t-\t65535\tdata="x"' last.again
	grep -q $'^section.*machine=?(65535)$' last.again
	printf '%s\n' "${section}62" $'info\t1\t-\t-\t4294967296\tdata="x"' $'info\t2\t-\t-\t0\tdata="x"' \
		$'info\t3\t-\t-\tUSER_DATA\tdata="y"' >beyond.trec
	run -2 tr-repack -t gnatcov -o beyond beyond.trec
	[ "$(grep -c 'unknown information name' <<<"$output")" -eq 2 ]
	for machine in EM_AARCH64 em_aarch64 AArch64 183; do
		tr-repack -q -t gnatcov -O machine=$machine last.trec | head -c 18 | tail -c 2 | od -An -tu1 | grep -q ' 0 183'
	done
	tr-repack -q -t gnatcov -O machine=386 last.trec | head -c 18 | tail -c 1 | od -An -tu1 | grep -q ' 3'
	run -2 tr-repack -t gnatcov -O machine=65536 last.trec
	[[ $output == *'no such machine'* ]]
}
