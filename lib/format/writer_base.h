/* SPDX-License-Identifier: MIT */
/*
 * The common part of writers, the counterpart of reader_base.h. The stream comes in segments: a
 * header, records, and a trailer with their count. A missing trailer or a wrong count means that
 * the segment was filtered by other means or its producer died; this produces a note. Kinds that
 * the target format cannot hold are counted and reported at the end; if it holds only context
 * kinds, finish fails.
 *
 * A format's own struct has a struct tr_writer as its member base; the functions of its table of
 * steps get the base, and their own struct from that with tr_container.
 *
 *	struct writer {
 *		struct tr_writer base;
 *		...
 *	};
 *
 *	create:	writer = tr_writer_new(sizeof *writer, &steps, out, err);
 *		return &writer->base;
 *	steps:	struct writer *writer = tr_container(base, struct writer, base);
 *
 * The two forms of the stream itself, trec and JSON, take every line as it is. Of the steps, they
 * have only line and discard.
 */
#ifndef TR_FORMAT_WRITER_BASE_H
#define TR_FORMAT_WRITER_BASE_H

#include "format/format.h"
#include "record/vocabulary.h"

/*
 * err is cleared before put and define; a function that returns
 * TR_WARN or TR_FATAL fills it. All but put and discard may be NULL.
 */
struct tr_writer_steps {
	const char *format; /* its name */
	const char *empty;  /* the note where records came and no entry was written; or NULL */
	bool some_calls;    /* it holds some system calls: the names of others are reported */
	/* Writes any line of the stream, as tr_writer_put; the other steps are not used. */
	enum tr_status (*line)(struct tr_writer *base, struct tr_record *record,
			       struct tr_error *err);
	/* A header has come, and is split; the segment before has ended. TR_OK, TR_WARN, TR_FATAL.
	 */
	enum tr_status (*begin)(struct tr_writer *base, struct tr_record *header,
				struct tr_error *err);
	enum tr_status (*define)(struct tr_writer *base, struct tr_record *definition,
				 struct tr_error *err);
	/*
	 * Writes a record, as tr_writer_put. TR_END: nothing was written, because the format cannot
	 * hold the kind; base->reason may state why. The caller adds the position of the record to
	 * err.
	 */
	enum tr_status (*put)(struct tr_writer *base, struct tr_record *record,
			      struct tr_error *err);
	/* Writes plain blocks, as tr_writer_put_blocks; the segment has a header. */
	size_t (*blocks)(struct tr_writer *base, const struct tr_block *blocks, size_t count,
			 uint64_t seq);
	/* Ends the segment, if one is open. TR_OK or TR_FATAL. */
	enum tr_status (*end)(struct tr_writer *base, struct tr_error *err);
	/* After the last end: writes the rest of the file; is called again after TR_WARN. */
	enum tr_status (*close)(struct tr_writer *base, struct tr_error *err);
	/* Reports at the very end, one TR_WARN for each call; TR_OK: all is reported. */
	enum tr_status (*report)(struct tr_writer *base, struct tr_error *err);
	/* Frees what the format's own struct holds, not the struct itself. */
	void (*discard)(struct tr_writer *base);
};

struct tr_writer {
	const struct tr_writer_steps *steps;
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
 * The format's own struct of that size, all zero except for its member base, which comes
 * first. NULL: memory is exhausted, err is filled.
 */
void *tr_writer_new(size_t size, const struct tr_writer_steps *steps, struct tr_output *out,
		    struct tr_error *err);

#endif
