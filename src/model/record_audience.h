// RecordAudience: who asks for records of jobs and for usage, and whose he may see. slurmdbd judges that once a question
// (slurmdbd/core/record_rights.h); the queries of the database and of the roll-ups take it as a value, so none of them has a rule of its
// own. slurmdbd.conf(5) PrivateData. Pure.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace muster {

struct RecordAudience {
  bool all = false;  // sees everything; the rest is then without meaning
  Uid uid{};         // who asks: he sees what is his
  std::string user;
  // The accounts that he coordinates, by cluster: in two trees an account may stand below different ones.
  using Names = std::set<std::string, std::less<>>;
  std::map<std::string, Names, std::less<>> accounts;

  static RecordAudience everybody() {
    RecordAudience who;
    who.all = true;
    return who;
  }
  bool coordinates(std::string_view cluster, std::string_view account) const {
    const auto there = accounts.find(cluster);
    return there != accounts.end() && there->second.contains(account);
  }
  // A job's record. Its user is told by the number: names may be given to others.
  bool sees(Uid owner, std::string_view cluster, std::string_view account) const {
    return all || owner == uid || coordinates(cluster, account);
  }
  // Usage, which is kept by names. `whose` empty: nobody's.
  bool sees(std::string_view whose, std::string_view cluster, std::string_view account) const {
    return all || (!whose.empty() && whose == user) || coordinates(cluster, account);
  }
};

}  // namespace muster
