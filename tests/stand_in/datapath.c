/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/datapath.h"
#include "stand_in/qp.h"

struct stand_in_datapath stand_in_datapath;
struct stand_in_qp stand_in_qp;

void stand_in_qp_step(char letter)
{
	u32 at = strlen(stand_in_qp.steps);

	if (at + 1 < sizeof(stand_in_qp.steps))
		stand_in_qp.steps[at] = letter;
}
