/* The formats. One line each; HACKING.md says what else a new one needs. */
#include "format/format.h"

const struct tr_format *const tr_formats[] = {
	&tr_format_trec,
	&tr_format_json,
	/* those that a magic tells come before those that may wait for a whole line */
	&tr_format_apitrace,
	&tr_format_gnatcov,
	&tr_format_srctrace,
	&tr_format_drcov,
	&tr_format_checkpoint,
	&tr_format_profraw,
	&tr_format_etracestats,
	&tr_format_etraceklog,
	/* its first line says what it is */
	&tr_format_etrace,
	&tr_format_compdb,
	&tr_format_buildspec,
	&tr_format_bear,
	&tr_format_klocwork,
	&tr_format_kwspec,
	&tr_format_strace,
	NULL,
};

const struct tr_format *tr_format_by_name(struct tr_text name)
{
	for (size_t i = 0; tr_formats[i]; i++)
		if (tr_text_is(name, tr_formats[i]->name))
			return tr_formats[i];
	return NULL;
}

unsigned tr_format_call_kinds(struct tr_text name)
{
	unsigned kinds = 0;

	for (size_t i = 0; tr_formats[i] && !kinds; i++)
		if (tr_formats[i]->call_kinds)
			kinds = tr_formats[i]->call_kinds(name);
	return kinds;
}

/*
 * From here on nobody else is asked: a bid may have to wait for more of a slow
 * input, and then records that are there would not come out.
 */
enum { CERTAIN = 30 };

const struct tr_format *tr_format_detect(struct tr_input *in)
{
	const struct tr_format *best = NULL;
	int most = 0;

	for (size_t i = 0; tr_formats[i] && most < CERTAIN; i++) {
		int bits = tr_formats[i]->bid ? tr_formats[i]->bid(in) : 0;
		if (bits > most) {
			most = bits;
			best = tr_formats[i];
		}
	}
	for (size_t i = 0; tr_formats[i] && !best; i++)
		if (tr_formats[i]->search && tr_formats[i]->search(in) > 0)
			best = tr_formats[i];
	return best;
}
