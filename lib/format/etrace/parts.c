/*
 * What the recorder wrote to a file for each CPU, as one log: the lines of all
 * parts in the order of their times. A line without a time stays behind the one
 * that it stood behind.
 */
#include <stdlib.h>

#include "core/line_merge.h"
#include "format/etrace/etrace.h"
#include "format/etrace/line.h"

/* The file that has nothing but the first line when the rest went into the parts. */
enum { HEAD = 0, FIRST_CPU = 1 };

int64_t tr_etrace_part(const struct tr_read_config *config, struct tr_input *in)
{
	struct tr_etrace_line line;
	struct tr_error err;
	struct tr_text text;

	if (config->lines ||
	    tr_text_is(tr_setting_get(&config->settings, "parts", "merge"), "apart") ||
	    tr_input_line(in, &text, &err) != TR_OK)
		return -1;
	size_t len = text.len;
	text.len -= text.data[len - 1] == '\n';
	tr_etrace_line_read(text, NULL, &line);
	if (line.type == TR_ETRACE_INITCWD)
		return tr_input_more(in, len + 1) ? -1 : HEAD;
	bool fits = line.type == TR_ETRACE_EVENT && line.cpu < INT64_MAX - FIRST_CPU;
	return fits ? (int64_t)line.cpu + FIRST_CPU : -1;
}

static void look(struct tr_text text, struct tr_line_merge_time *time)
{
	struct tr_etrace_line line;

	tr_etrace_line_read(text, NULL, &line);
	if (line.type == TR_ETRACE_EVENT)
		*time = (struct tr_line_merge_time){ line.sec, line.nsec, line.cpu };
}

struct tr_source *tr_etrace_merge(struct tr_input *const *parts, const int64_t *numbers,
				  size_t count)
{
	struct tr_line_merge_part *list = calloc(count, sizeof *list);
	(void)numbers; /* the lines say them */
	if (!list) {
		for (size_t i = 0; i < count; i++)
			tr_input_free(parts[i]);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		list[i].in = parts[i];
	struct tr_source *source = tr_line_merge_new(list, count, look);
	free(list);
	return source;
}
