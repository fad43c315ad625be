/* What a task is about: made when there is something to keep, small again when that is done. */
#include "format/strace/reader.h"

#include <stdlib.h>

enum { KEEP = 256 }; /* bytes that a task may keep for its next call: it may live for hours */

struct tr_strace_call *tr_strace_state(struct tr_strace_reader *reader, struct tr_task *task)
{
	if (!task->state)
		task->state = calloc(1, sizeof(struct tr_strace_call));
	reader->out_of_memory |= !task->state;
	return task->state;
}

void tr_strace_state_release(void *state)
{
	struct tr_strace_call *call = state;

	tr_directory_release(call->directory);
	tr_directory_release(call->seen_from);
	free(call->text);
	free(call);
}

void tr_strace_call_close(struct tr_strace_call *call)
{
	call->open = call->proven = call->closed = false;
	tr_directory_release(call->directory);
	tr_directory_release(call->seen_from);
	call->directory = call->seen_from = NULL;
	if (call->cap <= KEEP)
		return;
	free(call->text);
	call->text = NULL;
	call->cap = 0;
}
