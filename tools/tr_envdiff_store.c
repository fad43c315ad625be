/* Lines put aside until they can be written or understood: in a file where they are many. */
#include "config.h"

#include "tr_envdiff.h"

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

/* Appends the record's line, as it is or as it is spelled. False: it has none, or stop. */
static bool put_text(struct tr_buffer *to, struct tr_cli *cli, struct tr_record *record)
{
	struct tr_error err;

	if (record->line.data) {
		tr_buffer_put_text(to, record->line);
		return true;
	}
	switch (tr_record_write(record, to, &err)) {
	case TR_OK:
		return true;
	case TR_FATAL:
		return failed(cli, &err);
	default:
		tr_cli_report_record(cli, record, &err, true);
		return false;
	}
}

bool tr_line_store_put(struct tr_line_store *store, struct tr_cli *cli, struct tr_record *record,
		       bool mark)
{
	struct tr_buffer *line = &store->line;
	struct head head = { record->source_line, record->source_offset, 0, mark };
	struct tr_error err;

	if (!store->spool)
		store->spool = tr_spool_new(cli->config.read.limits.max_spool);
	tr_buffer_reset(line);
	tr_buffer_put(line, (const char *)&head, sizeof head);
	if (!put_text(line, cli, record))
		return !cli->stop;
	if (!store->spool || line->failed)
		return out_of_memory(cli);
	head.len = line->len - sizeof head;
	memcpy(line->data, &head, sizeof head);
	if (!tr_spool_write(store->spool, line->data, line->len, &err))
		return failed(cli, &err);
	store->count++;
	return true;
}

/* The next n bytes. NULL: reported. */
static const char *look(struct tr_line_store *store, struct tr_cli *cli, size_t n)
{
	struct tr_error err;
	const char *bytes = tr_spool_look(store->spool, &store->window, store->read_at, n, &err);

	if (!bytes)
		failed(cli, &err);
	return bytes;
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
	store->read_at = store->window.at = 0;
	store->window.bytes.len = 0;
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
	tr_buffer_free(&store->line);
	tr_buffer_free(&store->window.bytes);
	tr_arena_free(&store->arena);
	*store = (struct tr_line_store){ .spool = NULL };
}
