/* SPDX-License-Identifier: MIT */
/* Text styles that belong to tr-totext rather than to one format. */
#ifndef TR_TOOLS_TR_TOTEXT_H
#define TR_TOOLS_TR_TOTEXT_H

#include "format/format.h"

/* Each ends in an entry with a NULL name. */
extern const struct tr_text_style tr_process_styles[];

#endif
