#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compares --help, the manual pages, the README and HACKING with one another and with the tools.
# Their examples are run in examples.bats, and the completions are compared in completions.bats.

bats_require_minimum_version 1.5.0

TOOLS="tr-parse tr-filter tr-tojson tr-totext tr-stat tr-tohtml tr-envdiff tr-deps tr-diff tr-repack tr-symbolize tr-record"

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# Prints the options of a tool from --help=all: lines that begin with blanks and a hyphen.
help_options() {
	"$1" --help=all | sed -nE 's/^ +(-.*)/\1/p' | sed -E 's/  .*//' |
		grep -oE '(^|, )--?[A-Za-z0-9][a-z0-9-]*' | sed 's/^, //' | sort -u
}

# Prints the options of a page from its .It lines.
page_options() {
	sed -nE 's/^\.It (Fl .*)/\1/p' "$top_srcdir/man/$1" |
		grep -oE '(, Fl|Fl|,) -?[A-Za-z0-9][a-z0-9-]*' | sed -E 's/^(, Fl|Fl|,) /-/' | sort -u
}

@test "help and manual page name the same options" {
	page_options trec-tools.7 >common
	for tool in $TOOLS; do
		help_options "$tool" >help
		page_options "$tool.1" | sort -u - common >page
		# a tool that makes its own records has no options for reading
		if [ "$tool" = tr-record ]; then
			comm -12 help page >both
			page_options tr-record.1 | sort -u - both >page
		fi
		echo "$tool: --help against the pages"
		diff help page
	done
}

@test "manual pages are well formed" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	mandoc -T lint -W warning "$top_srcdir"/man/*.[157] || return 1
	# \| is a narrow space: an alternative in a pattern would not be printed
	run -1 grep -n '\\|' "$top_srcdir"/man/*.[157]
	# an option after an argument needs another Fl, or it loses a hyphen
	run -1 grep -nE '^\.(Op|It|Fl).*Ar [A-Z]+ [|,] -' "$top_srcdir"/man/*.[157]
	# a quote at the start of a later word is not printed
	run -1 grep -nE '^\.(Ql|Li|Dl|Cm|Dq|Pq) [^"].* "' "$top_srcdir"/man/*.[157]
}

@test "tr-totext(1) lists every style, and has a section for it" {
	styles=$(tr-totext --style=none 2>&1 | sed -n 's/.*--style takes \([^,]*\),.*/\1/p' | tr '|' ' ')
	[ "$(wc -w <<<"$styles")" -gt 5 ]
	for style in $styles; do
		sed -n '/^\.Sh STYLES/,/^\.Sh LIMITS/p' "$top_srcdir/man/tr-totext.1" | grep -qE "^\.Ss .*\b$style(,|\$)" ||
			{ echo "no section: $style" && return 1; }
		sed -n '/^\.It Fl -style/,/^\.El/p' "$top_srcdir/man/tr-totext.1" | grep -qE "^\.Cm .*\b$style( |\$)" ||
			{ echo "not in the list: $style" && return 1; }
	done
}

@test "columns of the manual pages are as wide as their cells" {
	awk 'BEGIN { macro = "(Li|Cm|No|Ql|Sy) " }
		/^\.Bl -column/ { split($0, quoted, "\""); width = length(quoted[2]); next }
		/^\.El/ { width = 0 }
		/^\.It .* Ta / && width { cell = $0; sub(/^\.It /, "", cell); sub(/ Ta .*/, "", cell)
			gsub(macro, "", cell); gsub(/ ,/, ",", cell); cells++
			if (length(cell) > width) { print FILENAME ": " cell; bad = 1 } }
		END { exit bad || cells < 50 }' "$top_srcdir"/man/*.[157]
	# a macro that quotes takes all that follows on its line
	run -1 grep -nE '(^\.It| Pq|^\.Pq) .*Ql [^ ]+ (No|,) [^ ]' "$top_srcdir"/man/*.[157]
}

@test "README, trace-formats(5) and --list-formats have the same formats" {
	tr-parse --list-formats | cut -f1-3 | sort >listed
	sed -nE 's/^\| ([a-z0-9]+) \| .* \| (yes|no) \| (yes|no) \|$/\1\t\2\t\3/p' "$top_srcdir/README.md" |
		sort >readme
	sed -nE 's/^\.It ([a-z0-9]+) Ta (yes|no) Ta (yes|no) Ta .*/\1\t\2\t\3/p' \
		"$top_srcdir/man/trace-formats.5" | sort >page
	[ -s listed ]
	diff listed readme
	diff listed page
}

@test "tr-tojson --as takes the JSON formats that its help and its page name" {
	for format in $(tr-parse --list-formats | cut -f1); do
		run tr-tojson --as="$format" /dev/null
		[ "$status" -ne 0 ] || echo "$format"
	done | sort >taken
	tr-tojson --help | sed -n 's/^ *--as=\([a-z|]*\).*/\1/p' | tr '|' '\n' |
		grep -vxE 'records|array|chrome' | sort >helped
	sed -n '/^\.It Fl -as /,/^\.El/s/^\.It Cm \(klocwork.*\)/\1/p' "$top_srcdir/man/tr-tojson.1" |
		tr -s ', ' '\n' | sort >page
	[ -s taken ]
	diff taken helped
	diff taken page
}

@test "files and functions that HACKING names exist" {
	cd "$top_srcdir"
	grep -ohE '\b(lib|core|record|format|process|coverage|expr|view|tools|tests|docs|man)/[A-Za-z0-9_/-]+\.[a-z0-9.]+' \
		HACKING.md | sed 's/\.$//' | grep -v 'NAME\|PAGE\|\.log$' | sort -u >"$BATS_TEST_TMPDIR/named"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/named")" -ge 15 ]
	while read -r name; do
		[ -e "$name" ] || [ -e "lib/$name" ] || echo "missing: $name"
	done <"$BATS_TEST_TMPDIR/named" >"$BATS_TEST_TMPDIR/missing"
	grep -oE '`(struct )?[a-z]+(_[a-z]{2,})+`' HACKING.md | tr -d '`' | sort -u >"$BATS_TEST_TMPDIR/functions"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/functions")" -ge 5 ]
	while read -r name; do
		grep -rqw --include='*.[ch]' "$name" lib tools tests || echo "missing: $name"
	done <"$BATS_TEST_TMPDIR/functions" >>"$BATS_TEST_TMPDIR/missing"
	cat "$BATS_TEST_TMPDIR/missing"
	[ ! -s "$BATS_TEST_TMPDIR/missing" ]
}

@test "every tool has a page, a version and examples in its help" {
	for tool in $TOOLS; do
		[ -f "$top_srcdir/man/$tool.1" ]
		grep -q "^| $tool | " "$top_srcdir/README.md"
		grep -q "^\.It Xr $tool 1$" "$top_srcdir/man/trec-tools.7"
		"$tool" --version | head -n1 | grep -E "^$tool \(trec-tools\) [0-9]+\.[0-9]+\.[0-9]+$"
		"$tool" --help | grep -q "^Examples:"
	done
}

@test "trace-formats(5) has every key of -O in the section of its format" {
	for tool in tr-parse tr-repack; do
		"$tool" --help=formats
	done | awk '/^  [a-z]/ { key = $1; sub(/=.*/, "", key); $1 = "" }
		key && / *[a-z0-9-]+: / { sub(/^ */, ""); sub(/:.*/, ""); if (!/^tr-/) print $0, key; key = "" }' |
		sort -u >keys
	[ "$(wc -l <keys)" -gt 50 ]
	awk '/^\.S[hs] / { delete names; n = split(substr($0, 5), names, ", ") }
		/Cm / { gsub(/[=,|]/, " "); for (i = 1; i <= n; i++) for (j = 1; j <= NF; j++) print names[i], $j }' \
		"$top_srcdir/man/trace-formats.5" | sort -u >page
	comm -23 keys page >missing
	cat missing
	[ ! -s missing ]
}
