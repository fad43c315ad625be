/* SPDX-License-Identifier: MIT */
/* Is the segment from Windows, where the case of names means nothing? */
#include "process/lineage_private.h"

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* COMSPEC, and the =C: that stands for the current directory of a drive. */
static bool is_windows_name(struct tr_text name)
{
	static const char comspec[] = "comspec";
	if (name.len == 3 && name.data[0] == '=' && is_letter(name.data[1]) && name.data[2] == ':')
		return true;
	if (name.len != sizeof comspec - 1)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		if ((name.data[i] | 0x20) != comspec[i])
			return false;
	}
	return true;
}

static bool has_windows_name(const struct tr_value *map)
{
	for (size_t i = 0; i < map->count; i++) {
		if (is_windows_name(map->as.members[i].key))
			return true;
	}
	return false;
}

/* A working directory with a drive, as C:\src. */
static bool has_drive(struct tr_record *record)
{
	struct tr_field *field = tr_record_field(record, "cwd");
	const struct tr_value *cwd = field ? tr_field_value(record, field, NULL) : NULL;
	return cwd && cwd->type == TR_STRING && cwd->text.len >= 3 &&
	       is_letter(cwd->text.data[0]) && cwd->text.data[1] == ':' &&
	       (cwd->text.data[2] == '\\' || cwd->text.data[2] == '/');
}

/* The segment is from Windows; the first environment was made before that was known. */
static bool fold_names(struct tr_lineage *lineage)
{
	if (!lineage->has_top) {
		tr_environments_fold(lineage->pool, true);
		return true;
	}
	struct tr_environment *top = tr_environment_fold(lineage->pool, lineage->top);
	if (top)
		tr_lineage_set_top(lineage, top);
	tr_environment_release(lineage->pool, top);
	return top;
}

/* Whether they are folded is still to be found out. */
static bool is_open(const struct tr_lineage *lineage)
{
	return lineage->config.names == TR_NAMES_AUTO && !lineage->names_settled &&
	       !tr_environments_are_folded(lineage->pool);
}

void tr_lineage_look_at_env(struct tr_lineage *lineage, const struct tr_value *map)
{
	if (is_open(lineage) && has_windows_name(map))
		tr_environments_fold(lineage->pool, true);
}

bool tr_lineage_look_at_first(struct tr_lineage *lineage, struct tr_record *record,
			      const struct tr_value *map)
{
	bool windows = is_open(lineage) && ((map && has_windows_name(map)) || has_drive(record));
	return !windows || fold_names(lineage);
}
