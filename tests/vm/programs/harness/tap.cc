// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/tap.h"

#include <cstdio>
#include <sstream>

#include "harness/failure.h"

namespace harness {

void note(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) std::printf("# %s\n", line.c_str());
  std::fflush(stdout);
}

void Tap::ok(const std::string& name) {
  std::printf("ok %d - %s\n", ++count_, name.c_str());
  std::fflush(stdout);
}

void Tap::not_ok(const std::string& name, const std::string& why) {
  ++failed_;
  std::printf("not ok %d - %s\n", ++count_, name.c_str());
  note(why);
}

void Tap::skip(const std::string& name, const std::string& reason) {
  ++skipped_;
  std::printf("ok %d - %s # SKIP %s\n", ++count_, name.c_str(), reason.c_str());
  std::fflush(stdout);
}

void Tap::run(const std::string& name, const std::function<void()>& body) {
  try {
    body();
    ok(name);
  } catch (const Skip& reason) {
    skip(name, reason.what());
  } catch (const std::exception& why) {
    not_ok(name, why.what());
  }
}

bool Tap::completes(const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const std::exception& error) {
    std::printf("Bail out! %s\n", error.what());
    return false;
  }
}

int Tap::finish() {
  std::printf("1..%d\n", count_);
  note(text(count_ - failed_ - skipped_, " passed, ", failed_, " failed, ", skipped_, " skipped"));
  return failed_ == 0 && count_ > 0 ? 0 : 1;
}

}  // namespace harness
