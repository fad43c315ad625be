/* Messages: where, what, how often; and what they do to the exit status. */
#include "config.h"

#include "cli_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/utf8.h"

/*
 * Names and quoted input come from the other side: nothing in them may reach a
 * terminal as a control sequence. C1 controls are valid UTF-8 and count too.
 */
static void put_escaped(struct tr_text text, struct tr_buffer *to)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		unsigned char c = (unsigned char)*p;
		unsigned len = tr_utf8_length(p, end);
		bool c1 = len == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0;

		if (len == 0 || c < 0x20 || c == 0x7f || c1) {
			tr_buffer_put_literal(to, "\\x");
			tr_buffer_put_hex(to, c, 2);
			p++;
			if (c1) {
				tr_buffer_put_literal(to, "\\x");
				tr_buffer_put_hex(to, (unsigned char)*p++, 2);
			}
		} else {
			tr_buffer_put(to, p, len);
			p += len;
		}
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
		put_escaped(tr_text_from(place->name), to);
		put_position(err, to);
	}
	if (note)
		tr_buffer_put_literal(to, "note: ");
	put_escaped(tr_text_from(err->text), to);
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
	if (note)
		return;
	tr_cli_status(cli, 2);
	/* out of memory is no damage of the input: more than what came out could be decoded */
	if (cli->strict || err->cause == TR_CAUSE_MEMORY)
		cli->stop = cli->private->discard = true;
}

void tr_cli_report(struct tr_cli *cli, const struct tr_error *err)
{
	report_at(cli, cli->trace ? tr_trace_here(cli->trace) : NULL, err);
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

bool tr_cli_usage(struct tr_cli *cli, const char *format, ...)
{
	struct tr_error err;
	va_list args;

	va_start(args, format);
	tr_error_set_args(&err, TR_CAUSE_USAGE, format, args);
	va_end(args);
	if (!cli->stop) {
		print(cli, NULL, &err, false);
		fprintf(stderr, "Try '%s --help' for more.\n", cli->tool->name);
	}
	tr_cli_status(cli, 2);
	cli->stop = cli->private->discard = true;
	return false;
}

void tr_cli_status(struct tr_cli *cli, int status)
{
	if (status > cli->status)
		cli->status = status;
}
