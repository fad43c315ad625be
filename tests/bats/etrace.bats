#!/usr/bin/env bats
# System call logs through the tools; tests/unit/format/test_etrace.c has the damage.

bats_require_minimum_version 1.5.0

setup() {
	data=$top_srcdir/tests/data/etrace
	cd "$BATS_TEST_TMPDIR" || return 1
	gzip -dc "$data/hello.nfsdb.gz" >hello.nfsdb
}

# Records without what depends on their order: seq, and the seq of the parent.
events() {
	tr-parse -q "$@" | grep -v -e '^%trec' -e '^!end' | sed -E 's/\tparent=[0-9]+//' |
		cut -f1,3- | LC_ALL=C sort
}

@test "every execution is what the kernel had" {
	command -v jq >/dev/null || skip "jq is not installed"
	run -0 --separate-stderr tr-parse hello.nfsdb
	[ -z "$stderr" ]
	run ! grep -q -e '^raw' -e flagged= <<<"$output"
	gzip -dc "$data/hello.truth.jsonl.gz" >truth
	jq -c 'select(.argv) | [.upid, .PP, .PI, .CW, .argv, .ppid]' truth | sort >want
	tr-tojson hello.nfsdb | jq -c 'select(.kind == "exec") |
		[(.task | tonumber), .name, .interp // .name, .cwd, .argv, .ppid]' | sort | diff want -
	jq -c 'select(.exit != null) | [.upid, .exit]' truth | sort >want
	tr-tojson hello.nfsdb | jq -c 'select(.kind == "exit") | [(.task | tonumber), .status]' |
		sort | diff want -
	jq -c '.upid as $u | .children[] | [$u, .[0]]' truth | sort >want
	tr-tojson hello.nfsdb | jq -c 'select(.kind == "fork") | [(.task | tonumber), .child]' |
		sort | diff want -
	jq -c '.upid as $u | .opens[] | [$u, .[0], .[1], .[4]]' truth | sort >want
	tr-tojson hello.nfsdb | jq -c 'select(.name == "open") |
		[(.task | tonumber), .args.path, .args.orig // .args.path, .return]' | sort | diff want -
}

@test "the parent is the exec that was current in the task that forked" {
	tr-parse hello.nfsdb | awk -F'\t' '
		$1 == "exec" {
			parent = "none"
			if (match($0, /\tparent=[0-9]+/)) parent = substr($0, RSTART + 8, RLENGTH - 8)
			want = $4 in inherited ? inherited[$4] : "none"
			if (parent != want) { print "exec " $2 ": " parent " is not " want; bad = 1 }
			current[$4] = $2
		}
		$1 == "fork" { sub("child=", "", $6); inherited[$6] = current[$6] = current[$4] }
		$1 == "fork" && current[$4] == "" { inherited[$6] = current[$6] = "none" }
		END { exit bad || !NR }'
}

@test "as many events as were made" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-tojson hello.nfsdb >records
	count() { jq -c "select($1)" records | wc -l; }
	said() { jq ".\"$1\"" "$data/hello.counts.json"; }
	[ "$(count '.kind == "exec"')" -eq "$(said New_proc)" ]
	[ "$(count '.kind == "exit"')" -eq "$(said Exit)" ]
	[ "$(count '.kind == "comm"')" -eq "$(said Comm)" ]
	[ "$(count '.kind == "fork"')" -eq "$(said SchedFork)" ]
	[ "$(count '.kind == "fork" and .flags')" -eq "$(said SysClone)" ]
	[ "$(count '.kind == "envset"')" -eq "$(said 'Env (groups)')" ]
	[ "$(jq -c 'select(.kind == "envset") | .tasks[]' records | wc -l)" -eq "$(said UPID)" ]
	for call in Open Close Pipe Dup; do
		[ "$(count ".name == \"${call,,}\"")" -eq "$(said $call)" ]
	done
	[ "$(count '.name == "rename" and .results.failed')" -eq "$(said RenameFailed)" ]
	[ "$(count '.name == "rename" and .args.to')" -eq "$(said RenameTo)" ]
	[ "$(count '.name == "rename" and .args.flags')" -eq "$(said Rename2From)" ]
}

@test "sorted by upid, without prefixes, with more than the prefix: the same events" {
	events hello.nfsdb >want
	[ -s want ]
	{ head -n 1 hello.nfsdb; tail -n +2 hello.nfsdb | sort -s -t, -k1.4,1n -k3,3n -k4,4n; } >sorted
	events sorted | cmp - want
	sed 's/^0: //' hello.nfsdb >bare
	events bare | cmp - want
	sed 's/^0: /            make-4711  [001] d..1.  7342.117104: 0: /' hello.nfsdb >context
	events context | cmp - want
	sed 's/_end|$/_end/' hello.nfsdb >ends
	events ends | cmp - want
}

@test "--lines is the identity" {
	for f in "$data"/*.nfsdb hello.nfsdb; do
		run -0 --separate-stderr bash -c 'tr-parse --lines "$1" | tr-repack | cmp - "$1"' - "$f"
		[ -z "$stderr" ]
		[ "$(tr-parse --lines "$f" | grep -c ^line)" -eq "$(wc -l <"$f")" ]
	done
	tr-parse --lines hello.nfsdb | sed -n 3p |
		diff - <(printf 'line\t1\t7342.117104512\t4219304\tSysClone\tcpu=1\ttext="flags=18874385"\n')
	# of any bytes
	gzip -c hello.nfsdb | tail -c +100 >random
	tr-parse -f etrace --lines random | tr-repack -t etrace | cmp - random
	printf '\xef\xbb\xbf0: 1,0,1,1!Exit|status=0\r\n007,0,1,1!A[01]x\n\n\0\n0: 1,0,1,1!Exit' >odd
	tr-parse --lines odd | tr-repack | cmp - odd
	run -2 tr-parse --lines <(printf '{"version":101}\n')
	run -2 tr-parse --lines --join odd
}

@test "--lines: what is about events is refused" {
	for option in reorder=3 pid-bits=22; do
		run -2 --separate-stderr tr-parse --lines -O $option hello.nfsdb
		[ "$stderr" = "tr-parse: hello.nfsdb: -O reorder and -O pid-bits are about events: not with --lines" ]
	done
}

@test "what is written is read as the same events" {
	tr-parse hello.nfsdb >hello.trec
	[ -s hello.trec ]
	tr-repack hello.trec >again.nfsdb
	tr-parse again.nfsdb | cmp - hello.trec
	tr-repack again.nfsdb -O pid-bits=22 | cmp - again.nfsdb
	for f in "$data"/*.nfsdb; do
		[ "$f" != "$data/small.nfsdb" ] || continue # two tasks at a time have no order
		tr-parse -q "$f" 2>/dev/null >one || :
		tr-repack -q one 2>/dev/null | tr-parse -q 2>/dev/null | cmp - one
	done
}

@test "arguments, long paths, line ends, old forms" {
	run -2 --separate-stderr tr-parse "$data/args.nfsdb"
	[[ ${lines[3]} == *$'\targv=["sh","a\\n\\nb|c[3]","","","after two empties","zażółć\\ttab \\"q\\" \\\\ "]\t'* ]]
	[[ ${lines[3]} == *$'\tflagged=["argsize:+24"]\t.argsize=31' ]]
	[[ ${lines[4]} == $'sys\t3\t100.000002800\t8413874\topen\tpath="/w/b.c"\torig="/w/./b.c"\tflags=O_WRONLY|O_CREAT|O_TRUNC\tmode=-7\tcpu=1\t->\treturn=3' ]]
	run -2 --separate-stderr tr-filter --fields='len(path),return' 'name == "open"' "$data/long.nfsdb"
	[ "$output" = $'953\t3' ]
	run -2 --separate-stderr tr-filter --fields=path 'name == "open"' "$data/nl.nfsdb"
	[ "$output" = '"/w\nxy"' ]
	run -2 --separate-stderr tr-parse "$data/old.nfsdb"
	[[ ${lines[4]} == $'exit\t3\t100.000002750\t8413874\t-\tcpu=1' ]]
	[[ ${lines[6]} == $'raw\t5\t100.000002803\t8413874\t-\ttext="0: 8413874,1,100,2803!Foo|bar=1"\treason="an unknown tag"' ]]
	[[ $stderr == *"old.nfsdb:12: an unknown tag: kept as a raw record"* ]]
}

@test "lost lines, noise and a cut last line are told" {
	printf 'INITCWD=/w\nCPU:3 [LOST 17 EVENTS]\nCPU:0 [LOST EVENTS]\nnoise\n0: 1,0,1,1!Close|fd=3' >log
	run -2 --separate-stderr tr-parse log
	[ "${lines[2]}" = $'lost\t1\t-\t-\t-\tevents=17\tcpu=3' ]
	[ "${lines[3]}" = $'lost\t2\t-\t-\t-\tcpu=0' ]
	[ "${lines[4]}" = $'raw\t3\t-\t-\t-\ttext="noise"\treason="no line of the tracer\'s"' ]
	[ "${lines[5]}" = $'sys\t4\t1.000000001\t1\tclose\tfd=3\tcpu=0\tflagged=["cut"]' ]
	[[ ${lines[6]} == $'!end\t5\terrors=5\ttruncated=true' ]]
	[[ $stderr == *"log:2: the tracer lost 17 lines"*"log:5: the last line has no end: it may be cut"* ]]
	tr-parse -q log 2>/dev/null | tr-repack -q 2>/dev/null | cmp - <(cat log; echo)
}

@test "absurd numbers allocate nothing" {
	printf '0: 1,0,1,1!New_proc|argsize=4294967295,prognameisize=99999999999999,prognamepsize=1,cwdsize=1\n' >log
	printf '0: 1,0,1,2!A[4000000000]x\n0: 1,0,1,3!Open|fnamesize=99999999999999999999,flags=0\n' >>log
	printf '99999999999999999999,0,1,1!Exit|\n0: 2,0,1,1000000000!Exit|\n0: 3,0,1,2!FN[99999999999999999999]\n' >>log
	run -2 --separate-stderr tr-parse log
	[ "$(grep -c ^raw <<<"$output")" -eq 5 ]
	[ "$(grep -c ^exec <<<"$output")" -eq 1 ]
}

@test "-O reorder puts late lines back" {
	# the lines of a set all have one time, and so no order of their own
	grep -v -e '!UPID' -e '!Env' -e '!Cont_end|0' hello.nfsdb >log
	events log >want
	[ -s want ]
	awk 'NR > 1 && NR % 2 == 0 { held = $0; next } held != "" { print; print held; held = ""; next }
		{ print } END { if (held != "") print held }' log >swapped
	run -2 tr-parse -q swapped
	events -O reorder=4 swapped | cmp - want
	events -O reorder=1000 swapped | cmp - want
	run -2 tr-parse -O reorder=x swapped
}

@test "parts are put together, in any order, compressed, from pipes" {
	tail -n +2 hello.nfsdb | awk -F, '$2 == 0' >part0
	tail -n +2 hello.nfsdb | awk -F, '$2 == 1' >part1
	head -n 1 hello.nfsdb >head
	gzip -k part1
	tr-parse hello.nfsdb >want
	tr-parse head part0 part1 | cmp - want
	tr-parse part1.gz head <(cat part0) | grep -v ^%trec | cmp - <(grep -v ^%trec want)
	events part1 part0 | cmp - <(events hello.nfsdb | grep -v ^meta)
	tr-repack part1 part0 | cmp - <(tail -n +2 hello.nfsdb)
	# what is no part stands for itself
	run -2 --separate-stderr tr-parse -q part0 part1 hello.nfsdb part0 "$data/../build/zlib.kw.json.gz"
	[ "$(grep -c ^%trec <<<"$output")" -eq 4 ]
	run -2 --separate-stderr tr-parse -q -O parts=apart part0 part1
	[ "$(grep -c ^%trec <<<"$output")" -eq 2 ]
	[ "$(tr-parse --list part0 part1 | wc -l)" -eq 2 ]
	tr-repack -o parts.tar part0 part1
	tar -xOf parts.tar part1 | cmp - part1
	tr-parse --lines part0 part1 | tr-repack | cmp - <(cat part0 part1)
	# and in an archive
	: >idle
	tar -cf all.tar head part1 idle part0
	tr-parse all.tar | tail -n +2 | cmp - <(tail -n +2 want)
	[ "$(tr-parse -q -O parts=apart parts.tar | grep -c ^%trec)" -eq 2 ]
}

@test "parts of idle CPUs, and those that begin in the middle" {
	tail -n +2 hello.nfsdb | awk -F, '$2 == 0' >part0
	tail -n +2 hello.nfsdb | awk -F, '$2 == 1' >part1
	: >idle
	tr-parse part0 part1 >want
	tr-parse part0 idle part1 idle | tail -n +2 | cmp - <(tail -n +2 want)
	events idle part0 idle part1 idle | cmp - <(events hello.nfsdb | grep -v ^meta)
	# the environment says CPU 0 wherever it was printed
	grep '^0: 0,' part0 >environment
	grep -v '^0: 0,' part0 >others
	events environment others part1 | cmp - <(events hello.nfsdb | grep -v ^meta)
	# what the buffer lost, or the rest of a line, may stand first
	(echo 'CPU:1 [LOST 12 EVENTS]'; cat part1) >lossy
	(echo '0,7342,117104512!FN|/x'; cat part1) >torn
	for first in lossy torn; do
		run -2 --separate-stderr tr-parse -q part0 $first
		[ "$(grep -c ^%trec <<<"$output")" -eq 1 ]
		[[ ${lines[-1]} == $'!end\t'*$'\terrors=1' ]]
	done
	# two whole logs are no parts, where each shows more than one CPU
	tail -n +2 hello.nfsdb >one
	sed -E 's/^0: ([1-9][0-9]*),([01]),/0: \1,1\2,/' one >other
	run -0 tr-parse one other
	[ "$(grep -c ^%trec <<<"$output")" -eq 2 ]
}

@test "a part that is missing, cut or damaged does not take the others along" {
	tail -n +2 hello.nfsdb | awk -F, '$2 == 0' >part0
	tail -n +2 hello.nfsdb | awk -F, '$2 == 1' | head -c 300000 >part1
	run -2 --separate-stderr tr-parse -q part0 nothing part1
	[[ $stderr == *"nothing: cannot open"* ]]
	run -2 --separate-stderr tr-parse -q part0 part1
	[[ $stderr == *"the last line of a part has no end"* ]]
	[ "$(grep -c $'^sys.*\topen\t' <<<"$output")" -gt 1700 ]
	gzip -c part1 | head -c 20000 >part1.gz
	run -2 --separate-stderr tr-parse -q part0 part1.gz
	[[ ${lines[-1]} == *truncated=true* ]]
}

@test "files beside a log are named" {
	printf '##---------- CPU 0 ---------- ##\nentries: 0\ndropped events: 0\n' >.nfsdb.stats
	printf '[    0.000000] Linux version 6.1\n[ 1234.567890] etrace: loaded\n' >.nfsdb.klog
	run -0 tr-parse --identify .nfsdb.stats .nfsdb.klog
	[[ ${lines[0]} == ".nfsdb.stats: etracestats (ring buffer statistics"* ]]
	[[ ${lines[1]} == ".nfsdb.klog: etraceklog (kernel log"* ]]
	run -2 tr-parse .nfsdb.stats
}

@test "-O pid-bits adds the process id" {
	tr-filter --fields=task,pid -O pid-bits=22 'exec and name $= "/make"' hello.nfsdb | head -n 1 |
		diff - <(printf '8416172\t27564\n')
	run -2 tr-parse -O pid-bits=33 hello.nfsdb
	# a child that the tracer had no number for has all bits of it set
	printf '0: 1,0,1,1!SchedFork|pid=9223372032559808519\n' >log
	run -0 --separate-stderr tr-parse log
	run -2 --separate-stderr tr-parse -O pid-bits=32 log
	[[ $output == *'flagged=["invalid-child"]'* ]]
}

@test "to a build trace, with parents that are events" {
	run -0 --separate-stderr tr-repack -q -t klocwork -o hello.json hello.nfsdb
	[ -z "$stderr" ]
	run -0 --separate-stderr tr-parse hello.json
	[ -z "$stderr" ]
	[[ $output == *$'\nexec\t'* ]]
	diff <(tr-parse hello.nfsdb | grep ^exec | cut -f4,5) <(grep ^exec <<<"$output" | cut -f4,5)
}

@test "from a build trace: an INITCWD and times are supplied, and said" {
	gzip -dc "$top_srcdir/tests/data/build/zlib.kw.json.gz" >zlib.json
	run -0 --separate-stderr tr-repack -t etrace -o zlib.nfsdb zlib.json
	[[ $stderr == *"INITCWD was not in the stream: supplied"*"without a time"* ]]
	head -n 1 zlib.nfsdb | diff - <(echo INITCWD=/srv/build/zlib)
	diff <(tr-filter --fields=task,name,cwd,argv exec zlib.json) \
		<(tr-filter -q --fields=task,name,cwd,argv exec zlib.nfsdb)
	# whose child each is, though the trace tells of no forks
	diff <(tr-filter --fields=task,ppid 'exec and ppid != -1' zlib.json) \
		<(tr-filter -q --fields=task,ppid 'exec and has(ppid)' zlib.nfsdb)
}

@test "descriptors that say what they are" {
	cat >y.strace <<-'END'
		10 1.0 execve("/bin/a", ["a"], ["A=b"]) = 0
		10 1.1 close(3</etc/passwd>) = 0
		10 1.2 open("/x", O_RDONLY) = 4</x>
		10 1.3 pipe([5<pipe:[7]>, 6<pipe:[7]>]) = 0
		10 1.4 close(9</x>(deleted)) = 0
	END
	tr-parse -f strace -O cwd=/ y.strace | sed 's/sys\t3.*/&\tflags=none/' | tr-repack -q -t etrace >log
	grep -F '!Close|fd=3' log
	grep -E '!Open\|.*,fd=4$' log
	grep -F '!Pipe|fd1=5,fd2=6,flags=0' log
}

@test "children of clone3 are children" {
	cat >cl3.strace <<-'END'
		10 1.0 execve("/bin/a", ["a"], ["A=b"]) = 0
		10 1.1 clone3({flags=CLONE_VM|CLONE_VFORK|CLONE_CLEAR_SIGHAND, exit_signal=SIGCHLD}, 88) = 11
		11 1.2 execve("/bin/b", ["b"], ["A=b"]) = 0
	END
	run -0 --separate-stderr tr-repack -q -f strace -t etrace -O cwd=/ -o log cl3.strace
	grep -Fx '0: 10,0,2,100000000!SchedFork|pid=11' log
	run ! grep -F SysClone log
	[ "$(tr-filter -q --fields=ppid 'name == "/bin/b"' log)" = 10 ]
}
