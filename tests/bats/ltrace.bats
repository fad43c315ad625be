#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Logs of ltrace: library and system calls.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	data=${top_srcdir:?}/tests/data/ltrace
}

# logs: the names of the logs that ltrace wrote of calls
logs() {
	local log
	for log in "$data"/*.ltrace; do
		case $log in */bad-*) ;; *) echo "$log" ;; esac
	done
}

@test "every log comes back byte for byte, and looks the same as text" {
	for log in $(logs); do
		echo "$log"
		tr-parse --strict "$log" >trec
		tr-repack trec | cmp - "$log"
		tr-tojson --typed trec | tr-repack -f json | cmp - "$log"
		tr-totext "$log" | cmp - "$log"
		# records do not repeat the fields of the header
		run ! grep -qE $'\t\\.(pad|pids|clock)=' trec
	done
	[ "$(logs | wc -l)" -eq 8 ]
}

@test "calls, their values and results" {
	tr-parse "$data/plain.ltrace" >trec
	[ "$(head -n 1 trec)" = $'%trec\t1\tformat=ltrace' ]
	grep -F $'call\t0\t-\t-\tputs\t#0="say \\"hi\\", (x) = 3\\té\\u001b[0m and mor"...\t->\treturn=58' trec
	grep -F $'call\t1\t-\t-\ttoupper\t#0=<"\'x\'";120>\t->\treturn=<"\'X\'";88>' trec
	grep -F $'measure\t#0={"#0"=1,"#1"=-2}\t#1=[5,6,7,8]\t#2=4\t#3=0.5\t#4="m"\t#5=<"<0,2>";null>\t->\treturn=124' trec
	grep -P '^enter\t5\t-\t-\traise\t\.end="no return"\t#0=10\t' trec
	grep -F $'signal\t6\t-\t-\tSIGUSR1\ttext="User defined signal 1"' trec
	grep -F $'leave\t5\t-\t-\traise\t->\treturn=0' trec
	grep -F $'open\t#0="/srv/build/none"\t#1=194\t#2=<"0644";420>\t->\treturn=-1' trec
	tail -n 2 trec | grep -P '^exit\t\d+\t-\t-\t-\tstatus=3$'
	grep -P '^!end\t20$' trec
}

@test "processes, system calls, times and callers are read" {
	[ "$(tr-filter -c 'exec' "$data/fork.ltrace")" -eq 1 ]
	tr-filter 'exit and signal == "SIGABRT"' "$data/fork.ltrace" | grep -P '^exit\t\d+\t-\t\d+\t-\t'
	# the child returns from a fork that its parent called: not a loss
	tr-parse --strict "$data/stderr.ltrace" | grep -P '^leave\t\d+\t-\t\d+\t-\tfunction="fork"\t->\treturn=0'
	tr-parse "$data/system.ltrace" >trec
	head -n 1 trec | grep -P '^%trec\t1\tformat=ltrace\tpids=plain\tclock=tt$'
	grep -P '^sys\t2\t\d+\.\d{6}\t\d+\taccess\ta0="/etc/ld.so.preload"\ta1=<"04";4>\t->\treturn=-2\tfailed=true$' trec
	grep -P '^sys\t\d+\t[\d.]+\t\d+\tfutex\t.*\tflagged=\["unfinished"\]$|\twait4\t.*flagged=\["unfinished"\]$' trec
	grep -P '\twait4\tflagged=\["resumed"\]\t->\treturn=\d+$' trec
	grep -P '\tip=0x[0-9a-f]+\t.*\t->\treturn=58\tdur=0\.000\d+$' <(tr-parse "$data/times.ltrace")
	tr-parse "$data/day.ltrace" | grep -P '\tmeasure\tcaller="demo"\t#0='
	tr-parse "$data/day.ltrace" | head -n 1 | grep -P '\tclock=t$'
	tr-parse "$data/indent.ltrace" | head -n 1 | grep -P '\talign=60$'
	tr-parse "$data/since.ltrace" | awk -F'\t' '/^[a-z]/ { if ($3 < last) exit 1; last = $3 }'
	tr-parse "$data/indent.ltrace" | grep -P '^sys\t.*\t\.indent=2\t'
	# a record that is left out does not change the times of the others
	tr-filter 'name == "fflush"' "$data/since.ltrace" | tr-repack | grep -P '^  0\.0\d+ fflush\('
}

@test "enter and leave are one call for filters and joins" {
	tr-filter 'call and name == "wait" and return > 0' "$data/fork.ltrace" >trec
	[ "$(grep -c ^enter trec)" -eq 2 ]
	[ "$(grep -c ^leave trec)" -eq 2 ]
	[ "$(tr-parse --join trec | grep -c ^call)" -eq 2 ]
	[ "$(tr-filter -c 'call and name == "wait"' "$data/fork.ltrace")" -eq 2 ]
}

@test "recursion, longjmp, threads and other depths" {
	cat >log <<-'END'
		f(3 <unfinished ...>
		f(2 <unfinished ...>
		g( <unfinished ...>
		<... f resumed> , "out", 1)                      = 0
		<... f resumed> "out")                           = nil
		SYS_read(3 <unfinished ...>
		<... SYS_read resumed> , "x", 1)                 = 1
		h()                                              = <void> <0.000012>
	END
	tr-parse log | tr-repack | cmp - log
	tr-parse log >trec
	grep -P '^leave\t1\t-\t-\tf\t->\t#1="out"\t#2=1\treturn=0$' trec
	grep -P '^leave\t0\t-\t-\tf\t->\t#0="out"\treturn=null$' trec
	grep -P '^call\t\d+\t-\t-\th\t->\tdur=0.000012$' trec
}

@test "ambiguous values are written back" {
	local value
	while IFS= read -r value; do
		printf '%s\n' "f($value) = 0" "f(1, $value) = $value" 'g(1)  = 1'
	done >log <<-'END'
		"a\\"
		"\0"
		"\001\0a\0001"
		"\101"
		"a", "b"
		"quote " here"
		""..."
		'''
		'\0'
		'\\'
		' '
		' }'
		{ 1, { "x, }", nil } }
		{  }
		[  ]
		[ 1, 2... ]
		[ ... ]
		[ "a"..., "b"... ]
		{ 1
		1 }
		-0
		-1
		18446744073709551615
		18446744073709551616
		0x0
		0x1F
		0x01
		00
		0789
		1.500000
		-0.000000
		1000000000000000019884624838656.000000
		inf
		-nan
		A|B
		true
		null
		~<1,3-4>
		<>
		(x) = 3
		caf.
	END
	sed -i "s/caf\\./caf$(printf '\351')/" log
	tr-parse -q -f ltrace log >trec || [ $? -eq 2 ]
	tr-repack trec | cmp - log
	grep -cP '^raw' trec || [ $? -eq 1 ]
	grep -F $'#0={"#0"=1,"#1"={"#0"="x, }","#1"=null}}' trec
	grep -F $'#0=[1,2]...' trec
	grep -F $'#0=<"1000000000000000019884624838656.000000";1e30>' trec
}

@test "clocks in one log: relative times are counted apart from others" {
	cat >log <<-'END'
		1700000000.000001 f(1)      = 2
		  5.000000 f(1)             = 2
		23:59:59 f(1)               = 2
		  0.500000 f(1)             = 2
		1700000009.000000 f(1)      = 2
		  0.000001 f(1)             = 2
		23:59:59.999999 f(1)        = 2
	END
	tr-parse --strict log | tr-repack | cmp - log
}

@test "as many blanks as are written are read" {
	local line max=65536
	for line in "$(printf '%*sf(1) = 2' $max '')" "$(printf 'f(1)%*s= 2' $max '')"; do
		printf '%s\n' 'f() = 1' "$line" >log
		tr-parse --strict -f ltrace log | tr-repack | cmp - log
		printf '%s\n' 'f() = 1' "${line/ /  }" >log
		run -2 --separate-stderr tr-parse -f ltrace -o trec log
		[ "$stderr" = "tr-parse: log:2: not a line of ltrace: kept as a raw record" ]
		tr-repack -q trec | cmp - log
	done
}

@test "results and lists without an end take linear time" {
	{
		printf 'f('
		printf ') = x%.0s' {1..100000}
		echo '>'
		printf 'f('
		printf "[ $(printf 'a%.0s' {1..10000}), %.0s" {1..40}
		echo 'b) = 1'
	} >log
	[ "$(timeout 5 tr-parse -f ltrace log | grep -c ^call)" -eq 1 ]
}

@test "names of C++, of libraries and without a name" {
	cat >log <<-'END'
		std::ostream::operator<<(std::ostream& (*)(std::ostream&))(0x55, 0x7f) = 0x55
		std::string::_M_data() const(0x7f)               = 0x60
		demo->operator->(1)                              = 2
		libc.so.6->(0x7f9df9c2e2e0, 0)                   = 0
		malloc@libc.so.6(20)                             = 0x5617
	END
	tr-parse --strict log >trec
	tr-repack trec | cmp - log
	[ "$(cut -f5 trec | sed -n 2p)" = 'std::ostream::operator<<(std::ostream& (*)(std::ostream&))' ]
	[ "$(cut -f5 trec | sed -n 3p)" = 'std::string::_M_data() const' ]
	grep -F $'\t\\e\tcaller="libc.so.6"\t#0=' trec
	grep -F $'\tmalloc@libc.so.6\t' trec
}

@test "a damaged log is written back, and all else is read" {
	local size i
	for log in plain stderr since; do
		size=$(stat -c %s "$data/$log.ltrace")
		for ((i = 1; i < 30; i++)); do
			head -c $((i * size / 30)) "$data/$log.ltrace" >cut
			{ cat cut && printf '\377#' && tail -c +$((i * size / 30 + 2)) "$data/$log.ltrace"; } >bad
			for file in cut bad; do
				tr-parse -q -f ltrace "$file" >trec || [ $? -eq 2 ]
				tr-repack -q trec >again || [ $? -eq 2 ]
				cmp again "$file"
				[ "$(grep -c ^raw trec)" -le 1 ]
			done
		done
	done
	{ head -n 3 "$data/plain.ltrace"; echo 'hello, world'; tail -n +4 "$data/plain.ltrace"; } >mixed
	run -2 --separate-stderr tr-parse mixed
	[ "$stderr" = "tr-parse: mixed:4: not a line of ltrace: kept as a raw record" ]
	[ "$(grep -c . <<<"$output")" -eq 26 ]
	head -c -3 "$data/plain.ltrace" >cut
	run -2 --separate-stderr tr-parse cut
	[ "$stderr" = "tr-parse: cut:23: the last line is truncated: kept as a raw record" ]
	# the beginning of a call is not in the log
	tail -n +9 "$data/fork.ltrace" >late
	run -0 --separate-stderr tr-parse late
	[[ $stderr == *"note: returns of calls that do not begin in the trace (flagged \"orphan\"): 1"* ]]
}

@test "the summary of -c is refused" {
	run -2 --separate-stderr tr-parse "$data/bad-summary.ltrace"
	[ "$stderr" = "tr-parse: $data/bad-summary.ltrace: a summary of ltrace -c, which contains no calls: record without -c, and count with tr-stat" ]
}

@test "logs of ltrace and of strace are not mistaken for each other" {
	for log in $(logs); do
		# in any part of a log, also where columns are aligned elsewhere
		for from in 1 2 3; do
			tail -n +$from "$log" >part
			run -0 tr-parse --identify part
			[ "$output" = "part: ltrace" ]
			sed 's/)    *= /) = /' part >narrow
			run -0 tr-parse --identify narrow
			[ "$output" = "narrow: ltrace" ]
		done
	done
	for log in "$data"/../strace/small.strace "$data"/../build/*.strace.gz; do
		run -0 tr-parse --identify "$log"
		[ "${output##*: }" = strace ]
	done
	printf 'f(x) = 3, as in the book\n' >text
	run -2 tr-parse --identify text
}

@test "calls and ends of traces in other formats are written" {
	printf '%b' '%trec\t1\tformat=x\ncall\t0\t1.5\t7\tdraw\tmode=GL_LINES(1@E1)\tn=2\t->\tout=[1]\n' \
		'exit\t1\t-\t7\t-\tstatus=0\nexec\t2\t-\t7\t/bin/a\targv=["a"]\n!end\t3\n' >trec
	run -0 --separate-stderr tr-repack --verbose -t ltrace trec
	[ "${lines[0]}" = '[pid 7] 1.500000 draw(GL_LINES, 2, [ 1 ])        = <void>' ]
	[ "${lines[1]}" = '[pid 7] +++ exited (status 0) +++' ]
	[ "${#lines[@]}" -eq 2 ]
	[[ $stderr == *"note: ltrace cannot hold exec records: 1 left out"* ]]
}
