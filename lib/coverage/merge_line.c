#include "coverage/merge_line.h"

#include <string.h>

#include "record/literal.h"

enum tr_status tr_merge_columns(struct tr_record *record, unsigned tabs, struct tr_buffer *scratch,
				struct tr_text *columns, struct tr_error *err)
{
	tr_buffer_reset(scratch);
	enum tr_status status = tr_record_write(record, scratch, err);
	if (status != TR_OK)
		return status;
	*columns = tr_buffer_text(scratch);
	for (const char *p; tabs && (p = memchr(columns->data, '\t', columns->len)); tabs--)
		*columns = tr_text_span(p + 1, columns->data + columns->len);
	return TR_OK;
}

static bool is_in(const char *const *list, struct tr_text key)
{
	for (; *list; list++)
		if (tr_text_is(key, *list))
			return true;
	return false;
}

enum tr_status tr_merge_fields(struct tr_record *record, const char *const *skip,
			       struct tr_buffer *to, struct tr_error *err)
{
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		if (field->key.data && is_in(skip, field->key))
			continue;
		struct tr_value *value = tr_field_value(record, field, err);
		if (!value)
			return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
		tr_buffer_put_byte(to, '\t');
		tr_buffer_put_text(to, field->key);
		tr_buffer_put_byte(to, '=');
		tr_literal_write(value, to);
	}
	return to->failed ? tr_error_memory(err) : TR_OK;
}

enum tr_status tr_merge_header(struct tr_record *header, const char *format, struct tr_buffer *to,
			       struct tr_error *err)
{
	static const char *const skip[] = { "format", "container", "member", "stream",
					    ".bom",   ".head",	   NULL };

	tr_buffer_put_literal(to, "%trec\t1\tformat=");
	tr_buffer_put_text(to, tr_text_from(format));
	return header ? tr_merge_fields(header, skip, to, err) : TR_OK;
}

void tr_merge_begin(const char *kind, uint64_t seq, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(kind));
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_decimal(to, seq);
	tr_buffer_put_literal(to, "\t-\t-\t");
}
