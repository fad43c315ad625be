#include "format/srctrace/unit.h"

enum { ENCODING = 16, HEADER_PAD = 17, HEADER_PAD_SIZE = 3 }; /* offsets in the header */

void tr_srctrace_unit_measure(const char *p, const struct tr_srctrace_layout *layout,
			      struct tr_srctrace_unit *unit)
{
	unit->name_size = tr_wire_u32(p, layout->big);
	unit->encoding = (unsigned char)p[ENCODING];
	unit->name = TR_SRCTRACE_UNIT;
	unit->size = unit->name + tr_srctrace_padded(unit->name_size, layout->align);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		unit->bits[i] = tr_wire_u32(p + 4 + 4 * i, layout->big);
		unit->buffers[i] = unit->size;
		unit->size += tr_srctrace_padded(tr_srctrace_bytes(unit->bits[i]), layout->align);
	}
}

uint64_t tr_srctrace_unit_weight(const char *entry, const struct tr_srctrace_unit *unit)
{
	uint64_t set = 0, digits = sizeof "4294967295," - 1;
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++)
		for (uint64_t k = 0; k < tr_srctrace_bytes(unit->bits[i]); k++)
			set += (unsigned)__builtin_popcount(
				(unsigned char)entry[unit->buffers[i] + k]);
	return set * digits;
}

static struct tr_srctrace_gap padding(uint64_t begin, uint64_t size, unsigned align)
{
	return (struct tr_srctrace_gap){ begin + size, tr_srctrace_padded(size, align) - size, 0xff,
					 false };
}

size_t tr_srctrace_unit_gaps(const struct tr_srctrace_unit *unit, unsigned align,
			     struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS])
{
	size_t n = 0;
	gaps[n++] = (struct tr_srctrace_gap){ HEADER_PAD, HEADER_PAD_SIZE, 0xff, true };
	gaps[n++] = padding(unit->name, unit->name_size, align);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		uint64_t bytes = tr_srctrace_bytes(unit->bits[i]);
		unsigned used = unit->bits[i] % 8;
		if (used)
			gaps[n++] = (struct tr_srctrace_gap){ unit->buffers[i] + bytes - 1, 1,
							      (unsigned char)(0xff << used), true };
		gaps[n++] = padding(unit->buffers[i], bytes, align);
	}
	return n;
}

struct tr_srctrace_gap tr_srctrace_info_gap(uint32_t size, unsigned align)
{
	return padding(TR_SRCTRACE_INFO, size, align);
}

enum tr_srctrace_zeros tr_srctrace_gaps_look(const char *entry, const struct tr_srctrace_gap *gaps,
					     size_t count)
{
	enum tr_srctrace_zeros found = TR_SRCTRACE_ZERO;
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < gaps[i].size; k++)
			if (((unsigned char)entry[gaps[i].offset + k] & gaps[i].mask) &&
			    found != TR_SRCTRACE_REFUSED)
				found = gaps[i].checked ? TR_SRCTRACE_REFUSED
							: TR_SRCTRACE_NOT_ZERO;
	return found;
}

void tr_srctrace_gaps_clear(char *entry, const struct tr_srctrace_gap *gaps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < gaps[i].size; k++)
			entry[gaps[i].offset + k] &= (char)~gaps[i].mask;
}
