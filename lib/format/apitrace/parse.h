/* SPDX-License-Identifier: MIT */
/*
 * The parser turns one unit of the stream (the head, an event, or an enter with its leave) into
 * values in an arena, or into text.
 *
 *	tr_apitrace_parse_begin -> tr_apitrace_parse_head, _enter, _leave -> struct tr_record
 *
 * If the window ends within the unit, the parse ends, and `need` is the number of bytes from the
 * start of the unit that are needed at least. The caller gets them and parses the unit from its
 * start again.
 *
 * Functions return false if parsing has ended: `outcome` has the reason. Values borrow from the
 * window, the arena of the unit and the signatures. Not thread safe.
 */
#ifndef TR_FORMAT_APITRACE_PARSE_H
#define TR_FORMAT_APITRACE_PARSE_H

#include "core/buffer.h"
#include "core/text.h"
#include "core/error.h"
#include "core/wire.h"
#include "format/apitrace/signature.h"

/* The numbers of the stream: LEB128, bounded. */

enum { TR_WIRE_UINT_MAX = 10 }; /* bytes that 64 bits take */

/* Reads a number of nine bytes or more; tr_wire_uint calls it. */
const char *tr_wire_long_uint(const char *p, uint64_t *number);

/*
 * Reads the uint at p. Reads up to TR_WIRE_UINT_MAX bytes, even after the end of the data (a window
 * has TR_INPUT_PAD more bytes): if the result is after that end, the number is cut. Zeros at its
 * top end (`80 00`) are accepted. NULL: more than 64 bits.
 */
static inline const char *tr_wire_uint(const char *p, uint64_t *number)
{
	uint64_t n = tr_wire_u64(p, false);
	if (!(n & 0x80)) {
		*number = n & 0x7f;
		return p + 1;
	}
	/* the last byte of a number is the first one below 80; eight bytes are decoded at once */
	uint64_t last = ~n & UINT64_C(0x8080808080808080);
	if (last) {
		n &= (last ^ (last - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
		n = (n & UINT64_C(0x007f007f007f007f)) | (n & UINT64_C(0x7f007f007f007f00)) >> 1;
		n = (n & UINT64_C(0x00003fff00003fff)) | (n & UINT64_C(0x3fff00003fff0000)) >> 2;
		*number = (n & 0x0fffffff) | (n & UINT64_C(0x0fffffff00000000)) >> 4;
		return p + (__builtin_ctzll(last) + 1) / 8;
	}
	return tr_wire_long_uint(p, number);
}

/*
 * The text of a real number, or of a number with its names, in the notation that the reader uses:
 * calls repeat a few of them very often.
 */
struct tr_apitrace_spelled {
	uint64_t number;
	uint32_t key; /* its kind and the id of its signature; 0: there is none */
	uint32_t len;
	char text[48];
};

enum { TR_APITRACE_SPELLED = 256 };

enum tr_apitrace_outcome {
	TR_APITRACE_WHOLE,     /* so far */
	TR_APITRACE_SHORT,     /* `need` bytes from the unit's start on are not all there */
	TR_APITRACE_BAD,       /* the bytes are not valid: error */
	TR_APITRACE_NO_MEMORY, /* error */
};

struct tr_apitrace_parse {
	/* Of the stream. */
	struct tr_apitrace_signatures signatures;
	uint64_t version;
	bool any_version; /* unknown versions are parsed like the newest known one */
	unsigned max_depth;
	struct tr_apitrace_spelled spelled[TR_APITRACE_SPELLED]; /* a hash table */

	/* Of the unit. */
	struct tr_arena arena;
	struct tr_buffer scratch;
	const char *start, *p, *end; /* TR_INPUT_PAD bytes after end can be read */
	uint64_t offset;	     /* of start, in the stream */
	size_t owed;  /* values, of a byte or more each, that open containers still expect */
	size_t named; /* bytes of names in the text of the unit */
	bool deep;    /* a value had more brackets than allowed, and was skipped */
	struct tr_apitrace_signature *defined,
		**last; /* signatures that the unit defines, in order */
	enum tr_apitrace_outcome outcome;
	uint64_t need;
	struct tr_error error;
	bool flawed; /* something is wrong, but nothing is lost; flaw describes it */
	struct tr_error flaw;
};

/* Begins a unit at the window's start. */
static inline void tr_apitrace_parse_begin(struct tr_apitrace_parse *parse, const char *start,
					   const char *end, uint64_t offset)
{
	tr_arena_reset(&parse->arena);
	parse->start = parse->p = start;
	parse->end = end;
	parse->offset = offset;
	parse->owed = 0;
	parse->named = 0;
	parse->deep = false;
	parse->flawed = false;
	parse->defined = NULL;
	parse->last = &parse->defined;
	parse->outcome = TR_APITRACE_WHOLE;
}

/* Begins the next unit of the window, after a plain call. */
static inline void tr_apitrace_parse_next(struct tr_apitrace_parse *parse)
{
	tr_arena_reset(&parse->arena);
	parse->offset += (uint64_t)(parse->p - parse->start);
	parse->start = parse->p;
	parse->named = 0;
}

/* Forgets the signatures of a stream, before the next one begins. */
void tr_apitrace_parse_restart(struct tr_apitrace_parse *parse);
void tr_apitrace_parse_free(struct tr_apitrace_parse *parse);

static inline uint64_t tr_apitrace_offset(const struct tr_apitrace_parse *parse, const char *p)
{
	return parse->offset + (uint64_t)(p - parse->start);
}

/* These functions end the parse, and return false for callers to return. */

/* The window does not have `more` bytes from p on. */
bool tr_apitrace_short(struct tr_apitrace_parse *parse, uint64_t more);
/* The bytes at `where` are not valid, with a message "NUMBER is WHAT". */
bool tr_apitrace_bad(struct tr_apitrace_parse *parse, const char *where, const char *what,
		     uint64_t number);
/* The number at p is cut, or too long. */
bool tr_apitrace_bad_uint(struct tr_apitrace_parse *parse);
bool tr_apitrace_no_memory(struct tr_apitrace_parse *parse);
/* The names in the unit have too many bytes. */
bool tr_apitrace_bad_names(struct tr_apitrace_parse *parse);

enum { TR_APITRACE_FREE_NAMES = 16 << 20 };

/*
 * Counts bytes of names that the text of a value or an argument repeats. A use of a name takes a
 * few bytes of the stream and may add many to the text; the ratio is limited.
 */
static inline bool tr_apitrace_name(struct tr_apitrace_parse *parse, size_t len)
{
	enum { RATIO = 100 }; /* in real traces the ratio is about ten */
	parse->named += len;
	return parse->named <= TR_APITRACE_FREE_NAMES ||
	       (parse->named - TR_APITRACE_FREE_NAMES) / RATIO <=
		       (size_t)(parse->p - parse->start) ||
	       tr_apitrace_bad_names(parse);
}

static inline bool tr_apitrace_byte(struct tr_apitrace_parse *parse, unsigned *byte)
{
	if (parse->p == parse->end) {
		tr_apitrace_short(parse, 1);
		return false; /* a constant, which the compiler propagates into callers */
	}
	*byte = (unsigned char)*parse->p++;
	return true;
}

static inline bool tr_apitrace_uint(struct tr_apitrace_parse *parse, uint64_t *number)
{
	const char *p = tr_wire_uint(parse->p, number);
	if (!p || p > parse->end) {
		tr_apitrace_bad_uint(parse);
		return false;
	}
	parse->p = p;
	return true;
}

/* Takes `size` bytes, which stay in the window. */
static inline bool tr_apitrace_bytes(struct tr_apitrace_parse *parse, uint64_t size,
				     struct tr_text *bytes)
{
	if (size > (uint64_t)(parse->end - parse->p)) {
		tr_apitrace_short(parse, size);
		return false;
	}
	*bytes = (struct tr_text){ parse->p, (size_t)size };
	parse->p += size;
	return true;
}

static inline bool tr_apitrace_string(struct tr_apitrace_parse *parse, struct tr_text *bytes)
{
	uint64_t size;
	return tr_apitrace_uint(parse, &size) && tr_apitrace_bytes(parse, size, bytes);
}

/* NULL: the parse has ended. */
static inline void *tr_apitrace_alloc(struct tr_apitrace_parse *parse, size_t count, size_t size)
{
	void *memory =
		count <= SIZE_MAX / 2 / size ? tr_arena_alloc(&parse->arena, count * size) : NULL;
	if (!memory)
		tr_apitrace_no_memory(parse);
	return memory;
}

/*
 * Takes a count of items of at least `least` bytes each. The items, and the values that other
 * containers still expect, must fit into the window, so that no count is believed without the bytes
 * for it. A count of 2^60 therefore waits for bytes that never come, and allocates nothing.
 */
bool tr_apitrace_parse_count(struct tr_apitrace_parse *parse, size_t least, size_t *count);

/*
 * Checks that the window has room for so many values, of a byte each at least, and for those that
 * are owed. This matters for structures, whose count comes from the signature: one byte of input
 * per use could otherwise claim a large array each time.
 */
bool tr_apitrace_expect(struct tr_apitrace_parse *parse, size_t count);

/* Takes the id of a signature, and its definition at its first use. */
bool tr_apitrace_parse_any_signature(struct tr_apitrace_parse *parse, enum tr_apitrace_table table,
				     struct tr_apitrace_signature **signature);

/* The same, without a call for ids that were defined before. */
static inline bool tr_apitrace_parse_signature(struct tr_apitrace_parse *parse,
					       enum tr_apitrace_table table,
					       struct tr_apitrace_signature **signature)
{
	uint64_t id;
	const char *p = parse->p, *next = tr_wire_uint(p, &id);
	if (next && next <= parse->end && id < TR_APITRACE_FEW) {
		*signature = parse->signatures.few[table][id];
		if (*signature && (*signature)->offset != tr_apitrace_offset(parse, p)) {
			parse->p = next;
			return true;
		}
	}
	return tr_apitrace_parse_any_signature(parse, table, signature);
}

/* Takes what precedes the first event, as the fields of a header. */
bool tr_apitrace_parse_head(struct tr_apitrace_parse *parse, struct tr_record *record);

/* Adds a field to a record in the arena of the unit. NULL: the parse has ended. */
struct tr_value *tr_apitrace_add(struct tr_apitrace_parse *parse, struct tr_record *record,
				 struct tr_text key, struct tr_value made);

static inline struct tr_value tr_apitrace_number(uint64_t number)
{
	return (struct tr_value){ .type = TR_UINT, .as.number = number };
}

/* Takes a value that is within `depth` brackets. */
bool tr_apitrace_parse_value(struct tr_apitrace_parse *parse, struct tr_value *value,
			     unsigned depth);

/*
 * Takes a constant of an enum or a number of a mask, after its tag, `type`. Its value, which is
 * shared by all its uses if there are many, is valid until the next unit. NULL: the parse has
 * ended.
 */
const struct tr_value *tr_apitrace_parse_constant(struct tr_apitrace_parse *parse, unsigned type);

/*
 * spell.c: values as text. A notation says what they look like: as in records, or as `apitrace
 * dump` prints them.
 */
struct tr_apitrace_notation {
	bool dump; /* of apitrace; false: of the stream of records */
	/* Appends a value that was parsed. False: memory is exhausted. */
	bool (*put)(const struct tr_apitrace_notation *notation, const struct tr_value *value,
		    struct tr_buffer *line);
};

extern const struct tr_apitrace_notation tr_apitrace_stream;

/* Where values come from, and the text that they become. */
struct tr_apitrace_speller {
	struct tr_apitrace_parse *parse;
	const struct tr_apitrace_notation *notation;
	struct tr_buffer *line; /* NULL: trees are built instead */
};

/*
 * Takes a value that is within `depth` brackets and appends it as text to the line, after its lead
 * ("\tkey=", ", name = "), of which TR_APITRACE_LEAD_SLACK more bytes can be read. If parse->deep
 * is set afterwards, the text is incomplete. False: the parse has ended.
 */
bool tr_apitrace_spell(const struct tr_apitrace_speller *speller, struct tr_text lead,
		       unsigned depth);

/*
 * A plain call is an enter with its leave directly after it. Its function is the only one of that
 * name, it has neither definitions nor flaws, its details are arguments with a number and the
 * returned value, and all of it is in the window. Nearly all calls are plain. The others are parsed
 * again from their start, as units.
 *
 * Takes the beginning of a plain call: its thread (0 if it has none) and function. False: it is
 * another unit.
 */
bool tr_apitrace_take_plain(struct tr_apitrace_parse *parse, bool *has_thread, uint64_t *thread,
			    struct tr_apitrace_signature **function);

/*
 * Takes the rest of that call, and appends its values as text, each after its lead, of which there
 * are `count`. call: its number. The dump prints the arguments only if they are all there, in their
 * order. False: the call is not plain, or memory is exhausted, and the line is incomplete.
 */
bool tr_apitrace_spell_plain(const struct tr_apitrace_speller *speller, const struct tr_text *leads,
			     size_t count, uint64_t call);

/* An event, or a call: an enter with the leave directly after it. */
struct tr_apitrace_event {
	bool enter, leave;
	bool has_thread; /* always from TR_APITRACE_HAS_THREADS on */
	uint64_t call, thread;
	struct tr_apitrace_signature *function; /* NULL: the enter of a leave is missing */
	struct tr_record record;
	size_t fields_cap;
	struct tr_value *room; /* for the values of fields up to fields_cap */

	/* If the record is to be a line: it takes the fields. */
	struct tr_apitrace_speller speller;
	size_t task;		   /* in its line: where the column of the thread begins */
	size_t rest;		   /* in its line: where the fixed columns end */
	struct tr_counter counter; /* the call's number */
};

enum { TR_APITRACE_LINE_SLACK = 1 }; /* bytes before a line, as `enter` is longer than `call` */

/*
 * Appends the columns of the event's line: its kind, which is a literal with a TAB, then call,
 * time, thread and function. Names are copied in blocks of a constant size, which are a few
 * instructions each, while a call of memcpy for a short name takes longer than the copy. False:
 * memory is exhausted.
 */
static inline __attribute__((always_inline)) bool
tr_apitrace_put_columns(struct tr_apitrace_event *event, const char *kind, struct tr_buffer *line)
{
	enum { NUMBERS = 16 + 2 * TR_DECIMAL_MAX, SLACK = TR_APITRACE_LEAD_SLACK };
	struct tr_text name = event->function ? event->function->cell : TR_TEXT("-");
	char *to = tr_buffer_room(line, NUMBERS + name.len + SLACK);
	if (!to)
		return false;
	memcpy(to, kind, strlen(kind));
	to += strlen(kind);
	to += tr_counter_write(&event->counter, event->call, to);
	memcpy(to, "\t-\t", 3);
	to += 3;
	event->task = (size_t)(to - line->data);
	if (!event->function || !event->has_thread)
		*to++ = '-';
	else if (event->thread < 10)
		*to++ = (char)('0' + event->thread);
	else
		to += tr_decimal_write(event->thread, to);
	*to++ = '\t';
	for (size_t done = 0; event->function && done < name.len; done += SLACK)
		memcpy(to + done, name.data + done, SLACK);
	if (!event->function)
		*to = '-';
	line->len = event->rest = (size_t)(to - line->data) + name.len;
	return true;
}

/* Takes an enter after its first byte. The record gets its fields. */
bool tr_apitrace_parse_enter(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event);
/* Takes a leave after its call number. */
bool tr_apitrace_parse_leave(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event);

#endif
