#include "model/sharing_words.h"

namespace muster {

std::string_view exclusive_word(Exclusive asked, const Partition* partition) {
  if (partition && partition->exclusive_user) return "USER";
  if (partition && partition->exclusive_topo) return "TOPO";
  if (partition && partition->oversubscribe == OverSubscribe::kExclusive) return "NODE";
  switch (asked) {
    case Exclusive::kNode: return "NODE";
    case Exclusive::kUser: return "USER";
    case Exclusive::kMcs: return "MCS";
    case Exclusive::kTopo: return "TOPO";
    case Exclusive::kDefault:
    case Exclusive::kOversubscribe: break;
  }
  return "NO";
}

std::string_view oversubscribe_word(Exclusive asked, const Partition* p) {
  if (p && p->oversubscribe == OverSubscribe::kForce) return "YES";
  if (exclusive_word(asked, p) != "NO") return "NO";
  if (asked == Exclusive::kOversubscribe) return "YES";
  return p && p->oversubscribe == OverSubscribe::kYes ? "OK" : "NO";
}

}  // namespace muster
