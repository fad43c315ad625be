/* SPDX-License-Identifier: MIT */
/*
 * The text of a record that is compared: its fields without what differs between any two runs.
 *
 *	line -> tr_normal_read -> fields, each with its normal text; names (struct tr_run_name)
 *	line -> tr_normal_hash -> a hash of all that, and the names, for a trace that is read once
 *
 * Left out are fields that say when and where something ran: times, tasks, numbers of records and
 * definitions. Names that a run chooses are a "*" in the normal text: addresses, objects of OpenGL,
 * temporary files, descriptors, tasks. They are listed apart, because a name that was one thing in the first trace has
 * to be one thing in the second (rename.h).
 *
 * Not thread safe.
 */
#ifndef TR_DIFF_NORMAL_H
#define TR_DIFF_NORMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/map.h"
#include "core/text.h"
#include "diff/kind.h"
#include "diff/run_value.h"
#include "record/literal.h"
#include "record/record.h"

/* Paths below `from` in the first trace are those below `to` in the second. */
struct tr_normal_root {
	struct tr_text from, to;
};

/* A field that the user leaves out. */
struct tr_normal_ignored {
	struct tr_text key;
	bool used; /* a record had it */
};

struct tr_normal_rules {
	uint64_t seed; /* of all hashes: tr_hash_seed */
	/* compare these as they are */
	bool addresses, objects, temporary, descriptors, tasks, readings;
	struct tr_normal_ignored *ignored;
	size_t ignored_count;
	const struct tr_normal_root *roots;
	size_t root_count;
	/* Appends the text of a string with what the user replaces; NULL: nothing is replaced. */
	bool (*replace)(void *context, struct tr_text text, struct tr_buffer *to);
	void *context;
};

/*
 * A name that the run chose. The same text has different hashes as an address, as an object and as a
 * temporary file.
 */
struct tr_run_name {
	uint64_t hash;
	struct tr_text text; /* part of the line */
};

/* The bit of a hash that is set where a file was opened, after tr_normal_hash, and else 0. */
#define TR_RUN_NAME_OPENED 1

struct tr_normal_field {
	struct tr_text key;   /* as in the line; of the name cell "name" */
	struct tr_text value; /* as in the line; of the name cell the cell */
	struct tr_text text;  /* normal; the value if nothing was replaced */
	uint32_t same;	      /* how many fields with this key come before it */
	size_t names;	  /* index of the first of its names; the next field's index ends them */
	bool result;	  /* it is after "->" */
	bool is_duration; /* it is that of the record, which tr_normal_add_duration added */
	bool is_added;	  /* by tr_normal_add */
};

/* Columns that came before, and what they contain: traces repeat them. */
struct tr_normal_memo {
	uint64_t columns; /* hash of them and of the kind */
	uint64_t hash;	  /* of their normal text */
	uint64_t path;	  /* as in struct tr_normal */
	uint32_t module;  /* where the number of a module is in them; 0: nowhere */
	uint32_t module_len;
};

enum { TR_NORMAL_CALLS = 16 };

/* The name of a system call that came before. */
struct tr_normal_call {
	uint64_t name; /* its hash; 0: none */
	const struct tr_run_call *call;
};

struct tr_normal {
	const struct tr_normal_rules *rules;
	struct tr_text kind, seq, task, name;
	struct tr_text module; /* the number of a module; data NULL: none */
	struct tr_text time;
	struct tr_text spent;	      /* the field dur; data NULL: none */
	struct tr_text parent, child; /* fields of exec and fork records; data NULL: none */
	int64_t duration;	      /* nanoseconds, of the field duration */
	char duration_text[TR_REAL_MAX];
	const struct tr_diff_kind *known;
	uint64_t kind_hash, name_hash; /* of the kind; of the kind and the normal name */
	uint64_t content;	       /* after tr_normal_hash: of all that is compared */
	uint64_t path;	  /* after tr_normal_hash: of the fields that are a key (kind.h), or 0 */
	uint64_t letters; /* bits of letters of fields that are left out */
	struct tr_normal_field *fields; /* without those left out; [0] is the name cell */
	size_t count, cap;
	uint32_t *order; /* the first `sorted` fields by their keys; the others were added */
	size_t sorted, order_cap;
	struct tr_run_name *names;
	size_t name_count, name_cap;
	size_t opened; /* 1 + the index of a descriptor that the call opened; 0: none */
	struct tr_buffer text, scratch;
	const char *copied;	  /* the part of the line before it is in text */
	struct tr_id_map objects; /* classes of OpenGL's objects that calls have created: values */
	struct tr_normal_memo *memo;		      /* NULL: nothing was hashed yet */
	struct tr_normal_call calls[TR_NORMAL_CALLS]; /* traces have few, many times */
	const struct tr_run_call *call;		      /* NULL: nothing is known of it */
	bool in_process; /* it is a system call, or another record of a process */
	bool in_order;	 /* the records are read by tr_normal_hash, in their order */
	struct tr_open_files files;
	struct tr_open_table *table; /* of the task; NULL: it is not known yet */
	bool failed;		     /* memory is exhausted */
};

/*
 * Reads the line of a record with its LF. first: it belongs to the first trace, whose paths --root changes. The
 * results are valid until the next call, and as long as the line. False: memory is exhausted.
 */
bool tr_normal_read(struct tr_normal *normal, struct tr_text line, bool first);

/*
 * As tr_normal_read, but there are no fields and no text, only hashes of them. The order of the
 * variables of an environment does not change these. line: of the record, whose fields may differ
 * from it.
 */
bool tr_normal_hash(struct tr_normal *normal, const struct tr_record *record, struct tr_text line,
		    bool first);

/*
 * Adds the classes of objects that the other one knows. True: this one has learnt some,
 * so that records which it has read before can have other hashes now. Exhausted memory sets failed.
 */
bool tr_normal_learn_objects(struct tr_normal *normal, const struct tr_normal *other);

/*
 * The normal text of a string, for callers that compare what is in no field; valid until the next
 * call for this struct, as are the names. data NULL: memory is exhausted.
 */
struct tr_text tr_normal_string(struct tr_normal *normal, struct tr_text string, bool first);

/* The field with that key, or NULL. */
const struct tr_normal_field *tr_normal_find(const struct tr_normal *normal, const char *key);

/*
 * The field of another record that corresponds to one of these: it has the same key, and as many of
 * this key come before it. NULL: there is none.
 */
const struct tr_normal_field *tr_normal_partner(const struct tr_normal *from, size_t index,
						const struct tr_normal *to);

/* Adds a field `duration` to the record that was read last. False: memory is exhausted. */
bool tr_normal_add_duration(struct tr_normal *normal, int64_t duration);

/*
 * Adds any other field, whose text is normal, to the record that was read last; both texts are
 * borrowed. False: memory is exhausted.
 */
bool tr_normal_add(struct tr_normal *normal, struct tr_text key, struct tr_text text);

/* The names in a field are those from field->names up to this index. */
static inline size_t tr_normal_names_end(const struct tr_normal *normal,
					 const struct tr_normal_field *field)
{
	return field + 1 < normal->fields + normal->count ? field[1].names : normal->name_count;
}

void tr_normal_free(struct tr_normal *normal);

/* Returns the end of the quoted string at p: after the quote that closes it. */
const char *tr_normal_string_end(const char *p, const char *end);

#endif
