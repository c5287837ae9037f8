#include "model/mem_update.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace muster {
namespace {

constexpr uint64_t kLeastPart = 10;  // a tenth of the allocated memory stays

std::unexpected<Error> wrong(std::string_view what, std::string_view text, const std::string& rule) {
  return fail(Errc::kInvalidArgument, std::string(what) + " \"" + std::string(text) + "\" " + rule);
}

uint64_t divide_up(uint64_t amount, uint64_t by) { return amount / by + (amount % by ? 1 : 0); }

}  // namespace

Result<MemUpdate> MemUpdate::parse(std::string_view text) {
  MemUpdate out;
  if (text.empty()) return out;
  const size_t at = text.find('@');
  if (at == text.npos) return wrong("the value", text, "has no @: margin@delay is meant, 20@10 for 20 percent after ten minutes");
  const std::string_view margin = text.substr(0, at), delay = text.substr(at + 1);
  const auto percent = parse_number<uint32_t>(margin, 0, kMostMargin);
  if (!percent) return wrong("the margin", margin, "is no whole number of percent from 0 to " + std::to_string(kMostMargin));
  const auto span = parse_time_span(delay);
  if (!span)
    return wrong("the delay", delay,
                 "is no time: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or "
                 "days-hours:minutes:seconds is meant");
  return MemUpdate{*percent, *span};
}

uint64_t reduced_memory_mb(const MemUpdate& asked, Bytes used, uint64_t allocated_mb) {
  const uint64_t used_mb = std::min(divide_up(used.value, 1u << 20), allocated_mb);  // so that no product here overflows
  const uint64_t wanted = used_mb + divide_up(used_mb * asked.margin_percent, 100);
  return std::min(allocated_mb, std::max(wanted, divide_up(allocated_mb, kLeastPart)));
}

}  // namespace muster
