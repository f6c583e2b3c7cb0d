/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints that are off. */
#ifndef STAND_IN_TRACE_H
#define STAND_IN_TRACE_H

#include "net/counters.h"

#define trace_sroce_drop(...)			((void)0)
#define trace_sroce_ack_plan(...)		((void)0)
#define trace_sroce_recv_plan(...)		((void)0)
#define trace_sroce_response_plan(...)		((void)0)
#define trace_sroce_send_plan(...)		((void)0)
#define trace_sroce_page_fault(...)		((void)0)
#define trace_sroce_marked(...)			((void)0)
#define trace_sroce_congestion(...)		((void)0)
#define trace_sroce_congestion_enabled()	false

#endif
