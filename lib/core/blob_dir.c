/* SPDX-License-Identifier: MIT */
/* Stores blobs in files that are named by their SHA-256, which nettle computes. */

#include "core/blob_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/output.h"

#define STRING(number) STRING_OF(number)
#define STRING_OF(number) #number
#define DOTTED(major, minor) STRING(major) "." STRING(minor)

/* Writes a digest in lower-case hex. */
static void write_hex(const uint8_t *digest, size_t size, char *to)
{
	for (size_t i = 0; i < size; i++) {
		*to++ = "0123456789abcdef"[digest[i] >> 4];
		*to++ = "0123456789abcdef"[digest[i] & 15];
	}
}

void tr_sha256_hex(struct tr_text bytes, char *to)
{
	struct sha256_ctx context;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&context);
	sha256_update(&context, bytes.len, (const uint8_t *)bytes.data);
	sha256_digest(&context, sizeof digest, digest);
	write_hex(digest, sizeof digest, to);
}

bool tr_hash_file(int fd, char *sha256, char *sha1)
{
	struct sha256_ctx context256;
	struct sha1_ctx context1;
	uint8_t bytes[1 << 15], digest[SHA256_DIGEST_SIZE];
	ssize_t got;

	sha256_init(&context256);
	sha1_init(&context1);
	while ((got = read(fd, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		sha256_update(&context256, (size_t)got, bytes);
		sha1_update(&context1, (size_t)got, bytes);
	}
	sha256_digest(&context256, SHA256_DIGEST_SIZE, digest);
	write_hex(digest, SHA256_DIGEST_SIZE, sha256);
	sha1_digest(&context1, SHA1_DIGEST_SIZE, digest);
	write_hex(digest, SHA1_DIGEST_SIZE, sha1);
	return got == 0;
}

const char *tr_sha256_version(void)
{
	return "nettle " DOTTED(NETTLE_VERSION_MAJOR, NETTLE_VERSION_MINOR);
}

/* The directory of blobs. */

struct tr_blob_dir {
	int fd;		       /* of the directory; -1: not opened yet */
	struct tr_buffer path; /* of the file of a blob, NUL-terminated, for messages */
	size_t prefix;	       /* length of the directory with its slash, in path */
	uint64_t largest;
	struct tr_file_group written; /* files that are not on the disk yet */
};

/*
 * Opens the directory. False: errno contains the reason. A directory that is read from need not
 * exist yet, because the process that fills it may run at the same time, earlier in the pipe.
 */
static bool open_directory(struct tr_blob_dir *dir, const char *path, bool make)
{
	if (make && mkdir(path, 0777) != 0 && errno != EEXIST)
		return false;
	dir->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return !make && errno == ENOENT;
	return faccessat(dir->fd, ".", make ? W_OK | X_OK : X_OK, 0) == 0;
}

struct tr_blob_dir *tr_blob_dir_open(const char *path, bool make, uint64_t largest,
				     struct tr_error *err)
{
	struct tr_blob_dir *dir = malloc(sizeof *dir);
	if (dir) {
		*dir = (struct tr_blob_dir){ .fd = -1,
					     .largest = largest,
					     .written.named_at_once = true };
		tr_buffer_put_text(&dir->path, tr_text_from(path));
		tr_buffer_put_byte(&dir->path, '/');
		dir->prefix = dir->path.len;
		/* memory for a name is allocated here, so file_path cannot fail */
		tr_buffer_room(&dir->path, TR_SHA256_HEX + 1);
	}
	if (!dir || dir->path.failed) {
		tr_blob_dir_close(dir);
		tr_error_memory(err);
		return NULL;
	}
	if (!open_directory(dir, path, make)) {
		tr_error_system(err, errno, "%s", path);
		tr_blob_dir_close(dir);
		return NULL;
	}
	return dir;
}

enum tr_status tr_blob_dir_sync(struct tr_blob_dir *dir, struct tr_error *err)
{
	return tr_file_group_complete(&dir->written, err);
}

void tr_blob_dir_close(struct tr_blob_dir *dir)
{
	struct tr_error err;

	if (!dir)
		return;
	while (tr_blob_dir_sync(dir, &err) != TR_END)
		;
	if (dir->fd >= 0)
		close(dir->fd);
	tr_buffer_free(&dir->path);
	free(dir);
}

/* Returns the path of a blob's file, for messages; valid until the next call. */
static const char *file_path(struct tr_blob_dir *dir, const char *name)
{
	dir->path.len = dir->prefix;
	tr_buffer_put(&dir->path, name, TR_SHA256_HEX);
	tr_buffer_put_byte(&dir->path, '\0');
	return dir->path.data;
}

/* Opens the file of a blob. -1: errno contains the reason. */
static int open_blob(struct tr_blob_dir *dir, const char *path)
{
	/* these flags neither wait on a pipe of this name nor follow a link */
	enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW };

	if (dir->fd < 0) {
		char *directory = strndup(path, dir->prefix);
		dir->fd = directory ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		free(directory);
	}
	return dir->fd < 0 ? -1 : openat(dir->fd, path + dir->prefix, FLAGS);
}

/* True for a regular file of this length. */
static bool has_length(int fd, uint64_t length)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == length;
}

/* Reads until buf is full or the file ends. -1: errno contains the reason. */
static ssize_t read_all(int fd, char *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(fd, buf + have, len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/*
 * True if the file has these bytes. A name and a size are not enough: names are given before the
 * content is on the disk, so a crash of the system can leave a file of zeros.
 */
static bool is_stored(struct tr_blob_dir *dir, const char *path, struct tr_text bytes)
{
	char piece[1 << 15];
	int fd = open_blob(dir, path);

	if (fd < 0)
		return false;
	bool same = has_length(fd, bytes.len);
	for (size_t at = 0, len; same && at < bytes.len; at += len) {
		len = bytes.len - at < sizeof piece ? bytes.len - at : sizeof piece;
		same = read_all(fd, piece, len) == (ssize_t)len &&
		       memcmp(piece, bytes.data + at, len) == 0;
	}
	close(fd);
	return same;
}

bool tr_blob_dir_put(struct tr_blob_dir *dir, struct tr_text bytes, char *name,
		     struct tr_error *err)
{
	tr_sha256_hex(bytes, name);
	const char *path = file_path(dir, name), *base = path + dir->prefix;
	/* a link or another file is replaced */
	if (is_stored(dir, path, bytes))
		return true;
	if (tr_file_group_is_full(&dir->written) && tr_blob_dir_sync(dir, err) != TR_END)
		return false;
	struct tr_sink *sink = tr_sink_file_at(dir->fd, base, path, &dir->written, err);
	if (!sink)
		return false;
	bool written = sink->write(sink, bytes.data, bytes.len, err) && sink->finish(sink, err);
	sink->close(sink);
	return written;
}

/*
 * Reads a file and checks its contents against its name, because the directory may have been
 * changed. TR_WARN: it is another file.
 */
static enum tr_status read_blob(const struct tr_blob_dir *dir, int fd, struct tr_text name,
				uint64_t length, struct tr_arena *arena, struct tr_text *bytes,
				struct tr_error *err)
{
	const char *path = dir->path.data;
	char sum[TR_SHA256_HEX];

	if (!has_length(fd, length)) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s does not contain the %llu bytes of the blob",
			     path, (unsigned long long)length);
		return TR_WARN;
	}
	char *data = tr_arena_alloc(arena, length);
	if (!data)
		return tr_error_memory(err);
	ssize_t n = read_all(fd, data, length);
	if (n < 0) {
		tr_error_system(err, errno, "%s", path);
		return TR_WARN;
	}
	*bytes = (struct tr_text){ data, (size_t)n };
	tr_sha256_hex(*bytes, sum);
	if (memcmp(sum, name.data, sizeof sum) == 0)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT, "%s: the content does not match the SHA-256 in its name",
		     path);
	return TR_WARN;
}

/* Checks the name, because it comes from input and must not open a file outside the directory. */
static bool is_name(struct tr_text name)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < name.len; i++) {
		if (!memchr(digits, name.data[i], sizeof digits - 1))
			return false;
	}
	return name.len == TR_SHA256_HEX;
}

/* The name and the length come from the record, so both are checked before a file is opened. */
enum tr_status tr_blob_dir_get(struct tr_blob_dir *dir, struct tr_text name, uint64_t length,
			       struct tr_arena *arena, struct tr_text *bytes, struct tr_error *err)
{
	if (!is_name(name)) {
		tr_error_set(err, TR_CAUSE_INPUT, "'%.*s' is not a SHA-256", (int)name.len,
			     name.data);
		return TR_WARN;
	}
	/* the record states the length, and it must not decide how much is allocated */
	if (length > dir->largest) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "a blob of %llu bytes is larger than "
			     "--max-record",
			     (unsigned long long)length);
		return TR_WARN;
	}
	int fd = open_blob(dir, file_path(dir, name.data));
	if (fd < 0) {
		tr_error_system(err, errno, "%s", dir->path.data);
		return TR_WARN;
	}
	enum tr_status status = read_blob(dir, fd, name, length, arena, bytes, err);
	close(fd);
	return status;
}
