/* SPDX-License-Identifier: MIT */
/*
 * The part of the language of POSIX shells that occurs in printed command lines: words with quotes,
 * escapes and substitutions, lists (; & && || |), subshells, redirections, here-documents,
 * assignments, reserved words and comments. The parser does not recurse: a stack has the directory
 * to which each subshell returns.
 *
 * Substitutions stay as they are, and the command in one is passed on as a script. No part of a log
 * is ever run.
 */
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "format/makelog/makelog.h"
#include "process/command.h"
#include "process/directory.h"
#include "process/path.h"
#include "record/literal.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The bytes that are examined at a time, and those that are copied at a time. */
enum { BLOCK = 64, PIECE = 32 };

/* The exit status of the last command, if it is always the same. */
enum fate { FATE_UNKNOWN, FATE_TRUE, FATE_FALSE };

/*
 * A script, and the words of its first command up to the last mark. A build repeats most options in
 * every command, so a script that begins like the one before takes over the words that both have.
 */
enum { LINES = 8, KEY = 16, LONGEST = 64 << 10, MARKS = 32, ARENA_MOST = 64 << 10 };

struct line {
	struct tr_buffer text; /* a copy of the script, with blanks after it for wide loads */
	size_t len;	       /* of the script */
	struct tr_word *words; /* plain ones are parts of the text, the others in an arena */
	size_t cap;
	struct tr_arena arena;	  /* for words before the last mark */
	struct tr_buffer spelled; /* words as strings of the stream, with "," between */
	struct mark {
		size_t taken, words, spelled; /* bytes of the script, words, bytes of `spelled` */
		bool plain;		      /* the words since the last mark are plain */
	} marks[MARKS];
	size_t mark_count;
};

struct tr_makelog_shell {
	tr_makelog_take *take;
	void *context;

	/* the text and where the parser is */
	struct line lines[LINES], longer; /* the last script with each key; others */
	struct line *line;		  /* the current one */
	const char *pos, *end;		  /* in its text */
	struct tr_buffer depbase; /* value of automake's variable $depbase; empty: not set */
	enum tr_makelog_syntax syntax;
	struct tr_buffer directory; /* the current one */
	bool known;
	struct tr_buffer previous; /* the directory of cd - and popd; empty: unknown */
	struct scope {
		char *directory; /* NULL: unknown */
		size_t len;
	} scopes[TR_MAKELOG_DEPTH];
	size_t depth;
	size_t bodies; /* open bodies of if and loops */
	size_t braces; /* open { */
	size_t cases;  /* open case */
	bool pattern;  /* in a pattern of case, which a bracket ends */
	enum fate fate;
	bool negated; /* an odd number of ! precedes the pipeline */
	/* open groups, ( or {, from the first on that follows ||, or does not run; 0: none */
	size_t uncertain, unreached;
	bool by_line;  /* stop at the end of the line in which the first command ends */
	bool quoting;  /* the error is a quote that is open at the end */
	bool moved;    /* a command has changed the directory */
	bool dangling; /* the last operator needs another command after it */
	struct here {
		size_t begin, len; /* its delimiter, in delimiters */
		bool tabs;	   /* tabs in front of its lines are removed */
		bool script;	   /* a shell reads it */
	} heres[4];		   /* here-documents that begin after this line */
	size_t here_count;
	struct tr_buffer delimiters;
	bool endless; /* the end of a here-document is not in the text */

	/* the command */
	size_t first, count;	/* its words in those of the line */
	size_t spelled;		/* where they begin in line->spelled */
	struct tr_arena arena;	/* for its words that are neither plain nor marked */
	struct tr_buffer bytes; /* the last word that is not plain */
	bool quoted;		/* the last word has quotes */
	bool literal;		/* the last word means the same wherever it occurs */
	bool marking;		/* all words so far are literal words of the first command */
	bool unexpanded;	/* a word has text that only a shell can expand */
	bool conditional;	/* it follows || */
	char joint;		/* & or |: && or || and a command of unknown status precede it */
	bool skipped;		/* it does not run, or is the list of a loop */
	bool failed;
};

#if defined __SSE2__ && !defined TR_PORTABLE
/* Which of sixteen bytes are plain, one bit each. */
static inline unsigned plain_mask(__m128i bytes)
{
	/* bytes above a range overflow to negative ones, so one comparison checks both ends */
	__m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
	__m128i found = _mm_cmpgt_epi8(_mm_add_epi8(lower, _mm_set1_epi8(INT8_MAX - 'z')),
				       _mm_set1_epi8(INT8_MAX - 'z' + 'a' - 1));
	__m128i sign = _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(INT8_MAX - ':')),
				      _mm_set1_epi8(INT8_MAX - ':' + '+' - 1));

	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
	sign = _mm_or_si128(sign, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(found, sign));
}
#endif

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

/* Fails because a quote, or a bracket of a substitution, is open at the end. */
static void fail_quote(struct tr_makelog_shell *shell)
{
	shell->quoting |= shell->syntax == TR_MAKELOG_FINE;
	fail(shell, TR_MAKELOG_UNCLOSED);
}

/* Takes the plain bytes at pos; the blanks after the text end them. */
static inline void take_plain(struct tr_makelog_shell *shell)
{
	const char *p = shell->pos;

#if defined __SSE2__ && !defined TR_PORTABLE
	unsigned mask = 0xffff;
	for (; mask == 0xffff; p += __builtin_ctz(~mask))
		mask = plain_mask(_mm_loadu_si128((const __m128i *)(const void *)p));
#else
	while (tr_makelog_is_plain(*p))
		p++;
#endif
	tr_buffer_put(&shell->bytes, shell->pos, (size_t)(p - shell->pos));
	shell->pos = p;
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

static struct tr_text directory_of(const struct tr_makelog_shell *shell)
{
	return shell->known ? tr_buffer_text(&shell->directory) : (struct tr_text){ NULL, 0 };
}

/* True if the command may not run. */
static bool is_conditional(const struct tr_makelog_shell *shell)
{
	return shell->conditional || shell->uncertain || shell->bodies || shell->cases;
}

static void take_script(struct tr_makelog_shell *shell, struct tr_text script)
{
	const struct tr_word words[] = { { TR_TEXT("sh"), 0, false },
					 { TR_TEXT("-c"), 1, false },
					 { script, 2, false } };

	if (!shell->skipped && !shell->unreached && shell->syntax == TR_MAKELOG_FINE)
		shell->take(shell->context, &(struct tr_makelog_found){
						    .words = words,
						    .count = sizeof words / sizeof *words,
						    .directory = directory_of(shell),
						    .conditional = is_conditional(shell),
					    });
}

/* Passes on the script of `...`, in which a backslash escapes only $, ` and itself. */
static void deliver_backquoted(struct tr_makelog_shell *shell, struct tr_text text)
{
	struct tr_buffer script = TR_BUFFER_INIT;

	if (!memchr(text.data, '\\', text.len)) {
		take_script(shell, text);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		bool escape = text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1] &&
			      strchr("$`\\", text.data[i + 1]);
		i += escape;
		tr_buffer_put_byte(&script, text.data[i]);
	}
	shell->failed |= script.failed;
	take_script(shell, tr_buffer_text(&script));
	tr_buffer_free(&script);
}

/*
 * Appends the result of the command substitution `test -f 'a.c' || echo 'FOLDER/'` of automake to a
 * word. The file is in FOLDER, the one of the sources, unless that is the folder of the build, ./.
 * False: the command is another one.
 */
static bool take_automake_source(struct tr_text text, struct tr_buffer *to)
{
	struct tr_text begin = TR_TEXT("test -f '"), middle = TR_TEXT("' || echo '");
	const char *split;

	if (!tr_text_skip(&text, begin) || !text.len || text.data[text.len - 1] != '\'')
		return false;
	text.len--; /* the quote that closes the folder; it is not the last one of the middle */
	split = memmem(text.data, text.len, middle.data, middle.len);
	if (!split)
		return false;
	struct tr_text folder = tr_text_span(split + middle.len, text.data + text.len);
	if (memchr(folder.data, '\'', folder.len))
		return false;
	if (!tr_text_is(folder, "./"))
		tr_buffer_put_text(to, folder);
	return true;
}

/* Skips an expected text. False: the text begins with another one. */
static bool skip_text(struct tr_text *text, const char *expected)
{
	return tr_text_skip(text, tr_text_from(expected));
}

/*
 * Appends x/.deps/a, the result of depbase=`echo x/a.o | sed 's|[^/]*$|.deps/&|;s|\.o$||'` of
 * automake, to the word, and keeps it in *depbase. The folder and the extension are those of the
 * command. False: the command or the word is another one.
 */
static bool take_automake_depbase(struct tr_text text, struct tr_buffer *to,
				  struct tr_buffer *depbase)
{
	static const char name[] = "depbase=";
	size_t len = sizeof name - 1;
	const char *end;

	if (to->len < len || memcmp(to->data + to->len - len, name, len) != 0 ||
	    !skip_text(&text, "echo "))
		return false;
	end = memchr(text.data, ' ', text.len);
	if (!end)
		return false;
	struct tr_text object = tr_text_span(text.data, end);
	text = tr_text_span(end, text.data + text.len);
	if (!skip_text(&text, " | sed 's|[^/]*$|"))
		return false;
	end = memchr(text.data, '&', text.len);
	if (!end)
		return false;
	struct tr_text folder = tr_text_span(text.data, end);
	text = tr_text_span(end, text.data + text.len);
	if (!skip_text(&text, "&|;s|\\"))
		return false;
	end = memchr(text.data, '$', text.len);
	if (!end || memchr(folder.data, '|', folder.len))
		return false;
	struct tr_text extension = tr_text_span(text.data, end);
	text = tr_text_span(end, text.data + text.len);
	if (!tr_text_is(text, "$||'") || extension.len >= object.len ||
	    !tr_text_equal(extension, tr_text_span(object.data + object.len - extension.len,
						   object.data + object.len)))
		return false;
	struct tr_text base = tr_path_base(object);
	if (base.len < extension.len)
		return false;
	tr_buffer_reset(depbase);
	tr_buffer_put(depbase, object.data, object.len - base.len);
	tr_buffer_put_text(depbase, folder);
	tr_buffer_put(depbase, base.data, base.len - extension.len);
	tr_buffer_put_text(to, tr_buffer_text(depbase));
	return true;
}

/* Takes `...` after its first character. */
static void take_backquotes(struct tr_makelog_shell *shell)
{
	const char *begin = shell->pos, *p = begin;

	shell->literal = false;
	while (p < shell->end && *p != '`')
		p += *p == '\\' && p + 1 < shell->end ? 2 : 1;
	if (p >= shell->end) {
		fail_quote(shell);
		return;
	}
	struct tr_text script = tr_text_span(begin, p);
	shell->pos = p + 1;
	if (take_automake_source(script, &shell->bytes) ||
	    take_automake_depbase(script, &shell->bytes, &shell->depbase))
		return;
	deliver_backquoted(shell, script);
	shell->unexpanded = true;
	tr_buffer_put(&shell->bytes, begin - 1, (size_t)(p + 2 - begin));
}

/*
 * Finds the bracket that closes a substitution, whose content begins at p. Brackets in quotes and
 * in nested substitutions are skipped. NULL: there is none, or, if it is set, *deep.
 */
static const char *find_close(const char *p, const char *end, char close, bool *deep)
{
	char stack[TR_MAKELOG_DEPTH]; /* the closing character of each open part */
	size_t depth = 1;

	*stack = close;

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
		*deep = opened && depth == TR_MAKELOG_DEPTH;
		if (*deep)
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

	shell->literal = false;
	if (open == '(' || open == '{') {
		bool deep = false;
		const char *close =
			find_close(begin + 1, shell->end, open == '(' ? ')' : '}', &deep);
		if (deep)
			fail(shell, TR_MAKELOG_TOO_DEEP);
		else if (!close)
			fail_quote(shell);
		if (!close)
			return;
		struct tr_text script = tr_text_span(begin + 1, close);
		shell->pos = close + 1;
		if (open == '(' && take_automake_source(script, &shell->bytes))
			return;
		if (open == '(')
			take_script(shell, script);
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
	for (;;) {
		take_plain(shell);
		if (shell->pos == shell->end || *shell->pos == '"')
			break;
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

/* Takes the byte after a backslash outside of quotes. At the end of a script, sh keeps it. */
static void take_backslash(struct tr_makelog_shell *shell)
{
	if (shell->pos == shell->end) {
		tr_buffer_put_byte(&shell->bytes, '\\');
		return;
	}
	if (*shell->pos == '\n') {
		shell->pos++;
		return;
	}
	shell->quoted = true;
	tr_buffer_put_byte(&shell->bytes, *shell->pos++);
}

static struct tr_text read_word(struct tr_makelog_shell *shell)
{
	shell->quoted = false;
	shell->bytes.len = 0;
	while (shell->pos < shell->end) {
		take_plain(shell);
		const char *p = shell->pos;
		if (p == shell->end || ending[(unsigned char)*p])
			break;
		char c = *p;
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
		if (c == '*' || c == '?' || c == '[') {
			shell->unexpanded = true;
			shell->literal = false;
		}
	}
	return tr_buffer_text(&shell->bytes);
}

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

static void free_line(struct line *line)
{
	tr_buffer_free(&line->text);
	tr_buffer_free(&line->spelled);
	tr_arena_free(&line->arena);
	free(line->words);
}

void tr_makelog_shell_free(struct tr_makelog_shell *shell)
{
	if (!shell)
		return;
	while (shell->depth)
		pop(shell);
	for (size_t i = 0; i < LINES; i++)
		free_line(&shell->lines[i]);
	free_line(&shell->longer);
	tr_buffer_free(&shell->depbase);
	tr_buffer_free(&shell->directory);
	tr_buffer_free(&shell->previous);
	tr_buffer_free(&shell->bytes);
	tr_buffer_free(&shell->delimiters);
	tr_arena_free(&shell->arena);
	free(shell);
}

/* A word of the command. */
static struct tr_text word(const struct tr_makelog_shell *shell, size_t i)
{
	return shell->line->words[shell->first + i].text;
}

/* Changes the directory of the commands that follow. */
static void change(struct tr_makelog_shell *shell)
{
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
	/* ~ is a home directory, which the log does not name */
	if (shell->unexpanded || i == shell->count || tr_text_starts(path, TR_TEXT("~")) ||
	    path.len > TR_DIRECTORY_MAX || (!absolute && !shell->known)) {
		shell->known = false;
		return;
	}
	if (!path.len)
		return;
	shell->directory.len = 0;
	tr_directory_join(absolute ? TR_TEXT("/") : tr_buffer_text(&shell->previous), path,
			  &shell->directory);
	shell->known = shell->directory.len <= TR_DIRECTORY_MAX;
}

/* Passes the command to take. */
static void deliver(struct tr_makelog_shell *shell)
{
	struct tr_text spelled = tr_buffer_text(&shell->line->spelled);
	struct tr_makelog_found found = {
		.words = shell->line->words + shell->first,
		.count = shell->count,
		.directory = directory_of(shell),
		.unexpanded = shell->unexpanded,
		.conditional = is_conditional(shell),
		.spelled = { spelled.data + shell->spelled, spelled.len - shell->spelled },
	};
	shell->take(shell->context, &found);
}

/* Begins a command after the marked words of the first one. */
static void begin_command(struct tr_makelog_shell *shell)
{
	struct line *line = shell->line;
	struct mark last = { 0, 0, 0, false };

	if (line->mark_count)
		last = line->marks[line->mark_count - 1];
	tr_arena_reset(&shell->arena);
	shell->first = last.words;
	shell->spelled = line->spelled.len = last.spelled;
	shell->count = 0;
	shell->marking = false;
	shell->unexpanded = shell->conditional = shell->skipped = false;
	shell->joint = 0;
}

/* Passes on the arguments of eval as a script; eval joins them with blanks. */
static void evaluate(struct tr_makelog_shell *shell)
{
	struct tr_buffer script = TR_BUFFER_INIT;

	for (size_t i = 1; i < shell->count; i++) {
		if (i > 1)
			tr_buffer_put_byte(&script, ' ');
		tr_buffer_put_text(&script, word(shell, i));
	}
	shell->failed |= script.failed;
	/* the words of a long script have no marks; it may contain an eval of as many words */
	if (shell->line == &shell->longer) {
		free(shell->longer.words);
		shell->longer.words = NULL;
		shell->longer.cap = 0;
	}
	take_script(shell, tr_buffer_text(&script));
	tr_buffer_free(&script);
}

/* The exit status of the list up to a command, of which the fate is known. */
static void join_fates(struct tr_makelog_shell *shell)
{
	if (shell->negated && shell->fate != FATE_UNKNOWN)
		shell->fate = shell->fate == FATE_TRUE ? FATE_FALSE : FATE_TRUE;
	/* if "test -f a && true" fails, it is because of test */
	if (shell->joint && shell->fate == (shell->joint == '&' ? FATE_TRUE : FATE_FALSE))
		shell->fate = FATE_UNKNOWN;
}

/* Ends a simple command at an operator. */
static void end_command(struct tr_makelog_shell *shell)
{
	if (shell->count && !shell->skipped && !shell->unreached && !shell->pattern &&
	    shell->syntax == TR_MAKELOG_FINE) {
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
		join_fates(shell);
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

/* Begins a group, all commands of which follow the operator before it. */
static void begin_group(struct tr_makelog_shell *shell)
{
	if (shell->uncertain || shell->conditional)
		shell->uncertain++;
	if (shell->unreached || shell->skipped)
		shell->unreached++;
}

static void end_group(struct tr_makelog_shell *shell)
{
	/* for a pipeline, of which the group is a part */
	shell->conditional = shell->uncertain;
	shell->skipped = shell->unreached;
	shell->uncertain -= shell->uncertain > 0;
	shell->unreached -= shell->unreached > 0;
}

/* Handles a reserved word where a command may begin. False: the word is not reserved. */
static bool take_reserved(struct tr_makelog_shell *shell, struct tr_text text)
{
	static const char *const silent[] = { "if", "while", "until", "else", "!", "{", "}", NULL };

	if (tr_text_is(text, "then") || tr_text_is(text, "do")) {
		shell->bodies++;
		return true;
	}
	if (tr_text_is(text, "elif") || tr_text_is(text, "fi") || tr_text_is(text, "done")) {
		shell->bodies -= shell->bodies > 0;
		shell->fate = FATE_UNKNOWN;
		return true;
	}
	if (tr_text_is(text, "case") || tr_text_is(text, "esac")) {
		shell->cases += *text.data == 'c';
		shell->cases -= *text.data == 'e' && shell->cases;
		shell->pattern = *text.data == 'c';
		shell->fate = FATE_UNKNOWN;
		shell->skipped |= *text.data == 'c';
		return *text.data == 'e';
	}
	if (tr_text_is(text, "else"))
		shell->fate = FATE_UNKNOWN;
	shell->negated ^= tr_text_is(text, "!");
	if (tr_text_is(text, "{")) {
		shell->braces++;
		begin_group(shell);
	} else if (tr_text_is(text, "}") && shell->braces) {
		shell->braces--;
		end_group(shell);
	}
	if (tr_text_is(text, "for")) {
		shell->skipped = true;
		return false;
	}
	return tr_text_is_among(text, silent);
}

/*
 * Handles an assignment or a reserved word where a command may begin. quoted: the word has quotes,
 * as the value of an assignment may. False: it is neither.
 */
static inline bool take_syntax(struct tr_makelog_shell *shell, struct tr_text text, bool quoted)
{
	/* first letters of reserved words, which most programs do not have */
	static const bool begins[256] = {
		['!'] = true, ['c'] = true, ['d'] = true, ['e'] = true, ['f'] = true, ['i'] = true,
		['t'] = true, ['u'] = true, ['w'] = true, ['{'] = true, ['}'] = true
	};

	if (!text.len)
		return false;
	if (memchr(text.data, '=', text.len))
		return is_assignment(text);
	if (quoted || !begins[(unsigned char)*text.data] ||
	    (shell->pattern && !tr_text_is(text, "esac")))
		return false;
	bool reserved = take_reserved(shell, text);
	shell->marking &= !reserved && !shell->skipped;
	return reserved;
}

/* True if there is memory for more words. */
static bool has_room(struct tr_makelog_shell *shell, size_t more)
{
	struct line *line = shell->line;
	size_t needed = shell->first + shell->count + more;

	return needed <= line->cap ||
	       tr_array_grow(&line->words, &line->cap, needed, sizeof *line->words);
}

/*
 * Remembers the words up to pos, which is after a blank. plain: those since the last mark are
 * plain; otherwise it is one other word.
 */
static void put_mark(struct tr_makelog_shell *shell, bool plain)
{
	struct line *line = shell->line;

	shell->marking = line->mark_count < MARKS;
	if (shell->marking)
		line->marks[line->mark_count++] =
			(struct mark){ (size_t)(shell->pos - line->text.data), shell->count,
				       line->spelled.len, plain };
}

/* Adds a copy of a word to the command. */
static void add_word(struct tr_makelog_shell *shell, struct tr_text text)
{
	struct tr_buffer *spelled = &shell->line->spelled;

	if (shell->count)
		tr_buffer_put_literal(spelled, "\",\"");
	tr_string_escape(text, spelled);
	text = tr_arena_copy(shell->marking ? &shell->line->arena : &shell->arena, text);
	if (shell->count >= TR_MAKELOG_WORDS)
		fail(shell, TR_MAKELOG_TOO_LONG);
	else if (!text.data || !has_room(shell, 1))
		shell->failed = true;
	else
		shell->line->words[shell->first + shell->count] =
			(struct tr_word){ text, shell->count, false };
	shell->count++;
}

/* Adds the word at pos to the command, unless it is syntax or the number of a redirection. */
static void take_word(struct tr_makelog_shell *shell)
{
	bool unexpanded = shell->unexpanded;
	uint64_t number;

	shell->literal = true;
	struct tr_text text = read_word(shell);
	if (shell->syntax != TR_MAKELOG_FINE)
		return;
	shell->marking &= shell->literal && shell->pos < shell->end && *shell->pos == ' ';
	bool redirects = *shell->pos == '<' || *shell->pos == '>';
	bool dropped = redirects && !shell->quoted && tr_decimal_read(text, 99, &number);
	if (dropped || (!shell->count && take_syntax(shell, text, shell->quoted)))
		shell->unexpanded = unexpanded;
	else
		add_word(shell, text);
	shell->pos += shell->marking;
	if (shell->marking)
		put_mark(shell, false);
}

/* The plain bytes and the blanks of a block, one bit each. */
struct marks {
	uint64_t plain, blanks;
};

ALWAYS_INLINE struct marks find_marks(const char *p)
{
	struct marks marks = { 0, 0 };

#if defined __SSE2__ && !defined TR_PORTABLE
	for (unsigned i = 0; i < BLOCK; i += sizeof(__m128i)) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i blanks = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
		marks.plain |= (uint64_t)plain_mask(bytes) << i;
		marks.blanks |= (uint64_t)(unsigned)_mm_movemask_epi8(blanks) << i;
	}
#else
	for (unsigned i = 0; i < BLOCK; i++) {
		marks.plain |= (uint64_t)tr_makelog_is_plain(p[i]) << i;
		marks.blanks |= (uint64_t)(p[i] == ' ') << i;
	}
#endif
	return marks;
}

/*
 * Adds the next words to the command, up to the first one that is longer than a block or has a byte
 * that is not plain. Nearly all words are plain: they stay in the text, and only their spelling is
 * copied. Returns true if that other word begins at pos. find: find_marks or find_marks_wide.
 */
ALWAYS_INLINE bool take_plain_words_by(struct tr_makelog_shell *shell,
				       struct marks (*find)(const char *p))
{
	enum { SEPARATOR = 3, MOST = BLOCK / 2 };
	const char *source = shell->pos;
	uint64_t others, starts;
	size_t at;

	do {
		struct tr_buffer *spelled = &shell->line->spelled;
		char *begin = tr_buffer_room(spelled, MOST * SEPARATOR + BLOCK + PIECE);
		char *to = begin;
		size_t count = shell->count;
		if (!begin || count + MOST > TR_MAKELOG_WORDS || !has_room(shell, MOST))
			return false;
		const char *block = shell->pos;
		struct tr_word *word = shell->line->words + shell->first + count;
		struct marks marks = find(block);
		others = ~(marks.plain | marks.blanks);
		uint64_t before = (others & -others) - 1;
		uint64_t ends = marks.blanks & marks.plain << 1 & before;
		starts = marks.plain & (marks.blanks << 1 | 1) & before;
		for (at = 0; ends; starts &= starts - 1, ends &= ends - 1) {
			const char *p = block + __builtin_ctzll(starts);
			at = (size_t)__builtin_ctzll(ends);
			struct tr_text text = tr_text_span(p, block + at);
			if (!count && take_syntax(shell, text, false))
				continue;
			if (count)
				to = mempcpy(to, "\",\"", SEPARATOR);
			size_t i = 0;
			do {
				memcpy(to + i, p + i, PIECE);
				i += PIECE;
			} while (i < text.len);
			to += text.len;
			*word++ = (struct tr_word){ text, count++, false };
		}
		at += at ? (size_t)__builtin_ctzll(~(marks.blanks >> at)) : 0;
		tr_buffer_used(spelled, (size_t)(to - begin));
		shell->count = count;
		shell->pos += at;
	} while (at && !others && shell->pos < shell->end);
	/* before pos is limited, so that a mark after the end is in no other script */
	if (shell->marking && shell->pos > source)
		put_mark(shell, true);
	if (shell->pos > shell->end)
		shell->pos = shell->end;
	return starts && shell->pos < shell->end && *shell->pos != ' ';
}

#ifdef TR_WIDE
/* Like plain_mask, for 32 bytes. */
TR_WIDE static inline unsigned plain_mask_wide(__m256i bytes)
{
	__m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
	__m256i letter = _mm256_cmpgt_epi8(_mm256_add_epi8(lower, _mm256_set1_epi8(INT8_MAX - 'z')),
					   _mm256_set1_epi8(INT8_MAX - 'z' + 'a' - 1));
	__m256i sign = _mm256_cmpgt_epi8(_mm256_add_epi8(bytes, _mm256_set1_epi8(INT8_MAX - ':')),
					 _mm256_set1_epi8(INT8_MAX - ':' + '+' - 1));

	letter = _mm256_or_si256(letter, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('=')));
	sign = _mm256_or_si256(sign, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_')));
	return (unsigned)_mm256_movemask_epi8(_mm256_or_si256(letter, sign));
}

TR_WIDE static inline struct marks find_marks_wide(const char *p)
{
	struct tr_block64_wide block = tr_block64_wide_load(p);

	return (struct marks){ plain_mask_wide(block.low) | (uint64_t)plain_mask_wide(block.high)
								    << 32,
			       tr_block64_wide_equal(block, ' ') };
}

TR_WIDE static bool take_plain_words_wide(struct tr_makelog_shell *shell)
{
	return take_plain_words_by(shell, find_marks_wide);
}
#endif

static bool take_plain_words(struct tr_makelog_shell *shell)
{
#ifdef TR_WIDE
	if (tr_wide_runs())
		return take_plain_words_wide(shell);
#endif
	return take_plain_words_by(shell, find_marks);
}

/* True if the command is a shell that reads its script from standard input. */
static bool reads_script(const struct tr_makelog_shell *shell)
{
	bool reads = shell->count && tr_command_is_shell(word(shell, 0));

	for (size_t i = 1; i < shell->count; i++)
		reads &= tr_text_starts(word(shell, i), TR_TEXT("-")) &&
			 !tr_text_is(word(shell, i), "-c");
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
	struct tr_text target = read_word(shell);
	if (tr_text_is(redirection, "<<<") && target.len && reads_script(shell))
		take_script(shell, target);
	if (here && target.len)
		add_here(shell, target, tabs);
	shell->unexpanded = unexpanded;
	shell->marking = false;
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
	/* after one without end no other is searched for, or long texts would take quadratic time */
	for (size_t i = 0; i < shell->here_count && !shell->endless; i++) {
		struct tr_text last = find_delimiter(shell, &shell->heres[i]);
		if (!last.data) {
			shell->endless = true;
			break;
		}
		if (shell->heres[i].script)
			take_script(shell, tr_text_span(shell->pos, last.data));
		shell->pos = last.data + last.len;
		shell->pos += i + 1 < shell->here_count && shell->pos < shell->end;
	}
	shell->here_count = shell->delimiters.len = 0;
}

/* Opens a subshell, in which cd has no effect on what follows it. */
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
	begin_group(shell);
	struct scope *scope = &shell->scopes[shell->depth++];
	*scope = (struct scope){ shell->known ? malloc(directory.len + 1) : NULL, directory.len };
	shell->failed |= shell->known && !scope->directory;
	if (scope->directory)
		memcpy(scope->directory, directory.data, directory.len);
}

/* Closes a subshell, or ends a pattern of case. */
static void close_subshell(struct tr_makelog_shell *shell)
{
	if (shell->pattern) {
		shell->pattern = false;
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
	end_group(shell);
	shell->previous.len = 0;
	shell->fate = FATE_UNKNOWN;
	shell->negated = false;
}

/* Handles a newline. False: the text ends there (by_line). */
static bool take_newline(struct tr_makelog_shell *shell)
{
	const char *newline = shell->pos++;

	if (shell->count || !shell->dangling)
		end_command(shell);
	shell->negated &= shell->dangling;
	skip_heres(shell);
	if (!shell->by_line || shell->depth || shell->bodies || shell->braces || shell->dangling ||
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
	bool conditional = shell->conditional, skipped = shell->skipped;

	if (c == '&' && shell->pos < shell->end && *shell->pos == '>') {
		skip_redirection(shell);
		return;
	}
	shell->pos += twice;
	end_command(shell);
	/* ;; and the like end a branch of case */
	shell->pattern |= shell->cases && c == ';' && shell->pos < shell->end &&
			  (*shell->pos == ';' || *shell->pos == '&');
	shell->dangling = twice || c == '|';
	shell->negated &= c == '|' && !twice;
	if (!twice) {
		/* all commands of a pipeline follow the operator before it */
		shell->conditional = conditional && c == '|';
		shell->skipped = skipped && c == '|';
		if (c == '|' && !skipped)
			shell->fate = FATE_UNKNOWN;
		return;
	}
	shell->skipped = shell->fate == (c == '&' ? FATE_FALSE : FATE_TRUE);
	shell->conditional = c == '|' && shell->fate == FATE_UNKNOWN;
	shell->joint = shell->fate == FATE_UNKNOWN ? c : 0;
}

static void run(struct tr_makelog_shell *shell)
{
	while (shell->pos < shell->end && !shell->failed) {
		const char *begin = shell->pos, *lf;
		switch (*begin) {
		case ' ':
		case '\t':
			shell->pos++;
			break;
		case '\n':
			if (!take_newline(shell))
				return;
			break;
		case ';':
		case '&':
		case '|':
			take_operator(shell);
			break;
		case '(':
			shell->pos++;
			shell->dangling = shell->marking = false;
			if (!shell->pattern) /* one may precede a pattern */
				open_subshell(shell);
			break;
		case ')':
			shell->pos++;
			close_subshell(shell);
			break;
		case '<':
		case '>':
			skip_redirection(shell);
			break;
		case '#':
			lf = memchr(begin, '\n', (size_t)(shell->end - begin));
			shell->pos = lf ? lf : shell->end;
			break;
		case '\\':
			if (begin[1] == '\n' && begin + 1 < shell->end) {
				shell->pos += 2;
				break;
			}
			/* fall through */
		default:
			shell->dangling = false;
			if (!tr_makelog_is_plain(*begin) || take_plain_words(shell) ||
			    shell->pos == begin)
				take_word(shell);
		}
	}
}

/* The place for a script: that of the last one with the same first bytes. */
static struct line *find_line(struct tr_makelog_shell *shell, struct tr_text text)
{
	uint64_t first, second;

	if (text.len < KEY || text.len > LONGEST)
		return &shell->longer;
	memcpy(&first, text.data, sizeof first);
	memcpy(&second, text.data + sizeof first, sizeof second);
	first = (first ^ second * 0x9e3779b97f4a7c15) * 0x9e3779b97f4a7c15;
	return &shell->lines[first >> 32 & (LINES - 1)];
}

/*
 * Removes the marks after the first `same` bytes, which a script shares with the one before.
 * Returns a mark for the words in these bytes: after it, the parser can go on.
 */
static struct mark resume(struct line *line, size_t same)
{
	struct mark mark = { 0, 0, 0, false };
	size_t count = line->mark_count;

	while (count && line->marks[count - 1].taken > same)
		count--;
	if (count)
		mark = line->marks[count - 1];
	size_t words = mark.words;
	if (count < line->mark_count && line->marks[count].plain)
		words = line->marks[count].words;
	for (; mark.words < words; mark.words++) {
		struct tr_text word = line->words[mark.words].text;
		size_t end = (size_t)(word.data - line->text.data) + word.len;
		if (end >= same)
			break;
		mark.taken = end + 1;
		mark.spelled += (mark.words ? sizeof "\",\"" - 1 : 0) + word.len;
	}
	line->mark_count = count;
	return mark;
}

/* Begins to parse a script, after the words that it shares with the one before. False: memory. */
static bool begin_script(struct tr_makelog_shell *shell, struct tr_text script)
{
	struct line *line = find_line(shell, script);
	size_t room = script.len + BLOCK + PIECE, same = 0;

	shell->line = line;
	if (line->mark_count && room <= line->text.cap && line->arena.held <= ARENA_MOST)
		same = tr_text_common(line->text.data, script.data,
				      line->len < script.len ? line->len : script.len);
	struct mark mark = resume(line, same);
	if (!line->mark_count)
		tr_arena_reset(&line->arena);
	char *text = tr_buffer_room(&line->text, room);
	if (!text)
		return false;
	memcpy(text + mark.taken, script.data + mark.taken, script.len - mark.taken);
	memset(text + script.len, ' ', BLOCK + PIECE);
	line->len = script.len;
	begin_command(shell);
	shell->pos = text + mark.taken;
	shell->end = text + script.len;
	shell->marking = line != &shell->longer;
	shell->first = shell->spelled = 0;
	shell->count = mark.words;
	line->spelled.len = mark.spelled;
	return true;
}

bool tr_makelog_shell_parse(struct tr_makelog_shell *shell, const struct tr_makelog_script *script,
			    struct tr_makelog_parsed *parsed)
{
	while (shell->depth)
		pop(shell);
	if (!begin_script(shell, script->text))
		return false;
	shell->syntax = TR_MAKELOG_FINE;
	shell->known = script->directory.data != NULL;
	shell->directory.len = shell->depbase.len = shell->delimiters.len = 0;
	shell->previous.len = 0;
	if (shell->known)
		tr_buffer_put_text(&shell->directory, script->directory);
	shell->bodies = script->conditional;
	shell->cases = shell->braces = shell->here_count = 0;
	shell->fate = FATE_UNKNOWN;
	shell->by_line = script->by_line;
	shell->quoting = shell->moved = shell->dangling = shell->endless = shell->failed = false;
	shell->negated = shell->pattern = false;
	shell->uncertain = shell->unreached = 0;
	run(shell);
	if (shell->failed) {
		shell->line->mark_count = 0;
		return false;
	}
	parsed->program = shell->count ? word(shell, 0) : TR_TEXT("");
	parsed->words = shell->count;
	if (shell->syntax == TR_MAKELOG_FINE && shell->depth)
		shell->syntax = TR_MAKELOG_UNCLOSED;
	if (shell->syntax == TR_MAKELOG_FINE)
		end_command(shell);
	parsed->syntax = shell->syntax;
	parsed->taken = (size_t)(shell->pos - shell->line->text.data);
	parsed->quoting = shell->quoting;
	parsed->moved = shell->moved;
	parsed->directory = directory_of(shell);
	parsed->open = shell->endless || shell->here_count || shell->braces ||
		       (shell->moved && (shell->dangling || shell->bodies));
	return !shell->failed && !shell->bytes.failed && !shell->line->spelled.failed &&
	       !shell->directory.failed && !shell->previous.failed && !shell->depbase.failed &&
	       !shell->delimiters.failed;
}
