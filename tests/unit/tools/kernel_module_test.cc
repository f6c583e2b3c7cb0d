// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/kernel_module.h"

#include <gtest/gtest.h>

#include "temporary_tree.h"

namespace sroce {
namespace {

ModuleState state_of(const test::TemporaryTree& tree) {
  return module_state(Sysfs(tree.root()), tree.root() / "modules.alias");
}

TEST(ModuleState, IsLoadedWhateverModprobeKnows) {
  test::TemporaryTree tree;
  tree.write("module/sroce/refcnt", "0\n");
  EXPECT_EQ(state_of(tree), ModuleState::loaded);
}

TEST(ModuleState, IsInstalledIfDepmodListsTheLinkType) {
  test::TemporaryTree tree;
  tree.write("modules.alias", "alias rdma-link-rxe rdma_rxe\nalias rdma-link-sroce sroce\n");
  EXPECT_EQ(state_of(tree), ModuleState::installed);
  tree.write("modules.alias", "alias rdma_link_sroce sroce\n");
  EXPECT_EQ(state_of(tree), ModuleState::installed);
}

TEST(ModuleState, IsMissingOtherwise) {
  test::TemporaryTree tree;
  EXPECT_EQ(state_of(tree), ModuleState::missing);
  tree.write("modules.alias", "alias rdma-link-rxe rdma_rxe\nalias rdma-link-sroce2 other\n");
  EXPECT_EQ(state_of(tree), ModuleState::missing);
}

TEST(KernelRelease, IsKnown) { EXPECT_NE(kernel_release().find('.'), std::string::npos); }

}  // namespace
}  // namespace sroce
