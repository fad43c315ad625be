#include <inttypes.h>
#include <stdlib.h>

#include "core/id_map.h"
#include "format/compdb/compdb.h"
#include "format/compdb/entry.h"
#include "record/framing.h"
#include "record/misfits.h"

struct writer {
	struct tr_output *out;
	struct tr_call_config calls;
	struct tr_tool_config *tools;
	enum tr_compdb_unique unique;
	bool inlined;

	struct tr_framing framing;
	struct tr_kinship kinship; /* of the segment */
	struct tr_buffer entries;  /* of the record */
	struct tr_buffer fallback; /* for files that nothing else compiles, until the end */

	/* the whole stream */
	struct tr_id_map keys, files; /* of entries that were written: two halves of a hash */
	bool begun, finished, fallback_done;
	struct tr_misfits misfits;
};

static bool set_up(struct writer *writer, const struct tr_settings *settings, struct tr_error *err)
{
	static const char *const uniques[] = { "file+output", "file", "all", "none" };
	struct tr_text unique = tr_setting_get(settings, "unique", "file+output");
	struct tr_text quoting = tr_setting_get(settings, "quoting", "auto");
	struct tr_text tools = tr_setting_get(settings, "tools", "");

	for (unsigned i = 0; i < sizeof uniques / sizeof *uniques; i++)
		if (tr_text_is(unique, uniques[i]))
			writer->unique = (enum tr_compdb_unique)i;
	writer->inlined = tr_text_is(tr_setting_get(settings, "respfiles", "keep"), "inline");
	writer->calls.quoting = tr_text_is(quoting, "gnu")	 ? TR_CALL_QUOTING_GNU
				: tr_text_is(quoting, "windows") ? TR_CALL_QUOTING_WINDOWS
								 : TR_CALL_QUOTING_AUTO;
	if (!tools.len)
		return true;
	writer->tools = tr_text_is(tools, "xcalbuild") ? tr_tool_config_xcalbuild(err)
						       : tr_tool_config_read(tools, err);
	writer->calls.tools = writer->tools;
	return writer->tools != NULL;
}

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = calloc(1, sizeof *writer);

	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	if (set_up(writer, &config->settings, err))
		return (struct tr_writer *)writer;
	tr_compdb_discard((struct tr_writer *)writer);
	return NULL;
}

void tr_compdb_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	tr_tool_config_free(writer->tools);
	tr_kinship_free(&writer->kinship);
	tr_buffer_free(&writer->entries);
	tr_buffer_free(&writer->fallback);
	tr_id_map_free(&writer->keys);
	tr_id_map_free(&writer->files);
	free(writer);
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

/* Sixteen hex digits. */
static uint64_t number_of(const char *hex)
{
	uint64_t n = 0;

	for (int i = 0; i < 16; i++)
		n = n << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
	return n;
}

/* 127 bits of a hash tell whether it was there before. False in *done: memory is out. */
static bool is_new(struct tr_id_map *set, const char *hash, bool *done)
{
	uint64_t id = number_of(hash);
	void *rest = (void *)(uintptr_t)(number_of(hash + 16) | 1);
	bool known = tr_id_map_get(set, id) == rest;

	*done &= known || tr_id_map_put(set, id, rest);
	return !known;
}

static bool put_entry(struct writer *writer, const struct tr_compdb_head *head, struct tr_text json)
{
	bool done = true;
	bool fresh =
		writer->unique == TR_COMPDB_UNIQUE_NONE || is_new(&writer->keys, head->key, &done);

	is_new(&writer->files, head->file, &done);
	if (!fresh)
		return done;
	if (writer->begun)
		tr_output_put_literal(writer->out, ",\n");
	else
		tr_output_put_literal(writer->out, "[\n");
	writer->begun = true;
	tr_output_put_text(writer->out, json);
	tr_output_record_end(writer->out);
	return done;
}

/* Entries in a row. Those that stand for others that may come are put aside. */
static bool put_entries(struct writer *writer, struct tr_text entries, bool at_end)
{
	struct tr_compdb_head head;
	const char *p = entries.data, *end = p + entries.len;
	bool done = true;

	while (p < end && done) {
		memcpy(&head, p, sizeof head);
		struct tr_text json = { p + sizeof head, head.len };
		if (head.fallback && !at_end)
			tr_buffer_put(&writer->fallback, p, sizeof head + head.len);
		else if (!head.fallback || is_new(&writer->files, head.file, &done))
			done &= put_entry(writer, &head, json);
		p += sizeof head + head.len;
	}
	return done && !writer->fallback.failed;
}

static bool put_ready(struct writer *writer, bool at_end)
{
	struct tr_text entries;

	while (tr_kinship_next(&writer->kinship, at_end, &entries))
		if (!put_entries(writer, entries, false))
			return false;
	return !writer->kinship.failed;
}

/* A remark about the record's call; nothing is lost. */
static enum tr_status remark_missing(const struct tr_call *call, struct tr_error *err)
{
	const struct tr_expansion *expansion = &call->expansion;
	int len = expansion->example.len > 200 ? 200 : (int)expansion->example.len;

	tr_error_set(err, TR_CAUSE_INPUT, "no response file '%.*s' here: it stays as it is", len,
		     expansion->example.data);
	tr_error_is_note(err);
	return TR_WARN;
}

/* What stands against an entry for a call that has sources. NULL: nothing. */
static const char *lacks(const struct tr_call *call)
{
	if (call->command.cut)
		return "the tracer cut its arguments: no entry";
	if (!call->command.directory.data)
		return "its directory is not known: no entry";
	return NULL;
}

static bool compiles(const struct tr_call *call)
{
	const struct tr_invocation *invocation = &call->invocation;

	return (call->kin == TR_KIN_DRIVER || call->kin == TR_KIN_COMPILER || call->libtool ||
		call->tool == TR_TOOL_ASSEMBLER) &&
	       invocation->mode <= TR_MODE_SYNTAX && (invocation->sources || call->command.cut);
}

static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       const struct tr_call *call, struct tr_error *err)
{
	uint64_t seq, parent = tr_command_number(record, "parent");
	bool wanted = compiles(call), lost = wanted && lacks(call);

	if (!tr_cell_number(&record->seq, &seq))
		seq = TR_NO_POSITION;
	tr_buffer_reset(&writer->entries);
	if (wanted && !lost &&
	    !tr_compdb_call_put(call, writer->inlined, writer->unique, record->arena,
				&writer->entries))
		return out_of_memory(err);
	struct tr_text entries = tr_buffer_text(&writer->entries);
	enum tr_kin_verdict verdict = tr_kinship_judge(&writer->kinship, seq, parent, call->kin);
	bool done = verdict != TR_KIN_FAILED;
	if (verdict == TR_KIN_KEPT)
		done = put_entries(writer, entries, false);
	else if (verdict == TR_KIN_WAITS)
		done = tr_kinship_wait(&writer->kinship, seq, parent, call->kin, entries);
	if (!done || !put_ready(writer, false))
		return out_of_memory(err);
	if (verdict == TR_KIN_HIDDEN || call->kin == TR_KIN_OTHER)
		return TR_OK;
	if (lost) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s", lacks(call));
		return TR_WARN;
	}
	return call->expansion.missing ? remark_missing(call, err) : TR_OK;
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_call call;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	enum tr_status status = tr_call_read(record, &writer->calls, &call, err);
	if (status == TR_OK)
		status = put_call(writer, record, &call, err);
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	return status;
}

/* Nothing more of the segment comes. */
static enum tr_status end_segment(struct writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	bool done = put_ready(writer, true);

	tr_kinship_free(&writer->kinship);
	return done ? tr_framing_end(&writer->framing, trailer, err) : out_of_memory(err);
}

static enum tr_status put_record(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (tr_text_is(record->kind, "exec"))
		status = put_exec(writer, record, err);
	else
		tr_misfits_add(&writer->misfits, record->kind);
	if (!tr_framing_lost(status, err))
		tr_framing_count(&writer->framing, record);
	return status;
}

enum tr_status tr_compdb_put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
	enum tr_status status;

	tr_error_clear(err);
	switch (record->type) {
	case TR_HEADER:
		status = end_segment(writer, NULL, err);
		tr_framing_begin(&writer->framing);
		return status;
	case TR_TRAILER:
		return end_segment(writer, record, err);
	case TR_RECORD:
		return put_record(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_compdb_finish(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;

	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		if (status != TR_OK)
			return status;
	}
	if (!writer->fallback_done) {
		writer->fallback_done = true;
		if (!put_entries(writer, tr_buffer_text(&writer->fallback), true))
			return out_of_memory(err);
		if (writer->begun)
			tr_output_put_literal(writer->out, "\n]\n");
		else
			tr_output_put_literal(writer->out, "[]\n");
	}
	return tr_misfits_tell(&writer->misfits, "compdb", err);
}
