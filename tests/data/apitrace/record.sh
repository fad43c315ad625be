#!/bin/sh
# Records the *.trace of this folder, and beside each what apitrace shows of it (*.txt.gz). Wants
# apitrace, apitrace-tracers, xvfb, mesa-utils, mesa-utils-extra, libgl-dev, libx11-dev and a
# compiler. Works in a folder of a neutral name, because paths go into traces. Every recording is
# another one: addresses, timing and Mesa's version are in it.
# usage: record.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1-/srv/build/gl}
export LIBGL_ALWAYS_SOFTWARE=1 LP_NUM_THREADS=0

# record NAME [NAME=VALUE...] COMMAND...: records; that the program dies or is stopped is no failure
record() {
	to=$1.trace
	shift
	rm -f "$to"
	env "$@" >/dev/null 2>&1 || :
	[ -s "$to" ]
}

mkdir -p "$folder"
cp "$here/glx.c" "$folder"
cd "$folder"
if [ -z "${DISPLAY-}" ]; then
	exec xvfb-run -a "$here/record.sh" "$folder"
fi
cc -g -O1 -o glx glx.c -lGL -lX11 -lpthread
record lists APITRACE_BACKTRACE='glNewList glFrustum glXSwapBuffers glCallLists' \
	apitrace trace -o lists.trace ./glx lists
record textures apitrace trace -o textures.trace ./glx textures
record threads apitrace trace -o threads.trace ./glx threads
record killed apitrace trace -o killed.trace ./glx killed
record eglinfo apitrace trace -a egl -o eglinfo.trace eglinfo
record gears timeout 0.2 apitrace trace -o gears.trace glxgears
# apitrace shows only the first stream of it, so nothing of apitrace's is beside it
record forks apitrace trace -o forks.trace ./glx forks
mkdir -p "$here/streams"
cp forks.trace "$here/streams"
for name in forks-early forks-late; do
	record $name apitrace trace -o $name.trace ./glx $name
	xz -9 <$name.trace >"$here/streams/$name.trace.xz" # nearly all of it are zeros
done
for name in lists textures threads killed eglinfo gears; do
	apitrace dump -v --color=never --thread-ids=yes $name.trace | gzip -9n >$name.txt.gz
	cp $name.trace $name.txt.gz "$here"
done
