/* format json: the stream as typed JSON. Its parts know each other only by this. */
#ifndef TR_FORMAT_JSON_JSON_H
#define TR_FORMAT_JSON_JSON_H

#include "format/format.h"

struct tr_reader *tr_json_reader_open(const struct tr_read_config *config, struct tr_input *in,
				      struct tr_error *err);
enum tr_status tr_json_reader_next(struct tr_reader *reader, struct tr_record **record,
				   struct tr_error *err);
void tr_json_reader_close(struct tr_reader *reader);

#endif
