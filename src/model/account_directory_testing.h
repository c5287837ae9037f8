// Small directories for tests: ADirectory().qos("fast").account("team").user("games", "team").association("games", "team", {"fast"}).make()
#pragma once

#include <string>
#include <vector>

#include "model/account_directory.h"

namespace muster {

class ADirectory {
 public:
  ADirectory& qos(const std::string& name) {
    all_.qos.emplace_back().name = name;
    return *this;
  }
  ADirectory& account(const std::string& name, const std::string& parent = "root", std::vector<std::string> flags = {}) {
    AccountRecord& a = all_.accounts.emplace_back();
    a.name = name;
    a.flags = std::move(flags);
    AssociationRecord own;
    own.account = name;
    own.parent_id = name == "root" ? 0 : id_of(parent);
    add(own);
    return *this;
  }
  ADirectory& user(const std::string& name, const std::string& default_account, AdminLevel level = AdminLevel::kNone,
                   std::vector<std::string> coordinator_of = {}) {
    UserRecord& u = all_.users.emplace_back();
    u.name = name;
    u.default_account = default_account;
    u.admin_level = level;
    u.coordinator_of = std::move(coordinator_of);
    return *this;
  }
  ADirectory& association(const std::string& user, const std::string& account, std::vector<std::string> qos,
                          const std::string& default_qos = "", const std::string& partition = "") {
    AssociationRecord a;
    a.user = user;
    a.account = account;
    a.qos = std::move(qos);
    a.default_qos = default_qos;
    a.partition = partition;
    a.parent_id = id_of(account);
    add(a);
    return *this;
  }
  // The same as slurmdbd's answer to QueryEntities.
  const rpc::Entities& entities() const { return all_; }
  rpc::Entities& entities() { return all_; }
  AccountDirectory make() const {
    AccountDirectory d;
    for (const AccountChanges& part : changes_to(nullptr, all_)) d.learn(part);
    return d;
  }

 private:
  uint32_t id_of(const std::string& account) const {
    for (const AssociationRecord& a : all_.associations)
      if (a.user.empty() && a.account == account) return a.id;
    return 0;
  }
  void add(AssociationRecord a) {
    a.id = ++last_id_;
    all_.associations.push_back(std::move(a));
  }
  rpc::Entities all_;
  uint32_t last_id_ = 0;
};

}  // namespace muster
