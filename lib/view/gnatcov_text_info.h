/* The information of a trace in gnatcov's text: for gnatcov_text.c alone. */
#ifndef TR_VIEW_GNATCOV_TEXT_INFO_H
#define TR_VIEW_GNATCOV_TEXT_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "record/record.h"

/* Appends what is printed of an info record. big: the byte order of its section. */
enum tr_status tr_gnatcov_text_info(struct tr_record *record, bool big, struct tr_buffer *to,
				    struct tr_error *err);

/* The byte order that a section record says. */
enum tr_status tr_gnatcov_text_endian(struct tr_record *record, bool *big, struct tr_error *err);

/* The ELF machine that it says; *machine stays where it says none. */
enum tr_status tr_gnatcov_text_machine(struct tr_record *record, int64_t *machine,
				       struct tr_error *err);

#endif
