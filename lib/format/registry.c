/* SPDX-License-Identifier: MIT */
/* The formats, their detection, and their settings. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "coverage/programs.h"
#include "format/format.h"
#include "process/call.h"
#include "process/compilers.h"
#include "process/path.h"

#define LIST(name) &tr_format_##name,
const struct tr_format *const tr_formats[] = { TR_FORMATS(LIST) NULL };
#undef LIST

const struct tr_format *tr_format_by_name(struct tr_text name)
{
	for (size_t i = 0; tr_formats[i]; i++)
		if (tr_text_is(name, tr_formats[i]->name))
			return tr_formats[i];
	return NULL;
}

unsigned tr_format_call_kinds(struct tr_text name)
{
	unsigned kinds = 0;

	for (size_t i = 0; tr_formats[i] && !kinds; i++)
		if (tr_formats[i]->call_kinds)
			kinds = tr_formats[i]->call_kinds(name);
	return kinds;
}

const char *tr_format_call_api(struct tr_text name)
{
	const char *api = NULL;

	for (size_t i = 0; tr_formats[i] && !api; i++)
		if (tr_formats[i]->call_api)
			api = tr_formats[i]->call_api(name);
	return api;
}

/*
 * After a bid this high no other format is asked: its bid might wait for more of a slow input,
 * which would delay records that are there.
 */
enum { CERTAIN = 30 };

const struct tr_format *tr_format_detect(struct tr_input *in, const struct tr_settings *settings)
{
	const struct tr_format *best = NULL;
	int most = 0;

	in->bidding = true; /* bytes that a bid looks at do not count as a record */
	for (size_t i = 0; tr_formats[i] && most < CERTAIN; i++) {
		int bits = tr_formats[i]->bid ? tr_formats[i]->bid(in) : 0;
		if (bits > most) {
			most = bits;
			best = tr_formats[i];
		}
	}
	for (size_t i = 0; tr_formats[i] && !best; i++)
		if (tr_formats[i]->search && tr_formats[i]->search(in, settings) > 0)
			best = tr_formats[i];
	in->bidding = false;
	return best;
}

struct tr_text tr_setting_get(const struct tr_settings *settings, const char *key,
			      const char *fallback)
{
	for (size_t i = settings->count; i > 0; i--)
		if (tr_text_is(settings->list[i - 1].key, key))
			return settings->list[i - 1].value;
	return tr_text_from(fallback);
}

bool tr_setting_get_directory(const struct tr_settings *settings, const char *key, bool drives,
			      struct tr_buffer *path, struct tr_error *err)
{
	struct tr_text value = tr_setting_get(settings, key, NULL);
	char here[PATH_MAX] = "";

	if (!value.data)
		return true;
	if (!value.len || (!drives && tr_path_has_drive(value))) {
		tr_error_set(err, TR_CAUSE_USAGE, "-O %s takes a directory, not '%.*s'", key,
			     TR_SHOWN(value, 80));
		return false;
	}
	if (tr_path_is_absolute(value)) {
		tr_buffer_put_text(path, value);
	} else if (getcwd(here, sizeof here)) {
		tr_path_join(tr_text_from(here), value, path);
	} else {
		tr_error_system(err, errno, "-O %s: the working directory", key);
		return false;
	}
	if (path->failed)
		tr_error_memory(err);
	return !path->failed;
}

/* Adds what the settings of one key name. */
static bool add_compilers(const struct tr_settings *settings, const char *key,
			  struct tr_compilers *table, struct tr_error *err)
{
	bool (*add)(struct tr_compilers *, struct tr_text, struct tr_error *) =
		strcmp(key, "compiler") == 0 ? tr_compilers_add_name : tr_compilers_add_file;

	for (size_t i = 0; i < settings->count; i++)
		if (tr_text_is(settings->list[i].key, key) &&
		    !add(table, settings->list[i].value, err))
			return false;
	return true;
}

bool tr_setting_get_compilers(const struct tr_settings *settings, struct tr_compilers **table,
			      struct tr_error *err)
{
	bool only = tr_text_is(tr_setting_get(settings, "only-compilers", "no"), "yes");

	*table = NULL;
	if (!only && !tr_setting_get(settings, "compilers", NULL).data &&
	    !tr_setting_get(settings, "compiler", NULL).data)
		return true;
	*table = tr_compilers_extend(&tr_compilers_known, !only, err);
	/* the families of compiler=NAME=FAMILY may be in files */
	bool read = *table && add_compilers(settings, "compilers", *table, err);
	if (read && add_compilers(settings, "compiler", *table, err) &&
	    tr_compilers_check(*table, err))
		return true;
	if (*table && !read)
		tr_error_name(err, TR_TEXT("compilers"));
	tr_compilers_free(*table);
	*table = NULL;
	return false;
}

bool tr_setting_get_calls(const struct tr_settings *settings, struct tr_call_config *config,
			  struct tr_error *err)
{
	static const char root[] = "respfile-root";
	struct tr_text quoting = tr_setting_get(settings, "quoting", "auto");

	config->quoting = tr_text_is(quoting, "gnu")	   ? TR_CALL_QUOTING_GNU
			  : tr_text_is(quoting, "windows") ? TR_CALL_QUOTING_WINDOWS
							   : TR_CALL_QUOTING_AUTO;
	for (size_t i = 0; i < settings->count; i++) {
		if (!tr_text_is(settings->list[i].key, root) ||
		    tr_file_roots_add(&config->roots, settings->list[i].value, err))
			continue;
		tr_error_name(err, tr_text_from(root));
		return false;
	}
	return tr_setting_get_compilers(settings, &config->compilers, err);
}

bool tr_setting_accepts(const struct tr_format_option *option, struct tr_text value)
{
	const char *choice = option->values;

	if (choice[0] >= 'A' && choice[0] <= 'Z')
		return true; /* NAME: any value */
	for (;;) {
		size_t len = strcspn(choice, "|");
		if (tr_text_equal((struct tr_text){ choice, len }, value))
			return true;
		if (!choice[len])
			return false;
		choice += len + 1;
	}
}

static bool check_one(const struct tr_setting *setting, const struct tr_format *format,
		      bool writing, struct tr_error *err)
{
	for (const struct tr_format_option *o = format->options; o && o->key; o++) {
		if (!tr_text_is(setting->key, o->key) || !(writing ? o->writing : o->reading))
			continue;
		if (tr_setting_accepts(o, setting->value))
			continue;
		tr_error_set(err, TR_CAUSE_USAGE, "-O %s takes %s, not '%.*s'", o->key, o->values,
			     (int)setting->value.len, setting->value.data);
		return false;
	}
	return true;
}

bool tr_settings_check(const struct tr_settings *settings, const struct tr_format *format,
		       bool writing, struct tr_error *err)
{
	for (size_t i = 0; i < settings->count; i++)
		if (!check_one(&settings->list[i], format, writing, err))
			return false;
	return true;
}

bool tr_setting_programs(const struct tr_settings *settings, struct tr_programs *programs,
			 struct tr_error *err)
{
	static const struct {
		const char *key;
		bool (*take)(struct tr_programs *programs, struct tr_text value,
			     struct tr_error *err);
	} keys[] = {
		{ "path", tr_programs_search },
		{ "exe", tr_programs_add },
		{ "base", tr_programs_base }, /* names one of them */
	};

	programs->demangles = tr_text_is(tr_setting_get(settings, "demangle", "no"), "yes");
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		for (size_t i = 0; i < settings->count; i++) {
			if (!tr_text_is(settings->list[i].key, keys[k].key))
				continue;
			tr_error_clear(err);
			if (!keys[k].take(programs, settings->list[i].value, err))
				return false;
		}
	}
	return true;
}
