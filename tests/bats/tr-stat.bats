#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-stat: figures compared with the counts of other tools for the same traces.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data
	kw=$data/build/zlib.kw.json.gz
	cat >build.trec <<'END'
%trec	1	format=strace
exec	0	100.000000001	1	/usr/bin/make	argv=["make","-j2"]
fork	1	100.1	1	-	child=2
exec	2	100.2	2	/bin/sh	parent=0	argv=["sh","-c","echo 'a'"]
fork	3	100.3	2	-	child=3
fork	4	100.35	1	-	child=4
exec	5	100.4	3	/usr/bin/gcc	parent=2	argv=["gcc","-c","a\nb.c"]
exec	6	100.45	4	/usr/bin/gcc	parent=0	argv=["gcc","-c","b.c"]
sys	7	100.5	4	openat	path="a"	flags=O_RDONLY	error=ENOENT	dur=0.000250
exit	8	101.5	3	-	status=0
exec	9	101.6	2	/usr/bin/true	parent=0	argv=["true"]
exit	10	101.7	2	-	status=1
exit	11	103	4	-	signal=SIGKILL
exit	12	103.5	1	-	status=2
!end	13	errors=2	truncated=true
END
}

json() { # json FILTER FILE [OPTION...]
	tr-stat --json "${@:2}" | jq -rc "$1"
}

@test "frames are sorted by their calls, and frames with as many by their numbers" {
	call() { printf 'call\t%d\t-\t0\t%s\t->\n' "$1" "$2"; }
	{ call 0 glClear; call 1 glXSwapBuffers; call 2 glXSwapBuffers; call 3 glClear
	  call 4 glClear; call 5 glXSwapBuffers; call 6 glXSwapBuffers; } >calls
	[ "$(tr-stat --json --by=frame calls | jq -c '[.frame[] | [.frame, .calls]]')" = '[[2,3],[0,2],[1,1],[3,1]]' ]
}

@test "times of clocks that start at different moments give no span" {
	trace() { printf '%%trec\t1\texec\nexec\t0\t%s\t1\t/bin/a\nexec\t1\t%s\t1\t/bin/b\n!end\t2\n' "$1" "$2"; }
	trace 1795250858.5 1795250859.5 >dates
	trace 100.0 102.0 >uptimes
	for one in dates uptimes; do
		run -0 --separate-stderr tr-stat $one
		[ -z "$stderr" ]
		[[ $output == *$'\nseconds '*$'\nper-second '* ]]
	done
	run -0 --separate-stderr tr-stat dates uptimes
	[ "$stderr" = "tr-stat: note: some times count from 1970 and others from the start of a machine: no span is given" ]
	[[ $output == *$'\nfrom            100.000000000\nto              2026-11-21 '* ]]
	[[ $output != *$'\nseconds '* && $output != *per-second* ]]
	[ "$(tr-stat -q --json dates uptimes | jq -c '[.from, .to, .seconds]')" = '["100.000000000","1795250859.500000000",null]' ]
}

@test "text: aligned, every table with the busiest first" {
	run -2 --separate-stderr tr-stat build.trec
	cat >wanted <<'END'
files
  size  unpacked  container  format  file
   N       N  none       trec    build.trec

segments        1
records         13
definitions     0
errors          2
truncated       yes
from            100.000000001
to              103.500000000
seconds         3.500000
per-second      3.7
names           5
tasks           4

kinds
  count   share  kind
      5  38.5 %  exec
      4  30.8 %  exit
      3  23.1 %  fork
      1   7.7 %  sys

busiest-names
  count   share   seconds      mean   longest  name
      2  33.3 %  3.650000  1.825000  2.550000  /usr/bin/gcc
      1  16.7 %  3.500000  3.500000  3.500000  /usr/bin/make
      1  16.7 %  1.400000  1.400000  1.400000  /bin/sh
      1  16.7 %  0.100000  0.100000  0.100000  /usr/bin/true
      1  16.7 %  0.000250  0.000250  0.000250  openat

busiest-tasks
  count   share  task
      4  30.8 %  1
      4  30.8 %  2
      3  23.1 %  4
      2  15.4 %  3

failures
  count    share  error
      1  100.0 %  ENOENT

processes
  programs      5
  forks         3
  peak-alive    4
  peak-running  2
  seconds       8.650000
  ends
    count   share  end
        1  20.0 %  SIGKILL
        1  20.0 %  called exec again
        1  20.0 %  exited 0
        1  20.0 %  exited 1
        1  20.0 %  exited 2
  longest
     seconds  seq  makes      command
    3.500000    0  -          make -j2
    2.550000    6  b.o        gcc -c b.c
    1.400000    2  -          sh -c 'echo '\''a'\'''
    1.100000    5  $'a\nb.o'  gcc -c $'a\nb.c'
    0.100000    9  -          true

file-uses
  read          4
  written       0
  bytes-read    unknown
  bytes-written unknown
  by-command
    read  written  seq  makes      command
       1        0    0  -          make -j2
       1        0    2  -          sh -c 'echo '\''a'\'''
       1        0    5  $'a\nb.o'  gcc -c $'a\nb.c'
       1        0    6  b.o        gcc -c b.c
       1        0    9  -          true
END
	printf '%s\n' "$output" | sed -E '3s/[0-9]+/N/g' | diff wanted -
}

@test "--json contains the same figures" {
	run -2 --separate-stderr tr-stat --json build.trec
	[ "$(jq -r '.kinds[] | "\(.count) \(.kind)"' <<<"$output" | sort)" = \
		"$(grep -E '^[a-z]' build.trec | cut -f1 | sort | uniq -c | sed 's/^ *//' | sort)" ]
	jq '.truncated and .errors == 2 and .from == "100.000000001" and .seconds == 3.5' \
		<<<"$output" | grep -x true
	jq '.processes.longest[1] == {seconds: 2.55, seq: 6, makes: "b.o", command: "gcc -c b.c"}' <<<"$output" | grep -x true
	jq '."busiest-names"[0].share == 0.3333' <<<"$output" | grep -x true
	# without times a column of seconds is not there at all
	json '."busiest-names"[0] | keys | join(" ")' "$kw" | grep -x 'count name share'
}

@test "names and kinds are those that cut, sort and uniq count" {
	tr-parse "$kw" | grep ^exec | cut -f5 | sort | uniq -c | sed 's/^ *//' | sort >wanted
	json '."busiest-names"[] | "\(.count) \(.name)"' "$kw" --top=0 | sort | diff wanted -
	json .records "$kw" | grep -x "$(tr-parse "$kw" | grep -c '^[a-z]')"
	# from the stream as from the file
	diff <(tr-stat "$kw" | tail -n +4) <(tr-parse "$kw" | tr-stat | tail -n +4)
}

@test "--by: any field, several, at the return of calls, computed" {
	tr-filter --fields='basename(name)' exec "$kw" | sort | uniq -c | sed 's/^ *//' | sort >wanted
	tr-filter exec "$kw" | tr-stat --json --top=0 --by='basename(name)' |
		jq -r '.by[] | "\(.count) \(."basename(name)")"' | sort | diff wanted -
	tr-stat --by='kind,task' --top=2 --json build.trec >by.json || [ $? = 2 ]
	jq '.distinct == 11 and (.by | map([.kind, .task])) == [["exec", "1"], ["exec", "4"]]' by.json | grep -x true
	# a column for each field, as wide as on a terminal; an absent field is not an empty one
	printf 'call\t0\t-\t0\t%s\t->\n' $'中\tk="日本"\tl="x"' $'a\tk="e\xcc\x81\\t"\tl="yy"' $'a\tl=""' >odd
	tr-stat --by=k,l,name odd | sed '1,/^by/d' >got
	diff <(printf '%s\n' '  count   share  k     l   name' '      1  33.3 %  -     \e  a' \
		$'      1  33.3 %  e\xcc\x81\\t   yy  a' '      1  33.3 %  日本  x   中') got
	json '.by | map([.k, .l, .name])' odd --by=k,l,name |
		grep -xF $'[[null,"","a"],["e\xcc\x81\\t","yy","a"],["日本","x","中"]]'
	# names of fields that need escapes in JSON, or are ours
	printf 'call\t0\t-\t0\tf\tcount=7\tm={"a":1}\t->\n' >names
	json '.by[0] | del(.share)' names --by=count | grep -xF '{"count":1,"`count`":"7"}'
	json '.by[0] | keys' names --by='m["a"]' | grep -xF '["count","m[\"a\"]","share"]'
	run -2 tr-stat --by="$(printf 'x,%.0s' {1..16})x" names
	[[ $output == *'--by: more than 16 fields'* ]]
	tr-stat --json --by='->return' "$data/apitrace/mt4.trace" >by.json
	[ "$(jq .counted by.json)" = \
		"$(tr-parse --join "$data/apitrace/mt4.trace" | grep -c '	->.*	return=')" ]
	run -2 --separate-stderr tr-stat --by='name[' build.trec
	[[ $stderr == *'--by, byte'* ]]
}

@test "--by with a field also groups durations" {
	tr-stat --json --by='basename(name)' build.trec >by.json || [ $? = 2 ]
	jq '.by[0].seconds == 3.65 and .by[0]."basename(name)" == "gcc"' by.json | grep -x true
}

@test "frames: the figures of apitrace info --dump-frames" {
	glxgears=$data/apitrace/glxgears-br9.trace mt4=$data/apitrace/mt4.trace
	json '.frame[0] | [.calls, .bytes, .first, .last]' --by=frame "$glxgears" |
		grep -x '\[1371,145484,0,1370\]'
	json '[.frames, (.frame | length)]' --by=frame --top=5 "$glxgears" | grep -x '\[859,5\]'
	json '.calls | [.api, .calls, .frames, .incomplete]' "$glxgears" |
		grep -xF '["OpenGL + GLX/WGL/CGL",20247,859,1]'
	json '.calls | [.frames, .blobs.count, .blobs.bytes, .blobs.largest]' "$mt4" |
		grep -x '\[240,960,4014720,16384\]'
	json '.files[0] | [.size, .unpacked, .container]' "$mt4" | grep -x '\[312771,4270113,"snappy"\]'
	json '.calls.fake' "$mt4" | grep -x "$(tr-parse "$mt4" | grep -c '	\.flags=1')"
	# the same from the stream
	diff <(tr-stat "$mt4" | tail -n +4) <(tr-parse "$mt4" | tr-stat | tail -n +4)
}

@test "blocks: all, distinct, bytes that they cover" {
	gzip -dc "$data/gnatcov/true_flat.trace.gz" >true.trace
	tr-filter --fields=name,size block true.trace >blocks
	json '.blocks | [.executed, .distinct]' true.trace |
		grep -x "\[$(wc -l <blocks),$(cut -f1 blocks | sort -u | wc -l)\]"
	# each byte once, however often its block was executed
	json .blocks.bytes true.trace | grep -x "$(sort -u blocks | perl -lane '
		$seen{hex($F[0]) + $_} = 1 for 0 .. $F[1] - 1; END { print scalar keys %seen }')"
	diff <(tr-stat true.trace | tail -n +4) <(tr-parse true.trace | tr-stat | tail -n +4)
	# one that is too long is not lost without a word
	printf 'block\t%s\t-\t-\t0x00001000\tsize=%s\n' 0 70000 1 4 | json '.blocks | [.executed, .uncounted]' |
		grep -x '\[1,1\]'
	printf 'block\t0\t-\t-\t0x00001000\tsize=70000\n' | json '.blocks | [.executed, .uncounted]' | grep -x '\[0,1\]'
}

@test "a segment ends frames and calls, in a stream as in files" {
	glxgears=$data/apitrace/glxgears-br9.trace gears=$data/apitrace/gears.trace
	json .calls "$glxgears" "$gears" | jq '."calls-per-frame".fewest == 22' | grep -x true
	diff <(json .calls "$glxgears" "$gears") <(tr-parse "$glxgears" "$gears" | json .calls -)
	# an enter that never returned is not met by a leave of the next segment
	printf '%%trec\t1\nenter\t0\t-\t0\tf\n!end\t1\n%%trec\t1\nenter\t0\t-\t0\tf\nleave\t0\t-\t0\tf\t->\n!end\t1\n' >two
	json '.calls | [.calls, .incomplete]' two | grep -x '\[2,1\]'
	# two enters of one number: the first will not return
	printf 'enter\t0\t-\t0\tf\nenter\t0\t-\t1\tglXSwapBuffers\nleave\t0\t-\t1\tglXSwapBuffers\t->\n' >twins
	json '.calls | [.calls, .incomplete, .frames]' twins | grep -x '\[2,1,1\]'
	# bytes of the stream are not those of the trace
	printf 'call\t%d\t-\t0\tglXSwapBuffers\t->\n' 0 1 | tr-stat --json --by=frame |
		jq '[.frame[].bytes] == [0, 0]' | grep -x true
}

@test "forks that are printed late, and records without a number" {
	printf '%s\n' 'exec>0>1>1>/m>argv=["m"]' 'exec>1>1.2>2>/a>argv=["a"]' 'fork>2>1.25>1>->child=2' \
		'exit>3>2>2>->status=0' 'exit>4>2.1>1>->status=0' | tr '>' '\t' >late
	json .processes.forks late | grep -x 1
	sed 's/^exec\t[0-9]/exec\t-/' late >bare
	json '.processes.longest | map(.seq)' bare | grep -xF '[null,null]'
	tr-stat bare | grep -x '    1.100000    -  -      m'
}

@test "several files, archives, nothing at all" {
	cp "$kw" a.gz && gzip -dc "$kw" >b
	tar -cf c.tar a.gz b
	json '[.segments, (.files | length), (.files[3].file)]' a.gz b c.tar | grep -x '\[4,4,"c.tar:b"\]'
	tr-stat /dev/null | grep '^records *0$'
	run -2 tr-stat nothing
	run -2 tr-stat --top=x b
	tr-stat --top=1 b | grep -A2 busiest-names | tail -n1 | grep -x ' *41  23.3 %  /usr/bin/gcc'
}

@test "names with control bytes and invalid UTF-8 are escaped" {
	printf 'x\t0\t-\t1\ta\\x80\\nb\n' >odd
	tr-stat odd | grep -F '  a\x80\nb'
	json '."busiest-names"[0].name["$bytes"]' odd | base64 -d | cmp - <(printf 'a\x80\nb')
}

# most FILE: alive and running at once
most() {
	tr-stat -q --json "$1" | jq -r '.processes | "\(."peak-alive") \(."peak-running")"'
}

@test "a deep chain of processes takes linear time" {
	{
		printf '%%trec\t1\tformat="klocwork"\n'
		seq 100000 | awk '{ printf "exec\t%d\t%d.0\t%d\tsh\tparent=%d\targv=[]\n", $1, $1, $1, $1 - 1 }'
	} >chain
	[ "$(ulimit -t 4 && tr-stat -q --json chain | jq .processes.programs)" -eq 100000 ]
	# forks that are printed late make a chain of processes that have children already
	awk 'BEGIN { n = 100000
		for (i = 1; i <= n; i++) printf "exec\t%d\t%d\t%d\tp\n", i, i, i
		for (i = 1; i <= n; i++) printf "fork\t%d\t%d\t%d\t-\tchild=%d\n", n + i, n + i, i, n + i
		for (i = 1; i < n; i++) printf "fork\t%d\t%d\t%d\t-\tchild=%d\n", 2 * n + i, 2 * n + i, i, i + 1
		printf "exit\t%d\t%d\t1\t-\n", 3 * n, 3 * n }' >late
	[ "$(ulimit -t 4 && most late)" = "200000 100000" ]
}

@test "how many processes live and how many of them run, by time" {
	# make -j2: make waits for two compilers that wait for their children
	[ "$(most "$data/build/zlib.strace.gz")" = "7 2" ]
	line() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$@"; }
	{
		line exec 0 1 1 make 'argv=["make"]'
		line fork 1 2 1 - child=2
		line exec 2 3 2 gcc 'argv=["gcc"]'
		line fork 3 4 2 - child=3
		line exit 4 6 3 - status=0
		line exit 5 6 2 - status=0
		line fork 6 6 1 - child=4
		line exit 7 7 4 - status=0
		line exit 8 8 1 - status=0
	} >steps
	[ "$(most steps)" = "3 1" ]
	# a fork that is printed after the exit of its child
	{ sed -n 1,6p steps; sed -n '8p;7p;9p' steps; } >late
	[ "$(most late)" = "3 1" ]
	# a shell that becomes another program is one process, and so is its child's parent
	{
		line exec 0 1 1 sh 'argv=["sh"]'
		line fork 1 2 1 - child=2
		line exec 2 3 1 make 'argv=["make"]'
		line exit 3 5 2 - status=0
		line exit 4 6 1 - status=0
	} >replaced
	[ "$(most replaced)" = "2 1" ]
	# records that state an end with the beginning, in the order of the ends
	printf 'exec\t0\t%s\t%s\tcc\targv=["cc"]\tstatus=0\tend=%s\n' 5 1 6.0 4 2 7.0 8 4 9.0 1 3 9.5 >ends
	[ "$(most ends)" = "3 3" ]
}

@test "JSON has all of a command and of what it makes" {
	long=$(printf 'x%.0s' {1..3000})
	printf 'exec\t0\t1\t1\tgcc\targv=["gcc","-c","%s.c"]\nexit\t1\t2\t1\t-\tstatus=0\n' "$long" >long
	tr-stat -q --json long | jq -r '.processes.longest[0] | .makes, .command' |
		diff - <(printf '%s\n' "$long.o" "gcc -c $long.c")
	[ "$(tr-stat -q long | grep -c "$long.c")" -eq 0 ]
}

# log: a log of strace whose times are short
log() {
	awk '{ $2 = sprintf("%.1f", 1600000000 + $2) } 1'
}

@test "the critical path: the rules of tests/data/view/critical.cases" {
	awk '/^# / { rule++ } /^[0-9]/ { $2 = sprintf("%.1f", 1600000000 + $2); print > sprintf("log%03d", rule) }
		sub(/^path: /, "") { print > "wanted" }' "$data/view/critical.cases"
	for log in log*; do
		tr-stat -q --critical --top=0 --json "$log"
	done | jq -r '[.critical[] | "\(.command // "-" | sub(".*/"; "")) \(.seconds + 0) \(.["waited-for"])" +
		if .file then "=" + .file else "" end] | join(", ")' >got
	diff wanted got
	[ "$(wc -l <got)" -ge 20 ]
}

@test "the critical path: the longest steps in the order of time, and their share" {
	log >steps <<'END'
1 100 execve("/w/make", ["make"], 0x1) = 0
1 101 fork() = 2
2 101 execve("/w/cc", ["cc", "-c", "a.c"], 0x1) = 0
2 104 +++ exited with 0 +++
1 110 +++ exited with 0 +++
END
	run -0 --separate-stderr tr-stat --critical --top=2 steps
	diff - <(printf '%s\n' "$output") <<'END'
seconds         10.000000
steps           3

critical
      from   seconds   share  seq  waited-for  file  makes  command
  1.000000  3.000000  30.0 %    2  parent      -     a.o    cc -c a.c
  4.000000  6.000000  60.0 %    0  exit        -     -      make
END
	[ "$stderr" = 'tr-stat: note: the trace has no file calls: the path follows processes only' ]
	# the paths of several traces follow each other
	tr-stat -q --critical --json steps steps | jq -c '[.seconds + 0, .steps]' | grep -xF '[20,6]'
	# the longest paths there are do not overflow
	printf '%%trec\t1\nexec\t0\t-4611686018\t1\t/m\nexit\t1\t4611686018\t1\t-\n!end\t2\n' >far
	tr-stat -q --critical far far | grep -x 'seconds *9223372036.854776'
	# a truncated trace is reported, and one without ends or times has no path
	sed '$d' steps | tr-stat -q --critical - | grep -x 'cut *yes'
	sed '/exited/d' steps >open
	run -2 --separate-stderr tr-stat --critical open
	[[ $stderr == *'does not show when processes end'* ]]
	sed 's/ [0-9.]*/ /' steps | sed 's/  */ /' >untimed
	run -2 tr-stat --critical untimed
	run -2 tr-stat --critical --by=name steps
}

@test "the critical path of a build has no gap, and lasts as long as the build" {
	for trace in "$data/etrace/hello.nfsdb.gz" "$data/build/zlib.strace.gz"; do
		tr-stat -q --critical --top=0 --json "$trace" | jq -e '.critical as $c | ($c | length) == .steps and
			($c[0].from == 0) and (([$c[].seconds] | add) - .seconds | fabs < 1e-4) and
			all(range(1; .steps); $c[.].from - $c[. - 1].from - $c[. - 1].seconds | fabs < 1e-5)'
	done
	tr-stat -q --json "$data/etrace/hello.nfsdb.gz" | jq .seconds >whole
	tr-stat -q --critical --json "$data/etrace/hello.nfsdb.gz" | jq .seconds | diff whole -
}

@test "the critical path of a deep chain, and of many readers of a file, takes linear time" {
	awk 'BEGIN { for (i = 1; i <= 40000; i++)
			printf "%d 1600000000.%06d execve(\"/bin/sh\", [\"sh\"], 0x1) = 0\n%d 1600000000.%06d fork() = %d\n", i, i, i, i, i + 1
		for (i = 40000; i > 0; i--) printf "%d 1600000001.%06d +++ exited with 0 +++\n", i, 40000 - i }' |
		sed 's/\(.*\) execve.*/&\n\1 openat(AT_FDCWD, "\/a", O_RDONLY) = 3/' >deep
	(ulimit -t 20 && tr-stat -q --critical --json deep | jq .steps | grep -x 79999)
	# each command reads the files that the previous one and the first one wrote
	awk 'BEGIN { split("make cc", name)
		print "1 1600000000.000000 execve(\"/bin/make\", [\"make\"], 0x1) = 0"
		for (i = 2; i <= 3000; i++) { t = "1600000000." sprintf("%06d", 10 * i) " "
			print "1 " t "fork() = " i "\n" i " " t "execve(\"/bin/cc\", [\"cc\"], 0x1) = 0"
			print i " " t "openat(AT_FDCWD, \"/2\", O_RDONLY) = 3\n" i " " t "openat(AT_FDCWD, \"/" i - 1 "\", O_RDONLY) = 3"
			print i " " t "openat(AT_FDCWD, \"/" i "\", O_WRONLY|O_CREAT, 0666) = 3"
			print i " 1600000000." sprintf("%06d", 10 * i + 9) " +++ exited with 0 +++" }
		print "1 1600000001.000000 +++ exited with 0 +++" }' >many
	(ulimit -t 20 && tr-stat -q --critical --top=0 --json many | jq -c '[.critical[]."waited-for"] | group_by(.) |
		map([.[0], length])') | grep -xF '[["exit",2999],["file",2998],["parent",1],["start",1]]'
}

@test "files and bytes by command, and what is unknown" {
	log >calls <<'END'
1 100 execve("/w/sh", ["sh"], 0x1) = 0
1 101 openat(AT_FDCWD, "/w/out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
1 101 fork() = 2
2 101 dup2(4, 1) = 1
2 101 execve("/w/cat", ["cat", "in"], 0x1) = 0
2 102 openat(AT_FDCWD, "/w/in", O_RDONLY) = 3
2 102 read(3, "data", 4096) = 4096
2 102 read(3, "data", 4096) = 904
2 102 read(3, "", 4096) = 0
2 102 pread64(3, "data", 10, 0) = 10
2 102 read(9, 0x1, 1) = -1 EBADF (Bad file descriptor)
2 102 write(1, "data", 5000) = 5000
2 103 openat(AT_FDCWD, "/w/in", O_RDONLY) = 5
2 103 openat(AT_FDCWD, "/w/missing", O_RDONLY) = -1 ENOENT (No such file or directory)
2 103 openat(AT_FDCWD, "/dev/null", O_RDONLY) = 6
2 104 +++ exited with 0 +++
1 104 +++ exited with 0 +++
END
	tr-stat calls | sed -n '/^file-uses/,$p' >got
	diff - got <<'END'
file-uses
  read          3
  written       1
  bytes-read    5010
  bytes-written 5000
  by-command
    read  written  bytes-read  bytes-written  seq  makes  command
       2        1        5010           5000    4  -      cat in
       1        0           0              0    0  -      sh
END
	# without the calls that move bytes, their number is unknown
	grep -v 'read\|write' calls | tr-stat - | sed -n '/^file-uses/,$p' >got
	diff - got <<'END'
file-uses
  read          3
  written       1
  bytes-read    unknown
  bytes-written unknown
  by-command
    read  written  seq  makes  command
       2        1    4  -      cat in
       1        0    0  -      sh
END
	grep -v 'read' calls >written
	json '."file-uses" | ."bytes-read", ."bytes-written", ."by-command"[0]' written | diff - <(printf '%s\n' null 5000 \
		'{"read":2,"written":1,"bytes-written":5000,"seq":4,"makes":null,"command":"cat in"}')
	# of two traces the bytes are known if both have them; files are counted for each trace
	json '."file-uses" | [.read, ."bytes-read", ."bytes-written"]' calls written | grep -xF '[6,null,10000]'
	# other tables, and traces without file calls, have none of this
	json 'has("file-uses")' calls --by=name | grep -x false
	grep -v 'openat\|read\|write\|dup' calls | tr-stat --json - | jq 'has("file-uses")' | grep -x false
}

@test "files are followed from the first record on, however late the first file call comes" {
	{
		printf 'exec\t0\t1.0\t1\tsh\tcwd="/w"\targv=["sh"]\nfork\t1\t1.0\t1\t-\tchild=2\n'
		printf 'sys\t2\t2.0\t2\tchdir\tpath="sub"\t->\treturn=0\n'
		printf 'sys\t3\t3.0\t2\topen\tpath="a"\tflags=O_RDONLY\t->\treturn=3\n'
	} >late
	json '."file-uses"."by-command"[0].seq' late | grep -x 0
	tr-deps --inputs late | grep -x /w/sub/a
	# beyond some memory, and the input before it is given up, and the files have no command
	{
		cat late
		awk 'BEGIN { for (i = 0; i < 1000; i++) printf "exec\t0\t1.0\t1\tsh\targv=[\"%01100d\"]\n", i }'
		printf 'sys\t4\t3.0\t1\topen\tpath="/a"\tflags=O_RDONLY\t->\treturn=3\n'
	} | sed '/sub\|"a"/d' >long
	json '."file-uses" | [.read, ."by-command"[].command]' long | grep -xF '[1,null]'
}

@test "a log of etrace, whose plain calls come without records, has the figures of its records" {
	log=$data/etrace/hello.nfsdb.gz
	tr-parse "$log" >records
	json 'del(.files)' "$log" --top=0 >direct
	json 'del(.files)' records --top=0 | diff - direct
	for by in name 'name,task'; do
		json 'del(.files)' records --by="$by" --top=0 | diff - <(json 'del(.files)' "$log" --by="$by" --top=0)
	done
}

@test "blocks of several traces are told apart by the path of their module, and by the offset in it" {
	# block MODULE BASE: a trace in which 4 bytes at the offset 16 were executed
	block() {
		printf '%%trec\t1\tformat=drcov\nmodule\t0\t-\t-\t%s\tid=0\tbase=%#x\tend=%#x\n' "$1" "$2" $(($2 + 4096))
		printf 'block\t1\t-\t-\t0x%016x\tsize=4\tmodule=0\n!end\t2\n' $(($2 + 16))
	}
	for case in '/p 4096 /p 20480 1 4' '/p 4096 /q 4096 2 8' '/p 4096 /q 20480 2 8' '/p 4096 /p 4096 1 4'; do
		read -r path base other_path other_base distinct bytes <<<"$case"
		block "$path" "$base" >one
		block "$other_path" "$other_base" >two
		json '.blocks | [.executed, .distinct, .bytes]' one two | grep -xF "[2,$distinct,$bytes]"
	done
}

@test "--by counts the members of a list as a list, as --fields prints them" {
	printf 'exec\t0\t-\t1\tgcc\tcwd="/"\targv=["gcc","-c","d/a.c","d/b.c"]\n' >two
	tr-filter --fields='basename(source)' exec two | grep -xF '["a.c","b.c"]'
	tr-stat --by='basename(source)' two | tail -n 1 | grep -F '["a.c","b.c"]'
	printf 'call\t0\t-\t1\tf\tp=[{a=1,b="x/y"},{c=2},{a=[{a=3}]}]...\n' >list
	tr-filter --fields=p.a,p.b,p.z,'basename(p.b)',p.a.a call list | diff - <(printf '[1,[{a=3}]]...\t["x/y"]...\t-\t["y"]...\t[[3]]...\n')
}
