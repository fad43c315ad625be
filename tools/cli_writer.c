/* Records out: original lines, or a format's writer. */
#include "config.h"

#include "cli_private.h"

bool tr_cli_put_line(struct tr_cli *cli, struct tr_record *record)
{
	struct tr_cli_private *p = cli->private;

	if (record->line.data) {
		tr_output_put_text(cli->out, record->line);
	} else {
		tr_buffer_reset(&p->line);
		if (tr_record_write(record, &p->line, &p->err) != TR_OK) {
			tr_cli_report_record(cli, record, &p->err, true);
			return !cli->stop;
		}
		tr_output_put_text(cli->out, tr_buffer_text(&p->line));
	}
	tr_output_record_end(cli->out);
	if (cli->out->failed)
		cli->stop = true;
	return !cli->stop;
}

bool tr_cli_stands_alone(const struct tr_cli *cli, const struct tr_trace_place *place)
{
	return !(place->format->flags & TR_FORMAT_MERGES) ||
	       (cli->operand_count <= 1 && !place->archive);
}

bool tr_cli_copy_bytes(struct tr_cli *cli, struct tr_input *in, bool *cut_line)
{
	struct tr_cli_private *p = cli->private;

	while (!cli->stop && tr_input_more(in, 1)) {
		size_t len = tr_input_available(in);
		if (cut_line)
			*cut_line = in->pos[len - 1] != '\n';
		tr_output_put(cli->out, in->pos, len);
		tr_output_record_end(cli->out);
		tr_input_skip(in, len);
		if (tr_cli_attention)
			tr_cli_progress(cli);
		if (cli->out->failed)
			cli->stop = true;
	}
	if (!cli->stop && in->damaged) {
		tr_input_error(in, &p->err);
		tr_cli_report(cli, &p->err);
	}
	return !cli->stop;
}

/* p->err says why. Without memory, or in a pipe that nobody reads, others fare no better. */
static void give_up(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	p->discard = true;
	if (!cli->several || p->err.cause == TR_CAUSE_MEMORY || p->err.cause == TR_CAUSE_PIPE)
		cli->stop = true;
}

struct tr_writer *tr_cli_writer(struct tr_cli *cli, const struct tr_format *format)
{
	struct tr_cli_private *p = cli->private;
	struct tr_write_config config = { cli->config.read.settings, cli->strict,
					  tr_format_by_name };

	if (cli->stop)
		return NULL;
	struct tr_writer *writer = NULL;
	tr_cli_settings_taken(cli, format, true);
	if (tr_settings_check(&config.settings, format, true, &p->err))
		writer = format->create(&config, cli->out, &p->err);
	if (!writer) {
		tr_cli_report(cli, &p->err);
		cli->stop = p->discard = true;
	}
	return writer;
}

bool tr_cli_put(struct tr_cli *cli, const struct tr_format *format, struct tr_writer *writer,
		struct tr_record *record)
{
	struct tr_cli_private *p = cli->private;
	enum tr_status status = format->put(writer, record, &p->err);

	if (status == TR_OK) {
		if (!cli->out->failed)
			return true;
		cli->stop = true;
		return false;
	}
	tr_cli_report_record(cli, record, &p->err, p->err.severity == TR_DAMAGE);
	if (status == TR_FATAL)
		give_up(cli);
	return !cli->stop && !p->discard;
}

/* Trouble at the end of an output concerns all that was read into it. */
static void report_end(struct tr_cli *cli, const struct tr_error *err)
{
	const struct tr_trace_place *place = cli->trace ? tr_trace_here(cli->trace) : NULL;
	bool of_one = cli->several || (cli->operand_count <= 1 && !(place && place->archive));

	if (of_one || err->line != TR_NO_POSITION || err->offset != TR_NO_POSITION)
		tr_cli_report(cli, err);
	else
		tr_cli_report_nowhere(cli, err);
}

bool tr_cli_finish(struct tr_cli *cli, const struct tr_format *format, struct tr_writer *writer)
{
	struct tr_cli_private *p = cli->private;

	while (!cli->stop && !p->discard) {
		enum tr_status status = format->finish(writer, &p->err);
		if (status == TR_OK || status == TR_END)
			break;
		report_end(cli, &p->err);
		if (status == TR_FATAL)
			give_up(cli);
	}
	format->discard(writer);
	return !cli->stop && !p->discard;
}
