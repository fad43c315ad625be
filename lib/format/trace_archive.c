/* Members of archives, and of archives that are members themselves. */
#include "config.h"

#include <fnmatch.h>

#include "format/trace_private.h"

static bool selected(const struct tr_trace *trace, const char *path)
{
	const struct tr_trace_archives *archives = &trace->archives;
	bool match = trace->config.member_count == 0 ||
		     (archives->count && archives->list[archives->count - 1].selected);

	for (size_t i = 0; i < trace->config.member_count && !match; i++)
		match = fnmatch(trace->config.members[i], path, 0) == 0;
	return match;
}

enum tr_status tr_trace_enter_archive(struct tr_trace *trace, struct tr_error *err)
{
	struct tr_trace_archives *archives = &trace->archives;
	struct tr_input *in = trace->in;

	if (!tr_archive_detect(in))
		return TR_OK;
	if (archives->count == TR_TRACE_ARCHIVES) {
		tr_error_set(err, TR_CAUSE_LIMIT, "is an archive in %d others: not opened",
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
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	tr_buffer_reset(&archives->path);
	tr_buffer_put_text(&archives->path, tr_text_from(path));
	archives->list[archives->count].archive = archive;
	archives->list[archives->count].in = in;
	archives->list[archives->count].path = archives->path.len;
	archives->list[archives->count].selected = all;
	archives->count++;
	return archives->path.failed ? tr_error_memory(err) : TR_END;
}

static void close_last(struct tr_trace_archives *archives)
{
	tr_archive_free(archives->list[--archives->count].archive);
}

void tr_trace_interrupt_archives(struct tr_trace_archives *archives)
{
	if (archives->count)
		tr_input_interrupt(archives->list[0].in);
}

void tr_trace_close_archives(struct tr_trace_archives *archives)
{
	while (archives->count)
		close_last(archives);
	tr_buffer_free(&archives->path);
}

/* The innermost archive has no more members. TR_OK: go on with the one that it lies in. */
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
	if (!tr_trace_name_place(trace, operand, NULL, err))
		return TR_FATAL;
	tr_error_set(err, TR_CAUSE_USAGE, "no member matches --member");
	return TR_WARN;
}

/* The path of a member, or with name NULL of the innermost archive. NULL: memory is out. */
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

/* Of a member of that size, where it is known. TR_END: it is an archive, step to its members. */
static enum tr_status open_member(struct tr_trace *trace, const struct tr_archive_member *member,
				  bool wanted, struct tr_error *err)
{
	const struct tr_trace_archives *archives = &trace->archives;
	struct tr_archive *archive = archives->list[archives->count - 1].archive;

	trace->place.archive = tr_archive_format(archive);
	trace->place.archive_codec = archives->list[archives->count - 1].in->codec;
	trace->place.mtime = member->mtime;
	trace->place.size = member->size;
	if (!tr_trace_decode(trace, tr_archive_source(archive), err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	enum tr_status status = tr_trace_enter_archive(trace, err);
	if (status != TR_OK)
		return status;
	if (!wanted) {
		tr_trace_close_place(trace);
		return TR_END;
	}
	status = tr_trace_find_format(trace, err);
	if (status != TR_OK)
		return status;
	if (trace->place.format || trace->config.unknown_members || trace->config.member_count ||
	    trace->in->damaged)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT, "member of no known format is skipped");
	tr_error_is_note(err);
	return TR_WARN;
}

/* What is wrong with the innermost archive. */
static enum tr_status fail(struct tr_trace *trace, const char *operand, enum tr_status status,
			   struct tr_error *err)
{
	struct tr_error why = *err;
	struct tr_trace_archives *archives = &trace->archives;
	const char *path = path_of(archives, NULL);

	if (!path || !tr_trace_name_place(trace, operand, *path ? path : NULL, err))
		return tr_error_memory(err);
	*err = why;
	if (status == TR_FATAL) {
		if (archives->count == 1)
			trace->done_before += tr_input_raw_offset(archives->list[0].in);
		close_last(archives);
	}
	return why.cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}

enum tr_status tr_trace_open_member(struct tr_trace *trace, struct tr_error *err)
{
	const char *operand = trace->operands[trace->next_operand - 1];
	struct tr_trace_archives *archives = &trace->archives;
	struct tr_archive_member member;
	enum tr_status status = TR_END;

	while (status == TR_END && archives->count) {
		tr_trace_tell_waits(trace, true);
		status = tr_archive_next(archives->list[archives->count - 1].archive, &member, err);
		if (status == TR_END) {
			status = leave(trace, operand, err);
			if (status != TR_OK)
				return status;
			status = TR_END;
			continue;
		}
		if (status != TR_OK)
			return fail(trace, operand, status, err);
		const char *path = path_of(archives, member.name);
		if (!path)
			return tr_error_memory(err);
		bool wanted = selected(trace, path);
		status = TR_END;
		/* what is wanted may lie in an archive that is not */
		if (!wanted && !tr_archive_by_extension(tr_text_from(path)))
			continue;
		archives->matched |= wanted;
		if (!tr_trace_name_place(trace, operand, path, err))
			return TR_FATAL;
		status = open_member(trace, &member, wanted, err);
	}
	return status;
}
