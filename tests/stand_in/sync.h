/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Locks, references, completions and RCU. A wrong use aborts the test. */
#ifndef STAND_IN_SYNC_H
#define STAND_IN_SYNC_H

#include "stand_in/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	int	readers;
	bool	locked;
} rwlock_t;

typedef rwlock_t spinlock_t;

struct mutex {
	rwlock_t lock;
};

struct lock_class_key {
	int	unused;
};

void stand_in_lock(rwlock_t *lock);
void stand_in_assert_locked(const rwlock_t *lock);
void stand_in_unlock(rwlock_t *lock);
void stand_in_read_lock(rwlock_t *lock);
void stand_in_read_unlock(rwlock_t *lock);

#define rwlock_init(lock)	(*(lock) = (rwlock_t){ })
#define spin_lock_init(lock)	(*(lock) = (spinlock_t){ })
#define mutex_init(lock)	(*(lock) = (struct mutex){ })
#define DEFINE_MUTEX(name)	struct mutex name
#define read_lock_bh(lock)	stand_in_read_lock(lock)
#define read_unlock_bh(lock)	stand_in_read_unlock(lock)
#define write_lock_bh(lock)	stand_in_lock(lock)
#define write_unlock_bh(lock)	stand_in_unlock(lock)
#define write_lock(lock)	stand_in_lock(lock)
#define write_unlock(lock)	stand_in_unlock(lock)
#define lockdep_assert_held_write(lock)	stand_in_assert_locked(lock)
#define lockdep_set_class(lock, key)	((void)(lock), (void)(key))
#define spin_lock(lock)		stand_in_lock(lock)
#define spin_unlock(lock)	stand_in_unlock(lock)
#define spin_is_contended(lock)	((void)(lock), stand_in.contended)
#define spin_lock_bh(lock)	stand_in_lock(lock)
#define spin_unlock_bh(lock)	stand_in_unlock(lock)
#define spin_lock_irqsave(lock, flags)		((flags) = 0, stand_in_lock(lock))
#define spin_unlock_irqrestore(lock, flags)	((void)(flags), stand_in_unlock(lock))
#define mutex_lock(mutex)	stand_in_lock(&(mutex)->lock)
#define mutex_unlock(mutex)	stand_in_unlock(&(mutex)->lock)

#define mutex_destroy(mutex)	WARN_ON((mutex)->lock.locked)

/* Work, which a test runs by its function. Without a queue of its own it is the system's. */
struct workqueue_struct {
	const char *name;
};

struct work_struct {
	void	(*function)(struct work_struct *work);
	bool	queued;
	const struct workqueue_struct *queue;
};

#define INIT_WORK(work, fn)	(*(work) = (struct work_struct){ .function = (fn) })
#define schedule_work(work)	queue_work(NULL, work)
#define queue_work(to, work)	((work)->queue = (to), (work)->queued = true)
#define cancel_work_sync(work)	((work)->queued = false)
#define INIT_WORK_ONSTACK(work, fn)	INIT_WORK(work, fn)
#define destroy_work_on_stack(work)	WARN_ON((work)->queued)
#define flush_work(work) do {			\
	if ((work)->queued)			\
		(work)->function(work);		\
	(work)->queued = false;			\
} while (0)

#define WQ_UNBOUND		2
#define WQ_MAX_ACTIVE		512
#define alloc_workqueue(title, flags, active) ({				\
	struct workqueue_struct *queue = stand_in_alloc(sizeof(*queue));	\
	if (queue) {								\
		queue->name = (title);						\
		stand_in.workqueues++;						\
	}									\
	queue;									\
})
#define destroy_workqueue(queue)	(stand_in.workqueues--, free(queue))

/* RCU: a grace period ends at once, except that of call_rcu() (wait.h). */
struct rcu_head {
	struct rcu_head *next;
	void	(*free)(struct rcu_head *rcu);
};

#define rcu_read_lock()			((void)stand_in.rcu_readers++)
#define rcu_read_unlock()		((void)stand_in.rcu_readers--)
#define rcu_dereference(pointer)	(pointer)
#define RCU_INIT_POINTER(pointer, value)	((pointer) = (value))

typedef struct {
	int	counter;
} atomic_t;

typedef struct {
	s64	counter;
} atomic64_t;

#define atomic_read(v)			((v)->counter)
#define atomic_set(v, n)		((v)->counter = (n))
#define atomic_inc(v)			((void)(v)->counter++)
#define atomic_dec(v)			((void)(v)->counter--)
#define ATOMIC_INIT(n)			{ n }
#define atomic_dec_and_test(v)		(!--(v)->counter)
#define atomic_add(n, v)		((void)((v)->counter += (n)))
#define atomic_sub(n, v)		((void)((v)->counter -= (n)))
#define atomic_add_return(n, v)		((v)->counter += (n))
#define atomic64_read(v)		((v)->counter)
#define atomic64_add_return(n, v)	((v)->counter += (n))
#define ATOMIC64_INIT(n)		{ n }
#define atomic64_inc_return(v)		(++(v)->counter)
#define atomic64_add(n, v)		((void)((v)->counter += (n)))
#define atomic64_sub_return(n, v)	((v)->counter -= (n))
#define atomic64_sub(n, v)		((void)((v)->counter -= (n)))
#define atomic64_fetch_add(n, v)	__sync_fetch_and_add(&(v)->counter, n)
static inline bool test_and_set_bit(int bit, unsigned long *bits)
{
	return __sync_fetch_and_or(bits, 1ul << bit) >> bit & 1;
}

#define clear_bit(bit, bits)		(*(bits) &= ~(1ul << (bit)))
#define local_bh_disable()		((void)0)
#define local_bh_enable()		((void)0)
#define cmpxchg64(pointer, old, value)	__sync_val_compare_and_swap(pointer, old, value)

typedef struct {
	u32	count;
} refcount_t;

static inline void refcount_set(refcount_t *refs, u32 count)
{
	refs->count = count;
}

static inline void refcount_inc(refcount_t *refs)
{
	WARN_ON(!refs->count++);
}

static inline bool refcount_inc_not_zero(refcount_t *refs)
{
	if (refs->count)
		refs->count++;
	return refs->count;
}

static inline bool refcount_dec_and_test(refcount_t *refs)
{
	WARN_ON(!refs->count);
	return !--refs->count;
}

struct kref {
	refcount_t refs;
};

#define kref_init(kref)		refcount_set(&(kref)->refs, 1)
#define kref_get(kref)		((void)(kref)->refs.count++)
#define kref_put(kref, release) do {			\
	if (refcount_dec_and_test(&(kref)->refs))	\
		release(kref);				\
} while (0)

struct completion {
	bool	done;
};

#define init_completion(completion)	((completion)->done = false)
#define complete(completion)		((void)((completion)->done = true))
void wait_for_completion(struct completion *completion);

/* Hash tables, and a hash that is not random. */
struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_init(table)		memset(table, 0, sizeof(table))
#define hash_min(value, bits)		((value) & ((1u << (bits)) - 1))
#define hash_chain(table, key)		(&(table)[(key) & (ARRAY_SIZE(table) - 1)])
#define hash_add_rcu(table, node, key)	stand_in_hlist_add(hash_chain(table, key), node)
#define hlist_first_rcu(chain)		((chain)->first)
#define hlist_next_rcu(node)		((node)->next)
#define hlist_entry_safe(node, type, member) ({						\
	const struct hlist_node *safe = (node);					\
	safe ? container_of(safe, type, member) : NULL;				\
})
#define hash_for_each_possible(table, entry, member, key)				\
	for ((entry) = hlist_entry_safe(hash_chain(table, key)->first,		\
					__typeof__(*(entry)), member); (entry);	\
	     (entry) = hlist_entry_safe((entry)->member.next, __typeof__(*(entry)), member))
#define hash_for_each_possible_rcu(table, entry, member, key)	\
	hash_for_each_possible(table, entry, member, key)

#define hash_for_each(table, bucket, entry, member)					\
	for ((bucket) = 0; (bucket) < (int)ARRAY_SIZE(table); (bucket)++)		\
		hash_for_each_possible(table, entry, member, bucket)
#define hash_for_each_safe(table, bucket, next_node, entry, member)			\
	for ((bucket) = 0; (bucket) < (int)ARRAY_SIZE(table); (bucket)++)		\
		for ((entry) = hlist_entry_safe((table)[bucket].first,			\
						__typeof__(*(entry)), member);		\
		     (entry) && ((next_node) = (entry)->member.next, true);		\
		     (entry) = hlist_entry_safe(next_node, __typeof__(*(entry)), member))

static inline void stand_in_hlist_add(struct hlist_head *chain, struct hlist_node *node)
{
	node->next = chain->first;
	node->pprev = &chain->first;
	if (node->next)
		node->next->pprev = &node->next;
	chain->first = node;
}

static inline void hash_del_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#define jhash_1word(word, seed)	((word) * 0x9e3779b1u ^ (seed))
static inline u32 jhash2(const u32 *words, u32 count, u32 seed)
{
	while (count--)
		seed += *words++;
	return seed;
}

#ifdef __cplusplus
}
#endif

#endif
