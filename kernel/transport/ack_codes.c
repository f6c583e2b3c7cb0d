// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RNR timer codes, the local ACK timeout, and the completion status of each NAK code.
 */
#include "transport/ack_codes.h"
#include "transport/wire.h"

/* IBTA table 45: RNR NAK timer codes, in microseconds. */
static const u32 rnr_wait_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880,
	163840, 245760, 327680, 491520,
};

/**
 * sroce_rnr_wait_ns() - how long the sender must wait after an RNR NAK
 * @code: five-bit timer code
 *
 * Return: nanoseconds.
 */
u64 sroce_rnr_wait_ns(u8 code)
{
	return (u64)rnr_wait_us[code & SROCE_AETH_VALUE_MASK] * 1000;
}

/**
 * sroce_ack_timeout_ns() - the local ACK timeout
 * @exponent: as in the QP attribute: 4.096 us * 2^@exponent, 0 for none
 *
 * Return: nanoseconds, 0 for no timeout (IBTA 9.7.6.1.3).
 */
u64 sroce_ack_timeout_ns(u8 exponent)
{
	exponent &= 0x1f;
	return exponent ? 4096ull << exponent : 0;
}

/**
 * sroce_nak_wc_status() - completion status for a NAK that ends the request
 * @syndrome: AETH syndrome
 *
 * Return: enum sroce_wc_status; SROCE_WC_SUCCESS for all but the fatal NAK codes.
 */
enum sroce_wc_status sroce_nak_wc_status(u8 syndrome)
{
	switch (syndrome) {
	case SROCE_NAK_INVALID_REQUEST:
		return SROCE_WC_REM_INV_REQ_ERR;
	case SROCE_NAK_REMOTE_ACCESS:
		return SROCE_WC_REM_ACCESS_ERR;
	case SROCE_NAK_REMOTE_OPERATION:
		return SROCE_WC_REM_OP_ERR;
	default:
		return SROCE_WC_SUCCESS;
	}
}
