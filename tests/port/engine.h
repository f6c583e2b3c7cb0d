/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The engine's headers for C++ code: tests, the simulator and the fuzzers. */
#ifndef TESTS_PORT_ENGINE_H
#define TESTS_PORT_ENGINE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

extern "C" {
#include "transport/access.h"
#include "transport/ack_codes.h"
#include "transport/cc.h"
#include "transport/completer.h"
#include "transport/notification_point.h"
#include "transport/opcode.h"
#include "transport/packet.h"
#include "transport/psn.h"
#include "transport/requester.h"
#include "transport/requester_plan.h"
#include "transport/requester_state.h"
#include "transport/responder.h"
#include "transport/responder_resources.h"
#include "transport/response.h"
#include "transport/tlp.h"
#include "transport/uc.h"
#include "transport/ud.h"
#include "transport/wire.h"
#include "transport/wqe.h"
}

#endif
