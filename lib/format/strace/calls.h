/* System calls by their names, and what their arguments are called in the manual pages. */
#ifndef TR_FORMAT_STRACE_CALLS_H
#define TR_FORMAT_STRACE_CALLS_H

#include <stdbool.h>

#include "core/text.h"

/* The names, separated by blanks; NULL: not known. */
const char *tr_strace_argument_names(struct tr_text call);

bool tr_strace_is_exec(struct tr_text call);
bool tr_strace_is_fork(struct tr_text call);

#endif
