// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/family.h"

#include <algorithm>
#include <cerrno>

#include "sroce/diagnosis.h"
#include "sroce/genl.h"
#include "sroce/inventory.h"

namespace sroce {
namespace {

uint16_t family_number(System& system) {
  try {
    const auto replies = system.generic.exchange(genl::family_request());
    if (replies.empty()) throw MalformedMessage("netlink: no answer from the kernel");
    return genl::decode_family(replies.front());
  } catch (const KernelError& error) {
    if (error.error() != ENOENT) throw;
    throw explain_family_absent(module_state(system.sysfs, system.modules_alias),
                                system.kernel_release);
  }
}

Failure explain_missing(System& system, const std::string& name) {
  const auto names = names_of(list_devices(system));
  if (std::find(names.begin(), names.end(), name) == names.end())
    return no_such_device(name, names);
  return {ExitCode::not_sroce, "'" + name + "' is not an sroce device",
          "to see it: rdma link show " + name};
}

}  // namespace

std::vector<Bytes> ask_module(System& system, const Errand& errand,
                              const std::function<Request(uint16_t family)>& make) {
  const uint16_t family = family_number(system);
  try {
    return system.generic.exchange(make(family));
  } catch (const KernelError& error) {
    if (error.error() == ENODEV && errand.device) throw explain_missing(system, *errand.device);
    throw explain_refusal(error, errand.verb, errand.device.value_or("queue pairs"),
                          system.is_root);
  }
}

}  // namespace sroce
