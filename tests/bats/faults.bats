#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every allocation, every write(2) and every other system call of some kinds fails once, one after the other.
# A tool then ends in one of two ways: with status 0 and the right output, or
# with status 2 and a message. The file of -o is complete, unchanged or absent.

bats_require_minimum_version 1.5.0

# The number of allocations and of writes that fail for one command: a sample that is spread evenly
# over all of them. tests/long/faults takes every one.
MAX_POINTS=${TREC_FAULT_RUNS:-6}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	helper=$top_builddir/tests/helper
	gzip -dc "$top_srcdir/tests/data/build/zlib.kw.json.gz" | head -n 12 >trace.json
}

# First in every test that uses faulty.
needs_preload() {
	if [ "${TREC_SANITIZED-}" = yes ]; then
		skip "sanitizers bring their own malloc and refuse a preloaded one"
	fi
	if ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
		skip "only glibc has the names that the preloaded malloc falls back to"
	fi
}

# faulty NAME VALUE COMMAND...: preloads fail_NAME.so for the tool alone; sets $status
faulty() {
	local name=$1 variable=TREC_FAIL_${1^^} value=$2
	shift 2
	if [ "$name" = alloc ] && [ "${TREC_COVERAGE-}" = yes ]; then
		skip "with --enable-coverage the exit of a program crashes where an allocation fails"
	fi
	status=0
	env LD_PRELOAD="$helper/fail_$name.so" "$variable=$value" "${variable}_COUNT=count" \
		"$@" >stdout 2>messages </dev/null || status=$?
}

# no temporary file is there; without a program, for there are thousands of runs
nothing_left() (
	shopt -s globstar dotglob
	files=(**/.*.[0-9a-f]*)
	[ ! -e "${files[0]}" ]
)

# sample COUNT: sets points to at most MAX_POINTS numbers from 1 to COUNT, the first and the last included
sample() {
	local count=$1 wanted=$(($1 < MAX_POINTS ? $1 : MAX_POINTS)) i
	points=()
	for ((i = 0; i < wanted; i++)); do
		points+=($((wanted == 1 ? 1 : 1 + i * (count - 1) / (wanted - 1))))
	done
	tried=$((${tried-0} + wanted))
}

teardown() {
	[ -z "${TREC_FAULT_RUNS-}" ] || echo "# $BATS_TEST_DESCRIPTION: ${tried-0} faults" >&3
}

# ended_well WHAT: checks that the last run was right, or reported an error
ended_well() {
	local right=false
	[ -e out ] && cmp -s out expected && right=true
	if [ "$status" -eq "${usual-0}" ] && $right; then
		return
	fi
	if [ "$status" -eq 2 ] && [ -s messages ] && { [ ! -e out ] || $right; } &&
		nothing_left; then
		return
	fi
	echo "$1: status $status"
	cat messages
	ls -lA
	return 1
}

# without_memory TOOL ARGUMENT...: each allocation of TOOL -o out ARGUMENT... fails
without_memory() {
	local count n how usual=0 # 1: there are differences
	"$1" -o expected "${@:2}" 2>/dev/null || usual=$?
	[ "$usual" -le 1 ]
	faulty alloc 0 "$1" -o out "${@:2}"
	[ "$status" -eq "$usual" ]
	cmp out expected
	count=$(<count)
	sample "$count"
	for n in "${points[@]}"; do
		for how in $n $n+; do
			rm -f out
			faulty alloc "$how" "$1" -o out "${@:2}"
			ended_well "$* with allocation $how of $count failing" || return
		done
	done
}

# without_space TOOL ARGUMENT...: each write(2) of TOOL -o out ARGUMENT... fails
without_space() {
	local count failure n harmless
	"$1" -o expected "${@:2}" 2>/dev/null
	faulty write 0 "$1" -o out "${@:2}"
	count=$(<count)
	[ "$count" -gt 0 ]
	sample "$count"
	for failure in ENOSPC EIO; do
		for n in "${points[@]}"; do
			rm -f out
			faulty write $n:$failure "$1" -o out "${@:2}"
			echo "$*: write $n of $count: $failure: status $status"
			[ "$status" -eq 2 ]
			[ ! -e out ]
			nothing_left
			case $failure in
			ENOSPC) grep -q "No space left on device" messages ;;
			EIO) grep -q "Input/output error" messages ;;
			esac
		done
	done
	for harmless in 1:short 1:EINTR 1:EAGAIN $count:short $count:EINTR; do
		rm -f out
		faulty write "$harmless" "$1" -o out "${@:2}"
		echo "$*: write $harmless: status $status"
		[ "$status" -eq 0 ]
		cmp out expected
	done
}

# a stream, and a file of some 1.5 MB, so that there is more than one write
streams() {
	tr-parse trace.json >trace.trec
	for _ in {1..40}; do
		cat trace.json
	done >large.json
	tr-parse large.json >large.trec
}

@test "memory runs out in tr-parse" {
	needs_preload
	without_memory tr-parse trace.json
	without_memory tr-parse --exact trace.json
	gzip -k trace.json
	without_memory tr-parse trace.json.gz
	without_memory tr-parse "$top_srcdir/tests/data/strace/small.strace"
	without_memory tr-parse "$top_srcdir/tests/data/strace/execs/plain.strace.gz"
	tar -xzf "$top_srcdir/tests/data/strace/execs/ffplain.tar.gz"
	without_memory tr-parse ffplain.*
	tr-parse -o trace.trec trace.json
	without_memory tr-parse trace.trec
}

@test "memory runs out in tr-filter" {
	needs_preload
	streams
	without_memory tr-filter 'exec and basename(name) == "gcc" and argv =~ /^-O/' trace.trec
	without_memory tr-filter --fields=seq,name,argv 'exec' trace.trec
	without_memory tr-filter --tree=3 trace.trec
	without_memory tr-filter --rebase 'seq > 3' trace.trec
	calls=$top_srcdir/tests/data/trec/filter.trec
	without_memory tr-filter 'return == GL_NO_ERROR or mode == 4 or v.x == 1' "$calls"
	without_memory tr-filter --fields='seq,ctx,return,len(v)' call "$calls"
	without_memory tr-filter 'exec' trace.json
}

@test "memory runs out in tr-envdiff" {
	needs_preload
	tr-parse trace.json >trace.trec
	{ grep -v "^exec\|^!" trace.trec; grep ^exec trace.trec | tac; grep ^! trace.trec; } >back.trec
	without_memory tr-envdiff --base=top trace.trec
	without_memory tr-envdiff --base=none --mask='*' --drop='L*' back.trec
	without_memory tr-envdiff --input-base=auto back.trec
	without_memory tr-filter --rebase 'seq > 3' back.trec
}

@test "memory runs out in tr-diff" {
	needs_preload
	tr-parse trace.json >trace.trec
	sed 's/"-c"/"-C"/; 4d' trace.trec >other.trec
	without_memory tr-diff --root=/a:/b --same=x=y --by=seq trace.trec other.trec
	without_memory tr-diff --json trace.trec other.trec
	calls=$top_srcdir/tests/data/expr/calls.trec
	sed 3d "$calls" >other.trec
	without_memory tr-diff "$calls" other.trec
}

@test "memory runs out in tr-filter on calls" {
	needs_preload
	calls=$top_srcdir/tests/data/expr/calls.trec
	printf '1-3,7\n13/2 draw,fbo\n' >list
	without_memory tr-filter --calls=@list,15 "$calls"
	without_memory tr-filter --frames='*/2,1-/draw' -e 'not has(nothing)' "$calls"
}

@test "memory runs out on system call logs" {
	needs_preload
	log=$top_srcdir/tests/data/etrace/small.nfsdb
	without_memory tr-parse "$log"
	without_memory tr-parse -O reorder=8 "$log"
	without_memory tr-parse --lines "$log"
	grep '^0: [0-9]*,0,' "$log" >part0
	grep '^0: [0-9]*,1,' "$log" >part1
	tr-parse part0 part1 >log.trec
	without_memory tr-parse part0 part1
	without_memory tr-repack log.trec
	without_memory tr-repack -t klocwork log.trec
}

@test "memory runs out while blobs are written and read" {
	needs_preload
	calls=$top_srcdir/tests/data/expr/calls.trec
	without_memory tr-parse --no-blobs "$calls"
	without_memory tr-parse --blob-dir=blobs "$calls"
	tr-parse --blob-dir=blobs "$calls" >light.trec
	without_memory tr-repack -t trec --blob-dir=blobs light.trec
}

@test "the disk is full under a blob" {
	needs_preload
	calls=$top_srcdir/tests/data/expr/calls.trec
	faulty write 1:ENOSPC tr-parse --blob-dir=blobs -o out "$calls"
	[ "$status" -eq 2 ]
	[ ! -e out ]
	grep -q "No space left on device" messages
	[ "$(find blobs -type f | wc -l)" -eq 0 ]
}

@test "memory runs out in tr-tojson" {
	needs_preload
	without_memory tr-tojson "$top_srcdir/tests/data/expr/calls.trec"
	streams
	without_memory tr-tojson trace.trec
	without_memory tr-tojson --typed trace.trec
}

@test "memory runs out in tr-totext" {
	needs_preload
	calls=$top_srcdir/tests/data/trec/filter.trec
	without_memory tr-totext --style=apitrace -O grep=gl "$calls"
	grep -v '^%[a-z]*	[A-Z]' "$calls" >bare.trec
	without_memory tr-totext --style=apitrace bare.trec
	tr-parse -o killed.trec "$top_srcdir/tests/data/apitrace/killed.trace"
	without_memory tr-totext -O multiline=no killed.trec
	without_memory tr-parse --join "$calls"
}

@test "memory runs out in tr-repack" {
	needs_preload
	streams
	without_memory tr-repack trace.trec
	sed 's/":/": /' trace.json | tr-parse --exact >spaced.trec
	without_memory tr-repack spaced.trec
	without_memory tr-repack -z gzip trace.trec
	without_memory tr-repack -t trec trace.json
	without_memory tr-repack -t trec -z zstd --verify trace.trec
}

@test "memory runs out over execution traces" {
	needs_preload
	traces=$top_srcdir/tests/data/gnatcov
	for name in shared_objects_64le kernel_loadaddr_32le plain_64be; do
		tr-parse -o $name.trec "$traces/$name.trace"
		without_memory tr-parse "$traces/$name.trace"
		without_memory tr-repack -O tag=new -O endian=big $name.trec
		without_memory tr-repack -t drcov $name.trec
		without_memory tr-totext $name.trec
		without_memory tr-totext --style=gnatcov-base "$traces/$name.trace"
		without_memory tr-filter --merge $name.trec "$traces/$name.trace"
	done
}

@test "memory runs out over coverage by modules" {
	needs_preload
	for name in good-v2 good-v5-text good-legacy good-hits; do
		"$top_srcdir/tests/helper/bytes_make" <"$top_srcdir/tests/data/drcov/$name.recipe" >$name
		tr-parse -o $name.trec $name
		without_memory tr-parse $name
		without_memory tr-repack -O version=2 -O table=5 $name.trec
		without_memory tr-repack -t gnatcov -O tag=x $name.trec
		tr-repack -t gnatcov -o $name.trace $name
		without_memory tr-repack -t drcov $name.trace
	done
	without_memory tr-filter --merge good-hits.trec
}

@test "memory runs out over source traces" {
	needs_preload
	"$top_srcdir/tests/helper/bytes_make" <"$top_srcdir/tests/data/srctrace/good-pads.recipe" >pads
	tr-parse -o log.trec "$top_srcdir/tests/data/srctrace/good-log.console"
	without_memory tr-filter --merge log.trec log.trec
	tr-parse -o pads.trec pads
	without_memory tr-parse "$top_srcdir/tests/data/srctrace/good-log.console"
	without_memory tr-repack -O base64=yes log.trec
	without_memory tr-repack pads.trec
	without_memory tr-totext log.trec
}

@test "memory runs out while a build becomes a database, a specification or events" {
	needs_preload
	streams
	printf '%s\n' '-DX "a b"' >opts
	printf '%%trec\t1\tformat=x\nexec\t0\t1.5\t1\tgcc\tparent=1\tcwd="%s"\targv=["gcc","@opts","a.c","b.c"]\tenv={"A":"b"}\nexec\t1\t-\t2\tmake\tcwd="/"\targv=["make"]\nexit\t2\t-\t1\t-\tstatus=0\n!end\t3\n' \
		"$PWD" >calls.trec
	echo '[{"binary":"gcc","responseFileArgs":[{"argument":"@","argFormat":["attached"]}]}]' >tools
	without_memory tr-repack -t compdb -O respfile-root=. -O tools=tools calls.trec
	without_memory tr-repack -t buildspec -O respfiles=attach -O respfile-root=. calls.trec
	without_memory tr-repack -t bear calls.trec
	without_memory tr-repack -t kwspec -O respfile-root=. calls.trec
	printf '%s\n' '[own driver]' 'names gcc' 'call make it' 'like iar' 'sources .c' 'respfile @ attached' \
		'environment before X' 'compile alone -c' >own
	without_memory tr-repack -t kwspec -O compilers=own -O compiler=make=own calls.trec
	tr-repack -t compdb -o db.json calls.trec
	tr-repack -t bear -o events.json calls.trec
	without_memory tr-repack -t trec db.json
	without_memory tr-repack -t compdb -O unique=all db.json
	without_memory tr-repack -t trec events.json
}

@test "memory runs out where logs of Bazel and of Windows are read, and phases are shown" {
	needs_preload
	without_memory tr-repack -t compdb -O cwd=. "$top_srcdir/tests/data/bazel/aquery.json"
	without_memory tr-repack -t trec "$top_srcdir/tests/data/bazel/execlog.json"
	cat >build.log <<-'END'
		Project "C:\b\a.vcxproj" on node 1 (default targets).
		1>C:\src>"C:\my bin\cl.exe" /c "a b.c" && cl /c c.c
		depbase=`echo x/a.o | sed 's|[^/]*$|.deps/&|;s|\.o$||'`; gcc -MF $depbase.Tpo -c a.c
	END
	without_memory tr-repack -t trec -f makelog -O cwd=. build.log
	echo '{"traceEvents":[{"pid":8,"ph":"X","ts":0,"dur":5,"name":"Frontend","args":{"detail":"x"}}],"beginningOfTime":1700000001000000}' >phases.json
	printf '%%trec\t1\tformat=strace\nexec\t0\t1700000000\t8\tclang\targv=["clang"]\nexit\t1\t1700000002\t8\t-\tstatus=0\n!end\t2\n' >t.trec
	without_memory tr-tohtml --phases=phases.json t.trec
}

@test "memory runs out where programs are read, in the process that reads them, too" {
	needs_preload
	run tr-symbolize --exe=/bin/sh </dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	printf 'int twice(int x)\n{\n\treturn 2 * x;\n}\n\nint main(void)\n{\n\treturn twice(0);\n}\n' >prog.c
	gcc -O0 -g -no-pie -o prog prog.c
	printf 'section\t0\t-\t-\tHISTORY\tbits=64\nblock\t1\t-\t-\t0x%s\tsize=40\top=block|br0\n' \
		"$(nm prog | awk '$3 == "main" { print $1 }')" >run.trace
	without_memory tr-repack -t lcov -O exe=prog run.trace
	without_memory tr-symbolize --exe=prog run.trace
	without_memory tr-symbolize --demangle --exe=prog run.trace
	without_memory tr-totext --style=asm -O exe=prog run.trace
	without_memory tr-filter -O exe=prog 'block and line > 0' run.trace
	printf '%%trec\t1\tformat=apitrace\tversion=6\n%%frame\tK1\t-\tmodule="prog"\tfunction="twice"\toffset=1\n' >frames.trec
	without_memory tr-symbolize --exe=prog frames.trec
	without_memory tr-parse "$top_srcdir/tests/data/trace32/good-64.txt"
}

@test "memory runs out where coverage by line is read, merged, compared and written" {
	needs_preload
	"$top_srcdir/tests/helper/bytes_make" <"$top_srcdir/tests/data/srctrace/good-v2-project-be.recipe" >old.srctrace
	without_memory tr-filter --merge old.srctrace old.srctrace
	without_memory tr-repack old.srctrace
	info=$top_srcdir/tests/data/lcov/good-2.0.info
	without_memory tr-parse "$top_srcdir/tests/data/lcov/good-2.2.info"
	without_memory tr-filter --merge "$info" "$info"
	without_memory tr-filter --minus="$info" "$info"
	gzip -dc "$top_srcdir/tests/data/gnatcov/true_flat.trace.gz" | tr-parse | head -n 20 >blocks
	without_memory tr-filter --common=blocks blocks
	without_memory tr-repack -t lcov "$info" "$info"
	without_memory tr-repack -t cobertura "$info"
	without_memory tr-repack -t gcovjson "$info"
	without_memory tr-stat "$info"
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >a.c
	printf 'SF:%s/a.c\nFN:1,main\nDA:1,1\nDA:3,0\nBRDA:3,0,0,1\nend_of_record\n' "$PWD" >a.info
	without_memory tr-totext -O branches=yes a.info
	without_memory tr-tohtml a.info
}

@test "memory runs out while tr-deps follows files" {
	needs_preload
	sed -n '/^# languages/,/^$/p' "$top_srcdir/tests/data/deps/headers.cases" | grep '^[0-9]' >headers
	without_memory tr-repack -t compdb -O headers=all headers
	sed -n '/^# a program that keeps only the write end/,/^$/p' "$top_srcdir/tests/data/deps/edges.cases" |
		grep '^[0-9]' >files
	export SOURCE_DATE_EPOCH=1700000000
	without_memory tr-deps files
	without_memory tr-deps "$top_srcdir/tests/data/etrace/small.nfsdb"
	without_memory tr-deps --events files
	without_memory tr-deps --of=/w/out --as=json files
	without_memory tr-deps --of=/w/out --as=make files
	without_memory tr-deps --as=ninja files
	without_memory tr-deps --as=dot files
	without_memory tr-deps --of=/w/out --as=cyclonedx files
	without_memory tr-deps -q --of=/w/out --as=spdx files
	without_memory tr-deps --from=/w/in --commands files
}

# libarchive ends the process where it finds no memory, and at one place it
# crashes; the dynamic loader, which it makes work for, ends it too: what can be
# promised is that no file is left that looks like a result.
@test "memory runs out in libarchive" {
	needs_preload
	local count n
	tar cf traces.tar trace.json
	tr-parse -o expected traces.tar
	faulty alloc 0 tr-parse -o out traces.tar
	count=$(<count)
	sample "$count"
	for n in "${points[@]}"; do
		rm -f out
		faulty alloc "$n" tr-parse -o out traces.tar
		if [ "$status" -eq 0 ]; then
			cmp out expected
		elif [ -s out ]; then
			echo "allocation $n of $count failing: status $status"
			false
		fi
		if [ "$status" -ne 139 ] && [ "$status" -ne 127 ] && [ -n "$(find . -name '.*.[0-9a-f]*')" ]; then
			echo "allocation $n of $count failing: status $status, $(<messages)"
			false
		fi
		rm -f .*.[0-9a-f]*
	done
}

@test "the disk is full under tr-parse" {
	needs_preload
	streams
	without_space tr-parse large.json
}

@test "the disk is full under tr-filter" {
	needs_preload
	streams
	without_space tr-filter exec large.trec
}

@test "the disk is full under tr-tojson" {
	needs_preload
	streams
	without_space tr-tojson large.trec
	without_space tr-tojson --typed large.trec
}

@test "the disk is full under tr-repack" {
	needs_preload
	streams
	without_space tr-repack large.trec
	without_space tr-repack -z zstd large.trec
}

@test "a full disk under stdout is an error" {
	streams
	[ -w /dev/full ] || skip "there is no /dev/full"
	for command in "tr-parse trace.json" "tr-filter exec trace.trec" "tr-tojson trace.trec" \
		"tr-repack trace.trec"; do
		status=0
		$command 2>messages >/dev/full || status=$?
		echo "$command: status $status"
		[ "$status" -eq 2 ]
		grep -q "No space left on device" messages
	done
}

@test "a reader that goes away ends a tool quietly, also where SIGPIPE is ignored" {
	streams
	for command in "tr-parse large.json" "tr-filter exec large.trec" "tr-tojson large.trec" \
		"tr-repack large.trec"; do
		(trap '' PIPE && $command 2>messages | head -n 1 >first)
		[ -s first ]
		[ ! -s messages ]
		($command 2>messages | head -n 1 >first)
		[ -s first ]
		[ ! -s messages ]
	done
}

@test "a missing library is reported only if it is needed" {
	needs_preload
	streams
	tar cf traces.tar trace.json
	faulty load libarchive tr-parse -o out traces.tar
	[ "$status" -eq 2 ]
	[ ! -s out ]
	grep -q "^tr-parse: traces.tar.*: libarchive.so.* cannot be used: .*libthat-is-not" messages
	rm -f out
	faulty load libarchive tr-repack -o out.tar traces.tar
	[ "$status" -eq 2 ]
	[ ! -e out.tar ]
	faulty load libsnappy tr-repack -z snappy -o out.snappy trace.trec -O foreign=yes
	[ "$status" -eq 2 ]
	[ ! -e out.snappy ]
	grep -q "libsnappy.so.* cannot be used" messages
	tr-repack -z snappy -o trace.snappy trace.trec -O foreign=yes
	faulty load libsnappy tr-parse -o out trace.snappy
	[ "$status" -eq 0 ]
	faulty load lib tr-filter exec trace.trec
	[ "$status" -eq 0 ]
	faulty load lib tr-parse --version
	[ "$status" -eq 0 ]
	grep -q '^libarchive.so.* cannot be used$' stdout
}

# Processes with all that views look at, and calls.
view_traces() {
	cat >build.trec <<'END'
%trec	1	format=strace
env	0	-	-	-	vars={"PATH":"/bin","A":"\u0001"}
exec	1	100.5	1	/usr/bin/make	argv=["make","-j2"]	cwd="/srv\n"	envtop={"A":null}
fork	2	101	1	-	child=2	flags=CLONE_VM|CLONE_VFORK
exec	3	101.5	2	/bin/sh	parent=1	cwd="/srv"	argv=["sh","-c","echo\n"]	env={"PATH":"/bin"}
sys	4	102	2	open	path="\x80"	flags=O_RDONLY	error=ENOENT	dur=0.5
exec	5	102.5	2	/bin/a\x80b	parent=1	cwd="/"	argv=["a"]	envdiff={"B":"1"}
exit	6	103	2	-	signal="SIGKILL"
exec	7	103.5	9	/bin/x	parent=5	cwd="/"	argv=["x"]	end=104.5	status=1
!end	7
END
	cat >calls.trec <<'END'
%trec	1	format=apitrace
enter	0	-	0	glXSwapBuffers	dpy=0x1
call	1	-	1	glDrawArrays	mode=GL_LINES(1@E1)	data=[b64:AQID,{"a":"\n"}]	.flags=1	->	return="x"
leave	0	-	0	glXSwapBuffers	->	return=1.5f
enter	2	-	0	glFinish
!end	3
END
}

@test "memory runs out in the views" {
	needs_preload
	view_traces
	for style in tree dot script; do
		without_memory tr-totext --style=$style build.trec
	done
	for trace in build.trec calls.trec; do
		without_memory tr-stat $trace
		without_memory tr-stat --json --by='basename(name),->return' $trace
		without_memory tr-tojson --as=chrome $trace
		without_memory tr-tohtml $trace
	done
	without_memory tr-stat --by=frame calls.trec
}

@test "writes fail in the views" {
	needs_preload
	view_traces
	for trace in build.trec calls.trec; do
		without_space tr-stat $trace
		without_space tr-tojson --as=chrome $trace
		without_space tr-tohtml $trace
	done
	for style in tree dot script; do
		without_space tr-totext --style=$style build.trec
	done
}

# complete OUTPUT: true if it equals expected or the previous content, or is a directory with some files of expected
complete() {
	local file
	case $1 in
	*/) for file in "$1"*; do [ ! -e "$file" ] || cmp -s "$file" "expected/${file##*/}" || return 1; done ;;
	*) cmp -s "$1" expected || [ "$(tr -d '\0' <"$1")" = old ] ;;
	esac
}

# calls_fail OUTPUT TOOL ARGUMENT...: each call of each kind fails
calls_fail() {
	local out=$1 usual=0 kind count n
	shift
	rm -rf expected "${out%/}"
	env LD_PRELOAD="$helper/fail_call.so" TREC_FAIL_CALL=none TREC_FAIL_CALL_COUNT=counts "$@" -o "$out" 2>messages </dev/null || usual=$?
	[ "$usual" -le 1 ]
	mv "${out%/}" expected
	while read -r kind count <&4; do
		sample "$count"
		for n in "${points[@]}"; do
			rm -rf "${out%/}"
			[[ $out == */ ]] || echo old >"$out"
			faulty call "$kind:$n" timeout 60 "$@" -o "$out"
			if [ "$status" -eq "$usual" ] && diff -rq "${out%/}" expected && nothing_left; then
				continue
			fi
			# data read before a failure is decodable, and is kept
			if [ "$status" -eq 2 ] && [ -s messages ] && nothing_left && { [ "$kind" = read ] || complete "$out"; }; then
				continue
			fi
			echo "$kind $n of $count failing: $* -o $out: status $status"
			cat messages
			ls -lA
			return 1
		done
	done 4<counts
}

@test "read, open, close, rename, fsync, mmap, starts of threads and processes fail in every tool" {
	needs_preload
	MAX_POINTS=${TREC_FAULT_RUNS:-2}
	streams
	sed 's/"-c"/"-C"/; 4d' trace.trec >other.trec
	for codec in gzip xz zstd; do "$codec" -qk trace.json; done
	cp large.json again.json
	tar -cf in.tar large.json again.json
	zip -q in.zip trace.json
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >prog.c
	gcc -O0 -g -no-pie -o prog prog.c
	printf 'section\t0\t-\t-\tHISTORY\tbits=64\nblock\t1\t-\t-\t0x%s\tsize=4\top=block|br0\n' \
		"$(nm prog | awk '$3 == "main" { print $1 }')" >run.trace
	cp "$top_srcdir/tests/data/apitrace/threads.trace" "$top_srcdir/tests/data/etrace/small.nfsdb" .
	while read -r output command; do
		# shellcheck disable=SC2086
		calls_fail $output $command || return
	done <<'END'
out tr-parse trace.json
out tr-parse trace.json.gz
out tr-parse trace.json.xz
out tr-parse trace.json.zst
out tr-parse in.zip
out tr-parse --blob-dir=blobs threads.trace
out tr-filter exec large.trec
out tr-filter --rebase exec trace.trec
out tr-repack -z zstd large.trec
out tr-repack -j 2 -z zstd large.trec
out tr-repack --verify -t klocwork -z gzip trace.trec
out tr-repack -t lcov -O exe=prog run.trace
out.tar tr-repack -t trec in.tar
out.tar tr-repack -j 2 -t trec -z gzip=1 in.tar
out.zip tr-repack -t trec in.tar
out/ tr-repack --verify -t trec in.tar
out/ tr-repack -j 2 -t trec -z gzip=1 large.json again.json
out/ tr-repack --split=records=5 -t trec trace.json
out tr-stat trace.json
out tr-tojson trace.trec
out tr-tohtml trace.json
out tr-totext --style=tree trace.json
out tr-filter -O exe=prog block run.trace
out tr-symbolize --exe=prog run.trace
out tr-diff trace.trec other.trec
out tr-envdiff --base=none trace.trec
out tr-deps small.nfsdb
END
}

# recorder_fails OPTION...: memory, writes and calls of tr-record OPTION... fail, where it watches and where it starts the command
recorder_fails() {
	local name value names kind count n
	# shellcheck disable=SC2016
	set -- tr-record "$@" -o out -- sh -c 'cat trace.json | wc -l >lines; exit 0'
	names() { tr-filter -q --fields=name exec out 2>/dev/null | sort; }
	faulty call none "$@"
	[ "$status" -eq 0 ]
	names >expected
	[ -s expected ]
	sed 's/^/call /' count >counts
	for name in alloc write; do
		faulty $name 0 "$@"
		echo "$name - $(<count)" >>counts
	done
	while read -r name kind count <&4; do
		sample "$count"
		for n in "${points[@]}"; do
			rm -f out
			case $name in
			call) value=$kind:$n ;;
			write) value=$n:ENOSPC ;;
			*) value=$n ;;
			esac
			faulty "$name" "$value" timeout 60 "$@"
			# with 0, the whole record; with 2, and with 126 if the command was not executed, a message
			if [ "$status" -eq 0 ] && [ ! -s messages ] && names | cmp -s - expected; then
				continue
			fi
			if [[ $status =~ ^(2|126)$ ]] && [ -s messages ]; then
				continue
			fi
			echo "$name $kind $n of $count failing: $*: status $status"
			cat messages out
			return 1
		done
	done 4<counts
}

@test "memory, the disk and calls fail in tr-record" {
	needs_preload
	MAX_POINTS=${TREC_FAULT_RUNS:-3}
	recorder_fails
	recorder_fails --files
	recorder_fails --wrap
}

@test "memory, the disk and calls fail in tr-record with strace" {
	needs_preload
	command -v strace >/dev/null || skip "strace is not installed"
	MAX_POINTS=${TREC_FAULT_RUNS:-2}
	recorder_fails --backend=strace
}
