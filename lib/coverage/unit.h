/* The fields of a record of kind unit: three sets of bits, and three fingerprints. */
#ifndef TR_COVERAGE_UNIT_H
#define TR_COVERAGE_UNIT_H

enum { TR_UNIT_SETS = 3 }; /* statements, decisions, MC/DC; fingerprints are three too */

extern const char *const tr_unit_bits_keys[]; /* how many bits a set has */
extern const char *const tr_unit_list_keys[]; /* the numbers of those that are set */
extern const char *const tr_unit_hash_keys[];

#endif
