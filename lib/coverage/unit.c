#include "coverage/unit.h"

const char *const tr_unit_bits_keys[] = { "statement_bits", "decision_bits", "mcdc_bits" };
const char *const tr_unit_list_keys[] = { "statements", "decisions", "mcdc" };
const char *const tr_unit_hash_keys[] = { "scos", "bit_maps", "annotations" };
