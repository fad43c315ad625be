/* What the arguments of system calls are called in the manual pages. */
#ifndef TR_FORMAT_STRACE_CALLS_H
#define TR_FORMAT_STRACE_CALLS_H

#include "core/text.h"

/* The names, separated by blanks; NULL: not known. */
const char *tr_strace_argument_names(struct tr_text call);

#endif
