// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// netlink_fuzz: random messages to the generic netlink family and to rdma's link messages, while
// devices and QPs come and go. The caller checks the kernel log.
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "harness/args.h"
#include "harness/failure.h"
#include "harness/random.h"
#include "harness/tap.h"
#include "sroce_netlink.h"

namespace {

using fuzz::ask;
using fuzz::Bytes;
using fuzz::complain;
using fuzz::each_attr;
using fuzz::Message;
using fuzz::Reading;
using fuzz::Response;
using fuzz::tally;
using harness::Deadline;
using harness::Random;
using harness::text;
using std::chrono::seconds;

constexpr const char* usage =
    R"(usage: netlink_fuzz --dev A --gid a --judged B --interface I [--seed N] [--seconds S | --count N]

Actors send random messages for S seconds (default 10), or N messages each. QPs come and go on A, and
devices fuzz_0 to fuzz_3 on the interfaces fuzz0 and fuzz1. B, on the interface I,
stays, and nothing else changes its parameters.)";

struct Setup {
  std::string dev;
  std::string judged;
  std::string interface;
  int gid;
  std::uint64_t seed;
  std::uint64_t count;
  seconds span;
  std::uint16_t family;
};

// --- devices as the family shows them ----------------------------------------

struct Param {
  std::string name;
  std::uint32_t value = 0, min = 0, max = 0;
  std::vector<std::string> choices;
};

struct Shown {
  std::uint32_t index = 0;
  std::string name;
  std::vector<Param> params;
  std::uint32_t qpn = 0;
};

std::string string_of(const std::uint8_t* data, std::size_t bytes) {
  harness::expect(bytes && data[bytes - 1] == 0, "the kernel sent an unterminated string");
  return reinterpret_cast<const char*>(data);
}

std::uint32_t u32_of(const std::uint8_t* data, std::size_t bytes) {
  std::uint32_t value = 0;
  harness::expect(bytes == sizeof(value), "the kernel sent a number of ", bytes, " bytes");
  std::memcpy(&value, data, sizeof(value));
  return value;
}

Param parse_param(const std::uint8_t* nest, std::size_t length) {
  Param param;
  each_attr(nest, length, [&](int type, const std::uint8_t* data, std::size_t bytes) {
    switch (type) {
      case SROCE_A_PARAM_NAME:
        param.name = string_of(data, bytes);
        break;
      case SROCE_A_PARAM_VALUE:
        param.value = u32_of(data, bytes);
        break;
      case SROCE_A_PARAM_MIN:
        param.min = u32_of(data, bytes);
        break;
      case SROCE_A_PARAM_MAX:
        param.max = u32_of(data, bytes);
        break;
      case SROCE_A_PARAM_CHOICE:
        param.choices.push_back(string_of(data, bytes));
        break;
      default:
        break;
    }
  });
  harness::expect(param.value >= param.min && param.value <= param.max, param.name, " is ",
                  param.value, ", not in its range");
  return param;
}

Shown parse_reply(const Bytes& reply) {
  Shown shown;
  each_attr(reply.data(), reply.size(), [&](int type, const std::uint8_t* data, std::size_t bytes) {
    switch (type) {
      case SROCE_A_DEV_INDEX:
        shown.index = u32_of(data, bytes);
        break;
      case SROCE_A_DEV_NAME:
        shown.name = string_of(data, bytes);
        break;
      case SROCE_A_QPN:
        shown.qpn = u32_of(data, bytes);
        break;
      case SROCE_A_PARAM:
        shown.params.push_back(parse_param(data, bytes));
        break;
      default:
        break;
    }
  });
  harness::expect(!shown.name.empty(), "a reply without a device");
  return shown;
}

// --- an actor ----------------------------------------------------------------

enum class Rights { full, none };

class Actor {
 public:
  Actor(const Setup& setup, std::uint64_t number, Rights rights)
      : setup_(setup),
        random_(harness::mix(setup.seed + number)),
        number_(number),
        rights_(rights) {}

  void run();

 protected:
  Message request(std::uint8_t cmd, int flags) {
    return Message::genl(setup_.family, cmd, static_cast<std::uint16_t>(NLM_F_REQUEST | flags));
  }
  Response send(const Message& message, const Reading& reading = {},
                int protocol = NETLINK_GENERIC) {
    return ask(protocol, message.finish(++seq_), reading);
  }
  std::optional<Shown> get(const std::string& name);
  void wrong(const Response& response, const std::string& what) {
    complain(text("seed ", setup_.seed, ", actor ", number_, ", step ", step_, ": ", what,
                  " is answered with ", response.error));
  }
  std::string any_device();
  Message link_message(bool add, const std::string& name, const std::string& netdev);
  bool is_mine(std::size_t param) const { return param % 3 == number_; }

  const Setup& setup_;
  Random random_;
  std::uint64_t number_;
  Rights rights_;
  std::uint64_t step_ = 0;
  std::uint32_t seq_ = 0;

 private:
  int add_setting(Message& message, std::map<std::size_t, std::uint32_t>& values);
  void set();
  void check_judged();
  void dump();
  void mutate();
  void link();
  Message any_message();

  Shown first_;                                  // the judged device at the start
  std::map<std::size_t, std::uint32_t> wanted_;  // values of my parameters there
};

std::string Actor::any_device() {
  const std::string names[] = {
      setup_.dev, "fuzz_0", "fuzz_1", "fuzz_2",
      "fuzz_3",   "never",  "",       std::string(random_.between(60, 70), 'n')};
  return names[random_.below(std::size(names))];
}

std::optional<Shown> Actor::get(const std::string& name) {
  Message message = request(SROCE_CMD_DEV_GET, NLM_F_ACK);
  message.put_string(SROCE_A_DEV_NAME, name);
  const Response response = send(message);
  fuzz::count(response.error, {name.size() < IB_DEVICE_NAME_MAX ? ENODEV : EINVAL}, "DEV_GET");
  if (response.error) return {};
  if (response.replies.size() != 1)
    wrong(response, text("DEV_GET, with ", response.replies.size()));
  Shown shown = parse_reply(response.replies.at(0));
  harness::expect(shown.name == name, "DEV_GET of ", name, " shows ", shown.name);
  harness::expect(first_.params.empty() || shown.params.size() == first_.params.size(), name,
                  " has ", shown.params.size(), " parameters");
  return shown;
}

// Adds a parameter, right or wrong. Returns what it must be answered with, or -1 if the whole
// message does not parse, and must be answered with any error.
int Actor::add_setting(Message& message, std::map<std::size_t, std::uint32_t>& values) {
  std::size_t index = random_.below(first_.params.size());
  while (rights_ == Rights::full && !is_mine(index)) index = random_.below(first_.params.size());
  const Param& param = first_.params[index];
  const auto value = static_cast<std::uint32_t>(random_.between(param.min, param.max));
  const std::uint64_t flaw = random_.below(24);
  int error = 0;
  const std::size_t nest = message.begin_nest(SROCE_A_PARAM | (flaw == 0 ? 0 : NLA_F_NESTED));
  if (flaw == 0) error = -1;
  if (flaw == 1) {
    message.put(SROCE_A_PARAM_NAME, param.name.data(), param.name.size());
    error = -1;
  } else if (flaw == 2) {
    message.put_string(SROCE_A_PARAM_NAME, std::string(random_.between(48, 4000), 'x'));
    error = -1;
  } else if (flaw == 3) {
    message.put_string(SROCE_A_PARAM_NAME, text(param.name, random_.below(10)));
    error = EINVAL;
  } else if (flaw == 4) {
    error = EINVAL;
  } else {
    message.put_string(SROCE_A_PARAM_NAME, param.name);
  }
  if (flaw == 5 && param.max < UINT32_MAX) {
    message.put_u32(
        SROCE_A_PARAM_VALUE,
        param.max + 1 + static_cast<std::uint32_t>(random_.below(UINT32_MAX - param.max)));
    error = ERANGE;
  } else if (flaw == 6) {
    message.put(SROCE_A_PARAM_VALUE, "1234567", random_.one_in(2) ? 8 : random_.below(4));
    error = -1;
  } else if (flaw == 7) {
    error = EINVAL;  // neither number nor text
  } else if (flaw == 8) {
    message.put_u32(SROCE_A_PARAM_VALUE, value);
    message.put_string(SROCE_A_PARAM_TEXT, "on");
    error = EINVAL;
  } else if (flaw == 9) {
    message.put_string(SROCE_A_PARAM_TEXT, "no such choice");
    error = EINVAL;
  } else if (flaw == 10) {
    message.put_u32(SROCE_A_PARAM_MAX_ATTR + 1 + static_cast<int>(random_.below(50)), value);
    error = -1;
  } else if (param.choices.size() > value && random_.one_in(2)) {
    message.put_string(SROCE_A_PARAM_TEXT, param.choices[value]);
    values[index] = value;
  } else {
    message.put_u32(SROCE_A_PARAM_VALUE, value);
    values[index] = value;
  }
  message.end_nest(nest);
  return error;
}

void Actor::set() {
  Message message = request(SROCE_CMD_DEV_SET, NLM_F_ACK);
  std::map<std::size_t, std::uint32_t> values;
  int expected = 0;
  message.put_string(SROCE_A_DEV_NAME, setup_.judged);
  for (std::uint64_t left = random_.between(1, 4); left; --left) {
    const int error = add_setting(message, values);
    if (!expected || error == -1) expected = error;
  }
  const Response response = send(message);
  fuzz::count(response.error, {EINVAL, ERANGE, EPERM}, "DEV_SET");
  if (rights_ == Rights::none) {
    if (response.error != EPERM) wrong(response, "DEV_SET without a right");
    return;
  }
  if (expected == -1 ? response.error <= 0 : response.error != expected)
    wrong(response, text("DEV_SET that must be answered with ", expected));
  if (!response.error)
    for (const auto& [index, value] : values) wanted_[index] = value;
  if (response.error || random_.one_in(4)) check_judged();
}

void Actor::check_judged() {
  const auto shown = get(setup_.judged);
  if (!shown) return complain("the judged device has gone");
  for (const auto& [index, value] : wanted_)
    if (shown->params.at(index).value != value)
      complain(text("seed ", setup_.seed, ", actor ", number_, ", step ", step_, ": ",
                    shown->params[index].name, " is ", shown->params[index].value, ", not ",
                    value));
}

void Actor::dump() {
  const bool qps = random_.one_in(2);
  Message message = request(qps ? SROCE_CMD_QP_GET : SROCE_CMD_DEV_GET, NLM_F_DUMP);
  const std::string name = random_.one_in(2) ? any_device() : "";
  if (!name.empty()) message.put_string(SROCE_A_DEV_NAME, name);
  Reading reading;
  if (random_.one_in(4)) reading.messages = static_cast<int>(random_.below(3));
  if (random_.one_in(4)) reading.buffer = random_.below(300);
  if (random_.one_in(4)) reading.receive_space = 1;
  fuzz::Socket socket(NETLINK_GENERIC);
  if (reading.receive_space) socket.set_receive_space(reading.receive_space);
  const Bytes bytes = message.finish(++seq_);
  if (socket.send(bytes)) return;
  if (random_.one_in(8)) socket.send(bytes);  // while the first is in progress
  const Response response = socket.receive(reading);
  fuzz::count(response.error < 0 ? 0 : response.error, {EPERM, ENODEV, EBUSY, ENOBUFS, EINVAL},
              "dump");
  if (qps && rights_ == Rights::none && (response.error == 0 || !response.replies.empty()))
    wrong(response, "QP_GET without a right");
  for (const Bytes& reply : response.replies) {
    const Shown shown = parse_reply(reply);
    if (!name.empty() && shown.name != name)
      wrong(response, text("dump of ", name, " with ", shown.name));
  }
}

Message Actor::link_message(bool add, const std::string& name, const std::string& netdev) {
  const int op = add ? RDMA_NLDEV_CMD_NEWLINK : RDMA_NLDEV_CMD_DELLINK;
  Message message(static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op)),
                  NLM_F_REQUEST | NLM_F_ACK);
  if (add) {
    message.put_string(RDMA_NLDEV_ATTR_DEV_NAME, name);
    message.put_string(RDMA_NLDEV_ATTR_LINK_TYPE, "sroce");
    message.put_string(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
  } else {
    const auto shown = get(name);
    message.put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, shown ? shown->index : 100000);
  }
  return message;
}

void Actor::link() {
  const bool add = random_.one_in(2);
  const std::string netdevs[] = {"fuzz0", "fuzz1", "nowhere", setup_.interface};
  const std::string& netdev = netdevs[random_.below(4)];
  Message message = link_message(add, text("fuzz_", random_.below(4)), netdev);
  if (random_.one_in(4)) message.put_string(RDMA_NLDEV_ATTR_NDEV_NAME, "");
  if (random_.one_in(4)) message.put(RDMA_NLDEV_ATTR_LINK_TYPE, "sroce", random_.below(6));
  const Response response = send(message, {}, NETLINK_RDMA);
  fuzz::count(response.error, {EPERM, EINVAL, EEXIST, ENODEV, ERANGE}, add ? "NEWLINK" : "DELLINK");
  if (rights_ == Rights::none && response.error <= 0)
    wrong(response, "a link message without a right");
  if (add && netdev == setup_.interface && response.error <= 0)
    wrong(response, "a second device on an interface");
}

Message Actor::any_message() {
  const auto cmd = static_cast<std::uint8_t>(
      random_.one_in(8) ? random_.byte() : random_.between(SROCE_CMD_DEV_GET, SROCE_CMD_QP_GET));
  Message message = request(cmd, random_.one_in(3) ? NLM_F_DUMP : NLM_F_ACK);
  std::map<std::size_t, std::uint32_t> values;
  for (std::uint64_t left = random_.below(5); left; --left) {
    const std::uint64_t kind = random_.below(4);
    if (kind == 0) {
      message.put_string(SROCE_A_DEV_NAME, any_device());
    } else if (kind == 1) {
      add_setting(message, values);
    } else if (kind == 2) {
      const std::size_t nest =
          message.begin_nest(static_cast<int>(random_.below(SROCE_A_MAX + 2)) | NLA_F_NESTED);
      add_setting(message, values);
      message.end_nest(nest);
    } else {
      Bytes noise(random_.below(100));
      for (auto& byte : noise) byte = random_.byte();
      message.put(static_cast<int>(random_.below(SROCE_A_MAX + 2)), noise.data(), noise.size());
    }
  }
  return message;
}

// Never for the judged device, whose name differs by several bytes from all others.
void Actor::mutate() {
  Bytes bytes = any_message().finish(++seq_);
  constexpr std::size_t body = sizeof(nlmsghdr) + GENL_HDRLEN;
  for (std::uint64_t left = random_.below(4); left && bytes.size() > body; --left) {
    const std::size_t at = body + random_.below(bytes.size() - body);
    switch (random_.below(4)) {
      case 0:
        bytes[at] = random_.byte();
        break;
      case 1:
        bytes[at] ^= static_cast<std::uint8_t>(1U << random_.below(8));
        break;
      case 2:
        bytes[at & ~std::size_t{3}] = static_cast<std::uint8_t>(random_.below(16));
        break;  // lengths
      default:
        bytes.resize(at);
        break;
    }
  }
  if (!random_.one_in(8)) {
    const auto length = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data(), &length, sizeof(length));
  }
  const Response response = ask(NETLINK_GENERIC, bytes);
  fuzz::count(response.error < 0 ? 0 : response.error,
              {EINVAL, ERANGE, ENODEV, EPERM, EOPNOTSUPP, ENOBUFS}, "a mutated message");
}

void Actor::run() {
  const auto shown = get(setup_.judged);
  harness::expect(shown.has_value(), "there is no device ", setup_.judged);
  first_ = *shown;
  for (std::size_t index = 0; index < first_.params.size(); ++index)
    if (is_mine(index)) wanted_[index] = first_.params[index].value;
  const fuzz::Budget budget(setup_.count, setup_.span);
  for (; !budget.spent(step_); ++step_) {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        set();
        break;
      case 3:
        get(any_device());
        break;
      case 4:
        dump();
        break;
      case 5:
        link();
        break;
      default:
        mutate();
        break;
    }
  }
  check_judged();
}

// --- what comes and goes -----------------------------------------------------

class Churn : public Actor {
 public:
  Churn(const Setup& setup, std::uint64_t number) : Actor(setup, number, Rights::full) {}
  void run();

 private:
  ibv_context* open(const std::string& name);
  ibv_qp* create_qp(ibv_pd* pd, ibv_cq* cq);
  void connect(ibv_qp* qp);
  void check_qps(const std::set<std::uint32_t>& live);
  void devices();
};

ibv_context* Churn::open(const std::string& name) {
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_context* context = nullptr;
  for (ibv_device** device = list; device && *device; ++device)
    if (name == ibv_get_device_name(*device)) context = ibv_open_device(*device);
  if (list) ibv_free_device_list(list);
  return context;
}

ibv_qp* Churn::create_qp(ibv_pd* pd, ibv_cq* cq) {
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq;
  attr.cap = {4, 4, 1, 1, 0};
  attr.qp_type = random_.one_in(3) ? IBV_QPT_UD : IBV_QPT_RC;
  ibv_qp* qp = ibv_create_qp(pd, &attr);
  if (qp && attr.qp_type == IBV_QPT_RC && random_.one_in(2)) connect(qp);
  return qp;
}

// To itself.
void Churn::connect(ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  if (ibv_modify_qp(qp, &attr,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
    return;
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = qp->qp_num;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(setup_.gid);
  attr.max_dest_rd_atomic = 4;
  if (ibv_query_gid(qp->context, 1, setup_.gid, &attr.ah_attr.grh.dgid)) return;
  if (ibv_modify_qp(qp, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    return;
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  ibv_modify_qp(qp, &attr,
                IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

void Churn::check_qps(const std::set<std::uint32_t>& live) {
  Message message = request(SROCE_CMD_QP_GET, NLM_F_DUMP);
  message.put_string(SROCE_A_DEV_NAME, setup_.dev);
  Reading reading;
  reading.buffer = 8192;
  const Response response = send(message, reading);
  fuzz::count(response.error, {}, "QP_GET");
  std::set<std::uint32_t> shown;
  for (const Bytes& reply : response.replies) shown.insert(parse_reply(reply).qpn);
  shown.erase(1);
  if (shown != live)
    wrong(response, text("QP_GET, with ", shown.size(), " of ", live.size(), " QPs"));
}

void Churn::devices() {
  const std::string name = text("fuzz_", random_.below(4));
  const Message add = link_message(true, name, text("fuzz", random_.below(2)));
  fuzz::count(send(add, {}, NETLINK_RDMA).error, {EEXIST}, "NEWLINK");
  ibv_context* context = random_.one_in(2) ? open(name) : nullptr;
  ibv_pd* pd = context ? ibv_alloc_pd(context) : nullptr;
  ibv_cq* cq = context ? ibv_create_cq(context, 8, nullptr, nullptr, 0) : nullptr;
  ibv_qp* qp = pd && cq ? create_qp(pd, cq) : nullptr;
  // Another actor may be first.
  const Message remove = link_message(false, name, "");
  fuzz::count(send(remove, {}, NETLINK_RDMA).error, {EINVAL}, "DELLINK");
  if (qp) ibv_destroy_qp(qp);
  if (cq) ibv_destroy_cq(cq);
  if (pd) ibv_dealloc_pd(pd);
  if (context) ibv_close_device(context);
}

void Churn::run() {
  ibv_context* context = open(setup_.dev);
  ibv_pd* pd = context ? ibv_alloc_pd(context) : nullptr;
  ibv_cq* cq = context ? ibv_create_cq(context, 64, nullptr, nullptr, 0) : nullptr;
  harness::expect(pd && cq, "cannot open ", setup_.dev);
  std::deque<ibv_qp*> qps;
  std::set<std::uint32_t> live;
  const fuzz::Budget budget(setup_.count, setup_.span);
  for (; !budget.spent(step_); ++step_) {
    if (random_.one_in(8)) devices();
    // So many that they do not fit into one message.
    if (random_.below(128) >= qps.size()) {
      qps.push_back(create_qp(pd, cq));
      harness::expect(qps.back(), "cannot create a QP");
      live.insert(qps.back()->qp_num);
    } else {
      live.erase(qps.front()->qp_num);
      if (ibv_destroy_qp(qps.front())) complain("cannot destroy a QP");
      qps.pop_front();
    }
    check_qps(live);
  }
}

void lose_rights(bool own_namespace) {
  // Without user namespaces in this kernel, an ordinary process.
  if (own_namespace && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) return;
  if (setgid(65534) || setuid(65534)) harness::fail_errno(errno, "setuid");
}

void run_actors(const Setup& setup) {
  std::vector<pid_t> actors;
  actors.push_back(fuzz::start([&] { Actor(setup, 0, Rights::full).run(); }));
  actors.push_back(fuzz::start([&] { Actor(setup, 1, Rights::full).run(); }));
  actors.push_back(fuzz::start([&] {
    if (unshare(CLONE_NEWNET)) harness::fail_errno(errno, "unshare");
    Actor(setup, 2, Rights::full).run();
  }));
  for (const bool own_namespace : {false, true})
    actors.push_back(fuzz::start([&, own_namespace] {
      lose_rights(own_namespace);
      Actor(setup, 3 + own_namespace, Rights::none).run();
    }));
  actors.push_back(fuzz::start([&] { Churn(setup, 5).run(); }));
  const Deadline limit = Deadline::after(setup.span + seconds(60));
  for (std::size_t i = 0; i < actors.size(); ++i) fuzz::finish(actors[i], limit, text("actor ", i));
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  Setup setup;
  setup.dev = args.required("--dev");
  setup.judged = args.required("--judged");
  setup.interface = args.required("--interface");
  setup.gid = static_cast<int>(args.number("--gid", 0));
  setup.seed = args.number("--seed", 1);
  setup.count = args.number("--count", 0);
  setup.span = seconds(args.number("--seconds", 10));
  args.finish();

  harness::Tap tap;
  harness::note(text("seed ", setup.seed));
  tap.run("every message is answered as it must be", [&] {
    setup.family = fuzz::family_id(SROCE_GENL_NAME);
    run_actors(setup);
    harness::note(fuzz::summary());
    harness::expect(!tally().failed, tally().why);
  });
  tap.run("enough messages are accepted and refused", [&] {
    harness::expect(
        tally().errors[0] * 20 > tally().calls && tally().errors[EINVAL] && tally().errors[EPERM],
        fuzz::summary());
  });
  return tap.finish();
}
