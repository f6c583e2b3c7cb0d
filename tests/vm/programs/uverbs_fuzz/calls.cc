// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs_fuzz/calls.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/failure.h"

namespace uverbs_fuzz {

using harness::Random;

namespace {

constexpr std::size_t page = 4096;

bool is_extended(std::uint32_t number) { return number & IB_USER_VERBS_CMD_FLAG_EXTENDED; }

std::uint64_t address(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

void append(std::vector<std::uint8_t>& to, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::uint8_t*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

}  // namespace

Pages::Pages(std::size_t count) {
  void* at = mmap(nullptr, (count + 1) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || mprotect(at, count * page, PROT_READ | PROT_WRITE))
    harness::fail_errno(errno, "mmap");
  begin_ = static_cast<std::uint8_t*>(at);
  end_ = begin_ + count * page;
}

Pages::~Pages() { munmap(begin_, static_cast<std::size_t>(end_ - begin_) + page); }

std::uint64_t File::bad_address(Random& random) const {
  const std::uint64_t all[] = {0,
                               1,
                               address(out_.end()),
                               address(out_.end()) - 1,
                               0xffff888000000000,
                               ~std::uint64_t{0},
                               0x7ffffffff000};
  return all[random.below(std::size(all))];
}

// Leaves the address of the response alone: it must not be one of our own data.
void File::flip(Command& command, Random& random) {
  const std::size_t from = command.has_response && !is_extended(command.number) ? 8 : 0;
  for (std::uint64_t left = random.between(1, 3); left && command.in.size() > from; --left) {
    std::uint8_t& byte = command.in[from + random.below(command.in.size() - from)];
    byte = random.one_in(2) ? random.byte()
                            : static_cast<std::uint8_t>(byte ^ (1U << random.below(8)));
  }
}

std::uint32_t File::other_number(Random& random) const {
  auto number = static_cast<std::uint32_t>(random.below(64));
  if (!multicast_ &&
      (number == IB_USER_VERBS_CMD_ATTACH_MCAST || number == IB_USER_VERBS_CMD_DETACH_MCAST))
    number = IB_USER_VERBS_CMD_QUERY_QP;
  return number | (random.one_in(2) ? IB_USER_VERBS_CMD_FLAG_EXTENDED : 0);
}

int File::write(Command& command, Random* spoil) {
  const std::uint64_t flaw = spoil ? spoil->below(11) : 100;
  command.is_wrong |= spoil != nullptr;
  if (flaw == 0 || flaw == 1) flip(command, *spoil);
  if (flaw == 2 && command.driver_bytes) {
    command.driver_bytes = spoil->below(command.driver_bytes / 8) * 8;
    command.is_short = true;
  }
  if (flaw == 3) command.in.resize(command.in.size() + 8 * spoil->below(1000));
  const bool extended = is_extended(command.number);
  const std::size_t unit = extended ? 8 : 4;
  std::size_t out_bytes = command.out_bytes + command.driver_bytes;
  std::memset(out_.begin(), 0, 2 * page);
  // Right in front of an unmapped page.
  response_ = out_.end() - out_bytes;
  std::uint64_t where = out_bytes ? address(response_) : 0;
  if (flaw == 4) {
    where = bad_address(*spoil);
    command.must_fail = out_bytes != 0 && command.number != IB_USER_VERBS_CMD_POLL_CQ;
  }
  if (flaw == 5) {
    response_ -= spoil->between(1, 7);
    where = address(response_);
  }

  ib_uverbs_cmd_hdr head{};
  head.command = flaw == 6 ? other_number(*spoil) : command.number;
  command.is_other = head.command != command.number;
  std::vector<std::uint8_t> all(sizeof(head));
  if (extended) {
    ib_uverbs_ex_cmd_hdr ex{};
    ex.response = where;
    ex.provider_out_words = static_cast<std::uint16_t>(command.driver_bytes / unit);
    if (flaw == 7) ex.provider_in_words = static_cast<std::uint16_t>(spoil->below(4));
    append(all, &ex, sizeof(ex));
  } else if (command.has_response && command.in.size() >= 8) {
    std::memcpy(command.in.data(), &where, sizeof(where));
  }
  append(all, command.in.data(), command.in.size());
  if (flaw == 8) all.resize(spoil->below(all.size()));
  head.in_words =
      static_cast<std::uint16_t>(extended ? command.in.size() / unit : all.size() / unit);
  head.out_words = static_cast<std::uint16_t>((extended ? command.out_bytes : out_bytes) / unit);
  if (flaw == 9) head.out_words = static_cast<std::uint16_t>(spoil->below(0x10000));
  std::memcpy(all.data(), &head, std::min(all.size(), sizeof(head)));
  std::uint8_t* at = in_.end() - all.size();
  std::memcpy(at, all.data(), all.size());
  if (flaw == 10) {
    at += spoil->between(1, all.size());
    command.must_fail = true;
  }
  return ::write(fd_, at, all.size()) < 0 ? errno : 0;
}

int File::invoke(Command& command) {
  std::vector<Attr> attrs;
  std::memset(out_.begin(), 0, 2 * page);
  attrs.push_back({UVERBS_ATTR_CORE_IN, Kind::in, 0, 0, command.in});
  if (command.out_bytes) attrs.push_back({UVERBS_ATTR_CORE_OUT, Kind::out, 0, command.out_bytes});
  attrs.push_back({UVERBS_ATTR_WRITE_CMD, Kind::constant, command.number});
  if (command.driver_bytes)
    attrs.push_back({UVERBS_ATTR_UHW_OUT, Kind::out, 0, command.driver_bytes});
  return ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attrs, nullptr);
}

// The responses lie one behind the other, in the order of the attributes.
int File::ioctl(int object, int method, std::vector<Attr>& attrs, Random* spoil) {
  std::size_t out_bytes = 0;
  for (const Attr& attr : attrs)
    if (attr.kind == Kind::out) out_bytes += attr.bytes;
  harness::expect(out_bytes <= page, "a response of ", out_bytes, " bytes");
  response_ = out_.end() - out_bytes;
  std::uint8_t* out = response_;
  std::uint8_t* in = in_.begin();
  std::vector<ib_uverbs_attr> list;
  for (const Attr& attr : attrs) {
    ib_uverbs_attr raw{};
    raw.attr_id = static_cast<std::uint16_t>(attr.id);
    raw.flags = UVERBS_ATTR_F_MANDATORY;
    raw.data = attr.value;
    if (attr.kind == Kind::constant) raw.len = 8;
    if (attr.kind == Kind::in)
      raw.len = static_cast<std::uint16_t>(attr.data.empty() ? attr.bytes : attr.data.size());
    if (attr.kind == Kind::in && !attr.data.empty()) {
      std::memcpy(in, attr.data.data(), attr.data.size());
      if (attr.data.size() <= 8)
        std::memcpy(&raw.data, in, attr.data.size());
      else
        raw.data = address(in);
      in += (attr.data.size() + 7) & ~std::size_t{7};
    }
    if (attr.kind == Kind::out) {
      raw.len = static_cast<std::uint16_t>(attr.bytes);
      raw.data = address(out);
      out += attr.bytes;
    }
    list.push_back(raw);
  }
  if (spoil && !list.empty()) {
    ib_uverbs_attr& raw = list[spoil->below(list.size())];
    switch (spoil->below(7)) {
      case 0:
        raw.len = static_cast<std::uint16_t>(spoil->below(64));
        break;
      case 1:
        raw.attr_id = static_cast<std::uint16_t>(spoil->below(20));
        break;
      case 2:
        raw.flags = static_cast<std::uint16_t>(spoil->next());
        break;
      case 3:
        raw.data = bad_address(*spoil);
        break;
      case 4:
        list.push_back(raw);
        break;
      case 5:
        list.erase(list.begin());
        break;
      default:
        raw.attr_data.reserved = spoil->byte();
        break;
    }
  }
  ib_uverbs_ioctl_hdr head{};
  head.length = static_cast<std::uint16_t>(sizeof(head) + list.size() * sizeof(ib_uverbs_attr));
  head.object_id = static_cast<std::uint16_t>(object);
  head.method_id = static_cast<std::uint16_t>(method);
  head.num_attrs = static_cast<std::uint16_t>(list.size());
  head.driver_id = RDMA_DRIVER_RXE;
  std::uint8_t* at = in_.end() - head.length;
  std::memcpy(at, &head, sizeof(head));
  if (!list.empty())
    std::memcpy(at + sizeof(head), list.data(), list.size() * sizeof(ib_uverbs_attr));
  if (spoil && spoil->one_in(16)) at += 8;
  const int error = ::ioctl(fd_, RDMA_VERBS_IOCTL, at) < 0 ? errno : 0;
  // Handles of new objects.
  for (std::size_t i = 0; i < attrs.size() && !spoil; ++i) {
    ib_uverbs_attr raw;
    std::memcpy(&raw, at + sizeof(head) + i * sizeof(raw), sizeof(raw));
    attrs[i].value = raw.data;
  }
  return error;
}

}  // namespace uverbs_fuzz
