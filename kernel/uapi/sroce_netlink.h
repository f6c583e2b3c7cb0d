/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The generic netlink family "sroce": parameters of devices, and the state of
 * their queue pairs. Documentation/netlink/sroce.yaml describes it for programs.
 *
 * A caller sees the devices that `rdma dev` shows it. Numbers are in host byte
 * order. An absent attribute means that there is no such limit, or that the
 * value is not known.
 */
#ifndef SROCE_UAPI_SROCE_NETLINK_H
#define SROCE_UAPI_SROCE_NETLINK_H

#define SROCE_GENL_NAME		"sroce"
#define SROCE_GENL_VERSION	1

enum {
	SROCE_CMD_UNSPEC,
	SROCE_CMD_DEV_GET,	/* do: DEV_NAME; dump: all, or DEV_NAME */
	SROCE_CMD_DEV_SET,	/* do: DEV_NAME, PARAM...; all of them or none; CAP_NET_ADMIN */
	SROCE_CMD_QP_GET,	/* dump: all, or those of DEV_NAME; CAP_NET_ADMIN */
	__SROCE_CMD_MAX
};

#define SROCE_CMD_MAX	(__SROCE_CMD_MAX - 1)

enum {
	SROCE_A_UNSPEC,
	SROCE_A_PAD,
	SROCE_A_DEV_INDEX,	/* u32, as of RDMA_NLDEV_ATTR_DEV_INDEX */
	SROCE_A_DEV_NAME,	/* string */
	SROCE_A_LINE_RATE,	/* u64, bytes/s; absent: the interface reports none */
	SROCE_A_PARAM,		/* nest of SROCE_A_PARAM_*, repeated */
	SROCE_A_QPN,		/* u32 */
	SROCE_A_QP_TYPE,	/* u8, enum ib_qp_type: 1 GSI, 2 RC, 3 UC, 4 UD, 9 and 10 XRC */
	SROCE_A_QP_STATE,	/* u8, enum ib_qp_state: 0 RESET ... 6 ERR */
	SROCE_A_PEER_QPN,	/* u32; absent, like the next three: not connected */
	SROCE_A_LOCAL_ADDRESS,	/* 16 bytes: IPv6, or IPv4 as ::ffff:a.b.c.d */
	SROCE_A_PEER_ADDRESS,	/* 16 bytes */
	SROCE_A_SELECTIVE,	/* u8, enum sroce_nl_selective */
	SROCE_A_SQ,		/* nest of SROCE_A_WQ_*: outgoing requests */
	SROCE_A_RQ,		/* nest of SROCE_A_WQ_*: incoming requests and READ responses */
	SROCE_A_SRQN,		/* u32, as of `rdma resource show srq`; absent: no shared queue */
	__SROCE_A_MAX
};

#define SROCE_A_MAX	(__SROCE_A_MAX - 1)

enum {
	SROCE_A_PARAM_UNSPEC,
	SROCE_A_PARAM_NAME,	/* string */
	SROCE_A_PARAM_VALUE,	/* u32 */
	SROCE_A_PARAM_TEXT,	/* string: in DEV_SET, one of the choices instead of a value */
	SROCE_A_PARAM_MIN,	/* u32 */
	SROCE_A_PARAM_MAX,	/* u32 */
	SROCE_A_PARAM_DEFAULT,	/* u32 */
	SROCE_A_PARAM_UNIT,	/* string; absent: a plain number */
	SROCE_A_PARAM_CHOICE,	/* string, repeated: names of the values from 0 on */
	__SROCE_A_PARAM_MAX
};

#define SROCE_A_PARAM_MAX_ATTR	(__SROCE_A_PARAM_MAX - 1)

enum {
	SROCE_A_WQ_UNSPEC,
	SROCE_A_WQ_PAD,
	SROCE_A_WQ_CC,			/* string: algorithm; absent: not started */
	SROCE_A_WQ_CC_STATE,		/* string */
	SROCE_A_WQ_RATE,		/* u64, bytes/s; absent: no limit */
	SROCE_A_WQ_RESERVED_5,		/* was TARGET_RATE: now in CC_INFO */
	SROCE_A_WQ_CWND,		/* u32, 1/256 packet; absent: no limit */
	SROCE_A_WQ_RESERVED_7,		/* was ALPHA: now in CC_INFO */
	SROCE_A_WQ_CNP_HANDLED,		/* u64: CNPs that the algorithm used */
	SROCE_A_WQ_CUTS,		/* u64: decreases of rate or window */
	SROCE_A_WQ_SRTT_NS,		/* u32; from here to PROBES of SQ only; absent: not known */
	SROCE_A_WQ_RTTVAR_NS,		/* u32 */
	SROCE_A_WQ_MIN_RTT_NS,		/* u32 */
	SROCE_A_WQ_INFLIGHT,		/* u32: packets sent and not acknowledged */
	SROCE_A_WQ_RETRANSMITS,		/* u64: packets */
	SROCE_A_WQ_TIMEOUTS,		/* u64: expiries of the ACK timer */
	SROCE_A_WQ_PROBES,		/* u64: tail loss probes */
	SROCE_A_WQ_REORDER_PACKETS,	/* u32; from here to CNP_SENT of RQ only: out of order */
	SROCE_A_WQ_REORDER_BYTES,	/* u32: memory for them */
	SROCE_A_WQ_ECN_MARKED,		/* u64: packets received with CE */
	SROCE_A_WQ_CNP_SENT,		/* u64 */
	SROCE_A_WQ_CC_INFO,		/* nest of SROCE_A_CC_INFO_*, repeated: of the algorithm */
	SROCE_A_WQ_WQES,		/* u32: posted and, SQ: not completed, RQ: not taken */
	__SROCE_A_WQ_MAX
};

#define SROCE_A_WQ_MAX	(__SROCE_A_WQ_MAX - 1)

enum {
	SROCE_A_CC_INFO_UNSPEC,
	SROCE_A_CC_INFO_PAD,
	SROCE_A_CC_INFO_KEY,		/* string: a word */
	SROCE_A_CC_INFO_VALUE,		/* u64 */
	SROCE_A_CC_INFO_FORMAT,		/* u8, enum sroce_nl_cc_format */
	__SROCE_A_CC_INFO_MAX
};

#define SROCE_A_CC_INFO_MAX	(__SROCE_A_CC_INFO_MAX - 1)

/* Meaning of SROCE_A_CC_INFO_VALUE. */
enum sroce_nl_cc_format {
	SROCE_NL_CC_NUMBER,
	SROCE_NL_CC_RATE,		/* bytes/s */
	SROCE_NL_CC_NS,
	SROCE_NL_CC_FRACTION,		/* of SROCE_NL_CC_ONE */
};

#define SROCE_NL_CC_ONE		(1u << 30)

/* Of a connected QP: does the peer support selective repeat? */
enum sroce_nl_selective {
	SROCE_NL_SELECTIVE_OFFERED,	/* before its first response */
	SROCE_NL_SELECTIVE_ON,
	SROCE_NL_SELECTIVE_OFF,
	SROCE_NL_SELECTIVE_WITHDRAWN,	/* after silence, or responses that do not accept it */
};

#endif
