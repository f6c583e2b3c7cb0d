/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The functions of the datapath around the files that are tested. They record what they are given. */
#ifndef STAND_IN_DATAPATH_H
#define STAND_IN_DATAPATH_H

#include "stand_in/verbs.h"

#include "datapath/qp.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STAND_IN_DEV_INDEX	7

/**
 * struct stand_in_datapath - what a test tells these functions, and what they tell it
 * @qp: the only one in the table
 * @users: references to it, taken less dropped, unless it has a struct sroce_qp_ref
 * @refs_freed: struct sroce_qp_ref without a holder
 * @schedule: packets that may be sent next; 0 for one
 * @paced_ns: no packet may be sent before this time
 * @edt_only: until @paced_ns packets may be sent that depart then
 * @throttled: from sroce_tx_throttle()
 * @largest_plan: the most packets that it was asked for
 * @relocks: calls of sroce_tx_relock()
 * @edt_ns: from the last sroce_tx_set_edt()
 * @tx_error: from sroce_tx_begin()
 * @rewinds: calls of sroce_builder_rewind()
 * @packets: packets begun
 * @packet: the last of them
 * @expected: from sroce_tx_begin(), for the first of them
 * @payload: of the last of them
 * @path: its path
 * @dscp: its DSCP
 * @piggybacked: calls of sroce_ack_piggyback()
 * @turns: calls of sroce_ack_delay_end()
 * @skbs: skbs handed to the stack
 * @priority: of the last of them
 * @state_changes: calls of sroce_qp_set_state()
 * @from: its argument
 * @to: its argument
 * @state_error: its result
 * @settles: sroce_qp_settle_state() finds an error
 * @memberships: of the interface in groups
 * @renewals: calls of sroce_membership_renew()
 * @group: the last one joined or left
 * @join_error: from sroce_membership_join()
 */
struct stand_in_datapath {
	struct sroce_qp *qp;
	int	users;
	u32	refs_freed;
	u32	schedule;
	u64	paced_ns;
	bool	edt_only;
	bool	throttled;
	u32	largest_plan;
	u32	relocks;
	u64	edt_ns;
	int	tx_error;
	u32	rewinds;
	u32	packets;
	struct sroce_packet packet;
	u32	expected[16];
	u8	payload[4096];
	struct sroce_path path;
	u8	dscp;
	u32	piggybacked;
	u32	turns;
	u32	skbs;
	u32	priority;
	u32	state_changes;
	enum ib_qp_state from;
	enum ib_qp_state to;
	int	state_error;
	bool	settles;
	int	memberships;
	int	renewals;
	struct in6_addr group;
	int	join_error;
};

extern struct stand_in_datapath stand_in_datapath;

#ifdef __cplusplus
}
#endif

#endif
