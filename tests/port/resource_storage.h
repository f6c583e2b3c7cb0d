// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Storage of a responder's READs and atomics, as the datapath allocates it.
#ifndef TESTS_PORT_RESOURCE_STORAGE_H
#define TESTS_PORT_RESOURCE_STORAGE_H

#include <vector>

#include "port/engine.h"

class ResourceStorage {
 public:
  explicit ResourceStorage(u32 capacity)
      : words_((sizeof(sroce_resource_storage) + capacity * sizeof(sroce_resource)) / sizeof(u64)) {
  }

  sroce_resource_storage* get() { return reinterpret_cast<sroce_resource_storage*>(words_.data()); }
  bool operator==(const ResourceStorage&) const = default;

 private:
  std::vector<u64> words_;
};

#endif
