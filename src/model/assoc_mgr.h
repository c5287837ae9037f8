// What the controller holds of users, associations and QOS, with what their jobs have and have used: scontrol show assoc_mgr.
// scontrol(1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/accounts.h"

namespace muster {

// Amounts of TRES stand in the order of AssocMgrRows::tres.
struct UseRow {
  uint32_t jobs = 0, submitted = 0, accruing = 0;
  double wall_s = 0;     // decayed
  double raw_usage = 0;  // billing, in seconds
  std::vector<uint64_t> held, used_minutes, run_minutes;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "jobs", s.jobs);
    v(2, "submitted", s.submitted);
    v(3, "accruing", s.accruing);
    v(4, "wall_s", s.wall_s);
    v(5, "raw_usage", s.raw_usage);
    v(6, "held", s.held);
    v(7, "used_minutes", s.used_minutes);
    v(8, "run_minutes", s.run_minutes);
  }
};

struct AssociationUse {
  AssociationRecord record;
  UseRow use;
  double norm_shares = 0, factor = 0, norm_usage = 0, effective_usage = 0;
  uint64_t level_shares = 0;  // of all in the same account together
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "record", s.record);
    v(2, "use", s.use);
    v(3, "norm_shares", s.norm_shares);
    v(4, "factor", s.factor);
    v(5, "norm_usage", s.norm_usage);
    v(6, "effective_usage", s.effective_usage);
    v(7, "level_shares", s.level_shares);
  }
};

struct PartyUse {    // one user's or one account's jobs in a QOS
  std::string name;  // of a user the uid
  UseRow use;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "use", s.use);
  }
};

struct QosUse {
  QosRecord record;
  UseRow use;
  std::vector<PartyUse> accounts, users;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "record", s.record);
    v(2, "use", s.use);
    v(3, "accounts", s.accounts);
    v(4, "users", s.users);
  }
};

namespace rpc {

struct QueryAssocMgr {
  std::vector<std::string> users, accounts, qos;  // none: all
  bool show_users = true, show_associations = true, show_qos = true;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "users", s.users);
    v(2, "accounts", s.accounts);
    v(3, "qos", s.qos);
    v(4, "show_users", s.show_users);
    v(5, "show_associations", s.show_associations);
    v(6, "show_qos", s.show_qos);
  }
};

struct AssocMgrRows {
  std::vector<std::string> tres;  // AccountingStorageTRES
  std::vector<UserRecord> users;
  std::vector<AssociationUse> associations;
  std::vector<QosUse> qos;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "tres", s.tres);
    v(2, "users", s.users);
    v(3, "associations", s.associations);
    v(4, "qos", s.qos);
  }
};

}  // namespace rpc
}  // namespace muster
