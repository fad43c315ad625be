/* SPDX-License-Identifier: MIT */
/*
 * Sinks for stdout, for files that get their names when they are complete, and for terminals; and
 * the buffer in front of a sink (struct tr_output). A write error is kept until the end:
 * everything that is written after it is dropped.
 */

#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/utf8.h"

/* The sink for stdout, on a descriptor that is borrowed. */

struct fd_sink {
	struct tr_sink base;
	int fd;
};

static struct fd_sink *self(struct tr_sink *sink)
{
	return (struct fd_sink *)sink;
}

/* Writes to the borrowed descriptor. */
static bool fd_sink_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return tr_fd_write(self(sink)->fd, data, len, err);
}

/* Does nothing: the kernel already has the bytes. */
static bool flush_nothing(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true;
}

static bool fd_sink_finish(struct tr_sink *sink, struct tr_error *err)
{
	/*
	 * Network file systems report late errors when any duplicate is closed. If there can be no
	 * duplicate (stdout was closed, or no descriptor is free), none are reported.
	 */
	int copy = dup(self(sink)->fd);
	if (copy >= 0 && close(copy) != 0 && errno != EINTR)
		return tr_fd_write_failed(errno, err);
	return true;
}

static void fd_sink_close(struct tr_sink *sink)
{
	free(self(sink));
}

struct tr_sink *tr_sink_fd(int fd, struct tr_error *err)
{
	struct fd_sink *s = malloc(sizeof *s);
	if (!s) {
		tr_error_memory(err);
		return NULL;
	}
	*s = (struct fd_sink){
		.base = { .write = fd_sink_write,
			  .flush = flush_nothing,
			  .finish = fd_sink_finish,
			  .close = fd_sink_close },
		.fd = fd,
	};
	tr_fd_enlarge_pipe(fd);
	return &s->base;
}

/*
 * The sink for a file that is either complete or absent: it is written under a hidden name in the
 * same directory and renamed at the end. Anything but a regular file is written directly.
 */

enum {
	MAX_LINKS = 40,	  /* limit of Linux */
	MAX_TRIES = 100,  /* for a free name; even a second try is unlikely */
	SHOWN_NAME = 200, /* bytes of the target's name in the temporary one: NAME_MAX is 255 */
};

struct file_sink {
	struct tr_sink base;
	struct tr_unfinished file;
	struct tr_file_group *group; /* NULL: the file is completed alone */
	bool replaces;		     /* it replaces a file, whose mode and owner are kept */
	struct stat replaced;
};

static struct file_sink *file_self(const struct tr_sink *sink)
{
	return (struct file_sink *)sink;
}

static bool file_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return tr_fd_write(file_self(sink)->file.fd, data, len, err);
}

/* Removes a file that was not completed, and frees. */
static void drop(struct tr_unfinished *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->temporary)
		unlinkat(file->dir, file->temporary, 0);
	if (file->dir >= 0)
		close(file->dir);
	free(file->temporary);
	free(file->name);
	free(file->path);
	*file = (struct tr_unfinished){ .fd = -1, .dir = -1 };
}

/* The content reaches the disk before the name, or a crash could leave an empty file under it. */
static bool sync_file(int fd, struct tr_error *err)
{
	int result;

	do
		result = fsync(fd);
	while (result != 0 && errno == EINTR);
	/* pipes, terminals and some file systems cannot */
	if (result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS || errno == ENOSYS)
		return true;
	return tr_fd_write_failed(errno, err);
}

/* Renames a finished file. It replaces an older one in one step. */
static bool give_name(struct tr_unfinished *file, struct tr_error *err)
{
	if (renameat(file->dir, file->temporary, file->dir, file->name) != 0) {
		tr_error_system(err, errno, "cannot rename %s", file->temporary);
		return false;
	}
	free(file->temporary);
	file->temporary = NULL;
	return true;
}

/* Writes a file to the disk, closes it and gives it its name. False: err is filled. */
static bool complete(struct tr_unfinished *file, struct tr_error *err)
{
	bool synced = sync_file(file->fd, err);
	int fd = file->fd;

	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR && synced)
		return tr_fd_write_failed(errno, err);
	return synced && (!file->temporary || give_name(file, err));
}

/*
 * Finishes a file. One of a group is completed together with the others, because waiting for the
 * disk once for many files is much faster.
 */
static bool file_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct file_sink *s = file_self(sink);
	struct tr_file_group *group = s->group;

	if (!s->file.temporary || !group || tr_file_group_is_full(group))
		return complete(&s->file, err);
	if (group->named_at_once && !give_name(&s->file, err))
		return false;
	group->list[group->count++] = s->file;
	s->file = (struct tr_unfinished){ .fd = -1, .dir = -1 };
	return true;
}

static void file_close(struct tr_sink *sink)
{
	drop(&file_self(sink)->file);
	free(file_self(sink));
}

enum tr_status tr_file_group_complete(struct tr_file_group *group, struct tr_error *err)
{
	/* the kernel begins to write all of them before the first is waited for */
	for (size_t i = 0; i < group->count; i++)
		(void)sync_file_range(group->list[i].fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	while (group->count) {
		struct tr_unfinished *file = &group->list[--group->count];
		bool completed = complete(file, err);
		if (!completed)
			tr_error_name(err, tr_text_from(file->path));
		/* its content may be lost in a crash, and the name must not promise it */
		if (!completed && group->named_at_once)
			unlinkat(file->dir, file->name, 0);
		drop(file);
		if (!completed)
			return TR_WARN;
	}
	return TR_END;
}

/* Returns the length of the directory part of path with its slash, or 0. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash + 1 - path) : 0;
}

/*
 * Returns the target of the symbolic link at path, as a path from here. NULL: errno contains the
 * reason.
 */
static char *follow(const char *path)
{
	char link[PATH_MAX], *result;
	ssize_t length = readlink(path, link, sizeof link);
	if (length == sizeof link)
		errno = ENAMETOOLONG;
	if (length < 0 || length == sizeof link)
		return NULL;
	int directory = length > 0 && link[0] == '/' ? 0 : (int)directory_length(path);
	return asprintf(&result, "%.*s%.*s", directory, path, (int)length, link) < 0 ? NULL
										     : result;
}

/*
 * Follows the links at the end of path. NULL: errno contains the reason; or *descriptor is set
 * because the path leads to an open file of a process (/dev/stdout).
 */
static char *resolve(const char *path, bool *descriptor)
{
	char *resolved = strdup(path);
	for (int links = 0; resolved; links++) {
		struct stat st;
		if (lstat(resolved, &st) != 0 || !S_ISLNK(st.st_mode))
			return resolved;
		*descriptor = strncmp(resolved, "/proc/", 6) == 0;
		char *next = NULL;
		if (links == MAX_LINKS)
			errno = ELOOP;
		else if (!*descriptor)
			next = follow(resolved);
		free(resolved);
		resolved = next;
	}
	return NULL;
}

/* Makes a hidden, unpredictable name: "name" -> ".name.0123456789abcdef". */
static char *temporary_name(const char *target)
{
	uint64_t number;
	char *name;
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return NULL;
	return asprintf(&name, ".%.*s.%016" PRIx64, SHOWN_NAME, target, number) < 0 ? NULL : name;
}

/*
 * Sets owner and mode as if the file were overwritten, without set-id bits. If the group cannot be
 * kept, its rights are removed.
 */
static void keep_mode(const struct file_sink *s)
{
	const struct stat *was = &s->replaced;
	mode_t mode = was->st_mode & 0777;
	if (fchown(s->file.fd, was->st_uid, was->st_gid) != 0 &&
	    fchown(s->file.fd, (uid_t)-1, was->st_gid) != 0)
		mode = (mode & 0707) | (mode & 07) << 3;
	(void)fchmod(s->file.fd, mode);
}

/* Opens the temporary file. False: errno contains the reason. */
static bool open_temporary(struct file_sink *s)
{
	enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW };
	struct tr_unfinished *file = &s->file;
	mode_t mode = s->replaces ? 0600 : 0666;

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		char *name = temporary_name(file->name);
		if (!name)
			return false;
		file->fd = openat(file->dir, name, FLAGS, mode);
		if (file->fd >= 0) {
			file->temporary = name;
			if (s->replaces)
				keep_mode(s);
			return true;
		}
		free(name);
		if (errno != EEXIST)
			return false;
	}
	return false;
}

/* Opens a file that is written directly, such as a device or a pipe. */
static bool open_as_it_is(struct file_sink *s, const char *path, int flags)
{
	s->file.fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (s->file.fd < 0)
		return false;
	tr_fd_enlarge_pipe(s->file.fd);
	return true;
}

/* Opens a temporary file for this name in an open directory. False: errno contains the reason. */
static bool open_in_directory(struct file_sink *s, const char *name)
{
	struct stat *was = &s->replaced;

	s->replaces = fstatat(s->file.dir, name, was, AT_SYMLINK_NOFOLLOW) == 0;
	if (!s->replaces && errno != ENOENT)
		return false; /* also for a name that is too long: the temporary one may not be */
	if (s->replaces && S_ISDIR(was->st_mode)) {
		errno = EISDIR;
		return false;
	}
	/* a link or a device is itself replaced */
	s->replaces = s->replaces && S_ISREG(was->st_mode);
	/* rename would replace it, but a read-only file is protected on purpose */
	if (s->replaces && faccessat(s->file.dir, name, W_OK, AT_EACCESS) != 0)
		return false;
	s->file.name = strdup(name);
	return s->file.name && open_temporary(s);
}

/* Opens the directory of target, and a temporary file in it. False: errno contains the reason. */
static bool open_beside(struct file_sink *s, char *target)
{
	size_t len = directory_length(target);
	const char *name = target + len;

	if (!*name) {
		errno = ENOENT;
		return false;
	}
	char *directory = len ? strndup(target, len) : strdup(".");
	if (!directory)
		return false;
	s->file.dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	return s->file.dir >= 0 && open_in_directory(s, name);
}

/* Opens the file at path. False: errno contains the reason. */
static bool open_file(struct file_sink *s, const char *path)
{
	struct stat st;
	bool there = stat(path, &st) == 0;

	if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return open_as_it_is(s, path, 0);
	bool descriptor = false;
	char *target = resolve(path, &descriptor);
	/* the shell opened /dev/stdout, and decided whether to truncate it */
	if (!target)
		return descriptor && open_as_it_is(s, path, O_APPEND);
	bool directory = there && S_ISDIR(st.st_mode);
	if (directory)
		errno = EISDIR;
	bool opened = !directory && open_beside(s, target);
	int sys_errno = errno;
	free(target);
	errno = sys_errno;
	return opened;
}

/* A sink for a file that is not open yet. NULL: err is filled. */
static struct file_sink *new_sink(const char *path, struct tr_error *err)
{
	struct file_sink *s = malloc(sizeof *s);
	char *copy = strdup(path);

	if (!s || !copy) {
		free(s);
		free(copy);
		tr_error_memory(err);
		return NULL;
	}
	*s = (struct file_sink){
		.base = { .write = file_write,
			  .flush = flush_nothing,
			  .finish = file_finish,
			  .close = file_close },
		.file = { .fd = -1, .dir = -1, .path = copy },
	};
	return s;
}

/* Returns the sink if it is open; otherwise fills err from errno, and frees it. */
static struct tr_sink *opened(struct file_sink *s, bool good, struct tr_error *err)
{
	if (good)
		return &s->base;
	tr_error_system(err, errno, "cannot create %s", s->file.path);
	file_close(&s->base);
	return NULL;
}

struct tr_sink *tr_sink_file(const char *path, struct tr_error *err)
{
	struct file_sink *s = new_sink(path, err);

	return s ? opened(s, open_file(s, path), err) : NULL;
}

struct tr_sink *tr_sink_file_at(int dir, const char *name, const char *path,
				struct tr_file_group *group, struct tr_error *err)
{
	struct file_sink *s = new_sink(path, err);

	if (!s)
		return NULL;
	s->group = group;
	s->file.dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	return opened(s, s->file.dir >= 0 && open_in_directory(s, name), err);
}

const struct tr_unfinished *tr_sink_file_unfinished(const struct tr_sink *sink)
{
	return file_self(sink)->file.temporary ? &file_self(sink)->file : NULL;
}

/* Characters that change the direction of text, with which hostile text can hide what it says. */
static bool is_bidirectional(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

unsigned tr_terminal_character(const char *p, const char *end, bool *shown)
{
	unsigned char c = (unsigned char)*p;
	unsigned len = tr_utf8_length(p, end);

	if (len <= 1) {
		*shown = len == 1 && c >= 0x20 && c != 0x7f;
		return 1;
	}
	uint32_t code = tr_utf8_decode(p, len);
	*shown = code >= 0xa0 && !is_bidirectional(code);
	return len;
}

void tr_terminal_escape(const char *p, unsigned len, struct tr_buffer *to)
{
	for (unsigned i = 0; i < len; i++) {
		tr_buffer_put_literal(to, "\\x");
		tr_buffer_put_hex(to, (unsigned char)p[i], 2);
	}
}

enum { MAX_COLOUR = 24 }; /* maximum length of an escape sequence */

struct terminal_sink {
	struct tr_sink base;
	struct tr_sink *inner;
	struct tr_buffer text;
	char held[MAX_COLOUR]; /* an incomplete character or sequence at the end of a write */
	size_t held_len;
};

/*
 * Returns the length of a sequence that sets colours, 0 if it is none, and more than end - p if it
 * is incomplete.
 */
static size_t colour_length(const char *p, const char *end)
{
	size_t len = 1, have = (size_t)(end - p);

	if (len < have && p[len++] != '[')
		return 0;
	while (len < have && len < MAX_COLOUR &&
	       ((p[len] >= '0' && p[len] <= '9') || p[len] == ';'))
		len++;
	if (len >= MAX_COLOUR || (len < have && p[len] != 'm'))
		return 0;
	return len + 1;
}

/* True if the text ends within a character. */
static bool is_cut(const char *p, const char *end)
{
	unsigned char c = (unsigned char)*p;
	size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;

	return (size_t)(end - p) < need;
}

/* Appends the text with escapes. more: an incomplete end of the text is left; returns where. */
static const char *escape(struct tr_buffer *to, const char *p, const char *end, bool more)
{
	while (p < end) {
		bool shown = *p == '\n' || *p == '\t';
		size_t colour = *p == '\x1b' ? colour_length(p, end) : 0;
		unsigned len = 1;

		if (more && (colour > (size_t)(end - p) || is_cut(p, end)))
			break;
		if (colour && colour <= (size_t)(end - p)) {
			len = (unsigned)colour;
			shown = true;
		} else if (!shown) {
			len = tr_terminal_character(p, end, &shown);
		}
		if (shown)
			tr_buffer_put(to, p, len);
		else
			tr_terminal_escape(p, len, to);
		p += len;
	}
	return p;
}

/* Writes the escaped text. */
static bool write_escaped(struct terminal_sink *s, struct tr_error *err)
{
	if (s->text.failed) {
		tr_error_memory(err);
		return false;
	}
	return s->inner->write(s->inner, s->text.data, s->text.len, err);
}

/*
 * Writes text with control characters escaped. A character that is cut at the end of data is held
 * until the rest of it comes.
 */
static bool terminal_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;
	const char *end = data + len;

	tr_buffer_reset(&s->text);
	/* the held bytes continue with the first ones of data */
	while (s->held_len && data < end) {
		s->held[s->held_len++] = *data++;
		const char *left = escape(&s->text, s->held, s->held + s->held_len, true);
		size_t rest = (size_t)(s->held + s->held_len - left);
		memmove(s->held, left, rest);
		s->held_len = rest;
	}
	data = escape(&s->text, data, end, true);
	if (data < end) {
		s->held_len = (size_t)(end - data);
		memcpy(s->held, data, s->held_len);
	}
	return s->text.len == 0 || write_escaped(s, err);
}

/* Escapes the held bytes, which were not continued. */
static bool release(struct terminal_sink *s, struct tr_error *err)
{
	if (!s->held_len)
		return true;
	tr_buffer_reset(&s->text);
	escape(&s->text, s->held, s->held + s->held_len, false);
	s->held_len = 0;
	return write_escaped(s, err);
}

/* Flushes the inner sink. The held bytes are an incomplete character, and stay. */
static bool terminal_flush(struct tr_sink *sink, struct tr_error *err)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;

	return s->inner->flush(s->inner, err);
}

/* Writes the held bytes, although they are incomplete. */
static bool terminal_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;

	return release(s, err) && s->inner->finish(s->inner, err);
}

/* Frees the sink and the inner one. */
static void terminal_close(struct tr_sink *sink)
{
	struct terminal_sink *s = (struct terminal_sink *)sink;

	s->inner->close(s->inner);
	tr_buffer_free(&s->text);
	free(s);
}

struct tr_sink *tr_sink_terminal(struct tr_sink *inner)
{
	struct terminal_sink *s = malloc(sizeof *s);

	if (!s) {
		inner->close(inner);
		return NULL;
	}
	*s = (struct terminal_sink){
		.base = { .write = terminal_write,
			  .flush = terminal_flush,
			  .finish = terminal_finish,
			  .close = terminal_close },
		.inner = inner,
	};
	return &s->base;
}

enum {
	BUFFER = 256 << 10,
	LARGE = BUFFER / 2, /* from this size on, a copy costs more than a write of its own */
	LENT = 4 << 10,	    /* minimum; nearly all lines are shorter */
};
_Static_assert((int)TR_OUTPUT_ROOM <= (int)BUFFER, "room needs memory");

struct tr_output_private {
	struct tr_sink *sink;
	char *base;
	size_t cap;
	uint64_t written; /* bytes passed to the sink, or dropped after a failure */
	struct tr_error error;
};

struct tr_output *tr_output_new(struct tr_sink *sink)
{
	struct tr_output *out = malloc(sizeof *out);
	struct tr_output_private *self = malloc(sizeof *self);
	char *base = malloc(BUFFER);
	if (!out || !self || !base) {
		free(out);
		free(self);
		free(base);
		sink->close(sink);
		return NULL;
	}
	*self = (struct tr_output_private){ .sink = sink, .base = base, .cap = BUFFER };
	*out = (struct tr_output){ .pos = base, .end = base + BUFFER, .private = self };
	return out;
}

void tr_output_line_buffered(struct tr_output *out, bool on)
{
	out->line_buffered = on;
}

/* Returns the number of bytes in the buffer. */
static size_t buffered(const struct tr_output *out)
{
	return (size_t)(out->pos - out->private->base);
}

/* Writes to the sink, and counts; after a failure it only counts. */
static void sink_write(struct tr_output *out, const char *data, size_t len)
{
	struct tr_output_private *self = out->private;
	self->written += len;
	if (!out->failed && len > 0)
		out->failed = !self->sink->write(self->sink, data, len, &self->error);
}

/* Empties the buffer. */
static void write_buffer(struct tr_output *out)
{
	struct tr_output_private *self = out->private;
	size_t len = buffered(out);
	out->pos = self->base;
	sink_write(out, self->base, len);
}

/* Resizes the buffer, which is empty. False: nothing changed. */
static bool resize_buffer(struct tr_output *out, size_t cap)
{
	struct tr_output_private *self = out->private;
	char *base = cap <= PTRDIFF_MAX ? malloc(cap) : NULL;
	if (!base)
		return false;
	free(self->base);
	self->base = base;
	self->cap = cap;
	out->pos = base;
	out->end = base + cap;
	return true;
}

char *tr_output_grow(struct tr_output *out, size_t n)
{
	struct tr_output_private *self = out->private;
	write_buffer(out);
	/* a large buffer is reduced when it is no longer needed */
	if (n <= BUFFER && self->cap > BUFFER)
		(void)resize_buffer(out, BUFFER);
	if (n <= self->cap || resize_buffer(out, n))
		return out->pos;
	if (!out->failed)
		tr_error_memory(&self->error);
	out->failed = true;
	return NULL;
}

void tr_output_lend(struct tr_output *out, struct tr_buffer *b)
{
	size_t room = (size_t)(out->end - out->pos);
	if (room < LENT) {
		if (b->lent)
			tr_buffer_free(b);
		tr_buffer_reset(b);
		return;
	}
	if (!b->lent)
		free(b->data);
	/*
	 * member by member: copying the structure would load bytes that were just stored in other
	 * sizes
	 */
	b->data = out->pos;
	b->len = 0;
	b->cap = room;
	b->failed = false;
	b->lent = true;
}

void tr_output_put_large(struct tr_output *out, const char *data, size_t len)
{
	if (len >= LARGE) {
		write_buffer(out);
		sink_write(out, data, len);
		return;
	}
	/* full blocks unless there is a flush, because the sinks below may be faster with them */
	size_t fits = (size_t)(out->end - out->pos);
	if (fits > len)
		fits = len;
	memcpy(out->pos, data, fits);
	out->pos += fits;
	if (fits == len)
		return;
	write_buffer(out);
	memcpy(out->pos, data + fits, len - fits);
	out->pos += len - fits;
}

bool tr_output_flush(struct tr_output *out)
{
	struct tr_output_private *self = out->private;
	write_buffer(out);
	if (!out->failed)
		out->failed = !self->sink->flush(self->sink, &self->error);
	return !out->failed;
}

uint64_t tr_output_count(const struct tr_output *out)
{
	return out->private->written + buffered(out);
}

/* Frees the output and its sink. */
static void free_output(struct tr_output *out)
{
	out->private->sink->close(out->private->sink);
	free(out->private->base);
	free(out->private);
	free(out);
}

bool tr_output_finish(struct tr_output *out, struct tr_error *err)
{
	struct tr_output_private *self = out->private;
	write_buffer(out);
	if (!out->failed)
		out->failed = !self->sink->finish(self->sink, &self->error);
	bool done = !out->failed;
	if (!done && err)
		*err = self->error;
	free_output(out);
	return done;
}

void tr_output_discard(struct tr_output *out)
{
	if (out)
		free_output(out);
}
