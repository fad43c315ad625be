#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-tojson: every form and option; jq validates the JSON.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data
	vectors=$data/trec/filter.trec
	traces=("$vectors")
	for file in "$data"/build/*.kw.json*.gz; do
		traces+=("$file")
	done
	printf '%%trec\t1\nexec\t0\t-\t7\t/bin/a\targv=["a"]\nsys\t1\t-\t7\topen\tpath="x\\xff"\t->\treturn=-1\n!end\t2\n' >small
}

# fields FILTER: prints the result of jq for the objects on stdin, one per line
fields() {
	jq -c "$1" | paste -sd' '
}

count_records() {
	tr-parse "$1" | grep -c '^[a-z]'
}

@test "an object for every record, and nothing else" {
	for trace in "${traces[@]}"; do
		n=$(tr-tojson "$trace" | jq -c 'type' | grep -cx '"object"')
		[ "$n" -eq "$(count_records "$trace")" ]
	done
}

@test "an object has the columns and the fields of its record" {
	run -0 tr-tojson small
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[0]}" = '{"kind":"exec","seq":0,"time":null,"task":"7","name":"/bin/a","argv":["a"]}' ]
	[ "${lines[1]}" = '{"kind":"sys","seq":1,"time":null,"task":"7","name":"open","args":{"path":{"$bytes":"eP8="}},"results":{},"return":-1}' ]
}

@test "records of a build trace: what jq finds in the trace itself" {
	trace=$data/build/zlib.kw.json.gz
	cmp <(zcat "$trace" | jq -c 'select(has("id")) | [.executable, .work_dir, .args, .["env-diff"]]') \
		<(tr-tojson "$trace" | jq -c 'select(.kind == "exec") | [.name, .cwd, .argv, .envdiff]')
}

@test "names of arguments do not clash with our keys" {
	[ "$(tr-tojson "$vectors" | fields 'select(.kind == "call") | .args.mode // .args.mask // .args.v.y')" = \
		'"GL_TRIANGLES" "GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT" 2.5' ]
	[ "$(tr-tojson "$vectors" | fields 'select(.kind == "leave") | .return')" = '"GL_NO_ERROR"' ]
	[ "$(tr-tojson "$vectors" | fields 'select(.name == "open") | .results.error')" = 'null "ENOENT"' ]
}

@test "numbers that JSON tools would change are strings" {
	printf 'x\t9007199254740991\t1.50\t007\t-\ta=9007199254740992\tb=-9007199254740991\tc=0xff\td=nan\te=-inf\tf=1e300\n' |
		tr-tojson >out
	jq '.f == 1e300' out | grep -x true # which jq 1.6 and 1.7 print differently
	[ "$(jq -c 'del(.f)' out)" = '{"kind":"x","seq":9007199254740991,"time":"1.50","task":"007","name":null,"a":"9007199254740992","b":-9007199254740991,"c":"0xff","d":"nan","e":"-inf"}' ]
}

@test "every value of the tables is JSON that jq reads" {
	grep -v '^# ' "$data/trec/values-good.tsv" | cut -f1 | sed 's/^/x\t0\t-\t-\t-\tv=/' >values.trec
	tr-tojson values.trec >out
	[ "$(jq -c 'has("v")' out | grep -cx true)" -eq "$(wc -l <values.trec)" ]
	tr-tojson --as=array --pretty values.trec | jq 'length > 100' | grep -x true
	# lone surrogates, which jq 1.6 cannot even skip
	printf 'x\t0\t-\t-\t\\xed\\xa0\\x80\tv="\\ud800"\tw={"\\udfff":["\\ude00\\ud83d"]}\n' | tr-tojson | jq '.v["$bytes"] == "7aCA"' | grep -x true
}

@test "a bad value is shown, reported, and counts" {
	printf 'x\t0\t-\t-\t-\ta=01\tb=2\nx\t1\t-\t-\t-\tc=3\n' >bad
	run -2 --separate-stderr tr-tojson bad
	[ "${lines[0]}" = '{"kind":"x","seq":0,"time":null,"task":null,"name":null,"a":{"$raw":"01"},"b":2}' ]
	[ "${#lines[@]}" -eq 2 ]
	[[ $stderr == *bad:1:* ]]
}

@test "--as=records is the default" {
	for trace in "${traces[@]}"; do
		tr-tojson "$trace" >records
		[ -s records ]
		tr-tojson --as=records "$trace" | cmp - records
	done
}

@test "--as=array: the same objects in one array" {
	for trace in "${traces[@]}"; do
		cmp <(tr-tojson "$trace" | jq -c .) <(tr-tojson --as=array "$trace" | jq -c '.[]')
	done
	tr-parse small small | tr-tojson --as=array | jq 'length == 4' | grep -x true
	[ "$(tr-tojson --as=array </dev/null)" = '[]' ]
}

@test "--as=array is closed after damage" {
	{ cat small; printf 'no line\nexec\t2\t-\t-\tb\tx'; } >damaged
	run -2 --separate-stderr tr-tojson --as=array damaged
	[ "$(jq length <<<"$output")" -eq 2 ]
	zcat "$data/build/zlib.kw.json.gz" | gzip | head -c 3000 >cut.gz
	run -2 --separate-stderr tr-tojson --as=array cut.gz
	[ "$(jq length <<<"$output")" -gt 10 ]
}

@test "--pretty looks like jq's, for records and array" {
	for trace in "${traces[@]}"; do
		[ "$(tr-tojson --pretty "$trace" | wc -l)" -gt "$(tr-tojson "$trace" | wc -l)" ]
		cmp <(tr-tojson --pretty "$trace" | jq -c .) <(tr-tojson "$trace" | jq -c .)
		cmp <(tr-tojson --as=array --pretty "$trace" | jq -c .) <(tr-tojson --as=array "$trace" | jq -c .)
	done
	trace=$data/build/mc.kw.jsonl.gz # without numbers that jq spells anew
	cmp <(tr-tojson --pretty "$trace") <(tr-tojson "$trace" | jq .)
	cmp <(tr-tojson --as=array --pretty "$trace") <(tr-tojson --as=array "$trace" | jq .)
}

@test "--typed survives jq, on lines and over lines" {
	for trace in "${traces[@]}"; do
		tr-parse "$trace" >stream
		[ -s stream ]
		cmp stream <(tr-tojson --typed "$trace" | tr-parse -f json)
		cmp stream <(tr-tojson --typed "$trace" | jq -c . | tr-parse -f json)
		cmp stream <(tr-tojson --typed "$trace" | jq . | tr-parse)
		cmp stream <(tr-tojson --typed stream | jq --tab . | tr-parse)
	done
}

@test "--typed has every line of the stream" {
	for trace in "${traces[@]}"; do
		[ "$(tr-tojson --typed "$trace" | wc -l)" -eq "$(tr-parse "$trace" | wc -l)" ]
	done
	printf '# a\tb\n%%trec\t1\n%%fn\tF1\tf\targs=["a"]\ncall\t0\t-\t0\tf\ta=1\t->\n!end\t1\n' >stream
	run -0 tr-tojson --typed stream
	[ "${lines[0]}" = '["#"," a\tb"]' ]
	[ "${lines[1]}" = '["%trec",1]' ]
	[ "${lines[2]}" = '["%fn","F1","f",["args",["a"]]]' ]
	[ "${lines[3]}" = '["call",0,null,"0","f",["a",1],"->"]' ]
	[ "${lines[4]}" = '["!end",1]' ]
}

@test "--typed: the tables, both ways" {
	grep -v '^# ' "$data/trec/lines-good.tsv" >rows
	while IFS=$'\t' read -r line _ _ _ typed _; do
		case $line in *feature=*) continue ;; esac
		printf '%b\n' "$line" >line
		tr-tojson -f trec --typed line 2>/dev/null | grep -vF '["!end",' >out || true
		case $typed in '["!end"'*) continue ;; esac
		[ "$(cat out)" = "$typed" ] || { cat out; echo "$typed"; false; }
		printf '%s\n' "$typed" | tr-parse -f json 2>/dev/null | grep -v '^!end' | cmp - line
	done <rows
}

@test "--typed carries lines that are not trec" {
	printf 'exec\t0\t-\t-\tC:\\gcc\ta=01\tnofield\t-=1\n' >bad
	run -2 --separate-stderr tr-tojson --typed bad
	[ "$output" = '["exec",0,null,null,{"$raw":"C:\\gcc"},["a",{"$raw":"01"}],{"$raw":"nofield"},[{"$raw":"-"},1]]' ]
	[[ $stderr == *bad:1:* ]]
	tr-tojson --typed bad 2>/dev/null | jq -c . | tr-parse -f json 2>/dev/null | cmp - bad
}

@test "numbers made by jq's arithmetic are an error that explains the right form" {
	tr-tojson --typed small | jq -c 'if .[0] == "exec" then .[5][1] = 1.5 else . end' >changed
	run -2 --separate-stderr tr-parse -f json changed
	[ "$(grep -c '^[a-z]' <<<"$output")" -eq 1 ]
	[[ $stderr == *changed:2:*'$real'* ]]
	[[ $output == *errors=1* ]]
	tr-tojson --typed small | jq -c 'if .[0] == "exec" then .[5][1] = 9007199254740993 else . end' >changed
	run -2 --separate-stderr tr-parse -f json changed
	[[ $stderr == *changed:2:*'$int'* ]]
}

@test "--as=klocwork: the same bytes as tr-repack" {
	for trace in "$data"/build/*.kw.json*.gz; do
		tr-parse "$trace" >stream
		cmp <(zcat "$trace") <(tr-tojson --as=klocwork "$trace")
		cmp <(tr-repack -t klocwork stream) <(tr-tojson --as=klocwork stream)
		cmp <(tr-repack -t klocwork -z none -O env-base=top "$trace") \
			<(tr-tojson --as=klocwork -O env-base=top "$trace")
	done
}

@test "--as of a format: empty input gives valid JSON" {
	for format in compdb buildspec; do
		[ "$(tr-tojson --as=$format </dev/null | jq -c .)" = "[]" ]
		[ "$(tr-filter never "$top_srcdir/tests/data/trec/filter.trec" | tr-tojson --as=$format | jq -c .)" = "[]" ]
	done
	run -0 tr-tojson --as=klocwork </dev/null
	[ -z "$output" ]
	run -2 --separate-stderr tr-tojson --as=compdb missing
	[ -z "$output" ]
}

@test "errors in usage are reported" {
	run -2 tr-tojson --as=nothing small
	[[ $output == *"--as takes records|array|chrome|klocwork|compdb|buildspec|bear|gcovjson, not 'nothing'"* ]]
	run -2 tr-tojson --as=trec small
	run -2 tr-tojson --typed --as=array small
	run -2 tr-tojson --typed --pretty small
	run -2 tr-tojson --as=klocwork --pretty small
	run -0 tr-tojson --help
	[[ $output == *--as=* && $output == *--typed* && $output == *--pretty* ]]
}

@test "common options: -o, -f, --strict, --line-buffered, several files, a pipe" {
	tr-tojson small >expected
	tr-tojson -o out small
	cmp expected out
	tr-tojson -f trec <small | cmp - expected
	cat small | tr-tojson - | cmp - expected
	[ "$(tr-tojson small small | wc -l)" -eq 4 ]
	{ cat small; echo; cat small; } >damaged
	run -2 tr-tojson --strict -o none damaged
	[ ! -e none ]
	# a record that is there is shown at once, though more may come
	mkfifo fifo
	tr-tojson --line-buffered <fifo >live 9>&- &
	exec 9>fifo
	cat small >&9
	for _ in $(seq 50); do
		[ "$(wc -l <live)" -lt 2 ] || break
		sleep 0.1
	done
	cmp live expected
	exec 9>&-
	wait $!
}
