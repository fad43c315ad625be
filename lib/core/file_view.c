#include "config.h"

#include "core/file_view.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/input.h"

#ifndef MAP_POPULATE
#define MAP_POPULATE 0 /* the pages come one by one then */
#endif

void tr_file_view_free(struct tr_file_view *view)
{
	if (view->base)
		munmap(view->base, view->len);
	*view = (struct tr_file_view){ .base = NULL };
}

/* From the page on in which offset lies. False: there is too little, or it cannot be. */
static bool move(struct tr_file_view *view, int fd, off_t offset)
{
	struct stat st;

	tr_file_view_free(view);
	off_t page = sysconf(_SC_PAGESIZE);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size - offset < TR_FILE_VIEW_LEAST + TR_INPUT_PAD)
		return false;
	off_t begin = offset - offset % page, left = st.st_size - begin;
	size_t len = left < TR_FILE_VIEW ? (size_t)left : TR_FILE_VIEW;
	void *base = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, begin);
	if (base == MAP_FAILED)
		return false;
	*view = (struct tr_file_view){ .base = base, .len = len, .offset = begin };
	return true;
}

struct tr_text tr_file_view_at(struct tr_file_view *view, int fd, off_t offset)
{
	struct tr_text none = { NULL, 0 };
	const off_t least = TR_FILE_VIEW_LEAST + TR_INPUT_PAD;
	bool there = view->base && offset >= view->offset &&
		     view->offset + (off_t)view->len - offset >= least;

	if (offset < 0 || (!there && !move(view, fd, offset)))
		return none;
	size_t behind = (size_t)(offset - view->offset);
	return (struct tr_text){ view->base + behind, view->len - behind - TR_INPUT_PAD };
}
