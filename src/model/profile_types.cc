#include "model/profile_types.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace muster {
namespace {

struct Kind {
  std::string_view name;
  bool ProfileTypes::*wanted;
};
constexpr Kind kKinds[] = {{"energy", &ProfileTypes::energy},
                           {"task", &ProfileTypes::task},
                           {"network", &ProfileTypes::network},
                           {"lustre", &ProfileTypes::filesystem},
                           {"filesystem", &ProfileTypes::filesystem}};

}  // namespace

Result<ProfileTypes> ProfileTypes::parse(std::string_view text) {
  ProfileTypes out;
  if (text.empty() || iequals(text, "none")) return out;
  if (iequals(text, "all")) {
    out.energy = out.task = out.network = out.filesystem = out.everything = true;
    return out;
  }
  for (std::string_view part : split(text, ',', true)) {
    const auto* kind = std::ranges::find_if(kKinds, [&](const Kind& k) { return iequals(k.name, trim(part)); });
    if (kind == std::end(kKinds))
      return fail(Errc::kInvalidArgument,
                  "\"" + std::string(part) + "\" is no kind of profile: all, none, or any of energy, task, lustre, network with commas");
    out.*(kind->wanted) = true;
  }
  return out;
}

}  // namespace muster
