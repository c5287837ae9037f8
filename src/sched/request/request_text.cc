// The texts of a request that have a grammar of their own: GRES lists.
#include "model/tres_list.h"
#include "sched/request/request_shape.h"

namespace muster::sched {

Result<std::vector<GresNeed>> parse_gres(std::string_view text, std::string_view option) {
  auto list = TresList::parse(text);
  if (!list) return fail(list.error().code, {}, std::string(option) + ": " + list.error().hint);
  std::vector<GresNeed> out;
  for (Tres& t : list->items())
    if (t.is_gres()) out.push_back({std::move(t.name), std::move(t.type), t.count});
  return out;
}

}  // namespace muster::sched
