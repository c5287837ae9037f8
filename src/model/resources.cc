#include "model/resources.h"

#include <algorithm>

namespace muster {
namespace {

std::vector<GresShare>::iterator entry_of(std::vector<GresShare>& list, const GresShare& what) {
  return std::find_if(list.begin(), list.end(), [&](const GresShare& g) { return g.name == what.name && g.type == what.type; });
}

// Changes the shares of each device by adding or taking `what`.
void change_shares(GresShare& held, const GresShare& what, bool add) {
  Bitmap devices;
  std::vector<uint64_t> shares;
  (held.devices | what.devices).for_each([&](size_t d) {
    const uint64_t mine = held.shares_on(d), other = what.shares_on(d);
    const uint64_t now = add ? mine + other : mine - std::min(mine, other);
    if (now == 0) return;
    devices.set(d);
    shares.push_back(now);
  });
  held.devices = std::move(devices);
  held.shares = std::move(shares);
}

}  // namespace

uint64_t GresShare::shares_on(size_t device) const {
  if (!devices.test(device)) return 0;
  size_t at = 0;
  for (size_t d = devices.first(); d != device; d = devices.next(d + 1)) ++at;
  return at < shares.size() ? shares[at] : 0;
}

std::string gres_name(const std::string& name, const std::string& type) { return type.empty() ? name : name + ":" + type; }

std::string gres_text(const std::string& name, const std::string& type, uint64_t count) {
  return gres_name(name, type) + ":" + std::to_string(count);
}

std::string gres_text(const std::vector<GresShare>& gres) {
  std::string out;
  for (const GresShare& g : gres) out += (out.empty() ? "" : ",") + gres_text(g.name, g.type, g.count);
  return out;
}

void add_gres(std::vector<GresShare>& list, const GresShare& what) {
  auto held = entry_of(list, what);
  if (held == list.end()) {
    list.push_back(what);
    return;
  }
  held->count += what.count;
  if (what.shares.empty()) held->devices |= what.devices;
  else change_shares(*held, what, true);
}

void remove_gres(std::vector<GresShare>& list, const GresShare& what) {
  auto held = entry_of(list, what);
  if (held == list.end()) return;
  held->count -= std::min(held->count, what.count);
  if (what.shares.empty()) held->devices -= what.devices;
  else change_shares(*held, what, false);
  if (held->count == 0) list.erase(held);
}

bool holds_gres(const std::vector<GresShare>& held, const std::vector<GresShare>& asked) {
  std::vector<GresShare> sums;
  for (const GresShare& g : asked) {
    auto sum = entry_of(sums, g);
    if (sum != sums.end() && sum->devices.intersects(g.devices) && g.shares.empty()) return false;  // one device twice
    add_gres(sums, g);
  }
  return std::ranges::all_of(sums, [&](const GresShare& g) {
    auto has = std::ranges::find_if(held, [&](const GresShare& h) { return h.name == g.name && h.type == g.type; });
    if (has == held.end() || has->count < g.count || !has->devices.contains(g.devices)) return false;
    bool enough = true;
    if (!has->shares.empty()) g.devices.for_each([&](size_t d) { enough = enough && g.shares_on(d) <= has->shares_on(d); });
    return enough;
  });
}

}  // namespace muster
