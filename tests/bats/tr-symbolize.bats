#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-symbolize on programs that the test compiles; nm gives the addresses.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	run tr-symbolize --exe=/bin/sh </dev/null
	[[ $output != *'without libdw'* ]] || skip 'this build has no libdw'
	cat >parser.c <<'END'
static inline __attribute__((always_inline)) int half(int x)
{
	return x / 2;
}

int twice(int x)
{
	return 2 * half(x) + x;
}

int main(void)
{
	return twice(0);
}
END
	${CC:-gcc} -std=gnu11 -O0 -g -no-pie -o prog parser.c
	{
		printf 'section\t0\t-\t-\tHISTORY\tbits=64\tendian="little"\tmachine=EM_X86_64\n'
		block 1 main size=4
		block 2 twice size=4
		printf 'block\t3\t-\t-\t0x00000000deadbeef\tsize=4\n'
	} >run.trace
	cp run.trace run.log
}

# block SEQ FUNCTION FIELD...
block() {
	printf 'block\t%d\t-\t-\t0x%016x' "$1" "0x$(nm prog | awk -v name="$2" '$3 == name { print $1 }')"
	shift 2
	printf '\t%s' "$@"
	echo
}

@test "function, file and line of blocks; other records and blocks are passed on" {
	run -0 tr-symbolize --exe=prog run.trace
	[ "${lines[0]}" = "$(head -n 1 run.trace)" ]
	[ "${lines[1]}" = "$(sed -n 2p run.trace)"$'\tfunction="main"\tfile="'"$PWD"$'/parser.c"\tline=12' ]
	[ "${lines[2]}" = "$(sed -n 3p run.trace)"$'\tfunction="twice"\tfile="'"$PWD"$'/parser.c"\tline=7' ]
	[ "${lines[3]}" = "$(sed -n 4p run.trace)" ]
	# the result is a stream in its one spelling
	[ "$output" = "$(tr-parse <<<"$output")" ]
}

@test "fields that a record has are not changed" {
	block 1 main size=4 'function="other"' 'line=99' >own
	run -0 tr-symbolize --exe=prog own
	[ "$output" = "$(cat own)"$'\tfile="'"$PWD"$'/parser.c"' ]
}

@test "a block in an inlined call has the line and the functions of the call" {
	for at in $(objdump -d prog | sed -n '/<twice>:/,/ret/s/^ *\([0-9a-f]*\):.*/\1/p'); do
		printf 'block\t0\t-\t-\t0x%016x\tsize=1\n' "0x$at"
	done >each
	tr-symbolize --exe=prog each | grep -c 'function="twice".*line=3	inline=\["half"\]$'
	run ! grep -qv function <(tr-symbolize --exe=prog each)
}

@test "expressions and figures use the fields" {
	tr-symbolize --exe=prog run.trace >named
	[ "$(tr-filter -c 'block and function == "main"' named)" -eq 1 ]
	[ "$(tr-filter --fields=line 'block and file $= "/parser.c" and line < 10' named)" -eq 7 ]
	# those of --help
	while read -r command; do
		run -0 bash -c "$command"
		[ -n "$output" ]
	done < <(tr-symbolize --help | sed -n '/^Examples:/,/^$/s/^  \([^#].*\)/\1/p')
}

@test "-O exe gives other tools the same fields, without changing the records" {
	run -0 tr-filter --context=none -O exe=prog 'block and function == "main"' run.trace
	[ "$output" = "$(sed -n 2p run.trace)" ]
	run -0 tr-filter -O exe=prog --fields=function,file,line 'block and file $= "/parser.c"' run.trace
	[ "$output" = "$(tr-symbolize --exe=prog run.trace | tr-filter --fields=function,file,line 'has(file)')" ]
	[ "$(wc -l <<<"$output")" -eq 2 ]
	tr-stat -O exe=prog --by=function run.trace | grep -qE '^ +1 .* twice$'
	# the record's own fields win
	block 1 main size=4 'function="other"' >own
	run -1 tr-filter -q -O exe=prog 'function == "main"' own
	run -0 tr-filter -O exe=prog 'function == "other" and line == 12' own
	# of another place
	sed 's/0x00000000/0x00000055/' run.trace >moved
	${CC:-gcc} -O0 -g -pie -fPIE -o pie parser.c
	run -1 --separate-stderr tr-filter -O exe=pie 'block and line > 0' moved
	[[ $stderr == *'none of the 3 blocks is in pie, which can be loaded anywhere'* ]]
	run -2 tr-filter -O exe=parser.c 'block' run.trace
	[[ $output == *'parser.c: not an ELF file'* ]]
	run -2 tr-stat -O exe=missing --by=line run.trace
	[[ $output == *'missing: cannot be opened'* ]]
}

@test "addresses are found in a program that was loaded elsewhere, and in modules" {
	${CC:-gcc} -O0 -g -pie -fPIE -o prog parser.c
	block 1 main size=4 | sed 's/0x00000000/0x00000055/' >moved
	run -0 --separate-stderr tr-symbolize --exe=prog moved
	[ "$output" = "$(cat moved)" ]
	[[ $stderr == *'none of the 1 blocks is in prog, which can be loaded anywhere'* ]]
	for base in 0x5500000000 prog=0x5500000000; do
		tr-symbolize --base=$base --exe=prog moved | grep -q 'function="main".*line=12'
	done
	{
		printf 'module\t0\t-\t-\t/usr/lib/prog\tid=7\tbase=0x5500000000\tend=0x5500010000\n'
		sed 's/$/\tmodule=7/' moved
	} >modules
	tr-symbolize --path="$PWD" modules | grep -q 'module=7	function="main".*line=12'
	run -2 tr-symbolize modules
	[[ $output == *'no program given: --exe=PROG, or --path=DIR'* ]]
	run -2 tr-symbolize --exe=parser.c modules
	[[ $output == *'parser.c: not an ELF file'* ]]
	run -2 tr-symbolize --exe=prog --base=x modules
	[[ $output == *"base takes 0xADDRESS or NAME=0xADDRESS, not 'x'"* ]]
	# the output does not replace the program
	run -2 tr-symbolize --exe=prog -o prog moved
	head -c 4 prog | grep -q ELF
}

@test "without debug information there is the function" {
	strip -g prog
	tr-symbolize --exe=prog run.trace | grep -c 'function="main"$'
	strip prog
	run -0 tr-symbolize -q --exe=prog run.trace
	[ "$output" = "$(cat run.trace)" ]
}

@test "--demangle: the names of C++ and Ada, as c++filt writes them" {
	cat >a.cc <<'END'
namespace space {
template <class T> struct box {
	T value;
	T get() const { return value; }
};
int operator+(box<int> const &a, int b) { return a.get() + b; }
}
int main() { return space::operator+(space::box<int>{ 1 }, -1); }
END
	g++ -O0 -g -no-pie -o prog a.cc
	for name in $(nm prog | awk '$2 ~ /[tTW]/ && $3 ~ /space/ { print $3 }'); do block 1 "$name" size=4; done >cxx.trace
	[ "$(wc -l <cxx.trace)" -eq 2 ]
	tr-symbolize --exe=prog cxx.trace | tr-filter --raw --fields=function block >mangled
	tr-symbolize --demangle --exe=prog cxx.trace | tr-filter --raw --fields=function block | diff <(c++filt <mangled) -
	tr-symbolize --exe=prog --demangle cxx.trace | grep -qF 'function="space::box<int>::get() const"'
	[ "$(tr-filter -c -O exe=prog -O demangle=yes 'block and function ^= "space::"' cxx.trace)" -eq 2 ]
	tr-repack -q -t lcov -O demangle=yes -O exe=prog cxx.trace | grep -qxF 'FN:6,space::operator+(space::box<int> const&, int)'
	# from the symbol table
	strip -g prog
	tr-symbolize --demangle --exe=prog cxx.trace | tr-filter --raw --fields=function block | diff <(c++filt <mangled) -
	command -v gnatmake >/dev/null || skip 'no gnatmake'
	cat >pack.ads <<'END'
package Pack is
   type T is record X : Integer; end record;
   function "+" (A : T; B : Integer) return Integer;
   procedure Over (A : Integer);
   procedure Over (A : Float);
end Pack;
END
	cat >pack.adb <<'END'
package body Pack is
   V : Integer := 0;
   function "+" (A : T; B : Integer) return Integer is begin return A.X + B; end "+";
   procedure Over (A : Integer) is
      procedure Nested is begin V := A; end Nested;
   begin Nested; end Over;
   procedure Over (A : Float) is begin V := Integer (A); end Over;
end Pack;
END
	printf 'with Pack; use Pack;\nprocedure Test is\nbegin\n   Over (Pack.T'"'"'(X => 1) + 1); Over (1.0);\nend Test;\n' >test.adb
	gnatmake -q -g test.adb -o prog -largs -no-pie
	for name in $(nm prog | awk '$2 ~ /[tT]/ && $3 ~ /^(pack__[a-zO]|_ada_test)/ && $3 !~ /IP$/ { print $3 }'); do block 1 "$name" size=4; done >ada.trace
	[ "$(wc -l <ada.trace)" -eq 5 ]
	tr-symbolize --exe=prog ada.trace | tr-filter --raw --fields=function block >mangled
	tr-symbolize --demangle --exe=prog ada.trace | tr-filter --raw --fields=function block | diff <(c++filt -s gnat <mangled) -
	tr-symbolize --demangle --exe=prog ada.trace | grep -cF 'function="pack.over"' | grep -qx 2
}

@test "a label with a name is a line, and is not the line of the code after it" {
	printf 'int main(void)\n{\n\tgoto end;\nend:\n\treturn 0;\n}\n' >label.c
	${CC:-gcc} -O0 -g -no-pie -o prog label.c
	block 1 main size=4 >main.trace
	tr-repack -q -t lcov -O exe=prog main.trace | grep -q '^DA:4,'
	for at in $(objdump -d prog | sed -n '/<main>:/,/ret/s/^ *\([0-9a-f]*\):.*/\1/p'); do
		printf 'block\t0\t-\t-\t0x%016x\tsize=1\n' "0x$at"
	done >each
	run ! grep -q 'line=4$' <(tr-symbolize --exe=prog each)
}

@test "a call that is inlined is a line, executed where the code in its place begins" {
	cat >inlined.c <<'END'
int count;

static inline __attribute__((always_inline)) void add(void)
{
	count++;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		add();
	add();
	return count;
}
END
	${CC:-gcc} -O0 -g -no-pie -o prog inlined.c
	# the instruction that jumps over the first call, and all after it
	objdump -d --no-show-raw-insn prog >code
	first=$(awk '/<main>:/ { on = 1 } on && /jle/ { print $3; exit }' code)
	printf 'block\t0\t-\t-\t0x%016x\tsize=1\n' "0x$(nm prog | awk '$3 == "main" { print $1 }')" >run.trace
	printf 'block\t1\t-\t-\t0x%016x\tsize=64\n' "0x$first" >>run.trace
	tr-repack -q -t lcov -O exe=prog run.trace >info
	diff <(grep -E '^DA:1[0-4],' info) <(printf 'DA:%s\n' 11,0 12,0 13,1 14,1)
}

@test "stack frames of API calls: an offset counts from the function that the frame names, or from the module" {
	address() { nm prog | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
	base=$((0x$(readelf -lW prog | awk '$1 == "LOAD" { print substr($3, 3); exit }')))
	printf '%s\n' $'%trec\t1\tformat=apitrace\tversion=6' $'%fn\tF1\tglFlush\targs=[]' \
		$'%frame\tK1\t-\tmodule="/opt/bin/prog"\toffset='$(($(address main) + 4 - base)) \
		$'%frame\tK2\t-\tmodule="./prog"\tfunction="twice"\toffset=4' \
		$'%frame\tK3\t-\tmodule="./prog"\tfunction="half"\tfile="/src/a.c"\tline=3\toffset=4' \
		$'%frame\tK4\t-\tmodule="./prog"\tfunction="twice"\toffset=4000' \
		$'%frame\tK5\t-\tmodule="./prog"\tfunction="nowhere"\toffset=0' \
		$'%frame\tK6\t-\tmodule="libother.so"\toffset=4' \
		$'%frame\tK7\t-\tmodule="./prog"\toffset=18446744073709551000' \
		$'call\t0\t-\t0\tglFlush\t.bt=[K1,K2,K3]\t->' >calls.trec
	run -0 tr-symbolize --exe=prog calls.trec
	diff <(printf '%s\n' "$output") <(sed -E -e "/^%frame.K1/s|\$|\tfunction=\"main\"\tfile=\"$PWD/parser.c\"\tline=13|" \
		-e "/^%frame.K2/s|\$|\tfile=\"$PWD/parser.c\"\tline=7|" calls.trec)
	# the trace itself gets them, and its text
	tr-symbolize --exe=prog calls.trec | tr-repack -o named.trace
	tr-totext --style=apitrace -O multiline=yes named.trace >text
	grep -qE "^/opt/bin/prog: main\+0x[0-9a-f]+: $PWD/parser.c:13\$" text
	grep -qxF "./prog: twice+0x4: $PWD/parser.c:7" text
	# a name of two functions is ambiguous and not used
	printf 'static int twin(void) { return 1; }\nint %s(void) { return twin(); }\n' one >one.c
	sed 's/one/two/' one.c >two.c
	printf 'int one(void), two(void);\nint main(void) { return one() + two(); }\n' >both.c
	${CC:-gcc} -O0 -g -no-pie -o twins one.c two.c both.c
	printf '%%frame\tK%d\t-\tmodule="twins"\tfunction="%s"\toffset=0\n' 1 twin 2 one >twins.trec
	[ "$(tr-symbolize --exe=twins twins.trec | grep -c 'line=')" -eq 1 ]
	tr-symbolize --exe=twins twins.trec | grep -q "\"one\".*one.c\"$(printf '\t')line=2"
	# modules below a directory; a broken one produces a note
	mkdir -p root/opt/bin && cp prog root/opt/bin
	echo x >root/libother.so
	run -0 --separate-stderr tr-symbolize --path=root calls.trec
	[ "$(grep -c 'parser.c' <<<"$output")" -eq 2 ]
	[[ $stderr == *'note: '*'root/libother.so'* ]]
}

@test "stack frames of strace: an offset in the file, after the call" {
	# the address after the call of half in twice is on the line of the next statement
	printf 'int half(int x) { return x / 2; }\nint main(void)\n{\n\thalf(2);\n\treturn 0;\n}\n' >calls.c
	for options in -no-pie '-pie -fPIE'; do
		# shellcheck disable=SC2086 # options
		${CC:-gcc} -O0 -g $options -o prog calls.c
		after=0x$(objdump -d --no-show-raw-insn prog | awk '/call.*<half>/ { getline; sub(":", ""); print $1; exit }')
		read -r address offset < <(readelf -SW prog | sed 's/\[ /[/' | awk '$2 == ".text" { print "0x" $4, "0x" $5 }')
		in_file=$((after - address + offset))
		{
			echo '7 getpid() = 7'
			printf ' > /srv/prog(wrong+0x10) [0x%x]\n > /srv/prog() [0xffffffff]\n' $in_file
		} >run.strace
		run -0 tr-symbolize --exe=prog run.strace
		diff <(printf '%s\n' "$output") <(tr-parse run.strace | sed "/^%frame.K1/s|\$|\tfile=\"$PWD/calls.c\"\tline=4|")
		[ "$(tr-filter -c 'backtrace.line == 4' <<<"$output")" -eq 1 ]
	done
}

@test "programs of other machines have the lines that they have on this one" {
	command -v ld.lld >/dev/null || skip 'no ld.lld, which links for other machines'
	cat >free.c <<'END'
int twice(int x)
{
	switch (x) {
	case 1: return 3;
	}
	return 2 * x;
}
void nothing(void)
{
	twice(0);
}
int _start(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += twice(i);
	nothing();
	return sum;
}
END
	for target in x86_64 i386 aarch64 riscv64 riscv32 mips mipsel powerpc64 powerpc64le; do
		clang --target=$target-linux-gnu -g -O0 -fno-pic -nostdlib -ffreestanding -static -fuse-ld=lld -Wl,-e,_start -o $target free.c
		printf 'block\t0\t-\t-\t0x00000000\tsize=1\n' | tr-repack -q -t lcov -O exe=$target >$target.info
		grep ^DA: $target.info >$target.lines
		[ "$(grep -c ^FN: $target.info)" -eq 3 ]
	done
	# without the closing braces of functions that return a value
	[ "$(tr -d '\n' <x86_64.lines)" = DA:1,0DA:3,0DA:4,0DA:6,0DA:8,0DA:10,0DA:11,0DA:12,0DA:14,0DA:15,0DA:16,0DA:17,0 ]
	for lines in *.lines; do
		diff x86_64.lines "$lines"
	done
}

@test "blocks of one trace only, by function and line" {
	tr-symbolize --exe=prog run.trace | tr-filter -q 'block and function != "main"' >less
	tr-symbolize --exe=prog run.trace >all
	run -1 --separate-stderr tr-diff --as=json all less
	run -0 jq -r 'select(.kind == "block") | [.what, .fields.function[0], .fields.line[0]] | join(" ")' <<<"$output"
	[ "$output" = "removed main 12" ]
}

@test "functions that are static, or in a namespace without a name, have their linker names" {
	cat >same.cc <<'END2'
volatile int v; // otherwise a call may be replaced by its result
namespace a { static __attribute__((noinline)) int f(int x) { return v + x; } }
namespace b { static __attribute__((noinline)) int f(double x) { return v + (int)x; } }
static __attribute__((noinline)) int f(const char *s) { return v + *s; }
namespace { __attribute__((noinline)) int f() { return v; } }
extern "C" { static __attribute__((noinline)) int plain(int x) { return v - x; } }
int main(int argc, char **argv) { return a::f(argc) + b::f(argc) + f(argv[0]) + f() + plain(argc); }
END2
	for compiler in g++ clang++; do
		$compiler -g -O1 -o same same.cc
		printf 'block\t0\t-\t-\t0x00000000\tsize=1\n' | tr-repack -q -t lcov -O exe=same | sed -n 's/^FN:[0-9]*,//p' | sort >got
		# the symbol table is the other witness
		nm same | awk '$2 ~ /[tT]/ && ($3 ~ /^_Z/ || $3 ~ /^(main|plain)$/) { print $3 }' | sort | diff - got
		[ "$(wc -l <got)" -eq 6 ]
	done
	printf 'block\t0\t-\t-\t0x00000000\tsize=1\n' | tr-repack -q -t lcov -O exe=same -O demangle=yes |
		grep -xF 'FN:5,(anonymous namespace)::f()'
}
