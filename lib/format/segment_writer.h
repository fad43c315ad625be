/* SPDX-License-Identifier: MIT */
/*
 * The common part of writers, the counterpart of reader_base.h. The stream comes in segments: a
 * header, records, and a trailer with their count. A missing trailer or a wrong count means that
 * the segment was filtered by other means or its producer died, which is noted. Kinds that have no
 * place in the target format are counted and reported at the end; if only context kinds have a
 * place, finish fails.
 *
 * A format's own struct begins with a struct tr_segment_writer; its table of steps holds its
 * functions, and its struct tr_format has tr_segment_put and tr_segment_finish.
 */
#ifndef TR_FORMAT_SEGMENT_WRITER_H
#define TR_FORMAT_SEGMENT_WRITER_H

#include "format/format.h"
#include "record/vocabulary.h"

/*
 * self is the format's own struct. err is cleared before put and define; a function that returns
 * TR_WARN or TR_FATAL fills it. All but put may be NULL.
 */
struct tr_segment_steps {
	const char *format; /* its name */
	const char *empty;  /* the note where records came and no entry was written; or NULL */
	bool some_calls;    /* it holds some system calls: the names of others are reported */
	/* A header has come, and is split; the segment before has ended. TR_OK, TR_WARN, TR_FATAL.
	 */
	enum tr_status (*begin)(void *self, struct tr_record *header, struct tr_error *err);
	enum tr_status (*define)(void *self, struct tr_record *definition, struct tr_error *err);
	/*
	 * As in struct tr_format; TR_END: nothing was written, the kind has no place here; the
	 * base's reason may say why.
	 */
	enum tr_status (*put)(void *self, struct tr_record *record, struct tr_error *err);
	/* Ends the segment, if one is open. TR_OK or TR_FATAL. */
	enum tr_status (*end)(void *self, struct tr_error *err);
	/* Called once, after the last end: writes the rest of the file. */
	enum tr_status (*close)(void *self, struct tr_error *err);
	/* Reports at the very end, one TR_WARN for each call; TR_OK: all is reported. */
	enum tr_status (*tell)(void *self, struct tr_error *err);
};

struct tr_segment_writer {
	const struct tr_segment_steps *steps;
	struct tr_output *out;

	/* the segment */
	bool headed;   /* it has a header, so its trailer is checked */
	bool faithful; /* the header names the format that is written */
	uint64_t records;

	/* the whole stream */
	struct tr_unsupported_kinds unsupported;
	const char *reason; /* why the last record has no place, a constant; or NULL */
	bool entries;	    /* an entry was written: set by a format whose steps have a note */
	bool ended, closed, noted_empty;
};

/*
 * The format's own struct of that size, all zero except for its base, to be freed with free().
 * NULL: memory is out, err is filled.
 */
void *tr_segment_writer_new(size_t size, const struct tr_segment_steps *steps,
			    struct tr_output *out, struct tr_error *err);

/* put and finish of struct tr_format. */
enum tr_status tr_segment_put(struct tr_writer *self, struct tr_record *record,
			      struct tr_error *err);
enum tr_status tr_segment_finish(struct tr_writer *self, struct tr_error *err);

#endif
