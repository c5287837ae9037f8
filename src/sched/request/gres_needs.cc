// Reads the devices named in a list of a request.
#include "model/tres_list.h"
#include "sched/request/request_shape.h"

namespace muster::sched {

Result<std::vector<GresNeed>> gres_needs(const TresText& text, std::string_view option) {
  const Result<TresList>& list = text.parsed();
  if (!list) return fail(list.error().code, {}, std::string(option) + ": " + list.error().hint);
  std::vector<GresNeed> out;
  for (const Tres& t : list->items())
    if (t.is_gres()) out.push_back({t.name, t.type, t.count});
  return out;
}

}  // namespace muster::sched
