/* SPDX-License-Identifier: MIT */
/*
 * A record: one line of the stream, in one of two forms.
 *
 * - As text (line.data is set): the complete line as it is, or would be, in a trec stream. Text
 *   readers produce these; tr-filter copies them unchanged. Columns after the fixed ones are split,
 *   and values parsed, only on demand: tr_record_split, tr_field_value.
 * - As built (line.data is NULL): fields with trees of values. Binary readers produce these. If
 *   spell is set, it writes the same line faster than from the fields; a caller that changes the
 *   record clears it.
 *
 *	line -> tr_record_from_line -> tr_record_split -> tr_field_value
 *	tr_record_init, tr_record_add -> tr_record_write -> line
 *
 * A record borrows everything from its reader and from `arena`, and is valid until the next call of
 * the reader. Not thread safe.
 */
#ifndef TR_RECORD_RECORD_H
#define TR_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/text.h"
#include "record/value.h"

enum tr_line_type {
	TR_RECORD,
	TR_DEFINITION, /* %fn, %enum …: kind is the word, task the id, name the name */
	TR_HEADER,     /* %trec: seq is the version */
	TR_TRAILER,    /* !end: seq is the count */
	TR_COMMENT,    /* #: the text is in comment */
};

enum tr_cell_type {
	TR_CELL_ABSENT,	 /* "-" */
	TR_CELL_TEXT,	 /* text: the spelling in trec, with escapes */
	TR_CELL_NUMBER,	 /* number: decimal */
	TR_CELL_ADDRESS, /* number: 0x and `width` hex digits (8 or 16) */
};

struct tr_cell {
	uint8_t type;
	uint8_t width;
	uint64_t number;
	struct tr_text text;
};

struct tr_field {
	struct tr_text key;	/* spelled as a cell; data NULL: the column is not a field */
	struct tr_text text;	/*
				 * the spelled value, or the whole column if it is not a field; data
				 * NULL: built
				 */
	struct tr_value *value; /* NULL until built or parsed: use tr_field_value */
	bool bad;		/* the column is not a field, or tr_field_value failed */
};

#define TR_NO_ARROW SIZE_MAX

enum { TR_SPELL_MAX = 256 };

struct tr_buffer;

struct tr_record {
	enum tr_line_type type;
	bool canonical; /* the whole line is known to be canonical */
	bool split;	/* fields, count, arrow are valid */
	bool chosen;	/* selected by a sieve: see line.h */
	struct tr_text kind;
	struct tr_cell seq, time, task, name;
	struct tr_text comment;
	struct tr_field *fields;
	size_t count;
	size_t arrow;	     /* fields from this index on follow "->"; TR_NO_ARROW: none */
	struct tr_text line; /* with its LF; data NULL: the record was built */
	struct tr_text rest; /* part of line: from the TAB after the fixed columns up to the LF */
	/*
	 * Writes the line, at most TR_SPELL_MAX bytes, and returns its length. NULL: the line is
	 * written from the fields.
	 */
	size_t (*spell)(const struct tr_record *record, char *to);
	struct tr_arena *arena; /* for splitting and parsing; lives as long as the record */
	uint64_t source_line;	/* position in the source, for messages; TR_NO_POSITION: none */
	uint64_t source_offset;
};

/* Clears the record, and sets its arena. */
void tr_record_init(struct tr_record *record, struct tr_arena *arena);

/*
 * Parses the fixed columns of a line (trec(5)), which must be present and not empty. line includes
 * its LF and must be valid UTF-8 without control bytes (tr_line_scan checks that for whole
 * windows). Nothing is copied. False: the line is damaged, err is filled.
 */
bool tr_record_from_line(struct tr_record *record, struct tr_text line, struct tr_error *err);

/*
 * Makes a record of a canonical line with LF that a reader has composed; line is borrowed, and
 * padded with readable bytes. TR_OK or TR_FATAL.
 */
struct tr_buffer;
enum tr_status tr_record_from_buffer(struct tr_record *record, struct tr_arena *arena,
				     struct tr_buffer *line, struct tr_error *err);

/* Makes a record of a line whose columns were found by tr_columns_find. */
struct tr_columns;
void tr_record_from_columns(struct tr_record *record, struct tr_text line,
			    const struct tr_columns *columns);

/*
 * Splits the line into fields. TR_OK; TR_WARN: a column is not a field (it stays in fields with bad
 * set, and err describes the first); TR_FATAL: memory is exhausted. Does nothing if the record is
 * split already.
 */
enum tr_status tr_record_split(struct tr_record *record, struct tr_error *err);

/*
 * Visits the fields one after the other, for callers that need each field once. Nothing of an
 * unsplit line is kept, not even a parsed value, so wide lines take no extra memory. visit gets
 * NULL for the arrow, and `trouble` with a column that is not a field (unless that was reported
 * before). It returns false to stop; then this function returns false too.
 */
bool tr_record_walk(struct tr_record *record,
		    bool (*visit)(void *context, struct tr_field *field,
				  const struct tr_error *trouble),
		    void *context);

/*
 * Parses the value of a field. NULL: it is malformed (err is filled), or memory is exhausted; bad
 * is set.
 */
struct tr_value *tr_field_value(struct tr_record *record, struct tr_field *field,
				struct tr_error *err);

/*
 * Returns the last field of that spelled key (before or after the arrow), or NULL. Splits the
 * record if necessary, and skips columns that are not fields. NULL also if memory is exhausted, so
 * split first if that must not count as absent.
 */
struct tr_field *tr_record_field(struct tr_record *record, const char *key);

/*
 * Returns the value of that field. NULL: the record does not have the field, or its value is
 * malformed (err is filled), or memory is exhausted.
 */
struct tr_value *tr_record_value(struct tr_record *record, const char *key, struct tr_error *err);

/*
 * Appends a field (key spelled as a cell), to build a record or to change one that came as text:
 * split it, change its cells and fields, and clear its line and spell (line.data = NULL). Fields
 * without a value may keep their text. NULL: memory is exhausted.
 */
struct tr_field *tr_record_add(struct tr_record *record, struct tr_text key,
			       struct tr_value *value);

/* Cells: spelling and decoding. */

/* Appends bytes as a cell (key: as the key of a field, with "=" escaped too). */
void tr_cell_escape(struct tr_text bytes, bool key, struct tr_buffer *to);

/*
 * Decodes a spelled cell: *bytes is the spelling itself if it has no backslash, otherwise it is in
 * the arena. `\-` is "-", `\e` is empty. The caller handles absent cells. False: an invalid escape
 * (err is filled) or exhausted memory.
 */
bool tr_cell_bytes(struct tr_text spelling, struct tr_arena *arena, struct tr_text *bytes,
		   struct tr_error *err);

/* True if the cell is a decimal number of 64 bits, spelled or not. */
bool tr_cell_number(const struct tr_cell *cell, uint64_t *number);

/* Appends the text of the cell: "-", the spelling, the digits or the address. */
void tr_cell_write(const struct tr_cell *cell, struct tr_buffer *to);

/*
 * Appends the record as a canonical line with LF. TR_WARN: a field is malformed; err is filled, and
 * nothing was appended. TR_FATAL: memory is exhausted. A canonical line is copied.
 */
enum tr_status tr_record_write(struct tr_record *record, struct tr_buffer *to,
			       struct tr_error *err);

/* Appends a new trailer without its LF, so that fields may follow. */
void tr_trailer_put(uint64_t count, uint64_t errors, bool truncated, struct tr_buffer *to);

/* Appends a trailer with another count and the same fields, without its LF. */
void tr_trailer_recount(const struct tr_record *trailer, uint64_t count, struct tr_buffer *to);

/*
 * Computed fields: not stored in a record, but derived from it and the records before it; see
 * tr-filter(1). This interface connects the code that computes them (view/computed.h) with the code
 * that reads them, so that neither depends on the other. A stored field of the same name takes
 * precedence.
 */

struct tr_computed_fields {
	/*
	 * Returns the value, in the arena of the record. leave: the leave of an enter, or NULL.
	 * NULL: there is no such field, or memory is exhausted (err->cause is set).
	 */
	struct tr_value *(*get)(struct tr_computed_fields *self, struct tr_text key,
				struct tr_record *record, struct tr_record *leave,
				struct tr_error *err);
};

#endif
