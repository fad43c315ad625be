/* tr-parse: trace files to the record stream. */
#include "config.h"

#include "cli.h"
#include "core/buffer.h"

enum { EXACT = 1, LIST, IDENTIFY };

static const struct tr_option options[] = {
	{ EXACT, 0, "exact", NULL,
	  "keep the source's own spelling in .raw fields where a rewrite would differ" },
	{ LIST, 0, "list", NULL,
	  "list what is in the files instead of parsing them: member, format, size" },
	{ IDENTIFY, 0, "identify", NULL, "print FILE: FORMAT for every file or member" },
	{ 0 },
};

static const char *const examples[] = {
	"the build trace as records, the executables of the first ten commands",
	"tr-parse build.json.gz | grep ^exec | head | cut -f5",
	"every trace of an archive",
	"tr-parse --member='*.json' traces.tar.zst > all.trec",
	"what is this file?",
	"tr-parse --identify unknown.bin",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-parse",
	.usage = "[OPTION...] [FILE...]",
	.summary = "Reads trace files of any known format and writes them as a stream of records, "
		   "one a line: see trec(5).",
	.shared = TR_CLI_ALL,
	.options = options,
	.examples = examples,
};

static void parse(struct tr_cli *cli)
{
	struct tr_writer *writer = tr_cli_writer(cli, &tr_format_trec);
	struct tr_record *record;

	if (!writer)
		return;
	while (tr_cli_next(cli, &record) && tr_cli_put(cli, &tr_format_trec, writer, record))
		;
	tr_cli_finish(cli, &tr_format_trec, writer);
}

/* What stands in the first column: the member where there is one, else the file. */
static const char *shown_name(const struct tr_cli *cli, const struct tr_trace_place *place)
{
	return place->member && cli->operand_count <= 1 ? place->member : place->name;
}

static const char *format_name(const struct tr_trace_place *place)
{
	if (!tr_input_more(place->in, 1) && !place->in->damaged && !place->bom)
		return "empty";
	return place->format ? place->format->name : NULL;
}

static void put_line(struct tr_cli *cli, const struct tr_trace_place *place, bool identify,
		     struct tr_buffer *line)
{
	const char *format = format_name(place);

	tr_buffer_reset(line);
	tr_cell_escape(tr_text_from(shown_name(cli, place)), false, line);
	if (identify)
		tr_buffer_put_literal(line, ": ");
	else
		tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, tr_text_from(format ? format : "unknown"));
	if (!identify) {
		tr_buffer_put_byte(line, '\t');
		if (place->size >= 0)
			tr_buffer_put_decimal(line, (uint64_t)place->size);
		else
			tr_buffer_put_byte(line, '-');
	}
	tr_buffer_put_byte(line, '\n');
	if (line->failed) {
		tr_cli_fail(cli, "out of memory");
		cli->stop = true;
		return;
	}
	tr_output_put_text(cli->out, tr_buffer_text(line));
	tr_output_record_end(cli->out);
	if (cli->out->failed)
		cli->stop = true;
}

static void list(struct tr_cli *cli, bool identify)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_trace_place *place;

	while (tr_cli_step(cli, &place)) {
		put_line(cli, place, identify, &line);
		if (!place->format && !place->member)
			tr_cli_status(cli, 2); /* archives hold other things too, and may */
	}
	tr_buffer_free(&line);
}

int main(int argc, char **argv)
{
	bool listing = false, identify = false;
	struct tr_cli cli;

	tr_cli_begin(&cli, &tool, argc, argv);
	for (int id; (id = tr_cli_option(&cli)) != 0;) {
		if (id == EXACT)
			cli.config.read.exact = true;
		else if (id == LIST)
			listing = true;
		else
			identify = true;
	}
	if (listing && identify)
		tr_cli_usage(&cli, "--list and --identify exclude each other");
	cli.config.unknown_members = listing || identify;
	if (tr_cli_open(&cli) && tr_cli_output(&cli, false)) {
		if (listing || identify)
			list(&cli, identify);
		else
			parse(&cli);
	}
	return tr_cli_end(&cli);
}
