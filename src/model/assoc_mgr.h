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
  static void describe(S& self, V&& field) {
    field(1, "jobs", self.jobs);
    field(2, "submitted", self.submitted);
    field(3, "accruing", self.accruing);
    field(4, "wall_s", self.wall_s);
    field(5, "raw_usage", self.raw_usage);
    field(6, "held", self.held);
    field(7, "used_minutes", self.used_minutes);
    field(8, "run_minutes", self.run_minutes);
  }
};

struct AssociationUse {
  AssociationRecord record;
  UseRow use;
  double norm_shares = 0, factor = 0, norm_usage = 0, effective_usage = 0;
  uint64_t level_shares = 0;  // of all in the same account together
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "record", self.record);
    field(2, "use", self.use);
    field(3, "norm_shares", self.norm_shares);
    field(4, "factor", self.factor);
    field(5, "norm_usage", self.norm_usage);
    field(6, "effective_usage", self.effective_usage);
    field(7, "level_shares", self.level_shares);
  }
};

struct PartyUse {    // one user's or one account's jobs in a QOS
  std::string name;  // of a user the uid
  UseRow use;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "use", self.use);
  }
};

struct QosUse {
  QosRecord record;
  UseRow use;
  std::vector<PartyUse> accounts, users;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "record", self.record);
    field(2, "use", self.use);
    field(3, "accounts", self.accounts);
    field(4, "users", self.users);
  }
};

namespace rpc {

struct QueryAssocMgr {
  std::vector<std::string> users, accounts, qos;  // none: all
  bool show_users = true, show_associations = true, show_qos = true;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "users", self.users);
    field(2, "accounts", self.accounts);
    field(3, "qos", self.qos);
    field(4, "show_users", self.show_users);
    field(5, "show_associations", self.show_associations);
    field(6, "show_qos", self.show_qos);
  }
};

struct AssocMgrRows {
  std::vector<std::string> tres;  // AccountingStorageTRES
  std::vector<UserRecord> users;
  std::vector<AssociationUse> associations;
  std::vector<QosUse> qos;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "tres", self.tres);
    field(2, "users", self.users);
    field(3, "associations", self.associations);
    field(4, "qos", self.qos);
  }
};

}  // namespace rpc
}  // namespace muster
