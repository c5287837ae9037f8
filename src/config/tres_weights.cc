#include "config/tres_weights.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace muster::config {
namespace {

// Whether the text is a number that a unit may follow, as in "0.25G".
bool is_weight(std::string_view text) {
  double value = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc()) return false;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  return unit.empty() || (unit.size() == 1 && std::string_view("KMGTPkmgtp").find(unit[0]) != std::string_view::npos);
}

bool is_kind_with_names(std::string_view tres) {
  for (std::string_view kind : {"gres/", "license/", "fs/", "ic/", "bb/"})
    if (istarts_with(tres, kind) && tres.size() > kind.size()) return true;
  return false;
}

}  // namespace

Result<std::vector<std::string>> check_tres_weights(std::string_view text, const std::vector<std::string>& tracked) {
  std::vector<std::string> idle;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    const std::string_view tres = trim(word.substr(0, equals));
    const std::string shown = "\"" + std::string(word.substr(0, 60)) + "\"";
    if (equals == std::string_view::npos || !is_weight(trim(word.substr(equals + 1))))
      return fail(Errc::kInvalidArgument, shown + " is not resource=weight", "for example CPU=1.0,Mem=0.25G,GRES/gpu=2");
    if (std::ranges::any_of(tracked, [&](const std::string& t) { return iequals(t, tres); })) continue;
    if (!is_kind_with_names(tres)) {
      const std::string_view near = did_you_mean(tres, {tracked.begin(), tracked.end()});
      return fail(Errc::kInvalidArgument, shown + " names no resource",
                  near.empty() ? "there are " + join(tracked, ", ") : "did you mean " + std::string(near) + "?");
    }
    idle.emplace_back(tres);
  }
  return idle;
}

}  // namespace muster::config
