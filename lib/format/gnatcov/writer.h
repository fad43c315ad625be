/* What the files of the writer share. */
#ifndef TR_FORMAT_GNATCOV_WRITER_H
#define TR_FORMAT_GNATCOV_WRITER_H

#include "format/gnatcov/gnatcov.h"

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
enum tr_status tr_gnatcov_item_of(struct tr_record *record, bool big,
				  struct tr_gnatcov_item *item, struct tr_error *err);

/*
 * The fields of a load record from *next on: the first that is one of its
 * entries, with its padding. TR_END: no more. *next is behind it.
 */
enum tr_status tr_gnatcov_next_item(struct tr_record *record, size_t *next,
				    struct tr_gnatcov_item *item, struct tr_error *err);

/* The padding of an entry of kind load, unload, loadaddr: a .pad before all other fields. */
enum tr_status tr_gnatcov_entry_pad(struct tr_record *record, uint64_t *pad,
				    struct tr_error *err);

/* A date whose year was in one byte order gets it in the other. False: memory. */
bool tr_gnatcov_turn_date(struct tr_gnatcov_item *item, bool from_big, bool to_big,
			  struct tr_arena *arena);

#endif
