#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tr-envdiff: environments as differences, and compared.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	zcat "$top_srcdir/tests/data/build/zlib.kw.json.gz" >zlib.json
	zcat "$top_srcdir/tests/data/build/mc.kw.jsonl.gz" >mc.json
}

# stream FILE LINE...: writes a stream; ">" stands for TAB
stream() {
	local file=$1
	shift
	printf '%s\n' "$@" | tr '>' '\t' >"$file"
}

# a small build: everything that can happen to a variable
small() {
	stream s.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1","B":"2","P":"/bin"}' \
		'exec>1>->1>/make>cwd="/s">argv=["make"]>envdiff={"M":"1"}' \
		'exec>2>->2>/sh>parent=1>argv=["sh"]' \
		'exec>3>->3>/gcc>parent=2>argv=["gcc"]>envdiff={"P":"/opt:/bin","A":null}>flagged=["x"]' \
		'exec>4>->4>/as>parent=3>argv=["as"]>envdiff={"A":"9","B":null,"M":null}' \
		'# a remark' '!end>5'
}

@test "parent, top and none are inverse to each other on real builds" {
	for f in zlib mc; do
		tr-parse $f.json >parent
		[ -s parent ]
		tr-envdiff parent | cmp - parent
		tr-envdiff --base=top parent >top
		tr-envdiff --base=none parent >none
		for have in parent top none; do
			for want in parent top none; do
				echo "$f: $have to $want"
				tr-envdiff --base=$want $have | cmp - $want
			done
		done
		[ "$(grep -c $'\tenv=' none)" -eq "$(grep -c ^exec none)" ]
	done
}

@test "the same where the writer meant the first environment" {
	tr-parse zlib.json >parent
	tr-envdiff --base=top parent | sed 's/\tenvtop=/\tenvdiff=/; s/\tenvdiff={}//' >meant
	tr-envdiff --input-base=top meant | cmp - parent
	tr-envdiff --input-base=top --base=none meant | cmp - <(tr-envdiff --base=none parent)
	tr-repack -t klocwork -q meant >meant.json
	tr-envdiff --input-base=top meant.json | cmp - parent
	tr-envdiff -O env-base=top meant.json | cmp - parent
	tr-parse -O env-base=top meant.json | tr-envdiff | cmp - parent
	run ! cmp -s meant parent
}

@test "auto distinguishes the readings, and reports the evidence" {
	tr-parse zlib.json >parent
	tr-envdiff --base=top parent | sed 's/\tenvtop=/\tenvdiff=/' >top
	run -0 --separate-stderr tr-envdiff --input-base=auto -o got top
	cmp got parent
	[[ $stderr == *'top: note: input base is top: of '*' 336 are redundant and 0 impossible'* ]]
	run -0 --separate-stderr tr-envdiff --input-base=auto -o got parent
	cmp got parent
	[[ $stderr == *'input base is parent (no evidence against it)'* ]]
	[ -z "$(tr-envdiff -q --input-base=auto top 2>&1 >/dev/null)" ]
	# segment by segment
	cat parent top parent | tr-envdiff -q --input-base=auto | cmp - <(cat parent parent parent)
	# the removal of a variable that does not exist
	stream r.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1"}' \
		'exec>1>->1>/a>argv=["a"]>envdiff={"X":"1","Y":"2"}' \
		'exec>2>->2>/b>parent=1>argv=["b"]>envdiff={"X":null}' '!end>3'
	run -0 --separate-stderr tr-envdiff --input-base=auto r.trec
	[[ $stderr == *'input base is parent: of 2 settings and 1 removals'*' 0 and 1 against the first'* ]]
}

@test "each pair of forms is converted" {
	small
	tr-envdiff --base=top s.trec >got
	stream want '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1","B":"2","P":"/bin"}' \
		'exec>1>->1>/make>cwd="/s">argv=["make"]>envtop={"M":"1"}' \
		'exec>2>->2>/sh>parent=1>argv=["sh"]>envtop={"M":"1"}' \
		'exec>3>->3>/gcc>parent=2>argv=["gcc"]>envtop={"M":"1","P":"/opt:/bin","A":null}>flagged=["x"]' \
		'exec>4>->4>/as>parent=3>argv=["as"]>envtop={"P":"/opt:/bin","A":"9","B":null}' \
		'# a remark' '!end>5'
	diff want got
	[ "$(tr-envdiff --base=none s.trec | grep -c 'env={')" -eq 4 ]
	tr-envdiff --base=none s.trec |
		grep -qxF "$(printf 'exec\t4\t-\t4\t/as\tparent=3\targv=["as"]\tenv={"P":"/opt:/bin","A":"9"}')"
	for base in parent top none; do
		tr-envdiff --base=$base s.trec | tr-envdiff | sort | cmp - <(tr-envdiff s.trec | sort)
	done
	# redundant entries are left out
	sed 's/{"M":"1"}/{"B":"2","M":"0","M":"1","Q":null}/' s.trec | tr-envdiff | cmp - s.trec
}

@test "parents after their children, and lines in between, keep their order" {
	small
	{ sed -n '1,2p' s.trec; sed -n '6p;4p;7p;5p;3p;8p' s.trec; } >back.trec
	for base in top none; do
		tr-envdiff --base=$base back.trec >got
		cut -f1,2 got | cmp - <(cut -f1,2 back.trec)
		sort got | cmp - <(tr-envdiff --base=$base s.trec | sort)
		tr-envdiff got | cmp - back.trec
	done
	tac s.trec | grep ^exec | tr-envdiff -q --base=parent | sort | cmp - <(grep ^exec s.trec | sort)
}

@test "parents that do not come, are no parents, or form a circle" {
	stream o.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1"}' \
		'exec>3>->3>/a>parent=2>argv=["a"]>envdiff={"B":"1"}' \
		'exec>4>->4>/b>parent=3>argv=["b"]>envdiff={"C":"1"}' \
		'exec>5>->5>/c>parent=5>argv=["c"]>envdiff={"D":"1"}' \
		'exec>6>->6>/d>parent=7>argv=["d"]>envdiff={"E":"1"}' \
		'exec>7>->7>/e>parent=6>argv=["e"]>envdiff={"F":"1"}' \
		'exec>8>->8>/f>parent=99>argv=["f"]' \
		'exec>9>->9>/g>parent="x">argv=["g"]>envdiff={"G":"1"}' '!end>8'
	run -2 --separate-stderr tr-envdiff -o got o.trec
	cmp got o.trec
	[[ $stderr == *':9: its parent is not a number' ]]
	run -2 --separate-stderr tr-envdiff --base=none -o got o.trec
	cmp got o.trec
	[[ $stderr == *'o.trec:3: the environment of its parent is unknown: there is no env for it'* ]]
	[[ $stderr == *'o.trec:5: it is its own parent: '* && $stderr == *'o.trec:6: it is its own ancestor: '* ]]
	run -2 timeout 10 tr-envdiff --base=top --strict -o gone o.trec
	[ ! -e gone ]
}

@test "an absent environment keeps its meaning" {
	# the environment of a parent that is gone is not the first one
	stream u.trec '%trec>1>format=x' 'env>0>->->->vars={"A":"1"}' 'exec>1>->1>/a>envdiff={"B":"1"}' \
		'exec>2>->2>/b>parent=99' 'exec>3>->3>/c>parent=2>envdiff={}' 'exec>4>->4>/d>parent=1' '!end>5'
	stream want '%trec>1>format=x' 'env>0>->->->vars={"A":"1"}' 'exec>1>->1>/a>envtop={"B":"1"}' \
		'exec>2>->2>/b>parent=99>envdiff={}' 'exec>3>->3>/c>parent=2>envdiff={}' \
		'exec>4>->4>/d>parent=1>envtop={"B":"1"}' '!end>5'
	run -2 --separate-stderr tr-envdiff --base=top -o top u.trec
	diff want top
	run -2 --separate-stderr tr-envdiff --base=top -o again top
	[[ $stderr == *'top:5: the environment of its parent is unknown: there is no envtop for it' ]]
	diff want again
	run -2 --separate-stderr tr-filter --rebase -o rebased exec u.trec
	diff want rebased
	# an empty difference goes without saying
	tr-envdiff -q top | cmp - <(sed 's/\tenvdiff={}//' u.trec)
	tr-envdiff -q u.trec | cmp - <(sed 's/\tenvdiff={}//' u.trec)
}

@test "records in a cycle keep the environments that are known" {
	stream c.trec '%trec>1>format=x' 'env>0>->->->vars={"A":"1"}' 'exec>1>->1>/a>parent=3>envdiff={"B":"1"}' \
		'exec>2>->2>/b>parent=1' 'exec>3>->3>/c>parent=2>envdiff={"A":null}' '!end>4'
	tr-envdiff --input-base=top --base=none c.trec >none
	[ "$(grep -c 'env={' none)" -eq 3 ]
	run -2 --separate-stderr tr-envdiff --input-base=top -o parent c.trec
	[[ $stderr == *'c.trec:3: it is its own ancestor: there is no envdiff for it' ]]
	tr-envdiff --base=none parent | cmp - none
	tr-envdiff -o parent none
	tr-envdiff --base=none parent | cmp - none
}

@test "repeated numbers: the nearest preceding record is the parent" {
	stream d.trec 'exec>1>->1>/a>env={"A":"1"}' 'exec>2>->2>/b>parent=1>envdiff={"B":"1"}' \
		'exec>1>->1>/c>env={"A":"2"}' 'exec>2>->2>/d>parent=1>envdiff={"B":"2"}'
	[ "$(tr-envdiff --base=none d.trec | cut -f6- | tr -d '\n')" = \
		"$(printf 'env={"A":"1"}parent=1\tenv={"A":"1","B":"1"}env={"A":"2"}parent=1\tenv={"A":"2","B":"2"}')" ]
}

@test "several segments, and several traces in one" {
	tr-parse zlib.json >z
	tr-parse mc.json >m
	cat z m | tr-envdiff --base=none | cmp - <(tr-envdiff --base=none z; tr-envdiff --base=none m)
	tr-envdiff --base=none zlib.json mc.json | grep -v ^% | cmp - \
		<(cat z m | tr-envdiff --base=none | grep -v ^%)
	cat zlib.json mc.json | tr-envdiff --base=none >none
	grep ^exec none | cut -f4,5,7- | cmp - <(tr-envdiff --base=none zlib.json mc.json | grep ^exec | cut -f4,5,7-)
	cat zlib.json mc.json | tr-envdiff --base=top | tr-envdiff --base=none | cmp - none
	# the second trace has no env line: the first one's is not its
	grep -v '^{"env"' mc.json | cat zlib.json - | tr-envdiff --base=none >got 2>err || [ $? -eq 2 ]
	grep -q 'the first environment is unknown: there is no env for it' err
	[ "$(grep -c $'\tenv=' got)" -eq 176 ]
}

@test "without an env line, --base=top takes the environment of the first record" {
	stream w.trec '%trec>1>format=x' 'exec>0>->1>/a>env={"A":"1","B":"2"}' \
		'exec>1>->2>/b>parent=0>env={"A":"1"}' 'exec>2>->3>/c>env={"C":"1"}' '!end>3'
	tr-envdiff w.trec >got
	stream want '%trec>1>format=x' 'exec>0>->1>/a>env={"A":"1","B":"2"}' \
		'exec>1>->2>/b>parent=0>envdiff={"B":null}' 'exec>2>->3>/c>env={"C":"1"}' '!end>3'
	diff want got
	tr-envdiff --base=none got | cmp - w.trec
	run -0 --separate-stderr tr-envdiff --base=top -o got w.trec
	[[ $stderr == *'w.trec:2: note: there is no first environment: '* ]]
	stream want '%trec>1>format=x' 'env>->->->->vars={"A":"1","B":"2"}' 'exec>0>->1>/a>envtop={}' \
		'exec>1>->2>/b>parent=0>envtop={"B":null}' \
		'exec>2>->3>/c>envtop={"C":"1","A":null,"B":null}' '!end>4'
	diff want got
	tr-envdiff --base=none got | grep ^exec | cmp - <(grep ^exec w.trec)
	# removals say something even where nothing else is known
	stream n.trec '%trec>1' 'exec>0>->1>/a>envdiff={"A":null}' \
		'exec>1>->2>/b>parent=0>envdiff={"A":"1"}' '!end>2'
	tr-envdiff --base=top n.trec | tr-envdiff | cmp - n.trec
}

@test "each segment decides anew: what differences refer to, and whether case counts in names" {
	# in the first, all differences refer to the first environment, and case counts
	stream two.trec '%trec>1' 'env>0>->->->vars={"Path":"/bin"}' 'exec>1>->1>/a>envtop={"A":"1"}' '!end>2' \
		'%trec>1' 'env>0>->->->vars={"ComSpec":"cmd","Path":"C:\\a"}' \
		'exec>1>->1>a.exe>envdiff={"PATH":"C:\\b"}' '!end>2' \
		'%trec>1' 'env>0>->->->vars={"Path":"/bin"}' 'exec>1>->1>/a>parent=9' \
		'exec>2>->1>/a>env={"PATH":"/sbin","Path":"x"}' '!end>3'
	[ "$(tr-envdiff --base=none two.trec | grep ^exec | cut -f6-)" = 'env={"Path":"/bin","A":"1"}
env={"ComSpec":"cmd","PATH":"C:\\b"}
parent=9
env={"PATH":"/sbin","Path":"x"}' ]
}

@test "traces without environments are reported and not changed" {
	stream c.trec '%trec>1>format=compdb' 'exec>0>->->/gcc>argv=["gcc"]' '!end>1'
	run -0 --separate-stderr tr-envdiff --base=none c.trec
	[ "$output" = "$(cat c.trec)" ]
	[[ $stderr == *'note: no exec record has an environment' ]]
	stream e.trec '%trec>1>format=etrace' 'envset>0>->->->var="A=B">tasks=[1,2]' \
		'exec>1>->1>/gcc>argv=["gcc"]' '!end>2'
	run -0 --separate-stderr tr-envdiff --base=top e.trec
	[ "$output" = "$(cat e.trec)" ]
	[[ $stderr == *"note: etrace's sets of variables are not environments" ]]
	stream u.trec '%trec>1' 'exec>0>->1>/a>env={"A":"1"}' \
		'exec>1>->2>/b>parent=0>flagged=["env-unknown"]' '!end>2'
	run -0 --separate-stderr tr-envdiff --base=none u.trec
	[ "$output" = "$(cat u.trec)" ]
}

@test "Windows: names are one whatever their case" {
	stream w.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"Path":"C:\\a","ComSpec":"cmd"}' \
		'exec>1>->1>a.exe>cwd="C:\\s">argv=["a"]>envdiff={"PATH":"C:\\b"}' \
		'exec>2>->2>b.exe>parent=1>argv=["b"]>envdiff={"path":null,"=C:":"C:\\s"}' '!end>3'
	tr-envdiff --base=none w.trec | grep -qF 'env={"ComSpec":"cmd","PATH":"C:\\b"}'
	tr-envdiff --base=none w.trec | grep -qF 'env={"ComSpec":"cmd","=C:":"C:\\s"}'
	tr-envdiff --base=none --names=exact w.trec |
		grep -qF 'env={"Path":"C:\\a","ComSpec":"cmd","PATH":"C:\\b"}'
	for base in top none; do
		tr-envdiff --base=$base w.trec | tr-envdiff --base=none | cmp - <(tr-envdiff --base=none w.trec)
	done
	run -1 tr-envdiff --compare top 1 w.trec
	[ "$output" = $'-Path=C:\\a\n+PATH=C:\\b' ]
	tr-envdiff --keep=path w.trec | grep -qF 'vars={"Path":"C:\\a"}'
	sed '2d' w.trec | tr-envdiff --keep=PATH | grep -qF 'envdiff={"PATH":null}'
}

@test "the environment keeps its position among the fields" {
	printf '%s\n' $'%trec\t1\tformat=klocwork' $'env\t0\t-\t-\t-\tvars={}' \
		$'exec\t1\t-\t1\ta\tppid=9\tcwd="/"\tflagged=["orphan"]' \
		$'exec\t2\t-\t2\ta\tcwd="/"\targv=["a"]\tcpu=1' $'exec\t3\t-\t3\ta' $'exec\t4\t-\t4\ta\textra={}' \
		$'exec\t5\t-\t5\ta\tppid=9' $'!end\t6' >in
	tr-envdiff --base=none in | sed 's/\tenv={}//' | cmp - in
	[ "$(tr-envdiff --base=none in | grep ^exec | cut -f6- | tr '\t\n' ' ;')" = \
		'ppid=9 cwd="/" env={} flagged=["orphan"];cwd="/" argv=["a"] env={} cpu=1;env={};env={} extra={};ppid=9 env={};' ]
}

@test "--keep, --drop and --mask" {
	small
	run -0 tr-envdiff --keep='[AP]*' s.trec
	[[ $output == *'vars={"A":"1","P":"/bin"}'* && $output == *'envdiff={"A":"9"}'* ]]
	[ "$(grep -c envdiff <<<"$output")" -eq 2 ]
	run -0 tr-envdiff --keep='[AP]' --drop=A --base=top s.trec
	[ "$(grep -o 'envtop=.*' <<<"$output" | sort -u)" = \
		"$(printf 'envtop={"P":"/opt:/bin"}\nenvtop={"P":"/opt:/bin"}\tflagged=["x"]\nenvtop={}')" ]
	run -0 tr-envdiff --mask=P --base=none s.trec
	[[ $output == *'vars={"A":"1","B":"2","P":"***"}'* && $output != */bin* ]]
	run -0 tr-envdiff --mask=P s.trec
	[[ $output == *'envdiff={"P":"***","A":null}'* ]]
	stream e.trec 'envset>0>->->->var="SECRET=x y">tasks=[1]' 'envset>1>->->->var="A=1">tasks=[1]'
	[ "$(tr-envdiff --mask='S*' e.trec | head -n 1 | cut -f6-)" = $'var="SECRET=***"\ttasks=[1]' ]
	[ "$(tr-envdiff --drop='S*' e.trec | wc -l)" -eq 1 ]
}

@test "masked values do not appear anywhere else" {
	stream m.trec '%trec>1>format=klocwork' 'env>0>->->->vars={"A":"1"}>.raw="{secret}"' \
		'exec>1>->1>/a>argv=["a"]>envdiff={"S":"secret"}>.raw="{secret}"' \
		'exec>2>->2>/b>argv=["a"]>envdiff="secret"' 'raw>3>->->->text="secret">reason="x"' \
		'line>4>->->EXEC>text="secret"' 'exec>5>->5>/c>parent=77>envdiff={"S":"secret"}' \
		'env>6>->->->vars=["secret"]' 'exec>7>->7>/a>argv=["a"]>envdiff={"S":"secret",}' '!end>8'
	for base in parent top none; do
		run -2 --separate-stderr tr-envdiff --mask=S --base=$base m.trec
		[[ $output != *secret* && $stderr == *'left out, because it may contain a secret'* && $output == *$'!end\t3'* ]]
	done
	run -2 --separate-stderr tr-envdiff m.trec
	[[ $output == *'envdiff="secret"'* && $stderr == *'its environment is not a map'* ]]
}

@test "--compare: two records, a record and the first environment" {
	small
	run -1 tr-envdiff --compare 1 3 s.trec
	[ "$output" = $'-A=1\n-P=/bin\n+P=/opt:/bin' ]
	run -1 tr-envdiff --compare seq:3 seq:1 s.trec
	[ "$output" = $'+A=1\n-P=/opt:/bin\n+P=/bin' ]
	run -1 tr-envdiff --compare top 4 s.trec
	[ "$output" = $'-A=1\n+A=9\n-B=2\n-P=/bin\n+P=/opt:/bin' ]
	run -1 tr-envdiff --compare 4 top --mask=P --drop=B <s.trec
	[ "$output" = $'-A=9\n+A=1\n-P=***\n+P=***' ]
	run -0 tr-envdiff --compare 1 2 s.trec
	[ -z "$output" ]
	run -1 tr-envdiff --compare seq:3 seq:1 --input-base=auto -q s.trec
	{ head -n 2 s.trec; grep ^exec s.trec | tac; } >back.trec
	run -1 tr-envdiff --compare 1 3 back.trec
	[ "$output" = $'-A=1\n-P=/bin\n+P=/opt:/bin' ]
	run -2 tr-envdiff --compare 1 99 s.trec
	[[ $output == *"no exec record of '99'"* ]]
	for sides in 'top 99' '99 top'; do
		run -2 tr-envdiff --compare $sides s.trec
		[[ $output == *"no exec record of '99'"* ]]
	done
	stream q.trec 'exec>0>->"x">/a>env={"N":"a\nb","Q":"\"q","\xff":"\u0001","B":"a\\b"}' \
		'exec>1>->7>/b>env={}' 'exec>2>->7>/b>env={"Z":"1"}'
	run -1 --separate-stderr tr-envdiff --compare x 7 q.trec
	[ "$output" = $'-B=a\\b\n-N="a\\nb"\n-Q="\\"q"\n-"\\xff"="\\u0001"' ]
	[[ $stderr == *"task '7' has 1 more exec records"* ]]
	# one that is unknown cannot be compared; one that is known in part can
	stream p.trec 'exec>1>->1>a' 'exec>2>->2>b>parent=9>envdiff={"A":"1"}' 'exec>3>->3>c>env={"A":"1","B":"2"}'
	run -2 --separate-stderr tr-envdiff --compare 1 3 p.trec
	[[ -z $output && $stderr == *"the environment of '1' is unknown"* ]]
	run -2 --separate-stderr tr-envdiff --compare 2 3 p.trec
	[[ $output == +B=2 && $stderr == *"the environment of '2' is only partly known"* ]]
}

@test "--compare: the properties of two traces" {
	run -1 tr-envdiff --compare zlib.json mc.json
	[ "$output" = '+PWD=/srv/build/mc' ] || [[ $output == '+PWD='* ]]
	run -0 tr-envdiff --compare zlib.json zlib.json
	tr-parse zlib.json | tr-envdiff --compare - zlib.json
	cp --no-preserve=mode "$top_srcdir/tests/data/gnatcov/history_all_tags_32le.trace" h.trace
	cp --no-preserve=mode "$top_srcdir/tests/data/gnatcov/plain_32le.trace" p.trace
	run -1 tr-envdiff --compare h.trace p.trace
	[[ $output == *'-EXEC_FILE_NAME=obj/main_1'*'+EXEC_FILE_NAME='* ]]
	[[ $output == *'-DATE_TIME=2026-12-31T23:59:59Z'* && $output == *$'\n-USER_DATA=\n'* ]]
	run -0 tr-envdiff --compare p.trace <(cat p.trace)
	run -1 tr-envdiff --compare "$top_srcdir/tests/data/apitrace/gears.trace" \
		"$top_srcdir/tests/data/apitrace/mt4.trace"
	[[ $output == *'-process.name='*'+process.name='* ]]
	stream c.trec '%trec>1>format=compdb' 'exec>0>->->/gcc>argv=["gcc"]' '!end>1'
	run -2 tr-envdiff --compare c.trec zlib.json
	[[ $output == *'c.trec: contains no environments'* ]]
}

@test "errors in usage are reported" {
	for bad in '--base=all' '--input-base=x' '--compare' '--compare a' '--compare top top zlib.json' \
		'--compare seq:x 1 zlib.json' '--compare 1 zlib.json' '--names=y' \
		'--compare --base=top 1 2 zlib.json'; do
		# shellcheck disable=SC2086
		run -2 tr-envdiff $bad
		[[ $output == *'Try '* ]]
	done
	[ -z "$(tr-envdiff </dev/null)" ]
}

@test "other traces are passed on unchanged" {
	for f in gnatcov/plain_32le.trace apitrace/gears.trace; do
		tr-parse "$top_srcdir/tests/data/$f" >want
		[ -s want ]
		tr-envdiff "$top_srcdir/tests/data/$f" | cmp - want
	done
}

# chain COUNT: a trace in which each process starts the next, which has one variable more
chain() {
	printf '%%trec\t1\tformat=x\nenv\t-\t-\t-\t-\tvars={"A":"b"}\n'
	seq 0 $(($1 - 1)) | awk -v OFS='\t' '{
		print "exec", $1, "-", $1, "sh", ($1 ? "parent=" $1 - 1 OFS : "") "cwd=\"/\"",
			"argv=[\"sh\"]", "envdiff={\"V" $1 "\":\"" $1 "\"}" }'
	printf '!end\t%d\n' $(($1 + 1))
}

@test "a chain in which every process adds a variable is bounded, reported, and not lost" {
	chain 800 >chain
	# 320,000 variables; the first 262,144 are free
	run -2 --separate-stderr bash -c 'tr-envdiff --base=top --max-ratio=2 chain >top'
	[[ $stderr == *"tr-envdiff: chain:"*": the environments of this trace grow beyond --max-ratio: there is no envtop for it"* ]]
	[ "$(grep -c envtop= top)" -gt 700 ]
	[ "$(grep -c envtop= top)" -lt 790 ]
	tr-envdiff --base=parent top | cmp - chain
	run -2 --separate-stderr bash -c 'tr-filter --rebase --max-ratio=2 exec chain >rebased'
	[[ $stderr == *"grow beyond --max-ratio: this environment is not rebased"* ]]
	cmp rebased top
	run -2 --separate-stderr tr-totext -o script --style=script -O nested=yes --max-ratio=2 chain
	[[ $stderr == *"grow beyond --max-ratio: the command is left out"* ]]
	[ "$(grep -c '^run ' script)" -eq "$(grep -c envtop= top)" ]
}

# secrets: a trace with the value of TOKEN, tok-EN_1234, in every place that there is
secrets() {
	tr '~' '\t' >secrets.trec <<'END'
%trec~1~format=x~member="d/tok-EN_1234.json"
# about tok-EN_1234
%fn~F1~tok-EN_1234~args=["tok-EN_1234"]
env~-~-~-~-~vars={"Z_TOKEN":"tok-EN_1234"}
exec~1~-~"tok-EN_1234"~/bin/tok-EN_1234~cwd="/tok-EN_1234"~argv=["a","--t=tok-EN_1234","u:\u0074ok-EN_1234@h","{\"t\":\"tok-EN_1234\"}","tok-EN_1234"...]~envdiff={"B":"tok-EN_1234","tok-EN_1234":"1"}~extra={"k":["tok-EN_1234",{"tok-EN_1234":12345678}]}~tok-EN_1234=1~.raw="tok-EN_1234"
exec~2~-~1~a~parent=1~argv=["a","quo\"te\\x","{\"t\":\"quo\\\"te\\\\x\"}","12345678"]~envdiff={"A_TOKEN":"quo\"te\\x","N_TOKEN":"12345678"}~respfile={"tok-EN_1234":"a tok-EN_1234 b"}
sys~3~-~1~write~buf="x tok-EN_1"...~n=12345678~blob=b64:YSB0b2stRU5fMTIzNCBi~all=[b64:AAAA,12345678,L"tok-EN_1234",<tok;"tok-EN_1234">]~->~return={=}
exec~4~-~1~sh~argv=["env","C_TOKEN=from-argv!","sh","-c","D_TOKEN=short A=1 C_TOKEN=\"a b\" make","--with=from-argv!","short"]~envdiff={}
exec~5~-~1~a~argv=["a"]~envdiff={"TOKEN":"tok-EN_1234","E_TOKEN":"cut-value-"...,"F_TOKEN":"line one is long\nline two is long"}
exec~6~-~1~a~argv=["cut-value-and-more","line two is long","--k=line one is long"]~envdiff={}
!end~7
END
}

@test "--mask: the values of masked variables are in nothing that is written" {
	secrets
	for options in --base=parent --base=top --base=none --input-base=auto '--drop=*TOKEN' '--keep=B'; do
		run -0 --separate-stderr tr-envdiff --mask='*TOKEN' "$options" secrets.trec
		[[ $output != *tok?EN* && $output != *quo* && $output != *12345678* && $output != *RU5f* ]]
		[[ $output != *from-argv* && $output != *cut-value* && $output != *and-more* && $output != *long* ]]
		[[ $output != *.raw* && $output == *$'\tall=[b64:AAAA,"***",L"***",<tok;"***">]'* ]]
		[ "$(wc -l <<<"$output")" -eq 11 ]
		# it is still a stream
		tr-tojson <<<"$output" >all.json
		tr-parse <<<"$output" | cmp - <(cat <<<"$output")
	done
	tr-envdiff --mask='*TOKEN' secrets.trec >got
	grep -qF $'exec\t1\t-\t"***"\t/bin/***\tcwd="/***"\targv=["a","--t=***","u:***@h","{\\"t\\":\\"***\\"}","***"...]\tenvdiff={"B":"***","***":"1"}\textra={"k":["***",{"***":"***"}]}\t***=1' got
	grep -qF '"C_TOKEN=***","sh","-c","D_TOKEN=***","--with=***","short"]' got
	# as before: in the variables alone, and without waiting for the end
	run -0 tr-envdiff --mask='*TOKEN' --mask-only-names secrets.trec
	[[ $output == *'"--t=tok-EN_1234"'* && $output == *'"TOKEN":"***"'* ]]
	# values of one file are not in another
	stream other.trec 'exec>1>->1>a>argv=["tok-EN_1234"]'
	run -0 tr-envdiff --mask='*TOKEN' other.trec secrets.trec
	[[ $output != *tok-EN* ]]
	# nor in the output of a comparison
	run -1 tr-envdiff --mask='*TOKEN' --compare seq:1 seq:5 secrets.trec
	[[ $output != *tok?EN* && $output == *$'-B=***'* ]]
}

@test "--mask: values are found in strings with any escapes of JSON" {
	python3 - <<-'END' >json.trec
	import json
	value, held = 'sec"ret<>&/\\\\val\u00e9', []
	for ascii in (False, True):
	    for rest in (False, True):
	        text = value
	        for level in (1, 2):
	            text = json.dumps({"a": "\n" + text + "\ty"}, ensure_ascii=ascii)
	            if rest:
	                for c in "<>&/":
	                    text = text.replace(c, "\\/" if c == "/" else "\\u%04x" % ord(c))
	            held.append(text)
	for i, argv in enumerate(([], held, ["printf '\\nsecret-word'"])):
	    env = {"TOKEN": value, "B_TOKEN": "secret-word"} if i == 0 else {}
	    print("exec", i, "-", 1, "a", "argv=" + json.dumps(argv), "envdiff=" + json.dumps(env), sep="\t")
	END
	[ "$(grep -o 'sec' json.trec | wc -l)" -eq 11 ]
	run -0 --separate-stderr tr-envdiff --mask='*TOKEN' json.trec
	[[ $output != *sec* && $output != *ret* && -z $stderr ]]
	tr-tojson <<<"$output" | jq -ce '.argv[]?' >got
	[ "$(grep -cF '***' got)" -eq 9 ]
	# the text around it remains JSON
	head -n 8 got | jq -r . | jq -re '.a | startswith("\n") and endswith("\ty")' | sort | uniq -c | grep -x ' *8 true'
	# a word of a command line may hold a brace or an escaped blank
	stream word.trec 'exec>1>->1>sh>argv=["sh","-c","TOKEN=ab{cd make; TOKEN=ab\\\\ cd make"]'
	tr-envdiff --mask=TOKEN word.trec | grep -F '"TOKEN=*** make; TOKEN=*** make"' ||
		tr-envdiff --mask=TOKEN word.trec | grep -F '"TOKEN=***"'
	stream word.trec 'exec>1>->1>sh>argv=["sh","-c","x; TOKEN=ab{cd make; TOKEN=ab\\\\ cd make"]'
	tr-envdiff --mask=TOKEN word.trec | grep -F '"x; TOKEN=*** make; TOKEN=*** make"'
}

@test "--mask: the rest of a wide string stays as it is" {
	printf 'exec\t0\t-\t1\ta\targv=["a"]\tenv={"TOKEN":"s3\\"cr3tValue9"}\n' >wide.trec
	printf 'call\t1\t-\t1\tf\tw=L"a\\tb s3\\"cr3tValue9\\n"\n' >>wide.trec
	tr-envdiff --mask=TOKEN wide.trec | cut -f 6 | grep -xF 'w=L"a\tb ***\n"'
}

@test "--mask: a record is left out if its environment cannot be read, as it may hold values" {
	for env in '{"TOKEN":"tok-EN_1234"' '["TOKEN=tok-EN_1234"]' '"TOKEN=tok-EN_1234"'; do
		stream cut.trec "exec>1>->1>a>argv=[\"tok-EN_1234\"]>env=$env" 'exec>2>->1>b>argv=["b"]'
		run -2 --separate-stderr tr-envdiff --mask=TOKEN cut.trec
		[[ $output != *tok-EN* && $output == *$'exec\t2\t'* && $stderr == *'cut.trec:1: '*'left out'* ]]
	done
}

@test "--mask: words that hold a value, short values and paths are reported" {
	stream w.trec 'exec>1>->1>a>argv=["-ptok-EN_1234","tok-EN_12345","yes","/a/b:/c","tok-EN_1234"]>env={"TOKEN":"tok-EN_1234","S_TOKEN":"yes","P_TOKEN":"/a/b:/c","A":"yes"}'
	run -2 --separate-stderr tr-envdiff --mask='*TOKEN' w.trec
	[[ $output == *'argv=["-ptok-EN_1234","tok-EN_12345","yes","/a/b:/c","***"]'* ]]
	[[ $output == *'{"TOKEN":"***","S_TOKEN":"***","P_TOKEN":"***","A":"yes"}'* ]]
	[[ $stderr == *'--mask: 2 occurrences of masked values are not masked, because they are parts of longer words'* ]]
	# a number that is also the time, or a process, does not make these unreadable
	stream n.trec 'exec>1>1795348163.5>17953481>a>argv=["a","1795348163"]>env={"S_TOKEN":"1795348163","N_TOKEN":"17953481"}'
	[ "$(tr-envdiff --mask='*TOKEN' n.trec | cut -f 1-6)" = $'exec\t1\t1795348163.5\t17953481\ta\targv=["a","***"]' ]
	[[ $stderr == *'note: --mask: 3 other occurrences of values that are shorter than 8 bytes or look like paths are not masked'* ]]
}

@test "--mask: a value is a path only if it looks like one" {
	local path token
	for path in /home/user/src '/usr/bin:/bin:/opt/c++/x86_64-linux-gnu/12.2:' /nix/store/0c1p5z4kq9-gcc-12 \
		'C:\\\\Program Files (x86)\\\\a;D:/b c' /Users/me/MyProject /tmp/a%20b,c~1@2; do
		stream p.trec "exec>1>->1>a>argv=[\"$path\"]>env={\"S_TOKEN\":\"$path\"}"
		run -0 --separate-stderr tr-envdiff --mask='*TOKEN' p.trec
		[[ $output == *argv=[[]"\"$path\""]* && $output == *'"S_TOKEN":"***"'* ]]
		[[ $stderr == *'note: --mask: 1 other occurrences of values that'* ]]
	done
	for token in /Xy7k2PqLm0d== '/usr/bin:/Xy7k2PqLm0dRw' /9jAfQ+vbn/Rt8aMkQ /kkkkkkk\; '/a/b?token=cdef' \
		'/home/hello$world' 'C:\\\\Xy7k2PqLm0d'; do
		stream t.trec "exec>1>->1>a>argv=[\"-p\",\"$token\"]>env={\"S_TOKEN\":\"$token\"}"
		run -0 --separate-stderr tr-envdiff --mask='*TOKEN' t.trec
		[[ $output == *'argv=["-p","***"]'* && -z $stderr ]]
	done
}

@test "--mask: many values take time in proportion to their length, and have a limit" {
	{
		printf 'env\t-\t-\t-\t-\tvars={'
		seq 20000 | sed 's/.*/"T&":"a-common-prefix-of-all-values-&-"/' | paste -sd, | tr -d '\n'
		printf '}\n'
		seq 20000 | sed 's/.*/exec\t&\t-\t1\ta\targv=["x","a-common-prefix-of-all-values-&-"]/'
	} >many
	(
		ulimit -t 10
		tr-envdiff --mask='T*' many >got
	)
	run ! grep -q common got
	[ "$(grep -cF '["x","***"]' got)" -eq 20000 ]
	{
		printf 'env\t-\t-\t-\t-\tvars={"T":"'
		head -c 9000000 /dev/zero | tr '\0' x
		printf '"}\n'
	} >large
	run -2 --separate-stderr tr-envdiff --mask=T large
	[[ -z $output && $stderr == *'exceed 8 MiB, which is too much to search for; --mask-only-names'* ]]
	tr-envdiff --mask=T --mask-only-names large | grep -qF 'vars={"T":"***"}'
}

@test "such a chain is bounded and reported in Bear's events, which hold whole environments" {
	# as are klocwork's differences to the first environment: tests/long/linear has those
	chain 2400 >chain
	run -2 --separate-stderr tr-repack -t bear -o events chain
	[[ $stderr == *"left out: the complete environments of this trace exceed 1000 times the size of the input"* ]]
	[ "$(wc -l <events)" -gt 2300 ]
	[ "$(wc -l <events)" -lt 2400 ]
}

@test "a pattern that matches no variable is reported, and of --mask a plain name is an error" {
	small
	# a pattern that matches in any file, in a difference, or together with others, is used
	stream other.trec 'exec>1>->1>a>argv=["a"]>env={"MY_TOKEN":"tok-EN_1234"}'
	for options in --mask-only-names --base=none --input-base=auto; do
		run -0 --separate-stderr tr-envdiff --mask=MY_TOKEN --mask='*TOKEN' --mask=M "$options" s.trec other.trec
		[[ $stderr != *matches* && $output != *tok-EN* ]]
		run -2 --separate-stderr tr-envdiff --mask=MY_TOKN --mask=M "$options" s.trec other.trec
		[[ $stderr == *"tr-envdiff: no variable matches --mask=MY_TOKN; nothing was masked for it" ]]
		run -0 --separate-stderr tr-envdiff --mask='*TOKN' "$options" other.trec
		[[ $stderr == *"note: no variable matches --mask=*TOKN; nothing was masked for it" ]]
		run -2 tr-envdiff --strict --mask='*TOKN' "$options" other.trec
	done
	run -2 --separate-stderr tr-envdiff --mask=X --compare top 3 s.trec
	[[ $stderr == *"no variable matches --mask=X; "* ]]
	run -0 --separate-stderr tr-envdiff --keep=A --keep=Q --drop=A --drop='Z*' s.trec
	[ "$stderr" = $'tr-envdiff: note: no variable matches --keep=Q\ntr-envdiff: note: no variable matches --drop=Z*' ]
	stream none.trec 'exec>0>->->/gcc>argv=["gcc"]'
	run -2 --separate-stderr tr-envdiff --mask=TOKEN none.trec
	[[ $stderr == *"note: no exec record has an environment: no variables were masked"*"--mask=TOKEN"* ]]
}

@test "patterns that cannot be meant are usage errors" {
	small
	for option in --mask --keep --drop; do
		for pattern in '[' 'A[B' '[]' '[!]' '[[:alpha:]' 'A[B\]'; do
			run -2 --separate-stderr tr-envdiff "$option=$pattern" s.trec
			[[ -z $output && $stderr == *"pattern '"*"': unclosed '['"* ]]
		done
		run -2 --separate-stderr tr-envdiff "$option=" s.trec
		[[ -z $output && $stderr == *"empty pattern"* ]]
	done
	for pattern in '[]B]' '[!]A]' '[[:upper:]]' '\[' '[A\]B]' 'B]'; do
		run -0 tr-envdiff --drop="$pattern" s.trec
	done
	run -2 --separate-stderr tr-envdiff --mask-only-names s.trec
	[[ -z $output && $stderr == *"--mask-only-names needs --mask"* ]]
}
