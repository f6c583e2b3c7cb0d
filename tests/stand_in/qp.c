/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of datapath/qp.c. */
#include "stand_in/datapath.h"
#include "stand_in/qp.h"

int sroce_qp_datapath_init(struct sroce_qp *qp)
{
	stand_in_qp_step('i');
	if (!stand_in_qp.init_error)
		stand_in_qp.live++;
	return stand_in_qp.init_error;
}

void sroce_qp_stop(struct sroce_qp *qp)
{
	stand_in_qp_step('s');
}

void sroce_qp_quiesce(struct sroce_qp *qp)
{
	stand_in_qp_step('q');
	stand_in_qp.live--;
}

void sroce_qp_settle_state(struct sroce_qp *qp)
{
	if (stand_in_datapath.settles)
		qp->state = IB_QPS_ERR;
}

int sroce_qp_set_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
		       const struct ib_qp_attr *attr, int mask)
{
	stand_in_datapath.state_changes++;
	stand_in_datapath.from = from;
	stand_in_datapath.to = to;
	if (!stand_in_datapath.state_error)
		qp->state = to;
	return stand_in_datapath.state_error;
}
