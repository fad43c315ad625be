/* What --compare compares, and how that is printed. */
#include "config.h"

#include <stdlib.h>
#include <strings.h>

#include "tr_envdiff_compare.h"

#include "record/literal.h"

static bool copy(struct tr_pairs *pairs, struct tr_text text, struct tr_text *to)
{
	*to = tr_arena_copy(&pairs->arena, text);
	return to->data;
}

/* name: spelled as a string's text; shown may have no data */
static bool add(struct tr_pairs *pairs, struct tr_text name, struct tr_text value,
		struct tr_text shown)
{
	if (pairs->count == pairs->cap) {
		size_t cap = pairs->cap ? pairs->cap * 2 : 64;
		struct tr_pair *list = realloc(pairs->list, cap * sizeof *list);
		if (!list)
			return false;
		pairs->list = list;
		pairs->cap = cap;
	}
	struct tr_pair pair = { .place = pairs->count };
	struct tr_text spelling;
	if (!copy(pairs, name, &spelling) || !copy(pairs, value, &pair.value) ||
	    (shown.data && !copy(pairs, shown, &pair.shown)))
		return false;
	pair.name = tr_string_bytes(spelling, &pairs->arena);
	if (!pair.name.data)
		return false;
	pairs->list[pairs->count++] = pair;
	return true;
}

/* shown: NULL where the value is what people see */
static bool add_value(struct tr_pairs *pairs, struct tr_text name, const struct tr_value *value,
		      const struct tr_value *shown)
{
	struct tr_buffer text = TR_BUFFER_INIT, other = TR_BUFFER_INIT;

	tr_literal_write(value, &text);
	if (shown)
		tr_literal_write(shown, &other);
	bool fine = !text.failed && !other.failed &&
		    add(pairs, name, tr_buffer_text(&text),
			shown ? tr_buffer_text(&other) : (struct tr_text){ NULL, 0 });
	tr_buffer_free(&text);
	tr_buffer_free(&other);
	return fine;
}

bool tr_pairs_add_map(struct tr_pairs *pairs, struct tr_text literal)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *map = tr_literal_parse(literal, &arena, NULL);
	bool fine = map != NULL;

	for (size_t i = 0; fine && i < map->count; i++)
		fine = add_value(pairs, map->as.members[i].key, map->as.members[i].value, NULL);
	tr_arena_free(&arena);
	return fine;
}

static const struct tr_value *value_of(struct tr_record *record, const char *key)
{
	struct tr_field *field = tr_record_field(record, key);

	return field ? tr_field_value(record, field, NULL) : NULL;
}

/* An entry is its bytes; what they mean follows from them. */
bool tr_pairs_add_info(struct tr_pairs *pairs, struct tr_record *record)
{
	const struct tr_value *data = value_of(record, "data");
	const struct tr_value *value = value_of(record, "value");
	struct tr_buffer name = TR_BUFFER_INIT;

	tr_cell_write(&record->name, &name);
	bool fine = !name.failed && (!data || add_value(pairs, tr_buffer_text(&name), data, value));
	tr_buffer_free(&name);
	return fine;
}

bool tr_pairs_add_properties(struct tr_pairs *pairs, struct tr_record *header)
{
	struct tr_field *field = tr_record_field(header, "properties");
	const struct tr_value *list = field ? tr_field_value(header, field, NULL) : NULL;
	bool fine = true;

	for (size_t i = 0; fine && list && list->type == TR_LIST && i < list->count; i++) {
		const struct tr_value *item = &list->as.items[i];
		if (item->type == TR_LIST && item->count == 2 &&
		    item->as.items[0].type == TR_STRING)
			fine = add_value(pairs, item->as.items[0].text, &item->as.items[1], NULL);
	}
	return fine;
}

static int compare_bytes(struct tr_text a, struct tr_text b, bool fold)
{
	size_t len = a.len < b.len ? a.len : b.len;

	for (size_t i = 0; i < len; i++) {
		unsigned char x = (unsigned char)a.data[i], y = (unsigned char)b.data[i];
		if (fold && x >= 'a' && x <= 'z')
			x = (unsigned char)(x - 0x20);
		if (fold && y >= 'a' && y <= 'z')
			y = (unsigned char)(y - 0x20);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a.len > b.len) - (a.len < b.len);
}

static int by_place(const struct tr_pair *a, const struct tr_pair *b)
{
	return (a->place > b->place) - (a->place < b->place);
}

static int exactly(const void *a, const void *b)
{
	const struct tr_pair *x = a, *y = b;
	int order = compare_bytes(x->name, y->name, false);

	return order ? order : by_place(x, y);
}

static int folded(const void *a, const void *b)
{
	const struct tr_pair *x = a, *y = b;
	int order = compare_bytes(x->name, y->name, true);

	return order ? order : by_place(x, y);
}

void tr_pairs_sort(struct tr_pairs *pairs, bool fold)
{
	if (pairs->count)
		qsort(pairs->list, pairs->count, sizeof *pairs->list, fold ? folded : exactly);
}

/* Text that is a line's and means itself stands bare, all other in quotes as trec(5) has it. */
static bool is_bare(struct tr_text spelling, struct tr_text bytes, bool name)
{
	if (bytes.len && bytes.data[0] == '"')
		return false;
	if (name && bytes.len && memchr(bytes.data + 1, '=', bytes.len - 1))
		return false;
	for (size_t i = 0; i + 1 < spelling.len; i++) {
		if (spelling.data[i] != '\\')
			continue;
		i++;
		if (spelling.data[i] != '\\' && spelling.data[i] != '"')
			return false;
	}
	return true;
}

static void put_text(struct tr_text bytes, bool name, struct tr_buffer *to)
{
	struct tr_buffer spelling = TR_BUFFER_INIT;

	tr_string_escape(bytes, &spelling);
	if (is_bare(tr_buffer_text(&spelling), bytes, name)) {
		tr_buffer_put_text(to, bytes);
	} else {
		tr_buffer_put_byte(to, '"');
		tr_buffer_put_text(to, tr_buffer_text(&spelling));
		tr_buffer_put_byte(to, '"');
	}
	to->failed |= spelling.failed;
	tr_buffer_free(&spelling);
}

static void put_value(struct tr_text literal, struct tr_buffer *to)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *value = tr_literal_parse(literal, &arena, NULL);

	if (value && value->type == TR_STRING && !(value->flags & TR_CUT)) {
		struct tr_text bytes = tr_string_bytes(value->text, &arena);
		to->failed |= !bytes.data;
		if (bytes.data)
			put_text(bytes, false, to);
	} else {
		tr_buffer_put_text(to, literal);
	}
	tr_arena_free(&arena);
}

static struct tr_text shown_of(const struct tr_pair *pair)
{
	return pair->shown.data ? pair->shown : pair->value;
}

/* A spelled value without what --mask hides. */
static bool put_masked(struct tr_envdiff *envdiff, struct tr_text literal, struct tr_buffer *to)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	bool fine = tr_mask_value(envdiff, literal, &text) && !text.failed;
	if (fine)
		put_value(tr_buffer_text(&text), to);
	tr_buffer_free(&text);
	return fine;
}

/* exact: the values themselves, because what they mean is the same */
static bool print(struct tr_envdiff *envdiff, char sign, const struct tr_pair *pair, bool fold,
		  bool exact)
{
	struct tr_buffer *line = &envdiff->line;
	struct tr_buffer name = TR_BUFFER_INIT;

	tr_buffer_put_byte(&name, '"');
	tr_string_escape(pair->name, &name);
	tr_buffer_put_byte(&name, '"');
	unsigned verdict = 0;
	struct tr_text literal = tr_buffer_text(&name);
	struct tr_text value = exact ? pair->value : shown_of(pair);
	bool fine = !name.failed &&
		    tr_name_globs_judge(&envdiff->globs,
					(struct tr_text){ literal.data + 1, literal.len - 2 }, fold,
					&verdict);
	tr_buffer_reset(line);
	tr_buffer_put_byte(line, sign);
	if (envdiff->mask)
		fine = fine && put_masked(envdiff, literal, line);
	else
		put_text(pair->name, true, line);
	tr_buffer_free(&name);
	tr_buffer_put_byte(line, '=');
	if (verdict & TR_NAME_HIDDEN)
		tr_buffer_put_literal(line, "***");
	else if (envdiff->mask)
		fine = fine && put_masked(envdiff, value, line);
	else
		put_value(value, line);
	if (!fine)
		return false;
	tr_buffer_put_byte(line, '\n');
	tr_output_put_text(envdiff->cli->out, tr_buffer_text(line));
	tr_output_record_end(envdiff->cli->out);
	return !line->failed;
}

/* How many from i on have the name that the one at i has. */
static size_t run_of(const struct tr_pairs *pairs, size_t i, bool fold)
{
	size_t n = 1;

	while (i + n < pairs->count &&
	       compare_bytes(pairs->list[i].name, pairs->list[i + n].name, fold) == 0)
		n++;
	return n;
}

static bool look_same(const struct tr_pair *a, const struct tr_pair *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!tr_text_equal(shown_of(&a[i]), shown_of(&b[i])))
			return false;
	}
	return true;
}

static bool same_values(const struct tr_pair *a, const struct tr_pair *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!tr_text_equal(a[i].value, b[i].value))
			return false;
	}
	return true;
}

bool tr_pairs_print(struct tr_envdiff *envdiff, const struct tr_pairs *a, const struct tr_pairs *b,
		    bool fold, bool *differ)
{
	size_t i = 0, j = 0;
	bool fine = true;

	*differ = false;
	while (fine && (i < a->count || j < b->count)) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : compare_bytes(a->list[i].name, b->list[j].name, fold);
		size_t before = order <= 0 ? run_of(a, i, fold) : 0;
		size_t after = order >= 0 ? run_of(b, j, fold) : 0;
		bool same = before == after && same_values(a->list + i, b->list + j, before);
		bool exact =
			!same && before == after && look_same(a->list + i, b->list + j, before);
		for (size_t k = 0; k < before && !same && fine; k++)
			fine = print(envdiff, '-', &a->list[i + k], fold, exact);
		for (size_t k = 0; k < after && !same && fine; k++)
			fine = print(envdiff, '+', &b->list[j + k], fold, exact);
		*differ |= !same;
		i += before;
		j += after;
	}
	return fine;
}

void tr_pairs_free(struct tr_pairs *pairs)
{
	free(pairs->list);
	tr_arena_free(&pairs->arena);
	*pairs = (struct tr_pairs){ .list = NULL };
}
