// Any text as a node list: it is refused, or its names stay within the bounds and survive printing and reading back.
#include <cstdint>
#include <cstdlib>

#include "hostlist/hostlist.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Expanding is bounded but not cheap; large lists are checked at both ends instead of as a whole.
constexpr size_t kWalked = 2000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto range = muster::HostRange::parse(text);
  if (!range) {
    require(!range.error().hint.empty() && range.error().text.size() < 2048);
    return 0;
  }
  require(range->size() <= muster::kMaxHosts);
  if (range->empty()) return 0;
  require(range->at(0).size() <= muster::kMaxHostName && range->at(range->size() - 1).size() <= muster::kMaxHostName);
  if (range->size() > kWalked) return 0;

  auto names = muster::expand_hosts(text);
  require(names && names->size() == range->size());
  for (const std::string& name : *names) require(!name.empty() && name.size() <= muster::kMaxHostName);
  const std::string printed = muster::compress_hosts(*names);
  auto again = muster::expand_hosts(printed);
  require(again && *again == *names);
  auto sorted = muster::expand_hosts(muster::compress_hosts_sorted(*names));
  require(sorted && sorted->size() == names->size());
  for (size_t i = 1; i < sorted->size(); ++i) require(!muster::host_less((*sorted)[i], (*sorted)[i - 1]));
  return 0;
}
