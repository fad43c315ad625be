/* SPDX-License-Identifier: MIT */
/*
 * Drivers whose names are unknown. They show when they start a compiler such as cc1, whose entries
 * then stand for theirs, with options that no one wrote. The names of recent programs are kept,
 * because the parent of a process is known by its seq only.
 */
#include <stdlib.h>
#include <string.h>

#include "format/compdb/compdb.h"
#include "process/parent.h"

enum { RECENT = 1024, NOTED = 4, WORD = TR_PROGRAM_NAME_MAX + 1 };

/* A program that is no known tool. */
struct program {
	uint64_t seq;
	uint64_t segment; /* 0: free */
	char name[WORD];
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
};

/* Copies a text as a string. False: it is empty or too long. */
static bool copy(struct tr_text text, char *to)
{
	if (!text.len || text.len >= WORD)
		return false;
	memcpy(to, text.data, text.len);
	to[text.len] = '\0';
	return true;
}

/* True for programs that run whatever their arguments name, also a compiler by itself. */
static bool runs_others(struct tr_text path)
{
	static const char *const names[] = { "make", "gmake",	"ninja", "samu", "env", "nice",
					     "time", "timeout", "xargs", "sudo", NULL };

	return tr_command_is_shell(path) || tr_text_is_among(tr_tool_base(path), names);
}

/* Keeps the name of a program. */
static void keep(struct tr_compdb_unknown *unknown, struct tr_record *record, uint64_t seq)
{
	struct program *program = &unknown->recent[seq % RECENT];
	struct tr_text path = tr_command_executable(record);

	program->segment = 0;
	if (!path.data || runs_others(path) || !copy(tr_tool_base(path), program->name))
		return;
	program->seq = seq;
	program->segment = unknown->segment;
}

/* Adds a note about the program that started a compiler, once for each name. */
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
	if (call->tool == TR_TOOL_NONE) {
		if (tr_cell_number(&record->seq, &seq) && seq < TR_NO_POSITION)
			keep(*unknown, record, seq);
		return true;
	}
	if (call->stage != TR_STAGE_COMPILER)
		return true;
	if (!tr_parent_read(record, &parent))
		return false;
	const struct program *above = &(*unknown)->recent[parent.seq % RECENT];
	if (parent.kind == TR_PARENT_RECORD && above->segment == (*unknown)->segment &&
	    above->seq == parent.seq)
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
	if (!unknown || unknown->reported == unknown->count)
		return false;
	const struct note *next = &unknown->notes[unknown->reported++];
	tr_error_set(err, TR_CAUSE_INPUT, "%s started %s: -O compiler=%s=%s makes its entries",
		     next->name, next->started, next->name, next->family);
	tr_error_is_note(err);
	return true;
}
