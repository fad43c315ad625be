/* Lists of names with values, for --compare. */
#ifndef TR_TOOLS_TR_ENVDIFF_COMPARE_H
#define TR_TOOLS_TR_ENVDIFF_COMPARE_H

#include "tr_envdiff.h"

struct tr_pair {
	struct tr_text name;  /* bytes */
	struct tr_text value; /* literal */
	struct tr_text shown; /* literal of what it means to people; data NULL: the value */
	size_t place;	      /* among all of its list */
};

/* Names may come again: their order means something then. Zero it. */
struct tr_pairs {
	struct tr_pair *list;
	size_t count, cap;
	struct tr_arena arena; /* of the texts */
};

/* False: memory is out. */
bool tr_pairs_add_map(struct tr_pairs *pairs, struct tr_text literal);
bool tr_pairs_add_info(struct tr_pairs *pairs, struct tr_record *record);
bool tr_pairs_add_properties(struct tr_pairs *pairs, struct tr_record *header);
void tr_pairs_sort(struct tr_pairs *pairs, bool fold);

/* Prints what differs between two sorted lists as diff does it. False: memory is out. */
bool tr_pairs_print(struct tr_envdiff *envdiff, const struct tr_pairs *a, const struct tr_pairs *b,
		    bool fold, bool *differ);

void tr_pairs_free(struct tr_pairs *pairs);

#endif
