#include "expr/seen.h"

#include <stdlib.h>
#include <string.h>

#include "record/vocabulary.h"

enum {
	MOST_KEYS = 1024,
	LONGEST_KEY = 64,
};

bool tr_seen_begin(struct tr_seen *seen, size_t count)
{
	*seen = (struct tr_seen){ .count = count };
	seen->uses = calloc(count ? count : 1, sizeof *seen->uses);
	return seen->uses != NULL;
}

void tr_seen_free(struct tr_seen *seen)
{
	tr_map_free(&seen->keys);
	tr_arena_free(&seen->arena);
	free(seen->uses);
}

/* A key that cannot be kept is one suggestion less. */
static void keep_key(struct tr_seen *seen, struct tr_text key)
{
	if (key.len == 0 || key.len > LONGEST_KEY || seen->keys.count >= MOST_KEYS ||
	    tr_map_get(&seen->keys, key))
		return;
	struct tr_seen_key *kept = tr_arena_alloc(&seen->arena, sizeof *kept);
	struct tr_text copy = tr_arena_copy(&seen->arena, key);
	if (!kept || !copy.data || !tr_map_put(&seen->keys, copy, kept))
		return;
	*kept = (struct tr_seen_key){ .key = copy };
	*(seen->last ? &seen->last->next : &seen->first) = kept;
	seen->last = kept;
}

static void keep_keys(struct tr_seen *seen, const struct tr_record *record)
{
	if (!record->line.data) {
		for (size_t i = 0; i < record->count; i++)
			keep_key(seen, record->fields[i].key);
		return;
	}
	const char *p = record->rest.data, *end = p + record->rest.len;
	while (p < end) {
		const char *key = p + 1; /* after the TAB */
		const char *tab = memchr(key, '\t', (size_t)(end - key));
		const char *next = tab ? tab : end;
		const char *equals = memchr(key, '=', (size_t)(next - key));
		if (equals)
			keep_key(seen, tr_text_span(key, equals));
		p = next;
	}
}

void tr_seen_keep_keys(struct tr_seen *seen, const struct tr_record *record,
		       const struct tr_record *leave)
{
	keep_keys(seen, record);
	if (leave)
		keep_keys(seen, leave);
}

static bool is_same_field(const struct tr_path *a, const struct tr_path *b)
{
	return a->subject == b->subject && a->after_arrow == b->after_arrow &&
	       tr_text_equal(a->key, b->key);
}

/* Whether this is the first use of a field that no use found. */
static bool is_unseen(const struct tr_seen *seen, const struct tr_use *use, bool *tested)
{
	*tested = false;
	for (size_t i = 0; i < seen->count; i++) {
		const struct tr_use *other = &seen->uses[i];
		if (!other->path || !is_same_field(use->path, other->path))
			continue;
		if (other->found || other < use)
			return false;
		*tested |= other->misses > 0;
	}
	return true;
}

/* Of a field that is known to trec(5), and is only not there, nothing else is suggested. */
static struct tr_text suggest(const struct tr_seen *seen, const struct tr_path *path)
{
	struct tr_similar similar;

	tr_similar_begin(&similar, path->key);
	if (path->subject != TR_SUBJECT_KEY || tr_is_known_field(path->key))
		return similar.found;
	for (const struct tr_seen_key *key = seen->first; key; key = key->next)
		tr_similar_offer(&similar, key->key);
	tr_offer_fields(&similar);
	return similar.found;
}

bool tr_seen_next(const struct tr_seen *seen, size_t *position, struct tr_unseen *unseen)
{
	while (*position < seen->count) {
		const struct tr_use *use = &seen->uses[(*position)++];
		if (!use->path || !is_unseen(seen, use, &unseen->tested))
			continue;
		unseen->name = use->path->key;
		unseen->after_arrow = use->path->after_arrow;
		unseen->suggestion = suggest(seen, use->path);
		if (unseen->tested ||
		    (use->path->subject == TR_SUBJECT_KEY && unseen->suggestion.data))
			return true;
	}
	return false;
}

void tr_unseen_note(const struct tr_unseen *unseen, const char *record, const char *owners,
		    struct tr_error *note)
{
	const char *arrow = unseen->after_arrow ? "->" : "";
	int len = (int)unseen->name.len, other = (int)unseen->suggestion.len;

	if (!unseen->tested)
		tr_error_set(note, TR_CAUSE_USAGE,
			     "no record came as far as the test of '%s%.*s'; did you mean %s%.*s?",
			     arrow, len, unseen->name.data, arrow, other, unseen->suggestion.data);
	else if (owners)
		tr_error_set(note, TR_CAUSE_USAGE, "no %s has the field '%s%.*s'; it is a field of %s",
			     record, arrow, len, unseen->name.data, owners);
	else if (unseen->suggestion.data)
		tr_error_set(note, TR_CAUSE_USAGE,
			     "no %s has the field '%s%.*s'; did you mean %s%.*s?", record, arrow,
			     len, unseen->name.data, arrow, other, unseen->suggestion.data);
	else
		tr_error_set(note, TR_CAUSE_USAGE, "no %s has the field '%s%.*s'", record, arrow,
			     len, unseen->name.data);
	tr_error_is_note(note);
}
