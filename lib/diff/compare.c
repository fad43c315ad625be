/* SPDX-License-Identifier: MIT */
/*
 * Finds the matches of all records: of programs first, because the rest depends on which process is
 * which; then of sets; then of each sequence. At last, checks that the names that a run chose
 * correspond throughout.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "diff/stream.h"

/* A program is compared with at most CANDIDATES of the same name among at most LOOKS others. */
enum { CANDIDATES = 64, LOOKS = 1024 };

/* Lists of records of both sides. */
struct lists {
	struct tr_align_side sides[2];
	bool failed;
};

static void free_lists(struct lists *lists)
{
	free(lists->sides[0].list);
	free(lists->sides[1].list);
}

/* Lists the records of a class that have no match. */
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
		if (!to->list || !count)
			continue;
		/* exec records are few among others, and their images have them in order */
		if (class == TR_DIFF_EXEC) {
			for (size_t k = 0; k < side->image_count; k++) {
				const struct tr_diff_image *image = &side->images[k];
				if (!image->forked &&
				    side->records[image->program].match == TR_ALIGN_NONE)
					to->list[to->count++] = image->program;
			}
			continue;
		}
		/* in most traces with sets, all records are in one */
		bool all = class == TR_DIFF_SET && count == side->count;
		for (; all && to->count < count; to->count++)
			to->list[to->count] = (uint32_t)to->count;
		for (size_t k = 0; !all && k < side->count; k++) {
			const struct tr_diff_record *record = &side->records[k];
			if (record->class == class && !record->implied &&
			    record->match == TR_ALIGN_NONE)
				to->list[to->count++] = (uint32_t)k;
		}
	}
	return lists;
}

/* Aligns the records of a class as a set. equal: pairs only equal records. */
static bool align_set(struct tr_diff *diff, enum tr_diff_class class, bool equal)
{
	struct lists lists = list_class(diff, class);

	if (!lists.failed)
		tr_align_set(&lists.sides[0], &lists.sides[1], equal);
	free_lists(&lists);
	return !lists.failed;
}

/*
 * Sets *exchanged to whether the sides are exchanged before they are aligned: where there is a
 * choice, it must not depend on which trace is the first one. The first lines that are not equal
 * decide, because the hashes are seeded at random. A single record on each side leaves no choice.
 * Lists that are NULL have all records. False: err is filled.
 */
static bool choose_first(struct tr_diff *diff, const struct tr_align_side *sides, bool *exchanged,
			 struct tr_error *err)
{
	const struct tr_align_side *a = &sides[0], *b = &sides[1];
	int order = (a->count > b->count) - (a->count < b->count);

	for (size_t i = 0; order == 0 && i < a->count && a->count > 1; i++) {
		uint32_t p = a->list ? a->list[i] : (uint32_t)i;
		uint32_t q = b->list ? b->list[i] : (uint32_t)i, match = a->records[p].match;
		if (a->records[p].content == b->records[q].content &&
		    (match == q || match == TR_ALIGN_NONE))
			continue;
		struct tr_text left = tr_diff_split(diff, 0, p, err);
		struct tr_text right = left.data ? tr_diff_split(diff, 1, q, err) : left;
		if (!right.data)
			return false;
		order = tr_text_compare(left, right);
	}
	*exchanged = order > 0;
	return true;
}

/* Programs that have changed. */

/* The hashes of the words of a command. */
struct words {
	uint64_t program;
	uint64_t *list; /* sorted; the directory is one of them */
	size_t count, cap;
	uint64_t bits; /* one bit for each word */
	uint32_t record;
};

/* Reads the strings of a command's argv and cwd, which follow its name. False: memory is exhausted. */
static bool read_words(uint64_t seed, const struct tr_normal *command, struct words *words)
{
	for (size_t i = 1; i < command->count; i++) {
		const struct tr_normal_field *field = &command->fields[i];
		uint64_t place = tr_number_hash(seed, tr_text_is(field->key, "cwd"));
		const char *p = field->text.data, *end = p + field->text.len;
		while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
			const char *begin = p;
			p = tr_normal_string_end(p, end);
			if (!tr_array_room(words->list, words->count, words->cap))
				return false;
			words->list[words->count++] = tr_text_hash(place, tr_text_span(begin, p));
		}
	}
	tr_hashes_sort(words->list, words->count);
	for (size_t i = 0; i < words->count; i++)
		words->bits |= UINT64_C(1) << (words->list[i] & 63);
	return true;
}

/* Returns half of the words of two commands. */
static size_t half_of(const struct words *a, const struct words *b)
{
	return (a->count + b->count + 3) / 4;
}

/*
 * Returns how many words both commands have; 0 if it is less than half of them, or no more than
 * best. Most candidates are no better than the best one before: a bit of only one command is a word
 * of only that one.
 */
static inline size_t count_same(const struct words *a, const struct words *b, size_t best)
{
	size_t least = best ? best + 1 : half_of(a, b);
	uint64_t bits = a->bits & ~b->bits;

	for (size_t spare = a->count; bits && spare > least; spare--)
		bits &= bits - 1;
	if (bits || a->count < least)
		return 0;
	least = least < half_of(a, b) ? half_of(a, b) : least;
	return tr_hashes_common(a->list, a->count, b->list, b->count, least);
}

/* Reads the words of a program into the memory of another one. False: err is filled. */
static bool load_words(struct tr_diff *diff, unsigned which, uint32_t number, struct words *words,
		       struct tr_error *err)
{
	struct tr_normal *normal = &diff->sides[which].normal;
	uint64_t seed = diff->rules.seed;

	*words = (struct words){ .list = words->list, .cap = words->cap, .record = number };
	if (!tr_diff_read_command(diff, which, number, err))
		return false;
	words->program = tr_text_hash(seed, normal->fields[0].text);
	if (read_words(seed, normal, words))
		return true;
	tr_error_memory(err);
	return false;
}

/* The words of programs of one trace that have no match. */
struct candidates {
	struct words list[LOOKS]; /* the rest of it has the memory of those that were removed */
	size_t count, next;	  /* the place of the first program that was not read yet */
};

/*
 * Pairs a program of one trace with the candidate of the same name in `other`, which is the number
 * of the other trace, that shares most words with it, if these are at least half. programs: of the
 * other trace. False: err is filled.
 */
static bool pair_program(struct tr_diff *diff, const struct words *words, unsigned other,
			 const struct tr_align_side *programs, struct candidates *candidates,
			 struct tr_error *err)
{
	struct words *list = candidates->list;
	size_t tried = 0, best = 0, match = 0;

	for (size_t j = 0; j < LOOKS && tried < CANDIDATES; j++) {
		if (j == candidates->count) {
			if (candidates->next == programs->count)
				break;
			candidates->count++;
			if (!load_words(diff, other, programs->list[candidates->next++], &list[j],
					err))
				return false;
		}
		if (words->program != list[j].program)
			continue;
		tried++;
		size_t same = count_same(words, &list[j], best);
		if (same) {
			best = same;
			match = j;
		}
	}
	if (!best)
		return true;
	tr_align_pair(diff->sides[!other].records, words->record, diff->sides[other].records,
		      list[match].record);
	struct words removed = list[match];
	candidates->count--;
	memmove(&list[match], &list[match + 1], (candidates->count - match) * sizeof *list);
	list[candidates->count] = removed;
	return true;
}

/* Pairs programs that have no match with similar ones. False: err is filled. */
static bool pair_similar(struct tr_diff *diff, struct tr_error *err)
{
	struct lists lists = list_class(diff, TR_DIFF_EXEC);
	struct candidates *candidates = calloc(1, sizeof *candidates);
	struct words words = { 0 };
	bool fine = candidates && !lists.failed, exchanged = false;

	if (!fine)
		tr_error_memory(err);
	fine = fine && choose_first(diff, lists.sides, &exchanged, err);
	const struct tr_align_side *first = &lists.sides[exchanged];
	const struct tr_align_side *second = &lists.sides[!exchanged];
	for (size_t i = 0; fine && i < first->count; i++) {
		if (!candidates->count && candidates->next == second->count)
			break;
		fine = load_words(diff, exchanged, first->list[i], &words, err) &&
		       pair_program(diff, &words, !exchanged, second, candidates, err);
	}
	free(words.list);
	for (size_t i = 0; candidates && i < LOOKS; i++)
		free(candidates->list[i].list);
	free(candidates);
	free_lists(&lists);
	return fine;
}

/* Processes. */

/*
 * Returns the id of an image that has a relation to the record, image or stream of this number. An
 * image has room for 62 bits of it.
 */
static uint64_t image_id(const struct tr_diff *diff, unsigned relation, uint64_t number)
{
	return tr_number_hash(tr_number_hash(diff->rules.seed, relation), number) >> 2;
}

/* Calls tr_streams_pair with all records of both sides. */
static bool pair_streams(struct tr_diff *diff, struct tr_streams *streams, bool threads,
			 bool in_order)
{
	struct tr_align_side records[2];

	for (unsigned i = 0; i < 2; i++)
		records[i] = (struct tr_align_side){ diff->sides[i].records, NULL,
						     diff->sides[i].count };
	return tr_streams_pair(streams, records, threads, in_order);
}

/* Pairs programs that have the same key by what they do. False: memory is exhausted. */
static bool pair_programs_by_records(struct tr_diff *diff)
{
	struct tr_streams streams[2] = { { .list = NULL }, { .list = NULL } };
	struct tr_diff_record *records[] = { diff->sides[0].records, diff->sides[1].records };
	bool fine = true;

	for (unsigned i = 0; fine && i < 2; i++) {
		const struct tr_diff_side *side = &diff->sides[i];
		fine = tr_streams_begin(&streams[i], side->image_count);
		for (uint32_t k = 0; fine && k < side->image_count; k++) {
			const struct tr_diff_image *image = &side->images[k];
			if (!image->forked && records[i][image->program].match == TR_ALIGN_NONE)
				fine = tr_streams_add(&streams[i], k,
						      records[i][image->program].key);
		}
	}
	fine = fine && pair_streams(diff, streams, false, false);
	for (size_t k = 0; fine && k < streams[0].count; k++) {
		const struct tr_diff_record *a = &streams[0].list[k];
		if (a->match == TR_ALIGN_NONE)
			continue;
		uint32_t other = streams[1].list[a->match].group;
		tr_align_pair(records[0], diff->sides[0].images[a->group].program, records[1],
			      diff->sides[1].images[other].program);
	}
	tr_streams_free(streams);
	return fine;
}

/* Gives threads of the second trace the numbers of their matches. False: memory is exhausted. */
static bool pair_threads(struct tr_diff *diff)
{
	struct tr_streams streams[2] = { { .list = NULL }, { .list = NULL } };
	const uint32_t a_threads = diff->sides[0].threads;
	struct tr_diff_side *b = &diff->sides[1];
	bool fine = true;

	if (a_threads <= 1 && b->threads <= 1)
		return true;
	for (unsigned i = 0; fine && i < 2; i++) {
		fine = tr_streams_begin(&streams[i], diff->sides[i].threads);
		for (uint32_t k = 0; fine && k < diff->sides[i].threads; k++)
			fine = tr_streams_add(&streams[i], k, 0);
	}
	fine = fine && pair_streams(diff, streams, true, true);
	for (size_t k = 0; fine && k < b->count; k++) {
		struct tr_diff_record *record = &b->records[k];
		if (record->class != TR_DIFF_THREAD)
			continue;
		uint32_t match = streams[1].list[record->group].match;
		record->group = match == TR_ALIGN_NONE ? a_threads + record->group : match;
	}
	tr_streams_free(streams);
	return fine;
}

/*
 * Gives matching images of both sides the same id. The match of a process that calls no exec is a
 * child of the match of the program that started it, or of a child of that.
 */
static bool pair_images(struct tr_diff *diff)
{
	enum { PAIR, SINGLE, FORKED, CHILD, ROOT, ALIKE, ALONE };
	struct tr_streams streams[2] = { { .list = NULL }, { .list = NULL } };
	bool fine = true;

	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		for (size_t k = 0; k < side->image_count; k++) {
			struct tr_diff_image *image = &side->images[k];
			if (image->forked)
				continue;
			uint32_t match = side->records[image->program].match;
			if (match == TR_ALIGN_NONE)
				image->id = image_id(diff, SINGLE + 8 * i, image->program);
			else
				image->id = image_id(diff, PAIR, i ? match : image->program);
		}
		fine = tr_streams_begin(&streams[i], side->image_count);
		for (uint32_t k = 0; fine && k < side->image_count; k++) {
			struct tr_diff_image *image = &side->images[k];
			uint32_t parent = image->parent;
			if (!image->forked)
				continue;
			if (image->program != TR_DIFF_NONE)
				image->id = image_id(diff, FORKED, side->images[image->program].id);
			else if (parent != TR_DIFF_NONE &&
				 (parent < k || !side->images[parent].forked))
				image->id = image_id(diff, CHILD, side->images[parent].id);
			else
				image->id = image_id(diff, ROOT, 0);
			if (image->program == TR_DIFF_NONE)
				fine = tr_streams_add(&streams[i], k, image->id);
		}
	}
	fine = fine && pair_streams(diff, streams, false, true);
	for (unsigned i = 0; fine && i < 2; i++) {
		for (uint32_t k = 0; k < streams[i].count; k++) {
			const struct tr_diff_record *stream = &streams[i].list[k];
			diff->sides[i].images[stream->group].id =
				stream->match == TR_ALIGN_NONE
					? image_id(diff, ALONE + 8 * i, k)
					: image_id(diff, ALIKE, i ? stream->match : k);
		}
	}
	tr_streams_free(streams);
	return fine;
}

static uint64_t id_at(const void *images, uint32_t number)
{
	return ((const struct tr_diff_image *)images)[number].id;
}

/*
 * Replaces the ids of images by numbers: those of the first trace in order, then those of images
 * that are only in the second one. False: memory is exhausted.
 */
static bool number_images(struct tr_diff *diff)
{
	struct tr_diff_side *a = &diff->sides[0], *b = &diff->sides[1];
	struct tr_index index = { .hash = id_at };
	bool fine = true;

	for (uint32_t k = 0; fine && k < a->image_count; k++)
		fine = tr_index_put(&index, a->images, k);
	for (uint32_t k = 0; fine && k < b->image_count; k++) {
		uint32_t number;
		b->images[k].both = tr_index_find(&index, a->images, b->images[k].id, &number);
		if (b->images[k].both)
			a->images[number].both = 1;
		b->images[k].id = b->images[k].both ? number : a->image_count + k;
	}
	for (uint32_t k = 0; fine && k < a->image_count; k++)
		a->images[k].id = k;
	tr_index_free(&index);
	return fine;
}

/*
 * True if a process is in both traces. Records before its first program belong to it, even if the
 * other trace has none of them.
 */
static bool is_in_both(const struct tr_diff_side *side, const struct tr_diff_image *image)
{
	return image->both || (image->forked && image->program != TR_DIFF_NONE &&
			       side->images[image->program].both);
}

/*
 * True if another record shows that an image is in one trace only: that of its program, or those of
 * the process that forked it and began before it (a trace may have processes that forked each
 * other).
 */
static bool is_implied(const struct tr_diff_side *side, const struct tr_diff_image *image)
{
	uint32_t number = (uint32_t)(image - side->images);

	return !image->forked || image->program != TR_DIFF_NONE ||
	       (image->parent < number && !side->images[image->parent].both);
}

/*
 * Marks the records of processes that are in one trace only as implied. If no other record shows
 * this, the first one of the process is marked as alone. False: memory is exhausted.
 */
static bool mark_implied(struct tr_diff *diff)
{
	const size_t *a = diff->sides[0].counts, *b = diff->sides[1].counts;

	if (!a[TR_DIFF_EXIT] && !a[TR_DIFF_PROCESS] && !b[TR_DIFF_EXIT] && !b[TR_DIFF_PROCESS])
		return true;
	if (!pair_images(diff) || !number_images(diff))
		return false;
	bool fine = true;
	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		bool *seen = calloc(side->image_count + 1, sizeof *seen);
		fine = seen != NULL;
		for (size_t k = 0; fine && k < side->count; k++) {
			struct tr_diff_record *record = &side->records[k];
			if (record->class != TR_DIFF_EXIT && record->class != TR_DIFF_PROCESS)
				continue;
			const struct tr_diff_image *image = &side->images[record->group];
			record->implied = !is_in_both(side, image);
			if (record->implied && !seen[record->group] && !is_implied(side, image)) {
				record->implied = 0;
				record->alone = 1;
			}
			seen[record->group] = true;
			if (record->class == TR_DIFF_EXIT)
				record->key = image->id;
		}
		free(seen);
	}
	return fine;
}

/* Sequences. */

static bool has_sequences(const struct tr_diff_side *side)
{
	return side->counts[TR_DIFF_PROCESS] || side->counts[TR_DIFF_THREAD] ||
	       side->counts[TR_DIFF_KIND];
}

static bool in_sequence(const struct tr_diff_record *record)
{
	return record->class >= TR_DIFF_PROCESS && !record->implied;
}

/*
 * Numbers the sequences of both sides, first those of processes by their images, then those of
 * threads, then those of kinds, and sets record->group to the number. False: memory is exhausted.
 */
static bool number_sequences(struct tr_diff *diff, size_t *count)
{
	const struct tr_diff_side *a = &diff->sides[0], *b = &diff->sides[1];
	struct tr_id_map kinds = TR_ID_MAP_INIT;
	size_t threads = a->image_count + b->image_count;
	bool fine = true;

	*count = threads + a->threads + b->threads;
	for (unsigned i = 0; fine && i < 2; i++) {
		struct tr_diff_side *side = &diff->sides[i];
		for (size_t k = 0; fine && has_sequences(side) && k < side->count; k++) {
			struct tr_diff_record *record = &side->records[k];
			if (!in_sequence(record))
				continue;
			if (record->class == TR_DIFF_PROCESS) {
				record->group = (uint32_t)side->images[record->group].id;
			} else if (record->class == TR_DIFF_THREAD) {
				record->group += (uint32_t)threads;
			} else {
				uintptr_t number = (uintptr_t)tr_id_map_get(&kinds, record->group);
				/* the map has numbers, not pointers */
				if (!number) {
					number = ++*count;
					fine = tr_id_map_put(&kinds, record->group, (void *)number);
				}
				record->group = (uint32_t)(number - 1);
			}
		}
	}
	tr_id_map_free(&kinds);
	return fine;
}

/* Sorts the records of a side by their sequence; sets *begins to where each begins, and the end. */
static bool sort_sequences(const struct tr_diff_side *side, size_t count, uint32_t **begins,
			   uint32_t **list)
{
	uint32_t *next = calloc(count + 2, sizeof *next);
	size_t total = 0;

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

static bool align_sequences(struct tr_diff *diff, size_t count, struct tr_error *err)
{
	uint32_t *begins[2] = { NULL, NULL };
	uint32_t *lists[2] = { NULL, NULL };
	bool fine = true;

	if (!count)
		return true;
	tr_error_clear(err);
	for (unsigned i = 0; fine && i < 2; i++)
		fine = sort_sequences(&diff->sides[i], count, &begins[i], &lists[i]);
	for (size_t k = 0; fine && k < count; k++) {
		struct tr_align_side sides[2];
		bool exchanged;
		for (unsigned i = 0; i < 2; i++)
			sides[i] = (struct tr_align_side){ diff->sides[i].records,
							   lists[i] + begins[i][k],
							   begins[i][k + 1] - begins[i][k] };
		/* make looks at files when its jobs end, which has no order */
		if (k < diff->sides[0].image_count && diff->sides[0].images[k].make)
			tr_align_set(&sides[0], &sides[1], false);
		else
			fine = choose_first(diff, sides, &exchanged, err) &&
			       tr_align_sequence(&sides[exchanged], &sides[!exchanged]);
	}
	for (unsigned i = 0; i < 2; i++) {
		free(begins[i]);
		free(lists[i]);
	}
	if (!fine && err->cause == TR_CAUSE_NONE)
		tr_error_memory(err);
	return fine;
}

/* Calls that make may have made for its job server. */

/* A call of a process to be paired with one of the other trace. */
struct call {
	uint64_t key;	 /* of its content and its process */
	uint32_t place;	 /* in the trace that has the calls that were left out: 1 + its number, */
			 /* or where the other call would be */
	uint32_t number; /* of the record */
};

struct calls {
	struct call *list;
	size_t count, cap;
};

static bool add_call(struct calls *calls, const struct tr_diff_side *side, uint32_t number,
		     uint64_t process, uint32_t place)
{
	uint64_t key = tr_number_hash(side->records[number].content, process);

	if (!tr_array_room(calls->list, calls->count, calls->cap))
		return false;
	calls->list[calls->count++] = (struct call){ key, place, number };
	return true;
}

static int by_call(const void *left, const void *right)
{
	const struct call *p = left, *q = right;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	if (p->place != q->place)
		return p->place < q->place ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

/*
 * Lists the calls of a side that were left out (leave_out_jobs in side.c), and calls of the other
 * side, which are compared but have no match, in the same processes. places: zero for each process;
 * of those with calls that were left out, becomes the place after the match of the last call.
 */
static bool list_calls(const struct tr_diff_side *side, const struct tr_diff_side *other,
		       uint32_t *places, struct calls *spare, struct calls *single)
{
	bool fine = true;

	for (uint32_t k = 0; fine && k < side->count; k++) {
		const struct tr_diff_record *record = &side->records[k];
		if (!record->spare || record->class != TR_DIFF_NOT_COMPARED)
			continue;
		uint64_t process = side->images[record->group].id;
		places[process] = 1;
		fine = add_call(spare, side, k, process, k + 1);
	}
	for (uint32_t k = 0; fine && spare->count && k < other->count; k++) {
		const struct tr_diff_record *record = &other->records[k];
		if (record->class != TR_DIFF_PROCESS || !in_sequence(record) ||
		    !places[record->group])
			continue;
		if (record->match == TR_ALIGN_NONE && record->named && !record->spare)
			fine = add_call(single, other, k, record->group, places[record->group]);
		else if (record->match != TR_ALIGN_NONE && !record->moved)
			places[record->group] = record->match + 2;
	}
	if (spare->count)
		qsort(spare->list, spare->count, sizeof *spare->list, by_call);
	if (single->count)
		qsort(single->list, single->count, sizeof *single->list, by_call);
	return fine;
}

/*
 * Pairs calls of a side that were left out with equal calls of the same process that have no match
 * in the other trace: a descriptor whose opening is not in the trace may be one of make's pipes,
 * but in the other trace it is a file. False: memory is exhausted.
 */
static bool pair_spare(struct tr_diff *diff, unsigned which, size_t processes)
{
	struct tr_diff_side *side = &diff->sides[which], *other = &diff->sides[!which];
	struct calls spare = { 0 }, single = { 0 };

	/* without calls that are compared, processes have no numbers (mark_implied) */
	if (!side->counts[TR_DIFF_NOT_COMPARED] || !other->counts[TR_DIFF_PROCESS])
		return true;
	uint32_t *places = calloc(processes + 1, sizeof *places);
	bool fine = places && list_calls(side, other, places, &spare, &single);
	for (size_t i = 0, j = 0; fine && i < spare.count && j < single.count;) {
		const struct call *p = &spare.list[i], *q = &single.list[j];
		/* calls before its place are taken only if no others are left */
		bool skips = p->key == q->key && p->place < q->place && i + 1 < spare.count &&
			     p[1].key == p->key;
		if (p->key == q->key && !skips) {
			struct tr_diff_record *record = &side->records[p->number];
			record->group = (uint32_t)side->images[record->group].id;
			record->class = TR_DIFF_PROCESS;
			side->counts[TR_DIFF_PROCESS]++;
			side->counts[TR_DIFF_NOT_COMPARED]--;
			tr_align_pair(side->records, p->number, other->records, q->number);
		}
		i += p->key <= q->key;
		j += q->key < p->key || (p->key == q->key && !skips);
	}
	free(places);
	free(spare.list);
	free(single.list);
	return fine;
}

/* Leaves out the calls of pair_spare that have lost their match again, because names conflict. */
static void drop_spare(struct tr_diff_side *side)
{
	for (size_t k = 0; k < side->count; k++) {
		struct tr_diff_record *record = &side->records[k];
		if (record->spare && record->match == TR_ALIGN_NONE)
			record->class = TR_DIFF_NOT_COMPARED;
	}
}

/* Names that the runs chose. */

/* Returns the hash of a name. Sets *opened to whether the call opened it. */
static uint64_t name_at(const char *names, size_t i, bool *opened)
{
	uint64_t name;

	memcpy(&name, names + i * sizeof name, sizeof name);
	*opened = name & TR_RUN_NAME_OPENED;
	return name & ~(uint64_t)TR_RUN_NAME_OPENED;
}

/*
 * Votes for the names at the same places of equal records, in the order of the trace that
 * choose_first chooses. False: err is filled.
 */
static bool vote(struct tr_diff *diff, struct tr_error *err)
{
	enum { OPENED_VOTES = 1 << 28 };
	struct tr_align_side all[2];
	bool first;

	for (unsigned i = 0; i < 2; i++)
		all[i] = (struct tr_align_side){ diff->sides[i].records, NULL,
						 diff->sides[i].count };
	if (!diff->sides[0].any_named)
		return true;
	if (!choose_first(diff, all, &first, err))
		return false;
	for (uint32_t k = 0; k < all[first].count; k++) {
		const struct tr_diff_record *record = &all[first].records[k];
		const char *left, *right;
		uint64_t count, other;
		if (!(record->named || record->late) || record->match == TR_ALIGN_NONE ||
		    record->content != all[!first].records[record->match].content)
			continue;
		uint32_t a = first ? record->match : k, b = first ? k : record->match;
		if (!tr_diff_read_names(diff, 0, a, &left, &count, err) ||
		    !tr_diff_read_names(diff, 1, b, &right, &other, err))
			return false;
		/* the names correspond, because the contents are equal */
		for (size_t i = 0; i < count && i < other; i++) {
			bool opened, both;
			uint64_t name = name_at(left, i, &opened), to = name_at(right, i, &both);
			/* the file that a descriptor was opened for outweighs its uses */
			if (!tr_renames_vote(&diff->renames, name, to,
					     opened && both ? OPENED_VOTES : 1, a)) {
				tr_error_memory(err);
				return false;
			}
		}
	}
	return true;
}

/*
 * Pairs names. Of several that could be paired, those that are spelled alike are preferred: only
 * for them the records are read again. False: err is filled.
 */
static bool decide(struct tr_diff *diff, struct tr_error *err)
{
	struct tr_renames *renames = &diff->renames;
	const struct tr_normal *a = &diff->sides[0].normal, *b = &diff->sides[1].normal;
	uint32_t last = TR_ALIGN_NONE;
	size_t at = 0;

	if (!tr_renames_index(renames))
		goto exhausted;
	for (size_t i = 0; i < renames->count; i++) {
		struct tr_rename *pair = &renames->list[i];
		uint32_t match = diff->sides[0].records[pair->place].match;
		if (!pair->contested)
			continue;
		if (pair->place != last && (!tr_diff_read(diff, 0, pair->place, err).data ||
					    !tr_diff_read(diff, 1, match, err).data))
			return false;
		at = pair->place == last ? at : 0;
		last = pair->place;
		/* the pairs of a record are listed in the order of its names */
		while (at < a->name_count && at < b->name_count &&
		       (a->names[at].hash != pair->a || b->names[at].hash != pair->b))
			at++;
		pair->alike = at < a->name_count && at < b->name_count &&
			      tr_text_equal(a->names[at].text, b->names[at].text);
	}
	if (tr_renames_decide(renames))
		return true;
exhausted:
	tr_error_memory(err);
	return false;
}

/*
 * Adds the names to the contents of records, those of the first trace as their new names. False:
 * err is filled.
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
			if (!tr_diff_read_names(diff, i, (uint32_t)k, &names, &count, err))
				return false;
			for (size_t n = 0; n < count; n++) {
				bool opened;
				uint64_t name = name_at(names, n, &opened), new_name = name;
				/* an unpaired name must not equal one of the second trace */
				if (i == 0 && !tr_renames_find(&diff->renames, name, &new_name))
					new_name = ~name;
				side->records[k].content =
					tr_number_hash(side->records[k].content, new_name);
			}
		}
	}
	return true;
}

/* Unpairs all records but exec and exit records, which say which process is which. */
static void unpair_records(struct tr_diff *diff)
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

/*
 * For each image of a side, sums the contents of the records of its process after the exec record;
 * *sums stays NULL if there are no such records. False: memory is exhausted.
 */
static bool sum_contents(const struct tr_diff_side *side, uint64_t **sums)
{
	if (!side->counts[TR_DIFF_EXIT] && !side->counts[TR_DIFF_PROCESS])
		return true;
	*sums = calloc(side->image_count + 1, sizeof **sums);
	for (size_t k = 0; *sums && k < side->count; k++) {
		const struct tr_diff_record *record = &side->records[k];
		if (record->class == TR_DIFF_EXIT || record->class == TR_DIFF_PROCESS)
			(*sums)[record->group] += record->content;
	}
	return *sums != NULL;
}

/*
 * Pairs programs whose records are equal, and so is all that their processes did, of which sums has
 * the contents of both sides.
 */
static bool align_equal_programs(struct tr_diff *diff, uint64_t *const *sums)
{
	bool fine = true;

	for (unsigned step = 0; step < 2; step++) {
		for (unsigned i = 0; i < 2; i++) {
			struct tr_diff_side *side = &diff->sides[i];
			for (size_t k = 0; sums[i] && k < side->image_count; k++) {
				const struct tr_diff_image *image = &side->images[k];
				if (!image->forked)
					side->records[image->program].content +=
						step == 0 ? sums[i][k] : -sums[i][k];
			}
		}
		if (step == 0)
			fine = align_set(diff, TR_DIFF_EXEC, true);
	}
	return fine;
}

/*
 * Pairs programs. Most are equal, so environments are reduced and keys are computed only for the
 * rest; but without their arguments, programs that make other files would be equal. False: err is
 * filled.
 */
static bool align_programs(struct tr_diff *diff, struct tr_error *err)
{
	if (!diff->sides[0].counts[TR_DIFF_EXEC] || !diff->sides[1].counts[TR_DIFF_EXEC])
		return true;
	bool fine = false, by_key = tr_normal_ignores(&diff->rules, "argv");
	uint64_t *sums[2] = { NULL, NULL };
	if (!sum_contents(&diff->sides[0], &sums[0]) || !sum_contents(&diff->sides[1], &sums[1]) ||
	    (!by_key && !align_equal_programs(diff, sums)))
		goto exhausted;
	if (!tr_diff_compare_environments(diff, err))
		goto finish;
	if (!by_key && (diff->sides[0].rewritten_count || diff->sides[1].rewritten_count) &&
	    !align_equal_programs(diff, sums))
		goto exhausted;
	if (!tr_diff_set_keys(diff, err))
		goto finish;
	if (!pair_programs_by_records(diff) || !align_set(diff, TR_DIFF_EXEC, false))
		goto exhausted;
	fine = pair_similar(diff, err);
	goto finish;
exhausted:
	tr_error_memory(err);
finish:
	free(sums[0]);
	free(sums[1]);
	return fine;
}

bool tr_diff_align(struct tr_diff *diff, struct tr_error *err)
{
	for (unsigned i = 0; i < 2; i++) {
		tr_diff_end_segment(&diff->sides[i]);
		diff->sides[i].lines_end = tr_spool_size(diff->sides[i].spool);
		diff->sides[i].normal.checks = false; /* all records were checked */
	}
	if (!tr_diff_rehash_calls(diff, err) || !align_programs(diff, err))
		return false;
	size_t sequences;
	if (!mark_implied(diff) || !pair_threads(diff) || !align_set(diff, TR_DIFF_EXIT, false) ||
	    !align_set(diff, TR_DIFF_SET, false) || !number_sequences(diff, &sequences))
		goto exhausted;
	if (!align_sequences(diff, sequences, err))
		return false;
	if (!pair_spare(diff, 0, sequences) || !pair_spare(diff, 1, sequences))
		goto exhausted;
	if (!vote(diff, err) || !decide(diff, err))
		return false;
	if (!diff->renames.conflict)
		return tr_diff_apply_tolerances(diff, err);
	/* at some places the names do not correspond: these records are not equal */
	if (!hash_names(diff, err))
		return false;
	unpair_records(diff);
	if (!align_set(diff, TR_DIFF_SET, false))
		goto exhausted;
	if (!align_sequences(diff, sequences, err))
		return false;
	drop_spare(&diff->sides[0]);
	drop_spare(&diff->sides[1]);
	return tr_diff_apply_tolerances(diff, err);
exhausted:
	tr_error_memory(err);
	return false;
}
