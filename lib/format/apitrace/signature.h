/* SPDX-License-Identifier: MIT */
/*
 * A signature is the definition of an id of the stream. There are five tables of signatures, each
 * with ids of its own: functions, structures, enums, masks and frames. The reader fills them from
 * the stream and makes definition records of them; the writer does the opposite.
 *
 * Signatures are never removed. They own copies of all their texts, which live as long as the
 * tables. Keys and names, which many records repeat, are spelled once, when the signature is
 * defined.
 */
#ifndef TR_FORMAT_APITRACE_SIGNATURE_H
#define TR_FORMAT_APITRACE_SIGNATURE_H

#include "core/arena.h"
#include "core/map.h"
#include "record/record.h"

/* Readable bytes after some texts, so that they can be copied in blocks. */
enum { TR_APITRACE_LEAD_SLACK = 16 };

enum tr_apitrace_table {
	TR_APITRACE_FUNCTIONS,
	TR_APITRACE_STRUCTS,
	TR_APITRACE_ENUMS,
	TR_APITRACE_MASKS,
	TR_APITRACE_FRAMES,
	TR_APITRACE_TABLES
};

/* An argument, a member, a constant, or a part of a stack frame. */
struct tr_apitrace_label {
	struct tr_text
		name; /* bytes as they are in the stream; a frame's: module, function, file */
	/*
	 * As records spell it. Arguments: the key of their field, which is #N if the name
	 * cannot be a key (empty, `return`, a name that occurs twice). Members and
	 * constants: the string spelling of the name. Frames: none.
	 */
	struct tr_text key;
	uint64_t number; /* an enum's magnitude, a mask's flag, a frame's line or offset */
	/* an enum's: TR_APITRACE_SINT or _UINT, as it is tagged; a frame's: enum tr_apitrace_frame
	 */
	uint8_t tag;
	bool plain; /* an argument's: the name can be a key; others': the key is the name */
	struct tr_value *ready; /* the reader's: the constant as a value */
};

struct tr_apitrace_signature {
	enum tr_apitrace_table table;
	uint64_t id;
	struct tr_text name; /* bytes; functions and structs */
	struct tr_text cell; /* the name as a cell, with slack after it */
	size_t count;
	struct tr_apitrace_label *labels;
	/*
	 * The text before each value, with slack after it: "\tkey=" of an argument, ",key=" of a
	 * member, and ", name = " of a member in apitrace's dump (see dumps_plainly).
	 */
	struct tr_text *leads, *dump_leads;
	size_t named;	     /* bytes of the keys of a structure */
	struct tr_text tail; /* what comes after the members of a structure: "}@S5" */
	/* a structure that apitrace's dump prints as its members in braces, like nearly all */
	bool dumps_plainly;
	/* a function whose name an earlier id has, so that records state the id (.sig=F17) */
	bool again;

	/* For the reader. */
	uint64_t offset, size;		    /* of its definition in the stream */
	struct tr_apitrace_signature *next; /* defined in the same unit; the writer's: unlisted */
	struct tr_id_map values;	    /* see parse.c; the writer: write_signature.c */
	struct tr_value
		*ready; /* the id as a word: K1, F17; an enum's: its first number without a name */
	struct tr_apitrace_recent *recent; /* a structure's: its last value, for spell.c */

	/* For the writer. */
	bool written;				 /* its definition is in the trace */
	uint64_t wire;				 /* its id there */
	struct tr_written_value *last;		 /* see encode.c */
	const struct tr_apitrace_label **sorted; /* arguments by key; made by the first search */
	struct tr_map names;			 /* constants by key; made by the first search */
};

enum { TR_APITRACE_FEW = 512 }; /* ids of a table that are found without a search */

struct tr_apitrace_signatures {
	struct tr_id_map tables[TR_APITRACE_TABLES];
	struct tr_apitrace_signature *few[TR_APITRACE_TABLES][TR_APITRACE_FEW];
	struct tr_map functions; /* name to the first function of that name */
	struct tr_arena arena;
};

/* Reads a part of a short text as a number, for comparing all of it at once. */
static inline uint64_t tr_apitrace_load(const char *p, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, p, size);
	return word;
}

/* Compares the bytes of keys and leads, which are short and nearly always equal. */
static inline bool tr_apitrace_same(const char *a, const char *b, size_t len)
{
	size_t i = 0;

	if (len < 4) /* its first, its middle, its last byte: that is all of them */
		return len == 0 ||
		       (a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1]);
	if (len < 8)
		return tr_apitrace_load(a, 4) == tr_apitrace_load(b, 4) &&
		       tr_apitrace_load(a + len - 4, 4) == tr_apitrace_load(b + len - 4, 4);
	while (i + 8 < len && tr_apitrace_load(a + i, 8) == tr_apitrace_load(b + i, 8))
		i += 8;
	return i + 8 >= len && tr_apitrace_load(a + len - 8, 8) == tr_apitrace_load(b + len - 8, 8);
}

/* Zeroed tables are empty; they are empty again after this. */
void tr_apitrace_signatures_free(struct tr_apitrace_signatures *signatures);

/* NULL: not defined. */
static inline struct tr_apitrace_signature *
tr_apitrace_signature(const struct tr_apitrace_signatures *signatures, enum tr_apitrace_table table,
		      uint64_t id)
{
	return id < TR_APITRACE_FEW ? signatures->few[table][id]
				    : tr_id_map_get(&signatures->tables[table], id);
}

/* The first function of that name (bytes), or NULL. */
struct tr_apitrace_signature *tr_apitrace_function(const struct tr_apitrace_signatures *signatures,
						   struct tr_text name);

/*
 * Adds a copy of the draft, whose id is not defined yet. Only the table, id, name and count of a
 * draft matter, and the name, number and tag of its labels. NULL: memory is exhausted.
 */
struct tr_apitrace_signature *tr_apitrace_define(struct tr_apitrace_signatures *signatures,
						 const struct tr_apitrace_signature *draft);

/*
 * Fills `values` of an enum: from a number of 64 bits, whatever its tag, to the first constant
 * that has it. False: memory is exhausted.
 */
bool tr_apitrace_index_enum(struct tr_apitrace_signature *signature);
static inline uint64_t tr_apitrace_enum_key(bool negative, uint64_t number)
{
	return negative ? 0 - number : number;
}

/*
 * parse.c: the names that apitrace shows for a mask's number: flags in their order, each
 * takes its bits; 0 has a name only if the first flag is 0. *rest: bits without a name.
 */
enum { TR_APITRACE_MASK_NAMES = 64 }; /* at most: each takes a bit, or is the only one */
size_t tr_apitrace_mask_names(const struct tr_apitrace_signature *signature, uint64_t number,
			      struct tr_name *names, uint64_t *rest);

/* True if both define the same (they may be drafts). */
bool tr_apitrace_signature_equal(const struct tr_apitrace_signature *a,
				 const struct tr_apitrace_signature *b);

/* "%fn", …: the word without the %; the letter of the ids. */
extern const char *const tr_apitrace_words[TR_APITRACE_TABLES];
extern const char tr_apitrace_letters[TR_APITRACE_TABLES + 1];

/* Reads the number after a letter: an id F17, an argument #3. False: the word is none. */
bool tr_apitrace_read_id(struct tr_text word, char letter, uint64_t *id);

/*
 * Fills an initialised record: a definition that borrows from the signature and the record's
 * arena. False: memory is exhausted.
 */
bool tr_apitrace_definition(const struct tr_apitrace_signature *signature,
			    struct tr_record *record);

/*
 * Makes a draft from a definition record, in the record's arena. TR_OK; TR_END: it defines
 * something else (an unknown word); TR_WARN: it is not valid, err says why; TR_FATAL: memory.
 */
enum tr_status tr_apitrace_draft(struct tr_record *record, struct tr_apitrace_signature *draft,
				 struct tr_error *err);

#endif
