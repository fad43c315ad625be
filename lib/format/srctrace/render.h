/* Entries of a source trace as lines of the stream, less their line feed. */
#ifndef TR_FORMAT_SRCTRACE_RENDER_H
#define TR_FORMAT_SRCTRACE_RENDER_H

#include "format/srctrace/unit.h"

/* padding: of the header, 0 where it is as it should be. */
void tr_srctrace_header_line(const struct tr_srctrace_layout *layout, unsigned padding,
			     struct tr_buffer *line);

void tr_srctrace_info_line(uint64_t seq, uint32_t kind, struct tr_text data,
			   struct tr_buffer *line);

/* entry: the whole of it. */
void tr_srctrace_unit_line(uint64_t seq, const char *entry, const struct tr_srctrace_unit *unit,
			   struct tr_buffer *line);

/* The entry as it is, for what no field says. */
void tr_srctrace_raw_field(struct tr_text entry, struct tr_buffer *line);

#endif
