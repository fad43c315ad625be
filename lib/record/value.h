/* SPDX-License-Identifier: MIT */
/*
 * A value of trec(5): a tree in an arena. Binary readers build values, text is parsed to them on
 * demand, and expressions and views read them.
 *
 *	[1,"a"]		TR_LIST, count 2, as.items[0] is TR_UINT, as.items[1] is TR_STRING
 *	{x=0.5}@S3	TR_STRUCT with TR_HAS_ID, id 3, as.members[0].key is "x"
 *	GL_LINES(1@E7)	TR_SYMBOL with TR_HAS_ID, as.symbol->names[0], ->number 1, ->id 7
 *
 * A string keeps the text between its quotes as it is spelled in trec, so that writing it is a copy
 * and nothing is lost: `\x80` is a byte that is not UTF-8, `\ud800` a lone surrogate. Where
 * TR_PLAIN is set, that text has no backslash and is equal to the bytes; otherwise tr_string_bytes
 * decodes it.
 *
 * A value owns nothing. It is valid as long as its arena and the text that it was parsed from.
 */
#ifndef TR_RECORD_VALUE_H
#define TR_RECORD_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/text.h"

enum tr_type {
	TR_NULL,
	TR_FALSE,
	TR_TRUE,
	TR_UINT,      /* number: 64 bits, unsigned */
	TR_INT,	      /* number is the magnitude; TR_NEGATIVE: "-5"; otherwise "+5" */
	TR_POINTER,   /* number */
	TR_REAL64,    /* number holds the 64 bits */
	TR_REAL32,    /* number holds the 32 bits */
	TR_STRING,    /* text (spelling); TR_CUT, TR_PLAIN */
	TR_WSTRING,   /* text (spelling); TR_PLAIN: no backslash */
	TR_BLOB,      /* text: the bytes themselves; in a parsed tree decoded into the arena */
	TR_BLOB_LEFT, /* number: length of a blob that was left out */
	TR_BLOB_FILE, /* text: 64 hex digits; number: length */
	TR_SYMBOL,    /* symbol; text: its canonical spelling, or NULL */
	TR_LIST,      /* items, count; TR_CUT */
	TR_MAP,	      /* members, count: keys are string spellings */
	TR_STRUCT,    /* members, count; id where TR_HAS_ID */
	TR_REPR,      /* items[0] human, items[1] machine; count 2 */
};

enum {
	TR_CUT = 1,   /* "..." follows: cut by the tracer */
	TR_PLAIN = 2, /* text has no backslash: it is equal to the bytes */
	TR_NEGATIVE = 4,
	TR_HAS_ID = 8, /* a structure has @S…, a symbol @E… or @M…: the id of its definition */
};

enum tr_symbol_number {
	TR_SYMBOL_WORDS, /* names alone: block|br0, none */
	TR_SYMBOL_ENUM,	 /* (12@E3): decimal, TR_NEGATIVE applies */
	TR_SYMBOL_MASK,	 /* (0x1@M3): hex */
};

struct tr_name {
	struct tr_text text; /* string spelling of the name, without quotes */
};

struct tr_symbol {
	enum tr_symbol_number numbered;
	uint64_t number;       /* magnitude */
	uint64_t id;	       /* of the table, where TR_HAS_ID */
	uint64_t unknown_bits; /* |0x… after the names; 0: there are none */
	struct tr_name *names; /* count 0: "?"; the word `none` is a name */
	size_t count;
};

struct tr_value;

struct tr_member {
	struct tr_text key; /* string spelling, without quotes */
	struct tr_value *value;
};

struct tr_value {
	uint8_t type; /* enum tr_type */
	uint8_t flags;
	uint64_t id; /* TR_STRUCT with TR_HAS_ID */
	union {
		uint64_t number;
		struct tr_symbol *symbol;
		struct tr_value *items;
		struct tr_member *members;
	} as;
	struct tr_text text;
	size_t count; /* of items or members */
};

/*
 * Decodes the text of a string, canonical or not, to bytes: `\xhh` is the byte, a lone surrogate
 * its three bytes. The result is the text itself if that has no backslash; otherwise it is in the
 * arena. data NULL: memory is exhausted.
 */
struct tr_text tr_string_bytes(struct tr_text spelling, struct tr_arena *arena);

/* As tr_string_bytes, for a string value, without a search if it is known to have no backslash. */
static inline struct tr_text tr_value_bytes(const struct tr_value *string, struct tr_arena *arena)
{
	return string->flags & TR_PLAIN ? string->text : tr_string_bytes(string->text, arena);
}

/*
 * Decodes the byte or escape at p, which is before end, to `to`, which has room for TR_ESCAPE_MAX
 * bytes (string_scan.h). A backslash without a valid escape is a byte. Returns the length in the
 * text; *length becomes the number of bytes, which is never larger.
 */
size_t tr_string_unit(const char *p, const char *end, char *to, size_t *length);

/*
 * Takes the first unit off the text of a wide string. False: nothing is left, or the text is
 * invalid, which does not occur in a tree.
 */
bool tr_wstring_next(struct tr_text *spelling, uint64_t *unit);

/* True for a word that is a value, not a name, where it is alone: null, true, inf, L. */
bool tr_is_reserved(struct tr_text word);

/* True if a symbol's name needs no quotes, before "(" or elsewhere. */
bool tr_is_word(struct tr_text name, bool before_parenthesis);

#endif
