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
		  "events whose parent is not in this trace, nor the environment that their "
		  "env-diff refers to",
		  false },
		{ &tally->mistaken,
		  "events whose parent_id is unknown or refers to a different event, so that their "
		  "env-diff refers to another environment",
		  false },
		{ &tally->untold,
		  "events of unknown environment, which readers take for that of their parent",
		  false },
		{ &tally->unknown,
		  "events written without env-diff, because the environment of their parent is "
		  "unknown",
		  true },
		{ &tally->limited,
		  "events written without env-diff, because these would take more than 1000 times "
		  "what was read",
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
