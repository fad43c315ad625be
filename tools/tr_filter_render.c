/* What is written of a record: its line, or a row of --fields. */
#include "config.h"

#include "tr_filter.h"

bool tr_filter_line_of(struct tr_filter *filter, struct tr_record *record, struct tr_text *line)
{
	struct tr_error err;

	*line = record->line;
	if (line->data)
		return true;
	tr_buffer_reset(&filter->text);
	switch (tr_record_write(record, &filter->text, &err)) {
	case TR_OK:
		*line = tr_buffer_text(&filter->text);
		return true;
	case TR_FATAL:
		return tr_filter_out_of_memory(filter);
	default:
		tr_cli_report_record(filter->cli, record, &err, true);
		return false;
	}
}

static bool render_row(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave)
{
	struct tr_buffer *to = &filter->text;
	size_t count = tr_field_list_count(filter->fields);

	for (size_t i = 0; i < count; i++) {
		struct tr_error err;
		if (i > 0)
			tr_buffer_put_byte(to, '\t');
		if (tr_field_list_write(filter->fields, i, record, leave, filter->raw, to, &err))
			continue;
		if (err.cause != TR_CAUSE_NONE)
			tr_cli_report_record(filter->cli, record, &err, false);
		if (!filter->raw)
			tr_buffer_put_byte(to, '-');
	}
	tr_buffer_put_byte(to, filter->nul ? '\0' : '\n');
	return !to->failed || tr_filter_out_of_memory(filter);
}

bool tr_filter_render(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave,
		      struct tr_text *text)
{
	if (tr_filter_writes_lines(filter)) {
		if (!tr_filter_line_of(filter, record, text))
			return false;
		return !filter->rebases || tr_filter_rebase(filter, record, text);
	}
	tr_buffer_reset(&filter->text);
	if (filter->fields && !render_row(filter, record, leave))
		return false;
	*text = tr_buffer_text(&filter->text);
	return true;
}
