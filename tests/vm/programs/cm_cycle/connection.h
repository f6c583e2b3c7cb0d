// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The verbs part of an rdma_cm connection, and the transfers that each cycle verifies: the client
// SENDs, the server SENDs back, the client WRITEs to the server's memory and announces that with a
// SEND.
#pragma once

#include "cm_cycle/cm.h"
#include "verbs/cq.h"
#include "verbs/memory.h"

namespace cm_cycle {

class Connection {
 public:
  // Creates CQs, a QP (with rdma_create_qp) and memory on the device that `id` is bound to.
  explicit Connection(rdma_cm_id* id);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  Hello hello(std::uint32_t magic, std::uint32_t cycle, std::uint32_t wants,
              std::uint64_t seed) const;
  void post_receives();

  void talk_as_client(const Hello& server, std::uint64_t seed);
  void talk_as_server(std::uint64_t seed);

 private:
  enum Slot : std::size_t { first_receive, second_receive, outgoing, write_target, slots };

  std::span<std::byte> slot(Slot which) const;
  ibv_sge sge(Slot which) const;
  void send(ibv_wr_opcode opcode, std::uint64_t seed, std::uint64_t remote, std::uint32_t rkey);
  void expect_completion(ibv_wc_opcode opcode, const char* what);
  void expect_data(Slot which, std::uint64_t seed, const char* what) const;

  rdma_cm_id* id_;
  // Two, because sends and receives complete in no particular order.
  verbs::Handle<ibv_cq, ibv_destroy_cq> send_cq_;
  verbs::Handle<ibv_cq, ibv_destroy_cq> recv_cq_;
  verbs::Pages pages_;
  verbs::Handle<ibv_mr, ibv_dereg_mr> mr_;
};

}  // namespace cm_cycle
