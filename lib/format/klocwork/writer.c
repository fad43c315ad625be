#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "format/klocwork/id.h"
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
	struct tr_klocwork_env env;

	/* the whole stream */
	struct tr_klocwork_kin kin;
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
	tr_klocwork_kin_end(&writer->kin);
	tr_klocwork_env_end(&writer->env, writer->kin.count);
	return TR_OK;
}

static enum tr_status close_trace(void *self, struct tr_error *err)
{
	struct writer *writer = self;
	(void)err;
	tr_klocwork_kin_finish(&writer->kin);
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

static bool is_version(const struct tr_record *record)
{
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       tr_text_is(record->name.text, "version");
}

/* Who tells whole environments tells them against nothing: that is the first one then. */
static bool tells_whole(struct tr_record *record)
{
	return tr_text_is(record->kind, "exec") && tr_record_field(record, "env");
}

/* A trace has a version line; a stream that was no klocwork trace, or has lost it, gets one. */
static enum tr_status begin_trace(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	bool missing = !writer->begun && !writer->base.faithful && !is_version(record);
	writer->begun = true;
	if (!missing)
		return TR_OK;
	put_line(writer, TR_TEXT("{\"version\":101}\n{\"creator\":\"" PACKAGE_STRING "\"}\n"));
	writer->env.supplied = tells_whole(record);
	if (writer->env.supplied)
		put_line(writer, TR_TEXT("{\"env\":{}}\n"));
	tr_klocwork_kin_supplied(&writer->kin, writer->env.supplied ? 3 : 2);
	tr_error_set(err, TR_CAUSE_INPUT, "version and creator were not in the stream: supplied");
	return note(err);
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
 * Sets parent_id where the record did not come from a klocwork trace. There the
 * parent is an event of the trace or nobody (-1); elsewhere it may be a process
 * that never ran a program of its own, or one that was not watched. False: memory.
 */
static bool adopt(struct writer *writer, struct tr_record *record,
		  const struct tr_klocwork_fields *fields, struct tr_klocwork_parentage *parentage,
		  struct tr_klocwork_overrides *overrides)
{
	bool foreign = !writer->base.faithful && writer->base.headed;
	bool root = parentage->place == TR_KLOCWORK_ROOT;
	if (writer->base.faithful || parentage->place == TR_KLOCWORK_STRANGER ||
	    (!foreign && fields->ppid))
		return true;
	if (!root && !tr_klocwork_kin_id(&writer->kin, parentage->parent, record->arena,
					 &overrides->parent_id))
		return false;
	/* a process that nobody names may be known all the same: that id stays */
	if (root && foreign && !tr_klocwork_names_nobody(parentage->parent_id) &&
	    parentage->read.seq == TR_NO_POSITION)
		overrides->parent_id = TR_TEXT("-1");
	return !overrides->parent_id.data ||
	       tr_klocwork_kin_rename(&writer->kin, overrides->parent_id, record->arena, parentage);
}

/* The event is written; before is what the output had until then. False: memory is out. */
static bool remember(struct writer *writer, struct tr_record *record,
		     const struct tr_klocwork_fields *fields,
		     const struct tr_klocwork_parentage *parentage, uint64_t before)
{
	const struct tr_klocwork_env *env = &writer->env;
	/* who says nothing has its parent's environment, where the stream says any */
	bool told = writer->base.faithful || fields->envdiff || env->differences || env->pool;
	bool tells = !env->target_top && (parentage->settled || told);
	return (writer->base.faithful ||
		tr_klocwork_kin_keep_id(&writer->kin, record, parentage)) &&
	       tr_klocwork_kin_event(&writer->kin, record, parentage, tells,
				     (size_t)(tr_output_count(writer->base.out) - before));
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_klocwork_fields fields;
	struct tr_klocwork_overrides overrides = { { NULL, 0 }, { NULL, 0 }, false };
	struct tr_klocwork_parentage parentage;
	uint64_t before = tr_output_count(writer->base.out);
	enum tr_status status = tr_klocwork_fields_find(record, &fields, err);
	if (status != TR_OK)
		return about(record, status, err);
	if (!tr_klocwork_kin_find(&writer->kin, record, &fields, &parentage) ||
	    !adopt(writer, record, &fields, &parentage, &overrides))
		return tr_error_memory(err);
	bool known = true;
	status = tr_klocwork_env_exec(&writer->env, record, &fields, writer->kin.count, &parentage,
				      &overrides, &known, err);
	if (status != TR_OK)
		return about(record, status, err);
	writer->object.env_top = fields.envtop != NULL;
	bool as_is = !overrides.has_envdiff && !overrides.parent_id.data;
	status = as_is ? write_raw(writer, record, fields.raw, err) : TR_END;
	if (status == TR_OK) /* fields do not hold every id, and make up one that is not there */
		tr_klocwork_kin_reread(&writer->kin, &writer->object, &parentage);
	if (status == TR_END)
		status = render_exec(writer, record, &fields, &overrides, err);
	if (status != TR_OK)
		return status;
	if (!known && tr_environments_are_spent(writer->env.pool))
		writer->tally.limited++;
	else
		writer->tally.unknown += !known;
	writer->tally.untold +=
		writer->env.supplied && !fields.env && !fields.envtop && !fields.envdiff;
	return remember(writer, record, &fields, &parentage, before) ? TR_OK : tr_error_memory(err);
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

/* A record other than exec is written. With a version a trace begins that has another env line. */
static bool follow_context(struct writer *writer, const struct tr_record *record, size_t weight)
{
	if (writer->kin.parents.events && is_version(record))
		tr_klocwork_env_end(&writer->env, writer->kin.count);
	return tr_klocwork_kin_context(&writer->kin, record, weight);
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
	uint64_t before = tr_output_count(writer->base.out);
	enum tr_status status = exec  ? put_exec(writer, record, err)
				: env ? put_env(writer, record, err)
				      : put_context(writer, record, err);
	size_t weight = (size_t)(tr_output_count(writer->base.out) - before);
	if (!exec && weight && !follow_context(writer, record, weight))
		return tr_error_memory(err);
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
	.close = close_trace,
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
	tr_klocwork_kin_init(&writer->kin, &writer->tally);
	return (struct tr_writer *)writer;
}

void tr_klocwork_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->raw);
	tr_klocwork_object_free(&writer->object);
	tr_klocwork_kin_free(&writer->kin);
	tr_klocwork_env_end(&writer->env, 0);
	free(writer);
}
