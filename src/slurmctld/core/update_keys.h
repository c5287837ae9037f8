// Keys of scontrol update may be typed in full or as any prefix that no other key begins with (AllowAccount= for AllowAccounts). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/rpc.h"

namespace muster::slurmctld {

// The changes with their keys in full; a key that is unknown, or that may mean several, stays as it is typed.
template <class Rows>
std::vector<rpc::KeyValue> with_whole_keys(const std::vector<rpc::KeyValue>& changes, const Rows& rows) {
  std::vector<rpc::KeyValue> out = changes;
  for (rpc::KeyValue& kv : out) {
    const char* begins = nullptr;
    bool whole = false, several = false;
    for (const auto& row : rows) {
      whole = whole || iequals(row.name, kv.key);
      if (kv.key.empty() || !istarts_with(row.name, kv.key)) continue;
      several = several || begins;
      begins = row.name;
    }
    if (!whole && begins && !several) kv.key = begins;
  }
  return out;
}

}  // namespace muster::slurmctld
