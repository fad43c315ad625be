/* SPDX-License-Identifier: MIT */
/*
 * API calls: those that were entered and did not return (struct tr_live_calls), and sets of calls
 * by number and class, which are parsed here (struct scan). A set may be in a file, which is read
 * through a window like any input, so its size does not matter.
 */

#include "record/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/input.h"
#include "core/source.h"

unsigned tr_call_kinds_of(struct tr_call_kinds *kinds, struct tr_text name)
{
	enum { SLOTS = sizeof kinds->slots / sizeof *kinds->slots };

	if (name.len == 0 || name.len > sizeof kinds->slots->name)
		return kinds->ask(name);
	/* names of one API differ at their ends */
	size_t hash = (unsigned char)name.data[name.len - 1] * 5u +
		      (unsigned char)name.data[name.len / 2] * 19u + name.len;
	struct tr_call_kinds_slot *slot = &kinds->slots[hash % SLOTS];
	if (slot->len == name.len && memcmp(slot->name, name.data, name.len) == 0)
		return slot->kinds;
	slot->kinds = (unsigned char)kinds->ask(name);
	slot->len = (unsigned char)name.len;
	memcpy(slot->name, name.data, name.len);
	return slot->kinds;
}

/* The key is a text, because cells of both types, text and number, may identify the same call. */
static struct tr_text live_key(struct tr_live_calls *calls, const struct tr_record *record)
{
	tr_buffer_reset(&calls->key);
	tr_cell_write(&record->task, &calls->key);
	tr_buffer_put_byte(&calls->key, '\t');
	tr_cell_write(&record->seq, &calls->key);
	return tr_buffer_text(&calls->key);
}

/* Takes a call out of the list, in which calls are in the order of their enters. */
static void unlink_call(struct tr_live_calls *calls, struct tr_live_call *call)
{
	*(call->previous ? &call->previous->next : &calls->first) = call->next;
	*(call->next ? &call->next->previous : &calls->last) = call->previous;
}

void *tr_live_calls_add(struct tr_live_calls *calls, const struct tr_record *enter, size_t size,
			struct tr_live_call **twin)
{
	struct tr_text key = live_key(calls, enter);
	struct tr_live_call *call = calls->key.failed ? NULL : calloc(1, size + key.len);

	*twin = NULL;
	if (!call)
		return NULL;
	call->key = (struct tr_text){ (char *)call + size, key.len };
	memcpy((char *)call + size, key.data, key.len);
	struct tr_live_call *before = tr_map_get(&calls->by_key, key);
	if (!tr_map_put(&calls->by_key, call->key, call)) {
		free(call);
		return NULL;
	}
	if (before)
		unlink_call(calls, before);
	*twin = before;
	call->previous = calls->last;
	*(calls->last ? &calls->last->next : &calls->first) = call;
	calls->last = call;
	return call;
}

void *tr_live_calls_remove(struct tr_live_calls *calls, struct tr_live_call *call)
{
	tr_map_take(&calls->by_key, call->key);
	unlink_call(calls, call);
	return call;
}

void *tr_live_calls_take(struct tr_live_calls *calls, const struct tr_record *record)
{
	struct tr_text key = live_key(calls, record);
	struct tr_live_call *call = calls->key.failed ? NULL : tr_map_take(&calls->by_key, key);

	if (call)
		unlink_call(calls, call);
	return call;
}

void tr_live_calls_free(struct tr_live_calls *calls)
{
	for (struct tr_live_call *call = calls->first, *next; call; call = next) {
		next = call->next;
		free(call);
	}
	tr_map_free(&calls->by_key);
	tr_buffer_free(&calls->key);
	*calls = (struct tr_live_calls){ 0 };
}

/*
 * Ranges without a step or class are merged and found by bisection. The others are searched
 * backwards from the last one that begins at or before the number, while an earlier one can
 * reach it.
 */

/* Appends a range. False: memory is exhausted. */
static bool append(struct tr_call_ranges *ranges, const struct tr_call_range *range)
{
	if (!tr_array_room(ranges->list, ranges->count, ranges->cap))
		return false;
	ranges->list[ranges->count++] = *range;
	return true;
}

/* Adds a range to the whole ones or to the filtered ones. False: memory is exhausted. */
static bool put_range(struct tr_call_set *set, const struct tr_call_range *range)
{
	bool whole = !range->kinds && (range->step == 1 || range->first == range->last);

	return append(whole ? &set->whole : &set->filtered, range);
}

static int by_first(const void *a, const void *b)
{
	const struct tr_call_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/*
 * Sorts the ranges, and sets the reach of each: the highest number that it, or one before it,
 * contains. A search can stop at a range whose reach is too low.
 */
static void sort(struct tr_call_ranges *ranges)
{
	uint64_t reach = 0;

	if (ranges->count > 1)
		qsort(ranges->list, ranges->count, sizeof *ranges->list, by_first);
	for (size_t i = 0; i < ranges->count; i++) {
		struct tr_call_range *range = &ranges->list[i];
		range->reach = reach = range->last > reach ? range->last : reach;
	}
}

/* Merges ranges that overlap or follow each other. */
static void merge(struct tr_call_ranges *ranges)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		struct tr_call_range range = ranges->list[i];
		struct tr_call_range *before = kept ? &ranges->list[kept - 1] : NULL;
		if (before && (range.first <= before->last || range.first - before->last == 1))
			before->last = before->last > range.last ? before->last : range.last;
		else
			ranges->list[kept++] = range;
	}
	ranges->count = kept;
}

/* Prepares a set for searches, after a change. */
static void sort_set(struct tr_call_set *set)
{
	sort(&set->whole);
	merge(&set->whole);
	sort(&set->filtered);
}

/* Returns how many of the sorted ranges begin at or before the number. */
static size_t begun(const struct tr_call_ranges *ranges, uint64_t number)
{
	return tr_array_search(i, 0, ranges->count, ranges->list[i].first <= number);
}

bool tr_call_set_has(const struct tr_call_set *set, uint64_t number, unsigned kinds)
{
	size_t count = begun(&set->whole, number);

	if (count && number <= set->whole.list[count - 1].last)
		return true;
	for (count = begun(&set->filtered, number); count; count--) {
		const struct tr_call_range *range = &set->filtered.list[count - 1];
		if (range->reach < number)
			break;
		if (number <= range->last && (number - range->first) % range->step == 0 &&
		    (!range->kinds || (range->kinds & kinds)))
			return true;
	}
	return false;
}

enum tr_call_set_rest tr_call_set_rest(const struct tr_call_set *set, uint64_t number)
{
	const struct tr_call_ranges *whole = &set->whole, *filtered = &set->filtered;

	if (whole->count) {
		const struct tr_call_range *last = &whole->list[whole->count - 1];
		if (last->last == UINT64_MAX && last->first <= number)
			return TR_CALL_SET_ALL;
		if (last->last >= number)
			return TR_CALL_SET_SOME;
	}
	if (filtered->count && filtered->list[filtered->count - 1].reach >= number)
		return TR_CALL_SET_SOME;
	return TR_CALL_SET_NONE;
}

void tr_call_set_free(struct tr_call_set *set)
{
	free(set->whole.list);
	free(set->filtered.list);
	*set = (struct tr_call_set){ 0 };
}

/* The parser of the grammar in calls.h. It looks ahead by one byte, also in files. */

enum { BLOCK = 4096, WORD = 16 };

struct scan {
	struct tr_input *in;
	const char *file; /* for messages; NULL: the text is an argument */
	struct tr_call_set *set;
	struct tr_error *err;
	bool failed;
	uint64_t items;
};

static void parse(struct scan *s, struct tr_source *source);

/* The number of the next byte, from 1, for messages. */
static uint64_t column(const struct scan *s)
{
	return s->in->offset + 1;
}

/* Reports an error at that byte, from 1: what is wrong, and a word that ends the message. False. */
static bool fail(struct scan *s, uint64_t at, const char *what, const char *word)
{
	s->failed = true;
	tr_error_set(s->err, TR_CAUSE_USAGE, "%s%sbyte %llu: %s%s", s->file ? s->file : "",
		     s->file ? ", " : "", (unsigned long long)at, what, word);
	return false;
}

/* Fails the scan because memory is exhausted. False. */
static bool out_of_memory(struct scan *s)
{
	s->failed = true;
	tr_error_memory(s->err);
	return false;
}

/* The next byte; -1 at the end, or after a failure. */
static int peek(struct scan *s)
{
	if (!s->failed && tr_input_more(s->in, 1))
		return (unsigned char)*s->in->pos;
	if (!s->failed && s->in->damaged) {
		struct tr_error err;
		tr_input_error(s->in, &err);
		fail(s, column(s), err.text, "");
	}
	return -1;
}

static void step(struct scan *s)
{
	tr_input_skip(s->in, 1);
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
	return c >= 'a' && c <= 'z';
}

/* Skips blanks, and returns the next byte; negative: the end. */
static int skip_blanks(struct scan *s)
{
	while (tr_is_blank((char)peek(s)))
		step(s);
	return peek(s);
}

/* Skips this byte and the blanks around it. False: another byte is next. */
static bool skip(struct scan *s, int c)
{
	if (skip_blanks(s) != c)
		return false;
	step(s);
	skip_blanks(s);
	return true;
}

/* Reads a number, whose first digit is the next byte. */
static bool read_number(struct scan *s, uint64_t *n)
{
	uint64_t at = column(s);

	*n = 0;
	for (int c; is_digit(c = peek(s)); step(s)) {
		unsigned digit = (unsigned)(c - '0');
		if (*n > (UINT64_MAX - digit) / 10)
			return fail(s, at, "the number is too large", "");
		*n = *n * 10 + digit;
	}
	return true;
}

/* Reads the name of a class, whose first letter is the next byte. */
static bool read_class(struct scan *s, unsigned *kinds)
{
	static const struct {
		const char *word;
		unsigned kinds;
	} classes[] = {
		{ "frame", TR_CALL_END_FRAME },
		{ "rendertarget", TR_CALL_END_FRAME | TR_CALL_RENDER_TARGET },
		{ "fbo", TR_CALL_END_FRAME | TR_CALL_RENDER_TARGET },
		{ "render", TR_CALL_RENDER },
		{ "draw", TR_CALL_RENDER },
	};
	uint64_t at = column(s);
	char word[WORD];
	size_t len = 0;

	for (int c; is_letter(c = peek(s)); step(s)) {
		if (len < sizeof word - 1)
			word[len++] = (char)c;
	}
	word[len] = '\0';
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		if (strcmp(word, classes[i].word) == 0) {
			*kinds = classes[i].kinds;
			return true;
		}
	}
	return fail(s, at,
		    "numbers such as 10-19 or a class (frame, rendertarget, fbo, render, draw) "
		    "expected, not ",
		    word);
}

/* Reads N, N-, N-M or *; the next byte is a digit or the star. */
static bool read_range(struct scan *s, struct tr_call_range *range)
{
	uint64_t at = column(s);

	if (skip(s, '*'))
		return true;
	if (!read_number(s, &range->first))
		return false;
	if (!skip(s, '-'))
		range->last = range->first;
	else if (is_digit(peek(s)) && !read_number(s, &range->last))
		return false;
	return range->first <= range->last || fail(s, at, "the range ends before it begins", "");
}

/* Reads what follows the slash of a range. */
static bool read_filter(struct scan *s, struct tr_call_range *range)
{
	uint64_t at = column(s);

	if (is_letter(peek(s)))
		return read_class(s, &range->kinds);
	if (!is_digit(peek(s)))
		return fail(s, at, "a number or a class of calls expected after '/'", "");
	return read_number(s, &range->step) &&
	       (range->step > 0 || fail(s, at, "a step cannot be 0", ""));
}

/* Reads the name of a file, which ends at the next comma, and the file. */
static bool read_file(struct scan *s)
{
	struct tr_buffer name = TR_BUFFER_INIT;

	for (int c; (c = peek(s)) >= 0 && c != ','; step(s))
		tr_buffer_put_byte(&name, (char)c);
	if (!name.len)
		return fail(s, column(s), "file name expected after '@'", "");
	tr_buffer_put_byte(&name, '\0');
	if (name.failed) {
		out_of_memory(s);
	} else {
		struct scan file = { .file = name.data, .set = s->set, .err = s->err };
		int fd = open(name.data, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		s->failed = fd < 0;
		if (fd < 0) {
			tr_error_system(s->err, errno, "%s", name.data);
		} else {
			parse(&file, tr_source_fd(fd, true));
			s->failed = file.failed;
		}
	}
	tr_buffer_free(&name);
	return !s->failed;
}

/*
 * Reads one item of a set: @FILE, a class, or a range. In a file, @FILE is an error, so that files
 * cannot include each other endlessly.
 */
static bool read_item(struct scan *s)
{
	struct tr_call_range range = { .last = UINT64_MAX, .step = 1 };
	int c = peek(s);

	s->items++;
	if (c == '@' && !s->file) {
		step(s);
		return read_file(s);
	}
	if (is_letter(c)) {
		if (!read_class(s, &range.kinds))
			return false;
	} else if (!is_digit(c) && c != '*') {
		return fail(s, column(s), "a number, '*' or a class of calls expected", "");
	} else if (!read_range(s, &range) || (skip(s, '/') && !read_filter(s, &range))) {
		return false;
	}
	return put_range(s->set, &range) || out_of_memory(s);
}

/* Reads a set from a source, which it owns. Commas and blanks separate items. */
static void parse(struct scan *s, struct tr_source *source)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;

	s->in = source ? tr_input_new(source, &limits, BLOCK) : NULL;
	if (!s->in)
		out_of_memory(s);
	while (!s->failed && skip_blanks(s) >= 0)
		if (!skip(s, ',') && !read_item(s))
			break;
	tr_input_free(s->in);
}

bool tr_call_set_add(struct tr_call_set *set, struct tr_text text, struct tr_error *err)
{
	struct scan s = { .set = set, .err = err };

	parse(&s, tr_source_memory(text));
	if (!s.failed && !s.items)
		fail(&s, 1, "the set is empty", "");
	sort_set(set);
	return !s.failed;
}
