// The texts of a request that have a grammar of their own: GRES lists.
#include "base/text.h"
#include "sched/request_shape.h"

namespace muster::sched {
namespace {

constexpr uint64_t kMaxGresCount = 1ull << 52;

std::unexpected<Error> bad_gres(std::string_view option, std::string_view part, std::string_view why) {
  return fail(Errc::kInvalidGres, {},
              std::string(option) + ": \"" + std::string(part) + "\": " + std::string(why));
}

Result<GresNeed> one_gres(std::string_view part, std::string_view option) {
  std::string_view text = part;
  if (text.starts_with("gres/") || text.starts_with("gres:")) text.remove_prefix(5);
  GresNeed need;
  need.count = 1;
  // gres/gpu=2 is the form of --tres-per-task
  if (size_t eq = text.find('='); eq != text.npos) {
    auto n = parse_count(text.substr(eq + 1));
    if (!n) return bad_gres(option, part, "the count is no number");
    need.count = *n;
    text = text.substr(0, eq);
  }
  std::vector<std::string_view> pieces = split(text, ':', true);
  if (pieces.empty() || pieces[0].empty() || pieces.size() > 3)
    return bad_gres(option, part, "expected name[:type][:count]");
  need.name = std::string(pieces[0]);
  if (pieces.size() == 2) {
    if (auto n = parse_count(pieces[1]))
      need.count = *n;
    else
      need.type = std::string(pieces[1]);
  } else if (pieces.size() == 3) {
    need.type = std::string(pieces[1]);
    auto n = parse_count(pieces[2]);
    if (!n) return bad_gres(option, part, "the count is no number");
    need.count = *n;
  }
  if (need.type == "none" || need.name == "none") need.count = 0;
  return need;
}

}  // namespace

Result<std::vector<GresNeed>> parse_gres(std::string_view text, std::string_view option) {
  std::vector<GresNeed> out;
  for (std::string_view raw : split(text, ',')) {
    std::string_view part = trim(raw);
    if (part.empty() || part.starts_with("license/") || part.starts_with("license:") ||
        part.starts_with("cpu"))
      continue;
    MUSTER_TRY(need, one_gres(part, option));
    if (need.count == 0) continue;
    if (need.count > kMaxGresCount) return bad_gres(option, part, "the count is too big");
    bool merged = false;
    for (GresNeed& o : out)
      if (o.name == need.name && o.type == need.type) {
        o.count += need.count;
        merged = true;
      }
    if (!merged) out.push_back(std::move(need));
    if (out.size() > 256) return bad_gres(option, text, "more than 256 kinds");
  }
  return out;
}

}  // namespace muster::sched
