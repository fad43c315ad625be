/* SPDX-License-Identifier: MIT */
/*
 * The recorder's library, which tr-record loads into each program with LD_PRELOAD, and the
 * files through which its records reach tr-record. The path of the data:
 *
 *	call of the program, such as execve (hooks.c)	  call that concerns files (file_hooks.c)
 *	  | announced, with the variables that load	    |
 *	  | the library into the next program (launch.c)    |
 *	record ---- one writev to the end of the	  record ---- shared memory (lanes.c)
 *	  |	    journal (journal.c)			    | collected in order (collect.c)
 *	  | read while it grows				    |
 *	log ------- in the words of strace (decode.c, print.c), so that the reader of strace makes
 *		    the stream
 *
 * The code that runs in other people's programs (journal.c, lanes.c, launch.c, hooks.c, real.c,
 * file_hooks.c) uses no malloc, no stdio, no lock and little stack, keeps no descriptor, does not
 * wait, and preserves errno: it may run in a signal handler, in the child of a vfork, or on a stack
 * of 8 KiB, more than half of which the kernel and libc need. Only system, popen and their like do
 * what those of libc do.
 */
#ifndef TR_PRELOAD_JOURNAL_H
#define TR_PRELOAD_JOURNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * The variable that connects a program with its recording, "TOKEN:SESSION:JOURNAL:LANES:LIBRARY".
 * TOKEN names the announcement of the exec ("FLAGS:PID:NUMBER:HASH"). SESSION is what every record
 * needs ("MARK:NAMESPACE:EPOCH", as in struct tr_journal); all of them are hexadecimal. JOURNAL and
 * LANES have no colon, LANES may be empty, and LIBRARY has neither colon nor blank, which
 * LD_PRELOAD would split. The library hides the variable from the program.
 */
#define TR_PRELOAD_VARIABLE "TREC_PRELOAD="
/* The variable with the path of the program that one with TR_JOURNAL_START has to start. */
#define TR_PRELOAD_START "TREC_PRELOAD_START="

/* The journal begins with this page, and records follow. It is shared by all processes. */
struct tr_journal_page {
	_Atomic uint64_t lost;	  /* records that could not be appended */
	_Atomic uint64_t outside; /* processes in other pid namespaces, which are not watched */
	uint32_t tracer;	  /* pid of the recorder if it attaches strace on demand; else 0 */
	_Atomic uint32_t refused; /* the last process to which strace could not be attached */
};
enum { TR_JOURNAL_PAGE = 4096 };

/* The kinds of records. pid is the process that appends the record, unless the comment differs. */
enum tr_journal_kind {
	/* an exec is about to be tried: directory, path, arguments, environment */
	TR_JOURNAL_EXEC = 1,
	/* the announced program has begun: directory, unless it only starts another program */
	TR_JOURNAL_LOADED,
	/* a program has begun that was not announced: as TR_JOURNAL_EXEC */
	TR_JOURNAL_FOREIGN,
	TR_JOURNAL_FAILED,  /* the exec with that token failed; value: errno */
	TR_JOURNAL_SPAWNED, /* the announced program runs as child */
	TR_JOURNAL_FORK,    /* pid was created by a fork of ppid */
	TR_JOURNAL_FORKED,  /* pid created child: the same, from the parent, which may end first */
	TR_JOURNAL_EXIT,    /* pid ends; value: exit status */
	TR_JOURNAL_WAIT,    /* pid learned the end of child; value: wait status */
	TR_JOURNAL_CHDIR,   /* chdir: its path, and the directory after it; value: errno or 0 */
	TR_JOURNAL_FCHDIR,  /* fchdir of the descriptor child: the directory; value: errno or 0 */
	/* pid sets a filter for system calls, and reports nothing after that; value:
	 * SECCOMP_SET_MODE_…; child 1: by prctl */
	TR_JOURNAL_FILTER,
	TR_JOURNAL_UNFILTERED, /* and failed to; value: errno */
	TR_JOURNAL_OUTSIDE,    /* pid created a process in another pid namespace */
	TR_JOURNAL_ANCESTOR,   /* pid, which does not report itself, is a child of ppid */
	TR_JOURNAL_ATTACH,     /* pid waits until strace watches it */
};

/* The flags of records and tokens. */
enum {
	TR_JOURNAL_IN_CHILD = 1, /* the exec happens in a new process that libc creates */
	TR_JOURNAL_STATIC = 2,	 /* the program does not load the library, but has the variables */
	TR_JOURNAL_CLOSED = 4,	 /* the program cannot load the library, and gets no variables */
	TR_JOURNAL_SAME = 8,	 /* the path of a program that began is the announced one */
	TR_JOURNAL_BYPASS = 32,	 /* the program makes system calls itself; programs that it starts
				  * may inherit the variables */
	TR_JOURNAL_SECOND = 64,	 /* the program needs the second library */
	TR_JOURNAL_TRACED = 128, /* strace reports the exec, and what follows; or pid, which learned
				  * of an end, traces processes */
	TR_JOURNAL_SECURE = 256, /* the program gains rights, or can open no file: not for strace */
	TR_JOURNAL_START = 512,	 /* the program only starts another one under strace */
};

/*
 * A record: this, then strings with their NUL: the directory, the path, argc arguments, envc
 * variables, names and contents of files. In the byte order of the machine.
 */
struct tr_journal_record {
	uint32_t mark;	   /* of the session */
	uint32_t length;   /* of the record with its strings, in bytes */
	uint64_t checksum; /* of what follows */
	uint16_t kind, flags;
	uint32_t pid, ppid;
	int32_t value;
	uint64_t time; /* nanoseconds since the epoch */
	uint32_t child;
	uint32_t token_pid, token; /* the process that announced an exec, and its number there */
	uint32_t strings, argc, envc;
	uint32_t files; /* strings of files: two of each */
	uint32_t unused;
};
_Static_assert(sizeof(struct tr_journal_record) == 72, "the same for programs of 32 and 64 bits");

/* The strings of a record; each may be NULL, and path is if cwd is. Lists end with NULL. */
struct tr_journal_text {
	const char *cwd, *path;
	char *const *argv, *const *env;
	char *const *files;   /* names and contents of response files */
	struct iovec *pieces; /* memory for one more than TR_JOURNAL_FEW, or NULL */
};

enum {
	TR_JOURNAL_PATH = 256,	  /* bytes of the path of a file that the recorder makes */
	TR_JOURNAL_LIBRARY = 512, /* and of the path of a library */
	TR_JOURNAL_CWD = 512,	  /* of a directory that needs no further memory */
	TR_JOURNAL_FEW = 100,	  /* strings of a record that are written from where they are */
};

/* A session as a program knows it. It is small: a program pays for each page that it changes. */
struct tr_journal {
	uint32_t mark;	    /* begins each record */
	uint32_t namespace; /* the inode of the recorder's pid namespace; 0: unknown */
	uint64_t epoch;	    /* nanoseconds from CLOCK_MONOTONIC to the time of records */
	uint32_t pid; /* of the process, or of its parent where libc did not create it by fork */
	struct tr_journal_page *page; /* NULL: losses are not counted */
	const char *own;	      /* the library in this program */
	char path[TR_JOURNAL_PATH];
	char lanes[TR_JOURNAL_PATH]; /* the file of file calls (lanes.h); "": none are recorded */
	char library[TR_JOURNAL_LIBRARY]; /* for programs of the kind of tr-record */
	char second[TR_JOURNAL_LIBRARY];  /* for 32-bit programs where those have 64 bits */
};

/*
 * Checksums, which show that a record is complete. tr_journal_sum adds bytes to a sum: each string,
 * with its NUL, is added to the sum of the record itself.
 */
uint64_t tr_journal_sum(uint64_t sum, const void *data, size_t len);
uint64_t tr_journal_sum_record(const struct tr_journal_record *record);

/*
 * Appends a record, whose mark, length, time, checksum and numbers of strings are set here. text
 * may be NULL. A record that cannot be appended is counted in the page.
 */
void tr_journal_append(const struct tr_journal *journal, struct tr_journal_record *record,
		       const struct tr_journal_text *text);

/*
 * Appends the first record of a program, and maps the page, which stays where it is: a loss has to
 * be counted even if the program can open no file any more, or not that one. tr_journal_map does
 * only that.
 */
void tr_journal_begin(struct tr_journal *journal, struct tr_journal_record *record,
		      const struct tr_journal_text *text);
void tr_journal_map(struct tr_journal *journal);

/* A hash of the path of a program, by which it recognises its announcement. */
uint32_t tr_journal_hash(const char *path);

/* The time of a record. */
uint64_t tr_journal_now(const struct tr_journal *journal);

/* As syscall of libc, which is a hook in the library: that records what programs do. */
#if defined __x86_64__ && defined __LP64__
long tr_journal_syscall(long number, ...);
#else
#define TR_JOURNAL_NEEDS_SYSCALL 1 /* in the library it is set to that of libc */
extern long (*tr_journal_syscall)(long number, ...);
#endif

/* An offset in a file, as a system call that is called by its number takes it. */
#if __SIZEOF_LONG__ == 8
#define TR_JOURNAL_OFFSET(offset) (long)(offset)
#else
#define TR_JOURNAL_OFFSET(offset) (long)(offset), (long)((uint64_t)(offset) >> 32)
#endif

/* As getpid of libc, which another library may replace. */
int tr_journal_getpid(void);
/* Returns the parent of any process; 0: it is unknown. */
uint32_t tr_journal_parent(uint32_t pid);
/*
 * Whether this process, with its parent, is in another pid namespace, where the recorder's numbers
 * mean nothing. It is not if it is journal->pid, or a child of that which sees its parent.
 */
bool tr_journal_is_outside(const struct tr_journal *journal, uint32_t pid, uint32_t ppid);

/* The pages that were found to be readable, and are not examined again. Zero it. */
struct tr_journal_pages {
	uintptr_t found[8]; /* addresses + 1 */
};

/*
 * Whether memory, or a string, can be read at an address that a program has passed: a call with
 * wrong addresses has to fail, and must not end the program.
 */
bool tr_journal_can_read(struct tr_journal_pages *pages, const void *address);
bool tr_journal_can_read_string(struct tr_journal_pages *pages, const char *string);

/*
 * Sets where the kernel has put arguments and environment on the stack: from argv to the end of the
 * last string. This memory can always be read.
 */
void tr_journal_set_given(const void *first, const void *last);

/* Memory for a hook, which must return it; NULL: there is none. */
void *tr_journal_borrow(size_t size);
void tr_journal_return(void *memory, size_t size);

/* A directory, which is in the first array unless it is long. */
struct tr_journal_cwd {
	char few[TR_JOURNAL_CWD], *memory;
};

/* The current directory, until tr_journal_end_cwd; "" if it has no name. */
const char *tr_journal_cwd(struct tr_journal_cwd *cwd);
void tr_journal_end_cwd(struct tr_journal_cwd *cwd);

#endif
