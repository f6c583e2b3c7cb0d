// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Tests of how the provider finds its libibverbs and the layout of the private ABI.
#include "rdma_core/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>

#include "sroce_abi.h"
#include "temporary_tree.h"

namespace {

using sroce::Layout;

class FakeSymbols final : public sroce::Symbols {
 public:
  FakeSymbols(std::initializer_list<std::string> names) : names_(names) {}
  void* find(const char* name) const override {
    static int anything;
    return names_.contains(name) ? &anything : nullptr;
  }

 private:
  std::set<std::string> names_;
};

/// The version of rdma-core from which on libraries have the layout chosen for @p names, or 0.
unsigned chosen(std::initializer_list<std::string> names) {
  const Layout* layout = sroce::choose_layout(FakeSymbols(names));
  return layout ? layout->from : 0;
}

const std::string kInOrder = "ibv_query_qp_data_in_order", kDmah = "ibv_alloc_dmah",
                  kSpeed = "ibv_query_port_speed", kBuf = "ibv_alloc_buf",
                  kCounter = "ibv_create_comp_cntr";

std::string registration(int abi) { return "verbs_register_driver_" + std::to_string(abi); }

TEST(ChooseLayout, EachKnownLibraryHasItsOwn) {
  EXPECT_EQ(chosen({registration(34), kInOrder}), 36u);
  EXPECT_EQ(chosen({registration(57), kInOrder}), 57u);
  EXPECT_EQ(chosen({registration(59), kInOrder, kDmah}), 59u);
  EXPECT_EQ(chosen({registration(59), kInOrder, kDmah, kSpeed}), 62u);
  EXPECT_EQ(chosen({registration(64), kInOrder, kDmah, kSpeed, kBuf}), 64u);
  EXPECT_EQ(chosen({registration(65), kInOrder, kDmah, kSpeed, kBuf, kCounter}), 65u);
}

TEST(ChooseLayout, UnknownLibrariesAreRejected) {
  EXPECT_EQ(chosen({}), 0u);
  EXPECT_EQ(chosen({registration(34)}), 0u) << "rdma-core 34 and 35";
  EXPECT_EQ(chosen({registration(33), kInOrder}), 0u);
  EXPECT_EQ(chosen({registration(66), kInOrder, kDmah, kSpeed, kBuf, kCounter}), 0u);
  EXPECT_EQ(chosen({kInOrder, kDmah}), 0u) << "no function to register";
}

TEST(ChooseLayout, ANumberWithTheSymbolsOfAnotherIsRejected) {
  EXPECT_EQ(chosen({registration(34), kInOrder, kDmah}), 0u);
  EXPECT_EQ(chosen({registration(57), kInOrder, kDmah}), 0u);
  EXPECT_EQ(chosen({registration(59), kInOrder}), 0u);
  EXPECT_EQ(chosen({registration(59), kInOrder, kDmah, kSpeed, kBuf}), 0u);
  EXPECT_EQ(chosen({registration(64), kInOrder, kDmah, kSpeed, kBuf, kCounter}), 0u);
}

// libibverbs sorts its table by name, as our list is.
TEST(Slots, RiseWithTheNameInEveryLayout) {
  constexpr int columns[][5] = {
#define SROCE_ROW(name, result, arguments, ...) {__VA_ARGS__},
      SROCE_VERBS(SROCE_ROW)
#undef SROCE_ROW
  };
  for (const Layout& layout : sroce::known_layouts()) {
    int previous = -1;
    for (const auto& slots : columns) {
      EXPECT_GT(slots[layout.column], previous);
      previous = slots[layout.column];
    }
    EXPECT_LT(previous, SROCE_SLOTS);
  }
}

/// The output of a program that loads the provider into the fake library @p name and opens a device
/// whose sysfs shows @p version and whose module is @p module.
std::string load_into(const char* name,
                      const std::string& version = std::to_string(SROCE_ABI_VERSION),
                      const char* module = "native") {
  const sroce::test::TemporaryTree device;
  if (!version.empty()) device.write("sroce/abi_version", version + '\n');
  const std::string command = std::string(LOAD_PROVIDER " " FAKES "/lib") + name +
                              ".so " PROVIDER " " + device.root().string() + ' ' + module + " 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "popen failed";
  std::array<char, 256> part;
  while (std::fgets(part.data(), part.size(), pipe)) output += part.data();
  pclose(pipe);
  return output;
}

const std::string kWorks = "registered sroce, matched, opened, closed\n";
const std::string kPrefix = "libsroce: cannot work with this libibverbs: ";

TEST(LoadProvider, WorksInEachKnownLibrary) {
  EXPECT_EQ(load_into("fake36"), kWorks);
  EXPECT_EQ(load_into("fake44"), kWorks);
  EXPECT_EQ(load_into("fake56"), kWorks);
  EXPECT_EQ(load_into("fake57"), kWorks);
  EXPECT_EQ(load_into("fake59"), kWorks);
  EXPECT_EQ(load_into("fake62"), kWorks);
  EXPECT_EQ(load_into("fake64"), kWorks);
  EXPECT_EQ(load_into("fake65"), kWorks);
}

TEST(LoadProvider, RegistersNothingInAnUnknownLibrary) {
  const std::string nothing = "registered nothing, not matched, not opened, not closed\n";
  EXPECT_EQ(load_into("fake35"),
            kPrefix + "its private ABI is none of those of rdma-core 36 to 65\n" + nothing);
  EXPECT_EQ(load_into("fake_longer_qp"), kPrefix + "its QPs have an unknown layout\n" + nothing);
}

TEST(LoadProvider, LeavesDevicesOfOtherModulesToLibrxe) {
  const std::string unmatched = "registered sroce, not matched, opened, closed\n";
  EXPECT_EQ(load_into("fake56", ""), unmatched);
  EXPECT_EQ(load_into("fake56", std::to_string(SROCE_ABI_VERSION + 1)), unmatched);
  EXPECT_EQ(load_into("fake56", "x"), unmatched);
}

TEST(LoadProvider, OpensNoDeviceWhoseModuleDoesNotKnowTheAbi) {
  const std::string rejected = "registered sroce, matched, not opened, not closed\n";
  EXPECT_EQ(load_into("fake44", std::to_string(SROCE_ABI_VERSION), "rxe"), rejected);
  EXPECT_EQ(load_into("fake57", std::to_string(SROCE_ABI_VERSION), "rxe"), rejected);
}

TEST(LoadProvider, OpensNoDeviceIfTheLayoutChangedWithoutANewNumber) {
  const std::string rejected = "registered sroce, matched, not opened, not closed\n";
  EXPECT_EQ(load_into("fake_shifted"),
            kPrefix + "its table of verbs has another order\n" + rejected);
  EXPECT_EQ(load_into("fake_longer_context"),
            kPrefix + "its contexts have another size\n" + rejected);
}

}  // namespace
