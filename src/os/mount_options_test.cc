#include "os/mount_options.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

namespace muster::os {
namespace {

TEST(MountOptions, FlagsAndWhatIsForTheFileSystem) {
  const MountOptions all = read_mount_options("noatime,nodev,nodiratime,noexec,nosuid,relatime,ro");
  EXPECT_EQ(all.flags, static_cast<unsigned long>(MS_NOATIME | MS_NODEV | MS_NODIRATIME | MS_NOEXEC | MS_NOSUID | MS_RELATIME | MS_RDONLY));
  EXPECT_EQ(all.data, "");
  const MountOptions mixed = read_mount_options(" size=8g, noexec,,mode=1777");
  EXPECT_EQ(mixed.flags, static_cast<unsigned long>(MS_NOEXEC));
  EXPECT_EQ(mixed.data, "size=8g,mode=1777");
  EXPECT_EQ(read_mount_options("").flags, 0ul);
}

}  // namespace
}  // namespace muster::os
