/* New_proc and what belongs to it. */
#include "format/etrace/draft.h"
#include "format/etrace/fields.h"

enum { EMPTY_RUN = 1000 }; /* empty arguments that are not printed: readers believe no more */

static bool argument_text(struct tr_etrace_draft *d, const struct tr_value *item,
			  struct tr_text *text)
{
	if (item->type != TR_STRING || item->flags & TR_CUT) {
		tr_error_set(d->err, TR_CAUSE_INPUT, "argv: an item that is no whole string");
		return false;
	}
	*text = tr_string_bytes(item->text, d->record->arena);
	if (!text->data)
		tr_error_memory(d->err);
	return text->data != NULL;
}

static bool put_arguments(struct tr_etrace_draft *d, const struct tr_value *argv)
{
	size_t empty = 0;

	for (size_t i = 0; i < argv->count; i++) {
		struct tr_text text;
		if (!argument_text(d, &argv->as.items[i], &text))
			return false;
		/* readers see empty ones by the gap in the numbers, but for those at the end */
		empty = text.len || empty == EMPTY_RUN ? 0 : empty + 1;
		if (!empty || i + 1 == argv->count)
			tr_etrace_pen_argument(&d->pen, i, text);
	}
	return true;
}

static bool find_arguments(struct tr_etrace_draft *d, struct tr_value **argv, int64_t *size)
{
	struct tr_field *field = tr_record_field(d->record, "argv");
	bool there;

	*argv = field ? tr_field_value(d->record, field, d->err) : NULL;
	if (!*argv)
		return field ? false : tr_etrace_lacks(d, "argv");
	if ((*argv)->type != TR_LIST || (*argv)->flags & TR_CUT) {
		tr_error_set(d->err, TR_CAUSE_INPUT, "argv: no list that is whole");
		return false;
	}
	if (!tr_etrace_field_number(d->record, ".argsize", &there, size, d->err) || there)
		return there;
	*size = 0;
	for (size_t i = 0; i < (*argv)->count; i++) {
		struct tr_text text;
		if (!argument_text(d, &(*argv)->as.items[i], &text))
			return false;
		*size += (int64_t)text.len + 1;
	}
	return true;
}

/* The name column is the program, and the interpreter where no other one is told. */
static bool find_programs(struct tr_etrace_draft *d, struct tr_etrace_found *interpreter,
			  struct tr_etrace_found *program)
{
	struct tr_record *record = d->record;

	*program = (struct tr_etrace_found){ .tag = TR_TEXT("PP") };
	if (!tr_etrace_find_string(d, "interp", TR_TEXT("PI"), interpreter) ||
	    !tr_etrace_field_number(record, ".PP", &program->has_size, &program->size, d->err))
		return false;
	if (record->name.type == TR_CELL_TEXT) {
		if (!tr_cell_bytes(record->name.text, record->arena, &program->text, d->err))
			return false;
		program->there = true;
		if (!program->has_size)
			program->size = (int64_t)program->text.len;
		program->has_size = true;
	}
	if (!interpreter->has_size) {
		*interpreter = *program;
		interpreter->tag = TR_TEXT("PI");
	}
	return true;
}

bool tr_etrace_write_exec(struct tr_etrace_draft *d)
{
	struct tr_etrace_found interpreter, program, cwd;
	struct tr_value *argv;
	bool unfinished, cut;
	int64_t size;

	if (!find_arguments(d, &argv, &size) || !find_programs(d, &interpreter, &program) ||
	    !tr_etrace_find_string(d, "cwd", TR_TEXT("CW"), &cwd) ||
	    !tr_etrace_is_flagged(d, "unfinished", &unfinished) ||
	    !tr_etrace_is_flagged(d, "cut", &cut))
		return false;
	if (!program.has_size)
		return tr_etrace_lacks(d, "executable");
	if (!cwd.has_size)
		return tr_etrace_lacks(d, "cwd");
	tr_etrace_draft_begin(d, TR_TEXT("New_proc"));
	tr_etrace_draft_number(d, TR_TEXT("argsize"), size);
	tr_etrace_draft_size(d, TR_TEXT("prognameisize"), &interpreter);
	tr_etrace_draft_size(d, TR_TEXT("prognamepsize"), &program);
	tr_etrace_draft_size(d, TR_TEXT("cwdsize"), &cwd);
	if (!tr_etrace_draft_end(d))
		return false;
	tr_etrace_draft_string(d, &interpreter);
	tr_etrace_draft_string(d, &program);
	tr_etrace_draft_string(d, &cwd);
	if (!put_arguments(d, argv))
		return false;
	if (!unfinished && !cut)
		tr_etrace_pen_line(&d->pen, TR_TEXT("End_of_args"), TR_TEXT(""));
	return true;
}
