/* SPDX-License-Identifier: MIT */
/*
 * The normal text of a record: what is compared of it, without what differs between any two runs.
 *
 *	line -> tr_normal_split (normal.c) -> fields
 *	line -> tr_normal_read (normal.c) -> fields, each with its normal text, and the run's names
 *	line -> tr_normal_hash (normal.c) -> one hash of all fields, and the names; used while a
 *	                                     trace is read, for records in their order
 *
 * The last two read the value of each field (normal_value.c) and the strings
 * in it (normal_string.c). trec spells each value in one way (trec(5)), so no tree is needed.
 *
 * Fields that say when and where something ran are left out: times, tasks, and the numbers of
 * records and definitions. Names that the run chose are "*" in the normal text: addresses, objects
 * of OpenGL, temporary files, descriptors, tasks. They are listed separately, because each name in
 * the first trace must correspond to one name in the second (rename.h).
 *
 * Memory: up to 64 bytes for each descriptor and each mapping that was not closed, besides the
 * texts of one record. Not thread safe.
 */
#ifndef TR_DIFF_NORMAL_H
#define TR_DIFF_NORMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/map.h"
#include "core/text.h"
#include "coverage/block.h"
#include "record/literal.h"
#include "record/record.h"

/* The records of the other trace among which a record can have its match. */
enum tr_diff_class {
	TR_DIFF_SET,  /* those with the same key */
	TR_DIFF_EXEC, /* exec records with the same key; their processes are matched by this */
	TR_DIFF_EXIT, /* the exit record of the matching process */
	TR_DIFF_NOT_COMPARED, /* none: see leave_out in side.c */
	TR_DIFF_PROCESS,      /* those of the matching process, in order */
	TR_DIFF_THREAD,	      /* those of the matching thread, in order */
	TR_DIFF_KIND,	      /* those of the same kind, in order */
};

enum { TR_DIFF_CLASSES = TR_DIFF_KIND + 1 };

/* How records of a kind are compared. */
struct tr_diff_kind {
	struct tr_text name; /* empty for all kinds that are not in the table */
	enum tr_diff_class class;
	struct tr_text module; /* the field that refers to a module by a number of its trace */
	/* fields; each list ends with one without data; NULL: none */
	const struct tr_text *left_out;
	const struct tr_text *keys; /* records in which they differ do not match; with their "=" */
};

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
	/* these are compared as they are */
	bool addresses, objects, temporary, descriptors, tasks, readings;
	struct tr_normal_ignored *ignored;
	size_t ignored_count;
	const struct tr_normal_root *roots;
	size_t root_count;
	/* Appends the text of a string after the user's replacements; NULL: there are none. */
	bool (*replace)(void *context, struct tr_text text, struct tr_buffer *to);
	void *context;
};

/*
 * A name that the run chose. The same text has different hashes as an address, as an object and as
 * a temporary file.
 */
struct tr_run_name {
	uint64_t hash;
	struct tr_text text; /* part of the line */
};

/* The bit of a hash that tr_normal_hash sets where a file was opened, and clears elsewhere. */
#define TR_RUN_NAME_OPENED 1

struct tr_normal_field {
	struct tr_text key;   /* as in the line; of the name cell "name" */
	struct tr_text value; /* as in the line; of the name cell the cell */
	struct tr_text text;  /* normal; the value if nothing was replaced */
	uint32_t same;	      /* how many fields with this key precede it */
	size_t names;	  /* index of the first of its names; the next field's index ends them */
	bool result;	  /* it is after "->" */
	bool is_duration; /* tr_normal_add_duration added it */
	bool is_added;	  /* tr_normal_add added it */
	bool has_ignored_flags; /* some, but not all, are about environments that are left out */
};

enum {
	TR_NORMAL_MEMOS = 4096,
	TR_NORMAL_CALLS = 16,
	TR_NORMAL_KEYS = 128,
	TR_NORMAL_NAMES = 256,
	TR_NORMAL_WELL_FORMED = 1024,
	TR_NORMAL_KINDS = 32,
	TR_NORMAL_RECENT = 16,
};

/* Hashes that are the same for all records of a kind. */
struct tr_normal_kind {
	uint64_t hash;	  /* of its name */
	uint64_t letters; /* as in struct tr_normal; 0: not computed yet */
};

/* The result of reading columns, which traces repeat. */
struct tr_normal_memo {
	uint64_t columns; /* hash of them and of the kind */
	uint64_t hash;	  /* of their normal text */
	uint64_t path;	  /* as in struct tr_normal */
	uint32_t module;  /* where the number of a module is in them; 0: nowhere */
	uint32_t module_len;
};

/* The hash of the columns after the name of a block: few sizes and ops occur together. */
struct tr_normal_tail {
	uint32_t rest; /* tr_block_rest; 0: there is none */
	uint64_t hash;
};

enum { TR_TAIL_BITS = 10 };

struct tr_normal_call; /* normal_value.c */

/* A name of a system call that was looked up: traces have few of them, many times. */
struct tr_normal_known_call {
	uint64_t name; /* its hash; 0: none */
	const struct tr_normal_call *call;
};

/* A key that was looked up: of a field of a call, or of a member of a structure in a field. */
struct tr_normal_known_key {
	uint64_t key;	/* its hash, with that of the call */
	unsigned class; /* normal_value.c */
};

/* The open files and mapped memory of all processes. */
struct tr_open_files {
	struct tr_number_map tables; /* the table of a task, by the hash of its name */
	struct tr_number_map names;  /* of descriptors and addresses, by a hash with the table */
	uint32_t table_count, count; /* the last numbers of a table, and of what is open */
};

/* The kinds of descriptors that a system call uses; standard streams are not counted. */
enum {
	TR_USES_FILE = 1,
	TR_USES_PIPE = 2,
	TR_USES_UNKNOWN = 4, /* what the process has not opened, which may be a pipe */
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
	const struct tr_diff_kind *recent[TR_NORMAL_RECENT]; /* by their names */
	struct tr_normal_kind kinds[TR_NORMAL_KINDS]; /* by their place in the table of kinds */
	uint64_t kind_hash, name_hash; /* of the kind; of the kind and the normal name */
	uint64_t spelled_name; /* a hash of the kind and the name as in the line; 0: unknown */
	uint64_t content;      /* after tr_normal_hash: of all that is compared */
	uint64_t path;	       /* after tr_normal_hash: of the fields that are a key, or 0 */
	uint64_t program; /* after tr_normal_hash: of the name of an exec record, no directory */
	uint64_t letters; /* bits of letters of fields that are left out */
	struct tr_normal_field *fields; /* without those left out; [0] is the name cell */
	size_t count, cap;
	uint32_t *order; /* the first `sorted` fields by their keys; the others were added */
	size_t sorted, order_cap;
	struct tr_run_name *names;
	size_t name_count, name_cap;
	unsigned descriptors; /* after tr_normal_hash, bits as above */
	size_t opened;	      /* 1 + the index of a descriptor that the call opened; 0: none */
	struct tr_buffer text, scratch;
	const char *copied;	     /* the line before it is in text, or was replaced */
	struct tr_id_map objects;    /* classes of OpenGL's objects that calls have created */
	struct tr_normal_memo *memo; /* NULL: nothing was hashed yet */
	struct tr_normal_tail tails[1 << TR_TAIL_BITS];
	uint64_t plain_names[TR_NORMAL_NAMES]; /* hashes of names in which nothing is replaced */
	uint64_t well_formed[TR_NORMAL_WELL_FORMED];	    /* hashes of columns that are */
	struct tr_normal_known_call calls[TR_NORMAL_CALLS]; /* by the hash of their name */
	struct tr_normal_known_key keys[TR_NORMAL_KEYS];    /* by their hash */
	const struct tr_normal_call *call; /* NULL: one without fields of its own */
	struct tr_text makes;		   /* the objects that the call creates; data NULL: none */
	bool in_process;		   /* it is a system call, or another record of a process */
	bool in_order;			   /* tr_normal_hash reads the records, in their order */
	struct tr_open_files files;
	uint64_t table;	      /* number of that of the task; 0: it was not looked up yet */
	bool any_environment; /* tr_normal_hash has read a field env, envdiff or envtop, */
	bool any_whole;	      /* or env */
	bool checks;	      /* tr_normal_hash looks for what is malformed, */
	bool escapes;	      /* in a line that has a backslash, */
	bool suspect;	      /* and has found what may be */
	bool failed;	      /* memory is exhausted */
};

/* Hashes the name of a task, mostly a number: processes are often numbered in a row. */
static inline uint64_t tr_normal_task_hash(uint64_t seed, struct tr_text task)
{
	uint64_t number;

	return tr_decimal_id(task, &number) ? tr_near_hash(seed, number) : tr_text_hash(seed, task);
}

/*
 * Reads the line of a record with its LF. first: it belongs to the first trace, whose paths --root
 * maps. The results are valid until the next call, and as long as the line. False: memory is
 * exhausted.
 */
bool tr_normal_read(struct tr_normal *normal, struct tr_text line, bool first);

/* As tr_normal_read, but the fields have no normal texts. */
bool tr_normal_split(struct tr_normal *normal, struct tr_text line);

/*
 * As tr_normal_read, but the only fields are the name, cwd and with `argv` argv, and they are not
 * for tr_normal_match.
 */
bool tr_normal_read_command(struct tr_normal *normal, struct tr_text line, bool first, bool argv);

/*
 * As tr_normal_read, but provides no fields and no text, only hashes. The order of the variables of
 * an environment does not change these. line: of the record, whose fields may differ from it.
 */
bool tr_normal_hash(struct tr_normal *normal, const struct tr_record *record, struct tr_text line,
		    bool first);

/* True if the user leaves out the fields with this key. */
bool tr_normal_ignores(const struct tr_normal_rules *rules, const char *key);

/* As tr_normal_ignores, for a key of the record that was read, which counts as used then. */
bool tr_normal_leaves_out(const struct tr_normal *normal, struct tr_text key);

/* True if tr_normal_hash_block can be used: the user neither replaces nor ignores names. */
bool tr_normal_takes_blocks(const struct tr_normal_rules *rules);

/* As tr_normal_hash for the line of a block without padding, which need not be spelled. */
bool tr_normal_hash_block(struct tr_normal *normal, const struct tr_block *block);

/* Returns the address of a block with this name_hash and this number of digits. */
uint64_t tr_normal_address(const struct tr_normal *normal, uint64_t name_hash, uint8_t digits);

/*
 * Adds the classes of objects that the other struct knows. True: some were new, so the records that
 * this one has read before can have other hashes now. Exhausted memory sets failed.
 */
bool tr_normal_add_object_classes(struct tr_normal *normal, const struct tr_normal *from);

/* Forgets what is open in each process, and frees the memory for it. */
void tr_normal_forget_files(struct tr_normal *normal);

/*
 * Returns the normal text of a string, for callers that compare what is in no field; valid until
 * the next call for this struct, as are the names. data NULL: memory is exhausted.
 */
struct tr_text tr_normal_string(struct tr_normal *normal, struct tr_text string, bool first);

/*
 * Removes the variables MAKEFLAGS and MFLAGS from a difference between two environments, which is a
 * map, if their values are equal apart from make's job server. before: the opposite difference,
 * which has the old values. True: some were removed. Exhausted memory sets failed.
 */
bool tr_normal_drop_job_server(struct tr_normal *normal, struct tr_text before,
			       struct tr_buffer *map);

/* Returns the field with that key, or NULL. */
const struct tr_normal_field *tr_normal_find(const struct tr_normal *normal, const char *key);

/*
 * Returns the field of another record that corresponds to one of these: it has the same key, and is
 * preceded by as many fields with this key. NULL: there is none.
 */
const struct tr_normal_field *tr_normal_match(const struct tr_normal *from, size_t index,
					      const struct tr_normal *to);

/*
 * True if two fields that were read have equal texts, or environments with the same variables. seed:
 * of the rules.
 */
bool tr_normal_equal(uint64_t seed, const struct tr_normal_field *a,
		     const struct tr_normal_field *b);

/* Adds a field `duration` to the record that was read last. False: memory is exhausted. */
bool tr_normal_add_duration(struct tr_normal *normal, int64_t duration);

/*
 * Adds any other field, whose text is normal, to the record that was read last; both texts are
 * borrowed. False: memory is exhausted.
 */
bool tr_normal_add(struct tr_normal *normal, struct tr_text key, struct tr_text text);

/* Returns the index after the last name of a field; field->names is the first. */
static inline size_t tr_normal_names_end(const struct tr_normal *normal,
					 const struct tr_normal_field *field)
{
	return field + 1 < normal->fields + normal->count ? field[1].names : normal->name_count;
}

void tr_normal_free(struct tr_normal *normal);

/* Returns the end of the quoted string at p: after the quote that closes it. */
const char *tr_normal_string_end(const char *p, const char *end);

/*
 * Sets *item to the next item of a list or map at *p, and skips it and the comma after it. Commas
 * in strings and brackets do not separate items. False: there is none.
 */
bool tr_normal_next_item(const char **p, const char *end, struct tr_text *item);

#endif
