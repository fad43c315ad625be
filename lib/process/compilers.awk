# SPDX-License-Identifier: MIT
# Makes the const arrays of compilers_table.h of the table compilers.txt, whose head explains it.
# compilers_read.c reads the same text at run time, and test_compilers.c compares both.
# It needs LC_ALL=C: names are sorted by their bytes.

function fail(why)
{
	print FILENAME ":" FNR ": " why >"/dev/stderr"
	failed = 1
	exit 1
}

# Adds a text to the pool. Returns "{ AT, LEN }".
function piece(text)
{
	if (!(text in places)) {
		places[text] = length(pool)
		pool = pool text
	}
	return "{ " places[text] ", " length(text) " }"
}

# True if a comes before b.
function before(a, b)
{
	return ("x" a) < ("x" b)
}

# Sorts list[from..to] by key[] of its elements.
function sort(list, key, from, to,	i, k, item)
{
	for (i = from + 1; i <= to; i++) {
		item = list[i]
		for (k = i; k > from && before(key[item], key[list[k - 1]]); k--)
			list[k] = list[k - 1]
		list[k] = item
	}
}

# Returns the first section of a family and kind, or -1.
function find_section(family, kind)
{
	return (family SUBSEP kind) in first ? first[family, kind] : -1
}

# A section without other lines is as an earlier one.
function end_section()
{
	if (s >= 0 && like[s] >= 0)
		copy_section(like[s])
}

function begin_section(family, kind)
{
	end_section()
	if (!(kind in kinds))
		fail("unknown kind of program: " kind)
	s = sections++
	families[s] = family
	kind_of[s] = kind
	like[s] = find_section(family, kind)
	if (like[s] < 0)
		first[family, kind] = s
	copied[s] = 0
}

# Takes over what an earlier section states.
function copy_section(from,	i)
{
	if (copied[s]++)
		return
	for (i in scalars)
		if (!((s, i) in given) && ((from, i) in value))
			value[s, i] = value[from, i]
	for (i in lists) {
		begin[s, i] = begin[from, i]
		count[s, i] = count[from, i]
	}
}

# The words from the second one, as one text.
function rest_of_line(	text)
{
	text = $0
	sub(/^[ \t]*[^ \t]+[ \t]*/, "", text)
	sub(/[ \t]+$/, "", text)
	return text
}

# Adds the item $0 describes to a list of the section, which replaces one that was taken over.
function own_list(list)
{
	if ((s, list) in own)
		return
	own[s, list] = 1
	begin[s, list] = total[list] + 0
	count[s, list] = 0
}

function add_item(list, text, number)
{
	own_list(list)
	items[list, total[list]++] = "{ " piece(text) (number == "" ? "" : ", " number) " }"
	if (number == "")
		items[list, total[list] - 1] = piece(text)
	count[s, list]++
}

function add_name(word,	n, name, folders)
{
	n = names++
	name = word
	folders = 0
	if (match(word, /^.*\//)) {
		folders = RLENGTH
		name = substr(word, RLENGTH + 1)
	}
	exe[n] = 0
	if (name ~ /\.exe$/) {
		name = substr(name, 1, length(name) - 4)
		word = substr(word, 1, length(word) - 4)
		exe[n] = 1
	}
	if (length(name) > 31)
		fail("name with more than 31 characters: " name)
	name_text[n] = word
	name_folders[n] = folders
	name_section[n] = s
	name_key[n] = sprintf("%03d", length(name)) name (folders || exe[n] ? " " : "!") word
	if (name_key[n] in name_known)
		fail("name of two sections: " word)
	name_known[name_key[n]] = 1
	lengths[length(name)]++
	name_order[n] = n
}

function add_call(text,	word)
{
	word = text
	sub(/ .*/, "", word)
	calls[call_count++] = "{ " piece(text) ", " s " }"
	if (word in called)
		return
	called[word] = 1
	add_name(word)
	name_section[names - 1] = "TR_NO_SECTION"
}

function add_option(role, place, name,	o, key)
{
	if (value[s, "notation"] == "ld")
		sub(/^--?/, "", name)
	else if (value[s, "notation"] != "keil")
		name = substr(name, 2)
	key = name
	if (value[s, "case"] == "any")
		key = tolower(key)
	if (key == "" || length(key) > 255)
		fail("option without a name, or with a name that is too long")
	if ((s, key, place == "alone") in option_known)
		fail("option given twice: " name)
	option_known[s, key, place == "alone"] = 1
	o = options++
	piece(key)
	option_name[o] = key
	option_key[o] = key SUBSEP (place == "alone") # -V is another option than -VNAME
	option_order[o] = o
	option_meaning[o] = length(key) ", " (role in modes ? "TR_ROLE_MODE" : roles[role]) ", " \
		places_of[place] ", " (role in modes ? modes[role] : 0)
	if (!((s, "options") in own)) {
		own[s, "options"] = 1
		begin[s, "options"] = o
		count[s, "options"] = 0
	}
	count[s, "options"]++
}

BEGIN {
	n = split("driver compiler assembler linker archiver preprocessor collector helper " \
		  "launcher libtool", list, " ")
	for (i = 1; i <= n; i++)
		kinds[list[i]] = "TR_TOOL_" toupper(list[i])
	kinds["other"] = "TR_TOOL_NONE"
	n = split("output product folder define search system include dialect language source " \
		  "linking other rest linker bitcode module", list, " ")
	for (i = 1; i <= n; i++)
		roles[list[i]] = "TR_ROLE_" toupper(list[i])
	n = split("compile assembly syntax preprocess query", list, " ")
	for (i = 1; i <= n; i++)
		modes[list[i]] = "TR_MODE_" toupper(list[i])
	n = split("alone joined either next equal paren both two three number", list, " ")
	for (i = 1; i <= n; i++)
		places_of[list[i]] = "TR_PLACE_" toupper(list[i])
	n = split("plain gnu ld cl ar keil", list, " ")
	for (i = 1; i <= n; i++)
		notations[list[i]] = "TR_NOTATION_" toupper(list[i])
	n = split("notation prefix case default compile-only object assembly beside product " \
		  "entries quoting comments", list, " ")
	for (i = 1; i <= n; i++)
		scalars[list[i]] = 1
	n = split("sources respfiles variables", list, " ")
	for (i = 1; i <= n; i++)
		lists[list[i]] = 1
	forms["attached"] = 1
	forms["space"] = 2
	forms["equal"] = 4
	n = split("before after search system system-c system-c++ system-objc system-objc++", list, " ")
	for (i = 1; i <= n; i++)
		uses[list[i]] = i - 1
	pool = ""
	sections = names = options = 0
	s = -1
}

{ sub(/\r$/, "") }
/^[ \t]*(#|$)/ { next }

/^\[/ {
	if (NF != 2 || $2 !~ /.\]$/ || length($1) < 2)
		fail("[FAMILY KIND] expected")
	begin_section(substr($1, 2), substr($2, 1, length($2) - 1))
	next
}

s < 0 { fail("[FAMILY KIND] expected before other lines") }
NF < 2 { fail("value expected after " $1) }

$1 == "names" {
	for (i = 2; i <= NF; i++)
		add_name($i)
	next
}
$1 == "call" {
	$1 = $1
	add_call(rest_of_line())
	next
}
$1 == "like" {
	if (copied[s])
		fail("like has to come before other lines than names and call")
	like[s] = find_section($2, NF > 2 ? $3 : kind_of[s])
	if (like[s] < 0 || like[s] == s)
		fail("no earlier section [" $2 " " (NF > 2 ? $3 : kind_of[s]) "]")
	copy_section(like[s])
	next
}

# what follows is options, their notation or files: the section that it is like comes first
{
	if (like[s] >= 0)
		copy_section(like[s])
}
$1 in scalars && NF == 2 {
	given[s, $1] = 1
	value[s, $1] = $2
	if ($1 == "notation" && !($2 in notations))
		fail("unknown notation: " $2)
	next
}
$1 == "sources" {
	for (i = 2; i <= NF; i++)
		add_item("sources", $i, "")
	next
}
$1 == "respfile" {
	n = 0
	for (i = 3; i <= NF; i++) {
		if (!($i in forms))
			fail("attached, space or equal expected, not " $i)
		n += forms[$i]
	}
	if (!n)
		fail("attached, space or equal expected")
	add_item("respfiles", $2, n)
	next
}
$1 == "environment" && $2 == "none" && NF == 2 {
	own_list("variables")
	next
}
$1 == "environment" && NF == 3 {
	if (!($2 in uses))
		fail("unknown use of a variable: " $2)
	add_item("variables", $3, uses[$2])
	next
}
($1 in roles || $1 in modes) && NF > 2 {
	if (!($2 in places_of))
		fail("unknown place of a value: " $2)
	for (i = 3; i <= NF; i++)
		add_option($1, $2, $i)
	next
}
{ fail("unknown line: " $1) }

function scalar(s, key, fallback)
{
	return (s, key) in value ? value[s, key] : fallback
}

function range(s, list)
{
	return "{ " begin[s, list] + 0 ", " count[s, list] + 0 " }"
}

function print_items(type, name, list, total,	i)
{
	print "static const " type " " name "[] = {"
	for (i = 0; i < total; i++)
		print "\t" items[list, i] ","
	if (!total)
		print "\t{ 0 },"
	print "};"
}

function print_section(s,	kind, linker, only, object)
{
	kind = kinds[kind_of[s]]
	if (kind == "TR_TOOL_DRIVER" && scalar(s, "notation", "plain") == "cl")
		kind = "TR_TOOL_DRIVER_CL"
	linker = find_section(families[s], "linker")
	only = scalar(s, "compile-only", "-c")
	object = scalar(s, "object", ".o")
	print "\t{ .family = " piece(families[s]) ","
	print "\t  .prefix = " piece(scalar(s, "prefix", "-")) ","
	print "\t  .product = " piece(scalar(s, "product", "a.out")) ","
	print "\t  .object = " piece(object == "none" ? "" : object) ","
	print "\t  .assembly = " piece(scalar(s, "assembly", ".s")) ","
	print "\t  .compile_only = " piece(only == "none" ? "" : only) ","
	print "\t  .options = " range(s, "options") ", .sources = " range(s, "sources") ","
	print "\t  .respfiles = " range(s, "respfiles") ", .variables = " range(s, "variables") ","
	print "\t  .like = " (like[s] < 0 ? "TR_NO_SECTION" : like[s]) ","
	print "\t  .linker = " (linker < 0 ? "TR_NO_SECTION" : linker) ","
	print "\t  .kind = " kind ", .notation = " notations[scalar(s, "notation", "plain")] ","
	print "\t  .any_case = " (scalar(s, "case", "") == "any") \
	      ", .compiles = " (scalar(s, "default", "") == "compile") \
	      ", .beside = " (scalar(s, "beside", "") == "yes") \
	      ", .foreign = " (scalar(s, "entries", "") == "no") \
	      ", .windows = " (scalar(s, "quoting", "") == "windows") \
	      ", .comments = " (scalar(s, "comments", "") == "c") " },"
}

END {
	if (failed)
		exit 1
	end_section()
	sort(name_order, name_key, 0, names - 1)
	for (s = 0; s < sections; s++)
		if ((s, "options") in own)
			sort(option_order, option_key, begin[s, "options"], \
			     begin[s, "options"] + count[s, "options"] - 1)
	print "/* Made by compilers.awk of compilers.txt. */"
	print "static const struct tr_section sections[] = {"
	for (s = 0; s < sections; s++)
		print_section(s)
	print "};"
	print "static const struct tr_program_name names[] = {"
	for (i = 0; i < names; i++) {
		n = name_order[i]
		print "\t{ " piece(name_text[n]) ", " name_folders[n] ", " name_section[n] ", " exe[n] " },"
	}
	print "};"
	print "static const struct tr_option_name options[] = {"
	for (i = 0; i < options; i++) {
		n = option_order[i]
		print "\t{ " places[option_name[n]] ", " option_meaning[n] " },"
	}
	print "};"
	print_items("struct tr_numbered", "respfiles", "respfiles", total["respfiles"])
	print_items("struct tr_numbered", "variables", "variables", total["variables"])
	print_items("struct tr_piece", "sources", "sources", total["sources"])
	print "static const struct tr_numbered calls[] = {"
	for (i = 0; i < call_count; i++)
		print "\t" calls[i] ","
	print "\t{ { 0, 0 }, 0 },"
	print "};"
	gsub(/\\/, "\\\\", pool)
	gsub(/"/, "\\\"", pool)
	gsub(/\?/, "\\?", pool)
	print "static const char texts[] ="
	while (length(pool) > 80) {
		n = 80
		while (substr(pool, n, 1) == "\\")
			n--
		print "\t\"" substr(pool, 1, n) "\""
		pool = substr(pool, n + 1)
	}
	print "\t\"" pool "\";"
	print "#define TABLE_COUNTS \\"
	print "\t.section_count = " sections ", .name_count = " names ", .option_count = " options ", \\"
	print "\t.call_count = " call_count + 0 ", .respfile_count = " total["respfiles"] + 0 ", \\"
	print "\t.variable_count = " total["variables"] + 0 ", .source_count = " total["sources"] + 0 ", \\"
	printf "\t.by_length = {"
	n = 0
	for (i = 0; i < 33; i++) {
		printf " %d,", n
		n += lengths[i]
	}
	print " }"
}
