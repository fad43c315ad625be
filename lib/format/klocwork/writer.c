#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "format/klocwork/ids.h"
#include "format/klocwork/klocwork.h"
#include "format/klocwork/object.h"
#include "format/klocwork/render.h"
#include "format/klocwork/writer_env.h"
#include "format/klocwork/writer_kin.h"
#include "format/klocwork/writer_tally.h"
#include "format/segment_writer.h"

struct writer {
	struct tr_segment_writer base;
	struct tr_buffer line, raw;
	struct tr_klocwork_object object; /* scratch for .raw */
	bool amid_line;			  /* the last byte written was no LF */

	/* the segment */
	bool begun; /* something of it was written */
	/* seq of each exec written, to its id where that is a number */
	struct tr_klocwork_ids written;
	/* parents that were not there yet, to how often they were named */
	struct tr_klocwork_ids later;
	/* ids of the execs written, where they did not come from a klocwork trace */
	struct tr_klocwork_ids tasks;
	struct tr_klocwork_kin kin;
	struct tr_klocwork_env env;

	/* the whole stream */
	struct tr_klocwork_tally tally;
};

static enum tr_status note(struct tr_error *err)
{
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status end_segment(void *self, struct tr_error *err)
{
	struct writer *writer = self;
	(void)err;
	writer->begun = false;
	tr_klocwork_ids_forget(&writer->written);
	tr_klocwork_ids_forget(&writer->later);
	tr_klocwork_ids_forget(&writer->tasks);
	tr_klocwork_kin_forget(&writer->kin);
	tr_klocwork_env_end(&writer->env);
	return TR_OK;
}

/* A line of ours. After a unit that did not end its line (.raw) this begins a new one. */
static void put_line(struct writer *writer, struct tr_text line)
{
	if (writer->amid_line)
		tr_output_put_byte(writer->base.out, '\n');
	writer->amid_line = false;
	tr_output_put_text(writer->base.out, line);
}

static void put_raw(struct writer *writer, struct tr_text bytes)
{
	tr_output_put_text(writer->base.out, bytes);
	if (bytes.len)
		writer->amid_line = bytes.data[bytes.len - 1] != '\n';
}

/* A trace has a version line; a stream that was no klocwork trace, or has lost it, gets one. */
static enum tr_status begin_trace(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	bool version = tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
		       tr_text_is(record->name.text, "version");
	bool missing = !writer->begun && !writer->base.faithful && !version;
	writer->begun = true;
	if (!missing)
		return TR_OK;
	put_line(writer, TR_TEXT("{\"version\":101}\n{\"creator\":\"" PACKAGE_STRING "\"}\n"));
	tr_error_set(err, TR_CAUSE_INPUT, "version and creator were not in the stream: supplied");
	return note(err);
}

/* Where the record's parent is, and the parent's id as JSON text where it is a number. */
static enum tr_klocwork_place find_parent(struct writer *writer,
					  const struct tr_klocwork_fields *fields, uint64_t *parent,
					  uint64_t *id)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT };
	if (!fields->parent)
		return TR_KLOCWORK_ROOT;
	const struct tr_value *value = fields->parent->value;
	if (fields->parent->text.data)
		cell.text = fields->parent->text;
	else if (value->type == TR_UINT)
		cell = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = value->as.number };
	if (!tr_cell_number(&cell, parent))
		return TR_KLOCWORK_ROOT;
	bool there = tr_klocwork_ids_find_number(&writer->written, *parent, id);
	return there ? TR_KLOCWORK_WRITTEN : TR_KLOCWORK_STRANGER;
}

/* A parent that is not there, or not yet. False: memory is out. */
static bool count_stranger(struct writer *writer, uint64_t parent)
{
	uint64_t times = 0;
	(void)tr_klocwork_ids_find_number(&writer->later, parent, &times);
	writer->tally.strangers++;
	return tr_klocwork_ids_put_number(&writer->later, parent, times + 1);
}

/* The record is written: whoever names it as parent is right to do so. */
static bool remember(struct writer *writer, const struct tr_record *record, uint64_t seq)
{
	uint64_t id, times;
	if (!tr_klocwork_kin_event(&writer->kin, record, seq))
		return false;
	if (seq == TR_NO_POSITION)
		return true;
	if (tr_klocwork_ids_find_number(&writer->later, seq, &times) && times) {
		writer->tally.strangers -= times;
		if (!tr_klocwork_ids_put_number(&writer->later, seq, 0))
			return false;
	}
	if (record->task.type == TR_CELL_ABSENT || !tr_cell_number(&record->task, &id))
		id = seq;
	return tr_klocwork_ids_put_number(&writer->written, seq, id) &&
	       (writer->base.faithful || tr_klocwork_ids_put_number(&writer->tasks, id, seq));
}

/* TR_OK: .raw was written. TR_END: there is none that holds. */
static enum tr_status write_raw(struct writer *writer, struct tr_record *record,
				struct tr_field *raw, struct tr_error *err)
{
	if (!raw)
		return TR_END;
	tr_buffer_reset(&writer->raw);
	if (!tr_klocwork_raw_holds(record, raw, &writer->object, &writer->raw, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_END;
	put_raw(writer, tr_buffer_text(&writer->raw));
	return TR_OK;
}

/* Says of which record a message is. */
static enum tr_status about(const struct tr_record *record, enum tr_status status,
			    struct tr_error *err)
{
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	return status;
}

static enum tr_status render_exec(struct writer *writer, struct tr_record *record,
				  const struct tr_klocwork_fields *fields,
				  const struct tr_klocwork_overrides *overrides,
				  struct tr_error *err)
{
	tr_buffer_reset(&writer->line);
	enum tr_status status =
		tr_klocwork_render_exec(record, fields, overrides, &writer->line, err);
	if (status != TR_OK)
		return about(record, status, err);
	tr_buffer_put_byte(&writer->line, '\n');
	put_line(writer, tr_buffer_text(&writer->line));
	return TR_OK;
}

/*
 * What stands as parent_id where the record did not come from a klocwork trace.
 * There the parent is an event of the trace or nobody (-1); elsewhere it may be
 * a process that never ran a program of its own, or one that was not watched.
 */
static struct tr_text foreign_parent(struct writer *writer, struct tr_record *record,
				     const struct tr_klocwork_fields *fields,
				     enum tr_klocwork_place place, uint64_t id, char *digits)
{
	struct tr_text none = { NULL, 0 };
	struct tr_buffer text = tr_buffer_over(digits, TR_DECIMAL_MAX);
	uint64_t seq;

	bool foreign = !writer->base.faithful && writer->base.headed;
	if (writer->base.faithful || place == TR_KLOCWORK_STRANGER || (!foreign && fields->ppid))
		return none;
	if (place == TR_KLOCWORK_WRITTEN) {
		tr_buffer_put_decimal(&text, id);
		return tr_buffer_text(&text);
	}
	if (!foreign)
		return none;
	struct tr_value *ppid = fields->ppid ? tr_field_value(record, fields->ppid, NULL) : NULL;
	if (!ppid || ppid->type != TR_UINT ||
	    tr_klocwork_ids_find_number(&writer->tasks, ppid->as.number, &seq))
		return none;
	return TR_TEXT("-1");
}

/* The parent that a reader will find. */
static uint64_t read_parent(struct writer *writer, const struct tr_klocwork_fields *fields,
			    const struct tr_klocwork_overrides *overrides)
{
	struct tr_text text = overrides->parent_id;
	if (!text.data && fields->ppid)
		text = fields->ppid->text;
	return tr_klocwork_kin_find(&writer->kin, text);
}

/*
 * Counts an event whose env-diff is not computed, and not against the
 * environment that the trace will seem to say it is. False: memory is out.
 */
static bool count_doubtful(struct writer *writer, const struct tr_klocwork_fields *fields,
			   const struct tr_klocwork_parentage *parentage)
{
	if (parentage->place == TR_KLOCWORK_STRANGER)
		return count_stranger(writer, parentage->seq);
	bool tells = writer->base.faithful || fields->envdiff;
	if (parentage->place == TR_KLOCWORK_WRITTEN && tells)
		writer->tally.mistaken += parentage->read_as != parentage->seq;
	return true;
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_klocwork_fields fields;
	struct tr_klocwork_overrides overrides = { { NULL, 0 }, { NULL, 0 }, false };
	struct tr_klocwork_parentage parentage = { .seq = TR_NO_POSITION };
	char digits[TR_DECIMAL_MAX];
	uint64_t id, seq;
	enum tr_status status = tr_klocwork_fields_find(record, &fields, err);
	if (status != TR_OK)
		return about(record, status, err);
	parentage.place = find_parent(writer, &fields, &parentage.seq, &id);
	overrides.parent_id = foreign_parent(writer, record, &fields, parentage.place, id, digits);
	parentage.read_as = read_parent(writer, &fields, &overrides);
	if (!tr_cell_number(&record->seq, &seq))
		seq = TR_NO_POSITION;
	bool known = true;
	status = tr_klocwork_env_exec(&writer->env, record, &fields, &parentage, seq, &overrides,
				      &known, err);
	if (status != TR_OK)
		return about(record, status, err);
	writer->tally.unknown += !known;
	if (!overrides.has_envdiff && !fields.envtop &&
	    !count_doubtful(writer, &fields, &parentage))
		return tr_error_memory(err);
	writer->object.env_top = fields.envtop != NULL;
	bool as_is = !overrides.has_envdiff && !overrides.parent_id.data;
	status = as_is ? write_raw(writer, record, fields.raw, err) : TR_END;
	if (status == TR_END)
		status = render_exec(writer, record, &fields, &overrides, err);
	if (status != TR_OK)
		return status;
	return remember(writer, record, seq) ? TR_OK : tr_error_memory(err);
}

static enum tr_status put_context(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	tr_buffer_reset(&writer->line);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = write_raw(writer, record, tr_record_field(record, ".raw"), err);
	if (status != TR_END)
		return status;
	status = tr_klocwork_render_context(record, &writer->line, err);
	if (status != TR_OK)
		return about(record, status, err);
	tr_buffer_put_byte(&writer->line, '\n');
	put_line(writer, tr_buffer_text(&writer->line));
	return TR_OK;
}

static enum tr_status put_env(struct writer *writer, struct tr_record *record, struct tr_error *err)
{
	enum tr_status status = put_context(writer, record, err);
	if (status != TR_OK)
		return status;
	return about(record, tr_klocwork_env_top(&writer->env, record, err), err);
}

/* Of another format's own only what this one has, too. */
static bool is_context(const struct writer *writer, const struct tr_record *record)
{
	if (tr_text_is(record->kind, "env"))
		return true;
	if (writer->base.faithful || !writer->base.headed)
		return tr_text_is(record->kind, "meta") || tr_text_is(record->kind, "raw");
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       (tr_text_is(record->name.text, "version") ||
		tr_text_is(record->name.text, "creator"));
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = self;
	bool exec = tr_text_is(record->kind, "exec");
	if (!exec && !is_context(writer, record))
		return TR_END;
	struct tr_error remark;
	enum tr_status begun = begin_trace(writer, record, &remark);
	bool env = tr_text_is(record->kind, "env");
	enum tr_status status = exec  ? put_exec(writer, record, err)
				: env ? put_env(writer, record, err)
				      : put_context(writer, record, err);
	if (!exec && status == TR_OK)
		tr_klocwork_kin_context(&writer->kin, record);
	if (status == TR_OK && begun != TR_OK) {
		*err = remark;
		status = begun;
	}
	return status;
}

static enum tr_status tell(void *self, struct tr_error *err)
{
	struct writer *writer = self;
	return tr_klocwork_tally_tell(&writer->tally, err);
}

static const struct tr_segment_steps steps = {
	.format = "klocwork",
	.put = put_record,
	.end = end_segment,
	.tell = tell,
};

struct tr_writer *tr_klocwork_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	struct tr_text base = tr_setting_get(&config->settings, "env-base", "parent");
	struct writer *writer = tr_segment_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->env.target_top = tr_text_is(base, "top");
	writer->written = writer->later = writer->tasks =
		(struct tr_klocwork_ids)TR_KLOCWORK_IDS_INIT;
	writer->kin = (struct tr_klocwork_kin)TR_KLOCWORK_KIN_INIT;
	return (struct tr_writer *)writer;
}

void tr_klocwork_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->raw);
	tr_klocwork_object_free(&writer->object);
	tr_klocwork_ids_free(&writer->written);
	tr_klocwork_ids_free(&writer->later);
	tr_klocwork_ids_free(&writer->tasks);
	tr_klocwork_kin_free(&writer->kin);
	tr_klocwork_env_end(&writer->env);
	free(writer);
}
