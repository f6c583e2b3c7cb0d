// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/failure.h"

#include <array>
#include <sstream>

namespace sroce {

std::span<const ExitCodeText> exit_code_texts() {
  static constexpr std::array texts{
      ExitCodeText{ExitCode::success, "success"},
      ExitCodeText{ExitCode::other, "a failure not listed here"},
      ExitCodeText{ExitCode::usage, "wrong command line"},
      ExitCodeText{ExitCode::module_absent,
                   "the sroce module, or all of RDMA, is not in the kernel"},
      ExitCodeText{ExitCode::no_permission, "no permission (CAP_NET_ADMIN is needed)"},
      ExitCodeText{ExitCode::no_such_interface, "no such network interface"},
      ExitCodeText{ExitCode::no_such_device, "no such RDMA device"},
      ExitCodeText{ExitCode::name_taken, "the device name is taken"},
      ExitCodeText{ExitCode::interface_in_use, "the interface already has a device"},
      ExitCodeText{ExitCode::port_taken, "UDP port 4791 is taken in this network namespace"},
      ExitCodeText{ExitCode::interface_unsupported, "the interface cannot carry RoCE"},
      ExitCodeText{ExitCode::bad_name, "the device name is not allowed"},
      ExitCodeText{ExitCode::not_sroce, "the device belongs to another driver"},
      ExitCodeText{ExitCode::bad_parameter, "no such parameter, or not its value"},
  };
  return texts;
}

std::string failure_text(const Failure& failure) {
  std::string text = std::string("sroce: ") + failure.what() + '\n';
  std::istringstream lines(failure.cure());
  for (std::string line; std::getline(lines, line);) text += "  hint: " + line + '\n';
  return text;
}

}  // namespace sroce
