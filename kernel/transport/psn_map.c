// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ranges of a set of PSNs, a word at a time.
 */
#include <linux/minmax.h>

#include "transport/psn_map.h"

/**
 * sroce_psn_map_add_range() - add PSNs
 * @map: the set
 * @psn: the first
 * @count: how many; more than a span is all there are
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
 * sroce_psn_map_remove_range() - take PSNs out
 * @map: the set
 * @psn: the first
 * @count: how many; more than a span is all there are
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
 * @count: its length; no more than a span of it is looked at
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

/**
 * sroce_psn_map_extent() - how many PSNs in a row are all in the set, or all not
 * @map: the set
 * @psn: the first
 * @limit: where to stop, at most a span
 * @in: whether they are to be in the set
 *
 * Return: how many, 0 when @psn is not as wanted.
 */
u32 sroce_psn_map_extent(const struct sroce_psn_map *map, u32 psn, u32 limit, bool in)
{
	u32 run = 0, piece;
	u64 bits;

	limit = min(limit, SROCE_PSN_MAP_SPAN);
	while (run < limit) {
		piece = psn_map_piece(psn + run, limit - run, &bits);
		bits &= in ? ~psn_map_word(map, psn + run) : psn_map_word(map, psn + run);
		if (bits)
			return run + (u32)__builtin_ctzll(bits) - (psn + run) % 64;
		run += piece;
	}
	return limit;
}
