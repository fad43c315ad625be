/* Messages: where, what, how often; and what they do to the exit status. */
#include "config.h"

#include "cli_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/output.h"

/*
 * Names and quoted input come from the other side: nothing in them may reach a
 * terminal as a control sequence. C1 controls are valid UTF-8 and count too.
 */
void tr_cli_escape(struct tr_text text, struct tr_buffer *to)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		bool shown;
		unsigned len = tr_terminal_character(p, end, &shown);

		if (shown)
			tr_buffer_put(to, p, len);
		else
			tr_terminal_escape(p, len, to);
		p += len;
	}
}

static void put_position(const struct tr_error *err, struct tr_buffer *to)
{
	if (err->line != TR_NO_POSITION) {
		tr_buffer_put_byte(to, ':');
		tr_buffer_put_decimal(to, err->line);
	} else if (err->offset != TR_NO_POSITION) {
		tr_buffer_put_literal(to, ":@0x");
		tr_buffer_put_hex(to, err->offset, 1);
	}
	if (err->line == TR_NO_POSITION && err->record != TR_NO_POSITION) {
		tr_buffer_put_literal(to, " (record ");
		tr_buffer_put_decimal(to, err->record);
		tr_buffer_put_byte(to, ')');
	}
	tr_buffer_put_literal(to, ": ");
}

static void print(struct tr_cli *cli, const struct tr_trace_place *place,
		  const struct tr_error *err, bool note)
{
	struct tr_buffer *to = &cli->private->message;

	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_from(cli->tool->name));
	tr_buffer_put_literal(to, ": ");
	if (place && place->name) {
		tr_cli_escape(tr_text_from(place->name), to);
		put_position(err, to);
	}
	if (note)
		tr_buffer_put_literal(to, "note: ");
	tr_cli_escape(tr_text_from(err->text), to);
	tr_buffer_put_byte(to, '\n');
	tr_cli_say(cli, to->failed ? TR_TEXT("no memory for a message\n") : tr_buffer_text(to));
}

/* False: 20 of this kind were printed already; it is only counted. */
static bool worth_printing(struct tr_cli *cli, const struct tr_error *err, bool note)
{
	struct tr_cli_private *p = cli->private;
	const char *pattern = err->pattern ? err->pattern : "";
	struct tr_cli_alike *found = NULL;

	for (size_t i = 0; i < p->alike_count && !found; i++)
		if (p->alike[i].pattern == pattern)
			found = &p->alike[i];
	if (!found) {
		struct tr_cli_alike *list = realloc(p->alike, (p->alike_count + 1) * sizeof *list);
		if (!list)
			return true;
		p->alike = list;
		found = &list[p->alike_count++];
		*found = (struct tr_cli_alike){ .pattern = pattern, .notes = true };
	}
	found->notes = found->notes && note;
	memcpy(found->last, err->text, sizeof found->last);
	return ++found->count <= TR_CLI_ALIKE;
}

void tr_cli_summarise(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	for (size_t i = 0; i < p->alike_count; i++) {
		const struct tr_cli_alike *alike = &p->alike[i];
		struct tr_error err;

		if (alike->count <= TR_CLI_ALIKE)
			continue;
		tr_error_set(&err, TR_CAUSE_NONE, "%llu more like this: %s",
			     (unsigned long long)(alike->count - TR_CLI_ALIKE), alike->last);
		print(cli, NULL, &err, alike->notes);
	}
}

static void report_at(struct tr_cli *cli, const struct tr_trace_place *place,
		      const struct tr_error *err)
{
	bool note = err->severity >= TR_NOTE && !cli->strict;
	bool silent = note && (cli->quiet || (err->severity == TR_DETAIL && !cli->verbose));

	if (err->cause == TR_CAUSE_PIPE) {
		cli->stop = true; /* nobody reads any more: not our trouble, nothing to say */
		return;
	}
	if (!silent && worth_printing(cli, err, note))
		print(cli, place, err, note);
	tr_cli_log_trouble(cli, place, err);
	if (note)
		return;
	tr_cli_status(cli, 2);
	/* out of memory is no damage of the input: more than what came out could be decoded */
	if (cli->strict || err->cause == TR_CAUSE_MEMORY)
		cli->stop = cli->private->discard = true;
}

void tr_cli_report(struct tr_cli *cli, const struct tr_error *err)
{
	const struct tr_record *last = cli->private ? cli->private->last : NULL;
	struct tr_error limit;

	/* what failed may not know that --max-record was the cause */
	if (err->cause == TR_CAUSE_MEMORY && last && last->arena && last->arena->limited) {
		(void)tr_arena_error(last->arena, &limit);
		limit.line = last->source_line;
		limit.offset = last->source_offset;
		err = &limit;
	}
	report_at(cli, cli->trace ? tr_trace_here(cli->trace) : NULL, err);
}

void tr_cli_report_nowhere(struct tr_cli *cli, const struct tr_error *err)
{
	report_at(cli, NULL, err);
}

void tr_cli_report_record(struct tr_cli *cli, const struct tr_record *record,
			  const struct tr_error *err, bool lost)
{
	struct tr_error placed = *err;

	if (placed.line == TR_NO_POSITION && placed.offset == TR_NO_POSITION) {
		placed.line = record->source_line;
		placed.offset = record->source_offset;
	}
	if (lost && cli->trace)
		tr_trace_lost(cli->trace, record);
	tr_cli_report(cli, &placed);
}

void tr_cli_abort(struct tr_cli *cli, const struct tr_error *err)
{
	tr_cli_report(cli, err);
	cli->stop = cli->private->discard = true;
}

void tr_cli_fail(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_NONE, format, args);
	va_end(args);
	report_at(cli, NULL, &err);
}

void tr_cli_note(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_NONE, format, args);
	va_end(args);
	tr_error_is_note(&err);
	report_at(cli, NULL, &err);
}

void tr_cli_nothing_shown(struct tr_cli *cli, const struct tr_unsupported_kinds *kinds,
			  const char *shows, const char *style)
{
	char list[TR_ERROR_TEXT / 2];

	tr_unsupported_list(kinds, list, sizeof list);
	tr_cli_fail(cli, "no %s here, only other records: %s%s%s", shows, list,
		    style ? "; try --style=" : "", style ? style : "");
	tr_cli_abandon(cli);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* As much of the text's line as fits on one of the terminal, and a caret under a byte of it. */
static void show_caret(struct tr_cli *cli, struct tr_text text, size_t column)
{
	enum { INDENT = 2, BEFORE = 50, AFTER = 25 };
	struct tr_buffer *to = &cli->private->message;
	const char *end = text.data + text.len, *at = text.data + column - 1, *p = at, *rest = at;

	while (p > text.data && p[-1] != '\n' && (at - p < BEFORE || is_continuation(*p)))
		p--;
	while (rest < end && *rest != '\n' && (rest - at < AFTER || is_continuation(*rest)))
		rest++;
	tr_buffer_reset(to);
	tr_buffer_put(to, "  ", INDENT);
	tr_cli_escape(tr_text_span(p, at), to);
	size_t width = 0;
	for (size_t i = 0; i < to->len; i++)
		width += !is_continuation(to->data[i]);
	tr_cli_escape(tr_text_span(at, rest), to);
	tr_buffer_put_byte(to, '\n');
	for (size_t i = 0; i < width; i++)
		tr_buffer_put_byte(to, ' ');
	tr_buffer_put_literal(to, "^\n");
	if (!to->failed)
		tr_cli_say(cli, tr_buffer_text(to));
}

/* text (data NULL: none) is shown with a caret under the byte at that column. */
static bool fail_usage(struct tr_cli *cli, const struct tr_error *err, struct tr_text text,
		       size_t column)
{
	bool first = !cli->stop;

	if (first) {
		print(cli, NULL, err, false);
		if (text.data)
			show_caret(cli, text, column);
		fprintf(stderr, "Try '%s --help' for more.\n", cli->tool->name);
	}
	tr_cli_status(cli, 2);
	cli->stop = cli->private->discard = true;
	if (first)
		tr_cli_log_trouble(cli, NULL, err);
	return false;
}

bool tr_cli_usage(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_USAGE, format, args);
	va_end(args);
	return fail_usage(cli, &err, (struct tr_text){ NULL, 0 }, 0);
}

bool tr_cli_unknown(struct tr_cli *cli, const char *what, struct tr_text word,
		    const struct tr_similar *similar, const char *hint)
{
	struct tr_text found = similar->found;

	if (!found.len)
		return tr_cli_usage(cli, "unknown %s '%.*s'%s", what, (int)word.len, word.data,
				    hint);
	return tr_cli_usage(cli, "unknown %s '%.*s'; similar: %.*s", what, (int)word.len, word.data,
			    (int)found.len, found.data);
}

bool tr_cli_usage_at(struct tr_cli *cli, struct tr_text text, size_t column, const char *format,
		     ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_USAGE, format, args);
	va_end(args);
	return fail_usage(cli, &err, text, column);
}

void tr_cli_status(struct tr_cli *cli, int status)
{
	if (status > cli->status)
		cli->status = status;
}
