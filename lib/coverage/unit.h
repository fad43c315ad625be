/* SPDX-License-Identifier: MIT */
/*
 * The fields of a record of kind unit: three sets of bits (statements, decisions, MC/DC), and three
 * fingerprints.
 */
#ifndef TR_COVERAGE_UNIT_H
#define TR_COVERAGE_UNIT_H

enum { TR_UNIT_SETS = 3 };

/* The number of bits of a set. */
static const char *const tr_unit_bits_keys[] = { "statement_bits", "decision_bits", "mcdc_bits" };
/* The numbers of the bits that are set. */
static const char *const tr_unit_list_keys[] = { "statements", "decisions", "mcdc" };
static const char *const tr_unit_hash_keys[] = { "scos", "bit_maps", "annotations" };

#endif
