#include "record/unsupported_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/context.h"

void tr_unsupported_add(struct tr_unsupported_kinds *kinds, struct tr_text kind)
{
	size_t i = 0, length = sizeof kinds->kinds[0].kind - 1;

	if (tr_context_kind(kind) >= 0) {
		kinds->context++;
		return;
	}
	if (kind.len < length)
		length = kind.len;
	while (i < kinds->count && (strlen(kinds->kinds[i].kind) != length ||
				    memcmp(kinds->kinds[i].kind, kind.data, length) != 0))
		i++;
	if (i == TR_UNSUPPORTED_KINDS)
		i--;
	if (i == kinds->count) {
		memcpy(kinds->kinds[i].kind, kind.data, length);
		kinds->count++;
	}
	kinds->kinds[i].count++;
}

bool tr_unsupported_look(struct tr_unsupported_kinds *kinds, const char *const *list,
			 struct tr_text kind)
{
	for (; *list; list++) {
		if (tr_text_is(kind, *list))
			return kinds->supported = true;
	}
	tr_unsupported_add(kinds, kind);
	return false;
}

void tr_unsupported_list(const struct tr_unsupported_kinds *kinds, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < kinds->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s",
					 i ? ", " : "", kinds->kinds[i].count,
					 kinds->kinds[i].kind);
}

enum tr_status tr_unsupported_report(struct tr_unsupported_kinds *kinds, const char *format,
				     struct tr_error *err)
{
	if (tr_unsupported_all(kinds)) {
		char list[TR_ERROR_TEXT / 2];
		tr_unsupported_list(kinds, list, sizeof list);
		tr_error_set(err, TR_CAUSE_INPUT, "%s cannot hold any of the records here: %s",
			     format, list);
		return TR_FATAL;
	}
	if (kinds->context && !kinds->supported && !kinds->noted) {
		kinds->noted = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "no events here, only context records: %s gets none of these %" PRIu64,
			     format, kinds->context);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (kinds->reported == kinds->count)
		return TR_OK;
	size_t i = kinds->reported++;
	tr_error_set(err, TR_CAUSE_INPUT, "%s cannot hold %s records: %" PRIu64 " left out", format,
		     kinds->kinds[i].kind, kinds->kinds[i].count);
	if (err)
		err->severity = TR_DETAIL;
	return TR_WARN;
}
