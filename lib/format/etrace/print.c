/* SPDX-License-Identifier: MIT */
/*
 * A record becomes lines in two steps, which are those of the reader in reverse: its fields are
 * read into the slots of an event, then the lines of the event are printed with the parameters of
 * their tags (line.c).
 *
 *	tr_etrace_print_record	finds the kind of the record in `kinds`
 *	  find_...		fields -> slots of struct print; what is missing is an error
 *	  put_...		slots -> lines; most kinds have one line and its texts (put_event)
 *
 * A record of another format lacks fields that a log always has. Where the call implies a value,
 * such as the flags of creat(), it is supplied; otherwise the record is reported and left out,
 * because CAS drops the rest of a task after a line that it does not understand.
 */
#include "format/etrace/writer.h"

#include "core/text.h"
#include "core/input.h"

/* Empty arguments in a row that are not printed; readers take larger gaps for damage. */
enum { EMPTY_RUN = 1000 };

/* Prints lines with increasing times. */
struct pen {
	struct tr_buffer *to;
	struct tr_etrace_moment time; /* of the next line */
	char head[4 + 4 * 21];	      /* "0: upid,cpu,sec,nsec!" of that line */
	size_t head_len, time_at, nsec_at;
};

/* A text that an event has or states the size of. */
struct text {
	struct tr_text text;
	bool there;
	bool has_size; /* false: the event has no such text, and does not state its size */
	int64_t size;
};

/* A record and the lines that it becomes. */
struct print {
	struct tr_record *record;
	const struct tr_etrace_shape *shape;
	enum tr_etrace_type type;
	struct pen pen;
	struct tr_error *err;
	struct tr_etrace_where *where; /* NULL: the record's paths are absolute */
	struct text strings[TR_ETRACE_STRINGS];
	int64_t numbers[TR_ETRACE_NUMBERS];
	uint8_t given; /* numbers that are there, as bits */
	bool failed;   /* the call did */
	bool has_own;  /* the record has fields of this format alone, such as .FN */
	const struct tr_value *argv;
};

/* Lines. */

/* Writes a number and the byte after it. Returns the end. */
static char *put_counter(uint64_t number, char end, char *p)
{
	p += tr_decimal_write(number, p);
	*p++ = end;
	return p;
}

/* Writes the nanoseconds to the head. They are not padded: 5000 ns are "5000". */
static void spell_nanoseconds(struct pen *pen)
{
	char *p = put_counter(pen->time.nsec, '!', pen->head + pen->nsec_at);

	pen->head_len = (size_t)(p - pen->head);
}

/* Writes seconds and nanoseconds to the head. */
static void spell_time(struct pen *pen)
{
	char *p = put_counter(pen->time.sec, ',', pen->head + pen->time_at);

	pen->nsec_at = (size_t)(p - pen->head);
	spell_nanoseconds(pen);
}

/* Sets the head of the first line of a record. */
static void pen_begin(struct pen *pen, uint64_t upid, uint64_t cpu, struct tr_etrace_moment time)
{
	char *p = pen->head;

	memcpy(p, "0: ", 3);
	p = put_counter(upid, ',', p + 3);
	p = put_counter(cpu, ',', p);
	pen->time_at = (size_t)(p - pen->head);
	pen->time = time;
	spell_time(pen);
}

/*
 * Raises the time of the next line by 1 ns. The last digit of the head is counted up in place:
 * printing the number again for every line would take 3 % of the time of a conversion.
 */
static void step(struct pen *pen)
{
	char *digit = pen->head + pen->head_len - 2;

	if (++pen->time.nsec == TR_ETRACE_NANOSECONDS) {
		pen->time.nsec = 0;
		pen->time.sec++;
		spell_time(pen);
		return;
	}
	while (*digit == '9')
		*digit-- = '0';
	if (*digit == ',') /* one digit more than before */
		spell_nanoseconds(pen);
	else
		++*digit;
}

/* Prints the head and the data after it: the beginning of a line, or all of it. */
static void put_head(struct pen *pen, struct tr_text data)
{
	tr_buffer_put(pen->to, pen->head, pen->head_len);
	tr_buffer_put_text(pen->to, data);
	step(pen);
}

/* Prints `tag|`; the caller ends the line. */
static void put_open(struct pen *pen, struct tr_text tag)
{
	put_head(pen, tag);
	tr_buffer_put_byte(pen->to, '|');
}

/* Prints `tag|text` */
static void put_line(struct pen *pen, struct tr_text tag, struct tr_text text)
{
	put_open(pen, tag);
	tr_buffer_put_text(pen->to, text);
	tr_buffer_put_byte(pen->to, '\n');
}

/* Prints `tag[n]text` */
static void put_part(struct pen *pen, struct tr_text tag, uint64_t n, struct tr_text text)
{
	put_head(pen, tag);
	tr_buffer_put_byte(pen->to, '[');
	tr_buffer_put_decimal(pen->to, n);
	tr_buffer_put_byte(pen->to, ']');
	tr_buffer_put_text(pen->to, text);
	tr_buffer_put_byte(pen->to, '\n');
}

/* Takes the first piece off a text. */
static struct tr_text take_piece(struct tr_text *text)
{
	size_t len = text->len < TR_ETRACE_PIECE ? text->len : TR_ETRACE_PIECE;
	struct tr_text piece = { text->data, len };

	*text = tr_text_span(text->data + len, text->data + text->len);
	return piece;
}

/* Takes the first line off a text, without its LF. False: it was the last. */
static bool take_line(struct tr_text *text, struct tr_text *line)
{
	const char *end = text->data + text->len;
	const char *lf = text->len ? memchr(text->data, '\n', text->len) : NULL;

	*line = tr_text_span(text->data, lf ? lf : end);
	*text = tr_text_span(lf ? lf + 1 : end, end);
	return lf != NULL;
}

/* Prints the line that ends a group of Cont lines. */
static void end_group(struct pen *pen)
{
	put_line(pen, TR_TEXT("Cont_end"), TR_TEXT(""));
}

/*
 * Prints a text in parts. Texts differ in how their parts are numbered: `step` is added with each,
 * and `cont_step` with each Cont. A first line gives a part even if it is empty, which the tracer
 * would not print.
 */
static uint64_t put_parts(struct pen *pen, struct tr_text tag, uint64_t n, unsigned step,
			  unsigned cont_step, struct tr_text text)
{
	struct tr_text line;
	bool more = take_line(&text, &line), in_group = false;

	do {
		put_part(pen, tag, n, take_piece(&line));
		n += step;
	} while (line.len);
	while (more) {
		more = take_line(&text, &line);
		put_line(pen, TR_TEXT("Cont"), take_piece(&line));
		n += cont_step;
		in_group = line.len == 0;
		if (line.len)
			end_group(pen);
		for (; line.len; n += step)
			put_part(pen, tag, n, take_piece(&line));
	}
	if (in_group)
		end_group(pen);
	return n;
}

/*
 * Prints a text whose size the event states: on one line up to 899 bytes, in parts from 900 on. The
 * forms are those of the tracer, so what is read and written again has the same lines.
 */
static void put_string(struct pen *pen, struct tr_text tag, struct tr_text text)
{
	struct tr_text line;

	if (text.len >= TR_ETRACE_PIECE) {
		put_parts(pen, tag, 0, 1, 0, text);
		put_head(pen, tag);
		tr_buffer_put_literal(pen->to, "_end|\n");
		return;
	}
	bool more = take_line(&text, &line), group = more;
	put_line(pen, tag, line);
	while (more) {
		more = take_line(&text, &line);
		put_line(pen, TR_TEXT("Cont"), line);
	}
	if (group)
		end_group(pen);
}

/* Prints name=number, after a comma if it is not the first one. */
static void put_parameter(struct print *p, bool *comma, struct tr_text name, int64_t number)
{
	struct tr_buffer *to = p->pen.to;

	if (*comma)
		tr_buffer_put_byte(to, ',');
	*comma = true;
	tr_buffer_put_text(to, name);
	tr_buffer_put_byte(to, '=');
	tr_etrace_put_number(number, to);
}

/* Prints parameters that were unknown when the record was read. */
static void put_extra(struct print *p, bool *comma)
{
	const struct tr_value *map = tr_etrace_field(p->record, "extra", p->err);
	int64_t number;

	for (size_t i = 0; map && map->type == TR_MAP && i < map->count; i++)
		if (tr_etrace_value_number(map->as.members[i].value, &number))
			put_parameter(p, comma,
				      tr_string_bytes(map->as.members[i].key, p->record->arena),
				      number);
}

/*
 * Prints the line that begins an event or its second half, and the texts that belong to it. extra:
 * also the parameters that were unknown; an event with two halves has them in its first one.
 */
static void put_event(struct print *p, const struct tr_etrace_tag *tag, bool extra)
{
	bool comma = false;

	put_open(&p->pen, tag->name);
	for (size_t i = 0; i < tag->parameter_count; i++) {
		const struct tr_etrace_parameter *parameter = &tag->parameters[i];
		unsigned slot = parameter->slot;
		if (parameter->size ? p->strings[slot].has_size : p->given >> slot & 1)
			put_parameter(p, &comma, parameter->name,
				      parameter->size ? p->strings[slot].size : p->numbers[slot]);
	}
	if (extra)
		put_extra(p, &comma);
	tr_buffer_put_byte(p->pen.to, '\n');
	for (size_t i = 0; i < tag->parameter_count; i++) {
		unsigned slot = tag->parameters[i].slot;
		if (tag->parameters[i].size && p->strings[slot].there)
			put_string(&p->pen, p->shape->tags[slot], p->strings[slot].text);
	}
}

/*
 * The fields of the kinds of records, as slots of an event. Errors stay in p->err, and nothing is
 * printed after one.
 */

/* Sets the error if there is none yet. */
static void fail(struct print *p, const char *message)
{
	if (!p->err->cause)
		tr_error_say(p->err, TR_CAUSE_INPUT, message);
}

/* Reports that the record lacks something, if there is no other error. */
static void need(struct print *p, bool there, const char *what)
{
	if (!there && !p->err->cause)
		tr_error_set(p->err, TR_CAUSE_INPUT, "no %s, which the log needs", what);
}

/* True if the record has a field, of any type. */
static bool has_field(struct print *p, const char *key)
{
	return tr_record_field(p->record, key) != NULL;
}

/* True if the number of a slot is known. */
static bool has_number(const struct print *p, unsigned slot)
{
	return p->given >> slot & 1;
}

/* Sets a text and its size. */
static void set_text(struct text *string, struct tr_text text)
{
	string->text = text;
	string->there = string->has_size = true;
	string->size = (int64_t)text.len;
}

/*
 * Reads a text, and the size that the event states if that is another one: the reader keeps it as
 * .FN and the like, so that a damaged event is written as it was.
 */
static void find_string(struct print *p, unsigned slot)
{
	struct text *string = &p->strings[slot];
	struct tr_text tag = p->shape->tags[slot];
	struct tr_text text = { NULL, 0 };
	char size_key[8] = ".";
	int64_t size;

	if (p->shape->strings[slot].name)
		text = tr_etrace_field_text(p->record, p->shape->strings[slot].name, p->err);
	if (text.data)
		set_text(string, text);
	memcpy(size_key + 1, tag.data, tag.len);
	if (p->has_own && tr_etrace_field_number(p->record, size_key, &size, p->err)) {
		string->has_size = true;
		string->size = size;
	}
}

/* Sets the number of a slot. */
static void set_number(struct print *p, unsigned slot, int64_t number)
{
	p->numbers[slot] = number;
	p->given |= (uint8_t)(1u << slot);
}

/* Reads a number if the record has it. */
static void find_number(struct print *p, unsigned slot, const char *key)
{
	int64_t number;

	if (tr_etrace_field_number(p->record, key, &number, p->err))
		set_number(p, slot, number);
}

/* Reads a number that the log needs. */
static void need_number(struct print *p, unsigned slot, const char *key)
{
	find_number(p, slot, key);
	need(p, has_number(p, slot), key);
}

/*
 * True if the flags are ones that only clone3() takes. For its calls, posix_spawn()'s among them,
 * the tracer prints only the child.
 */
static bool is_of_clone3(const struct tr_value *value)
{
	static const char *const words[] = { "CLONE_NEWTIME", "CLONE_CLEAR_SIGHAND",
					     "CLONE_INTO_CGROUP" };
	const struct tr_symbol *symbol = value->type == TR_SYMBOL ? value->as.symbol : NULL;

	for (size_t i = 0; symbol && i < symbol->count; i++)
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			if (tr_text_is(symbol->names[i].text, words[k]))
				return true;
	return false;
}

/*
 * Reads the field flags. Those of clone3 are left out, as the tracer does not print that call's
 * flags.
 */
static void find_flags(struct print *p, unsigned slot)
{
	const struct tr_value *value = tr_etrace_field(p->record, "flags", p->err);
	int64_t number;

	if (!value || (p->type == TR_ETRACE_FORK && is_of_clone3(value)))
		return;
	if (tr_etrace_flags_read(p->type, value, &number))
		set_number(p, slot, number);
	else
		fail(p, "flags: a word is not a flag of this call");
}

/* Reads flags that a log always has. number: what a call of another stream without flags means. */
static void need_flags(struct print *p, unsigned slot, int64_t number)
{
	if (p->where && !has_field(p, "flags"))
		set_number(p, slot, number);
	else
		find_flags(p, slot);
	need(p, has_number(p, slot), "flags");
}

/* Reads the fields that the shape names; most kinds need nothing else. */
static void find_all(struct print *p)
{
	const struct tr_etrace_shape *shape = p->shape;

	for (unsigned i = 0; i < TR_ETRACE_STRINGS; i++)
		if (shape->strings[i].name)
			find_string(p, i);
	for (unsigned k = 0; k < TR_ETRACE_NUMBERS && shape->numbers[k].name; k++)
		if (shape->flags >> k & 1)
			find_flags(p, k);
		else
			find_number(p, k, shape->numbers[k].name);
}

/* A call that failed has the field failed (etrace), or states its error (strace). */
static void find_failed(struct print *p)
{
	const struct tr_value *failed = tr_etrace_field(p->record, "failed", p->err);

	p->failed = (failed && failed->type == TR_TRUE) || has_field(p, "error");
}

/*
 * Replaces a path by what the log resolves it to: absolute, without "." and "..". Returns the path
 * that was passed to the call, absolute too. directory: the field of the descriptor that it is
 * relative to; NULL: the working directory.
 */
static struct text resolve(struct print *p, unsigned slot, const char *directory)
{
	struct text *path = &p->strings[slot], given;

	if (p->where && path->there && !p->err->cause) {
		tr_etrace_where_join(p->where, p->record, directory, &path->text, p->err);
		set_text(path, path->text);
	}
	given = *path;
	if (p->where && path->there && !p->err->cause) {
		tr_etrace_where_clean(p->record, &path->text, p->err);
		set_text(path, path->text);
	}
	return given;
}

/* Kinds of records. */

/* Returns an item of argv. One that was cut is an error: its size would be wrong. */
static struct tr_text argument(struct print *p, size_t i)
{
	const struct tr_value *item = &p->argv->as.items[i];
	struct tr_text text = TR_TEXT("");

	if (item->type != TR_STRING || item->flags & TR_CUT)
		fail(p, "argv: an item is not a complete string");
	else
		text = tr_value_bytes(item, p->record->arena);
	if (!text.data)
		tr_error_memory(p->err);
	return text;
}

/*
 * Reads an execution. The name column is the program, and the interpreter if the record names no
 * other one: the tracer prints both, and they differ only for scripts. The size of the arguments is
 * counted with their NULs, as in the kernel.
 */
static void find_exec(struct print *p)
{
	struct text *interpreter = &p->strings[0], *program = &p->strings[1];
	struct tr_record *record = p->record;
	struct tr_text name;
	int64_t size = 0;

	p->argv = tr_etrace_field(record, "argv", p->err);
	need(p, p->argv, "argv");
	if (p->argv && (p->argv->type != TR_LIST || p->argv->flags & TR_CUT))
		fail(p, "argv: not a complete list");
	find_number(p, 0, ".argsize");
	if (!has_number(p, 0)) {
		for (size_t i = 0; !p->err->cause && i < p->argv->count; i++)
			size += (int64_t)argument(p, i).len + 1;
		set_number(p, 0, size);
	}
	find_all(p);
	if (p->err->cause)
		return;
	if (record->name.type == TR_CELL_TEXT &&
	    tr_cell_bytes(record->name.text, record->arena, &name, p->err))
		set_text(program, name);
	find_string(p, 1);
	if (!interpreter->has_size)
		*interpreter = *program;
	need(p, program->has_size, "executable");
	need(p, p->strings[2].has_size, "cwd");
}

/* True if the reader found this damage. */
static bool is_flagged(struct print *p, const char *flag)
{
	const struct tr_value *list = tr_etrace_field(p->record, "flagged", p->err);

	for (size_t i = 0; list && list->type == TR_LIST && i < list->count; i++)
		if (list->as.items[i].type == TR_STRING && tr_text_is(list->as.items[i].text, flag))
			return true;
	return false;
}

/*
 * Prints an execution. Empty arguments are not printed, as in the tracer, except for every
 * thousandth and the last one. The line at the end is left out if it was missing.
 */
static void put_exec(struct print *p)
{
	size_t empty = 0;

	put_event(p, p->shape->begin, true);
	for (size_t i = 0; i < p->argv->count; i++) {
		struct tr_text text = argument(p, i);
		/* readers infer empty ones from the gap in the numbers, except at the end */
		empty = text.len || empty == EMPTY_RUN ? 0 : empty + 1;
		if (!empty || i + 1 == p->argv->count)
			put_parts(&p->pen, TR_TEXT("A"), i, 0, 0, text);
	}
	if (!is_flagged(p, "unfinished") && !is_flagged(p, "cut"))
		put_line(&p->pen, TR_TEXT("End_of_args"), TR_TEXT(""));
}

/* Reads a fork. A child without flags is normal: fork, vfork and clone3 print only the child. */
static void find_fork(struct print *p)
{
	const struct tr_value *failed;

	find_all(p);
	failed = tr_etrace_field(p->record, "failed", p->err);
	p->failed = failed && failed->type == TR_TRUE;
	need(p, p->given || p->failed, "child");
}

/* Prints the first half if there are flags, and the child or the failure as the second one. */
static void put_fork(struct print *p)
{
	bool has_flags = has_number(p, 1);

	if (has_flags)
		put_event(p, p->shape->begin, true);
	if (has_number(p, 0))
		put_event(p, p->shape->second, !has_flags);
	else if (p->failed)
		put_line(&p->pen, p->shape->failed->name, TR_TEXT(""));
}

/* Death by a signal is the status 0. */
static void find_exit(struct print *p)
{
	if (has_field(p, "signal"))
		set_number(p, 0, 0);
	else
		find_all(p);
}

/* Reads a change of a task's name. */
static void find_comm(struct print *p)
{
	find_all(p);
	need(p, p->strings[0].has_size, "comm");
}

/* Prints the tasks of a variable, then the variable. The tracer gives all of these the upid 0. */
static void put_envset(struct print *p)
{
	const struct tr_value *tasks = tr_etrace_field(p->record, "tasks", p->err);

	for (size_t i = 0; tasks && tasks->type == TR_LIST && i < tasks->count; i++) {
		if (tasks->as.items[i].type != TR_UINT)
			fail(p, "tasks: an item is not a number");
		put_open(&p->pen, TR_TEXT("UPID"));
		tr_buffer_put_decimal(p->pen.to, tasks->as.items[i].as.number);
		tr_buffer_put_byte(p->pen.to, '\n');
	}
	if (p->strings[0].there)
		put_parts(&p->pen, TR_TEXT("Env"), 0, 1, 1, p->strings[0].text);
	else
		step(&p->pen); /* otherwise the next set would seem to continue this one */
}

/*
 * Reads a member of openat2's structure; words: it may consist of flags. *number stays as it is if
 * there is no such member.
 */
static void find_how(struct print *p, const char *key, bool words, int64_t *number)
{
	const struct tr_value *how = tr_etrace_field(p->record, "how", p->err);

	for (size_t i = 0; how && how->type == TR_STRUCT && i < how->count; i++) {
		const struct tr_value *value = how->as.members[i].value;
		if (!tr_text_is(how->as.members[i].key, key))
			continue;
		if (!tr_etrace_flags_read(TR_ETRACE_OPEN, value, number) ||
		    (!words && value->type == TR_SYMBOL))
			tr_error_set(p->err, TR_CAUSE_INPUT, "how: bad %s", key);
		return;
	}
}

/*
 * Reads an open, openat, openat2 or creat. FN is the resolved path and FO the path as the program
 * passed it, joined with the directory. The tracer prints a mode even if no file is created.
 */
static void find_open(struct print *p)
{
	enum { FLAGS, MODE, FD, CREAT = 01 | 0100 | 01000 }; /* O_WRONLY|O_CREAT|O_TRUNC */
	bool creat = tr_text_is(p->record->name.text, "creat");
	bool how = p->where && has_field(p, "how");
	struct tr_text note = { NULL, 0 };

	find_string(p, 0);
	struct text given = resolve(p, 0, "dirfd");
	if (p->where)
		note = tr_etrace_where_note(p->record, "return", p->err);
	need(p, p->strings[0].has_size, "path");
	if (note.data) /* what the path was resolved to, as strace -y states it */
		set_text(&p->strings[0], note);
	find_string(p, 1);
	if (!p->strings[1].has_size)
		p->strings[1] = given;
	find_number(p, MODE, "mode");
	if (p->has_own && !has_number(p, MODE))
		find_number(p, MODE, ".mode");
	set_number(p, MODE, p->numbers[MODE]);
	if (creat || how)
		set_number(p, FLAGS, creat ? CREAT : 0);
	else
		find_flags(p, FLAGS);
	need(p, has_number(p, FLAGS), "flags");
	if (how) {
		find_how(p, "flags", true, &p->numbers[FLAGS]);
		find_how(p, "mode", false, &p->numbers[MODE]);
	}
	need_number(p, FD, "return");
}

/* Reads a close. */
static void find_close(struct print *p)
{
	need_number(p, 0, "fd");
}

/* Prints an event for each descriptor that is known to be open: the call closes those. */
static void put_close_range(struct print *p)
{
	uint64_t task = tr_etrace_field_task(p->record, p->err), fd;
	int64_t first, last;

	need(p, tr_etrace_field_number(p->record, "first", &first, p->err), "first");
	need(p, tr_etrace_field_number(p->record, "last", &last, p->err), "last");
	if (p->err->cause || !p->where ||
	    tr_etrace_field_has(p->record, "flags", "CLOSE_RANGE_CLOEXEC", 4))
		return;
	for (fd = (uint64_t)first;
	     tr_etrace_where_next(p->where, task, &fd) && fd <= (uint64_t)last; fd++) {
		set_number(p, 0, (int64_t)fd);
		put_event(p, p->shape->begin, true);
	}
}

/* The copy is newfd, or the result of the call. The flags of fcntl are part of its command. */
static void find_dup(struct print *p)
{
	bool fcntl = tr_text_is(p->record->name.text, "fcntl");
	bool has_new = !p->where || has_field(p, "newfd");
	bool cloexec = fcntl && tr_etrace_where_control(p->record) == TR_ETRACE_DUPFD_CLOEXEC;

	need_number(p, 0, fcntl ? "fd" : "oldfd");
	need_number(p, 1, has_new ? "newfd" : "return");
	need_flags(p, 2, cloexec ? TR_ETRACE_O_CLOEXEC : 0);
}

/* Reads the two descriptors, which are a list in records. */
static void find_pipe(struct print *p)
{
	const struct tr_value *fds = tr_etrace_field(p->record, "fds", p->err);
	bool two = fds && fds->type == TR_LIST && fds->count == 2;

	for (unsigned i = 0; two && i < 2; i++) {
		const struct tr_value *fd = tr_etrace_machine_form(&fds->as.items[i]);
		two = fd->type == TR_UINT;
		set_number(p, i, (int64_t)(fd->as.number & INT64_MAX));
	}
	need(p, two, "fds");
	need_flags(p, 2, 0);
}

/* Reads rename and link. One of the paths may be missing, as in logs where it did not resolve. */
static void find_move(struct print *p)
{
	find_all(p);
	resolve(p, 0, "olddirfd");
	resolve(p, 1, "newdirfd");
	find_failed(p);
	need(p, p->strings[0].has_size || p->strings[1].has_size || p->failed, "from");
}

/* Prints the halves that are there: the first is the entry of the call, the second its end. */
static void put_move(struct print *p)
{
	const struct tr_etrace_shape *shape = p->shape;

	if (p->strings[0].has_size)
		put_event(p, has_number(p, 0) ? shape->begin_flags : shape->begin, true);
	if (p->failed)
		put_line(&p->pen, shape->failed->name, TR_TEXT(""));
	else if (p->strings[1].has_size)
		put_event(p, shape->second, false);
}

/* Reads a symlink. Its target is kept as it is, because it is relative to the link. */
static void find_symlink(struct print *p)
{
	find_all(p);
	resolve(p, 2, "newdirfd");
	need(p, p->strings[0].has_size, "target");
	need(p, p->strings[2].has_size, "link");
}

/* Reads mount and umount. */
static void find_mount(struct print *p)
{
	find_all(p);
	resolve(p, 1, NULL);
	find_failed(p);
	need(p, p->strings[1].has_size || p->failed, "target");
}

/* Prints the entry, and a line if the call failed; success has no line. */
static void put_mount(struct print *p)
{
	if (p->strings[1].has_size)
		put_event(p, p->shape->begin, true);
	if (p->failed)
		put_line(&p->pen, p->shape->failed->name, TR_TEXT(""));
}

/* A kind of record that the log has events for; several calls are one event. */
struct kind {
	struct tr_text word; /* the kind; of sys the name */
	enum tr_etrace_type type;
	bool sys;
	bool succeeds;		       /* a call that failed is not in the log */
	void (*find)(struct print *p); /* reads the fields */
	void (*put)(struct print *p);  /* prints the lines; NULL: one line and its texts */
};

#define KIND(word, type, succeeds, find, put) \
	{ \
		{ word, sizeof(word) - 1 }, TR_ETRACE_##type, false, succeeds, find, put \
	}

#define CALL(word, type, succeeds, find, put) \
	{ \
		{ word, sizeof(word) - 1 }, TR_ETRACE_##type, true, succeeds, find, put \
	}

static const struct kind kinds[] = {
	CALL("open", OPEN, true, find_open, NULL),
	CALL("close", CLOSE, true, find_close, NULL),
	CALL("pipe", PIPE, true, find_pipe, NULL),
	CALL("dup", DUP, true, find_dup, NULL),
	CALL("rename", RENAME, false, find_move, put_move),
	CALL("link", LINK, false, find_move, put_move),
	CALL("symlink", SYMLINK, true, find_symlink, NULL),
	CALL("mount", MOUNT, false, find_mount, put_mount),
	CALL("umount", UMOUNT, false, find_mount, put_mount),
	CALL("openat", OPEN, true, find_open, NULL),
	CALL("openat2", OPEN, true, find_open, NULL),
	CALL("creat", OPEN, true, find_open, NULL),
	CALL("close_range", CLOSE, true, NULL, put_close_range),
	CALL("pipe2", PIPE, true, find_pipe, NULL),
	CALL("dup2", DUP, true, find_dup, NULL),
	CALL("dup3", DUP, true, find_dup, NULL),
	CALL("fcntl", DUP, true, find_dup, NULL),
	CALL("renameat", RENAME, false, find_move, put_move),
	CALL("renameat2", RENAME, false, find_move, put_move),
	CALL("linkat", LINK, false, find_move, put_move),
	CALL("symlinkat", SYMLINK, true, find_symlink, NULL),
	CALL("umount2", UMOUNT, false, find_mount, put_mount),
	KIND("exec", EXEC, true, find_exec, put_exec),
	KIND("fork", FORK, false, find_fork, put_fork),
	KIND("exit", EXIT, false, find_exit, NULL),
	KIND("comm", COMM, false, find_comm, NULL),
	KIND("envset", ENVSET, false, find_all, put_envset),
};

/* Finds the events of a record. NULL: the log has no place for it; *reason says why. */
static const struct kind *find_kind(const struct tr_record *record, const char **reason)
{
	bool sys = tr_text_is(record->kind, "sys");
	struct tr_text word = sys ? record->name.text : record->kind;

	if (!sys || record->name.type == TR_CELL_TEXT)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (kinds[i].sys == sys && tr_text_equal(word, kinds[i].word))
				return &kinds[i];
	*reason = sys ? "its only calls are open, close, pipe, dup, rename, link, symlink, mount, "
			"umount and their variants"
		      : "it has only events of programs, tasks and files";
	return NULL;
}

/*
 * True if the log has a place for this record of the kind: of most calls it has only those that
 * succeeded.
 */
static bool applies(const struct kind *kind, struct tr_record *record, const char **reason)
{
	if (kind->type == TR_ETRACE_DUP && tr_text_is(record->name.text, "fcntl") &&
	    tr_etrace_where_control(record) > TR_ETRACE_DUPFD_CLOEXEC) {
		*reason = "only fcntl commands that copy a descriptor have events";
		return false;
	}
	if (kind->succeeds &&
	    (tr_record_field(record, "error") || tr_record_field(record, "failed"))) {
		*reason = "only calls that succeeded have events";
		return false;
	}
	return true;
}

/*
 * Prints the lines of a record, which increase the task's time. The clock is set only after the
 * record was printed without an error.
 */
static void print_lines(struct print *p, const struct kind *kind, struct tr_etrace_clock *clock,
			bool *back)
{
	bool timed = p->record->time.type != TR_CELL_ABSENT;
	struct tr_etrace_moment own = tr_etrace_field_time(p->record, p->err), time = own;
	uint64_t task = tr_etrace_field_task(p->record, p->err);
	int64_t cpu;

	tr_etrace_field_number(p->record, "cpu", &cpu, p->err);
	if (p->err->cause)
		return;
	if (!tr_etrace_clock_start(clock, task, timed, &time, back)) {
		fail(p, "time: too late for a log");
		return;
	}
	pen_begin(&p->pen, task, cpu < 0 ? 0 : (uint64_t)cpu, time);
	if (kind->find)
		kind->find(p);
	if (p->err->cause)
		return;
	if (kind->put)
		kind->put(p);
	else
		put_event(p, p->shape->begin, true);
	if (p->pen.to->failed)
		tr_error_memory(p->err);
	if (!p->err->cause && !tr_etrace_clock_stop(clock, task, timed, own, p->pen.time,
						    kind->type == TR_ETRACE_EXIT))
		tr_error_memory(p->err);
}

enum tr_status tr_etrace_print_record(struct tr_record *record, struct tr_etrace_clock *clock,
				      struct tr_buffer *to, struct tr_etrace_where *where,
				      bool *back, const char **reason, struct tr_error *err)
{
	const struct kind *kind = find_kind(record, reason);
	size_t begin = to->len;
	struct print p;

	*back = false;
	if (!kind)
		return TR_END;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (!applies(kind, record, reason))
		return TR_END;
	tr_error_clear(err);
	p.record = record;
	p.shape = &tr_etrace_shapes[kind->type];
	p.type = kind->type;
	p.pen.to = to; /* the rest of it is set with its head */
	p.err = err;
	p.where = where;
	memset(p.strings, 0, sizeof p.strings);
	memset(p.numbers, 0, sizeof p.numbers);
	p.given = 0;
	p.failed = p.has_own = false;
	for (size_t i = 0; i < record->count; i++)
		p.has_own |= record->fields[i].key.len && *record->fields[i].key.data == '.';
	print_lines(&p, kind, clock, back);
	if (!err->cause)
		return TR_OK;
	to->len = begin;
	return tr_error_status(err);
}

bool tr_etrace_print_fork(struct tr_etrace_clock *clock, struct tr_buffer *to, uint64_t parent,
			  uint64_t child, bool timed, struct tr_etrace_moment own)
{
	struct tr_etrace_moment time = own;
	struct pen pen = { .to = to };
	bool back;

	if (!tr_etrace_clock_start(clock, parent, timed, &time, &back))
		return true;
	pen_begin(&pen, parent, 0, time);
	put_open(&pen, TR_TEXT("SchedFork"));
	tr_buffer_put_literal(to, "pid=");
	tr_buffer_put_decimal(to, child);
	tr_buffer_put_byte(to, '\n');
	return !to->failed && tr_etrace_clock_stop(clock, parent, timed, own, pen.time, false);
}

bool tr_etrace_print_raw(struct tr_etrace_clock *clock, struct tr_buffer *to, struct tr_text text,
			 bool *back)
{
	struct tr_etrace_line line;
	struct pen pen = { .to = to };
	size_t begin = to->len;

	tr_buffer_put_text(to, text);
	tr_buffer_put_byte(to, '\n');
	if (!tr_buffer_room(to, TR_INPUT_PAD))
		return false;
	tr_etrace_line_read((struct tr_text){ to->data + begin, text.len }, NULL, &line);
	struct tr_etrace_moment own = line.time, time = own;
	if (line.type != TR_ETRACE_EVENT ||
	    !tr_etrace_clock_start(clock, line.upid, true, &time, back))
		return true;
	size_t tag = (size_t)(line.tag.data - (to->data + begin));
	pen_begin(&pen, line.upid, line.cpu, time);
	if (!tr_etrace_before(own, time)) {
		step(&pen);
	} else {
		to->len = begin;
		put_head(&pen, tr_text_span(text.data + tag, text.data + text.len));
		tr_buffer_put_byte(to, '\n');
	}
	return !to->failed && tr_etrace_clock_stop(clock, line.upid, true, own, pen.time, false);
}
