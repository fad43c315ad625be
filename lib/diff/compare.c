/* SPDX-License-Identifier: MIT */
/*
 * The partners of all records: first of programs, because the rest depends on which process is
 * which; then of sets; then of each sequence; and last whether names that a run chose mean the same
 * everywhere.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

/* How many programs one that has changed is compared with, and how many are looked at for that. */
enum { CANDIDATES = 64, LOOKS = 1024 };

/* A list of the records of a side. */
struct lists {
	struct tr_align_side sides[2];
	bool failed;
};

static void free_lists(struct lists *lists)
{
	free(lists->sides[0].list);
	free(lists->sides[1].list);
}

/* The records of a class that have no partner. */
static struct lists list_class(struct tr_diff *diff, enum tr_diff_class class)
{
	struct lists lists = { .failed = false };

	for (unsigned i = 0; i < 2; i++) {
		const struct tr_diff_side *side = &diff->sides[i];
		struct tr_align_side *to = &lists.sides[i];
		size_t count = side->counts[class];
		*to = (struct tr_align_side){ side->records, malloc((count + 1) * sizeof *to->list),
					      0 };
		lists.failed |= !to->list;
		for (size_t k = 0; to->list && count && k < side->count; k++) {
			const struct tr_diff_record *record = &side->records[k];
			if (record->class == class && !record->implied &&
			    record->match == TR_ALIGN_NONE)
				to->list[to->count++] = (uint32_t)k;
		}
	}
	return lists;
}

/* equal: only equal records are paired. */
static bool align_set(struct tr_diff *diff, enum tr_diff_class class, bool equal)
{
	struct lists lists = list_class(diff, class);

	if (!lists.failed)
		tr_align_set(&lists.sides[0], &lists.sides[1], equal);
	free_lists(&lists);
	return !lists.failed;
}

/* Programs that have changed. */

/* The hashes of the words of a command. */
struct words {
	uint64_t program;
	uint64_t *list; /* sorted; the directory is one of them */
	size_t count;
	uint32_t record;
};

static int by_hash(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Reads the strings of argv and cwd, which may be NULL. False: memory is exhausted. */
static bool read_words(uint64_t seed, const struct tr_normal_field *argv,
		       const struct tr_normal_field *cwd, struct words *words)
{
	const struct tr_normal_field *const fields[] = { argv, cwd };
	size_t cap = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct tr_text text = fields[i] ? fields[i]->text : TR_TEXT("");
		const char *p = text.data, *end = p + text.len;
		while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
			const char *begin = p;
			p = tr_normal_string_end(p, end);
			if (!tr_array_room(words->list, words->count, cap))
				return false;
			words->list[words->count++] =
				tr_text_hash(tr_number_hash(seed, i), tr_text_span(begin, p));
		}
	}
	if (words->count)
		qsort(words->list, words->count, sizeof *words->list, by_hash);
	return true;
}

/* How many words both have; 0 if it is less than half of them. */
static size_t count_same(const struct words *a, const struct words *b)
{
	size_t same = 0;

	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		bool left = a->list[i] <= b->list[j], right = b->list[j] <= a->list[i];
		same += left && right;
		i += left;
		j += right;
	}
	return 4 * same >= a->count + b->count ? same : 0;
}

/* The words of each listed program. NULL: err is filled. */
static struct words *words_of(struct tr_diff *diff, unsigned which,
			      const struct tr_align_side *from, struct tr_error *err)
{
	struct tr_normal *normal = &diff->sides[which].normal;
	struct words *words = calloc(from->count + 1, sizeof *words);
	uint64_t seed = diff->rules.seed;

	for (size_t i = 0; words && i < from->count; i++) {
		if (!tr_diff_read(diff, which, from->list[i], err).data)
			goto failed;
		words[i].record = from->list[i];
		words[i].program = tr_text_hash(seed, normal->fields[0].text);
		if (!read_words(seed, tr_normal_find(normal, "argv"), tr_normal_find(normal, "cwd"),
				&words[i]))
			goto exhausted;
	}
	if (words)
		return words;
exhausted:
	tr_error_memory(err);
failed:
	for (size_t i = 0; words && i < from->count; i++)
		free(words[i].list);
	free(words);
	return NULL;
}

/*
 * Pairs programs that have no partner with the one of the same name that has most of their words, but
 * at least half of them. False: err is filled.
 */
static bool pair_similar(struct tr_diff *diff, struct tr_error *err)
{
	struct lists lists = list_class(diff, TR_DIFF_EXEC);
	struct words *words[2] = { NULL, NULL };
	bool fine = !lists.failed;

	if (!fine)
		tr_error_memory(err);
	for (unsigned i = 0; fine && i < 2; i++) {
		words[i] = words_of(diff, i, &lists.sides[i], err);
		fine = words[i] != NULL;
	}
	struct tr_diff_record *a = diff->sides[0].records, *b = diff->sides[1].records;
	size_t first = 0;
	for (size_t i = 0; fine && i < lists.sides[0].count; i++) {
		size_t tried = 0, looks = 0;
		while (first < lists.sides[1].count &&
		       b[words[1][first].record].match != TR_ALIGN_NONE)
			first++;
		size_t best = 0, partner = 0;
		for (size_t j = first;
		     j < lists.sides[1].count && tried < CANDIDATES && looks < LOOKS; j++) {
			if (b[words[1][j].record].match != TR_ALIGN_NONE)
				continue;
			looks++;
			if (words[0][i].program != words[1][j].program)
				continue;
			tried++;
			size_t same = count_same(&words[0][i], &words[1][j]);
			if (same > best) {
				best = same;
				partner = j;
			}
		}
		if (best)
			tr_align_pair(a, words[0][i].record, b, words[1][partner].record);
	}
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; words[i] && k < lists.sides[i].count; k++)
			free(words[i][k].list);
		free(words[i]);
	}
	free_lists(&lists);
	return fine;
}

/* Processes. */

/* The id of an image. relation: to what has that number. */
static uint64_t image_id(const struct tr_diff *diff, unsigned relation, uint64_t number)
{
	return tr_number_hash(tr_number_hash(diff->rules.seed, relation), number);
}

/* Gives partners among the images of both sides the same id. False: memory is exhausted. */
static bool name_images(struct tr_diff *diff)
{
	enum { PAIR, SINGLE, FORKED, CHILD, ROOT };

	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		uint32_t *children = calloc(side->image_count + 1, sizeof *children);
		uint32_t roots = 0;
		if (!children)
			return false;
		for (size_t k = 0; k < side->image_count; k++) {
			struct tr_diff_image *image = &side->images[k];
			if (image->exec == TR_ALIGN_NONE)
				continue;
			uint32_t match = side->records[image->exec].match;
			if (match == TR_ALIGN_NONE)
				image->id = image_id(diff, SINGLE + 8 * i, image->exec);
			else
				image->id = image_id(diff, PAIR, i ? match : image->exec);
		}
		for (size_t k = 0; k < side->image_count; k++) {
			struct tr_diff_image *image = &side->images[k];
			if (image->exec != TR_ALIGN_NONE)
				continue;
			if (image->becomes != TR_ALIGN_NONE)
				image->id = image_id(diff, FORKED, side->images[image->becomes].id);
			else if (image->parent != TR_ALIGN_NONE)
				image->id = tr_number_hash(
					image_id(diff, CHILD, side->images[image->parent].id),
					children[image->parent]++);
			else
				image->id = image_id(diff, ROOT, roots++);
		}
		free(children);
	}
	return true;
}

/* Marks the records of processes that are in one trace only. False: memory is exhausted. */
static bool imply_records(struct tr_diff *diff)
{
	bool fine = true;

	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i], *other = &diff->sides[!i];
		struct tr_id_map there = TR_ID_MAP_INIT;
		if (!side->counts[TR_DIFF_EXIT] && !side->counts[TR_DIFF_PROCESS])
			continue;
		for (size_t k = 0; fine && k < other->image_count; k++)
			fine = tr_id_map_put(&there, other->images[k].id, other);
		for (size_t k = 0; fine && k < side->count; k++) {
			struct tr_diff_record *record = &side->records[k];
			if (record->class != TR_DIFF_EXIT && record->class != TR_DIFF_PROCESS)
				continue;
			uint64_t id = side->images[record->group].id;
			record->implied = !tr_id_map_get(&there, id);
			if (record->class == TR_DIFF_EXIT)
				record->key = id;
		}
		tr_id_map_free(&there);
	}
	return fine;
}

/* Sequences. */

static uint64_t sequence_of(const struct tr_diff_side *side, const struct tr_diff_record *record)
{
	uint64_t seed = tr_number_hash(side->normal.rules->seed, record->class);

	return record->class == TR_DIFF_PROCESS ? side->images[record->group].id
						: tr_number_hash(seed, record->group);
}

static bool has_sequences(const struct tr_diff_side *side)
{
	return side->counts[TR_DIFF_PROCESS] || side->counts[TR_DIFF_THREAD] ||
	       side->counts[TR_DIFF_KIND];
}

static bool in_sequence(const struct tr_diff_record *record)
{
	return record->class >= TR_DIFF_PROCESS && !record->implied;
}

/* Numbers the sequences of both sides from 0; record->group is that number then. */
static bool number_sequences(struct tr_diff *diff, size_t *count)
{
	struct tr_id_map numbers = TR_ID_MAP_INIT;
	bool fine = true;

	*count = 0;
	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		if (!has_sequences(side))
			continue;
		for (size_t k = 0; fine && k < side->count; k++) {
			struct tr_diff_record *record = &side->records[k];
			if (!in_sequence(record))
				continue;
			uint64_t id = sequence_of(side, record);
			uintptr_t number = (uintptr_t)tr_id_map_get(&numbers, id);
			if (!number) {
				number = ++*count;
				fine = tr_id_map_put(&numbers, id, (void *)number);
			}
			record->group = (uint32_t)(number - 1);
		}
	}
	tr_id_map_free(&numbers);
	return fine;
}

/* Lists the records of a side by their sequence; begins has where each begins, and the end. */
static bool sort_sequences(const struct tr_diff_side *side, size_t count, size_t **begins,
			   uint32_t **list)
{
	size_t *next = calloc(count + 2, sizeof *next), total = 0;

	for (size_t k = 0; next && k < side->count; k++) {
		if (in_sequence(&side->records[k])) {
			next[side->records[k].group + 2]++;
			total++;
		}
	}
	*begins = next;
	*list = malloc((total + 1) * sizeof **list);
	if (!next || !*list)
		return false;
	for (size_t k = 2; k < count + 2; k++)
		next[k] += next[k - 1];
	for (size_t k = 0; k < side->count; k++) {
		if (in_sequence(&side->records[k]))
			(*list)[next[side->records[k].group + 1]++] = (uint32_t)k;
	}
	return true;
}

static bool align_sequences(struct tr_diff *diff, size_t count)
{
	size_t *begins[2] = { NULL, NULL };
	uint32_t *lists[2] = { NULL, NULL };
	bool fine = true;

	if (!count)
		return true;
	for (unsigned i = 0; fine && i < 2; i++)
		fine = sort_sequences(&diff->sides[i], count, &begins[i], &lists[i]);
	for (size_t k = 0; fine && k < count; k++) {
		struct tr_align_side sides[2];
		for (unsigned i = 0; i < 2; i++)
			sides[i] = (struct tr_align_side){ diff->sides[i].records,
							   lists[i] + begins[i][k],
							   begins[i][k + 1] - begins[i][k] };
		fine = tr_align_sequence(&sides[0], &sides[1]);
	}
	for (unsigned i = 0; i < 2; i++) {
		free(begins[i]);
		free(lists[i]);
	}
	return fine;
}

/* Names that the runs chose. */

static uint64_t name_at(const char *names, size_t i)
{
	uint64_t name;

	memcpy(&name, names + i * sizeof name, sizeof name);
	return name;
}

/* Votes with the names of all pairs. False: err is filled. */
static bool vote(struct tr_diff *diff, struct tr_error *err)
{
	const struct tr_diff_record *a = diff->sides[0].records, *b = diff->sides[1].records;

	for (size_t k = 0; k < diff->sides[0].count; k++) {
		const char *left, *right;
		uint64_t count, other;
		if (!(a[k].named || a[k].late) || a[k].match == TR_ALIGN_NONE ||
		    a[k].content != b[a[k].match].content)
			continue;
		if (!tr_diff_names(diff, 0, (uint32_t)k, &left, &count, err) ||
		    !tr_diff_names(diff, 1, a[k].match, &right, &other, err))
			return false;
		/* the names correspond, because the contents are equal */
		for (size_t i = 0; i < count && i < other; i++) {
			if (!tr_renames_vote(&diff->renames, name_at(left, i), name_at(right, i))) {
				tr_error_memory(err);
				return false;
			}
		}
	}
	return true;
}

/*
 * Makes the names that were decided a part of the contents, those of the first trace as the second
 * has them. False: err is filled.
 */
static bool hash_names(struct tr_diff *diff, struct tr_error *err)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		for (size_t k = 0; k < side->count; k++) {
			const char *names;
			uint64_t count;
			if (!side->records[k].named && !side->records[k].late)
				continue;
			if (!tr_diff_names(diff, i, (uint32_t)k, &names, &count, err))
				return false;
			for (size_t n = 0; n < count; n++) {
				uint64_t name = name_at(names, n), partner = name;
				/* a name without a partner is no name of the second trace */
				if (i == 0 && !tr_renames_partner(&diff->renames, name, &partner))
					partner = ~name;
				side->records[k].content =
					tr_number_hash(side->records[k].content, partner);
			}
		}
	}
	return true;
}

/* Forgets the partners of all records but those of processes, which stay. */
static void forget_partners(struct tr_diff *diff)
{
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < diff->sides[i].count; k++) {
			struct tr_diff_record *record = &diff->sides[i].records[k];
			if (record->class == TR_DIFF_EXEC || record->class == TR_DIFF_EXIT)
				continue;
			record->match = TR_ALIGN_NONE;
			record->moved = 0;
		}
	}
}

/* Adds what processes did to the contents of their programs, or takes it off again. */
static void add_deeds(struct tr_diff *diff, bool add)
{
	for (unsigned i = 0; i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		for (size_t k = 0; side->counts[TR_DIFF_EXEC] && k < side->count; k++) {
			const struct tr_diff_record *record = &side->records[k];
			if (record->class != TR_DIFF_EXIT && record->class != TR_DIFF_PROCESS)
				continue;
			uint32_t exec = side->images[record->group].exec;
			uint64_t deed = add ? record->content : -record->content;
			if (exec != TR_ALIGN_NONE)
				side->records[exec].content += deed;
		}
	}
}

/* Pairs programs. Of equal ones those belong together that did the same. False: err is filled. */
static bool align_programs(struct tr_diff *diff, struct tr_error *err)
{
	add_deeds(diff, true);
	bool fine = align_set(diff, TR_DIFF_EXEC, true);
	add_deeds(diff, false);
	/* most programs are the same and need no key */
	if (fine && !tr_diff_set_keys(diff, err))
		return false;
	if (fine && align_set(diff, TR_DIFF_EXEC, false))
		return pair_similar(diff, err);
	tr_error_memory(err);
	return false;
}

bool tr_diff_align(struct tr_diff *diff, struct tr_error *err)
{
	tr_diff_forget_ids(&diff->sides[0]);
	tr_diff_forget_ids(&diff->sides[1]);
	if (!tr_diff_learn_objects(diff, err) || !align_programs(diff, err))
		return false;
	size_t sequences;
	if (!name_images(diff) || !imply_records(diff) || !align_set(diff, TR_DIFF_EXIT, false) ||
	    !align_set(diff, TR_DIFF_SET, false) || !number_sequences(diff, &sequences) ||
	    !align_sequences(diff, sequences))
		goto exhausted;
	if (!vote(diff, err))
		return false;
	if (!tr_renames_decide(&diff->renames))
		goto exhausted;
	if (!diff->renames.conflict)
		return tr_diff_settle(diff, err);
	/* names mean different things at some places: these do not belong together */
	if (!hash_names(diff, err))
		return false;
	forget_partners(diff);
	if (align_set(diff, TR_DIFF_SET, false) && align_sequences(diff, sequences))
		return tr_diff_settle(diff, err);
exhausted:
	tr_error_memory(err);
	return false;
}
