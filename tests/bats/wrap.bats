#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-record --wrap and --append: commands that each add a whole segment to one trace.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
}

wrap() {
	tr-record --wrap --append=t.trec -- "$@"
}

# segments COUNT: writes t.trec with COUNT segments, each with one exec and one exit of the same process
segments() {
	awk -F'\t' '
		NR % 4 == 1 && $0 != "%trec\t1\tformat=strace" { exit }
		NR % 4 == 2 && !($1 == "exec" && $2 == 0 && (task = $4)) { exit }
		NR % 4 == 3 && !($1 == "exit" && $2 == 1 && $4 == task) { exit }
		NR % 4 == 0 && $0 != "!end\t2" { exit }
		{ lines++ }
		END { print lines / 4 }' t.trec >count
	[ "$(cat count)" = "$1" ]
	tr-parse t.trec | cmp - t.trec
}

# wait_for FILE: until it exists
wait_for() {
	for _ in $(seq 100); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
}

@test "CC in a parallel make gives the compilation database of the whole build" {
	command -v make >/dev/null || skip "make is not installed"
	command -v gcc >/dev/null || skip "gcc is not installed"
	mkdir dir
	cat >Makefile <<'END'
all: prog dir
prog: a.o b.o
	$(CC) -o $@ a.o b.o
%.o: %.c
	echo "-DX=1" >$@.rsp && $(CC) @$@.rsp -c $< && rm $@.rsp
dir:
	$(MAKE) -C dir
.PHONY: dir
END
	echo 'all: c.o d.o' >dir/Makefile
	echo 'int a(void) { return X; }' >a.c
	echo 'int a(void); int main(void) { return a() + X; }' >b.c
	touch dir/c.c dir/d.c
	make -s -j4 CC="tr-record --wrap --append=$PWD/t.trec -- gcc"
	segments 5
	rm -f ./*.o dir/*.o prog
	tr-record --backend=preload -o whole.trec -- make -s -j4 CC=gcc
	for trace in t whole; do
		tr-repack -t compdb $trace.trec | jq -S 'sort_by(.file)' >$trace.json
	done
	[ "$(jq '[.[] | select(.arguments | index("-DX=1"))] | length' t.json)" -eq 2 ]
	[ "$(jq length t.json)" -eq 4 ]
	diff t.json whole.json
	# the other tools take segment after segment
	tr-filter 'exec and argv == "-c"' t.trec | tr-repack -t compdb | jq -S 'sort_by(.file)' | diff - t.json
	tr-stat --json t.trec >stat.json
	jq -e '.segments == 5 and .records == 10' stat.json || { cat stat.json; false; }
	[ "$(tr-totext --style=tree t.trec | grep -c ' gcc ')" -eq 5 ]
	[ "$(tr-filter -c 'exec and flagged == "unwatched"' t.trec)" -eq 5 ]
}

@test "200 commands at the same time: no record is lost or mixed with another" {
	seq 200 | xargs -P 8 -I{} tr-record --wrap --append=t.trec -- printf '%s\n' {} | sort -n >out
	seq 200 | diff - out
	segments 200
	tr-filter --raw --fields='argv[2]' exec t.trec | sort -n | diff out -
	# also if they and their recorder are killed at any time
	seq 100 | xargs -P 8 -I{} sh -c 'timeout -s KILL "0.0$(({} % 10))" \
		tr-record --wrap --append=t.trec -- printf "%s\n" {} >/dev/null 2>&1 || true'
	seq 100 | xargs -P 8 -I{} sh -c 'tr-record --wrap --append=t.trec -- sh -c "kill -KILL \$\$" 2>/dev/null || true'
	segments "$(grep -c '^%trec' t.trec)"
	[ "$(tr-filter -c 'exit and signal == SIGKILL' t.trec)" -eq 100 ]
}

@test "status, signals, input and output are the command's" {
	run -7 --separate-stderr wrap sh -c 'cat; echo err >&2; exit 7' <<<in
	[ "$output" = in ]
	[ "$stderr" = err ]
	run -143 --separate-stderr wrap sh -c 'sleep 0.1; kill -TERM $$'
	[ -z "$stderr" ]
	segments 2
	[ "$(tr-filter --raw --fields=status exit t.trec | head -n 1)" = 7 ]
	[ "$(tr-filter -c 'exit and signal == SIGTERM' t.trec)" -eq 1 ]
	[ "$(tr-filter -c 'exit and duration >= 0.1' t.trec)" -eq 1 ]
	# nothing runs, and nothing is added
	cp t.trec before
	run -127 --separate-stderr wrap no-such-command
	[ "$stderr" = "tr-record: no-such-command: command not found" ]
	run -126 wrap "$PWD"
	cmp t.trec before
	printf '#!/no/such/shell\n' >orphan
	chmod +x orphan
	run -126 wrap ./orphan
	# children of the command are neither recorded nor waited for
	SECONDS=0
	wrap sh -c '(sleep 20 & echo $! >pid) </dev/null >/dev/null 2>&1; /bin/true'
	[ "$SECONDS" -lt 15 ]
	kill "$(cat pid)"
	run -1 tr-filter -c 'exec and name == "/bin/true"' t.trec
	# a signal that is sent to tr-record reaches the command
	tr-record --wrap --append=t.trec -- sh -c 'trap "exit 9" TERM; echo >ready; while :; do sleep 0.1; done' &
	wait_for ready
	sleep 0.3 # it may run before tr-record is ready for signals
	kill $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 9 ]
	[ "$(tr-filter -c 'exit and status == 9' t.trec)" -eq 1 ]
}

@test "the file: relative, through links, locked, or not one to add to" {
	mkdir dir
	ln -s ../target dir/link
	(cd dir && tr-record --wrap --append=link -- sh -c 'cd /; exit 0')
	[ -L dir/link ]
	mv target t.trec
	segments 1
	# one that is locked is waited for
	flock t.trec sh -c 'echo >locked; sleep 1; wc -l <t.trec >lines' &
	wait_for locked
	wrap true
	wait $!
	[ "$(cat lines)" -eq 4 ]
	segments 2
	# another file stays as it is, and nothing runs
	echo 'int main(void) { return 0; }' >main.c
	cp main.c before
	run -2 --separate-stderr tr-record --wrap --append=main.c -- touch ran
	[ "$stderr" = "tr-record: main.c: not in the format of the records to append" ]
	cmp main.c before
	run -2 --separate-stderr tr-record --wrap --append=/dev/null -- touch ran
	[ "$stderr" = "tr-record: /dev/null: only a regular file can be appended to" ]
	run -2 --separate-stderr tr-record --wrap --append=dir -- touch ran
	[ "$stderr" = "tr-record: cannot open dir: Is a directory" ]
	run -2 --separate-stderr tr-record --wrap --append=no/t.trec -- touch ran
	[ "$stderr" = "tr-record: cannot open no/t.trec: No such file or directory" ]
	run -2 --separate-stderr tr-record --wrap --append=t.trec.gz -- touch ran
	[ "${stderr_lines[0]}" = "tr-record: t.trec.gz: --append takes a file that is not compressed" ]
	[ ! -e ran ]
	[ "$(id -u)" -ne 0 ] || return 0 # root may write to read-only files
	chmod a-w t.trec
	run -2 --separate-stderr tr-record --wrap --append=t.trec -- touch ran
	[ "$stderr" = "tr-record: cannot open t.trec: Permission denied" ]
	[ ! -e ran ]
}

@test "a failed write leaves the file unchanged" {
	export LONG
	LONG=$(printf '%30000s')
	wrap true
	cp t.trec before
	# two segments do not fit below the limit, in blocks of 1024 bytes
	run -2 --separate-stderr bash -c 'ulimit -f 50; exec tr-record --wrap --append=t.trec -- true'
	[ "$stderr" = "tr-record: t.trec: cannot write: File too large" ]
	cmp t.trec before
	run -5 --separate-stderr bash -c 'ulimit -f 50; exec tr-record --wrap --append=t.trec -- sh -c "exit 5"'
	cmp t.trec before
	LONG=
	# records larger than the memory limit
	# shellcheck disable=SC2046 # many words
	wrap true $(seq -f '%0100.0f' 15000)
	[ "$(stat -c %s t.trec)" -gt 1500000 ]
	segments 2
	[ "$(tr-filter -c 'exec and argv $= "015000"' t.trec)" -eq 1 ]
	# a process that was killed while it wrote: only its own records are damaged
	cp before t.trec
	head -c 100 before >>t.trec
	run -3 wrap sh -c 'exit 3'
	run -2 --separate-stderr tr-filter --raw --fields=status exit t.trec
	[ "$output" = $'0\n3' ]
	[ "$stderr" = "tr-filter: t.trec:7: upstream reported truncated input" ]
}

@test "--append without --wrap also adds the processes that the command starts" {
	for status in 3 4; do
		run -$status tr-record --backend=preload --append=t.trec -- sh -c "/bin/true; exit $status"
	done
	[ "$(grep -c '^%trec' t.trec)" -eq 2 ]
	[ "$(tr-filter -c 'exec and name == "/bin/true" and has(parent)' t.trec)" -eq 2 ]
	run -0 --separate-stderr bash -c 'tr-record --wrap -- echo out | grep -c ^exec'
	[ "$output" = 1 ]
	[ "$stderr" = out ]
	run -2 --separate-stderr tr-record --append=t.trec -o out.trec -- touch ran
	[ "${stderr_lines[0]}" = "tr-record: -o cannot be combined with --append" ]
	for option in --files --backend=strace --backend=preload; do
		run -2 --separate-stderr tr-record --wrap $option -o out.trec -- touch ran
		[ "${stderr_lines[0]}" = "tr-record: --wrap watches nothing: it cannot be combined with --backend or --files" ]
	done
	[ ! -e ran ]
}
