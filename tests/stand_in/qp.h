/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The life of a QP in the datapath, and the mappings of its rings. */
#ifndef STAND_IN_QP_H
#define STAND_IN_QP_H

#include "stand_in/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct stand_in_qp - what a test tells these functions, and what they tell it
 * @init_error: from sroce_qp_datapath_init()
 * @add_error: from sroce_qp_table_add()
 * @mmap_error: from sroce_mmap_insert()
 * @mappings: that exist
 * @inserts: calls of sroce_mmap_insert()
 * @live: QPs of the datapath
 * @in_table: QPs in the table
 * @steps: letters of what was done: i(nit), a(dd), s(top), r(emove), q(uiesce), u(nmap)
 */
struct stand_in_qp {
	int	init_error;
	int	add_error;
	int	mmap_error;
	int	mappings;
	u32	inserts;
	int	live;
	int	in_table;
	char	steps[16];
};

extern struct stand_in_qp stand_in_qp;

void stand_in_qp_step(char letter);

#ifdef __cplusplus
}
#endif

#endif
