// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ranges in a set of PSNs, handled a word at a time.
 */
#include <linux/minmax.h>

#include "transport/psn_map.h"

/**
 * sroce_psn_map_add_range() - add PSNs
 * @map: the set
 * @psn: the first
 * @count: how many; a span or more stands for all
 */
void sroce_psn_map_add_range(struct sroce_psn_map *map, u32 psn, u32 count)
{
	u64 bits;
	u32 piece;

	for (count = min(count, SROCE_PSN_MAP_SPAN); count; count -= piece, psn += piece) {
		piece = psn_map_piece(psn, count, &bits);
		map->words[psn / 64 % SROCE_PSN_MAP_WORDS] |= bits;
	}
}

/**
 * sroce_psn_map_remove_range() - remove PSNs
 * @map: the set
 * @psn: the first
 * @count: how many; a span or more stands for all
 */
void sroce_psn_map_remove_range(struct sroce_psn_map *map, u32 psn, u32 count)
{
	u64 bits;
	u32 piece;

	for (count = min(count, SROCE_PSN_MAP_SPAN); count; count -= piece, psn += piece) {
		piece = psn_map_piece(psn, count, &bits);
		map->words[psn / 64 % SROCE_PSN_MAP_WORDS] &= ~bits;
	}
}

/**
 * sroce_psn_map_count() - how many PSNs of a range are in the set
 * @map: the set
 * @psn: the first of the range
 * @count: its length; only the first span of it counts
 *
 * Return: how many.
 */
u32 sroce_psn_map_count(const struct sroce_psn_map *map, u32 psn, u32 count)
{
	u32 found = 0, piece;
	u64 bits;

	for (count = min(count, SROCE_PSN_MAP_SPAN); count; count -= piece, psn += piece) {
		piece = psn_map_piece(psn, count, &bits);
		for (bits &= psn_map_word(map, psn); bits; bits &= bits - 1)
			found++;
	}
	return found;
}

/* PSNs from @psn on before the first one with a bit set in its word XOR @flip, at most @limit. */
static u32 count_leading(const struct sroce_psn_map *map, u32 psn, u32 limit, u64 flip)
{
	u32 found = 0, piece;
	u64 bits;

	limit = min(limit, SROCE_PSN_MAP_SPAN);
	while (found < limit) {
		piece = psn_map_piece(psn + found, limit - found, &bits);
		bits &= psn_map_word(map, psn + found) ^ flip;
		if (bits)
			return found + (u32)__builtin_ctzll(bits) - (psn + found) % 64;
		found += piece;
	}
	return limit;
}

/**
 * sroce_psn_map_leading_present() - how many PSNs from a PSN on are in the set without a gap
 * @map: the set
 * @psn: the first
 * @limit: where to stop, at most a span
 *
 * Return: how many, 0 when @psn is not in the set.
 */
u32 sroce_psn_map_leading_present(const struct sroce_psn_map *map, u32 psn, u32 limit)
{
	return count_leading(map, psn, limit, ~0ull);
}

/**
 * sroce_psn_map_leading_absent() - how many PSNs there are before the next one in the set
 * @map: the set
 * @psn: the first
 * @limit: where to stop, at most a span
 *
 * Return: how many, 0 when @psn is in the set.
 */
u32 sroce_psn_map_leading_absent(const struct sroce_psn_map *map, u32 psn, u32 limit)
{
	return count_leading(map, psn, limit, 0);
}
