/* What the files of the reader share. */
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
	bool kernel_asked; /* the first KERNEL_FILE_NAME was seen: later ones mean nothing */
	bool loaded;	   /* it came */
	struct tr_objects objects;
	uint64_t told_at; /* stream offset of what was remarked upon and is passed on all the same */
	uint64_t seq;
	struct tr_arena arena;
	struct tr_record record; /* of all kinds but blocks */
	struct tr_op_values *ops;
	struct tr_block_record block;
	struct tr_buffer text; /* scratch */
};

/* One information entry in the window. */
struct tr_gnatcov_info {
	uint32_t tag;
	struct tr_text data; /* in the window */
	uint32_t pad;	     /* its bytes as one number, 0 as it should be */
	size_t size;	     /* of all of it */
};

/*
 * The information entry `at` bytes behind the window's pos. TR_OK: the whole of
 * it is there; TR_GNATCOV_END is the tag of the list's end. TR_WARN: err says
 * what is wrong; the reader's state says how to go on. TR_END: the window is
 * damaged, so is the reader's state.
 */
enum tr_status tr_gnatcov_info_at(struct tr_gnatcov_reader *reader, size_t at,
				  struct tr_gnatcov_info *info, struct tr_error *err);

/* The entry `at` bytes behind pos is none: what follows it is looked through for a header. */
enum tr_status tr_gnatcov_lost(struct tr_gnatcov_reader *reader, size_t at, struct tr_error *err);

/* Data of such a tag is a number in digits. */
bool tr_gnatcov_is_number(uint32_t tag);
/* The cell or key of a tag. NULL: memory. */
const char *tr_gnatcov_tag_text(struct tr_gnatcov_reader *reader, uint32_t tag);
/* Adds .pad where it is not zero; false: memory. */
bool tr_gnatcov_add_pad(struct tr_gnatcov_reader *reader, uint64_t pad);

/* The next of the list of an INFO section as a record. TR_END: the list is over. */
enum tr_status tr_gnatcov_read_info(struct tr_gnatcov_reader *reader, struct tr_record **record,
				    struct tr_error *err);

/* The special entry at the window's pos, `size` bytes of it. */
enum tr_status tr_gnatcov_read_special(struct tr_gnatcov_reader *reader,
				       const struct tr_block *entry, size_t size,
				       struct tr_record **record, struct tr_error *err);

/* A section header at pos; says so where there is none. */
enum tr_status tr_gnatcov_read_header(struct tr_gnatcov_reader *reader, struct tr_record **record,
				      struct tr_error *err);

/*
 * True when a flaw of what stands at pos has not been told: err (already set)
 * becomes one that loses nothing, and what it is about is passed on next.
 */
bool tr_gnatcov_tell(struct tr_gnatcov_reader *reader, struct tr_error *err);

/* Something ends too early: nothing more is to come. */
enum tr_status tr_gnatcov_cut(struct tr_gnatcov_reader *reader, struct tr_error *err);

/* The window could not be filled though the input goes on: it is damaged, and says why by itself. */
enum tr_status tr_gnatcov_stuck(struct tr_gnatcov_reader *reader);

/* Starts reader->record; then fields, then the record can be handed out. */
void tr_gnatcov_begin(struct tr_gnatcov_reader *reader, const char *kind, struct tr_cell name);

/* Adds a field; false: memory. */
bool tr_gnatcov_add(struct tr_gnatcov_reader *reader, const char *key, struct tr_value value);

/* A string value of any bytes, in the arena. text.data is NULL when memory is out. */
struct tr_value tr_gnatcov_string(struct tr_gnatcov_reader *reader, struct tr_text bytes);

/* Hands out reader->record. */
enum tr_status tr_gnatcov_hand_out(struct tr_gnatcov_reader *reader, struct tr_record **record);

#endif
