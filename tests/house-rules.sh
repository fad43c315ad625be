#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of the house that a program can check (HACKING.md), as TAP: includes, licence, style.
cd "${top_srcdir:-.}" || exit 1
run=0 failed=0

report() { # report "what" "offending lines"
	run=$((run + 1))
	if [ -z "$2" ]; then
		echo "ok $run - $1"
	else
		failed=$((failed + 1))
		echo "not ok $run - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# includes FOLDER: "file:header" for every quoted include below it
includes() {
	find "$1" -name '*.[ch]' -exec grep -HoE '^#[[:space:]]*include "[^"]+"' {} + |
		sed -E 's/:#[[:space:]]*include "/:/; s/"$//'
}

only() { # only FOLDER 'allowed|prefixes': reports includes that are not allowed
	report "$1 includes only $2" "$(includes "$1" | grep -vE ":($2)")"
}

only lib/core 'core/'
only lib/record 'core/|record/'
only lib/process 'core/|record/|process/'
only lib/preload 'core/|preload/'
only lib/deps 'core/|record/|process/|deps/'
only lib/diff 'core/|record/|process/|coverage/|diff/'
only lib/symbol 'core/|process/path\.h|symbol/'
only lib/coverage 'core/|record/|symbol/|coverage/'
only lib/expr 'core/|record/|expr/'
only lib/view 'core/|record/|process/|deps/|symbol/|coverage/|view/'
for folder in lib/format/*/; do
	folder=${folder%/}
	own=${folder#lib/}
	only "$folder" "core/|record/|process/|deps/|symbol/|coverage/|format/(format|reader_base|writer_base)\\.h|$own/"
done
report "what formats share knows no format's header" \
	"$(grep -HnE '#include "format/[a-z]+/' lib/format/*.[ch])"
only tools 'core/|record/|process/|preload/|deps/|diff/|symbol/|coverage/|expr/|view/|format/(format|trace)\.h|cli|tr_'

# each third-party header in exactly one file
for header in zlib.h lzma.h zstd.h bzlib.h lz4.h lz4frame.h brotli/encode.h brotli/decode.h archive.h archive_entry.h \
	snappy-c.h nettle/sha1.h nettle/sha2.h pcre2.h dwarf.h elfutils/libdw.h elfutils/libdwfl.h gelf.h; do
	places=$(grep -rlE "^#[[:space:]]*include <$header>" lib tools)
	[ "$(printf '%s\n' "$places" | wc -l)" -le 1 ] && places=
	report "<$header> is included in one place" "$places"
done

# hooks.c defines functions of these names for other programs; elf.c ends a process of its own
report "lib/ never prints and never exits" \
	"$(grep -rnE '\b(printf|fprintf|puts|perror|exit|_exit|abort|errx?|warnx?) ?\(' lib --include='*.c' --exclude=hooks.c --exclude=elf.c |
		grep -vE ':[0-9]+:[[:space:]]*(/?\*|//)' | grep -vE '\b(vs?n?printf|snprintf)\b')"
report "no unsafe string functions" \
	"$(grep -rnE '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|strncpy|strncat|alloca) ?\(' lib tools --include='*.c')"

sources() {
	find lib tools tests -name '*.[ch]'
}

# shellcheck disable=SC2046 # names without blanks
report "_GNU_SOURCE comes from configure alone" "$(grep -nE '^#[[:space:]]*define _GNU_SOURCE' $(sources))"
report "every file names its licence" "$(find lib tools tests man m4 completions bootstrap configure.ac Makefile.am \
	\( -path tests/data -o -path tests/fuzz/corpus \) -prune -o -type f \
	! -name '*.html' ! -name '*.result' ! -name '*.o' -exec grep -L 'SPDX-License-Identifier: MIT' {} +)"

# other versions of clang-format break some lines in other places
style="the source is as clang-format has it"
if clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
	report "$style" "$(sources | xargs clang-format -n 2>&1 | grep ': warning:')"
else
	run=$((run + 1))
	echo "ok $run - $style # SKIP clang-format 14 is not installed"
fi

echo "1..$run"
[ "$failed" -eq 0 ]
