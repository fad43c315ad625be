/* SPDX-License-Identifier: MIT */
#include "deps/file_call.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/value.h"

/*
 * The arguments of the calls, with the names that trec(5) and the manual pages have, in the order
 * of their lengths.
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
	FD_OUT,
	OUT_FD,
	TARGET,
	LENGTH,
	RETURN,
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
	[FD_OUT] = TEXT("fd_out"),
	[OUT_FD] = TEXT("out_fd"),
	[TARGET] = TEXT("target"),
	[LENGTH] = TEXT("length"),
	[RETURN] = TEXT("return"),
	[FAILED] = TEXT("failed"),
	[STATBUF] = TEXT("statbuf"),
	[STATXBUF] = TEXT("statxbuf"),
	[OLDDIRFD] = TEXT("olddirfd"),
	[NEWDIRFD] = TEXT("newdirfd"),
};

enum { NO = KEYS }; /* no such argument */

/*
 * In the order of the lengths of their names, and of those with the same length the frequent ones
 * first. Which key has the path, its directory, a second pair of these; which has fd.
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
	BY_PATH("rmdir", DELETE, TR_FILE_NOFOLLOW),
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

/* The row of a call, or NULL. */
static const struct row *find_row(struct tr_text name)
{
	/* where the names of each length begin */
	static const uint8_t first[] = { 0,  0,	 0,  0,	 2,  10, 29, 44, 57,
					 71, 81, 90, 92, 93, 93, 93, 94 };

	if (name.len + 1 >= sizeof first)
		return NULL;
	for (const struct row *row = &rows[first[name.len]]; row < &rows[first[name.len + 1]];
	     row++)
		if (name.data[0] == row->name.data[0] && name.data[2] == row->name.data[2] &&
		    memcmp(name.data, row->name.data, name.len) == 0)
			return row;
	return NULL;
}

/* Words of flags, and what their numbers are on Linux if a log has no words. */
static const struct word {
	struct tr_text word;
	unsigned number, flag;
} words[] = {
	{ TEXT("O_RDONLY"), 0, TR_FILE_READS },
	{ TEXT("O_WRONLY"), 01, TR_FILE_WRITES },
	{ TEXT("O_RDWR"), 02, TR_FILE_READS | TR_FILE_WRITES },
	{ TEXT("O_CREAT"), 0100, TR_FILE_CREATES },
	{ TEXT("O_EXCL"), 0200, TR_FILE_EXCLUSIVE },
	{ TEXT("O_TRUNC"), 01000, TR_FILE_TRUNCATES },
	{ TEXT("O_APPEND"), 02000, TR_FILE_APPENDS },
	{ TEXT("O_DIRECTORY"), 0200000, TR_FILE_DIRECTORY },
	{ TEXT("O_NOFOLLOW"), 0400000, TR_FILE_NOFOLLOW },
	{ TEXT("O_CLOEXEC"), 02000000, TR_FILE_CLOEXEC },
	{ TEXT("O_PATH"), 010000000, TR_FILE_PATH_ONLY },
	{ TEXT("O_TMPFILE"), 020000000, TR_FILE_UNNAMED },
	{ TEXT("SOCK_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("MFD_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("FD_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("MSG_CMSG_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("CLOSE_RANGE_CLOEXEC"), 0, TR_FILE_CLOEXEC },
	{ TEXT("CLOSE_RANGE_UNSHARE"), 0, TR_FILE_FILES },
	{ TEXT("AT_SYMLINK_NOFOLLOW"), 0, TR_FILE_NOFOLLOW },
	{ TEXT("AT_SYMLINK_FOLLOW"), 0, TR_FILE_FOLLOW },
	{ TEXT("AT_EMPTY_PATH"), 0, TR_FILE_EMPTY_PATH },
	{ TEXT("AT_REMOVEDIR"), 0, TR_FILE_DIRECTORY },
	{ TEXT("RENAME_EXCHANGE"), 0, TR_FILE_EXCHANGE },
	{ TEXT("MAP_SHARED"), 0, TR_FILE_SHARED },
	{ TEXT("MAP_SHARED_VALIDATE"), 0, TR_FILE_SHARED },
	{ TEXT("PROT_READ"), 0, TR_FILE_READS },
	{ TEXT("PROT_EXEC"), 0, TR_FILE_READS },
	{ TEXT("PROT_WRITE"), 0, TR_FILE_WRITES },
	{ TEXT("CLONE_FILES"), 0, TR_FILE_FILES },
	{ TEXT("CLONE_FS"), 0, TR_FILE_FS },
	{ TEXT("CLONE_NEWNS"), 0, TR_FILE_FS },	  /* unshare then does this, too */
	{ TEXT("CLONE_NEWUSER"), 0, TR_FILE_FS }, /* the same */
};

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

/* Open flags as a number, as strace -X raw prints them. */
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
		if (words[i].number > 2 && number & words[i].number)
			flags |= words[i].flag;
	return flags | words[(number & 3) == 3 ? 2 : number & 3].flag;
}

static unsigned read_flags(struct tr_text text, bool open)
{
	const char *end = memchr(text.data, '(', text.len);
	unsigned flags = 0;

	if (!text.len)
		return 0;
	if (*text.data == '?' && end) /* ?(0x12): a number without names */
		text = tr_text_span(end + 1, text.data + text.len - 1);
	else if (end)
		text.len = (size_t)(end - text.data);
	if (*text.data >= '0' && *text.data <= '9')
		return open ? open_number(text) : 0;
	for (const char *p = text.data; p < text.data + text.len;) {
		const char *bar = memchr(p, '|', text.len - (size_t)(p - text.data));
		const char *stop = bar ? bar : text.data + text.len;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if ((size_t)(stop - p) == words[i].word.len &&
			    p[2] == words[i].word.data[2] &&
			    memcmp(p, words[i].word.data, words[i].word.len) == 0) {
				flags |= words[i].flag;
				break;
			}
		p = stop + 1;
	}
	return flags;
}

/* The end of a string that begins at p with its quote: after the closing quote, or NULL. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : NULL;
}

/* The bytes of a string; data NULL: it is none, or cut. False: memory is exhausted. */
static bool read_string(struct tr_text text, struct tr_arena *arena, struct tr_text *bytes)
{
	*bytes = (struct tr_text){ NULL, 0 };
	if (text.len < 2 || *text.data != '"' || text.data[text.len - 1] != '"')
		return true;
	*bytes = tr_string_bytes((struct tr_text){ text.data + 1, text.len - 2 }, arena);
	return bytes->data;
}

/* A number, or <"path";number> as strace -y gives it: *path is set then. */
static bool read_fd(struct tr_text text, struct tr_arena *arena, int64_t *fd, struct tr_text *path)
{
	*fd = TR_FD_NONE;
	*path = (struct tr_text){ NULL, 0 };
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

/* The numbers of a list, or after "cmsg_data=[" for descriptors in a message. */
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

/* Keeps the text of an argument that the table knows; of a key that is repeated, the last. */
static void collect_one(struct tr_text key, struct tr_text value, struct tr_text *text)
{
	/* where the keys of each length begin */
	static const uint8_t first[] = { FD,	FD,	FD,	 BUF,	   PATH,
					 DIRFD, FD_OUT, STATBUF, STATXBUF, KEYS };

	if (key.len < 2 || key.len + 1 >= sizeof first)
		return;
	for (int k = first[key.len]; k < first[key.len + 1]; k++) {
		if (key.data[1] == keys[k].data[1] &&
		    memcmp(key.data, keys[k].data, key.len) == 0) {
			text[k] = value;
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
 * Collects the texts of all arguments. Those of a line that is not split are found here, without
 * the fields that tr_record_walk makes of them: a log has little else than such lines.
 */
static void collect(struct tr_record *record, struct tr_text *text)
{
	const char *p = record->rest.data, *end = p + record->rest.len;

	if (record->split || !record->line.data) {
		tr_record_walk(record, collect_field, text);
		return;
	}
	while (p < end) {
		const char *key = ++p, *tab;
		while (p < end && *p != '=' && *p != '\t')
			p++;
		if (p == end || *p == '\t')
			continue;
		tab = memchr(p, '\t', (size_t)(end - p));
		tab = tab ? tab : end;
		collect_one(tr_text_span(key, p), tr_text_span(p + 1, tab), text);
		p = tab;
	}
}

static bool read_path(const struct row *row, int which, const struct tr_text *text,
		      struct tr_arena *arena, struct tr_file_path *path)
{
	int key = which ? row->path2 : row->path, dir = which ? row->dir2 : row->dir;

	path->dir = TR_FD_CWD;
	if (key != NO && !read_string(text[key], arena, &path->text))
		return false;
	return dir == NO || !text[dir].data ||
	       read_fd(text[dir], arena, &path->dir, &path->dir_text);
}

/* ioctl copies a file if that is its operation: from arg, or from src_fd in it. */
static bool read_clone(const struct tr_text *text, struct tr_file_call *call)
{
	static const char member[] = "src_fd=";
	const char *from;

	if (!text[OP].data || !text[ARG].data || !contains(text[OP], "FICLONE"))
		return false;
	if (!contains(text[OP], "RANGE"))
		return call->fd >= 0;
	from = memmem(text[ARG].data, text[ARG].len, member, strlen(member));
	if (!from)
		return false;
	from += strlen(member);
	const char *end = text[ARG].data + text[ARG].len, *stop = from;
	while (stop < end && *stop >= '0' && *stop <= '9')
		stop++;
	return read_digits(tr_text_span(from, stop), &call->fd);
}

/* fcntl has its meaning in cmd. */
static bool read_control(const struct tr_text *text, struct tr_file_call *call)
{
	struct tr_text cmd = text[CMD];

	if (tr_text_is(cmd, "F_DUPFD") || tr_text_is(cmd, "F_DUPFD_CLOEXEC")) {
		call->flags |= TR_FILE_DUPLICATES;
		call->flags |= cmd.len > 7 ? TR_FILE_CLOEXEC : 0;
	} else if (tr_text_is(cmd, "F_SETFD")) {
		call->flags |= read_flags(text[ARG], false) & TR_FILE_CLOEXEC ? TR_FILE_CLOEXEC
									      : TR_FILE_NO_CLOEXEC;
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

enum tr_status tr_file_call_read(struct tr_record *record, struct tr_file_call *call,
				 struct tr_error *err)
{
	struct tr_text text[KEYS] = { { NULL, 0 } };
	const struct row *row =
		record->name.type == TR_CELL_TEXT ? find_row(record->name.text) : NULL;

	if (!row)
		return TR_END;
	collect(record, text);
	memset(call, 0, offsetof(struct tr_file_call, fds));
	call->op = row->op;
	call->flags = row->flags;
	call->fd = call->other_fd = call->result = TR_FD_NONE;
	if (text[ERROR].data)
		call->error = text[ERROR];
	else if (text[FAILED].data)
		call->error = TR_TEXT("");
	struct tr_text flags = text[row->op == TR_FILE_CONTROL ? KEYS - 1 : FLAGS];
	if (row->op == TR_FILE_OPEN && text[HOW].data) {
		if (contains(text[HOW], "RESOLVE_IN_ROOT"))
			call->flags |= TR_FILE_IN_ROOT;
		const char *member = memmem(text[HOW].data, text[HOW].len, "flags=", 6);
		if (member) {
			flags = tr_text_span(member + 6, text[HOW].data + text[HOW].len);
			flags.len = strcspn(flags.data, ",}");
		}
	}
	if (flags.data)
		call->flags |= read_flags(flags, row->op == TR_FILE_OPEN);
	if (row->op == TR_FILE_MAP && text[PROT].data)
		call->flags |= read_flags(text[PROT], false);
	bool fine = read_path(row, 0, text, record->arena, &call->path[0]) &&
		    read_path(row, 1, text, record->arena, &call->path[1]);
	if (row->fd != NO)
		fine = fine && read_fd(text[row->fd], record->arena, &call->fd, &call->fd_text);
	if (row->fd2 != NO)
		fine = fine && read_fd(text[row->fd2], record->arena, &call->other_fd,
				       &call->other_fd_text);
	if (text[RETURN].data)
		fine = fine &&
		       read_fd(text[RETURN], record->arena, &call->result, &call->result_text);
	if (text[ORIG].data)
		fine = fine && read_string(text[ORIG], record->arena, &call->original);
	if (!fine)
		return tr_error_memory(err);
	if (row->op == TR_FILE_CONTROL && !read_control(text, call))
		return TR_END;
	if (row->op == TR_FILE_COPY && row->fd == ARG && !read_clone(text, call))
		return TR_END;
	if (row->op == TR_FILE_STAT)
		call->type = read_type(text[text[STATXBUF].data ? STATXBUF : STATBUF]);
	if (row->op == TR_FILE_MKNOD)
		call->type = read_type(text[MODE]);
	if (row->op == TR_FILE_PIPE || row->op == TR_FILE_SOCKETS)
		read_fds(text[FDS], call, record->arena);
	if ((row->op == TR_FILE_SEND || row->op == TR_FILE_RECEIVE) &&
	    contains(text[MSG], "SCM_RIGHTS")) {
		const char *data = memmem(text[MSG].data, text[MSG].len, "cmsg_data=[", 11);
		if (data)
			read_fds(tr_text_span(data, text[MSG].data + text[MSG].len), call,
				 record->arena);
	}
	if (row->op == TR_FILE_TRUNCATE)
		call->empty = tr_text_is(text[LENGTH], "0");
	return TR_OK;
}
