/* SPDX-License-Identifier: MIT */
/*
 * Reads commands from records, splits texts into words as the program that reads them does, and
 * quotes words for a shell.
 */
#include "process/command.h"

#include "core/utf8.h"
#include "process/compilers.h"
#include "record/ask.h"
#include "record/literal.h"
#include "record/string_scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct tr_text tr_command_executable(struct tr_record *record)
{
	struct tr_text bytes;

	if (record->name.type == TR_CELL_TEXT &&
	    tr_cell_bytes(record->name.text, record->arena, &bytes, NULL))
		return bytes;
	return (struct tr_text){ NULL, 0 };
}

bool tr_command_failed(struct tr_record *record)
{
	return tr_record_field(record, "error") || tr_record_field(record, "failed");
}

uint64_t tr_command_number(struct tr_record *record, const char *key)
{
	struct tr_value *value = tr_record_value(record, key, NULL);

	return value && value->type == TR_UINT ? value->as.number : TR_NO_POSITION;
}

struct tr_text tr_command_string(struct tr_record *record, const char *key)
{
	struct tr_value *value = tr_record_value(record, key, NULL);

	if (!value || value->type != TR_STRING || (value->flags & TR_CUT))
		return (struct tr_text){ NULL, 0 };
	return tr_value_bytes(value, record->arena);
}

/* Returns TR_WARN. */
static enum tr_status bad(struct tr_error *err, const char *message)
{
	tr_error_say(err, TR_CAUSE_INPUT, message);
	return TR_WARN;
}

/*
 * An argument that the tracer could not read is an address or null. It becomes an empty word, so
 * that the others keep their index, and the command counts as cut.
 */
static enum tr_status read_argv(struct tr_record *record, const struct tr_value *list,
				struct tr_command *command, struct tr_error *err)
{
	if (list->type != TR_LIST)
		return bad(err, "argv is not a list");
	command->argv = tr_arena_alloc(record->arena, list->count * sizeof *command->argv);
	if (!command->argv)
		return tr_error_memory(err);
	command->cut = list->flags & TR_CUT;
	for (size_t i = 0; i < list->count; i++) {
		const struct tr_value *item = &list->as.items[i];
		if (item->type == TR_POINTER || item->type == TR_NULL) {
			command->cut = true; /* the tracer could not read it */
			command->argv[i] = TR_TEXT("");
			continue;
		}
		if (item->type != TR_STRING)
			return bad(err, "an argument is not a string");
		command->cut |= (item->flags & TR_CUT) != 0;
		command->argv[i] = tr_value_bytes(item, record->arena);
		if (!command->argv[i].data)
			return tr_error_memory(err);
	}
	command->argc = list->count;
	return TR_OK;
}

/*
 * Splits the text of argv without making values of it, as for nearly all commands: a list of not
 * too many strings without escapes. END: it is something else.
 */
static enum tr_status split_argv(struct tr_record *record, struct tr_text list,
				 struct tr_command *command, struct tr_error *err)
{
	enum { MANY = 256 };
	struct tr_text words[MANY];
	const char *p = list.data + 1, *end = list.data + list.len;
	size_t count = 0;

	if (list.len < 4 || *list.data != '[')
		return TR_END;
	for (bool last = false; !last; p++) {
		if (count == MANY || *p != '"')
			return TR_END;
		const char *stop = tr_string_special(p + 1, end);
		if (end - stop < 2 || *stop != '"' || (stop[1] != ',' && stop[1] != ']'))
			return TR_END;
		words[count++] = tr_text_span(p + 1, stop);
		p = stop + 1;
		last = *p == ']';
		if (last != (end - p == 1))
			return TR_END;
	}
	command->argv = tr_arena_alloc(record->arena, count * sizeof *words);
	if (!command->argv)
		return tr_error_memory(err);
	memcpy(command->argv, words, count * sizeof *words);
	command->argc = count;
	return TR_OK;
}

enum tr_status tr_command_read(struct tr_record *record, struct tr_command *command,
			       struct tr_error *err)
{
	*command = (struct tr_command){ 0 };
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	command->executable = tr_command_executable(record);
	command->directory = tr_command_string(record, "cwd");
	struct tr_field *respfile = tr_record_field(record, "respfile");
	if (respfile)
		command->respfile = tr_field_value(record, respfile, NULL);
	struct tr_field *field = tr_record_field(record, "argv");
	if (!field)
		return bad(err, "no argv in the record");
	enum tr_status status = field->text.data && !field->value
					? split_argv(record, field->text, command, err)
					: TR_END;
	if (status != TR_END)
		return status;
	struct tr_value *argv = tr_field_value(record, field, err);
	if (!argv)
		return tr_error_status(err);
	return read_argv(record, argv, command, err);
}

enum tr_status tr_command_left_out(const struct tr_command *command, struct tr_error *err)
{
	return bad(err, command->cut ? "the tracer cut its arguments: left out"
				     : "its directory is unknown: left out");
}

/* Splitting. */

/* The end of a comment of C or C++ at pos; pos itself if none begins there. */
static const char *skip_c_comment(const struct tr_words *words)
{
	const char *p = words->pos, *end = words->end;

	if (end - p < 2 || *p != '/' || (p[1] != '/' && p[1] != '*'))
		return p;
	const char *close = p[1] == '/' ? memchr(p, '\n', (size_t)(end - p))
					: memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
	if (!close)
		return end;
	return p[1] == '/' ? close : close + 2;
}

/* Moves pos to the next word, over blanks and comments. False: there is none. */
static bool skip_to_word(struct tr_words *words)
{
	for (; words->pos < words->end; words->pos++) {
		char c = *words->pos;
		if (words->comments && !words->amid_line && (c == '#' || c == ';')) {
			const char *lf =
				memchr(words->pos, '\n', (size_t)(words->end - words->pos));
			if (!lf)
				break;
			words->pos = lf;
		} else if (words->c_comments && skip_c_comment(words) > words->pos) {
			words->pos = skip_c_comment(words) - 1;
		} else if (!tr_is_space(c)) {
			words->amid_line = true;
			return true;
		} else if (c == '\n') {
			words->amid_line = false;
		}
	}
	words->pos = words->end;
	return false;
}

/* Takes the backslash at pos and the byte after it. quote: the quotes around it, or 0. */
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

/* Takes a word with both kinds of quotes. */
static void take_unix(struct tr_words *words, struct tr_buffer *word)
{
	char quote = 0;

	while (words->pos < words->end && (quote || !tr_is_space(*words->pos))) {
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

/*
 * Backslashes are literal unless a quote follows: then each pair is one backslash, and an odd one
 * makes the quote literal.
 */
static void take_windows(struct tr_words *words, struct tr_buffer *word)
{
	bool quoted = false;

	while (words->pos < words->end && (quoted || !tr_is_space(*words->pos))) {
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
			/* two quotes in a row within quotes are one literal quote */
			tr_buffer_put_byte(word, '"');
			words->pos++;
		} else {
			quoted = !quoted;
		}
	}
}

bool tr_words_next(struct tr_words *words, struct tr_buffer *word)
{
	if (!skip_to_word(words))
		return false;
	if (words->quoting == TR_QUOTING_WINDOWS)
		take_windows(words, word);
	else
		take_unix(words, word);
	return true;
}

bool tr_command_is_shell(struct tr_text program)
{
	static const char *const shells[] = { "sh",  "bash", "dash",	"ash", "ksh",
					      "zsh", "mksh", "busybox", NULL };

	return tr_text_is_among(tr_tool_base(program), shells);
}

bool tr_command_is_build_tool(struct tr_text program)
{
	static const char *const tools[] = { "make",  "gmake",	     "mingw32-make",
					     "ninja", "ninja-build", "samu",
					     NULL };

	return tr_text_is_among(tr_tool_base(program), tools);
}

/* Quoting. */

enum { PLAIN = 1, BEYOND = 2, TEXT_MAX = 1 << 20 };

/* Bytes beyond ASCII, and bytes that are not special to any shell anywhere in a word. */
static const unsigned char plain[256] = {
	['a' ... 'z'] = PLAIN, ['A' ... 'Z'] = PLAIN,
	['-' ... ':'] = PLAIN, ['_'] = PLAIN,
	['='] = PLAIN,	       ['+'] = PLAIN,
	[','] = PLAIN,	       ['%'] = PLAIN,
	['@'] = PLAIN,	       [0x80 ... 0xff] = BEYOND,
};

/* True if a word needs no quotes. beyond: bytes beyond ASCII need none. */
static bool is_plain(struct tr_text word, bool beyond)
{
	const unsigned char *p = (const unsigned char *)word.data, *end = p + word.len;
	unsigned allowed = beyond ? PLAIN | BEYOND : PLAIN;

	while (p < end && (plain[*p] & allowed))
		p++;
	return p == end && word.len > 0;
}

void tr_shell_quote(struct tr_text bytes, struct tr_buffer *to)
{
	if (is_plain(bytes, true)) {
		tr_buffer_put_text(to, bytes);
		return;
	}
	tr_buffer_put_byte(to, '\'');
	for (const char *p = bytes.data, *end = p + bytes.len; p < end;) {
		const char *quote = memchr(p, '\'', (size_t)(end - p));
		const char *stop = quote ? quote : end;
		tr_buffer_put(to, p, (size_t)(stop - p));
		if (quote)
			tr_buffer_put_literal(to, "'\\''");
		p = quote ? quote + 1 : end;
	}
	tr_buffer_put_byte(to, '\'');
}

/* True for valid UTF-8 without control characters. */
static bool is_printable(struct tr_text bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];
		if (c < 0x20 || c == 0x7f)
			return false;
	}
	return tr_utf8_check(bytes.data, bytes.data + bytes.len) == bytes.data + bytes.len;
}

/* The number of bytes from p on that need no escape between any quotes. */
static size_t ordinary_length(const char *p, const char *end)
{
	const char *begin = p;

	while (p < end && *p >= ' ' && *p < 0x7f && *p != '"' && *p != '\'' && *p != '\\')
		p++;
	return (size_t)(p - begin);
}

void tr_shell_quote_printable(struct tr_text bytes, struct tr_buffer *to)
{
	static const char letters[] = "abtnvfr"; /* escapes of the bytes 7 to 13 */

	if (is_plain(bytes, false)) {
		tr_buffer_put_text(to, bytes);
		return;
	}
	if (is_printable(bytes)) {
		tr_shell_quote(bytes, to);
		return;
	}
	tr_buffer_put_literal(to, "$'");
	for (size_t i = 0; i < bytes.len;) {
		size_t count = ordinary_length(bytes.data + i, bytes.data + bytes.len);
		if (count) {
			tr_buffer_put(to, bytes.data + i, count);
			i += count;
			continue;
		}
		unsigned char c = (unsigned char)bytes.data[i];
		size_t len = tr_utf8_length(bytes.data + i, bytes.data + bytes.len);
		if (c >= 7 && c <= 13) {
			tr_buffer_put_byte(to, '\\');
			tr_buffer_put_byte(to, letters[c - 7]);
		} else if (c < 0x20 || c == 0x7f || len == 0) {
			tr_buffer_put_byte(to, '\\');
			for (int shift = 6; shift >= 0; shift -= 3)
				tr_buffer_put_byte(to, (char)('0' + (c >> shift & 7)));
		} else {
			if (c == '\'' || c == '\\')
				tr_buffer_put_byte(to, '\\');
			tr_buffer_put(to, bytes.data + i, len);
		}
		i += len ? len : 1;
	}
	tr_buffer_put_byte(to, '\'');
}

/* Appends an argument; one that is not a string is shown as its literal. */
static bool show_value(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	if (value->type != TR_STRING) {
		tr_literal_write(value, to);
		return true;
	}
	struct tr_text bytes = tr_value_bytes(value, arena);
	if (!bytes.data)
		return false;
	tr_shell_quote_printable(bytes, to);
	if (value->flags & TR_CUT)
		tr_buffer_put_literal(to, "...");
	return true;
}

/* Cuts the text after `from` to limit bytes, between characters. False: it is short enough. */
static bool cut(struct tr_buffer *to, size_t from, size_t limit)
{
	if (limit == 0 || to->len - from <= limit)
		return false;
	to->len = from + (limit > 3 ? limit - 3 : 0);
	while (to->len > from && tr_utf8_is_inside(to->data[to->len]))
		to->len--;
	tr_buffer_put_literal(to, "\xe2\x80\xa6");
	return true;
}

/* The bytes of a step. */
enum { STEP = 32 };

/*
 * Copies STEP bytes, and returns how many of them are plain before the first that is not. There is
 * one such function for each kind of machine; show_text exists once for each.
 */
typedef unsigned copy_step(const char *p, char *to);

#if defined __SSE2__ && !defined TR_PORTABLE
/* Which of 16 bytes are plain, as in the table above. */
static inline unsigned plain_of_16(__m128i bytes)
{
	__m128i letter = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i middle = _mm_sub_epi8(bytes, _mm_set1_epi8('+')); /* from + to : all are plain */
	__m128i is_plain = _mm_or_si128(
		_mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8('z' - 'a')), letter),
		_mm_cmpeq_epi8(_mm_min_epu8(middle, _mm_set1_epi8(':' - '+')), middle));
	is_plain = _mm_or_si128(is_plain, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
	is_plain = _mm_or_si128(is_plain, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('=')));
	is_plain = _mm_or_si128(is_plain, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('%')));
	is_plain = _mm_or_si128(is_plain, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('@')));
	return (unsigned)_mm_movemask_epi8(is_plain);
}

static inline unsigned copy_narrow(const char *p, char *to)
{
	__m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));

	_mm_storeu_si128((__m128i *)(void *)to, low);
	_mm_storeu_si128((__m128i *)(void *)(to + 16), high);
	unsigned others = ~(plain_of_16(low) | plain_of_16(high) << 16);
	return others ? (unsigned)__builtin_ctz(others) : STEP;
}
#else
static inline unsigned copy_narrow(const char *p, char *to)
{
	unsigned count = 0;

	memcpy(to, p, STEP);
	while (count < STEP && plain[(unsigned char)p[count]] == PLAIN)
		count++;
	return count;
}
#endif

#ifdef TR_WIDE
TR_WIDE static inline unsigned copy_wide(const char *p, char *to)
{
	/*
	 * A byte is plain if the entries for both of its halves share a bit. Each bit is a value of
	 * the upper half: 2 (% + , - . /), 3 (digits : =), 4 (@ A to O), 5 (P to Z _), 6, 7.
	 */
	const __m256i uppers = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(0, 0, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0));
	const __m256i lowers = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(46, 62, 62, 62, 62, 63, 62, 62, 62, 62, 62, 21, 21, 23, 21, 29));
	__m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));

	_mm256_storeu_si256((__m256i *)(void *)to, bytes);
	__m256i shared = _mm256_and_si256(_mm256_shuffle_epi8(lowers, bytes),
					  _mm256_shuffle_epi8(uppers, upper));
	unsigned others =
		(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(shared, _mm256_setzero_si256()));
	return others ? (unsigned)__builtin_ctz(others) : STEP;
}
#endif

/* Copies the plain bytes from p on, at most up to end; room: they fit, and STEP more. */
static inline __attribute__((always_inline)) size_t copy_plain(copy_step *copy, const char *p,
							       const char *end, char *room)
{
	const char *begin = p;
	unsigned count;

	while (end - p >= STEP) {
		count = copy(p, room + (p - begin));
		p += count;
		if (count < STEP)
			return (size_t)(p - begin);
	}
	for (; p < end && plain[(unsigned char)*p] == PLAIN; p++)
		room[p - begin] = *p;
	return (size_t)(p - begin);
}

/*
 * Copies the words of a list to room for them. Returns the end of the copy, or NULL: see show_text.
 */
static inline __attribute__((always_inline)) char *copy_words(copy_step *copy, struct tr_text list,
							      char *out)
{
	const char *p = list.data + 1, *end = list.data + list.len;

	while (end - p >= 3 && *p == '"') {
		size_t count = copy_plain(copy, ++p, end, out);
		if (p + count < end && p[count] == '"' && count) {
			out += count;
		} else { /* it is quoted, for which it is read again */
			*out++ = '\'';
			count = ordinary_length(p, end);
			memcpy(out, p, count);
			out += count;
			*out++ = '\'';
		}
		p += count;
		if (end - p < 2 || *p != '"')
			return NULL;
		if (p[1] == ']' && end - p == 2)
			return out;
		if (p[1] != ',')
			return NULL;
		*out++ = ' ';
		p += 2;
	}
	return NULL;
}

static char *copy_words_narrow(struct tr_text list, char *out)
{
	return copy_words(copy_narrow, list, out);
}

#ifdef TR_WIDE
TR_WIDE static char *copy_words_wide(struct tr_text list, char *out)
{
	return copy_words(copy_wide, list, out);
}
#endif

/*
 * Appends the words of a list of strings from its text. Nearly all commands consist of printable
 * ASCII without escapes. False: this one does not, or it is so long that memory for it must not be
 * allocated in advance; nothing is appended.
 */
static bool show_text(struct tr_text list, struct tr_buffer *to)
{
	if (list.len <= 3 || list.len >= TEXT_MAX || *list.data != '[')
		return false;
	/*
	 * a word takes no more bytes than its spelling: quotes and a blank for quotes and a comma
	 */
	char *room = tr_buffer_room(to, list.len + STEP), *end = NULL;
#ifdef TR_WIDE
	if (room && tr_wide_runs())
		end = copy_words_wide(list, room);
	else
#endif
		if (room)
		end = copy_words_narrow(list, room);
	if (!end)
		return false;
	tr_buffer_used(to, (size_t)(end - room));
	return true;
}

bool tr_command_show_plain(struct tr_record *record, size_t limit, struct tr_buffer *to)
{
	const struct tr_field *field = tr_record_field(record, "argv");
	size_t from = to->len;

	if (!field || !field->text.data || !show_text(field->text, to))
		return false;
	cut(to, from, limit);
	return true;
}

bool tr_command_show_json(struct tr_record *record, size_t limit, struct tr_buffer *to)
{
	struct tr_buffer shown = TR_BUFFER_INIT;

	if (tr_command_show_plain(record, limit, to))
		return !to->failed;
	bool fine = tr_command_show(record, limit, &shown);
	tr_string_escape(tr_buffer_text(&shown), to);
	tr_buffer_free(&shown);
	return fine && !to->failed;
}

bool tr_command_show(struct tr_record *record, size_t limit, struct tr_buffer *to)
{
	struct tr_error err;
	size_t from = to->len;

	if (tr_command_show_plain(record, limit, to))
		return !to->failed;
	tr_error_clear(&err);
	const struct tr_value *argv = tr_ask_any(record, "argv", &err);
	if (err.cause == TR_CAUSE_MEMORY)
		return false;

	if (argv && argv->type == TR_LIST && argv->count) {
		for (size_t i = 0; i < argv->count; i++) {
			if (i)
				tr_buffer_put_byte(to, ' ');
			if (!show_value(&argv->as.items[i], record->arena, to))
				return false;
			if (cut(to, from, limit))
				return !to->failed;
		}
		if (argv->flags & TR_CUT)
			tr_buffer_put_literal(to, " ...");
		return !to->failed;
	}
	struct tr_text name = tr_ask_cell(&record->name, record->arena, &err);
	if (!name.data)
		return false;
	tr_shell_quote_printable(name, to);
	cut(to, from, limit);
	return !to->failed;
}
