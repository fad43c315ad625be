#include "format/klocwork/writer_tally.h"

#include <inttypes.h>
#include <string.h>

void tr_klocwork_tally_misfit(struct tr_klocwork_tally *tally, struct tr_text kind)
{
	size_t i = 0, length = sizeof tally->misfits[0].kind - 1;
	if (kind.len < length)
		length = kind.len;
	while (i < tally->misfit_count && (strlen(tally->misfits[i].kind) != length ||
					   memcmp(tally->misfits[i].kind, kind.data, length) != 0))
		i++;
	if (i == TR_KLOCWORK_KINDS)
		i--; /* a stream with so many kinds does not care */
	if (i == tally->misfit_count) {
		memcpy(tally->misfits[i].kind, kind.data, length);
		tally->misfit_count++;
	}
	tally->misfits[i].count++;
}

enum tr_status tr_klocwork_tally_tell(struct tr_klocwork_tally *tally, struct tr_error *err)
{
	if (tally->strangers && !tally->told_strangers) {
		tally->told_strangers = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "events whose parent is not in this trace, so that their env-diff is "
			     "against an environment that is not in it either: %" PRIu64,
			     tally->strangers);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (tally->unknown && !tally->told_unknown) {
		tally->told_unknown = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "events written without env-diff, because the environment of their "
			     "parent is not known: %" PRIu64,
			     tally->unknown);
		return TR_WARN;
	}
	if (tally->misfits_told == tally->misfit_count)
		return TR_OK;
	size_t i = tally->misfits_told++;
	tr_error_set(err, TR_CAUSE_INPUT, "records of kind %s have no place in klocwork: %" PRIu64,
		     tally->misfits[i].kind, tally->misfits[i].count);
	err->severity = TR_DETAIL;
	return TR_WARN;
}
