/*
 * The lines of drcov files: those before the module table, and those before the
 * other tables. Execution traces keep the list of modules in the same words.
 */
#ifndef TR_COVERAGE_DRCOV_HEAD_H
#define TR_COVERAGE_DRCOV_HEAD_H

#include "coverage/module_table.h"

#define TR_DRCOV_VERSION "DRCOV VERSION:"

struct tr_drcov_head {
	uint64_t version;
	struct tr_text flavor; /* into what was parsed; data NULL: there is no such line */
	uint64_t table;	       /* version of the module table; 1 where it does not say */
	uint64_t count;	       /* of modules, as the table's line has it */
	struct tr_module_columns columns;
	bool has_version, has_table, has_columns;
};

/* Takes in one line, with or without its line end. False: it is none that belongs there. */
bool tr_drcov_head_line(struct tr_drcov_head *head, struct tr_text line);

/* A table of version 2 and later has a line of columns; true also when that is there. */
bool tr_drcov_head_whole(const struct tr_drcov_head *head);

/* The columns that go with the version, where no line says them. */
void tr_drcov_head_supply(struct tr_drcov_head *head);

/* All lines of text. */
void tr_drcov_head_parse(struct tr_drcov_head *head, struct tr_text text);

void tr_drcov_head_write(const struct tr_drcov_head *head, struct tr_buffer *to);
bool tr_drcov_head_equal(const struct tr_drcov_head *a, const struct tr_drcov_head *b);

#define TR_DRCOV_TEXT_LINE "module id, start, size:"
#define TR_DRCOV_TEXT_MARK "module id" /* so much of it says that the blocks are text */

/* "BB Table: 12 bbs". False: it is something else. */
bool tr_drcov_blocks_line(struct tr_text line, uint64_t *count);
void tr_drcov_blocks_write(uint64_t count, bool text, struct tr_buffer *to);

/* "Hit Count Table: version 1, count 12". */
bool tr_drcov_hits_line(struct tr_text line, uint64_t *count);
void tr_drcov_hits_write(uint64_t count, struct tr_buffer *to);

/* The next line of text, with its line feed; len 0 at the end. */
struct tr_text tr_drcov_next_line(struct tr_text *text);

#endif
