/* What execve and execveat say: file, arguments, environment. */
#ifndef TR_FORMAT_STRACE_EXEC_H
#define TR_FORMAT_STRACE_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

/* The names that an environment has so far, to tell which come again. Zero it. */
struct tr_strace_names {
	struct tr_strace_name *slots;
	size_t cap, count;
	uint64_t round; /* slots of earlier ones are free */
};

struct tr_strace_exec {
	struct tr_buffer path; /* bytes */
	struct tr_buffer pwd;  /* the value of PWD */
	struct tr_buffer tail; /* "\targv=…\tenv=…" */
	struct tr_text fd;     /* execveat's, in the arguments; data NULL: none */
	bool named;	       /* path is known */
	unsigned flags;	       /* enum tr_strace_flag */
	struct tr_strace_names names;
	struct tr_buffer scratch;
};

/* False: the arguments are no execve's; what could be understood is there. */
bool tr_strace_exec_read(struct tr_text arguments, bool at, struct tr_strace_exec *exec);

bool tr_strace_exec_failed(const struct tr_strace_exec *exec); /* memory is out */
void tr_strace_exec_free(struct tr_strace_exec *exec);

#endif
