/* What the files of the writer share. */
#ifndef TR_FORMAT_GNATCOV_WRITER_H
#define TR_FORMAT_GNATCOV_WRITER_H

#include "coverage/block.h"
#include "coverage/module_list.h"
#include "format/gnatcov/gnatcov.h"
#include "format/segment_writer.h"

enum tr_gnatcov_place {
	TR_GNATCOV_NOWHERE, /* no section yet in this segment */
	TR_GNATCOV_IN_INFO,
	TR_GNATCOV_IN_ENTRIES,
};

struct tr_gnatcov_writer {
	struct tr_segment_writer base;
	struct tr_text tag; /* -O tag, data NULL: as it is */
	int big, machine;   /* -O, -1: as it is */

	/* the segment */
	enum tr_gnatcov_place place;
	bool tagged;			   /* the tag stands in this list */
	struct tr_gnatcov_section section; /* as it is written */
	bool was_big;			   /* it was, where the records come from */
	bool drcov;			   /* it was a drcov file */
	struct tr_module_list modules;	   /* of that */
	struct tr_buffer program;	   /* path of the first of them */

	/* the whole stream */
	bool told_supplied;
};

/* The section that a record describes; the year of a date needs to know what was `big` in it. */
enum tr_status tr_gnatcov_section_of(struct tr_record *record, struct tr_gnatcov_section *section,
				     struct tr_error *err);

/* One entry of a list, its data in the record's arena. */
struct tr_gnatcov_item {
	uint32_t tag;
	struct tr_text data;
	uint32_t pad;
};

/*
 * The entry that an info record describes: its data, or where it has none what
 * its value says. big: of the section in the record's trace.
 */
enum tr_status tr_gnatcov_item_of(struct tr_record *record, bool big, struct tr_gnatcov_item *item,
				  struct tr_error *err);

/*
 * The fields of a load record from *next on: the first that is one of its
 * entries, with its padding. TR_END: no more. *next is behind it.
 */
enum tr_status tr_gnatcov_next_item(struct tr_record *record, size_t *next,
				    struct tr_gnatcov_item *item, struct tr_error *err);

/* The padding of an entry of kind load, unload, loadaddr: a .pad before all other fields. */
enum tr_status tr_gnatcov_entry_pad(struct tr_record *record, uint64_t *pad, struct tr_error *err);

/* A date whose year was in one byte order gets it in the other. False: memory. */
bool tr_gnatcov_turn_date(struct tr_gnatcov_item *item, bool from_big, bool to_big,
			  struct tr_arena *arena);

/* writer_bytes.c: what sections are made of. */
void tr_gnatcov_write_header(struct tr_gnatcov_writer *writer,
			     const struct tr_gnatcov_section *section);
/* An INFO section for entries like those. */
void tr_gnatcov_write_info_header(struct tr_gnatcov_writer *writer,
				  const struct tr_gnatcov_section *like);
void tr_gnatcov_write_item(struct tr_gnatcov_writer *writer, const struct tr_gnatcov_item *item);
void tr_gnatcov_end_list(struct tr_gnatcov_writer *writer);
/* What -O tag says, once in a list. */
void tr_gnatcov_write_tag(struct tr_gnatcov_writer *writer);
/* The list that is open, if one is, gets its tag and its end. */
void tr_gnatcov_close_list(struct tr_gnatcov_writer *writer);

/* writer_entries.c: records of one kind each, or with special: of entries that are no block. */
enum tr_status tr_gnatcov_put_block(struct tr_gnatcov_writer *writer, struct tr_record *record,
				    struct tr_error *err);
enum tr_status tr_gnatcov_put_special(struct tr_gnatcov_writer *writer, struct tr_record *record,
				      enum tr_gnatcov_special special, struct tr_error *err);
enum tr_status tr_gnatcov_write_entry(struct tr_gnatcov_writer *writer,
				      const struct tr_block *entry, struct tr_error *err);
/* Says, once, that the stream lacks a section for its records. */
enum tr_status tr_gnatcov_supplied(struct tr_gnatcov_writer *writer, struct tr_error *err);

/*
 * writer_drcov.c: a drcov file becomes one section, its modules the absolute
 * addresses of their blocks. The list of them is kept as USER_DATA, so that the
 * way back finds it.
 */
enum tr_status tr_gnatcov_begin_drcov(struct tr_gnatcov_writer *writer, struct tr_record *header,
				      struct tr_error *err);
/* A record of such a segment. TR_END: its kind has no place. */
enum tr_status tr_gnatcov_put_drcov(struct tr_gnatcov_writer *writer, struct tr_record *record,
				    struct tr_error *err);
/* Nothing more comes: a file without blocks has its modules all the same. False: memory. */
bool tr_gnatcov_end_drcov(struct tr_gnatcov_writer *writer);

#endif
