#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The pages for a web server (make docs), and the page that the benchmark makes from its table.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "the front page lists every manual page, and all links between pages lead somewhere" {
	"$top_srcdir/docs/render" html "$top_srcdir"/man/*.[1-9]
	for page in "$top_srcdir"/man/*.[1-9]; do
		grep -qF "href=\"${page##*/}.html\"" html/index.html
	done
	! grep -q '@pages@' html/index.html
	grep -ohE '(href|src)="[^":#]+["#]' html/*.html | sed 's/.*="//; s/.$//' | sort -u >links
	[ "$(wc -l <links)" -gt 15 ]
	while read -r link; do
		[ -e "html/$link" ] || { echo "no $link" && return 1; }
	done <links
	# manuals refer to each other
	grep -q 'href="trec.5.html"' html/tr-parse.1.html
}

@test "the page of the benchmark has every row, the goals that were missed in bold, and a bar for each" {
	cat >table <<-'END'
	work                               peer                                    ours, s  peer, s     MB/s    ratio   goal           MiB     MiB
	one                                jq 'a | b' <x                             0.046    1.361      871    29.58     20 ok        3.5     3.2
	two                                grep -c                                   0.027    0.011     1460     0.42    0.8 BELOW     3.9    46.0
	three                              cat big                                   0.033    1.368     4123    42.09      -           1.6     3.1
	END
	printf 'growth\ttr-parse (big)\t%s\t%s\t%s\n' 10 0.05 4096 4000 20 5120 >>table
	awk -v md=page.md -v svg=page.svg -v note='On a machine.' -f "$top_srcdir/tests/bench/page.awk" table
	grep -Fx "| one | \`jq 'a \\| b' <x\` | 0.046 | 1.361 | 871 | 29.58 | 20 | 3.5 |" page.md
	grep -Fx '| two | `grep -c` | 0.027 | 0.011 | 1460 | **0.42** | 0.8 | 3.9 |' page.md
	grep -Fx '| three | `cat big` | 0.033 | 1.368 | 4123 | 42.09 | - | 1.6 |' page.md
	grep -Fx '| command | 10 MB | 4000 MB |' page.md
	grep -Fx '| `tr-parse (big)` | 0.05 s, 4.0 MiB | 20.00 s, 5.0 MiB |' page.md
	[ "$(grep -c 'height="11"' page.svg)" -eq 3 ]
	[ "$(grep -c 'stroke-width="2"' page.svg)" -eq 2 ]
	python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("page.svg")'
}
