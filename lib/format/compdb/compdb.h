/* SPDX-License-Identifier: MIT */
/*
 * Private to the formats compdb and buildspec.
 *
 *	compdb.c	    names, options, what both writers use; the reader of both formats:
 *			    bytes -> object (json_items) -> record
 *	writer.c	    record -> call -> entries -> call filter -> JSON
 *	buildspec_writer.c  record -> call -> item -> call filter -> JSON
 *
 * compdb is compile_commands.json, the compilation database of Clang's tools
 * (https://clang.llvm.org/docs/JSONCompilationDatabase.html): a JSON list of
 * objects with directory, file, arguments or command, output.
 *
 * buildspec is xcalbuild's build specification (docs/design/Build-Spec.md and
 * docs/design/Tracer.md in its sources): the same without file, and with
 * respfile, the content of the first response file that the arguments name.
 * Its tracer's debug output has more keys, which are copied.
 */
#ifndef TR_FORMAT_COMPDB_COMPDB_H
#define TR_FORMAT_COMPDB_COMPDB_H

#include "format/format.h"
#include "process/call.h"

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);

struct tr_writer *tr_buildspec_create(const struct tr_write_config *config, struct tr_output *out,
				      struct tr_error *err);

/*
 * Reads the settings quoting, respfile-root and tools. False: err is filled. In both cases the
 * caller frees config->roots and the tools.
 */
bool tr_compdb_call_config(const struct tr_settings *settings, struct tr_call_config *config,
			   struct tr_tool_config **tools, struct tr_error *err);

/*
 * Replaces the words of a command, or those after its launchers, by others in which response files
 * are expanded. False: memory is exhausted.
 */
bool tr_compdb_inline(const struct tr_call_config *config, const struct tr_command *command,
		      const struct tr_respfile_rules *rules, struct tr_arena *arena,
		      const struct tr_text **argv, size_t *argc, struct tr_respfile_left *left);

/* Appends the field extra as members of compact JSON. TR_WARN: JSON cannot hold it. */
enum tr_status tr_compdb_extra(struct tr_record *record, struct tr_buffer *to,
			       struct tr_error *err);

#endif
