// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// An actor makes random calls on a file, and knows which of its objects are alive.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include "sroce_abi.h"
#include "uverbs_fuzz/calls.h"

namespace uverbs_fuzz {

enum class Type { pd, cq, qp, ah, mr, mw, channel };

// A file, which several actors may share.
struct Life {
  bool native;
  // Objects of XRC and no multicast: ib_core does not set up a QP that was opened by its number for
  // commands of multicast.
  bool has_xrc;
  std::array<std::uint8_t, 16> gid;
  std::uint8_t gid_index;
  bool alone;                          // no other actor: responses are known
  std::atomic<std::uint32_t>* shared;  // handles of all actors
  std::string name;                    // for complaints
  bool may_write = true;               // a child may only use ioctl()
};

constexpr std::size_t shared_handles = 64;
inline constexpr std::uint32_t extended = IB_USER_VERBS_CMD_FLAG_EXTENDED;

template <class T>
void put(T& value, std::uint64_t number) {
  value = static_cast<T>(number);
}

struct Ring {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  std::uint8_t* mapped = nullptr;
};

// A group that a QP is attached to, as uverbs knows it.
struct Attachment {
  std::array<std::uint8_t, 16> gid;
  std::uint16_t lid;
  bool operator==(const Attachment&) const = default;
};

struct Object {
  Type type;
  std::uint32_t handle = 0;  // of a channel: the file
  std::vector<std::pair<Type, std::uint32_t>> uses = {};
  std::array<Ring, 2> rings = {};
  std::uint32_t qp_type = 0;
  std::uint32_t qpn = 0;
  int state = 0;
  bool tainted = false;  // its rings have noise, or its state is not known
  std::vector<Attachment> groups = {};
};

class Actor {
 public:
  Actor(Life& life, File& file, std::uint64_t seed)
      : life_(life), file_(file), random_(seed), exact_(life.alone), arena_(16) {}

  void open();
  void step();

 private:
  static constexpr int any = -1, failure = -2;

  void judge(int error, int expected, const char* what);
  int send(Command& command);
  int expected_of(const Command& command, bool is_right);
  Object* find(Type type, std::uint32_t handle);
  Object* pick(Type type);
  std::uint32_t handle(Type type, Object** found = nullptr);
  bool is_used(Type type, std::uint32_t handle) const;
  void add(Object object);
  std::size_t ring_bytes() const;
  std::array<Ring, 2> rings_of(Type type, std::size_t at) const;

  int get_context(const sroce_alloc_ucontext_cmd& native, std::uint32_t& version);
  void create_pd();
  void create_channel();
  void create_cq();
  void create_cq_by_method(std::uint32_t cqe);
  void create_qp();
  void create_qp_by_method(const ib_uverbs_create_qp& in, bool is_right);
  bool is_right(const ib_uverbs_create_qp& in);
  void create_ah();
  void register_dmabuf_mr();
  void register_mr();
  void allocate_mw();
  void reregister_mr();
  void create();
  void destroy();
  void destroyed(Type type, std::uint32_t handle);
  void modify();
  void query_qp();
  void multicast();
  void resize();
  int send_request(Command& command, std::size_t bytes);
  void post();
  void queue_commands();
  void queries();
  void map();
  void scribble();
  void count_handles();
  void any_method();
  void xrc();
  std::uint32_t xrc_handle(const std::vector<std::uint32_t>& handles);
  void keep_xrc(int error, const Command& command, std::vector<std::uint32_t>& handles);
  void create_xrc_srq();
  void create_xrc_target();
  void open_xrc_target();
  void destroy_xrc();

  Life& life_;
  File& file_;
  harness::Random random_;
  bool exact_;  // the model is right
  Pages arena_;
  std::vector<Object> objects_;
  std::vector<Ring> old_;  // mapped, of destroyed objects
  std::vector<std::uint32_t> xrcds_, xrc_srqs_;
  std::uint32_t target_qpn_ = 0;
};

}  // namespace uverbs_fuzz
