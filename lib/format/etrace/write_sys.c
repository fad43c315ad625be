/* System calls. */
#include "format/etrace/draft.h"
#include "format/etrace/fields.h"

bool tr_etrace_write_open(struct tr_etrace_draft *d)
{
	struct tr_etrace_found path, original;
	bool has_mode;
	int64_t mode;

	if (!tr_etrace_find_string(d, "path", TR_TEXT("FN"), &path) ||
	    !tr_etrace_find_string(d, "orig", TR_TEXT("FO"), &original) ||
	    !tr_etrace_field_number(d->record, "mode", &has_mode, &mode, d->err) ||
	    (!has_mode && !tr_etrace_field_number(d->record, ".mode", &has_mode, &mode, d->err)))
		return false;
	if (!path.has_size)
		return tr_etrace_lacks(d, "path");
	if (!original.has_size) {
		original = path;
		original.tag = TR_TEXT("FO");
	}
	tr_etrace_draft_begin(d, TR_TEXT("Open"));
	tr_etrace_draft_size(d, TR_TEXT("fnamesize"), &path);
	tr_etrace_draft_size(d, TR_TEXT("forigsize"), &original);
	if (!tr_etrace_draft_flags(d, TR_ETRACE_OPEN, true))
		return false;
	tr_etrace_draft_number(d, TR_TEXT("mode"), mode);
	if (!tr_etrace_draft_field(d, "return", TR_TEXT("fd"), true) || !tr_etrace_draft_end(d))
		return false;
	tr_etrace_draft_string(d, &path);
	tr_etrace_draft_string(d, &original);
	return true;
}

bool tr_etrace_write_close(struct tr_etrace_draft *d)
{
	tr_etrace_draft_begin(d, TR_TEXT("Close"));
	return tr_etrace_draft_field(d, "fd", TR_TEXT("fd"), true) && tr_etrace_draft_end(d);
}

bool tr_etrace_write_dup(struct tr_etrace_draft *d)
{
	tr_etrace_draft_begin(d, TR_TEXT("Dup"));
	return tr_etrace_draft_field(d, "oldfd", TR_TEXT("oldfd"), true) &&
	       tr_etrace_draft_field(d, "newfd", TR_TEXT("newfd"), true) &&
	       tr_etrace_draft_flags(d, TR_ETRACE_DUP, true) && tr_etrace_draft_end(d);
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
	return tr_etrace_draft_flags(d, TR_ETRACE_PIPE, true) && tr_etrace_draft_end(d);
}

/* rename and link: what begins, the same with flags, what ends, and what failed. */
struct move {
	enum tr_etrace_type type;
	struct tr_text from, from_flags, to, failed, from_tag, to_tag;
};

static bool write_move(struct tr_etrace_draft *d, const struct move *move)
{
	struct tr_etrace_found from, to;
	bool has_flags, failed;
	int64_t flags;

	if (!tr_etrace_find_string(d, "from", move->from_tag, &from) ||
	    !tr_etrace_find_string(d, "to", move->to_tag, &to) ||
	    !tr_etrace_find_call_flags(d, move->type, &has_flags, &flags) ||
	    !tr_etrace_field_true(d->record, "failed", &failed, d->err))
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
	struct tr_etrace_found target, resolved, link;

	if (!tr_etrace_find_string(d, "target", TR_TEXT("ST"), &target) ||
	    !tr_etrace_find_string(d, "resolved", TR_TEXT("SR"), &resolved) ||
	    !tr_etrace_find_string(d, "link", TR_TEXT("SL"), &link))
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
	struct tr_etrace_found source, target, fs_type;

	if (!tr_etrace_find_string(d, "source", TR_TEXT("MS"), &source) ||
	    !tr_etrace_find_string(d, "target", TR_TEXT("MT"), &target) ||
	    !tr_etrace_find_string(d, "type", TR_TEXT("MX"), &fs_type) ||
	    !tr_etrace_field_true(d->record, "failed", &failed, d->err))
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
