#include "format/klocwork/exact.h"

#include "format/klocwork/render.h"
#include "record/literal.h"

/* What the writer would write for a line. TR_WARN: nothing; TR_FATAL: memory is out. */
static enum tr_status render(struct tr_klocwork_exact *exact, struct tr_text line,
			     struct tr_arena *arena)
{
	static const struct tr_klocwork_overrides none;
	struct tr_klocwork_fields fields;
	struct tr_record record;
	struct tr_error ignored;
	tr_buffer_reset(&exact->rendered);
	tr_record_init(&record, arena);
	if (!tr_record_from_line(&record, line, &ignored))
		return TR_WARN;
	if (!tr_text_is(record.kind, "exec"))
		return tr_klocwork_render_context(&record, &exact->rendered, &ignored);
	enum tr_status status = tr_klocwork_fields_find(&record, &fields, &ignored);
	if (status != TR_OK)
		return status;
	return tr_klocwork_render_exec(&record, &fields, &none, &exact->rendered, &ignored);
}

/* Would the writer give the unit's very bytes? */
static bool comes_back(struct tr_klocwork_exact *exact, struct tr_text unit, struct tr_buffer *line,
		       struct tr_arena *arena)
{
	if (exact->amid_line || exact->blank.len)
		return false;
	tr_buffer_put_byte(line, '\n');
	if (line->failed)
		return true; /* the owner of the line will see */
	enum tr_status status = render(exact, tr_buffer_text(line), arena);
	line->len--;
	tr_buffer_put_byte(&exact->rendered, '\n');
	/* no .raw for want of memory */
	line->failed |= status == TR_FATAL || exact->rendered.failed;
	return status == TR_OK && tr_text_equal(tr_buffer_text(&exact->rendered), unit);
}

void tr_klocwork_exact_add_raw(struct tr_klocwork_exact *exact, struct tr_text unit,
			       struct tr_buffer *line, struct tr_arena *arena)
{
	if (comes_back(exact, unit, line, arena))
		return;
	/* escaped as one run: a sequence may go over the seam */
	tr_buffer_put_text(&exact->blank, unit);
	tr_buffer_put_literal(line, "\t.raw=\"");
	tr_string_escape(tr_buffer_text(&exact->blank), line);
	tr_buffer_put_byte(line, '"');
	line->failed |= exact->blank.failed;
}

void tr_klocwork_add_raw(struct tr_text object, struct tr_buffer *line)
{
	tr_buffer_put_literal(line, "\t.raw=\"");
	tr_string_escape(object, line);
	tr_buffer_put_literal(line, "\\n\"");
}

void tr_klocwork_exact_free(struct tr_klocwork_exact *exact)
{
	tr_buffer_free(&exact->blank);
	tr_buffer_free(&exact->rendered);
}
