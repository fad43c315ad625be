/*
 * An exec record as a call of a build tool: which tool, behind which launchers,
 * its response files put in, its options understood.
 */
#ifndef TR_PROCESS_CALL_H
#define TR_PROCESS_CALL_H

#include "core/error.h"
#include "process/command.h"
#include "process/invocation.h"
#include "process/kinship.h"
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
};

struct tr_call {
	enum tr_tool tool; /* TR_TOOL_NONE: the rest is not set, but for what command has */
	enum tr_kin kin;
	bool libtool; /* libtool calls the compiler; it runs more commands than this one */
	const struct tr_respfile_rules *rules;
	struct tr_command command;
	struct tr_expansion expansion;
	struct tr_invocation invocation; /* of drivers */
};

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
