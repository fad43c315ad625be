/* SPDX-License-Identifier: MIT */
/*
 * --mask: values of masked variables are collected while records are read. All records are stored
 * until the end of the input; then every string in them is searched for the values, by its bytes,
 * whatever its escapes.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "tr_envdiff.h"

#include "core/needles.h"
#include "record/base64.h"
#include "record/literal.h"
#include "record/string_scan.h"

enum {
	SHORTEST = 8,	   /* bytes of a value that is searched for */
	MOST = 8 << 20,	   /* bytes of all of them */
	ESCAPED_TWICE = 2, /* JSON in a string of JSON in a string */
};

/*
 * The values that are searched for, and memory that all lines use again. Values are bytes, without
 * escapes.
 */
struct tr_mask {
	struct tr_needles *secrets;
	struct tr_needles *named; /* masked by name only: counted */
	struct tr_covers covers, parts;
	struct tr_arena arena; /* of one line */
	struct tr_buffer line, text;
	uint64_t in_words, others; /* occurrences that stay */
	bool fold;
};

bool tr_mask_begin(struct tr_envdiff *envdiff)
{
	struct tr_mask *mask = calloc(1, sizeof *mask);

	envdiff->mask = mask;
	if (mask) {
		mask->secrets = tr_needles_new(MOST);
		mask->named = tr_needles_new(MOST);
	}
	return (mask && mask->secrets && mask->named) || tr_envdiff_out_of_memory(envdiff);
}

void tr_mask_free(struct tr_envdiff *envdiff)
{
	struct tr_mask *mask = envdiff->mask;

	if (!mask)
		return;
	tr_needles_free(mask->secrets);
	tr_needles_free(mask->named);
	tr_covers_free(&mask->covers);
	tr_covers_free(&mask->parts);
	tr_arena_free(&mask->arena);
	tr_buffer_free(&mask->line);
	tr_buffer_free(&mask->text);
	free(mask);
	envdiff->mask = NULL;
}

/* True for bytes of a part of a path: letters, digits, and common punctuation of file names. */
static bool is_in_path(char c)
{
	return tr_is_word_byte(c) || (unsigned char)c >= 0x80 || memchr(".-+ @,~%()", c, 10);
}

/*
 * True for a run of letters and digits that reads like a part of a file's name. A token in Base64
 * may begin with '/' too, but its runs mix lower case, upper case and digits.
 */
static bool is_in_name(const char *p, const char *end)
{
	bool lower = false, upper = false, digit = false;

	for (; p < end; p++) {
		lower |= *p >= 'a' && *p <= 'z';
		upper |= *p >= 'A' && *p <= 'Z';
		digit |= *p >= '0' && *p <= '9';
	}
	return !(lower && upper && digit);
}

/* True for an absolute path, of DOS if it begins with a drive, that does not look like a token. */
static bool is_path(const char *p, const char *end, bool drive)
{
	const char *run;

	if (drive && !(end - p > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')))
		return false;
	if (!drive && *p != '/')
		return false;
	for (p += drive ? 2 : 0; p < end; p = p == run ? p + 1 : p) {
		for (run = p; p < end && tr_is_word_byte(*p); p++)
			;
		if (!is_in_name(run, p))
			return false;
		if (p < end && !is_in_path(*p) && *p != '/' && !(drive && *p == '\\'))
			return false;
	}
	return true;
}

/* True for paths with ':' between them, or ';' between those of DOS. */
static bool is_paths(struct tr_text value)
{
	bool drive = value.len > 2 && value.data[1] == ':' &&
		     (value.data[2] == '\\' || value.data[2] == '/');
	const char *p = value.data, *end = value.data + value.len;

	while (p < end) {
		const char *separator = memchr(p, drive ? ';' : ':', (size_t)(end - p));
		const char *stop = separator ? separator : end;
		if (stop > p && !is_path(p, stop, drive))
			return false;
		p = separator ? separator + 1 : end;
	}
	return value.len > 0;
}

/*
 * Adds a value. The limit bounds the memory of the search, which would otherwise grow with the
 * trace. False: reported.
 */
static bool add(struct tr_envdiff *envdiff, struct tr_needles *needles, struct tr_text value,
		bool open)
{
	struct tr_error err;

	if (tr_needles_add(needles, value, open))
		return true;
	if (!tr_needles_are_full(needles))
		return tr_envdiff_out_of_memory(envdiff);
	tr_error_set(&err, TR_CAUSE_LIMIT,
		     "the values of masked variables exceed 8 MiB, which is too much to search "
		     "for; --mask-only-names masks them only in variables");
	return tr_cli_abort(envdiff->cli, &err);
}

/*
 * Adds a value to those that are searched for. A short one, or a path, is in many unrelated
 * places, so it is masked in its variable only, and its other occurrences are counted. open: the
 * value was cut by the tracer.
 */
static bool add_whole(struct tr_envdiff *envdiff, struct tr_text value, bool open)
{
	struct tr_mask *mask = envdiff->mask;

	/* a value that was cut is not counted: the search is for whole values */
	if (value.len < SHORTEST || is_paths(value))
		return open || !value.len || add(envdiff, mask->named, value, false);
	return add(envdiff, mask->secrets, value, open);
}

/* Adds a value; of several lines, each line too, because keys are written one line at a time. */
static bool add_value(struct tr_envdiff *envdiff, struct tr_text value, bool open)
{
	const char *p = value.data, *end = p + value.len, *lf;

	if (!add_whole(envdiff, value, open))
		return false;
	while (p < end && (lf = memchr(p, '\n', (size_t)(end - p)))) {
		struct tr_text line = tr_text_trimmed(tr_text_span(p, lf));
		if (line.len >= SHORTEST && !add_whole(envdiff, line, false))
			return false;
		p = lf + 1;
	}
	struct tr_text rest = tr_text_trimmed(tr_text_span(p, end));
	return rest.len == value.len || rest.len < SHORTEST || add_whole(envdiff, rest, open);
}

/* Sets *hidden if --mask matches the name of a variable. False: reported. */
static bool is_hidden(struct tr_envdiff *envdiff, struct tr_text spelling, bool *hidden)
{
	unsigned verdict = 0;

	if (!tr_name_globs_judge(&envdiff->globs, spelling, envdiff->mask->fold, &verdict))
		return tr_envdiff_out_of_memory(envdiff);
	*hidden = verdict & TR_NAME_HIDDEN;
	return true;
}

/* True for bytes that may precede the name of a variable in a command line. */
static bool may_precede(char c)
{
	return (unsigned char)c <= ' ' || memchr("\"'`;&|({", c, 8);
}

/* True for bytes that end a word of a command line. */
static bool ends_word(char c)
{
	return (unsigned char)c <= ' ' || memchr("\"'`;&|)", c, 7);
}

/*
 * Adds the value of each NAME=VALUE in a text whose name is masked. If it begins the text, its
 * value is all of the rest; otherwise it ends with the word.
 */
static bool find_named(struct tr_envdiff *envdiff, struct tr_text text, struct tr_covers *covers)
{
	const char *end = text.data + text.len, *equals;

	for (const char *p = text.data; p < end && (equals = memchr(p, '=', (size_t)(end - p)));
	     p = equals + 1) {
		const char *name = equals;
		bool hidden = false;
		/*
		 * the name is the word before "="; it may not be in the middle of an option such
		 * as --x
		 */
		while (name > p && tr_is_word_byte(name[-1]))
			name--;
		if (name == equals || (name > text.data && !may_precede(name[-1])))
			continue;
		if (!is_hidden(envdiff, tr_text_span(name, equals), &hidden))
			return false;
		if (!hidden)
			continue;
		const char *stop = equals + 1;
		char quote = stop < end && (*stop == '"' || *stop == '\'') ? *stop : '\0';
		/* the text is one variable, such as an argument of env(1) */
		if (name == text.data)
			stop = end;
		else if (quote &&
			 (stop = memchr(stop + 1, quote, (size_t)(end - stop - 1))) == NULL)
			stop = end;
		while (stop < end && !quote && !ends_word(*stop))
			stop += *stop == '\\' && stop + 1 < end && stop[1] == ' ' ? 2 : 1;
		if (stop > equals + 1 + (quote != '\0'))
			tr_covers_add(covers,
				      (size_t)(equals + 1 - text.data) +
					      (quote && name != text.data),
				      (size_t)(stop - text.data));
		/* what was masked is not searched again */
		equals = stop > equals + 1 ? stop - 1 : equals;
	}
	return true;
}

/*
 * Adds the values of the masked variables in a map. Values that are not strings are searched for
 * as they are written.
 */
static bool collect_map(struct tr_envdiff *envdiff, const struct tr_value *map)
{
	for (size_t i = 0; map && map->type == TR_MAP && i < map->count; i++) {
		const struct tr_member *member = &map->as.members[i];
		const struct tr_value *value = member->value;
		bool hidden = false;
		if (!is_hidden(envdiff, member->key, &hidden))
			return false;
		if (!hidden || value->type == TR_NULL)
			continue;
		struct tr_text bytes;
		tr_buffer_reset(&envdiff->mask->text);
		if (value->type == TR_STRING) {
			bytes = tr_string_bytes(value->text, &envdiff->mask->arena);
		} else {
			tr_literal_write(value, &envdiff->mask->text);
			bytes = tr_buffer_text(&envdiff->mask->text);
		}
		if (!bytes.data || envdiff->mask->text.failed)
			return tr_envdiff_out_of_memory(envdiff);
		if (!add_value(envdiff, bytes, value->flags & TR_CUT))
			return false;
	}
	return true;
}

/* Adds the masked values of NAME=VALUE in a string of argv or of an envset record. */
static bool collect_string(struct tr_envdiff *envdiff, const struct tr_value *value)
{
	struct tr_mask *mask = envdiff->mask;

	if (value->type != TR_STRING)
		return true;
	struct tr_text bytes = tr_string_bytes(value->text, &mask->arena);
	if (!bytes.data)
		return tr_envdiff_out_of_memory(envdiff);
	mask->covers.count = 0;
	if (!find_named(envdiff, bytes, &mask->covers))
		return false;
	for (size_t i = 0; i < mask->covers.count; i++) {
		struct tr_cover cover = mask->covers.list[i];
		bool open = (value->flags & TR_CUT) && cover.end == bytes.len;
		if (!add_value(envdiff,
			       tr_text_span(bytes.data + cover.begin, bytes.data + cover.end),
			       open))
			return false;
	}
	return !mask->covers.failed || tr_envdiff_out_of_memory(envdiff);
}

/*
 * Adds the masked values of a field that may have them: environments, argv and etrace's sets.
 * *unreadable is set if an environment is not a map.
 */
static bool collect_field(struct tr_envdiff *envdiff, struct tr_record *record,
			  struct tr_field *field, bool *unreadable)
{
	static const char *const maps[] = { "env", "envdiff", "envtop", "vars" };
	bool argv = field->key.data && tr_text_is(field->key, "argv"), fine = true;
	bool var = field->key.data && tr_text_is(field->key, "var");
	bool map = false;

	for (size_t i = 0; field->key.data && i < sizeof maps / sizeof *maps; i++)
		map |= tr_text_is(field->key, maps[i]);
	if (!map && !argv && !var)
		return true;
	const struct tr_value *value = tr_field_value(record, field, NULL);
	*unreadable |= map && (!value || value->type != TR_MAP);
	if (!value)
		return true; /* a malformed value is masked as a whole */
	if (map)
		return collect_map(envdiff, value);
	if (var)
		return collect_string(envdiff, value);
	for (size_t i = 0; fine && value->type == TR_LIST && i < value->count; i++)
		fine = collect_string(envdiff, &value->as.items[i]);
	return fine;
}

bool tr_mask_collect(struct tr_envdiff *envdiff, struct tr_record *record, bool *unreadable)
{
	struct tr_mask *mask = envdiff->mask;
	bool fine = true;

	*unreadable = false;
	if (!mask || record->type != TR_RECORD ||
	    (!tr_text_is(record->kind, "exec") && !tr_text_is(record->kind, "env") &&
	     !tr_text_is(record->kind, "envset")))
		return true;
	mask->fold = tr_environments_are_folded(tr_env_tracker_pool(envdiff->tracker));
	tr_arena_reset(&mask->arena);
	if (tr_record_split(record, NULL) == TR_FATAL)
		return tr_envdiff_out_of_memory(envdiff);
	for (size_t i = 0; fine && i < record->count; i++)
		fine = collect_field(envdiff, record, &record->fields[i], unreadable);
	return fine;
}

/* Adds parts of unescaped text, which are sorted, as parts of its spelling. */
static void add_spelled(const struct tr_covers *parts, struct tr_text spelling,
			struct tr_covers *to)
{
	const char *p = spelling.data, *end = p + spelling.len;
	size_t at = 0, length;
	char bytes[TR_ESCAPE_MAX];

	for (size_t i = 0; i < parts->count; i++) {
		const char *begin = p;
		while (p < end && at <= parts->list[i].begin) {
			begin = p;
			p += tr_string_unit(p, end, bytes, &length);
			at += length;
		}
		while (p < end && at < parts->list[i].end) {
			p += tr_string_unit(p, end, bytes, &length);
			at += length;
		}
		tr_covers_add(to, (size_t)(begin - spelling.data), (size_t)(p - spelling.data));
	}
}

static bool find(struct tr_envdiff *envdiff, struct tr_text bytes, bool cut, bool named,
		 struct tr_covers *covers, struct tr_covers *parts, unsigned levels);

/* Searches bytes after undoing their JSON escapes. */
static bool find_escaped(struct tr_envdiff *envdiff, struct tr_text bytes, bool cut, bool named,
			 struct tr_covers *covers, struct tr_covers *parts, unsigned levels)
{
	const char *p = bytes.data, *end = p + bytes.len;
	struct tr_covers inner = { 0 }, inner_parts = { 0 };
	char *text = tr_arena_alloc(&envdiff->mask->arena, bytes.len + TR_ESCAPE_MAX), *to = text;
	size_t length;

	if (!text)
		return tr_envdiff_out_of_memory(envdiff);
	for (; p < end; to += length)
		p += tr_string_unit(p, end, to, &length);
	bool fine = (size_t)(to - text) == bytes.len ||
		    find(envdiff, tr_text_span(text, to), cut, named, &inner, &inner_parts, levels);
	tr_covers_merge(&inner);
	tr_covers_merge(&inner_parts);
	add_spelled(&inner, bytes, covers);
	add_spelled(&inner_parts, bytes, parts);
	covers->failed |= inner.failed;
	parts->failed |= inner_parts.failed;
	tr_covers_free(&inner);
	tr_covers_free(&inner_parts);
	return fine;
}

static bool find(struct tr_envdiff *envdiff, struct tr_text bytes, bool cut, bool named,
		 struct tr_covers *covers, struct tr_covers *parts, unsigned levels)
{
	if (named && !find_named(envdiff, bytes, covers))
		return false;
	tr_needles_find(envdiff->mask->secrets, bytes, cut, covers, parts);
	return !levels || !memchr(bytes.data, '\\', bytes.len) ||
	       find_escaped(envdiff, bytes, cut, named, covers, parts, levels - 1);
}

/*
 * Finds masked values in bytes, in mask->covers. named: also in NAME=VALUE. Also counts what
 * stays: a value as a part of a longer word, and values that are masked by name only.
 */
static bool search(struct tr_envdiff *envdiff, struct tr_text bytes, bool cut, bool named)
{
	struct tr_mask *mask = envdiff->mask;

	mask->covers.count = mask->parts.count = 0;
	if (!find(envdiff, bytes, cut, named, &mask->covers, &mask->parts, ESCAPED_TWICE))
		return false;
	tr_covers_merge(&mask->covers);
	tr_covers_merge(&mask->parts);
	mask->in_words += tr_covers_count_outside(&mask->parts, &mask->covers);
	/* occurrences within a masked value are masked with it, and not counted */
	if (!tr_needles_are_none(mask->named)) {
		mask->parts.count = 0;
		tr_needles_find(mask->named, bytes, false, &mask->parts, NULL);
		tr_covers_merge(&mask->parts);
		mask->others += tr_covers_count_outside(&mask->parts, &mask->covers);
	}
	return !(mask->covers.failed || mask->parts.failed) || tr_envdiff_out_of_memory(envdiff);
}

/* Appends text with `replacement` instead of each hit. */
static void put_masked(const struct tr_mask *mask, struct tr_text text, const char *replacement,
		       struct tr_buffer *to)
{
	size_t at = 0;

	for (size_t i = 0; i < mask->covers.count; i++) {
		struct tr_cover cover = mask->covers.list[i];
		tr_buffer_put(to, text.data + at, cover.begin - at);
		tr_buffer_put_text(to, tr_text_from(replacement));
		at = cover.end;
	}
	tr_buffer_put(to, text.data + at, text.len - at);
}

/* Like put_masked, with the result in memory of the mask; valid until the next call. */
static struct tr_text masked(struct tr_mask *mask, struct tr_text text)
{
	tr_buffer_reset(&mask->text);
	put_masked(mask, text, "***", &mask->text);
	return tr_buffer_text(&mask->text);
}

/* A cell of a column, or a field's key. */
static bool put_cell(struct tr_envdiff *envdiff, struct tr_text spelling, bool key,
		     struct tr_buffer *to)
{
	struct tr_mask *mask = envdiff->mask;
	struct tr_text bytes;

	if (!tr_cell_bytes(spelling, &mask->arena, &bytes, NULL))
		bytes = spelling;
	if (!search(envdiff, bytes, false, !key))
		return false;
	if (!mask->covers.count)
		tr_buffer_put_text(to, spelling);
	else
		tr_cell_escape(masked(mask, bytes), key, to);
	to->failed |= mask->text.failed;
	return true;
}

/* True if each hit is a whole value, such as a number in a list. */
static bool are_values(const struct tr_mask *mask, struct tr_text text)
{
	for (size_t i = 0; i < mask->covers.count; i++) {
		struct tr_cover cover = mask->covers.list[i];
		if ((cover.begin > 0 && !memchr(",:[<;=", text.data[cover.begin - 1], 6)) ||
		    (cover.end < text.len && !memchr(",]}>;", text.data[cover.end], 5)))
			return false;
	}
	return true;
}

/* Searches the bytes of a blob. *hit: it has a hit, or it is malformed. */
static bool look_at_blob(struct tr_envdiff *envdiff, struct tr_text base64, bool *hit)
{
	struct tr_mask *mask = envdiff->mask;
	size_t size = tr_base64_size(base64.len);
	char *bytes = tr_arena_alloc(&mask->arena, size + 1);

	if (!bytes)
		return tr_envdiff_out_of_memory(envdiff);
	if (tr_base64_read(base64, bytes, &size)) {
		*hit = true;
		return true;
	}
	bool fine = search(envdiff, (struct tr_text){ bytes, size }, false, true);
	*hit |= mask->covers.count > 0;
	return fine;
}

/*
 * Writes the part of a value that is outside strings. *hit: it has a hit that is not a value of its
 * own, or it cannot be searched.
 */
static bool put_bare(struct tr_envdiff *envdiff, struct tr_text text, bool *hit,
		     struct tr_buffer *to)
{
	struct tr_mask *mask = envdiff->mask;
	const char *end = text.data + text.len;

	for (const char *p = text.data; p < end;) {
		const char *blob = memmem(p, (size_t)(end - p), "b64:", 4);
		struct tr_text plain = tr_text_span(p, blob ? blob + 4 : end);
		if (!search(envdiff, plain, false, false))
			return false;
		*hit |= !are_values(mask, plain);
		put_masked(mask, plain, "\"***\"", to);
		if (!blob)
			break;
		for (p = blob += 4; p < end && !memchr(",]}>;", *p, 5);)
			p++;
		if (!look_at_blob(envdiff, tr_text_span(blob, p), hit))
			return false;
		tr_buffer_put_text(to, tr_text_span(blob, p));
	}
	return true;
}

/* Returns the bytes of a string without its quotes; data NULL: they are uncertain. */
static struct tr_text string_bytes(struct tr_mask *mask, struct tr_text string, bool wide)
{
	struct tr_text quoted = { string.data - 1, string.len + 2 };
	struct tr_text none = { NULL, 0 };

	if (!memchr(string.data, '\\', string.len))
		return string;
	/* the unit of a wide string may be no character */
	if (wide && memmem(string.data, string.len, "\\u", 2))
		return none;
	if (tr_literal_check(quoted, NULL, NULL) == TR_MALFORMED)
		return none;
	return tr_string_bytes(string, &mask->arena);
}

/* The end of a string whose first byte after the quote is at p. */
static const char *end_of_string(const char *p, const char *end)
{
	while (p < end && *p != '"')
		p += *p == '\\' && p + 1 < end ? 2 : 1;
	return p;
}

/* Puts a string with its quotes. *hit: it cannot be searched. */
static bool put_string(struct tr_envdiff *envdiff, struct tr_text string, bool wide, bool cut,
		       bool *hit, struct tr_buffer *to)
{
	struct tr_mask *mask = envdiff->mask;
	struct tr_text bytes = string_bytes(mask, string, wide);

	if (!bytes.data) {
		*hit = true;
		return true;
	}
	if (!search(envdiff, bytes, cut, true))
		return false;
	tr_buffer_put_byte(to, '"');
	if (mask->covers.count)
		tr_string_escape(masked(mask, bytes), to);
	else
		tr_buffer_put_text(to, string);
	tr_buffer_put_byte(to, '"');
	to->failed |= mask->text.failed;
	return true;
}

bool tr_mask_value(struct tr_envdiff *envdiff, struct tr_text value, struct tr_buffer *to)
{
	const char *p = value.data, *end = p + value.len;
	size_t begin = to->len;
	bool hit = false;

	while (p < end) {
		/* outside strings a quote begins one; inside, put_string handles all of it */
		const char *quote = memchr(p, '"', (size_t)(end - p));
		if (!put_bare(envdiff, tr_text_span(p, quote ? quote : end), &hit, to))
			return false;
		if (!quote)
			break;
		const char *stop = end_of_string(quote + 1, end);
		if (stop >= end) {
			hit = true; /* malformed */
			break;
		}
		bool wide = quote > value.data && quote[-1] == 'L';
		bool cut = end - stop > 3 && memcmp(stop + 1, "...", 3) == 0;
		if (!put_string(envdiff, tr_text_span(quote + 1, stop), wide, cut, &hit, to))
			return false;
		p = stop + 1;
	}
	if (hit) {
		to->len = begin;
		tr_buffer_put_literal(to, "\"***\"");
	}
	return true;
}

/*
 * Writes a column after the cells without the masked values: the cell of a key and a value, or an
 * arrow.
 */
static bool put_field(struct tr_envdiff *envdiff, struct tr_text column, struct tr_buffer *to)
{
	const char *equals = memchr(column.data, '=', column.len);

	if (!equals)
		return put_cell(envdiff, column, false, to);
	if (!put_cell(envdiff, tr_text_span(column.data, equals), true, to))
		return false;
	tr_buffer_put_byte(to, '=');
	return tr_mask_value(envdiff, tr_text_span(equals + 1, column.data + column.len), to);
}

/* True for a number: seq, time and task are not secrets. */
static bool is_measured(struct tr_text cell)
{
	for (size_t i = 0; i < cell.len; i++)
		if (cell.data[i] != '.' && (cell.data[i] < '0' || cell.data[i] > '9'))
			return false;
	return true;
}

bool tr_mask_line(struct tr_envdiff *envdiff, const struct tr_record *record)
{
	struct tr_buffer *to = &envdiff->mask->line;
	struct tr_text line = record->line;
	const char *p = line.data, *end = line.data + line.len - 1;
	size_t cells = record->type == TR_RECORD ? 5 : record->type == TR_DEFINITION ? 3 : 2;
	bool fine = true;

	tr_arena_reset(&envdiff->mask->arena);
	tr_buffer_reset(to);
	if (record->type == TR_COMMENT) {
		struct tr_text text = tr_text_span(p, end);
		fine = search(envdiff, text, false, true);
		put_masked(envdiff->mask, text, "***", to);
		p = end;
	}
	for (size_t i = 0; fine && p < end; i++) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));
		struct tr_text column = tr_text_span(p, tab ? tab : end);
		p = tab ? tab + 1 : end;
		if (i >= cells && tr_text_starts(column, TR_TEXT(".raw=")))
			continue; /* a .raw field contains the values in another form */
		if (i > 0)
			tr_buffer_put_byte(to, '\t');
		/* the kind, and the numbers of seq, time and task */
		if (i == 0 || (i < 4 && i < cells && is_measured(column)))
			tr_buffer_put_text(to, column);
		else if (i < cells)
			fine = put_cell(envdiff, column, false, to);
		else
			fine = put_field(envdiff, column, to);
	}
	tr_buffer_put_byte(to, '\n');
	if (to->failed)
		return tr_envdiff_out_of_memory(envdiff);
	return fine && tr_cli_put_text(envdiff->cli, tr_buffer_text(to));
}

/*
 * A value that stays is an error if it can be a leak, and a note if it is too common to be searched
 * for.
 */
void tr_mask_report(struct tr_envdiff *envdiff)
{
	const struct tr_mask *mask = envdiff->mask;

	if (mask->in_words)
		tr_cli_remark(envdiff->cli, NULL, TR_CAUSE_NONE, TR_FLAW,
			      "--mask: %" PRIu64 " occurrences of masked values are not masked, "
			      "because they are parts of longer words: search "
			      "the output for them",
			      mask->in_words);
	if (mask->others)
		tr_cli_remark(
			envdiff->cli, NULL, TR_CAUSE_NONE, TR_NOTE,
			"--mask: %" PRIu64
			" other occurrences of values that are shorter than 8 bytes or look like "
			"paths are not masked: such values are masked only in their variables",
			mask->others);
}

bool tr_mask_ready(struct tr_envdiff *envdiff)
{
	struct tr_mask *mask = envdiff->mask;

	return (tr_needles_prepare(mask->secrets) && tr_needles_prepare(mask->named)) ||
	       tr_envdiff_out_of_memory(envdiff);
}
