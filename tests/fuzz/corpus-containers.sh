#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipe of corpus/container: one small text in every container and archive.
# Run in that folder; needs gzip, xz, zstd, bzip2, lz4, tar, zip, cpio, 7z, and tr-repack.
set -e
text=$(mktemp -d)
trap 'rm -r "$text"' EXIT
printf '{"version":101}\n{"id":1,"executable":"/bin/true","args":["true"]}\n' >"$text/a.json"
gzip -nc "$text/a.json" >gzip
{ gzip -nc "$text/a.json"; gzip -nc "$text/a.json"; } >gzip-members
xz -c "$text/a.json" >xz
zstd -qc "$text/a.json" >zstd
for codec in snappy brotli; do
	tr-repack -z $codec -O foreign=yes -o $codec "$text/a.json"
done
# two frames and a table of them, in a frame to be skipped
{
	zstd -qc "$text/a.json"
	zstd -qc "$text/a.json"
	printf '\136\052\115\030\031\0\0\0'
	printf '\101\0\0\0\101\0\0\0\101\0\0\0\101\0\0\0\2\0\0\0\0\261\352\222\217'
} >zstd-seekable
bzip2 -c "$text/a.json" >bzip2
lz4 -qc "$text/a.json" >lz4
tar -C "$text" --owner=0 --group=0 --mtime=@0 -cf tar a.json
zstd -qc tar >tar-zstd
(cd "$text" && touch -d @0 a.json && TZ=UTC zip -qX out.zip a.json && echo a.json | cpio --quiet -o -H newc -R 0:0 >out.cpio && 7z a -bd -mtm=off out.7z a.json >/dev/null)
cp "$text/out.zip" zip
cp "$text/out.cpio" cpio
cp "$text/out.7z" 7z
