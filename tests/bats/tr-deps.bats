#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-deps: the rules with handwritten logs, then whole builds compared with compilers.

bats_require_minimum_version 1.5.0

setup() {
	data=$top_srcdir/tests/data
	cd "$BATS_TEST_TMPDIR" || return 1
}

# answer LOG QUESTION [--OPTION...] [GLOB]: the answer on one line
answer() {
	local log=$1 question=$2 option=
	shift 2
	while [[ ${1-} = --* ]]; do
		option="$option $1"
		shift
	done
	case $question in
	use)
		tr-deps -q "$log" | awk -F'\t' -v path="$1" '$1 == "use" && $5 == path {
			gsub(/\t/, " "); sub(/.* does=\[/, ""); sub(/\]/, ""); printf "%s", $0 }'
		return
		;;
	direct) option="$option --direct --of=$1" ;;
	list) option="$option --as=list" ;;
	of | from | who-writes | who-reads) option="$option --$question=$1" ;;
	*) option="$option --$question" ;;
	esac
	# shellcheck disable=SC2086
	tr-deps $option "$log" | sort | tr '\n' ' ' | sed 's/ $//'
}

@test "the rules of tests/data/deps/edges.cases" {
	local rule= line count=0 failed=0 got
	while IFS= read -r line; do
		case $line in
		'# '*) rule=${line#??} ;;
		'') : >log ;;
		[0-9]*) printf '%s\n' "$line" >>log ;;
		*:*)
			count=$((count + 1))
			# shellcheck disable=SC2086
			got=$(answer log ${line%%:*}) || true
			if [ "$got" != "$(sed 's/^ //' <<<"${line#*:}")" ]; then
				failed=$((failed + 1))
				printf '%s: %s\n  expected%s\n  but got  %s\n' "$rule" "${line%%:*}" "${line#*:}" "$got"
			fi
			;;
		esac
	done <"$data/deps/edges.cases"
	echo "$count questions, $failed wrong"
	[ "$count" -gt 180 ]
	[ $failed = 0 ]
}

# trace LOG COMMAND...: with the calls that the manual page asks for
trace() {
	timeout 10 strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	timeout -k 30 120 strace -f -s 4096 -e trace=%file,%process,%desc -o "$1" "${@:2}" >/dev/null
}

# project: a program of several sources, whose headers include each other, a library and a generated header
project() {
	local i
	command -v make >/dev/null || skip "make is not installed"
	command -v gcc >/dev/null || skip "gcc is not installed"
	mkdir -p project/inc && cd project || return
	for i in 1 2 3 4 5 6; do
		printf '#ifndef H%s\n#define H%s %s\n' $i $i $i >inc/h$i.h
		[ $i = 1 ] || echo "#include \"h$((i / 2)).h\"" >>inc/h$i.h
		echo '#endif' >>inc/h$i.h
		printf '#include "h%s.h"\nint f%s(void) { return H1; }\n' $i $i >f$i.c
	done
	printf '#include "gen.h"\nint f6(void);\nint main(void) { return f6() - G; }\n' >main.c
	echo '#define G 0' >gen.in
	cat >Makefile <<-'END'
		prog: main.o libf.a ; $(CC) $(FLAGS) -o $@ main.o libf.a
		libf.a: f1.o f2.o f3.o f4.o f5.o f6.o ; ar rcs $@ $^
		gen.h: gen.in ; sed s/0/1/ gen.in | cat >$@.tmp && mv $@.tmp $@
		main.o: gen.h
		%.o: %.c ; gcc $(FLAGS) -Iinc -MMD -c $<
	END
}

# declared FILE.d: prints the dependencies of the object according to gcc, as absolute paths
declared() {
	sed -e 's/^[^:]*://' -e 's/\\$//' "$1" | tr ' ' '\n' | sed "/^$/d; s,^,$PWD/," | sort
}

@test "the direct dependencies of objects are those that gcc declares" {
	project
	for flags in '' -pipe; do
		rm -f ./*.o ./*.d ./*.a prog gen.h
		trace ../log make -j2 CC=gcc FLAGS=$flags
		for d in *.d; do
			echo "$flags $d"
			diff <(declared "$d") <(tr-deps --of="${d%.d}.o" --direct ../log | grep "^$PWD/")
		done
		run -0 tr-deps --declared='*.d' ../log
		[ -z "$output" ]
		diff - <(tr-deps --of=libf.a --direct ../log | grep "^$PWD/") <<<"$(printf "$PWD/f%s.o\n" 1 2 3 4 5 6)"
		[ "$(tr-deps --of=gen.h ../log | grep "^$PWD/")" = "$PWD/gen.in" ]
		[ "$(tr-deps --who-writes=prog ../log | grep -c 'ld ')" = 1 ]
	done
	# an etrace log has the same dependencies
	tr-repack -q -t etrace -o ../log.nfsdb ../log 2>/dev/null
	diff <(tr-deps --of=prog ../log | grep -v "^$PWD/st") <(tr-deps -q --of=prog ../log.nfsdb)
	# but for the pipe of make's job server, which etrace does not see being made
	diff <(tr-deps --inputs ../log) <(tr-deps -q --inputs ../log.nfsdb | grep -v '^/tmp/GMfifo')
	run -2 tr-deps --temporary ../log.nfsdb
	[[ $output == *"does not record deletions"* ]]
}

@test "tr-record --files: the same answers, and no data" {
	project
	trace ../log make CC=gcc
	for backend in auto strace; do
		rm -f ./*.o ./*.d ./*.a prog gen.h
		run -0 tr-record --backend=$backend --files -o ../rec.trec make CC=gcc
		for d in *.d; do
			diff <(declared "$d") <(tr-deps --of="${d%.d}.o" --direct ../rec.trec | grep "^$PWD/")
		done
		for question in --inputs --outputs --of=prog --from=gen.in; do
			# ar has a temporary file in the folder
			diff <(tr-deps $question ../log | grep "^$PWD/" | grep -v "^$PWD/st......$") \
				<(tr-deps $question ../rec.trec | grep "^$PWD/" | grep -v "^$PWD/st......$")
		done
	done
	# strace records transfers, so nothing is assumed; their data are not recorded
	run -1 grep -q $'\tassumed=' <(tr-deps ../rec.trec)
	tr-filter 'sys and name == "read"' ../rec.trec >reads
	[ -s reads ]
	run -1 grep -q 'buf="' reads
	run -1 grep -q $'\tstat\t' ../rec.trec
	tr-record --files --stat -o ../stat.trec cat gen.in
	tr-deps ../stat.trec | grep -q $'does=\\[[a-z,]*stat'
	run -2 tr-record --stat true
}

@test "--declared finds missing and superfluous dependencies of a rule" {
	project
	trace ../log make CC=gcc
	sed -i 's,inc/h3.h,inc/h5.h,' f6.d
	run -1 tr-deps --declared='*.d' ../log
	[ "${#lines[@]}" = 2 ]
	[ "${lines[0]}" = "used, not declared: $PWD/f6.o  $PWD/inc/h3.h" ]
	[ "${lines[1]}" = "declared, not used: $PWD/f6.o  $PWD/inc/h5.h" ]
	run -1 tr-deps --declared='*/f6.d' --as=tsv ../log
	[ "${lines[1]}" = "declared, not used	$PWD/f6.o	$PWD/inc/h5.h" ]
}

@test "--declared knows each name by which a file was used, in any number of uses" {
	echo 'a.o: a.c one.h link.h' >rule.d
	cat >log <<-END
		1 chdir("$PWD") = 0
		1 execve("/bin/cc", ["cc"], 0x1) = 0
		1 symlink("two.h", "link.h") = 0
		9 chdir("$PWD") = 0
		9 execve("/bin/make", ["make"], 0x1) = 0
		9 openat(AT_FDCWD, "rule.d", O_RDONLY) = 3
		1 openat(AT_FDCWD, "a.c", O_RDONLY) = 3
		1 openat(AT_FDCWD, "one.h", O_RDONLY) = 3
		1 openat(AT_FDCWD, "three.h", O_RDONLY) = 3
		1 openat(AT_FDCWD, "a.s", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		1 close(4) = 0
		1 execve("/bin/as", ["as"], 0x1) = 0
		1 openat(AT_FDCWD, "one.h", O_RDONLY) = 3
		1 openat(AT_FDCWD, "two.h", O_RDONLY) = 3
		1 openat(AT_FDCWD, "link.h", O_RDONLY) = 3
		1 openat(AT_FDCWD, "a.s", O_RDONLY) = 3
		1 openat(AT_FDCWD, "a.o", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		1 unlink("a.s") = 0
		1 +++ exited with 0 +++
	END
	run -1 tr-deps -q --declared=rule.d log
	[ "$output" = "used, not declared: $PWD/a.o  $PWD/three.h" ]
}

@test "the rules of --as=make build the files again" {
	project
	trace ../log make CC=gcc
	tr-deps --as=make --of=prog ../log >../rules.mk
	run -0 make -f ../rules.mk -q all
	rm f3.o
	touch gen.in
	make -f ../rules.mk all >../made
	grep -q 'f3\.c' ../made && grep -q 'gen\.in' ../made && grep -q 'ar rcs' ../made
	run -1 grep -q 'f4\.c' ../made
	run -0 make -f ../rules.mk -q all
	# one step: the files that it finds are not made, so they need no files in turn
	[ "$(tr-deps --as=make --of=prog --direct ../log | grep -cE '^[^[:blank:]].*:')" -eq 3 ] # all, .PHONY and prog
	if command -v ninja >/dev/null; then
		tr-deps --as=ninja --of=prog ../log >../build.ninja
		ninja -f ../build.ninja -n >/dev/null
	fi
	if command -v dot >/dev/null; then
		tr-deps --as=dot ../log | dot -Tsvg >../graph.svg
	fi
}

# copies LOG PID NAME...: cp copies each file to "to NAME", and this to "last NAME"
copies() {
	local log=$1 pid=$2 name from to
	shift 2
	for name; do
		for from in "$name" "to $name"; do
			to="to $name"
			[ "$from" = "$name" ] || to="last $name"
			pid=$((pid + 1))
			printf '1 vfork() = %d\n%d execve("/bin/cp", ["cp", "%s", "%s"], 0x1) = 0\n' $pid $pid \
				"$PWD/w/${from//\\/\\\\}" "$PWD/w/${to//\\/\\\\}"
			printf '%d openat(AT_FDCWD, "%s", O_RDONLY) = 3\n' $pid "$PWD/w/${from//\\/\\\\}"
			printf '%d openat(AT_FDCWD, "%s", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4\n' $pid \
				"$PWD/w/${to//\\/\\\\}"
			echo "$pid +++ exited with 0 +++"
		done
	done >>"$log"
}

@test "rules spell each path so that make and ninja read it, or leave it out" {
	local tool name names=('a=b' '1%' 'p|q' 'n:m' 'o p' '#q' '$(r)s' '@t' 'u&') bad=('v;w' 'v(w)' 'v*w' 'v\w')
	echo '1 execve("/bin/sh", ["sh"], 0x1) = 0' | tee good >mixed
	copies good 1 "${names[@]}"
	copies mixed 1 z "${bad[@]}"
	for tool in make ninja; do
		command -v $tool >/dev/null || continue
		mkdir w
		for name in "${names[@]}"; do
			echo "$name" >"w/$name"
		done
		tr-deps --as=$tool good >rules
		$tool -f rules
		for name in "${names[@]}"; do
			cmp "w/$name" "w/last $name"
		done
		rm -r w
	done
	run -2 --separate-stderr tr-deps --as=make mixed
	[[ $stderr == "tr-deps: paths that make cannot read are left out, such as '$PWD/w/last v"*"'" ]]
	[ "$(grep -cE '/w/((to|last)\\? )?v' <<<"$output")" = 0 ]
	if command -v make >/dev/null; then
		mkdir w
		touch w/z
		make -f - <<<"$output"
		[ -f "w/last z" ]
	fi
	# the records of each segment count from the first
	echo '1 execve("/bin/sh", ["sh"], 0x1) = 0' >second
	copies second 1 y
	run -0 tr-deps --as=ninja mixed second
	[ -z "$(grep '^rule' <<<"$output" | sort | uniq -d)" ]
	[ "$(grep -c '^rule' <<<"$output")" = 12 ]
}

# does NAME ACTION...: a command reads a file (<), writes it anew (>), changes it (+), deletes it (-),
# renames it (A=B) or links it (A~B); appended to log
does() {
	local name=$1 action
	[ -s log ] || printf '1 %s = 0\n' 'execve("/bin/sh", ["sh"], 0x1)' 'chdir("/w")' >log
	local pid=$(($(wc -l <log) + 1))
	printf '1 vfork() = %d\n%d execve("/bin/%s", ["%s"], 0x1) = 0\n' $pid $pid "$name" "$name" >>log
	for action in "${@:2}"; do
		case $action in
		'<'*) echo "$pid openat(AT_FDCWD, \"${action#?}\", O_RDONLY) = 3" ;;
		'>'*) echo "$pid openat(AT_FDCWD, \"${action#?}\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4" ;;
		'+'*) echo "$pid openat(AT_FDCWD, \"${action#?}\", O_WRONLY|O_CREAT, 0666) = 4" ;;
		-*) echo "$pid unlink(\"${action#?}\") = 0" ;;
		*~*) echo "$pid link(\"${action%~*}\", \"${action#*~}\") = 0" ;;
		*=*) echo "$pid rename(\"${action%=*}\", \"${action#*=}\") = 0" ;;
		esac
	done >>log
	echo "$pid +++ exited with 0 +++" >>log
}

# rules [--OPTION...]: each rule of log, as sorted targets: commands
rules() {
	local line
	tr-deps --as=make "$@" log | sed 's,/w/,,g; s,cd /w && ,,' | while IFS= read -r line; do
		case $line in
		all:* | .*) ;;
		$'\t'*) printf ' %s' "${line#?}" ;;
		[a-z]*' &: \' | [a-z]*' : \') printf '; %s:' "$(tr ' ' '\n' <<<"${line% *: *}" | sort | paste -sd' ')" ;;
		esac
	done | sed 's/^; //'
	rm log
}

@test "a rule has all commands that made what the file contains" {
	# from the last one that has written it anew
	does a '>f'
	does b '+f'
	does c '>f'
	does d '<f' '>f'
	does e '+f'
	does f '<f'
	[ "$(rules)" = 'f: c d e' ]
	# each once, in their order, although two of them open the file again and again
	does a '>f' '>g'
	does b '<f' '+f' '+g' '>f'
	[ "$(rules)" = 'f g: a b' ]
	# those that read another content than the last one
	does a '>f'
	does b '<f' '>g'
	does c '+f'
	does d '<f' '>h'
	does e '<f'
	[ "$(rules)" = 'f g: a b c; h: d' ]
	# but not one that used an earlier file of the same name
	does a '>f'
	does b '<f' '>g'
	does c '>f'
	[ "$(rules)" = 'g: b; f: c' ]
	# those that make what a file needs which they have made, too
	does a '>f' '>g'
	does b '<f' '>h'
	does c '<h' '+g'
	does d '<g' '>i'
	[ "$(rules)" = 'f g h: a b c; i: d' ]
	# names that are lost, and files
	does a '>f.new'
	does b '<f.new' '>g'
	does mv f.new=f
	does c '<in' '>tmp'
	does d '<tmp' '>h'
	does rm '-tmp'
	[ "$(rules)" = 'f g: a b mv; h: c d' ]
	does a '>f'
	does ln 'f~g' 'f~/elsewhere/f'
	does install 'f~/elsewhere/g'
	[ "$(rules)" = 'f g: a ln' ]
	# a file with which every command does something connects them, unless it is cut
	does a '>f' '+log'
	does b '>g' '+log'
	cp log again
	[ "$(rules)" = 'f g log: a b' ]
	mv again log
	[ "$(rules --cut=/w/log)" = 'f: a; g log: b' ]
	# but not a command that has started others, because it would start them again
	does a '>f'
	echo '1 openat(AT_FDCWD, "f", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3' >>log
	does b '<f' '>f'
	[ "$(rules)" = 'f: a b' ]
}

@test "documents have what CycloneDX and SPDX require" {
	command -v jq >/dev/null || skip "jq is not installed"
	project
	trace ../log make CC=gcc
	export SOURCE_DATE_EPOCH=1700000000
	tr-deps --of=prog --as=cyclonedx --hash ../log >../c.json 2>/dev/null
	jq -e '.bomFormat == "CycloneDX" and .specVersion == "1.5" and .version == 1 and
		(.serialNumber | test("^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")) and
		.metadata.timestamp == "2023-11-14T22:13:20Z" and
		([.components[] | .type == "file" and (.name | type) == "string"] | all) and
		([.components[]."bom-ref"] as $refs | ($refs | length) == ($refs | unique | length) and
			([.dependencies[] | .ref, .dependsOn[]] | unique - $refs) == [])' ../c.json >/dev/null
	[ "$(jq -r --arg p "$PWD/main.c" '.components[] | select(.name == $p).hashes[0].content' ../c.json)" = \
		"$(sha256sum main.c | cut -d' ' -f1)" ]
	tr-deps --of=prog --as=spdx ../log >../s.json 2>/dev/null
	jq -e '.spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .SPDXID == "SPDXRef-DOCUMENT" and
		.creationInfo.created == "2023-11-14T22:13:20Z" and (.creationInfo.creators | length) == 1 and
		([.files[] | .checksums[0].algorithm == "SHA1" and (.checksums[0].checksumValue | length) == 40] | all) and
		([.relationships[] | .spdxElementId, .relatedSpdxElement] | unique) -
			([.files[].SPDXID, .packages[].SPDXID] + ["SPDXRef-DOCUMENT"]) == []' ../s.json >/dev/null
	[ "$(jq -r --arg p "$PWD/main.c" '.files[] | select(.fileName == "." + $p).checksums[0].checksumValue' ../s.json)" = \
		"$(sha1sum main.c | cut -d' ' -f1)" ]
	cmp ../s.json <(tr-deps --of=prog --as=spdx ../log 2>/dev/null)
	# both schemas allow no other members; file names are relative (SPDX 2.3, 8.1)
	rm f2.c
	tr-deps --of=prog --as=spdx ../log >../s.json 2>/dev/null
	jq -e '(keys - ["SPDXID", "creationInfo", "dataLicense", "documentNamespace", "files", "name", "packages",
			"relationships", "spdxVersion"]) == [] and (.creationInfo | keys) == ["created", "creators"] and
		([.files[] | (keys - ["SPDXID", "checksums", "copyrightText", "fileName", "licenseConcluded", "licenseInfoInFiles"]) == [] and
			(.fileName | startswith("./"))] | all) and
		([.packages[] | keys == ["SPDXID", "downloadLocation", "filesAnalyzed", "name"] and .filesAnalyzed == false] | any and all) and
		([.files[].SPDXID, .packages[].SPDXID | test("^SPDXRef-[A-Za-z0-9.-]+$")] | all) and
		([.relationships[] | keys == ["relatedSpdxElement", "relationshipType", "spdxElementId"] and
			(.relationshipType | IN("DESCRIBES", "GENERATED_FROM"))] | all) and
		([.documentNamespace | test("^[a-z]+:[^#]+$")] | all)' ../s.json >/dev/null
	jq -e '(keys - ["bomFormat", "components", "dependencies", "metadata", "serialNumber", "specVersion", "version"]) == [] and
		(.metadata | keys) == ["timestamp", "tools"] and
		([.components[] | (keys - ["bom-ref", "hashes", "name", "type"]) == []] | all) and
		([.components[].hashes[]? | .alg == "SHA-256" and (.content | test("^[0-9a-f]{64}$"))] | any and all) and
		([.dependencies[] | keys == ["dependsOn", "ref"] and (.dependsOn | length) == (.dependsOn | unique | length)] | all)' \
		../c.json >/dev/null
	tr-deps --outputs --hash ../log | sha256sum -c --quiet
}

@test "validators accept the documents" {
	project
	trace ../log make CC=gcc
	tr-deps --of=prog --as=cyclonedx --hash -o ../prog.cdx.json ../log 2>/dev/null
	tr-deps --of=prog --as=spdx -o ../prog.spdx.json ../log 2>/dev/null
	local run=no
	if command -v cyclonedx; then # CycloneDX's own
		cyclonedx validate --input-file ../prog.cdx.json --input-format json --input-version v1_5 --fail-on-errors
		run=yes
	fi
	if command -v pyspdxtools; then # SPDX's own
		pyspdxtools --infile ../prog.spdx.json
		run=yes
	fi
	# with the schemas of both in a directory: bom-1.5*.json and those it refers to, spdx-schema*.json
	if [ -n "${SBOM_SCHEMAS-}" ] && python3 -c 'import jsonschema' 2>/dev/null; then
		python3 -W ignore "$top_srcdir/tests/helper/json_schema.py" "$SBOM_SCHEMAS" bom-1.5 ../prog.cdx.json
		python3 -W ignore "$top_srcdir/tests/helper/json_schema.py" "$SBOM_SCHEMAS" spdx-schema ../prog.spdx.json
		run=yes
	fi
	[ $run = yes ] || skip "neither cyclonedx nor pyspdxtools is installed, and SBOM_SCHEMAS names no directory"
}

@test "--events keeps every record, and adds to file calls alone" {
	gzip -dc "$data/etrace/hello.nfsdb.gz" >build.nfsdb
	tr-parse build.nfsdb >want
	tr-deps --events build.nfsdb >got
	diff want <(sed -E 's/\t(path[12]|does|by)=("([^"\\]|\\.)*"|\[[a-z,]*\]|[0-9]+)//g' got)
	[ "$(grep -c $'\tpath1=' got)" -gt 3000 ]
	# an open that is given to an exec: its own, by the seq of that record
	tr-filter --fields=by 'sys and path1 $= "/src/hello.c"' got | sort -u >by
	[ "$(wc -l <by)" -ge 1 ]
	while read -r seq; do
		tr-filter "exec and seq == $seq" got | grep -Eq '/(cc1|cpp|gcc)'
	done <by
	# a record's own fields of these names stay
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 openat(AT_FDCWD, "/w/in", O_RDONLY) = 3' |
		tr-parse | sed 's/\tpath=/\tdoes=7\tpath=/' | tr-deps --events >own
	grep -q $'does=7\tpath="/w/in"\tflags=O_RDONLY\tpath1="/w/in"\tby=0\t->\treturn=3$' own
}

@test "every open of a build belongs to the execution that the truth file says" {
	command -v jq >/dev/null || skip "jq is not installed"
	[ -f "$data/etrace/hello.truth.jsonl.gz" ] || skip "no truth file here"
	gzip -dc "$data/etrace/hello.nfsdb.gz" | tr-deps --events >got
	# the execution of a task that a seq is, from 1; a task's opens before its first exec have none of its own
	awk -F'\t' '$1 == "exec" { x[$4]++; of[$2] = $4 " " x[$4] }
		$1 == "sys" && $5 == "open" { path = by = ""
			for (i = 6; i <= NF; i++) { if ($i ~ /^path1=/) path = $i; if ($i ~ /^by=/) by = substr($i, 4) }
			if (x[$4]) print of[by], path }' got | sort >have
	gzip -dc "$data/etrace/hello.truth.jsonl.gz" |
		jq -r 'select(.x > 0) | "\(.upid) \(.x)" as $e | .opens[] | "\($e) path1=\(.[0] | tojson)"' | sort >truth
	[ -s truth ]
	diff truth have
}

@test "findings set exit status 1, and nothing else does" {
	cat >log <<-'END'
		1 execve("/w/sh", ["sh"], 0x1) = 0
		1 fork() = 2
		1 fork() = 3
		2 execve("/w/one", ["one"], 0x1) = 0
		3 execve("/w/two", ["two"], 0x1) = 0
		2 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3
		2 openat(AT_FDCWD, "/w/b", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		3 openat(AT_FDCWD, "/w/b", O_RDONLY) = 3
		3 openat(AT_FDCWD, "/x/c", O_RDONLY) = 4
		3 openat(AT_FDCWD, "/w/a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
		2 +++ exited with 0 +++
		3 +++ exited with 0 +++
		1 +++ exited with 0 +++
	END
	run -1 tr-deps --cycles log
	[ "$output" = "cycle: /w/a /w/b" ]
	run -1 tr-deps --overlaps log
	[ "${lines[0]}" = "overlap: /w/a  reads 3 one  writes 4 two" ]
	[ "${lines[1]}" = "overlap: /w/b  writes 3 one  reads 4 two" ]
	[ "${#lines[@]}" = 2 ]
	run -1 tr-deps --outside=/w log
	[ "$output" = "/x/c" ]
	run -0 tr-deps --outside=/w --outside=/x log
	[ -z "$output" ]
	# one after the other: no overlap; a file that needs itself: no cycle
	cat >log <<-'END'
		1 execve("/w/one", ["one"], 0x1) = 0
		1 openat(AT_FDCWD, "/w/a", O_RDWR) = 4
		1 +++ exited with 0 +++
		2 execve("/w/two", ["two"], 0x1) = 0
		2 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3
		2 +++ exited with 0 +++
	END
	run -0 tr-deps --cycles log
	run -0 tr-deps --overlaps log
	# an output that both inherited, and perhaps did not write to; and two of their own
	cat >log <<-'END'
		1 execve("/w/sh", ["sh"], 0x1) = 0
		1 openat(AT_FDCWD, "/w/log", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3
		1 dup2(3, 2) = 2
		1 fork() = 2
		1 fork() = 3
		2 execve("/w/a", ["a"], 0x1) = 0
		3 execve("/w/b", ["b"], 0x1) = 0
		2 +++ exited with 0 +++
		3 +++ exited with 0 +++
	END
	run -0 tr-deps --overlaps log
	cat >log <<-'END'
		1 execve("/w/sh", ["sh"], 0x1) = 0
		1 fork() = 2
		1 fork() = 3
		2 openat(AT_FDCWD, "/w/log", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 1
		3 openat(AT_FDCWD, "/w/log", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 1
		2 execve("/w/a", ["a"], 0x1) = 0
		3 execve("/w/b", ["b"], 0x1) = 0
		2 +++ exited with 0 +++
		3 +++ exited with 0 +++
	END
	run -1 tr-deps --overlaps log
	[ "$output" = "overlap: /w/log  writes 5 a  writes 6 b" ]
}

@test "questions that a trace cannot answer" {
	gzip -dc "$data/build/zlib.kw.json.gz" >build.json
	run -2 --separate-stderr tr-deps --inputs build.json
	[[ $stderr == "tr-deps: the trace has no file calls: record them with "* ]]
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 chdir("/w") = 0' >log
	run -2 --separate-stderr tr-deps --inputs log
	[[ $stderr == "tr-deps: the trace has no file calls: record them with "* ]]
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 openat(AT_FDCWD, "in", O_RDONLY) = 3' \
		'1 openat(AT_FDCWD, "/w/x", O_RDONLY) = 3' >log
	run -2 --separate-stderr tr-deps --inputs log
	[ "$output" = $'/w/a\n/w/x' ]
	[ "$stderr" = "tr-deps: 1 uses of relative paths are left out, because the working directory is not known (for strace, add -O cwd=DIR)" ]
	# a path cannot grow without end: of 8192 directories, the last one has room for no file
	for files in 8190 8191; do
		awk -v n=$files 'BEGIN {
			print "1 execve(\"/w/a\", [\"a\"], 0x1) = 0\n1 chdir(\"/\") = 0"
			for (i = 1; i <= n + 1; i++)
				print "1 chdir(\"d\") = 0"
			print "1 openat(AT_FDCWD, \"f\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3" }' >deep
		[ $files = 8191 ] || [ "$(tr-deps --outputs deep | wc -c)" = 16385 ]
	done
	run -2 --separate-stderr tr-deps --outputs deep
	[ -z "$output" ]
	[ "$stderr" = "tr-deps: uses of paths longer than 16384 bytes are left out, and those that are relative to them" ]
	run -2 --separate-stderr tr-deps --of='/nothing*' log
	[[ $stderr == *"no file of the trace matches '/nothing*'"* ]]
	# strings cut by strace -s 1, and a path changed by mount
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 pipe2([3, ...], 0) = 0' '1 pipe2([...], 0) = 0' >cut
	run -2 --separate-stderr tr-deps --inputs cut
	[ "$output" = /w/a ]
	[[ $stderr == "tr-deps: 2 pipes are not followed, because the trace lacks their descriptors"* ]]
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 mount("/x", "/w", 0x1, MS_BIND, NULL) = 0' \
		'1 openat(AT_FDCWD, "/w/x", O_RDONLY) = 3' >mounted
	run -0 --separate-stderr tr-deps --inputs mounted
	[[ $stderr == "tr-deps: note: 1 calls of mount or pivot_root are not followed"* ]]
	run -2 tr-deps --direct log
	run -2 tr-deps --inputs --outputs log
	run -2 tr-deps --cycles --as=dot log
	# options that would have no effect
	for bad in '--cycles --as=trec' --hash '--of=/w/x --as=dot --hash' '--inputs --cut=/w/x' \
		'--outputs --through=all' '--from=/w/x --missing' '--who-reads=/w/x --hash' -0; do
		# shellcheck disable=SC2086
		run -2 tr-deps $bad log
		[[ $output == *"tr-deps --help"* ]]
	done
}

@test "every list in every form" {
	command -v jq >/dev/null || skip "jq is not installed"
	printf '%s\n' '1 execve("/w/a", ["a", "x y"], 0x1) = 0' '1 openat(AT_FDCWD, "/w/i\tn", O_RDONLY) = 3' \
		'1 openat(AT_FDCWD, "/w/no", O_RDONLY) = -1 ENOENT (No such file or directory)' \
		'1 openat(AT_FDCWD, "/w/out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4' >log
	diff - <(tr-deps log) <<-'END'
		%trec	1	format=strace
		exec	0	-	1	/w/a	argv=["a","x y"]	flagged=["env-unknown"]
		use	0	-	1	/w/a	exec=0	does=[exec]
		use	1	-	1	/w/i\tn	exec=0	does=[read]
		use	2	-	1	/w/no	exec=0	does=[missing]	error=ENOENT
		use	3	-	1	/w/out	exec=0	does=[write,create,truncate]
		!end	5
	END
	tr-deps log | tr-parse | cmp - <(tr-deps log)
	[ "$(tr-deps --of=/w/out --as=tsv log)" = $'/w/a\texec\n/w/i\\tn\tread' ]
	[ "$(tr-deps --of=/w/out --as=json log | jq -c '[.path, .does]')" = $'["/w/a",["exec"]]\n["/w/i\\tn",["read"]]' ]
	tr-deps --of=/w/out -0 log | cmp - <(printf '/w/a\0/w/i\tn\0')
	[ "$(tr-deps --of=/w/out --commands log)" = "a 'x y'" ]
	[ "$(tr-deps --of=/w/out --commands --as=json log | jq -c '[.seq, .argv]')" = '[0,["a","x y"]]' ]
	[ "$(tr-deps --of=/w/out --commands --as=trec log)" = $'exec\t0\t-\t1\t/w/a\targv=["a","x y"]' ]
}

@test "a GLOB that is a relative path begins in the directory of the first command" {
	local glob
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 openat(AT_FDCWD, "/w/in", O_RDONLY) = 3' \
		'1 openat(AT_FDCWD, "/w/x/out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4' >log
	for glob in out ./out ././o* ../x/out ./../x/out ../../w/x/out ../../../../w/x/out; do
		[ "$(tr-deps -O cwd=/w/x --of="$glob" log)" = $'/w/a\n/w/in' ]
	done
	for glob in ../out ..out ./../out x/out; do
		run -2 tr-deps -O cwd=/w/x --of="$glob" log
	done
}

@test "a damaged log: what can be known, and exit status 2" {
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 openat(AT_FDCWD, "/w/in", O_RDONLY) = 3' \
		'1 openat(AT_FDCWD, "/w/cut' '1 openat(AT_FDCWD, "/w/out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4' >log
	run -2 --separate-stderr tr-deps --of=/w/out log
	[ "$output" = $'/w/a\n/w/in' ]
	[ -n "$stderr" ]
	# the trailer keeps what the reader reported
	run -2 --separate-stderr tr-deps log
	[ "${lines[-1]}" = "$(tr-parse log 2>/dev/null | sed -n 's/^!end\t[0-9]*/!end\t4/p')" ]
	[[ ${lines[-1]} == *errors=* ]]
	# a number that is too large, in a record that is pending on the fork of its task
	printf 'sys\t1\t1.5\t7\tclose\tfd=3\t->\treturn=0\nsys\t2\t2.5\t1\topenat\tpath="/w/in"\tflags=O_RDONLY\t->\treturn=<"/w/in";99999999999999999999>\n' >log
	[ "$(timeout 60 tr-deps --inputs log)" = /w/in ]
	timeout 60 tr-deps --events log | grep -q 'path1="/w/in"'
}

@test "logs one after the other give the files of one of them" {
	gzip -dc "$data/etrace/hello.nfsdb.gz" >one
	cat one one one >three
	# the same with other tasks, whose first ones have no fork record
	sed 's/^0: \([0-9]*\)/0: 9\1/; s/!\(SchedFork|pid=\|New_proc_UPID|\|F|\)/&9/' one | cat one - >others
	tr-deps -q --outputs one >want
	[ "$(wc -l <want)" -gt 20 ]
	tr-deps -q --outputs three | diff want -
	tr-deps -q --outputs others | diff want -
}

@test "decoded calls have the same effect as their records" {
	local log question
	gzip -dc "$data/etrace/hello.nfsdb.gz" >hello
	sed '4000,5000{/!Close/d; s/!FN|./&\\/; s/flags=524288/flags=4259841/}' hello >damaged
	head -c 400000 hello >cut
	# failures, modes, words that are unknown or too many, descriptors that are given again
	sed 's/^\(.*\)!Open|\(.*\)flags=0\(.*\)/\1!Open|\2flags=4194303\3/; 3000,3500s/flags=[0-9]*/flags=3/' hello >flags
	grep -q 'flags=4194303' flags
	for log in hello damaged cut flags "$data"/etrace/*.nfsdb; do
		tr-parse -q "$log" >records || [ $? -eq 2 ]
		for question in '' '--of=* --missing' --inputs --outputs '--of=* --commands' --as=json --cycles; do
			tr-deps -q $question "$log" >direct || true
			tr-deps -q $question records >by-records || true
			cmp direct by-records
		done
		# flagged records are still reported
		diff <(tr-parse "$log" 2>&1 >/dev/null | sed -n 's/^tr-parse: .*:[0-9]/&/p' | cut -d: -f3-) \
			<(tr-deps "$log" 2>&1 >/dev/null | sed -n 's/^tr-deps: .*:[0-9]/&/p' | cut -d: -f3-)
	done
	# a link that a program opened has both names: a rule may have the spelled one
	printf '%s: %s\n' "$PWD/a.o" "$PWD/link.h" >a.d
	printf '%%trec\t1\tformat=x\nexec\t0\t1.5\t1\t/bin/cc\tcwd="%s"\targv=["cc"]\tenv={}\nsys\t1\t1.6\t1\topen\tpath="%s"\torig="%s"\tflags=O_RDONLY\t->\treturn=3\nsys\t2\t1.7\t1\topen\tpath="%s"\tflags=O_WRONLY|O_CREAT\tmode=438\t->\treturn=4\nsys\t3\t1.8\t1\topen\tpath="%s"\tflags=O_WRONLY|O_CREAT\tmode=438\t->\treturn=5\n!end\t4\n' \
		"$PWD" "$PWD/real.h" "$PWD/link.h" "$PWD/a.o" "$PWD/a.d" | tr-repack -q -t etrace >log
	[ -z "$(tr-deps -q --declared='*.d' log)" ]
	# and the same number of records is counted
	[ "$(tr-deps hello | sed -n '$s/errors.*//p')" = "$(tr-parse hello | tr-deps | sed -n '$s/errors.*//p')" ]
}

@test "a damaged line loses only its own content" {
	local line lost
	uses() { sed -n 's/^use\t[^\t]*\t[^\t]*\t[^\t]*\t\([^\t]*\)\t.*\(does=[^\t]*\).*/\1 \2/p' "$1" | sort; }
	gzip -dc "$data/etrace/hello.nfsdb.gz" >whole
	tr-deps whole >out
	uses out >want
	[ "$(wc -l <want)" -gt 2500 ]
	# one open, an exec, a fork, a part of a path
	for line in $(grep -n '!Open' whole | sed -n '1000p;3000p' | cut -d: -f1) \
		$(grep -n '!PI' whole | sed -n '20p' | cut -d: -f1) $(grep -n '!New_proc\|!F|' whole | sed -n '9p' | cut -d: -f1); do
		sed "${line}s/!.*/!garbage/" whole >damaged
		run -2 --separate-stderr tr-deps damaged
		[[ $stderr == *"damaged:$line: "* ]]
		printf '%s\n' "${lines[@]}" >out
		lost=$(uses out | diff want - | grep -c '^[<>]') || true
		echo "line $line: $lost uses differ"
		[ "$lost" -lt 60 ]
	done
	# a log that is cut: all that came before
	head -c 500000 whole >cut
	run -2 --separate-stderr tr-deps cut
	printf '%s\n' "${lines[@]}" >out
	[ "$(uses out | comm -23 - want | wc -l)" -lt 30 ]
	[ "$(uses out | wc -l)" -gt 100 ]
	# every other question answers, and has the same status
	for question in --inputs --outputs --overlaps '--of=*/hello.o' --as=dot; do
		run -2 --separate-stderr tr-deps "$question" damaged
		diff <(tr-deps -q "$question" whole) <(echo "$output") >differences || true
		[ "$(wc -l <differences)" -lt 60 ]
	done
}

@test "uses of a stream without a trailer, and of several segments" {
	printf '%s\n' '1 execve("/w/a", ["a"], 0x1) = 0' '1 openat(AT_FDCWD, "/w/in", O_RDONLY) = 3' >log
	tr-deps log | grep '^use' >want
	[ "$(wc -l <want)" = 2 ]
	tr-parse log | sed '1d;$d' | tr-deps 2>/dev/null | grep '^use' | cmp - want
	tr-parse log log | tr-deps | grep '^use' | cmp - <(cat want want)
	tr-parse log log | sed '/^!end/d' | tr-deps 2>/dev/null | grep '^use' | cmp - <(cat want want)
}

@test "programs that were not watched are counted, as their files are missing" {
	printf '%s\n' '1 execve("/bin/a", ["a"], 0x1 /* 0 vars */) = 0' \
		'1 openat(AT_FDCWD, "/w/x", O_RDONLY) = 3' '1 +++ exited with 0 +++' >a.strace
	run -0 --separate-stderr tr-deps --inputs --special a.strace
	[ -z "$stderr" ]
	tr-parse a.strace | sed 's/\["env-unknown"/&,"unwatched"/' >a.trec
	run -0 --separate-stderr tr-deps --inputs --special a.trec
	[ "$output" = $'/bin/a\n/w/x' ]
	[ "$stderr" = 'tr-deps: note: programs that were not watched (flagged "unwatched"): 1; the files that they used are missing' ]
}
