#include "record/misfits.h"

#include <inttypes.h>
#include <string.h>

void tr_misfits_add(struct tr_misfits *misfits, struct tr_text kind)
{
	size_t i = 0, length = sizeof misfits->kinds[0].kind - 1;
	if (kind.len < length)
		length = kind.len;
	while (i < misfits->count && (strlen(misfits->kinds[i].kind) != length ||
				      memcmp(misfits->kinds[i].kind, kind.data, length) != 0))
		i++;
	if (i == TR_MISFIT_KINDS)
		i--; /* a stream with so many kinds does not care */
	if (i == misfits->count) {
		memcpy(misfits->kinds[i].kind, kind.data, length);
		misfits->count++;
	}
	misfits->kinds[i].count++;
}

enum tr_status tr_misfits_tell(struct tr_misfits *misfits, const char *format, bool were_all,
			       struct tr_error *err)
{
	if (misfits->told == misfits->count)
		return TR_OK;
	size_t i = misfits->told++;
	tr_error_set(err, TR_CAUSE_INPUT, "records of kind %s have no place in %s: %" PRIu64,
		     misfits->kinds[i].kind, format, misfits->kinds[i].count);
	if (err)
		err->severity = were_all ? TR_NOTE : TR_DETAIL;
	return TR_WARN;
}
