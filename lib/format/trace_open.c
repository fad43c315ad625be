/* SPDX-License-Identifier: MIT */
/*
 * Opens operands: names, files, archives and their members, containers, and the format. Files
 * that a recorder wrote at the same time are parts of one trace: operands, or members of an
 * archive, that follow each other become one place. The first file that is not a part has to be
 * opened to find that out; it is kept until its turn. An archive gives one member after the other,
 * so the bytes of its parts are kept in a spool until all are there.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/codec.h"
#include "core/map.h"
#include "format/trace_private.h"

/*
 * Sets or clears on_wait of all open archives; it is cleared while a member is read on another
 * thread than the one that writes the output.
 */
static void set_on_wait(struct tr_trace *trace, bool set)
{
	const struct tr_trace_config *config = &trace->config;
	const struct tr_trace_archives *archives = &trace->archives;

	for (unsigned i = archives->count; i-- > 0;) {
		struct tr_input *in = archives->list[i].in;
		tr_input_on_wait(in, set ? config->on_wait : NULL, config->wait_context);
		if (in->ahead)
			break; /* the windows below it have no on_wait since it was opened */
	}
}

/* Sets buffer to both texts, NUL-terminated. False: memory is exhausted. */
static bool keep_text(struct tr_buffer *buffer, const char *first, const char *second)
{
	tr_buffer_reset(buffer);
	tr_buffer_put_text(buffer, tr_text_from(first));
	if (second) {
		tr_buffer_put_byte(buffer, ':');
		tr_buffer_put_text(buffer, tr_text_from(second));
	}
	tr_buffer_put_byte(buffer, '\0');
	return !buffer->failed;
}

/* Sets the names of the place, for messages too. member may be NULL. False: memory is exhausted. */
static bool name_place(struct tr_trace *trace, const char *operand, const char *member,
		       struct tr_error *err)
{
	const char *file = strcmp(operand, "-") == 0 ? NULL : operand;

	trace->place = (struct tr_trace_place){ .file = file, .size = -1 };
	if (!keep_text(&trace->name, file ? file : "stdin", member) ||
	    (member && !keep_text(&trace->member, member, NULL))) {
		tr_error_memory(err);
		return false;
	}
	trace->place.name = trace->name.data;
	trace->place.member = member ? trace->member.data : NULL;
	return true;
}

/*
 * Makes place.in of a source, which it owns (NULL: memory is exhausted), and removes compression.
 * on_wait is set while it waits for the first bytes, and then for the last window, because the
 * first one may be read on another thread, and so may those of archives.
 */
static bool decode(struct tr_trace *trace, struct tr_source *source, struct tr_error *err)
{
	enum { LONGEST_MAGIC = 6 };
	const struct tr_trace_config *config = &trace->config;
	struct tr_input *in = source ? tr_input_new(source, &config->read.limits, 0) : NULL;

	if (!in) {
		tr_error_memory(err);
		return false;
	}
	tr_input_on_wait(in, config->on_wait, config->wait_context);
	tr_input_more(in, LONGEST_MAGIC);
	tr_input_on_wait(in, NULL, NULL);
	set_on_wait(trace, false);
	in = tr_codec_open(in, &config->read.limits, config->threads, err);
	if (!in)
		return false;
	if (!in->ahead)
		set_on_wait(trace, true);
	tr_input_on_wait(in, config->on_wait, config->wait_context);
	trace->in = trace->place.in = in;
	trace->place.codec = in->codec;
	return true;
}

static void skip_bom(struct tr_trace *trace)
{
	const struct tr_format *forced = trace->config.format;

	/* --lines keeps every byte */
	if (trace->config.read.lines || (forced && (forced->flags & TR_FORMAT_BINARY)) ||
	    !tr_input_more(trace->in, 1) || *trace->in->pos != '\xef' ||
	    !tr_input_more(trace->in, 3) || memcmp(trace->in->pos, "\xef\xbb\xbf", 3) != 0)
		return;
	tr_input_skip(trace->in, 3);
	trace->place.bom = true;
}

/*
 * An empty input is an empty stream, which a filter writes when nothing matches, unless it was in
 * a container that belongs to one format.
 */
static const struct tr_format *detect(const struct tr_trace *trace, struct tr_input *in)
{
	const struct tr_format *format = tr_format_detect(in, &trace->config.read.settings);

	if (!format && !tr_input_more(in, 1) && !in->damaged)
		return tr_format_by_name(TR_TEXT("trec"));
	return format;
}

/* The format of the window: the forced one, or the one that is detected. */
static const struct tr_format *recognise(const struct tr_trace *trace, struct tr_input *in)
{
	const struct tr_format *forced = trace->config.format;

	if (!forced)
		return detect(trace, in);
	/* a bid on a text may wait for more than its first line */
	return !(forced->flags & TR_FORMAT_BINARY) || forced->bid(in) > 0 ? forced : NULL;
}

/* The format of a window that is brotli; NULL: unknown. *certain: the window is brotli. */
static const struct tr_format *recognise_brotli(const struct tr_trace *trace, bool *certain)
{
	enum { PROBE = 1024 };
	char probe[PROBE];
	size_t len = tr_codec_brotli_peek(trace->in, probe, sizeof probe, certain);
	struct tr_source *source = len ? tr_source_memory((struct tr_text){ probe, len }) : NULL;
	struct tr_input *in =
		source ? tr_input_new(source, &trace->config.read.limits, sizeof probe) : NULL;

	if (!in)
		return NULL;
	if (*certain)
		in->codec = &tr_codec_brotli;
	const struct tr_format *format = recognise(trace, in);
	tr_input_free(in);
	return format;
}

static bool take_off_brotli(struct tr_trace *trace, struct tr_error *err)
{
	const struct tr_trace_config *config = &trace->config;

	tr_input_on_wait(trace->in, NULL, NULL);
	if (!trace->in->ahead)
		set_on_wait(trace, false);
	trace->in = trace->place.in =
		tr_codec_open_as(trace->in, tr_codec_by_name(TR_TEXT("brotli")),
				 &config->read.limits, config->threads, err);
	if (!trace->in)
		return false;
	if (!trace->in->ahead)
		set_on_wait(trace, true);
	tr_input_on_wait(trace->in, config->on_wait, config->wait_context);
	trace->place.codec = trace->in->codec;
	return true;
}

/* brotli has no magic: an unknown format is tried as brotli, and opened if its content is known. */
static enum tr_status find_format(struct tr_trace *trace, struct tr_error *err)
{
	bool certain;

	skip_bom(trace);
	trace->place.format = recognise(trace, trace->in);
	if (trace->place.format)
		return TR_OK;
	trace->place.format = recognise_brotli(trace, &certain);
	if ((trace->place.format || certain) && !take_off_brotli(trace, err))
		return tr_error_status(err);
	if (!trace->place.format) {
		/* if damage has left nothing, a message reports the damage */
		if (certain)
			tr_input_more(trace->in, 1);
		trace->place.format = trace->config.format;
	}
	return TR_OK;
}

void tr_trace_close_place(struct tr_trace *trace)
{
	tr_reader_free(trace->reader);
	trace->reader = NULL;
	if (trace->in && !trace->archives.count)
		trace->done_before += tr_input_raw_offset(trace->in);
	tr_input_free(trace->in);
	trace->in = trace->place.in = NULL;
}

/* Members of archives, and of archives that are members themselves. */

static bool selected(const struct tr_trace *trace, const char *path)
{
	const struct tr_trace_archives *archives = &trace->archives;
	bool match = trace->config.member_count == 0 ||
		     (archives->count && archives->list[archives->count - 1].selected);

	for (size_t i = 0; i < trace->config.member_count && !match; i++)
		match = fnmatch(trace->config.members[i], path, 0) == 0;
	return match;
}

/*
 * Opens place.in if it is an archive. TR_END: its members come next. TR_OK: it is not an archive.
 */
static enum tr_status enter_archive(struct tr_trace *trace, struct tr_error *err)
{
	struct tr_trace_archives *archives = &trace->archives;
	struct tr_input *in = trace->in;

	if (!tr_archive_detect(in))
		return TR_OK;
	if (archives->count == TR_TRACE_ARCHIVES) {
		tr_error_set(err, TR_CAUSE_LIMIT, "is nested in %d archives: not opened",
			     TR_TRACE_ARCHIVES);
		return TR_WARN;
	}
	trace->in = trace->place.in = NULL;
	trace->met_archive = true;
	if (!archives->count)
		archives->matched = false;
	const char *path = trace->place.member ? trace->place.member : "";
	bool all = *path && trace->config.member_count && selected(trace, path);
	struct tr_archive *archive = tr_archive_open(in, &trace->config.read.limits, err);
	if (!archive)
		return tr_error_status(err);
	tr_buffer_reset(&archives->path);
	tr_buffer_put_text(&archives->path, tr_text_from(path));
	archives->list[archives->count].archive = archive;
	archives->list[archives->count].in = in;
	archives->list[archives->count].path = archives->path.len;
	archives->list[archives->count].selected = all;
	archives->list[archives->count].has_members = false;
	archives->count++;
	return archives->path.failed ? tr_error_memory(err) : TR_END;
}

static void close_last(struct tr_trace_archives *archives)
{
	tr_archive_free(archives->list[--archives->count].archive);
}

static void interrupt_archives(struct tr_trace_archives *archives)
{
	if (archives->count)
		tr_input_interrupt(archives->list[0].in);
}

static void close_archives(struct tr_trace_archives *archives)
{
	while (archives->count)
		close_last(archives);
	tr_buffer_free(&archives->path);
}

/* Closes the innermost archive after its last member. TR_OK: continue with the one around it. */
static enum tr_status leave(struct tr_trace *trace, const char *operand, struct tr_error *err)
{
	struct tr_trace_archives *archives = &trace->archives;
	uint64_t done = tr_input_raw_offset(archives->list[0].in);

	close_last(archives);
	if (archives->count)
		return TR_OK;
	trace->done_before += done;
	if (!trace->config.member_count || archives->matched)
		return TR_END;
	if (!name_place(trace, operand, NULL, err))
		return TR_FATAL;
	tr_error_set(err, TR_CAUSE_USAGE, "no member matches --member");
	return TR_WARN;
}

/* The path of a member, or with name NULL of the innermost archive. NULL: memory is exhausted. */
static const char *path_of(struct tr_trace_archives *archives, const char *name)
{
	size_t outer = archives->list[archives->count - 1].path;

	archives->path.len = outer;
	if (outer && name)
		tr_buffer_put_byte(&archives->path, '/');
	tr_buffer_put_text(&archives->path, tr_text_from(name ? name : ""));
	tr_buffer_put_byte(&archives->path, '\0');
	return archives->path.failed ? NULL : archives->path.data;
}

/* Opens a member. TR_END: it is an archive whose members come next, or not wanted. */
static enum tr_status open_member(struct tr_trace *trace, const struct tr_archive_member *member,
				  bool wanted, struct tr_error *err)
{
	const struct tr_trace_archives *archives = &trace->archives;
	struct tr_archive *archive = archives->list[archives->count - 1].archive;

	trace->place.archive = tr_archive_format(archive);
	trace->place.archive_codec = archives->list[archives->count - 1].in->codec;
	trace->place.mtime = member->mtime;
	if (trace->version)
		trace->place.version = tr_number_hash(trace->version, trace->members);
	trace->place.size = member->size;
	if (!decode(trace, tr_archive_source(archive), err))
		return tr_error_status(err);
	enum tr_status status = enter_archive(trace, err);
	if (status != TR_OK)
		return status;
	if (!wanted) {
		tr_trace_close_place(trace);
		return TR_END;
	}
	status = find_format(trace, err);
	if (status != TR_OK)
		return status;
	if (trace->place.format || trace->config.unknown_members || trace->config.member_count ||
	    trace->in->damaged)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT, "member of no known format is skipped");
	tr_error_is_note(err);
	return TR_WARN;
}

/* Reports an error of the innermost archive. */
static enum tr_status fail(struct tr_trace *trace, const char *operand, enum tr_status status,
			   struct tr_error *err)
{
	struct tr_error why = *err;
	struct tr_trace_archives *archives = &trace->archives;
	const char *path = path_of(archives, NULL);

	if (!path || !name_place(trace, operand, *path ? path : NULL, err))
		return tr_error_memory(err);
	*err = why;
	if (status == TR_FATAL) {
		if (archives->count == 1)
			trace->done_before += tr_input_raw_offset(archives->list[0].in);
		close_last(archives);
	}
	return tr_error_status(&why);
}

/*
 * Steps to the next member of the innermost archive. An archive without members is an error,
 * because a file of zeros, which a crash can leave, is an empty tar.
 */
static enum tr_status next_member(struct tr_trace *trace, struct tr_archive_member *member,
				  struct tr_error *err)
{
	struct tr_trace_archives *archives = &trace->archives;
	struct tr_archive *archive = archives->list[archives->count - 1].archive;
	bool *has_members = &archives->list[archives->count - 1].has_members;
	enum tr_status status = tr_archive_next(archive, member, err);

	if (status == TR_END && !*has_members && !trace->config.member_count) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: contains no files",
			     tr_archive_format(archive));
		return TR_FATAL;
	}
	*has_members |= status == TR_OK || status == TR_WARN;
	return status;
}

static enum tr_status open_selected(struct tr_trace *trace, struct tr_error *err)
{
	const char *operand = trace->operands[trace->next_operand - 1];
	struct tr_trace_archives *archives = &trace->archives;
	struct tr_archive_member member;
	enum tr_status status = TR_END;

	while (status == TR_END && archives->count) {
		set_on_wait(trace, true);
		status = next_member(trace, &member, err);
		if (status == TR_END) {
			status = leave(trace, operand, err);
			if (status != TR_OK)
				return status;
			status = TR_END;
			continue;
		}
		if (status != TR_OK)
			return fail(trace, operand, status, err);
		trace->members++;
		const char *path = path_of(archives, member.name);
		if (!path)
			return tr_error_memory(err);
		bool wanted = selected(trace, path);
		status = TR_END;
		/* an archive that is not wanted may contain a wanted member */
		if (!wanted && !tr_archive_by_extension(tr_text_from(path)))
			continue;
		archives->matched |= wanted;
		if (!name_place(trace, operand, path, err))
			return TR_FATAL;
		status = open_member(trace, &member, wanted, err);
	}
	return status;
}

/* Opens an operand: a file, standard input, or the archive that it is. */

/* The version of a file, which changes if it is replaced or written to. */
static uint64_t version_of(const struct stat *st)
{
	uint64_t hash = tr_number_hash(0, (uint64_t)st->st_size);

	hash = tr_number_hash(hash, (uint64_t)st->st_mtim.tv_sec);
	return tr_number_hash(hash, (uint64_t)st->st_mtim.tv_nsec);
}

static int open_file(struct tr_trace *trace, const char *operand, struct tr_error *err)
{
	const struct tr_trace_config *config = &trace->config;
	struct stat st;

	/* opening a named pipe waits for its writer */
	if (config->on_wait && trace->place.file && stat(operand, &st) == 0 && S_ISFIFO(st.st_mode))
		config->on_wait(config->wait_context);
	int fd = trace->place.file ? open(operand, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;

	if (fd < 0 || fstat(fd, &st) != 0) {
		tr_error_system(err, errno, "cannot open");
	} else if (S_ISDIR(st.st_mode)) {
		tr_error_set(err, TR_CAUSE_USAGE, "is a directory");
	} else {
		trace->place.mtime = (int64_t)st.st_mtime;
		trace->place.size = S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
		trace->version = S_ISREG(st.st_mode) && trace->place.file ? version_of(&st) : 0;
		trace->place.version = trace->version;
		trace->members = 0;
		return fd;
	}
	if (fd >= 0 && trace->place.file)
		close(fd);
	return -1;
}

enum tr_status tr_trace_open_operand(struct tr_trace *trace, const char *operand,
				     struct tr_error *err)
{
	if (!name_place(trace, operand, NULL, err))
		return TR_FATAL;
	int fd = open_file(trace, operand, err);
	if (fd < 0)
		return TR_WARN;
	if (!decode(trace, tr_source_fd(fd, trace->place.file != NULL), err))
		return tr_error_status(err);
	enum tr_status status = enter_archive(trace, err);
	return status == TR_OK ? find_format(trace, err) : status;
}

/*
 * Moves what is open out of the trace: a member, or an operand, which may be an archive. take_back
 * moves it back.
 */
static void put_aside(struct tr_trace *trace, bool member, struct tr_trace_opened *opened)
{
	opened->place = trace->place;
	opened->name = trace->name;
	opened->member = trace->member;
	trace->name = trace->member = (struct tr_buffer)TR_BUFFER_INIT;
	trace->in = trace->place.in = NULL;
	if (member)
		return;
	opened->archives = trace->archives;
	trace->archives = (struct tr_trace_archives){ .path = TR_BUFFER_INIT };
}

static void take_back(struct tr_trace *trace, bool member, const struct tr_trace_opened *opened)
{
	tr_buffer_free(&trace->name);
	tr_buffer_free(&trace->member);
	trace->place = opened->place;
	trace->in = opened->place.in;
	trace->name = opened->name;
	trace->member = opened->member;
	if (member)
		return;
	close_archives(&trace->archives);
	trace->archives = opened->archives;
}

/* Frees what was opened before its turn, if anything. */
static void free_ahead(struct tr_trace_opened *ahead)
{
	if (!ahead->there)
		return;
	interrupt_archives(&ahead->archives);
	tr_input_free(ahead->place.in);
	close_archives(&ahead->archives);
	tr_buffer_free(&ahead->name);
	tr_buffer_free(&ahead->member);
	ahead->there = false;
}

/*
 * The members of an archive that are parts of one trace: the bytes of all of them are stored before
 * the first line can be read.
 */

enum { WINDOW = 16 << 10 }; /* bytes for each member, of which there may be thousands */

/* Stores in, which is freed, and returns a window on its bytes. NULL: err is filled. */
static struct tr_input *put_away(struct tr_trace_store *store, struct tr_input *in,
				 const struct tr_limits *limits, struct tr_error *err)
{
	struct tr_source *source = tr_trace_store_input(store, in, err);
	struct tr_input *again = source ? tr_input_new(source, limits, WINDOW) : NULL;

	if (source && !again)
		tr_error_memory(err);
	return again;
}

/* The windows of the parts of one trace. */
struct parts {
	struct tr_input **list;
	int64_t *numbers;
	size_t count;
};

/*
 * Moves the window of the trace to the parts; of a member (store is not NULL) its bytes. False: err
 * is filled.
 */
static bool add_part(struct tr_trace *trace, struct parts *parts, struct tr_trace_store *store,
		     int64_t number, struct tr_error *err)
{
	size_t count = parts->count + 1;
	struct tr_input *in = trace->in;
	struct tr_input **list = reallocarray(parts->list, count, sizeof(struct tr_input *));

	if (list)
		parts->list = list;
	int64_t *numbers = reallocarray(parts->numbers, count, sizeof *numbers);
	if (numbers)
		parts->numbers = numbers;
	trace->in = trace->place.in = NULL;
	if (!list || !numbers) {
		tr_input_free(in);
		tr_error_memory(err);
		return false;
	}
	if (store && !(in = put_away(store, in, &trace->config.read.limits, err)))
		return false;
	list[parts->count] = in;
	numbers[parts->count++] = number;
	return true;
}

static int64_t part_number(const struct tr_trace *trace)
{
	const struct tr_format *format = trace->place.format;

	if (trace->config.joins == TR_JOINS_NOTHING || !trace->in || !format || !format->part)
		return -1;
	struct tr_read_config config = trace->config.read;
	config.name = tr_trace_file_name(trace);
	return format->part(&config, trace->in);
}

static bool has_part(const struct parts *parts, int64_t number)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->numbers[i] == number)
			return true;
	return false;
}

/* Reads a small part to its end, which closes its descriptor: many processes make many files. */
static void look_for_end(const struct tr_trace *trace)
{
	enum { SMALL = 64 << 10 };
	uint64_t max = trace->config.read.limits.max_record;

	if (trace->place.size >= 0 && trace->place.size < SMALL)
		tr_input_more(trace->in, max < SMALL ? max : SMALL);
}

/* Opens the next operand or (with a store) member. True: it is another part, and added. */
static bool gather_one(struct tr_trace *trace, const struct tr_trace_opened *first,
		       struct parts *parts, struct tr_trace_store *store, struct tr_error *err)
{
	struct tr_trace_opened *ahead = store ? &trace->member_ahead : &trace->ahead;

	tr_error_clear(&ahead->err);
	ahead->status = store ? open_selected(trace, &ahead->err)
			      : tr_trace_open_operand(trace, trace->operands[trace->next_operand],
						      &ahead->err);
	if (store && ahead->status == TR_END)
		return false;
	/* a file without content is a part of any trace, even if its format is unknown */
	bool empty = trace->in && !tr_input_more(trace->in, 1) && !trace->in->damaged;
	int64_t number = ahead->status == TR_OK && !empty ? part_number(trace) : -1;
	if (!empty &&
	    (number < 0 || trace->place.format != first->place.format || has_part(parts, number))) {
		put_aside(trace, store != NULL, ahead); /* until its turn */
		ahead->there = true;
		return false;
	}
	if (empty) {
		tr_input_free(trace->in);
		trace->in = trace->place.in = NULL;
	} else {
		if (!store)
			look_for_end(trace);
		if (!add_part(trace, parts, store, number, err))
			return false;
	}
	trace->next_operand += !store;
	return true;
}

static enum tr_status merge_parts(struct tr_trace *trace, const struct parts *parts,
				  struct tr_error *err)
{
	char more[64];
	struct tr_source *source =
		trace->place.format->merge(parts->list, parts->numbers, parts->count);

	trace->in = trace->place.in =
		source ? tr_input_new(source, &trace->config.read.limits, 0) : NULL;
	snprintf(more, sizeof more, " and %zu more", parts->count - 1);
	trace->name.len = strlen(trace->name.data);
	tr_buffer_put(&trace->name, more, strlen(more) + 1);
	if (!trace->in || trace->name.failed)
		return tr_error_memory(err);
	trace->place.name = trace->name.data;
	trace->place.size = -1;
	return TR_OK;
}

/* Gathers the parts that follow the one that is open. */
static enum tr_status gather(struct tr_trace *trace, bool members, int64_t number,
			     struct tr_error *err)
{
	struct parts parts = { NULL, NULL, 0 };
	struct tr_trace_opened first;
	struct tr_trace_store *store =
		members ? tr_trace_store_new(&trace->config.read.limits) : NULL;
	enum tr_status status = TR_OK;

	tr_error_clear(err);
	if (members && !store)
		return tr_error_memory(err);
	bool more = add_part(trace, &parts, store, number, err);
	put_aside(trace, members, &first);
	while (more && (members || trace->next_operand < trace->operand_count))
		more = gather_one(trace, &first, &parts, store, err);
	take_back(trace, members, &first);
	if (err->cause) {
		status = tr_error_status(err);
		for (size_t i = 0; i < parts.count; i++)
			tr_input_free(parts.list[i]);
	} else if (parts.count > 1) {
		status = merge_parts(trace, &parts, err);
	} else {
		trace->in = trace->place.in = parts.list[0];
	}
	free(parts.list);
	free(parts.numbers);
	tr_trace_store_release(store);
	return status;
}

enum tr_status tr_trace_open_next(struct tr_trace *trace, struct tr_error *err)
{
	bool members = trace->archives.count || trace->member_ahead.there;
	struct tr_trace_opened *ahead = members ? &trace->member_ahead : &trace->ahead;
	enum tr_status status;

	trace->next_operand += !members;
	if (ahead->there) {
		ahead->there = false;
		take_back(trace, members, ahead);
		status = ahead->status;
		*err = ahead->err;
	} else {
		status = members ? open_selected(trace, err)
				 : tr_trace_open_operand(
					   trace, trace->operands[trace->next_operand - 1], err);
	}
	/* a single operand is not read further than its reader asks for */
	bool more = status == TR_OK && (members || (trace->config.joins == TR_JOINS_FILES &&
						    trace->next_operand < trace->operand_count));
	int64_t number = more ? part_number(trace) : -1;
	return number >= 0 ? gather(trace, members, number, err) : status;
}

void tr_trace_close_all(struct tr_trace *trace)
{
	interrupt_archives(&trace->archives);
	tr_trace_close_place(trace);
	free_ahead(&trace->member_ahead);
	close_archives(&trace->archives);
	free_ahead(&trace->ahead);
}
