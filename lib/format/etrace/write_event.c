#include "format/etrace/write_event.h"

#include "format/etrace/fields.h"
#include "format/etrace/flags.h"
#include "format/etrace/pen.h"
#include "format/etrace/tag.h"

enum { EMPTY_RUN = 1000 }; /* empty arguments that are not printed: readers believe no more */

struct draft {
	struct tr_record *record;
	struct tr_etrace_pen pen;
	struct tr_error *err;
	bool comma; /* a parameter stands in front of the next one */
};

static bool lacks(struct draft *d, const char *what)
{
	tr_error_set(d->err, TR_CAUSE_INPUT, "no %s, which the log needs", what);
	return false;
}

/* The record says so of itself. */
static bool is_flagged(struct tr_record *record, const char *flag)
{
	struct tr_field *field = tr_record_field(record, "flagged");
	struct tr_value *list = field ? tr_field_value(record, field, NULL) : NULL;

	for (size_t i = 0; list && list->type == TR_LIST && i < list->count; i++)
		if (list->as.items[i].type == TR_STRING && tr_text_is(list->as.items[i].text, flag))
			return true;
	return false;
}

/* Parameters. */

static void begin(struct draft *d, struct tr_text tag)
{
	tr_etrace_pen_open(&d->pen, tag);
	d->comma = false;
}

static void put_number(struct draft *d, struct tr_text name, int64_t number)
{
	struct tr_buffer *to = d->pen.to;

	if (d->comma)
		tr_buffer_put_byte(to, ',');
	d->comma = true;
	tr_buffer_put_text(to, name);
	tr_buffer_put_byte(to, '=');
	if (number < 0)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

/* Parameters that nobody knew when the record was read. */
static bool put_extra(struct draft *d)
{
	struct tr_field *field = tr_record_field(d->record, "extra");
	struct tr_value *map = field ? tr_field_value(d->record, field, d->err) : NULL;

	if (field && !map)
		return false;
	for (size_t i = 0; map && map->type == TR_MAP && i < map->count; i++) {
		const struct tr_member *member = &map->as.members[i];
		const struct tr_value *value = member->value;
		if ((value->type != TR_UINT && value->type != TR_INT) ||
		    value->as.number > INT64_MAX)
			continue;
		int64_t number = (int64_t)value->as.number;
		struct tr_text name = tr_string_bytes(member->key, d->record->arena);
		put_number(d, name, value->flags & TR_NEGATIVE ? -number : number);
	}
	return true;
}

static bool end(struct draft *d)
{
	bool fine = put_extra(d);

	tr_buffer_put_byte(d->pen.to, '\n');
	return fine;
}

/* Texts. */

struct string {
	struct tr_text tag, text;
	bool there;
	bool has_size; /* an event that has no such text does not state its size either */
	int64_t size;
};

/* The text that a field holds, and the size that the event says it has. */
static bool find_string(struct draft *d, const char *key, struct tr_text tag, struct string *string)
{
	char size_key[8] = ".";

	memcpy(size_key + 1, tag.data, tag.len);
	size_key[1 + tag.len] = '\0';
	string->tag = tag;
	if (!tr_etrace_field_string(d->record, key, &string->there, &string->text, d->err) ||
	    !tr_etrace_field_number(d->record, size_key, &string->has_size, &string->size, d->err))
		return false;
	if (string->there && !string->has_size)
		string->size = (int64_t)string->text.len;
	string->has_size = string->has_size || string->there;
	return true;
}

static void put_size(struct draft *d, struct tr_text name, const struct string *string)
{
	if (string->has_size)
		put_number(d, name, string->size);
}

static void put_string(struct draft *d, const struct string *string)
{
	if (string->there)
		tr_etrace_pen_string(&d->pen, string->tag, string->text);
}

/* Flags; *there is false where there are none. */
static bool find_flags(struct draft *d, enum tr_etrace_type type, bool *there, int64_t *number)
{
	struct tr_field *field = tr_record_field(d->record, "flags");

	*there = field != NULL;
	if (!field)
		return true;
	struct tr_value *value = tr_field_value(d->record, field, d->err);
	if (!value)
		return false;
	if (tr_etrace_flags_read(type, value, number))
		return true;
	tr_error_set(d->err, TR_CAUSE_INPUT, "flags: a word that is no flag of this call");
	return false;
}

/* The number of a field, put as a parameter where it is there. */
static bool put_number_field(struct draft *d, const char *key, struct tr_text name, bool needed)
{
	bool there;
	int64_t number;

	if (!tr_etrace_field_number(d->record, key, &there, &number, d->err))
		return false;
	if (there)
		put_number(d, name, number);
	return there || !needed || lacks(d, key);
}

static bool put_flags(struct draft *d, enum tr_etrace_type type, bool needed)
{
	bool there;
	int64_t number;

	if (!find_flags(d, type, &there, &number))
		return false;
	if (there)
		put_number(d, TR_TEXT("flags"), number);
	return there || !needed || lacks(d, "flags");
}

/* exec */

static bool argument_text(struct draft *d, const struct tr_value *item, struct tr_text *text)
{
	if (item->type != TR_STRING || item->flags & TR_CUT) {
		tr_error_set(d->err, TR_CAUSE_INPUT, "argv: an item that is no whole string");
		return false;
	}
	*text = tr_string_bytes(item->text, d->record->arena);
	if (!text->data)
		tr_error_memory(d->err);
	return text->data != NULL;
}

static bool put_arguments(struct draft *d, const struct tr_value *argv)
{
	size_t empty = 0;

	for (size_t i = 0; i < argv->count; i++) {
		struct tr_text text;
		if (!argument_text(d, &argv->as.items[i], &text))
			return false;
		/* readers see empty ones by the gap in the numbers, but for those at the end */
		empty = text.len || empty == EMPTY_RUN ? 0 : empty + 1;
		if (!empty || i + 1 == argv->count)
			tr_etrace_pen_argument(&d->pen, i, text);
	}
	return true;
}

static bool find_arguments(struct draft *d, struct tr_value **argv, int64_t *size)
{
	struct tr_field *field = tr_record_field(d->record, "argv");
	bool there;

	*argv = field ? tr_field_value(d->record, field, d->err) : NULL;
	if (!*argv)
		return field ? false : lacks(d, "argv");
	if ((*argv)->type != TR_LIST || (*argv)->flags & TR_CUT) {
		tr_error_set(d->err, TR_CAUSE_INPUT, "argv: no list that is whole");
		return false;
	}
	if (!tr_etrace_field_number(d->record, ".argsize", &there, size, d->err) || there)
		return there;
	*size = 0;
	for (size_t i = 0; i < (*argv)->count; i++) {
		struct tr_text text;
		if (!argument_text(d, &(*argv)->as.items[i], &text))
			return false;
		*size += (int64_t)text.len + 1;
	}
	return true;
}

/* The name column is the program, and the interpreter where no other one is told. */
static bool find_programs(struct draft *d, struct string *interpreter, struct string *program)
{
	struct tr_record *record = d->record;

	*program = (struct string){ .tag = TR_TEXT("PP") };
	if (!find_string(d, "interp", TR_TEXT("PI"), interpreter) ||
	    !tr_etrace_field_number(record, ".PP", &program->has_size, &program->size, d->err))
		return false;
	if (record->name.type == TR_CELL_TEXT) {
		if (!tr_cell_bytes(record->name.text, record->arena, &program->text, d->err))
			return false;
		program->there = true;
		if (!program->has_size)
			program->size = (int64_t)program->text.len;
		program->has_size = true;
	}
	if (!interpreter->has_size && !is_flagged(record, "missing:PI")) {
		*interpreter = *program;
		interpreter->tag = TR_TEXT("PI");
	}
	return true;
}

static bool write_exec(struct draft *d)
{
	struct string interpreter, program, cwd;
	struct tr_value *argv;
	int64_t size;

	if (!find_arguments(d, &argv, &size) || !find_programs(d, &interpreter, &program) ||
	    !find_string(d, "cwd", TR_TEXT("CW"), &cwd))
		return false;
	if (!program.has_size)
		return lacks(d, "executable");
	if (!cwd.has_size)
		return lacks(d, "cwd");
	begin(d, TR_TEXT("New_proc"));
	put_number(d, TR_TEXT("argsize"), size);
	put_size(d, TR_TEXT("prognameisize"), &interpreter);
	put_size(d, TR_TEXT("prognamepsize"), &program);
	put_size(d, TR_TEXT("cwdsize"), &cwd);
	if (!end(d))
		return false;
	put_string(d, &interpreter);
	put_string(d, &program);
	put_string(d, &cwd);
	if (!put_arguments(d, argv))
		return false;
	if (!is_flagged(d->record, "unfinished") && !is_flagged(d->record, "cut"))
		tr_etrace_pen_line(&d->pen, TR_TEXT("End_of_args"), TR_TEXT(""));
	return true;
}

/* Other kinds. */

static bool write_fork(struct draft *d)
{
	bool has_flags, has_child, failed;
	int64_t flags, child;

	if (!find_flags(d, TR_ETRACE_FORK, &has_flags, &flags) ||
	    !tr_etrace_field_number(d->record, "child", &has_child, &child, d->err) ||
	    !tr_etrace_field_true(d->record, "failed", &failed, d->err))
		return false;
	if (!has_flags && !has_child && !failed)
		return lacks(d, "child");
	if (has_flags) {
		begin(d, TR_TEXT("SysClone"));
		put_number(d, TR_TEXT("flags"), flags);
		if (!end(d))
			return false;
	}
	if (has_child) {
		begin(d, TR_TEXT("SchedFork"));
		put_number(d, TR_TEXT("pid"), child);
		if (!has_flags)
			return end(d);
		tr_buffer_put_byte(d->pen.to, '\n');
	} else if (failed) {
		tr_etrace_pen_line(&d->pen, TR_TEXT("SysCloneFailed"), TR_TEXT(""));
	}
	return true;
}

/* Death by a signal is the status 0. */
static bool write_exit(struct draft *d)
{
	begin(d, TR_TEXT("Exit"));
	if (tr_record_field(d->record, "signal"))
		put_number(d, TR_TEXT("status"), 0);
	else if (!put_number_field(d, "status", TR_TEXT("status"), false))
		return false;
	return end(d);
}

static bool write_comm(struct draft *d)
{
	struct string comm;

	if (!find_string(d, "comm", TR_TEXT("CN"), &comm))
		return false;
	if (!comm.has_size)
		return lacks(d, "comm");
	begin(d, TR_TEXT("Comm"));
	put_size(d, TR_TEXT("size"), &comm);
	if (!end(d))
		return false;
	put_string(d, &comm);
	return true;
}

static bool write_envset(struct draft *d)
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
	return true;
}

/* System calls. */

static bool write_open(struct draft *d)
{
	struct string path, original;
	bool has_mode;
	int64_t mode;

	if (!find_string(d, "path", TR_TEXT("FN"), &path) ||
	    !find_string(d, "orig", TR_TEXT("FO"), &original) ||
	    !tr_etrace_field_number(d->record, "mode", &has_mode, &mode, d->err) ||
	    (!has_mode && !tr_etrace_field_number(d->record, ".mode", &has_mode, &mode, d->err)))
		return false;
	if (!path.has_size)
		return lacks(d, "path");
	if (!original.has_size) {
		original = path;
		original.tag = TR_TEXT("FO");
	}
	begin(d, TR_TEXT("Open"));
	put_size(d, TR_TEXT("fnamesize"), &path);
	put_size(d, TR_TEXT("forigsize"), &original);
	if (!put_flags(d, TR_ETRACE_OPEN, true))
		return false;
	put_number(d, TR_TEXT("mode"), mode);
	if (!put_number_field(d, "return", TR_TEXT("fd"), true) || !end(d))
		return false;
	put_string(d, &path);
	put_string(d, &original);
	return true;
}

static bool write_close(struct draft *d)
{
	begin(d, TR_TEXT("Close"));
	return put_number_field(d, "fd", TR_TEXT("fd"), true) && end(d);
}

static bool write_dup(struct draft *d)
{
	begin(d, TR_TEXT("Dup"));
	return put_number_field(d, "oldfd", TR_TEXT("oldfd"), true) &&
	       put_number_field(d, "newfd", TR_TEXT("newfd"), true) &&
	       put_flags(d, TR_ETRACE_DUP, true) && end(d);
}

static bool write_pipe(struct draft *d)
{
	struct tr_field *field = tr_record_field(d->record, "fds");
	struct tr_value *fds = field ? tr_field_value(d->record, field, d->err) : NULL;

	if (field && !fds)
		return false;
	if (!fds || fds->type != TR_LIST || fds->count != 2 || fds->as.items[0].type != TR_UINT ||
	    fds->as.items[1].type != TR_UINT)
		return lacks(d, "fds");
	begin(d, TR_TEXT("Pipe"));
	put_number(d, TR_TEXT("fd1"), (int64_t)(fds->as.items[0].as.number & INT64_MAX));
	put_number(d, TR_TEXT("fd2"), (int64_t)(fds->as.items[1].as.number & INT64_MAX));
	return put_flags(d, TR_ETRACE_PIPE, true) && end(d);
}

/* rename and link: what begins, the same with flags, what ends, and what failed. */
struct move {
	enum tr_etrace_type type;
	struct tr_text from, from_flags, to, failed, from_tag, to_tag;
};

static bool write_move(struct draft *d, const struct move *move)
{
	struct string from, to;
	bool has_flags, failed;
	int64_t flags;

	if (!find_string(d, "from", move->from_tag, &from) ||
	    !find_string(d, "to", move->to_tag, &to) ||
	    !find_flags(d, move->type, &has_flags, &flags) ||
	    !tr_etrace_field_true(d->record, "failed", &failed, d->err))
		return false;
	if (!from.has_size && !to.has_size && !failed)
		return lacks(d, "from");
	if (from.has_size) {
		begin(d, has_flags ? move->from_flags : move->from);
		put_size(d, TR_TEXT("fnamesize"), &from);
		if (has_flags)
			put_number(d, TR_TEXT("flags"), flags);
		if (!end(d))
			return false;
		put_string(d, &from);
	}
	if (failed) {
		tr_etrace_pen_line(&d->pen, move->failed, TR_TEXT(""));
	} else if (to.has_size) {
		begin(d, move->to);
		put_size(d, TR_TEXT("fnamesize"), &to);
		tr_buffer_put_byte(d->pen.to, '\n');
		put_string(d, &to);
	}
	return true;
}

static bool write_rename(struct draft *d)
{
	static const struct move move = {
		TR_ETRACE_RENAME,  { "RenameFrom", 10 },   { "Rename2From", 11 },
		{ "RenameTo", 8 }, { "RenameFailed", 12 }, { "RF", 2 },
		{ "RT", 2 }
	};
	return write_move(d, &move);
}

static bool write_link(struct draft *d)
{
	static const struct move move = { TR_ETRACE_LINK,	{ "LinkFrom", 8 },
					  { "LinkatFrom", 10 }, { "LinkTo", 6 },
					  { "LinkFailed", 10 }, { "LF", 2 },
					  { "LT", 2 } };
	return write_move(d, &move);
}

static bool write_symlink(struct draft *d)
{
	struct string target, resolved, link;

	if (!find_string(d, "target", TR_TEXT("ST"), &target) ||
	    !find_string(d, "resolved", TR_TEXT("SR"), &resolved) ||
	    !find_string(d, "link", TR_TEXT("SL"), &link))
		return false;
	if (!target.has_size || !link.has_size)
		return lacks(d, target.has_size ? "link" : "target");
	begin(d, TR_TEXT("Symlink"));
	put_size(d, TR_TEXT("targetnamesize"), &target);
	put_size(d, TR_TEXT("resolvednamesize"), &resolved);
	put_size(d, TR_TEXT("linknamesize"), &link);
	if (!end(d))
		return false;
	put_string(d, &target);
	put_string(d, &resolved);
	put_string(d, &link);
	return true;
}

static bool write_mounting(struct draft *d, enum tr_etrace_type type)
{
	bool mount = type == TR_ETRACE_MOUNT, failed;
	struct string source, target, fs_type;

	if (!find_string(d, "source", TR_TEXT("MS"), &source) ||
	    !find_string(d, "target", TR_TEXT("MT"), &target) ||
	    !find_string(d, "type", TR_TEXT("MX"), &fs_type) ||
	    !tr_etrace_field_true(d->record, "failed", &failed, d->err))
		return false;
	if (target.has_size) {
		begin(d, mount ? TR_TEXT("Mount") : TR_TEXT("Umount"));
		put_size(d, TR_TEXT("sourcenamesize"), &source);
		put_size(d, TR_TEXT("targetnamesize"), &target);
		put_size(d, TR_TEXT("typenamesize"), &fs_type);
		if (!put_flags(d, type, false) || !end(d))
			return false;
		put_string(d, &source);
		put_string(d, &target);
		put_string(d, &fs_type);
	} else if (!failed) {
		return lacks(d, "target");
	}
	if (failed)
		tr_etrace_pen_line(&d->pen,
				   mount ? TR_TEXT("MountFailed") : TR_TEXT("UmountFailed"),
				   TR_TEXT(""));
	return true;
}

static bool write_mount(struct draft *d)
{
	return write_mounting(d, TR_ETRACE_MOUNT);
}

static bool write_umount(struct draft *d)
{
	return write_mounting(d, TR_ETRACE_UMOUNT);
}

/* Which of them. */

struct shape {
	const char *word; /* the kind; of sys the name */
	bool (*write)(struct draft *draft);
	bool succeeds; /* a call that failed is not in the log */
};

static const struct shape kinds[] = {
	{ "exec", write_exec, true },	   { "fork", write_fork, false },
	{ "exit", write_exit, false },	   { "comm", write_comm, false },
	{ "envset", write_envset, false }, { NULL, NULL, false },
};

static const struct shape calls[] = {
	{ "open", write_open, true },	    { "close", write_close, true },
	{ "pipe", write_pipe, true },	    { "dup", write_dup, true },
	{ "rename", write_rename, false },  { "link", write_link, false },
	{ "symlink", write_symlink, true }, { "mount", write_mount, false },
	{ "umount", write_umount, false },  { NULL, NULL, false },
};

static const struct shape *find_shape(const struct tr_record *record)
{
	bool sys = tr_text_is(record->kind, "sys");
	struct tr_text word = sys ? record->name.text : record->kind;
	const struct shape *shape = sys ? calls : kinds;

	if (sys && record->name.type != TR_CELL_TEXT)
		return NULL;
	while (shape->word && !tr_text_is(word, shape->word))
		shape++;
	return shape->word ? shape : NULL;
}

/* Time, task and cpu, which every line has. */
static bool begin_pen(struct draft *d)
{
	uint64_t sec, nsec, task;
	int64_t cpu;
	bool there;

	if (!tr_etrace_field_time(d->record, &sec, &nsec, d->err) ||
	    !tr_etrace_field_task(d->record, &task, d->err) ||
	    !tr_etrace_field_number(d->record, "cpu", &there, &cpu, d->err))
		return false;
	tr_etrace_pen_begin(&d->pen, task, cpu < 0 ? 0 : (uint64_t)cpu, sec, nsec);
	return true;
}

enum tr_status tr_etrace_write_event(struct tr_record *record, struct tr_buffer *to,
				     struct tr_error *err)
{
	const struct shape *shape = find_shape(record);
	struct draft d = { .record = record, .pen = { .to = to }, .err = err };
	size_t begin = to->len;

	if (!shape)
		return TR_END;
	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (shape->succeeds &&
	    (tr_record_field(record, "error") || tr_record_field(record, "failed")))
		return TR_END;
	if (begin_pen(&d) && shape->write(&d) && !to->failed)
		return TR_OK;
	to->len = begin;
	if (to->failed)
		tr_error_memory(err);
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}
