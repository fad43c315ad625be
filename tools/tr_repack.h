/* SPDX-License-Identifier: MIT */
/*
 * tr-repack. Each file or member that is read (a place) takes this path:
 *
 *	tr_repack.c         options; opens the output of a place: the file, a member of an
 *	                    archive or a file below a directory, with its codec
 *	tr_repack_place.c   names it, and copies its bytes or writes its records
 *	tr_repack_split.c   --split and --join: parts of one trace
 *	tr_repack_verify.c  --verify: computes digests of the output, and compares them when it is complete
 *
 * With -j, tr_repack_jobs.c lets child processes write the outputs, and the parent opens them.
 */
#ifndef TR_TOOLS_TR_REPACK_H
#define TR_TOOLS_TR_REPACK_H

#include "cli.h"
#include "core/archive.h"
#include "core/arena.h"
#include "core/buffer.h"
#include "core/codec.h"
#include "core/map.h"

struct verify;
struct jobs;
struct split;
struct join;

enum { REPACK_MARKS = 1000000 }; /* possible marks: nanoseconds of a millisecond */

/* The name of a member or file before it is known whether it is in use. */
struct repack_name {
	struct tr_text stem, extension, codec; /* the last two may be empty */
	bool noted; /* it is the name of the source: a number that is added to it produces a note */
};

struct repack {
	struct tr_cli cli;

	/* Opens the output of a place, whose format is known. False: reported. */
	bool (*open)(struct repack *r, const struct tr_format *format,
		     const struct tr_trace_place *place);

	/* The same for one of several outputs, with its name. */
	bool (*open_as)(struct repack *r, const struct repack_name *name,
			const struct tr_trace_place *place, const struct tr_codec *codec);

	/* what the user asks for */
	const struct tr_format *target; /* -t; NULL: the format of the input */
	const struct tr_codec *codec;	/* -z; NULL with codec_given: none */
	bool codec_given;
	const struct tr_codec *named; /* by the name of -o, if that is one file */
	bool plain;		      /* the name of -o has an extension, and it is not a codec's */
	bool trec;		      /* that name, or it without a codec's, ends in .trec */
	int level;		      /* of codec; TR_CLI_DEFAULT_LEVEL: its own default */
	unsigned threads;	      /* of the codec */
	unsigned jobs;		      /* child processes that convert; 0: none */
	bool foreign;
	bool by_records;       /* an option of a format is given, so bytes cannot be copied */
	struct verify *verify; /* --verify */
	bool resume;
	bool list; /* --list0 */

	/* the current output: the file, or a member of the archive */
	const struct tr_format *format; /* NULL: nothing was written yet */
	struct tr_writer *writer;	/* NULL: bytes are copied, or between two segments */
	bool begun;			/* a header or a record of it was written */
	bool one;			/* the file cannot hold another trace */
	bool log; /* the place is a log with several traces, which do not get its name */
	struct tr_record *header; /* of the segment that begins; NULL: none */
	bool cut_line;		  /* the copied bytes do not end in LF */
	bool apart; /* each place, and each trace of a place, is an output of its own */
	struct tr_archive_writer *archive;
	const char *directory; /* NULL: none */
	int root;	       /* of it; -1: not open */
	struct tr_buffer path; /* of the file in it */
	bool made;	       /* an earlier run wrote the current output: nothing is written */
	bool left_out;	       /* the output of this trace could not be opened; reported */
	uint64_t made_count;
	uint64_t troubled, made_only; /* places with trouble; places whose last output was made */
	uint64_t opened;	      /* outputs of the place */
	long mark;	    /* of the current output, in the time of its file: see mark_of */
	const char *hashed; /* the operand whose path has this hash */
	uint64_t path_hash;
	struct {
		struct tr_map taken;
		struct tr_arena memory;
		struct tr_buffer key;
	} names;	     /* of members of the archive, or files of the directory */
	unsigned segment;    /* of the place */
	struct jobs *job;    /* of -j; NULL: none */
	struct split *split; /* --split; NULL: none */
	struct join *join;   /* parts are put together; NULL: they are copied */
};

/* tr_repack.c */

/* Chooses the codec of an output. False: the format cannot be in it, which is reported. */
bool repack_codec(struct repack *r, const struct tr_format *format,
		  const struct tr_trace_place *place, const struct tr_codec **codec);

/* A codec on top of a sink, which it takes over. NULL: reported. */
struct tr_sink *repack_encoded(struct repack *r, struct tr_sink *sink,
			       const struct tr_codec *codec);

/* tr_repack_jobs.c */

/* Writes every file or member to an output of its own, in child processes. */
void repack_in_jobs(struct repack *r);

/* In the parent: the bytes that come are compressed. Takes sink over. NULL: reported. */
struct tr_sink *repack_job_sink(struct repack *r, struct tr_sink *sink,
				const struct tr_codec *codec);

/* tr_repack_place.c */

/* Writes one file or member to the output, which is opened when the format is known. */
void repack_place(struct repack *r, struct tr_trace_place *place);

/* Writes the empty file of the format of -t for an input without records, such as "[]". */
void repack_nothing(struct repack *r, const struct tr_trace_place *place);

/* True if further traces can follow in the place, each of which has an output of its own. */
bool repack_may_hold_more(const struct repack *r, const struct tr_trace_place *place);

/* Writes a record to the output that is open. False: reported, or a stop. */
bool repack_put_record(struct repack *r, struct tr_record *record);

/* The format of the outputs of a trace that begins with this record. NULL: reported. */
const struct tr_format *repack_split_format(struct repack *r, const struct tr_trace_place *place,
					    struct tr_record *first);

/* Ends the writer of the output. False: reported. */
bool repack_finish_writer(struct repack *r);

/* Writes every file or member to an output of its own. */
void repack_apart(struct repack *r);

/* Writes one of them, from the first byte to the end of its last output. */
void repack_one(struct repack *r, struct tr_trace_place *place);

/* Ends an output of repack_one. False: reported. */
bool repack_finish_output(struct repack *r, const struct tr_trace_place *place);

/* The name for a place as a member or file; its texts are borrowed from the place and r->header. */
struct repack_name repack_member_name(struct repack *r, const struct tr_trace_place *place,
				      const struct tr_format *format, const struct tr_codec *codec);

/* Returns the name, with a number if it is in use, and keeps it. NULL: memory is exhausted. */
const char *repack_take_name(struct repack *r, const struct tr_trace_place *place,
			     const struct repack_name *name);

/*
 * The name as it is unpacked: ./a and a//b are the same files as a and a/b. Valid until the next
 * call; empty if memory is exhausted, and then names.key.failed is set.
 */
struct tr_text repack_unpacked_as(struct repack *r, struct tr_text name);

/* True if a place has become a member or file of this name. */
bool repack_is_member(struct repack *r, struct tr_text name);

/* tr_repack_split.c */

enum split_by { SPLIT_SIZE, SPLIT_RECORDS, SPLIT_FRAMES };

struct split *split_new(void);
void split_free(struct split *split);

/* Takes the argument of --split. False: a usage error. */
bool split_set(struct split *split, struct repack *r);

/* Prints the name of each part when it is complete, with a NUL after it. */
void split_list(struct split *split);

/* Writes the traces of a place as parts. */
void split_place(struct repack *r, const struct tr_trace_place *place);

/* Notes the parts of an earlier split of the same names that were not replaced. */
void split_note_others(struct repack *r);

/*
 * checks: report parts that are missing, repeated, or of another trace. NULL: memory is exhausted.
 */
struct join *join_new(bool checks);
void join_free(struct join *join);
bool join_checks(const struct join *join);

/* Begins another output, which does not continue the trace of the one before it. */
void join_begin(struct join *join);

/* True if the records of this segment need not be looked at. */
bool join_is_idle(const struct join *join);

/*
 * Handles the next record of the input. Sets *drop if the output has the record already, or if it
 * is held back; may replace *record. False: the tool is to stop.
 */
bool join_record(struct repack *r, struct tr_record **record, bool *drop);

/* Writes the trailer that is held back, if there is one. False: reported. */
bool join_end(struct repack *r);

/* tr_repack_verify.c */
struct verify *verify_new(void);
void verify_free(struct verify *verify);

/* Notes the bytes of the next file or member on their way to sink, which it owns. NULL: memory is
 * exhausted. */
struct tr_sink *verify_tee(struct verify *verify, struct tr_sink *sink,
			   const struct tr_codec *codec);

/* The digest of the bytes of a file or member. */
struct verify_digest {
	uint64_t length, hash;
	unsigned char rest[8];
};

/* The digest of what was written last, in a child process. */
struct verify_digest verify_last(const struct verify *verify);

/* Notes the next file or member, whose digest is known at its end. False: memory is exhausted. */
bool verify_note(struct verify *verify, const struct tr_codec *codec);
void verify_finished(struct verify *verify, const struct verify_digest *digest);

/*
 * Wraps the sink of the file, which it owns: after the last byte, and before the file gets its
 * name, reads the file back and compares. NULL: memory is exhausted.
 */
struct tr_sink *verify_file(struct verify *verify, struct tr_sink *sink,
			    const struct tr_codec *outer, bool archive);

#endif
