/* SPDX-License-Identifier: MIT */
/*
 * A struct that extends another one has it as a member, and gives others a pointer to that
 * member. tr_container gets the struct back from it.
 */
#ifndef TR_CORE_CONTAINER_H
#define TR_CORE_CONTAINER_H

#include <stddef.h>

/*
 * The struct of that type whose member is at pointer, which is a pointer to the member's type: the
 * comparison, which is not evaluated, makes the compiler check that.
 */
#define tr_container(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member) + \
			  0 * sizeof((pointer) == &((type *)0)->member)))

#endif
