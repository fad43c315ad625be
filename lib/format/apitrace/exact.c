#include "format/apitrace/exact.h"

#include <stdlib.h>

#include "format/apitrace/encode.h"

struct tr_apitrace_exact {
	struct tr_encoder encoder;
};

struct tr_apitrace_exact *tr_apitrace_exact_new(void)
{
	return calloc(1, sizeof(struct tr_apitrace_exact));
}

void tr_apitrace_exact_free(struct tr_apitrace_exact *exact)
{
	if (!exact)
		return;
	tr_encoder_free(&exact->encoder);
	free(exact);
}

static enum tr_status add_raw(struct tr_record *record, struct tr_text source, struct tr_error *err)
{
	struct tr_value *raw = tr_arena_alloc(record->arena, sizeof *raw);
	struct tr_text bytes = tr_arena_copy(record->arena, source);
	if (raw && bytes.data) {
		*raw = (struct tr_value){ .type = TR_BLOB, .text = bytes };
		if (tr_record_add(record, TR_TEXT(".raw"), raw))
			return TR_OK;
	}
	return tr_error_memory(err);
}

enum tr_status tr_apitrace_exact_add(struct tr_apitrace_exact *exact, struct tr_record *record,
				     struct tr_text source, struct tr_error *err)
{
	struct tr_encoder *encoder = &exact->encoder;
	struct tr_error why;
	enum tr_status status;
	tr_error_clear(&why);
	if (record->type == TR_DEFINITION) {
		status = tr_written_define(&encoder->signatures, record, &why);
	} else if (record->type == TR_HEADER) {
		tr_encoder_restart(encoder);
		status = tr_encode_head(encoder, record, -1, &why);
	} else {
		status = tr_encode_record(encoder, record, &why);
	}
	if (status == TR_FATAL) {
		*err = why;
		return status;
	}
	/* what the writer would leave out has no bytes to be compared with */
	if (status != TR_OK || record->type == TR_DEFINITION ||
	    tr_text_equal(tr_buffer_text(&encoder->bytes), source))
		return TR_OK;
	return add_raw(record, source, err);
}
