/* Headers and trailers: what frames a segment of the stream. */
#include "format/trace_private.h"

#include "core/codec.h"
#include "record/literal.h"

/* The line that was put together, as a record. */
static bool made(struct tr_trace *trace, struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *line = &trace->made_line;

	tr_buffer_put_byte(line, '\n');
	/* readers of lines may look beyond the end */
	char *pad = tr_buffer_room(line, TR_INPUT_PAD);
	if (!pad || line->failed) {
		tr_error_memory(err);
		return false;
	}
	memset(pad, 0, TR_INPUT_PAD);
	tr_arena_reset(&trace->made_arena);
	tr_record_init(&trace->made, &trace->made_arena);
	if (!tr_record_from_line(&trace->made, tr_buffer_text(line), err))
		return false;
	trace->made.canonical = true;
	*record = &trace->made;
	return true;
}

static void put_field(const struct tr_field *field, struct tr_buffer *line)
{
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, field->key);
	tr_buffer_put_byte(line, '=');
	if (field->text.data)
		tr_buffer_put_text(line, field->text);
	else
		tr_literal_write(field->value, line);
}

bool tr_trace_make_header(struct tr_trace *trace, struct tr_record *own, struct tr_record **record,
			  struct tr_error *err)
{
	struct tr_buffer *line = &trace->made_line;
	const struct tr_trace_place *place = &trace->place;

	trace->segment.open = true;
	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "%trec\t1\tformat=");
	tr_buffer_put_text(line, tr_text_from(place->format->name));
	if (place->codec) {
		tr_buffer_put_literal(line, "\tcontainer=");
		tr_buffer_put_text(line, tr_text_from(place->codec->name));
	}
	if (place->member) {
		tr_buffer_put_literal(line, "\tmember=\"");
		tr_string_escape(tr_text_from(place->member), line);
		tr_buffer_put_byte(line, '"');
	}
	if (place->bom && trace->config.read.exact)
		tr_buffer_put_literal(line, "\t.bom=true");
	for (size_t i = 0; own && i < own->count; i++)
		put_field(&own->fields[i], line);
	return made(trace, record, err);
}

static bool is_damage_field(const struct tr_field *field)
{
	return tr_text_is(field->key, "errors") || tr_text_is(field->key, "truncated");
}

/*
 * The trailer as it has to be: `own` is the one that the stream has, or NULL.
 * It goes out as it is when there is nothing to add: if it miscounts, somebody
 * has to see that at the end.
 */
bool tr_trace_make_trailer(struct tr_trace *trace, struct tr_record *own, struct tr_record **record,
			   struct tr_error *err)
{
	struct tr_segment *segment = &trace->segment;
	struct tr_buffer *line = &trace->made_line;
	uint64_t count = segment->count;

	if (own && !segment->open)
		count = own->seq.number; /* of an anonymous segment: nobody can check it */
	if (own && !segment->errors && !segment->truncated) {
		*record = own;
		tr_segment_add_up(trace);
		*segment = (struct tr_segment){ 0 };
		return true;
	}
	tr_buffer_reset(line);
	tr_trailer_put(count, segment->errors + trace->upstream_errors,
		       segment->truncated || trace->upstream_truncated, line);
	for (size_t i = 0; own && i < own->count; i++) {
		const struct tr_field *field = &own->fields[i];
		if (!field->bad && !is_damage_field(field) && field->text.data)
			put_field(field, line);
	}
	tr_segment_add_up(trace);
	*segment = (struct tr_segment){ 0 };
	return made(trace, record, err);
}

/* What a trailer of the stream says about the way behind it. */
void tr_trace_look_at_trailer(struct tr_trace *trace, struct tr_record *record)
{
	struct tr_field *errors = tr_record_field(record, "errors");
	struct tr_field *truncated = tr_record_field(record, "truncated");

	trace->upstream_errors = 0;
	if (errors) {
		struct tr_value *value = tr_field_value(record, errors, NULL);
		/* whatever it says, it wants to say that not all is well */
		trace->upstream_errors = value && value->type == TR_UINT ? value->as.number : 1;
	}
	struct tr_value *cut = truncated ? tr_field_value(record, truncated, NULL) : NULL;
	trace->upstream_truncated = truncated && !(cut && cut->type == TR_FALSE);
	trace->say_upstream = trace->upstream_errors || trace->upstream_truncated;
}
