/* One file or member: copied, or converted record by record. */
#include "config.h"

#include "tr_repack.h"

#include <stdarg.h>

#include "record/value.h"

bool repack_finish_writer(struct repack *r)
{
	bool done = !r->writer || tr_cli_finish(&r->cli, r->format, r->writer);

	r->writer = NULL;
	return done;
}

/* About the file or member that is being read. */
__attribute__((format(printf, 2, 3))) static void fail_here(struct repack *r, const char *format,
							    ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_USAGE, format, args);
	va_end(args);
	tr_cli_report(&r->cli, &err);
}

/*
 * Another trace, where a file holds one: it can only become another member of
 * an archive, or file of a directory.
 */
static bool one_more(struct repack *r, const struct tr_format *format,
		     const struct tr_trace_place *place, repack_open *open)
{
	if (!r->apart) {
		fail_here(r,
			  "is one more trace, and a file of %s's holds one: write each by itself, "
			  "or all into an archive (-o NAME.tar) or a directory (-o NAME/)",
			  r->format->name);
		tr_cli_abandon(&r->cli);
		return false;
	}
	if (!repack_finish_writer(r) || !tr_cli_finish_output(&r->cli))
		return false;
	r->format = format;
	r->begun = false;
	r->segment++;
	return open(r, format, place);
}

/* The header is that of a further stream of one apitrace file, whose streams stay in one file. */
static bool is_further_stream(const struct repack *r, const struct tr_format *format)
{
	return !r->apart && r->writer && r->header && format == r->format &&
	       tr_record_field(r->header, "stream");
}

/* The place is a log with any number of traces in it, in a format whose files hold one. */
static bool is_log(const struct repack *r, const struct tr_format *format,
		   const struct tr_trace_place *place)
{
	return format->is_log && place->in &&
	       format->is_log(place->in, &r->cli.config.read.settings);
}

/* The writer makes such a log. */
static bool makes_log(const struct repack *r, const struct tr_format *format)
{
	return format->is_log && format->is_log(NULL, &r->cli.config.read.settings);
}

/*
 * The output is to be in this format: opens it, or sees that it is the same as before.
 * log: what comes goes into a file that can hold several.
 */
static bool settle(struct repack *r, const struct tr_format *format, bool log,
		   const struct tr_trace_place *place, repack_open *open)
{
	bool one = (format->flags & TR_FORMAT_ONE) && !log;

	if (r->begun && r->format && (r->one || (one && r->format == format)) &&
	    !is_further_stream(r, format)) {
		r->one = one;
		return one_more(r, format, place, open);
	}
	r->one = one;
	if (r->format == format)
		return true;
	if (r->format) {
		fail_here(r, "is %s, what came before is %s: use -t FORMAT", format->name,
			  r->format->name);
		return false;
	}
	if (!(format->flags & TR_FORMAT_WRITES)) {
		bool stream = place->format->flags & TR_FORMAT_STREAM;
		fail_here(r, "format '%s' can only be read: use -t FORMAT%s%s%s", format->name,
			  stream ? " (-t " : "", stream ? place->format->name : "",
			  stream ? " keeps the stream)" : "");
		return false;
	}
	r->format = format;
	return open(r, format, place);
}

/* Two texts one after the other are not to share a line. */
static void end_line(struct repack *r)
{
	if (r->cut_line && !(r->format->flags & TR_FORMAT_BINARY))
		tr_output_put_byte(r->cli.out, '\n');
	r->cut_line = false;
}

static void copy(struct repack *r, struct tr_trace_place *place)
{
	repack_finish_writer(r);
	if (r->cli.stop)
		return;
	r->begun = true;
	end_line(r);
	if (place->bom && tr_output_count(r->cli.out) == 0)
		tr_output_put_literal(r->cli.out, "\xef\xbb\xbf");
	tr_cli_copy_bytes(&r->cli, place->in, &r->cut_line);
}

/* The format that the header of a stream names; NULL: reported. */
static const struct tr_format *format_of_header(struct repack *r, struct tr_record *header)
{
	struct tr_field *field = tr_record_field(header, "format");
	const struct tr_format *format = field ? tr_format_by_name(field->text) : NULL;

	if (!field)
		fail_here(r, "the stream does not name its format: use -t FORMAT");
	else if (!format)
		fail_here(r, "the stream came from the unknown format '%.*s': use -t FORMAT",
			  (int)(field->text.len < 80 ? field->text.len : 80), field->text.data);
	return format;
}

/* Before the format is known nothing can be written; a comment or a stray trailer is no loss. */
static bool know_format(struct repack *r, const struct tr_trace_place *place,
			struct tr_record *record, repack_open *open, bool *skip)
{
	const struct tr_format *format = r->target;

	if (record->type != TR_HEADER && r->format)
		return true; /* a segment goes on, or an anonymous one goes where the others went */
	r->header = record->type == TR_HEADER ? record : NULL;
	if (!format && record->type == TR_HEADER)
		format = format_of_header(r, record);
	else if (!format) {
		*skip = record->type == TR_COMMENT || record->type == TR_TRAILER;
		if (!*skip)
			fail_here(r, "the stream has no header that names its format: use -t "
				     "FORMAT");
		return *skip;
	}
	return format && settle(r, format, makes_log(r, format), place, open);
}

static bool put(struct repack *r, struct tr_record *record)
{
	r->begun |= record->type == TR_HEADER || record->type == TR_RECORD;
	/* a stream that stays one keeps the spelling of its lines */
	if (r->format == &tr_format_trec && record->line.data)
		return tr_cli_put_line(&r->cli, record);
	if (!r->writer) {
		end_line(r);
		r->writer = tr_cli_writer(&r->cli, r->format);
	}
	return r->writer && tr_cli_put(&r->cli, r->format, r->writer, record);
}

static void convert(struct repack *r, const struct tr_trace_place *place, repack_open *open)
{
	struct tr_record *record;

	while (tr_cli_next_here(&r->cli, &record)) {
		bool skip = false;
		if (!know_format(r, place, record, open, &skip))
			break;
		skip = skip ||
		       (r->blobs.wanted && !tr_cli_blobs_change(&r->cli, &r->blobs, record));
		if (r->cli.stop || (!skip && !put(r, record)))
			break;
	}
}

static bool is_empty(const struct tr_input *in)
{
	return in && in->offset == 0 && in->at_end && !tr_input_available(in) && !in->damaged;
}

void repack_place(struct repack *r, struct tr_trace_place *place, repack_open *open)
{
	const struct tr_format *format = place->format;
	bool is_trace =
		format && !(format->flags & TR_FORMAT_STREAM) && (format->flags & TR_FORMAT_READS);
	bool log = is_trace && is_log(r, format, place);
	/* a container with nothing in it: its reader reports what is missing */
	bool hollow = place->codec && is_empty(place->in);
	bool same = is_trace && !r->by_records && !hollow &&
		    (!r->target || (r->target == format && !log)) &&
		    (r->apart || tr_cli_stands_alone(&r->cli, place));

	r->log = log && !same;
	if (same && settle(r, format, log, place, open))
		copy(r, place);
	else if (!same)
		convert(r, place, open);
}

void repack_nothing(struct repack *r, const struct tr_trace_place *place, repack_open *open)
{
	if (settle(r, r->target, makes_log(r, r->target), place, open))
		r->writer = tr_cli_writer(&r->cli, r->target);
}

/* An empty file or member among others. */
static void pass_empty(struct repack *r, const struct tr_trace_place *place, repack_open *open)
{
	struct tr_error err;

	if (r->target) {
		repack_nothing(r, place, open);
		return;
	}
	tr_error_set(&err, TR_CAUSE_INPUT, "is empty: left out");
	tr_error_is_note(&err);
	tr_cli_report(&r->cli, &err);
}

void repack_apart(struct repack *r, repack_open *open)
{
	struct tr_trace_place *place;

	r->apart = r->cli.several = true;
	while (tr_cli_step(&r->cli, &place)) {
		r->format = NULL;
		r->cut_line = r->begun = false;
		r->header = NULL;
		r->segment = 0;
		repack_place(r, place, open);
		if (!r->format && !r->cli.stop && is_empty(place->in))
			pass_empty(r, place, open);
		repack_finish_writer(r);
		tr_cli_finish_output(&r->cli);
	}
	tr_map_free(&r->names.taken);
	tr_arena_free(&r->names.memory);
}
