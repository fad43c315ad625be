/* SPDX-License-Identifier: MIT */
/*
 * Finds drivers whose names are unknown. Either they start a compiler such as cc1, so the database
 * has the options that they made for it instead of their own; or their command line looks like that
 * of a compiler (process/call.h), and no known compiler runs below them or replaces them. Recent
 * programs are kept, because a record names its parent only by its seq.
 */
#include <stdlib.h>
#include <string.h>

#include "format/compdb/compdb.h"
#include "process/parent.h"

enum {
	RECENT = 1024, /* programs that are kept */
	NOTED = 4,     /* notes, one for each name */
	CALLED = 64,   /* programs that are kept because they were counted as compilers */
	WORD = TR_PROGRAM_NAME_MAX + 1,
	TASK = 24,
};

/* A program that is no known tool. */
struct program {
	uint64_t seq;
	uint64_t segment; /* 0: free */
	uint64_t parent;  /* its seq; TR_NO_POSITION: unknown */
	size_t counted;	  /* from tr_unknown_compilers_count */
	char task[TASK];  /* empty: unknown */
	char name[WORD];  /* empty: it runs the command in its arguments */
};

/* An unknown program, the compiler that it started, and the family of that compiler. */
struct note {
	char name[WORD], started[WORD], family[WORD];
};

struct tr_compdb_unknown {
	struct program recent[RECENT]; /* by seq */
	uint64_t segment;	       /* its number, from 1; programs of earlier ones are free */
	struct note notes[NOTED];
	size_t count, reported;
	struct tr_unknown_compilers compilers;
	uint64_t called[CALLED]; /* the seq of the last programs that were counted as compilers */
	size_t last;
};

/* Copies a text to a string of WORD bytes. False: it is empty or too long. */
static bool copy(struct tr_text text, char *to)
{
	if (!text.len || text.len >= WORD)
		return false;
	memcpy(to, text.data, text.len);
	to[text.len] = '\0';
	return true;
}

/* True for programs that may have a command, such as a compiler's, among their own arguments. */
static bool runs_others(struct tr_text path)
{
	static const char *const wrappers[] = { "env",	 "nice", "time", "timeout",
						"xargs", "sudo", NULL };

	return tr_command_is_shell(path) || tr_command_is_build_tool(path) ||
	       tr_text_is_among(tr_tool_base(path), wrappers);
}

/* The program with that seq. NULL: it is a known tool, or not recent. */
static struct program *find(struct tr_compdb_unknown *unknown, uint64_t seq)
{
	struct program *program = &unknown->recent[seq % RECENT];

	return program->segment == unknown->segment && program->seq == seq ? program : NULL;
}

/* As tr_unknown_compilers_count, for a record. SIZE_MAX: memory is exhausted. */
static size_t count(struct tr_compdb_unknown *unknown, struct tr_record *record)
{
	static const char option[] = "\"-c\"";
	struct tr_command command;
	struct tr_error err;

	/* a text line without the option, as most are, is not parsed */
	if (record->line.data && (!record->rest.len || !memmem(record->rest.data, record->rest.len,
							       option, sizeof option - 1)))
		return 0;
	enum tr_status status = tr_command_read(record, &command, &err);
	size_t argc = command.argc;
	if (status == TR_FATAL)
		return SIZE_MAX;
	if (status != TR_OK || argc < 3)
		return 0;
	struct tr_word *words = tr_arena_alloc(record->arena, argc * sizeof *words);
	if (!words)
		return SIZE_MAX;
	for (size_t i = 0; i < argc; i++)
		words[i] = (struct tr_word){ command.argv[i], i, false };
	return tr_unknown_compilers_count(&unknown->compilers, words, argc);
}

/* Keeps a program that is no known tool. False: memory is exhausted. */
static bool keep(struct tr_compdb_unknown *unknown, struct tr_record *record,
		 const struct tr_parent *parent, uint64_t seq)
{
	struct program *program = &unknown->recent[seq % RECENT];
	struct tr_text path = tr_command_executable(record), task;

	if (!tr_parent_cell(record, &record->task, &task))
		return false;
	*program = (struct program){ .seq = seq, .parent = TR_NO_POSITION };
	if (!path.data)
		return true;
	program->segment = unknown->segment;
	if (parent->kind == TR_PARENT_RECORD)
		program->parent = parent->seq;
	if (task.len && task.len < TASK)
		memcpy(program->task, task.data, task.len);
	if (runs_others(path))
		return true;
	copy(tr_tool_base(path), program->name);
	program->counted = count(unknown, record);
	if (program->counted && program->counted != SIZE_MAX)
		unknown->called[unknown->last++ % CALLED] = seq;
	return program->counted != SIZE_MAX;
}

/*
 * Removes the unknown program that runs a known compiler, or is replaced by one, from the count:
 * the database has the entries of the known one. False: memory is exhausted.
 */
static bool uncount(struct tr_compdb_unknown *unknown, struct tr_record *record,
		    const struct tr_parent *parent)
{
	enum { HIGHEST = 4 }; /* ancestors that may be the unknown program */
	uint64_t seq = parent->kind == TR_PARENT_RECORD ? parent->seq : TR_NO_POSITION;
	struct program *program = NULL;
	struct tr_text task;

	if (!tr_parent_cell(record, &record->task, &task))
		return false;
	for (int i = 0; i < HIGHEST && seq != TR_NO_POSITION; i++) {
		program = find(unknown, seq);
		if (!program || program->counted)
			break;
		seq = program->parent;
	}
	for (size_t i = 0; i < CALLED && i < unknown->last && !(program && program->counted); i++) {
		program = find(unknown, unknown->called[i]);
		if (program && (!*program->task || !tr_text_is(task, program->task)))
			program = NULL;
	}
	if (program && program->counted) {
		unknown->compilers.list[program->counted - 1].count--;
		program->counted = 0;
	}
	return true;
}

/* Keeps the name of a program that started a compiler, for a note. */
static void note(struct tr_compdb_unknown *unknown, const char *name, const struct tr_call *call)
{
	const struct tr_program *program = &call->invocation.program;
	struct note *new = &unknown->notes[unknown->count];

	for (size_t i = 0; i < unknown->count; i++)
		if (strcmp(unknown->notes[i].name, name) == 0)
			return;
	if (unknown->count < NOTED && program->section &&
	    copy(tr_tool_base(call->path), new->started) &&
	    copy(tr_compilers_text(program->table, program->section->family), new->family)) {
		memcpy(new->name, name, strlen(name) + 1);
		unknown->count++;
	}
}

bool tr_compdb_unknown_put(struct tr_compdb_unknown **unknown, struct tr_record *record,
			   const struct tr_call *call)
{
	struct tr_parent parent;
	uint64_t seq;

	if (!*unknown) {
		*unknown = calloc(1, sizeof **unknown);
		if (!*unknown)
			return false;
		(*unknown)->segment = 1;
	}
	if (!tr_parent_read(record, &parent))
		return false;
	if (call->tool == TR_TOOL_NONE)
		return !tr_cell_number(&record->seq, &seq) || seq == TR_NO_POSITION ||
		       keep(*unknown, record, &parent, seq);
	if (call->stage != TR_STAGE_COMPILER && call->stage != TR_STAGE_DRIVER)
		return true;
	if (!uncount(*unknown, record, &parent))
		return false;
	const struct program *above =
		call->stage == TR_STAGE_COMPILER && parent.kind == TR_PARENT_RECORD
			? find(*unknown, parent.seq)
			: NULL;
	if (above && *above->name)
		note(*unknown, above->name, call);
	return true;
}

void tr_compdb_unknown_end(struct tr_compdb_unknown *unknown)
{
	if (unknown)
		unknown->segment++;
}

bool tr_compdb_unknown_report(struct tr_compdb_unknown *unknown, struct tr_error *err)
{
	if (!unknown)
		return false;
	if (unknown->reported == unknown->count)
		return tr_unknown_compilers_report(&unknown->compilers, err);
	const struct note *next = &unknown->notes[unknown->reported++];
	tr_error_set(err, TR_CAUSE_INPUT, "%s started %s: -O compiler=%s=%s makes its entries",
		     next->name, next->started, next->name, next->family);
	tr_error_is_note(err);
	return true;
}
