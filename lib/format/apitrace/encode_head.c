/* What stands before the first event. */
#include <inttypes.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"

/* NULL: the header does not have it, or err is filled. */
static struct tr_value *header_value(struct tr_record *header, const char *key,
				     struct tr_error *err)
{
	struct tr_field *field = tr_record_field(header, key);
	return field ? tr_field_value(header, field, err) : NULL;
}

static bool header_number(struct tr_record *header, const char *key, uint64_t *number,
			  struct tr_error *err)
{
	struct tr_value *value = header_value(header, key, err);
	if (value && value->type == TR_UINT)
		*number = value->as.number;
	return value && value->type == TR_UINT;
}

/* Other formats have versions, too. */
static bool is_ours(struct tr_record *header)
{
	struct tr_field *format = tr_record_field(header, "format");
	return !format || tr_text_is(format->text, "apitrace");
}

static enum tr_status put_properties(struct tr_encoder *encoder, struct tr_value *list,
				     struct tr_error *err)
{
	enum tr_status status = TR_OK;
	struct tr_arena *arena = encoder->signatures.scratch_arena;
	for (size_t i = 0; list->type == TR_LIST && i < list->count; i++) {
		const struct tr_value *pair = &list->as.items[i];
		struct tr_text text[2] = { { "", 0 } };
		bool good = pair->type == TR_LIST && pair->count == 2;
		for (unsigned k = 0; good && k < 2; k++) {
			good = pair->as.items[k].type == TR_STRING;
			if (good)
				text[k] = tr_string_bytes(pair->as.items[k].text, arena);
			encoder->failed |= good && !text[k].data;
		}
		/* an empty name would be the end of them */
		if (!good || !text[0].len) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "a property is no pair of texts [\"name\",\"value\"]");
			status = TR_WARN;
			continue;
		}
		tr_encode_string(encoder, text[0]);
		tr_encode_string(encoder, text[1]);
	}
	return status;
}

enum tr_status tr_encode_head(struct tr_encoder *encoder, struct tr_record *header, int version,
			      struct tr_error *err)
{
	uint64_t own = TR_APITRACE_VERSION, semantic;
	bool ours = header && is_ours(header);
	struct tr_field *raw = ours ? tr_record_field(header, ".raw") : NULL;
	enum tr_status status = TR_OK;
	tr_encode_begin(encoder, header ? header->arena : NULL, err);
	if (ours)
		header_number(header, "version", &own, err);
	if (own > TR_APITRACE_VERSION) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "version %" PRIu64 " of apitrace's format is not known", own);
		return TR_FATAL;
	}
	semantic = own;
	if (ours)
		header_number(header, "semantic", &semantic, err);
	encoder->version = version < 0 ? own : (uint64_t)version;
	/* only what came so goes so */
	encoder->thread_details = ours && own < TR_APITRACE_HAS_THREADS &&
				  encoder->version < TR_APITRACE_HAS_THREADS;
	encoder->marking = raw != NULL;
	tr_encode_uint(encoder, encoder->version);
	if (encoder->version >= TR_APITRACE_HAS_PROPERTIES) {
		struct tr_value *list = ours ? header_value(header, "properties", err) : NULL;
		tr_encode_uint(encoder, semantic);
		if (list)
			status = put_properties(encoder, list, err);
		tr_encode_byte(encoder, 0);
	}
	if (raw)
		tr_encode_raw(encoder, header, raw);
	if (!encoder->failed && !encoder->bytes.failed)
		return status;
	return tr_error_memory(err);
}
