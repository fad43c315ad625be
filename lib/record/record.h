/* SPDX-License-Identifier: MIT */
/*
 * A record is one line of the stream (trec(5)), in one of two forms:
 *
 * - As text: line.data is set, and the line is what a trec stream has, or would have. Text readers
 *   produce these, and tr-filter copies them unchanged. The columns after the fixed ones are split,
 *   and values are parsed, only when a caller asks for them.
 * - As built: line.data is NULL, and the fields have trees of values. Binary readers produce these.
 *   If spell is set, it writes the line faster than it is written from the fields.
 *
 * The path of the data:
 *
 *	line -> tr_record_from_line -> tr_record_split -> tr_field_value
 *	tr_record_init, tr_record_add -> tr_record_write -> line
 *
 * Reading the field `argv` of any record:
 *
 *	struct tr_error err;
 *	struct tr_field *field;
 *
 *	if (tr_record_split(record, &err) == TR_FATAL)
 *		return TR_FATAL;
 *	field = tr_record_field(record, "argv");
 *	value = field ? tr_field_value(record, field, &err) : NULL;
 *
 * record/ask.h does this in one call. Building a record:
 *
 *	tr_record_init(&record, &arena);
 *	record.kind = TR_TEXT("exit");
 *	record.task = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = pid };
 *	if (!tr_record_add(&record, TR_TEXT("status"), value))
 *		return tr_error_memory(err);
 *
 * Ownership: a record owns nothing. Its texts belong to the reader, the source of the line or the
 * arena, and what is split and parsed goes to the arena; all of it is valid until the next call of
 * the reader. Not thread safe.
 */
#ifndef TR_RECORD_RECORD_H
#define TR_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
	TR_CELL_TEXT,	 /* text: spelled as in the stream, with escapes */
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
	struct tr_text key;	/* spelled as a cell; data NULL: the column is not KEY=VALUE */
	struct tr_text text;	/* the value as text, or all of such a column; data NULL: built */
	struct tr_value *value; /* NULL until it is built or parsed: use tr_field_value */
	bool bad;		/* the column is not KEY=VALUE, or its value is malformed */
};

#define TR_NO_ARROW SIZE_MAX

enum { TR_SPELL_MAX = 256 }; /* bytes of a line that `spell` writes, at most */

struct tr_buffer;
struct tr_columns;

struct tr_record {
	enum tr_line_type type;
	bool canonical;	     /* the line is known to be canonical in all its parts */
	bool split;	     /* fields, count and arrow are valid */
	bool chosen;	     /* a sieve has selected the record: see line.h */
	struct tr_text kind; /* or the word of a definition, without the "%" */
	struct tr_cell seq, time, task, name;
	struct tr_text comment; /* without the "#" */
	struct tr_field *fields;
	size_t count;
	size_t arrow;	     /* fields from this index on follow "->"; TR_NO_ARROW: none */
	struct tr_text line; /* with its LF; data NULL: the record was built */
	struct tr_text rest; /* part of line: from the TAB after the fixed columns up to the LF */
	/*
	 * Writes the line and returns its length, at most TR_SPELL_MAX. NULL: the line is written
	 * from the fields. A caller that changes the record sets this to NULL.
	 */
	size_t (*spell)(const struct tr_record *record, char *to);
	struct tr_arena *arena; /* borrowed; for splitting and parsing */
	/* the place in the source, for messages: a line from 1, a byte from 0, or TR_NO_POSITION */
	uint64_t source_line;
	uint64_t source_offset;
};

/* Makes an empty record, which builds its fields in the arena. */
void tr_record_init(struct tr_record *record, struct tr_arena *arena);

/*
 * Parses the fixed columns of a line, which has to have all of them, not empty. The line includes
 * its LF, and is valid UTF-8 without control bytes: tr_line_scan checks that for whole windows.
 * Nothing is copied; the arena of the record stays. False: the line is damaged, and err has the
 * reason.
 */
bool tr_record_from_line(struct tr_record *record, struct tr_text line, struct tr_error *err);

/*
 * Makes a record of a canonical line with its LF that a reader has composed. The buffer is
 * borrowed, and gets readable bytes after the line. TR_OK; TR_FATAL: memory is exhausted, or the
 * line has reached --max-record.
 */
enum tr_status tr_record_from_buffer(struct tr_record *record, struct tr_arena *arena,
				     struct tr_buffer *line, struct tr_error *err);

/* Makes a record of a line whose columns were found by tr_columns_find (line.h). */
void tr_record_from_columns(struct tr_record *record, struct tr_text line,
			    const struct tr_columns *columns);

/*
 * Splits the line into fields, if that was not done before; values are not parsed. TR_OK. TR_WARN:
 * a column is not KEY=VALUE; it is among the fields, with `bad` set, and err (which may be NULL)
 * describes the first one. TR_FATAL: memory is exhausted.
 */
enum tr_status tr_record_split(struct tr_record *record, struct tr_error *err);

/*
 * Visits the fields in their order, for callers that need each of them once: nothing of a line is
 * kept, not even a parsed value, so that a line of many fields takes no memory. visit gets NULL for
 * the arrow, and `trouble` for a column that is not KEY=VALUE, unless tr_record_split has reported
 * that. It returns false to stop, and this function then returns false, too.
 */
bool tr_record_walk(struct tr_record *record,
		    bool (*visit)(void *context, struct tr_field *field,
				  const struct tr_error *trouble),
		    void *context);

/*
 * Returns the value of a field, which is parsed at the first call. NULL: it is malformed, or memory
 * is exhausted; err (which may be NULL) has the reason, and the field is `bad`. The value belongs
 * to the arena, and its strings may point into the line.
 */
struct tr_value *tr_field_value(struct tr_record *record, struct tr_field *field,
				struct tr_error *err);

/*
 * Returns the last field with that key, spelled as a cell, before or after the arrow. NULL: there
 * is none. The record is split if necessary; NULL then also means exhausted memory, so a caller
 * that has to distinguish the two splits the record first.
 */
struct tr_field *tr_record_field(struct tr_record *record, const char *key);

/*
 * Finds the fields with several different keys, at most 16, in one pass: found[i] is the last field
 * with keys[i]. NULL: there is none. The record must have been split. If keys is a static const
 * array, the compiler unrolls the inner loop and compares with constants, so this is faster than a
 * tr_record_field for each key.
 */
static inline __attribute__((always_inline)) void tr_record_fields(const struct tr_record *record,
								   const struct tr_text *keys,
								   size_t count,
								   struct tr_field **found)
{
	memset(found, 0, count * sizeof *found);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
#if !defined __clang__
#pragma GCC unroll 16
#endif
		for (size_t k = 0; k < count; k++) {
			if (tr_text_equal(field->key, keys[k])) {
				found[k] = field;
				break;
			}
		}
	}
}

/* The value of that field. NULL: there is no such field, or tr_field_value has failed. */
struct tr_value *tr_record_value(struct tr_record *record, const char *key, struct tr_error *err);

/*
 * Appends a field with that key, spelled as a cell, and returns it. NULL: memory is exhausted. Key
 * and value are borrowed.
 *
 * To change a record that came as text: split it, change its cells and fields, and set line.data
 * and spell to NULL. Fields that were not parsed keep their text.
 */
struct tr_field *tr_record_add(struct tr_record *record, struct tr_text key,
			       struct tr_value *value);

/* Cells: spelling and decoding. */

/* Appends bytes as a cell; key: as the key of a field, in which "=" needs an escape, too. */
void tr_cell_escape(struct tr_text bytes, bool key, struct tr_buffer *to);

/*
 * Decodes the text of a cell that is not absent: `a\tb`, `\-` for "-", `\e` for an empty one.
 * *bytes is the text itself if it has no escape; otherwise it is in the arena. False: an escape is
 * invalid, or memory is exhausted; err has the reason.
 */
bool tr_cell_bytes(struct tr_text spelling, struct tr_arena *arena, struct tr_text *bytes,
		   struct tr_error *err);

/*
 * Reads a cell that is a decimal number of 64 bits, as a number or as text without zeros in front.
 * False: it is not one, and *number is unchanged.
 */
bool tr_cell_number(const struct tr_cell *cell, uint64_t *number);

/* Appends the cell as lines have it: "-", its text, the digits or the address. */
void tr_cell_write(const struct tr_cell *cell, struct tr_buffer *to);

/*
 * Appends the record as a canonical line with its LF; a line that is canonical is copied. TR_OK.
 * TR_WARN: a cell or field is malformed; err names it, and nothing was appended. TR_FATAL: memory
 * is exhausted.
 */
enum tr_status tr_record_write(struct tr_record *record, struct tr_buffer *to,
			       struct tr_error *err);

/* Appends a new trailer without its LF, so that fields may follow. */
void tr_trailer_put(uint64_t count, uint64_t errors, bool truncated, struct tr_buffer *to);

/* Appends a trailer with another count and the same fields, without its LF. */
void tr_trailer_recount(const struct tr_record *trailer, uint64_t count, struct tr_buffer *to);

/*
 * Computed fields are derived from a record and those before it, such as the frame of a call; see
 * tr-filter(1). This interface connects the code that computes them (view/computed.h) with the code
 * that reads them (expr/), so that neither depends on the other. A field of the record itself with
 * the same key takes precedence.
 */

struct tr_computed_fields {
	/*
	 * Returns the value, which is in the arena of the record. leave: the leave of an enter, or
	 * NULL. NULL: there is no such field, or memory is exhausted, and err->cause says so.
	 */
	struct tr_value *(*get)(struct tr_computed_fields *self, struct tr_text key,
				struct tr_record *record, struct tr_record *leave,
				struct tr_error *err);
};

#endif
