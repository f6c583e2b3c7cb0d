/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/sync.h"

struct stand_in stand_in;

void *stand_in_alloc(size_t bytes)
{
	if (stand_in.fail_allocation && !--stand_in.fail_allocation)
		return NULL;
	return calloc(1, bytes);
}

void stand_in_process(void)
{
	if (stand_in.process)
		stand_in.process(stand_in.argument);
}

void stand_in_lock(rwlock_t *lock)
{
	void (*locking)(void *argument) = stand_in.locking;

	stand_in.locking = NULL;
	if (locking)
		locking(stand_in.argument);
	WARN_ON(lock->locked || lock->readers);
	lock->locked = true;
}

void stand_in_assert_locked(const rwlock_t *lock)
{
	WARN_ON(!lock->locked);
}

void stand_in_unlock(rwlock_t *lock)
{
	void (*unlocked)(void *argument) = stand_in.unlocked;

	WARN_ON(!lock->locked);
	lock->locked = false;
	stand_in.unlocked = NULL;
	if (unlocked)
		unlocked(stand_in.argument);
}

void stand_in_read_lock(rwlock_t *lock)
{
	WARN_ON(lock->locked);
	lock->readers++;
}

void stand_in_read_unlock(rwlock_t *lock)
{
	WARN_ON(lock->readers <= 0);
	lock->readers--;
}

void wait_for_completion(struct completion *completion)
{
	if (!completion->done && stand_in.waiting)
		stand_in.waiting(stand_in.argument);
	WARN_ON(!completion->done);
}

u32 crc32_le(u32 crc, const void *data, size_t bytes)
{
	const u8 *at = data;
	int bit;

	while (bytes--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}
