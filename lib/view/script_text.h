/* SPDX-License-Identifier: MIT */
/*
 * Commands of a trace as a POSIX shell script that runs them again, one after
 * the other, each in its directory and with its environment:
 *
 *	top() { env -i HOME=/home/b PATH=/usr/bin:/bin env "$@"; }
 *	run 5 /srv/build top -u OLDPWD MAKELEVEL=1 /usr/bin/gcc -c a.c
 *
 * Commands that a command of the script starts itself are left out, unless nested
 * is set. A command whose argv[0] is not the name of its program is run by exec -a of bash. A trace
 * contains no pipes and redirections: they are only made if the shell that made them is run.
 */
#ifndef TR_VIEW_SCRIPT_TEXT_H
#define TR_VIEW_SCRIPT_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_script_text;

struct tr_script_text_config {
	bool nested;	    /* also commands that others of the script start */
	uint64_t max_spool; /* as in struct tr_limits */
	unsigned max_ratio; /* see tr_environments_limit */
};

/* Borrows out. NULL: memory is exhausted. */
struct tr_script_text *tr_script_text_new(const struct tr_script_text_config *config,
					  struct tr_output *out);

/*
 * Takes the next line of the stream, or NULL at its end. TR_WARN: err states why a command was left
 * out, or (TR_NOTE) how it differs from the trace.
 */
enum tr_status tr_script_text_put(struct tr_script_text *script, struct tr_record *record,
				  struct tr_error *err);

void tr_script_text_free(struct tr_script_text *script);

#endif
