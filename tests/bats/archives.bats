#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Hostile archives: nothing is written outside the directory of -o, each case gives a clear message, and the rest is
# converted, with one process and with several.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cases=$top_srcdir/tests/data/format/archives.cases
	make=$top_srcdir/tests/helper/archive_make
}

# everything but the directory of -o: names, kinds, links and content
outside() {
	find "$1" -path '*/inner/d' -prune -o -printf '%P %y %l\n' -type f -exec sha256sum {} + | LC_ALL=C sort
}

# prepare RECIPE: the directories, the links that are there, and the trace
prepare() {
	rm -rf case
	mkdir -p case/outer/inner
	ABS=$PWD/case
	cp --no-preserve=mode "$top_srcdir/tests/data/trec/filter.trec" trace
	echo canary >case/canary
	local word name
	for word in $1; do
		[[ $word == there:* ]] || continue
		name=${word#there:}
		mkdir -p case/outer/inner/d
		ln -s "${name#*>}" "case/outer/inner/d/${name%%>*}"
	done
}

# sorted WORDS
sorted() {
	tr ' ' '\n' <<<"${1//@a/$(printf 'a'; printf ' a-%d' {2..300})}" | LC_ALL=C sort | paste -sd' '
}

@test "every case of archives.cases" {
	local kind recipe status_wanted files message made=0 skipped=0 wrong=0
	while IFS='~' read -r kind recipe status_wanted files message; do
		if [ "$kind" = 7z ] && ! command -v 7z >/dev/null; then
			skipped=$((skipped + 1))
			continue
		fi
		prepare "${recipe//\$ABS/$PWD/case}"
		words=$(tr ' ' '\n' <<<"$recipe" | grep -v '^there:' | paste -sd' ')
		"$make" "$kind" trace "${words//\$ABS/$ABS}" >in
		for j in 1 3; do
			prepare "${recipe//\$ABS/$PWD/case}"
			cp in case/outer/inner/in
			before=$(outside case)
			cd case/outer/inner || return 1
			status_seen=0
			timeout 60 tr-repack -j $j -t trec -o d/ in 2>../../../messages </dev/null || status_seen=$?
			cd ../../.. || return 1
			seen=$("$make" --list case/outer/inner/d)
			if [ "$status_seen" != "$status_wanted" ] ||
				[ "$(sorted "$seen")" != "$(sorted "${files//\$ABS/${ABS#/}}")" ] ||
				[ "$(outside case)" != "$before" ] ||
				{ [ "$message" = - ] && [ -s messages ]; } ||
				! { [ "$message" = - ] || grep -qF -e "${message//\$ABS/$ABS}" messages; } ||
				LC_ALL=C grep -q $'[\001-\010\013-\037]' messages; then
				wrong=$((wrong + 1))
				echo "-j $j $kind | $recipe: status $status_seen, files: $seen"
				cut -c 1-300 messages
			fi
			made=$((made + 1))
			# into an archive
			tr-repack -q -j $j -t trec -o out$j.tar in 2>messages || [ $? -eq 2 ]
		done
		if [ -e out1.tar ]; then
			cmp out1.tar out3.tar
			! tar -tf out1.tar | grep -E '^/|(^|/)\.\.(/|$)'
			rm out1.tar out3.tar
		fi
	done < <(grep -v '^#' "$cases" | sed 's/ | /~/g')
	echo "$made archives, $skipped kinds without 7z"
	[ $made -ge 70 ]
	[ $wrong -eq 0 ]
}

@test "thousands of members, each once and in order" {
	local members=${TREC_MEMBERS:-10000} # in hundreds
	for ((n = 0; n < 100; n++)); do
		printf '%%trec\t1\tformat=trec\nexec\t%d\t-\t1\tgcc\n!end\t1\n' $n >"$n.trec"
	done
	tar -cf part.tar -- *.trec
	for ((n = 0; n < members / 100; n++)); do cat part.tar; done | gzip -1 >in.tar.gz
	for j in 1 3; do
		tr-repack -q -j $j -t trec --report=report$j -o out$j.tar in.tar.gz
	done
	cmp out1.tar out3.tar
	cmp report1 report3
	[ "$(tar -tf out1.tar | wc -l)" -eq "$members" ]
	[ "$(tar -tf out1.tar | tail -1)" = "99-$((members / 100)).trec" ]
	[ "$(grep -c '"type":"member".*"result":"ok"' report1)" -eq "$members" ]
	[[ $(tail -1 report1) == *"\"members\":$members,\"records\":$members,\"errors\":0,"* ]]
}
