/* Lists in which each entry holds its neighbours. */
#ifndef QSNET_LIST_H
#define QSNET_LIST_H

#include <stddef.h>

struct list_head {
    struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)
#define INIT_LIST_HEAD(head) ((void)((head)->next = (head)->prev = (head)))

static inline void list_add_between(struct list_head *entry, struct list_head *before,
                                    struct list_head *after)
{
    entry->prev = before;
    entry->next = after;
    before->next = after->prev = entry;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
    list_add_between(entry, head, head->next);
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
    list_add_between(entry, head->prev, head);
}

static inline void list_del(struct list_head *entry)
{
    entry->next->prev = entry->prev;
    entry->prev->next = entry->next;
    entry->next = entry->prev = NULL;
}

static inline int list_empty(const struct list_head *head)
{
    return head->next == head;
}

#define list_entry(place, type, member) ((type *)((char *)(place) - offsetof(type, member)))
#define list_for_each(place, head)                                                                 \
    for ((place) = (head)->next; (place) != (head); (place) = (place)->next)
#define list_for_each_safe(place, more, head)                                                      \
    for ((place) = (head)->next, (more) = (place)->next; (place) != (head);                        \
         (place) = (more), (more) = (place)->next)

#endif
