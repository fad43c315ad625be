/* Lines put aside until they can be written or understood: in a file where they are many. */
#include "config.h"

#include "tr_envdiff.h"

#include <errno.h>

enum { WINDOW = 64 << 10 };

struct head {
	uint64_t source_line, source_offset;
	size_t len;
	bool mark;
};

static bool failed(struct tr_cli *cli, struct tr_error *err)
{
	tr_cli_abort(cli, err);
	return false;
}

static bool out_of_memory(struct tr_cli *cli)
{
	struct tr_error err;

	tr_error_memory(&err);
	return failed(cli, &err);
}

static bool save(struct tr_line_store *store, struct tr_cli *cli)
{
	struct tr_error err;
	struct tr_text text = tr_buffer_text(&store->unsaved);

	if (!tr_spool_write(store->spool, text.data, text.len, &err))
		return failed(cli, &err);
	tr_buffer_reset(&store->unsaved);
	return true;
}

bool tr_line_store_put(struct tr_line_store *store, struct tr_cli *cli, struct tr_record *record,
		       bool mark)
{
	struct tr_buffer *to = &store->unsaved;
	struct head head = { record->source_line, record->source_offset, 0, mark };
	size_t start = to->len;
	struct tr_error err;

	if (!store->spool)
		store->spool = tr_spool_new(cli->config.read.limits.max_spool);
	tr_buffer_put(to, (const char *)&head, sizeof head);
	if (record->line.data) {
		tr_buffer_put_text(to, record->line);
	} else {
		switch (tr_record_write(record, to, &err)) {
		case TR_OK:
			break;
		case TR_FATAL:
			return failed(cli, &err);
		default:
			to->len = start;
			tr_cli_report_record(cli, record, &err, true);
			return !cli->stop;
		}
	}
	if (!store->spool || to->failed)
		return out_of_memory(cli);
	head.len = to->len - start - sizeof head;
	memcpy(to->data + start, &head, sizeof head);
	store->count++;
	return to->len < WINDOW || save(store, cli);
}

/* The next n bytes, with room to look behind them. NULL: reported. */
static const char *look(struct tr_line_store *store, struct tr_cli *cli, size_t n)
{
	struct tr_buffer *window = &store->window;
	size_t skip = (size_t)(store->read_at - store->window_at);
	struct tr_error err;

	if (n <= window->len - skip)
		return window->data + skip;
	window->len -= skip;
	if (window->len)
		memmove(window->data, window->data + skip, window->len);
	store->window_at = store->read_at;
	if (store->unsaved.len && !save(store, cli))
		return NULL;
	while (window->len < n) {
		size_t ask = n - window->len > WINDOW ? n - window->len : WINDOW;
		const char *data = NULL;
		char *to = tr_buffer_room(window, ask + TR_INPUT_PAD);
		if (!to) {
			out_of_memory(cli);
			return NULL;
		}
		bool fine = tr_spool_read(store->spool, store->window_at + window->len, to, &data,
					  &ask, &err);
		if (fine && !ask)
			tr_error_system(&err, EIO, "cannot read a temporary file");
		if (!fine || !ask) {
			failed(cli, &err);
			return NULL;
		}
		if (data != to)
			memcpy(to, data, ask);
		tr_buffer_used(window, ask);
		memset(to + ask, 0, TR_INPUT_PAD);
	}
	return window->data;
}

static bool look_at_head(struct tr_line_store *store, struct tr_cli *cli, struct head *head)
{
	const char *bytes = look(store, cli, sizeof *head);

	if (bytes)
		memcpy(head, bytes, sizeof *head);
	return bytes;
}

bool tr_line_store_peek(struct tr_line_store *store, struct tr_cli *cli, bool *mark)
{
	struct head head;

	if (!look_at_head(store, cli, &head))
		return false;
	*mark = head.mark;
	return true;
}

/* Nothing is left: the next line begins a new spool. The window is good until then. */
static void rewind_store(struct tr_line_store *store)
{
	tr_spool_free(store->spool);
	store->spool = NULL;
	store->read_at = store->window_at = 0;
	store->window.len = 0;
}

struct tr_record *tr_line_store_take(struct tr_line_store *store, struct tr_cli *cli)
{
	struct tr_record *record = &store->record;
	struct head head;
	struct tr_error err;

	if (!look_at_head(store, cli, &head))
		return NULL;
	const char *bytes = look(store, cli, sizeof head + head.len);
	if (!bytes)
		return NULL;
	store->read_at += sizeof head + head.len;
	if (--store->count == 0)
		rewind_store(store);
	tr_arena_reset(&store->arena);
	tr_record_init(record, &store->arena);
	if (!tr_record_from_line(record, (struct tr_text){ bytes + sizeof head, head.len }, &err)) {
		failed(cli, &err); /* it was a line before */
		return NULL;
	}
	record->source_line = head.source_line;
	record->source_offset = head.source_offset;
	return record;
}

void tr_line_store_free(struct tr_line_store *store)
{
	tr_spool_free(store->spool);
	tr_buffer_free(&store->unsaved);
	tr_buffer_free(&store->window);
	tr_arena_free(&store->arena);
	*store = (struct tr_line_store){ .spool = NULL };
}
