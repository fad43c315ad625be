#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Complete pipelines, as users build them: round trips, mangled streams, errors that are reported at the
# end, and the same trace in every compression and archive.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gzip -dc "$top_srcdir/tests/data/build/zlib.kw.json.gz" >zlib.json
	gzip -dc "$top_srcdir/tests/data/build/mc.kw.jsonl.gz" >mc.json
	tr-parse zlib.json >zlib.trec
	tr-parse mc.json >mc.trec
	[ -s zlib.trec ]
	[ -s mc.trec ]
}

# pipeline STATUS COMMAND: runs it with pipefail off; the status of the last command is expected
pipeline() {
	local expected=$1 status=0
	shift
	bash -c "$1" 2>messages >out || status=$?
	echo "$1: status $status"
	cat messages
	[ "$status" -eq "$expected" ]
}

# said TEXT, said nothing: checks the messages of the last pipeline
said() {
	if [ "$1" = nothing ]; then
		[ ! -s messages ]
	else
		grep -qF -- "$1" messages
	fi
}

execs() {
	grep -c '^exec' "${1:-out}"
}

@test "parse | repack is the identity, without any .raw" {
	for trace in zlib mc; do
		run ! grep -q '\.raw=' $trace.trec
		pipeline 0 "tr-parse $trace.json | tr-repack"
		said nothing
		cmp out $trace.json
	done
}

@test "another spelling is equal as JSON, and the same bytes with --exact" {
	python_spelling='s/":/": /g; s/,"/, "/g'
	sed -E "$python_spelling" mc.json >spaced.json
	pipeline 0 "tr-parse spaced.json | tr-repack"
	diff <(jq -cS . out) <(jq -cS . spaced.json)
	pipeline 0 "tr-parse --exact spaced.json | tr-repack"
	cmp out spaced.json
	pipeline 0 "jq . mc.json | tr-parse --exact | tr-repack"
	cmp out <(jq . mc.json)
}

@test "an edit wins over .raw" {
	sed 's/":/": /' zlib.json >spaced.json
	pipeline 0 "tr-parse --exact spaced.json | sed s/-O3/-O0/ | tr-repack"
	[ "$(grep -c -- -O0 out)" -gt 50 ]
	diff <(jq -c .args spaced.json | sed s/-O3/-O0/) <(jq -c .args out)
}

@test "filtered, it is a trace with its version, creator and environment" {
	pipeline 0 "tr-filter 'exec and basename(name) == \"gcc\"' zlib.json | tr-repack"
	cmp <(head -n 3 out) <(head -n 3 zlib.json)
	cmp <(sed 1,3d out) <(sed 1,3d zlib.json | LC_ALL=C grep -a '"executable":"/usr/bin/gcc"')
	said "environment"
	tr-parse out >again.trec
}

@test "typed JSON and jq give the same stream" {
	for trace in zlib mc; do
		pipeline 0 "tr-tojson --typed $trace.json | jq -c . | tr-parse -f json"
		cmp out $trace.trec
	done
}

@test "a trace gives the same records in every compression and archive" {
	grep -v '^%trec' zlib.trec >records
	gzip -k zlib.json
	zstd -q zlib.json
	xz -k zlib.json
	bzip2 -k zlib.json
	lz4 -q zlib.json zlib.json.lz4
	for suffix in gz zst xz bz2 lz4; do
		pipeline 0 "tr-parse zlib.json.$suffix | grep -v ^%trec"
		cmp out records
		pipeline 0 "cat zlib.json.$suffix | tr-parse | grep -v ^%trec"
		cmp out records
	done
	echo 'not a trace' >notes.txt
	tar -cf all.tar notes.txt zlib.json mc.json
	zstd -q all.tar
	pipeline 0 "cat all.tar.zst | tr-parse --member='z*' | grep -v ^%trec"
	cmp out records
	pipeline 0 "cat zlib.json | tr-parse | grep -v ^%trec"
	cmp out records
	split -n l/2 zlib.json part.
	pipeline 0 "cat part.aa part.ab | tr-parse | grep -v ^%trec"
	cmp out records
	pipeline 0 "tr-parse part.aa part.ab"
	diff <(grep ^exec out | cut -f4,5) <(grep ^exec records | cut -f4,5)
}

@test "the views of a trace equal those of its stream" {
	local trace view count=0
	for trace in "$top_srcdir"/tests/data/{apitrace/*.trace,build/*.gz,drcov/*.log,etrace/*.nfsdb*} \
		"$top_srcdir"/tests/data/{gnatcov/*.gz,srctrace/*.console,strace/execs/*.gz}; do
		# messages about damage name places in the trace, and places in the stream
		tr-parse -q "$trace" >stream 2>messages || continue
		count=$((count + 1))
		for view in tr-tojson tr-totext 'tr-tojson --as=chrome'; do
			$view -q "$trace" >direct
			$view -q stream 2>&1 | sed "s|^\(tr-[a-z]*\): stream|\1: $trace|" >through || true
			echo "$view $trace"
			cmp direct through
		done
	done
	echo "$count traces"
	[ "$count" -ge 20 ]
}

@test "cat of two streams is two segments" {
	pipeline 0 "cat zlib.trec mc.trec | tr-filter exec"
	said nothing
	[ "$(execs)" -eq $(($(execs zlib.trec) + $(execs mc.trec))) ]
	[ "$(grep -c ^%trec out)" -eq 2 ]
	pipeline 0 "cat zlib.trec mc.trec | tr-repack"
	said nothing
	cat zlib.json mc.json | cmp out -
}

@test "grep ^exec leaves an anonymous segment: all execs are read, and missing parts are reported" {
	pipeline 0 "grep ^exec zlib.trec | tr-filter exec"
	said nothing
	cmp out <(grep ^exec zlib.trec)
	pipeline 2 "grep ^exec zlib.trec | tr-repack"
	said "-t"
	pipeline 0 "grep ^exec zlib.trec | tr-repack -t klocwork"
	said "note:"
	[ "$(grep -c '"id":' out)" -eq "$(execs zlib.trec)" ]
	[ "$(head -n 1 out)" = '{"version":101}' ]
	pipeline 2 "grep ^exec zlib.trec | tr-repack --strict -t klocwork"
}

@test "head: the trailer is missing, and writers report this" {
	pipeline 0 "head -n 20 zlib.trec | tr-repack"
	said "note:"
	cmp out <(head -n 19 zlib.json)
	pipeline 0 "head -n 20 zlib.trec | tr-filter -c exec"
	[ "$(cat out)" -eq 16 ]
	said nothing
}

@test "head -c: a last line without its end is damage" {
	pipeline 2 "head -c 20000 zlib.trec | tr-filter exec"
	said "the last line has no newline"
	[ "$(execs)" -eq "$(head -c 20000 zlib.trec | grep -c '^exec.*' | awk '{print $1 - 1}')" ]
}

@test "sort and shuf: every record, as many as before" {
	for order in 'LC_ALL=C sort' 'shuf --random-source=zlib.json'; do
		pipeline 0 "$order zlib.trec | tr-filter exec"
		diff <(grep ^exec out | LC_ALL=C sort) <(grep ^exec zlib.trec | LC_ALL=C sort)
		pipeline 0 "$order zlib.trec | tr-repack -t klocwork"
		diff <(grep -a '"id":' out | LC_ALL=C sort) <(grep -a '"id":' zlib.json | LC_ALL=C sort)
	done
}

@test "split: the parts contain all records" {
	split -n l/5 zlib.trec part.
	total=0
	for part in part.*; do
		pipeline 0 "tr-filter -c exec $part"
		total=$((total + $(cat out)))
	done
	[ "$total" -eq "$(execs zlib.trec)" ]
	pipeline 0 "cat part.* | tr-repack"
	cmp out zlib.json
}

@test "damage at the front reaches the end as exit status 2" {
	{ head -n 10 zlib.json; echo '{"id":11,"args":["cut'; sed -n '12,$p' zlib.json; } >bad.json
	pipeline 2 "tr-parse bad.json | tr-filter 'exec' | tr-repack -o repacked.json"
	grep -q 'errors=1' <(tr-parse bad.json 2>/dev/null)
	[ "$(grep -c '"id":' repacked.json)" -eq $(($(grep -c '"id":' zlib.json) - 1)) ]
	head -c 2000 <(gzip -c zlib.json) >cut.gz
	pipeline 2 "tr-parse cut.gz | tr-filter exec | tr-repack -z none"
	said "cut.gz"
	tr-parse cut.gz 2>/dev/null | grep -q 'truncated=true'
}

@test "what could not be read at all reaches the end as exit status 2, too" {
	head -c 40 <(gzip -c zlib.json) >cut.gz
	head -c 5 zlib.json >cut.json
	for bad in cut.gz cut.json missing 'zlib.json missing' 'missing zlib.json' '. zlib.json'; do
		pipeline 2 "tr-parse $bad | tr-filter exec | tr-repack -o repacked.json"
		tr-parse $bad 2>/dev/null | tail -n 1 | grep -q $'^!end\t0\terrors=1\ttruncated=true$'
	done
	cmp repacked.json zlib.json
	pipeline 2 "tr-filter exec zlib.json missing | tr-tojson --typed | jq -c . | tr-repack"
	pipeline 2 "tr-envdiff missing | tr-parse"
	tar -cf all.tar zlib.json mc.json
	head -c 88100 all.tar >cut.tar # in the header of the second
	pipeline 2 "tr-parse cut.tar | tr-repack"
	# output that is not for another tool does not report upstream errors
	pipeline 2 "tr-parse --identify missing"
	[ ! -s out ]
	pipeline 2 "tr-filter -c exec zlib.json missing"
	[ "$(cat out)" = "$(execs zlib.trec)" ]
	# and a name that was mistyped does not empty the file of the last run
	pipeline 2 "tr-parse -o repacked.json missing"
	cmp repacked.json zlib.json
}

@test "a cut gzip gives at least what zcat gives" {
	gzip -k zlib.json
	for size in 20 500 1000 3000 4700; do
		head -c $size zlib.json.gz >cut.gz
		lines=$(zcat cut.gz 2>/dev/null | grep -ac '"id":.*}$' || true)
		pipeline 2 "tr-parse cut.gz"
		[ "$(grep -c '^exec' out)" -ge "$lines" ]
	done
}

@test "counts agree with jq" {
	for trace in zlib mc; do
		for name in gcc cc1 as make ld; do
			theirs=$(jq -c "select(.executable and (.executable | split(\"/\") | last) == \"$name\")" \
				$trace.json | wc -l)
			ours=$(tr-filter -c "exec and basename(name) == \"$name\"" $trace.json || true)
			echo "$trace $name: $ours, jq: $theirs"
			[ "$ours" -eq "$theirs" ]
		done
	done
}

@test "memory does not grow with the input" {
	[ -x /usr/bin/time ] || skip "GNU time is not installed"
	for i in 1 2 3 4 5 6 7 8; do cat zlib.json; done >small.json
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat small.json; done >large.json
	# sanitizers keep freed memory for a while
	more=$([ -n "${TREC_SANITIZED-}" ] && echo 2048 || echo 512)
	for command in tr-parse 'tr-filter exec' tr-tojson 'tr-repack -t klocwork -z gzip'; do
		small=$(/usr/bin/time -f %M bash -c "exec $command small.json" 2>&1 >/dev/null | tail -n 1)
		large=$(/usr/bin/time -f %M bash -c "exec $command large.json" 2>&1 >/dev/null | tail -n 1)
		echo "$command: $small KiB for 700 KB, $large KiB for 11 MB"
		[ "$large" -le $((small + more)) ]
	done
}
