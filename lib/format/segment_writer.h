/*
 * What writers have in common. The stream comes in segments: a header, records,
 * a trailer that should count them; one whose trailer is missing or miscounts
 * was filtered by other means, or its producer died, which is worth a note.
 * Kinds that have no place in the target format are counted and reported at the
 * end; where no record but context has a place, finish fails.
 *
 * A format's own struct begins with a struct tr_segment_writer; its table of
 * steps says what it does where, and its struct tr_format has tr_segment_put
 * and tr_segment_finish.
 */
#ifndef TR_FORMAT_SEGMENT_WRITER_H
#define TR_FORMAT_SEGMENT_WRITER_H

#include "format/format.h"
#include "record/unsupported_kinds.h"

/*
 * self is the format's own struct. err has been cleared for put and define, and
 * is to be filled by whoever returns TR_WARN or TR_FATAL. All but put may be NULL.
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
	/* Nothing more of the segment comes, if one is open. TR_OK or TR_FATAL. */
	enum tr_status (*end)(void *self, struct tr_error *err);
	/* Called once, behind the last end: writes what is left of the whole. */
	enum tr_status (*close)(void *self, struct tr_error *err);
	/* What is to be told at the very end, a TR_WARN each; TR_OK: that was all. */
	enum tr_status (*tell)(void *self, struct tr_error *err);
};

struct tr_segment_writer {
	const struct tr_segment_steps *steps;
	struct tr_output *out;

	/* the segment */
	bool headed;   /* it has a header, so its trailer has to be there and right */
	bool faithful; /* that says it comes from the very format that is written */
	uint64_t records;

	/* the whole stream */
	struct tr_unsupported_kinds unsupported;
	const char *reason; /* why the last record has no place, a constant; or NULL */
	bool entries;	    /* an entry was written: set by a format whose steps have a note */
	bool ended, closed, noted_empty;
};

/*
 * The format's own struct of that size, all zero but for its beginning, to be
 * freed with free(). NULL: memory is out, err is filled.
 */
void *tr_segment_writer_new(size_t size, const struct tr_segment_steps *steps,
			    struct tr_output *out, struct tr_error *err);

/* put and finish of struct tr_format. */
enum tr_status tr_segment_put(struct tr_writer *self, struct tr_record *record,
			      struct tr_error *err);
enum tr_status tr_segment_finish(struct tr_writer *self, struct tr_error *err);

#endif
