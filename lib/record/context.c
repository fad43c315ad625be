#include "record/context.h"

const char *const tr_context_kinds[TR_CONTEXT_KINDS] = {
	"env", "envset", "meta", "section", "info", "module", "load", "unload", "loadaddr",
};

int tr_context_kind(struct tr_text kind)
{
	for (int i = 0; i < TR_CONTEXT_KINDS; i++) {
		if (tr_text_is(kind, tr_context_kinds[i]))
			return i;
	}
	return -1;
}
