/* SPDX-License-Identifier: MIT */
/*
 * Prints differences as text, JSON or records. Text shows only the parts of a field that changed:
 * the items of a list, the entries of a map, the words of a string, and of a long part the place
 * that changed. A change that several records have is printed once, with their number.
 */

#include "tr_diff.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "view/json_value.h"

enum {
	PARTS_MAX = 1000, /* of a value whose parts are compared one by one */
	MOST = 240,	  /* bytes of a part that are printed as text */
	FIELD_MOST = 500  /* bytes of a field of a record */
};

#define UNKNOWN "\"env-unknown\""

/* Reads one side of a difference. Normal texts are only needed for changes. False: reported. */
static bool load(struct tr_diff_show *show, unsigned side, uint32_t number, bool changed)
{
	struct tr_shown *shown = &show->sides[side];
	struct tr_error err;

	shown->normal = &show->diff->sides[side].normal;
	shown->line = changed ? tr_diff_read(show->diff, side, number, &err)
			      : tr_diff_split(show->diff, side, number, &err);
	return shown->line.data || tr_cli_abort(show->cli, &err);
}

static bool load_both(struct tr_diff_show *show, const struct tr_difference *difference)
{
	bool changed = difference->what == TR_DIFF_CHANGED;

	return (difference->a == TR_ALIGN_NONE || load(show, 0, difference->a, changed)) &&
	       (difference->b == TR_ALIGN_NONE || load(show, 1, difference->b, changed));
}

/* Text. */

enum { RED = 31, GREEN = 32, YELLOW = 33, CYAN = 36 };

static void put_color(struct tr_diff_show *show, unsigned color, struct tr_buffer *to)
{
	if (!show->color)
		return;
	tr_buffer_put_literal(to, "\033[");
	tr_buffer_put_decimal(to, color);
	tr_buffer_put_byte(to, 'm');
}

/* Appends a part of a text, or if it is long, the number of its bytes. */
static void put_gap(struct tr_buffer *to, struct tr_text text, size_t begin, size_t end)
{
	enum { SHORT = 20 };

	if (end - begin <= SHORT) {
		tr_buffer_put(to, text.data + begin, end - begin);
		return;
	}
	tr_buffer_put_literal(to, "[...");
	tr_buffer_put_decimal(to, end - begin);
	tr_buffer_put_literal(to, " bytes...]");
}

/* Returns the start of the character or short escape at this place in a text. */
static size_t align(struct tr_text text, size_t at)
{
	while (at > 0 && at < text.len && tr_utf8_is_inside(text.data[at]))
		at--;
	return at - (at > 0 && at < text.len && text.data[at - 1] == '\\');
}

/*
 * Appends a text of at most `most` bytes, or of a longer one the start and the end of [begin, end),
 * with what surrounds it.
 */
static void put_shortened(struct tr_buffer *to, struct tr_text text, size_t begin, size_t end,
			  size_t most)
{
	enum { CONTEXT = 60 };

	if (text.len <= most) {
		tr_buffer_put_text(to, text);
		return;
	}
	begin = begin > CONTEXT ? align(text, begin - CONTEXT) : 0;
	end = text.len - end > CONTEXT ? align(text, end + CONTEXT) : text.len;
	size_t left = end, right = end;
	if (end - begin > most) {
		left = align(text, begin + most * 2 / 3);
		right = align(text, end - most / 3);
	}
	put_gap(to, text, 0, begin);
	tr_buffer_put(to, text.data + begin, left - begin);
	put_gap(to, text, left, right);
	tr_buffer_put(to, text.data + right, end - right);
	put_gap(to, text, end, text.len);
}

/* Appends a blob, or of a long one the size and a hash, which shows whether two are equal. */
static bool put_blob(struct tr_buffer *to, struct tr_text value)
{
	enum { LONG = 48 };

	if (value.len <= LONG || !tr_text_starts(value, TR_TEXT("b64:")))
		return false;
	size_t letters = value.len - 4, bytes = letters / 4 * 3;
	for (const char *end = value.data + value.len; end[-1] == '=' && bytes; end--)
		bytes--;
	tr_buffer_put_literal(to, "blob:");
	tr_buffer_put_decimal(to, bytes);
	tr_buffer_put_byte(to, '#');
	tr_buffer_put_hex(to, tr_text_hash(0, value), 16);
	return true;
}

/* A value or a part of one: its normal text, and as its trace spells it. */
struct part {
	struct tr_text text, own;
};

/*
 * Appends a part of one side. other: the part of the other side in its place; empty: there is none.
 */
static void put_part(struct tr_diff_show *show, char sign, struct part part, struct part other)
{
	struct tr_buffer *to = &show->changes;
	struct tr_text text = show->own ? part.own : part.text;
	struct tr_text opposite = show->own ? other.own : other.text;
	size_t least = text.len < opposite.len ? text.len : opposite.len, begin = 0, same = 0;

	tr_buffer_put_byte(to, ' ');
	put_color(show, sign == '-' ? RED : GREEN, to);
	tr_buffer_put_byte(to, sign);
	tr_buffer_put_byte(to, ' ');
	begin = least ? tr_text_common(text.data, opposite.data, least) : 0;
	while (same < least - begin &&
	       text.data[text.len - 1 - same] == opposite.data[opposite.len - 1 - same])
		same++;
	if (!put_blob(to, text))
		put_shortened(to, text.len ? text : TR_TEXT("\"\""), begin, text.len - same,
			      show->counting ? SIZE_MAX : MOST);
	put_color(show, 0, to);
}

static const struct part none;

/* Appends the parts of both sides that are in the same place. */
static void put_parts(struct tr_diff_show *show, struct part a, struct part b)
{
	put_part(show, '-', a, b);
	put_part(show, '+', b, a);
}

/*
 * Splits a string into its words, or a list or map into its items. Where the tracer cut one, the
 * dots after it are the last part. Returns the number of parts.
 */
static size_t split_text(struct tr_text value, bool words, struct tr_text *parts)
{
	static const char dots[] = "...";
	const size_t len = sizeof dots - 1;
	bool cut = value.len > len && memcmp(value.data + value.len - len, dots, len) == 0;
	const char *p = value.data + 1, *end = value.data + value.len - 1 - (cut ? len : 0);
	size_t count = 0;

	while (!words && count < PARTS_MAX && tr_normal_next_item(&p, end, &parts[count]))
		count++;
	for (; words && count < PARTS_MAX && p < end; count++) {
		const char *blank = memchr(p, ' ', (size_t)(end - p));
		parts[count] = tr_text_span(p, blank ? blank : end);
		p = blank ? blank + 1 : end;
	}
	if (cut && count < PARTS_MAX)
		parts[count++] = (struct tr_text){ dots, len };
	return count;
}

/* Splits both texts of a value. Returns the number of parts; PARTS_MAX: there are too many. */
static size_t split(struct part value, bool words, struct part *parts)
{
	struct tr_text texts[PARTS_MAX];
	size_t count = split_text(value.text, words, texts);

	for (size_t i = 0; i < count; i++)
		parts[i].text = parts[i].own = texts[i];
	/* unless the user's replacements changed the number of parts */
	if (split_text(value.own, words, texts) == count) {
		for (size_t i = 0; i < count; i++)
			parts[i].own = texts[i];
	}
	return count;
}

/* Returns the name of an entry of a map, with its quotes. */
static struct tr_text name_of(struct tr_text entry)
{
	const char *end = entry.data + entry.len;

	return tr_text_span(entry.data, entry.len ? tr_normal_string_end(entry.data, end) : end);
}

/* Appends the parts that differ, between the equal ones at the start and at the end of both. */
static void put_lists(struct tr_diff_show *show, const struct part *a, size_t a_count,
		      const struct part *b, size_t b_count)
{
	size_t begin = 0;

	while (begin < a_count && begin < b_count && tr_text_equal(a[begin].text, b[begin].text))
		begin++;
	while (a_count > begin && b_count > begin &&
	       tr_text_equal(a[a_count - 1].text, b[b_count - 1].text)) {
		a_count--;
		b_count--;
	}
	size_t j = begin;
	if (a_count - begin == 1 && b_count - begin == 1) {
		put_parts(show, a[begin], b[begin]);
		return;
	}
	for (size_t i = begin; i < a_count; i++) {
		size_t k = j;
		while (k < b_count && !tr_text_equal(a[i].text, b[k].text))
			k++;
		if (k == b_count) {
			put_part(show, '-', a[i], none);
			continue;
		}
		for (; j < k; j++)
			put_part(show, '+', b[j], none);
		j++;
	}
	for (; j < b_count; j++)
		put_part(show, '+', b[j], none);
}

/*
 * Appends the words of two strings that differ, such as a command line in a variable. False: one of
 * them is not a string of several words.
 */
static bool put_words(struct tr_diff_show *show, struct part a, struct part b)
{
	const struct part strings[] = { a, b };
	struct part words[2][PARTS_MAX];
	size_t counts[2];

	if (!memchr(a.own.data, ' ', a.own.len) && !memchr(b.own.data, ' ', b.own.len))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		struct tr_text text = strings[i].text;
		if (text.len < 2 || *text.data != '"')
			return false;
		counts[i] = split(strings[i], true, words[i]);
		if (counts[i] == PARTS_MAX)
			return false;
	}
	put_lists(show, words[0], counts[0], words[1], counts[1]);
	return true;
}

static struct tr_text after_name(struct tr_text entry)
{
	size_t used = name_of(entry).len + 1;

	used = used < entry.len ? used : entry.len;
	return (struct tr_text){ entry.data + used, entry.len - used };
}

/* Returns the value of an entry of a map. */
static struct part value_of(struct part entry)
{
	return (struct part){ after_name(entry.text), after_name(entry.own) };
}

/* Returns the last entry with the same name in a map, or NULL. */
static const struct part *find_entry(struct part entry, const struct part *map, size_t count)
{
	struct tr_text name = name_of(entry.text);

	while (count > 0 && !tr_text_equal(name, name_of(map[count - 1].text)))
		count--;
	return count ? &map[count - 1] : NULL;
}

/* True if a later entry of a map has the same name: of repeated names the last one counts. */
static bool is_replaced(const struct part *entry, const struct part *map, size_t count)
{
	return find_entry(*entry, map, count) != entry;
}

/* Appends the entries of two maps that differ; their order does not matter. */
static void put_maps(struct tr_diff_show *show, const struct part *a, size_t a_count,
		     const struct part *b, size_t b_count)
{
	for (size_t i = 0; i < a_count; i++) {
		const struct part *other = find_entry(a[i], b, b_count);
		if (is_replaced(&a[i], a, a_count) ||
		    (other && tr_text_equal(a[i].text, other->text)))
			continue;
		size_t before = show->changes.len;
		if (other) {
			tr_buffer_put_byte(&show->changes, ' ');
			tr_buffer_put_text(&show->changes, name_of(a[i].text));
			tr_buffer_put_byte(&show->changes, ':');
			if (put_words(show, value_of(a[i]), value_of(*other)))
				continue;
			show->changes.len = before;
		}
		if (other)
			put_parts(show, a[i], *other);
		else
			put_part(show, '-', a[i], none);
	}
	for (size_t j = 0; j < b_count; j++) {
		if (!is_replaced(&b[j], b, b_count) && !find_entry(b[j], a, a_count))
			put_part(show, '+', b[j], none);
	}
}

/* Splits two lists or two maps; *open is their bracket. False: they are neither, or too long. */
static bool split_both(const struct tr_normal_field *a, const struct tr_normal_field *b, char *open,
		       struct part (*items)[PARTS_MAX], size_t *counts)
{
	*open = a && b && a->value.len && b->value.len ? *a->value.data : '\0';
	if ((*open != '[' && *open != '{') || *b->value.data != *open ||
	    tr_text_equal(a->text, b->text))
		return false;
	const char close = *open == '[' ? ']' : '}';
	if (!memrchr(a->value.data, close, a->value.len) ||
	    !memrchr(b->value.data, close, b->value.len))
		return false; /* one is malformed */
	counts[0] = split((struct part){ a->text, a->value }, false, items[0]);
	counts[1] = split((struct part){ b->text, b->value }, false, items[1]);
	return counts[0] < PARTS_MAX && counts[1] < PARTS_MAX;
}

/* Why the values of a field do not show how it differs; NONE: they do. */
enum reason { NONE, BY_ROOT, UNPAIRED };

/* Returns why two values of a field are equal although the field differs. */
static enum reason reason_of(const struct tr_normal_field *a, const struct tr_normal_field *b)
{
	if (!a || !b || a->is_duration)
		return NONE;
	if (tr_text_equal(a->text, b->text))
		return UNPAIRED;
	return tr_text_equal(a->value, b->value) ? BY_ROOT : NONE;
}

/*
 * Appends the items of a list or map that one side has, which are too long for one part. False: it
 * is none, or has too many.
 */
static bool put_items(struct tr_diff_show *show, char sign, struct part value)
{
	struct part items[PARTS_MAX];

	if (value.own.len <= MOST || (*value.own.data != '[' && *value.own.data != '{'))
		return false;
	size_t count = split(value, false, items);
	for (size_t i = 0; i < count && count < PARTS_MAX; i++)
		put_part(show, sign, items[i], none);
	return count < PARTS_MAX;
}

/* Appends the values of a field that are not compared in parts. */
static void put_values(struct tr_diff_show *show, const struct tr_normal_field *a,
		       const struct tr_normal_field *b, bool by_root)
{
	struct part left = none, right = none;

	if (a)
		left = (struct part){ by_root ? a->text : a->value, a->value };
	if (b)
		right = (struct part){ b->value, b->value };
	if (a && b)
		put_parts(show, left, right);
	else if (show->counting || !put_items(show, a ? '-' : '+', a ? left : right))
		put_part(show, a ? '-' : '+', a ? left : right, none);
}

/* Appends the change of a field; a or b may be NULL. */
static void put_change(struct tr_diff_show *show, const struct tr_normal_field *a,
		       const struct tr_normal_field *b)
{
	struct part items[2][PARTS_MAX];
	const enum reason reason = reason_of(a, b);
	const bool own = show->own;
	size_t counts[2];
	char open;

	show->own = own && reason != BY_ROOT;
	tr_buffer_put_literal(&show->changes, "    ");
	tr_buffer_put_text(&show->changes, a ? a->key : b->key);
	tr_buffer_put_byte(&show->changes, ':');
	const size_t before = show->changes.len;
	if (split_both(a, b, &open, items, counts)) {
		if (open == '{')
			put_maps(show, items[0], counts[0], items[1], counts[1]);
		else
			put_lists(show, items[0], counts[0], items[1], counts[1]);
		/* only the order of their items differs, or entries that others replace */
		if (show->changes.len == before)
			put_values(show, a, b, reason == BY_ROOT);
	} else if (!a || !b || reason == UNPAIRED ||
		   !put_words(show, (struct part){ a->text, a->value },
			      (struct part){ b->text, b->value })) {
		put_values(show, a, b, reason == BY_ROOT);
	}
	if (reason == UNPAIRED)
		tr_buffer_put_literal(&show->changes, " (elsewhere these do not correspond)");
	if (reason == BY_ROOT)
		tr_buffer_put_literal(&show->changes, " (after --root)");
	tr_buffer_put_byte(&show->changes, '\n');
	show->own = own;
}

/* Changes. */

typedef bool equal_fields(const struct tr_diff *diff, const struct tr_normal_field *a,
			  const struct tr_normal_field *b);

static void add_change(struct tr_diff_show *show, const struct tr_normal_field *a,
		       const struct tr_normal_field *b)
{
	if (tr_array_room(show->fields, show->field_count, show->field_cap))
		show->fields[show->field_count++] = (struct tr_diff_field){ a, b };
	else
		show->changes.failed = true;
}

/* Lists the fields that differ, from one record after the name if the other is NULL. */
static void list_changes(struct tr_diff_show *show, const struct tr_normal *a,
			 const struct tr_normal *b, equal_fields *are_equal)
{
	show->field_count = 0;
	for (size_t i = b ? 0 : 1; a && i < a->count; i++) {
		const struct tr_normal_field *other = b ? tr_normal_match(a, i, b) : NULL;
		if (!other || !are_equal(show->diff, &a->fields[i], other))
			add_change(show, &a->fields[i], other);
	}
	for (size_t i = a ? 0 : 1; b && i < b->count; i++) {
		if (!a || !tr_normal_match(b, i, a))
			add_change(show, NULL, &b->fields[i]);
	}
}

static bool is_environment(struct tr_text key)
{
	return tr_text_is(key, "env") || tr_text_is(key, "envdiff") || tr_text_is(key, "envtop");
}

/* True if the only flag of a record is that its environment is unknown. */
static bool is_unknown(const struct tr_normal_field *flagged)
{
	return !flagged || tr_text_is(flagged->value, "[" UNKNOWN "]");
}

/*
 * Sets show->env_unknown if the environments of two programs cannot be compared. One is unknown, or
 * it is malformed or the parent's is unknown, so that it is whole while the other one is a
 * difference. Their variables are no changes.
 */
static void skip_unknown_environment(struct tr_diff_show *show)
{
	static const char *const of_program[] = { "unknown in A", "unknown in B" };
	static const char *const of_parent[] = { "that of the parent is unknown in A",
						 "that of the parent is unknown in B" };
	const struct tr_normal_field *whole[2];
	bool unknown[2];
	size_t kept = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct tr_normal *normal = show->sides[i].normal;
		const struct tr_normal_field *flags = tr_normal_find(normal, "flagged");
		whole[i] = tr_normal_find(normal, "env");
		whole[i] = whole[i] ? whole[i] : tr_normal_find(normal, "envtop");
		unknown[i] = !whole[i] && !tr_normal_find(normal, "envdiff") && flags &&
			     memmem(flags->text.data, flags->text.len, UNKNOWN, sizeof UNKNOWN - 1);
	}
	const unsigned side = !whole[0];
	if (unknown[0] != unknown[1])
		show->env_unknown = of_program[unknown[1]];
	else if (!whole[0] != !whole[1])
		show->env_unknown = tr_literal_check(whole[side]->value, NULL, NULL) == TR_MALFORMED
					    ? of_program[side]
					    : of_parent[side];
	for (size_t i = 0; show->env_unknown && i < show->field_count; i++) {
		struct tr_diff_field field = show->fields[i];
		struct tr_text key = field.a ? field.a->key : field.b->key;
		if (!is_environment(key) &&
		    !(tr_text_is(key, "flagged") && is_unknown(field.a) && is_unknown(field.b)))
			show->fields[kept++] = field;
	}
	if (show->env_unknown)
		show->field_count = kept;
}

/*
 * Finds the fields that differ between the records that were loaded: if no others do, those with
 * names that do not correspond. a or b may be NULL.
 */
static void find_changes(struct tr_diff_show *show, const struct tr_normal *a,
			 const struct tr_normal *b)
{
	show->env_unknown = NULL;
	list_changes(show, a, b, tr_diff_equal_fields);
	if (!a || !b)
		return;
	if (!show->field_count)
		list_changes(show, a, b, tr_diff_pairs_names);
	if (tr_text_is(a->kind, "exec"))
		skip_unknown_environment(show);
}

/*
 * Composes the change of the record that was loaded on both sides. counting: in normal text, to
 * find equal changes; otherwise as the traces spell it.
 */
static void compose_changes(struct tr_diff_show *show, bool counting)
{
	show->counting = counting;
	show->own = !counting;
	tr_buffer_reset(&show->changes);
	find_changes(show, show->sides[0].normal, show->sides[1].normal);
	for (size_t i = 0; i < show->field_count; i++)
		put_change(show, show->fields[i].a, show->fields[i].b);
	if (show->env_unknown) {
		tr_buffer_put_literal(&show->changes, "    env: ");
		tr_buffer_put_text(&show->changes, tr_text_from(show->env_unknown));
		tr_buffer_put_byte(&show->changes, '\n');
	}
	if (!show->changes.len)
		tr_buffer_put_literal(&show->changes, "    order of fields\n");
}

/* Returns a hash of the change that was composed last, and of the kind of its record. */
static uint64_t pattern_of(const struct tr_diff_show *show)
{
	uint64_t kind = tr_text_hash(show->diff->rules.seed, show->sides[0].normal->kind);

	return tr_text_hash(kind, tr_buffer_text(&show->changes));
}

static uint64_t hash_at(const void *patterns, uint32_t number)
{
	return ((const struct tr_diff_pattern *)patterns)[number].hash;
}

bool tr_diff_count(struct tr_diff_show *show, const struct tr_difference *difference)
{
	uint32_t place = (uint32_t)show->pattern_count;

	if (difference->what != TR_DIFF_CHANGED)
		return true;
	if (!load_both(show, difference))
		return false;
	compose_changes(show, true);
	if (show->changes.failed ||
	    !tr_array_room(show->patterns, show->pattern_count, show->pattern_cap) ||
	    !tr_array_room(show->changed, show->changed_count, show->changed_cap))
		return tr_cli_out_of_memory(show->cli);
	show->patterns[place] = (struct tr_diff_pattern){ .hash = pattern_of(show) };
	show->pattern_index.hash = hash_at;
	if (!tr_index_add(&show->pattern_index, show->patterns, place, &place))
		return tr_cli_out_of_memory(show->cli);
	show->pattern_count += place == show->pattern_count;
	show->patterns[place].count++;
	show->changed[show->changed_count++] = place;
	return true;
}

/* Appends a value of a record. */
static void put_field(struct tr_buffer *to, struct tr_text value)
{
	if (!put_blob(to, value))
		put_shortened(to, value, 0, value.len, FIELD_MOST);
}

/* Appends the kind, seq and name of a record, and with `fields` the fields that are compared. */
static void put_record(struct tr_diff_show *show, unsigned side, bool fields)
{
	const struct tr_normal *normal = show->sides[side].normal;
	struct tr_buffer *to = &show->text;

	tr_buffer_put_text(to, normal->kind);
	tr_buffer_put_byte(to, ' ');
	tr_buffer_put_text(to, normal->seq);
	tr_buffer_put_byte(to, ' ');
	put_field(to, normal->name);
	if (show->program.len) {
		tr_buffer_put_literal(to, " (");
		put_field(to, tr_buffer_text(&show->program));
		tr_buffer_put_byte(to, ')');
	}
	for (size_t i = 1; fields && i < normal->count; i++) {
		const struct tr_normal_field *field = &normal->fields[i];
		/* environments and lists of files are long, and rarely identify a record */
		if (is_environment(field->key) || field->is_added)
			continue;
		tr_buffer_put_byte(to, ' ');
		tr_buffer_put_text(to, field->key);
		tr_buffer_put_byte(to, '=');
		put_field(to, field->value);
	}
}

/* True if a record is printed for all records of its process. */
static bool is_alone(const struct tr_diff_show *show, const struct tr_difference *difference)
{
	unsigned side = difference->a == TR_ALIGN_NONE;

	return show->diff->sides[side].records[side ? difference->b : difference->a].alone;
}

/* count: of the records with this change, which is at least 1 unless nothing changed. */
static void put_text(struct tr_diff_show *show, const struct tr_difference *difference,
		     uint32_t count)
{
	static const char signs[] = { '-', '+', '~', '>' };
	static const unsigned colors[] = { RED, GREEN, YELLOW, CYAN };
	struct tr_buffer *to = &show->text;
	bool changed = difference->what == TR_DIFF_CHANGED;

	if (changed)
		compose_changes(show, false);
	put_color(show, colors[difference->what], to);
	tr_buffer_put_byte(to, signs[difference->what]);
	tr_buffer_put_byte(to, ' ');
	if (count > 1) {
		tr_buffer_put_decimal(to, count);
		tr_buffer_put_literal(to, " times, first ");
	}
	unsigned side = difference->a == TR_ALIGN_NONE;
	put_record(show, side, true);
	put_color(show, 0, to);
	tr_buffer_put_byte(to, '\n');
	if (changed)
		tr_buffer_put_text(to, tr_buffer_text(&show->changes));
	if (is_alone(show, difference))
		tr_buffer_put_literal(to, "    and the rest of its process\n");
	if (difference->what == TR_DIFF_ADDED && show->files &&
	    !tr_diff_files_put_reasons(show->files, difference->b, false, to))
		to->failed = true;
	if (difference->what == TR_DIFF_MOVED) {
		tr_buffer_put_literal(to, "    now ");
		put_record(show, 1, false);
		tr_buffer_put_byte(to, '\n');
	}
}

/* JSON. */

/* Parses the record of a side. False: reported. */
static bool parse(struct tr_diff_show *show, unsigned side)
{
	struct tr_shown *shown = &show->sides[side];
	struct tr_error err;

	tr_arena_reset(&shown->arena);
	tr_record_init(&shown->record, &shown->arena);
	return tr_record_from_line(&shown->record, shown->line, &err) ||
	       tr_cli_abort(show->cli, &err);
}

/* Appends the value of a field that is a cell. */
static bool put_json_cell(struct tr_diff_show *show, unsigned side,
			  const struct tr_normal_field *field)
{
	struct tr_text bytes;
	struct tr_error err;

	if (tr_cell_bytes(field->value, &show->sides[side].arena, &bytes, &err))
		tr_json_view_name(bytes, &show->text);
	else if (err.cause != TR_CAUSE_MEMORY)
		tr_json_view_tagged("$raw", field->value, &show->text);
	else
		return tr_cli_abort(show->cli, &err);
	return true;
}

/* Appends the value of a field; null if field is NULL. */
static bool put_json_value(struct tr_diff_show *show, unsigned side,
			   const struct tr_normal_field *field)
{
	struct tr_arena *arena = &show->sides[side].arena;
	struct tr_field copy = { .value = NULL };
	struct tr_error err;

	if (!field) {
		tr_buffer_put_literal(&show->text, "null");
		return true;
	}
	if (field == show->sides[side].normal->fields)
		return put_json_cell(show, side, field);
	copy.key = field->key;
	copy.text = field->value;
	struct tr_value *value = tr_field_value(&show->sides[side].record, &copy, &err);
	if (!value && err.cause == TR_CAUSE_MEMORY)
		return tr_cli_abort(show->cli, &err);
	if (!value)
		tr_json_view_tagged("$raw", field->value, &show->text);
	return !value || tr_json_view_value(value, arena, &show->text) ||
	       tr_cli_out_of_memory(show->cli);
}

/* Appends a map of the entries that are not in the other map. */
static void put_other_entries(const struct part *map, size_t count, const struct part *other,
			      size_t other_count, struct tr_buffer *to)
{
	bool any = false;

	tr_buffer_put_byte(to, '{');
	for (size_t i = 0; i < count; i++) {
		const struct part *match = find_entry(map[i], other, other_count);
		if (is_replaced(&map[i], map, count) ||
		    (match && tr_text_equal(map[i].text, match->text)))
			continue;
		if (any)
			tr_buffer_put_byte(to, ',');
		any = true;
		tr_buffer_put_text(to, map[i].own);
	}
	tr_buffer_put_byte(to, '}');
}

/* Reduces two environments to the variables that differ. */
static void reduce_environments(struct tr_diff_show *show, struct tr_normal_field *a,
				struct tr_normal_field *b)
{
	struct part items[2][PARTS_MAX];
	size_t counts[2], middle;
	char open;

	if (!split_both(a, b, &open, items, counts) || open != '{')
		return;
	tr_buffer_reset(&show->changes);
	put_other_entries(items[0], counts[0], items[1], counts[1], &show->changes);
	middle = show->changes.len;
	put_other_entries(items[1], counts[1], items[0], counts[0], &show->changes);
	struct tr_text both = tr_buffer_text(&show->changes);
	a->value = (struct tr_text){ both.data, middle };
	b->value = (struct tr_text){ both.data + middle, both.len - middle };
}

/* True if a record has a field with this key that was not added to it. */
static bool has_field(const struct tr_normal *normal, struct tr_text key)
{
	for (size_t i = 1; normal && i < normal->sorted; i++) {
		if (tr_text_equal(normal->fields[i].key, key))
			return true;
	}
	return false;
}

/*
 * True if the key of a field is no unique key of an object: another field of its record has the
 * same one, or it is spelled with an escape, so that different spellings can mean the same.
 */
static bool is_repeated(const struct tr_normal *a, const struct tr_normal *b,
			const struct tr_diff_field *change)
{
	const struct tr_normal_field *field = change->a ? change->a : change->b;

	if (field->is_added || field->is_duration)
		return has_field(a, field->key) || has_field(b, field->key);
	return field->same || memchr(field->key.data, '\\', field->key.len);
}

/* Appends the values of a field on both sides, and why it differs if they do not show it. */
static bool put_json_change(struct tr_diff_show *show, const struct tr_diff_field *change)
{
	static const char *const reasons[] = { "", "--root", "names do not correspond" };
	const struct tr_normal_field *a = change->a, *b = change->b;
	const enum reason reason = reason_of(a, b);
	struct tr_normal_field copies[2];

	if (a && b && is_environment(a->key)) {
		copies[0] = *a;
		copies[1] = *b;
		reduce_environments(show, &copies[0], &copies[1]);
		a = &copies[0];
		b = &copies[1];
	}
	if (!put_json_value(show, 0, a))
		return false;
	tr_buffer_put_byte(&show->text, ',');
	if (!put_json_value(show, 1, b))
		return false;
	if (reason != NONE) {
		tr_buffer_put_byte(&show->text, ',');
		tr_buffer_put_quoted(&show->text, tr_text_from(reasons[reason]));
	}
	return true;
}

/* Appends the key of a field, whose cell is that of one side. */
static void put_json_key(struct tr_diff_show *show, const struct tr_diff_field *change)
{
	struct tr_text spelled = change->a ? change->a->key : change->b->key, key;
	struct tr_error err;

	if (!tr_cell_bytes(spelled, &show->sides[!change->a].arena, &key, &err))
		key = spelled;
	tr_json_view_name(key, &show->text);
}

/*
 * Appends the fields that differ: as an object, and those whose keys would not be unique in it as a
 * list. a or b may be NULL.
 */
static bool put_json_fields(struct tr_diff_show *show, const struct tr_normal *a,
			    const struct tr_normal *b)
{
	struct tr_buffer *to = &show->text;
	size_t repeated = 0;

	tr_buffer_put_literal(to, ",\"fields\":{");
	if (show->env_unknown) {
		tr_buffer_put_literal(to, "\"env\":[null,null,");
		tr_buffer_put_quoted(to, tr_text_from(show->env_unknown));
		tr_buffer_put_byte(to, ']');
	}
	for (size_t i = 0; i < show->field_count; i++) {
		if (is_repeated(a, b, &show->fields[i])) {
			repeated++;
			continue;
		}
		if (i > repeated || show->env_unknown)
			tr_buffer_put_byte(to, ',');
		put_json_key(show, &show->fields[i]);
		tr_buffer_put_literal(to, ":[");
		if (!put_json_change(show, &show->fields[i]))
			return false;
		tr_buffer_put_byte(to, ']');
	}
	tr_buffer_put_byte(to, '}');
	if (!repeated)
		return true;
	tr_buffer_put_literal(to, ",\"more\":[");
	for (size_t i = 0; i < show->field_count; i++) {
		if (!is_repeated(a, b, &show->fields[i]))
			continue;
		tr_buffer_put_byte(to, '[');
		put_json_key(show, &show->fields[i]);
		tr_buffer_put_byte(to, ',');
		if (!put_json_change(show, &show->fields[i]))
			return false;
		tr_buffer_put_text(to, --repeated ? TR_TEXT("],") : TR_TEXT("]]"));
	}
	return true;
}

/* Appends why a program ran again, if this is known. False: reported. */
static bool put_json_reasons(struct tr_diff_show *show, const struct tr_difference *difference)
{
	struct tr_normal_field list = { .key = TR_TEXT("because") };

	if (difference->what != TR_DIFF_ADDED || !show->files)
		return true;
	tr_buffer_reset(&show->changes);
	if (!tr_diff_files_put_reasons(show->files, difference->b, true, &show->changes))
		return tr_cli_out_of_memory(show->cli);
	list.value = tr_buffer_text(&show->changes);
	if (!list.value.len)
		return true;
	tr_buffer_put_literal(&show->text, ",\"because\":");
	return put_json_value(show, 1, &list);
}

static const char *const words[] = { "removed", "added", "changed", "moved" };

static bool put_json(struct tr_diff_show *show, const struct tr_difference *difference)
{
	struct tr_buffer *to = &show->text;
	unsigned side = difference->a == TR_ALIGN_NONE;
	const struct tr_normal *a = side ? NULL : show->sides[0].normal;
	const struct tr_normal *b = difference->b == TR_ALIGN_NONE ? NULL : show->sides[1].normal;

	if ((a && !parse(show, 0)) || (b && !parse(show, 1)))
		return false;
	tr_buffer_put_literal(to, "{\"what\":\"");
	tr_buffer_put_text(to, tr_text_from(words[difference->what]));
	tr_buffer_put_literal(to, "\",\"kind\":");
	tr_json_view_name(show->sides[side].normal->kind, to);
	tr_buffer_put_literal(to, ",\"key\":");
	if (!put_json_value(show, side, show->sides[side].normal->fields))
		return false;
	if (show->program.len) {
		struct tr_normal_field program = { .value = tr_buffer_text(&show->program) };
		tr_buffer_put_literal(to, ",\"program\":");
		if (!put_json_cell(show, side, &program))
			return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct tr_normal *normal = i ? b : a;
		tr_buffer_put_text(to, i ? TR_TEXT(",") : TR_TEXT(",\"seq\":["));
		uint64_t number;
		if (normal && tr_decimal_read(normal->seq, UINT64_MAX, &number))
			tr_buffer_put_text(to, normal->seq);
		else if (normal)
			tr_json_view_name(normal->seq, to);
		else
			tr_buffer_put_literal(to, "null");
	}
	tr_buffer_put_byte(to, ']');
	show->field_count = 0;
	show->env_unknown = NULL;
	if (difference->what != TR_DIFF_MOVED)
		find_changes(show, a, b);
	if (!put_json_fields(show, a, b))
		return false;
	if (difference->what == TR_DIFF_CHANGED && !show->field_count && !show->env_unknown)
		tr_buffer_put_literal(to, ",\"reason\":\"order of fields\"");
	if (is_alone(show, difference))
		tr_buffer_put_literal(to, ",\"whole_process\":true");
	if (!put_json_reasons(show, difference))
		return false;
	tr_buffer_put_literal(to, "}\n");
	return true;
}

/* Records. */

/* Appends a line with the field diff. */
static void put_line(struct tr_diff_show *show, unsigned side, const char *word)
{
	struct tr_text line = show->sides[side].line;

	tr_buffer_put(&show->text, line.data, line.len - 1);
	tr_buffer_put_literal(&show->text, "\tdiff=\"");
	tr_buffer_put_text(&show->text, tr_text_from(word));
	tr_buffer_put_literal(&show->text, "\"\n");
}

static void put_trec(struct tr_diff_show *show, const struct tr_difference *difference)
{
	if (difference->what == TR_DIFF_CHANGED) {
		put_line(show, 0, "before");
		put_line(show, 1, "after");
	} else {
		put_line(show, difference->b != TR_ALIGN_NONE, words[difference->what]);
	}
}

/* Sets show->program for an exit record, which has no name. False: reported. */
static bool find_program(struct tr_diff_show *show, const struct tr_difference *difference)
{
	unsigned side = difference->a == TR_ALIGN_NONE;
	uint32_t number = side ? difference->b : difference->a;
	struct tr_error err;

	tr_buffer_reset(&show->program);
	return show->diff->sides[side].records[number].class != TR_DIFF_EXIT ||
	       tr_diff_put_program(show->diff, side, number, &show->program, &err) ||
	       tr_cli_abort(show->cli, &err);
}

bool tr_diff_put_difference(struct tr_diff_show *show, const struct tr_difference *difference)
{
	struct tr_diff_pattern *pattern = NULL;

	if (show->form == TR_DIFF_BRIEF)
		return true;
	if (show->form == TR_DIFF_TEXT && difference->what == TR_DIFF_CHANGED) {
		pattern = &show->patterns[show->changed[show->shown_count++]];
		if (pattern->shown)
			return true;
		pattern->shown = true;
	}
	if (!find_program(show, difference) || !load_both(show, difference))
		return false;
	tr_buffer_reset(&show->text);
	if (show->form == TR_DIFF_JSON && !put_json(show, difference))
		return false;
	if (show->form == TR_DIFF_TEXT)
		put_text(show, difference, pattern ? pattern->count : 0);
	if (show->form == TR_DIFF_TREC)
		put_trec(show, difference);
	if (show->text.failed || show->changes.failed || show->program.failed)
		return tr_cli_out_of_memory(show->cli);
	return !show->text.len || tr_cli_put_text(show->cli, tr_buffer_text(&show->text));
}

void tr_diff_show_free(struct tr_diff_show *show)
{
	for (unsigned i = 0; i < 2; i++)
		tr_arena_free(&show->sides[i].arena);
	free(show->patterns);
	free(show->changed);
	free(show->fields);
	tr_index_free(&show->pattern_index);
	tr_buffer_free(&show->text);
	tr_buffer_free(&show->changes);
	tr_buffer_free(&show->program);
}
