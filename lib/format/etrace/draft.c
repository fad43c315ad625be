#include "format/etrace/draft.h"

#include "format/etrace/fields.h"
#include "format/etrace/flags.h"
#include "format/etrace/line.h"

bool tr_etrace_lacks(struct tr_etrace_draft *d, const char *what)
{
	tr_error_set(d->err, TR_CAUSE_INPUT, "no %s, which the log needs", what);
	return false;
}

/* The record says so of itself. */
bool tr_etrace_is_flagged(struct tr_etrace_draft *d, const char *flag, bool *truth)
{
	struct tr_field *field = tr_record_field(d->record, "flagged");
	struct tr_value *list = field ? tr_field_value(d->record, field, d->err) : NULL;

	*truth = false;
	for (size_t i = 0; list && list->type == TR_LIST && i < list->count; i++)
		*truth |= list->as.items[i].type == TR_STRING &&
			  tr_text_is(list->as.items[i].text, flag);
	return !field || list;
}

/* Parameters. */

void tr_etrace_draft_begin(struct tr_etrace_draft *d, struct tr_text tag)
{
	tr_etrace_pen_open(&d->pen, tag);
	d->comma = false;
}

void tr_etrace_draft_number(struct tr_etrace_draft *d, struct tr_text name, int64_t number)
{
	struct tr_buffer *to = d->pen.to;

	if (d->comma)
		tr_buffer_put_byte(to, ',');
	d->comma = true;
	tr_buffer_put_text(to, name);
	tr_buffer_put_byte(to, '=');
	tr_etrace_put_number(number, to);
}

/* Parameters that nobody knew when the record was read. */
static bool put_extra(struct tr_etrace_draft *d)
{
	struct tr_field *field = tr_record_field(d->record, "extra");
	struct tr_value *map = field ? tr_field_value(d->record, field, d->err) : NULL;

	if (field && !map)
		return false;
	for (size_t i = 0; map && map->type == TR_MAP && i < map->count; i++) {
		const struct tr_member *member = &map->as.members[i];
		const struct tr_value *value = member->value;
		if ((value->type != TR_UINT && value->type != TR_INT) ||
		    value->as.number > INT64_MAX)
			continue;
		int64_t number = (int64_t)value->as.number;
		struct tr_text name = tr_string_bytes(member->key, d->record->arena);
		tr_etrace_draft_number(d, name, value->flags & TR_NEGATIVE ? -number : number);
	}
	return true;
}

bool tr_etrace_draft_end(struct tr_etrace_draft *d)
{
	bool fine = put_extra(d);

	tr_buffer_put_byte(d->pen.to, '\n');
	return fine;
}

/* Texts. */

/* The text that a field holds, and the size that the event says it has. */
bool tr_etrace_find_string(struct tr_etrace_draft *d, const char *key, struct tr_text tag,
			   struct tr_etrace_found *string)
{
	char size_key[8] = ".";

	memcpy(size_key + 1, tag.data, tag.len);
	size_key[1 + tag.len] = '\0';
	string->tag = tag;
	if (!tr_etrace_field_string(d->record, key, &string->there, &string->text, d->err) ||
	    !tr_etrace_field_number(d->record, size_key, &string->has_size, &string->size, d->err))
		return false;
	if (string->there && !string->has_size)
		string->size = (int64_t)string->text.len;
	string->has_size = string->has_size || string->there;
	return true;
}

void tr_etrace_draft_size(struct tr_etrace_draft *d, struct tr_text name,
			  const struct tr_etrace_found *string)
{
	if (string->has_size)
		tr_etrace_draft_number(d, name, string->size);
}

void tr_etrace_draft_string(struct tr_etrace_draft *d, const struct tr_etrace_found *string)
{
	if (string->there)
		tr_etrace_pen_string(&d->pen, string->tag, string->text);
}

/* Flags; *there is false where there are none. */
bool tr_etrace_find_call_flags(struct tr_etrace_draft *d, enum tr_etrace_type type, bool *there,
			       int64_t *number)
{
	struct tr_field *field = tr_record_field(d->record, "flags");

	*there = field != NULL;
	if (!field)
		return true;
	struct tr_value *value = tr_field_value(d->record, field, d->err);
	if (!value)
		return false;
	if (type == TR_ETRACE_FORK && tr_etrace_flags_of_clone3(value)) {
		*there = false;
		return true;
	}
	if (tr_etrace_flags_read(type, value, number))
		return true;
	tr_error_set(d->err, TR_CAUSE_INPUT, "flags: a word that is no flag of this call");
	return false;
}

/* The number of a field, put as a parameter where it is there. */
bool tr_etrace_draft_field(struct tr_etrace_draft *d, const char *key, struct tr_text name,
			   bool needed)
{
	bool there;
	int64_t number;

	if (!tr_etrace_field_number(d->record, key, &there, &number, d->err))
		return false;
	if (there)
		tr_etrace_draft_number(d, name, number);
	return there || !needed || tr_etrace_lacks(d, key);
}

bool tr_etrace_draft_flags(struct tr_etrace_draft *d, enum tr_etrace_type type, bool needed)
{
	bool there;
	int64_t number;

	if (!tr_etrace_find_call_flags(d, type, &there, &number))
		return false;
	if (there)
		tr_etrace_draft_number(d, TR_TEXT("flags"), number);
	return there || !needed || tr_etrace_lacks(d, "flags");
}
