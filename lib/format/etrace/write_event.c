#include "format/etrace/write_event.h"

#include "format/etrace/draft.h"
#include "format/etrace/fields.h"

static bool write_fork(struct tr_etrace_draft *d)
{
	bool has_flags, has_child, failed;
	int64_t flags, child;

	if (!tr_etrace_find_call_flags(d, TR_ETRACE_FORK, &has_flags, &flags) ||
	    !tr_etrace_field_number(d->record, "child", &has_child, &child, d->err) ||
	    !tr_etrace_field_true(d->record, "failed", &failed, d->err))
		return false;
	if (!has_flags && !has_child && !failed)
		return tr_etrace_lacks(d, "child");
	if (has_flags) {
		tr_etrace_draft_begin(d, TR_TEXT("SysClone"));
		tr_etrace_draft_number(d, TR_TEXT("flags"), flags);
		if (!tr_etrace_draft_end(d))
			return false;
	}
	if (has_child) {
		tr_etrace_draft_begin(d, TR_TEXT("SchedFork"));
		tr_etrace_draft_number(d, TR_TEXT("pid"), child);
		if (!has_flags)
			return tr_etrace_draft_end(d);
		tr_buffer_put_byte(d->pen.to, '\n');
	} else if (failed) {
		tr_etrace_pen_line(&d->pen, TR_TEXT("SysCloneFailed"), TR_TEXT(""));
	}
	return true;
}

/* Death by a signal is the status 0. */
static bool write_exit(struct tr_etrace_draft *d)
{
	tr_etrace_draft_begin(d, TR_TEXT("Exit"));
	if (tr_record_field(d->record, "signal"))
		tr_etrace_draft_number(d, TR_TEXT("status"), 0);
	else if (!tr_etrace_draft_field(d, "status", TR_TEXT("status"), false))
		return false;
	return tr_etrace_draft_end(d);
}

static bool write_comm(struct tr_etrace_draft *d)
{
	struct tr_etrace_found comm;

	if (!tr_etrace_find_string(d, "comm", TR_TEXT("CN"), &comm))
		return false;
	if (!comm.has_size)
		return tr_etrace_lacks(d, "comm");
	tr_etrace_draft_begin(d, TR_TEXT("Comm"));
	tr_etrace_draft_size(d, TR_TEXT("size"), &comm);
	if (!tr_etrace_draft_end(d))
		return false;
	tr_etrace_draft_string(d, &comm);
	return true;
}

static bool write_envset(struct tr_etrace_draft *d)
{
	struct tr_field *field = tr_record_field(d->record, "tasks");
	struct tr_value *tasks = field ? tr_field_value(d->record, field, d->err) : NULL;
	struct tr_text var;
	bool there;

	if (!tr_etrace_field_string(d->record, "var", &there, &var, d->err) || (field && !tasks))
		return false;
	for (size_t i = 0; tasks && tasks->type == TR_LIST && i < tasks->count; i++) {
		if (tasks->as.items[i].type != TR_UINT) {
			tr_error_set(d->err, TR_CAUSE_INPUT, "tasks: an item that is no number");
			return false;
		}
		tr_etrace_pen_open(&d->pen, TR_TEXT("UPID"));
		tr_buffer_put_decimal(d->pen.to, tasks->as.items[i].as.number);
		tr_buffer_put_byte(d->pen.to, '\n');
	}
	if (there)
		tr_etrace_pen_env(&d->pen, var);
	else
		tr_etrace_pen_step(&d->pen); /* so that the next set is not taken for its rest */
	return true;
}

/* Which of them. */

struct shape {
	struct tr_text word; /* the kind; of sys the name */
	bool (*write)(struct tr_etrace_draft *draft);
	bool succeeds;				   /* a call that failed is not in the log */
	bool (*applies)(struct tr_record *record); /* NULL: to every such record */
};

#define WORD(literal) \
	{ \
		"" literal, sizeof(literal) - 1 \
	}

static const struct shape kinds[] = {
	{ WORD("exec"), tr_etrace_write_exec, true, NULL },
	{ WORD("fork"), write_fork, false, NULL },
	{ WORD("exit"), write_exit, false, NULL },
	{ WORD("comm"), write_comm, false, NULL },
	{ WORD("envset"), write_envset, false, NULL },
	{ { NULL, 0 }, NULL, false, NULL },
};

static bool copies(struct tr_record *record)
{
	return tr_etrace_where_control(record) <= TR_ETRACE_DUPFD_CLOEXEC;
}

/* The names that a log has for its events, and then those of other calls that are such events. */
static const struct shape calls[] = {
	{ WORD("open"), tr_etrace_write_open, true, NULL },
	{ WORD("close"), tr_etrace_write_close, true, NULL },
	{ WORD("pipe"), tr_etrace_write_pipe, true, NULL },
	{ WORD("dup"), tr_etrace_write_dup, true, NULL },
	{ WORD("rename"), tr_etrace_write_rename, false, NULL },
	{ WORD("link"), tr_etrace_write_link, false, NULL },
	{ WORD("symlink"), tr_etrace_write_symlink, true, NULL },
	{ WORD("mount"), tr_etrace_write_mount, false, NULL },
	{ WORD("umount"), tr_etrace_write_umount, false, NULL },
	{ WORD("openat"), tr_etrace_write_open, true, NULL },
	{ WORD("openat2"), tr_etrace_write_open, true, NULL },
	{ WORD("creat"), tr_etrace_write_creat, true, NULL },
	{ WORD("close_range"), tr_etrace_write_close_range, true, NULL },
	{ WORD("pipe2"), tr_etrace_write_pipe, true, NULL },
	{ WORD("dup2"), tr_etrace_write_dup, true, NULL },
	{ WORD("dup3"), tr_etrace_write_dup, true, NULL },
	{ WORD("fcntl"), tr_etrace_write_fcntl, true, copies },
	{ WORD("renameat"), tr_etrace_write_rename, false, NULL },
	{ WORD("renameat2"), tr_etrace_write_rename, false, NULL },
	{ WORD("linkat"), tr_etrace_write_link, false, NULL },
	{ WORD("symlinkat"), tr_etrace_write_symlink, true, NULL },
	{ WORD("umount2"), tr_etrace_write_umount, false, NULL },
	{ { NULL, 0 }, NULL, false, NULL },
};

static const struct shape *find_shape(const struct tr_record *record)
{
	bool sys = tr_text_is(record->kind, "sys");
	struct tr_text word = sys ? record->name.text : record->kind;
	const struct shape *shape = sys ? calls : kinds;

	if (sys && record->name.type != TR_CELL_TEXT)
		return NULL;
	while (shape->word.data && !tr_text_equal(word, shape->word))
		shape++;
	return shape->word.data ? shape : NULL;
}

/* The task, cpu and time of every line. */
static bool find_head(struct tr_etrace_draft *d, uint64_t *task, uint64_t *cpu,
		      struct tr_etrace_moment *time)
{
	int64_t number;
	bool there;

	if (!tr_etrace_field_time(d->record, time, d->err) ||
	    !tr_etrace_field_task(d->record, task, d->err) ||
	    !tr_etrace_field_number(d->record, "cpu", &there, &number, d->err))
		return false;
	*cpu = number < 0 ? 0 : (uint64_t)number;
	return true;
}

static bool write_lines(struct tr_etrace_draft *d, const struct shape *shape,
			struct tr_etrace_clock *clock, bool *back)
{
	bool timed = d->record->time.type != TR_CELL_ABSENT;
	struct tr_etrace_moment own, time;
	uint64_t task, cpu;

	if (!find_head(d, &task, &cpu, &own))
		return false;
	time = own;
	if (!tr_etrace_clock_start(clock, task, timed, &time, back)) {
		tr_error_set(d->err, TR_CAUSE_INPUT, "time: too late for a log");
		return false;
	}
	tr_etrace_pen_begin(&d->pen, task, cpu, time);
	if (!shape->write(d) || d->pen.to->failed)
		return false;
	if (!tr_etrace_clock_stop(clock, task, timed, own, d->pen.time,
				  shape->write == write_exit)) {
		tr_error_memory(d->err);
		return false;
	}
	return true;
}

enum tr_status tr_etrace_write_event(struct tr_record *record, struct tr_etrace_clock *clock,
				     struct tr_buffer *to, struct tr_etrace_where *where,
				     bool *back, const char **reason, struct tr_error *err)
{
	const struct shape *shape = find_shape(record);
	struct tr_etrace_draft d;
	size_t begin = to->len;

	*back = false;
	if (!shape) {
		*reason = tr_text_is(record->kind, "sys")
				  ? "its only calls are open, close, pipe, dup, rename, link, "
				    "symlink, mount, umount and their variants"
				  : "its only events are of programs, tasks and files";
		return TR_END;
	}
	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (shape->applies && !shape->applies(record)) {
		*reason = "of fcntl it has only the commands that copy a descriptor";
		return TR_END;
	}
	if (shape->succeeds &&
	    (tr_record_field(record, "error") || tr_record_field(record, "failed"))) {
		*reason = "it has only those that succeeded";
		return TR_END;
	}
	d.record = record;
	d.pen.to = to; /* the rest of it is set with its head */
	d.err = err;
	d.where = where;
	if (write_lines(&d, shape, clock, back))
		return TR_OK;
	to->len = begin;
	if (to->failed)
		tr_error_memory(err);
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}
