/* What the files reader*.c share. */
#ifndef TR_FORMAT_DRCOV_READER_H
#define TR_FORMAT_DRCOV_READER_H

#include "format/drcov/drcov.h"
#include "format/drcov/row.h"

enum tr_drcov_state {
	TR_DRCOV_HEAD,
	TR_DRCOV_MODULES,
	TR_DRCOV_TABLE, /* the lines before the blocks */
	TR_DRCOV_BLOCKS,
	TR_DRCOV_AFTER,
	TR_DRCOV_OVER,
};

/* What start is relative to, by module id. */
struct tr_drcov_base {
	uint64_t address;
	bool known;
};

struct tr_drcov_reader {
	struct tr_input *in;
	struct tr_limits limits;
	enum tr_drcov_state state;
	struct tr_drcov_head head;
	struct tr_buffer head_text; /* its lines as they are; head.flavor points into it */
	unsigned digits;	    /* of an address */
	struct tr_drcov_base *bases;
	size_t base_count;
	uint64_t dumps;	  /* headers so far */
	uint64_t modules; /* of this dump, so far */
	bool odd_head;	  /* a line of it says nothing to us, and that is due to be told */
	bool bad_columns;

	/* -O starts, and what that means for this dump: starts are addresses, cut to 32 bits */
	enum { TR_DRCOV_AUTO, TR_DRCOV_ABSOLUTE, TR_DRCOV_RELATIVE } starts;
	bool absolute;
	uint64_t module_id, module_end; /* of the last row */

	uint64_t blocks, count; /* so far; as the table's line has it */
	bool text;		/* the blocks are */
	struct tr_buffer lines; /* before them, as they are */
	struct tr_buffer hits;	/* of this dump's blocks, 4 bytes each */
	struct tr_buffer hits_line; /* the one before them; empty: there are none */

	uint64_t seq;
	uint64_t line;	   /* the next one, from 1 */
	bool binary;	   /* a table was: lines mean nothing any more */
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer out; /* the record's line */
	bool ready;	      /* it is whole, a remark on it was made before */
	uint64_t at;	      /* line or offset of what is in out */
};

/* reader_share.c: hands out the line in out. */
enum tr_status tr_drcov_deliver(struct tr_drcov_reader *reader, struct tr_record **record,
				struct tr_error *err);
/* TR_WARN, with the place where the window begins. */
enum tr_status tr_drcov_warn(struct tr_drcov_reader *reader, struct tr_error *err);
/* Notes the place of the record that is being made, before the input moves on. */
void tr_drcov_mark(struct tr_drcov_reader *reader);
/* The next line, left in the window. */
enum tr_status tr_drcov_peek_line(struct tr_drcov_reader *reader, struct tr_text *line,
				  struct tr_error *err);
void tr_drcov_skip_line(struct tr_drcov_reader *reader, struct tr_text line);
/* Adds a TAB and `key=`, and a string. */
void tr_drcov_put_key(struct tr_drcov_reader *reader, const char *key);
void tr_drcov_put_string(struct tr_drcov_reader *reader, struct tr_text text);
/* Adds `.key="text"` where text is not what is usual. */
void tr_drcov_put_odd(struct tr_drcov_reader *reader, const char *key, struct tr_text text,
		      const struct tr_buffer *usual);

/* reader_blocks.c */
enum tr_status tr_drcov_read_table(struct tr_drcov_reader *reader, struct tr_record **record,
				   struct tr_error *err);
enum tr_status tr_drcov_read_block(struct tr_drcov_reader *reader, struct tr_record **record,
				   struct tr_error *err);

/*
 * reader_hits.c: hit counts stand behind the blocks that they are about. Looks
 * for them ahead, and keeps them; later steps over them. False: memory is out.
 */
bool tr_drcov_find_hits(struct tr_drcov_reader *reader);
enum tr_status tr_drcov_skip_hits(struct tr_drcov_reader *reader, struct tr_error *err);

#endif
