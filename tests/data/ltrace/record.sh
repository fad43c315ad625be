#!/bin/sh
# SPDX-License-Identifier: MIT
# Records the logs of this folder with Debian's ltrace 0.7.3, in a new folder /srv/build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir /srv/build
cd /srv/build
echo content >input
: >none
gcc -fno-builtin -O0 -w -shared -fPIC -o libdemo.so "$here/demo_lib.c"
gcc -fno-builtin -O0 -w -o demo "$here/demo.c" ./libdemo.so

# record NAME OPTION...: strings of the loader's and of the machine's are left out
record() {
	name=$1
	shift
	env -i PATH=/usr/bin:/bin LC_ALL=C TZ=UTC ltrace -F "$here/demo.conf" -F /etc/ltrace.conf "$@" \
		-o "$here/$name.ltrace" ./demo >/dev/null 2>&1 || :
}
record plain
record fork -f
record system -f -S -tt -e '*'
record times -f -ttt -T -i
record since -r -x name_it@libdemo.so
record day -t -l libdemo.so
record indent -S -n 2 -x name_it@libdemo.so -s 6 -A 2 -a 60
env -i PATH=/usr/bin:/bin LC_ALL=C ltrace -f ./demo 2>"$here/stderr.ltrace" >/dev/null || :
env -i PATH=/usr/bin:/bin LC_ALL=C ltrace -c -o "$here/bad-summary.ltrace" ./demo >/dev/null 2>&1 || :
rm -r /srv/build
