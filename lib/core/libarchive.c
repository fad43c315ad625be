#include "config.h"

#include "core/libarchive.h"

#include <string.h>

#include "core/library.h"

bool tr_libarchive_load(struct tr_libarchive *lib, struct tr_error *err)
{
	static const struct tr_symbol symbols[] = {
#define SYMBOL(name) TR_SYMBOL(struct tr_libarchive, name, name),
		TR_LIBARCHIVE_FUNCTIONS(SYMBOL)
#undef SYMBOL
			{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBARCHIVE, symbols, lib, err);
}

struct tr_kind tr_kind_find(const struct tr_libarchive *lib, const char *name)
{
	enum { TAR_RECORD = 10240 }; /* tar pads its end to this, as tape had it */
	const struct tr_kind kinds[] = {
		{
			.name = "tar",
			.support = lib->archive_read_support_format_tar,
			/* pax, with extended headers only where ustar cannot say it */
			.set_format = lib->archive_write_set_format_pax_restricted,
			.last_block = TAR_RECORD,
		},
		{
			.name = "zip",
			/* by local headers: the directory at the end would need a seek */
			.support = lib->archive_read_support_format_zip_streamable,
			.set_format = lib->archive_write_set_format_zip,
			.last_block = 1,
		},
		{
			.name = "cpio",
			.support = lib->archive_read_support_format_cpio,
			.set_format = lib->archive_write_set_format_cpio_newc,
			.last_block = 1,
		},
		{
			.name = "7z",
			.support = lib->archive_read_support_format_7zip,
			.set_format = lib->archive_write_set_format_7zip,
			.last_block = 1,
		},
	};
	const struct tr_kind *kind = kinds;
	while (strcmp(kind->name, name) != 0)
		kind++;
	return *kind;
}

locale_t tr_utf8_locale(void)
{
	return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

void tr_utf8_locale_free(locale_t locale)
{
	if (locale)
		freelocale(locale);
}
