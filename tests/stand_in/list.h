/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Lists. */
#ifndef STAND_IN_LIST_H
#define STAND_IN_LIST_H

#include "stand_in/sync.h"

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }
#define INIT_LIST_HEAD(head)	((head)->next = (head)->prev = (head))
#define list_empty(head)	((head)->next == (head))
#define list_for_each_entry(at, head, member)						\
	for ((at) = container_of((head)->next, __typeof__(*(at)), member);		\
	     &(at)->member != (head);							\
	     (at) = container_of((at)->member.next, __typeof__(*(at)), member))

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->next = head;
	entry->prev = head->prev;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_del_init(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}

#endif
