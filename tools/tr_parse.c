/* SPDX-License-Identifier: MIT */
/* tr-parse: trace files to the record stream. */

#include "cli.h"
#include "core/buffer.h"

enum { EXACT = 1, LINES, JOIN, NO_BLOBS, BLOB_DIR, LIST, IDENTIFY, OPTIONS };

static const struct tr_option options[] = {
	{ EXACT, 0, "exact", NULL,
	  "add .raw fields to records that would otherwise not be written back byte for byte" },
	{ LINES, 0, "lines", NULL,
	  "write one record for each line of the source, with all its bytes (etrace)" },
	{ JOIN, 0, "join", NULL,
	  "write one call record for the enter and the leave of an API call, in the place of the "
	  "leave" },
	{ NO_BLOBS, 0, "no-blobs", NULL, "write the lengths of blobs instead of their contents" },
	{ BLOB_DIR, 0, "blob-dir", "DIR",
	  "write each blob to a file in DIR named after its SHA-256; tr-repack --blob-dir reads "
	  "it" },
	{ LIST, 0, "list", NULL, "list the contents of the files: member, format, size" },
	{ IDENTIFY, 0, "identify", NULL, "print FILE: FORMAT for every file or member" },
	{ 0 },
};

static const char *const examples[] = {
	"the executables of the first ten commands of a build",
	"tr-parse build.json.gz | grep ^exec | head | cut -f5",
	"every trace in an archive",
	"tr-parse --member='*.json' traces.tar.zst > all.trec",
	"which format is this file?",
	"tr-parse --identify unknown.bin",
	NULL,
};

static const char *(*const libraries[])(void) = { tr_sha256_version, NULL };

static const struct tr_tool tool = {
	.name = "tr-parse",
	.usage = "[OPTION...] [FILE...]",
	.summary = "Reads trace files of any known format and writes them as a stream of records, "
		   "one per line: see trec(5).",
	.shared = TR_CLI_ALL,
	.options = options,
	.examples = examples,
	.libraries = libraries,
};

/* join: NULL without --join. */
static void parse(struct tr_cli *cli, struct tr_join *join)
{
	struct tr_writer *writer = tr_cli_writer(cli, &tr_format_trec);
	struct tr_trace_place *place;
	struct tr_record *record;

	if (writer && !join)
		tr_cli_put_blocks(cli, writer);
	while (writer && tr_cli_step(cli, &place))
		while (tr_cli_next_joined(cli, join, &record) && tr_cli_put(cli, writer, record))
			;
	if (writer)
		tr_cli_finish(cli, writer);
}

/* For formats that are only identified, adds the reader's explanation. */
static void describe(const struct tr_cli *cli, const struct tr_trace_place *place,
		     struct tr_buffer *line)
{
	const struct tr_format *format = place->format;
	struct tr_error err;

	if (!format || (format->flags & TR_FORMAT_READS))
		return;
	/* the reader of such a format only fails, with the reason */
	struct tr_reader *reader = format->open(&cli->config.read, place->in, &err);
	if (reader) {
		tr_reader_free(reader);
		return;
	}
	tr_buffer_put_literal(line, " (");
	tr_buffer_put_text(line, tr_text_from(err.text));
	tr_buffer_put_byte(line, ')');
}

/* Writes the line of a file or member for --list or --identify. */
static void put_line(struct tr_cli *cli, const struct tr_trace_place *place, bool identify,
		     struct tr_buffer *line)
{
	bool empty = !tr_input_more(place->in, 1) && !place->in->damaged && !place->bom;
	const char *format = empty ? "empty" : place->format ? place->format->name : "unknown";
	/* for a single archive, the names of the members suffice */
	bool member = place->member && cli->operand_count <= 1;

	tr_buffer_reset(line);
	tr_cell_escape(tr_text_from(member ? place->member : place->name), false, line);
	if (identify)
		tr_buffer_put_literal(line, ": ");
	else
		tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, tr_text_from(format));
	if (identify) {
		describe(cli, place, line);
	} else {
		tr_buffer_put_byte(line, '\t');
		if (place->size >= 0)
			tr_buffer_put_decimal(line, (uint64_t)place->size);
		else
			tr_buffer_put_byte(line, '-');
	}
	tr_buffer_put_byte(line, '\n');
	if (line->failed)
		tr_cli_out_of_memory(cli);
	else
		tr_cli_put_text(cli, tr_buffer_text(line));
}

/*
 * Lists all files and members. Archives may contain anything, so an unknown format is an error
 * only for a file.
 */
static void list(struct tr_cli *cli, bool identify)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_trace_place *place;
	struct tr_record *record;

	while (tr_cli_step(cli, &place)) {
		put_line(cli, place, identify, &line);
		/* archives may contain anything; a file of no known format is reported */
		if (!place->format && !place->member)
			tr_cli_next_here(cli, &record);
	}
	tr_buffer_free(&line);
}

/* Options that exclude each other. */
static void check_pairs(struct tr_cli *cli, const bool *chosen)
{
	static const unsigned char pairs[][2] = {
		{ LIST, IDENTIFY }, { JOIN, EXACT },	    { LINES, JOIN },
		{ LINES, EXACT },   { NO_BLOBS, BLOB_DIR }, { LIST, EXACT },
		{ LIST, LINES },    { LIST, JOIN },	    { LIST, NO_BLOBS },
		{ LIST, BLOB_DIR }, { IDENTIFY, EXACT },    { IDENTIFY, LINES },
		{ IDENTIFY, JOIN }, { IDENTIFY, NO_BLOBS }, { IDENTIFY, BLOB_DIR },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (chosen[pairs[i][0]] && chosen[pairs[i][1]])
			tr_cli_usage(cli, "--%s cannot be combined with --%s",
				     options[pairs[i][0] - 1].name, options[pairs[i][1] - 1].name);
}

int main(int argc, char **argv)
{
	bool chosen[OPTIONS] = { false };
	struct tr_cli cli;

	tr_cli_begin(&cli, &tool, argc, argv);
	for (int id; (id = tr_cli_option(&cli)) != 0;) {
		/* all options but --blob-dir are flags */
		chosen[id] = true;
		if (id == BLOB_DIR)
			cli.blob_path = cli.argument;
	}
	bool listing = chosen[LIST] || chosen[IDENTIFY];
	check_pairs(&cli, chosen);
	cli.changes_blobs = chosen[NO_BLOBS] || chosen[BLOB_DIR];
	cli.blobs = chosen[NO_BLOBS] ? TR_BLOBS_LEAVE_OUT : TR_BLOBS_STORE;
	cli.config.read.exact = chosen[EXACT];
	cli.config.read.lines = chosen[LINES];
	/* a record that is changed needs its fields */
	cli.config.read.as_text = !chosen[JOIN] && !cli.changes_blobs;
	cli.config.read.text_out = &cli.out;
	cli.config.unknown_members = listing;
	cli.config.joins = listing ? TR_JOINS_NOTHING : TR_JOINS_FILES;
	cli.config.reports_lost = !listing;
	struct tr_join *join = chosen[JOIN] ? tr_join_new() : NULL;
	if (chosen[JOIN] && !join)
		tr_cli_out_of_memory(&cli);
	if (tr_cli_open(&cli) && tr_cli_output(&cli, false)) {
		if (listing)
			list(&cli, chosen[IDENTIFY]);
		else
			parse(&cli, join);
	}
	tr_join_free(join);
	return tr_cli_end(&cli);
}
