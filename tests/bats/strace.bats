#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Logs of strace through the tools; tests/unit/format/test_strace.c has the odd lines.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for f in zlib mc; do
		zcat "$top_srcdir/tests/data/build/$f.strace.gz" >$f.strace
	done
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >zlib.json
}

# executions FILE: prints program, directory, arguments and parent program of every execution
executions() {
	tr-parse -q "$1" | awk -F'\t' '$1 == "exec" {
		parent = cwd = argv = "-"
		for (i = 6; i <= NF; i++) {
			if ($i ~ /^parent=/) parent = did[substr($i, 8)]
			if ($i ~ /^cwd=/) cwd = $i
			if ($i ~ /^argv=/) argv = $i
		}
		did[$2] = $5 " " argv
		print $5, cwd, argv, "of", parent
	}' | sort
}

@test "a real build: every execution, as the Klocwork trace of the same run has them" {
	[ "$(tr-parse zlib.strace | grep -c ^exec)" -eq 176 ]
	diff <(executions zlib.strace) <(executions zlib.json)
	[ "$(tr-filter -c raw zlib.strace || :)" -eq 0 ]
	tr-parse zlib.strace >out
	run ! grep -q flagged= out
}

@test "environments are those of the Klocwork trace" {
	command -v jq >/dev/null || skip "jq is not installed"
	# ids and the order of variables differ: only the visible environments matter
	environments() {
		jq -cn 'reduce inputs as $o ({};
			if $o.env then .top = $o.env
			elif $o.id then (.of[($o.parent_id | tostring)] // .top // {}) as $base
				| ($base + ($o["env-diff"] // {}) | with_entries(select(.value != null))) as $env
				| .of[($o.id | tostring)] = $env | .list += [[$o.args, $env]]
			else . end) | .list[]' "$1" | jq -cS . | sort
	}
	tr-repack -q -t klocwork -o ours.json zlib.strace
	diff <(environments zlib.json) <(environments ours.json)
	# they are whole, so the first one is empty, and all of them are known
	[ "$(sed -n 3p ours.json)" = '{"env":{}}' ]
	run -0 --separate-stderr tr-envdiff --base=none ours.json
	[ -z "$stderr" ]
	# but for those that the log does not show
	printf '10 execve("/bin/%s", ["a"], %s) = 0\n' a '["A=1"]' b '0x7ffd0 /* 9 vars */' >untold
	run -0 --separate-stderr tr-repack -t klocwork untold
	[ "$(sed -n 3p <<<"$output")" = '{"env":{}}' ]
	[[ $stderr == *'with an unknown environment'* ]]
}

@test "one program, all options of strace: the same executions" {
	local execs=$top_srcdir/tests/data/strace/execs
	for log in "$execs"/*.strace.gz; do
		echo "$log"
		"$top_srcdir/tests/helper/strace_happened" "$log" | diff - "$execs/truth"
		tr-parse "$log" >log.trec
		run ! grep -q $'flagged=\\|^raw\t' log.trec
	done
}

@test "-ff: the files of all processes are one log" {
	local execs=$top_srcdir/tests/data/strace/execs
	tar -xzf "$execs/ff.tar.gz"
	tar -xzf "$execs/ffplain.tar.gz"
	"$top_srcdir/tests/helper/strace_happened" ff.* | diff - "$execs/truth"
	tr-parse ff.* >all.trec
	[ "$(grep -c ^%trec all.trec)" -eq 1 ]
	run ! grep -q $'flagged=\\|^raw\t' all.trec
	# whatever order they are named in, and compressed
	local files=(ff.*)
	tr-parse "${files[@]:10}" "${files[@]:0:10}" | cmp - all.trec
	# without times, the records of a child come where it is created
	"$top_srcdir/tests/helper/strace_happened" ffplain.* | diff - "$execs/truth"
	# one file alone has the number from its name
	[ "$(tr-parse "${files[0]}" | cut -f4 | sed -n 2p)" = "${files[0]#ff.}" ]
	[ "$(tr-parse --identify "${files[@]:0:2}" | wc -l)" -eq 2 ]
	# a part that does nothing but make processes is a part
	printf 'clone(child_stack=NULL, flags=SIGCHLD) = %d\n' 12 13 14 15 16 17 18 19 >log.11
	printf 'execve("/bin/true", ["true"], ["A=1"]) = 0\n' >log.12
	tr-parse log.11 log.12 | grep -c 'ppid=11'
}

@test "-ff: members of an archive are one log, too" {
	local execs=$top_srcdir/tests/data/strace/execs
	tar -xzf "$execs/ff.tar.gz"
	tar -xzf "$execs/ffplain.tar.gz"
	"$top_srcdir/tests/helper/strace_happened" "$execs/ff.tar.gz" | diff - "$execs/truth"
	"$top_srcdir/tests/helper/strace_happened" "$execs/ffplain.tar.gz" | diff - "$execs/truth"
	tr-parse "$execs/ff.tar.gz" | tail -n +2 | cmp - <(tr-parse ff.* | tail -n +2)
	# other members around them, an empty one, and two with the same number
	: >ff.1
	echo other >other
	tar -cf mixed.tar other ff.* mc.strace ffplain.* zlib.strace
	tr-parse -q mixed.tar >mixed.trec
	[ "$(grep '^%trec' mixed.trec | cut -f4 | sed 's/[0-9]*"$//' | tr '\n' ' ')" = \
		'member="ff. member="mc.strace member="ffplain. member="zlib.strace ' ]
	local happened=$top_srcdir/tests/helper/strace_happened
	diff <("$happened" mixed.trec) <({
		"$happened" ff.*
		"$happened" mc.strace
		"$happened" ffplain.*
		"$happened" zlib.strace
	} | LC_ALL=C sort)
	[ "$(tr-parse -q --member='ff.*' mixed.tar | grep -c ^exec)" -eq "$(wc -l <"$execs/truth")" ]
	# the member in which the archive is truncated is reported, and those before it are read
	head -c 20000 mixed.tar >cut.tar
	run -2 --separate-stderr tr-parse -o cut.trec cut.tar
	[[ $stderr == *Truncated* ]]
	tail -n 1 cut.trec | grep -q truncated=true
	tar -cf first.tar $(tar -tf cut.tar 2>/dev/null | grep ^ff | head -n -1)
	[ "$(tr-parse -q first.tar | grep -c ^exec)" -le "$(grep -c ^exec cut.trec)" ]
	# each for itself where they stay members
	tr-repack -q -t trec -o apart.tar "$execs/ff.tar.gz"
	[ "$(tar -tf apart.tar | wc -l)" -eq "$(tar -tzf "$execs/ff.tar.gz" | wc -l)" ]
}

@test "-ff: times of day over midnight" {
	printf '%s\n' '23:59:58 execve("/a", ["a"], ["A=1"]) = 0' \
		'23:59:59 clone(child_stack=NULL, flags=SIGCHLD) = 11' \
		'23:59:59.7 clone(child_stack=NULL, flags=SIGCHLD) = 12' '00:00:05 chdir("/z") = 0' >log.10
	printf '%s\n' '23:59:59.5 execve("/b", ["b"], ["A=1"]) = 0' '00:00:02 chdir("/r") = 0' >log.11
	# it has no records before midnight
	printf '%s\n' '00:00:01 execve("/c", ["c"], ["A=1"]) = 0' '00:00:03 chdir("/q") = 0' >log.12
	tr-parse log.1? | grep -v '^[%!]' | cut -f3-5 >got
	printf '%s\t%s\t%s\n' 86398 10 /a 86399 10 - 86399.5 11 /b 86399.7 10 - 86401 12 /c \
		86402 11 chdir 86403 12 chdir 86405 10 chdir | diff - got
	# a morning and an evening of one day are no night
	echo '09:00:00 execve("/c", ["c"], ["A=1"]) = 0' >log.12
	[ "$(tr-filter -q --fields=time,task exec log.1? | head -n 1)" = $'32400\t12' ]
}

@test "-ff: an exec in a thread, and what its leader did meanwhile" {
	local execs="--fields=task,name,cwd,flagged exec"
	made='clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD}, 88) = 11'
	taken=$'+++ superseded by execve in pid 11 +++\n<... execve resumed>) = 0\n+++ exited with 0 +++'
	printf '%s\n' 'chdir("sub") = 0' 'execve("./tool", ["tool"], ["A=1"] <pid changed to 10 ...>' >log.11
	leader() { printf '%s\n' 'execve("/bin/a", ["a"], ["A=1"]) = 0' 'getcwd("/w", 4096) = 3' "$@" "$taken" >log.10; }
	# without times: all records of the thread come before that
	leader "$made" 'getcwd("/w", 4096) = 3' 'openat(AT_FDCWD, "x", O_RDONLY) = 3'
	tr-filter $execs log.10 log.11 >got
	printf '10\t/bin/a\t"/w"\t-\n10\t/w/sub/tool\t"/w/sub"\t-\n' | diff - got
	# the call that made it never came back
	leader "${made% *} ?"
	[ "$(tr-filter $execs log.10 log.11 | tail -n 1)" = $'10\t/w/sub/tool\t"/w/sub"\t-' ]
	# whose chdir was first is not known
	leader "$made" 'chdir("/opt") = 0'
	[ "$(tr-filter $execs log.10 log.11 | tail -n 1)" = $'10\t/w/sub/tool\t"/w/sub"\t["cwd-guessed"]' ]
	# its descriptor is the thread's, whatever the leader did with the number
	printf '%s\n' 'openat(AT_FDCWD, "/opt", O_RDONLY) = 3' \
		'execveat(3, "tool", ["tool"], ["A=1"], 0 <pid changed to 10 ...>' >log.11
	taken=${taken/execve resumed/execveat resumed} leader "$made" 'close(3) = 0'
	[ "$(tr-filter $execs log.10 log.11 | tail -n 1)" = $'10\t/opt/tool\t"/w"\t-' ]
	printf '%s\n' 'chdir("sub") = 0' 'execve("./tool", ["tool"], ["A=1"] <pid changed to 10 ...>' >log.11
	# all within one second
	leader "$made" 'getcwd("/w", 4096) = 3'
	sed -i 's/^/17:00:00 /' log.10 log.11
	tr-filter $execs log.10 log.11 >got
	printf '10\t/bin/a\t"/w"\t-\n10\t/w/sub/tool\t"/w/sub"\t-\n' | diff - got
}

@test "angle brackets that are never closed take linear time" {
	{
		printf '1 f('
		for _ in {1..100}; do
			printf '<a%.0s' {1..5000}
			printf -- '->'
		done
		echo ', 3) = 0'
	} >angles.strace
	[ "$(timeout 10 tr-parse -f strace angles.strace | grep -c $'\ta1=3\t')" -eq 1 ]
}

@test "flags of a call take linear time" {
	{
		printf '1 unshare('
		printf 'A|%.0s' {1..200000}
		echo 'CLONE_FS) = 0'
	} >flags.strace
	[ "$(timeout 10 tr-parse -f strace flags.strace | grep -c '|CLONE_FS"*'$'\t->\t')" -eq 1 ]
}

@test "-ff: more files than may be open" {
	mkdir many
	for i in {1001..1300}; do
		printf '17000%s.0 execve("/b", ["b"], ["A=1"]) = 0\n17000%s.5 +++ exited with 0 +++\n' "${i}0" "${i}0" >"many/log.$i"
	done
	{
		echo '1600000000.0 execve("/a", ["a"], ["PWD=/w"]) = 0'
		for i in {1001..1300}; do echo "1600000000.$i vfork() = $i"; done
	} >many/log.1000
	(
		ulimit -n 100
		tr-parse many/log.* >all.trec
	)
	[ "$(grep -c 'parent=0' all.trec)" -eq 300 ]
}

@test "both forms of one run give one compilation database" {
	tr-repack -q -t compdb zlib.strace >ours.json
	tr-repack -q -t compdb zlib.json | diff - ours.json
	[ "$(grep -c '"file"' ours.json)" -eq 34 ]
}

@test "a log without process numbers of children is flagged" {
	run -0 --separate-stderr tr-parse mc.strace
	[ "$(grep -c ^exec <<<"$output")" -eq 13 ]
	[[ $stderr == *'parent is not in the trace (flagged "orphan"): 2' ]]
	# the children of the shell in sub/ have it from their PWD
	[ "$(tr-filter --fields=cwd 'exec and argv[0] == "gcc"' mc.strace | sort -u)" = '"/srv/lab/build/mc/sub"' ]
}

@test "the first line identifies a log: in a file, from a pipe, compressed" {
	[ "$(tr-parse --identify zlib.strace)" = "zlib.strace: strace" ]
	[ "$(head -n 1 zlib.strace | tr-parse --identify)" = "stdin: strace" ]
	tr-parse "$top_srcdir/tests/data/build/zlib.strace.gz" | tail -n +2 | cmp - <(tr-parse zlib.strace | tail -n +2)
	cat zlib.strace | tr-parse | cmp - <(tr-parse zlib.strace)
}

@test "records are returned without waiting for more input" {
	{ cat zlib.strace; sleep 3; } | tr-parse | { timeout 2 grep -c -m 170 ^exec; } >count
	[ "$(cat count)" -eq 170 ]
}

@test "lines of other programs are kept, reported, and reported again at the end of the pipeline" {
	{ head -n 20 zlib.strace; echo 'make: *** [x] Error 1'; tail -n +21 zlib.strace; } >bad.strace
	run -2 --separate-stderr tr-parse -o bad.trec bad.strace
	[ "$stderr" = "tr-parse: bad.strace:21: not a line of strace: kept as a raw record" ]
	diff <(executions bad.strace) <(executions zlib.json)
	run -2 --separate-stderr tr-filter -q -c exec bad.trec
	[ "$output" = 176 ]
	run -2 tr-parse --strict bad.strace
}

@test "-O cwd is a directory, which may be relative to the working directory" {
	echo '1 execve("./a", ["a"], ["A=1"]) = 0' >log
	tr-parse -f strace -O cwd=/w/../q/ log | grep -F $'/q/a\tcwd="/q"'
	tr-parse -f strace -O cwd=b/../c log | grep -F "cwd=\"$(pwd -P)/c\""
	for dir in '' 'C:\b'; do
		run -2 --separate-stderr tr-parse -f strace -O cwd=$dir log
		[ "$stderr" = "tr-parse: log: -O cwd takes a directory, not '$dir'" ]
	done
}

@test "messages of two kinds are not counted as one" {
	{
		head -n 1 zlib.strace
		printf 'noise %d\n' {1..25}
		echo '1 openat(AT_FDCWD, "/x'
	} >noise.strace
	run -2 --separate-stderr tr-parse noise.strace
	[ "${#stderr_lines[@]}" -eq 22 ]
	[ "${stderr_lines[20]}" = "tr-parse: noise.strace:27: an incomplete call: kept as a raw record" ]
	[ "${stderr_lines[21]}" = "tr-parse: 5 more like this: not a line of strace: kept as a raw record" ]
}

@test "a child that appears before its parent's fork has the parent's descriptors" {
	local begin='1 execve("/bin/make", ["make"], 0x7ffc /* 1 var */) = 0
1 openat(AT_FDCWD, "/srv/build", O_RDONLY|O_DIRECTORY) = 3
1 openat(AT_FDCWD, "/srv/other", O_RDONLY|O_DIRECTORY) = 4'
	local fork='1 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x1) = 2'
	local child='2 fchdir(3) = 0
2 execve("/bin/cc", ["cc", "after"], 0x7ffc /* 1 var */) = 0'
	local where="--fields=cwd"
	for log in "$begin
$fork
$child" "$begin
$child
$fork"; do
		[ "$(tr-filter -q $where 'argv == "after"' <<<"$log")" = '"/srv/build"' ]
	done
	# files that it opened are its own, and unknown descriptors stay unknown
	log="$begin
2 openat(AT_FDCWD, \"/opt\", O_RDONLY|O_DIRECTORY) = 3
$child
2 fchdir(9) = 0
2 execve(\"/bin/as\", [\"as\", \"lost\"], 0x7ffc /* 1 var */) = 0
$fork"
	[ "$(tr-filter -q $where 'argv == "after"' <<<"$log")" = '"/opt"' ]
	[ "$(tr-filter -q $where 'argv == "lost"' <<<"$log")" = '-' ]
}

# escapes BYTES: prints this many bytes of escapes; every two of them become six
escapes() {
	head -c "$1" < <(yes '\1\2' | tr -d '\n')
}

@test "a record that its escapes make larger than --max-record is left out" {
	for line in "execve(\"/bin/a\", [\"$(escapes 10000)\"], [\"A=1\"]) = 0" \
		"execve(\"/bin/a\", [\"a\"], [\"A=$(escapes 10000)\"]) = 0" \
		"execve(\"/$(escapes 10000)\", [\"a\"], [\"A=1\"]) = 0" \
		"write(1, \"$(escapes 10000)\", 5) = 5" \
		$'write(1, "'"$(escapes 10000)"$'" <unfinished ...>\n7 <... write resumed>, 5) = 5'; do
		printf '%s\n' '6 execve("/bin/b", ["b"], 0x7ffe /* 3 vars */) = 0' "7 $line" >in
		run --separate-stderr -2 tr-parse -f strace --max-record=12K in
		[[ $stderr == *": a record is, with its escapes, longer than the limit of 12288 (--max-record raises it)" ]]
		[[ $output == *$'\t/bin/b\t'* ]]
		[ "${#output}" -lt 1000 ]
		run --separate-stderr -0 tr-parse -q -f strace --max-record=31K in
		[ "${#output}" -gt 20000 ]
	done
}

@test "calls that have begun take no more memory than --max-record" {
	{
		for pid in 7 8 9; do
			echo "$pid write(1, \"$(head -c 9000 /dev/zero | tr '\0' x)\" <unfinished ...>"
		done
		for pid in 7 8 9; do
			echo "$pid <... write resumed>, $pid) = $pid"
		done
	} >in
	run --separate-stderr -2 tr-parse -f strace --max-record=20K in
	[ "$stderr" = "tr-parse: in:3: calls that have not returned take more than 20480 bytes: this one is recorded as unfinished (--max-record raises it)" ]
	tr-parse -q -f strace --max-record=20K in >out || :
	[ "$(grep -c 'fd=1.*return=' out)" -eq 2 ]
	[ "$(grep -c unfinished out)" -eq 1 ]
	[ "$(grep -c missing:begin out)" -eq 1 ]
}

@test "memory: a line as it was read, and its record" {
	[ -z "$TREC_SANITIZED" ] || skip "sanitizers take memory of their own"
	data=$(mktemp -p .)
	# 8 MB of escapes are a record of 24 MB
	record() {
		{ printf '7 %s' "$1"; escapes 8000000; printf '%s\n' "$2"; } >"$data"
		( ulimit -v "$3" && tr-parse -q -f strace "$data" ) | tail -n 1 | grep -aq '^!end	[1-9]'
	}
	record 'execve("/bin/a", ["' '"], ["A=1"]) = 0' 100000
	record 'execve("/bin/a", ["a"], ["A=' '"]) = 0' 100000
	record 'execve("/' '", ["a"], ["A=1"]) = 0' 100000
	record 'write(1, "' '", 5) = 5' 100000
	record 'write(1, "' $'" <unfinished ...>\n7 <... write resumed>, 5) = 5' 110000
	# names that are looked for in an environment take less than it does
	{
		printf '7 execve("/bin/a", ["a"], ["A=1"'
		seq -f ', "%.0f="' 1 600000
		printf ']) = 0\n'
	} | tr -d '\n' >"$data"
	( ulimit -v 60000 && tr-parse -q -f strace "$data" ) | grep -aq '"600000":""'
}
