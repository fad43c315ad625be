/* SPDX-License-Identifier: MIT */
#include "process/words.h"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* To the first byte of a word. False: there is none. */
static bool find_word(struct tr_words *words)
{
	for (; words->pos < words->end; words->pos++) {
		char c = *words->pos;
		if (words->comments && !words->amid_line && (c == '#' || c == ';')) {
			const char *lf =
				memchr(words->pos, '\n', (size_t)(words->end - words->pos));
			if (!lf)
				break;
			words->pos = lf;
		} else if (!is_blank(c)) {
			words->amid_line = true;
			return true;
		} else if (c == '\n') {
			words->amid_line = false;
		}
	}
	words->pos = words->end;
	return false;
}

/* A backslash stands at pos, in that kind of quotes (0: none). */
static void take_backslash(struct tr_words *words, char quote, struct tr_buffer *word)
{
	words->pos++;
	if (words->quoting == TR_QUOTING_COMMAND && quote == '\'') {
		tr_buffer_put_byte(word, '\\');
		return;
	}
	if (words->pos == words->end)
		return;
	tr_buffer_put_byte(word, *words->pos++);
}

static void take_unix(struct tr_words *words, struct tr_buffer *word)
{
	char quote = 0;

	while (words->pos < words->end && (quote || !is_blank(*words->pos))) {
		char c = *words->pos;
		if (c == '\\') {
			take_backslash(words, quote, word);
			continue;
		}
		words->pos++;
		if (c == quote)
			quote = 0;
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else
			tr_buffer_put_byte(word, c);
	}
}

static void take_windows(struct tr_words *words, struct tr_buffer *word)
{
	bool quoted = false;

	while (words->pos < words->end && (quoted || !is_blank(*words->pos))) {
		size_t backslashes = 0;
		while (words->pos < words->end && *words->pos == '\\') {
			words->pos++;
			backslashes++;
		}
		bool quote = words->pos < words->end && *words->pos == '"';
		for (size_t i = quote ? backslashes / 2 : backslashes; i > 0; i--)
			tr_buffer_put_byte(word, '\\');
		if (!quote) {
			if (backslashes == 0)
				tr_buffer_put_byte(word, *words->pos++);
			continue;
		}
		words->pos++;
		if (backslashes % 2) {
			tr_buffer_put_byte(word, '"');
		} else if (quoted && words->pos < words->end && *words->pos == '"') {
			tr_buffer_put_byte(word,
					   '"'); /* two in a row inside are one that is meant */
			words->pos++;
		} else {
			quoted = !quoted;
		}
	}
}

bool tr_words_next(struct tr_words *words, struct tr_buffer *word)
{
	if (!find_word(words))
		return false;
	if (words->quoting == TR_QUOTING_WINDOWS)
		take_windows(words, word);
	else
		take_unix(words, word);
	return true;
}
