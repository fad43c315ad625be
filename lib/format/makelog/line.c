/* SPDX-License-Identifier: MIT */
/*
 * A line of a log apart from its command: the times, progress, prompts and colours in front of it,
 * and messages about directories.
 *
 * The directory of a command is the one that the last make has entered and not left; outside of
 * makes, the one in which the build began, or to which a session has changed. It changes with
 * messages of make, ninja, waf and msbuild.
 */
#include <stdlib.h>
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/directory.h"
#include "process/path.h"

/* Sets of bytes that skip_among skips; all of them have the digits. */
enum { DIGITS = 1, DOT = 2, COLON = 4, SLASH = 8, TIME = 16, PROGRESS = 32 };

/* The end of the bytes of a set from `at` on. */
static size_t skip_among(struct tr_text text, size_t at, unsigned set)
{
	static const uint8_t sets[256] = {
		['0' ... '9'] = DIGITS | DOT | COLON | SLASH | TIME | PROGRESS,
		['.'] = DOT | TIME | PROGRESS,
		[':'] = COLON | TIME | PROGRESS,
		['/'] = SLASH | PROGRESS,
		['-'] = TIME | PROGRESS,
		['+'] = TIME | PROGRESS,
		['T'] = TIME | PROGRESS,
		['Z'] = TIME | PROGRESS,
		[' '] = PROGRESS,
		['%'] = PROGRESS,
		[','] = PROGRESS,
		['s'] = PROGRESS,
		['e'] = PROGRESS,
		['c'] = PROGRESS,
	};

	while (at < text.len && (sets[(unsigned char)text.data[at]] & set))
		at++;
	return at;
}

/* [openssl-sys 0.9.60], which cargo -vv prints before the lines of crate cc. 0: none. */
static size_t skip_crate(struct tr_text text)
{
	enum { MOST = 100 };
	const char *end = memchr(text.data, ']', text.len < MOST ? text.len : MOST);
	struct tr_text rest = tr_text_span(end ? end : text.data, text.data + text.len);

	return tr_text_starts(rest, TR_TEXT("] running: ")) ? (size_t)(end - text.data) + 1 : 0;
}

/* [exec], [command] and [Step 1/2]: a name in brackets, and perhaps a number. 0: none. */
static size_t skip_name(struct tr_text text)
{
	enum { MOST = 40 };
	size_t at = 1;

	while (at < text.len && at < MOST &&
	       (((text.data[at] | 0x20) >= 'a' && (text.data[at] | 0x20) <= 'z') ||
		tr_is_digit(text.data[at]) || (text.data[at] && strchr("_-.", text.data[at]))))
		at++;
	if (at == 1 || tr_is_digit(text.data[1]))
		return skip_crate(text);
	if (at < text.len && text.data[at] == ' ')
		at = skip_among(text, at + 1, SLASH);
	return at < text.len && text.data[at] == ']' ? at + 1 : skip_crate(text);
}

/* [ 50%], [1/20], [10:00:00], [2026-11-23T10:00:00.123Z]: a number in brackets. 0: none. */
static size_t skip_brackets(struct tr_text text)
{
	enum { MOST = 60 };
	size_t at = skip_among(text, 1, PROGRESS);
	size_t first = 1;

	while (first < at && text.data[first] == ' ')
		first++;
	if (at == text.len || at > MOST || text.data[at] != ']' || !tr_is_digit(text.data[first]))
		return skip_name(text);
	at++;
	return at + (at < text.len && text.data[at] == ':');
}

/* A time of day, a date, or both with T between them, and the stream that GitLab adds. 0: none. */
static size_t skip_time(struct tr_text text)
{
	size_t at = skip_among(text, 0, TIME);

	if (at < sizeof "00:00:00" - 1 || at == text.len || text.data[at] != ' ' ||
	    (text.data[2] != ':' && text.data[4] != '-'))
		return 0;
	at++;
	if (at + 3 < text.len && tr_is_digit(text.data[at]) && tr_is_digit(text.data[at + 1]) &&
	    (text.data[at + 2] == 'O' || text.data[at + 2] == 'E'))
		at += 3 + (text.data[at + 3] == '+');
	return at;
}

/* #12 3.456, as docker prints it, and ##[command]. 0: none. */
static size_t skip_step(struct tr_text text)
{
	size_t at = skip_among(text, 1, DIGITS), end;

	if (tr_text_starts(text, TR_TEXT("##[command]")))
		return sizeof "##[command]" - 1;
	if (at == 1 || at == text.len || text.data[at] != ' ')
		return 0;
	end = skip_among(text, at + 1, DOT);
	return end > at + 1 && end < text.len && text.data[end] == ' ' ? end : 0;
}

/*
 * Skips an escape sequence, such as a colour. Sets *endless if the end of a link or a title is not
 * in the line, so that it is searched for only once.
 */
static const char *skip_escape(const char *p, const char *end, bool *endless)
{
	char kind = p + 1 < end ? p[1] : 0;
	const char *q = p + 2;

	if (kind == '[') {
		while (q < end && *q >= ' ' && *q <= '?')
			q++;
		return q < end ? q + 1 : end;
	}
	/* links, titles and the like, up to BEL or ESC and a backslash */
	if (kind && strchr("]_P^", kind) && !*endless) {
		for (; q < end; q++)
			if (*q == '\a' || (*q == '\x1b' && q + 1 < end && q[1] == '\\'))
				return q + (*q == '\a' ? 1 : 2);
		*endless = true;
		q = p + 2;
	}
	return q < end ? q : end;
}

struct tr_text tr_makelog_plain(struct tr_text line, struct tr_buffer *plain)
{
	const char *end, *p, *q, *cr;
	bool endless = false;

	while (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	cr = line.len ? memrchr(line.data, '\r', line.len) : NULL;
	end = line.data + line.len;
	if (cr)
		line = tr_text_span(cr + 1, end);
	p = memchr(line.data, '\x1b', line.len);
	if (!p)
		return line;
	tr_buffer_reset(plain);
	for (q = line.data; p; p = memchr(q, '\x1b', (size_t)(end - q))) {
		tr_buffer_put(plain, q, (size_t)(p - q));
		q = skip_escape(p, end, &endless);
	}
	tr_buffer_put(plain, q, (size_t)(end - q));
	return tr_buffer_text(plain);
}

/*
 * The length of what may precede a command: one prompt, time, progress or word. 0: there is none.
 */
static size_t skip_prefix(struct tr_text text)
{
	struct tr_text rest = text;
	size_t at = 0;

	switch (*text.data) {
	case '[':
		return skip_brackets(text);
	case '#':
		return skip_step(text);
	case '$':
		return text.len > 1 && text.data[1] == ' ' ? 2 : 0;
	case '+': /* sh -x prints ++ in a substitution, and so on */
		while (at < text.len && text.data[at] == '+')
			at++;
		return at < text.len && text.data[at] == ' ' ? at : 0;
	case 'P': /* PowerShell's prompt; the directory after it stays */
		return tr_text_skip(&rest, TR_TEXT("PS ")) && tr_path_has_drive(rest) ? 3 : 0;
	case 'l':
		if (tr_text_skip(&rest, TR_TEXT("libtool: ")) &&
		    (tr_text_skip(&rest, TR_TEXT("compile: ")) ||
		     tr_text_skip(&rest, TR_TEXT("link: ")) ||
		     tr_text_skip(&rest, TR_TEXT("install: "))))
			return text.len - rest.len;
		return 0;
	case 'r': /* crate cc of Rust */
		return tr_text_skip(&rest, TR_TEXT("running: ")) ? text.len - rest.len : 0;
	case '0' ... '9': /* 1> and 1:2>, the node of msbuild; or a time */
		at = skip_among(text, 0, COLON);
		return at < text.len && at < 10 && text.data[at] == '>' ? at + 1 : skip_time(text);
	default:
		return 0;
	}
}

struct tr_text tr_makelog_command(struct tr_text line)
{
	enum { MOST = 8 };
	size_t skipped = 1;

	/* of Yocto; GCC prints blanks before the bar of quoted source code */
	if (tr_text_starts(line, TR_TEXT("| ")))
		line = (struct tr_text){ line.data + 2, line.len - 2 };
	for (int i = 0; i < MOST && skipped; i++) {
		while (line.len && (*line.data == ' ' || *line.data == '\t')) {
			line.data++;
			line.len--;
		}
		if (!line.len)
			break;
		skipped = skip_prefix(line);
		line = (struct tr_text){ line.data + skipped, line.len - skipped };
	}
	return line;
}

size_t tr_makelog_stamp(struct tr_text line)
{
	size_t len = 0;

	if (line.len && *line.data == '[')
		len = skip_brackets(line);
	else if (line.len && *line.data == '#')
		len = skip_step(line);
	else if (line.len && tr_is_digit(*line.data))
		len = skip_time(line);
	return len + (len && len < line.len && line.data[len] == ' ');
}

/* A message about a directory: make enters it, leaves it, or does neither. */
enum move { STAYS, ENTERS, LEAVES };

/*
 * The level in a message: of the make that prints it; -1: of ninja or waf; MSBUILD and below: of a
 * node of msbuild, MSBUILD itself of any node.
 */
enum { MSBUILD = -2 };

/*
 * The names in front of messages. They are not those of the programs (tr_command_is_build_tool):
 * the program ninja-build prints ninja, and waf prints its name in two ways.
 */
static const char *const makers[] = {
	"make", "gmake", "mingw32-make", "ninja", "Waf", "waf", NULL
};

enum { NAME_MOST = 200 }; /* bytes of the name of a make in a message, with its path */

/* The length of the name of make, ninja or waf in front of a message. 0: it is no message. */
static size_t skip_maker(struct tr_text line, int *level, bool *ninja)
{
	size_t drive = tr_path_has_drive(line) ? 2 : 0;
	size_t most = line.len < NAME_MOST ? line.len : NAME_MOST;
	const char *colon = memchr(line.data + drive, ':', most - drive);
	size_t end = colon ? (size_t)(colon - line.data) : 0, at;
	struct tr_text name = { line.data, end };

	while (name.len && name.data[name.len - 1] == ' ')
		name.len--; /* in French, a blank precedes the colon */
	if (!name.len)
		return 0;
	*level = 0;
	if (name.data[name.len - 1] == ']') {
		for (at = name.len - 1; at > 0 && name.data[at - 1] != '[';)
			at--;
		uint64_t number;
		if (!at || !tr_decimal_read((struct tr_text){ name.data + at, name.len - 1 - at },
					    1 << 20, &number))
			return 0;
		*level = (int)number;
		name.len = at - 1;
	}
	if (!tr_text_is_among(name, makers)) {
		name = tr_tool_base(name);
		if (!tr_text_is_among(name, makers))
			return 0;
	}
	*ninja = *name.data != 'm' && *name.data != 'g';
	return end + 1;
}

/* Finds a path between the quotes of one of make's languages. False: there is none. */
static bool find_path(struct tr_text rest, struct tr_text *path)
{
	static const char *const quotes[][2] = {
		{ "`", "'" },
		{ "'", "'" },
		{ "\"", "\"" },
		{ "„", "“" },
		{ "«\u00a0", "\u00a0»" },
		{ "« ", " »" },
		{ "«", "»" },
		{ "“", "”" },
		{ "”", "”" },
		{ "「", "」" },
	};

	for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
		struct tr_text open = tr_text_from(quotes[i][0]),
			       close = tr_text_from(quotes[i][1]);
		const char *end = rest.data + rest.len, *last = NULL, *p, *q;
		p = memmem(rest.data, rest.len, open.data, open.len);
		if (!p)
			continue;
		p += open.len;
		for (q = p; (q = memmem(q, (size_t)(end - q), close.data, close.len)); q++)
			last = q;
		if (!last || last == p)
			continue;
		*path = tr_text_span(p, last);
		return true;
	}
	return false;
}

/* Finds the folder of the last project in quotes. False: there is none. */
static bool find_project(struct tr_text text, struct tr_text *path)
{
	const char *end = memrchr(text.data, '"', text.len);
	const char *begin = end ? memrchr(text.data, '"', (size_t)(end - text.data)) : NULL;

	if (!begin)
		return false;
	struct tr_text file = tr_text_span(begin + 1, end);
	size_t folder = file.len - tr_path_base(file).len;
	if (!tr_path_is_absolute(file) || !folder)
		return false;
	/* without the separator, unless it is that of the root */
	*path = (struct tr_text){ file.data, folder > 3 ? folder - 1 : folder };
	return true;
}

/*
 * Reads a message of msbuild about a project, which it builds in the folder of the project:
 *
 *	Project "C:\a\b.vcxproj" on node 1 (default targets).
 *	Project "C:\a\b.vcxproj" (1) is building "C:\a\c\d.vcxproj" (2) on node 1 (default targets).
 *	Done Building Project "C:\a\c\d.vcxproj" (default targets).
 */
static enum move move_of_project(struct tr_text line, int *level, struct tr_text *path)
{
	static const char on_node[] = "\" on node ", numbered[] = ") on node ";
	size_t len = sizeof on_node - 1;
	uint64_t node;

	if (tr_text_starts(line, TR_TEXT("Done Building Project \""))) {
		*level = MSBUILD;
		return find_project(line, path) ? LEAVES : STAYS;
	}
	if (!tr_text_starts(line, TR_TEXT("Project \"")))
		return STAYS;
	const char *at = memmem(line.data, line.len, on_node, len);
	if (!at)
		at = memmem(line.data, line.len, numbered, len);
	if (!at)
		return STAYS;
	const char *digits = at + len, *end = line.data + line.len, *p = digits;
	while (p < end && tr_is_digit(*p))
		p++;
	if (!tr_decimal_read(tr_text_span(digits, p), 1 << 20, &node) ||
	    !find_project(tr_text_span(line.data, at + 1), path))
		return STAYS;
	*level = MSBUILD - (int)node;
	return ENTERS;
}

/* The messages of make 4.3 in the languages that translate them. */
static const struct {
	enum move move;
	const char *text;
} messages[] = {
	{ ENTERS, "Entering directory" },
	{ LEAVES, "Leaving directory" },
	{ ENTERS, "wird betreten" },
	{ LEAVES, "wird verlassen" },
	{ ENTERS, "on entre dans le " },
	{ LEAVES, "on quitte le " },
	{ ENTERS, "se entra en el " },
	{ LEAVES, "se sale del " },
	{ ENTERS, "ingresso nella " },
	{ LEAVES, "uscita dalla " },
	{ ENTERS, "Entrando no " },
	{ LEAVES, "Saindo do " },
	{ ENTERS, "a entrar na pasta" },
	{ LEAVES, "a sair da pasta" },
	{ ENTERS, "Går till katalog" },
	{ LEAVES, "Lämnar katalogen" },
	{ ENTERS, "Går til katalog" },
	{ LEAVES, "Forlader katalog" },
	{ ENTERS, "Siirrytään hakemistoon" },
	{ LEAVES, "Poistutaan hakemistosta" },
	{ ENTERS, "wordt binnengegaan" },
	{ LEAVES, "wordt verlaten" },
	{ ENTERS, "Wejście do " },
	{ LEAVES, "Opuszczenie " },
	{ ENTERS, "Vstupuje se do " },
	{ LEAVES, "Opouští se " },
	{ ENTERS, "вход в каталог" },
	{ LEAVES, "выход из каталога" },
	{ ENTERS, "входимо до каталогу" },
	{ LEAVES, "Залишаю каталог" },
	{ ENTERS, "влизане в " },
	{ LEAVES, "излизане от " },
	{ ENTERS, "Улазим у " },
	{ LEAVES, "Напуштам " },
	{ ENTERS, "Ulazi se u " },
	{ LEAVES, "Izlazi se iz " },
	{ ENTERS, "Memasuki direktori" },
	{ LEAVES, "Meninggalkan direktori" },
	{ ENTERS, "Ag dul isteach" },
	{ LEAVES, "Ag dul amach" },
	{ ENTERS, "Vào thư mục" },
	{ LEAVES, "Rời khỏi thư mục" },
	{ ENTERS, "に入ります" },
	{ LEAVES, "から出ます" },
	{ ENTERS, "들어감" },
	{ LEAVES, "나감" },
	{ ENTERS, "进入目录" },
	{ LEAVES, "离开目录" },
	{ ENTERS, "進入目錄" },
	{ LEAVES, "離開目錄" },
	{ LEAVES, "Rời thư mục" },
};

/*
 * False for most lines: a message begins with the name or the path of make, ninja or waf, and a
 * colon, or it is one of msbuild about a project.
 */
static inline bool may_be_message(struct tr_text line)
{
	enum { LONGEST = 16 << 10 };

	if (line.len < 2 || line.len >= LONGEST)
		return false;
	char next = line.data[1];
	switch (*line.data) {
	case 'm':
	case 'w':
	case 'W':
		return next == 'a' || next == 'i';
	case 'g':
		return next == 'm';
	case 'n':
		return next == 'i';
	case '/':
	case '.':
		return memchr(line.data, ':', line.len < NAME_MOST ? line.len : NAME_MOST);
	case 'P':
	case 'D':
		return true;
	default:
		return next == ':'; /* a path with a drive */
	}
}

/* Reads a message about a directory. STAYS: the line is no such message. */
static enum move read_message(struct tr_text line, int *level, struct tr_text *path)
{
	bool ninja = false;

	if (*line.data == 'P' || *line.data == 'D')
		return move_of_project(line, level, path);
	size_t at = skip_maker(line, level, &ninja);
	if (!at)
		return STAYS;
	*level = ninja ? -1 : *level;
	struct tr_text rest = { line.data + at, line.len - at }, quoted = rest;
	/* nearly all logs are in English */
	bool enters = tr_text_skip(&quoted, TR_TEXT(" Entering directory "));
	if ((enters || tr_text_skip(&quoted, TR_TEXT(" Leaving directory "))) && quoted.len > 2 &&
	    (*quoted.data == '\'' || *quoted.data == '`') && quoted.data[quoted.len - 1] == '\'') {
		*path = (struct tr_text){ quoted.data + 1, quoted.len - 2 };
		return enters ? ENTERS : LEAVES;
	}
	if (!find_path(rest, path))
		return STAYS;
	/* only ninja, which is English, prints relative paths; other relative ones are targets */
	if (!tr_path_is_absolute(*path))
		return STAYS;
	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
		if (memmem(rest.data, rest.len, messages[i].text, strlen(messages[i].text)))
			return messages[i].move;
	return STAYS;
}

enum { MOST = 1000 }; /* directories that are open at a time */

struct tr_text tr_makelog_where_now(const struct tr_makelog_where *where)
{
	if (where->count)
		return tr_buffer_text(&where->list[where->count - 1].path);
	return where->cwd.len ? tr_buffer_text(&where->cwd) : (struct tr_text){ NULL, 0 };
}

/* True if two makes of one level, or two nodes, are running, whose commands are mixed. */
static bool is_ambiguous(const struct tr_makelog_where *where)
{
	if (where->count < 2)
		return false;
	const struct tr_makelog_place *last = &where->list[where->count - 1];
	bool nodes = last->level <= MSBUILD && last[-1].level <= MSBUILD;
	return (last[-1].level == last->level) != nodes &&
	       !tr_text_equal(tr_buffer_text(&last->path), tr_buffer_text(&last[-1].path));
}

/* Removes a directory. Its memory is kept for the next one, which is often the same. */
static void drop_place(struct tr_makelog_where *where, size_t i)
{
	struct tr_makelog_place dropped = where->list[i];

	where->count--;
	memmove(&where->list[i], &where->list[i + 1], (where->count - i) * sizeof *where->list);
	where->list[where->count] = dropped;
}

/* Sets *to to the path of a directory that a make enters. False: memory is exhausted. */
static bool join_place(struct tr_text base, struct tr_text path, struct tr_buffer *to)
{
	bool absolute = tr_path_is_absolute(path);

	if (absolute && tr_text_equal(path, tr_buffer_text(to)))
		return true;
	tr_buffer_reset(to);
	if (tr_path_has_drive(path))
		tr_buffer_put_text(to, path);
	else
		tr_directory_join(absolute ? TR_TEXT("/") : base, path, to);
	return !to->failed;
}

/* Enters a directory. TR_WARN: it is not entered, or another one is forgotten. TR_FATAL: memory. */
static enum tr_status enter(struct tr_makelog_where *where, int level, struct tr_text path,
			    struct tr_error *err)
{
	struct tr_text base = tr_makelog_where_now(where);
	enum tr_status status = TR_OK;

	if (where->count == MOST) {
		drop_place(where, 0);
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "more than %d directories are entered and not left: the first of them "
			     "is forgotten",
			     MOST);
		status = TR_WARN;
	}
	if (!tr_path_is_absolute(path) && !base.data)
		return status;
	if (where->count == where->made) {
		if (!tr_array_room(where->list, where->made, where->cap))
			return tr_error_memory(err);
		where->list[where->made++].path = (struct tr_buffer)TR_BUFFER_INIT;
	}
	struct tr_makelog_place *place = &where->list[where->count];
	place->level = level;
	if (!join_place(base, path, &place->path))
		return tr_error_memory(err);
	if (place->path.len > TR_DIRECTORY_MAX) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "a directory whose path is longer than %d bytes is not entered",
			     TR_DIRECTORY_MAX);
		return TR_WARN;
	}
	where->count++;
	where->guessed = is_ambiguous(where);
	return status;
}

/* True if messages of both levels can be about the same directory. */
static bool is_same_level(int a, int b)
{
	return a == b || (a <= MSBUILD && b <= MSBUILD);
}

/* Leaves a directory: the last one of that level with that path, else the last of that level. */
static void leave(struct tr_makelog_where *where, int level, struct tr_text path)
{
	size_t found = where->count;

	for (size_t i = 0; i < where->count; i++) {
		const struct tr_makelog_place *place = &where->list[i];
		if (is_same_level(place->level, level) &&
		    tr_text_equal(tr_buffer_text(&place->path), path))
			found = i;
	}
	for (size_t i = where->count; i > 0 && found == where->count; i--)
		if (is_same_level(where->list[i - 1].level, level))
			found = i - 1;
	if (found < where->count)
		drop_place(where, found);
	where->guessed = is_ambiguous(where);
}

bool tr_makelog_is_message(struct tr_text line)
{
	struct tr_text path;
	int level;

	return may_be_message(line) && read_message(line, &level, &path) != STAYS;
}

/* Follows a line that may be a message. */
static enum tr_status follow(struct tr_makelog_where *where, struct tr_text line,
			     struct tr_error *err)
{
	struct tr_text path;
	int level;
	enum move move = read_message(line, &level, &path);

	if (move == ENTERS)
		return enter(where, level, path, err);
	if (move == LEAVES)
		leave(where, level, path);
	return move == STAYS ? TR_END : TR_OK;
}

enum tr_status tr_makelog_where_follow(struct tr_makelog_where *where, struct tr_text line,
				       struct tr_error *err)
{
	return may_be_message(line) ? follow(where, line, err) : TR_END;
}

bool tr_makelog_where_is_about_next(const struct tr_makelog_where *where, char prompt,
				    struct tr_text text)
{
	if (where->count)
		return false;
	if (prompt)
		return tr_text_starts(text, TR_TEXT("cd ")) ||
		       tr_text_starts(text, TR_TEXT("pushd "));
	return (tr_text_starts(text, TR_TEXT("cd /")) || tr_text_starts(text, TR_TEXT("cd \"/")) ||
		tr_text_starts(text, TR_TEXT("cd $"))) &&
	       !memchr(text.data, ';', text.len) && !memchr(text.data, '&', text.len) &&
	       !memchr(text.data, '|', text.len);
}

void tr_makelog_where_set(struct tr_makelog_where *where, char prompt, struct tr_text directory)
{
	tr_buffer_reset(&where->cwd);
	if (directory.data)
		tr_buffer_put_text(&where->cwd, directory);
	where->traced = prompt != '$';
}

bool tr_makelog_where_is_guess(const struct tr_makelog_where *where)
{
	return where->guessed || (where->traced && !where->count);
}

void tr_makelog_where_free(struct tr_makelog_where *where)
{
	while (where->made)
		tr_buffer_free(&where->list[--where->made].path);
	free(where->list);
	tr_buffer_free(&where->cwd);
}
