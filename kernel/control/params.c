// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The parameters of a device: those in the table below, followed by those of
 * congestion control (transport/cc.c). Each is a u32 that may change at any
 * time and is read with READ_ONCE().
 *
 * To add one, add the field, its row in a table with the explanation, and the
 * explanation in sroce(8). Netlink and the tool show what they find here.
 */
#include "control/params.h"

/**
 * struct device_param - a row
 * @param: its offset is one in struct sroce_device
 * @choice: name of a value, NULL past the last one; itself NULL if values are plain numbers
 */
struct device_param {
	struct sroce_cc_param param;
	const char *(*choice)(u32 value);
};

#define PARAM(name, field, min, max, initial, unit, doc, choice) \
	{ { #name, offsetof(struct sroce_device, field), min, max, initial, unit, doc }, choice }

static const char *udp_checksum_name(u32 value)
{
	static const char *const names[] = {
		[SROCE_UDP_CHECKSUM_OFF] = "off",
		[SROCE_UDP_CHECKSUM_ON] = "on",
		[SROCE_UDP_CHECKSUM_AUTO] = "auto",
	};

	return value < ARRAY_SIZE(names) ? names[value] : NULL;
}

static const struct device_param table[] = {
	PARAM(cc, cc.algorithm, 0, SROCE_CC_ALGORITHM_COUNT - 1, SROCE_CC_DEFAULT, "",
	      "congestion control of queue pairs that connect later", sroce_cc_algorithm_name),
	PARAM(ecn, ecn, 0, 1, 1, "", "switches may mark packets instead of dropping them (ECT(0))",
	      NULL),
	PARAM(udp_checksum, ep.udp_checksum, 0, SROCE_UDP_CHECKSUM_AUTO, SROCE_UDP_CHECKSUM_AUTO,
	      "", "UDP checksum; auto: if the interface accepts batches; off: no batches either",
	      udp_checksum_name),
	PARAM(selective, selective, 0, 1, 1, "", "selective repeat is offered to the peer", NULL),
};

static u32 *field_of(const struct sroce_device *dev, u32 index)
{
	return (u32 *)((u8 *)dev + table[index].param.offset);
}

/**
 * sroce_params_init() - set all parameters to their defaults
 * @dev: device, before it is published
 */
void sroce_params_init(struct sroce_device *dev)
{
	u32 i;

	sroce_cc_params_init(&dev->cc);
	for (i = 0; i < ARRAY_SIZE(table); i++)
		*field_of(dev, i) = table[i].param.initial;
}

/**
 * sroce_param_at() - a parameter
 * @index: from 0
 *
 * Return: the parameter, NULL if @index is past the last one.
 */
const struct sroce_cc_param *sroce_param_at(u32 index)
{
	if (index < ARRAY_SIZE(table))
		return &table[index].param;
	return sroce_cc_param_at(index - ARRAY_SIZE(table));
}

/**
 * sroce_param_choice() - the name of a value
 * @index: as of sroce_param_at()
 * @value: the value
 *
 * Return: its name; NULL if there is no such value, or if values have no names.
 */
const char *sroce_param_choice(u32 index, u32 value)
{
	if (index >= ARRAY_SIZE(table) || !table[index].choice)
		return NULL;
	return table[index].choice(value);
}

/**
 * sroce_param_get() - read a parameter
 * @dev: device
 * @index: as of sroce_param_at(), which must not be NULL
 *
 * Return: its value.
 */
u32 sroce_param_get(const struct sroce_device *dev, u32 index)
{
	if (index < ARRAY_SIZE(table))
		return READ_ONCE(*field_of(dev, index));
	return sroce_cc_param_get(&dev->cc, index - ARRAY_SIZE(table));
}

/**
 * sroce_param_set() - change a parameter
 * @dev: device; it may be in use
 * @index: as of sroce_param_at(), which must not be NULL
 * @value: in its range
 */
void sroce_param_set(struct sroce_device *dev, u32 index, u32 value)
{
	if (index < ARRAY_SIZE(table))
		WRITE_ONCE(*field_of(dev, index), value);
	else
		sroce_cc_param_set(&dev->cc, index - ARRAY_SIZE(table), value);
}
