/* Private to the klocwork format. The facts: trace-formats(5), "klocwork". */
#ifndef TR_FORMAT_KLOCWORK_KLOCWORK_H
#define TR_FORMAT_KLOCWORK_KLOCWORK_H

#include "format/format.h"

int tr_klocwork_bid(struct tr_input *in);

struct tr_reader *tr_klocwork_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err);
enum tr_status tr_klocwork_next(struct tr_reader *reader, struct tr_record **record,
				struct tr_error *err);
void tr_klocwork_close(struct tr_reader *reader);

struct tr_writer *tr_klocwork_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err);
void tr_klocwork_discard(struct tr_writer *writer);

#endif
