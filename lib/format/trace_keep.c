/* SPDX-License-Identifier: MIT */
/*
 * Places that are read later than they are opened. An archive gives one member after the other, so
 * the bytes of a member are stored, in a spool, until it is its turn: as one of the parts of a trace
 * (trace_open.c), or in another process (tr_trace_take). A file is closed and opened again.
 */
#include <stdlib.h>

#include "core/spool.h"
#include "format/trace_private.h"

/* The bytes of members, one after the other. */
struct tr_trace_store {
	size_t references;
	struct tr_spool *spool;
};

/* The bytes of one member. */
struct kept {
	struct tr_source base;
	struct tr_trace_store *store;
	uint64_t offset, end;
	struct tr_input *rest;	/* the bytes after end, which were not stored; NULL: none */
	struct tr_error damage; /* the reason why it ended early; no cause: it is whole */
};

struct tr_trace_store *tr_trace_store_new(const struct tr_limits *limits)
{
	struct tr_trace_store *store = calloc(1, sizeof *store);

	if (!store)
		return NULL;
	store->references = 1;
	store->spool = tr_spool_new(limits->max_spool);
	if (store->spool)
		return store;
	free(store);
	return NULL;
}

void tr_trace_store_release(struct tr_trace_store *store)
{
	if (!store || --store->references > 0)
		return;
	tr_spool_free(store->spool);
	free(store);
}

/* Reads what was not stored. */
static ssize_t read_rest(struct kept *kept, char *buf, size_t cap, struct tr_error *err)
{
	struct tr_input *rest = kept->rest;

	if (!tr_input_more(rest, 1)) {
		if (rest->damaged)
			tr_input_error(rest, err);
		return rest->damaged ? -1 : 0;
	}
	size_t len = tr_input_available(rest);
	if (len > cap)
		len = cap;
	memcpy(buf, rest->pos, len);
	tr_input_skip(rest, len);
	return (ssize_t)len;
}

static ssize_t kept_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct kept *kept = tr_container(source, struct kept, base);
	uint64_t left = kept->end - kept->offset;
	size_t len = left < cap ? (size_t)left : cap;
	const char *data;

	if (!left && kept->rest)
		return read_rest(kept, buf, cap, err);
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
	struct kept *kept = tr_container(source, struct kept, base);

	return kept->rest && tr_input_would_wait(kept->rest);
}

/* Progress counts the bytes of the archive. */
static uint64_t kept_raw_offset(struct tr_source *source)
{
	(void)source;
	return 0;
}

static void kept_close(struct tr_source *source)
{
	struct kept *kept = tr_container(source, struct kept, base);

	tr_trace_store_release(kept->store);
	tr_input_free(kept->rest);
	free(kept);
}

/* Stores up to max bytes of the window. False: err is filled. */
static bool store_bytes(struct tr_trace_store *store, struct tr_input *in, uint64_t max,
			struct kept *kept, struct tr_error *err)
{
	bool good = true;
	uint64_t begin = tr_spool_size(store->spool);

	kept->offset = begin;
	while (good && tr_spool_size(store->spool) - begin < max && tr_input_more(in, 1)) {
		size_t len = tr_input_available(in);
		good = tr_spool_write(store->spool, in->pos, len, err);
		tr_input_skip(in, len);
	}
	kept->end = tr_spool_size(store->spool);
	return good;
}

struct tr_source *tr_trace_store_input(struct tr_trace_store *store, struct tr_input *in,
				       uint64_t max, struct tr_error *err)
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
	bool good = store_bytes(store, in, max, kept, err);
	if (good && kept->end - kept->offset >= max && tr_input_more(in, 1)) {
		kept->rest = in;
		return &kept->base;
	}
	if (in->damaged)
		tr_input_error(in, &kept->damage);
	tr_input_free(in);
	if (good)
		return &kept->base;
	kept_close(&kept->base);
	return NULL;
}

/* A place that was taken out of the trace. */
struct tr_trace_taken {
	struct tr_trace_place place;
	struct tr_buffer name, member; /* the texts of place */
	struct tr_input *in;	       /* of a pipe or device, which cannot be opened again */
	const char *operand;	       /* of a file, which is opened again; else NULL */
	struct kept *kept;	       /* of a member */
	uint64_t offset; /* in the member, of its first stored byte: a mark is skipped */
};

/* Stores the bytes of the member that is open. False: err is filled. */
static bool take_member(struct tr_trace *trace, struct tr_trace_taken *taken, struct tr_error *err)
{
	struct tr_input *in = trace->in;
	struct tr_trace_store *store = tr_trace_store_new(&trace->config.read.limits);

	trace->in = NULL;
	taken->offset = in->offset;
	if (!store) {
		tr_input_free(in);
		tr_error_memory(err);
		return false;
	}
	struct tr_source *source = tr_trace_store_input(store, in, TR_TRACE_TAKEN_MAX, err);
	tr_trace_store_release(store);
	if (source)
		taken->kept = tr_container(source, struct kept, base);
	return source;
}

struct tr_trace_taken *tr_trace_take(struct tr_trace *trace, bool opened, struct tr_error *err)
{
	struct tr_trace_taken *taken = calloc(1, sizeof *taken);
	bool good = true;

	if (!taken) {
		tr_error_memory(err);
		return NULL;
	}
	if (opened && trace->in && trace->place.member) {
		good = take_member(trace, taken, err);
	} else if (opened && trace->in && trace->place.size >= 0 && trace->place.file) {
		taken->operand = trace->place.file;
		trace->done_before += (uint64_t)trace->place.size;
	} else if (opened) {
		taken->in = trace->in;
		trace->in = NULL;
	}
	tr_input_free(trace->in);
	trace->in = trace->place.in = NULL;
	if (!good) {
		free(taken);
		return NULL;
	}
	taken->place = trace->place;
	taken->name = trace->name;
	taken->member = trace->member;
	trace->name = trace->member = (struct tr_buffer)TR_BUFFER_INIT;
	trace->place = (struct tr_trace_place){ .size = -1 };
	return taken;
}

const struct tr_trace_place *tr_trace_taken_place(const struct tr_trace_taken *taken)
{
	return &taken->place;
}

uint64_t tr_trace_taken_size(const struct tr_trace_taken *taken)
{
	if (taken->kept)
		return taken->kept->end - taken->kept->offset;
	return taken->place.size < 0 ? 0 : (uint64_t)taken->place.size;
}

bool tr_trace_taken_is_apart(const struct tr_trace_taken *taken)
{
	return !(taken->kept && taken->kept->rest);
}

/* Makes the window of a member that was stored. */
static enum tr_status reopen_member(struct tr_trace *trace, struct tr_trace_taken *taken,
				    struct tr_error *err)
{
	struct tr_source *source = &taken->kept->base;

	taken->kept = NULL;
	trace->in = trace->place.in = tr_input_new(source, &trace->config.read.limits, 0);
	if (!trace->in)
		return tr_error_memory(err);
	trace->in->offset = taken->offset;
	trace->in->codec = taken->place.codec;
	/* as after the detection of the format, which has looked at the first bytes */
	tr_input_more(trace->in, 1);
	return TR_OK;
}

/* Opens a file again, which was a trace and not an archive before. */
static enum tr_status reopen_file(struct tr_trace *trace, const struct tr_trace_taken *taken,
				  struct tr_error *err)
{
	enum tr_status status = tr_trace_open_operand(trace, taken->operand, err);

	if (status != TR_END)
		return status;
	tr_error_set(err, TR_CAUSE_INPUT, "became an archive while it was waiting to be read");
	return TR_WARN;
}

enum tr_status tr_trace_put_back(struct tr_trace *trace, struct tr_trace_taken *taken,
				 struct tr_trace_place **place, struct tr_error *err)
{
	tr_trace_close_place(trace);
	tr_trace_forget_place(trace);
	*place = &trace->place;
	if (taken->operand)
		return reopen_file(trace, taken, err);
	tr_buffer_free(&trace->name);
	tr_buffer_free(&trace->member);
	trace->place = taken->place;
	trace->name = taken->name;
	trace->member = taken->member;
	taken->name = taken->member = (struct tr_buffer)TR_BUFFER_INIT;
	if (taken->kept)
		return reopen_member(trace, taken, err);
	trace->in = trace->place.in = taken->in;
	taken->in = NULL;
	return TR_OK;
}

void tr_trace_taken_free(struct tr_trace_taken *taken)
{
	if (!taken)
		return;
	if (taken->kept)
		kept_close(&taken->kept->base);
	tr_input_free(taken->in);
	tr_buffer_free(&taken->name);
	tr_buffer_free(&taken->member);
	free(taken);
}
