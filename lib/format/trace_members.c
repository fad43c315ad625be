/*
 * Members of an archive that a recorder wrote at the same time: like operands
 * (trace_parts.c) they become one place where they stand behind each other. An
 * archive gives one member after the other, so the bytes of all are put aside
 * before the first line of them can be read.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/spool.h"
#include "format/trace_private.h"

enum { WINDOW = 16 << 10 }; /* of each member: there may be thousands */

/* The bytes of all members behind each other. */
struct store {
	size_t references;
	struct tr_spool *spool;
};

/* One member's. */
struct kept {
	struct tr_source base;
	struct store *store;
	uint64_t offset, end;
	struct tr_error damage; /* what ended it early; cause NONE: nothing did */
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

/* It is the archive that was read from the file. */
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

/* Everything that is left in the window, which is freed. False: err says why not all of it. */
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

/* Another window for the same bytes. NULL: err is filled. in is freed. */
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

/* The next member, or the one that was opened before its turn. */
static enum tr_status open_next(struct tr_trace *trace, struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->member_ahead;

	if (!ahead->there)
		return tr_trace_open_member(trace, err);
	ahead->there = false;
	tr_trace_take_back(trace, ahead);
	*err = ahead->err;
	return ahead->status;
}

/* What is open was no part: it waits for its turn. */
static void keep_ahead(struct tr_trace *trace, enum tr_status status, const struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->member_ahead;

	tr_trace_put_aside(trace, ahead);
	ahead->status = status;
	ahead->err = *err;
	ahead->there = true;
}

/* Opens the next member. True: it is another part, and added. */
static bool gather_one(struct tr_trace *trace, const struct tr_trace_opened *first,
		       struct store *store, struct tr_parts *parts, struct tr_error *err)
{
	const struct tr_limits *limits = &trace->config.read.limits;
	struct tr_error opening;

	tr_error_clear(&opening);
	enum tr_status status = tr_trace_open_member(trace, &opening);
	if (status == TR_END)
		return false;
	/* what recorded nothing is of no known format, and a part all the same */
	if (trace->in && !tr_input_more(trace->in, 1) && !trace->in->damaged) {
		tr_input_free(trace->in);
		trace->in = trace->place.in = NULL;
		return true;
	}
	int64_t number = status == TR_OK ? tr_trace_part_number(trace) : -1;
	if (number < 0 || trace->place.format != first->place.format ||
	    tr_parts_have(parts, number)) {
		keep_ahead(trace, status, &opening);
		return false;
	}
	struct tr_input *in = put_away(store, trace->in, limits, err);
	trace->in = trace->place.in = NULL;
	if (in && !tr_parts_add(parts, in, number)) {
		tr_input_free(in);
		tr_error_memory(err);
		return false;
	}
	return in != NULL;
}

/* What is open is a part: as many more as there are behind it. */
static enum tr_status gather(struct tr_trace *trace, int64_t number, struct tr_error *err)
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
	if (in && !tr_parts_add(&parts, in, number)) {
		tr_input_free(in);
		tr_error_memory(err);
	}
	tr_trace_put_aside(trace, &first);
	while (!err->cause && gather_one(trace, &first, store, &parts, err))
		;
	tr_trace_take_back(trace, &first);
	if (err->cause) {
		status = err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
		for (size_t i = 0; i < parts.count; i++)
			tr_input_free(parts.list[i]);
	} else if (parts.count > 1) {
		status = tr_parts_merge(trace, &parts, err);
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
	enum tr_status status = open_next(trace, err);
	int64_t number = status == TR_OK ? tr_trace_part_number(trace) : -1;

	return number >= 0 ? gather(trace, number, err) : status;
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
