/* What the parts of the reader share: its lines, its records, and where it stands. */
#include "format/drcov/reader.h"

#include "record/literal.h"

enum tr_status tr_drcov_warn(struct tr_drcov_reader *reader, struct tr_error *err)
{
	if (reader->binary)
		tr_error_at_offset(err, reader->in->offset);
	else
		tr_error_at_line(err, reader->line);
	return TR_WARN;
}

void tr_drcov_mark(struct tr_drcov_reader *reader)
{
	reader->at = reader->binary ? reader->in->offset : reader->line;
}

enum tr_status tr_drcov_deliver(struct tr_drcov_reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	reader->ready = false;
	tr_buffer_put_byte(&reader->out, '\n');
	if (tr_record_from_buffer(&reader->record, &reader->arena, &reader->out, err) != TR_OK)
		return TR_FATAL;
	if (reader->binary)
		reader->record.source_offset = reader->at;
	else
		reader->record.source_line = reader->at;
	*record = &reader->record;
	return reader->record.type == TR_HEADER ? tr_record_split(*record, err) : TR_OK;
}

enum tr_status tr_drcov_peek_line(struct tr_drcov_reader *reader, struct tr_text *line,
				  struct tr_error *err)
{
	enum tr_status status = tr_input_line(reader->in, line, err);
	if (status == TR_WARN) {
		(void)tr_drcov_warn(reader, err);
		reader->line++;
	}
	return status;
}

void tr_drcov_skip_line(struct tr_drcov_reader *reader, struct tr_text line)
{
	tr_input_skip(reader->in, line.len);
	reader->line++;
}

void tr_drcov_put_key(struct tr_drcov_reader *reader, const char *key)
{
	tr_buffer_put_byte(&reader->out, '\t');
	tr_buffer_put_text(&reader->out, tr_text_from(key));
	tr_buffer_put_byte(&reader->out, '=');
}

void tr_drcov_put_string(struct tr_drcov_reader *reader, struct tr_text text)
{
	tr_buffer_put_byte(&reader->out, '"');
	tr_string_escape(text, &reader->out);
	tr_buffer_put_byte(&reader->out, '"');
}

void tr_drcov_put_odd(struct tr_drcov_reader *reader, const char *key, struct tr_text text,
		      const struct tr_buffer *usual)
{
	if (usual->failed)
		reader->out.failed = true;
	if (tr_text_equal(text, tr_buffer_text(usual)))
		return;
	tr_drcov_put_key(reader, key);
	tr_drcov_put_string(reader, text);
}
