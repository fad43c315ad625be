/* SPDX-License-Identifier: MIT */
/* Lines of a log: what is in front of a command, and messages about directories. */
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/path.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The end of a run of digits and of the other characters. */
static size_t skip_among(struct tr_text text, size_t at, const char *others)
{
	while (at < text.len &&
	       (is_digit(text.data[at]) || (text.data[at] && strchr(others, text.data[at]))))
		at++;
	return at;
}

/* [openssl-sys 0.9.60], which cargo -vv prints before what crate cc prints. 0: none. */
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
		is_digit(text.data[at]) || (text.data[at] && strchr("_-.", text.data[at]))))
		at++;
	if (at == 1 || is_digit(text.data[1]))
		return skip_crate(text);
	if (at < text.len && text.data[at] == ' ')
		at = skip_among(text, at + 1, "/");
	return at < text.len && text.data[at] == ']' ? at + 1 : skip_crate(text);
}

/* [ 50%], [1/20], [10:00:00], [2026-11-23T10:00:00.123Z]: a number in brackets. 0: none. */
static size_t skip_brackets(struct tr_text text)
{
	enum { MOST = 60 };
	size_t at = skip_among(text, 1, " %/.:,-+TZsec");
	size_t first = 1;

	while (first < at && text.data[first] == ' ')
		first++;
	if (at == text.len || at > MOST || text.data[at] != ']' || !is_digit(text.data[first]))
		return skip_name(text);
	at++;
	return at + (at < text.len && text.data[at] == ':');
}

/* A time of day, a date, or both with T between them, and the stream that GitLab adds. 0: none. */
static size_t skip_time(struct tr_text text)
{
	size_t at = skip_among(text, 0, ":.-TZ+");

	if (at < sizeof "00:00:00" - 1 || at == text.len || text.data[at] != ' ' ||
	    (text.data[2] != ':' && text.data[4] != '-'))
		return 0;
	at++;
	if (at + 3 < text.len && is_digit(text.data[at]) && is_digit(text.data[at + 1]) &&
	    (text.data[at + 2] == 'O' || text.data[at + 2] == 'E'))
		at += 3 + (text.data[at + 3] == '+');
	return at;
}

/* #12 3.456, as docker prints it, and ##[command]. 0: none. */
static size_t skip_step(struct tr_text text)
{
	size_t at = skip_among(text, 1, ""), end;

	if (tr_text_starts(text, TR_TEXT("##[command]")))
		return sizeof "##[command]" - 1;
	if (at == 1 || at == text.len || text.data[at] != ' ')
		return 0;
	end = skip_among(text, at + 1, ".");
	return end > at + 1 && end < text.len && text.data[end] == ' ' ? end : 0;
}

/*
 * The sequence of ESC at p: what a terminal shows differently, and does not print. *endless: no end
 * of a link or a title follows, so none is looked for again.
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

/* +, ++ and so on, and a blank. 0: none. */
static size_t skip_plus(struct tr_text text)
{
	size_t at = 0;

	while (at < text.len && text.data[at] == '+')
		at++;
	return at < text.len && text.data[at] == ' ' ? at : 0;
}

/* PowerShell's prompt up to the directory. 0: none. */
static size_t skip_powershell(struct tr_text text)
{
	return tr_text_skip(&text, TR_TEXT("PS ")) && tr_path_has_drive(text) ? 3 : 0;
}

/* A prompt. 0: none. */
static size_t skip_dollar(struct tr_text text)
{
	return text.len > 1 && text.data[1] == ' ' ? 2 : 0;
}

/* 1> and 1:2>, the node of msbuild. 0: none. */
static size_t skip_node(struct tr_text text)
{
	size_t at = skip_among(text, 0, ":");

	return at < text.len && at < 10 && text.data[at] == '>' ? at + 1 : 0;
}

/* A word that libtool, or Rust's crate cc, prints before a command. 0: none. */
static size_t skip_word(struct tr_text text)
{
	struct tr_text rest = text;

	if (tr_text_skip(&rest, TR_TEXT("libtool: "))
		    ? tr_text_skip(&rest, TR_TEXT("compile: ")) ||
			      tr_text_skip(&rest, TR_TEXT("link: ")) ||
			      tr_text_skip(&rest, TR_TEXT("install: "))
		    : tr_text_skip(&rest, TR_TEXT("running: ")))
		return text.len - rest.len;
	return 0;
}

/* The node of msbuild or a time, which both begin with a digit. 0: none. */
static size_t skip_number(struct tr_text line)
{
	size_t skipped = skip_node(line);

	return skipped ? skipped : skip_time(line);
}

struct tr_text tr_makelog_command(struct tr_text line)
{
	enum { MOST = 8 };
	size_t skipped = 1;

	/* Yocto's; what GCC quotes after a bar has blanks before it */
	if (tr_text_starts(line, TR_TEXT("| ")))
		line = (struct tr_text){ line.data + 2, line.len - 2 };
	for (int i = 0; i < MOST && skipped; i++) {
		while (line.len && (*line.data == ' ' || *line.data == '\t')) {
			line.data++;
			line.len--;
		}
		if (!line.len)
			break;
		char c = *line.data;
		skipped = c == '['		 ? skip_brackets(line)
			  : c == '#'		 ? skip_step(line)
			  : c == '$'		 ? skip_dollar(line)
			  : c == 'P'		 ? skip_powershell(line)
			  : c == '+'		 ? skip_plus(line)
			  : c == 'l' || c == 'r' ? skip_word(line)
			  : is_digit(c)		 ? skip_number(line)
						 : 0;
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
	else if (line.len && is_digit(*line.data))
		len = skip_time(line);
	return len + (len && len < line.len && line.data[len] == ' ');
}

static const struct tr_text makers[] = {
	{ "make", 4 },	{ "gmake", 5 }, { "mingw32-make", 12 },
	{ "ninja", 5 }, { "Waf", 3 },	{ "waf", 3 },
};
enum { MAKERS = sizeof makers / sizeof *makers };

/* Where the name of make, ninja or waf at the beginning of a message ends. 0: it is no message. */
static size_t skip_maker(struct tr_text line, int *level, bool *ninja)
{
	size_t drive = tr_path_has_drive(line) ? 2 : 0;
	size_t most = line.len < 200 ? line.len : 200;
	const char *colon = memchr(line.data + drive, ':', most - drive);
	size_t end = colon ? (size_t)(colon - line.data) : 0, at;
	struct tr_text name = { line.data, end };

	while (name.len && name.data[name.len - 1] == ' ')
		name.len--; /* French has a blank there */
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
	name = tr_tool_base(name);
	size_t i = 0;
	while (i < MAKERS && !tr_text_equal(name, makers[i]))
		i++;
	if (i == MAKERS)
		return 0;
	*ninja = *name.data != 'm' && *name.data != 'g';
	return end + 1;
}

/* Finds a path between the quotes that make has in its languages. False: there is none. */
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

/* The folder of the last project in quotes before the end. False: there is none. */
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
 * What msbuild prints about projects, each of which builds in its folder:
 *
 *	Project "C:\a\b.vcxproj" on node 1 (default targets).
 *	Project "C:\a\b.vcxproj" (1) is building "C:\a\c\d.vcxproj" (2) on node 1 (default targets).
 *	Done Building Project "C:\a\c\d.vcxproj" (default targets).
 */
static enum tr_makelog_move move_of_project(struct tr_text line, int *level, struct tr_text *path)
{
	static const char on_node[] = "\" on node ", numbered[] = ") on node ";
	size_t len = sizeof on_node - 1;
	uint64_t node;

	if (tr_text_starts(line, TR_TEXT("Done Building Project \""))) {
		*level = TR_MAKELOG_MSBUILD;
		return find_project(line, path) ? TR_MAKELOG_LEAVES : TR_MAKELOG_STAYS;
	}
	if (!tr_text_starts(line, TR_TEXT("Project \"")))
		return TR_MAKELOG_STAYS;
	const char *at = memmem(line.data, line.len, on_node, len);
	if (!at)
		at = memmem(line.data, line.len, numbered, len);
	if (!at)
		return TR_MAKELOG_STAYS;
	const char *digits = at + len, *end = line.data + line.len, *p = digits;
	while (p < end && is_digit(*p))
		p++;
	if (!tr_decimal_read(tr_text_span(digits, p), 1 << 20, &node) ||
	    !find_project(tr_text_span(line.data, at + 1), path))
		return TR_MAKELOG_STAYS;
	*level = TR_MAKELOG_MSBUILD - (int)node;
	return TR_MAKELOG_ENTERS;
}

enum tr_makelog_move tr_makelog_directory(struct tr_text line, int *level, struct tr_text *path)
{
	/* what make 4.3 prints in its languages, as far as they translate it */
	static const struct {
		enum tr_makelog_move move;
		const char *text;
	} messages[] = {
		{ TR_MAKELOG_ENTERS, "Entering directory" },
		{ TR_MAKELOG_LEAVES, "Leaving directory" },
		{ TR_MAKELOG_ENTERS, "wird betreten" },
		{ TR_MAKELOG_LEAVES, "wird verlassen" },
		{ TR_MAKELOG_ENTERS, "on entre dans le " },
		{ TR_MAKELOG_LEAVES, "on quitte le " },
		{ TR_MAKELOG_ENTERS, "se entra en el " },
		{ TR_MAKELOG_LEAVES, "se sale del " },
		{ TR_MAKELOG_ENTERS, "ingresso nella " },
		{ TR_MAKELOG_LEAVES, "uscita dalla " },
		{ TR_MAKELOG_ENTERS, "Entrando no " },
		{ TR_MAKELOG_LEAVES, "Saindo do " },
		{ TR_MAKELOG_ENTERS, "a entrar na pasta" },
		{ TR_MAKELOG_LEAVES, "a sair da pasta" },
		{ TR_MAKELOG_ENTERS, "Går till katalog" },
		{ TR_MAKELOG_LEAVES, "Lämnar katalogen" },
		{ TR_MAKELOG_ENTERS, "Går til katalog" },
		{ TR_MAKELOG_LEAVES, "Forlader katalog" },
		{ TR_MAKELOG_ENTERS, "Siirrytään hakemistoon" },
		{ TR_MAKELOG_LEAVES, "Poistutaan hakemistosta" },
		{ TR_MAKELOG_ENTERS, "wordt binnengegaan" },
		{ TR_MAKELOG_LEAVES, "wordt verlaten" },
		{ TR_MAKELOG_ENTERS, "Wejście do " },
		{ TR_MAKELOG_LEAVES, "Opuszczenie " },
		{ TR_MAKELOG_ENTERS, "Vstupuje se do " },
		{ TR_MAKELOG_LEAVES, "Opouští se " },
		{ TR_MAKELOG_ENTERS, "вход в каталог" },
		{ TR_MAKELOG_LEAVES, "выход из каталога" },
		{ TR_MAKELOG_ENTERS, "входимо до каталогу" },
		{ TR_MAKELOG_LEAVES, "Залишаю каталог" },
		{ TR_MAKELOG_ENTERS, "влизане в " },
		{ TR_MAKELOG_LEAVES, "излизане от " },
		{ TR_MAKELOG_ENTERS, "Улазим у " },
		{ TR_MAKELOG_LEAVES, "Напуштам " },
		{ TR_MAKELOG_ENTERS, "Ulazi se u " },
		{ TR_MAKELOG_LEAVES, "Izlazi se iz " },
		{ TR_MAKELOG_ENTERS, "Memasuki direktori" },
		{ TR_MAKELOG_LEAVES, "Meninggalkan direktori" },
		{ TR_MAKELOG_ENTERS, "Ag dul isteach" },
		{ TR_MAKELOG_LEAVES, "Ag dul amach" },
		{ TR_MAKELOG_ENTERS, "Vào thư mục" },
		{ TR_MAKELOG_LEAVES, "Rời khỏi thư mục" },
		{ TR_MAKELOG_ENTERS, "に入ります" },
		{ TR_MAKELOG_LEAVES, "から出ます" },
		{ TR_MAKELOG_ENTERS, "들어감" },
		{ TR_MAKELOG_LEAVES, "나감" },
		{ TR_MAKELOG_ENTERS, "进入目录" },
		{ TR_MAKELOG_LEAVES, "离开目录" },
		{ TR_MAKELOG_ENTERS, "進入目錄" },
		{ TR_MAKELOG_LEAVES, "離開目錄" },
		{ TR_MAKELOG_LEAVES, "Rời thư mục" },
	};
	/* most lines begin with other bytes */
	enum { NAME = 1, PATH };
	static const uint8_t begins[256] = { ['m'] = NAME, ['g'] = NAME, ['n'] = NAME, ['w'] = NAME,
					     ['W'] = NAME, ['/'] = PATH, ['.'] = PATH };
	enum { LONGEST = 16 << 10 };
	bool ninja = false;
	unsigned char first = line.len && line.len < LONGEST ? (unsigned char)*line.data : 0;

	if (first == 'P' || first == 'D')
		return move_of_project(line, level, path);
	bool maker = begins[first] == PATH || (first && tr_path_has_drive(line));
	if (begins[first] == NAME)
		for (size_t i = 0; !maker && i < MAKERS; i++)
			maker = first == (unsigned char)*makers[i].data &&
				tr_text_starts(line, makers[i]);
	size_t at = maker ? skip_maker(line, level, &ninja) : 0;
	if (!at)
		return TR_MAKELOG_STAYS;
	*level = ninja ? -1 : *level;
	struct tr_text rest = { line.data + at, line.len - at }, quoted = rest;
	/* nearly all logs are in English */
	bool enters = tr_text_skip(&quoted, TR_TEXT(" Entering directory "));
	if ((enters || tr_text_skip(&quoted, TR_TEXT(" Leaving directory "))) && quoted.len > 2 &&
	    (*quoted.data == '\'' || *quoted.data == '`') && quoted.data[quoted.len - 1] == '\'') {
		*path = (struct tr_text){ quoted.data + 1, quoted.len - 2 };
		return enters ? TR_MAKELOG_ENTERS : TR_MAKELOG_LEAVES;
	}
	if (!find_path(rest, path))
		return TR_MAKELOG_STAYS;
	/* only ninja, which has no other language, prints a relative path; others quote targets */
	if (!tr_path_is_absolute(*path))
		return TR_MAKELOG_STAYS;
	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
		if (memmem(rest.data, rest.len, messages[i].text, strlen(messages[i].text)))
			return messages[i].move;
	return TR_MAKELOG_STAYS;
}
