/* SPDX-License-Identifier: MIT */
/*
 * The file through which file calls reach tr-record. Programs make them far more often than they
 * start others, so these records are not appended by system calls, but written to memory that all
 * processes of a recording share:
 *
 *	page ------ how many bytes of each lane are reserved
 *	lane ------ records; any process writes to any lane, at a place that it has reserved
 *
 * A program begins with one lane and takes another one where a lane is full. The reader (collect.c)
 * gives a lane back as soon as it has read all of it, whoever writes to it: what is reserved then
 * belongs to the next generation. The disk gives the blocks of a lane before it is used, so no
 * write to it can fail.
 */
#ifndef TR_PRELOAD_LANES_H
#define TR_PRELOAD_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TR_LANES = 512,		  /* at most */
	TR_LANES_FIRST = 8,	  /* that the recorder makes */
	TR_LANE_SIZE = 512 << 10, /* bytes */
	TR_LANES_PAGE = 16 << 10, /* bytes before the first lane */
};

struct tr_lanes_page {
	_Atomic uint64_t lost;	/* records that found no place */
	_Atomic uint32_t count; /* lanes that have their blocks; 0: the recording has ended */
	uint32_t unused;
	uint64_t root[2], mounts[2];	 /* device and inode of the recorder's root directory, and
					  * of its mount namespace */
	_Atomic uint64_t used[TR_LANES]; /* generation << 32 | bytes that are reserved */
};

enum tr_call_kind {
	TR_CALL_OPENAT = 1, /* path below fd: flags, mode */
	TR_CALL_OPENAT2,    /* and how to resolve it: size */
	TR_CALL_CREAT,
	TR_CALL_CLOSE,
	TR_CALL_CLOSE_RANGE, /* fd to other: flags */
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
	TR_CALL_SENDMSG, /* with descriptors, which its string lists; size: the bytes of these */
	TR_CALL_RECVMSG,
	TR_CALL_LOAD, /* of an object by the loader: as OPENAT, and closed again */
	TR_CALLS
};

/*
 * A record, in the byte order of the machine. It begins at a multiple of eight bytes, and is
 * followed by its strings, each with a NUL.
 */
struct tr_call_record {
	_Atomic uint64_t sum; /* of all that follows and of its place; written last */
	uint32_t length;      /* with the strings and what makes it a multiple of eight */
	uint16_t kind;
	uint16_t strings;
	uint64_t time;	    /* as in the journal */
	uint32_t pid, ppid; /* ppid 0: the process is known */
	int32_t error;	    /* errno, or 0 */
	int32_t result;
	int32_t fd, other;
	uint32_t flags, mode;
	int64_t size;
	/* not 0: what libc does in the process in which the announced program starts, of that token
	 */
	uint64_t token;
};

/* The same for programs of 32 and 64 bits. */
_Static_assert(sizeof(struct tr_call_record) == 72 && offsetof(struct tr_lanes_page, used) == 48,
	       "no gaps");

/* The lanes as a program knows them. Zero it. */
struct tr_lanes {
	const char *path;
	uint32_t mark;
	uint32_t pid;		    /* of the process whose memory this is */
	struct tr_lanes_page *page; /* NULL: the file cannot be used */
	_Atomic uint32_t current;
	void *_Atomic memory[TR_LANES]; /* where the lanes are mapped */
};

/* Opens the lanes at path. False: they cannot be used. */
bool tr_lanes_begin(struct tr_lanes *lanes);

/*
 * Writes a record, whose length and sum are set here, with its strings; second may be NULL. A record
 * that finds no place is counted.
 */
void tr_lanes_put(struct tr_lanes *lanes, struct tr_call_record *record, const char *first,
		  const char *second);

/* Gives the lane its blocks. Returns 0 or an errno. */
int tr_lanes_allocate(int fd, unsigned lane);

/* The sum of a record at that place: generation << 32 | offset in the lane. */
uint64_t tr_call_sum(uint32_t mark, uint64_t place, const struct tr_call_record *record);

#endif
