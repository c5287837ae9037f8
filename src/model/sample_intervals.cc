#include "model/sample_intervals.h"

#include "base/text.h"

namespace muster {
namespace {

struct Kind {
  std::string_view name;
  std::optional<uint32_t> SampleIntervals::*interval;
};
constexpr Kind kKinds[] = {{"task", &SampleIntervals::task},
                           {"energy", &SampleIntervals::energy},
                           {"network", &SampleIntervals::network},
                           {"filesystem", &SampleIntervals::filesystem}};

const Kind* kind_of(std::string_view name) {
  for (const Kind& k : kKinds)
    if (iequals(k.name, name)) return &k;
  return nullptr;
}

}  // namespace

Result<SampleIntervals> SampleIntervals::parse(std::string_view text) {
  SampleIntervals out;
  if (text.empty()) return out;
  for (std::string_view part : split(text, ',', true)) {
    const size_t eq = part.find('=');
    const Kind* kind = eq == part.npos ? &kKinds[0] : kind_of(part.substr(0, eq));
    const auto seconds = parse_number<uint32_t>(eq == part.npos ? part : part.substr(eq + 1));
    if (!kind || !seconds)
      return fail(Errc::kInvalidArgument,
                  "\"" + std::string(part) + "\" is no interval: [task|energy|network|filesystem]=SECONDS is meant");
    out.*(kind->interval) = *seconds;
  }
  return out;
}

}  // namespace muster
