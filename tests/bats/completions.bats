#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each shell offers the contents of the tool's option table, as --help=all and --help=formats print it: every option, the
# choices of its argument, formats, the keys of -O with their choices, and files. Each shell is
# driven through its own completion (tests/helper/complete.*), with one line for each of these.

bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	expected | sort -u >expected
	cut -f1 expected | uniq >lines
	# the compared output contains keys and files
	grep -qP ' -O quoting=\tgnu$' expected || return
	grep -qP ' -o of\toffered.txt$' expected
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir files home && touch files/offered.txt && mkdir files/offered
	export HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home XDG_DATA_HOME=$PWD/home
	# a shell that waits sends SIGCONT, which ends the stop that LeakSanitizer waits for
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
}

# Prints the lines to complete for argument $2 after "$1": "LINE<TAB>OFFER" for each choice, for each
# format that $tool lists, or for each file that begins with "of"; "LINE<TAB>" alone in any case.
argument() {
	local line=$1
	case $2 in DIR | FILE | PATH* | CONFIG | DATABASE | PROG) line+=of ;; esac
	echo "$line	"
	case $2 in
	*'|'*) tr '|' '\n' <<<"${2%%[*}" ;;
	NAME) "$tool" --list-formats | awk -F'\t' '$2 == "yes" { print $1 }' ;;
	FORMAT) "$tool" --list-formats | awk -F'\t' '$3 == "yes" { print $1 }' ;;
	DIR) echo offered ;;
	FILE | PATH* | CONFIG | DATABASE | PROG) printf '%s\n' offered offered.txt ;;
	esac | sed "s/^/$line	/"
}

# The same for each tool: its options and keys, and every argument that no tool before it had.
expected() {
	local tool letter name argument key values
	local -A seen=()
	for tool in "$top_srcdir"/man/tr-*.1; do
		tool=${tool##*/} tool=${tool%.1}
		{ "$tool" --help=all && "$tool" --help=formats; } >help
		sed -nE '/^Options:/,/^$/s/^ {2,6}(-.*)/\1/p' help | sed -E 's/  .*//' |
			sed -E 's/^(-(.), )?--([a-z0-9-]+)(\[?=(.*[^]]|.*\[.*\]))?\]?$/\2;\3;\5/' >options
		[ -s options ] && ! grep -qvP '^.?;[a-z0-9-]+;[^;]*$' options || return 1
		sed -nE '/^Keys of -O:/,/^$/s/^  ([a-z][a-z0-9-]*)=([^ ]+).*/\1 \2/p' help >keys
		awk -F';' -v line="$tool -" '{ print line "\t--" $2 } $1 != "" { print line "\t-" $1 }' options
		awk -v line="$tool -O " '{ print line "\t" $1 }' keys
		printf '%s\t\n' "$tool -" "$tool -O "
		while IFS=';' read -r letter name argument; do
			[ -n "$argument" ] && [ "$argument" != KEY=VALUE ] || continue
			[ -z "${seen[$name;$argument]}" ] || continue
			seen[$name;$argument]=yes
			argument "$tool --$name=" "$argument"
			[ -z "$letter" ] || argument "$tool -$letter " "$argument"
		done <options
		for key in $(cut -d' ' -f1 keys | sort -u); do
			values=$(awk -v key="$key" '$1 == key { print $2 }' keys)
			[ -z "${seen[$key=$values]}" ] || continue
			seen[$key=$values]=yes
			for argument in $values; do
				argument "$tool -O $key=" "$argument"
				[[ $key != [a-e]* ]] || argument "$tool --option=$key=" "$argument"
			done
		done
		grep -q '^Usage: .*COMMAND' help || argument "$tool " FILE
	done
	argument "tr-parse -- x " FILE
}

# offers SHELL FILE [ARG...]: prints the completions of SHELL for each line of standard input.
offers() {
	local shell=$1 completion=$top_srcdir/completions/$2
	shift 2
	(cd files && timeout 60 "$shell" "$top_srcdir/tests/helper/complete.$shell" "$completion" "$@")
}

# check SHELL FILE [ARG...]: compares the completions of SHELL with the expected ones.
check() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
	offers "$@" <"$BATS_FILE_TMPDIR/lines" >raw
	# a completion is the whole word, or replaces the part after "=", and may end in "=" or "/"
	awk -F'\t' '{ sub(/[=\/]$/, "", $2); sub(/^.*=/, "", $2); print $1 "\t" $2 }' raw |
		cat - <(sed 's/$/\t/' "$BATS_FILE_TMPDIR/lines") | sort -u >offered
	diff "$BATS_FILE_TMPDIR/expected" offered
}

# A tool that runs a command offers commands, then the completions of that command.
check_command() {
	printf '%s\n' 'tr-record bas' 'tr-record -o x -- bas' 'tr-record -q cat of' 'tr-record -o x cat of' >lines
	offers "$@" <lines >raw
	grep -qP '^tr-record bas\tbash$' raw
	grep -qP '^tr-record -o x -- bas\tbash$' raw
	grep -qP '^tr-record -q cat of\toffered.txt$' raw
	grep -qP '^tr-record -o x cat of\toffered.txt$' raw
}

@test "bash offers what the option tables have" {
	check bash trec-tools.bash
	check_command bash trec-tools.bash
}

@test "zsh offers what the option tables have" {
	check zsh trec-tools.zsh "$PWD"
	check_command zsh trec-tools.zsh "$PWD"
}

@test "fish offers what the option tables have" {
	check fish trec-tools.fish
	check_command fish trec-tools.fish
}

@test "every codec that -z names can be written" {
	tr-repack --help | sed -nE 's/.*--codec=([a-z0-9|]+)\[.*/\1/p' | tr '|' '\n' >codecs
	[ "$(wc -l <codecs)" -ge 8 ]
	while read -r codec; do
		printf '%%trec\t1\nexec\t0\t-\t1\tx\n!end\t1\n' | tr-repack -O foreign=yes -t trec -z "$codec" >out
	done <codecs
}
