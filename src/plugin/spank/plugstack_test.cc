#include "plugin/spank/plugstack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/files.h"

namespace muster::spank {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/plugstack-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::system(("rm -r " + path).c_str()); }
  std::string put(const std::string& name, const std::string& text) const {
    std::string whole = path + "/" + name;
    EXPECT_TRUE(os::make_dirs(whole.substr(0, whole.rfind('/'))));
    EXPECT_TRUE(os::write_file_atomic(whole, text));
    return whole;
  }
  std::string path;
};

std::string error_of(const Folder& f, const std::string& text) {
  auto read = read_plugstack(f.put("plugstack.conf", text), f.path + "/lib");
  return read ? "" : std::string(read.error().message());
}

TEST(Plugstack, NoFileIsNoPlugin) {
  auto read = read_plugstack("/nowhere/plugstack.conf", "/lib");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->plugins.empty());
}

TEST(Plugstack, LinesInOrderWithArguments) {
  Folder f;
  f.put("lib/b.so", "");
  std::string a = f.put("a.so", "");
  std::string conf = f.put("plugstack.conf", "# the plugins\n\nrequired " + a + " x=1 y  # and why\n\toptional b.so\r\noptional gone.so z");
  auto read = read_plugstack(conf, "/nowhere:" + f.path + "/lib");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->plugins.size(), 2u);
  EXPECT_TRUE(read->plugins[0].required);
  EXPECT_EQ(read->plugins[0].path, a);
  EXPECT_THAT(read->plugins[0].arguments, ElementsAre("x=1", "y"));
  EXPECT_EQ(read->plugins[0].where, conf + ":3");
  EXPECT_FALSE(read->plugins[1].required);
  EXPECT_EQ(read->plugins[1].path, f.path + "/lib/b.so");
  EXPECT_THAT(read->notes, ElementsAre(HasSubstr(conf + ":5: optional plugin gone.so: there is no such file in PluginDir=")));
}

TEST(Plugstack, IncludesByPatternAndDirectory) {
  Folder f;
  for (const char* name : {"a.so", "b.so", "c.so"}) f.put(std::string("lib/") + name, "");
  f.put("plugstack.conf.d/20-b.conf", "optional b.so\n");
  f.put("plugstack.conf.d/10-a.conf", "required a.so\n");
  f.put("more/c.conf", "optional c.so\n");
  auto read = read_plugstack(f.put("plugstack.conf", "include plugstack.conf.d/*\ninclude " + f.path + "/more\ninclude none.d/*\n"),
                             f.path + "/lib");
  ASSERT_TRUE(read) << read.error().message();
  std::vector<std::string> found;
  for (const auto& p : read->plugins) found.push_back(p.path.substr(p.path.rfind('/') + 1));
  EXPECT_THAT(found, ElementsAre("a.so", "b.so", "c.so"));
  EXPECT_EQ(read->plugins[0].where, f.path + "/plugstack.conf.d/10-a.conf:1");
}

TEST(Plugstack, WhatIsWrongIsNamedWithItsLine) {
  Folder f;
  EXPECT_THAT(error_of(f, "\nrequird x.so\n"), HasSubstr("plugstack.conf:2: 'requird' is none of required, optional, include"));
  EXPECT_THAT(error_of(f, "required\n"), HasSubstr("plugstack.conf:1: required: the plugin is missing"));
  EXPECT_THAT(error_of(f, "required /gone/x.so\n"), HasSubstr("plugstack.conf:1: required plugin /gone/x.so: there is no such file"));
  EXPECT_THAT(error_of(f, "required x.so\n"), HasSubstr("there is no such file in PluginDir=" + f.path + "/lib"));
  EXPECT_THAT(error_of(f, "include\n"), HasSubstr("include: the file is missing"));
  EXPECT_THAT(error_of(f, "include a b\n"), HasSubstr("include takes one file or pattern"));
  EXPECT_THAT(error_of(f, "include gone.conf\n"), HasSubstr("gone.conf: there is no such file"));
  EXPECT_THAT(error_of(f, "include plugstack.conf\n"), HasSubstr("include each other more than 16 deep"));
}

}  // namespace
}  // namespace muster::spank
