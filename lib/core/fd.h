/* Writing to file descriptors: what the sinks on them share. */
#ifndef TR_CORE_FD_H
#define TR_CORE_FD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

/*
 * All of data, waiting where the descriptor is non-blocking. A reader that
 * went away is TR_CAUSE_PIPE.
 */
bool tr_fd_write(int fd, const char *data, size_t len, struct tr_error *err);

/* Fills err for a write that failed, and returns false. */
bool tr_fd_write_failed(int sys_errno, struct tr_error *err);

/* Asks for a large buffer where fd is a pipe; a refusal only costs speed. */
void tr_fd_enlarge_pipe(int fd);

#endif
