// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <vector>

#include "port/engine.h"

namespace {

constexpr sroce_wqe_limits kRc = {
    .service = SROCE_SERVICE_RC, .max_sge = 4, .max_inline_bytes = 64, .mtu_bytes = 1024};
constexpr sroce_wqe_limits kUc = {
    .service = SROCE_SERVICE_UC, .max_sge = 4, .max_inline_bytes = 64, .mtu_bytes = 1024};
constexpr sroce_wqe_limits kUd = {
    .service = SROCE_SERVICE_UD, .max_sge = 4, .max_inline_bytes = 64, .mtu_bytes = 1024};

constexpr u8 kPayloadOpcodes[] = {SROCE_WR_WRITE, SROCE_WR_WRITE_IMM, SROCE_WR_SEND,
                                  SROCE_WR_SEND_IMM, SROCE_WR_SEND_INV};

// A work request in storage that ends with its scatter/gather list.
class Wqe {
 public:
  Wqe(u8 opcode, std::initializer_list<u32> sge_lengths)
      : storage_((offsetof(sroce_send_wqe, sge) + sge_lengths.size() * sizeof(sroce_sge) + 7) / 8) {
    get()->opcode = opcode;
    for (u32 length : sge_lengths) {
      get()->sge[get()->num_sge++].length = length;
      get()->length += length;
    }
  }

  Wqe& inline_payload(u32 bytes) {
    get()->flags |= SROCE_SEND_INLINE;
    get()->num_sge = 0;
    get()->length = bytes;
    return *this;
  }
  Wqe& length(u32 bytes) {
    get()->length = bytes;
    return *this;
  }
  Wqe& flush(u8 placement, u8 level, u32 bytes = 8) {
    get()->flush.placement = placement;
    get()->flush.level = level;
    get()->flush.length = bytes;
    return *this;
  }
  Wqe& claim_sges(u32 count) {
    get()->num_sge = count;
    return *this;
  }

  sroce_wc_status check(const sroce_wqe_limits& limits = kRc) {
    return sroce_wqe_check(get(), &limits);
  }

 private:
  sroce_send_wqe* get() { return reinterpret_cast<sroce_send_wqe*>(storage_.data()); }
  std::vector<u64> storage_;
};

TEST(WqeCheck, EveryReliableOperationIsAccepted) {
  for (u8 opcode : kPayloadOpcodes) EXPECT_EQ(Wqe(opcode, {100, 23}).check(), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_READ, {4096}).check(), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_COMPARE_SWAP, {8}).check(), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_FETCH_ADD, {8}).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, UcSendsAndWritesMessagesOfAnyLength) {
  for (u8 opcode : {SROCE_WR_WRITE, SROCE_WR_WRITE_IMM, SROCE_WR_SEND, SROCE_WR_SEND_IMM})
    EXPECT_EQ(Wqe(opcode, {4096, 23}).check(kUc), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_REG_MR, {}).check(kUc), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_BIND_MW, {}).check(kUc), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, UcHasNoOperationThatNeedsAResponse) {
  for (u8 opcode : {SROCE_WR_READ, SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD, SROCE_WR_SEND_INV,
                    SROCE_WR_ATOMIC_WRITE, SROCE_WR_FLUSH})
    EXPECT_EQ(Wqe(opcode, {8}).check(kUc), SROCE_WC_LOC_QP_OP_ERR);
}

TEST(WqeCheck, LocalOperationsAreAccepted) {
  for (u8 opcode : {SROCE_WR_LOCAL_INV, SROCE_WR_BIND_MW, SROCE_WR_REG_MR})
    EXPECT_EQ(Wqe(opcode, {}).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, UnknownOpcodeCompletesWithAnError) {
  for (int opcode : {10, 11, 13, 16, 31, 33, 64, 255})
    EXPECT_EQ(Wqe(static_cast<u8>(opcode), {}).check(), SROCE_WC_LOC_QP_OP_ERR) << opcode;
}

TEST(WqeCheck, EmptyMessageIsAccepted) {
  for (u8 opcode : kPayloadOpcodes) EXPECT_EQ(Wqe(opcode, {}).check(), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_READ, {}).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, MessageHasAtMostTwoToThe31Bytes) {
  EXPECT_EQ(Wqe(SROCE_WR_WRITE, {1u << 31}).check(), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_WRITE, {1u << 31, 1}).check(), SROCE_WC_LOC_LEN_ERR);
}

TEST(WqeCheck, LengthOtherThanTheSumOfItsSgesIsRejected) {
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {10, 20}).length(31).check(), SROCE_WC_LOC_LEN_ERR);
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {10, 20}).length(29).check(), SROCE_WC_LOC_LEN_ERR);
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {}).length(1).check(), SROCE_WC_LOC_LEN_ERR);
}

TEST(WqeCheck, SumThatWraps32BitsIsRejected) {
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {0x80000000, 0x80000000}).length(0).check(), SROCE_WC_LOC_LEN_ERR);
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {0xffffffff, 2}).length(1).check(), SROCE_WC_LOC_LEN_ERR);
}

TEST(WqeCheck, TooManySgesAreRejectedUnread) {
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {1, 1, 1, 1}).check(), SROCE_WC_SUCCESS);
  EXPECT_NE(Wqe(SROCE_WR_SEND, {1, 1, 1, 1}).claim_sges(5).check(), SROCE_WC_SUCCESS);
  EXPECT_NE(Wqe(SROCE_WR_SEND, {}).claim_sges(0xffffffff).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, InlinePayloadUpToTheLimitIsAccepted) {
  for (u8 opcode : kPayloadOpcodes) {
    EXPECT_EQ(Wqe(opcode, {}).inline_payload(0).check(), SROCE_WC_SUCCESS);
    EXPECT_EQ(Wqe(opcode, {}).inline_payload(64).check(), SROCE_WC_SUCCESS);
    EXPECT_EQ(Wqe(opcode, {}).inline_payload(65).check(), SROCE_WC_LOC_LEN_ERR);
  }
}

TEST(WqeCheck, ReadsAndAtomicsCannotBeInline) {
  for (u8 opcode : {SROCE_WR_READ, SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD})
    EXPECT_NE(Wqe(opcode, {}).inline_payload(8).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, AtomicReturnsExactlyEightBytes) {
  for (u8 opcode : {SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD}) {
    EXPECT_EQ(Wqe(opcode, {4, 4}).check(), SROCE_WC_SUCCESS);
    EXPECT_EQ(Wqe(opcode, {7}).check(), SROCE_WC_LOC_LEN_ERR);
    EXPECT_EQ(Wqe(opcode, {9}).check(), SROCE_WC_LOC_LEN_ERR);
    EXPECT_EQ(Wqe(opcode, {}).check(), SROCE_WC_LOC_LEN_ERR);
  }
}

TEST(WqeCheck, AtomicWriteHasExactlyEightBytes) {
  EXPECT_EQ(Wqe(SROCE_WR_ATOMIC_WRITE, {4, 4}).check(), SROCE_WC_SUCCESS);
  for (u32 bytes : {0u, 7u, 9u}) {
    EXPECT_EQ(Wqe(SROCE_WR_ATOMIC_WRITE, {bytes}).check(), SROCE_WC_LOC_LEN_ERR);
    EXPECT_EQ(Wqe(SROCE_WR_ATOMIC_WRITE, {}).inline_payload(bytes).check(), SROCE_WC_LOC_LEN_ERR);
  }
}

TEST(WqeCheck, AtomicWriteMayBeInline) {
  EXPECT_EQ(Wqe(SROCE_WR_ATOMIC_WRITE, {}).inline_payload(8).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, FlushAsksForWhatTheStandardDefines) {
  for (u8 placement = 0; placement < 5; placement++)
    for (u8 level = 0; level < 3; level++)
      EXPECT_EQ(Wqe(SROCE_WR_FLUSH, {}).flush(placement, level).check(),
                placement >= 1 && placement <= 3 && level <= 1 ? SROCE_WC_SUCCESS
                                                               : SROCE_WC_LOC_QP_OP_ERR);
}

TEST(WqeCheck, FlushHasNoPayload) {
  EXPECT_EQ(Wqe(SROCE_WR_FLUSH, {8}).flush(1, 0).check(), SROCE_WC_LOC_LEN_ERR);
  EXPECT_NE(Wqe(SROCE_WR_FLUSH, {}).flush(1, 0).inline_payload(8).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, FlushedRangeIsAsLongAsAMessageAtMost) {
  constexpr u32 kLongest = 1u << 31;
  EXPECT_EQ(Wqe(SROCE_WR_FLUSH, {}).flush(1, SROCE_FLUSH_RANGE, kLongest).check(),
            SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_FLUSH, {}).flush(1, SROCE_FLUSH_RANGE, kLongest + 1).check(),
            SROCE_WC_LOC_LEN_ERR);
  EXPECT_EQ(Wqe(SROCE_WR_FLUSH, {}).flush(1, SROCE_FLUSH_MR, ~0u).check(), SROCE_WC_SUCCESS);
}

TEST(WqeCheck, DatagramQueuesOnlySend) {
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {64}).check(kUd), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_SEND_IMM, {64}).check(kUd), SROCE_WC_SUCCESS);
  for (u8 opcode : {SROCE_WR_WRITE, SROCE_WR_WRITE_IMM, SROCE_WR_READ, SROCE_WR_COMPARE_SWAP,
                    SROCE_WR_FETCH_ADD, SROCE_WR_SEND_INV, SROCE_WR_LOCAL_INV, SROCE_WR_BIND_MW,
                    SROCE_WR_ATOMIC_WRITE, SROCE_WR_FLUSH})
    EXPECT_EQ(Wqe(opcode, {8}).check(kUd), SROCE_WC_LOC_QP_OP_ERR) << int{opcode};
}

TEST(WqeCheck, DatagramFitsThePathMtu) {
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {1024}).check(kUd), SROCE_WC_SUCCESS);
  EXPECT_EQ(Wqe(SROCE_WR_SEND, {1025}).check(kUd), SROCE_WC_LOC_LEN_ERR);
}

TEST(WqeCheck, LocalOperationIgnoresThePayload) {
  EXPECT_EQ(Wqe(SROCE_WR_LOCAL_INV, {}).claim_sges(1000).length(5).check(), SROCE_WC_SUCCESS);
}

TEST(WqeWcOpcode, CompletionsNameTheOperation) {
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_SEND), SROCE_WC_SEND);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_SEND_IMM), SROCE_WC_SEND);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_SEND_INV), SROCE_WC_SEND);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_WRITE), SROCE_WC_WRITE);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_WRITE_IMM), SROCE_WC_WRITE);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_READ), SROCE_WC_READ);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_COMPARE_SWAP), SROCE_WC_COMPARE_SWAP);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_FETCH_ADD), SROCE_WC_FETCH_ADD);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_LOCAL_INV), SROCE_WC_LOCAL_INV);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_REG_MR), SROCE_WC_REG_MR);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_BIND_MW), SROCE_WC_BIND_MW);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_FLUSH), SROCE_WC_FLUSH);
  EXPECT_EQ(sroce_wqe_wc_opcode(SROCE_WR_ATOMIC_WRITE), SROCE_WC_ATOMIC_WRITE);
}

TEST(WqeWcOpcode, UnknownOperationHasANumberOfVerbs) {
  for (int opcode : {10, 13, 16, 255})
    EXPECT_EQ(sroce_wqe_wc_opcode(static_cast<u8>(opcode)), SROCE_WC_SEND) << opcode;
}

TEST(WqeKind, SomeRequestsGetAResponseEach) {
  for (u8 opcode : {SROCE_WR_READ, SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD, SROCE_WR_FLUSH,
                    SROCE_WR_ATOMIC_WRITE})
    EXPECT_TRUE(wqe_is_rd_atomic(opcode));
  for (u8 opcode : kPayloadOpcodes) EXPECT_FALSE(wqe_is_rd_atomic(opcode));
}

TEST(WqeKind, LocalOperationsSendNoPacket) {
  const std::set<int> local = {SROCE_WR_LOCAL_INV, SROCE_WR_BIND_MW, SROCE_WR_REG_MR};
  for (int opcode = 0; opcode < 256; opcode++)
    EXPECT_EQ(wqe_is_local(static_cast<u8>(opcode)), local.contains(opcode)) << opcode;
}

TEST(WqeKind, AtomicsReturnTheValueBefore) {
  for (u8 opcode : {SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD}) EXPECT_TRUE(wqe_is_atomic(opcode));
  for (u8 opcode : {SROCE_WR_ATOMIC_WRITE, SROCE_WR_READ, SROCE_WR_WRITE})
    EXPECT_FALSE(wqe_is_atomic(opcode)) << int{opcode};
}

TEST(WqeKind, FlushAndAtomicWriteGetAResponseWithoutData) {
  for (u8 opcode : {SROCE_WR_FLUSH, SROCE_WR_ATOMIC_WRITE}) EXPECT_TRUE(wqe_is_placement(opcode));
  for (u8 opcode : {SROCE_WR_READ, SROCE_WR_FETCH_ADD, SROCE_WR_WRITE})
    EXPECT_FALSE(wqe_is_placement(opcode)) << int{opcode};
}

TEST(WqeKind, SendsAndWritesThatHavePacketsAreData) {
  sroce_send_wqe wqe{};
  wqe.psn_count = 1;
  for (u8 opcode : kPayloadOpcodes) {
    wqe.opcode = opcode;
    EXPECT_TRUE(wqe_is_data(&wqe)) << int{opcode};
  }
  for (u8 opcode : {SROCE_WR_READ, SROCE_WR_FETCH_ADD, SROCE_WR_FLUSH, SROCE_WR_ATOMIC_WRITE}) {
    wqe.opcode = opcode;
    EXPECT_FALSE(wqe_is_data(&wqe)) << int{opcode};
  }
  wqe.opcode = SROCE_WR_SEND;
  wqe.psn_count = 0;
  EXPECT_FALSE(wqe_is_data(&wqe)) << "it failed when it was posted";
}

TEST(WqeEndPsn, FollowsTheLastPacketAndWraps) {
  sroce_send_wqe wqe{};
  wqe.psn_count = 5;
  wqe.first_psn = 100;
  EXPECT_EQ(105u, wqe_end_psn(&wqe));
  wqe.first_psn = 0xfffffe;
  EXPECT_EQ(3u, wqe_end_psn(&wqe));
}

TEST(WqeFlush, PlacementTypesOfTheStandard) {
  for (u8 placement : {1, 2, 3}) EXPECT_TRUE(sroce_flush_is_valid(placement, SROCE_FLUSH_RANGE));
  for (u8 placement : {0, 4, 5, 8, 0x80})
    EXPECT_FALSE(sroce_flush_is_valid(placement, SROCE_FLUSH_RANGE)) << int{placement};
}

TEST(WqeFlush, LevelsOfTheStandard) {
  EXPECT_TRUE(sroce_flush_is_valid(SROCE_FLUSH_GLOBAL, 1)) << "a whole region";
  for (u8 level : {2, 3}) EXPECT_FALSE(sroce_flush_is_valid(SROCE_FLUSH_GLOBAL, level));
}

TEST(WqeFlush, OnlyTheLengthOfARangeMatters) {
  constexpr u32 kLongest = 1u << 31;
  EXPECT_TRUE(sroce_flush_length_is_valid(SROCE_FLUSH_RANGE, kLongest));
  EXPECT_FALSE(sroce_flush_length_is_valid(SROCE_FLUSH_RANGE, kLongest + 1));
  EXPECT_TRUE(sroce_flush_length_is_valid(SROCE_FLUSH_MR, kLongest + 1));
}

}  // namespace
