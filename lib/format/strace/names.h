/* A set of names that stand in one text, emptied for every text at no cost. */
#ifndef TR_FORMAT_STRACE_NAMES_H
#define TR_FORMAT_STRACE_NAMES_H

#include "core/text.h"
#include "format/strace/exec.h"

enum tr_strace_name_status {
	TR_STRACE_NAME_NEW,
	TR_STRACE_NAME_KNOWN,
	TR_STRACE_NAME_MEMORY,
};

void tr_strace_names_reset(struct tr_strace_names *names);

/* name stands in the text that begins at base, which may move, but not change, meanwhile. */
enum tr_strace_name_status tr_strace_names_add(struct tr_strace_names *names, const char *base,
					       struct tr_text name);
void tr_strace_names_free(struct tr_strace_names *names);

#endif
