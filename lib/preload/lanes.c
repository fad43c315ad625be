/* SPDX-License-Identifier: MIT */
/* Writes file calls to shared memory, from any program at any time. */
#include "preload/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/journal.h"

static off_t offset_of(unsigned lane)
{
	return TR_LANES_PAGE + (off_t)lane * TR_LANE_SIZE;
}

static int open_file(const struct tr_lane_writer *lanes)
{
	return (int)tr_journal_syscall(SYS_openat, AT_FDCWD, lanes->path,
				       O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_LARGEFILE, 0);
}

static void *map(int fd, size_t size, off_t offset)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	return memory == MAP_FAILED ? NULL : memory;
}

bool tr_lane_writer_begin(struct tr_lane_writer *lanes)
{
	int fd = open_file(lanes);

	if (fd < 0)
		return false;
	lanes->page = map(fd, sizeof *lanes->page, 0);
	tr_journal_syscall(SYS_close, fd);
	lanes->pid = (uint32_t)tr_journal_getpid();
	lanes->current = lanes->pid % TR_LANES_FIRST;
	return lanes->page;
}

int tr_lanes_allocate(int fd, unsigned lane)
{
	struct rlimit limit;
	off_t offset = offset_of(lane);

	/* a file that is longer than the limit would end the program */
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
		return EFBIG;
	if (tr_journal_syscall(SYS_fallocate, fd, 0, TR_JOURNAL_OFFSET(offset),
			       TR_JOURNAL_OFFSET(TR_LANE_SIZE)) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return errno;
	void *zeros = tr_journal_borrow(TR_LANE_SIZE);
	if (!zeros)
		return ENOMEM;
	long written = tr_journal_syscall(SYS_pwrite64, fd, zeros, (size_t)TR_LANE_SIZE,
					  TR_JOURNAL_OFFSET(offset));
	tr_journal_return(zeros, TR_LANE_SIZE);
	return written == TR_LANE_SIZE ? 0 : ENOSPC;
}

/*
 * Returns the memory of a lane, or NULL. *borrowed: the caller unmaps it, because in the child of a
 * vfork the table belongs to the parent and does not change.
 */
static char *find_memory(struct tr_lane_writer *lanes, unsigned lane, bool own, bool *borrowed)
{
	char *memory = atomic_load_explicit(&lanes->memory[lane], memory_order_acquire);
	void *none = NULL;

	*borrowed = false;
	if (memory)
		return memory;
	int fd = open_file(lanes);
	if (fd < 0)
		return NULL;
	memory = map(fd, TR_LANE_SIZE, offset_of(lane));
	tr_journal_syscall(SYS_close, fd);
	if (memory && own && !atomic_compare_exchange_strong(&lanes->memory[lane], &none, memory)) {
		munmap(memory, TR_LANE_SIZE); /* another thread was faster */
		return none;
	}
	*borrowed = memory && !own;
	return memory;
}

/* Adds a lane. False: there can be no more. */
static bool add_lane(struct tr_lane_writer *lanes, uint32_t count)
{
	int fd = count < TR_LANES ? open_file(lanes) : -1;
	bool good = fd >= 0 && tr_lanes_allocate(fd, count) == 0;

	if (fd >= 0)
		tr_journal_syscall(SYS_close, fd);
	if (good)
		atomic_compare_exchange_strong(&lanes->page->count, &count, count + 1);
	return good;
}

/* Reserves a place in the lane. False: it is full. */
static bool reserve(_Atomic uint64_t *used, uint32_t length, uint64_t *place)
{
	*place = atomic_load_explicit(used, memory_order_relaxed);
	while ((uint32_t)*place + length <= TR_LANE_SIZE)
		if (atomic_compare_exchange_weak(used, place, *place + length))
			return true;
	return false;
}

/* Finds a lane with room, and returns its memory. NULL: there is none. */
static char *find_lane(struct tr_lane_writer *lanes, uint32_t length, bool own, unsigned *lane,
		       bool *borrowed)
{
	struct tr_lanes_page *page = lanes->page;
	uint32_t first = atomic_load_explicit(&lanes->current, memory_order_relaxed);

	for (;;) {
		uint32_t count = atomic_load_explicit(&page->count, memory_order_acquire);
		for (uint32_t i = 0; i < count; i++) {
			*lane = (first + i) % count;
			uint64_t used =
				atomic_load_explicit(&page->used[*lane], memory_order_relaxed);
			if ((uint32_t)used + length > TR_LANE_SIZE)
				continue;
			if (own && i)
				atomic_store_explicit(&lanes->current, *lane, memory_order_relaxed);
			return find_memory(lanes, *lane, own, borrowed);
		}
		if (!count || !add_lane(lanes, count))
			return NULL;
		first = count;
	}
}

uint64_t tr_call_sum(uint32_t mark, uint64_t place, const struct tr_call_record *record)
{
	return tr_journal_sum(mark ^ place * UINT64_C(0x9e3779b97f4a7c15),
			      (const char *)record + sizeof record->sum,
			      record->length - sizeof record->sum);
}

void tr_lane_writer_put(struct tr_lane_writer *lanes, struct tr_call_record *record,
			const char *first, const char *second)
{
	size_t first_len = first ? strnlen(first, PATH_MAX) + 1 : 0;
	size_t second_len = second ? strnlen(second, PATH_MAX) + 1 : 0;
	size_t len = sizeof *record + first_len + second_len;
	int saved = errno;
	bool own = lanes->pid == record->pid, borrowed = false, done = false;
	uint64_t place;
	unsigned lane;
	char *memory;

	record->length = (uint32_t)((len + 7) / 8 * 8);
	record->strings = (uint16_t)((first != NULL) + (second != NULL));
	while (!done && (memory = find_lane(lanes, record->length, own, &lane, &borrowed))) {
		done = reserve(&lanes->page->used[lane], record->length, &place);
		if (done) {
			struct tr_call_record *to = (void *)(memory + (uint32_t)place);
			char *text = (char *)(to + 1);
			memcpy((char *)to + sizeof to->sum, (char *)record + sizeof to->sum,
			       sizeof *to - sizeof to->sum);
			/* another thread may change the strings meanwhile */
			if (first)
				memcpy(text, first, first_len - 1);
			if (second)
				memcpy(text + first_len, second, second_len - 1);
			memset(text + first_len + second_len, 0, record->length - len);
			if (first)
				text[first_len - 1] = '\0';
			if (second)
				text[first_len + second_len - 1] = '\0';
			atomic_store_explicit(&to->sum, tr_call_sum(lanes->mark, place, to),
					      memory_order_release);
		}
		if (borrowed)
			munmap(memory, TR_LANE_SIZE);
	}
	if (!done && lanes->page->count)
		lanes->page->lost++;
	errno = saved;
}
