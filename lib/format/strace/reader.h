/* What the files of the reader share. */
#ifndef TR_FORMAT_STRACE_READER_H
#define TR_FORMAT_STRACE_READER_H

#include "format/format.h"
#include "format/strace/body.h"
#include "format/strace/calls.h"
#include "format/strace/clock.h"
#include "format/strace/exec.h"
#include "format/strace/hold.h"
#include "format/strace/prefix.h"
#include "process/tree.h"

/* A line's time, as the stream has it; len 0: none. */
struct tr_strace_time {
	size_t len;
	char text[TR_STRACE_TIME_MAX];
};

/* Where a record comes from. */
struct tr_strace_origin_line {
	struct tr_strace_time time;
	uint64_t line, offset;
};

/* How a process ended. */
struct tr_strace_end {
	bool core;
	uint8_t signal_len; /* 0: with status */
	char signal[15];    /* its name, or its number where strace has no more (-X raw) */
	uint64_t status;
};

/* What a task is about: tr_task.state. */
struct tr_strace_call {
	bool open;   /* a call has begun and has not come back */
	bool proven; /* an exec of which is known that it succeeded */
	char *text;  /* its name, and its arguments as far as they were printed */
	size_t len, cap, name_len;
	size_t *held; /* cap of all calls */
	struct tr_strace_origin_line begin;
	/* Of a fork, and of an exec in a thread: where the task was, and how often it had moved. */
	struct tr_directory *directory;
	uint64_t moves;
	struct tr_directory *seen_from; /* of an execveat in a thread: what its descriptor was */
	bool closed;			/* of close: what it does was done when it began */
	bool lost_thread;		/* a thread was made, and nobody heard which */
	bool leaving;			/* its end is known */
	struct tr_strace_end end;
	struct tr_strace_origin_line left;
};

enum { TR_STRACE_LEAVING = 16 }; /* processes that may be between that and their +++ line */

/* The last line that said of a call no more than that it began. */
struct tr_strace_begun {
	uint64_t tid, line;
};

struct tr_strace_reader {
	struct tr_input *in;
	struct tr_limits limits;
	struct tr_text cwd; /* -O cwd=DIR, or empty */
	bool keep_failed;   /* -O failed=yes */
	struct tr_tasks tasks;
	struct tr_strace_hold hold;
	struct tr_strace_clock_state clock;
	struct tr_strace_exec exec;
	struct tr_strace_origin_line here; /* the line that is being read */
	uint64_t seq;

	struct tr_buffer head;		 /* of the record that is being made */
	struct tr_origin *may_be_thread; /* its task's; NULL: tgid is known */
	size_t gap;			 /* in head: where it would stand; of an exec, its name */
	struct tr_buffer scratch, bytes;
	size_t held;		/* bytes of calls that have begun */
	struct tr_buffer glued; /* a line that another one was printed into */
	bool in_table;		/* of -c */
	unsigned pieces;	/* lines that were tried as its rest */
	struct tr_strace_begun begun;

	bool any;	   /* some task has been seen */
	uint64_t file_pid; /* whose they are in a file of -ff; TR_STRACE_NOBODY: it is none */
	uint64_t bare;	   /* whose lines without a number were, on stderr */
	bool ends_seen;	   /* +++ exited lines are printed */
	uint64_t leaving[TR_STRACE_LEAVING];
	size_t leaving_count;

	/* what goes out */
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer line;
	uint64_t line_source, line_offset;
	bool have; /* line is whole, and is next */
	bool ended, flushed;
	uint64_t orphans;
	bool told_orphans;
	struct tr_error trouble; /* due before the next record, where cause is set */
	bool out_of_memory;
};

/* reader_line.c: one line, without its LF. */
void tr_strace_read_line(struct tr_strace_reader *reader, struct tr_text line);

/* reader_resume.c: what was begun is whole now. */
void tr_strace_resume(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_strace_body *body, struct tr_text line);

/*
 * reader_mend.c: true where the line was read as what strace should have printed; then *line is
 * what of it is still to be read, which may be nothing.
 */
bool tr_strace_mend(struct tr_strace_reader *reader, struct tr_text *line,
		    const struct tr_strace_prefix *prefix, struct tr_strace_body *body);

/* reader_glue.c: one line as it came, which may hold another one's beginning. */
void tr_strace_take_line(struct tr_strace_reader *reader, struct tr_text line);
/* The input ends: what waited for its rest has none. */
void tr_strace_take_rest(struct tr_strace_reader *reader);

/* reader_emit.c: records out. */

/* Begins a record in reader->head: kind, seq, time, task and a TAB. */
void tr_strace_begin(struct tr_strace_reader *reader, const char *kind,
		     const struct tr_strace_time *time, uint64_t tid);
/* Appends what a thread's record ends in. */
void tr_strace_spell_tgid(const struct tr_task *task, struct tr_buffer *to);
/* The same for the record in reader->head, which waits where it is not known who is a thread. */
void tr_strace_put_tgid(struct tr_strace_reader *reader, const struct tr_task *task);
/* A line, or a part of it, that nobody understands: it is kept, and that is told. */
void tr_strace_put_raw(struct tr_strace_reader *reader, struct tr_text text, const char *reason);
/* True: the text of a record is not whole, because of the limit or because memory is out. */
bool tr_strace_is_lost(struct tr_strace_reader *reader, const struct tr_buffer *text,
		       uint64_t source_line);
/* The item's record is the next one out. */
void tr_strace_deliver(struct tr_strace_reader *reader, struct tr_strace_item *item);
/* The record in reader->head is whole. */
void tr_strace_emit(struct tr_strace_reader *reader, const struct tr_strace_origin_line *from);
/* The same for an exec record, whose pieces are in reader->exec; seen_from: what its path is. */
void tr_strace_emit_exec(struct tr_strace_reader *reader, const struct tr_strace_origin_line *from,
			 const struct tr_task *task, struct tr_directory *seen_from);

/* reader_call.c: calls that have come back. */

/*
 * name and arguments as in the log; result NULL: it never came back. flags: of
 * the record, BEGIN_LOST where only the last arguments are there.
 */
void tr_strace_call_done(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			 struct tr_text arguments, const struct tr_strace_result *result,
			 const struct tr_strace_origin_line *from, unsigned flags);

/* An exec that succeeded. arguments.data NULL: its beginning is not in the log. */
void tr_strace_exec_done(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			 struct tr_text arguments, const struct tr_strace_origin_line *from);

/* A call in which strace let go of the task. */
void tr_strace_detached(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			struct tr_text arguments);

/* reader_state.c: what a task is about. */

/* The task's state, made where there is none. NULL: memory is out (and said so). */
struct tr_strace_call *tr_strace_state(struct tr_strace_reader *reader, struct tr_task *task);
void tr_strace_state_release(void *state);
/* Gives the call room for len bytes of text and keeps what it has. False: memory is out. */
bool tr_strace_call_reserve(struct tr_strace_call *call, size_t len);
/* It has no call that waits any more. */
void tr_strace_call_close(struct tr_strace_call *call);

/* reader_begun.c: calls that have begun. */

/* A call begins; one that the task began before will not come back. Returns as abandon does. */
struct tr_task *tr_strace_call_begin(struct tr_strace_reader *reader, struct tr_task *task,
				     const struct tr_strace_body *body);

/*
 * A call that has begun will not come back. Returns the task that has the number then: another
 * one where an exec has ended the first. NULL: memory is out.
 */
struct tr_task *tr_strace_abandon(struct tr_strace_reader *reader, struct tr_task *task);

static inline struct tr_text tr_strace_call_name(const struct tr_strace_call *call)
{
	return (struct tr_text){ call->text, call->name_len };
}

/* reader_place.c: directories. */

/* Where the task is, as far as a call says so by the way. */
void tr_strace_look_around(struct tr_strace_reader *reader, struct tr_task *task,
			   struct tr_text name, struct tr_text arguments,
			   const struct tr_strace_result *result);
/* What a call does to directories and descriptors. */
void tr_strace_follow(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		      struct tr_text arguments, const struct tr_strace_result *result);
/* close() with these arguments. */
void tr_strace_close_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
				struct tr_text arguments);
/* What an argument that is a descriptor stands for (the caller's reference); NULL: not known. */
struct tr_directory *tr_strace_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
					  struct tr_text fd);

/* Where a thread's exec that has just succeeded is. */
void tr_strace_place_exec(struct tr_strace_reader *reader, struct tr_task *task);

/* reader_thread.c: execs in threads. */

/* The task's exec has succeeded, and will go on under the number of its process. */
void tr_strace_change_pid(struct tr_strace_reader *reader, struct tr_task *task, uint64_t pid);
/* The leader goes on with the thread's exec, which has succeeded. */
void tr_strace_take_over(struct tr_strace_reader *reader, struct tr_task *thread,
			 struct tr_task *leader);
/* An exec succeeded under the leader's number, which may be a thread's of its process. */
void tr_strace_take_exec(struct tr_strace_reader *reader, struct tr_task *leader);
/* The leader ends: so does an exec that has succeeded, and was not gone on with. */
void tr_strace_take_rest_of_exec(struct tr_strace_reader *reader, struct tr_task *leader);

/* reader_task.c: who acts. */

struct tr_task *tr_strace_task(struct tr_strace_reader *reader,
			       const struct tr_strace_prefix *prefix,
			       const struct tr_strace_body *body);
struct tr_task *tr_strace_task_by_number(struct tr_strace_reader *reader, uint64_t tid);

/* reader_end.c: how tasks end. */

/* What SIGCHLD or waitid says of a child of the task's. */
void tr_strace_claim(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text info);
/* The same of wait4, which returned child. */
void tr_strace_waited(struct tr_strace_reader *reader, struct tr_task *task, uint64_t child,
		      struct tr_text status);

/* +++ exited, or killed. */
void tr_strace_exit(struct tr_strace_reader *reader, struct tr_task *task,
		    const struct tr_strace_body *body);
/* exit_group was called. */
void tr_strace_leave(struct tr_strace_reader *reader, struct tr_task *task, uint64_t status);
/* No +++ line will come of the task: what is known of its end, if anything, has to do. */
void tr_strace_end_leaving(struct tr_strace_reader *reader, uint64_t tid);
/* The log has ended: what is still open is said. */
void tr_strace_flush(struct tr_strace_reader *reader);

#endif
