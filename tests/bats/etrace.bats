#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# System call logs through the tools; tests/unit/format/test_etrace.c has the damage.

bats_require_minimum_version 1.5.0

setup() {
	data=$top_srcdir/tests/data/etrace
	cd "$BATS_TEST_TMPDIR" || return 1
	gzip -dc "$data/hello.nfsdb.gz" >hello.nfsdb
}

# Prints records without the fields that depend on their order: seq, and the seq of the parent.
events() {
	tr-parse -q "$@" | grep -v -e '^%trec' -e '^!end' | sed -E 's/\tparent=[0-9]+//' |
		cut -f1,3- | LC_ALL=C sort
}

@test "every execution equals the kernel's data" {
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

@test "every event is read" {
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

@test "--lines: options that apply to events are refused" {
	for option in reorder=3 pid-bits=22; do
		run -2 --separate-stderr tr-parse --lines -O $option hello.nfsdb
		[ "$stderr" = "tr-parse: hello.nfsdb: -O reorder and -O pid-bits apply to events: they cannot be combined with --lines" ]
	done
}

@test "written logs give the same events" {
	tr-parse hello.nfsdb >hello.trec
	[ -s hello.trec ]
	tr-repack hello.trec >again.nfsdb
	tr-parse again.nfsdb | cmp - hello.trec
	tr-repack again.nfsdb -O pid-bits=22 | cmp - again.nfsdb
	for f in "$data"/*.nfsdb; do
		[ "$f" != "$data/small.nfsdb" ] || continue # two tasks at a time have no order
		tr-parse -q "$f" 2>/dev/null >one || :
		# where lines are 1 ns apart, times are raised
		tr-repack -q one 2>/dev/null | tr-parse -q 2>/dev/null | cut -f 1,2,4- |
			cmp - <(cut -f 1,2,4- one)
	done
}

# CAS sorts the lines of a task by time, with a sort that may exchange equal ones.
increasing() {
	awk -F'[,!]' '/^0: [0-9]+,[0-9]+,[0-9]+,[0-9]+!/ {
		if ($4 > 999999999) { print "no nanoseconds: " $0; bad = 1 }
		if ($1 in sec && (sec[$1] > $3 || (sec[$1] == $3 && nsec[$1] >= $4))) {
			print FILENAME ": not after the line before: " $0; bad = 1
		}
		sec[$1] = $3; nsec[$1] = $4; lines++
	} END { exit bad || !lines }' "$@"
}

@test "the times of a task's lines increase, whatever they were written from" {
	increasing <(tr-parse hello.nfsdb | tr-repack)
	for f in "$data"/*.nfsdb "$data/../build"/*.gz "$data/../strace"/*.strace \
		"$data/../klocwork"/good*; do
		[ -f "$f" ] && tr-filter -q 'exec' "$f" 2>/dev/null | grep -q ^exec || continue
		tr-parse -q "$f" 2>/dev/null | tr-repack -q -t etrace -o log 2>/dev/null || [ -s log ]
		increasing log || { echo "$f"; false; }
		echo "$f" >>written
	done
	[ "$(wc -l <written)" -gt 10 ]
	# equal, absent, and backward times, one of them at the end of a second
	tr-parse hello.nfsdb >hello.trec
	for change in '$3 = "7.999999998"' '$3 = "-"' '$3 = 100000 - NR' 'if (NR % 3) $3 = "-"' \
		'if (NR % 2) $3 = "7.5"'; do
		awk -F'\t' -v OFS='\t' "/^[a-z]/ && \$4 != \"-\" { $change } 1" hello.trec >edited.trec
		run -0 --separate-stderr tr-repack -o log edited.trec
		increasing log
		diff <(cut -f 1,2,4- edited.trec | grep -v ^!end) \
			<(tr-parse -q log | cut -f 1,2,4- | grep -v ^!end)
	done
	# two logs in one, and a number that is used again
	increasing <(cat hello.trec hello.trec | tr-repack -q)
	# lines that are kept as they are state a time too
	printf 'INITCWD=/\n0: 1,0,5,7!Close|fd=3\n0: 1,0,5,7!Foo|\n0: 1,0,5,6!FN|x\n' >odd
	increasing <(tr-parse -q odd | tr-repack -q)
}

@test "times that the log has to change are reported" {
	printf 'sys\t0\t5.0\t1\tclose\tfd=3\nsys\t1\t4.9\t1\tclose\tfd=4\nsys\t2\t4\t1\tclose\tfd=5\n' >back
	run -0 --separate-stderr tr-repack -t etrace back
	[ "${lines[2]}" = '0: 1,0,5,1!Close|fd=4' ]
	[ "$(grep -c 'back:2: .*increasing times' <<<"$stderr")" -eq 1 ]
	# the nanoseconds that add up in lines of the same time are not such a change
	printf 'exec\t0\t5.0\t1\t/a\tcwd="/"\targv=["a"]\nsys\t1\t5.0\t1\tclose\tfd=4\n' >equal
	run -0 --separate-stderr tr-repack -t etrace equal
	[[ $stderr != *increasing* ]]
	[ "${lines[-1]}" = '0: 1,0,5,6!Close|fd=4' ]
	# no time could be after it
	printf 'sys\t0\t18446744073709551615.0\t1\tclose\tfd=3\n' >late
	run -2 --separate-stderr tr-repack -t etrace late
	[[ $stderr == *"late:1: time: too late for a log"* ]]
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

@test "lost lines, noise and a truncated last line are reported" {
	printf 'INITCWD=/w\nCPU:3 [LOST 17 EVENTS]\nCPU:0 [LOST EVENTS]\nnoise\n0: 1,0,1,1!Close|fd=3' >log
	run -2 --separate-stderr tr-parse log
	[ "${lines[2]}" = $'lost\t1\t-\t-\t-\tevents=17\tcpu=3' ]
	[ "${lines[3]}" = $'lost\t2\t-\t-\t-\tcpu=0' ]
	[ "${lines[4]}" = $'raw\t3\t-\t-\t-\ttext="noise"\treason="not a line of the tracer"' ]
	[ "${lines[5]}" = $'sys\t4\t1.000000001\t1\tclose\tfd=3\tcpu=0\tflagged=["cut"]' ]
	[[ ${lines[6]} == $'!end\t5\terrors=5\ttruncated=true' ]]
	[[ $stderr == *"log:2: the tracer lost 17 lines"*"log:5: the last line has no newline: it may be truncated"* ]]
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

@test "parts are merged, in any order, compressed, from pipes" {
	tail -n +2 hello.nfsdb | awk -F, '$2 == 0' >part0
	tail -n +2 hello.nfsdb | awk -F, '$2 == 1' >part1
	head -n 1 hello.nfsdb >head
	gzip -k part1
	tr-parse hello.nfsdb >want
	tr-parse head part0 part1 | cmp - want
	tr-parse part1.gz head <(cat part0) | grep -v ^%trec | cmp - <(grep -v ^%trec want)
	events part1 part0 | cmp - <(events hello.nfsdb | grep -v ^meta)
	tr-repack part1 part0 | cmp - <(tail -n +2 hello.nfsdb)
	# a file that is not a part is read separately
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
	# lines of the environment have CPU 0, regardless of where they were printed
	grep '^0: 0,' part0 >environment
	grep -v '^0: 0,' part0 >others
	events environment others part1 | cmp - <(events hello.nfsdb | grep -v ^meta)
	# losses of the buffer, or the rest of a line, can come first
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
	[[ $stderr == *"the last line of a part has no newline"* ]]
	[ "$(grep -c $'^sys.*\topen\t' <<<"$output")" -gt 1700 ]
	gzip -c part1 | head -c 20000 >part1.gz
	run -2 --separate-stderr tr-parse -q part0 part1.gz
	[[ ${lines[-1]} == *truncated=true* ]]
}

@test "files that accompany a log are recognised" {
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

@test "from a build trace: an INITCWD and times are added and reported" {
	gzip -dc "$top_srcdir/tests/data/build/zlib.kw.json.gz" >zlib.json
	run -0 --separate-stderr tr-repack -t etrace -o zlib.nfsdb zlib.json
	[[ $stderr == *"the stream has no INITCWD: added"*"without a time"* ]]
	head -n 1 zlib.nfsdb | diff - <(echo INITCWD=/srv/build/zlib)
	diff <(tr-filter --fields=task,name,cwd,argv exec zlib.json) \
		<(tr-filter -q --fields=task,name,cwd,argv exec zlib.nfsdb)
	# the parent of each, although the trace has no forks
	diff <(tr-filter --fields=task,ppid 'exec and ppid != -1' zlib.json) \
		<(tr-filter -q --fields=task,ppid 'exec and has(ppid)' zlib.nfsdb)
}

@test "descriptors that strace prints with paths are numbers" {
	cat >y.strace <<-'END'
		10 1.0 execve("/bin/a", ["a"], ["A=b"]) = 0
		10 1.1 close(3</etc/passwd>) = 0
		10 1.2 open("/x", O_RDONLY) = 4</x>
		10 1.3 pipe([5<pipe:[7]>, 6<pipe:[7]>]) = 0
		10 1.4 close(9</x>(deleted)) = 0
	END
	tr-parse -f strace -O cwd=/ y.strace | tr-repack -q -t etrace >log
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

# Every call that a log has an event for, as strace -y prints it.
file_calls() {
	cat <<-'END'
		10 1.000001 execve("/bin/a", ["a"], []) = 0
		10 1.000002 openat(AT_FDCWD</w>, "sub", O_RDONLY|O_DIRECTORY) = 3</w/sub>
		10 1.000003 openat2(3</w/sub>, "o", {flags=O_RDWR|O_CREAT, mode=0600, resolve=0}, 24) = 4</w/sub/o>
		10 1.000004 creat("c", 0644) = 5</w/c>
		10 1.000005 pipe2([6<pipe:[1]>, 7<pipe:[1]>], O_CLOEXEC) = 0
		10 1.000006 dup(4</w/sub/o>) = 8</w/sub/o>
		10 1.000007 dup2(4</w/sub/o>, 20) = 20</w/sub/o>
		10 1.000008 dup3(4</w/sub/o>, 21, O_CLOEXEC) = 21</w/sub/o>
		10 1.000009 fcntl(4</w/sub/o>, F_DUPFD, 30) = 30</w/sub/o>
		10 1.000010 fcntl(4</w/sub/o>, F_DUPFD_CLOEXEC, 30) = 31</w/sub/o>
		10 1.000011 fcntl(4</w/sub/o>, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)
		10 1.000012 rename("c", "./d") = 0
		10 1.000013 renameat(3</w/sub>, "../d", AT_FDCWD</w>, "e") = 0
		10 1.000014 renameat2(AT_FDCWD</w>, "e", 3</w/sub>, "e", RENAME_NOREPLACE) = 0
		10 1.000015 rename("none", "other") = -1 ENOENT (No such file or directory)
		10 1.000016 link("sub/e", "f") = 0
		10 1.000017 linkat(3</w/sub>, "e", AT_FDCWD</w>, "g", AT_SYMLINK_FOLLOW) = 0
		10 1.000018 symlink("f", "s") = 0
		10 1.000019 symlinkat("../f", 3</w/sub>, "s") = 0
		10 1.000020 openat(3</w/sub>, "../sub/./s", O_RDONLY) = 9</w/f>
		10 1.000021 open("nothing", O_RDONLY) = -1 ENOENT (No such file or directory)
		10 1.000022 close_range(20, 4294967295, 0) = 0
		10 1.000023 close_range(4, 9, CLOSE_RANGE_CLOEXEC) = 0
		10 1.000024 chdir("sub") = 0
		10 1.000025 open("../x", O_WRONLY|O_CREAT, 0666) = 10</w/x>
	END
}

file_events() {
	cat <<-'END'
		open	path="/w/sub"	flags=O_RDONLY|O_DIRECTORY	->	return=3
		open	path="/w/sub/o"	flags=O_RDWR|O_CREAT	mode=384	->	return=4
		open	path="/w/c"	flags=O_WRONLY|O_CREAT|O_TRUNC	mode=420	->	return=5
		pipe	fds=[6,7]	flags=O_CLOEXEC
		dup	oldfd=4	newfd=8	flags=none
		dup	oldfd=4	newfd=20	flags=none
		dup	oldfd=4	newfd=21	flags=O_CLOEXEC
		dup	oldfd=4	newfd=30	flags=none
		dup	oldfd=4	newfd=31	flags=O_CLOEXEC
		rename	from="/w/c"	to="/w/d"
		rename	from="/w/d"	to="/w/e"
		rename	from="/w/e"	to="/w/sub/e"	flags=RENAME_NOREPLACE
		rename	from="/w/none"	->	failed=true
		link	from="/w/sub/e"	to="/w/f"
		link	from="/w/sub/e"	to="/w/g"	flags=AT_SYMLINK_FOLLOW
		symlink	target="f"	link="/w/s"
		symlink	target="../f"	link="/w/sub/s"
		open	path="/w/f"	orig="/w/sub/../sub/./s"	flags=O_RDONLY	->	return=9
		close	fd=20
		close	fd=21
		close	fd=30
		close	fd=31
		open	path="/w/x"	orig="/w/sub/../x"	flags=O_WRONLY|O_CREAT	mode=438	->	return=10
	END
}

# Prints the calls of a log as records without the fields that all have.
calls() {
	tr-parse -q "$@" | sed -n 's/\tcpu=0//; s/^sys\t[^\t]*\t[^\t]*\t[^\t]*\t//p'
}

@test "from strace: every call on files and descriptors is the event that the tracer prints" {
	file_calls >y.strace
	run -0 --separate-stderr tr-repack -q -t etrace -O cwd=/w -o log y.strace
	file_events | diff - <(calls log)
	# without -y the directories are followed, and a symbolic link is not known
	sed -E 's/<[^>]*>//g; s/(\] *|[0-9])>/\1/g' y.strace >plain.strace
	run ! grep -q '<' plain.strace
	tr-repack -q -t etrace -O cwd=/w -o log plain.strace
	file_events | sed 's|"/w/f"\torig=|"/w/sub/s"\torig=|' | diff - <(calls log)
	# raw numbers
	cat >raw.strace <<-'END'
		10 1.000001 execve("/bin/a", ["a"], []) = 0
		10 1.000002 openat(-100, "x", 0x80241, 0666) = 3
		10 1.000003 fcntl(3, 0x406, 0) = 4
		10 1.000004 close_range(3, 3, 0x4) = 0
	END
	tr-repack -q -t etrace -O cwd=/w -o log raw.strace
	diff - <(calls log) <<-'END'
		open	path="/w/x"	flags=O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC	mode=438	->	return=3
		dup	oldfd=3	newfd=4	flags=O_CLOEXEC
	END
}

@test "from strace: what is left out is reported with the reason" {
	{ file_calls && echo '10 2.0 +++ killed by SIGKILL +++'; } >y.strace
	run -0 --separate-stderr tr-repack --verbose -t etrace -O cwd=/w -o log y.strace
	for text in 'sys chdir records: 1 left out (its only calls are open, ' \
		'sys open records: 1 left out (only calls that succeeded have events)' \
		'sys fcntl records: 1 left out (only fcntl commands that copy a descriptor have events)' \
		'the field env of exec records: left out 1 times (its variables belong to no program)' \
		'the field signal of exit records: left out 1 times (it states the status 0 instead)'; do
		[[ $stderr == *"y.strace: note: etrace cannot hold $text"* ]]
	done
	[ "$(grep -c 'etrace cannot hold' <<<"$stderr")" -eq 5 ]
	# a log loses nothing of a log
	tr-parse log | tr-repack --verbose -o again 2>errors
	[ ! -s errors ]
}

@test "from strace: children, threads and programs have the directory and descriptors that they have" {
	cat >two.strace <<-'END'
		10 1.000001 execve("/bin/a", ["a"], []) = 0
		10 1.000002 openat(AT_FDCWD, "sub", O_RDONLY|O_CLOEXEC) = 3
		10 1.000003 open("keep", O_RDONLY) = 4
		10 1.000004 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 11
		11 1.000005 fchdir(3) = 0
		11 1.000006 creat("made", 0600) = 5
		10 1.000007 open("here", O_RDONLY) = 5
		11 1.000008 execve("/bin/b", ["b"], []) = 0
		11 1.000009 close_range(3, 4294967295, 0) = 0
		10 1.000010 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 12
		12 1.000011 chdir("/v") = 0
		12 1.000012 close(5) = 0
		10 1.000013 open("there", O_RDONLY) = 5
		10 1.000014 close_range(5, 9, 0) = 0
		10 1.000015 open("kept", O_RDONLY|O_CLOEXEC) = 6
		10 1.000016 open("gone", O_RDONLY) = 7
		10 1.000017 fcntl(6, F_SETFD, 0) = 0
		10 1.000018 fcntl(7, F_SETFD, FD_CLOEXEC) = 0
		10 1.000019 execve("/bin/c", ["c"], []) = 0
		10 1.000020 close_range(5, 9, 0) = 0
		99 1.000015 open("lost", O_RDONLY) = 3
	END
	run -0 --separate-stderr tr-repack -t etrace -O cwd=/w -o log two.strace
	[[ $stderr == *"two.strace:21: "*"directory of a relative path is unknown"* ]]
	calls log | sed -n 's/.*\(path="[^"]*"\|close\tfd=.*\).*/\1/p' | tr '\n\t' '  ' >got
	[ "$(<got)" = 'path="/w/sub" path="/w/keep" path="/w/sub/made" path="/w/here" close fd=4 close fd=5 close fd=5 path="/v/there" close fd=5 path="/v/kept" path="/v/gone" close fd=6 path="lost" ' ]
}

@test "a recording of every kind of call has as many events as calls" {
	command -v strace >/dev/null || skip "strace is not installed"
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace cannot trace here"
	mkdir dir
	timeout 60 strace -f -y -v -ttt -s 4096 -o rec.strace sh -c '
		cd dir; echo a >a; cat <a | cat >b; mv a c; ln c d; ln -s c e; (cd ..; cat dir/b >f); exec 5<c 5<&-'
	tr-repack -q -t etrace -o log rec.strace
	tr-parse -q rec.strace >rec.trec
	for pair in open:open,openat,creat close:close pipe:pipe,pipe2 symlink:symlink,symlinkat; do
		names=${pair#*:}
		made=$(tr-filter -q --count "name in {\"${names//,/\",\"}\"} and not has(error)" rec.trec)
		[ "$made" -gt 0 ]
		[ "$made" -eq "$(grep -c -i "!${pair%:*}|" log)" ]
	done
	grep -F "FN|$PWD/dir/c" log
	grep -F "SL|$PWD/dir/e" log
	grep -F "FN|$PWD/f" log
	run ! grep -E '!(FN|FO|RF|RT|LF|LT|SL)\|[^/]' log
}

@test "from strace: parents are the same, even if a fork is printed late" {
	cat >late.strace <<-'END'
		10 1700000000.000000 execve("/bin/make", ["make"], []) = 0
		10 1700000000.000100 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
		11 1700000000.000200 execve("/bin/sh", ["sh"], []) = 0
		11 1700000000.000210 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
		12 1700000000.000220 execve("/bin/cc", ["cc"], []) = 0
		12 1700000000.000230 open("/a", O_RDONLY) = 3
		12 1700000000.000300 +++ exited with 0 +++
		11 1700000000.000310 <... clone resumed>) = 12
		11 1700000000.000400 +++ exited with 3 +++
		10 1700000000.000500 <... clone resumed>) = 11
		10 1700000000.003000 +++ exited with 0 +++
	END
	# files.strace.gz is left out: its arguments were cut by strace, so its programs have no event
	for f in late.strace "$data/../build"/{mc,zlib}.strace.gz; do
		tr-repack -q -t etrace -O cwd=/ -o log "$f"
		increasing log
		tr-filter -q --fields=task,ppid,name,argv exec "$f" | LC_ALL=C sort >want
		tr-filter -q --fields=task,ppid,name,argv exec log | LC_ALL=C sort | diff want -
		# a child's program comes after its fork, whether that was printed or not
		[ "$(tr-parse -q log | grep -c 'flagged=\["orphan"\]')" -eq "$(cut -f2 want | grep -cx -e -)" ]
	done
}
