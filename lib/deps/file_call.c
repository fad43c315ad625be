/* SPDX-License-Identifier: MIT */
#include "deps/file_call.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/value.h"

/*
 * The arguments of the calls, with their names in trec(5) and the manual pages, in the order of
 * their lengths.
 */
enum key {
	FD,
	OP,
	TO,
	BUF,
	ARG,
	CMD,
	FDS,
	HOW,
	MSG,
	PATH,
	FROM,
	LINK,
	LAST,
	MODE,
	NAME,
	ORIG,
	PROT,
	DIRFD,
	FLAGS,
	OLDFD,
	NEWFD,
	FIRST,
	FD_IN,
	IN_FD,
	ERROR,
	RETURN,
	FD_OUT,
	OUT_FD,
	TARGET,
	LENGTH,
	FAILED,
	STATBUF,
	STATXBUF,
	OLDDIRFD,
	NEWDIRFD,
	KEYS
};

#define TEXT(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}
static const struct tr_text keys[KEYS] = {
	[FD] = TEXT("fd"),
	[OP] = TEXT("op"),
	[TO] = TEXT("to"),
	[BUF] = TEXT("buf"),
	[ARG] = TEXT("arg"),
	[CMD] = TEXT("cmd"),
	[FDS] = TEXT("fds"),
	[HOW] = TEXT("how"),
	[MSG] = TEXT("msg"),
	[PATH] = TEXT("path"),
	[FROM] = TEXT("from"),
	[LINK] = TEXT("link"),
	[LAST] = TEXT("last"),
	[MODE] = TEXT("mode"),
	[NAME] = TEXT("name"),
	[ORIG] = TEXT("orig"),
	[PROT] = TEXT("prot"),
	[DIRFD] = TEXT("dirfd"),
	[FLAGS] = TEXT("flags"),
	[OLDFD] = TEXT("oldfd"),
	[NEWFD] = TEXT("newfd"),
	[FIRST] = TEXT("first"),
	[FD_IN] = TEXT("fd_in"),
	[IN_FD] = TEXT("in_fd"),
	[ERROR] = TEXT("error"),
	[RETURN] = TEXT("return"),
	[FD_OUT] = TEXT("fd_out"),
	[OUT_FD] = TEXT("out_fd"),
	[TARGET] = TEXT("target"),
	[LENGTH] = TEXT("length"),
	[FAILED] = TEXT("failed"),
	[STATBUF] = TEXT("statbuf"),
	[STATXBUF] = TEXT("statxbuf"),
	[OLDDIRFD] = TEXT("olddirfd"),
	[NEWDIRFD] = TEXT("newdirfd"),
};

enum { NO = KEYS }; /* the call has no such argument */

/*
 * The calls in the order of the lengths of their names; among equal lengths, frequent ones first.
 * Columns: the keys of the path and its directory, of a second path and its directory, and of the
 * descriptor.
 */
static const struct row {
	struct tr_text name;
	enum tr_file_op op;
	unsigned flags;
	uint8_t path, dir, path2, dir2, fd, fd2;
} rows[] = {
#define AT(name, op, flags) \
	{ \
		TEXT(name), TR_FILE_##op, flags, PATH, DIRFD, NO, NO, NO, NO \
	}
#define BY_PATH(name, op, flags) \
	{ \
		TEXT(name), TR_FILE_##op, flags, PATH, NO, NO, NO, NO, NO \
	}
#define BY_FD(name, op, flags) \
	{ \
		TEXT(name), TR_FILE_##op, flags, NO, NO, NO, NO, FD, NO \
	}
	{ TEXT("dup"), TR_FILE_DUP, 0, NO, NO, NO, NO, OLDFD, NEWFD },
	{ TEXT("tee"), TR_FILE_COPY, 0, NO, NO, NO, NO, FD_IN, FD_OUT },
	BY_PATH("open", OPEN, 0),
	BY_FD("read", READ, 0),
	BY_FD("mmap", MAP, 0),
	BY_PATH("stat", STAT, 0),
	{ TEXT("dup2"), TR_FILE_DUP, 0, NO, NO, NO, NO, OLDFD, NEWFD },
	{ TEXT("pipe"), TR_FILE_PIPE, 0, NO, NO, NO, NO, NO, NO },
	{ TEXT("dup3"), TR_FILE_DUP, 0, NO, NO, NO, NO, OLDFD, NEWFD },
	{ TEXT("link"), TR_FILE_LINK, TR_FILE_NOFOLLOW, FROM, NO, TO, NO, NO, NO },
	BY_FD("close", CLOSE, 0),
	BY_FD("write", WRITE, 0),
	BY_FD("fcntl", CONTROL, 0),
	BY_FD("fstat", STAT, TR_FILE_EMPTY_PATH),
	{ TEXT("ioctl"), TR_FILE_COPY, 0, NO, NO, NO, NO, ARG, FD },
	{ TEXT("mount"), TR_FILE_MOUNT, 0, NO, NO, NO, NO, NO, NO },
	{ TEXT("pipe2"), TR_FILE_PIPE, 0, NO, NO, NO, NO, NO, NO },
	BY_PATH("chdir", CHDIR, 0),
	BY_PATH("chmod", STAT, 0),
	BY_PATH("chown", STAT, 0),
	BY_PATH("creat", OPEN, TR_FILE_WRITES | TR_FILE_CREATES | TR_FILE_TRUNCATES),
	BY_PATH("lstat", STAT, TR_FILE_NOFOLLOW),
	BY_PATH("mkdir", MKDIR, TR_FILE_NOFOLLOW),
	BY_PATH("mknod", MKNOD, TR_FILE_NOFOLLOW),
	BY_FD("mmap2", MAP, 0),
	BY_FD("readv", READ, 0),
	BY_PATH("rmdir", DELETE, TR_FILE_NOFOLLOW | TR_FILE_DIRECTORY),
	AT("statx", STAT, 0),
	BY_PATH("utime", STAT, 0),
	AT("openat", OPEN, 0),
	BY_PATH("access", STAT, 0),
	{ TEXT("rename"), TR_FILE_RENAME, TR_FILE_NOFOLLOW, FROM, NO, TO, NO, NO, NO },
	BY_PATH("unlink", DELETE, TR_FILE_NOFOLLOW),
	BY_PATH("execve", EXEC, 0),
	BY_FD("fchdir", CHDIR, 0),
	BY_PATH("chroot", CHROOT, 0),
	BY_PATH("lchown", STAT, TR_FILE_NOFOLLOW),
	{ TEXT("linkat"), TR_FILE_LINK, TR_FILE_NOFOLLOW, FROM, OLDDIRFD, TO, NEWDIRFD, NO, NO },
	BY_FD("preadv", READ, 0),
	BY_FD("sendto", WRITE, 0),
	{ TEXT("splice"), TR_FILE_COPY, 0, NO, NO, NO, NO, FD_IN, FD_OUT },
	BY_PATH("stat64", STAT, 0),
	BY_PATH("utimes", STAT, 0),
	BY_FD("writev", WRITE, 0),
	BY_FD("pread64", READ, 0),
	BY_FD("fcntl64", CONTROL, 0),
	BY_FD("fstat64", STAT, TR_FILE_EMPTY_PATH),
	BY_PATH("lstat64", STAT, TR_FILE_NOFOLLOW),
	AT("mkdirat", MKDIR, TR_FILE_NOFOLLOW),
	AT("mknodat", MKNOD, TR_FILE_NOFOLLOW),
	AT("openat2", OPEN, 0),
	BY_FD("preadv2", READ, 0),
	BY_FD("pwritev", WRITE, 0),
	BY_FD("recvmsg", RECEIVE, 0),
	BY_FD("sendmsg", SEND, 0),
	{ TEXT("symlink"), TR_FILE_SYMLINK, TR_FILE_NOFOLLOW, TARGET, NO, LINK, NO, NO, NO },
	{ TEXT("unshare"), TR_FILE_UNSHARE, 0, NO, NO, NO, NO, NO, NO },
	{ TEXT("readlink"), TR_FILE_READLINK, TR_FILE_NOFOLLOW, PATH, NO, BUF, NO, NO, NO },
	AT("execveat", EXEC, 0),
	AT("fchmodat", STAT, 0),
	AT("fchownat", STAT, 0),
	BY_FD("getdents", LIST, 0),
	BY_PATH("getxattr", STAT, 0),
	BY_FD("pwrite64", WRITE, 0),
	BY_FD("pwritev2", WRITE, 0),
	BY_FD("recvfrom", READ, 0),
	{ TEXT("renameat"), TR_FILE_RENAME, TR_FILE_NOFOLLOW, FROM, OLDDIRFD, TO, NEWDIRFD, NO,
	  NO },
	{ TEXT("sendfile"), TR_FILE_COPY, 0, NO, NO, NO, NO, IN_FD, OUT_FD },
	BY_PATH("truncate", TRUNCATE, 0),
	AT("unlinkat", DELETE, TR_FILE_NOFOLLOW),
	BY_FD("vmsplice", WRITE, 0),
	AT("faccessat", STAT, 0),
	BY_FD("fallocate", WRITE, 0),
	AT("fchmodat2", STAT, 0),
	AT("fstatat64", STAT, 0),
	BY_FD("ftruncate", TRUNCATE, 0),
	AT("futimesat", STAT, 0),
	BY_PATH("lgetxattr", STAT, TR_FILE_NOFOLLOW),
	{ TEXT("renameat2"), TR_FILE_RENAME, TR_FILE_NOFOLLOW, FROM, OLDDIRFD, TO, NEWDIRFD, NO,
	  NO },
	{ TEXT("symlinkat"), TR_FILE_SYMLINK, TR_FILE_NOFOLLOW, TARGET, NO, LINK, NEWDIRFD, NO,
	  NO },
	AT("utimensat", STAT, 0),
	{ TEXT("move_mount"), TR_FILE_MOUNT, 0, NO, NO, NO, NO, NO, NO },
	{ TEXT("pivot_root"), TR_FILE_MOUNT, 0, NO, NO, NO, NO, NO, NO },
	AT("newfstatat", STAT, 0),
	AT("faccessat2", STAT, 0),
	BY_FD("getdents64", LIST, 0),
	{ TEXT("readlinkat"), TR_FILE_READLINK, TR_FILE_NOFOLLOW, PATH, DIRFD, BUF, NO, NO, NO },
	{ TEXT("sendfile64"), TR_FILE_COPY, 0, NO, NO, NO, NO, IN_FD, OUT_FD },
	{ TEXT("socketpair"), TR_FILE_SOCKETS, 0, NO, NO, NO, NO, NO, NO },
	BY_PATH("truncate64", TRUNCATE, 0),
	{ TEXT("close_range"), TR_FILE_CLOSE_RANGE, 0, NO, NO, NO, NO, FIRST, LAST },
	BY_FD("ftruncate64", TRUNCATE, 0),
	{ TEXT("memfd_create"), TR_FILE_MEMORY, TR_FILE_READS | TR_FILE_WRITES | TR_FILE_UNNAMED,
	  NO, NO, NO, NO, NO, NO },
	{ TEXT("copy_file_range"), TR_FILE_COPY, 0, NO, NO, NO, NO, FD_IN, FD_OUT },
#undef AT
#undef BY_PATH
#undef BY_FD
};

/* Compares len bytes. Names are short, so a call of memcmp would take longer. */
static inline bool same(const char *a, const char *b, size_t len)
{
	uint64_t long_a[2], long_b[2];
	uint32_t short_a[2], short_b[2];

	if (len >= 8 && len <= 16) { /* the first eight bytes, and the last */
		memcpy(long_a, a, 8), memcpy(long_a + 1, a + len - 8, 8);
		memcpy(long_b, b, 8), memcpy(long_b + 1, b + len - 8, 8);
		return long_a[0] == long_b[0] && long_a[1] == long_b[1];
	}
	if (len >= 4 && len < 8) {
		memcpy(short_a, a, 4), memcpy(short_a + 1, a + len - 4, 4);
		memcpy(short_b, b, 4), memcpy(short_b + 1, b + len - 4, 4);
		return short_a[0] == short_b[0] && short_a[1] == short_b[1];
	}
	while (len && a[len - 1] == b[len - 1])
		len--;
	return !len;
}

/* Returns the row of a call, or NULL. */
static const struct row *find_row(struct tr_text name)
{
	/* where the names of each length begin */
	static const uint8_t first[] = { 0,  0,	 0,  0,	 2,  10, 29, 44, 57,
					 71, 81, 90, 92, 93, 93, 93, 94 };

	if (name.len + 1 >= sizeof first)
		return NULL;
	for (const struct row *row = &rows[first[name.len]]; row < &rows[first[name.len + 1]];
	     row++)
		if (same(name.data, row->name.data, name.len))
			return row;
	return NULL;
}

/* Words of flags in the order of their lengths, with the numbers that Linux has for them. */
static const struct word {
	struct tr_text word;
	unsigned number, flag;
} words[] = {
	{ TEXT("O_RDWR"), 0, TR_FILE_READS | TR_FILE_WRITES },
	{ TEXT("O_EXCL"), 0200, TR_FILE_EXCLUSIVE },
	{ TEXT("O_PATH"), 010000000, TR_FILE_PATH_ONLY },
	{ TEXT("O_CREAT"), 0100, TR_FILE_CREATES },
	{ TEXT("O_TRUNC"), 01000, TR_FILE_TRUNCATES },
	{ TEXT("O_RDONLY"), 0, TR_FILE_READS },
	{ TEXT("O_WRONLY"), 0, TR_FILE_WRITES },
	{ TEXT("O_APPEND"), 02000, TR_FILE_APPENDS },
	{ TEXT("CLONE_FS"), 0, TR_FILE_FS },
	{ TEXT("O_CLOEXEC"), 02000000, TR_FILE_CLOEXEC },
	{ TEXT("PROT_READ"), 0, TR_FILE_READS },
	{ TEXT("PROT_EXEC"), 0, TR_FILE_READS },
	{ TEXT("O_TMPFILE"), 020000000, TR_FILE_UNNAMED },
	{ TEXT("O_NOFOLLOW"), 0400000, TR_FILE_NOFOLLOW },
	{ TEXT("PROT_WRITE"), 0, TR_FILE_WRITES },
	{ TEXT("MAP_SHARED"), 0, TR_FILE_SHARED },
	{ TEXT("FD_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("O_DIRECTORY"), 0200000, TR_FILE_DIRECTORY },
	{ TEXT("MFD_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("CLONE_FILES"), 0, TR_FILE_FILES },
	{ TEXT("CLONE_NEWNS"), 0, TR_FILE_FS }, /* for unshare it implies CLONE_FS */
	{ TEXT("SOCK_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("AT_REMOVEDIR"), 0, TR_FILE_DIRECTORY },
	{ TEXT("CLONE_NEWUSER"), 0, TR_FILE_FS }, /* likewise */
	{ TEXT("AT_EMPTY_PATH"), 0, TR_FILE_EMPTY_PATH },
	{ TEXT("RENAME_EXCHANGE"), 0, TR_FILE_EXCHANGE },
	{ TEXT("MSG_CMSG_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("AT_SYMLINK_FOLLOW"), 0, TR_FILE_FOLLOW },
	{ TEXT("MAP_SHARED_VALIDATE"), 0, TR_FILE_SHARED },
	{ TEXT("AT_SYMLINK_NOFOLLOW"), 0, TR_FILE_NOFOLLOW },
	{ TEXT("CLOSE_RANGE_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("CLOSE_RANGE_UNSHARE"), 0, TR_FILE_FILES },
};

/* Returns the flag for a word, or 0. */
static inline unsigned flag_of(const char *p, size_t len)
{
	/* where the words of each length begin */
	static const uint8_t first[] = { 0,  0,	 0,  0,	 0,  0,	 0,  3,	 5,  9, 13,
					 17, 21, 23, 25, 25, 26, 27, 28, 28, 32 };

	if (len + 1 >= sizeof first)
		return 0;
	for (const struct word *word = &words[first[len]]; word < &words[first[len + 1]]; word++)
		if (same(p, word->word.data, len))
			return word->flag;
	return 0;
}

static bool read_digits(struct tr_text text, int64_t *number)
{
	bool minus = text.len && *text.data == '-';
	uint64_t n;

	text.data += minus;
	text.len -= minus;
	if (!tr_decimal_read(text, INT64_MAX, &n))
		return false;
	*number = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

/* Reads open flags that are a number, as strace -X raw prints them. */
static unsigned open_number(struct tr_text text)
{
	uint64_t number = 0;
	int64_t decimal;
	unsigned flags = 0;

	if (text.len > 2 && memcmp(text.data, "0x", 2) == 0)
		for (size_t i = 2; i < text.len; i++)
			number = number << 4 | (uint64_t)(tr_hex_digit(text.data[i]) & 15);
	else if (read_digits(text, &decimal))
		number = (uint64_t)decimal;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (number & words[i].number)
			flags |= words[i].flag;
	return flags | ((number & 3) != 1 ? TR_FILE_READS : 0) | (number & 3 ? TR_FILE_WRITES : 0);
}

static unsigned read_flags(struct tr_text text, bool open)
{
	unsigned flags = 0;

	if (!text.len)
		return 0;
	const char *end = text.data[text.len - 1] == ')' ? memchr(text.data, '(', text.len) : NULL;
	if (*text.data == '?' && end) /* ?(0x12): a number without names */
		text = tr_text_span(end + 1, text.data + text.len - 1);
	else if (end)
		text.len = (size_t)(end - text.data);
	if (*text.data >= '0' && *text.data <= '9')
		return open ? open_number(text) : 0;
	for (const char *p = text.data; p < text.data + text.len;) {
		const char *bar = memchr(p, '|', text.len - (size_t)(p - text.data));
		const char *stop = bar ? bar : text.data + text.len;
		flags |= flag_of(p, (size_t)(stop - p));
		p = stop + 1;
	}
	return flags;
}

unsigned tr_file_open_flags(struct tr_text text)
{
	return read_flags(text, true);
}

/* Returns the end of the string at p, after its closing quote, or NULL. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : NULL;
}

/* Reads the bytes of a string; data NULL: it is not one, or cut. False: memory is exhausted. */
static bool read_string(struct tr_text text, struct tr_arena *arena, struct tr_text *bytes)
{
	*bytes = (struct tr_text){ NULL, 0 };
	if (text.len < 2 || *text.data != '"' || text.data[text.len - 1] != '"')
		return true;
	*bytes = tr_string_bytes((struct tr_text){ text.data + 1, text.len - 2 }, arena);
	return bytes->data;
}

/* Reads a descriptor in another form: <"path";number>, as strace -y prints it, or AT_FDCWD. */
static bool read_long_fd(struct tr_text text, struct tr_arena *arena, int64_t *fd,
			 struct tr_text *path)
{
	if (text.len > 3 && text.data[0] == '<' && text.data[1] == '"') {
		const char *end = text.data + text.len - 1;
		const char *human = string_end(text.data + 1, end);
		if (!human || human >= end || *human != ';')
			return true;
		if (!read_string(tr_text_span(text.data + 1, human), arena, path))
			return false;
		if (path->data && (!path->len || *path->data != '/'))
			path->data = NULL;
		text = tr_text_span(human + 1, end);
	}
	if (text.len >= 8 && memcmp(text.data, "AT_FDCWD", 8) == 0)
		*fd = TR_FD_CWD;
	else if (!read_digits(text, fd) && text.len > 2 && text.len <= 10 && text.data[1] == 'x') {
		/* as strace -e raw prints it */
		*fd = 0;
		for (size_t i = 2; i < text.len; i++)
			*fd = *fd << 4 | (tr_hex_digit(text.data[i]) & 15);
	}
	return true;
}

/* Reads a descriptor: a number, or <"path";number>, which sets *path. No text: TR_FD_NONE. */
static inline bool read_fd(struct tr_text text, struct tr_arena *arena, int64_t *fd,
			   struct tr_text *path)
{
	*fd = TR_FD_NONE;
	*path = (struct tr_text){ NULL, 0 };
	if (text.len == 1 && *text.data >= '0' && *text.data <= '9')
		*fd = *text.data - '0';
	else if (text.len)
		return read_long_fd(text, arena, fd, path);
	return true;
}

/* Reads the numbers in a list, or after "cmsg_data=[" the descriptors in a message. */
static void read_fds(struct tr_text text, struct tr_file_call *call, struct tr_arena *arena)
{
	const char *p = text.data, *end = text.data + text.len;

	while (p < end && *p++ != '[')
		;
	while (p < end && *p != ']' && call->fd_count < sizeof call->fds / sizeof *call->fds) {
		const char *stop = p;
		for (; stop < end && *stop != ',' && *stop != ']'; stop++)
			if (*stop == '"' && !(stop = string_end(stop, end)))
				return;
			else if (*stop == ']' || *stop == ',')
				break;
		struct tr_text path;
		if (!read_fd(tr_text_span(p, stop), arena, &call->fds[call->fd_count++], &path))
			return;
		p = stop < end && *stop == ',' ? stop + 1 : stop;
	}
}

static bool contains(struct tr_text text, const char *word)
{
	return text.len && memmem(text.data, text.len, word, strlen(word));
}

static enum tr_file_type read_type(struct tr_text text)
{
	if (!contains(text, "S_IF"))
		return TR_FILE_UNKNOWN;
	if (contains(text, "S_IFDIR"))
		return TR_FILE_IS_DIRECTORY;
	return contains(text, "S_IFREG")   ? TR_FILE_REGULAR
	       : contains(text, "S_IFLNK") ? TR_FILE_UNKNOWN
	       : contains(text, "S_IFIFO") ? TR_FILE_IS_PIPE
					   : TR_FILE_IS_SPECIAL;
}

/* The texts of the arguments of a call. */
struct arguments {
	uint64_t known; /* a bit for each key that is present; other texts are undefined */
	struct tr_text text[KEYS];
};

/* Returns the text of an argument; data NULL: the call does not have it. */
static inline struct tr_text argument(const struct arguments *arguments, int key)
{
	return arguments->known >> key & 1 ? arguments->text[key] : (struct tr_text){ NULL, 0 };
}

/* Keeps the text of an argument if its key is in the table; the last one of a repeated key. */
static inline void collect_one(struct tr_text key, struct tr_text value,
			       struct arguments *arguments)
{
	/* where the keys of each length begin */
	static const uint8_t first[] = { FD,	FD,	FD,	 BUF,	   PATH,
					 DIRFD, RETURN, STATBUF, STATXBUF, KEYS };

	if (key.len < 2 || key.len + 1 >= sizeof first)
		return;
	for (int k = first[key.len]; k < first[key.len + 1]; k++) {
		if (same(key.data, keys[k].data, key.len)) {
			arguments->known |= UINT64_C(1) << k;
			arguments->text[k] = value;
			return;
		}
	}
}

static bool collect_field(void *context, struct tr_field *field, const struct tr_error *trouble)
{
	if (!trouble && field && !field->bad && field->text.data)
		collect_one(field->key, field->text, context);
	return true;
}

/*
 * Collects the texts of all arguments. Most lines have not been split into fields; tr_record_walk
 * would do that, which takes longer than finding the arguments here.
 */
static void collect(struct tr_record *record, struct arguments *arguments)
{
	enum { SHORT = 4 }; /* bytes that are searched faster without memchr */
	const char *p = record->rest.data, *end = p + record->rest.len;

	arguments->known = 0;
	if (record->split || !record->line.data) {
		tr_record_walk(record, collect_field, arguments);
		return;
	}
	while (p < end) {
		const char *key = ++p, *value;
		while (p < end && *p != '=' && *p != '\t')
			p++;
		if (p == end || *p == '\t')
			continue;
		struct tr_text name = tr_text_span(key, p);
		for (value = ++p; p < end && p < value + SHORT && *p != '\t' && *p != '"';)
			p++;
		if (p < end && *p != '\t') {
			p = memchr(p, '\t', (size_t)(end - p));
			p = p ? p : end;
		}
		collect_one(name, tr_text_span(value, p), arguments);
	}
}

static inline bool read_path(const struct arguments *arguments, int key, int dir,
			     struct tr_arena *arena, struct tr_file_path *path)
{
	struct tr_text directory = argument(arguments, dir);

	path->text = (struct tr_text){ NULL, 0 };
	if (key != NO && !read_string(argument(arguments, key), arena, &path->text))
		return false;
	if (!read_fd(directory, arena, &path->dir, &path->dir_text))
		return false;
	if (!directory.data)
		path->dir = TR_FD_CWD;
	return true;
}

/* Reads an ioctl that copies a file from the descriptor arg, or from src_fd in it. */
static bool read_clone(const struct arguments *arguments, struct tr_file_call *call)
{
	static const char member[] = "src_fd=";
	struct tr_text op = argument(arguments, OP), arg = argument(arguments, ARG);
	const char *from;

	if (!op.data || !arg.data || !contains(op, "FICLONE"))
		return false;
	if (!contains(op, "RANGE"))
		return call->fd >= 0;
	from = memmem(arg.data, arg.len, member, strlen(member));
	if (!from)
		return false;
	from += strlen(member);
	const char *end = arg.data + arg.len, *stop = from;
	while (stop < end && *stop >= '0' && *stop <= '9')
		stop++;
	return read_digits(tr_text_span(from, stop), &call->fd);
}

/* Reads fcntl, whose meaning depends on cmd. */
static bool read_control(const struct arguments *arguments, struct tr_file_call *call)
{
	struct tr_text cmd = argument(arguments, CMD);

	if (tr_text_is(cmd, "F_DUPFD") || tr_text_is(cmd, "F_DUPFD_CLOEXEC")) {
		call->flags |= TR_FILE_DUPLICATES;
		call->flags |= cmd.len > 7 ? TR_FILE_CLOEXEC : 0;
	} else if (tr_text_is(cmd, "F_SETFD")) {
		unsigned flags = read_flags(argument(arguments, ARG), false);
		call->flags |= flags & TR_FILE_CLOEXEC ? TR_FILE_CLOEXEC : TR_FILE_NO_CLOEXEC;
	} else {
		return false;
	}
	return true;
}

bool tr_file_call_concerns(struct tr_text name)
{
	return find_row(name) != NULL;
}

bool tr_file_call_uses(struct tr_text name)
{
	const struct row *row = find_row(name);

	return row && row->op != TR_FILE_CHDIR && row->op != TR_FILE_EXEC &&
	       row->op != TR_FILE_UNSHARE && row->op != TR_FILE_CHROOT &&
	       row->op != TR_FILE_MOUNT && row->fd != ARG;
}

/* Reads the flags of an open, which openat2 has in a structure. */
static struct tr_text open_flags(const struct arguments *arguments, struct tr_file_call *call)
{
	struct tr_text how = argument(arguments, HOW);
	const char *member = how.data ? memmem(how.data, how.len, "flags=", 6) : NULL;

	if (how.data && contains(how, "RESOLVE_IN_ROOT"))
		call->flags |= TR_FILE_IN_ROOT;
	if (!member)
		return argument(arguments, FLAGS);
	struct tr_text flags = tr_text_span(member + 6, how.data + how.len);
	flags.len = strcspn(flags.data, ",}");
	return flags;
}

enum tr_status tr_file_call_read(struct tr_record *record, struct tr_file_call *call,
				 struct tr_error *err)
{
	struct arguments arguments;
	const struct row *row =
		record->name.type == TR_CELL_TEXT ? find_row(record->name.text) : NULL;
	struct tr_arena *arena = record->arena;

	if (!row)
		return TR_END;
	collect(record, &arguments);
	call->op = row->op;
	call->flags = row->flags;
	call->error = argument(&arguments, ERROR);
	if (!call->error.data && argument(&arguments, FAILED).data)
		call->error = TR_TEXT("");
	call->fd_count = 0;
	call->type = TR_FILE_UNKNOWN;
	call->empty = row->op == TR_FILE_TRUNCATE && tr_text_is(argument(&arguments, LENGTH), "0");
	if (!read_path(&arguments, row->path, row->dir, arena, &call->path[0]) ||
	    !read_path(&arguments, row->path2, row->dir2, arena, &call->path[1]) ||
	    !read_fd(argument(&arguments, row->fd), arena, &call->fd, &call->fd_text) ||
	    !read_fd(argument(&arguments, row->fd2), arena, &call->other_fd,
		     &call->other_fd_text) ||
	    !read_fd(argument(&arguments, RETURN), arena, &call->result, &call->result_text) ||
	    !read_string(argument(&arguments, ORIG), arena, &call->original))
		return tr_error_memory(err);
	switch (row->op) {
	case TR_FILE_OPEN:
		call->flags |= read_flags(open_flags(&arguments, call), true);
		break;
	case TR_FILE_CONTROL:
		return read_control(&arguments, call) ? TR_OK : TR_END;
	default:
		call->flags |= read_flags(argument(&arguments, FLAGS), false);
	}
	struct tr_text message = argument(&arguments, MSG);
	switch (row->op) {
	case TR_FILE_COPY:
		return row->fd != ARG || read_clone(&arguments, call) ? TR_OK : TR_END;
	case TR_FILE_MAP:
		call->flags |= read_flags(argument(&arguments, PROT), false);
		break;
	case TR_FILE_STAT:
		call->type = read_type(argument(&arguments, STATXBUF));
		if (!argument(&arguments, STATXBUF).data)
			call->type = read_type(argument(&arguments, STATBUF));
		break;
	case TR_FILE_MKNOD:
		call->type = read_type(argument(&arguments, MODE));
		break;
	case TR_FILE_PIPE:
	case TR_FILE_SOCKETS:
		read_fds(argument(&arguments, FDS), call, arena);
		break;
	case TR_FILE_SEND:
	case TR_FILE_RECEIVE:
		if (message.data && contains(message, "SCM_RIGHTS")) {
			const char *data = memmem(message.data, message.len, "cmsg_data=[", 11);
			if (data)
				read_fds(tr_text_span(data, message.data + message.len), call,
					 arena);
		}
		break;
	default:
		break;
	}
	return TR_OK;
}
