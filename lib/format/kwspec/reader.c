/* SPDX-License-Identifier: MIT */
/*
 * Reads kwinject.out. A compile line becomes an exec record with the command that compiles its
 * source to its object; -J becomes -isystem. The program of a link line is not in the file: ar is
 * assumed for archives and ld for others, and the record is flagged "program-guessed". Other lines
 * become meta records with the rest of the line.
 */
#include "format/kwspec/kwspec.h"

#include <stdlib.h>
#include <string.h>

#include "format/reader_base.h"
#include "process/invocation.h"
#include "process/path.h"
#include "record/literal.h"

struct reader {
	struct tr_reader base;
	struct tr_text *fields; /* of the line, decoded, in the arena of the record */
	size_t count, cap;
	struct tr_word *words; /* of the command */
	size_t word_count, word_cap;
	struct tr_compilers *compilers; /* NULL: the built-in table */
};

int tr_kwspec_bid(struct tr_input *in)
{
	static const char *const words[] = { "compile;", "link;", "config;" };
	enum { LONGEST = 16, BITS_VERSION = 40, BITS_LINE = 24 };
	struct tr_text window;

	/* a pipe may deliver the first bytes one by one */
	if (!tr_input_more(in, 1) || !strchr("vcl", *in->pos) || !*in->pos)
		return 0;
	tr_input_more(in, LONGEST);
	window = tr_text_span(in->pos, in->end);
	if (tr_text_skip(&window, TR_TEXT("version;")))
		return window.len && tr_is_digit(*window.data) ? BITS_VERSION : 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tr_text_skip(&window, tr_text_from(words[i])))
			return tr_path_is_absolute(window) ? BITS_LINE : 0;
	return 0;
}

bool tr_kwspec_is_kept(struct tr_text word)
{
	return tr_text_is(word, "config") || tr_text_is(word, "jconfig") ||
	       tr_text_is(word, "jcompile") || tr_text_is(word, "jar");
}

/* A field with its %XX as bytes. data NULL: memory is exhausted. */
static struct tr_text decode(struct tr_text field, struct tr_arena *arena)
{
	char *to;
	size_t len = 0;

	if (!memchr(field.data, '%', field.len))
		return field;
	to = tr_arena_alloc(arena, field.len);
	if (!to)
		return (struct tr_text){ NULL, 0 };
	for (size_t i = 0; i < field.len; i++) {
		bool code = field.data[i] == '%' && field.len - i > 2 &&
			    tr_hex_digit(field.data[i + 1]) >= 0 &&
			    tr_hex_digit(field.data[i + 2]) >= 0;
		to[len++] = code ? (char)(tr_hex_digit(field.data[i + 1]) << 4 |
					  tr_hex_digit(field.data[i + 2]))
				 : field.data[i];
		i += code ? 2 : 0;
	}
	return (struct tr_text){ to, len };
}

/* Splits a line into its fields. False: memory is exhausted. */
static bool split(struct reader *reader, struct tr_text line)
{
	const char *p = line.data, *end = p + line.len;

	for (reader->count = 0; p;) {
		const char *semicolon = memchr(p, ';', (size_t)(end - p));
		struct tr_text field =
			decode(tr_text_span(p, semicolon ? semicolon : end), &reader->base.arena);
		if (!field.data || !tr_array_room(reader->fields, reader->count, reader->cap))
			return false;
		reader->fields[reader->count++] = field;
		p = semicolon ? semicolon + 1 : NULL;
	}
	return true;
}

/* Appends a word to the command, of two parts. */
static bool add(struct reader *reader, const char *prefix, struct tr_text text)
{
	size_t len = strlen(prefix);

	if (!tr_array_room(reader->words, reader->word_count, reader->word_cap))
		return false;
	if (len) {
		char *whole = tr_arena_alloc(&reader->base.arena, len + text.len);
		if (!whole)
			return false;
		memcpy(whole, prefix, len);
		memcpy(whole + len, text.data, text.len);
		text = (struct tr_text){ whole, len + text.len };
	}
	reader->words[reader->word_count] = (struct tr_word){ text, reader->word_count, false };
	reader->word_count++;
	return true;
}

/* Appends a flag of the file, in the words of the compiler. */
static bool add_flag(struct reader *reader, bool cl, size_t *i)
{
	struct tr_text flag = reader->fields[*i];

	if (tr_text_skip(&flag, TR_TEXT("-J")))
		return cl ? add(reader, "/external:I", flag)
			  : add(reader, "", TR_TEXT("-isystem")) && add(reader, "", flag);
	if (cl && tr_text_is(flag, "-include") && *i + 1 < reader->count)
		return add(reader, "/FI", reader->fields[++*i]);
	if (cl && tr_text_skip(&flag, TR_TEXT("-std=")))
		return add(reader, "/std:", flag);
	return add(reader, "", flag);
}

enum { DIRECTORY = 1, COMPILER, OBJECT, SOURCE, FLAGS };

/* Appends the source, with the language if its name does not show it. */
static bool add_source(struct reader *reader, const struct tr_program *program)
{
	struct tr_text source = reader->fields[SOURCE], compiler = reader->fields[COMPILER];
	bool cl = program->kind == TR_TOOL_DRIVER_CL;
	bool plus = memmem(compiler.data, compiler.len, "++", 2) != NULL;
	struct tr_word words[] = { { compiler, 0, false },
				   { TR_TEXT("-c"), 1, false },
				   { source, 2, false } };
	struct tr_invocation invocation;

	if (!tr_invocation_parse(program, words, sizeof words / sizeof *words, &reader->base.arena,
				 &invocation))
		return false;
	if (invocation.sources || (program->kind != TR_TOOL_DRIVER && !cl))
		return add(reader, "", source);
	if (cl)
		return add(reader, "/Tp", source);
	return add(reader, "", TR_TEXT("-x")) &&
	       add(reader, "", plus ? TR_TEXT("c++") : TR_TEXT("c")) && add(reader, "", source);
}

/* Makes the command of a compile line. False: memory is exhausted. */
static bool make_compile(struct reader *reader)
{
	struct tr_text compiler = reader->fields[COMPILER], object = reader->fields[OBJECT];
	struct tr_program program = tr_program_find(reader->compilers, compiler, NULL, 0);
	bool cl = program.kind == TR_TOOL_DRIVER_CL;
	bool assembly = tr_text_is(tr_path_extension(object), ".s");
	bool fine = add(reader, "", compiler);

	for (size_t i = FLAGS; i < reader->count && fine; i++)
		fine = add_flag(reader, cl, &i);
	if (fine && program.kind != TR_TOOL_COMPILER)
		fine = add(reader, "", assembly && !cl ? TR_TEXT("-S") : TR_TEXT("-c"));
	if (!fine || !add_source(reader, &program))
		return false;
	return cl ? add(reader, "/Fo", object)
		  : add(reader, "", TR_TEXT("-o")) && add(reader, "", object);
}

/* Makes the command of a link line. False: memory is exhausted. */
static bool make_link(struct reader *reader)
{
	enum { PRODUCT = 2, INPUTS };
	struct tr_text extension = tr_path_extension(reader->fields[PRODUCT]);
	bool archive = tr_text_is(extension, ".a");
	bool fine = add(reader, "", archive ? TR_TEXT("ar") : TR_TEXT("ld")) &&
		    add(reader, "", archive ? TR_TEXT("rcs") : TR_TEXT("-o"));

	for (size_t i = PRODUCT; i < reader->count && fine; i++)
		fine = add(reader, "", reader->fields[i]);
	return fine;
}

/* Makes line the exec record of the command. */
static void put_exec(struct reader *reader, bool guessed)
{
	struct tr_buffer *to = &reader->base.line;

	tr_reader_begin(&reader->base, "exec");
	tr_buffer_put_literal(to, "-\t-\t");
	tr_cell_escape(reader->words[0].text, false, to);
	tr_buffer_put_literal(to, "\tcwd=");
	tr_string_quote(reader->fields[DIRECTORY], to);
	tr_buffer_put_literal(to, "\targv=[");
	for (size_t i = 0; i < reader->word_count; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		tr_string_quote(reader->words[i].text, to);
	}
	tr_buffer_put_byte(to, ']');
	if (guessed)
		tr_buffer_put_literal(to, "\tflagged=[\"program-guessed\"]");
}

/* Makes a meta record of a line, which is kept unchanged after its first word. */
static void put_meta(struct reader *reader, struct tr_text line)
{
	struct tr_buffer *to = &reader->base.line;
	/* of the line, because the word was decoded and may be shorter */
	const char *end = line.data + line.len, *rest = memchr(line.data, ';', line.len);

	tr_reader_begin(&reader->base, "meta");
	tr_buffer_put_literal(to, "-\t-\t");
	tr_cell_escape(reader->fields[0], false, to);
	tr_buffer_put_literal(to, "\tvalue=");
	tr_string_quote(tr_text_span(rest ? rest + 1 : end, end), to);
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	static const char bad[] = "not a line of kwinject.out: kept as a raw record";
	struct tr_text line = { NULL, 0 };
	bool ended, fine = true;

	tr_arena_reset(&base->arena);
	enum tr_status status = tr_reader_due(base, record, err);
	if (status != TR_END)
		return status;
	while (!line.len) {
		base->source_offset = base->in->offset;
		status = tr_reader_line(base, &line, &ended, err);
		base->source_line = base->lines;
		if (status != TR_OK)
			return status;
		line.len -= line.len && line.data[line.len - 1] == '\r';
	}
	if (!split(reader, line))
		return tr_arena_error(&base->arena, err);
	struct tr_text word = reader->fields[0];
	bool compiles = tr_text_is(word, "compile") && reader->count > SOURCE;
	bool links = tr_text_is(word, "link") && reader->count > COMPILER;
	reader->word_count = 0;
	if (compiles || links) {
		fine = compiles ? make_compile(reader) : make_link(reader);
		if (fine)
			put_exec(reader, links);
	} else if (reader->count > 1 && (tr_text_is(word, "version") || tr_kwspec_is_kept(word))) {
		put_meta(reader, line);
	} else {
		tr_reader_put_raw(base, line, "not a line of kwinject.out");
		tr_error_say(err, ended ? TR_CAUSE_INPUT : TR_CAUSE_CUT, bad);
		tr_error_at_line(err, base->source_line);
		return tr_reader_hold(base, TR_DAMAGE, err);
	}
	if (!fine)
		return tr_arena_error(&base->arena, err);
	if (ended)
		return tr_reader_deliver(base, record, err);
	tr_error_set(err, TR_CAUSE_CUT, "the last line has no newline: it may be truncated");
	tr_error_at_line(err, base->source_line);
	return tr_reader_hold(base, TR_DAMAGE, err);
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	free(reader->fields);
	free(reader->words);
	tr_compilers_free(reader->compilers);
}

struct tr_reader *tr_kwspec_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	if (!tr_setting_get_compilers(&config->settings, &reader->compilers, err)) {
		tr_reader_free(&reader->base);
		return NULL;
	}
	return &reader->base;
}
