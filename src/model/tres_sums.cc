#include "model/tres_sums.h"

#include <algorithm>
#include <tuple>

#include "base/saturating.h"

namespace muster {
namespace {

auto place_of(const GresAmount& g) { return std::make_tuple(!g.type.empty(), std::string_view(g.name), std::string_view(g.type)); }
auto place_of(const LicenseShare& l) { return std::string_view(l.name); }

template <class Entry>
uint64_t count_in(const std::vector<Entry>& list, const Entry& like) {
  for (const Entry& e : list)
    if (place_of(e) == place_of(like)) return e.count;
  return 0;
}

template <class Entry>
Entry& entry_in(std::vector<Entry>& list, const Entry& like) {
  auto at = std::ranges::lower_bound(list, place_of(like), {}, [](const Entry& e) { return place_of(e); });
  if (at == list.end() || place_of(*at) != place_of(like)) {
    at = list.insert(at, like);
    at->count = 0;
  }
  return *at;
}

template <class F>
void combine(std::optional<uint64_t>& to, const std::optional<uint64_t>& what, F f) {
  if (what) to = f(to.value_or(0), *what);
}
template <class Entry, class F>
void combine(std::vector<Entry>& to, const std::vector<Entry>& what, F f) {
  for (const Entry& w : what) {
    Entry& e = entry_in(to, w);
    e.count = f(e.count, w.count);
  }
}
// to = f(to, what) of each TRES that `what` lists.
template <class F>
void combine(TresAmounts& to, const TresAmounts& what, F f) {
  combine(to.cpus, what.cpus, f);
  combine(to.mem_mb, what.mem_mb, f);
  combine(to.nodes, what.nodes, f);
  combine(to.billing, what.billing, f);
  combine(to.energy, what.energy, f);
  combine(to.gres, what.gres, f);
  combine(to.licenses, what.licenses, f);
}

}  // namespace

void add_tres(TresAmounts& to, const TresAmounts& what, uint64_t times) {
  combine(to, what, [times](uint64_t a, uint64_t b) { return add_sat(a, mul_sat(b, times)); });
}

TresAmounts less_tres(const TresAmounts& from, const TresAmounts& what) {
  TresAmounts out = from;
  combine(out, what, [](uint64_t a, uint64_t b) { return a - std::min(a, b); });
  return out;
}

TresAmounts only_tres(const TresAmounts& what, const TresAmounts& these) {
  auto basic = [](const std::optional<uint64_t>& amount, const std::optional<uint64_t>& wanted) {
    return wanted ? std::optional(amount.value_or(0)) : std::nullopt;
  };
  TresAmounts out{.cpus = basic(what.cpus, these.cpus),
                  .mem_mb = basic(what.mem_mb, these.mem_mb),
                  .nodes = basic(what.nodes, these.nodes),
                  .billing = basic(what.billing, these.billing),
                  .energy = basic(what.energy, these.energy),
                  .gres = {},
                  .licenses = {}};
  for (const GresAmount& g : these.gres) entry_in(out.gres, g).count = count_in(what.gres, g);
  for (const LicenseShare& l : these.licenses) entry_in(out.licenses, l).count = count_in(what.licenses, l);
  return out;
}

TresAmounts least_tres(const TresAmounts& a, const TresAmounts& b) {
  TresAmounts out = only_tres(a, b);
  combine(out, b, [](uint64_t x, uint64_t y) { return std::min(x, y); });
  return out;
}

TresAmounts split_tres(const TresAmounts& what, uint64_t parts) {
  TresAmounts out = what;
  combine(out, what, [parts](uint64_t, uint64_t b) { return b / parts; });
  return out;
}

}  // namespace muster
