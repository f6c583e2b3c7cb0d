/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Management datagrams (IBTA 13.4, 16.1): the parts of rdma/ib_mad.h and rdma/ib_pma.h in use. */
#ifndef STAND_IN_MAD_H
#define STAND_IN_MAD_H

#include "stand_in/kernel.h"

#define IB_MGMT_MAD_SIZE		256
#define IB_MGMT_BASE_VERSION		1
#define IB_MGMT_CLASS_PERF_MGMT		0x04
#define IB_MGMT_METHOD_GET		0x01
#define IB_MGMT_METHOD_SET		0x02
#define IB_MGMT_METHOD_GET_RESP		0x81
#define IB_MGMT_MAD_STATUS_BAD_VERSION			0x04
#define IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB	0x0c
#define IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE		0x1c
#define IB_MAD_RESULT_SUCCESS		1
#define IB_MAD_RESULT_REPLY		2
/* Constants, for case labels. */
#define IB_PMA_CLASS_PORT_INFO		__builtin_bswap16(0x0001)
#define IB_PMA_PORT_COUNTERS		__builtin_bswap16(0x0012)
#define IB_PMA_PORT_COUNTERS_EXT	__builtin_bswap16(0x001d)
#define IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF cpu_to_be16(0x0400)

struct ib_wc;
struct ib_grh;

struct ib_mad_hdr {
	u8	base_version, mgmt_class, class_version, method;
	__be16	status, class_specific;
	__be64	tid;
	__be16	attr_id, resv;
	__be32	attr_mod;
};

struct ib_mad {
	struct ib_mad_hdr mad_hdr;
	u8	data[232];
};

struct ib_class_port_info {
	u8	base_version, class_version;
	__be16	capability_mask;
	__be32	cap_mask2_resp_time;
	u8	others[64];
};

static inline void ib_set_cpi_resp_time(struct ib_class_port_info *info, u8 time)
{
	info->cap_mask2_resp_time = cpu_to_be32(time);
}

struct ib_pma_portcounters {
	u8	reserved, port_select;
	__be16	counter_select, symbol_error_counter;
	u8	link_error_recovery_counter, link_downed_counter;
	__be16	port_rcv_errors, port_rcv_remphys_errors, port_rcv_switch_relay_errors;
	__be16	port_xmit_discards;
	u8	others[4];
	__be16	reserved2, vl15_dropped;
	__be32	port_xmit_data, port_rcv_data, port_xmit_packets, port_rcv_packets, port_xmit_wait;
};

struct ib_pma_portcounters_ext {
	u8	reserved, port_select;
	__be16	counter_select;
	__be32	reserved1;
	__be64	port_xmit_data, port_rcv_data, port_xmit_packets, port_rcv_packets;
	__be64	others[4];
};

#endif
