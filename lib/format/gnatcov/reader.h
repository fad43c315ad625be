/* SPDX-License-Identifier: MIT */
/* What reader.c and reader_records.c share. */
#ifndef TR_FORMAT_GNATCOV_READER_H
#define TR_FORMAT_GNATCOV_READER_H

#include "coverage/block.h"
#include "coverage/layout.h"
#include "format/gnatcov/gnatcov.h"

enum tr_gnatcov_state {
	TR_GNATCOV_AT_HEADER, /* of a section */
	TR_GNATCOV_AT_INFO,   /* in the list of an INFO section */
	TR_GNATCOV_AT_ENTRY,
	TR_GNATCOV_LOST, /* nothing can be understood before the next header */
	TR_GNATCOV_DONE,
};

struct tr_gnatcov_reader {
	struct tr_input *in;
	enum tr_gnatcov_state state;
	struct tr_gnatcov_section section;
	bool begun;	   /* there was a section */
	bool kernel;	   /* information names a kernel: a load address is due */
	bool kernel_asked; /* the first KERNEL_FILE_NAME was seen: later ones mean
			      nothing */
	bool loaded;	   /* it came */
	struct tr_objects objects;
	uint64_t told_at; /* stream offset of what was remarked upon and is passed on
			     all the same */
	uint64_t seq;
	struct tr_arena arena;
	struct tr_record record; /* of all kinds but blocks */
	struct tr_op_values *ops;
	struct tr_block_record block;
	struct tr_buffer text; /* scratch */
};

/* The next of the list of an INFO section as a record. TR_END: the list is
 * over. */
enum tr_status tr_gnatcov_read_info(struct tr_gnatcov_reader *reader, struct tr_record **record,
				    struct tr_error *err);

/* The special entry at the window's pos, `size` bytes of it. */
enum tr_status tr_gnatcov_read_special(struct tr_gnatcov_reader *reader,
				       const struct tr_block *entry, size_t size,
				       struct tr_record **record, struct tr_error *err);

/* A section header at pos; says so where there is none. */
enum tr_status tr_gnatcov_read_header(struct tr_gnatcov_reader *reader, struct tr_record **record,
				      struct tr_error *err);

/* Something ends too early: nothing more is to come. */
enum tr_status tr_gnatcov_cut(struct tr_gnatcov_reader *reader, struct tr_error *err);

/* The window could not be filled though the input goes on: it is damaged, and
 * says why by itself. */
enum tr_status tr_gnatcov_stuck(struct tr_gnatcov_reader *reader);

#endif
