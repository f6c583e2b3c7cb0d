// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance management (IBTA 16.1): counters of the port, for ib_core's sysfs folder `counters`
 * and for MADs of a peer. A counter that would overflow stays at its largest value (16.1.3.5).
 * There is no Set, so they cannot be cleared.
 *
 * All of them are sums of counters that count for the port only, never for a QP that is bound to a
 * counter (qp_counter.c).
 */
#include <linux/minmax.h>
#include <rdma/ib_pma.h>

#include "control/pma.h"
#include "datapath/device.h"

/* Where the attribute begins in ib_mad.data. */
#define ATTRIBUTE_AT	40
#define CLASS_VERSION	1
/* 4.096 us << 18, or one second: the CPU may be busy. */
#define RESPONSE_TIME	18

static u64 sum_counter(const struct sroce_device *dev, enum sroce_counter which)
{
	return sroce_counter_sum(dev->ep.counters, which);
}

static __be16 saturate_u16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 saturate_u32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static u64 count_receive_errors(const struct sroce_device *dev)
{
	return sum_counter(dev, SROCE_CTR_RX_ICRC_ENCAPSULATED) +
	       sum_counter(dev, SROCE_CTR_DROP_TRUNCATED) +
	       sum_counter(dev, SROCE_CTR_DROP_VERSION) + sum_counter(dev, SROCE_CTR_DROP_PAD) +
	       sum_counter(dev, SROCE_CTR_DROP_PAYLOAD);
}

/* Data is counted in words of four bytes. */
static void fill_counters(const struct sroce_device *dev, struct ib_pma_portcounters *counters)
{
	*counters = (struct ib_pma_portcounters) {
		.port_select = 1,
		.link_downed_counter = min_t(u64, sum_counter(dev, SROCE_CTR_LINK_DOWNED), U8_MAX),
		.port_rcv_errors = saturate_u16(count_receive_errors(dev)),
		.port_xmit_discards = saturate_u16(sum_counter(dev, SROCE_CTR_SEND_ERR)),
		.port_xmit_data = saturate_u32(sum_counter(dev, SROCE_CTR_SENT_BYTES) / 4),
		.port_rcv_data = saturate_u32(sum_counter(dev, SROCE_CTR_RCVD_BYTES) / 4),
		.port_xmit_packets = saturate_u32(sum_counter(dev, SROCE_CTR_SENT_PKTS)),
		.port_rcv_packets = saturate_u32(sum_counter(dev, SROCE_CTR_RCVD_PKTS)),
	};
}

static void fill_long_counters(const struct sroce_device *dev,
			       struct ib_pma_portcounters_ext *counters)
{
	*counters = (struct ib_pma_portcounters_ext) {
		.port_select = 1,
		.port_xmit_data = cpu_to_be64(sum_counter(dev, SROCE_CTR_SENT_BYTES) / 4),
		.port_rcv_data = cpu_to_be64(sum_counter(dev, SROCE_CTR_RCVD_BYTES) / 4),
		.port_xmit_packets = cpu_to_be64(sum_counter(dev, SROCE_CTR_SENT_PKTS)),
		.port_rcv_packets = cpu_to_be64(sum_counter(dev, SROCE_CTR_RCVD_PKTS)),
	};
}

/* Long counters, but not by unicast and multicast. */
static void fill_class_info(struct ib_class_port_info *info)
{
	*info = (struct ib_class_port_info) {
		.base_version = IB_MGMT_BASE_VERSION,
		.class_version = CLASS_VERSION,
		.capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF,
	};
	ib_set_cpi_resp_time(info, RESPONSE_TIME);
}

/* Returns the status of the response. */
static u16 fill_attribute(const struct sroce_device *dev, const struct ib_mad *in,
			  struct ib_mad *out)
{
	void *attribute = out->data + ATTRIBUTE_AT;
	u8 port_select = in->data[ATTRIBUTE_AT + offsetof(struct ib_pma_portcounters, port_select)];

	if (in->mad_hdr.class_version != CLASS_VERSION)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		fill_class_info(attribute);
		return 0;
	case IB_PMA_PORT_COUNTERS:
		fill_counters(dev, attribute);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		fill_long_counters(dev, attribute);
		break;
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
	return port_select == 1 ? 0 : IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
}

/**
 * sroce_process_mad() - ib_device_ops.process_mad
 * @ibdev: device
 * @flags: unused
 * @port_num: 1
 * @in_wc: the completion of a MAD from the network, else NULL; unused
 * @in_grh: its GRH; unused
 * @in: the MAD; only its base version and its length have been checked
 * @out: the response
 * @out_mad_size: unused: all MADs have the same size
 * @out_mad_pkey_index: unused
 *
 * Answers Get of performance management, and rejects Set. Responses are left to local programs.
 *
 * Return: IB_MAD_RESULT_*.
 */
int sroce_process_mad(struct ib_device *ibdev, int flags, u32 port_num, const struct ib_wc *in_wc,
		      const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_mad_size, u16 *out_mad_pkey_index)
{
	u8 method = in->mad_hdr.method;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET))
		return IB_MAD_RESULT_SUCCESS;
	*out = (struct ib_mad) { .mad_hdr = in->mad_hdr };
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(fill_attribute(to_sroce_device(ibdev), in, out));
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
