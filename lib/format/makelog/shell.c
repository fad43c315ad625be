/* SPDX-License-Identifier: MIT */
/*
 * The part of the language of POSIX shells that occurs in printed command lines: words (word.c),
 * lists (; & && || |), subshells, redirections, here-documents, assignments, reserved words and
 * comments. The parser does not recurse: a stack has the directory to which each subshell returns.
 */
#include <stdlib.h>
#include <string.h>

#include "format/makelog/shell.h"
#include "process/command.h"
#include "process/directory.h"
#include "record/literal.h"

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
	tr_buffer_free(&shell->text);
	tr_buffer_free(&shell->depbase);
	tr_buffer_free(&shell->directory);
	tr_buffer_free(&shell->previous);
	tr_buffer_free(&shell->bytes);
	tr_buffer_free(&shell->spelled);
	tr_buffer_free(&shell->delimiters);
	tr_arena_free(&shell->arena);
	free(shell->words);
	free(shell);
}

/* A word of the command. */
static struct tr_text word(const struct tr_makelog_shell *shell, size_t i)
{
	return shell->words[i].text;
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
	struct tr_makelog_found found = {
		.words = shell->words,
		.count = shell->count,
		.directory = tr_makelog_shell_directory(shell),
		.unexpanded = shell->unexpanded,
		.conditional = shell->conditional || shell->bodies || shell->cases,
		.spelled = tr_buffer_text(&shell->spelled),
	};
	shell->take(shell->context, &found);
}

static void begin_command(struct tr_makelog_shell *shell)
{
	tr_arena_reset(&shell->arena);
	shell->spelled.len = shell->count = 0;
	shell->unexpanded = shell->conditional = shell->skipped = false;
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
	tr_makelog_shell_script(shell, tr_buffer_text(&script));
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
		return true;
	}
	if (tr_text_is(text, "case") || tr_text_is(text, "esac")) {
		shell->cases += *text.data == 'c';
		shell->cases -= *text.data == 'e' && shell->cases;
		shell->skipped |= *text.data == 'c';
		return *text.data == 'e';
	}
	shell->braces += tr_text_is(text, "{");
	shell->braces -= tr_text_is(text, "}") && shell->braces;
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
	return !quoted && begins[(unsigned char)*text.data] && take_reserved(shell, text);
}

/* True if there is memory for more words. */
static bool has_room(struct tr_makelog_shell *shell, size_t more)
{
	return shell->count + more <= shell->cap ||
	       tr_array_grow(&shell->words, &shell->cap, shell->count + more, sizeof *shell->words);
}

/*
 * Adds a copy of a word to the command. spelled: the word as a string of the stream; data NULL: not
 * known.
 */
static void add_word(struct tr_makelog_shell *shell, struct tr_text text, struct tr_text spelled)
{
	if (shell->count)
		tr_buffer_put_literal(&shell->spelled, "\",\"");
	if (spelled.data)
		tr_buffer_put_text(&shell->spelled, spelled);
	else
		tr_string_escape(text, &shell->spelled);
	text = tr_arena_copy(&shell->arena, text);
	if (shell->count >= TR_MAKELOG_WORDS)
		tr_makelog_shell_fail(shell, TR_MAKELOG_TOO_LONG);
	else if (!text.data || !has_room(shell, 1))
		shell->failed = true;
	else
		shell->words[shell->count] = (struct tr_word){ text, shell->count, false };
	shell->count++;
}

/* The slot for an argument that begins at p. */
static struct tr_makelog_seen *find_seen(struct tr_makelog_shell *shell, const char *p)
{
	uint64_t hash = 0, bytes;

	for (size_t i = 0; i < 24; i += sizeof bytes) {
		memcpy(&bytes, p + i, sizeof bytes);
		hash = (hash ^ bytes) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return &shell->seen[hash % (sizeof shell->seen / sizeof *shell->seen)];
}

/* Remembers the argument that begins at source and ends at pos. */
static void remember(struct tr_makelog_shell *shell, const char *source, struct tr_text text,
		     struct tr_text spelled)
{
	struct tr_makelog_seen *seen = find_seen(shell, source);
	size_t len = (size_t)(shell->pos - source) + 1;

	if (len > sizeof seen->source || spelled.len > sizeof seen->spelled || *shell->pos != ' ')
		return;
	seen->source_len = (uint8_t)len;
	seen->len = (uint8_t)text.len;
	seen->spelled_len = (uint8_t)spelled.len;
	memcpy(seen->source, source, len);
	memcpy(seen->bytes, text.data, text.len);
	memcpy(seen->spelled, spelled.data, spelled.len);
}

/* Adds the word at pos to the command, unless it is syntax or the number of a redirection. */
static void take_word(struct tr_makelog_shell *shell)
{
	const char *source = shell->pos;
	const struct tr_makelog_seen *seen = find_seen(shell, source);
	bool unexpanded = shell->unexpanded;
	uint64_t number;

	if (shell->count && seen->source_len && seen->source_len <= shell->end - source + 1 &&
	    memcmp(source, seen->source, seen->source_len) == 0) {
		shell->pos += seen->source_len - 1;
		add_word(shell, (struct tr_text){ seen->bytes, seen->len },
			 (struct tr_text){ seen->spelled, seen->spelled_len });
		return;
	}
	shell->literal = true;
	struct tr_text text = tr_makelog_shell_word(shell);
	if (shell->syntax != TR_MAKELOG_FINE)
		return;
	bool redirects = *shell->pos == '<' || *shell->pos == '>';
	bool dropped = redirects && !shell->quoted && tr_decimal_read(text, 99, &number);
	if (dropped || (!shell->count && take_syntax(shell, text, shell->quoted))) {
		shell->unexpanded = unexpanded;
		return;
	}
	size_t begin = shell->spelled.len + sizeof "\",\"" - 1;
	add_word(shell, text, (struct tr_text){ NULL, 0 });
	if (shell->literal && shell->count > 1 && !shell->spelled.failed)
		remember(shell, source, text,
			 tr_text_span(shell->spelled.data + begin,
				      shell->spelled.data + shell->spelled.len));
}

/* The plain bytes and the blanks of a block, one bit each. */
struct marks {
	uint64_t plain, blanks;
};

static inline struct marks find_marks(const char *p)
{
	struct marks marks = { 0, 0 };

#if defined __SSE2__ && !defined TR_PORTABLE
	for (unsigned i = 0; i < BLOCK; i += sizeof(__m128i)) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i blanks = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
		marks.plain |= (uint64_t)tr_makelog_plain_mask(bytes) << i;
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
 * copied. Returns true if that other word begins at pos.
 */
static bool take_plain_words(struct tr_makelog_shell *shell)
{
	enum { SEPARATOR = 3, MOST = BLOCK / 2 };
	uint64_t others, starts;
	size_t at;

	do {
		char *begin = tr_buffer_room(&shell->spelled, MOST * SEPARATOR + BLOCK + PIECE);
		char *to = begin;
		size_t count = shell->count;
		if (!begin || count + MOST > TR_MAKELOG_WORDS || !has_room(shell, MOST))
			return false;
		const char *block = shell->pos;
		struct tr_word *word = shell->words + count;
		struct marks marks = find_marks(block);
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
		tr_buffer_used(&shell->spelled, (size_t)(to - begin));
		shell->count = count;
		shell->pos += at;
	} while (at && !others && shell->pos < shell->end);
	if (shell->pos > shell->end)
		shell->pos = shell->end;
	return starts && shell->pos < shell->end;
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
	struct tr_text target = tr_makelog_shell_word(shell);
	if (tr_text_is(redirection, "<<<") && target.len && reads_script(shell))
		tr_makelog_shell_script(shell, target);
	if (here && target.len)
		add_here(shell, target, tabs);
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
			tr_makelog_shell_script(shell, tr_text_span(shell->pos, last.data));
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
		tr_makelog_shell_fail(shell, TR_MAKELOG_UNBALANCED);
		return;
	}
	if (shell->depth == TR_MAKELOG_DEPTH) {
		tr_makelog_shell_fail(shell, TR_MAKELOG_TOO_DEEP);
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
		tr_makelog_shell_fail(shell, TR_MAKELOG_UNBALANCED);
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

/* Handles a newline. False: the text ends there (by_line). */
static bool take_newline(struct tr_makelog_shell *shell)
{
	const char *newline = shell->pos++;

	if (shell->count || !shell->dangling)
		end_command(shell);
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
			shell->dangling = false;
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
			if (take_plain_words(shell) || shell->pos == begin)
				take_word(shell);
		}
	}
}

bool tr_makelog_shell_parse(struct tr_makelog_shell *shell, const struct tr_makelog_script *script,
			    struct tr_makelog_parsed *parsed)
{
	size_t len = script->text.len;

	while (shell->depth)
		pop(shell);
	shell->text.len = 0;
	char *text = tr_buffer_room(&shell->text, len + BLOCK + PIECE);
	if (!text)
		return false;
	memcpy(text, script->text.data, len);
	memset(text + len, ' ', BLOCK + PIECE);
	shell->pos = text;
	shell->end = text + len;
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
	begin_command(shell);
	run(shell);
	if (shell->failed)
		return false;
	parsed->program = shell->count ? word(shell, 0) : TR_TEXT("");
	parsed->words = shell->count;
	if (shell->syntax == TR_MAKELOG_FINE && shell->depth)
		shell->syntax = TR_MAKELOG_UNCLOSED;
	if (shell->syntax == TR_MAKELOG_FINE)
		end_command(shell);
	parsed->syntax = shell->syntax;
	parsed->taken = (size_t)(shell->pos - text);
	parsed->quoting = shell->quoting;
	parsed->moved = shell->moved;
	parsed->directory = tr_makelog_shell_directory(shell);
	parsed->open = shell->endless || shell->here_count || shell->braces ||
		       (shell->moved && (shell->dangling || shell->bodies));
	return !shell->failed && !shell->bytes.failed && !shell->spelled.failed &&
	       !shell->directory.failed && !shell->previous.failed && !shell->depbase.failed &&
	       !shell->delimiters.failed;
}
