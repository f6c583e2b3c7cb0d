/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Parameters, details and event counts of a congestion-control algorithm, by name. */
#ifndef TESTS_UNIT_TRANSPORT_CC_PROBE_H
#define TESTS_UNIT_TRANSPORT_CC_PROBE_H

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "port/engine.h"

inline u32 cc_param_index(const std::string& name) {
  for (u32 i = 0; const sroce_cc_param* param = sroce_cc_param_at(i); i++)
    if (param->name == name) return i;
  ADD_FAILURE() << name << ": no such parameter";
  return U32_MAX;
}

inline void set_cc_param(sroce_cc_params& params, const std::string& name, u32 value) {
  EXPECT_TRUE(sroce_cc_param_set(&params, cc_param_index(name), value)) << name << " " << value;
}

inline u32 get_cc_param(const sroce_cc_params& params, const std::string& name) {
  return sroce_cc_param_get(&params, cc_param_index(name));
}

/* At now_ns, or with 0 as of the last event. */
inline std::optional<u64> find_cc_detail(const sroce_cc& cc, const std::string& key, u64 now_ns) {
  struct sroce_cc_info info;
  sroce_cc_get_info(&cc, now_ns, &info);
  for (u32 i = 0; i < info.detail_count; i++)
    if (info.details[i].key == key) return info.details[i].value;
  return std::nullopt;
}

inline u64 cc_detail(const sroce_cc& cc, const std::string& key, u64 now_ns = 0) {
  const std::optional<u64> value = find_cc_detail(cc, key, now_ns);
  EXPECT_TRUE(value) << key << ": no such detail";
  return value.value_or(0);
}

#endif
