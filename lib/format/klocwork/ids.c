#include "format/klocwork/ids.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_RUNS = 1 << 16,
	SETS = 1 << 14, /* a power of two */
	WAYS = 16,
	MAX_TEXT = 240, /* longer ids than any tracer writes are never found again */
};

struct tr_klocwork_run {
	uint64_t id, value, count; /* id + i has value + i */
};

/* An id in the table; all zero: free. */
struct tr_klocwork_entry {
	uint64_t key; /* the number, or the hash of text */
	char *text;   /* NULL for numbers; its length is in front: struct id_text */
	uint64_t value;
	uint64_t used;
};

struct id_text {
	size_t len;
	char bytes[];
};

/* True when the id is a number that the runs can hold, and canonical, so that no two ids are one.
 */
static bool is_number(struct tr_text id, uint64_t *number)
{
	enum { SAFE_DIGITS = 19 };
	if (!id.len || id.len > SAFE_DIGITS || (id.data[0] == '0' && id.len > 1))
		return false;
	uint64_t n = 0;
	for (size_t i = 0; i < id.len; i++) {
		unsigned digit = (unsigned char)id.data[i] - '0';
		if (digit > 9)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 33) * UINT64_C(0xff51afd7ed558ccd);
	return n ^ n >> 33;
}

uint64_t tr_klocwork_id_hash(struct tr_text id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < id.len; i++)
		hash = (hash ^ (unsigned char)id.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static struct tr_text entry_text(const struct tr_klocwork_entry *entry)
{
	if (!entry->text)
		return (struct tr_text){ NULL, 0 };
	const struct id_text *text = (const struct id_text *)(const void *)entry->text;
	return (struct tr_text){ text->bytes, text->len };
}

/* The entry of an id (text.data NULL: the number key), or NULL. */
static struct tr_klocwork_entry *find_entry(struct tr_klocwork_ids *ids, uint64_t key,
					    struct tr_text text)
{
	if (!ids->table)
		return NULL;
	struct tr_klocwork_entry *set = ids->table + (mix(key) & (SETS - 1)) * WAYS;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].key != key || set[i].used <= ids->forgotten)
			continue;
		if (!set[i].text == !text.data && tr_text_equal(entry_text(&set[i]), text)) {
			set[i].used = ++ids->clock;
			return &set[i];
		}
	}
	return NULL;
}

/* A free entry of the key's set, or the one that was not used for the longest time. */
static struct tr_klocwork_entry *oldest_entry(struct tr_klocwork_ids *ids, uint64_t key)
{
	struct tr_klocwork_entry *set = ids->table + (mix(key) & (SETS - 1)) * WAYS;
	struct tr_klocwork_entry *oldest = set;
	for (unsigned i = 1; i < WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	return oldest;
}

static bool put_entry(struct tr_klocwork_ids *ids, uint64_t key, struct tr_text text,
		      uint64_t value)
{
	if (!ids->table)
		ids->table = calloc((size_t)SETS * WAYS, sizeof *ids->table);
	if (!ids->table)
		return false;
	struct tr_klocwork_entry *entry = find_entry(ids, key, text);
	if (entry) {
		entry->value = value;
		return true;
	}
	struct id_text *copy = NULL;
	if (text.data) {
		copy = malloc(sizeof *copy + text.len);
		if (!copy)
			return false;
		copy->len = text.len;
		memcpy(copy->bytes, text.data, text.len);
	}
	entry = oldest_entry(ids, key);
	free(entry->text);
	*entry = (struct tr_klocwork_entry){ key, (char *)copy, value, ++ids->clock };
	return true;
}

/* Space for one more run; the older half goes when there are too many. */
static bool make_run_room(struct tr_klocwork_ids *ids)
{
	if (ids->run_count < ids->run_cap)
		return true;
	if (ids->run_cap == MAX_RUNS) {
		ids->run_count = MAX_RUNS / 2;
		memmove(ids->runs, ids->runs + MAX_RUNS / 2, ids->run_count * sizeof *ids->runs);
		return true;
	}
	size_t cap = ids->run_cap ? ids->run_cap * 2 : 16;
	struct tr_klocwork_run *runs = realloc(ids->runs, cap * sizeof *runs);
	if (!runs)
		return false;
	ids->runs = runs;
	ids->run_cap = cap;
	return true;
}

bool tr_klocwork_ids_put_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t value)
{
	struct tr_klocwork_run *last = ids->run_count ? &ids->runs[ids->run_count - 1] : NULL;
	if (last && id - last->id == last->count && value - last->value == last->count) {
		last->count++;
		return true;
	}
	/* so an id that is in the table is never in a newer run: the table is asked first */
	if (last && id < last->id + last->count)
		return put_entry(ids, id, (struct tr_text){ NULL, 0 }, value);
	if (!make_run_room(ids))
		return false;
	ids->runs[ids->run_count++] = (struct tr_klocwork_run){ id, value, 1 };
	return true;
}

bool tr_klocwork_ids_put(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t value)
{
	uint64_t number;
	if (is_number(id, &number))
		return tr_klocwork_ids_put_number(ids, number, value);
	return id.len > MAX_TEXT || put_entry(ids, tr_klocwork_id_hash(id), id, value);
}

/* The index of the last run that begins at or before id; run_count when none does. */
static size_t find_run(const struct tr_klocwork_ids *ids, uint64_t id)
{
	size_t low = 0, high = ids->run_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ids->runs[middle].id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : ids->run_count;
}

bool tr_klocwork_ids_find_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t *value)
{
	const struct tr_text none = { NULL, 0 };
	struct tr_klocwork_entry *entry = find_entry(ids, id, none);
	if (entry) {
		*value = entry->value;
		return true;
	}
	size_t i = find_run(ids, id);
	if (i == ids->run_count || id - ids->runs[i].id >= ids->runs[i].count)
		return false;
	*value = ids->runs[i].value + (id - ids->runs[i].id);
	/* what is still in use must not go with the old half; if memory is out, it may */
	if (ids->run_cap == MAX_RUNS && i < MAX_RUNS / 2)
		(void)put_entry(ids, id, none, *value);
	return true;
}

bool tr_klocwork_ids_find(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t *value)
{
	uint64_t number;
	if (is_number(id, &number))
		return tr_klocwork_ids_find_number(ids, number, value);
	struct tr_klocwork_entry *entry = find_entry(ids, tr_klocwork_id_hash(id), id);
	if (entry)
		*value = entry->value;
	return entry != NULL;
}

void tr_klocwork_ids_forget(struct tr_klocwork_ids *ids)
{
	ids->run_count = 0;
	ids->forgotten = ids->clock;
}

void tr_klocwork_ids_free(struct tr_klocwork_ids *ids)
{
	if (ids->table)
		for (size_t i = 0; i < (size_t)SETS * WAYS; i++)
			free(ids->table[i].text);
	free(ids->table);
	free(ids->runs);
	*ids = (struct tr_klocwork_ids)TR_KLOCWORK_IDS_INIT;
}
