// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <mutex>

namespace sroce {

/// A mutex that does nothing if the application guarantees that a single thread uses the object.
class OptionalMutex {
 public:
  explicit OptionalMutex(bool single_threaded) : single_threaded_(single_threaded) {}

  void lock() {
    if (!single_threaded_) mutex_.lock();
  }
  bool try_lock() { return single_threaded_ || mutex_.try_lock(); }
  void unlock() {
    if (!single_threaded_) mutex_.unlock();
  }

 private:
  const bool single_threaded_;
  std::mutex mutex_;
};

}  // namespace sroce
