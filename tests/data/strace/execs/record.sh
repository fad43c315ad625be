#!/bin/bash
# record.sh PROGRAM FOLDER: traces strace_execs with every line of options.tsv. FOLDER gets NAME.strace
# and NAME.truth, ff.PID and stderr.strace. The program runs in the current folder.
set -eu
program=$1 folder=$2 here=$(dirname "$0")
mkdir -p sub other
ln -sf "$program" strace_execs
ln -sf strace_execs link
calls=execve,execveat,clone,clone3,fork,vfork,chdir,fchdir,getcwd,unshare,exit_group,openat,wait4
trace() { # trace NAME OPTIONS...
	local name=$1 status=0
	shift
	env -i PATH=/bin PWD="$PWD" strace -f -v -s 65536 -e trace=$calls "$@" \
		./strace_execs "$PWD" >"$folder/$name.truth" || status=$?
	[ "$status" -eq 3 ] || { echo "record.sh: $name: status $status" >&2; exit 2; }
}
grep -v '^#' "$here/options.tsv" | while IFS=$'\t' read -r name options; do
	# shellcheck disable=SC2086
	trace "$name" $options -o "$folder/$name.strace"
done
trace stderr 2>"$folder/stderr.strace"
trace ff -ff -ttt -o "$folder/ff"
trace ffplain -ff -o "$folder/ffplain"
