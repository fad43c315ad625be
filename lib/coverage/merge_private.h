/* What merge.c gathers and merge_write.c writes. */
#ifndef TR_COVERAGE_MERGE_PRIVATE_H
#define TR_COVERAGE_MERGE_PRIVATE_H

#include "core/buffer.h"
#include "core/map.h"
#include "coverage/layout.h"
#include "coverage/merge.h"
#include "coverage/merge_modules.h"
#include "coverage/merge_units.h"
#include "coverage/ranges.h"

/* A shared object: key is all that its load records say, less seq and address. */
struct tr_merge_object {
	struct tr_text key; /* owned */
	uint64_t base;
	struct tr_ranges *ranges;
};

/* What all traces have to share. */
struct tr_merge_section {
	struct tr_text bits, endian, machine; /* spelled values, owned */
};

/* The kind of the traces that are merged. */
enum tr_merge_form {
	TR_MERGE_UNKNOWN,
	TR_MERGE_EXECUTION,
	TR_MERGE_UNITS,	  /* source traces */
	TR_MERGE_MODULES, /* drcov */
};

struct tr_merge {
	enum tr_merge_form form, segment; /* of all, by the first; of the segment that is read */
	bool passes;			  /* the segment is of another form, or of none */
	bool told_none;			  /* that the traces are of no form at all */
	struct tr_merge_units *units;
	struct tr_merge_modules *modules;

	/* execution traces */
	struct tr_ranges *program;
	struct tr_merge_object *objects;
	size_t object_count, object_cap;
	struct tr_map by_key; /* to index + 1 */
	struct tr_layout layout;

	struct tr_buffer infos;	/* lines of the first trace, without kind and seq */
	struct tr_map programs; /* those of them that name its program; values mean nothing */
	bool has_infos;		/* the first trace has begun with its entries */
	struct tr_arena arena;	/* of programs and form */
	struct tr_merge_section section;
	uint8_t digits;

	bool in_info;  /* the last section was INFO */
	bool left_out; /* this section is no execution, or of another form */
	bool told_other;
	struct tr_buffer text;
	uint64_t seq;
};

#endif
