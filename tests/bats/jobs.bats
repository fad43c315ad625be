#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-repack -j N: many files and members in child processes, with the result of one process. Workers are started
# when reading is slow, which a codec promises: -z.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >z.json
}

# same DIR ARGUMENT...: -j 3 gives the files, the messages, the report and the status of -j 1
same() {
	local status1=0 status3=0
	mkdir -p "$1/1" "$1/3"
	(cd "$1/1" && exec tr-repack --report=report "${@:2}" >out 2>messages) || status1=$?
	(cd "$1/3" && exec tr-repack --report=report -j 3 "${@:2}" >out 2>messages) || status3=$?
	[ $status1 -eq $status3 ]
	diff -r "$1/1" "$1/3"
}

# all that the tests have, good and bad, in the order of their names
traces() {
	find "$top_srcdir/tests/data" -type f -size -100k ! -name '*.cases' | LC_ALL=C sort
}

@test "every trace of the tests, from an archive and as files, into archives and directories" {
	traces | sed "s:^$top_srcdir/::" >list
	[ "$(wc -l <list)" -gt 200 ]
	tar -cf in.tar -C "$top_srcdir" -T list
	(cd "$top_srcdir" && zip -qr "$BATS_TEST_TMPDIR/in.zip" -@ <"$BATS_TEST_TMPDIR/list")
	for out in out.tar out.zip out.tar.zst d/; do
		same ${out%/}.t -t trec -z gzip=1 -o $out ../../in.tar
	done
	same plain -t trec -o d/ ../../in.tar
	same zip -t trec -z xz --verify -o out.7z ../../in.zip
	same own -z zstd -O foreign=yes -o d/ ../../in.tar
	mapfile -t list <list
	same files -t trec -z gzip --verify -o d/ "${list[@]/#/$top_srcdir/}"
	same strict --strict -t trec -z gzip -o d/ "${list[@]/#/$top_srcdir/}"
	same compdb -t compdb -o out.tar "${list[@]/#/$top_srcdir/}" ../../in.zip missing
	grep -q '"result":"ok"' files/3/report
	grep -q '"result":"unknown"' files/3/report
}

@test "a member of no known format that is damaged" {
	command -v zip >/dev/null || skip "zip is not installed"
	for i in {10..50}; do cat z.json >m$i.json; done
	# the end of a small member is seen when its format is detected
	for size in 1000 300000; do
		seq $size >n
		rm -f n.zip
		zip -q n.zip n
		printf '\x5a\xa5\x5a' | dd of=n.zip bs=1 seek=$(($(wc -c <n.zip) / 2)) conv=notrunc status=none
		tar -cf in$size.tar m*.json n.zip z.json
		same damaged$size -z bzip2=9 -o d/ ../../in$size.tar
		[ "$(wc -l <damaged$size/3/messages)" -eq 2 ]
	done
}

@test "standard input, pipes and large members are read, too" {
	for _ in $(seq 800); do cat z.json; done >large.json
	[ "$(wc -c <large.json)" -gt $((64 << 20)) ]
	cp z.json again.json
	tar -cf in.tar z.json large.json again.json
	rm large.json
	mkfifo pipe
	for j in 1 3; do
		cat z.json >pipe &
		tr-repack -q -j $j -t trec -z gzip=1 -o $j/ in.tar pipe - z.json <z.json
		(cd $j && sha256sum -- *) >$j.sums
		rm -r $j
	done
	[ "$(wc -l <1.sums)" -eq 6 ]
	cmp 1.sums 3.sums
}

@test "duplicate names, and --resume" {
	mkdir a b
	cp z.json a/x.json
	head -5 z.json >b/x.json
	(cd a && tar -cf ../in.tar x.json)
	(cd b && tar -rf ../in.tar x.json)
	tar -rf in.tar z.json
	same twice -t trec -o d/ ../../in.tar
	[ "$(ls twice/3/d)" = "$(printf '%s\n' x-2.trec x.trec z.trec)" ]
	# x.trec exists and x-2.trec does not: the second x.json must still be converted
	for gone in x-2.trec x.trec z.trec; do
		rm twice/[13]/d/$gone
		for j in 1 3; do
			run -0 --separate-stderr tr-repack -j $j --resume -t trec -o twice/$j/d/ in.tar
			[[ $stderr == *"note: kept 2 files that an earlier run wrote" ]]
		done
		diff -r twice/1 twice/3
	done
	# each trace of a stream
	traces=$top_srcdir/tests/data/apitrace
	tr-parse "$traces/threads.trace" "$traces/killed.trace" "$traces/threads.trace" >three.trec
	same three -q -o d/ ../../three.trec
	rm three/[13]/d/three-2.trace
	for j in 1 3; do
		run -0 --separate-stderr tr-repack -j $j --resume -o three/$j/d/ three.trec
		[ "$stderr" = "tr-repack: note: kept 2 files that an earlier run wrote" ]
	done
	diff -r three/1 three/3
}

# workers PID: prints the processes that tr-repack has started, each after the ticks that it has worked
workers() {
	local child
	for child in $(pgrep -P "$1"); do
		awk '{ print $14 + $15, $1 }' "/proc/$child/stat" 2>/dev/null
	done | sort -rn
}

@test "small inputs start no process, slow ones do" {
	command -v strace >/dev/null || skip "strace is not installed"
	[ -z "$TREC_SANITIZED" ] || skip "a sanitizer makes everything slow"
	for name in a b c d; do cat z.json z.json z.json >$name.json; done
	strace -f -e trace=clone,clone3,fork,vfork -o one.calls tr-repack -j 2 -t trec -z gzip -o one/ z.json
	run -1 grep -E '(clone|fork)' one.calls
	strace -f -e trace=clone,clone3,fork,vfork -o more.calls tr-repack -j 2 -t trec -z gzip -o more/ ?.json
	grep -E '(clone|fork)' more.calls
}

@test "a process that crashes loses one trace, and the others are converted" {
	command -v pgrep >/dev/null || skip "pgrep is not installed"
	for _ in $(seq 120); do cat z.json; done >slow.json
	cp z.json after.json
	tr-repack -j 2 --report=report -t trec -z zstd=19 -o out/ slow.json z.json after.json 2>messages &
	pid=$!
	# z.json and after.json take less time
	for _ in $(seq 400); do
		read -r ticks child < <(workers $pid) && [ "$ticks" -ge 50 ] && break
		sleep 0.02
	done
	kill -KILL "$child" # a sanitizer would take other signals
	status=0
	wait $pid || status=$?
	[ $status -eq 2 ]
	cat messages
	[[ $(head -1 messages) == "tr-repack: slow.json: left out: the process converting it was killed by signal 9"* ]]
	[ "$(ls -A out)" = "$(printf '%s\n' after.trec.zst z.trec.zst)" ]
	cmp <(tr-parse after.json) <(tr-parse out/after.trec.zst)
	[ "$(grep -c '"type":"member".*"result":"ok"' report)" -eq 2 ]
	grep -q '"name":"slow.json".*"result":"damaged"' report
}

@test "a name of any length is the same name, and where it cannot be written the others are" {
	for length in 300 300000 20000000; do
		{
			printf '%%trec\t1\tformat=klocwork\tmember="'
			head -c $length /dev/zero | tr '\0' x
			printf '.json"\nexec\t1\t-\t1\tgcc\targv=["gcc"]\n!end\t1\n'
		} >name.trec
		for out in d/ out.tar out.zip out.7z; do
			same $length.${out%/} -z zstd -t json -o $out ../../name.trec ../../z.json
			grep -q '"name":"../../z.json".*"result":"ok"' "$length.${out%/}/3/report"
		done
	done
}

@test "a result that another process has changed loses its trace, and nothing beyond it is read" {
	for name in a b c d; do cat z.json z.json z.json >$name.json; done
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	convert() {
		status=0
		strace -qq -e trace=read -o reads "${@:3}" tr-repack -j 2 -t trec -z gzip -o "$1" ?.json 2>"$2" || status=$?
	}
	convert expected/ messages -e inject=read:poke_exit=@arg2=00:when=9999
	if [ $status -ne 0 ] || [ -s messages ]; then
		skip "strace cannot change what a program reads"
	fi
	reads=$(grep -c ^read reads)
	zero=00000000 huge=ffffffff lost=0
	# a kind and a length: beyond the end, and too short for a message of the tool, another one, and the end; too
	# long for a message; no kind; a name that is longer than its message. Results are read last
	for bytes in 02000000$zero$huge$huge 02000000${zero}03000000$zero 00000000${zero}03000000$zero \
		03000000${zero}03000000$zero 00000000${zero}00100000$zero 09000000 \
		02000000${zero}49000000$zero$zero$zero$huge$huge; do
		for ((nth = reads - 2; nth <= reads; nth++)); do
			rm -rf out
			convert out/ messages -e "inject=read:poke_exit=@arg2=$bytes:when=$nth"
			diff -r expected out >differences || true
			echo "read $nth of $reads, $bytes: status $status"
			cat messages differences
			if [ $status -ne 0 ]; then
				[ $status -eq 2 ]
				[[ $(<messages) == "tr-repack: "?".json: left out: the result of the process converting it cannot be read"* ]]
				[[ $(<differences) == "Only in expected: "?.trec.gz ]]
				lost=$((lost + 1))
			else
				[ ! -s differences ]
			fi
		done
	done
	[ $lost -gt 0 ]
}

@test "without processes, and without room for results" {
	# more places than the first one, which is read without a process
	for name in a b c; do cat z.json z.json z.json >$name.json; done
	tr-repack -t trec -z gzip -o expected/ ?.json "$top_srcdir/tests/data/trec/filter.trec"
	TMPDIR=$PWD/missing run -0 --separate-stderr tr-repack -j 2 -t trec -z gzip -o out/ ?.json \
		"$top_srcdir/tests/data/trec/filter.trec"
	[ -z "$stderr" ]
	diff -r expected out
	# members that have no room are read without a process
	tar -cf in.tar ?.json
	tr-repack -t trec -z gzip -o large/ in.tar
	run -0 bash -c "ulimit -f 200; exec tr-repack -j 2 -t trec -z gzip -o small/ in.tar"
	diff -r large small
}

@test "results without room come directly, and nothing is missing" {
	for i in {10..21}; do { cat z.json; printf '%*s\n' "$i" ""; } >m$i.json; done
	cat "$top_srcdir/tests/data/trec/filter.trec" >m19.trec
	echo bad >>m19.trec
	tar -cf in.tar m*
	# a member has room in the file of a worker, but not its result, too
	limited() {
		bash -c 'ulimit -f 88; exec env --default-signal=XFSZ "$@"' _ tr-repack --report=report -z xz=6 -t trec "$@"
	}
	for out in o.7z d/; do
		for j in 1 3; do
			mkdir -p ${out%/}/$j
			(cd ${out%/}/$j && run -2 --separate-stderr limited -j $j -o $out ../../in.tar && echo "$stderr" >messages)
		done
		diff -r ${out%/}/1 ${out%/}/3
		[ "$(grep -c '"result":"ok"' ${out%/}/3/report)" -eq 12 ]
	done
	[ "$(ls d/3/d | wc -l)" -eq 13 ]
}

@test "any allocation may fail" {
	[ -z "$TREC_SANITIZED" ] || skip "preloaded libraries and sanitizers exclude each other"
	[ -z "${TREC_COVERAGE-}" ] || skip "with --enable-coverage the exit of a program crashes where an allocation fails"
	library=$top_builddir/tests/helper/fail_alloc.so
	[ -e "$library" ]
	cp "$top_srcdir/tests/data/trec/filter.trec" bad.trec
	echo bad >>bad.trec
	# the second file goes to a process
	for _ in {1..8}; do cat z.json; done >a.json
	set -- tr-repack -j 2 -t trec -z gzip=1
	TREC_FAIL_ALLOC=0 TREC_FAIL_ALLOC_COUNT=count LD_PRELOAD=$library run -2 "$@" -o all/ bad.trec a.json z.json
	[ "$(cat count)" -gt 20 ]
	for ((nth = 1; nth <= $(cat count); nth++)); do
		for and_all_after in '' +; do
			rm -rf out
			TREC_FAIL_ALLOC=$nth$and_all_after LD_PRELOAD=$library run -2 "$@" -o out/ bad.trec a.json z.json
			[ -n "$output" ]
			# existing files are complete
			for file in out/*; do
				[ ! -e "$file" ] || cmp "$file" "all/${file##*/}"
			done
			[ -z "$(ls -A out 2>/dev/null | grep '^\.')" ]
		done
	done
}

@test "a signal leaves nothing that looks complete" {
	mkfifo pipe
	tr-repack -j 2 -t trec -o out/ z.json pipe 9>&- &
	pid=$!
	exec 9>pipe
	cat z.json >&9
	sleep 0.3
	kill -TERM $pid
	exec 9>&-
	status=0
	wait $pid || status=$?
	[ $status -eq $((128 + 15)) ]
	# on a slow machine, the file that was finished has its name already
	[ -z "$(ls -A out 2>/dev/null | grep -vx z.trec)" ]
	[ ! -e out/z.trec ] || tr-repack -t trec z.json | cmp - out/z.trec
}
