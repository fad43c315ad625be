#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-filter, tr-tojson and blobs on apitrace's traces. mt4: four threads, 1,207 of 5,342 calls are
# split into enter and leave.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	data=${top_srcdir:?}/tests/data/apitrace
	mt4=$data/mt4.trace
}

# apitrace's text of mt4, each call on one line
calls() {
	gzip -dc "$data/mt4.txt.gz" | awk '/^[0-9]+ @/ { if (l) print l; l = $0; next }
		!/^\/\// { l = l "\\n" $0 }
		END { print l }'
}

# The calls on stdin as apitrace's text begins: "@THREAD NAME", in the order of their leaves.
names() {
	tr-parse --join | awk -F'\t' '/^(call|enter)/ { print "@" $4 " " $5 }'
}

@test "tests on arguments and results count what a search in apitrace's text counts" {
	calls >text
	[ "$(wc -l <text)" -eq 5342 ]
	rows=0
	while IFS=$'\t' read -r expr regex; do
		[[ $expr == '# '* ]] && continue
		echo "$expr"
		have=$(tr-filter -c -e "$expr" "$mt4" || true)
		want=$(grep -cE -- "$regex" text || true)
		echo "$have, $want"
		[ "$have" -eq "$want" ]
		rows=$((rows + 1))
	done <"$data/mt4-tests.tsv"
	[ "$rows" -ge 30 ]
}

@test "the stream and the records give the same result" {
	tr-parse "$mt4" >mt4.trec
	for expr in 'call and has(return)' 'mask has GL_COLOR_BUFFER_BIT' 'len(pixels) == 16384' \
		'->return == GL_NO_ERROR and task == 2'; do
		tr-filter -e "$expr" "$mt4" >a
		tr-filter -e "$expr" mt4.trec | cmp - a
		[ "$(tail -n1 a)" = "$(printf '!end\t%d' "$(tr-filter -c -e "$expr" mt4.trec)")" ]
	done
	# selected and unselected records together are all records
	tr-filter -e 'not has(return)' mt4.trec | grep -v '^[%!]' >rest
	tr-filter -e 'has(return)' mt4.trec | grep -v '^[%!]' | cat - rest | sort >both
	grep -v '^[%!]' mt4.trec | sort | cmp - both
}

@test "--calls selects every call of the set, however late it returns" {
	for set in '100-200' '16' '*/13' '*/draw' '5000-/frame,17'; do
		tr-filter --calls="$set" --fields=seq "$mt4" | sort -n >have
		case $set in
		100-200) seq 100 200 ;;
		16) echo 16 ;;
		'*/13') seq 0 13 5341 ;;
		'*/draw') calls | grep -E ' gl(Clear|DrawArrays)\(' | cut -d' ' -f1 | sort -n ;;
		*) calls | awk '$1 == 17 || ($1 >= 5000 && / glXSwapBuffers\(/) { print $1 }' | sort -n ;;
		esac >want
		cmp have want
	done
}

@test "--frames selects a call with the frame in which it returned" {
	calls | awk '{ split($3, name, "("); print frame + 0, $2 " " name[1] }
		/ glXSwapBuffers\(/ { frame++ }' >frames
	for set in 0 1 7 238 240 100-102 '200-'; do
		tr-filter --frames="$set" "$mt4" | names >have
		awk -v from="${set%-*}" -v to="${set#*-}" \
			'$1 >= from && (to == "" || $1 <= to) { print $2 " " $3 }' frames >want
		echo "$set"
		cmp have want
	done
	run -1 tr-filter --frames=241 "$mt4"
	[ "$(tr-filter -c --frames='*/frame' "$mt4")" -eq 240 ]
}

@test "a set selects the same calls from a stream, which is read to its end" {
	tr-parse "$mt4" >mt4.trec
	for option in --calls=10-20 --frames=3 '--calls=*/frame' --frames=230-; do
		tr-filter "$option" "$mt4" >a
		[ "$(grep -c '^call' a)" -gt 0 ]
		tr-filter "$option" mt4.trec | cmp - a
	done
}

@test "only the definitions used by the selected records are written" {
	tr-filter 'name == "glTexImage2D" and task == 1' "$mt4" >out
	[ "$(grep -c '^%fn' out)" -eq 1 ]
	[ "$(grep -c '^%enum' out)" -eq 1 ]
	run -1 grep '^%mask' out
	[ "$(tr-filter --definitions=all glx "$mt4" | grep -c '^%')" -eq \
		"$(tr-parse "$mt4" | grep -c '^%')" ]
	[ "$(tr-filter --definitions=none call "$mt4" | grep -c '^%')" -eq 1 ]
}

@test "--blob-dir writes blobs that give the same stream again" {
	tr-parse "$mt4" >mt4.trec
	tr-parse --blob-dir=blobs "$mt4" >light.trec
	run -1 grep b64: light.trec
	[ "$(grep -c file: light.trec)" -gt 700 ]
	tr-repack -t trec --blob-dir=blobs light.trec | cmp - mt4.trec
	[ "$(tr-filter -c 'len(pixels) == 16384' light.trec)" -eq 240 ]
	tr-parse --no-blobs "$mt4" >none.trec
	[ "$(tr-filter -c 'len(pixels) == 16384' none.trec)" -eq 240 ]
	[ "$(wc -l <none.trec)" -eq "$(wc -l <mt4.trec)" ]
}

@test "typed JSON gives the same stream back, also after jq" {
	tr-parse "$mt4" >mt4.trec
	tr-tojson --typed "$mt4" >typed
	[ "$(wc -l <typed)" -gt 5342 ]
	tr-parse -f json typed | cmp - mt4.trec
	command -v jq >/dev/null || skip "jq is not installed"
	jq -c . typed | tr-parse -f json | cmp - mt4.trec
}

@test "JSON records count what tr-filter counts" {
	command -v jq >/dev/null || skip "jq is not installed"
	tr-tojson "$mt4" >records
	[ "$(wc -l <records)" -eq 6549 ]
	[ "$(jq -c 'select(.return == "GL_NO_ERROR")' records | wc -l)" -eq 240 ]
	[ "$(jq -c 'select(.args.mask // "" | split("|") | index("GL_COLOR_BUFFER_BIT"))' records | wc -l)" -eq 240 ]
	[ "$(jq -r 'select(.kind != "leave" and .task == "3") | .name' records | wc -l)" -eq \
		"$(tr-filter -c 'task == 3' "$mt4")" ]
}
