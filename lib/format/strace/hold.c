#include "format/strace/hold.h"

#include <stdlib.h>
#include <string.h>

#include "record/literal.h"
#include "record/record.h"

void tr_strace_put_flags(unsigned flags, struct tr_buffer *to)
{
	static const char *const names[] = { "cut",	     "env-unknown", "env-repeated",
					     "env-no-value", "unfinished",  "missing:begin",
					     "fd-unknown",   "orphan",	    "cwd-guessed" };
	const char *before = "\tflagged=[\"";

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(flags & 1u << i))
			continue;
		tr_buffer_put_text(to, tr_text_from(before));
		tr_buffer_put_text(to, tr_text_from(names[i]));
		before = "\",\"";
	}
	if (flags)
		tr_buffer_put_literal(to, "\"]");
}

bool tr_strace_item_ready(const struct tr_strace_item *item)
{
	uint64_t seq;

	if (item->plain)
		return item->origin->settled || item->origin->waived;
	return !item->origin ||
	       (tr_origin_exec(item->origin, &seq) && tr_origin_has_told(item->origin) &&
		!tr_directory_is_open(item->cwd) && !tr_directory_is_open(item->from));
}

/* Nothing more will come that could tell. */
static void force(const struct tr_strace_item *item)
{
	struct tr_origin *origin = item->origin;
	uint64_t seq;

	if (item->plain) { /* an execution of the task may still wait */
		origin->waived = true;
		return;
	}
	/* the way may lead over several whose parents never told */
	while (!tr_origin_exec(item->origin, &seq)) {
		for (origin = item->origin; origin->settled; origin = origin->exec_from)
			;
		tr_origin_give_up(origin, true);
	}
	while (!tr_origin_has_told(item->origin))
		tr_origin_give_up(item->origin->asks, true);
	if (!item->pwd.len || *item->pwd.data != '/' ||
	    !tr_directory_learn(item->cwd, item->pwd, true))
		tr_directory_give_up(item->cwd);
	tr_directory_give_up(item->from);
}

/* The executable; what it is seen from is the cwd, or what cwd says of itself. */
static void put_name(const struct tr_strace_item *item, struct tr_text cwd, struct tr_buffer *to)
{
	struct tr_buffer name = TR_BUFFER_INIT, from = TR_BUFFER_INIT;

	if (item->spelled)
		return;
	if (!item->named) {
		tr_buffer_put_byte(to, '-');
		return;
	}
	if (item->from == item->cwd)
		tr_buffer_put_text(&from, cwd);
	else
		tr_directory_resolve(item->from, &from);
	tr_directory_join(tr_buffer_text(&from), item->path, &name);
	tr_cell_escape(tr_buffer_text(&name), false, to);
	to->failed |= name.failed || from.failed;
	tr_buffer_free(&name);
	tr_buffer_free(&from);
}

static void put_number(const char *key, uint64_t number, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
}

/* It turned out to be a thread's. */
static void put_tgid(const struct tr_strace_item *item, struct tr_buffer *to)
{
	if (item->origin->thread && item->origin->tgid != TR_STRACE_NOBODY)
		put_number("\ttgid=", item->origin->tgid, to);
}

/*
 * Where it was. What a guess began with is the PWD of somebody before; who has
 * another one has been told so since by a shell that knew.
 */
static void find_cwd(const struct tr_strace_item *item, struct tr_buffer *cwd, unsigned *flags)
{
	if (tr_directory_resolve(item->cwd, cwd) != TR_PLACE_GUESSED)
		return;
	*flags |= TR_STRACE_FLAG_CWD_GUESSED;
	if (!item->pwd.len || *item->pwd.data != '/' ||
	    tr_text_equal(item->pwd, tr_directory_guess(item->cwd)))
		return;
	tr_buffer_reset(cwd);
	tr_directory_join(TR_TEXT("/"), item->pwd, cwd);
}

/* What stands in the gap of an exec record, in `to`. */
static void put_exec(const struct tr_strace_item *item, unsigned *flags, struct tr_buffer *to)
{
	struct tr_buffer cwd = TR_BUFFER_INIT;
	uint64_t parent;

	find_cwd(item, &cwd, flags);
	if (item->origin->orphan)
		*flags |= TR_STRACE_FLAG_ORPHAN;
	put_name(item, tr_buffer_text(&cwd), to);
	if (tr_origin_exec(item->origin, &parent) && parent != TR_EXEC_NONE)
		put_number("\tparent=", parent, to);
	if (item->origin->has_ppid && item->origin->ppid != TR_STRACE_NOBODY)
		put_number("\tppid=", item->origin->ppid, to);
	if (cwd.len) {
		tr_buffer_put_literal(to, "\tcwd=\"");
		tr_string_escape(tr_buffer_text(&cwd), to);
		tr_buffer_put_byte(to, '"');
	}
	to->failed |= cwd.failed;
	tr_buffer_free(&cwd);
}

void tr_strace_item_finish(struct tr_strace_item *item, struct tr_buffer *scratch)
{
	struct tr_buffer *line = &item->line;
	unsigned flags = item->flags;

	tr_buffer_reset(scratch);
	if (item->origin && item->plain)
		put_tgid(item, scratch);
	else if (item->origin)
		put_exec(item, &flags, scratch);
	char *gap = scratch->len ? tr_buffer_insert(line, item->gap, scratch->len) : NULL;
	if (gap)
		memcpy(gap, scratch->data, scratch->len);
	line->failed |= scratch->failed;
	if (item->origin && !item->plain) {
		put_tgid(item, line);
		tr_strace_put_flags(flags, line);
	}
	tr_buffer_put_byte(line, '\n');
}

/* Twice the room, those that wait in a row at its beginning. */
static bool grow(struct tr_strace_hold *hold)
{
	size_t cap = hold->cap ? hold->cap * 2 : 16;
	struct tr_strace_item *ring = calloc(cap, sizeof *ring);

	if (!ring)
		return false;
	for (size_t i = 0; i < hold->count; i++)
		ring[i] = hold->ring[(hold->first + i) % hold->cap];
	free(hold->ring);
	hold->ring = ring;
	hold->cap = cap;
	hold->first = 0;
	return true;
}

static struct tr_text copy(struct tr_text text, char **to)
{
	struct tr_text result = { *to, text.len };

	if (text.len)
		memcpy(*to, text.data, text.len);
	*to += text.len;
	return result;
}

static size_t size_of(const struct tr_strace_item *item)
{
	return item->line.len + item->path.len + item->pwd.len;
}

/* A line of its own for the queue: a long one is moved there, a short one leaves its room behind.
 */
static bool take_line(struct tr_strace_item *mine, struct tr_buffer *line)
{
	enum { LONG = 64 << 10 };

	mine->line = (struct tr_buffer){ .limit = line->limit };
	if (line->len >= LONG) {
		struct tr_buffer empty = mine->line;
		mine->line = *line;
		*line = empty;
		return true;
	}
	mine->line.data = malloc(line->len + 1);
	if (!mine->line.data)
		return false;
	mine->line.cap = line->len + 1;
	tr_buffer_put_text(&mine->line, tr_buffer_text(line));
	return true;
}

bool tr_strace_hold_push(struct tr_strace_hold *hold, struct tr_strace_item *item)
{
	if (hold->count == hold->cap && !grow(hold))
		return false;
	char *bytes = malloc(item->path.len + item->pwd.len + 1), *to = bytes;
	struct tr_strace_item *mine = &hold->ring[(hold->first + hold->count) % hold->cap];
	*mine = *item;
	if (!bytes || !take_line(mine, &item->line)) {
		free(bytes);
		return false;
	}
	mine->path = copy(item->path, &to); /* the first: it is what is freed */
	mine->pwd = copy(item->pwd, &to);
	tr_origin_retain(mine->origin);
	tr_directory_retain(mine->cwd);
	tr_directory_retain(mine->from);
	hold->count++;
	hold->bytes += size_of(mine);
	return true;
}

struct tr_strace_item *tr_strace_hold_ready(struct tr_strace_hold *hold, bool forced)
{
	if (!hold->count)
		return NULL;
	struct tr_strace_item *item = &hold->ring[hold->first];
	if (tr_strace_item_ready(item))
		return item;
	if (!forced && hold->count <= TR_STRACE_AHEAD && hold->bytes <= TR_STRACE_AHEAD_BYTES)
		return NULL;
	force(item);
	return item;
}

void tr_strace_hold_pop(struct tr_strace_hold *hold)
{
	struct tr_strace_item *item = &hold->ring[hold->first];

	hold->bytes -= size_of(item);
	free((char *)item->path.data);
	tr_buffer_free(&item->line);
	tr_origin_release(item->origin);
	tr_directory_release(item->cwd);
	tr_directory_release(item->from);
	hold->first = (hold->first + 1) % hold->cap;
	hold->count--;
}

void tr_strace_hold_free(struct tr_strace_hold *hold)
{
	while (hold->count)
		tr_strace_hold_pop(hold);
	free(hold->ring);
	*hold = (struct tr_strace_hold){ 0 };
}
