#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-filter on API calls: call sets and frames, calls that overlap calls of other threads.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	data=${top_srcdir:?}/tests/data
	# two threads; the frames end with the returns of 2, 7 and 6, in this order
	stream t.trec '%trec>1>format=apitrace>version=6' \
		'call>0>->0>glClear>mask=1>->' \
		'enter>1>->1>glDrawArrays>count=3' \
		'call>2>->0>glXSwapBuffers>->' \
		'call>3>->0>glBindFramebuffer>->' \
		'leave>1>->1>glDrawArrays>->>return=5' \
		'enter>4>->1>glDrawElements' \
		'call>5>->0>glFlush>->' \
		'enter>6>->0>glXSwapBuffers' \
		'enter>7>->2>eglSwapBuffers' \
		'leave>7>->2>eglSwapBuffers>->>return=true' \
		'call>8>->2>glFlush>->' \
		'leave>6>->0>glXSwapBuffers>->' \
		'call>9>->0>glClear>->' \
		'enter>10>->0>glFinish' \
		'!end>11'
}

# stream NAME LINE...: writes a stream; ">" stands for TAB
stream() {
	name=$1
	shift
	printf '%s\n' "$@" | tr '>' '\t' >"$name"
}

# The calls that are selected: their numbers in the order of the stream.
calls() {
	tr-filter --fields=seq "$@" | tr '\n' ' '
}

@test "--calls: every form of a set" {
	while IFS=$'\t' read -r set want; do
		[[ $set == '# '* ]] && continue
		# the table is about 22 calls; these have the same kinds
		have=$(calls --calls="$set" table.trec || true)
		[ "$have" = "${want:+$want }" ]
	done < <(
		i=0
		for name in glFlush glClear glBindFramebuffer glDrawArrays glFlush glXSwapBuffers \
			glDrawArrays glDrawElements glFlush glBindFramebuffer glClear glXSwapBuffers \
			glFlush glFlush glDrawArrays glDrawArrays glXSwapBuffers glBindFramebuffer \
			glEnd glFlush glXSwapBuffers glFinish; do
			printf 'call\t%d\t-\t0\t%s\t->\n' $((i++)) $name
		done >table.trec
		cat "$data/apitrace/call-sets.tsv"
	)
}

@test "--calls: sets from files, and several of them" {
	printf '1\n5-6,\n8' >list
	[ "$(calls --calls=@list t.trec)" = '1 5 6 8 ' ]
	[ "$(calls --calls=@list,0 --calls=9 t.trec)" = '0 1 5 6 8 9 ' ]
	printf '' >empty
	run -1 tr-filter --calls=@empty t.trec
}

@test "--calls: errors are reported with their position" {
	run -2 --separate-stderr tr-filter --calls=1,x t.trec
	[[ $stderr == 'tr-filter: --calls: byte 3: numbers such as 10-19 or a class (frame, rendertarget, fbo, render, draw) expected, not x'* ]]
	run -2 --separate-stderr tr-filter --frames=3-1 t.trec
	[[ $stderr == 'tr-filter: --frames: byte 1: the range ends before it begins'* ]]
	printf '1 2\n3/0' >list
	run -2 --separate-stderr tr-filter --calls=@list t.trec
	[[ $stderr == 'tr-filter: --calls: list, byte 7: a step cannot be 0'* ]]
	run -2 --separate-stderr tr-filter --calls=@missing t.trec
	[[ $stderr == *'missing: No such file or directory'* ]]
	run -2 tr-filter --calls= t.trec
}

@test "--calls: enter and leave go together, the order of the calls does not matter" {
	tr-filter --calls=1,6 t.trec >out
	grep -E $'^(%trec|(enter|leave)\t[16]\t)' t.trec >expected
	printf '!end\t2\n' >>expected
	cmp out expected
	grep -v '^[!%]' t.trec | sort -s -t$'\t' -k2,2nr >back
	[ "$(calls --calls=3-8,0 back)" = '8 7 6 5 4 3 0 ' ]
	[ "$(tr-filter -c --calls=1 -v t.trec)" -eq 10 ]
	run -1 tr-filter --calls=11- t.trec
}

@test "--calls: with an expression, records must match both" {
	[ "$(calls --calls=0-5 -e 'call and return == 5' t.trec)" = '1 ' ]
	[ "$(calls --calls=draw -e 'task == 1' t.trec)" = '1 4 ' ]
	[ "$(calls --calls=draw --calls=5 -v t.trec)" = '2 3 6 7 8 10 ' ]
	# an operand is a file then, never an expression
	run -2 tr-filter --calls=0-5 call t.trec
}

@test "--calls selects nothing but calls; context passes" {
	stream u.trec 'meta>0>->->x' 'raw>1>->->->text="a"' 'call>1>->0>glFlush>->' 'call>->->0>glFlush>->'
	[ "$(tr-filter --calls='*' u.trec | cut -f1 | tr '\n' ' ')" = 'meta call ' ]
	[ "$(tr-filter -c --calls='*' u.trec)" -eq 1 ]
}

@test "--frames: a call belongs to the frame in which it returns" {
	[ "$(calls --frames=0 t.trec)" = '0 2 ' ]
	[ "$(calls --frames=1 t.trec)" = '1 3 5 7 ' ]
	[ "$(calls --frames=2 t.trec)" = '6 8 ' ]
	[ "$(calls --frames=3 t.trec)" = '4 9 10 ' ]
	[ "$(calls --frames=1- t.trec)" = '1 3 4 5 6 7 8 9 10 ' ]
	[ "$(calls --frames=0,2 t.trec)" = '0 2 6 8 ' ]
	[ "$(calls --frames='*/2' t.trec)" = '0 2 6 8 ' ]
	[ "$(calls --frames='*' t.trec)" = '0 1 2 3 4 5 6 7 8 9 10 ' ]
	run -1 tr-filter --frames=4- t.trec
}

@test "--frames: classes, expressions and calls beside them" {
	[ "$(calls --frames=1-2/frame t.trec)" = '6 7 ' ]
	[ "$(calls --frames='*/draw' t.trec)" = '0 1 4 9 ' ]
	[ "$(calls --frames=1 --calls=4- t.trec)" = '5 7 ' ]
	[ "$(calls --frames=1 -e 'task == 0' t.trec)" = '3 5 ' ]
	[ "$(calls --frames=1 -e 'has(return)' t.trec)" = '1 7 ' ]
	[ "$(calls --frames=1 -v t.trec)" = '0 2 4 6 8 9 10 ' ]
	[ "$(calls --frames=0- -m 2 t.trec)" = '0 1 ' ]
}

@test "--frames: each file and each segment has its own" {
	cat t.trec t.trec >two.trec
	[ "$(tr-filter -c --frames=0 two.trec)" -eq 4 ]
	[ "$(tr-filter -c --frames=0 t.trec t.trec)" -eq 4 ]
}

@test "--frames: calls that never return come at the end, in order" {
	stream u.trec 'enter>0>->1>glDraw' 'enter>1>->2>glXSwapBuffers' 'enter>2>->3>glClear' \
		'call>3>->0>glFlush>->'
	[ "$(calls --frames=0 u.trec)" = '0 1 3 ' ]
	[ "$(calls --frames=1 u.trec)" = '2 ' ]
}

@test "--frames, the field frame and tr-stat agree on calls that never return" {
	stream end.trec '%trec>1>format=apitrace>version=6' 'call>0>->0>glClear' 'enter>1>->1>glXSwapBuffers' \
		'enter>2>->0>glDraw' 'enter>3>->2>glXSwapBuffers' 'call>4>->3>glFlush' 'enter>5>->4>glFinish' '!end>6'
	cat end.trec end.trec >twice.trec
	# the second enter of a call shows that the first one is lost
	stream lost.trec 'enter>0>->1>glXSwapBuffers' 'call>2>->0>glClear' 'enter>0>->1>glXSwapBuffers' \
		'call>1>->0>glFlush' 'leave>0>->1>glXSwapBuffers' 'enter>3>->1>glXSwapBuffers' 'enter>4>->0>glFinish'
	while read -r file frames rows; do
		[ "$(tr-filter --fields=frame,name call "$file" | sort | tr '\n\t' ' :')" = "$rows " ]
		for n in 0 1 2 3; do
			[ "$(calls --frames=$n "$file" || true)" = "$(calls "frame == $n" "$file" || true)" ]
		done
		tr-stat --by=frame,name --json --top=0 "$file" |
			jq -r '.by[] | range(.count) as $i | .frame + ":" + .name' | sort | tr '\n' ' ' |
			diff - <(echo -n "$rows ")
		[ "$(tr-stat --json "$file" | jq .calls.frames)" = "$frames" ]
	done <<-'END'
		end.trec 2 0:glClear 0:glFlush 0:glXSwapBuffers 1:glDraw 1:glXSwapBuffers 2:glFinish
		twice.trec 4 0:glClear 0:glClear 0:glFlush 0:glFlush 0:glXSwapBuffers 0:glXSwapBuffers 1:glDraw 1:glDraw 1:glXSwapBuffers 1:glXSwapBuffers 2:glFinish 2:glFinish
		lost.trec 3 0:glClear 0:glXSwapBuffers 1:glFlush 1:glXSwapBuffers 2:glXSwapBuffers 3:glFinish
	END
}

@test "--frames: records keep their order though a call is decided late" {
	tr-filter --frames=1- t.trec >out
	grep -vE $'^(!end|call\t[02]\t)' t.trec >expected
	printf '!end\t9\n' >>expected
	cmp out expected
}
