/* Who hears that a trace waits for input: places and archives both say. */
#include "format/trace_private.h"

void tr_trace_tell_waits(struct tr_trace *trace, bool tell)
{
	const struct tr_trace_config *config = &trace->config;
	const struct tr_trace_archives *archives = &trace->archives;

	for (unsigned i = archives->count; i-- > 0;) {
		struct tr_input *in = archives->list[i].in;
		tr_input_on_wait(in, tell ? config->on_wait : NULL, config->wait_context);
		if (in->ahead)
			break; /* those beneath it have been silent since it was opened */
	}
}
