// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A connection whose far end gives the near one access to its memory by memory windows.
#pragma once

#include <memory>
#include <vector>

#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"

namespace mw {

using verbs::Devices;

inline constexpr auto timeout = std::chrono::seconds(20);
inline constexpr std::byte untouched{0xee};
inline constexpr unsigned all_access =
    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
inline constexpr int region_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

// The part of the region that a window is bound to.
struct Range {
  std::size_t offset, length;
  unsigned access = all_access;
};

class Stage {
 public:
  static constexpr std::size_t region_bytes = 20'000;

  explicit Stage(const Devices& devices, ibv_qp_type type = IBV_QPT_RC,
                 std::shared_ptr<verbs::Pd> far_pd = nullptr);

  verbs::Endpoint& near() { return *near_; }
  verbs::Endpoint& far() { return *far_; }
  ibv_mr* region() const { return region_.get(); }
  std::span<std::byte> bytes() const { return memory_.span(); }
  std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory_.data()) + offset;
  }

  // For a verbs::Mw, which cannot be the result of a function of another file: ibv_dealloc_mw()
  // is static.
  ibv_mw* make_window(ibv_mw_type type);
  ibv_mw_bind_info info(const Range& range) const;
  // Binds by ibv_bind_mw() if it is of type 1, and returns the status of the completion. 0 in
  // `error` means that it was posted.
  ibv_wc_status try_bind(ibv_mw* window, const ibv_mw_bind_info& info, int& error);
  // Binds by ibv_post_send(), whatever the type. That leaves the checks to the kernel.
  ibv_wc_status post_bind(ibv_mw* window, const ibv_mw_bind_info& info);
  void bind(ibv_mw* window, const Range& range);
  // Of type 1. The region is named all the same, because librxe 44 reads it.
  void unbind(ibv_mw* window);
  // LOCAL_INV by the far end.
  ibv_wc_status invalidate(std::uint32_t rkey);

  // A request of the near end to `remote`, an address that the key permits.
  ibv_wc_status request(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote,
                        std::size_t length);
  void expect_permitted(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote,
                        std::size_t length);
  // The request must fail with IBV_WC_REM_ACCESS_ERR and change nothing. Connects again.
  void expect_rejected(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote,
                       std::size_t length);
  void reconnect();

 private:
  ibv_wc_status bind_status();

  std::unique_ptr<verbs::Endpoint> near_, far_;
  verbs::Pages memory_;
  verbs::Mr region_;
};

void run_access_cases(harness::Tap& tap, const Devices& devices);
void run_life_cases(harness::Tap& tap, const Devices& devices);
void run_error_cases(harness::Tap& tap, const Devices& devices);
void run_revoke_cases(harness::Tap& tap, const Devices& devices, bool loses);
// Exits with bound windows, which the kernel must free.
[[noreturn]] void abandon(const Devices& devices);

}  // namespace mw
