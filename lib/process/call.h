/* SPDX-License-Identifier: MIT */
/*
 * An exec record as a call of a build tool: which tool, behind which launchers,
 * its response files put in, its options understood.
 */
#ifndef TR_PROCESS_CALL_H
#define TR_PROCESS_CALL_H

#include "core/error.h"
#include "process/command.h"
#include "process/invocation.h"
#include "process/call_filter.h"
#include "process/respfile.h"
#include "process/tool.h"
#include "process/tool_config.h"
#include "record/record.h"

enum tr_call_quoting {
	TR_CALL_QUOTING_AUTO, /* Windows where the directory has a drive */
	TR_CALL_QUOTING_GNU,
	TR_CALL_QUOTING_WINDOWS,
};

struct tr_call_config {
	const struct tr_tool_config *tools; /* NULL: programs are known by their names */
	enum tr_call_quoting quoting;
	struct tr_file_roots roots; /* of response files that the record does not hold */
};

struct tr_call {
	enum tr_tool tool; /* TR_TOOL_NONE: the rest is not set, but for what command has */
	enum tr_stage stage;
	bool libtool; /* libtool calls the compiler; it runs more commands than this one */
	const struct tr_respfile_rules *rules;
	struct tr_command command;
	struct tr_expansion expansion;
	struct tr_invocation invocation; /* of drivers */
};

/*
 * Bytes that may be written of one call. Each of its sources repeats all of its options, so
 * a line of N words can ask for N * N.
 */
enum { TR_CALL_TEXT_MAX = 256 << 20 };

/*
 * The absolute path of what the call links, in the arena: empty where a response file that is not
 * there may name it; data NULL: it links nothing. False: memory is out.
 */
bool tr_call_product(const struct tr_call *call, struct tr_arena *arena, struct tr_text *product);

/* The word of the archive that the call of an archiver puts files into; as many as there are: none.
 */
size_t tr_call_archive(const struct tr_call *call);

/*
 * The file that an exec record's program makes, as the command spells it: its output; of what a
 * compiler hands on (cc1), or where no output is known, its first source. data NULL: it is no
 * such program. False: memory is out.
 */
bool tr_call_makes(struct tr_record *record, struct tr_text *makes);

/* Says that the call is left out because it exceeds that. TR_WARN. */
enum tr_status tr_call_too_long(const struct tr_call *call, struct tr_error *err);

/* "gnu", "windows", or another word: auto. */
enum tr_call_quoting tr_call_quoting_of(struct tr_text word);

/* What the directory says of how its tools quote. */
enum tr_quoting tr_call_quoting(const struct tr_call_config *config, struct tr_text directory);

/*
 * Reads an exec record; everything is in its arena. A command line that cannot
 * be read is TR_WARN where the program is a tool, and TR_TOOL_NONE where not.
 * TR_FATAL: memory.
 */
enum tr_status tr_call_read(struct tr_record *record, const struct tr_call_config *config,
			    struct tr_call *call, struct tr_error *err);

#endif
