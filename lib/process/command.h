/* SPDX-License-Identifier: MIT */
/* A process as an exec record tells of it, in plain bytes. */
#ifndef TR_PROCESS_COMMAND_H
#define TR_PROCESS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"
#include "record/record.h"

struct tr_command {
	struct tr_text executable; /* data NULL: not known; then argv[0] has to do */
	struct tr_text directory;  /* data NULL: not known */
	struct tr_text *argv;
	size_t argc;
	bool cut;			 /* the tracer cut an argument, or left some out */
	const struct tr_value *respfile; /* NULL: none */
};

/* What the record's columns alone say. */
struct tr_text tr_command_executable(struct tr_record *record);

/* The exec did not happen: it has the field error or failed. */
bool tr_command_failed(struct tr_record *record);

/* A field's number; TR_NO_POSITION where it is none. */
uint64_t tr_command_number(struct tr_record *record, const char *key);

/* A field's string as bytes; data NULL where it is none, or is cut. */
struct tr_text tr_command_string(struct tr_record *record, const char *key);

/*
 * Everything, in the record's arena. TR_WARN: argv is no list of strings (err
 * is filled). TR_FATAL: memory.
 */
enum tr_status tr_command_read(struct tr_record *record, struct tr_command *command,
			       struct tr_error *err);

/* All of its arguments are known, and where it ran: what formats of commands need. */
static inline bool tr_command_is_whole(const struct tr_command *command)
{
	return !command->cut && command->directory.data;
}

/* Says of one that is not whole why it is left out. TR_WARN. */
enum tr_status tr_command_left_out(const struct tr_command *command, struct tr_error *err);

/* The program's name, by the executable or by argv[0]. */
static inline struct tr_text tr_command_program(const struct tr_command *command)
{
	if (command->executable.data || !command->argc)
		return command->executable.data ? command->executable : TR_TEXT("");
	return command->argv[0];
}

#endif
