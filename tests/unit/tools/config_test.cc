// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/config.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <sstream>

#include "temporary_tree.h"

namespace sroce {
namespace {

using test::TemporaryTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<DeviceConfig> parse(const std::string& text) {
  std::istringstream stream(text);
  return parse_config(stream, "a.conf");
}

std::string failure_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::bad_file);
    return failure.what();
  }
  return "";
}

TEST(Config, HasASectionForEachDevice) {
  const auto sections = parse(
      "# a comment\n"
      "[device]\n"
      "interface = eth0\r\n"
      "\n"
      "  name=storage\n"
      "param.cc = dcqcn\n"
      "; another\n"
      "param.ecn=0\n"
      "[device]\n"
      "interface = 52:54:00:AB:cd:01");
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].file, "a.conf");
  EXPECT_EQ(sections[0].line, 2u);
  EXPECT_EQ(sections[0].interface, "eth0");
  EXPECT_EQ(sections[0].name, "storage");
  EXPECT_THAT(sections[0].parameters, ElementsAre("cc", "dcqcn", "ecn", "0"));
  EXPECT_EQ(sections[1].line, 9u);
  EXPECT_EQ(sections[1].interface, "52:54:00:ab:cd:01");
  EXPECT_EQ(sections[1].name, std::nullopt);
  EXPECT_THAT(sections[1].parameters, IsEmpty());
}

TEST(Config, RoceV1IsOptional) {
  const auto sections = parse(
      "[device]\ninterface = a\nv1 = yes\n[device]\ninterface = b\nv1 = no\n"
      "[device]\ninterface = c\n");
  ASSERT_EQ(sections.size(), 3u);
  EXPECT_TRUE(sections[0].roce_v1);
  EXPECT_FALSE(sections[1].roce_v1);
  EXPECT_FALSE(sections[2].roce_v1);
}

TEST(Config, MayBeEmpty) {
  EXPECT_THAT(parse(""), IsEmpty());
  EXPECT_THAT(parse("# nothing\n\n"), IsEmpty());
}

TEST(Config, NamesFileAndLineOfAnError) {
  EXPECT_THAT(failure_of("interface = eth0\n"), StartsWith("a.conf:1: no [device]"));
  EXPECT_EQ(failure_of("\n[devices]\n"), "a.conf:2: unknown section [devices]");
  EXPECT_THAT(failure_of("[device]\ninterfaces = eth0\n"),
              StartsWith("a.conf:2: unknown key interfaces"));
  EXPECT_THAT(failure_of("[device]\nparam. = 1\n"), StartsWith("a.conf:2: unknown key param."));
  EXPECT_THAT(failure_of("[device]\n\ninterface eth0\n"), StartsWith("a.conf:3: neither"));
  EXPECT_EQ(failure_of("[device]\ninterface =\n"), "a.conf:2: interface has no value");
  EXPECT_EQ(failure_of("[device]\ninterface = a\ninterface = b\n"), "a.conf:3: a second interface");
  EXPECT_EQ(failure_of("[device]\ninterface = eth0 # the first\n"),
            "a.conf:2: an interface has no spaces: eth0 # the first");
  EXPECT_EQ(failure_of("[device]\nname = a\nname = b\n"), "a.conf:3: a second name");
  EXPECT_EQ(failure_of("[device]\nv1 = on\n"), "a.conf:2: v1 is yes or no, not on");
  EXPECT_THAT(failure_of("[device]\nname = a/b\n"), StartsWith("a.conf:2: 'a/b' is not a name"));
  EXPECT_EQ(failure_of("[device]\nname = a\n[device]\ninterface = b\n"),
            "a.conf:1: this device has no interface");
  EXPECT_EQ(failure_of("[device]\ninterface = b\n[device]\n\n"),
            "a.conf:3: this device has no interface");
}

TEST(Config, MatchesNamesPatternsAndMacAddresses) {
  const auto is = [](const std::string& pattern, const std::string& name, const std::string& mac) {
    return matches(parse("[device]\ninterface = " + pattern)[0], name, mac);
  };
  EXPECT_TRUE(is("eth0", "eth0", ""));
  EXPECT_FALSE(is("eth0", "eth01", ""));
  EXPECT_TRUE(is("eth*", "eth01", ""));
  EXPECT_TRUE(is("en[op]*", "eno1", ""));
  EXPECT_FALSE(is("en[op]*", "ens1", ""));
  EXPECT_TRUE(is("52:54:00:AB:CD:01", "eth0", "52:54:00:ab:cd:01"));
  EXPECT_FALSE(is("52:54:00:ab:cd:01", "eth0", "52:54:00:ab:cd:02"));
}

TEST(Config, ReadsTheFilesOfAFolderByName) {
  const TemporaryTree tree;
  for (const char* name : {"b.conf", "a.conf", "c.conf.bak", ".d.conf"})
    tree.write(name, std::string("[device]\ninterface = of_") + name[0] + "\n");
  const auto files = config_files(tree.root());
  const auto sections = read_configs(files);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].interface, "of_a");
  EXPECT_EQ(sections[1].interface, "of_b");
  EXPECT_THAT(config_files(tree.root() / "absent"), IsEmpty());
}

TEST(Config, SaysWhichFolderCannotBeRead) {
  const TemporaryTree tree;
  tree.write("file", "");
  try {
    config_files(tree.root() / "file");
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::bad_file);
    EXPECT_THAT(failure.what(), StartsWith("cannot read the folder " + tree.root().string()));
  }
}

TEST(Config, SaysWhichFileCannotBeRead) {
  const TemporaryTree tree;
  const std::string fifo = tree.root() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& file : {(tree.root() / "absent").string(), tree.root().string(), fifo}) {
    try {
      read_configs({file});
      ADD_FAILURE() << file;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ExitCode::bad_file);
      EXPECT_EQ(failure.what(), "cannot read the file " + file);
    }
  }
}

}  // namespace
}  // namespace sroce
