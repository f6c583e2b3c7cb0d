/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Stand-ins for functions of the kernel, so that single files outside the engine run in user space.
 * Tests have one thread. A lock only checks that it is taken and released correctly, and a wait
 * calls the test. CMakeLists.txt here lists the kernel's headers that each file stands for.
 */
#ifndef STAND_IN_KERNEL_H
#define STAND_IN_KERNEL_H

#include <errno.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct stand_in - what a test tells the stand-ins, and what they tell it; zeroed before each test
 * @random: from get_random_u32()
 * @now_ns: from ktime_get_ns()
 * @ticks: the time in jiffies
 * @fail_allocation: the n-th allocation from now on fails; 0 for none
 * @uncharged: bytes allocated that no memory cgroup is charged
 * @process: called after each load of an index that a process shares and each store of one, at each
 *           barrier() behind a copy and for each attribute of a message: another context may act then
 * @waiting: called where the kernel would sleep until a completion; must complete it
 * @resched: called by cond_resched()
 * @locking: called by the next taking of a lock only, before it
 * @unlocked: called by the next release of a lock only, after it
 * @loaded: called by the next xa_load() only, after it has read the entry
 * @stored: called by the next xa_store() only, after it has written the entry
 * @argument: of all seven
 * @contended: from spin_is_contended()
 * @rcu_readers: calls of rcu_read_lock() less those of rcu_read_unlock()
 * @mm: of the current process
 * @killed: from fatal_signal_pending()
 * @no_memory_at: virt_addr_valid() says no for this page
 * @umems_released: calls of ib_umem_release()
 * @dst_refs: references to routes, taken less dropped
 * @scheduled: calls of compat_bh_work_queue()
 * @workqueues: allocated less destroyed
 * @rtnl: RTNL is held
 * @hardirq: the test is a hard interrupt
 * @irqs_off: interrupts are disabled
 * @cpu: from raw_smp_processor_id()
 * @prio: of the current process
 * @log: the last error in the kernel's log
 * @forbids_transition: from ib_modify_qp_is_ok(), which knows the table of IBTA
 */
struct stand_in {
	u32	random;
	u64	now_ns;
	unsigned long ticks;
	u32	fail_allocation;
	u64	uncharged;
	void	(*process)(void *argument);
	void	(*waiting)(void *argument);
	void	(*resched)(void *argument);
	void	(*locking)(void *argument);
	void	(*unlocked)(void *argument);
	void	(*loaded)(void *argument);
	void	(*stored)(void *argument);
	void	*argument;
	bool	contended;
	u32	rcu_readers;
	void	*mm;
	bool	killed;
	const void *no_memory_at;
	u32	umems_released;
	int	dst_refs;
	u32	scheduled;
	int	workqueues;
	bool	rtnl;
	u32	cpu;
	bool	hardirq;
	bool	irqs_off;
	int	prio;
	char	log[128];
	bool	forbids_transition;
};

extern struct stand_in stand_in;

void *stand_in_alloc(size_t bytes);
void stand_in_process(void);

/* Annotations of sparse and of the linker. */
#define __percpu
#define __rcu
#define __force
#define __user
#define __init
#define __ro_after_init
#define __aligned(bytes)	__attribute__((__aligned__(bytes)))
#define __must_hold(x)
#define __acquires(x)
#define __releases(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)

#define container_of(pointer, type, member) ({					\
	const volatile void *inside = (pointer);				\
	(type *)((char *)(unsigned long)inside - __builtin_offsetof(type, member)); \
})
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define lower_32_bits(n)	((u32)(n))
#define ALIGN(x, a)		round_up(x, a)
#define IS_ALIGNED(x, a)	(!((x) & ((__typeof__(x))(a) - 1)))
#define IS_ENABLED(option)	(option)
#define CONFIG_IPV6		1
#define CONFIG_NETFILTER	1
#define CONFIG_PREEMPT_RT	0
#define CONFIG_XPS		1
#define CONFIG_ARCH_HAS_PMEM_API 1
#define check_shl_overflow(a, s, d) ({						\
	*(d) = (a) << (s);							\
	*(d) >> (s) != (a);							\
})

#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L

static inline u32 order_base_2(u64 n)
{
	return n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
}

static inline unsigned long roundup_pow_of_two(u64 n)
{
	return 1ULL << order_base_2(n);
}

static inline bool is_power_of_2(u64 n)
{
	return n && !(n & (n - 1));
}

#define ilog2(n)		(63 - __builtin_clzll(n))
#define __ffs(n)		__builtin_ctzl(n)

static inline u32 get_random_u32(void)
{
	return stand_in.random;
}

/* Errors as pointers. */
#define IS_ERR(pointer)		((unsigned long)(pointer) >= (unsigned long)-4095)
#define PTR_ERR(pointer)	((long)(pointer))
#define ERR_PTR(error)		((void *)(long)(error))
#define ERR_CAST(pointer)	((void *)(pointer))

#ifndef __cplusplus
#define current				(&stand_in)
#endif

/* Other contexts run at a point of the test's choice. */
#define fatal_signal_pending(task)	(stand_in.killed)
#define cond_resched() ({							\
	if (stand_in.resched)							\
		stand_in.resched(stand_in.argument);				\
})

/* Barriers order nothing in one thread, but here the test may act as another. */
#define smp_load_acquire(pointer) ({						\
	__typeof__(*(pointer)) loaded = READ_ONCE(*(pointer));			\
	stand_in_process();							\
	loaded;									\
})
#define smp_store_release(pointer, value) ({					\
	WRITE_ONCE(*(pointer), value);						\
	stand_in_process();							\
})
#define data_race(expression)	(expression)
#define xchg(pointer, value)	__atomic_exchange_n(pointer, value, __ATOMIC_SEQ_CST)
#define cmpxchg(pointer, old, value)	({ __sync_val_compare_and_swap(pointer, old, value); })
#define smp_mb()		stand_in_process()
#define wmb()			stand_in_process()
#define barrier()		stand_in_process()

#include "stand_in/alloc.h"

/* Memory cgroups, none of which is active. */
struct mem_cgroup;
#define get_mem_cgroup_from_mm(mm)	NULL
#define mem_cgroup_put(memcg)		((void)(memcg))
static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg)
{
	return NULL;
}

/* Time and per-CPU variables: two CPUs, of which the test runs on the first. */
static inline u64 ktime_get_ns(void)
{
	return stand_in.now_ns;
}

#define STAND_IN_CPUS			2
#define DEFINE_PER_CPU(type, name)	type name
#define this_cpu_read(variable)		(variable)
#define this_cpu_write(variable, value)	((variable) = (value))
#define __this_cpu_add(variable, n)	((variable) += (n))
#define __this_cpu_inc(variable)	((variable)++)
#define per_cpu_ptr(pointer, cpu)	((pointer) + (cpu))
#define alloc_percpu(type)		alloc_percpu_gfp(type, GFP_KERNEL)
#define alloc_percpu_gfp(type, gfp)	((type *)stand_in_kmalloc(STAND_IN_CPUS * sizeof(type), gfp))
#define free_percpu(pointer)		free(pointer)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < STAND_IN_CPUS; (cpu)++)
#define ASSERT_RTNL()			WARN_ON(!stand_in.rtnl)
#define rtnl_lock()		do { WARN_ON(stand_in.rtnl); stand_in.rtnl = true; } while (0)
#define rtnl_unlock()		do { ASSERT_RTNL(); stand_in.rtnl = false; } while (0)
#define HZ				100
#define INITIAL_JIFFIES			((unsigned long)(unsigned int)(-300 * HZ))
#define jiffies				(stand_in.ticks)
#define time_after(a, b)		((long)((b) - (a)) < 0)
#define in_hardirq()			(stand_in.hardirq)
#define raw_smp_processor_id()		(stand_in.cpu)
#define irqs_disabled()			(stand_in.irqs_off)

/* Modules and the log. */
#define MODULE_PARM_DESC(name, text)
#define module_param_named(name, variable, type, mode)
#define pr_info(...)		((void)0)
#define pr_warn(...)		((void)0)
#define pr_err_ratelimited(...)	snprintf(stand_in.log, sizeof(stand_in.log), __VA_ARGS__)

#define CRC32_POLY_LE		0xedb88320u
u32 crc32_le(u32 crc, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
