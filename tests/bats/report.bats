#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --report: a report for programs. Every tool, every line parsed by jq.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v jq >/dev/null || skip "jq is not installed"
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >z.json
	cp --no-preserve=mode "$top_srcdir/tests/data/apitrace/mt4.trace" .
	head -c 20000 mt4.trace >cut.trace
	printf 'exec\t%d\t-\t1\t/a\targv=["a"]\n' 0 1 2 >good.trec
}

# The shape that trec-tools(7) promises, on the lines of a whole report.
shape='
	def name: . == null or type == "string" or (type == "object" and keys == ["$bytes"]);
	def count: type == "number" and . >= 0;
	def nullable(f): . == null or f;
	(length >= 1) and (.[-1].type == "sum") and ([.[:-1][].type] | all(. == "trouble" or . == "member"))
	and all(.[]; .tool | type == "string")
	and all(.[] | select(.type == "trouble");
		keys == ["cause","file","line","member","offset","record","severity","text","tool","type"]
		and (.file | name) and (.member | name) and (.text | type == "string" and length > 0)
		and ([.line, .offset, .record] | all(nullable(count)))
		and (.cause | IN("input","truncated","limit","memory","system","usage","upstream","other"))
		and (.severity | IN("damage","flaw","note","detail")))
	and all(.[] | select(.type == "member");
		keys == ["container","errors","file","format","member","name","notes","output","records","result","tool","type"]
		and (.name | name) and (.errors | count) and (.notes | count) and (.records | nullable(count))
		and (.output | type == "array" and all(name and . != null)) and (.result | IN("ok","kept","damaged","truncated","partial","unknown","skipped","unreadable")))
	and (.[-1] | keys == ["errors","members","notes","records","status","tool","type","version"])
	and .[-1].members == ([.[] | select(.type == "member")] | length)
	and .[-1].errors == ([.[] | select(.type == "trouble" and (.severity | IN("damage","flaw")))] | length)
	and .[-1].notes == ([.[] | select(.type == "trouble" and (.severity | IN("note","detail")))] | length)
	and .[-1].records == ([.[] | select(.type == "member") | .records // 0] | add // 0)'

# The report is as promised, and its last line has this exit status.
check() {
	jq -se "$shape" r >/dev/null || { cat r; return 1; }
	[ "$(tail -n 1 r | jq .status)" -eq "$1" ]
}

@test "every tool writes a report: status 0, trouble, an operand that is not there, bad usage" {
	for command in tr-parse 'tr-filter exec' tr-tojson 'tr-tojson --as=compdb' tr-totext tr-stat tr-tohtml \
		tr-envdiff 'tr-repack -z gzip' 'tr-repack -t trec'; do
		run -0 $command --report=r -o out z.json
		check 0
		[ "$(head -n 1 r | jq -r .tool)" = "${command%% *}" ]
		jq -se '[.[] | select(.type == "member")] | length == 1 and .[0].name == "z.json" and
			.[0].format == "klocwork" and .[0].result == "ok"' r
		run -2 $command --report=r -o out cut.trace nothing-there
		check 2
		jq -se 'any(.[]; .type == "trouble" and .file == "nothing-there" and .cause == "system") and
			any(.[]; .type == "member" and .file == "nothing-there" and .result == "unreadable") and
			any(.[]; .type == "member" and .file == "cut.trace" and (.result | IN("truncated", "damaged")) and .errors > 0)' r
		run -2 ${command%% *} --report=r --no-such-option z.json
		check 2
		jq -se '.[0].type == "trouble" and .[0].cause == "usage"' r
	done
	# a record that was asked for nothing else has no report
	rm r && tr-parse --report=r --help >/dev/null && [ ! -e r ]
}

@test "tr-record's report has the status of the command" {
	command -v strace >/dev/null || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	run -0 tr-record --report=r -o out -- true
	check 0
	jq -se '.[0].type == "member" and .[0].format == "strace" and .[0].records > 0' r
	run -3 tr-record --report=r -o out -- sh -c 'exit 3'
	check 3
	run -143 tr-record --report=r -o out -- sh -c 'kill $$'
	check 143
	run -127 tr-record --report=r -o out -- ./nothing-there
	check 127
}

@test "the report has every message: not only 20 of a kind, notes with -q, details without --verbose" {
	{ printf '%%trec\t1\tformat=klocwork\n' && seq 100 | sed 's/.*/ex_ec\t&\t-\t1\t-/' && printf '!end\t100\n'; } >bad.trec
	run -2 --separate-stderr tr-parse --report=r bad.trec
	[ "${#stderr_lines[@]}" -eq 21 ]
	check 2
	[ "$(jq -s -c '[.[] | select(.type == "trouble") | .line] == [range(2; 102)]' r)" = true ]
	jq -se 'all(.[] | select(.type == "trouble"); .file == "bad.trec" and .cause == "input" and
		.severity == "damage" and .text == "the line does not begin with a kind")' r
	{ cat good.trec && printf 'signal\t3\t-\t1\tSIGHUP\n'; } >other.trec
	run -0 --separate-stderr tr-repack -q -t klocwork --report=r -o out other.trec
	[ -z "$stderr" ]
	check 0
	jq -se 'any(.[]; .severity == "detail" and (.text | test("signal")))' r
}

@test "a message about the whole output has no file, unless it has a single input" {
	local both='%%trec\t1\tformat=strace\nexec\t0\t-\t1\t/a\targv=["a"]\nsignal\t1\t-\t1\tSIGHUP\n!end\t2\n'
	printf "$both" | tee a.trec >b.trec
	tar -cf in.tar a.trec b.trec
	for operands in 'a.trec b.trec' 'b.trec a.trec nothing-there' in.tar; do
		run -$(( ${#operands} > 14 ? 2 : 0 )) --separate-stderr tr-repack --verbose -t compdb --report=r -o out $operands
		[[ $stderr == *"tr-repack: note: compdb cannot hold signal records: 2 left out"* ]]
		jq -se '(map(.type) | rindex("member")) as $last | [.[$last + 1:-1][] | select(.text | test("cannot hold")) |
			[.file, .member]] == [[null, null]]' r
	done
	run -0 --separate-stderr tr-repack --verbose -t compdb --report=r -o out a.trec
	[[ $stderr == *"tr-repack: a.trec: note: compdb cannot hold signal records: 1 left out"* ]]
	jq -se '[.[] | select(.type == "trouble" and (.text | test("cannot hold"))) | .file] == ["a.trec"]' r
}

@test "archives: a line for each member, and where the trouble is" {
	tar -cf in.tar z.json cut.trace && echo hello >README && tar -rf in.tar README
	run -2 tr-parse --report=r -o out in.tar
	check 2
	[ "$(jq -r 'select(.type == "member") | [.file, .member, .format, .records, .result] | @tsv' r)" = \
		"$(printf 'in.tar\tz.json\tklocwork\t179\tok\nin.tar\tcut.trace\tapitrace\t21\ttruncated\nin.tar\tREADME\t\t\tskipped')" ]
	jq -se 'any(.[]; .cause == "truncated" and .member == "cut.trace" and .offset == 10862 and .line == null)' r
	# the order matters, too: the messages about a member come before its line
	[ "$(jq -r '[.type, .member // ""] | join(" ")' r | uniq | tr '\n' ',')" = \
		'member z.json,trouble cut.trace,member cut.trace,trouble README,member README,sum ,' ]
	# records are those that came out
	[ "$(jq -s '.[-1].records' r)" -eq "$(grep -vc '^[%!]' <(tr-parse -q in.tar 2>/dev/null | awk -F'\t' '$1 != "leave"'))" ]
}

@test "a member of no known format is skipped, and changes the status with --strict alone; an operand does" {
	echo hello >README
	tar -cf in.tar README z.json
	results() { jq -r 'select(.type == "member") | [.result, .name] | join(" ")' r | xargs; }
	run -0 tr-repack --report=r -o d/ in.tar
	check 0
	[ "$(results)" = 'skipped in.tar:README ok in.tar:z.json' ]
	run -2 tr-repack --report=r -o d/ in.tar README
	check 2
	[ "$(results)" = 'skipped in.tar:README ok in.tar:z.json unknown README' ]
	run -2 tr-repack --strict --report=r -o d/ in.tar
	check 2
}

@test "a cut file is truncated, however it is compressed, and however little comes out" {
	local codec keep
	for codec in gzip xz zstd bzip2 lz4; do
		tr-repack -z $codec -o whole z.json
		for keep in 100 $(($(stat -c %s whole) * 2 / 3)); do
			head -c $keep whole >cut
			for command in 'tr-parse -o out' 'tr-repack -o out'; do
				run -2 $command --report=r cut
				check 2
				jq -se 'any(.[]; .cause == "truncated" and (.text | test("ends early"))) and
					any(.[]; .type == "member" and .result == "truncated")' r || { cat r; return 1; }
			done
		done
	done
	# of apitrace's own codec, too
	run -2 tr-repack -z gzip --report=r -o out cut.trace
	jq -se 'any(.[]; .type == "member" and .result == "truncated")' r
}

@test "a flipped bit is damage, whatever the reader sees of it: the result follows from the causes" {
	local file codec at
	tr-parse z.json >z.trec
	for file in z.json z.trec; do
		for codec in gzip xz zstd bzip2 lz4; do
			tr-repack -z $codec -o whole $file
			for at in 3 5 8; do
				cat whole >flipped
				printf '\x5a\xa5' | dd of=flipped bs=1 seek=$(($(stat -c %s whole) * at / 9)) conv=notrunc status=none
				for command in 'tr-parse -o out' 'tr-repack -o out'; do
					run -2 $command --report=r flipped
					check 2
					jq -se 'all(.[]; .cause != "truncated") and
						any(.[]; .type == "member" and .result == "damaged")' r || { cat r; return 1; }
				done
			done
		done
	done
}

@test "a cut text is truncated if its last line is not complete" {
	zcat "$top_srcdir/tests/data/build/zlib.strace.gz" >z.strace
	tr-tojson --typed z.json >typed.json
	jq . z.json >spread.json
	tr-repack -t trec -o z.trec z.json
	for format in bear buildspec compdb; do tr-repack -q -t $format -o $format.json z.json; done
	for file in z.json z.strace typed.json spread.json z.trec bear.json buildspec.json compdb.json; do
		head -c $(($(stat -c %s $file) / 2 + 3)) $file >cut
		run -2 tr-parse --report=r -o out cut
		jq -se 'any(.[]; .cause == "truncated") and any(.[]; .result == "truncated")' r || { cat r; return 1; }
	done
	# a line that ends is damaged
	head -c 30010 z.json >cut && echo >>cut
	run -2 tr-parse --report=r -o out cut
	jq -se 'all(.[]; .cause != "truncated") and any(.[]; .result == "damaged")' r
}

@test "errors reported upstream have a cause of their own" {
	run -2 bash -c 'tr-parse -q cut.trace 2>/dev/null | tr-filter --report=r -o out call'
	check 2
	jq -se '[.[] | select(.type == "trouble")] | length == 1 and .[0].cause == "upstream" and .[0].line > 0' r
	run -0 tr-filter --report=r -m 2 -o out exec z.json
	check 0
	jq -se '.[0].result == "partial"' r
}

@test "--resume: an input of which nothing was done is kept, whatever its format" {
	traces=$top_srcdir/tests/data/apitrace
	tr-parse "$traces/threads.trace" "$traces/killed.trace" >two.trec
	tr-parse z.json >z.trec
	tar -cf in.tar z.json z.trec
	for to in '' '-t trec' '-t klocwork'; do
		for j in 1 3; do
			operands='z.json z.trec in.tar'
			[ "$to" = '-t klocwork' ] || operands+=' mt4.trace two.trec'
			rm -rf d && tr-repack -q $to -z gzip -O foreign=yes -o d/ $operands
			tr-repack -q --resume -j $j $to -z gzip -O foreign=yes --report=r -o d/ $operands
			check 0
			jq -se 'all(.[] | select(.type == "member"); .result == "kept" and .records == null)' r
		done
	done
	# a part of it was done again
	tr-repack -q -o d/ two.trec
	rm d/two-2.trace
	tr-repack -q --resume --report=r -o d/ two.trec z.json
	check 0
	[ "$(jq -r 'select(.type == "member").result' r | xargs)" = 'ok ok' ]
	# what became wrong is reported, and not kept
	printf '%%trec\t1\tformat=strace\nexec\t0\t-\t1\t/a\targv=["a"]\n!end\t1\terrors=1\n' >bad.trec
	tr-repack -q -t trec -o d/ bad.trec || [ $? -eq 2 ]
	run -2 tr-repack -q --resume --report=r -t trec -o d/ bad.trec
	check 2
	[ "$(jq -r 'select(.type == "member").result' r)" = damaged ]
}

@test "the outputs of each input, if it has its own" {
	traces=$top_srcdir/tests/data/apitrace
	tr-parse "$traces/threads.trace" "$traces/killed.trace" >two.trec
	mkdir a && cat z.json >a/z.json
	echo hello >README
	tar -cf in.tar a/z.json README z.json && tar -rf in.tar a/z.json
	: >empty
	outputs='select(.type == "member") | [.name, .output[]] | join(" ")'
	for j in 1 3; do
		run -2 --separate-stderr tr-repack -j $j -z gzip -O foreign=yes --report=r -o d/ in.tar two.trec empty missing ./z.json
		check 2
		[ "$(jq -r "$outputs" r)" = "in.tar:a/z.json d/a/z.json.gz
in.tar:README
in.tar:z.json d/z.json.gz
in.tar:a/z.json d/a/z-2.json.gz
two.trec d/two.trace d/two-2.trace
empty
missing
./z.json d/./z-2.json.gz" ]
		# which name was taken, and by which input
		[[ $stderr == *"tr-repack: in.tar:a/z.json: note: the name a/z.json.gz is taken: written as a/z-2.json.gz"* ]]
		jq -se 'any(.[]; .file == "in.tar" and .member == "a/z.json" and .severity == "note" and (.text | test("is taken")))' r
		jq -r "$outputs" r >made
		# kept, and in an archive
		run -2 tr-repack -j $j -q --resume -z gzip -O foreign=yes --report=r -o d/ in.tar two.trec empty missing ./z.json
		jq -r "$outputs" r | cmp - made
		run -2 tr-repack -j $j -q -z gzip -O foreign=yes --report=r -o out.tar in.tar two.trec empty missing ./z.json
		jq -r "$outputs" r | cmp - <(sed 's: d/: :g' made)
		rm -r d
	done
	tr-repack -q --split=records=80 --report=r -t trec -o parts/ z.json
	check 0
	[ "$(jq -r 'select(.type == "member").output[]' r)" = "$(ls parts/*)" ]
	# one output of all inputs
	tr-repack --report=r -o out z.json z.json
	[ "$(jq -c 'select(.type == "member").output' r | xargs)" = '[] []' ]
	# an output that was not written
	run -2 tr-repack --report=r -t drcov -o d/ z.json
	[ "$(jq -c 'select(.type == "member").output' r)" = '[]' ]
}

@test "names and messages with any bytes are JSON in UTF-8" {
	name=$(printf 'a\033[2J"\\\x9b\xffb')
	cp good.trec "$name" 2>/dev/null || skip "the file system takes no such name"
	tr-parse --report=r "$name" >/dev/null
	iconv -f utf-8 -t utf-8 r >/dev/null
	check 0
	[ "$(jq -r '.name["$bytes"] // empty' r | base64 -d)" = "$name" ]
	run -2 tr-parse --report=r "$name.not"
	iconv -f utf-8 -t utf-8 r >/dev/null
	check 2
	plain=$(printf 'ä\tb\n"c')
	cp good.trec "$plain"
	tr-parse --report=r "$plain" >/dev/null
	[ "$(jq -r 'select(.type == "member").name' r)" = "$plain" ]
	run -2 tr-parse --report=r -O "$(printf 'no=\x9b\xff')" good.trec
	iconv -f utf-8 -t utf-8 r >/dev/null
	check 2
}

@test "the report replaces neither an operand nor the output" {
	cp z.json kept
	ln -s z.json link
	for report in z.json ./z.json link; do
		run -2 tr-parse --report="$report" -o out z.json
		[[ $output == *"is an input file"* ]]
		run -2 tr-parse --report="$report" --no-such-option z.json
		run -2 tr-parse --report "$report" -o out --no-such-option z.json
		run -2 tr-parse --report="$report" <z.json
		cmp z.json kept
	done
	run -2 tr-parse --report=out -o out z.json
	[[ $output == *"out is the output"* ]]
	[ ! -e out ]
	cp kept out
	run -2 tr-parse --report=out -o ./out z.json
	cmp out kept
	run -2 --separate-stderr bash -c 'tr-parse --report=both z.json >both'
	mkdir d
	run -2 tr-repack --report=d/z.json -o d/ z.json
	jq -se '.[-1].status == 2' d/z.json
	run -2 tr-parse --report=- z.json
	run -2 tr-parse --report=/nothing-there/r -o new z.json
	[ ! -e new ]
	# a pattern that is called like a file is no operand
	run -0 tr-filter --report=exec -o out exec z.json
}

@test "--report to descriptors, and to files that cannot be written" {
	tr-parse --report=/dev/fd/7 -o out z.json 7>r
	check 0
	echo before >r
	run -2 bash -c 'tr-parse --report=/dev/stderr -o out nothing-there 2>>r'
	[ "$(head -n 1 r)" = before ]
	[ "$(grep -c '^{' r)" -eq 3 ]
	if [ -w /dev/full ]; then
		run -2 tr-parse --report=/dev/full -o out z.json
		[ "$output" = 'tr-parse: /dev/full: cannot write: No space left on device' ]
	fi
}

@test "a report without a sum is one of a tool that was killed" {
	mkfifo slow
	tr-parse --report=r -o out nothing-there slow 2>/dev/null 3>&- &
	pid=$!
	exec 9>slow
	for _ in $(seq 200); do [ -s r ] && grep -q member r && break || sleep 0.02; done
	kill -KILL $pid
	wait $pid || true
	exec 9>&-
	jq -se 'length >= 2 and all(.[]; .type != "sum")' r
}
