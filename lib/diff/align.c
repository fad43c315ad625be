/* SPDX-License-Identifier: MIT */
#include "diff/align.h"

#include <stdlib.h>
#include <string.h>

#include "core/wide.h"

enum {
	EDITS_MAX = 256, /* of Myers' algorithm at once */
	DEPTH_MAX = 64,	 /* of divisions */
};

/* Sets. */

static int by_key(const void *left, const void *right, void *context)
{
	const struct tr_diff_record *records = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct tr_diff_record *a = &records[i], *b = &records[j];

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int by_content(const void *left, const void *right, void *context)
{
	const struct tr_diff_record *records = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

	if (records[i].content != records[j].content)
		return records[i].content < records[j].content ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int by_number(const void *left, const void *right)
{
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

	return i < j ? -1 : i > j;
}

static uint64_t hash_of(const struct tr_diff_record *record, bool keys)
{
	return keys ? record->key : record->content;
}

/*
 * Sorts a list, which is in the order of the trace, by the keys or contents of its records; equal
 * ones stay in order. A long list is sorted by the upper half of the hashes in three steps of radix
 * sort, and then each part where this half is equal but the hashes are not.
 */
static void sort(const struct tr_diff_record *records, uint32_t *list, size_t count, bool keys)
{
	enum { SHORT = 1000, BITS = 11, WIDTH = 1 << BITS, STEPS = 3 };
	struct item {
		uint32_t hash, number;
	} *items = count > SHORT ? malloc(2 * count * sizeof *items) : NULL, *from = items, *to;

	if (!items) {
		if (count)
			qsort_r(list, count, sizeof *list, keys ? by_key : by_content,
				(void *)records);
		return;
	}
	to = items + count;
	for (size_t i = 0; i < count; i++)
		from[i] = (struct item){ (uint32_t)(hash_of(&records[list[i]], keys) >> 32),
					 list[i] };
	for (unsigned step = 0; step < STEPS; step++) {
		size_t next[WIDTH + 1] = { 0 };
		for (size_t i = 0; i < count; i++)
			next[(from[i].hash >> (step * BITS)) % WIDTH + 1]++;
		for (size_t k = 1; k < WIDTH; k++)
			next[k] += next[k - 1];
		for (size_t i = 0; i < count; i++)
			to[next[(from[i].hash >> (step * BITS)) % WIDTH]++] = from[i];
		struct item *swap = from;
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < count; i++)
		list[i] = from[i].number;
	for (size_t i = 0, end; i < count; i = end) {
		bool equal = true;
		for (end = i + 1; end < count && from[end].hash == from[i].hash; end++)
			equal &= hash_of(&records[list[end]], keys) ==
				 hash_of(&records[list[i]], keys);
		if (!equal)
			qsort_r(list + i, end - i, sizeof *list, keys ? by_key : by_content,
				(void *)records);
	}
	free(items);
}

/*
 * Removes most records from a list whose keys, or contents, the other list does not have: those
 * whose hashes have no bit there. The hashes are read in the order of the trace, while sorting
 * reads them in their own order, which takes much longer.
 */
static void drop_others(struct tr_align_side *side, const struct tr_align_side *other, bool keys)
{
	enum { APART = 16 /* one in so many bits is set */ };
	const uint64_t count = APART * (uint64_t)other->count;
	unsigned char *bits = calloc(count / 8 + 1, 1);
	size_t kept = 0;

	if (!bits)
		return;
	for (size_t i = 0; i < other->count; i++) {
		uint64_t hash = hash_of(&other->records[other->list[i]], keys);
		uint64_t bit = tr_wide_multiply(hash, count).high;
		bits[bit / 8] |= (unsigned char)(1 << bit % 8);
	}
	for (size_t i = 0; i < side->count; i++) {
		uint64_t hash = hash_of(&side->records[side->list[i]], keys);
		uint64_t bit = tr_wide_multiply(hash, count).high;
		if (bits[bit / 8] >> bit % 8 & 1)
			side->list[kept++] = side->list[i];
	}
	side->count = kept;
	free(bits);
}

static uint64_t content_at(const struct tr_align_side *side, size_t at)
{
	return side->records[side->list[at]].content;
}

/* Returns the end of the records in a sorted list that have the key of the one at begin. */
static size_t key_end(const struct tr_align_side *side, size_t begin)
{
	uint64_t key = side->records[side->list[begin]].key;
	size_t end = begin + 1;

	while (end < side->count && side->records[side->list[end]].key == key)
		end++;
	return end;
}

/*
 * Keeps the records of a list that have no match, in the order of the trace. Returns their number.
 */
static size_t keep_single(const struct tr_align_side *side, size_t begin, size_t end)
{
	size_t kept = begin;

	for (size_t i = begin; i < end; i++) {
		if (side->records[side->list[i]].match == TR_ALIGN_NONE)
			side->list[kept++] = side->list[i];
	}
	if (kept > begin)
		qsort(side->list + begin, kept - begin, sizeof *side->list, by_number);
	return kept - begin;
}

/*
 * Pairs records that have one key: equal ones, then the rest in order. If there are many equal
 * ones, the first and the last of both sides are paired.
 */
static void pair_key(struct tr_align_side *a, size_t i, size_t i_end, struct tr_align_side *b,
		     size_t j, size_t j_end, bool equal)
{
	for (; i < i_end && j < j_end && content_at(a, i) == content_at(b, j); i++, j++)
		tr_align_pair(a->records, a->list[i], b->records, b->list[j]);
	for (; i < i_end && j < j_end && content_at(a, i_end - 1) == content_at(b, j_end - 1);
	     i_end--, j_end--)
		tr_align_pair(a->records, a->list[i_end - 1], b->records, b->list[j_end - 1]);
	if (i == i_end || j == j_end)
		return;
	sort(a->records, a->list + i, i_end - i, false);
	sort(b->records, b->list + j, j_end - j, false);
	for (size_t p = i, q = j; p < i_end && q < j_end;) {
		uint64_t left = content_at(a, p), right = content_at(b, q);
		if (left == right)
			tr_align_pair(a->records, a->list[p], b->records, b->list[q]);
		p += left <= right;
		q += right <= left;
	}
	if (equal)
		return;
	size_t rest_a = keep_single(a, i, i_end), rest_b = keep_single(b, j, j_end);
	for (size_t k = 0; k < rest_a && k < rest_b; k++)
		tr_align_pair(a->records, a->list[i + k], b->records, b->list[j + k]);
}

/* True for records with the same key that have not changed. */
static bool are_alike(const struct tr_diff_record *a, const struct tr_diff_record *b)
{
	return a->content == b->content && a->key == b->key;
}

enum { NEAR = 32 };

/* Returns how far after `at` a record like this one is in a list; NEAR: farther, or nowhere. */
static size_t find_near(const struct tr_align_side *side, size_t at,
			const struct tr_diff_record *like)
{
	for (size_t ahead = 0; ahead < NEAR && at + ahead < side->count; ahead++) {
		if (are_alike(&side->records[side->list[at + ahead]], like))
			return ahead;
	}
	return NEAR;
}

/* Removes the records from `count` up to `begin`, which have a match, from a list. */
static void keep_rest(struct tr_align_side *side, size_t count, size_t begin)
{
	memmove(side->list + count, side->list + begin, (side->count - begin) * sizeof *side->list);
	side->count -= begin - count;
}

/*
 * Pairs equal records and removes them from both lists, as long as these have the same order apart
 * from a few records. Two runs of one program mostly do, so that few records are left to be sorted.
 */
static void pair_in_order(struct tr_align_side *a, struct tr_align_side *b)
{
	size_t i = 0, j = 0, misses = 0, kept_a = 0, kept_b = 0;

	while (i < a->count && j < b->count && misses < NEAR) {
		const struct tr_diff_record *left = &a->records[a->list[i]];
		const struct tr_diff_record *right = &b->records[b->list[j]];
		if (are_alike(left, right)) {
			tr_align_pair(a->records, a->list[i++], b->records, b->list[j++]);
			misses = 0;
			continue;
		}
		size_t in_a = find_near(a, i, right), in_b = find_near(b, j, left);
		bool both = in_a == in_b;
		misses += both;
		in_a = both ? 1 : in_a < in_b ? in_a : 0;
		in_b = both ? 1 : in_a ? 0 : in_b;
		while (in_a-- > 0)
			a->list[kept_a++] = a->list[i++];
		while (in_b-- > 0)
			b->list[kept_b++] = b->list[j++];
	}
	keep_rest(a, kept_a, i);
	keep_rest(b, kept_b, j);
}

void tr_align_set(struct tr_align_side *a, struct tr_align_side *b, bool equal)
{
	size_t i = 0, j = 0;

	pair_in_order(a, b);
	drop_others(a, b, true);
	drop_others(b, a, true);
	sort(a->records, a->list, a->count, true);
	sort(b->records, b->list, b->count, true);
	while (i < a->count && j < b->count) {
		size_t i_end = key_end(a, i), j_end = key_end(b, j);
		uint64_t left = a->records[a->list[i]].key, right = b->records[b->list[j]].key;
		if (left == right)
			pair_key(a, i, i_end, b, j, j_end, equal);
		if (left <= right)
			i = i_end;
		if (right <= left)
			j = j_end;
	}
}

/* Sequences. */

/* Part of both sequences: the records at [i, i_end) of the first list, [j, j_end) of the second. */
struct gap {
	size_t i, i_end, j, j_end;
};

struct sequence {
	struct tr_align_side *a, *b;
	bool keys; /* records are equal if their keys are, otherwise their contents */
};

static uint64_t hash_at(const struct sequence *s, const struct tr_align_side *side, size_t at)
{
	return hash_of(&side->records[side->list[at]], s->keys);
}

static bool equal_at(const struct sequence *s, size_t i, size_t j)
{
	return hash_at(s, s->a, i) == hash_at(s, s->b, j);
}

static void pair_at(const struct sequence *s, size_t i, size_t j)
{
	tr_align_pair(s->a->records, s->a->list[i], s->b->records, s->b->list[j]);
}

/* Pairs the equal records at the start and at the end of both parts. */
static void trim(const struct sequence *s, struct gap *gap)
{
	while (gap->i < gap->i_end && gap->j < gap->j_end && equal_at(s, gap->i, gap->j))
		pair_at(s, gap->i++, gap->j++);
	while (gap->i < gap->i_end && gap->j < gap->j_end &&
	       equal_at(s, gap->i_end - 1, gap->j_end - 1))
		pair_at(s, --gap->i_end, --gap->j_end);
}

/*
 * Where each hash occurs in a part of the first list. A slot has the lower bits of the hash; for an
 * anchor, all bits are compared.
 */
struct occurrence {
	uint32_t hash;
	uint32_t place : 31; /* 1 + the first place after the start of the part; 0: free */
	uint32_t again : 1;  /* it occurs more than once */
};

struct occurrences {
	struct occurrence *slots;
	size_t count;
};

/* Returns the slot where the search for a hash begins. */
static struct occurrence *first_slot(const struct occurrences *table, uint64_t hash)
{
	/* maps the hash to [0, count); the factor makes the upper bits depend on all others */
	uint64_t spread = hash * 0x9e3779b97f4a7c15;

	return &table->slots[tr_wide_multiply(spread, table->count).high];
}

/* Returns the slot of a hash, or the free slot where it would go. */
static struct occurrence *find_slot(const struct occurrences *table, uint64_t hash)
{
	struct occurrence *slot = first_slot(table, hash);

	while (slot->place && slot->hash != (uint32_t)hash)
		slot = slot + 1 < table->slots + table->count ? slot + 1 : table->slots;
	return slot;
}

/*
 * The table does not fit into the caches: slots are fetched while those of hashes before are used.
 */
enum { AHEAD = 16 };

static void fetch_slot(const struct occurrences *table, const struct sequence *s,
		       const struct tr_align_side *side, size_t at, size_t end)
{
	if (at + AHEAD < end)
		__builtin_prefetch(first_slot(table, hash_at(s, side, at + AHEAD)), 1);
}

/* Fills the table with the hashes of the first side of a gap. False: memory is exhausted. */
static bool find_occurrences(const struct sequence *s, const struct gap *gap,
			     struct occurrences *table)
{
	size_t items = gap->i_end - gap->i;

	table->count = items + items / 2 + 1;
	table->slots = calloc(table->count, sizeof *table->slots);
	for (size_t i = gap->i; table->slots && i < gap->i_end; i++) {
		fetch_slot(table, s, s->a, i, gap->i_end);
		uint64_t hash = hash_at(s, s->a, i);
		struct occurrence *slot = find_slot(table, hash);
		if (slot->place)
			slot->again = 1;
		else
			*slot = (struct occurrence){
				.hash = (uint32_t)hash,
				.place = (uint32_t)(i - gap->i + 1) & INT32_MAX,
			};
	}
	return table->slots != NULL;
}

#define TWICE UINT32_MAX

/*
 * For each record of the first side of a gap that occurs there once, sets its place in `others`,
 * which are zero, to 1 + the place of the record of the second side with this hash, or to TWICE if
 * there are several. Sets *common to whether any record is on both sides. False: memory is
 * exhausted.
 */
static bool find_others(const struct sequence *s, const struct gap *gap, uint32_t *others,
			bool *common)
{
	struct occurrences table;

	*common = false;
	if (!find_occurrences(s, gap, &table))
		return false;
	for (size_t j = gap->j; j < gap->j_end; j++) {
		fetch_slot(&table, s, s->b, j, gap->j_end);
		const struct occurrence *slot = find_slot(&table, hash_at(s, s->b, j));
		if (!slot->place)
			continue;
		*common = true;
		if (!slot->again)
			others[slot->place - 1] = others[slot->place - 1] ? TWICE : (uint32_t)j + 1;
	}
	free(table.slots);
	return true;
}

/* A record that occurs once on each side. */
struct anchor {
	uint32_t i, j;
	uint32_t before; /* the anchor before it in the longest chain that ends here */
};

/*
 * Keeps a longest chain of the anchors, which are sorted by i, in which j rises too. tails has room
 * for one number for each anchor. Returns the length of the chain, which is moved to the front.
 */
static size_t keep_chain(struct anchor *anchors, size_t count, uint32_t *tails)
{
	size_t len = 0;

	for (size_t k = 0; k < count; k++) {
		/* mostly it prolongs the chain */
		bool last = len && anchors[tails[len - 1]].j < anchors[k].j;
		size_t low = last ? len : 0, high = len;
		while (low < high) {
			size_t middle = (low + high) / 2;
			if (anchors[tails[middle]].j < anchors[k].j)
				low = middle + 1;
			else
				high = middle;
		}
		anchors[k].before = low ? tails[low - 1] : TR_ALIGN_NONE;
		tails[low] = (uint32_t)k;
		len += low == len;
	}
	uint32_t at = len ? tails[len - 1] : TR_ALIGN_NONE;
	for (size_t k = len; k > 0; k--) {
		tails[k - 1] = at;
		at = anchors[at].before;
	}
	/* tails rise, so no anchor is overwritten that is still needed */
	for (size_t k = 0; k < len; k++)
		anchors[k] = anchors[tails[k]];
	return len;
}

/*
 * Finds the chain of anchors of a gap. Empties the gap if no record is on both sides, which saves
 * the search for a shortest path. False: memory is exhausted.
 */
static bool find_anchors(const struct sequence *s, struct gap *gap, struct anchor **anchors,
			 size_t *count)
{
	size_t items = gap->i_end - gap->i, found = 0;
	uint32_t *others = calloc(items, sizeof *others);
	bool common, fine = others && find_others(s, gap, others, &common);

	*count = 0;
	*anchors = NULL;
	for (size_t k = 0; fine && k < items; k++)
		found += others[k] && others[k] != TWICE;
	if (found)
		fine = (*anchors = malloc(found * sizeof **anchors)) != NULL;
	for (size_t k = 0; fine && found && k < items; k++) {
		uint32_t i = (uint32_t)(gap->i + k), j = others[k] - 1;
		if (others[k] && others[k] != TWICE && equal_at(s, i, j))
			(*anchors)[(*count)++] = (struct anchor){ i, j, 0 };
	}
	if (fine && !common)
		gap->i = gap->i_end;
	/* the places are not needed any more, and there are as many tails at most */
	if (*count)
		*count = keep_chain(*anchors, *count, others);
	free(others);
	return fine;
}

/*
 * Myers' algorithm: finds the shortest path from the start of both sequences to their end, in steps
 * over one record of one side (an edit) or over equal records of both. reach[d] has for each
 * diagonal (x - y) how far d edits get in the first sequence. If EDITS_MAX edits do not suffice,
 * uses the path that got farthest. Moves the start of the gap to the end of the path. False: memory
 * is exhausted.
 */
static bool pair_shortest(const struct sequence *s, struct gap *gap)
{
	enum { MIDDLE = EDITS_MAX + 1, WIDTH = 2 * MIDDLE + 1 };
	const long n = (long)(gap->i_end - gap->i), m = (long)(gap->j_end - gap->j);
	int32_t(*reach)[WIDTH] = malloc((EDITS_MAX + 1) * sizeof *reach);
	long d = 0, x = 0, y = 0, k, far_x = 0, far_y = 0;
	bool found = false;

	if (!reach)
		return false;
	for (; d <= EDITS_MAX && !found; d++) {
		for (k = -d; k <= d && !found; k += 2) {
			const int32_t *last = d ? reach[d - 1] + MIDDLE + k : NULL;
			x = !last					? 0
			    : k == -d || (k != d && last[-1] < last[1]) ? last[1]
									: last[-1] + 1;
			for (y = x - k;
			     x < n && y < m && equal_at(s, gap->i + (size_t)x, gap->j + (size_t)y);
			     y++)
				x++;
			reach[d][MIDDLE + k] = (int32_t)x;
			found = k == n - m && x >= n;
			/* a path cannot go beyond the end of a sequence */
			if (x <= n && y <= m &&
			    (found || (d == EDITS_MAX && x + y >= far_x + far_y))) {
				far_x = x;
				far_y = y;
			}
		}
	}
	x = far_x;
	y = far_y;
	while (d-- > 0) {
		k = x - y;
		const int32_t *last = d ? reach[d - 1] + MIDDLE + k : NULL;
		bool down = last && (k == -d || (k != d && last[-1] < last[1]));
		long begin = !last ? 0 : down ? last[1] : last[-1] + 1;
		while (x > begin)
			pair_at(s, gap->i + (size_t)--x, gap->j + (size_t)--y);
		x = begin - (last && !down);
		y = x - k + (down ? -1 : last ? 1 : 0);
	}
	/* some path always gets farther; this only bounds the loop of the caller */
	if (far_x + far_y == 0)
		gap->i = gap->i_end;
	gap->i += (size_t)far_x;
	gap->j += (size_t)far_y;
	free(reach);
	return true;
}

/* Pairs equal records of a gap that are in the same order on both sides. */
static bool align_gap(const struct sequence *s, struct gap gap, unsigned depth)
{
	struct anchor *anchors = NULL;
	size_t count = 0;
	bool fine = true;

	trim(s, &gap);
	/* a single record that is left on each side is another one */
	if (gap.i == gap.i_end || gap.j == gap.j_end ||
	    (gap.i_end - gap.i == 1 && gap.j_end - gap.j == 1))
		return true;
	if (depth < DEPTH_MAX && !find_anchors(s, &gap, &anchors, &count))
		return false;
	if (count == 0) {
		free(anchors);
		while (fine && gap.i < gap.i_end && gap.j < gap.j_end)
			fine = pair_shortest(s, &gap);
		return fine;
	}
	size_t i = gap.i, j = gap.j;
	for (size_t at = 0; at <= count && fine; at++) {
		bool last = at == count;
		struct gap part = { i, last ? gap.i_end : anchors[at].i, j,
				    last ? gap.j_end : anchors[at].j };
		if (part.i < part.i_end && part.j < part.j_end)
			fine = align_gap(s, part, depth + 1);
		if (!last) {
			pair_at(s, anchors[at].i, anchors[at].j);
			i = anchors[at].i + 1;
			j = anchors[at].j + 1;
		}
	}
	free(anchors);
	return fine;
}

/* Copies the records in [begin, end) of a side's list that have no match. */
static size_t copy_single(const struct tr_align_side *side, size_t begin, size_t end, uint32_t *to)
{
	size_t count = 0;

	for (size_t i = begin; i < end; i++) {
		if (side->records[side->list[i]].match == TR_ALIGN_NONE)
			to[count++] = side->list[i];
	}
	return count;
}

/* Pairs equal records that are at different places. */
static void pair_moved(struct tr_align_side *a, struct tr_align_side *b)
{
	size_t i = 0, j = 0;

	drop_others(a, b, false);
	drop_others(b, a, false);
	sort(a->records, a->list, a->count, false);
	sort(b->records, b->list, b->count, false);
	while (i < a->count && j < b->count) {
		uint32_t p = a->list[i], q = b->list[j];
		uint64_t left = a->records[p].content, right = b->records[q].content;
		if (left == right) {
			tr_align_pair(a->records, p, b->records, q);
			a->records[p].moved = b->records[q].moved = 1;
		}
		i += left <= right;
		j += right <= left;
	}
}

/*
 * Pairs records with equal keys that are between the same two pairs of records. rest_a, rest_b:
 * room for the lists of a gap.
 */
static bool pair_changed(struct tr_align_side *a, struct tr_align_side *b, uint32_t *rest_a,
			 uint32_t *rest_b)
{
	size_t i = 0, j = 0;
	bool fine = true;

	while (fine && i < a->count && j < b->count) {
		size_t i_end = i, j_end = j;
		/* a record that moved bounds no gap */
		while (i_end < a->count && (a->records[a->list[i_end]].match == TR_ALIGN_NONE ||
					    a->records[a->list[i_end]].moved))
			i_end++;
		while (j_end < b->count && (b->records[b->list[j_end]].match == TR_ALIGN_NONE ||
					    b->records[b->list[j_end]].moved))
			j_end++;
		struct tr_align_side left = { a->records, rest_a,
					      copy_single(a, i, i_end, rest_a) };
		struct tr_align_side right = { b->records, rest_b,
					       copy_single(b, j, j_end, rest_b) };
		struct sequence keys = { &left, &right, true };
		if (left.count && right.count)
			fine = align_gap(&keys, (struct gap){ 0, left.count, 0, right.count }, 0);
		i = i_end + 1;
		j = j_end + 1;
	}
	return fine;
}

/* Pairs the first `front` records of both lists, and the last `back` ones. */
static void pair_places(const struct sequence *s, size_t front, size_t back)
{
	for (size_t i = 0; i < front; i++)
		pair_at(s, i, i);
	for (size_t i = 1; i <= back; i++)
		pair_at(s, s->a->count - i, s->b->count - i);
}

/*
 * Pairs records at the same place instead, if both lists have the same keys, apart from one part
 * that only the longer list has, and if more equal records are at the same place than were paired.
 * So a value that differs in each frame, and by chance occurs in another frame of the other trace,
 * does not pair these two frames.
 */
static void prefer_places(struct tr_align_side *a, struct tr_align_side *b)
{
	struct sequence keys = { a, b, true }, contents = { a, b, false };
	size_t least = a->count < b->count ? a->count : b->count;
	size_t front = 0, back = 0, paired = 0, equal = 0;

	while (front < least && equal_at(&keys, front, front))
		front++;
	while (front + back < least && equal_at(&keys, a->count - back - 1, b->count - back - 1))
		back++;
	if (front + back < least)
		return;
	for (size_t i = 0; i < front; i++)
		equal += equal_at(&contents, i, i);
	for (size_t i = 1; i <= back; i++)
		equal += equal_at(&contents, a->count - i, b->count - i);
	for (size_t i = 0; i < a->count; i++)
		paired += a->records[a->list[i]].match != TR_ALIGN_NONE;
	if (equal <= paired)
		return;
	for (size_t i = 0; i < a->count; i++)
		a->records[a->list[i]].match = TR_ALIGN_NONE;
	for (size_t j = 0; j < b->count; j++)
		b->records[b->list[j]].match = TR_ALIGN_NONE;
	pair_places(&contents, front, back);
}

bool tr_align_sequence(struct tr_align_side *a, struct tr_align_side *b)
{
	struct sequence contents = { a, b, false }, keys = { a, b, true };

	/* there is nothing to choose in many processes of a build */
	if (!a->count || !b->count)
		return true;
	if (a->count == 1 && b->count == 1) {
		if (equal_at(&contents, 0, 0) || equal_at(&keys, 0, 0))
			pair_at(&contents, 0, 0);
		return true;
	}
	if (!align_gap(&contents, (struct gap){ 0, a->count, 0, b->count }, 0))
		return false;
	prefer_places(a, b);
	uint32_t *rest_a = malloc((a->count + 1) * sizeof *rest_a);
	uint32_t *rest_b = malloc((b->count + 1) * sizeof *rest_b);
	bool fine = rest_a && rest_b;
	if (fine) {
		struct tr_align_side left = { a->records, rest_a,
					      copy_single(a, 0, a->count, rest_a) };
		struct tr_align_side right = { b->records, rest_b,
					       copy_single(b, 0, b->count, rest_b) };
		if (left.count && right.count) {
			pair_moved(&left, &right);
			fine = pair_changed(a, b, rest_a, rest_b);
		}
	}
	free(rest_a);
	free(rest_b);
	return fine;
}

static int by_hash(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

void tr_hashes_sort(uint64_t *list, size_t count)
{
	enum { FEW = 16 };

	if (count > FEW) {
		qsort(list, count, sizeof *list, by_hash);
		return;
	}
	/* a call of qsort takes longer */
	for (size_t i = 1; i < count; i++) {
		uint64_t hash = list[i];
		size_t at = i;
		for (; at > 0 && list[at - 1] > hash; at--)
			list[at] = list[at - 1];
		list[at] = hash;
	}
}

size_t tr_hashes_common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
			size_t least)
{
	size_t same = 0;

	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		bool left = a[i] <= b[j], right = b[j] <= a[i];
		same += left && right;
		i += left;
		j += right;
		if (same + a_count - i < least || same + b_count - j < least)
			return 0;
	}
	return same >= least ? same : 0;
}
