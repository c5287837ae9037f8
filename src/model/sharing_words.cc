#include "model/sharing_words.h"

namespace muster {

Exclusive exclusive_held(Exclusive asked, const Partition* partition) {
  if (partition && partition->exclusive_user) return Exclusive::kUser;
  if (partition && partition->exclusive_topo) return Exclusive::kTopo;
  if (partition && partition->oversubscribe == OverSubscribe::kExclusive) return Exclusive::kNode;
  return asked == Exclusive::kOversubscribe ? Exclusive::kDefault : asked;
}

Shares shares(Exclusive asked, const Partition* partition) {
  if (partition && partition->oversubscribe == OverSubscribe::kForce) return Shares::kYes;
  if (exclusive_held(asked, partition) != Exclusive::kDefault) return Shares::kNo;
  if (asked == Exclusive::kOversubscribe) return Shares::kYes;
  return partition && partition->oversubscribe == OverSubscribe::kYes ? Shares::kOk : Shares::kNo;
}

std::string_view word_of(Exclusive held) {
  switch (held) {
    case Exclusive::kNode: return "NODE";
    case Exclusive::kUser: return "USER";
    case Exclusive::kMcs: return "MCS";
    case Exclusive::kTopo: return "TOPO";
    case Exclusive::kDefault:
    case Exclusive::kOversubscribe: break;
  }
  return "NO";
}

std::string_view word_of(Shares shares) {
  switch (shares) {
    case Shares::kNo: return "NO";
    case Shares::kYes: return "YES";
    case Shares::kOk: return "OK";
    case Shares::kUnknown: break;
  }
  return "";
}

std::string_view exclusive_word(Exclusive asked, const Partition* partition) { return word_of(exclusive_held(asked, partition)); }
std::string_view oversubscribe_word(Exclusive asked, const Partition* partition) { return word_of(shares(asked, partition)); }

}  // namespace muster
