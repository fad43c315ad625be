/* SPDX-License-Identifier: MIT */
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
	return tr_error_status(err);
}

static const char *const extensions[] = { ".compile_commands.json", NULL };

static const struct tr_format_option options[] = {
	{ "unique", "file|file+output|all|none", false, true,
	  "what makes two entries the same, so that the first stays (file+output)" },
	{ "respfiles", "inline|keep", false, true,
	  "response files: their options in their place (default), or stay named" },
	{ "respfile-root", "DIR", false, true,
	  "read response files below DIR that are not in the trace (repeatable; default: none)" },
	{ "quoting", "auto|gnu|windows", false, true, "how response files quote" },
	{ "tools", "CONFIG", false, true,
	  "programs and their response files, as xcalbuild's tracer has them (a JSON file)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_compdb = {
	.name = "compdb",
	.summary = "compilation database, compile_commands.json",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = tr_compdb_bid,
	.open = tr_compdb_open,
	.create = tr_compdb_create,
	.default_style = "tree",
};

static const char *const spec_extensions[] = { ".buildspec.json", NULL };

static const struct tr_format_option spec_options[] = {
	{ "tools", "CONFIG", false, true,
	  "the programs that matter, as xcalbuild's tracer has them (a JSON file); or xcalbuild" },
	{ "respfiles", "keep|inline|attach", false, true,
	  "response files: stay named, options in their place, or content in respfile" },
	{ "respfile-root", "DIR", false, true,
	  "read response files below DIR that are not in the trace (repeatable; default: none)" },
	{ "quoting", "auto|gnu|windows", false, true, "how response files quote" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_buildspec = {
	.name = "buildspec",
	.summary = "build specification of xcalbuild",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_MERGES,
	.extensions = spec_extensions,
	.options = spec_options,
	.bid = tr_buildspec_bid,
	.open = tr_compdb_open,
	.create = tr_buildspec_create,
	.default_style = "tree",
};
