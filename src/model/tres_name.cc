#include "model/tres_name.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::pair<std::string_view, TresKind> kPlain[] = {
    {"cpu", TresKind::kCpu}, {"mem", TresKind::kMem}, {"node", TresKind::kNode}, {"billing", TresKind::kBilling}};
constexpr std::string_view kGres = "gres/", kLicense = "license/";

}  // namespace

TresName TresName::of(std::string_view written) {
  const std::string text = to_lower(written);
  for (const auto& [word, kind] : kPlain)
    if (text == word) return {kind, text, {}};
  if (text == "memory") return {TresKind::kMem, "mem", {}};
  if (text.starts_with(kLicense)) return {TresKind::kLicense, text.substr(kLicense.size()), {}};
  if (!text.starts_with(kGres)) return {TresKind::kOther, text, {}};
  const std::string rest = text.substr(kGres.size());
  const size_t colon = rest.find(':');
  return {TresKind::kGres, rest.substr(0, colon), colon == rest.npos ? std::string() : rest.substr(colon + 1)};
}

std::string TresName::text() const {
  if (kind == TresKind::kLicense) return std::string(kLicense) + name;
  if (kind != TresKind::kGres) return name;
  return std::string(kGres) + name + (type.empty() ? "" : ":" + type);
}

}  // namespace muster
