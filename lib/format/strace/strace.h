/* SPDX-License-Identifier: MIT */
/*
 * The reader of strace's logs. The facts are in trace-formats(5), "strace". The path of the data:
 *
 *	bytes of the log, or of the files of -ff, merged into one (strace.c)
 *	  | tr_input_line
 *	line ------ joined with its rest if strace printed a message into it (strace.c)
 *	  | with the stack frames after it (frames.c)
 *	  | split into prefix, time and body (lines.c), and these into pieces (text.c)
 *	task ------ the one that the line is about (tasks.c)
 *	  | first and second halves are joined (calls.c)
 *	call ------ looked up by name: its arguments and its effect (call_table.c)
 *	  | changes tasks (tasks.c), and their directories and descriptors (calls.c)
 *	  | its arguments become fields (calls.c), those of an exec lists (exec.c)
 *	record ---- pending, in order, until its parent is known (pending.c)
 *	  | next (strace.c)
 *	the stream
 */
#ifndef TR_FORMAT_STRACE_STRACE_H
#define TR_FORMAT_STRACE_STRACE_H

#include "format/reader_base.h"
#include "format/strace/lines.h"
#include "process/tree.h"
#include "record/pending.h"

/* The number of a process whose number is not in the log. */
#define TR_STRACE_NO_PID UINT64_MAX

/* The position and the time of the line from which a record is made. */
struct tr_strace_origin {
	uint64_t line, offset;
	size_t time_len; /* 0: the line has no time */
	char time[TR_STRACE_TIME_MAX];
};

/* The end of a process. */
struct tr_strace_end {
	bool core;
	uint8_t signal_len;		   /* 0: with status */
	char signal[TR_STRACE_SIGNAL_MAX]; /* its name, or its number with -X raw */
	uint64_t status;
};

/* The effect of a call that succeeded on the state of the reader, besides its record. */
enum tr_strace_effect {
	TR_STRACE_NO_EFFECT,
	TR_STRACE_EXECVE,
	TR_STRACE_EXECVEAT,
	TR_STRACE_FORK, /* of a process or thread */
	TR_STRACE_EXIT_GROUP,
	TR_STRACE_WAIT,	  /* the status of a child is its second argument */
	TR_STRACE_WAITID, /* the information about a child is its third argument */
	TR_STRACE_GETCWD,
	TR_STRACE_CHDIR,
	TR_STRACE_FCHDIR,
	TR_STRACE_OPEN,	  /* the path is its first argument */
	TR_STRACE_OPENAT, /* the path is its second argument */
	TR_STRACE_DUP,
	TR_STRACE_FCNTL,
	TR_STRACE_CLOSE,
	TR_STRACE_UNSHARE,
};

struct tr_strace_syscall {
	const char *name;
	const char *arguments; /* their names, separated by blanks; NULL: the call is unknown */
	enum tr_strace_effect effect;
};

/* The calls that were looked up last. Zero it. */
enum { TR_STRACE_RECENT = 128 };
struct tr_strace_recent {
	const struct tr_strace_syscall *slots[TR_STRACE_RECENT]; /* by a hash of the name */
};

/* The call that a task has begun, and how the task ends: tr_task.state. */
struct tr_strace_call {
	bool open;   /* it has begun and not returned */
	bool proven; /* it is an exec that is known to have succeeded */
	bool closed; /* it is a close, whose effect was applied when it began */
	const struct tr_strace_syscall *syscall;
	char *text; /* "name(arguments" as far as they were printed */
	size_t len, cap, name_len;
	size_t *held; /* sum of cap over all calls */
	struct tr_strace_origin begin;
	/*
	 * of a fork, and of an exec in a thread: the task's directory, and how often it had moved
	 */
	struct tr_directory *directory;
	uint64_t moves;
	struct tr_directory *seen_from; /* of an execveat in a thread: that of its descriptor */
	bool lost_thread;		/* a thread was created whose number is unknown */
	bool ending;			/* end is known, but no +++ line has been read */
	struct tr_strace_end end;
	struct tr_strace_origin end_line;
};

/* Defects of a record, in the order in which they are listed. */
enum tr_strace_flag {
	TR_STRACE_FLAG_CUT = 1,
	TR_STRACE_FLAG_ENV_UNKNOWN = 2,
	TR_STRACE_FLAG_ENV_REPEATED = 4,
	TR_STRACE_FLAG_ENV_NO_VALUE = 8,
	TR_STRACE_FLAG_UNFINISHED = 16,
	TR_STRACE_FLAG_BEGIN_LOST = 32,
	TR_STRACE_FLAG_FD_UNKNOWN = 64, /* the directory of execveat's descriptor */
	TR_STRACE_FLAG_ORPHAN = 128,
	TR_STRACE_FLAG_CWD_GUESSED = 256,
};

/* A call that is over. */
struct tr_strace_done {
	const struct tr_strace_syscall *syscall;
	struct tr_text name, arguments;
	const struct tr_strace_result *result; /* NULL: it never returned */
	const struct tr_strace_origin *from;
	unsigned flags; /* of the record; BEGIN_LOST: only the last arguments are in the log */
};

/* Offsets of the names of an environment in their text, to find repeated ones. Zero it. */
struct tr_strace_names {
	uint32_t *slots; /* 0: free */
	size_t cap, count;
};

/* An environment as strace printed it, and what was made of it. Zero it. */
struct tr_strace_environment {
	struct tr_buffer printed, field, pwd;
	unsigned flags; /* enum tr_strace_flag */
};

enum { TR_STRACE_ENVIRONMENTS = 8 };

/* The data of an exec record: read by exec.c, and completed by pending.c. */
struct tr_strace_exec {
	struct tr_buffer path; /* bytes */
	struct tr_buffer pwd;  /* the value of PWD */
	bool named;	       /* the path is known */
	bool spelled;	       /* the path is absolute and already in the record */
	size_t gap;	       /* in the record, after the path */
	unsigned flags;	       /* enum tr_strace_flag */
	struct tr_strace_names names;
	struct tr_strace_environment recent[TR_STRACE_ENVIRONMENTS];
	unsigned oldest; /* of these */
};

/* Records on their way out: pending.c. */
struct tr_strace_records {
	struct tr_buffer head;		     /* the record that is being composed */
	struct tr_counter counter;	     /* writes seq */
	const struct tr_strace_origin *from; /* where it comes from */
	struct tr_buffer gap;		     /* scratch: what is inserted into a record */
	struct tr_pending queue;	     /* a record that is pending, and those after it */
	uint64_t orphans;
};

/* The stack of a call or signal: frames.c. */
struct tr_strace_stack {
	bool kept; /* line, whose frames may follow */
	struct tr_buffer line;
	uint64_t source_line, source_offset;
	struct tr_buffer list; /* its frames: "K1,K2" */
	struct tr_map ids;     /* of the frames that are defined, by their text */
	struct tr_arena memory;
	uint64_t last_id;
};

/* Lines that have to be joined: strace.c. */
struct tr_strace_repair {
	struct tr_buffer head;		/* of a line that another one was printed into */
	unsigned pieces;		/* lines that were tried as its rest */
	uint64_t begun_tid, begun_line; /* the last line that is the first half of a call */
};

enum { TR_STRACE_ENDING = 16 }; /* processes whose +++ line may be outstanding */

struct tr_strace_reader {
	struct tr_reader base;
	struct tr_buffer cwd; /* -O cwd=DIR, or empty */
	bool keep_failed;     /* -O failed=yes */

	struct tr_strace_clock_state clock;
	struct tr_strace_origin here; /* the line that is being read */
	uint64_t cut_line;	      /* the last line, if it has no end; else 0 */
	bool in_table;		      /* of -c */
	struct tr_strace_repair repair;
	struct tr_strace_stack stack;

	struct tr_strace_recent recent;
	struct tr_tasks tasks;
	size_t held;	   /* bytes of calls that have begun */
	bool any;	   /* some task has been seen */
	uint64_t file_pid; /* of a file of -ff; TR_STRACE_NO_PID: it is no such file */
	uint64_t bare;	   /* the task of lines without a number, as on stderr */
	bool ends_printed; /* the log has +++ exited lines */
	uint64_t ending[TR_STRACE_ENDING];
	size_t ending_count;

	struct tr_buffer bytes; /* scratch of calls.c */
	struct tr_strace_exec exec;
	struct tr_strace_records out;

	bool ended; /* the input */
	bool out_of_memory;
};

/* call_table.c: system calls by name. */

/* The call with that name; one without a name if it is unknown. */
const struct tr_strace_syscall *tr_strace_syscall(struct tr_text name);
/* The same, found quickly if it is among the recent ones. */
const struct tr_strace_syscall *tr_strace_syscall_again(struct tr_strace_recent *recent,
							struct tr_text name);

static inline bool tr_strace_is_exec(const struct tr_strace_syscall *syscall)
{
	return syscall->effect == TR_STRACE_EXECVE || syscall->effect == TR_STRACE_EXECVEAT;
}

/* The CLONE_ bits in the arguments of clone, clone3, vfork or unshare, in any style of -X. */
uint64_t tr_strace_clone_flags(struct tr_text name, struct tr_text arguments);
/* Appends "\tflags=" and the names of the bits; nothing if there are none. */
void tr_strace_put_clone_flags(uint64_t flags, struct tr_buffer *to);

/* calls.c: calls as they begin, continue and return. */

static inline struct tr_text tr_strace_call_name(const struct tr_strace_call *call)
{
	return (struct tr_text){ call->text, call->name_len };
}

/* The arguments of an open call as far as they were printed. */
static inline struct tr_text tr_strace_call_arguments(const struct tr_strace_call *call)
{
	return tr_text_span(call->text + call->name_len + 1, call->text + call->len);
}

/* Begins a call; an open one of the task will not return. Returns as tr_strace_abandon does. */
struct tr_task *tr_strace_call_begin(struct tr_strace_reader *reader, struct tr_task *task,
				     const struct tr_strace_line *line);
/*
 * Closes the open call, which will not return. Returns the task that has the number then: another
 * one if an exec has ended the first. NULL: memory is exhausted.
 */
struct tr_task *tr_strace_abandon(struct tr_strace_reader *reader, struct tr_task *task);
/* Appends to the text of a call, in place. False: memory is exhausted. */
bool tr_strace_call_append(struct tr_strace_reader *reader, struct tr_strace_call *call,
			   struct tr_text text);
/* Handles the second half of a call, at the end of the line `text`. */
void tr_strace_resume(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_strace_line *line, struct tr_text text);
/* Handles a call on one line, during which strace may have detached from the task. */
void tr_strace_call_whole(struct tr_strace_reader *reader, struct tr_task *task,
			  const struct tr_strace_line *line);
/* Returns the directory of a descriptor argument (a new reference); NULL: unknown. */
struct tr_directory *tr_strace_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
					  struct tr_text fd);

/*
 * exec.c: emits the exec record of a call that succeeded or, with a field error, failed. Malformed
 * arguments are read as far as possible.
 */
void tr_strace_put_exec(struct tr_strace_reader *reader, struct tr_task *task,
			const struct tr_strace_done *call, bool failed);
void tr_strace_exec_free(struct tr_strace_exec *exec);

/* frames.c: the stack frames of -k. */

/* True if the bytes at hand allow that the next line is a frame. */
bool tr_strace_may_have_frames(const struct tr_strace_reader *reader);
/* Keeps the line, which begins at reader->here, until its frames are read. */
void tr_strace_keep_line(struct tr_strace_reader *reader, struct tr_text line);
/* Adds the line as a frame of the line that is kept. False: it is not a frame. */
bool tr_strace_add_frame(struct tr_strace_reader *reader, struct tr_text text);
/*
 * Appends the frames of the current line to the record in out.head: of a call that ends on this
 * line, or of a signal (NULL).
 */
void tr_strace_put_frames(struct tr_strace_reader *reader, const struct tr_strace_done *call);
void tr_strace_stack_free(struct tr_strace_stack *stack);

/* tasks.c: tasks, execs in threads, ends of processes. */

struct tr_task *tr_strace_task_by_number(struct tr_strace_reader *reader, uint64_t tid);
/* Returns the task that the line is about. NULL: memory is exhausted. */
struct tr_task *tr_strace_task(struct tr_strace_reader *reader, const struct tr_strace_line *line);
/* Returns the state of the task, a new one if it has none. NULL: memory is exhausted. */
struct tr_strace_call *tr_strace_state(struct tr_strace_reader *reader, struct tr_task *task);
void tr_strace_state_release(void *state);
/* Marks the call as closed, and frees what it held. */
void tr_strace_call_close(struct tr_strace_call *call);

/* Notes that the exec of a task has succeeded, and continues under the number of its process. */
void tr_strace_change_pid(struct tr_strace_reader *reader, struct tr_task *task, uint64_t pid);
/* Moves the exec of a thread, which has succeeded, to the leader. */
void tr_strace_move_exec(struct tr_strace_reader *reader, struct tr_task *thread,
			 struct tr_task *leader);
/* An exec succeeded under the number of the leader: finds the thread of its process that began it.
 */
void tr_strace_match_exec(struct tr_strace_reader *reader, struct tr_task *leader);

/* Takes the end of a child from the information of SIGCHLD or waitid. */
void tr_strace_child_info(struct tr_strace_reader *reader, struct tr_task *task,
			  struct tr_text info);
/* Takes the end of a child from the status of wait4, which returned child. */
void tr_strace_child_status(struct tr_strace_reader *reader, struct tr_task *task, uint64_t child,
			    struct tr_text status);
/* Handles +++ exited and +++ killed. */
void tr_strace_exit(struct tr_strace_reader *reader, struct tr_task *task,
		    const struct tr_strace_line *line);
/* Handles a call of exit_group. */
void tr_strace_exit_group(struct tr_strace_reader *reader, struct tr_task *task, uint64_t status);
/*
 * Ends the task if its end is known, because no +++ line will follow; but not if `user`, which may
 * be NULL, would end with it: the caller goes on to use that one.
 */
void tr_strace_end_task(struct tr_strace_reader *reader, uint64_t tid, const struct tr_task *user);
/* Ends the log: closes the open calls, and ends the tasks whose end is known. */
void tr_strace_flush(struct tr_strace_reader *reader);

/* pending.c: records on their way out. */

/*
 * Begins a record in out.head: kind, seq, time, task and a TAB. task NULL: neither time nor task.
 */
void tr_strace_begin(struct tr_strace_reader *reader, const char *kind,
		     const struct tr_strace_origin *from, const struct tr_task *task);
/*
 * Completes the record in out.head with the flags and, if task is a thread, the tgid. While that is
 * unknown, the record is pending. task NULL: there is none. TR_STRACE_FLAG_ORPHAN applies only if
 * the parent of the task stays unknown.
 */
void tr_strace_emit(struct tr_strace_reader *reader, const struct tr_task *task, unsigned flags);
/* Completes an exec record, whose data are in reader->exec. seen_from: where its path starts. */
void tr_strace_emit_exec(struct tr_strace_reader *reader, const struct tr_task *task,
			 struct tr_directory *seen_from);

/* The cause of an error in the line that is being read. */
static inline enum tr_cause tr_strace_cause(const struct tr_strace_reader *reader)
{
	return reader->here.line == reader->cut_line ? TR_CAUSE_CUT : TR_CAUSE_INPUT;
}

/* Keeps text that is not understood as a record, and reports it. */
void tr_strace_put_raw(struct tr_strace_reader *reader, struct tr_text text, const char *reason);
/*
 * Makes the oldest pending record the next one out if it is complete. forced: completes it with
 * what is known. False: it stays pending, or there is none.
 */
bool tr_strace_next_pending(struct tr_strace_reader *reader, bool forced);
void tr_strace_records_free(struct tr_strace_records *out);

#endif
