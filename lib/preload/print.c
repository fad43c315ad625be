/* SPDX-License-Identifier: MIT */
/*
 * Prints file calls as strace -y does: the arguments in the order of the system call, and flags in
 * the order of strace's tables.
 */
#include "preload/decode.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

void tr_print_escaped(struct tr_buffer *out, const char *string)
{
	for (const char *p = string; *p;) {
		size_t plain = 0;
		for (unsigned char c; (c = (unsigned char)p[plain]) >= ' ' && c < 0x7f &&
				      c != '"' && c != '\\' && c != '<' && c != '>';)
			plain++;
		tr_buffer_put(out, p, plain);
		p += plain;
		if (*p) {
			const unsigned char c = (unsigned char)*p++;
			const char escape[] = { '\\', (char)('0' + (c >> 6)),
						(char)('0' + (c >> 3 & 7)), (char)('0' + (c & 7)) };
			tr_buffer_put(out, escape, sizeof escape);
		}
	}
}

void tr_print_result(struct tr_buffer *out, int error)
{
	const char *name = strerrorname_np(error);

	if (error == 0) {
		tr_buffer_put_literal(out, "0\n");
	} else if (name) {
		tr_buffer_put_literal(out, "-1 ");
		tr_buffer_put_text(out, tr_text_from(name));
		tr_buffer_put_literal(out, " (");
		tr_buffer_put_text(out, tr_text_from(strerror(error)));
		tr_buffer_put_literal(out, ")\n");
	} else {
		tr_buffer_put_literal(out, "-1 (errno ");
		tr_buffer_put_decimal(out, (uint64_t)error);
		tr_buffer_put_literal(out, ")\n");
	}
}

static void put_number(struct tr_buffer *out, int64_t number)
{
	if (number < 0)
		tr_buffer_put_byte(out, '-');
	tr_buffer_put_decimal(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void put_comma(struct tr_buffer *out)
{
	tr_buffer_put_literal(out, ", ");
}

static void put_string(struct tr_buffer *out, const char *string)
{
	if (!string) {
		tr_buffer_put_literal(out, "NULL"); /* an address that cannot be read */
		return;
	}
	tr_buffer_put_byte(out, '"');
	tr_print_escaped(out, string);
	tr_buffer_put_byte(out, '"');
}

/* Appends the directory that a path is relative to. */
static void put_directory(struct tr_buffer *out, int fd, const char *cwd)
{
	if (fd != AT_FDCWD) {
		put_number(out, fd);
		return;
	}
	tr_buffer_put_literal(out, "AT_FDCWD");
	if (!*cwd)
		return;
	tr_buffer_put_byte(out, '<');
	tr_print_escaped(out, cwd);
	tr_buffer_put_byte(out, '>');
}

static void put_octal(struct tr_buffer *out, unsigned number)
{
	char text[16];

	tr_buffer_put(out, text, (size_t)snprintf(text, sizeof text, "%#03o", number));
}

/* Words of flags, in the order in which strace prints them. */
struct word {
	unsigned bits;
	struct tr_text name;
};

#define WORD(bits) \
	{ \
		bits, \
		{ \
#bits, sizeof #bits - 1 \
		} \
	}
#define LARGE_FILE 0100000 /* of 32-bit programs; O_LARGEFILE is 0 where all files are large */
static const struct word open_words[] = {
	WORD(O_CREAT),
	WORD(O_EXCL),
	WORD(O_NOCTTY),
	WORD(O_TRUNC),
	WORD(O_APPEND),
	WORD(O_NONBLOCK),
	WORD(O_SYNC),
	WORD(O_DSYNC),
	WORD(O_DIRECT),
	{ LARGE_FILE, { "O_LARGEFILE", 11 } },
	WORD(O_NOFOLLOW),
	WORD(O_NOATIME),
	WORD(O_CLOEXEC),
	WORD(O_PATH),
	WORD(O_TMPFILE),
	WORD(O_DIRECTORY),
	{ O_ASYNC, { "FASYNC", 6 } },
	{ 0 },
};
static const struct word at_words[] = { WORD(AT_SYMLINK_FOLLOW), WORD(AT_EMPTY_PATH), { 0 } };
static const struct word unlink_words[] = { WORD(AT_REMOVEDIR), { 0 } };
static const struct word rename_words[] = {
	{ 1, { "RENAME_NOREPLACE", 16 } },
	{ 2, { "RENAME_EXCHANGE", 15 } },
	{ 4, { "RENAME_WHITEOUT", 15 } },
	{ 0 },
};
static const struct word range_words[] = {
	{ 2, { "CLOSE_RANGE_UNSHARE", 19 } },
	{ 4, { "CLOSE_RANGE_CLOEXEC", 19 } },
	{ 0 },
};
static const struct word memfd_words[] = {
	WORD(MFD_CLOEXEC),
	WORD(MFD_ALLOW_SEALING),
	WORD(MFD_HUGETLB),
	{ 0 },
};
static const struct word fd_words[] = { WORD(FD_CLOEXEC), { 0 } };
static const struct word socket_words[] = { WORD(SOCK_CLOEXEC), WORD(SOCK_NONBLOCK), { 0 } };
static const struct word message_words[] = {
	WORD(MSG_NOSIGNAL), WORD(MSG_DONTWAIT), WORD(MSG_CMSG_CLOEXEC), { 0 }
};
static const struct word resolve_words[] = {
	{ 1, { "RESOLVE_NO_XDEV", 15 } },
	{ 2, { "RESOLVE_NO_MAGICLINKS", 21 } },
	{ 4, { "RESOLVE_NO_SYMLINKS", 19 } },
	{ 8, { "RESOLVE_BENEATH", 15 } },
	{ 16, { "RESOLVE_IN_ROOT", 15 } },
	{ 32, { "RESOLVE_CACHED", 14 } },
	{ 0 },
};

/* Appends the words, separated by bars. more: other words precede them. */
static void put_words(struct tr_buffer *out, unsigned bits, const struct word *word, bool more)
{
	for (; word->bits; word++) {
		if ((bits & word->bits) != word->bits)
			continue;
		if (more)
			tr_buffer_put_byte(out, '|');
		tr_buffer_put_text(out, word->name);
		bits &= ~word->bits;
		more = true;
	}
	if (bits || !more) { /* the others as a number, or 0 for none at all */
		tr_buffer_put_text(out, more ? TR_TEXT("|") : TR_TEXT(""));
		tr_buffer_put_text(out, bits ? TR_TEXT("0x") : TR_TEXT("0"));
		if (bits)
			tr_buffer_put_hex(out, bits, 1);
	}
}

static void put_open_flags(struct tr_buffer *out, unsigned flags)
{
	static const char *const modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };

	tr_buffer_put_text(out, tr_text_from(modes[flags & O_ACCMODE]));
	put_words(out, flags & ~(unsigned)O_ACCMODE, open_words, true);
}

static void put_node_mode(struct tr_buffer *out, unsigned mode)
{
	static const struct word types[] = { WORD(S_IFREG), WORD(S_IFDIR),  WORD(S_IFCHR),
					     WORD(S_IFBLK), WORD(S_IFSOCK), WORD(S_IFIFO) };

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if ((mode & S_IFMT) != types[i].bits)
			continue;
		tr_buffer_put_text(out, types[i].name);
		tr_buffer_put_byte(out, '|');
		mode &= ~(unsigned)S_IFMT;
	}
	put_octal(out, mode);
}

static void put_pair(struct tr_buffer *out, const struct tr_call_record *call)
{
	if (call->error) {
		tr_buffer_put_literal(out, "NULL");
		return;
	}
	tr_buffer_put_byte(out, '[');
	put_number(out, call->fd);
	put_comma(out);
	put_number(out, call->other);
	tr_buffer_put_byte(out, ']');
}

static void put_socket_type(struct tr_buffer *out, unsigned type)
{
	enum { TYPE = 0xf };

	tr_buffer_put_text(out, (type & TYPE) == SOCK_STREAM	  ? TR_TEXT("SOCK_STREAM")
				: (type & TYPE) == SOCK_DGRAM	  ? TR_TEXT("SOCK_DGRAM")
				: (type & TYPE) == SOCK_SEQPACKET ? TR_TEXT("SOCK_SEQPACKET")
								  : TR_TEXT("0"));
	put_words(out, type & ~(unsigned)TYPE, socket_words, true);
}

/* Appends the arguments of a call with two paths. */
static void put_two(struct tr_buffer *out, const struct tr_call_record *call, const char *cwd)
{
	bool at = call->kind == TR_CALL_RENAMEAT || call->kind == TR_CALL_RENAMEAT2 ||
		  call->kind == TR_CALL_LINKAT;

	if (at) {
		put_directory(out, call->fd, cwd);
		put_comma(out);
	}
	put_string(out, tr_call_string(call, 0));
	put_comma(out);
	if (at || call->kind == TR_CALL_SYMLINKAT) {
		put_directory(out, at ? call->other : call->fd, cwd);
		put_comma(out);
	}
	put_string(out, tr_call_string(call, 1));
	if (call->kind == TR_CALL_RENAMEAT2 || call->kind == TR_CALL_LINKAT) {
		put_comma(out);
		put_words(out, call->flags, call->kind == TR_CALL_LINKAT ? at_words : rename_words,
			  false);
	}
}

static void put_open(struct tr_buffer *out, const struct tr_call_record *call, const char *cwd)
{
	bool how = call->kind == TR_CALL_OPENAT2;

	put_directory(out, call->fd, cwd);
	put_comma(out);
	put_string(out, tr_call_string(call, 0));
	tr_buffer_put_text(out, how ? TR_TEXT(", {flags=") : TR_TEXT(", "));
	put_open_flags(out, call->flags);
	if (call->flags & O_CREAT || (call->flags & O_TMPFILE) == O_TMPFILE) {
		tr_buffer_put_text(out, how ? TR_TEXT(", mode=") : TR_TEXT(", "));
		put_octal(out, call->mode);
	}
	if (how) {
		tr_buffer_put_literal(out, ", resolve=");
		put_words(out, (unsigned)call->size, resolve_words, false);
		tr_buffer_put_literal(out, "}, 24");
	}
}

static void put_arguments(struct tr_buffer *out, const struct tr_call_record *call, const char *cwd)
{
	switch ((enum tr_call_kind)call->kind) {
	case TR_CALL_OPENAT:
	case TR_CALL_OPENAT2:
	case TR_CALL_LOAD:
		put_open(out, call, cwd);
		break;
	case TR_CALL_CREAT:
	case TR_CALL_MKDIR:
		put_string(out, tr_call_string(call, 0));
		put_comma(out);
		put_octal(out, call->mode);
		break;
	case TR_CALL_CLOSE:
	case TR_CALL_DUP:
		put_number(out, call->fd);
		break;
	case TR_CALL_CLOSE_RANGE:
		tr_buffer_put_decimal(out, (uint32_t)call->fd);
		put_comma(out);
		tr_buffer_put_decimal(out, (uint32_t)call->other);
		put_comma(out);
		put_words(out, call->flags, range_words, false);
		break;
	case TR_CALL_DUP2:
	case TR_CALL_DUP3:
		put_number(out, call->fd);
		put_comma(out);
		put_number(out, call->other);
		if (call->kind == TR_CALL_DUP3) {
			put_comma(out);
			put_words(out, call->flags, open_words, false);
		}
		break;
	case TR_CALL_DUPFD:
		put_number(out, call->fd);
		tr_buffer_put_text(out, call->flags ? TR_TEXT(", F_DUPFD_CLOEXEC, ")
						    : TR_TEXT(", F_DUPFD, "));
		put_number(out, call->other);
		break;
	case TR_CALL_SETFD:
		put_number(out, call->fd);
		tr_buffer_put_literal(out, ", F_SETFD, ");
		put_words(out, call->flags, fd_words, false);
		break;
	case TR_CALL_PIPE2:
		put_pair(out, call);
		put_comma(out);
		put_words(out, call->flags, open_words, false);
		break;
	case TR_CALL_SOCKETPAIR:
		if (call->mode == AF_UNIX)
			tr_buffer_put_literal(out, "AF_UNIX");
		else
			put_number(out, call->mode);
		put_comma(out);
		put_socket_type(out, call->flags);
		put_comma(out);
		put_number(out, call->size);
		put_comma(out);
		put_pair(out, call);
		break;
	case TR_CALL_RENAME:
	case TR_CALL_RENAMEAT:
	case TR_CALL_RENAMEAT2:
	case TR_CALL_LINK:
	case TR_CALL_LINKAT:
	case TR_CALL_SYMLINK:
	case TR_CALL_SYMLINKAT:
		put_two(out, call, cwd);
		break;
	case TR_CALL_UNLINK:
	case TR_CALL_RMDIR:
		put_string(out, tr_call_string(call, 0));
		break;
	case TR_CALL_UNLINKAT:
	case TR_CALL_MKDIRAT:
	case TR_CALL_MKNODAT:
		put_directory(out, call->fd, cwd);
		put_comma(out);
		put_string(out, tr_call_string(call, 0));
		put_comma(out);
		if (call->kind == TR_CALL_UNLINKAT)
			put_words(out, call->flags, unlink_words, false);
		else if (call->kind == TR_CALL_MKDIRAT)
			put_octal(out, call->mode);
		else
			put_node_mode(out, call->mode);
		if (call->kind == TR_CALL_MKNODAT && (S_ISCHR(call->mode) || S_ISBLK(call->mode))) {
			char text[64];
			int len = snprintf(text, sizeof text, ", makedev(%#x, %#x)",
					   major((dev_t)call->size), minor((dev_t)call->size));
			tr_buffer_put(out, text, (size_t)len);
		}
		break;
	case TR_CALL_TRUNCATE:
		put_string(out, tr_call_string(call, 0));
		put_comma(out);
		put_number(out, call->size);
		break;
	case TR_CALL_FTRUNCATE:
		put_number(out, call->fd);
		put_comma(out);
		put_number(out, call->size);
		break;
	case TR_CALL_MEMFD_CREATE:
		put_string(out, tr_call_string(call, 0));
		put_comma(out);
		put_words(out, call->flags, memfd_words, false);
		break;
	case TR_CALL_SENDMSG:
	case TR_CALL_RECVMSG:
		put_number(out, call->fd);
		tr_buffer_put_literal(out, ", {msg_control=[{cmsg_len=");
		put_number(out, call->size);
		tr_buffer_put_literal(out,
				      ", cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[");
		tr_print_escaped(out, tr_call_string(call, 0));
		tr_buffer_put_literal(out, "]}]}, ");
		put_words(out, call->flags, message_words, false);
		break;
	case TR_CALLS:
		break;
	}
}

static struct tr_text name_of(enum tr_call_kind kind)
{
	static const struct tr_text names[TR_CALLS] = {
#define NAME(kind, name) [TR_CALL_##kind] = { name, sizeof name - 1 }
		NAME(OPENAT, "openat"),
		NAME(OPENAT2, "openat2"),
		NAME(CREAT, "creat"),
		NAME(CLOSE, "close"),
		NAME(CLOSE_RANGE, "close_range"),
		NAME(DUP, "dup"),
		NAME(DUP2, "dup2"),
		NAME(DUP3, "dup3"),
		NAME(DUPFD, "fcntl"),
		NAME(SETFD, "fcntl"),
		NAME(PIPE2, "pipe2"),
		NAME(SOCKETPAIR, "socketpair"),
		NAME(RENAME, "rename"),
		NAME(RENAMEAT, "renameat"),
		NAME(RENAMEAT2, "renameat2"),
		NAME(LINK, "link"),
		NAME(LINKAT, "linkat"),
		NAME(SYMLINK, "symlink"),
		NAME(SYMLINKAT, "symlinkat"),
		NAME(UNLINK, "unlink"),
		NAME(UNLINKAT, "unlinkat"),
		NAME(RMDIR, "rmdir"),
		NAME(MKDIR, "mkdir"),
		NAME(MKDIRAT, "mkdirat"),
		NAME(MKNODAT, "mknodat"),
		NAME(TRUNCATE, "truncate"),
		NAME(FTRUNCATE, "ftruncate"),
		NAME(MEMFD_CREATE, "memfd_create"),
		NAME(LOAD, "openat"),
		NAME(SENDMSG, "sendmsg"),
		NAME(RECVMSG, "recvmsg"),
#undef NAME
	};

	return names[kind];
}

/* Whether the call returns a descriptor of a file with a path. */
static bool opens(enum tr_call_kind kind)
{
	return kind == TR_CALL_OPENAT || kind == TR_CALL_OPENAT2 || kind == TR_CALL_CREAT ||
	       kind == TR_CALL_LOAD;
}

void tr_call_print(const struct tr_call_record *call, struct tr_text prefix, const char *cwd,
		   const char *real, struct tr_buffer *out)
{
	tr_buffer_put_text(out, prefix);
	tr_buffer_put_text(out, name_of(call->kind));
	tr_buffer_put_byte(out, '(');
	put_arguments(out, call, cwd);
	tr_buffer_put_literal(out, ") = ");
	if (call->error) {
		tr_print_result(out, call->error);
		return;
	}
	put_number(out, call->result);
	if (real && opens(call->kind)) {
		tr_buffer_put_byte(out, '<');
		tr_print_escaped(out, real);
		tr_buffer_put_byte(out, '>');
	}
	tr_buffer_put_byte(out, '\n');
	if (call->kind != TR_CALL_LOAD)
		return;
	tr_buffer_put_text(out, prefix);
	tr_buffer_put_literal(out, "close(");
	put_number(out, call->result);
	tr_buffer_put_literal(out, ") = 0\n");
}
