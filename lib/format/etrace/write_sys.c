/* System calls. */
#include "format/etrace/draft.h"
#include "format/etrace/fields.h"
#include "format/etrace/flags.h"

/*
 * A path as it was given, and as the log resolves it: absolute, without "." and "..". directory:
 * the field of the descriptor that it is seen from.
 */
static bool find_path(struct tr_etrace_draft *d, const char *key, const char *directory,
		      struct tr_text tag, struct tr_etrace_found *given,
		      struct tr_etrace_found *resolved)
{
	if (!tr_etrace_find_string(d, key, tag, given))
		return false;
	*resolved = *given;
	if (!d->where || !given->there)
		return true;
	if (!tr_etrace_where_join(d->where, d->record, directory, &given->text, d->err))
		return false;
	resolved->text = given->text;
	if (!tr_etrace_where_clean(d->record, &resolved->text, d->err))
		return false;
	given->size = (int64_t)given->text.len;
	resolved->size = (int64_t)resolved->text.len;
	return true;
}

/* The number of a member of openat2's structure; words: it may be flags. 0 where it is not there.
 */
static bool find_how(struct tr_etrace_draft *d, const char *key, bool words, int64_t *number)
{
	struct tr_field *field = tr_record_field(d->record, "how");
	const struct tr_value *how = field ? tr_field_value(d->record, field, d->err) : NULL;

	if (field && !how)
		return false;
	for (size_t i = 0; how && how->type == TR_STRUCT && i < how->count; i++) {
		const struct tr_value *value = how->as.members[i].value;
		if (!tr_text_is(how->as.members[i].key, key))
			continue;
		if (tr_etrace_flags_read(TR_ETRACE_OPEN, value, number) &&
		    (words || value->type != TR_SYMBOL))
			return true;
		tr_error_set(d->err, TR_CAUSE_INPUT, "how: bad %s", key);
		return false;
	}
	return true;
}

/* Where what -y says of the descriptor is the path, that is what it was resolved to. */
static bool find_file(struct tr_etrace_draft *d, struct tr_etrace_found *path,
		      struct tr_etrace_found *original)
{
	struct tr_text note = { NULL, 0 };

	if (!find_path(d, "path", "dirfd", TR_TEXT("FN"), original, path) ||
	    (d->where && !tr_etrace_where_note(d->record, "return", &note, d->err)))
		return false;
	if (!path->has_size)
		return tr_etrace_lacks(d, "path");
	if (note.data) {
		path->text = note;
		path->size = (int64_t)note.len;
	}
	struct tr_etrace_found said;
	if (!tr_etrace_find_string(d, "orig", TR_TEXT("FO"), &said))
		return false;
	if (said.has_size)
		*original = said;
	original->tag = TR_TEXT("FO");
	return true;
}

/* has_flags: these, and not those of the record. */
static bool write_open(struct tr_etrace_draft *d, bool has_flags, int64_t flags)
{
	struct tr_etrace_found path, original;
	bool has_mode;
	int64_t mode;

	if (!find_file(d, &path, &original) ||
	    !tr_etrace_field_number(d->record, "mode", &has_mode, &mode, d->err) ||
	    (!has_mode && !tr_etrace_field_number(d->record, ".mode", &has_mode, &mode, d->err)))
		return false;
	if (d->where && tr_record_field(d->record, "how")) {
		has_flags = true;
		if (!find_how(d, "flags", true, &flags) || !find_how(d, "mode", false, &mode))
			return false;
	}
	tr_etrace_draft_begin(d, TR_TEXT("Open"));
	tr_etrace_draft_size(d, TR_TEXT("fnamesize"), &path);
	tr_etrace_draft_size(d, TR_TEXT("forigsize"), &original);
	if (has_flags)
		tr_etrace_draft_number(d, TR_TEXT("flags"), flags);
	else if (!tr_etrace_draft_flags(d, TR_ETRACE_OPEN, true))
		return false;
	tr_etrace_draft_number(d, TR_TEXT("mode"), mode);
	if (!tr_etrace_draft_field(d, "return", TR_TEXT("fd"), true) || !tr_etrace_draft_end(d))
		return false;
	tr_etrace_draft_string(d, &path);
	tr_etrace_draft_string(d, &original);
	return true;
}

bool tr_etrace_write_open(struct tr_etrace_draft *d)
{
	return write_open(d, false, 0);
}

bool tr_etrace_write_creat(struct tr_etrace_draft *d)
{
	enum { FLAGS = 01 | 0100 | 01000 }; /* O_WRONLY|O_CREAT|O_TRUNC */

	return write_open(d, true, FLAGS);
}

bool tr_etrace_write_close(struct tr_etrace_draft *d)
{
	tr_etrace_draft_begin(d, TR_TEXT("Close"));
	return tr_etrace_draft_field(d, "fd", TR_TEXT("fd"), true) && tr_etrace_draft_end(d);
}

/* An event for each descriptor that is known to be open: those are what the call closes. */
bool tr_etrace_write_close_range(struct tr_etrace_draft *d)
{
	uint64_t task, fd;
	int64_t first, last;
	bool has_first, has_last;

	if (!tr_cell_number(&d->record->task, &task) ||
	    !tr_etrace_field_number(d->record, "first", &has_first, &first, d->err) ||
	    !tr_etrace_field_number(d->record, "last", &has_last, &last, d->err))
		return false;
	if (!has_first || !has_last)
		return tr_etrace_lacks(d, has_first ? "last" : "first");
	if (!d->where || tr_etrace_field_has(d->record, "flags", "CLOSE_RANGE_CLOEXEC", 4))
		return true;
	for (fd = (uint64_t)first; tr_etrace_where_next(d->where, task, &fd); fd++) {
		if (fd > (uint64_t)last)
			break;
		tr_etrace_draft_begin(d, TR_TEXT("Close"));
		tr_etrace_draft_number(d, TR_TEXT("fd"), (int64_t)fd);
		if (!tr_etrace_draft_end(d))
			return false;
	}
	return true;
}

/* The copy is newfd, or what the call returned. flags: of a call that has no such field. */
static bool write_dup(struct tr_etrace_draft *d, const char *from, int64_t flags)
{
	bool has_new = !d->where || tr_record_field(d->record, "newfd");

	tr_etrace_draft_begin(d, TR_TEXT("Dup"));
	if (!tr_etrace_draft_field(d, from, TR_TEXT("oldfd"), true) ||
	    !tr_etrace_draft_field(d, has_new ? "newfd" : "return", TR_TEXT("newfd"), true))
		return false;
	if (d->where && !tr_record_field(d->record, "flags"))
		tr_etrace_draft_number(d, TR_TEXT("flags"), flags);
	else if (!tr_etrace_draft_flags(d, TR_ETRACE_DUP, true))
		return false;
	return tr_etrace_draft_end(d);
}

bool tr_etrace_write_dup(struct tr_etrace_draft *d)
{
	return write_dup(d, "oldfd", 0);
}

bool tr_etrace_write_fcntl(struct tr_etrace_draft *d)
{
	enum { O_CLOEXEC_FLAG = 02000000 };

	bool cloexec = tr_etrace_where_control(d->record) == TR_ETRACE_DUPFD_CLOEXEC;

	return write_dup(d, "fd", cloexec ? O_CLOEXEC_FLAG : 0);
}

bool tr_etrace_write_pipe(struct tr_etrace_draft *d)
{
	struct tr_field *field = tr_record_field(d->record, "fds");
	struct tr_value *fds = field ? tr_field_value(d->record, field, d->err) : NULL;

	if (field && !fds)
		return false;
	if (!fds || fds->type != TR_LIST || fds->count != 2)
		return tr_etrace_lacks(d, "fds");
	const struct tr_value *fd1 = tr_etrace_machine_form(&fds->as.items[0]);
	const struct tr_value *fd2 = tr_etrace_machine_form(&fds->as.items[1]);
	if (fd1->type != TR_UINT || fd2->type != TR_UINT)
		return tr_etrace_lacks(d, "fds");
	tr_etrace_draft_begin(d, TR_TEXT("Pipe"));
	tr_etrace_draft_number(d, TR_TEXT("fd1"), (int64_t)(fd1->as.number & INT64_MAX));
	tr_etrace_draft_number(d, TR_TEXT("fd2"), (int64_t)(fd2->as.number & INT64_MAX));
	if (d->where && !tr_record_field(d->record, "flags"))
		tr_etrace_draft_number(d, TR_TEXT("flags"), 0);
	else if (!tr_etrace_draft_flags(d, TR_ETRACE_PIPE, true))
		return false;
	return tr_etrace_draft_end(d);
}

/* A call that failed says so, or with which error. */
static bool find_failed(struct tr_etrace_draft *d, bool *failed)
{
	if (!tr_etrace_field_true(d->record, "failed", failed, d->err))
		return false;
	*failed |= tr_record_field(d->record, "error") != NULL;
	return true;
}

/* rename and link: what begins, the same with flags, what ends, and what failed. */
struct move {
	enum tr_etrace_type type;
	struct tr_text from, from_flags, to, failed, from_tag, to_tag;
};

static bool write_move(struct tr_etrace_draft *d, const struct move *move)
{
	struct tr_etrace_found given, from, to;
	bool has_flags, failed;
	int64_t flags;

	if (!find_path(d, "from", "olddirfd", move->from_tag, &given, &from) ||
	    !find_path(d, "to", "newdirfd", move->to_tag, &given, &to) ||
	    !tr_etrace_find_call_flags(d, move->type, &has_flags, &flags) ||
	    !find_failed(d, &failed))
		return false;
	if (!from.has_size && !to.has_size && !failed)
		return tr_etrace_lacks(d, "from");
	if (from.has_size) {
		tr_etrace_draft_begin(d, has_flags ? move->from_flags : move->from);
		tr_etrace_draft_size(d, TR_TEXT("fnamesize"), &from);
		if (has_flags)
			tr_etrace_draft_number(d, TR_TEXT("flags"), flags);
		if (!tr_etrace_draft_end(d))
			return false;
		tr_etrace_draft_string(d, &from);
	}
	if (failed) {
		tr_etrace_pen_line(&d->pen, move->failed, TR_TEXT(""));
	} else if (to.has_size) {
		tr_etrace_draft_begin(d, move->to);
		tr_etrace_draft_size(d, TR_TEXT("fnamesize"), &to);
		tr_buffer_put_byte(d->pen.to, '\n');
		tr_etrace_draft_string(d, &to);
	}
	return true;
}

bool tr_etrace_write_rename(struct tr_etrace_draft *d)
{
	static const struct move move = {
		TR_ETRACE_RENAME,  { "RenameFrom", 10 },   { "Rename2From", 11 },
		{ "RenameTo", 8 }, { "RenameFailed", 12 }, { "RF", 2 },
		{ "RT", 2 }
	};
	return write_move(d, &move);
}

bool tr_etrace_write_link(struct tr_etrace_draft *d)
{
	static const struct move move = { TR_ETRACE_LINK,	{ "LinkFrom", 8 },
					  { "LinkatFrom", 10 }, { "LinkTo", 6 },
					  { "LinkFailed", 10 }, { "LF", 2 },
					  { "LT", 2 } };
	return write_move(d, &move);
}

bool tr_etrace_write_symlink(struct tr_etrace_draft *d)
{
	struct tr_etrace_found target, resolved, given, link;

	if (!tr_etrace_find_string(d, "target", TR_TEXT("ST"), &target) ||
	    !tr_etrace_find_string(d, "resolved", TR_TEXT("SR"), &resolved) ||
	    !find_path(d, "link", "newdirfd", TR_TEXT("SL"), &given, &link))
		return false;
	if (!target.has_size || !link.has_size)
		return tr_etrace_lacks(d, target.has_size ? "link" : "target");
	tr_etrace_draft_begin(d, TR_TEXT("Symlink"));
	tr_etrace_draft_size(d, TR_TEXT("targetnamesize"), &target);
	tr_etrace_draft_size(d, TR_TEXT("resolvednamesize"), &resolved);
	tr_etrace_draft_size(d, TR_TEXT("linknamesize"), &link);
	if (!tr_etrace_draft_end(d))
		return false;
	tr_etrace_draft_string(d, &target);
	tr_etrace_draft_string(d, &resolved);
	tr_etrace_draft_string(d, &link);
	return true;
}

static bool write_mounting(struct tr_etrace_draft *d, enum tr_etrace_type type)
{
	bool mount = type == TR_ETRACE_MOUNT, failed;
	struct tr_etrace_found source, given, target, fs_type;

	if (!tr_etrace_find_string(d, "source", TR_TEXT("MS"), &source) ||
	    !find_path(d, "target", NULL, TR_TEXT("MT"), &given, &target) ||
	    !tr_etrace_find_string(d, "type", TR_TEXT("MX"), &fs_type) || !find_failed(d, &failed))
		return false;
	if (target.has_size) {
		tr_etrace_draft_begin(d, mount ? TR_TEXT("Mount") : TR_TEXT("Umount"));
		tr_etrace_draft_size(d, TR_TEXT("sourcenamesize"), &source);
		tr_etrace_draft_size(d, TR_TEXT("targetnamesize"), &target);
		tr_etrace_draft_size(d, TR_TEXT("typenamesize"), &fs_type);
		if (!tr_etrace_draft_flags(d, type, false) || !tr_etrace_draft_end(d))
			return false;
		tr_etrace_draft_string(d, &source);
		tr_etrace_draft_string(d, &target);
		tr_etrace_draft_string(d, &fs_type);
	} else if (!failed) {
		return tr_etrace_lacks(d, "target");
	}
	if (failed)
		tr_etrace_pen_line(&d->pen,
				   mount ? TR_TEXT("MountFailed") : TR_TEXT("UmountFailed"),
				   TR_TEXT(""));
	return true;
}

bool tr_etrace_write_mount(struct tr_etrace_draft *d)
{
	return write_mounting(d, TR_ETRACE_MOUNT);
}

bool tr_etrace_write_umount(struct tr_etrace_draft *d)
{
	return write_mounting(d, TR_ETRACE_UMOUNT);
}
