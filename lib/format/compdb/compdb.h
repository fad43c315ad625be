/* SPDX-License-Identifier: MIT */
/*
 * Private to the formats compdb and buildspec.
 *
 *	compdb.c	    names, options, what both writers use; the reader of both formats:
 *			    bytes -> object (json_items) -> record
 *	writer.c	    record -> call -> entries -> call filter -> JSON
 *	headers.c	    the same calls, and all records -> entries for headers
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
 * Entries for headers. A seed is what an entry needs of a call that compiles one source, as bytes;
 * those that are added belong to the segment of the records that are put before and after them.
 */
struct tr_compdb_headers;

/* all: also headers outside of the project. NULL: err is filled. */
struct tr_compdb_headers *tr_compdb_headers_new(bool all, struct tr_error *err);
void tr_compdb_headers_free(struct tr_compdb_headers *headers);

/* The words of a call that entries for headers have, too, and what each source adds. */
struct tr_compdb_header_line {
	struct tr_text *words;
	size_t count;
	struct {
		size_t gap;	      /* the number of words before it */
		const char *language; /* NULL: one that has no headers */
	} * sources;		      /* in their order on the command line */
};

/* Reads the words of a call that compiles. False: memory is exhausted. */
bool tr_compdb_headers_line(const struct tr_call *call, struct tr_text program,
			    struct tr_arena *arena, struct tr_compdb_header_line *line);

/*
 * Appends the seed of a call and one of its sources, whose absolute path is path. Nothing is
 * appended if the language has no headers.
 */
void tr_compdb_headers_seed(struct tr_record *record, const struct tr_call *call,
			    const struct tr_compdb_header_line *line, size_t source,
			    struct tr_text path, struct tr_buffer *to);

/*
 * Adds a seed, of which a copy is kept. fallback: others are preferred. False: memory is exhausted.
 */
bool tr_compdb_headers_add(struct tr_compdb_headers *headers, struct tr_text seed, bool fallback);

/* Follows the files that the record uses; statuses as those of tr_deps_put. */
enum tr_status tr_compdb_headers_put(struct tr_compdb_headers *headers, struct tr_record *record,
				     struct tr_error *err);

/* Receives the parts of an entry. False: memory is exhausted. */
typedef bool tr_compdb_header_put(void *context, struct tr_text directory, struct tr_text file,
				  const struct tr_text *argv, size_t argc);

/* Ends the segment: puts one entry for each header, in the order of their paths. */
enum tr_status tr_compdb_headers_end(struct tr_compdb_headers *headers, tr_compdb_header_put *put,
				     void *context, struct tr_error *err);

/* Reports once, at the end, why headers may be missing. TR_WARN, or TR_OK. */
enum tr_status tr_compdb_headers_report(struct tr_compdb_headers *headers, struct tr_error *err);

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
