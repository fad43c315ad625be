#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-tohtml: the contents of the page, and how a browser shows it.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	data=${top_srcdir:?}/tests/data
	kw=$data/build/zlib.kw.json.gz
	cat >build.trec <<'END'
%trec	1	format=strace
env	0	-	-	-	vars={"PATH":"/bin","A":"1"}
exec	1	100.000000001	1	/usr/bin/make	argv=["make","-j2"]	cwd="/srv"	envtop={}
fork	2	100.1	1	-	child=2
exec	3	100.2	2	/bin/sh	parent=1	argv=["sh","-c","</script><!--"]	cwd="/srv"	env={"PATH":"/bin","B":"<b>"}
exec	4	100.45	4	/usr/bin/gcc	parent=1	argv=["gcc","-c","b.c"]
exit	5	101.7	2	-	status=1
exit	6	103	4	-	signal=SIGKILL
fork	7	103	1	-	child=5
exit	8	103.5	1	-	status=2
!end	8
END
}

# The JSON of one of the page's two parts.
part() { # part ID FILE
	awk -v id="id=\"$1\">" 'index($0, id) { on = 1; sub(".*" id, "") } on { end = index($0, "</script>")
		print end ? substr($0, 1, end - 1) : $0; if (end) exit }' "$2"
}

browse() { # browse FILE [SCRIPT]: prints the title that the script sets
	local page=$PWD/page.html
	{ sed '/^<\/body>/,$d' "$1"
		printf '<script>%s; document.title += document.documentElement.dataset.ready;</script></body></html>\n' \
			"${2:-}"; } >"$page"
	timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
		--window-size=1200,800 --enable-logging=stderr --dump-dom "file://$page" 2>console |
		sed -nE 's/.*<title>([^<]*).*/\1/p'
	# callers check the output, not the exit status
	grep CONSOLE console >>complaints || true
}

@test "spans in columns, and a line about each" {
	tr-tohtml build.trec >page
	part data page | jq -c '[.timed, .origin, .begin, .dur, .lane, .level, .parent]' >got
	diff - got <<'END'
[true,"100.000000001",[0,199999.999,449999.999,2999999.999],[3499999.999,1500000,2550000,500000],[0,0,1,0],[0,1,0,1],[-1,0,0,0]]
END
	part data page | jq -c '[[.name[] as $i | .names[$i]], [.end[] as $i | .ends[$i]], .top]' >got
	diff - got <<'END'
[["make","sh","gcc","(fork)"],["2","1","SIGKILL","-"],{"PATH":"/bin","A":"1"}]
END
	part data page | jq -c '[.make[] as $i | .makes[$i]]' | grep -xF '["","","b.o",""]'
	part lines page >lines
	diff - lines <<'END'

["1","make -j2","/srv"]
["3","sh -c '\u003c/script>\u003c!--'","/srv"]
["4","gcc -c b.c",null]


END
	part data page | jq -c .env | grep -xF '[1,2,0,0]'
	part environments page >environments
	diff - environments <<'END'

["top",{}]
["parent",{"B":"\u003cb>","A":null}]

END
}

@test "an environment that recurs is on the page once, and none that is not shown" {
	{
		printf 'exec\t%d\t-\t1\tmake\tenv={"A":"1"}\n' 0
		printf 'exec\t%d\t-\t2\tcc\tparent=0\tenvdiff={"A":"%d"}\n' 1 2 2 2 3 3
		printf 'exec\t4\t-\t2\tcc\tparent=0\n'
		printf 'exec\t5\t-\t2\tcc\tparent=0\tenvdiff={"A":"3"}\n'
	} >recur
	tr-tohtml recur >page
	part data page | jq -c .env | grep -xF '[1,2,2,3,0,3]'
	part environments page | jq -c '.[1].A' 2>/dev/null | tr '\n' ' ' | grep -xF '"1" "2" "3" '
	tr-tohtml -q --limit=3 recur >page
	part data page | jq -c .env | grep -xF '[1,2,2]'
	part environments page | jq -c '.[1].A' 2>/dev/null | tr '\n' ' ' | grep -xF '"1" "2" '
	# a trace without environments has no column of them
	printf 'exec\t0\t-\t1\tmake\n' | tr-tohtml | part data - | jq -ce '.env == null'
}

@test "the page loads nothing, and no text of a trace is interpreted as HTML" {
	tr-tohtml build.trec >page
	run -1 grep -oE '(src|href)=|https?:|@import|url\(' page
	grep -F "default-src 'none'" page
	[ "$(grep -c '</script>' page)" = 4 ]
	printf 'exec\t0\t-\t1\t</script>\targv=["<!--","\\u2028\\xff"]\tcwd="</SCRIPT>"\n' |
		tr-tohtml --title='</script>' >page
	[ "$(grep -c '</script>' page)" = 4 ]
	part data page | jq '.title == "</script>" and .names == ["script>"]' | grep -x true
}

@test "calls: by thread and depth, with frames" {
	tr-tohtml "$data/apitrace/mt4.trace" >page
	part data page | jq '.calls and (.timed | not) and (.begin | length) == 5342 and
		(.frames | length) == 240 and .lanes[1] == "thread 1"' | grep -x true
	[ "$(part lines page | grep -c '^\[')" = 5342 ]
	part lines page | jq -r '.[1]' 2>/dev/null | grep -F 'glXCreateNewContext(' | head -n1 |
		grep -E ' → return = 0x'
	cat >calls <<'END'
enter	0	-	0	a	x=1
call	1	-	0	b	data=b64:AQID	->
leave	0	-	0	a	->	return=2
enter	2	-	0	c
END
	tr-tohtml calls >page
	part data page | jq -c '[.begin, .dur, .level]' | grep -xF '[[2,1,4],[1,3,1],[1,0,0]]'
	part lines page | sed -n 3p | grep -xF '["0","a(x = 1) → return = 2"]'
	part lines page | sed -n 2p | grep -xF '["1","b(data = blob:3)"]'
	# fields that only a writer needs are not shown
	printf 'call\t0\t-\t0\ta\tx=1\t.flags=1\t->\n' | tr-tohtml | part lines - | grep -xF '["0","a(x = 1)"]'
}

@test "calls without frames are shown; segments follow each other, with and without times" {
	printf 'call\t0\t-\t0\tglFinish\t->\n' | tr-tohtml | part data - | jq '.calls' | grep -x true
	tr-tohtml build.trec | part data - | jq '.calls | not' | grep -x true
	printf '%%trec\t1\nexec\t0\t-\t1\t/a\n!end\t1\n' >bare
	tail -n 9 build.trec | tr-tohtml bare - | part data - |
		jq -ce '[.timed, .begin, .dur]' | grep -xF '[false,[1,9,200008.999,450008.999,3000008.999],[1,3499999.999,1500000,2550000,500000]]'
	# times of a segment without processes do not affect the next one
	printf '%%trec\t1\nsys\t0\t1000\t1\topen\n!end\t1\n%%trec\t1\nexec\t0\t10\t1\t/b\nexec\t1\t11\t2\t/c\n!end\t2\n' |
		tr-tohtml | part data - | jq -ce .dur | grep -xF '[1000000,0]'
	# as far as time goes
	far=4611686018.427387903
	{ cat bare; printf '%%trec\t1\nexec\t0\t-%s\t1\t/b\nexec\t1\t%s\t2\t/c\n!end\t2\n' $far $far; } |
		tr-tohtml | part data - | jq '.begin[2] > 4e15 and .dur[1] > 4e15' | grep -x true
}

@test "--limit, several segments, nothing to show" {
	run -0 --separate-stderr tr-tohtml --limit=10 "$kw"
	[[ $stderr == *'10 are on the page, 166 more are not'* ]]
	part data <(printf '%s\n' "$output") | jq '(.begin | length) == 10 and .left == 166' | grep -x true
	tr-tohtml build.trec build.trec "$kw" >page
	part data page | jq '(.begin | length) == 184 and (.lanes | length) == 6 and .top == null and
		(.begin | max) >= 3499999' | grep -x true
	run -0 --separate-stderr tr-tohtml /dev/null
	[[ $stderr == *'nothing'* || $stderr == *'no processes'* ]]
	run -2 --separate-stderr tr-tohtml -o page <(printf 'use\t0\t-\t-\t/a\nblock\t1\t-\t-\t0x00001000\n')
	[ "$stderr" = 'tr-tohtml: no processes or API calls here, only other records: 1 use, 1 block' ]
	# lines that exceed memory go to a temporary file
	awk 'BEGIN { for (i = 0; i < 9000; i++) printf "exec\t%d\t-\t-\tcc\targv=[\"%0200d\"]\n", i, i }' >many
	TMPDIR=$PWD/none run -2 --separate-stderr tr-tohtml -o page many
	[ "$stderr" = "tr-tohtml: many: cannot make a temporary file in $PWD/none: No such file or directory" ]
	run -2 tr-tohtml --limit=-1 build.trec
	run -2 tr-tohtml -o page nothing-there
}

@test "a browser shows it: timeline, lists, search, details" {
	chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
		skip "no Chromium is installed"
	tr-tohtml build.trec >small && tr-tohtml "$kw" >long && tr-tohtml "$data/apitrace/mt4.trace" >calls
	[ "$(browse small)" = build.trecyes ]
	[ "$(browse calls 'choose("names"); pick(7); zoomTo(7)')" = "$data/apitrace/mt4.traceyes" ]
	# a search finds the matches, and nothing else
	browse long '$("search").value = "-o deflate.o"; find(); nextMatch(1);
		document.title = matches.length + " " + detail(picked)[1].slice(0, 3)' | grep -x '2 gccyes'
	# the environment of a process, against its parent's
	browse small 'pick(1); document.title = [...document.querySelectorAll("#details pre")].pop()
		.textContent.replace(/\n/g, ";")' | grep -xF '+B=&lt;b&gt;;-A=1;yes'
	# failures have a list, and the slowest runs of a name come first
	browse small 'document.title = views.failed.make().map(i => ended(i)).join(" ")' |
		grep -x '2 1 SIGKILLyes'
	browse long 'views.names.pick({ name: names.indexOf("gcc") }); const r = views.matches.rows;
		document.title = [r.length, r.every((i, k) => !k || dur[i] <= dur[r[k - 1]])]' | grep -x '41,trueyes'
	# lists by the keyboard, which leaves buttons their Enter
	browse small 'const key = (on, key) => on.dispatchEvent(new KeyboardEvent("keydown",
			{ key, bubbles: true, cancelable: true }));
		choose("tree"); for (const k of ["Home", "ArrowDown", "ArrowDown", "ArrowUp"]) key($("list"), k);
		const moved = picked; key($("list"), "Home"); key($("list"), "ArrowLeft");
		document.title = [moved, picked, views.tree.rows.length, key($("all"), "Enter")]' |
		grep -x '1,0,1,trueyes'
	# rows and bars contain the output of a command
	browse small 'choose("tree"); document.title = titled(2) + ";" + [...document.querySelectorAll("#list .makes")]
		.map(row => row.textContent).join()' | grep -x 'b.o gcc;b.oyes'
	# as many at once as tr-stat counts: alive, and running
	tr-tohtml "$data/build/zlib.strace.gz" >jobs
	browse jobs 'document.title = [mostAlive, mostRunning]' | grep -x '7,2yes'
	# the item under the mouse is described without covering anything
	browse long 'const box = chart.getBoundingClientRect();
		const move = y => dispatchEvent(new MouseEvent("mousemove", { clientX: 300, clientY: y }));
		const told = [], covers = [];
		for (let y = box.top + 22; y < box.bottom; y += ROW) {
			chart.dispatchEvent(new MouseEvent("mousemove", { clientX: 300, clientY: y, bubbles: true }));
			if (hover === NONE) continue;
			const tip = $("tip").getBoundingClientRect();
			told.push($("tip").textContent.includes(command(hover).slice(0, 9)));
			covers.push(tip.bottom > box.top && tip.top < box.bottom);
		}
		document.title = [told.length > 1, told.every(x => x), covers.some(x => x)]' | grep -x 'true,true,falseyes'
	# calls without frames have their own list, in the order of the trace
	tr-tohtml "$data/apitrace/eglinfo.trace" >bare
	browse bare 'document.title = [tab, document.querySelector("nav [aria-selected=true]").textContent,
		views.calls.rows.length === count, command(views.calls.rows[0]).slice(0, 14)]' |
		grep -x 'calls,Calls in order,true,eglQueryStringyes'
	browse calls 'document.title = tab' | grep -x framesyes
	# the contents of a frame
	browse calls 'views.frames.pick(0); document.title = $("details").textContent.slice(0, 25)' |
		grep -x 'frame 0127 calls, 7 drawsyes'
	# bidirectional marks are shown as escapes
	printf 'exec\t0\t-\t1\tx\t%s\n' $'argv=["x","\\u202edcba","\\u0001"]\tenv={"A":"a\\u0000"}' |
		tr-tohtml >marks
	browse marks 'pick(0); document.title = [...document.querySelectorAll("#details pre")]
		.map(pre => pre.textContent.trim()).join(" ")' | grep -xF "x ‹202e›dcba \$'\\001' A=a‹0›yes"
	# input with nothing to show is reported
	tr-tohtml -q /dev/null >empty
	browse empty 'document.title = [$("nothing").hidden, $("below").hidden, $("lanes").hidden]' |
		grep -x 'false,true,trueyes'
	# a hundred thousand processes are drawn, listed and searched in no time
	awk 'BEGIN { OFS = "\t"; print "exec", 0, 0, "m", "make"
		for (i = 1; i <= 100000; i++) { print "exec", i, i / 100, i, "cc", "parent=0", "argv=[\"cc\",\"f" i ".c\"]"
			if (i > 16) print "exit", i, i / 100 + 0.001, i - 16, "-", "status=0" } }' >many
	tr-tohtml many >large
	browse large 'const t = performance.now(); for (let i = 0; i < 10; i++) { zoom(0.5); draw(); }
		choose("tree"); $("search").value = "f77777"; find(); nextMatch(1); draw();
		document.title = [count, matches.length, performance.now() - t < 5000].join(" ")' |
		grep -x '100001 1 trueyes'
	cat complaints
	[ ! -s complaints ]
}

# files: a build with two parallel jobs, one of which reads a file that the first one wrote
files() {
	awk '{ $2 = sprintf("%.1f", 1600000000 + $2) } 1' <<'END'
1 100 execve("/bin/make", ["make", "-j2"], 0x1) = 0
1 100 getcwd("/w", 4096) = 3
1 101 fork() = 2
2 101 execve("/bin/cc", ["cc", "-c", "a.c"], 0x1) = 0
2 102 openat(AT_FDCWD, "/w/a.c", O_RDONLY) = 3
2 102 read(3, "int a;", 4096) = 1500
2 102 openat(AT_FDCWD, "/w/a.o", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
1 103 fork() = 3
3 103 execve("/bin/cc", ["cc", "-c", "b.c"], 0x1) = 0
3 104 openat(AT_FDCWD, "/w/b.o", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4
3 105 +++ exited with 0 +++
2 106 +++ exited with 0 +++
1 106 fork() = 4
4 106 execve("/bin/ld", ["ld", "-o", "</script>", "a.o", "b.o"], 0x1) = 0
4 107 openat(AT_FDCWD, "/w/a.o", O_RDONLY) = 3
4 107 openat(AT_FDCWD, "/w/b.o", O_RDONLY) = 4
4 107 openat(AT_FDCWD, "/w/</script>", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 5
4 109 +++ exited with 0 +++
1 110 +++ exited with 0 +++
END
}

@test "files of each command, and the critical path" {
	files >log
	tr-tohtml log >page
	part uses page | sed 1d >uses
	part data page | jq -c '.files as $f | .path | map([.[3], .[2] / 1e6] + if .[4] then [$f[.[4]]] else [] end)' |
		grep -xF '[["start",1],["parent",5],["file",3,"/w/a.o"],["exit",1]]'
	part data page | jq -c '[.path[] | .[0]]' | grep -xF '[0,1,3,0]'
	part data page | jq -r '.files[]' >names
	jq -c --rawfile names names '($names / "\n") as $n | [.[0], .[1], .[2], [.[3][] | $n[.]], .[4], [.[5][] | $n[.]]]' uses >got
	diff - got <<'END'
[0,null,1,["/bin/make"],0,[]]
[1500,null,2,["/bin/cc","/w/a.c"],1,["/w/a.o"]]
[0,null,1,["/bin/cc"],1,["/w/b.o"]]
[0,null,3,["/bin/ld","/w/a.o","/w/b.o"],1,["/w/</script>"]]
END
	[ "$(grep -c '</script>' page)" = 5 ]
	# spans of a segment without file calls have none, and those after the limit are left out
	tr-tohtml build.trec log build.trec >several
	part uses several | awk '{ print NF }' | tr '\n' ' ' | grep -xF '0 0 0 0 0 1 1 1 1 0 '
	tr-tohtml -q --limit=2 log >page
	[ "$(part uses page | wc -l)" = 4 ]
	part data page | jq -c '[.path[] | .[0]]' | grep -xF '[0,1,-1,0]'
	# of a command with many files the first ones are on the page, and the number of all
	{ head -n 1 log && seq 600 | sed 's,.*,1 1600000101.0 openat(AT_FDCWD\, "/w/&"\, O_RDONLY) = 3,'; } |
		tr-tohtml | part uses - | jq -c '[.[2], (.[3] | length)]' 2>/dev/null | grep -xF '[601,500]'
}

@test "the files of a command are in the order of their first use, each of them once" {
	# the second program reads two versions of b, and knows the files in another order than the first
	awk '{ $2 = sprintf("%.1f", 1600000000 + $2) } 1' <<'END' | tr-tohtml >page
1 100 execve("/bin/p", ["p"], 0x1) = 0
1 101 openat(AT_FDCWD, "/w/a", O_RDONLY) = 3
1 102 openat(AT_FDCWD, "/w/b", O_RDONLY) = 4
1 103 openat(AT_FDCWD, "/w/c", O_RDONLY) = 5
1 104 fork() = 2
2 105 execve("/bin/q", ["q"], 0x1) = 0
2 106 openat(AT_FDCWD, "/w/c", O_RDONLY) = 3
2 107 openat(AT_FDCWD, "/w/b", O_RDONLY) = 4
1 108 openat(AT_FDCWD, "/w/b", O_WRONLY|O_TRUNC) = 6
1 109 close(6) = 0
2 110 openat(AT_FDCWD, "/w/a", O_RDONLY) = 5
2 111 openat(AT_FDCWD, "/w/b", O_RDONLY) = 6
2 112 +++ exited with 0 +++
1 113 +++ exited with 0 +++
END
	part data page | jq -r '.files[]' >names
	part uses page | sed 1d |
		jq -c --rawfile names names '($names / "\n") as $n | [[.[3], .[5]] | .[] | [.[] | $n[.]] | join(" ")]' >got
	diff - got <<'END'
["/bin/p /w/a /w/b /w/c","/w/b"]
["/bin/q /w/c /w/b /w/a",""]
END
}

@test "parts without data are not on the page" {
	files >log
	marks() { grep -oE 'function (draw(Path|Cores)|showFiles|waited)|id="(cores|uses)"|^@(if|end)|const brief' | sort -u; }
	[ -z "$(tr-tohtml build.trec | marks)" ]
	tr-tohtml log | marks | tr '\n' ' ' |
		grep -xF 'const brief function drawPath function showFiles function waited id="uses" '
	tr-tohtml --cores=2 build.trec | marks | tr '\n' ' ' | grep -xF 'function drawCores id="cores" '
	tr-tohtml --critical build.trec | marks | tr '\n' ' ' | grep -xF 'const brief function drawPath function waited '
	run -0 --separate-stderr tr-tohtml --critical --cores=2 -o page "$kw"
	[[ $stderr == *'--cores needs processes with times'*'so it has no critical path'* ]]
	run -2 tr-tohtml --cores=x log
}

@test "a browser shows files, the critical path and idle cores" {
	chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
		skip "no Chromium is installed"
	files >log
	tr-tohtml --title=t --cores=2 log >page
	# in 2 of 10 seconds two compilers run; otherwise one command, which is make while it has no child
	browse page 'const text = () => $("details").innerText.replace(/\s+/g, " ");
		pick(3); const made = text();
		document.title = [busy(first, last), busy(4e6, 5e6), busy(8e6, 9e6),
			/wrote 1 file, bytes: unknown <.script>/.test(made), /read 3 files, bytes: 0 B .*a.o .*b.o .*ld/.test(made),
			/critical 3.000 s of the path, in 1 step waited for .*a\.o/.test(made),
			(showFile(data.files.indexOf("/w/a.o")), text())].join(";")' >got
	grep -xF '1.2;2;1;true;true;true;a.o /w/a.o written by 1 1.000 s a.o cc -c a.c read by 1 6.000 s &lt;/script&gt; ld -o '\''&lt;/script&gt;'\'' a.o b.oyes' got
	browse page '$("search").value = "a.o"; find(); choose("files"); const found = views.files.rows.length;
		choose("path"); views.path.pick(2);
		$("cores").dispatchEvent(new MouseEvent("mousemove", { clientX: lanes.clientWidth - 20, bubbles: true }));
		document.title = [found, picked, waited(data.path[1]), waited(data.path[3]), views.path.rows.length,
			document.querySelector("#list .row:nth-child(5)").textContent.trim().replace(/\s+/g, " "),
			$("tip").textContent.replace(/.*: /, "")].join(";")' |
		grep -xF '1;3;its parent, to start it;the end of &lt;/script&gt; ld;4;6.000 s 3.000 s file &lt;/script&gt; ld -o '\''&lt;/script&gt;'\'' a.o b.o ← a.o;1.00 of 2 cores busyyes'
	cat complaints
	[ ! -s complaints ]
}

# phase NAME TIME DURATION [DETAIL]: an event of -ftime-trace
phase() {
	printf '{"pid":4,"tid":4,"ph":"X","ts":%d,"dur":%d,"name":"%s"%s},' "$2" "$3" "$1" \
		"${4:+,\"args\":{\"detail\":\"$4\"\}}"
}

@test "--phases shows what Clang recorded, where its process is picked" {
	cat >t.trec <<-'END'
		%trec	1	format=strace
		exec	0	1700000000	7	make	argv=["make"]
		exec	1	1700000001	4	clang	parent=0	argv=["clang","-c","a.c"]	env={"A":"1"}
		exit	2	1700000003	4	-	status=0
		exec	3	1700000004	4	clang	parent=0	argv=["clang","-c","b.c"]
		exit	4	1700000005	4	-	status=0
		!end	5
	END
	# the longest fifty of the second process with that number, an outer one first
	{
		printf '{"traceEvents":['
		phase Source 0 500 '</script>\u0000'
		phase Frontend 0 9000
		for i in $(seq 60); do phase "P$i" $((1000 + i)) "$i"; done
		printf '{}],"beginningOfTime":1700000004100000}'
	} >b.json
	{ printf '{"traceEvents":['; phase x 1 2; printf '{}],"beginningOfTime":1700000009000000}'; } >late.json
	run -0 --separate-stderr tr-tohtml --phases=b.json --phases=late.json -o page t.trec
	[ "$stderr" = "tr-tohtml: note: --phases: 1 of 2 files match no process of the trace by process id and time" ]
	part lines page | sed 1d | jq -c '[.[1], (.[3] | length), .[3][:3]]' >got
	diff - got <<-'END'
		["make",0,null]
		["clang -c a.c",0,null]
		["clang -c b.c",50,[[100000000,9000000,"Frontend",null],[100000000,500000,"Source","</script>\u0000"],[101013000,13000,"P13",null]]]
	END
	grep -q 'function showPhases' page
	# without phases nothing is different
	tr-tohtml -o without t.trec
	run ! grep -q showPhases without
	part lines without | grep -xF '["3","clang -c b.c",null]'
	run -2 tr-tohtml --phases=none.json t.trec
	[[ $output == *"none.json: No such file or directory"* ]]
	chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
		skip "no Chromium is installed"
	browse page 'pick(2); const shown = [...document.querySelectorAll("#details table:nth-of-type(2) tr")];
		document.title = [shown.length, ...shown.slice(0, 2).map(row => row.innerText.replace(/\s/g, "_"))].join(";")' |
		grep -xE '50;9[^;]*ms_Frontend_;[^;]*_Source_.*yes'
	cat complaints
	[ ! -s complaints ]
}
