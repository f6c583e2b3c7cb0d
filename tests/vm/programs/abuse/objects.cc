// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Many objects.
#include <unistd.h>

#include <functional>
#include <vector>

#include "abuse/abuse.h"
#include "harness/failure.h"
#include "harness/tap.h"

namespace abuse {
namespace {

using harness::expect;
using harness::text;

// Errors that say that there is no more of something.
bool is_clear(int error) { return error == ENOMEM || error == EBUSY || error == ENOSPC; }

class Hoard {
 public:
  explicit Hoard(const Bench& bench)
      : bench_(bench), pd_(verbs::make_pd(bench.far)), cq_(bench.far, 1), page_(4096) {}

  // Creates up to `count` objects of each kind. Returns how many, and the error at the end if any.
  std::string fill(std::uint64_t count) {
    return text(
        "PDs ", more(pds_, count, [&] { return ibv_alloc_pd(bench_.far.get()); }), ", CQs ",
        more(cqs_, count, [&] { return ibv_create_cq(bench_.far.get(), 1, nullptr, nullptr, 0); }),
        ", MRs ", more(mrs_, count, [&] { return ibv_reg_mr(pd_.get(), page_.data(), 0, 0); }),
        ", QPs ", more(qps_, count, [&] { return make_qp(); }), ", AHs ", fill_ahs(count));
  }

  std::string fill_ahs(std::uint64_t count) {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = verbs::port_number;
    attr.grh.dgid = bench_.far.gid(bench_.far_gid);
    attr.grh.sgid_index = static_cast<std::uint8_t>(bench_.far_gid);
    return more(ahs_, count, [&] { return ibv_create_ah(pd_.get(), &attr); });
  }

 private:
  using QpHandle = verbs::Handle<ibv_qp, ibv_destroy_qp>;
  using CqHandle = verbs::Handle<ibv_cq, ibv_destroy_cq>;

  template <class Object, class Make>
  std::string more(std::vector<Object>& objects, std::uint64_t count, Make make) {
    while (objects.size() < count) {
      errno = 0;
      Object object(make());
      if (!object) {
        const int error = errno;
        expect(is_clear(error), "after ", objects.size(), " objects: ", std::strerror(error));
        return text(objects.size(), " (", std::strerror(error), ")");
      }
      objects.push_back(std::move(object));
    }
    return text(objects.size());
  }

  ibv_qp* make_qp() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_.get();
    init.qp_type = IBV_QPT_RC;
    init.cap = {1, 1, 1, 1, 0};
    return ibv_create_qp(pd_.get(), &init);
  }

  const Bench& bench_;
  verbs::Pd pd_;
  verbs::Cq cq_;
  verbs::Pages page_;
  std::vector<verbs::Pd> pds_;
  std::vector<CqHandle> cqs_;
  std::vector<verbs::Mr> mrs_;
  std::vector<verbs::Ah> ahs_;
  std::vector<QpHandle> qps_;
};

}  // namespace

void exhaust(const Bench& bench) {
  constexpr std::uint64_t beyond_the_limit = 1 << 10;
  Hoard hoard(bench);
  harness::note(hoard.fill(bench.count));
  const auto limit = static_cast<std::uint64_t>(bench.far.device().max_ah);
  const std::string ahs = hoard.fill_ahs(limit + beyond_the_limit);
  harness::note(text("AHs, of ", limit, ": ", ahs));
  expect(ahs.find('(') != std::string::npos, "more address handles than the device has");
  harness::note("all created");
  ::pause();
}

void churn(const Bench& bench) {
  constexpr std::uint64_t objects = 100;
  Repeat repeat(bench);
  while (repeat.again()) Hoard(bench).fill(objects);
  harness::note(text(repeat.done(), " times ", objects, " objects of each kind"));
}

}  // namespace abuse
