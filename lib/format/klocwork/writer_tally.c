#include "format/klocwork/writer_tally.h"

#include <inttypes.h>

enum tr_status tr_klocwork_tally_tell(struct tr_klocwork_tally *tally, struct tr_error *err)
{
	const struct {
		uint64_t *count;
		const char *what;
		bool lost;
	} rows[] = {
		{ &tally->strangers,
		  "events whose parent is not in this trace, so that their env-diff is against an "
		  "environment that is not in it either",
		  false },
		{ &tally->mistaken,
		  "events that are nobody's child here, or another event's than their parent, so "
		  "that their env-diff is against another environment",
		  false },
		{ &tally->untold,
		  "events whose environment is not known, which read as if they had their parent's",
		  false },
		{ &tally->unknown,
		  "events written without env-diff, because the environment of their parent is not "
		  "known",
		  true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t count = *rows[i].count;
		if (!count)
			continue;
		*rows[i].count = 0;
		tr_error_say_in(err, TR_CAUSE_INPUT, rows[i].what, "%s: %" PRIu64, rows[i].what,
				count);
		if (!rows[i].lost)
			tr_error_is_note(err);
		return TR_WARN;
	}
	return TR_OK;
}
