#include "format/klocwork/writer_tally.h"

#include <inttypes.h>

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
	if (tally->mistaken && !tally->told_mistaken) {
		tally->told_mistaken = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "events that are nobody's child here, or another event's than their "
			     "parent, so that their env-diff is against another environment: "
			     "%" PRIu64,
			     tally->mistaken);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (tally->untold && !tally->told_untold) {
		tally->told_untold = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "events whose environment is not known, which read as if they had "
			     "their parent's: %" PRIu64,
			     tally->untold);
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
	return TR_OK;
}
