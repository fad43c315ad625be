/*
 * What the recorder wrote to a file for each CPU, as one log: the lines of all
 * parts in the order of their times. A line without a time stays behind the one
 * that it stood behind.
 */
#include <stdlib.h>

#include "core/line_merge.h"
#include "format/etrace/etrace.h"
#include "format/etrace/probe.h"

enum {
	HEAD = 0, /* the file that has nothing but the first line when the rest went into the parts
		   */
	FIRST_CPU = 1,
	CPUS = 1 << 20, /* no system has more */
	FIRST_ENVIRONMENT = FIRST_CPU + CPUS,
};

/*
 * Lines of the environment say CPU 0 wherever they were printed: a part that begins with them,
 * because its CPU had nothing else to do, is told from others by when that was.
 */
static int64_t number_of(const struct tr_etrace_line *line)
{
	if (line->type == TR_ETRACE_EVENT && line->upid == 0)
		return FIRST_ENVIRONMENT + (int64_t)line->nsec;
	return line->cpu < CPUS ? FIRST_CPU + (int64_t)line->cpu : -1;
}

/*
 * Which part it is, as its first lines tell, which are all of one CPU. It may begin in the middle
 * of a line, or with what its buffer lost.
 */
static int64_t part_of(struct tr_input *in)
{
	struct tr_etrace_probe probe = { 0 };
	struct tr_etrace_line line;
	int64_t part = -1;

	while (tr_etrace_probe_line(&probe, in, &line)) {
		if (line.type == TR_ETRACE_INITCWD)
			return tr_etrace_probe_line(&probe, in, &line) ? -1 : HEAD;
		if (line.type == TR_ETRACE_NOISE)
			continue;
		int64_t number = number_of(&line);
		part = part < 0 ? number : part;
		if (number < 0 || (number != part && number < FIRST_ENVIRONMENT))
			return -1;
	}
	return part;
}

int64_t tr_etrace_part(const struct tr_read_config *config, struct tr_input *in)
{
	bool apart = tr_text_is(tr_setting_get(&config->settings, "parts", "merge"), "apart");

	return config->lines || apart ? -1 : part_of(in);
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
