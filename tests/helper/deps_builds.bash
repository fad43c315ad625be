# SPDX-License-Identifier: MIT
# For tests that compare tr-deps with compilers: projects, recordings, and gcc's dependencies. To be sourced.

# sources N: N sources in src/, half as many headers in inc/ that include each other, and main.c
sources() {
	local n=$1 i
	mkdir -p src inc
	for ((i = 1; i <= n / 2; i++)); do
		printf '#ifndef H%d\n#define H%d %d\n' $i $i $i
		[ $i = 1 ] || printf '#include "h%d.h"\n' $((i / 2))
		echo '#endif'
	done | awk '/^#ifndef/ { if (f) close(f); f = "inc/h" substr($2, 2) ".h" } { print >f }'
	for ((i = 1; i <= n; i++)); do
		printf '#include "h%d.h"\n#include "h%d.h"\nint f%d(void) { return H1; }\n' \
			$(((i + 1) / 2)) $((i % (n / 2) + 1)) $i >src/f$i.c
	done
	printf '#include "h1.h"\nint f1(void), f%d(void);\nint main(void) { return f1() - f%d(); }\n' $n $n >src/main.c
}

# cmake_project N: two libraries, of which one is shared, and a program
cmake_project() {
	sources "$1"
	cat >CMakeLists.txt <<-END
		cmake_minimum_required(VERSION 3.10)
		project(demo C)
		include_directories(inc)
		file(GLOB first src/f*[02468].c)
		file(GLOB second src/f*[13579].c)
		add_library(first STATIC \${first})
		add_library(second SHARED \${second})
		add_executable(demo src/main.c)
		target_link_libraries(demo second first)
		install(TARGETS demo second DESTINATION bin)
	END
}

# libtool_project N: a library and a program, by a configure script with libtool
libtool_project() {
	local n=$1
	sources "$n"
	printf 'AC_INIT([demo],[1])\nAC_CONFIG_AUX_DIR([aux])\nAC_CONFIG_MACRO_DIRS([m4])\nAC_PROG_CC\nLT_INIT\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' >configure.ac
	cat >Makefile.in <<-'END'
		top_builddir = .
		LIBTOOL = @LIBTOOL@
		CC = @CC@
		objects = $(patsubst src/%.c,%.lo,$(wildcard src/f*.c))
		demo: main.o libdemo.la ; $(LIBTOOL) --silent --tag=CC --mode=link $(CC) -o $@ main.o libdemo.la
		libdemo.la: $(objects) ; $(LIBTOOL) --silent --tag=CC --mode=link $(CC) -rpath /usr/lib -o $@ $(objects)
		main.o: src/main.c ; $(CC) $(FLAGS) -Iinc -MMD -c -o $@ $<
		%.lo: src/%.c ; $(LIBTOOL) --silent --tag=CC --mode=compile $(CC) $(FLAGS) -Iinc -MMD -c -o $@ $<
		install: demo ; $(LIBTOOL) --silent --mode=install install -c demo libdemo.la $(DESTDIR)/
	END
	mkdir -p m4 aux
	{ libtoolize -q -c -i && aclocal -I m4 && autoconf && CONFIG_SHELL=$(command -v dash) ./configure; } >/dev/null 2>&1
}

# pairs ROOT FILE.d...: "target dependency" of each, as absolute paths, those below ROOT. Relative
# ones begin where gcc ran: in the directory from which the target leads to the file's own place.
pairs() {
	local root=$1
	shift
	awk 'FNR == 1 {
			target = $1; sub(/:$/, "", target); $1 = ""; more = 1
			base = FILENAME; own = target ".d"
			if (substr(base, length(base) - length(own) + 1) != own) sub(/\.o\.d$/, ".d", own)
			base = substr(base, 1, length(base) - length(own))
		}
		function whole(word) { return word ~ /^\// ? word : base word }
		more {
			more = sub(/\\$/, "")
			for (i = 1; i <= NF; i++)
				if ($i != "") print whole(target) "\n" whole($i)
		}' "$@" |
		xargs realpath -sm | paste -d' ' - - | awk -v root="$root/" 'index($2, root) == 1' | sort -u
}

# edges ROOT LOG: "target dependency" of every file below ROOT that was made, those below ROOT
edges() {
	tr-deps -q --project="$1" --as=dot "$2" | sed -n 's/^  "\(.*\)" -> "\(.*\)";$/\2 \1/p' |
		awk -v root="$1/" 'index($1, root) == 1 && index($2, root) == 1' | sort -u
}
