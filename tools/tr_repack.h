/* What the files tr_repack*.c share. */
#ifndef TR_TOOLS_TR_REPACK_H
#define TR_TOOLS_TR_REPACK_H

#include "cli.h"
#include "core/archive.h"
#include "core/arena.h"
#include "core/buffer.h"
#include "core/codec.h"
#include "core/map.h"

struct verify;

struct repack {
	struct tr_cli cli;

	/* what was asked for */
	const struct tr_format *target; /* -t; NULL: the one it came from */
	const struct tr_codec *codec;	/* -z; NULL with codec_given: none */
	bool codec_given;
	const struct tr_codec *named; /* by the name of -o, where that is one file */
	bool plain; /* the name of -o has an extension, and it is not a codec's */
	int level; /* of codec; TR_REPACK_DEFAULT_LEVEL: its own default */
	unsigned threads;
	bool foreign;
	bool by_records;	   /* an option of a format was given: bytes alone cannot obey it */
	struct verify *verify;	   /* --verify */
	struct tr_cli_blobs blobs; /* --blob-dir */

	/* the output that is being written: the file, or one member of the archive */
	const struct tr_format *format; /* NULL: nothing was written yet */
	struct tr_writer *writer;	/* NULL: bytes are copied, or between two segments */
	bool begun;			/* a header or a record of it was */
	bool one;			/* the file cannot hold another trace */
	bool log; /* the place is a log that traces are taken out of, whose name is not theirs */
	struct tr_record *header;	/* of the segment that begins, where it has one */
	bool cut_line;			/* what was copied last does not end in LF */
	bool apart; /* each place, and each trace of a place, is an output of its own */
	struct tr_archive_writer *archive;
	const char *directory; /* NULL: none */
	int root;	       /* of it; -1: not open */
	struct tr_buffer path; /* of the file in it */
	struct {
		struct tr_map taken;
		struct tr_arena memory;
	} names;	  /* of members of the archive, or files of the directory */
	unsigned segment; /* of the place */
};

enum { TR_REPACK_DEFAULT_LEVEL = INT32_MIN };

/* tr_repack_output.c */

/* The bottom of the output: the file or stdout, and --verify over it. */
struct tr_sink *repack_bottom(struct repack *r, const struct tr_codec *outer, bool archive);

/* Puts --verify over the sink of a file, which it owns. NULL: reported. */
struct tr_sink *repack_checked(struct repack *r, struct tr_sink *sink, const struct tr_codec *outer,
			       bool archive);

/* Puts a codec, and what --verify needs, on top of a sink, which it owns. NULL: reported. */
struct tr_sink *repack_encoded(struct repack *r, struct tr_sink *sink,
			       const struct tr_codec *codec);

/* The codec that the place is written with, in *codec (NULL: none). False: it is refused. */
bool repack_codec(struct repack *r, const struct tr_format *format,
		  const struct tr_trace_place *place, const struct tr_codec **codec);

/* tr_repack_place.c */

/* Opens the output of one place in the way that the mode asks for. False: reported. */
typedef bool repack_open(struct repack *r, const struct tr_format *format,
			 const struct tr_trace_place *place);

/* Writes one file or member to the output, which `open` opens when the format is known. */
void repack_place(struct repack *r, struct tr_trace_place *place, repack_open *open);

/*
 * The input had no line in it: the format that is asked for (-t) says what it has
 * for nothing; a list without entries is "[]".
 */
void repack_nothing(struct repack *r, const struct tr_trace_place *place, repack_open *open);

/* Ends the writer of the output. */
bool repack_finish_writer(struct repack *r);

/* Every file or member to an output of its own. */
void repack_apart(struct repack *r, repack_open *open);

/* tr_repack_archive.c: every file or member to a member of the archive -o. */
void repack_archive(struct repack *r, const char *archive_format);

/* tr_repack_directory.c: the same to files below the directory -o. */
bool repack_is_directory(const char *path); /* it is one, or is to be one */
void repack_directory(struct repack *r);

/*
 * tr_repack_name.c: what a place becomes as a member, or as a file below a
 * directory; no other one has this name. NULL: memory is out.
 */
const char *repack_member_name(struct repack *r, const struct tr_trace_place *place,
			       const struct tr_format *format, const struct tr_codec *codec);

/* A place has become a member or file of this name. */
bool repack_is_member(const struct repack *r, struct tr_text name);

/* tr_repack_verify.c */
struct verify *verify_new(void);
void verify_free(struct verify *verify);

/* Takes note of what goes to sink, which it owns: the next file or member. NULL: memory. */
struct tr_sink *verify_tee(struct verify *verify, struct tr_sink *sink,
			   const struct tr_codec *codec);

/*
 * Over the sink of the file, which it owns: when all is written, and before
 * the file gets its name, reads it back and compares. NULL: memory.
 */
struct tr_sink *verify_file(struct verify *verify, struct tr_sink *sink,
			    const struct tr_codec *outer, bool archive);

#endif
