/* What execve and execveat say: file, arguments, environment. */
#ifndef TR_FORMAT_STRACE_EXEC_H
#define TR_FORMAT_STRACE_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

/* The names that an environment has so far, to find those that come again. Zero it. */
struct tr_strace_names {
	uint32_t *slots; /* offsets of names in their text; 0: free */
	size_t cap, count;
};

struct tr_strace_exec {
	struct tr_buffer path; /* bytes */
	struct tr_buffer pwd;  /* the value of PWD */
	struct tr_text fd;     /* execveat's, in the arguments; data NULL: none */
	bool named;	       /* path is known */
	bool spelled;	       /* and absolute: it is in front of the lists */
	unsigned flags;	       /* enum tr_strace_flag */
	struct tr_strace_names names;
};

/*
 * Appends the path where it is absolute, and at offset *gap "\targv=…\tenv=…". False: the arguments
 * are no execve's; what could be understood is there.
 */
bool tr_strace_exec_read(struct tr_text arguments, bool at, struct tr_strace_exec *exec,
			 struct tr_buffer *to, size_t *gap);

void tr_strace_exec_free(struct tr_strace_exec *exec);

#endif
