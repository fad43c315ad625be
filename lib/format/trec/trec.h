/* Private to lib/format/trec: the record stream as a format like any other. */
#ifndef TR_FORMAT_TREC_TREC_H
#define TR_FORMAT_TREC_TREC_H

#include "format/format.h"

int tr_trec_bid(struct tr_input *in);

struct tr_reader *tr_trec_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err);
enum tr_status tr_trec_next(struct tr_reader *reader, struct tr_record **record,
			    struct tr_error *err);
void tr_trec_close(struct tr_reader *reader);

struct tr_writer *tr_trec_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err);
enum tr_status tr_trec_put(struct tr_writer *writer, struct tr_record *record,
			   struct tr_error *err);
enum tr_status tr_trec_finish(struct tr_writer *writer, struct tr_error *err);
void tr_trec_discard(struct tr_writer *writer);

#endif
