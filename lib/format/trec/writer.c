/*
 * The stream in its one spelling. A line that nobody can understand is no
 * reason to lose it here: it goes out as it came in, and is reported.
 */
#include "format/trec/trec.h"

#include <stdlib.h>

#include "core/buffer.h"

struct tr_writer {
	struct tr_output *out;
	struct tr_buffer line;
};

struct tr_writer *tr_trec_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	struct tr_writer *w = calloc(1, sizeof *w);

	(void)config;
	if (!w) {
		tr_error_memory(err);
		return NULL;
	}
	w->out = out;
	return w;
}

enum tr_status tr_trec_put(struct tr_writer *w, struct tr_record *record, struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (record->spell && !record->line.data) {
		char *line = tr_output_room(w->out, TR_SPELL_MAX);
		tr_output_used(w->out, record->spell(record, line));
	} else if (record->line.data && record->canonical) {
		tr_output_put_text(w->out, record->line);
	} else {
		tr_buffer_reset(&w->line);
		status = tr_record_write(record, &w->line, err);
		if (status == TR_OK) {
			tr_output_put_text(w->out, tr_buffer_text(&w->line));
		} else if (status == TR_WARN && record->line.data) {
			tr_output_put_text(w->out, record->line);
			err->severity = TR_FLAW;
		}
	}
	tr_output_record_end(w->out);
	return status;
}

enum tr_status tr_trec_finish(struct tr_writer *w, struct tr_error *err)
{
	(void)w;
	(void)err;
	return TR_OK;
}

void tr_trec_discard(struct tr_writer *w)
{
	if (!w)
		return;
	tr_buffer_free(&w->line);
	free(w);
}
