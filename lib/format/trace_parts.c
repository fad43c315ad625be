/*
 * Files that a recorder wrote at the same time, opened together: operands behind
 * each other that are parts of one trace become one place. To know that, the
 * operand behind the last part has to be opened; it is kept until its turn.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/trace_private.h"

void tr_trace_put_aside(struct tr_trace *trace, struct tr_trace_opened *opened)
{
	opened->place = trace->place;
	opened->name = trace->name;
	opened->member = trace->member;
	trace->name = trace->member = (struct tr_buffer)TR_BUFFER_INIT;
	trace->in = trace->place.in = NULL;
}

void tr_trace_take_back(struct tr_trace *trace, const struct tr_trace_opened *opened)
{
	tr_buffer_free(&trace->name);
	tr_buffer_free(&trace->member);
	trace->place = opened->place;
	trace->in = opened->place.in;
	trace->name = opened->name;
	trace->member = opened->member;
}

/* The same of an operand, which may be an archive. */
static void put_aside(struct tr_trace *trace, struct tr_trace_opened *opened)
{
	tr_trace_put_aside(trace, opened);
	opened->archives = trace->archives;
	trace->archives = (struct tr_trace_archives){ .path = TR_BUFFER_INIT };
}

static void take_back(struct tr_trace *trace, const struct tr_trace_opened *opened)
{
	tr_trace_take_back(trace, opened);
	tr_trace_close_archives(&trace->archives);
	trace->archives = opened->archives;
}

bool tr_parts_add(struct tr_parts *parts, struct tr_input *in, int64_t number)
{
	size_t count = parts->count + 1;
	struct tr_input **list = reallocarray(parts->list, count, sizeof(struct tr_input *));

	if (list)
		parts->list = list;
	int64_t *numbers = reallocarray(parts->numbers, count, sizeof *numbers);
	if (numbers)
		parts->numbers = numbers;
	if (!list || !numbers)
		return false;
	list[parts->count] = in;
	numbers[parts->count++] = number;
	return true;
}

int64_t tr_trace_part_number(const struct tr_trace *trace)
{
	const struct tr_format *format = trace->place.format;

	if (trace->config.apart || !trace->in || !format || !format->part)
		return -1;
	struct tr_read_config config = trace->config.read;
	config.name = tr_trace_file_name(trace);
	return format->part(&config, trace->in);
}

bool tr_parts_have(const struct tr_parts *parts, int64_t number)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->numbers[i] == number)
			return true;
	return false;
}

/* What recorded nothing is a part of whatever stands around it. */
static bool is_empty(const struct tr_trace *trace)
{
	return trace->in && !trace->archives.count && !tr_input_more(trace->in, 1) &&
	       !trace->in->damaged;
}

/*
 * Most parts are small. Who has seen their end has their bytes in the window,
 * and their descriptor is closed: many processes make many files.
 */
static void look_for_end(const struct tr_trace *trace)
{
	enum { SMALL = 64 << 10 };
	uint64_t max = trace->config.read.limits.max_record;

	if (trace->place.size >= 0 && trace->place.size < SMALL)
		tr_input_more(trace->in, max < SMALL ? max : SMALL);
}

/* Opens the next operand. True: it is another part, and its window is added. */
static bool gather_one(struct tr_trace *trace, const struct tr_trace_opened *first,
		       struct tr_parts *parts, struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->ahead;
	struct tr_error opening;

	ahead->status =
		tr_trace_open_operand(trace, trace->operands[trace->next_operand], &opening);
	bool empty = ahead->status == TR_OK && is_empty(trace);
	int64_t number = ahead->status == TR_OK && !empty ? tr_trace_part_number(trace) : -1;
	bool another = empty || (number >= 0 && trace->place.format == first->place.format &&
				 !tr_parts_have(parts, number));
	if (another && !empty && !tr_parts_add(parts, trace->in, number)) {
		tr_error_memory(err);
		another = false;
	}
	if (empty)
		tr_input_free(trace->in);
	else if (another)
		look_for_end(trace);
	put_aside(trace, ahead);
	ahead->there = !another;
	if (!another) {
		ahead->err = opening;
		return false;
	}
	tr_buffer_free(&ahead->name);
	tr_buffer_free(&ahead->member);
	trace->next_operand++;
	return true;
}

enum tr_status tr_parts_merge(struct tr_trace *trace, const struct tr_parts *parts,
			      struct tr_error *err)
{
	char more[64];
	struct tr_source *source =
		trace->place.format->merge(parts->list, parts->numbers, parts->count);

	trace->in = trace->place.in =
		source ? tr_input_new(source, &trace->config.read.limits, 0) : NULL;
	snprintf(more, sizeof more, " and %zu more", parts->count - 1);
	trace->name.len = strlen(trace->name.data);
	tr_buffer_put(&trace->name, more, strlen(more) + 1);
	if (!trace->in || trace->name.failed)
		return tr_error_memory(err);
	trace->place.name = trace->name.data;
	trace->place.size = -1;
	return TR_OK;
}

/* What is open is a part: as many more as there are behind it. */
static enum tr_status gather(struct tr_trace *trace, int64_t number, struct tr_error *err)
{
	struct tr_parts parts = { NULL, NULL, 0 };
	struct tr_trace_opened first;
	enum tr_status status = TR_OK;

	tr_error_clear(err);
	if (!tr_parts_add(&parts, trace->in, number)) {
		tr_error_memory(err);
		status = TR_FATAL;
	}
	put_aside(trace, &first);
	while (status == TR_OK && trace->next_operand < trace->operand_count &&
	       gather_one(trace, &first, &parts, err))
		;
	take_back(trace, &first);
	if (parts.count > 1)
		status = tr_parts_merge(trace, &parts, err);
	if (err->cause == TR_CAUSE_MEMORY)
		status = TR_FATAL;
	free(parts.list);
	free(parts.numbers);
	return status;
}

enum tr_status tr_trace_open_next(struct tr_trace *trace, struct tr_error *err)
{
	struct tr_trace_opened *ahead = &trace->ahead;
	enum tr_status status;

	if (ahead->there) {
		ahead->there = false;
		trace->next_operand++;
		take_back(trace, ahead);
		status = ahead->status;
		*err = ahead->err;
	} else {
		status = tr_trace_open_operand(trace, trace->operands[trace->next_operand++], err);
	}
	/* of one alone no more is looked at than its reader wants */
	bool more = status == TR_OK && trace->next_operand < trace->operand_count;
	int64_t number = more ? tr_trace_part_number(trace) : -1;
	if (number >= 0)
		status = gather(trace, number, err);
	return status;
}

void tr_trace_free_ahead(struct tr_trace *trace)
{
	struct tr_trace_opened *ahead = &trace->ahead;

	if (!ahead->there)
		return;
	tr_trace_interrupt_archives(&ahead->archives);
	tr_input_free(ahead->place.in);
	tr_trace_close_archives(&ahead->archives);
	tr_buffer_free(&ahead->name);
	tr_buffer_free(&ahead->member);
	ahead->there = false;
}
