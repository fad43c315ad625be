/* SPDX-License-Identifier: MIT */
/*
 * What a system call does to files, read from a `sys` record of trec(5). One table lists the calls
 * and the arguments that name files, so that all other code works with operations and not with
 * names.
 *
 *	sys record -> tr_file_call_read -> struct tr_file_call: an operation, its paths, descriptors
 *
 * Thread safe; no state.
 */
#ifndef TR_DEPS_FILE_CALL_H
#define TR_DEPS_FILE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"

enum tr_file_op {
	TR_FILE_OPEN,	/* of a path; returns a descriptor */
	TR_FILE_MEMORY, /* memfd_create: a descriptor of a file without a name */
	TR_FILE_CLOSE,
	TR_FILE_CLOSE_RANGE, /* from fd to other_fd */
	TR_FILE_DUP,	     /* of fd; to other_fd, if that is given; returns a descriptor */
	TR_FILE_CONTROL,     /* fcntl: dup or close-on-exec, as flags say */
	TR_FILE_PIPE,	     /* fds: the read end, the write end */
	TR_FILE_SOCKETS,     /* fds: both ends of a pair */
	TR_FILE_RENAME,	     /* path[0] to path[1] */
	TR_FILE_LINK,
	TR_FILE_SYMLINK, /* path[0] is the text of the link, path[1] its name */
	TR_FILE_DELETE,
	TR_FILE_MKDIR,
	TR_FILE_MKNOD,
	TR_FILE_TRUNCATE, /* of a path, or of fd */
	TR_FILE_STAT,	  /* the file is looked at, or its attributes are changed */
	TR_FILE_READLINK, /* path[1] is the text of the link, if it is known */
	TR_FILE_LIST,	  /* a directory, by fd */
	TR_FILE_CHDIR,	  /* to a path, or to fd */
	TR_FILE_READ,
	TR_FILE_WRITE,
	TR_FILE_COPY, /* data go from fd to other_fd */
	TR_FILE_MAP,
	TR_FILE_SEND,	 /* a message with copies of the descriptors fds is sent */
	TR_FILE_RECEIVE, /* such a message is received */
	TR_FILE_UNSHARE, /* the task gets descriptors, or a directory, of its own */
	TR_FILE_CHROOT,
	TR_FILE_MOUNT, /* paths may lead to other files afterwards */
	TR_FILE_EXEC,  /* a failed exec; an exec record describes a successful one */
};

enum {
	TR_FILE_READS = 1, /* the access mode of an open file */
	TR_FILE_WRITES = 2,
	TR_FILE_CREATES = 4,
	TR_FILE_EXCLUSIVE = 8, /* the file did not exist before */
	TR_FILE_TRUNCATES = 0x10,
	TR_FILE_APPENDS = 0x20,
	TR_FILE_DIRECTORY = 0x40,
	TR_FILE_CLOEXEC = 0x80,
	TR_FILE_NO_CLOEXEC = 0x100,
	TR_FILE_PATH_ONLY = 0x200, /* O_PATH */
	TR_FILE_UNNAMED = 0x400,   /* O_TMPFILE */
	TR_FILE_NOFOLLOW = 0x800,
	TR_FILE_FOLLOW = 0x1000,
	TR_FILE_EMPTY_PATH = 0x2000,
	TR_FILE_EXCHANGE = 0x4000,
	TR_FILE_SHARED = 0x8000,      /* writes to the mapping change the file */
	TR_FILE_DUPLICATES = 0x10000, /* fcntl */
	TR_FILE_FILES = 0x20000,      /* CLONE_FILES of unshare and close_range */
	TR_FILE_FS = 0x40000,	      /* CLONE_FS of unshare */
	TR_FILE_IN_ROOT = 0x80000,    /* the directory of the path is also its root */
};

/* The type of a file, as stat and mknod show it. */
enum tr_file_type {
	TR_FILE_UNKNOWN,
	TR_FILE_REGULAR,
	TR_FILE_IS_DIRECTORY,
	TR_FILE_IS_SPECIAL,
	TR_FILE_IS_PIPE, /* with a name */
};

enum { TR_FD_NONE = -1, TR_FD_CWD = -100 };

/* A path argument; data of the text is NULL if there is none, or the tracer has cut it. */
struct tr_file_path {
	struct tr_text text;
	int64_t dir;		 /* the descriptor to which it is relative, or TR_FD_CWD */
	struct tr_text dir_text; /* the path of dir, if the trace has it */
};

struct tr_file_call {
	enum tr_file_op op;
	unsigned flags;
	struct tr_text error; /* "ENOENT"; data NULL: the call succeeded; empty: unknown reason */
	struct tr_file_path path[2];
	struct tr_text original; /* the spelling of path[0] if the tracer has resolved it */
	int64_t fd, other_fd;
	struct tr_text fd_text, other_fd_text; /* their paths, if the trace has them */
	unsigned fd_count;
	int64_t result;
	struct tr_text result_text; /* the path of a descriptor that was returned */
	enum tr_file_type type;
	bool empty;	 /* the file is truncated to nothing */
	int64_t fds[16]; /* fd_count of them */
};

/*
 * Calls without records: a reader can pass plain calls, which are most of a log, in this decoded
 * form and make no record of them. It may ignore the taker. Calls that are flagged, have further
 * fields, or come while records are pending in the reader, are always records.
 */
struct tr_file_call_taker {
	/*
	 * Takes a call; columns is a record without fields, and time is that of its column in
	 * nanoseconds (process/instant.h). Both are valid during the call. False: it must come as a
	 * record.
	 */
	bool (*take)(struct tr_file_call_taker *taker, const struct tr_record *columns,
		     int64_t time, const struct tr_file_call *call);
	uint64_t taken; /* calls so far; counted by the reader */
};

/* The flags of an open, which are words or a number. */
unsigned tr_file_open_flags(struct tr_text text);

/*
 * Returns whether a call of this name uses files, and does not only change the state of its task.
 */
bool tr_file_call_uses(struct tr_text name);

/* Returns whether it concerns files, or the directory and the descriptors of its task. */
bool tr_file_call_concerns(struct tr_text name);

/*
 * Reads a sys record. Texts are valid as long as the record. TR_END: the call does not concern
 * files. TR_WARN: err names the field that is wrong, and the call is not usable. TR_FATAL: memory
 * is exhausted.
 */
enum tr_status tr_file_call_read(struct tr_record *record, struct tr_file_call *call,
				 struct tr_error *err);

#endif
