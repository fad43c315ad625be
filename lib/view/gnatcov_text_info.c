#include "config.h"

#include "view/gnatcov_text_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coverage/date.h"
#include "record/ask.h"

/* What Latin-1 has a glyph for. */
static bool is_graphic(struct tr_text bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];
		if (c < 0x20 || (c > 0x7e && c < 0xa0))
			return false;
	}
	return true;
}

static void put_data(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "Data :");
	if (is_graphic(bytes)) {
		tr_buffer_put_byte(to, ' ');
		tr_buffer_put_text(to, bytes);
	} else {
		for (size_t i = 0; i < bytes.len; i++) {
			tr_buffer_put_byte(to, ' ');
			tr_buffer_put_hex(to, (unsigned char)bytes.data[i], 2);
		}
	}
	tr_buffer_put_byte(to, '\n');
}

/* In the time zone of the one who looks, as gnatcov does it. */
static void put_date(struct tr_text bytes, bool big, struct tr_buffer *to)
{
	struct tr_trace_date date;
	struct tm local;
	char shown[80];
	time_t seconds = 0;
	bool good = tr_trace_date_read(bytes, big, &date);

	if (good)
		seconds = (time_t)tr_trace_date_seconds(&date);
	if (!good || !localtime_r(&seconds, &local)) {
		tr_buffer_put_literal(to, "       !Bad Format!\n");
		return;
	}
	long minutes = labs(local.tm_gmtoff) / 60;
	int len = snprintf(
		shown, sizeof shown, "       %04d-%02d-%02d %02d:%02d:%02d %c%02ld:%02ld\n",
		local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min,
		local.tm_sec, local.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
	tr_buffer_put(to, shown, (size_t)len);
}

enum tr_status tr_gnatcov_text_info(struct tr_record *record, bool big, struct tr_buffer *to,
				    struct tr_error *err)
{
	struct tr_text tag = record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("-");
	tr_error_clear(err);
	struct tr_text bytes = tr_ask_string(record, "data", err);
	if (err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	if (!bytes.data) {
		tr_error_set(err, TR_CAUSE_INPUT, "information without data");
		return TR_WARN;
	}
	bool date = tr_text_is(tag, "DATE_TIME");
	tr_buffer_put_literal(to, "Tag  : ");
	tr_buffer_put_text(to, tag);
	if (date)
		tr_buffer_put_literal(to, " (Date)");
	else if (tr_text_is(tag, "USER_DATA"))
		tr_buffer_put_literal(to, " (User_Tag)");
	tr_buffer_put_literal(to, "\nLen  : ");
	tr_buffer_put_decimal(to, bytes.len);
	tr_buffer_put_byte(to, '\n');
	put_data(bytes, to);
	if (date)
		put_date(bytes, big, to);
	tr_buffer_put_byte(to, '\n');
	return TR_OK;
}

enum tr_status tr_gnatcov_text_endian(struct tr_record *record, bool *big, struct tr_error *err)
{
	tr_error_clear(err);
	*big = tr_ask_is(record, "endian", "big", err);
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
}

enum tr_status tr_gnatcov_text_machine(struct tr_record *record, int64_t *machine,
				       struct tr_error *err)
{
	tr_error_clear(err);
	const struct tr_value *value = tr_ask(record, "machine", TR_SYMBOL, err);
	const struct tr_symbol *symbol = value ? value->as.symbol : NULL;

	if (symbol && symbol->numbered != TR_SYMBOL_WORDS && symbol->number <= UINT16_MAX)
		*machine = (int64_t)symbol->number;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
}
