#include "plugin/spank/option_text.h"

#include <gtest/gtest.h>

namespace muster::spank {
namespace {

TEST(OptionText, KeysAndEntries) {
  const std::string key = option_key("pyxis", "container-image");
  EXPECT_EQ(key, "_SLURM_SPANK_OPTION_pyxis_container_image");
  EXPECT_TRUE(is_entry_of(key + "=a=b", key));
  EXPECT_TRUE(is_entry_of(key + "=", key));
  EXPECT_FALSE(is_entry_of(key, key));
  EXPECT_FALSE(is_entry_of(key + "s=1", key));
  EXPECT_EQ(value_of(key + "=a=b"), "a=b");
  EXPECT_EQ(value_of(key + "="), "");
  EXPECT_EQ(value_of("none"), "none");
}

}  // namespace
}  // namespace muster::spank
