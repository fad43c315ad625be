/* SPDX-License-Identifier: MIT */
/*
 * One line of the stream, in one of two shapes:
 *
 *  - as text (line.data is set): the whole line as it stands or would stand in
 *    a trec stream. Text readers make these; tr-filter copies them untouched.
 *    Columns after the fixed ones are split, and values parsed, only when
 *    somebody asks: tr_record_split, tr_field_value.
 *  - as built (line.data is NULL): fields with value trees. Binary readers
 *    make these. Where spell is set it writes the very line that the fields
 *    would give, only faster; who changes a record takes spell away.
 *
 * A record borrows everything from the reader that made it and from `arena`,
 * until the reader's next call.
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
	TR_DEFINITION, /* %fn %enum … : kind is the word, task the id, name the name */
	TR_HEADER,     /* %trec: seq is the version */
	TR_TRAILER,    /* !end: seq is the count */
	TR_COMMENT,    /* #: text of it in comment */
};

enum tr_cell_type {
	TR_CELL_ABSENT,	 /* "-" */
	TR_CELL_TEXT,	 /* text: spelled as trec spells cells, escapes and all */
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
	struct tr_text key;	/* spelled as a cell; data NULL: the column is no field */
	struct tr_text text;	/* spelled value, of no field the whole column; data NULL: built */
	struct tr_value *value; /* NULL until built or parsed: use tr_field_value */
	bool bad;		/* column is no field, or tr_field_value failed once */
};

#define TR_NO_ARROW SIZE_MAX

enum { TR_SPELL_MAX = 256 };

struct tr_buffer;

struct tr_record {
	enum tr_line_type type;
	bool canonical; /* line is known to be in the one spelling throughout */
	bool split;	/* fields, count, arrow are valid */
	bool chosen;	/* by a sieve: see sieve.h */
	struct tr_text kind;
	struct tr_cell seq, time, task, name;
	struct tr_text comment;
	struct tr_field *fields;
	size_t count;
	size_t arrow;	     /* fields from this index on stand after "->"; TR_NO_ARROW: none */
	struct tr_text line; /* with its LF; data NULL where built */
	struct tr_text rest; /* of line: from the TAB behind the fixed columns to before the LF */
	/* Writes the line, at most TR_SPELL_MAX bytes; returns its length. NULL: from the fields.
	 */
	size_t (*spell)(const struct tr_record *record, char *to);
	struct tr_arena *arena; /* for splitting and parsing; lives as long as the record */
	uint64_t source_line;	/* position in the source, for messages; TR_NO_POSITION: none */
	uint64_t source_offset;
};

/* Empties all of it but the arena. */
void tr_record_init(struct tr_record *record, struct tr_arena *arena);

/*
 * The line layer (trec(5)): kind or word, fixed columns there and not empty.
 * line includes its LF and is known to be valid UTF-8 without control bytes
 * (tr_line_scan checks that for whole windows). Fills the record, nothing is
 * copied. False: err is filled, the line is damage.
 */
bool tr_record_from_line(struct tr_record *record, struct tr_text line, struct tr_error *err);

/*
 * A record of a line that a reader has put together, in the one spelling and with
 * LF; line is borrowed, and gets readable bytes behind it. TR_OK or TR_FATAL.
 */
struct tr_buffer;
enum tr_status tr_record_from_buffer(struct tr_record *record, struct tr_arena *arena,
				     struct tr_buffer *line, struct tr_error *err);

/* The same for a record's line whose columns were found. */
struct tr_columns;
void tr_record_from_columns(struct tr_record *record, struct tr_text line,
			    const struct tr_columns *columns);

/*
 * The field layer. TR_OK; TR_WARN: some column is no field (it is left in
 * fields with bad set, err tells of the first); TR_FATAL: memory.
 * Does nothing to a record that is split already.
 */
enum tr_status tr_record_split(struct tr_record *record, struct tr_error *err);

/*
 * The fields one after the other, for whoever needs each only once. Of a line
 * that is not split nothing is kept, not even a parsed value, so that lines of
 * any width take no more memory than they have. visit gets NULL for the arrow,
 * and `trouble` with a column that is no field (where that is new). It returns
 * false to stop; then so does this.
 */
bool tr_record_walk(struct tr_record *record,
		    bool (*visit)(void *context, struct tr_field *field,
				  const struct tr_error *trouble),
		    void *context);

/* The value layer. NULL: the value is bad (err filled) or memory is out; bad is set. */
struct tr_value *tr_field_value(struct tr_record *record, struct tr_field *field,
				struct tr_error *err);

/*
 * The last field of that spelled key (before or after the arrow), NULL: none.
 * Splits when needed; what is no field is passed over. NULL also where that
 * takes memory and there is none: split first where this must not pass for
 * "none".
 */
struct tr_field *tr_record_field(struct tr_record *record, const char *key);

/*
 * For building, or for changing a record that came as text: split it, change
 * its cells and fields, and take its line and its spell away (line.data =
 * NULL). Fields may keep their text where they have no value.
 *
 * Appends a field (key spelled as a cell); NULL when memory is out.
 */
struct tr_field *tr_record_add(struct tr_record *record, struct tr_text key,
			       struct tr_value *value);

/* Cells: spelling and decoding. */

/* Appends bytes as a cell of a column (key: as a field's key, where "=" is escaped too). */
void tr_cell_escape(struct tr_text bytes, bool key, struct tr_buffer *to);

/*
 * The bytes a spelled cell stands for: the spelling itself where it has no
 * backslash, else in the arena. False: bad escape (err filled) or memory.
 * `\-` is "-", `\e` empty. An absent cell is the caller's business.
 */
bool tr_cell_bytes(struct tr_text spelling, struct tr_arena *arena, struct tr_text *bytes,
		   struct tr_error *err);

/* True when the cell is DIGITS within 64 bits, spelled or not. */
bool tr_cell_number(const struct tr_cell *cell, uint64_t *number);

/* Appends the cell's text: "-", the spelling, digits, address. */
void tr_cell_write(const struct tr_cell *cell, struct tr_buffer *to);

/*
 * Appends the record as a canonical line with LF. Fields that cannot be
 * understood are reported: TR_WARN, nothing appended. TR_FATAL: memory.
 * A canonical line is copied.
 */
enum tr_status tr_record_write(struct tr_record *record, struct tr_buffer *to,
			       struct tr_error *err);

/* Appends a trailer that is made anew, less its LF: other fields may follow. */
void tr_trailer_put(uint64_t count, uint64_t errors, bool truncated, struct tr_buffer *to);

/*
 * Fields that a record does not have but that follow from it and from the records before it:
 * see tr-filter(1). What computes them (view/computed.h) is given to what asks for them through
 * this, so that neither knows the other. A record's own field of the name always comes first.
 */

struct tr_computed_fields {
	/*
	 * The value, in the arena of the record. leave: of an enter, NULL where it has none.
	 * NULL: the record has no such field, or (err->cause is set) memory is out.
	 */
	struct tr_value *(*get)(struct tr_computed_fields *self, struct tr_text key,
				struct tr_record *record, struct tr_record *leave,
				struct tr_error *err);
};

#endif
