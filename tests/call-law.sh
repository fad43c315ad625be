#!/bin/sh
# Files call each other in no circle (HACKING.md), as TAP: what two of them need stands below both.
# What recurses is listed, and has to be there.
cd "${top_builddir:-.}" || exit 1
if ! command -v nm >/dev/null; then
	echo "1..0 # SKIP nm is not installed"
	exit
fi

# the symbols of every object that has a source: "FILE.c U|D SYMBOL"
symbols() {
	find lib tools -name '*.o' | while read -r object; do
		source=${object%.o}.c
		[ ! -e "${top_srcdir:-.}/${source%/*}/${source##*/libtrec_a-}" ] || echo "$object"
	done | xargs nm -A -P | awk '
		{ file = $1; sub(/\.o:$/, ".c", file); sub(/libtrec_a-/, "", file) }
		$3 ~ /^[Uw]$/ { print file, "U", $2 }
		$3 ~ /^[ABCDGRSTVW]$/ && $2 != "main" { print file, "D", $2 }'
}

# "USER OWNER" for every call of one file into another
calls() {
	awk '$2 == "D" { owner[$3] = $1 }
		$2 == "U" { user[++n] = $1; used[n] = $3 }
		END { for (i = 1; i <= n; i++)
			if (used[i] in owner && owner[used[i]] != user[i]) print user[i], owner[used[i]] }' |
		sort -u
}

all=$(symbols | calls)
# what recurses: values hold values, and the end of a task may be that of another one's call
without=$(printf '%s\n' "$all" | grep -vx \
	-e 'lib/record/literal_container.c lib/record/literal_parse.c' \
	-e 'lib/format/strace/reader_call.c lib/format/strace/reader_end.c' \
	-e 'lib/format/strace/reader_thread.c lib/format/strace/reader_begun.c')
circles=$(printf '%s\n' "$without" | tsort 2>&1 >/dev/null)
result=ok
count=$(printf '%s\n' "$all" | wc -l)
[ $((count - $(printf '%s\n' "$without" | wc -l))) -eq 3 ] ||
	{ result="not ok"; echo "# a listed call is not there any more"; }
[ "$count" -gt 500 ] || { result="not ok"; echo "# no calls found"; }
[ -z "$circles" ] || { result="not ok"; printf '%s\n' "$circles" | sed 's/^/# /'; }
echo "$result 1 - files call each other in no circle"
echo "1..1"
[ "$result" = ok ]
