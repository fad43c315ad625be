/* What the files trace*.c share. */
#ifndef TR_FORMAT_TRACE_PRIVATE_H
#define TR_FORMAT_TRACE_PRIVATE_H

#include "core/archive.h"
#include "core/buffer.h"
#include "format/trace.h"

/* What was seen of the segment that is being read. */
struct tr_segment {
	bool open; /* it has a header */
	bool truncated;
	uint64_t count;
	uint64_t errors;
};

/*
 * Archives that are open, each but the first a member of the one before. Deeper
 * ones are told, not opened: some are made to have no end.
 */
enum { TR_TRACE_ARCHIVES = 4 };

struct tr_trace_archives {
	struct {
		struct tr_archive *archive;
		struct tr_input *in; /* owned by archive */
		size_t path;	     /* length of its name in path; 0: it is the operand */
		bool selected;	     /* --member named it, and so all that is in it */
	} list[TR_TRACE_ARCHIVES];
	unsigned count;
	struct tr_buffer path;
	bool matched; /* something in the operand was selected */
};

/* What opening an operand sets in a trace, and what it returned. */
struct tr_trace_opened {
	bool there;
	enum tr_status status;
	struct tr_error err;
	struct tr_trace_place place;
	struct tr_buffer name, member;
	struct tr_trace_archives archives; /* of an operand */
};

enum tr_trace_state {
	TR_TRACE_START, /* no reader yet */
	TR_TRACE_BODY,
	TR_TRACE_DAMAGE,  /* the reader has ended; why did the window? */
	TR_TRACE_TRAILER, /* a trailer may be due */
	TR_TRACE_DONE,
};

struct tr_trace {
	struct tr_trace_config config;
	const char *const *operands;
	size_t operand_count, next_operand;

	bool stepped;
	struct tr_trace_place place;
	struct tr_buffer name, member; /* the texts of place, NUL-terminated */
	struct tr_input *in;	       /* of the operand or member; place.in, owned */
	struct tr_trace_archives archives;
	bool met_archive; /* some operand is one */
	struct tr_trace_opened ahead; /* the operand next_operand, opened before its turn */
	struct tr_trace_opened member_ahead; /* the archive's next member, the same */

	enum tr_trace_state state;
	struct tr_reader *reader;
	bool check_depth;  /* the limit is smaller than the grammar's */
	bool only_records; /* a record of the reader's needs no further look */
	struct tr_segment segment;
	struct tr_trace_seen seen; /* of the segments of the place that have ended */
	uint64_t left_out;	/* by the sieve, of those that were counted */
	struct tr_record *held; /* a header or trailer of the reader's that has to wait */
	bool trailer_due;	/* before the held header */
	uint64_t upstream_errors;
	bool upstream_truncated;
	bool say_upstream; /* before held */

	struct tr_record made; /* header or trailer */
	struct tr_arena made_arena;
	struct tr_buffer made_line;

	uint64_t lost; /* operands, members, what is behind the damage of an archive */

	uint64_t done_before; /* bytes of the operands behind us */
	uint64_t total;	      /* of all operands; 0: not known */
};

/* trace_operand.c */
enum tr_status tr_trace_open_operand(struct tr_trace *trace, const char *operand,
				     struct tr_error *err);

/* trace_place.c */
void tr_trace_close_place(struct tr_trace *trace);
/* Messages need a place even where it cannot be opened. member may be NULL. False: memory. */
bool tr_trace_name_place(struct tr_trace *trace, const char *operand, const char *member,
			 struct tr_error *err);
/* Makes place.in of a source (owned; NULL: memory is out), compression taken off. */
bool tr_trace_decode(struct tr_trace *trace, struct tr_source *source, struct tr_error *err);
/* Of place.in, which is no archive. */
enum tr_status tr_trace_find_format(struct tr_trace *trace, struct tr_error *err);

/* trace_wait.c */
/*
 * Whether waiting for the bytes of archives tells the tool so (on_wait): not where a member
 * is read on another thread than the one that writes the tool's output.
 */
void tr_trace_tell_waits(struct tr_trace *trace, bool tell);

/* trace_archive.c */
/* place.in, if it is an archive: TR_END, there are members to step to. TR_OK: it is none. */
enum tr_status tr_trace_enter_archive(struct tr_trace *trace, struct tr_error *err);
/* The next member of the archives that are open. TR_END: there is none, go on with the operands. */
enum tr_status tr_trace_open_member(struct tr_trace *trace, struct tr_error *err);
void tr_trace_close_archives(struct tr_trace_archives *archives);
/* Nothing more is wanted of any of them: nobody waits for bytes, as closing a member may. */
void tr_trace_interrupt_archives(struct tr_trace_archives *archives);

/* trace_parts.c: the next operand, together with others that are parts of the same trace. */
enum tr_status tr_trace_open_next(struct tr_trace *trace, struct tr_error *err);
void tr_trace_free_ahead(struct tr_trace *trace);

/* trace_members.c: the same of an archive's members. TR_END: go on with the operands. */
enum tr_status tr_trace_open_members(struct tr_trace *trace, struct tr_error *err);
void tr_trace_free_member_ahead(struct tr_trace *trace);

/* trace_parts.c: what both share. */

struct tr_parts {
	struct tr_input **list;
	int64_t *numbers;
	size_t count;
};

/* False: memory is out. */
bool tr_parts_add(struct tr_parts *parts, struct tr_input *in, int64_t number);
bool tr_parts_have(const struct tr_parts *parts, int64_t number);

/* One window for all of them, which it owns. */
enum tr_status tr_parts_merge(struct tr_trace *trace, const struct tr_parts *parts,
			      struct tr_error *err);

/* The number of what is open; -1: it is no part. */
int64_t tr_trace_part_number(const struct tr_trace *trace);

/* Takes what is open out of the trace, and puts it back; archives stay where they are. */
void tr_trace_put_aside(struct tr_trace *trace, struct tr_trace_opened *opened);
void tr_trace_take_back(struct tr_trace *trace, const struct tr_trace_opened *opened);

/* The name that a reader may learn from; NULL: it has none. */
static inline const char *tr_trace_file_name(const struct tr_trace *trace)
{
	return trace->place.member ? trace->place.member : trace->place.file;
}

/* trace_depth.c: more than max open brackets in a value. */
bool tr_line_is_deeper(const struct tr_record *record, unsigned max);

/* An enter and its leave are one record; a leave without an enter has no name. */
static inline bool tr_segment_counts(const struct tr_record *record)
{
	return !(record->kind.len == 5 && *record->kind.data == 'l' &&
		 memcmp(record->kind.data, "leave", 5) == 0 && record->name.type != TR_CELL_ABSENT);
}

/* The segment ends: adds it to what was seen of the place. */
static inline void tr_segment_add_up(struct tr_trace *trace)
{
	trace->seen.records += trace->segment.count;
	trace->seen.truncated = trace->seen.truncated || trace->segment.truncated;
}

/* trace_segment.c */
/* own: the fields that the reader gives, or NULL. Opens the segment. */
bool tr_trace_make_header(struct tr_trace *trace, struct tr_record *own, struct tr_record **record,
			  struct tr_error *err);
bool tr_trace_make_trailer(struct tr_trace *trace, struct tr_record *own, struct tr_record **record,
			   struct tr_error *err);
void tr_trace_look_at_trailer(struct tr_trace *trace, struct tr_record *record);

#endif
