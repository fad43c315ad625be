/* SPDX-License-Identifier: MIT */
/* Writes one file or member: the name that it gets, and its bytes or its records. */

#include "tr_repack.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "process/path.h"
#include "record/value.h"

/* Cuts extension off the end of name. False: name does not end in it. */
static bool cut_end(struct tr_text *name, const char *extension)
{
	struct tr_text end = tr_text_from(extension);

	if (!end.len || name->len <= end.len ||
	    memcmp(name->data + name->len - end.len, end.data, end.len) != 0)
		return false;
	name->len -= end.len;
	return true;
}

/* Cuts the extension of the format, or .json of JSON formats. */
static void cut_format_extension(struct tr_text *name, const struct tr_format *format)
{
	for (const char *const *e = format->extensions; e && *e; e++)
		if (cut_end(name, *e))
			return;
	if ((format->flags & TR_FORMAT_JSON) && !cut_end(name, ".json"))
		cut_end(name, ".jsonl");
}

/* Cuts the format's extension, or the text after the last dot of the last component. */
static void cut_any_extension(struct tr_text *name, const struct tr_format *format)
{
	struct tr_text whole = *name;

	cut_format_extension(name, format);
	if (name->len < whole.len)
		return;
	for (size_t i = whole.len; i > 1 && whole.data[i - 1] != '/'; i--) {
		if (whole.data[i - 1] == '.' && whole.data[i - 2] != '/') {
			name->len = i - 1;
			return;
		}
	}
}

/*
 * Returns the part of a name that stays below the directory and is a file: after the root and after
 * "..", and without "/" and "/." at the end.
 */
static struct tr_text below(struct tr_text name)
{
	const char *end = name.data + strnlen(name.data, name.len), *begin = name.data;

	while (end > begin &&
	       (end[-1] == '/' || (end[-1] == '.' && (end - 1 == begin || end[-2] == '/'))))
		end--;
	for (const char *p = begin, *slash; p < end; p = slash + 1) {
		slash = memchr(p, '/', (size_t)(end - p));
		slash = slash ? slash : end;
		if (slash == p ? p == begin : tr_text_is(tr_text_span(p, slash), ".."))
			begin = slash < end ? slash + 1 : end;
	}
	name = tr_text_span(begin, end);
	return name.len ? name : TR_TEXT("trace");
}

/* The source of the name, and the format and codec that its extensions name. */
struct origin {
	struct tr_text name;
	const struct tr_format *format;
	const struct tr_codec *codec;
	bool from_header; /* the name is a member in the header of a stream */
};

/* A string or word in the header of the segment; empty: it has none. */
static struct tr_text header_text(struct repack *r, const char *key)
{
	struct tr_field *field = r->header ? tr_record_field(r->header, key) : NULL;
	struct tr_value *value = field ? tr_field_value(r->header, field, NULL) : NULL;

	if (!value || value->type != TR_STRING)
		return field && field->text.data ? field->text : TR_TEXT("");
	return tr_string_bytes(value->text, r->header->arena);
}

/*
 * Finds the name that a place or trace had before: the member in the header of a stream, else the
 * member or file that is read.
 */
static struct origin find_origin(struct repack *r, const struct tr_trace_place *place)
{
	const char *given = place->member ? place->member : place->file ? place->file : "stdin";
	struct tr_text name = place->member ? TR_TEXT("") : header_text(r, "member");

	if (name.len)
		return (struct origin){ below(name), tr_format_by_name(header_text(r, "format")),
					tr_codec_by_name(header_text(r, "container")), true };
	return (struct origin){ below(tr_text_from(given)), r->log ? NULL : place->format,
				place->codec, false };
}

/*
 * True for a container of the format, in which its extension does not change: a .trace of apitrace
 * is always compressed.
 */
static bool is_container(const struct tr_format *format, const struct tr_codec *codec)
{
	for (size_t i = 0; format->containers && format->containers[i]; i++)
		if (format->containers[i] == codec)
			return true;
	return false;
}

/* Joins the parts of a name. number 0: without a number. Empty: memory is exhausted. */
static struct tr_text join_name(const struct repack_name *parts, uint64_t number,
				struct tr_buffer *to)
{
	tr_buffer_reset(to);
	tr_buffer_put_text(to, parts->stem);
	if (number) {
		tr_buffer_put_byte(to, '-');
		tr_buffer_put_decimal(to, number);
	}
	tr_buffer_put_text(to, parts->extension);
	tr_buffer_put_text(to, parts->codec);
	tr_buffer_put_byte(to, '\0');
	return (struct tr_text){ to->data, to->failed ? 0 : to->len - 1 };
}

struct tr_text repack_unpacked_as(struct repack *r, struct tr_text name)
{
	tr_buffer_reset(&r->names.key);
	tr_directory_join(TR_TEXT(""), name, &r->names.key);
	return tr_buffer_text(&r->names.key);
}

/* A name that a member or file has got. */
struct used_name {
	uint64_t next; /* number to try for another one of this name */
	char name[];
};

/* The entry of a name that is in use; NULL: it is free. */
static struct used_name *find_used(struct repack *r, struct tr_text name)
{
	return tr_map_get(&r->names.taken, repack_unpacked_as(r, name));
}

bool repack_is_member(struct repack *r, struct tr_text name)
{
	return find_used(r, name) != NULL;
}

/* Keeps a copy of the name. NULL: memory is exhausted. */
static const char *keep_name(struct repack *r, struct tr_text name)
{
	struct tr_text key = repack_unpacked_as(r, name);
	struct used_name *used =
		tr_arena_alloc(&r->names.memory, sizeof *used + name.len + 1 + key.len);

	if (!used || r->names.key.failed)
		return NULL;
	used->next = 2;
	memcpy(used->name, name.data, name.len + 1);
	char *kept = used->name + name.len + 1;
	memcpy(kept, key.data, key.len);
	return tr_map_put(&r->names.taken, (struct tr_text){ kept, key.len }, used) ? used->name
										    : NULL;
}

/* Keeps the first unused name, without or with a number. NULL: memory is exhausted. */
static const char *keep_free_name(struct repack *r, const struct repack_name *parts, bool *numbered)
{
	struct tr_buffer buffer = TR_BUFFER_INIT;
	struct tr_text name = join_name(parts, 0, &buffer);
	struct used_name *first = name.len ? find_used(r, name) : NULL;

	*numbered = first != NULL;
	while (first && name.len && find_used(r, name))
		name = join_name(parts, first->next++, &buffer);
	const char *kept = name.len ? keep_name(r, name) : NULL;
	tr_buffer_free(&buffer);
	return kept;
}

const char *repack_take_name(struct repack *r, const struct tr_trace_place *place,
			     const struct repack_name *name)
{
	struct tr_error err;
	bool numbered;
	const char *kept = keep_free_name(r, name, &numbered);

	if (kept && numbered && name->noted) {
		tr_error_set(&err, TR_CAUSE_NONE, "the name %.*s%.*s%.*s is taken: written as %s",
			     TR_SHOWN(name->stem, 200), TR_SHOWN(name->extension, 20),
			     TR_SHOWN(name->codec, 20), kept);
		tr_error_is_note(&err);
		tr_cli_message_of(&r->cli, place, &err);
	}
	return kept;
}

/* Returns the extension of a codec; empty for the format's own containers. */
static struct tr_text codec_extension(const struct origin *origin, const struct tr_format *format,
				      const struct tr_codec *codec, bool was_named)
{
	bool same = codec && origin->codec && strcmp(codec->name, origin->codec->name) == 0;

	if (!codec || !codec->extension || is_container(format, codec) || (same && !was_named))
		return TR_TEXT(""); /* the name did not show the codec before */
	return tr_text_from(codec->extension);
}

/*
 * Replaces the extensions of the source by those of the output. In the same format the extension
 * stays, whatever it is; into another format, the extension of the old one is cut off and that of
 * the new one added.
 */
struct repack_name repack_member_name(struct repack *r, const struct tr_trace_place *place,
				      const struct tr_format *format, const struct tr_codec *codec)
{
	struct origin origin = find_origin(r, place);
	struct tr_text name = origin.name;
	bool was_named =
		origin.codec && origin.codec->extension && cut_end(&name, origin.codec->extension);
	struct repack_name parts = { name, TR_TEXT(""),
				     codec_extension(&origin, format, codec, was_named),
				     origin.from_header || !r->segment };

	if (format != origin.format) {
		if (origin.format)
			cut_format_extension(&parts.stem, origin.format);
		if (format->extensions && format->extensions[0])
			parts.extension = tr_text_from(format->extensions[0]);
		/* a name that has the new extension already does not get it twice */
		cut_end(&parts.stem, parts.extension.data);
	} else {
		cut_any_extension(&parts.stem, format);
		parts.extension =
			tr_text_span(parts.stem.data + parts.stem.len, name.data + name.len);
	}
	return parts;
}

bool repack_finish_writer(struct repack *r)
{
	(void)join_end(r);
	bool done = !r->writer || tr_cli_finish(&r->cli, r->writer);

	r->writer = NULL;
	return done;
}

/*
 * Ends the output. A file of a directory that misses something of its input is dated before it,
 * without a mark, so that neither make nor --resume takes it for up to date.
 */
bool repack_finish_output(struct repack *r, const struct tr_trace_place *place)
{
	struct timespec mtime = { .tv_sec = (time_t)place->mtime - (place->mtime > INT64_MIN) };

	if (!r->cli.status) {
		clock_gettime(CLOCK_REALTIME, &mtime);
		mtime.tv_nsec += r->mark - mtime.tv_nsec % REPACK_MARKS;
	}
	bool done = tr_cli_finish_output(&r->cli, place, &mtime);
	/* an archive without this member must not look complete */
	r->cli.stop |= !done && r->archive;
	return done;
}

/* True if the format can be written; reports it if not. */
static bool can_write(struct repack *r, const struct tr_format *format,
		      const struct tr_trace_place *place)
{
	if (format->flags & TR_FORMAT_WRITES)
		return true;
	bool stream = place->format->flags & TR_FORMAT_STREAM;
	tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
		      "format '%s' can only be read: use -t FORMAT%s%s%s", format->name,
		      stream ? " (-t " : "", stream ? place->format->name : "",
		      stream ? " keeps the stream)" : "");
	return false;
}

/* Opens an output in this format. False: reported, and the next trace opens its own. */
static bool open_output(struct repack *r, const struct tr_format *format,
			const struct tr_trace_place *place)
{
	r->format = NULL;
	if (!can_write(r, format, place))
		return false;
	r->format = format;
	if (r->open(r, format, place))
		return true;
	r->format = NULL;
	return false;
}

/*
 * Begins another output for a further trace, if the files of the format hold one: this needs an
 * archive or a directory.
 */
static bool one_more(struct repack *r, const struct tr_format *format,
		     const struct tr_trace_place *place)
{
	if (!r->apart) {
		tr_cli_remark(
			&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
			"is another trace, and a file of format %s holds only one: write each "
			"separately, or all into an archive (-o NAME.tar) or a directory (-o "
			"NAME/)",
			r->format->name);
		tr_cli_abandon(&r->cli);
		return false;
	}
	/* what was wrong with the trace before this one is reported */
	repack_finish_writer(r);
	repack_finish_output(r, place);
	if (r->cli.stop)
		return false;
	r->begun = false;
	r->segment++;
	return open_output(r, format, place);
}

/* True for the header of a further stream of an apitrace file; its streams stay in one file. */
static bool is_further_stream(const struct repack *r, const struct tr_format *format)
{
	return !r->apart && r->writer && r->header && format == r->format &&
	       tr_record_field(r->header, "stream");
}

/* True if the place is a log of several traces, in a format whose files hold one. */
static bool is_log(const struct repack *r, const struct tr_format *format,
		   const struct tr_trace_place *place)
{
	return format->is_log && place->in &&
	       format->is_log(place->in, &r->cli.config.read.settings);
}

/* True if the writer writes such a log. */
static bool makes_log(const struct repack *r, const struct tr_format *format)
{
	return format->is_log && format->is_log(NULL, &r->cli.config.read.settings);
}

/*
 * Opens the output in this format, or checks that an open output has it. log: the output can hold
 * several traces.
 */
static bool settle_format(struct repack *r, const struct tr_format *format, bool log,
			  const struct tr_trace_place *place)
{
	bool one = (format->flags & TR_FORMAT_ONE) && !log;

	/* the output holds a trace already, and one more does not fit into it */
	if (r->begun && r->format && (r->one || (one && r->format == format)) &&
	    !is_further_stream(r, format)) {
		r->one = one;
		return one_more(r, format, place);
	}
	r->one = one;
	if (r->format == format)
		return true;
	if (r->format) {
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
			      "is %s, and the input before it is %s: use -t FORMAT", format->name,
			      r->format->name);
		return false;
	}
	return open_output(r, format, place);
}

/* Ends the line of copied text before other text. */
static void end_line(struct repack *r)
{
	if (r->cut_line && !(r->format->flags & TR_FORMAT_BINARY))
		tr_output_put_byte(r->cli.out, '\n');
	r->cut_line = false;
}

/* Copies the bytes of a place to the output, after the records that a writer still holds. */
static void copy_bytes(struct repack *r, struct tr_trace_place *place)
{
	repack_finish_writer(r);
	if (r->cli.stop)
		return;
	r->begun = true;
	if (r->made)
		return;
	end_line(r);
	tr_cli_copy_bytes(&r->cli, place, &r->cut_line);
}

/* True if the name of the output asks for the stream, because the format cannot be written. */
static bool becomes_stream(const struct repack *r, const struct tr_format *format)
{
	return r->trec && !r->target && !(format && format->flags & TR_FORMAT_WRITES);
}

/* Returns the format of the output for the header of a stream; NULL: reported. */
static const struct tr_format *format_of_header(struct repack *r, struct tr_record *header)
{
	struct tr_field *field = tr_record_field(header, "format");
	const struct tr_format *format = field ? tr_format_by_name(field->text) : NULL;

	if (becomes_stream(r, format))
		return &tr_format_trec;
	if (!field)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
			      "the stream does not name its format: use -t FORMAT");
	else if (!format)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
			      "the stream came from the unknown format '%.*s': use -t FORMAT",
			      TR_SHOWN(field->text, 80));
	return format;
}

/* Finds the format; comments and trailers before it are dropped. */
static bool know_format(struct repack *r, const struct tr_trace_place *place,
			struct tr_record *record, bool *skip)
{
	const struct tr_format *format = r->target;

	if (record->type != TR_HEADER && r->format)
		return true; /* the segment continues, or is anonymous and joins the others */
	/* the header names the member from which the trace came */
	r->header = record->type == TR_HEADER ? record : NULL;
	if (!format && record->type == TR_HEADER)
		format = format_of_header(r, record);
	else if (!format) {
		*skip = record->type == TR_COMMENT || record->type == TR_TRAILER;
		if (*skip)
			return true;
		if (becomes_stream(r, NULL))
			format = &tr_format_trec;
		else
			tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
				      "the stream has no header that names its format: use -t "
				      "FORMAT");
	}
	return format && settle_format(r, format, makes_log(r, format), place);
}

/* Writes a record. The writer is made at the first one, because only then the format is known. */
bool repack_put_record(struct repack *r, struct tr_record *record)
{
	r->begun |= record->type == TR_HEADER || record->type == TR_RECORD;
	if (r->made || r->left_out)
		return true;
	/* a stream that stays one keeps the spelling of its lines */
	if (r->format == &tr_format_trec && record->line.data)
		return tr_cli_put_line(&r->cli, record);
	if (!r->writer) {
		end_line(r);
		r->writer = tr_cli_writer(&r->cli, r->format);
	}
	return r->writer && tr_cli_put(&r->cli, r->writer, record);
}

const struct tr_format *repack_split_format(struct repack *r, const struct tr_trace_place *place,
					    struct tr_record *first)
{
	const struct tr_format *format = r->target;

	if (!format && first->type == TR_HEADER)
		format = format_of_header(r, first);
	else if (!format)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_DAMAGE,
			      "the stream has no header that names its format: use -t FORMAT");
	return format && can_write(r, format, place) ? format : NULL;
}

bool repack_may_hold_more(const struct repack *r, const struct tr_trace_place *place)
{
	return r->log || (place->format && (place->format->flags & TR_FORMAT_STREAM));
}

/* Writes the records of a place, until the output takes no more of them. */
static void convert_records(struct repack *r, const struct tr_trace_place *place)
{
	bool more = repack_may_hold_more(r, place);
	struct tr_record *record;

	while (tr_cli_next_here(&r->cli, &record)) {
		bool skip = false;
		if (r->join && !join_record(r, &record, &skip))
			break;
		if (skip || (r->left_out && record->type != TR_HEADER))
			continue;
		bool known = know_format(r, place, record, &skip);
		/* a trace without an output is left out, and those after it have their own */
		r->left_out = !known && more && r->apart;
		if (r->left_out)
			continue;
		if (!known || (r->made && !more) || (!skip && !repack_put_record(r, record)))
			break;
		if (record->type == TR_HEADER)
			tr_cli_put_blocks(&r->cli,
					  !r->join || join_is_idle(r->join) ? r->writer : NULL);
	}
}

/* True for an input without a byte. */
static bool is_empty(const struct tr_input *in)
{
	return in && in->offset == 0 && in->at_end && !tr_input_available(in) && !in->damaged;
}

void repack_place(struct repack *r, struct tr_trace_place *place)
{
	const struct tr_format *format = place->format;
	bool is_trace =
		format && !(format->flags & TR_FORMAT_STREAM) && (format->flags & TR_FORMAT_READS);
	bool log = is_trace && is_log(r, format, place);
	/* an empty container: its reader reports that data is missing */
	bool hollow = place->codec && is_empty(place->in);
	bool same = is_trace && !r->by_records && !hollow && !becomes_stream(r, format) &&
		    (!r->target || (r->target == format && !log)) &&
		    (r->apart || tr_cli_stands_alone(&r->cli, place));

	r->log = log && !same;
	if (same && settle_format(r, format, log, place))
		copy_bytes(r, place);
	else if (!same)
		convert_records(r, place);
}

void repack_nothing(struct repack *r, const struct tr_trace_place *place)
{
	if (settle_format(r, r->target, makes_log(r, r->target), place) && !r->made)
		r->writer = tr_cli_writer(&r->cli, r->target);
}

void repack_one(struct repack *r, struct tr_trace_place *place)
{
	/* each place is an output of its own, with a format of its own */
	int before = r->cli.status;

	r->cli.status = 0;
	r->format = NULL;
	r->cut_line = r->begun = r->made = r->left_out = false;
	r->header = NULL;
	r->segment = 0;
	r->opened = 0;
	if (r->join)
		join_begin(r->join);
	if (r->split)
		split_place(r, place);
	else
		repack_place(r, place);
	bool nothing = !r->format && !r->cli.stop && is_empty(place->in);
	if (nothing && r->target)
		repack_nothing(r, place);
	else if (nothing)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_INPUT, TR_NOTE, "is empty: left out");
	repack_finish_writer(r);
	repack_finish_output(r, place);
	r->troubled += r->cli.status != 0;
	r->made_only += r->made && !r->cli.status;
	tr_cli_status(&r->cli, before);
}

/* Adds a number of places to the line of totals. */
static void put_total(struct tr_buffer *to, uint64_t count, const char *what)
{
	if (!count)
		return;
	if (to->len)
		tr_buffer_put_literal(to, ", ");
	tr_buffer_put_decimal(to, count);
	tr_buffer_put_byte(to, ' ');
	tr_buffer_put_text(to, tr_text_from(what));
}

/* Sets the line of totals, which is printed after errors, with --verbose, and on a terminal. */
static void put_totals(struct repack *r)
{
	struct tr_cli_tally tally = tr_cli_tally(&r->cli);
	uint64_t trouble = r->troubled + tr_cli_complete_files(&r->cli);
	uint64_t most = tally.opened - r->made_only; /* one place may have several outputs */
	uint64_t all = tally.opened + tally.unreadable + tally.skipped;
	struct tr_buffer line = TR_BUFFER_INIT;

	if (all < 2 || !(r->cli.status || r->cli.verbose || isatty(STDERR_FILENO)))
		return;
	trouble = trouble < most ? trouble : most;
	put_total(&line, most - trouble, "converted");
	put_total(&line, r->made_only, "written by an earlier run");
	put_total(&line, trouble, "with trouble");
	put_total(&line, tally.unreadable, "unreadable");
	put_total(&line, tally.skipped, "skipped");
	tr_buffer_put_byte(&line, '\0');
	if (!line.failed)
		tr_cli_last_line(&r->cli, "%" PRIu64 " files and members: %s%s", all, line.data,
				 r->cli.stop ? ", and no more after that" : "");
	tr_buffer_free(&line);
}

void repack_apart(struct repack *r)
{
	struct tr_trace_place *place;

	r->apart = r->cli.several = true;
	if (r->jobs)
		repack_in_jobs(r);
	else
		while (tr_cli_step(&r->cli, &place))
			repack_one(r, place);
	put_totals(r);
	tr_map_free(&r->names.taken);
	tr_buffer_free(&r->names.key);
	tr_arena_free(&r->names.memory);
}
