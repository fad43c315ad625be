/* What the writers of both formats share. */
#include "format/compdb/compdb.h"
#include "record/json.h"

bool tr_compdb_call_config(const struct tr_settings *settings, struct tr_call_config *config,
			   struct tr_tool_config **tools, struct tr_error *err)
{
	struct tr_text path = tr_setting_get(settings, "tools", "");

	config->quoting = tr_call_quoting_of(tr_setting_get(settings, "quoting", "auto"));
	if (!tr_setting_get_roots(settings, "respfile-root", &config->roots, err))
		return false;
	if (!path.len)
		return true;
	*tools = tr_text_is(path, "xcalbuild") ? tr_tool_config_xcalbuild(err)
					       : tr_tool_config_read(path, err);
	config->tools = *tools;
	return *tools != NULL;
}

enum tr_status tr_compdb_extra(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "extra");
	size_t begin = to->len;

	if (!field || tr_json_members_from_field(record, field, to, err))
		return TR_OK;
	to->len = begin;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}
