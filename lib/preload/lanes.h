/* SPDX-License-Identifier: MIT */
/*
 * The file through which file calls reach tr-record. Programs make far more file calls than they
 * start programs, so these records are not appended by system calls, but written to memory that all
 * processes of a recording share:
 *
 *	page ------ how many bytes of each lane are reserved
 *	lane ------ records; any process writes to any lane, at a place that it has reserved
 *
 * A program begins with one lane and moves to another when that is full. The reader (collect.c)
 * frees a lane as soon as it has read all of it, even if programs still write to it: their next
 * records belong to the next generation. The disk blocks of a lane are allocated before it is used,
 * so no write to it can fail.
 */
#ifndef TR_PRELOAD_LANES_H
#define TR_PRELOAD_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TR_LANES = 512,		  /* at most */
	TR_LANES_FIRST = 8,	  /* allocated by the recorder */
	TR_LANE_SIZE = 512 << 10, /* bytes */
	TR_LANES_PAGE = 16 << 10, /* bytes before the first lane */
};

struct tr_lanes_page {
	_Atomic uint64_t lost;	/* records for which there was no room */
	_Atomic uint32_t count; /* lanes that are allocated; 0: the recording has ended */
	uint32_t unused;
	uint64_t root[2], mounts[2];	 /* device and inode of the recorder's root directory, and
					  * of its mount namespace */
	_Atomic uint64_t used[TR_LANES]; /* generation << 32 | bytes that are reserved */
};

enum tr_call_kind {
	TR_CALL_OPENAT = 1, /* path below fd: flags, mode */
	TR_CALL_OPENAT2,    /* the same; size: the RESOLVE_ flags */
	TR_CALL_CREAT,
	TR_CALL_CLOSE,
	TR_CALL_CLOSE_RANGE, /* from fd to other: flags */
	TR_CALL_DUP,
	TR_CALL_DUP2,
	TR_CALL_DUP3,
	TR_CALL_DUPFD, /* fcntl; other: the lowest number; flags: FD_CLOEXEC */
	TR_CALL_SETFD, /* fcntl; flags: FD_CLOEXEC */
	TR_CALL_PIPE2, /* fd, other: flags */
	TR_CALL_SOCKETPAIR,
	TR_CALL_RENAME,
	TR_CALL_RENAMEAT, /* fd and other: the directories */
	TR_CALL_RENAMEAT2,
	TR_CALL_LINK,
	TR_CALL_LINKAT,
	TR_CALL_SYMLINK,
	TR_CALL_SYMLINKAT, /* fd: the directory of the link */
	TR_CALL_UNLINK,
	TR_CALL_UNLINKAT,
	TR_CALL_RMDIR,
	TR_CALL_MKDIR,
	TR_CALL_MKDIRAT,
	TR_CALL_MKNODAT,
	TR_CALL_TRUNCATE,
	TR_CALL_FTRUNCATE,
	TR_CALL_MEMFD_CREATE,
	TR_CALL_SENDMSG, /* with descriptors, which the string lists; size: its length in bytes */
	TR_CALL_RECVMSG,
	TR_CALL_LOAD, /* the loader opens a library, as OPENAT, and closes it */
	TR_CALLS
};

/*
 * A record, in the byte order of the machine. It begins at a multiple of eight bytes, and is
 * followed by its strings, each with a NUL.
 */
struct tr_call_record {
	_Atomic uint64_t sum; /* of its place and of everything that follows; written last */
	uint32_t length;      /* with strings and padding to a multiple of eight */
	uint16_t kind;
	uint16_t strings;
	uint64_t time;	    /* as in the journal */
	uint32_t pid, ppid; /* ppid 0: an earlier record has it */
	int32_t error;	    /* errno, or 0 */
	int32_t result;
	int32_t fd, other;
	uint32_t flags, mode;
	int64_t size;
	/* not 0: libc makes the call in a new process before it starts the program of this token */
	uint64_t token;
};

/* Programs of 32 and of 64 bits have the same layout. */
_Static_assert(sizeof(struct tr_call_record) == 72 && offsetof(struct tr_lanes_page, used) == 48,
	       "no gaps");

/*
 * The lanes as a program sees them, which writes to one at a time. Zero it, and set path and mark.
 */
struct tr_lane_writer {
	const char *path;	    /* of the file; borrowed */
	uint32_t mark;		    /* of the session */
	uint32_t pid;		    /* of the process that this memory belongs to */
	struct tr_lanes_page *page; /* NULL: the file cannot be used */
	_Atomic uint32_t current;
	void *_Atomic memory[TR_LANES]; /* where the lanes are mapped */
};

/* Maps the page of the file. False: it cannot be used. */
bool tr_lane_writer_begin(struct tr_lane_writer *lanes);

/*
 * Writes a record with its strings, and sets its length and sum; second may be NULL. A record for
 * which there is no room is counted as lost.
 */
void tr_lane_writer_put(struct tr_lane_writer *lanes, struct tr_call_record *record,
			const char *first, const char *second);

/* Allocates the disk blocks of a lane. Returns 0 or an errno. */
int tr_lanes_allocate(int fd, unsigned lane);

/* The sum of a record at that place: generation << 32 | offset in the lane. */
uint64_t tr_call_sum(uint32_t mark, uint64_t place, const struct tr_call_record *record);

#endif
