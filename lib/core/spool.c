/* SPDX-License-Identifier: MIT */
/*
 * A spool: up to 1 MiB stays in memory, and a larger one goes to a file without a name, which the
 * system frees even after a crash. Its last bytes stay in memory, so that small additions are not
 * written one by one.
 */

#include "core/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/file.h"
#include "core/input.h"

/* Bytes that are kept in memory only: of a small spool, and of the end of a large one. */
enum { MEMORY_SIZE = 1 << 20, TAIL_SIZE = 256 << 10 };

struct tr_spool {
	uint64_t max, size;
	struct tr_buffer memory; /* all bytes; if there is a file, those that are not in it yet */
	int fd;			 /* of the file; -1: there is none */
};

struct tr_spool *tr_spool_new(uint64_t max)
{
	struct tr_spool *spool = malloc(sizeof *spool);
	if (spool)
		*spool = (struct tr_spool){ .max = max, .memory = TR_BUFFER_INIT, .fd = -1 };
	return spool;
}

/* Writes the bytes in memory to the file, then data, which may be large. Makes the file first. */
static bool save(struct tr_spool *spool, const char *data, size_t len, struct tr_error *err)
{
	if (spool->fd < 0 && (spool->fd = tr_file_unnamed(err)) < 0)
		return false;
	if (!tr_fd_write(spool->fd, spool->memory.data, spool->memory.len, NULL) ||
	    !tr_fd_write(spool->fd, data, len, NULL)) {
		tr_error_system(err, errno, "cannot write a temporary file");
		return false;
	}
	if (spool->memory.cap > TAIL_SIZE)
		tr_buffer_free(&spool->memory);
	tr_buffer_reset(&spool->memory);
	return true;
}

/*
 * The limit is checked before anything is written. After it was reached, it stays at the present
 * size, so that every later write fails, too.
 */
bool tr_spool_write(struct tr_spool *spool, const char *data, size_t len, struct tr_error *err)
{
	if (len > spool->max - spool->size) {
		tr_error_set(err, TR_CAUSE_LIMIT, "needs more than %" PRIu64 " bytes put aside",
			     spool->max);
		spool->max = spool->size;
		return false;
	}
	size_t room = spool->fd < 0 ? MEMORY_SIZE : TAIL_SIZE;
	if (spool->memory.len + len > room) {
		if (!save(spool, data, len, err))
			return false;
	} else {
		tr_buffer_put(&spool->memory, data, len);
		if (spool->memory.failed) {
			tr_error_memory(err);
			return false;
		}
	}
	spool->size += len;
	return true;
}

uint64_t tr_spool_size(const struct tr_spool *spool)
{
	return spool->size;
}

/* If some of the bytes are in the file and the rest in memory, only the first part is returned. */
bool tr_spool_read(struct tr_spool *spool, uint64_t offset, char *buf, const char **data,
		   size_t *len, struct tr_error *err)
{
	uint64_t left = offset < spool->size ? spool->size - offset : 0;
	if (*len > left)
		*len = (size_t)left;
	if (*len == 0)
		return true;
	uint64_t saved = spool->size - spool->memory.len;
	if (offset >= saved) {
		*data = spool->memory.data + (offset - saved);
		return true;
	}
	if (*len > saved - offset)
		*len = (size_t)(saved - offset);
	ssize_t n;
	do {
		n = pread(spool->fd, buf, *len, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n <= 0) {
		tr_error_system(err, n < 0 ? errno : EIO, "cannot read a temporary file");
		return false;
	}
	*data = buf;
	*len = (size_t)n;
	return true;
}

bool tr_spool_append(struct tr_spool *spool, uint64_t offset, size_t n, struct tr_buffer *to,
		     struct tr_error *err)
{
	while (n) {
		const char *data = NULL;
		size_t len = n;
		char *room = tr_buffer_room(to, n);

		if (!room) {
			tr_error_memory(err);
			return false;
		}
		if (!tr_spool_read(spool, offset, room, &data, &len, err))
			return false;
		if (!len) {
			tr_error_system(err, EIO, "cannot read a temporary file");
			return false;
		}
		if (data != room)
			memcpy(room, data, len);
		tr_buffer_used(to, len);
		offset += len;
		n -= len;
	}
	return true;
}

const char *tr_spool_look(struct tr_spool *spool, struct tr_spool_window *window, uint64_t offset,
			  size_t n, struct tr_error *err)
{
	enum { AHEAD_LEAST = 4 << 10, AHEAD_MOST = 64 << 10 };
	struct tr_buffer *bytes = &window->bytes;
	uint64_t skip = offset - window->at;
	bool follows = offset >= window->at && skip <= bytes->len + window->ahead;

	if (offset < window->at || skip > bytes->len)
		skip = bytes->len; /* no byte in the window is needed */
	if (n <= bytes->len - skip)
		return bytes->data + skip;
	bytes->len -= (size_t)skip;
	if (bytes->len)
		memmove(bytes->data, bytes->data + skip, bytes->len);
	window->at = offset;
	uint64_t after = offset + bytes->len;
	uint64_t left = after < spool->size ? spool->size - after : 0;
	window->ahead = follows ? 2 * window->ahead : 0;
	if (window->ahead < AHEAD_LEAST)
		window->ahead = AHEAD_LEAST;
	else if (window->ahead > AHEAD_MOST)
		window->ahead = AHEAD_MOST;
	size_t missing = n - bytes->len;
	size_t ahead = left < window->ahead ? (size_t)left : window->ahead;
	if (!tr_spool_append(spool, after, missing > ahead ? missing : ahead, bytes, err))
		return NULL;
	char *pad = tr_buffer_room(bytes, TR_INPUT_PAD);
	if (!pad) {
		tr_error_memory(err);
		return NULL;
	}
	memset(pad, 0, TR_INPUT_PAD);
	return bytes->data;
}

void tr_spool_free(struct tr_spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	tr_buffer_free(&spool->memory);
	free(spool);
}
