/*
 * Many drcov traces made one: the blocks of all of them, each once, with the sum of its hit
 * counts where any trace has them. A block is what it is within its module, so a program that
 * was loaded at another address is the same program: modules are the same where path, size,
 * and the place within the containing module are, and checksum, timestamp and file offset
 * where the table has them.
 *
 * The head and the form of the blocks (text or binary) are those of the first trace; so is
 * the base of a module that it has. Blocks are sorted by module and address. Memory grows
 * with the distinct modules and blocks, 24 bytes for each block.
 */
#ifndef TR_COVERAGE_MERGE_MODULES_H
#define TR_COVERAGE_MERGE_MODULES_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_merge_modules;

/* NULL: memory is out. */
struct tr_merge_modules *tr_merge_modules_new(void);
void tr_merge_modules_free(struct tr_merge_modules *modules);

/* The next trace begins; header may be NULL. TR_OK, TR_WARN or TR_FATAL. */
enum tr_status tr_merge_modules_begin(struct tr_merge_modules *modules, struct tr_record *header,
				      struct tr_error *err);

/* A record of kind module, block or meta; others are passed over. */
enum tr_status tr_merge_modules_put(struct tr_merge_modules *modules, struct tr_record *record,
				    struct tr_error *err);

/* Writes header and records, counting these in *seq. False: memory is out. */
bool tr_merge_modules_write(struct tr_merge_modules *modules, uint64_t *seq,
			    struct tr_output *out);

#endif
