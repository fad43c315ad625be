/* SPDX-License-Identifier: MIT */
/*
 * Words of a shell: quotes, escapes, and substitutions, which stay as they are. The command in a
 * substitution is passed on as a script. No part of a log is ever run.
 */
#include <string.h>

#include "format/makelog/shell.h"
#include "process/path.h"

/* True for bytes that end a word outside of quotes. */
static const bool ending[256] = {
	[' '] = true, ['\t'] = true, ['\n'] = true, [';'] = true, ['&'] = true,
	['|'] = true, ['('] = true,  [')'] = true,  ['<'] = true, ['>'] = true,
};

void tr_makelog_shell_fail(struct tr_makelog_shell *shell, enum tr_makelog_syntax syntax)
{
	if (shell->syntax == TR_MAKELOG_FINE)
		shell->syntax = syntax;
	shell->pos = shell->end;
}

/* Fails because a quote, or a bracket of a substitution, is open at the end. */
static void fail_quote(struct tr_makelog_shell *shell)
{
	shell->quoting |= shell->syntax == TR_MAKELOG_FINE;
	tr_makelog_shell_fail(shell, TR_MAKELOG_UNCLOSED);
}

/* Takes the plain bytes at pos; the blanks after the text end them. */
static inline void take_plain(struct tr_makelog_shell *shell)
{
	const char *p = shell->pos;

#if defined __SSE2__ && !defined TR_PORTABLE
	unsigned mask = 0xffff;
	for (; mask == 0xffff; p += __builtin_ctz(~mask))
		mask = tr_makelog_plain_mask(_mm_loadu_si128((const __m128i *)(const void *)p));
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

struct tr_text tr_makelog_shell_directory(const struct tr_makelog_shell *shell)
{
	return shell->known ? tr_buffer_text(&shell->directory) : (struct tr_text){ NULL, 0 };
}

void tr_makelog_shell_script(struct tr_makelog_shell *shell, struct tr_text script)
{
	const struct tr_word words[] = { { TR_TEXT("sh"), 0, false },
					 { TR_TEXT("-c"), 1, false },
					 { script, 2, false } };

	if (!shell->skipped && shell->syntax == TR_MAKELOG_FINE)
		shell->take(shell->context, &(struct tr_makelog_found){
						    .words = words,
						    .count = sizeof words / sizeof *words,
						    .directory = tr_makelog_shell_directory(shell),
						    .conditional = shell->conditional ||
								   shell->bodies || shell->cases,
					    });
}

/* Passes on the script of `...`, in which a backslash escapes only $, ` and itself. */
static void deliver_backquoted(struct tr_makelog_shell *shell, struct tr_text text)
{
	struct tr_buffer script = TR_BUFFER_INIT;

	if (!memchr(text.data, '\\', text.len)) {
		tr_makelog_shell_script(shell, text);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		bool escape = text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1] &&
			      strchr("$`\\", text.data[i + 1]);
		i += escape;
		tr_buffer_put_byte(&script, text.data[i]);
	}
	shell->failed |= script.failed;
	tr_makelog_shell_script(shell, tr_buffer_text(&script));
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
	split = memmem(text.data, text.len, middle.data, middle.len);
	if (!split)
		return false;
	struct tr_text folder = tr_text_span(split + middle.len, text.data + text.len - 1);
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
 * in nested substitutions are skipped. NULL: there is none.
 */
static const char *find_close(const char *p, const char *end, char close)
{
	enum { DEEPEST = 64 };
	char stack[DEEPEST] = { close }; /* the closing character of each open part */
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

	shell->literal = false;
	if (open == '(' || open == '{') {
		const char *close = find_close(begin + 1, shell->end, open == '(' ? ')' : '}');
		if (!close) {
			fail_quote(shell);
			return;
		}
		struct tr_text script = tr_text_span(begin + 1, close);
		shell->pos = close + 1;
		if (open == '(' && take_automake_source(script, &shell->bytes))
			return;
		if (open == '(')
			tr_makelog_shell_script(shell, script);
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

/* Takes the byte after a backslash outside of quotes. */
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

struct tr_text tr_makelog_shell_word(struct tr_makelog_shell *shell)
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
