/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The parameters of a device, in the order in which they are shown. */
#ifndef SROCE_CONTROL_PARAMS_H
#define SROCE_CONTROL_PARAMS_H

#include "datapath/device.h"

void sroce_params_init(struct sroce_device *dev);
const struct sroce_cc_param *sroce_param_at(u32 index);
const char *sroce_param_choice(u32 index, u32 value);
u32 sroce_param_get(const struct sroce_device *dev, u32 index);
void sroce_param_set(struct sroce_device *dev, u32 index, u32 value);

#endif
