/* Lists, maps, structures, pairs of forms: what stands in brackets. */
#include <string.h>

#include "core/array.h"
#include "record/literal_scan.h"

static void skip_blanks(struct tr_scan *scan)
{
	while (tr_scan_at(scan, ' ')) {
		scan->canonical = false;
		scan->pos++;
	}
}

/* Puts a value on the pile of those whose container is still open. */
static bool push(struct tr_scan *scan, struct tr_text key, const struct tr_value *value)
{
	if (!scan->arena)
		return true;
	if (scan->pending_count == scan->pending_cap && scan->arena->limit &&
	    scan->pending_cap * 2 > scan->arena->limit / sizeof *scan->pending) {
		scan->arena->limited = true;
		return tr_scan_fail_memory(scan);
	}
	if (!tr_array_room(scan->pending, scan->pending_count, scan->pending_cap))
		return tr_scan_fail_memory(scan);
	scan->pending[scan->pending_count++] = (struct tr_scan_pending){ key, *value };
	return true;
}

/* Takes the values from index base on off the pile, as the items of a list. */
static bool pop_items(struct tr_scan *scan, size_t base, struct tr_value *list)
{
	size_t count = scan->pending_count - base;
	if (!scan->arena || count == 0)
		return true;
	struct tr_value *items = tr_arena_alloc(scan->arena, count * sizeof *items);
	if (!items)
		return tr_scan_fail_memory(scan);
	for (size_t i = 0; i < count; i++)
		items[i] = scan->pending[base + i].value;
	list->as.items = items;
	list->count = count;
	scan->pending_count = base;
	return true;
}

/* The same as the members of a map or a structure. */
static bool pop_members(struct tr_scan *scan, size_t base, struct tr_value *map)
{
	size_t count = scan->pending_count - base;
	if (!scan->arena || count == 0)
		return true;
	struct tr_member *members = tr_arena_alloc(scan->arena, count * sizeof *members);
	struct tr_value *values = tr_arena_alloc(scan->arena, count * sizeof *values);
	if (!members || !values)
		return tr_scan_fail_memory(scan);
	for (size_t i = 0; i < count; i++) {
		values[i] = scan->pending[base + i].value;
		members[i] = (struct tr_member){ scan->pending[base + i].key, &values[i] };
	}
	map->as.members = members;
	map->count = count;
	scan->pending_count = base;
	return true;
}

/* Steps over the bracket at pos. */
static bool open_bracket(struct tr_scan *scan)
{
	if (scan->depth == TR_LITERAL_DEPTH) {
		tr_scan_fail(scan, scan->pos, "more than %d open brackets", TR_LITERAL_DEPTH);
		if (scan->err)
			scan->err->cause = TR_CAUSE_LIMIT;
		return false;
	}
	scan->depth++;
	scan->pos++;
	return true;
}

static void close_bracket(struct tr_scan *scan)
{
	scan->depth--;
	scan->pos++;
}

bool tr_scan_list(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_LIST };
	size_t base = scan->pending_count;
	if (!open_bracket(scan))
		return false;
	skip_blanks(scan);
	if (!tr_scan_at(scan, ']')) {
		for (;;) {
			struct tr_value item;
			if (!tr_scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
				return false;
			skip_blanks(scan);
			if (!tr_scan_at(scan, ','))
				break;
			scan->pos++;
			skip_blanks(scan);
		}
		if (!tr_scan_at(scan, ']'))
			return tr_scan_fail_expected(scan, "',' or ']'");
	}
	close_bracket(scan);
	if (tr_scan_cut(scan))
		value->flags |= TR_CUT;
	return pop_items(scan, base, value);
}

/* A key of either kind of braces; word: it stands without quotes. */
static bool scan_key(struct tr_scan *scan, struct tr_text *key, bool *word)
{
	const char *start = scan->pos;
	bool plain;
	*word = false;
	if (tr_scan_at(scan, '"'))
		return tr_scan_string(scan, false, key, &plain);
	if (start == scan->end || !tr_is_word_start(*start))
		return tr_scan_fail(scan, start, "key expected");
	*word = true;
	*key = tr_scan_word(scan);
	if (!tr_is_word(*key, false))
		return tr_scan_fail(scan, start, "%.*s must be quoted here", (int)key->len,
				    key->data);
	return true;
}

/* One member; the first one decides by its separator whether this is a map. */
static bool scan_member(struct tr_scan *scan, struct tr_value *value, char *separator)
{
	const char *start = scan->pos;
	struct tr_text key;
	bool word;
	if (!scan_key(scan, &key, &word))
		return false;
	skip_blanks(scan);
	if (!*separator) {
		if (!tr_scan_at(scan, ':') && !tr_scan_at(scan, '='))
			return tr_scan_fail(scan, scan->pos, "expected : or = after the key");
		*separator = *scan->pos;
		value->type = *separator == ':' ? TR_MAP : TR_STRUCT;
	}
	if (word && *separator == ':')
		return tr_scan_fail(scan, start, "the keys of a map are strings");
	if (!tr_scan_at(scan, *separator))
		return tr_scan_fail_expected(scan, *separator == ':' ? "':'" : "'='");
	if (!word && *separator == '=' && tr_is_word(key, false))
		scan->canonical = false;
	scan->pos++;
	skip_blanks(scan);
	struct tr_value member;
	return tr_scan_value(scan, &member) && push(scan, key, &member);
}

/* Behind "{=": a structure without members. */
static bool scan_no_members(struct tr_scan *scan, struct tr_value *value)
{
	value->type = TR_STRUCT;
	scan->pos++;
	skip_blanks(scan);
	return tr_scan_at(scan, '}') || tr_scan_fail_expected(scan, "'}'");
}

static bool scan_members(struct tr_scan *scan, struct tr_value *value)
{
	for (char separator = 0;;) {
		if (!scan_member(scan, value, &separator))
			return false;
		skip_blanks(scan);
		if (!tr_scan_at(scan, ','))
			return tr_scan_at(scan, '}') || tr_scan_fail_expected(scan, "',' or '}'");
		scan->pos++;
		skip_blanks(scan);
	}
}

bool tr_scan_braces(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_MAP };
	size_t base = scan->pending_count;
	if (!open_bracket(scan))
		return false;
	skip_blanks(scan);
	if (tr_scan_at(scan, '=')) {
		if (!scan_no_members(scan, value))
			return false;
	} else if (!tr_scan_at(scan, '}') && !scan_members(scan, value)) {
		return false;
	}
	close_bracket(scan);
	scan->traits |= value->type == TR_MAP ? TR_TRAIT_MAP : TR_TRAIT_NO_JSON;
	if (value->type == TR_STRUCT) {
		bool has_id;
		if (!tr_scan_id(scan, 'S', &has_id, &value->id))
			return false;
		value->flags |= has_id ? TR_HAS_ID : 0;
	}
	return pop_members(scan, base, value);
}

bool tr_scan_repr(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_REPR };
	size_t base = scan->pending_count;
	scan->traits |= TR_TRAIT_NO_JSON;
	if (!open_bracket(scan))
		return false;
	for (const char *separator = ";>"; *separator; separator++) {
		struct tr_value item;
		if (!tr_scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
			return false;
		if (!tr_scan_at(scan, *separator))
			return tr_scan_fail_expected(scan, *separator == ';' ? "';'" : "'>'");
		if (*separator == ';')
			scan->pos++;
	}
	close_bracket(scan);
	return pop_items(scan, base, value);
}
