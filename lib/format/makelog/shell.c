/* SPDX-License-Identifier: MIT */
/*
 * The language of POSIX shells, as far as printed command lines have it: words with their quotes,
 * lists (; & && || |), subshells, redirections, assignments, reserved words, comments. The parser
 * has no recursion: a stack of directories holds what a subshell gives back.
 */
#include <stdlib.h>
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/command.h"
#include "process/directory.h"
#include "record/literal.h"

/* The exit status of the last command, where that does not depend on the machine. */
enum fate { FATE_UNKNOWN, FATE_TRUE, FATE_FALSE };

struct tr_makelog_shell {
	tr_makelog_take *take;
	void *context;

	/* of the text */
	const char *pos, *end;
	struct tr_buffer depbase; /* the value of automake's variable; empty: it is not set */
	enum tr_makelog_syntax syntax;
	struct tr_buffer directory; /* the current one */
	bool known;
	struct tr_buffer previous; /* that of cd - and popd; empty: unknown */
	struct scope {
		char *directory; /* NULL: unknown */
		size_t len;
	} scopes[TR_MAKELOG_DEPTH];
	size_t depth;
	size_t bodies; /* of if and loops, in which this is */
	size_t cases;
	enum fate fate;
	bool by_line;  /* the command ends with its line */
	bool quoting;  /* the error is a quote without an end */
	bool moved;    /* a command has changed the directory */
	bool dangling; /* an operator at the end, which a command has to follow */
	struct here {
		size_t begin, len; /* of its delimiter, in delimiters */
		bool tabs;	   /* removes tabs in front of lines */
		bool script;	   /* a shell reads it */
	} heres[4];		   /* documents that begin in this line */
	size_t here_count;
	struct tr_buffer delimiters;
	bool endless; /* a document whose end is not in the text */

	/* of the command */
	struct tr_buffer bytes; /* its words, one after the other */
	size_t *ends;
	size_t count, cap;
	struct tr_word *words;
	size_t words_cap;
	struct tr_buffer spelled; /* bytes with escapes, from the first word on that needs them */
	bool hard;		  /* there is such a word */
	bool quoted;		  /* the last word has quotes */
	bool unexpanded;	  /* any of its words has what a shell would expand */
	bool conditional;	  /* it follows || */
	bool skipped;		  /* it is not run, or is no command: the list of a loop */
	bool failed;
};

struct tr_makelog_shell *tr_makelog_shell_new(tr_makelog_take *take, void *context)
{
	struct tr_makelog_shell *shell = calloc(1, sizeof *shell);

	if (!shell)
		return NULL;
	shell->take = take;
	shell->context = context;
	return shell;
}

static void pop(struct tr_makelog_shell *shell)
{
	free(shell->scopes[--shell->depth].directory);
}

void tr_makelog_shell_free(struct tr_makelog_shell *shell)
{
	if (!shell)
		return;
	while (shell->depth)
		pop(shell);
	tr_buffer_free(&shell->depbase);
	tr_buffer_free(&shell->directory);
	tr_buffer_free(&shell->previous);
	tr_buffer_free(&shell->bytes);
	tr_buffer_free(&shell->spelled);
	tr_buffer_free(&shell->delimiters);
	free(shell->ends);
	free(shell->words);
	free(shell);
}

/* Between two words, so that words that need no escapes are the items of a list as they are. */
static const char separator[] = "\",\"";
enum { SEPARATOR = sizeof separator - 1 };

static struct tr_text word(const struct tr_makelog_shell *shell, size_t i)
{
	size_t begin = i ? shell->ends[i - 1] + SEPARATOR : 0;

	return (struct tr_text){ shell->bytes.data ? shell->bytes.data + begin : "",
				 shell->ends[i] - begin };
}

/*
 * True for bytes that only stand for themselves, within a word and outside of quotes, and that a
 * string of the stream has without an escape.
 */
static const bool plain[256] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['+' ... ':'] = true, ['@'] = true,
	['_'] = true,	      ['='] = true,	    ['%'] = true,	  ['^'] = true,
	['{'] = true,	      ['}'] = true,	    ['~'] = true,	  ['!'] = true,
	[']'] = true,	      ['#'] = true,
};

/* True for bytes that end a word outside of quotes. */
static const bool ending[256] = {
	[' '] = true, ['\t'] = true, ['\n'] = true, [';'] = true, ['&'] = true,
	['|'] = true, ['('] = true,  [')'] = true,  ['<'] = true, ['>'] = true,
};

static void fail(struct tr_makelog_shell *shell, enum tr_makelog_syntax syntax)
{
	if (shell->syntax == TR_MAKELOG_FINE)
		shell->syntax = syntax;
	shell->pos = shell->end;
}

/* Reports a quote, or a bracket of a substitution, that has no end. */
static void fail_quote(struct tr_makelog_shell *shell)
{
	shell->quoting |= shell->syntax == TR_MAKELOG_FINE;
	fail(shell, TR_MAKELOG_UNCLOSED);
}

/* Takes '...' after its first quote. */
static void take_single(struct tr_makelog_shell *shell)
{
	const char *close = memchr(shell->pos, '\'', (size_t)(shell->end - shell->pos));

	if (!close) {
		fail_quote(shell);
		return;
	}
	tr_buffer_put(&shell->bytes, shell->pos, (size_t)(close - shell->pos));
	shell->pos = close + 1;
}

/* Takes $'...' after its quote, with the escapes of C. */
static void take_ansi(struct tr_makelog_shell *shell)
{
	static const char from[] = "abefnrtv", to[] = "\a\b\x1b\f\n\r\t\v";

	while (shell->pos < shell->end && *shell->pos != '\'') {
		char c = *shell->pos++;
		if (c != '\\' || shell->pos == shell->end) {
			tr_buffer_put_byte(&shell->bytes, c);
			continue;
		}
		c = *shell->pos++;
		const char *known = c ? strchr(from, c) : NULL;
		unsigned value = 0;
		int digits = 0;
		if (c == 'x') {
			for (; digits < 2 && shell->pos < shell->end &&
			       tr_hex_digit(*shell->pos) >= 0;
			     digits++)
				value = value * 16 + (unsigned)tr_hex_digit(*shell->pos++);
			c = (char)value;
		} else if (c >= '0' && c <= '7') {
			for (shell->pos--; digits < 3 && shell->pos < shell->end &&
					   *shell->pos >= '0' && *shell->pos <= '7';
			     digits++)
				value = value * 8 + (unsigned)(*shell->pos++ - '0');
			c = (char)value;
		} else if (known) {
			c = to[known - from];
		}
		tr_buffer_put_byte(&shell->bytes, c);
	}
	if (shell->pos == shell->end)
		fail_quote(shell);
	else
		shell->pos++;
}

/* The directory of the command. */
static struct tr_text directory_of(const struct tr_makelog_shell *shell)
{
	return shell->known ? tr_buffer_text(&shell->directory) : (struct tr_text){ NULL, 0 };
}

/* Passes on what a shell runs that is started for it: the command sh -c SCRIPT. */
static void deliver_script(struct tr_makelog_shell *shell, struct tr_text script)
{
	const struct tr_word words[] = { { TR_TEXT("sh"), 0, false },
					 { TR_TEXT("-c"), 1, false },
					 { script, 2, false } };

	if (!shell->skipped && shell->syntax == TR_MAKELOG_FINE)
		shell->take(shell->context, &(struct tr_makelog_found){
						    .words = words,
						    .count = sizeof words / sizeof *words,
						    .directory = directory_of(shell),
						    .conditional = shell->conditional ||
								   shell->bodies || shell->cases,
					    });
}

/* Delivers the script of `...`, where a backslash keeps its sense only before $, ` and itself. */
static void deliver_backquoted(struct tr_makelog_shell *shell, struct tr_text text)
{
	struct tr_buffer script = TR_BUFFER_INIT;

	if (!memchr(text.data, '\\', text.len)) {
		deliver_script(shell, text);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		bool escape = text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1] &&
			      strchr("$`\\", text.data[i + 1]);
		i += escape;
		tr_buffer_put_byte(&script, text.data[i]);
	}
	shell->failed |= script.failed;
	deliver_script(shell, tr_buffer_text(&script));
	tr_buffer_free(&script);
}

/* Takes `...` after its first character. */
static void take_backquotes(struct tr_makelog_shell *shell)
{
	const char *begin = shell->pos, *p = begin;

	while (p < shell->end && *p != '`')
		p += *p == '\\' && p + 1 < shell->end ? 2 : 1;
	if (p >= shell->end) {
		fail_quote(shell);
		return;
	}
	struct tr_text script = tr_text_span(begin, p);
	shell->pos = p + 1;
	if (tr_makelog_automake_source(script, &shell->bytes) ||
	    tr_makelog_automake_depbase(script, &shell->bytes, &shell->depbase))
		return;
	deliver_backquoted(shell, script);
	shell->unexpanded = true;
	tr_buffer_put(&shell->bytes, begin - 1, (size_t)(p + 2 - begin));
}

/*
 * The bracket that closes a substitution, of which the text after the first bracket begins at p.
 * Brackets within quotes, and those of substitutions in it, are not it. NULL: there is none.
 */
static const char *find_close(const char *p, const char *end, char close)
{
	enum { DEEPEST = 64 };
	char stack[DEEPEST] = { close }; /* what closes each part that is open */
	size_t depth = 1;

	for (; p < end; p++) {
		char c = *p, top = stack[depth - 1], next = p + 1 < end ? p[1] : 0, opened = 0;
		if (c == '\\') {
			p++;
		} else if (c == top) {
			if (!--depth)
				return p;
		} else if (c == '$' && (next == '(' || next == '{')) {
			opened = next == '(' ? ')' : '}';
			p++;
		} else if (c == '(' && top == ')') {
			opened = ')';
		} else if (c == '`' || (c == '"' && top != '`')) {
			opened = c;
		} else if (c == '\'' && top == ')') {
			p = memchr(p + 1, '\'', (size_t)(end - p - 1));
			if (!p)
				return NULL;
		}
		if (opened && depth == DEEPEST)
			return NULL;
		if (opened)
			stack[depth++] = opened;
	}
	return NULL;
}

/* Takes $name, ${...}, $(...) after the dollar. */
static void take_dollar(struct tr_makelog_shell *shell)
{
	const char *begin = shell->pos;
	char open = begin < shell->end ? *begin : 0;

	if (open == '(' || open == '{') {
		const char *close = find_close(begin + 1, shell->end, open == '(' ? ')' : '}');
		if (!close) {
			fail_quote(shell);
			return;
		}
		struct tr_text script = tr_text_span(begin + 1, close);
		shell->pos = close + 1;
		if (open == '(' && tr_makelog_automake_source(script, &shell->bytes))
			return;
		if (open == '(')
			deliver_script(shell, script);
		tr_buffer_put(&shell->bytes, begin - 1, (size_t)(close + 2 - begin));
		shell->unexpanded = true;
		return;
	}
	struct tr_text name = tr_text_span(begin, shell->end);
	if (shell->depbase.len && tr_text_skip(&name, TR_TEXT("depbase."))) {
		tr_buffer_put_text(&shell->bytes, tr_buffer_text(&shell->depbase));
		shell->pos = name.data - 1;
		return;
	}
	/* "$ORIGIN", but not "a$" or "$," */
	shell->unexpanded |= (open >= 'a' && open <= 'z') || (open >= 'A' && open <= 'Z') ||
			     (open >= '0' && open <= '9') ||
			     (open && strchr("_@*#?-$!", open) != NULL);
	tr_buffer_put_byte(&shell->bytes, '$');
}

/* Takes "..." after its first quote. */
static void take_double(struct tr_makelog_shell *shell)
{
	while (shell->pos < shell->end && *shell->pos != '"') {
		char c = *shell->pos++;
		if (c == '\\' && shell->pos < shell->end) {
			char next = *shell->pos;
			if (next == '\n') {
				shell->pos++;
				continue;
			}
			if (next && strchr("$`\"\\", next)) {
				shell->pos++;
				c = next;
			}
			tr_buffer_put_byte(&shell->bytes, c);
		} else if (c == '`') {
			take_backquotes(shell);
		} else if (c == '$') {
			take_dollar(shell);
		} else {
			tr_buffer_put_byte(&shell->bytes, c);
		}
	}
	if (shell->pos == shell->end)
		fail_quote(shell);
	else
		shell->pos++;
}

/* Takes what follows a backslash outside of quotes. */
static void take_backslash(struct tr_makelog_shell *shell)
{
	if (shell->pos == shell->end)
		return;
	if (*shell->pos == '\n') {
		shell->pos++;
		return;
	}
	shell->quoted = true;
	tr_buffer_put_byte(&shell->bytes, *shell->pos++);
}

/* The first byte from p on that may be more than itself. */
static const char *skip_plain(const char *p, const char *end)
{
	const unsigned char *q = (const unsigned char *)p;

	while (end - p >= 4 && (plain[q[0]] & plain[q[1]] & plain[q[2]] & plain[q[3]])) {
		p += 4;
		q += 4;
	}
	while (p < end && plain[(unsigned char)*p])
		p++;
	return p;
}

/* Appends the bytes of the word at pos. True: some of them are not plain. */
static bool read_word(struct tr_makelog_shell *shell)
{
	bool rough = false;

	shell->quoted = false;
	while (shell->pos < shell->end) {
		const char *p = skip_plain(shell->pos, shell->end);
		tr_buffer_put(&shell->bytes, shell->pos, (size_t)(p - shell->pos));
		shell->pos = p;
		if (p == shell->end)
			return rough;
		char c = *p;
		if (ending[(unsigned char)c])
			return rough;
		rough = true;
		shell->pos++;
		shell->quoted |= c == '\'' || c == '"' || c == '`' || c == '$';
		bool ansi = c == '$' && shell->pos < shell->end && *shell->pos == '\'';
		shell->pos += ansi;
		if (ansi)
			take_ansi(shell);
		else if (c == '\'')
			take_single(shell);
		else if (c == '"')
			take_double(shell);
		else if (c == '`')
			take_backquotes(shell);
		else if (c == '$')
			take_dollar(shell);
		else if (c == '\\')
			take_backslash(shell);
		else
			tr_buffer_put_byte(&shell->bytes, c);
		shell->unexpanded |= c == '*' || c == '?' || c == '[';
	}
	return rough;
}

/* True if a byte of the text needs an escape. */
static bool has_hard(struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			return true;
	}
	return false;
}

/* Changes the directory of the commands that follow. */
static void change(struct tr_makelog_shell *shell)
{
	struct tr_buffer joined = TR_BUFFER_INIT;
	size_t i = 1;

	bool back = tr_text_is(word(shell, 0), "popd") ||
		    (shell->count == 2 && tr_text_is(word(shell, 1), "-"));

	shell->moved = true;
	if (back) {
		struct tr_buffer left = shell->directory;
		shell->directory = shell->previous;
		shell->previous = left;
		shell->previous.len = shell->known ? left.len : 0;
		shell->known = shell->directory.len > 0;
		return;
	}
	tr_buffer_reset(&shell->previous);
	if (shell->known)
		tr_buffer_put_text(&shell->previous, tr_buffer_text(&shell->directory));
	while (i < shell->count &&
	       (tr_text_is(word(shell, i), "--") || tr_text_is(word(shell, i), "-P") ||
		tr_text_is(word(shell, i), "-L")))
		i++;
	struct tr_text path = i < shell->count ? word(shell, i) : TR_TEXT("");
	bool absolute = tr_path_is_absolute(path);
	/* ~ is a home that the log does not name */
	if (shell->unexpanded || i == shell->count || tr_text_starts(path, TR_TEXT("~")) ||
	    path.len > TR_DIRECTORY_MAX || (!absolute && !shell->known)) {
		shell->known = false;
		return;
	}
	if (path.len)
		tr_directory_join(absolute ? TR_TEXT("/") : tr_buffer_text(&shell->directory), path,
				  &joined);
	shell->failed |= joined.failed;
	shell->known = joined.len <= TR_DIRECTORY_MAX;
	if (path.len && shell->known) {
		shell->directory.len = 0;
		tr_buffer_put_text(&shell->directory, tr_buffer_text(&joined));
	}
	tr_buffer_free(&joined);
}

/* Passes the command on. */
static void deliver(struct tr_makelog_shell *shell)
{
	if (shell->count > shell->words_cap &&
	    !tr_array_grow(&shell->words, &shell->words_cap, shell->count, sizeof *shell->words)) {
		shell->failed = true;
		return;
	}
	for (size_t i = 0; i < shell->count; i++)
		shell->words[i] = (struct tr_word){ word(shell, i), i, false };
	struct tr_makelog_found found = {
		.words = shell->words,
		.count = shell->count,
		.directory = directory_of(shell),
		.unexpanded = shell->unexpanded,
		.conditional = shell->conditional || shell->bodies || shell->cases,
		.spelled = tr_buffer_text(shell->hard ? &shell->spelled : &shell->bytes),
	};
	shell->take(shell->context, &found);
}

static void begin_command(struct tr_makelog_shell *shell)
{
	shell->bytes.len = 0;
	shell->count = 0;
	shell->unexpanded = shell->conditional = shell->skipped = shell->hard = false;
}

/* Takes the commands in the arguments of eval, which it joins with blanks. */
static void evaluate(struct tr_makelog_shell *shell)
{
	struct tr_buffer script = TR_BUFFER_INIT;

	for (size_t i = 1; i < shell->count; i++) {
		if (i > 1)
			tr_buffer_put_byte(&script, ' ');
		tr_buffer_put_text(&script, word(shell, i));
	}
	shell->failed |= script.failed;
	deliver_script(shell, tr_buffer_text(&script));
	tr_buffer_free(&script);
}

/* Ends a simple command at an operator. */
static void end_command(struct tr_makelog_shell *shell)
{
	if (shell->count && !shell->skipped && shell->syntax == TR_MAKELOG_FINE) {
		struct tr_text program = word(shell, 0);
		shell->fate = FATE_UNKNOWN;
		if (tr_text_is(program, "cd") || tr_text_is(program, "pushd") ||
		    tr_text_is(program, "popd")) {
			change(shell);
			shell->fate = FATE_TRUE;
		} else if (tr_text_is(program, "true") || tr_text_is(program, ":")) {
			shell->fate = FATE_TRUE;
		} else if (tr_text_is(program, "false")) {
			shell->fate = FATE_FALSE;
		} else if (tr_text_is(program, "eval")) {
			evaluate(shell);
		} else {
			deliver(shell);
		}
	}
	begin_command(shell);
}

/* True if text is NAME=VALUE. */
static bool is_assignment(struct tr_text text)
{
	size_t i = 0;

	for (; i < text.len; i++) {
		char c = text.data[i], lower = (char)(c | 0x20);
		if (!(lower >= 'a' && lower <= 'z') && c != '_' && !(i && c >= '0' && c <= '9'))
			break;
	}
	return i && i < text.len && text.data[i] == '=';
}

/* Handles a reserved word where a command may begin. False: it is none. */
static bool take_reserved(struct tr_makelog_shell *shell, struct tr_text text)
{
	static const char *const silent[] = { "if", "while", "until", "else", "!", "{", "}", NULL };

	if (tr_text_is(text, "then") || tr_text_is(text, "do")) {
		shell->bodies++;
		return true;
	}
	if (tr_text_is(text, "elif") || tr_text_is(text, "fi") || tr_text_is(text, "done")) {
		shell->bodies -= shell->bodies > 0;
		return true;
	}
	if (tr_text_is(text, "case") || tr_text_is(text, "esac")) {
		shell->cases += *text.data == 'c';
		shell->cases -= *text.data == 'e' && shell->cases;
		shell->skipped |= *text.data == 'c';
		return *text.data == 'e';
	}
	if (tr_text_is(text, "for")) {
		shell->skipped = true;
		return false;
	}
	for (size_t i = 0; silent[i]; i++)
		if (tr_text_is(text, silent[i]))
			return true;
	return false;
}

/*
 * Spells the word that begins there, after its separator, for a string of the stream. Words that
 * need no escapes are spelled as they are, so that this costs nothing until one does.
 */
static void spell(struct tr_makelog_shell *shell, size_t begin, struct tr_text text, bool hard)
{
	struct tr_buffer *to = &shell->spelled;

	if (hard && !shell->hard) {
		shell->hard = true;
		to->len = 0;
		tr_buffer_put(to, tr_buffer_text(&shell->bytes).data, begin);
	}
	if (!shell->hard)
		return;
	if (shell->count)
		tr_buffer_put_literal(to, "\",\"");
	if (hard)
		tr_string_escape(text, to);
	else
		tr_buffer_put_text(to, text);
}

/* Reads the word at pos as a part of the command. */
static void take_word(struct tr_makelog_shell *shell)
{
	size_t begin = shell->bytes.len, skipped = shell->count ? SEPARATOR : 0;
	bool unexpanded = shell->unexpanded;

	tr_buffer_put(&shell->bytes, separator, skipped);
	bool rough = read_word(shell);
	if (shell->syntax != TR_MAKELOG_FINE)
		return;
	struct tr_text text = { shell->bytes.data ? shell->bytes.data + begin + skipped : "",
				shell->bytes.len - begin - skipped };
	uint64_t number;
	bool redirects = shell->pos < shell->end && (*shell->pos == '<' || *shell->pos == '>');
	bool dropped = redirects && !shell->quoted && tr_decimal_read(text, 99, &number);
	/* an assignment may have quotes in its value */
	if (!shell->count && !dropped)
		dropped = is_assignment(text) || (!shell->quoted && take_reserved(shell, text));
	if (dropped) {
		shell->bytes.len = begin;
		shell->unexpanded = unexpanded;
		return;
	}
	if (!tr_array_room(shell->ends, shell->count, shell->cap)) {
		shell->failed = true;
		return;
	}
	spell(shell, begin, text, rough && has_hard(text));
	shell->ends[shell->count++] = shell->bytes.len;
}

/* True if the command is a shell that reads its script from standard input. */
static bool reads_script(const struct tr_makelog_shell *shell)
{
	bool reads = shell->count && tr_command_is_shell(word(shell, 0));

	for (size_t i = 1; i < shell->count; i++)
		reads &= *word(shell, i).data == '-' && !tr_text_is(word(shell, i), "-c");
	return reads;
}

/* Remembers a here-document, which begins in the next line. */
static void add_here(struct tr_makelog_shell *shell, struct tr_text delimiter, bool tabs)
{
	struct here *here = &shell->heres[shell->here_count];

	if (shell->here_count == sizeof shell->heres / sizeof *shell->heres)
		return;
	*here = (struct here){ shell->delimiters.len, delimiter.len, tabs, reads_script(shell) };
	tr_buffer_put_text(&shell->delimiters, delimiter);
	shell->here_count++;
}

/* Skips a redirection and the file that it names, or the delimiter of a here-document. */
static void skip_redirection(struct tr_makelog_shell *shell)
{
	const char *begin = shell->pos;
	size_t len = shell->bytes.len;
	bool unexpanded = shell->unexpanded, tabs = false;

	while (shell->pos < shell->end && strchr("<>&|", *shell->pos) && *shell->pos)
		shell->pos++;
	struct tr_text redirection = tr_text_span(begin, shell->pos);
	bool here = tr_text_is(redirection, "<<");
	if (here && shell->pos < shell->end && *shell->pos == '-') {
		tabs = true;
		shell->pos++;
	}
	while (shell->pos < shell->end && (*shell->pos == ' ' || *shell->pos == '\t'))
		shell->pos++;
	read_word(shell);
	if (tr_text_is(redirection, "<<<") && shell->bytes.len > len && reads_script(shell))
		deliver_script(shell,
			       (struct tr_text){ shell->bytes.data + len, shell->bytes.len - len });
	if (here && shell->bytes.len > len)
		add_here(shell, (struct tr_text){ shell->bytes.data + len, shell->bytes.len - len },
			 tabs);
	shell->bytes.len = len;
	shell->unexpanded = unexpanded;
}

/* The line in which a here-document ends. data NULL: there is none. */
static struct tr_text find_delimiter(const struct tr_makelog_shell *shell, const struct here *here)
{
	struct tr_text delimiter = { shell->delimiters.data + here->begin, here->len };

	for (const char *p = shell->pos, *end = shell->end, *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		lf = lf ? lf : end;
		struct tr_text line = tr_text_span(p, lf);
		while (here->tabs && line.len && *line.data == '\t')
			line = tr_text_span(line.data + 1, lf);
		if (tr_text_equal(line, delimiter))
			return tr_text_span(p, lf);
	}
	return (struct tr_text){ NULL, 0 };
}

/* Skips the here-documents that begin after a line. Their lines are data, except for a shell. */
static void skip_heres(struct tr_makelog_shell *shell)
{
	for (size_t i = 0; i < shell->here_count; i++) {
		struct tr_text last = find_delimiter(shell, &shell->heres[i]);
		if (!last.data) {
			shell->endless = true;
			break;
		}
		if (shell->heres[i].script)
			deliver_script(shell, tr_text_span(shell->pos, last.data));
		shell->pos = last.data + last.len;
		shell->pos += i + 1 < shell->here_count && shell->pos < shell->end;
	}
	shell->here_count = shell->delimiters.len = 0;
}

/* Opens a subshell, which keeps its directory for itself. */
static void open_subshell(struct tr_makelog_shell *shell)
{
	struct tr_text directory = tr_buffer_text(&shell->directory);

	if (shell->count) {
		fail(shell, TR_MAKELOG_UNBALANCED);
		return;
	}
	if (shell->depth == TR_MAKELOG_DEPTH) {
		fail(shell, TR_MAKELOG_TOO_DEEP);
		return;
	}
	struct scope *scope = &shell->scopes[shell->depth++];
	*scope = (struct scope){ shell->known ? malloc(directory.len + 1) : NULL, directory.len };
	shell->failed |= shell->known && !scope->directory;
	if (scope->directory)
		memcpy(scope->directory, directory.data, directory.len);
}

/* Closes a subshell, or ends a pattern of case. */
static void close_subshell(struct tr_makelog_shell *shell)
{
	if (shell->cases) {
		begin_command(shell);
		return;
	}
	end_command(shell);
	if (!shell->depth) {
		fail(shell, TR_MAKELOG_UNBALANCED);
		return;
	}
	struct scope *scope = &shell->scopes[shell->depth - 1];
	shell->known = scope->directory != NULL;
	shell->directory.len = 0;
	if (scope->directory)
		tr_buffer_put(&shell->directory, scope->directory, scope->len);
	pop(shell);
	shell->previous.len = 0;
	shell->fate = FATE_UNKNOWN;
}

/* Handles a newline. False: the command ends there. */
static bool take_newline(struct tr_makelog_shell *shell)
{
	const char *newline = shell->pos++;

	if (shell->count || !shell->dangling)
		end_command(shell);
	skip_heres(shell);
	if (!shell->by_line || shell->depth || shell->bodies || shell->dangling ||
	    shell->syntax != TR_MAKELOG_FINE)
		return true;
	if (shell->pos == newline + 1)
		shell->pos = newline;
	return false;
}

/* Handles ; & && || |. */
static void take_operator(struct tr_makelog_shell *shell)
{
	char c = *shell->pos++;
	bool twice = shell->pos < shell->end && *shell->pos == c && (c == '&' || c == '|');

	if (c == '&' && shell->pos < shell->end && *shell->pos == '>') {
		skip_redirection(shell);
		return;
	}
	shell->pos += twice;
	end_command(shell);
	shell->dangling = twice || c == '|';
	if (!twice) {
		shell->fate = c == '|' ? FATE_UNKNOWN : shell->fate;
		return;
	}
	shell->skipped = shell->fate == (c == '&' ? FATE_FALSE : FATE_TRUE);
	shell->conditional = c == '|' && shell->fate == FATE_UNKNOWN;
}

static void run(struct tr_makelog_shell *shell)
{
	while (shell->pos < shell->end && !shell->failed) {
		char c = *shell->pos;
		if (c == ' ' || c == '\t') {
			shell->pos++;
		} else if (c == '\\' && shell->end - shell->pos > 1 && shell->pos[1] == '\n') {
			shell->pos += 2;
		} else if (c == '\n') {
			if (!take_newline(shell))
				return;
		} else if (c == ';' || c == '&' || c == '|') {
			take_operator(shell);
		} else if (c == '(') {
			shell->pos++;
			shell->dangling = false;
			open_subshell(shell);
		} else if (c == ')') {
			shell->pos++;
			close_subshell(shell);
		} else if (c == '<' || c == '>') {
			skip_redirection(shell);
		} else if (c == '#') {
			const char *lf =
				memchr(shell->pos, '\n', (size_t)(shell->end - shell->pos));
			shell->pos = lf ? lf : shell->end;
		} else {
			shell->dangling = false;
			take_word(shell);
		}
	}
}

bool tr_makelog_shell_parse(struct tr_makelog_shell *shell, const struct tr_makelog_script *script,
			    struct tr_makelog_parsed *parsed)
{
	while (shell->depth)
		pop(shell);
	shell->pos = script->text.data;
	shell->end = script->text.data + script->text.len;
	shell->syntax = TR_MAKELOG_FINE;
	shell->known = script->directory.data != NULL;
	shell->directory.len = shell->depbase.len = shell->delimiters.len = 0;
	shell->previous.len = 0;
	if (shell->known)
		tr_buffer_put_text(&shell->directory, script->directory);
	shell->bodies = script->conditional;
	shell->cases = shell->here_count = 0;
	shell->fate = FATE_UNKNOWN;
	shell->by_line = script->by_line;
	shell->quoting = shell->moved = shell->dangling = shell->endless = shell->failed = false;
	begin_command(shell);
	run(shell);
	parsed->program = shell->count ? word(shell, 0) : TR_TEXT("");
	parsed->words = shell->count;
	if (shell->syntax == TR_MAKELOG_FINE && shell->depth)
		shell->syntax = TR_MAKELOG_UNCLOSED;
	if (shell->syntax == TR_MAKELOG_FINE)
		end_command(shell);
	parsed->syntax = shell->syntax;
	parsed->taken = (size_t)(shell->pos - script->text.data);
	parsed->quoting = shell->quoting;
	parsed->moved = shell->moved;
	parsed->directory = directory_of(shell);
	parsed->open = shell->endless || shell->here_count ||
		       (shell->moved && (shell->dangling || shell->bodies));
	return !shell->failed && !shell->bytes.failed && !shell->spelled.failed &&
	       !shell->directory.failed && !shell->previous.failed && !shell->depbase.failed &&
	       !shell->delimiters.failed;
}
