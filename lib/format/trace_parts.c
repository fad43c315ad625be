/* SPDX-License-Identifier: MIT */
/*
 * Files that a recorder wrote at the same time are parts of one trace: operands, or members of an
 * archive, that follow each other become one place. The first file that is not a part has to be
 * opened to find that out; it is kept until its turn. An archive gives one member after the other,
 * so the bytes of its parts are kept in a spool until all are there.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/spool.h"
#include "format/trace_private.h"

struct tr_parts {
	struct tr_input **list;
	int64_t *numbers;
	size_t count;
};

/*
 * Files that a recorder wrote at the same time, opened together: operands behind
 * each other that are parts of one trace become one place. To know that, the
 * operand behind the last part has to be opened; it is kept until its turn.
 */

static void put_aside(struct tr_trace *trace, struct tr_trace_opened *opened)
{
	opened->place = trace->place;
	opened->name = trace->name;
	opened->member = trace->member;
	trace->name = trace->member = (struct tr_buffer)TR_BUFFER_INIT;
	trace->in = trace->place.in = NULL;
}

static void take_back(struct tr_trace *trace, const struct tr_trace_opened *opened)
{
	tr_buffer_free(&trace->name);
	tr_buffer_free(&trace->member);
	trace->place = opened->place;
	trace->in = opened->place.in;
	trace->name = opened->name;
	trace->member = opened->member;
}

/* The same for an operand, which may be an archive. */
static void put_operand_aside(struct tr_trace *trace, struct tr_trace_opened *opened)
{
	put_aside(trace, opened);
	opened->archives = trace->archives;
	trace->archives = (struct tr_trace_archives){ .path = TR_BUFFER_INIT };
}

static void take_operand_back(struct tr_trace *trace, const struct tr_trace_opened *opened)
{
	take_back(trace, opened);
	tr_trace_close_archives(&trace->archives);
	trace->archives = opened->archives;
}

static bool add_part(struct tr_parts *parts, struct tr_input *in, int64_t number)
{
	size_t count = parts->count + 1;
	struct tr_input **list = reallocarray(parts->list, count, sizeof(struct tr_input *));

	if (list)
		parts->list = list;
	int64_t *numbers = reallocarray(parts->numbers, count, sizeof *numbers);
	if (numbers)
		parts->numbers = numbers;
	if (!list || !numbers)
		return false;
	list[parts->count] = in;
	numbers[parts->count++] = number;
	return true;
}

static int64_t part_number(const struct tr_trace *trace)
{
	const struct tr_format *format = trace->place.format;

	if (trace->config.apart || !trace->in || !format || !format->part)
		return -1;
	struct tr_read_config config = trace->config.read;
	config.name = tr_trace_file_name(trace);
	return format->part(&config, trace->in);
}

static bool has_part(const struct tr_parts *parts, int64_t number)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->numbers[i] == number)
			return true;
	return false;
}

/* A file without content is a part of any trace. */
static bool is_empty(const struct tr_trace *trace)
{
	return trace->in && !trace->archives.count && !tr_input_more(trace->in, 1) &&
	       !trace->in->damaged;
}

/* Reads a small part to its end, which closes its descriptor: many processes make many files. */
static void look_for_end(const struct tr_trace *trace)
{
	enum { SMALL = 64 << 10 };
	uint64_t max = trace->config.read.limits.max_record;

	if (trace->place.size >= 0 && trace->place.size < SMALL)
		tr_input_more(trace->in, max < SMALL ? max : SMALL);
}

/* Opens the next operand. True: it is another part, and its window is added. */
static bool gather_one(struct tr_trace *trace, const struct tr_trace_opened *first,
		       struct tr_parts *parts, struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->ahead;
	struct tr_error opening;

	ahead->status =
		tr_trace_open_operand(trace, trace->operands[trace->next_operand], &opening);
	bool empty = ahead->status == TR_OK && is_empty(trace);
	int64_t number = ahead->status == TR_OK && !empty ? part_number(trace) : -1;
	bool another = empty || (number >= 0 && trace->place.format == first->place.format &&
				 !has_part(parts, number));
	if (another && !empty && !add_part(parts, trace->in, number)) {
		tr_error_memory(err);
		another = false;
	}
	if (empty)
		tr_input_free(trace->in);
	else if (another)
		look_for_end(trace);
	put_operand_aside(trace, ahead);
	ahead->there = !another;
	if (!another) {
		ahead->err = opening;
		return false;
	}
	tr_buffer_free(&ahead->name);
	tr_buffer_free(&ahead->member);
	trace->next_operand++;
	return true;
}

static enum tr_status merge_parts(struct tr_trace *trace, const struct tr_parts *parts,
				  struct tr_error *err)
{
	char more[64];
	struct tr_source *source =
		trace->place.format->merge(parts->list, parts->numbers, parts->count);

	trace->in = trace->place.in =
		source ? tr_input_new(source, &trace->config.read.limits, 0) : NULL;
	snprintf(more, sizeof more, " and %zu more", parts->count - 1);
	trace->name.len = strlen(trace->name.data);
	tr_buffer_put(&trace->name, more, strlen(more) + 1);
	if (!trace->in || trace->name.failed)
		return tr_error_memory(err);
	trace->place.name = trace->name.data;
	trace->place.size = -1;
	return TR_OK;
}

/* Gathers the parts that follow the one that is open. */
static enum tr_status gather(struct tr_trace *trace, int64_t number, struct tr_error *err)
{
	struct tr_parts parts = { NULL, NULL, 0 };
	struct tr_trace_opened first;
	enum tr_status status = TR_OK;

	tr_error_clear(err);
	if (!add_part(&parts, trace->in, number)) {
		tr_error_memory(err);
		status = TR_FATAL;
	}
	put_operand_aside(trace, &first);
	while (status == TR_OK && trace->next_operand < trace->operand_count &&
	       gather_one(trace, &first, &parts, err))
		;
	take_operand_back(trace, &first);
	if (parts.count > 1)
		status = merge_parts(trace, &parts, err);
	if (err->cause == TR_CAUSE_MEMORY)
		status = TR_FATAL;
	free(parts.list);
	free(parts.numbers);
	return status;
}

enum tr_status tr_trace_open_next(struct tr_trace *trace, struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->ahead;
	enum tr_status status;

	if (ahead->there) {
		ahead->there = false;
		trace->next_operand++;
		take_operand_back(trace, ahead);
		status = ahead->status;
		*err = ahead->err;
	} else {
		status = tr_trace_open_operand(trace, trace->operands[trace->next_operand++], err);
	}
	/* of one alone no more is looked at than its reader wants */
	bool more = status == TR_OK && trace->next_operand < trace->operand_count;
	int64_t number = more ? part_number(trace) : -1;
	if (number >= 0)
		status = gather(trace, number, err);
	return status;
}

void tr_trace_free_ahead(struct tr_trace *trace)
{
	struct tr_trace_opened *ahead = &trace->ahead;

	if (!ahead->there)
		return;
	tr_trace_interrupt_archives(&ahead->archives);
	tr_input_free(ahead->place.in);
	tr_trace_close_archives(&ahead->archives);
	tr_buffer_free(&ahead->name);
	tr_buffer_free(&ahead->member);
	ahead->there = false;
}

/* Members of archives. */

/*
 * Members of an archive that a recorder wrote at the same time: like operands
 * (trace_parts.c) they become one place where they stand behind each other. An
 * archive gives one member after the other, so the bytes of all are put aside
 * before the first line of them can be read.
 */

enum { WINDOW = 16 << 10 }; /* bytes for each member: there may be thousands */

/* The bytes of all members, one after the other. */
struct store {
	size_t references;
	struct tr_spool *spool;
};

/* The bytes of one member. */
struct kept {
	struct tr_source base;
	struct store *store;
	uint64_t offset, end;
	struct tr_error damage; /* what ended it early; no cause: nothing */
};

static void store_release(struct store *store)
{
	if (!store || --store->references > 0)
		return;
	tr_spool_free(store->spool);
	free(store);
}

static struct store *store_new(const struct tr_limits *limits)
{
	struct store *store = calloc(1, sizeof *store);

	if (!store)
		return NULL;
	store->references = 1;
	store->spool = tr_spool_new(limits->max_spool);
	if (store->spool)
		return store;
	free(store);
	return NULL;
}

static ssize_t kept_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct kept *kept = (struct kept *)source;
	uint64_t left = kept->end - kept->offset;
	size_t len = left < cap ? (size_t)left : cap;
	const char *data;

	if (!left && kept->damage.cause) {
		*err = kept->damage;
		return -1;
	}
	if (!len)
		return 0;
	if (!tr_spool_read(kept->store->spool, kept->offset, buf, &data, &len, err))
		return -1;
	if (data != buf)
		memcpy(buf, data, len);
	kept->offset += len;
	return (ssize_t)len;
}

static bool kept_would_wait(struct tr_source *source)
{
	(void)source;
	return false;
}

/* Progress counts the bytes of the archive. */
static uint64_t kept_raw_offset(struct tr_source *source)
{
	(void)source;
	return 0;
}

static void kept_close(struct tr_source *source)
{
	struct kept *kept = (struct kept *)source;

	store_release(kept->store);
	free(kept);
}

/* Stores the rest of the window, which is freed. False: err is filled. */
static bool store_all(struct store *store, struct tr_input *in, struct kept *kept,
		      struct tr_error *err)
{
	bool good = true;

	kept->offset = tr_spool_size(store->spool);
	while (good && tr_input_more(in, 1)) {
		size_t len = tr_input_available(in);
		good = tr_spool_write(store->spool, in->pos, len, err);
		tr_input_skip(in, len);
	}
	kept->end = tr_spool_size(store->spool);
	if (in->damaged)
		tr_input_error(in, &kept->damage);
	tr_input_free(in);
	return good;
}

/* Stores in, which is freed, and returns a window on its bytes. NULL: err is filled. */
static struct tr_input *put_away(struct store *store, struct tr_input *in,
				 const struct tr_limits *limits, struct tr_error *err)
{
	struct kept *kept = calloc(1, sizeof *kept);

	if (!kept) {
		tr_input_free(in);
		tr_error_memory(err);
		return NULL;
	}
	*kept = (struct kept){ .base = { .read = kept_read,
					 .would_wait = kept_would_wait,
					 .close = kept_close,
					 .raw_offset = kept_raw_offset },
			       .store = store };
	tr_error_clear(&kept->damage);
	store->references++;
	if (!store_all(store, in, kept, err)) {
		kept_close(&kept->base);
		return NULL;
	}
	struct tr_input *again = tr_input_new(&kept->base, limits, WINDOW);
	if (!again)
		tr_error_memory(err);
	return again;
}

/* Opens the next member, or takes the one that was opened before its turn. */
static enum tr_status open_next_member(struct tr_trace *trace, struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->member_ahead;

	if (!ahead->there)
		return tr_trace_open_member(trace, err);
	ahead->there = false;
	take_back(trace, ahead);
	*err = ahead->err;
	return ahead->status;
}

/* Keeps the member that is open, which is not a part, until its turn. */
static void keep_member_ahead(struct tr_trace *trace, enum tr_status status,
			      const struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->member_ahead;

	put_aside(trace, ahead);
	ahead->status = status;
	ahead->err = *err;
	ahead->there = true;
}

/* Opens the next member. True: it is another part, and added. */
static bool gather_member(struct tr_trace *trace, const struct tr_trace_opened *first,
			  struct store *store, struct tr_parts *parts, struct tr_error *err)
{
	const struct tr_limits *limits = &trace->config.read.limits;
	struct tr_error opening;

	tr_error_clear(&opening);
	enum tr_status status = tr_trace_open_member(trace, &opening);
	if (status == TR_END)
		return false;
	/* a member without content has no known format, and is a part */
	if (trace->in && !tr_input_more(trace->in, 1) && !trace->in->damaged) {
		tr_input_free(trace->in);
		trace->in = trace->place.in = NULL;
		return true;
	}
	int64_t number = status == TR_OK ? part_number(trace) : -1;
	if (number < 0 || trace->place.format != first->place.format || has_part(parts, number)) {
		keep_member_ahead(trace, status, &opening);
		return false;
	}
	struct tr_input *in = put_away(store, trace->in, limits, err);
	trace->in = trace->place.in = NULL;
	if (in && !add_part(parts, in, number)) {
		tr_input_free(in);
		tr_error_memory(err);
		return false;
	}
	return in != NULL;
}

/* Gathers the parts that follow the one that is open. */
static enum tr_status gather_members(struct tr_trace *trace, int64_t number, struct tr_error *err)
{
	struct tr_parts parts = { NULL, NULL, 0 };
	struct tr_trace_opened first;
	struct store *store = store_new(&trace->config.read.limits);
	enum tr_status status = TR_OK;

	tr_error_clear(err);
	if (!store)
		return tr_error_memory(err);
	struct tr_input *in = put_away(store, trace->in, &trace->config.read.limits, err);
	trace->in = trace->place.in = NULL;
	if (in && !add_part(&parts, in, number)) {
		tr_input_free(in);
		tr_error_memory(err);
	}
	put_aside(trace, &first);
	while (!err->cause && gather_member(trace, &first, store, &parts, err))
		;
	take_back(trace, &first);
	if (err->cause) {
		status = err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
		for (size_t i = 0; i < parts.count; i++)
			tr_input_free(parts.list[i]);
	} else if (parts.count > 1) {
		status = merge_parts(trace, &parts, err);
	} else {
		trace->in = trace->place.in = parts.list[0];
	}
	free(parts.list);
	free(parts.numbers);
	store_release(store);
	return status;
}

enum tr_status tr_trace_open_members(struct tr_trace *trace, struct tr_error *err)
{
	enum tr_status status = open_next_member(trace, err);
	int64_t number = status == TR_OK ? part_number(trace) : -1;

	return number >= 0 ? gather_members(trace, number, err) : status;
}

void tr_trace_free_member_ahead(struct tr_trace *trace)
{
	struct tr_trace_opened *ahead = &trace->member_ahead;

	if (!ahead->there)
		return;
	tr_input_free(ahead->place.in);
	tr_buffer_free(&ahead->name);
	tr_buffer_free(&ahead->member);
	ahead->there = false;
}
