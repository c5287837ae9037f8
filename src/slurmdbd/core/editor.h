// Editor: works out one edit. Internal to the edit*.cc of this folder, each of which handles one kind of noun.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "slurmdbd/core/edit.h"

namespace muster::slurmdbd {

// Finds associations of a Directory by whose they are, while the edits of one request add to it: a file that sacctmgr loads has thousands,
// and each asks several times. Made when it is first asked. Whoever adds an association says so; after any other change: forget().
class AssociationIndex {
 public:
  explicit AssociationIndex(const Directory& d) : d_(d) {}
  // As Directory::association().
  const AssociationRecord* find(const std::string& cluster, const std::string& account, const std::string& user = "",
                                const std::string& partition = "");
  bool has_default(const std::string& user, const std::string& cluster);
  void add(const AssociationRecord& a);
  void forget();

 private:
  using Ids = std::vector<uint32_t>;  // ascending
  const Ids& ids(const std::string& account, const std::string& user);

  const Directory& d_;
  std::unordered_map<std::string, Ids> of_users_, of_accounts_;  // an account's own have no user
  bool made_ = false;
};

class Editor {
 public:
  Editor(Directory& d, AssociationIndex& index, Touched& t, const EditContext& context, EntityEdit edit)
      : d_(d), index_(index), touched_(t), context_(context), edit_(std::move(edit)) {}

  Result<> run();
  rpc::Entities take_changed() { return std::move(changed_); }
  const EntityEdit& request() const { return edit_; }

 private:
  using Association = AssociationRecord;

  // ---- edit.cc
  void normalise();
  Result<> check_names() const;
  bool is_operator() const { return context_.level >= AdminLevel::kOperator; }
  Result<> need_operator(const std::string& what) const;
  Result<std::vector<std::string>> clusters() const;  // those named, which must exist, or all
  // Whether the actor may edit what is in this account on this cluster.
  Result<> may_edit(const std::string& cluster, const std::string& account) const;
  bool coordinates(const std::string& cluster, const std::string& account) const;
  Result<> refuse_if_used(const std::vector<uint32_t>& associations) const;
  Result<> refuse_default(const std::vector<uint32_t>& associations) const;
  Result<> remove_association(uint32_t id);

  // ---- edit_conditions.cc
  Result<> check_conditions() const;  // kError: `where` has a condition that this edit does not honour
  // Whether a record by itself meets the conditions of `where`; deleted records never do.
  bool meets(const AccountRecord& a) const;
  bool meets(const UserRecord& u) const;
  bool meets(const QosRecord& q) const;
  bool meets(const ClusterRecord& c) const;
  bool meets(const ResourceRecord& r) const;
  bool meets(const Association& a) const;
  bool default_meets(const std::string& user, const std::string& cluster) const;  // the condition DefaultAccount
  // The associations that `where` means; with `of_users` those of users, else those of accounts.
  std::vector<uint32_t> matching(bool of_users) const;
  bool asks_of_associations(bool of_users) const;
  std::set<std::string> users_meant() const;  // by their records and, where conditions are about associations, by those
  std::set<std::string> accounts_meant() const;

  // ---- edit_changes.cc
  Result<> change_limits(std::vector<Limit>& limits, bool of_qos, const Association* below) const;
  Result<> change_qos_list(std::vector<std::string>& list) const;
  Result<> change_names(std::vector<std::string>& list, const std::vector<NamesChange>& changes) const;
  Result<> change_account_flags(AccountRecord& account) const;
  Result<bool> change_association(Association& association) const;
  bool changes_associations() const;
  Result<> reset_usage(Time& at) const;

  // ---- edit_accounts.cc
  Result<> add_accounts();
  Result<> modify_accounts();
  Result<> remove_accounts();
  Result<> move_account(uint32_t id, const std::string& parent);
  Result<> edit_coordinators();
  // ---- edit_users.cc
  Result<> add_users();
  Result<> add_user(const std::string& name);
  Result<> modify_users();
  Result<> remove_users();
  Result<> set_default_wckey(UserRecord& user, const std::string& key);
  Result<> set_default_account(const std::string& user, const std::string& account);
  Result<> rename_user(const std::string& from, const std::string& to);
  // ---- edit_wckeys.cc
  Result<> edit_wckeys();
  Result<> remove_wckeys();
  Result<> remove_wckey(uint32_t id);
  bool has_wckey(const std::string& user, const std::string& key) const;  // on any cluster
  void add_wckey(const std::string& user, const std::string& cluster, const std::string& key);
  // ---- edit_others.cc
  Result<> edit_qos();
  Result<> change_qos(QosRecord& qos);
  Result<> remove_qos(const std::string& name);
  Result<> edit_clusters();
  Result<> change_cluster(const std::string& name, bool fresh);
  Result<> remove_cluster(const std::string& name);
  Result<> edit_resources();
  Result<> add_resources();
  Result<> modify_resources();
  Result<> remove_resources();
  Result<bool> change_resource(ResourceRecord& resource);
  Result<> check_resource_types() const;

  Association& new_association(const std::string& cluster, const std::string& account, const std::string& user,
                               const std::string& partition, uint32_t parent);

  Directory& d_;
  AssociationIndex& index_;
  Touched& touched_;
  const EditContext& context_;
  EntityEdit edit_;
  rpc::Entities changed_;
};

// The limit in force on an association: its own or, for inherited limits, that of the nearest one above that is set.
std::optional<uint64_t> effective_limit(const Directory& d, const AssociationRecord& a, LimitKind kind, const std::string& tres);
std::vector<std::string> effective_qos(const Directory& d, const AssociationRecord& a);  // those that its jobs may use
bool is_inherited(LimitKind kind);                                                       // Max… limits are, Grp… limits are not

}  // namespace muster::slurmdbd
