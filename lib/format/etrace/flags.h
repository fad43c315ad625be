/*
 * Flags of system calls: numbers in the log, words in records. The numbers are
 * those of x86-64, which the log does not tell.
 */
#ifndef TR_FORMAT_ETRACE_FLAGS_H
#define TR_FORMAT_ETRACE_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "format/etrace/tag.h"
#include "record/value.h"

enum {
	TR_ETRACE_O_CREAT = 0x40,
	TR_ETRACE_O_TMPFILE = 0x400000, /* without O_DIRECTORY, which is part of its word */
};

/* Appends the flags of such an event as words; a number that has no 32 bits as it is. */
void tr_etrace_flags_spell(enum tr_etrace_type type, int64_t number, struct tr_buffer *to);

/* The number of a value; false: it has a word that is none of these flags. */
bool tr_etrace_flags_read(enum tr_etrace_type type, const struct tr_value *value, int64_t *number);

/*
 * True for flags that only clone3() takes. Of its calls, posix_spawn()'s among them, the tracer
 * prints the child alone.
 */
bool tr_etrace_flags_of_clone3(const struct tr_value *value);

#endif
