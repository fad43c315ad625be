/* The flags of clone, clone3 and unshare, however -X prints them. */
#ifndef TR_FORMAT_STRACE_CLONE_FLAGS_H
#define TR_FORMAT_STRACE_CLONE_FLAGS_H

#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

/* The CLONE_ bits among the arguments of a call of that name: clone and its like, unshare. */
uint64_t tr_strace_clone_flags(struct tr_text name, struct tr_text arguments);

/* Appends a symbol of their names; nothing where there are none. */
void tr_strace_put_clone_flags(uint64_t flags, struct tr_buffer *to);

#endif
