#include "os/mount_options.h"

#include <sys/mount.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace muster::os {
namespace {

constexpr std::pair<std::string_view, unsigned long> kFlags[] = {
    {"noatime", MS_NOATIME},   {"nodev", MS_NODEV}, {"nodiratime", MS_NODIRATIME}, {"noexec", MS_NOEXEC}, {"nosuid", MS_NOSUID},
    {"relatime", MS_RELATIME}, {"ro", MS_RDONLY},
};

}  // namespace

MountOptions read_mount_options(std::string_view text) {
  MountOptions out;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    const auto row = std::ranges::find(kFlags, word, [](const auto& f) { return f.first; });
    if (row != std::end(kFlags)) out.flags |= row->second;
    else if (!word.empty()) out.data += (out.data.empty() ? "" : ",") + std::string(word);
  }
  return out;
}

}  // namespace muster::os
