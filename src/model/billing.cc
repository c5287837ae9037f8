#include "model/billing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/saturating.h"
#include "base/text.h"
#include "model/tres_amounts.h"
#include "model/tres_table.h"

namespace muster {
namespace {

constexpr std::string_view kUnits = "KMGTP";
constexpr double kStep = 1024;

// What stands behind the number: "", "G", "GB". Below 0 where it is no unit.
int power_of(std::string_view unit) {
  if (unit.empty()) return 0;
  if (unit.size() == 2 && iequals(unit.substr(1), "b")) unit.remove_suffix(1);
  const size_t at = unit.size() == 1 ? kUnits.find(to_lower(unit)[0] - 'a' + 'A') : kUnits.npos;
  return at == kUnits.npos ? -1 : static_cast<int>(at) + 1;
}

bool counts_bytes(const TresName& tres) { return tres.kind == TresKind::kMem || tres.name.starts_with("bb/"); }

uint64_t billed(const BillingWeights& weights, const BillingMethod& method, const std::function<double(const TresName&)>& amount) {
  double sum = 0, most = 0;
  for (const BillingWeights::Weight& w : weights.list) {
    if (w.tres.kind == TresKind::kBilling || !method.tracks(w.tres)) continue;
    const double part = w.each * amount(w.tres);
    const bool alone = method.of == BillingMethod::Of::kSum || w.tres.global() ||
                       (method.of == BillingMethod::Of::kMaxButGres && w.tres.kind == TresKind::kGres);
    if (alone) sum += part;
    else most = std::max(most, part);
  }
  return to_count(sum + most);
}

}  // namespace

Result<BillingWeights> BillingWeights::parse(std::string_view text) {
  BillingWeights out;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    const auto wrong = [&] {
      return fail(Errc::kInvalidArgument, "\"" + std::string(word.substr(0, 60)) + "\" is not resource=weight",
                  "for example CPU=1.0,Mem=0.25G,GRES/gpu=2");
    };
    if (equals == word.npos) return wrong();
    const std::string_view number = trim(word.substr(equals + 1)), name = trim(word.substr(0, equals));
    double each = 0;
    const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), each);
    const int power = ec == std::errc() ? power_of(number.substr(static_cast<size_t>(end - number.data()))) : -1;
    if (power < 0 || !std::isfinite(each) || each < 0) return wrong();
    Weight w{TresName::of(name), each, std::string(name)};
    const int of_units = counts_bytes(w.tres) && power > 0 ? power - 2 : power;  // of memory MiB are counted
    w.each /= std::pow(kStep, of_units);
    out.list.push_back(std::move(w));
  }
  return out;
}

bool BillingMethod::tracks(const TresName& tres) const {
  const bool always = tres.kind != TresKind::kGres && tres.kind != TresKind::kLicense;
  return always || std::ranges::binary_search(tracked, tres.text());
}

uint64_t billing_of(const BillingText& weights, const BillingMethod& method, const TresAmounts& held) {
  if (weights->list.empty()) return held.cpus.value_or(0);
  return billed(*weights.operator->(), method, [&](const TresName& tres) { return static_cast<double>(held.of(tres)); });
}

uint64_t billing_of(const BillingText& weights, const BillingMethod& method, const TresCounts& wanted, const TresTable& table) {
  if (weights->list.empty()) return wanted[TresTable::kCpu];
  return billed(*weights.operator->(), method, [&](const TresName& tres) {
    const uint32_t at = table.find(tres.text());
    return at == TresTable::kUnknown ? 0.0 : static_cast<double>(wanted[at]);
  });
}

}  // namespace muster
