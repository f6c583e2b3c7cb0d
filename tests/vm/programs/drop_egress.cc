// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// drop_egress: until it is killed, a cgroup has a BPF program that drops all that its sockets send.
// Says "attached" first.
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "harness/failure.h"

namespace {

std::uint32_t checked(long result, const char* what) {
  if (result < 0) harness::fail_errno(errno, what);
  return static_cast<std::uint32_t>(result);
}

std::uint32_t bpf(int command, bpf_attr& attr, const char* what) {
  return checked(::syscall(SYS_bpf, command, &attr, sizeof(attr)), what);
}

// "return 0;"
std::uint32_t load_program() {
  std::array<bpf_insn, 2> code{};
  code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  code[1].code = BPF_JMP | BPF_EXIT;
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
  attr.expected_attach_type = BPF_CGROUP_INET_EGRESS;
  attr.insns = reinterpret_cast<std::uintptr_t>(code.data());
  attr.insn_cnt = code.size();
  attr.license = reinterpret_cast<std::uintptr_t>("GPL");
  return bpf(BPF_PROG_LOAD, attr, "BPF_PROG_LOAD");
}

// The program stays attached as long as the link is open.
void attach(const char* cgroup) {
  bpf_attr attr{};
  attr.link_create.target_fd = checked(::open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC), cgroup);
  attr.link_create.prog_fd = load_program();
  attr.link_create.attach_type = BPF_CGROUP_INET_EGRESS;
  bpf(BPF_LINK_CREATE, attr, "BPF_LINK_CREATE");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: drop_egress CGROUP\n", stderr);
    return 2;
  }
  try {
    attach(argv[1]);
    std::puts("attached");
    std::fflush(stdout);
    ::pause();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drop_egress: %s\n", error.what());
    return 1;
  }
}
