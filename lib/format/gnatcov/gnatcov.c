/* SPDX-License-Identifier: MIT */
/*
 * The description of the format, its bid, and the names of its numbers. The names are those that
 * gnatcov prints, and <elf.h> for machines; records and the options of the writer use them too.
 */
#include "format/gnatcov/gnatcov.h"

#include <string.h>

static const char *const extensions[] = { ".trace", NULL };

static const struct tr_format_option options[] = {
	{ "tag", "TEXT", false, true, "set the trace's tag (USER_DATA); empty: remove it" },
	{ "endian", "little|big", false, true, "byte order to write" },
	{ "machine", "NAME", false, true, "ELF machine to write: a name or a number" },
	{ NULL, NULL, false, false, NULL },
};

/* Recognises the magic, which is too long to occur by accident. */
static int bid(struct tr_input *in)
{
	static const char magic[] = TR_GNATCOV_MAGIC;

	/* most other input is rejected by its first byte, without waiting for more */
	if (!tr_input_more(in, 1) || *in->pos != magic[0] ||
	    !tr_input_more(in, TR_GNATCOV_MAGIC_SIZE) ||
	    memcmp(in->pos, magic, TR_GNATCOV_MAGIC_SIZE) != 0)
		return 0;
	return TR_GNATCOV_MAGIC_SIZE * 8;
}

const struct tr_format tr_format_gnatcov = {
	.name = "gnatcov",
	.summary = "GNATcoverage execution trace, 32 and 64 bits, both byte orders",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = tr_gnatcov_open,
	.create = tr_gnatcov_create,
	.styles = tr_gnatcov_styles,
};

const struct tr_gnatcov_name tr_gnatcov_kinds[] = {
	{ TR_GNATCOV_FLAT, "FLAT" },
	{ TR_GNATCOV_HISTORY, "HISTORY" },
	{ TR_GNATCOV_INFO, "INFO" },
	{ TR_GNATCOV_DECISION_MAP, "DECISION_MAP" },
	{ 0, NULL },
};

const struct tr_gnatcov_name tr_gnatcov_tags[] = {
	{ TR_GNATCOV_END, "INFO_END" },
	{ TR_GNATCOV_EXEC_FILE_NAME, "EXEC_FILE_NAME" },
	{ TR_GNATCOV_COVERAGE_OPTIONS, "COVERAGE_OPTIONS" },
	{ TR_GNATCOV_USER_DATA, "USER_DATA" },
	{ TR_GNATCOV_DATE_TIME, "DATE_TIME" },
	{ TR_GNATCOV_KERNEL_FILE_NAME, "KERNEL_FILE_NAME" },
	{ TR_GNATCOV_EXEC_FILE_SIZE, "EXEC_FILE_SIZE" },
	{ TR_GNATCOV_EXEC_FILE_TIME_STAMP, "EXEC_FILE_TIME_STAMP" },
	{ TR_GNATCOV_EXEC_FILE_CRC32, "EXEC_FILE_CRC32" },
	{ TR_GNATCOV_COVERAGE_CONTEXT, "COVERAGE_CONTEXT" },
	{ TR_GNATCOV_EXEC_CODE_SIZE, "EXEC_CODE_SIZE" },
	{ 0, NULL },
};

/* The machines that gnatcov, its emulators, QEMU and DynamoRIO run on or for, as in <elf.h>. */
const struct tr_gnatcov_name tr_gnatcov_machines[] = {
	{ 0, "EM_NONE" },	  { 2, "EM_SPARC" },	   { 3, "EM_386" },
	{ 4, "EM_68K" },	  { 8, "EM_MIPS" },	   { 15, "EM_PARISC" },
	{ 18, "EM_SPARC32PLUS" }, { 20, "EM_PPC" },	   { 21, "EM_PPC64" },
	{ 22, "EM_S390" },	  { 40, "EM_ARM" },	   { 42, "EM_SH" },
	{ 43, "EM_SPARCV9" },	  { 44, "EM_TRICORE" },	   { 50, "EM_IA_64" },
	{ 62, "EM_X86_64" },	  { 83, "EM_AVR" },	   { 92, "EM_OPENRISC" },
	{ 94, "EM_XTENSA" },	  { 183, "EM_AARCH64" },   { 189, "EM_MICROBLAZE" },
	{ 243, "EM_RISCV" },	  { 258, "EM_LOONGARCH" }, { 0, NULL },
};

const char *tr_gnatcov_name(const struct tr_gnatcov_name *names, uint32_t number)
{
	while (names->name && names->number != number)
		names++;
	return names->name;
}

/* The range of Ada.Calendar, which wrote the date. */
static bool is_year(unsigned year)
{
	return year >= 1901 && year <= 2399;
}

bool tr_gnatcov_date_read(struct tr_text data, bool big, struct tr_date *date, bool *swapped)
{
	const uint8_t *p = (const uint8_t *)data.data;

	if (data.len != TR_GNATCOV_DATE_SIZE)
		return false;
	unsigned years[] = { (unsigned)p[1] << 8 | p[0], (unsigned)p[0] << 8 | p[1] };
	*swapped = !is_year(years[big]);
	*date = (struct tr_date){ years[big != *swapped], p[2], p[3], p[4], p[5], p[6] };
	return is_year(date->year) && tr_date_is_valid(date);
}

void tr_gnatcov_put_year(unsigned year, bool big, char data[2])
{
	data[big ? 0 : 1] = (char)(year >> 8);
	data[big ? 1 : 0] = (char)year;
}
