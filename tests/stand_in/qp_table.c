/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of datapath/qp_table.c. */
#include "stand_in/datapath.h"
#include "stand_in/qp.h"

atomic_t sroce_live_qp_refs;

int sroce_qp_table_add(struct sroce_qp *qp)
{
	stand_in_qp_step('a');
	if (!stand_in_qp.add_error)
		stand_in_qp.in_table++;
	return stand_in_qp.add_error;
}

void sroce_qp_table_remove(struct sroce_qp *qp)
{
	stand_in_qp_step('r');
	stand_in_qp.in_table--;
}

struct sroce_qp *sroce_qp_get(struct sroce_endpoint *ep, u32 qpn)
{
	struct sroce_qp *qp = stand_in_datapath.qp;

	if (!qp || qp->ibqp.qp_num != qpn)
		return NULL;
	stand_in_datapath.users++;
	return qp;
}

struct sroce_qp *sroce_qp_get_listed(const struct ib_qp *ibqp)
{
	struct sroce_qp *qp = to_sroce_qp((struct ib_qp *)ibqp);

	if (qp != stand_in_datapath.qp && !stand_in_qp.in_table)
		return NULL;
	if (qp->ref)
		refcount_inc(&qp->ref->users);
	else
		stand_in_datapath.users++;
	return qp;
}

struct sroce_qp *sroce_qp_get_next(struct sroce_endpoint *ep, u32 *qpn)
{
	struct sroce_qp *qp = stand_in_datapath.qp;

	if (!qp || qp->ibqp.qp_num < *qpn)
		return NULL;
	*qpn = qp->ibqp.qp_num;
	return sroce_qp_get(ep, *qpn);
}

void sroce_qp_put(struct sroce_qp *qp)
{
	if (qp->ref)
		WARN_ON(refcount_dec_and_test(&qp->ref->users));
	else
		stand_in_datapath.users--;
}

void sroce_qp_ref_put(struct sroce_qp_ref *ref)
{
	if (refcount_dec_and_test(&ref->holders))
		stand_in_datapath.refs_freed++;
}
