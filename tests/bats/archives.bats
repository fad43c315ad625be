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

# everything but the directories of -o: names, kinds, links and content
outside() {
	find cases -path '*/inner/d' -prune -o -printf '%P %y %l\n' -type f -exec sha256sum {} + | LC_ALL=C sort
}

# sorted WORDS
sorted() {
	tr ' ' '\n' <<<"${1//@a/$(printf 'a'; printf ' a-%d' {2..300})}" | LC_ALL=C sort | paste -sd' '
}

# Reads the cases into arrays, and makes the archives: in/N. What $ABS is in a case is the directory cases/N.
read_cases() {
	local kind recipe status files message n=0
	mkdir in
	while IFS='~' read -r kind recipe status files message; do
		if [ "$kind" = 7z ] && ! command -v 7z >/dev/null; then
			skipped=$((skipped + 1))
			continue
		fi
		kinds+=("$kind")
		recipes+=("${recipe//\$ABS/$PWD/cases/$n}")
		statuses+=("$status")
		files=${files//\$ABS/${PWD#/}/cases/$n}
		lists+=("$(sorted "$files")")
		parts+=("${message//\$ABS/$PWD/cases/$n}")
		n=$((n + 1))
	done < <(grep -v '^#' "$cases" | sed 's/ | /~/g')
	for ((n = 0; n < ${#kinds[@]}; n++)); do
		printf '%s\t%s\t' in/$n "${kinds[n]}"
		words=()
		for word in ${recipes[n]}; do
			[[ $word == there:* ]] || words+=("$word")
		done
		echo "${words[*]}"
	done >recipes
	"$make" trace <recipes
}

# Makes the directories of all cases, and the links that are there.
prepare() {
	local n word name last=$((${#kinds[@]} - 1))
	rm -rf cases
	for ((n = 0; n <= last; n++)); do echo cases/$n/outer/inner; done | xargs mkdir -p
	for ((n = 0; n <= last; n++)); do
		echo canary >cases/$n/canary
		ln in/$n cases/$n/outer/inner/in
		for word in ${recipes[n]}; do
			[[ $word == there:* ]] || continue
			name=${word#there:}
			mkdir -p cases/$n/outer/inner/d
			ln -s "${name#*>}" "cases/$n/outer/inner/d/${name%%>*}"
		done
	done
}

@test "every case of archives.cases" {
	local kinds=() recipes=() statuses=() lists=() parts=() seen j n made=0 skipped=0 wrong=0 top=$PWD
	cp --no-preserve=mode "$top_srcdir/tests/data/trec/filter.trec" trace
	read_cases
	for j in 1 3; do
		prepare
		outside >before
		for ((n = 0; n < ${#kinds[@]}; n++)); do
			cd cases/$n/outer/inner
			seen[n]=0
			timeout 60 tr-repack -j $j -t trec -o d/ in 2>"$top/messages.$n" </dev/null || seen[n]=$?
			cd "$top"
			# into an archive
			tr-repack -q -j $j -t trec -o out$j.$n.tar in/$n 2>quiet || [ $? -eq 2 ]
		done
		outside >after
		diff before after
		run -1 env LC_ALL=C grep -l $'[\001-\010\013-\037]' messages.*
		n=0
		while IFS= read -r list; do
			text=$(<messages.$n)
			if [ "${seen[n]}" != "${statuses[n]}" ] || [ "$list" != "${lists[n]}" ] ||
				{ [ "${parts[n]}" = - ] && [ -n "$text" ]; } ||
				{ [ "${parts[n]}" != - ] && [[ $text != *"${parts[n]}"* ]]; }; then
				wrong=$((wrong + 1))
				echo "-j $j ${kinds[n]} | ${recipes[n]}: status ${seen[n]}, files: $list"
				cut -c 1-300 messages.$n
			fi
			made=$((made + 1)) n=$((n + 1))
		done < <(for ((n = 0; n < ${#kinds[@]}; n++)); do echo cases/$n/outer/inner/d; done |
			xargs "$make" --list)
	done
	for ((n = 0; n < ${#kinds[@]}; n++)); do
		[ -e out1.$n.tar ] || continue
		cmp out1.$n.tar out3.$n.tar
		[ -z "$(tar -tf out1.$n.tar | grep -E '^/|(^|/)\.\.(/|$)')" ]
	done
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

@test "a name that the output cannot hold is an error, and the other members are written" {
	cp --no-preserve=mode "$top_srcdir/tests/data/trec/filter.trec" trace
	printf 'in.tar\ttar\tfile:a long:x>70000 file:x file:b\n' | "$make" trace
	for j in 1 3; do
		for kind in tar zip cpio; do
			run -2 --separate-stderr tr-repack -j $j -t trec -o out.$kind in.tar
			[[ $stderr == *": $kind: a name of 70000 bytes cannot be written, only up to 65535"* ]]
			[[ $stderr == *"3 files and members: 2 converted, 1 with trouble" ]]
			tr-repack -t trec -o out$kind.tar out.$kind
			[ "$(tar -tf out$kind.tar)" = a$'\n'b ]
		done
	done
}
