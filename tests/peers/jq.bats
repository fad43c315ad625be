#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares results of jq for a trace and for our JSON, for every trace in tests/data.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data/build
	traces=()
	for file in "$data"/*.kw.json*.gz; do
		name=$(basename "$file" .gz)
		zcat "$file" >"$name"
		traces+=("$name")
	done
}

# agree EXPRESSION JQ: both select equally many events, in every trace
agree() {
	local trace ours theirs
	for trace in "${traces[@]}"; do
		ours=$(tr-filter -c "exec and $1" "$trace") || [ $? -eq 1 ]
		theirs=$(jq -c "select(has(\"id\")) | select($2)" "$trace" | wc -l)
		echo "$trace: $1: $ours; jq: $2: $theirs"
		[ "$ours" -eq "$theirs" ]
	done
}

@test "executables" {
	agree 'name == "/usr/bin/gcc"' '.executable == "/usr/bin/gcc"'
	agree 'name != "/usr/bin/gcc"' '.executable != "/usr/bin/gcc"'
	agree 'basename(name) == "gcc"' '.executable | split("/") | last == "gcc"'
	agree 'name $= "/ld"' '.executable | endswith("/ld")'
	agree 'name ^= "/usr/lib/"' '.executable | startswith("/usr/lib/")'
	agree 'name *= "gcc/"' '.executable | contains("gcc/")'
	agree 'name =~ /^\/usr\/(lib|libexec)\/.*(cc1|as)$/' \
		'.executable | test("^/usr/(lib|libexec)/.*(cc1|as)$")'
	agree 'name !~ /cc1/' '.executable | test("cc1") | not'
	agree 'name in {"/usr/bin/as", "/usr/bin/ld"}' '.executable | . == "/usr/bin/as" or . == "/usr/bin/ld"'
	agree 'name < "/usr/bin/h"' '.executable < "/usr/bin/h"'
	agree 'basename(name) == "gcc" and argv == "-c"' \
		'(.executable | split("/") | last == "gcc") and any(.args[]; . == "-c")'
}

@test "arguments" {
	agree 'argv == "-c"' 'any(.args[]; . == "-c")'
	agree 'not argv == "-c"' 'any(.args[]; . == "-c") | not'
	agree 'argv != "-c"' 'any(.args[]; . == "-c") | not'
	agree 'argv ^= "-D"' 'any(.args[]; startswith("-D"))'
	agree 'argv $= ".c"' 'any(.args[]; endswith(".c"))'
	agree 'argv *= "zip"' 'any(.args[]; contains("zip"))'
	agree 'argv =~ /^-O[0-3]$/' 'any(.args[]; test("^-O[0-3]$"))'
	agree 'argv in {"-c", "-o"}' 'any(.args[]; . == "-c" or . == "-o")'
	agree 'argv[0] == "gcc"' '.args[0] == "gcc"'
	agree 'argv[1] == "-c" or argv[2] == "-c"' '.args[1] == "-c" or .args[2] == "-c"'
	agree 'len(argv) > 10' '.args | length > 10'
	agree 'len(argv) in {2..5}' '.args | length | . >= 2 and . <= 5'
	agree 'basename(argv[0]) == "collect2"' '.args[0] | split("/") | last == "collect2"'
}

@test "everything else an event has" {
	agree 'cwd == "/srv/build/zlib"' '.work_dir == "/srv/build/zlib"'
	agree 'cwd ^= "/srv/lab"' '.work_dir | startswith("/srv/lab")'
	agree 'has(envdiff)' 'has("env-diff")'
	agree 'not has(envdiff)' 'has("env-diff") | not'
	agree 'envdiff["MAKELEVEL"] == "1"' '."env-diff".MAKELEVEL == "1"'
	agree 'envdiff["MFLAGS"] *= "-j2"' '."env-diff".MFLAGS // "" | contains("-j2")'
	agree 'len(envdiff) >= 3' '."env-diff" // {} | length >= 3'
	agree 'task in {10..20}' '.id >= 10 and .id <= 20'
	agree 'task == 7 or task == 0x8' '.id == 7 or .id == 8'
	agree 'ppid == -1' '.parent_id == -1'
	agree 'ppid > 5 && !(argv == "-E" || name $= "sh")' \
		'.parent_id > 5 and ((any(.args[]; . == "-E") or (.executable | endswith("sh"))) | not)'
}

@test "the trace we write is, for jq, the trace we read" {
	for trace in "${traces[@]}"; do
		tr-parse "$trace" | tr-repack | jq -cS . >ours
		jq -cS . "$trace" | cmp - ours
	done
}

@test "a trace as jq spells it has the same records" {
	for trace in "${traces[@]}"; do
		tr-parse "$trace" >stream
		for spelling in --compact-output --ascii-output --tab '--indent 0 --ascii-output' --join-output; do
			# shellcheck disable=SC2086 # options
			jq $spelling . "$trace" >respelt
			tr-parse respelt | cmp - stream
			tr-parse respelt | tr-repack | jq -cS . >ours
			jq -cS . "$trace" | cmp - ours
			tr-parse --exact respelt | tr-repack | cmp - respelt
		done
		jq -cS . "$trace" >sorted
		tr-parse sorted | tr-repack | jq -cS . | cmp - sorted
	done
}

@test "typed JSON comes back from jq as the stream that it was" {
	for trace in "${traces[@]}"; do
		tr-parse "$trace" >stream
		tr-tojson --typed stream | jq -c . | tr-parse -f json | cmp - stream
	done
}

@test "jq filters in the middle of a pipeline" {
	for trace in "${traces[@]}"; do
		tr-tojson --typed "$trace" |
			jq -c 'select(.[0] != "exec" or (.[4] | endswith("/gcc")))' |
			tr-parse -f json 2>messages | tr-repack -t klocwork 2>>messages | jq -c 'select(has("id"))' >ours || :
		jq -c 'select(has("id") and (.executable | endswith("/gcc")))' "$trace" | cmp - ours
	done
}

@test "the JSON for people: one object per record, an array, pretty" {
	for trace in "${traces[@]}"; do
		jq -r 'select(has("id")) | [.executable, .work_dir, .args[]] | @tsv' "$trace" >theirs
		row='select(.kind == "exec") | [.name, .cwd, .argv[]] | @tsv'
		tr-tojson "$trace" | jq -r "$row" | cmp - theirs
		tr-tojson --pretty "$trace" | jq -r "$row" | cmp - theirs
		tr-tojson --as=array "$trace" | jq -r ".[] | $row" | cmp - theirs
	done
}

@test "raw fields are jq's @tsv" {
	for trace in "${traces[@]}"; do
		jq -r 'select(has("id")) | [.id, .executable, .work_dir] | @tsv' "$trace" >theirs
		tr-filter --raw --fields=task,name,cwd exec "$trace" | cmp - theirs
	done
}
