#include "config/tres_weights.h"

#include <algorithm>

#include "base/text.h"
#include "model/billing.h"

namespace muster::config {
namespace {

bool is_kind_with_names(std::string_view tres) {
  for (std::string_view kind : {"gres/", "license/", "fs/", "ic/", "bb/"})
    if (istarts_with(tres, kind) && tres.size() > kind.size()) return true;
  return false;
}

}  // namespace

Result<std::vector<std::string>> check_tres_weights(std::string_view text, const std::vector<std::string>& tracked) {
  MUSTER_TRY(weights, BillingWeights::parse(text));
  std::vector<std::string> idle;
  for (const BillingWeights::Weight& w : weights.list) {
    const std::string tres = w.tres.text();
    if (std::ranges::any_of(tracked, [&](const std::string& t) { return iequals(t, tres); })) continue;
    if (!is_kind_with_names(tres)) {
      const std::string_view near = did_you_mean(w.written, {tracked.begin(), tracked.end()});
      return fail(Errc::kInvalidArgument, "\"" + w.written.substr(0, 60) + "\" names no resource",
                  near.empty() ? "there are " + join(tracked, ", ") : "did you mean " + std::string(near) + "?");
    }
    idle.push_back(w.written);
  }
  return idle;
}

}  // namespace muster::config
