/*
 * Private to the compdb format: compile_commands.json, the compilation database
 * of Clang's tools (https://clang.llvm.org/docs/JSONCompilationDatabase.html):
 * a JSON list of objects with directory, file, arguments or command, output.
 */
#ifndef TR_FORMAT_COMPDB_COMPDB_H
#define TR_FORMAT_COMPDB_COMPDB_H

#include "format/format.h"

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);
enum tr_status tr_compdb_put(struct tr_writer *writer, struct tr_record *record,
			     struct tr_error *err);
enum tr_status tr_compdb_finish(struct tr_writer *writer, struct tr_error *err);
void tr_compdb_discard(struct tr_writer *writer);

#endif
