/*
 * libarchive, for packer.c and unpacker.c only: what they call of it, loaded
 * when there is something to pack or unpack (library.h), and what it has to be
 * told to make or read each kind of archive.
 */
#ifndef TR_CORE_LIBARCHIVE_H
#define TR_CORE_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdbool.h>

#include "core/error.h"

#define TR_LIBARCHIVE_FUNCTIONS(F)               \
	F(archive_entry_clear)                   \
	F(archive_entry_copy_pathname)           \
	F(archive_entry_filetype)                \
	F(archive_entry_free)                    \
	F(archive_entry_hardlink)                \
	F(archive_entry_is_encrypted)            \
	F(archive_entry_mtime)                   \
	F(archive_entry_new)                     \
	F(archive_entry_pathname)                \
	F(archive_entry_pathname_utf8)           \
	F(archive_entry_set_filetype)            \
	F(archive_entry_set_mtime)               \
	F(archive_entry_set_perm)                \
	F(archive_entry_set_size)                \
	F(archive_entry_size)                    \
	F(archive_entry_size_is_set)             \
	F(archive_errno)                         \
	F(archive_error_string)                  \
	F(archive_filter_bytes)                  \
	F(archive_read_data_block)               \
	F(archive_read_free)                     \
	F(archive_read_new)                      \
	F(archive_read_next_header2)             \
	F(archive_read_open1)                    \
	F(archive_read_set_callback_data)        \
	F(archive_read_set_read_callback)        \
	F(archive_read_set_seek_callback)        \
	F(archive_read_support_format_7zip)      \
	F(archive_read_support_format_cpio)      \
	F(archive_read_support_format_tar)       \
	F(archive_read_support_format_zip_streamable) \
	F(archive_set_error)                     \
	F(archive_version_details)               \
	F(archive_write_close)                   \
	F(archive_write_data)                    \
	F(archive_write_free)                    \
	F(archive_write_header)                  \
	F(archive_write_new)                     \
	F(archive_write_open)                    \
	F(archive_write_set_bytes_in_last_block) \
	F(archive_write_set_bytes_per_block)     \
	F(archive_write_set_format_7zip)         \
	F(archive_write_set_format_cpio_newc)    \
	F(archive_write_set_format_pax_restricted) \
	F(archive_write_set_format_zip)

struct tr_libarchive {
#define TR_LIBARCHIVE_MEMBER(name) __typeof__(name) *name;
	TR_LIBARCHIVE_FUNCTIONS(TR_LIBARCHIVE_MEMBER)
#undef TR_LIBARCHIVE_MEMBER
};

/* False: err is filled. */
bool tr_libarchive_load(struct tr_libarchive *lib, struct tr_error *err);

struct tr_kind {
	const char *name;
	int (*support)(struct archive *a);    /* reading */
	int (*set_format)(struct archive *a); /* writing */
	int last_block;
};

/* "tar", "zip", "cpio", "7z": there are no others. */
struct tr_kind tr_kind_find(const struct tr_libarchive *lib, const char *name);

/*
 * libarchive converts names from and to the locale's encoding, and in the C
 * locale loses what is not ASCII. With UTF-8 there is nothing to convert. The
 * locale is this thread's and only for the time of one call. 0: there is none.
 */
locale_t tr_utf8_locale(void);
void tr_utf8_locale_free(locale_t locale);

#endif
