/* SPDX-License-Identifier: MIT */
/*
 * Places that are read later than they are opened. An archive gives one member after the other, so
 * the bytes of a member are stored, in a spool, until it is its turn: as one of the parts of a
 * trace (trace_open.c), or in a file through which they go to another process (tr_trace_send).
 * There, a file that was not a member is opened again.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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

static ssize_t kept_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct kept *kept = tr_container(source, struct kept, base);
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

/* Progress counts the bytes of the archive. */
static uint64_t nothing_raw(struct tr_source *source)
{
	(void)source;
	return 0;
}

static bool never_waits(struct tr_source *source)
{
	(void)source;
	return false;
}

static void kept_close(struct tr_source *source)
{
	struct kept *kept = tr_container(source, struct kept, base);

	tr_trace_store_release(kept->store);
	free(kept);
}

/* Stores the bytes of the window. False: err is filled. */
static bool store_bytes(struct tr_trace_store *store, struct tr_input *in, struct kept *kept,
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
	return good;
}

struct tr_source *tr_trace_store_input(struct tr_trace_store *store, struct tr_input *in,
				       struct tr_error *err)
{
	struct kept *kept = calloc(1, sizeof *kept);

	if (!kept) {
		tr_input_free(in);
		tr_error_memory(err);
		return NULL;
	}
	*kept = (struct kept){ .base = { .read = kept_read,
					 .would_wait = never_waits,
					 .close = kept_close,
					 .raw_offset = nothing_raw },
			       .store = store };
	tr_error_clear(&kept->damage);
	store->references++;
	bool good = store_bytes(store, in, kept, err);
	if (in->damaged)
		tr_input_error(in, &kept->damage);
	tr_input_free(in);
	if (good)
		return &kept->base;
	kept_close(&kept->base);
	return NULL;
}

/* What is in the file before the name, the path of a member and the bytes of a place. */
struct parcel {
	struct tr_trace_place place;
	size_t name, member;	/* lengths with their NUL; member 0: it is a file */
	uint64_t offset;	/* in the member, of its first byte here: a mark is skipped */
	uint64_t bytes;		/* of the member */
	bool ended;		/* its end was seen when it was opened */
	struct tr_error damage; /* the reason why it ended early; no cause: it is whole */
};

/* Bytes of a member in the file, and those that are not in it. */
struct sent {
	struct tr_source base;
	int fd;
	uint64_t at, end;
	struct tr_input *rest;	/* the bytes after end; NULL: none */
	struct tr_error damage; /* after them */
};

/* Reads up to len bytes; fewer are an error only where there are none. -1: err is filled. */
static ssize_t read_at(int fd, void *buf, size_t len, uint64_t at, struct tr_error *err)
{
	ssize_t n;

	do {
		n = pread(fd, buf, len, (off_t)at);
	} while (n < 0 && errno == EINTR);
	if (n > 0 || !len)
		return n;
	tr_error_system(err, n < 0 ? errno : EIO, "cannot read a temporary file");
	return -1;
}

static bool write_at(int fd, const void *data, size_t len, uint64_t *at)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)*at);
		if (n <= 0 && errno != EINTR)
			return false;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
			*at += (uint64_t)n;
		}
	}
	return true;
}

static ssize_t sent_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct sent *sent = tr_container(source, struct sent, base);
	struct tr_input *rest = sent->rest;
	ssize_t n = 0;

	if (sent->at < sent->end) {
		uint64_t left = sent->end - sent->at;
		n = read_at(sent->fd, buf, left < cap ? (size_t)left : cap, sent->at, err);
		sent->at += n > 0 ? (uint64_t)n : 0;
		return n;
	}
	if (rest && tr_input_more(rest, 1)) {
		size_t len = tr_input_available(rest);
		n = (ssize_t)(len < cap ? len : cap);
		memcpy(buf, rest->pos, (size_t)n);
		tr_input_skip(rest, (size_t)n);
		return n;
	}
	if (rest && rest->damaged)
		tr_input_error(rest, &sent->damage);
	if (!sent->damage.cause)
		return 0;
	*err = sent->damage;
	return -1;
}

static bool sent_would_wait(struct tr_source *source)
{
	struct sent *sent = tr_container(source, struct sent, base);

	return sent->at == sent->end && sent->rest && tr_input_would_wait(sent->rest);
}

static void sent_close(struct tr_source *source)
{
	struct sent *sent = tr_container(source, struct sent, base);

	tr_input_free(sent->rest);
	free(sent);
}

/*
 * Sets the window of the place to the bytes of the parcel, which end at end, and then rest, which
 * is taken over. False: err is filled.
 */
static bool open_sent(struct tr_trace *trace, int fd, uint64_t end, const struct parcel *parcel,
		      struct tr_input *rest, struct tr_error *err)
{
	struct sent *sent = malloc(sizeof *sent);

	trace->in = NULL;
	if (sent) {
		*sent = (struct sent){ .base = { .read = sent_read,
						 .would_wait = sent_would_wait,
						 .close = sent_close,
						 .raw_offset = nothing_raw },
				       .fd = fd,
				       .at = end - parcel->bytes,
				       .end = end,
				       .rest = rest,
				       .damage = parcel->damage };
		trace->in = tr_input_new(&sent->base, &trace->config.read.limits, 0);
	} else {
		tr_input_free(rest);
	}
	trace->place.in = trace->in;
	if (!trace->in) {
		tr_error_memory(err);
		return false;
	}
	trace->in->offset = parcel->offset;
	trace->in->codec = parcel->place.codec;
	/* as after the detection of the format, which has looked at the first bytes or all */
	uint64_t seen = parcel->ended ? parcel->bytes + 1 : 1;
	tr_input_more(trace->in, seen <= trace->config.read.limits.max_record ? seen : 1);
	return true;
}

/* Writes the bytes of the member to the file, from at on. TR_END: not all of them are there. */
static enum tr_status send_member(struct tr_trace *trace, int fd, uint64_t at,
				  struct parcel *parcel, struct tr_error *err)
{
	struct tr_input *in = trace->in;
	uint64_t end = at;

	while (parcel->bytes < TR_TRACE_SENT_MAX && tr_input_more(in, 1)) {
		size_t len = tr_input_available(in);
		if (!write_at(fd, in->pos, len, &end))
			break;
		tr_input_skip(in, len);
		parcel->bytes += len;
	}
	if (tr_input_more(in, 1))
		return open_sent(trace, fd, at + parcel->bytes, parcel, in, err) ? TR_END
										 : TR_FATAL;
	if (in->damaged)
		tr_input_error(in, &parcel->damage);
	return TR_OK;
}

enum tr_status tr_trace_send(struct tr_trace *trace, int fd, uint64_t *end, struct tr_error *err)
{
	const struct tr_trace_place *place = &trace->place;
	struct parcel parcel = { .place = *place, .name = trace->name.len };
	uint64_t begin = *end, at = begin + sizeof parcel;
	enum tr_status status = TR_OK;

	if (!trace->in || (!place->member && (place->size < 0 || !place->file)))
		return TR_END;
	tr_error_clear(&parcel.damage);
	parcel.member = place->member ? trace->member.len : 0;
	parcel.offset = trace->in->offset;
	parcel.ended = trace->in->at_end;
	if (!write_at(fd, trace->name.data, parcel.name, &at) ||
	    !write_at(fd, trace->member.data, parcel.member, &at))
		return TR_END;
	if (place->member)
		status = send_member(trace, fd, at, &parcel, err);
	if (status != TR_OK)
		return status;
	*end = at + parcel.bytes;
	if (!write_at(fd, &parcel, sizeof parcel, &begin))
		return !place->member || open_sent(trace, fd, *end, &parcel, trace->in, err)
			       ? TR_END
			       : TR_FATAL;
	if (!place->member)
		trace->done_before += (uint64_t)place->size;
	tr_input_free(trace->in);
	trace->in = trace->place.in = NULL;
	return TR_OK;
}

/* Reads a text, with its NUL, into a buffer. False: err is filled. */
static bool read_text(int fd, size_t len, uint64_t *at, struct tr_buffer *to, struct tr_error *err)
{
	char *room = tr_buffer_room(to, len);

	if (!room) {
		tr_error_memory(err);
		return false;
	}
	ssize_t n = read_at(fd, room, len, *at, err);
	if (n < 0 || (size_t)n < len)
		return false;
	tr_buffer_used(to, len);
	*at += len;
	return true;
}

/* Opens a file again, which was a trace and not an archive before. */
static enum tr_status reopen_file(struct tr_trace *trace, const char *operand, struct tr_error *err)
{
	enum tr_status status = tr_trace_open_operand(trace, operand, err);

	if (status != TR_END)
		return status;
	tr_error_set(err, TR_CAUSE_INPUT, "became an archive while it was waiting to be read");
	return TR_WARN;
}

enum tr_status tr_trace_receive(struct tr_trace *trace, int fd, uint64_t *begin,
				struct tr_trace_place **place, struct tr_error *err)
{
	struct parcel parcel;
	uint64_t at = *begin + sizeof parcel;

	tr_trace_close_place(trace);
	tr_trace_forget_place(trace);
	*place = &trace->place;
	if (read_at(fd, &parcel, sizeof parcel, *begin, err) < (ssize_t)sizeof parcel)
		return TR_FATAL;
	*begin = at + parcel.name + parcel.member + parcel.bytes;
	if (!parcel.member)
		return reopen_file(trace, parcel.place.file, err);
	tr_buffer_reset(&trace->name);
	tr_buffer_reset(&trace->member);
	if (!read_text(fd, parcel.name, &at, &trace->name, err) ||
	    !read_text(fd, parcel.member, &at, &trace->member, err))
		return TR_FATAL;
	trace->place = parcel.place;
	trace->place.name = trace->name.data;
	trace->place.member = trace->member.data;
	return open_sent(trace, fd, *begin, &parcel, NULL, err) ? TR_OK : TR_FATAL;
}
