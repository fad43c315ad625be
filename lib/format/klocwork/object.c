/* From the pieces of an object to the line of its record. */
#include "core/error.h"
#include "format/klocwork/object.h"

struct tr_text tr_klocwork_object_piece(const struct tr_klocwork_object *object,
					struct tr_klocwork_piece piece)
{
	if (!piece.len)
		return (struct tr_text){ NULL, 0 };
	return (struct tr_text){ object->text.data + piece.begin, piece.len };
}

struct tr_text tr_klocwork_object_name(const struct tr_klocwork_object *object)
{
	struct tr_klocwork_piece none = { 0, 0 };
	return tr_klocwork_object_piece(object, object->extra_count == 1 ? object->name : none);
}

struct tr_text tr_klocwork_object_value(const struct tr_klocwork_object *object)
{
	const struct tr_buffer *extra = &object->extra;
	if (object->extra_count != 1 || extra->len <= object->extra_value)
		return (struct tr_text){ NULL, 0 };
	return tr_text_span(extra->data + object->extra_value, extra->data + extra->len);
}

static void put_piece(const struct tr_klocwork_object *object, struct tr_klocwork_piece piece,
		      struct tr_buffer *to)
{
	tr_buffer_put(to, object->text.data + piece.begin, piece.len);
}

static void put_cell(const struct tr_klocwork_object *object, struct tr_klocwork_piece cell,
		     struct tr_buffer *to)
{
	if (cell.len)
		put_piece(object, cell, to);
	else
		tr_buffer_put_byte(to, '-');
}

static void put_event(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
		      struct tr_buffer *to, struct tr_klocwork_gaps *gaps)
{
	const struct tr_klocwork_piece *pieces = object->pieces;
	size_t begin = to->len;
	tr_buffer_put_literal(to, "exec\t");
	tr_buffer_put_decimal(to, seq);
	tr_buffer_put_literal(to, "\t-\t");
	put_cell(object, pieces[TR_KLOCWORK_ID], to);
	tr_buffer_put_byte(to, '\t');
	put_cell(object, pieces[TR_KLOCWORK_EXECUTABLE], to);
	gaps->parent = to->len - begin;
	if (parent != TR_NO_POSITION) {
		tr_buffer_put_literal(to, "\tparent=");
		tr_buffer_put_decimal(to, parent);
	}
	put_piece(object, pieces[TR_KLOCWORK_PARENT_ID], to);
	put_piece(object, pieces[TR_KLOCWORK_WORK_DIR], to);
	put_piece(object, pieces[TR_KLOCWORK_ARGS], to);
	put_piece(object, pieces[TR_KLOCWORK_ENV_DIFF], to);
	/* who says nothing is no different from the env line, whatever the parent has */
	if (object->env_top && !pieces[TR_KLOCWORK_ENV_DIFF].len)
		tr_buffer_put_literal(to, "\tenvtop={}");
	gaps->flagged = to->len - begin;
	if (object->extra.len) {
		tr_buffer_put_literal(to, "\textra={");
		tr_buffer_put(to, object->extra.data, object->extra.len);
		tr_buffer_put_byte(to, '}');
	}
}

/* META and ENV. An object of several keys that is no event is one value, without a name. */
static void put_context(const struct tr_klocwork_object *object, uint64_t seq, struct tr_buffer *to)
{
	bool env = object->kind == TR_KLOCWORK_ENV;
	struct tr_text name = tr_klocwork_object_name(object);
	struct tr_text value = tr_klocwork_object_value(object);
	tr_buffer_put_text(to, env ? TR_TEXT("env\t") : TR_TEXT("meta\t"));
	tr_buffer_put_decimal(to, seq);
	tr_buffer_put_literal(to, "\t-\t-\t");
	tr_buffer_put_text(to, env || !name.data ? TR_TEXT("-") : name);
	if (value.data || !name.data)
		tr_buffer_put_text(to, env ? TR_TEXT("\tvars=") : TR_TEXT("\tvalue="));
	if (value.data) {
		tr_buffer_put_text(to, value);
	} else if (!name.data) {
		tr_buffer_put_byte(to, '{');
		tr_buffer_put_text(to, tr_buffer_text(&object->extra));
		tr_buffer_put_byte(to, '}');
	}
}

void tr_klocwork_object_line(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
			     struct tr_buffer *to, struct tr_klocwork_gaps *gaps)
{
	if (object->kind == TR_KLOCWORK_EVENT)
		put_event(object, seq, parent, to, gaps);
	else
		put_context(object, seq, to);
}
