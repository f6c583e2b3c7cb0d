/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A set of PSNs, all within SROCE_PSN_MAP_SPAN of each other.
 *
 * The low bits of a PSN are the index of its bit, so the set moves along with the conversation
 * without a shift. The owner removes PSNs before they leave the span.
 */
#ifndef SROCE_TRANSPORT_PSN_MAP_H
#define SROCE_TRANSPORT_PSN_MAP_H

#include <linux/types.h>
#include <linux/string.h>

#include "transport/psn.h"

#define SROCE_PSN_MAP_SPAN	2048u
#define SROCE_PSN_MAP_WORDS	(SROCE_PSN_MAP_SPAN / 64)

/**
 * struct sroce_psn_map - the set
 * @words: a bit for each PSN
 */
struct sroce_psn_map {
	u64	words[SROCE_PSN_MAP_WORDS];
};

static inline u64 psn_map_word(const struct sroce_psn_map *map, u32 psn)
{
	return map->words[psn / 64 % SROCE_PSN_MAP_WORDS];
}

/* The bits of the 64 PSNs from @psn on; @psn is the lowest bit. */
static inline u64 psn_map_from(const struct sroce_psn_map *map, u32 psn)
{
	u32 shift = psn % 64;
	u64 bits = psn_map_word(map, psn) >> shift;

	return shift ? bits | psn_map_word(map, psn + 64) << (64 - shift) : bits;
}

static inline bool psn_map_has(const struct sroce_psn_map *map, u32 psn)
{
	return psn_map_word(map, psn) >> psn % 64 & 1;
}

static inline void psn_map_add(struct sroce_psn_map *map, u32 psn)
{
	map->words[psn / 64 % SROCE_PSN_MAP_WORDS] |= 1ull << psn % 64;
}

static inline void psn_map_remove(struct sroce_psn_map *map, u32 psn)
{
	map->words[psn / 64 % SROCE_PSN_MAP_WORDS] &= ~(1ull << psn % 64);
}

static inline void psn_map_clear(struct sroce_psn_map *map)
{
	memset(map, 0, sizeof(*map));
}

/* How many of the @count PSNs from @psn on share its word; @bits are their bits in it. */
static inline u32 psn_map_piece(u32 psn, u32 count, u64 *bits)
{
	u32 shift = psn % 64, piece = count < 64 - shift ? count : 64 - shift;

	*bits = (piece == 64 ? ~0ull : (1ull << piece) - 1) << shift;
	return piece;
}

void sroce_psn_map_add_range(struct sroce_psn_map *map, u32 psn, u32 count);
void sroce_psn_map_remove_range(struct sroce_psn_map *map, u32 psn, u32 count);
u32 sroce_psn_map_count(const struct sroce_psn_map *map, u32 psn, u32 count);
u32 sroce_psn_map_leading_present(const struct sroce_psn_map *map, u32 psn, u32 limit);
u32 sroce_psn_map_leading_absent(const struct sroce_psn_map *map, u32 psn, u32 limit);

#endif
