/*
 * --exact: what the writer would write is compared with the bytes that a
 * record was made of, and where these differ they go along as .raw. It is the
 * exception: tracers write numbers in as few bytes as they need, as we do.
 */
#ifndef TR_FORMAT_APITRACE_EXACT_H
#define TR_FORMAT_APITRACE_EXACT_H

#include "core/error.h"
#include "core/text.h"
#include "record/record.h"

struct tr_apitrace_exact;

/* NULL: memory is out. */
struct tr_apitrace_exact *tr_apitrace_exact_new(void);
void tr_apitrace_exact_free(struct tr_apitrace_exact *exact);

/*
 * Takes every record in turn, as the reader made it: the header, definitions,
 * calls. source: the bytes it was made of, of both events for a call, with the
 * definitions in them; not looked at for definitions. Adds .raw where it has
 * to be. TR_OK, or TR_FATAL: memory.
 */
enum tr_status tr_apitrace_exact_add(struct tr_apitrace_exact *exact, struct tr_record *record,
				     struct tr_text source, struct tr_error *err);

#endif
