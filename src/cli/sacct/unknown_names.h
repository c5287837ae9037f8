// Names given to -A, -q, -W and -M that do not exist: an empty table would not say which word was misspelled. An unknown cluster is an
// error, as with every command, and so is an unknown QOS. For the others a warning names those that neither a record shown nor the database has, because jobs may run
// under accounts that sacctmgr never made. Cost: no question at all while each name asked for is in some record.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/common/session.h"
#include "fields/record_view.h"
#include "model/accounting.h"
#include "model/accounts.h"

namespace muster::cli {

// `own`: the cluster of this configuration, which may not be registered yet. kInvalidClusterName names the first unknown one.
Result<> check_record_clusters(Session& session, const rpc::JobRecordFilter& filter, const std::string& own);

// The database's QOS by name, with those that were deleted.
Result<std::map<std::string, QosRecord>> known_qos(Session& session);
// kInvalidQos names the first QOS of the filter that is not known, and those that are.
Result<> check_record_qos(const std::map<std::string, QosRecord>& known, const rpc::JobRecordFilter& filter);

// The numbers of the database's wckeys, with those that were deleted.
Result<fields::WckeyNumbers> wckey_numbers(Session& session);

class UnknownNames {
 public:
  explicit UnknownNames(const rpc::JobRecordFilter& filter);
  void seen(const rpc::JobRecords& part);
  // Lines such as "no account nosuch is known to the database"; to be called after the last part.
  Result<std::vector<std::string>> warnings(Session& session) const;

 private:
  struct Kind {
    Entity entity;
    const char* noun;
    std::vector<std::string> EntityFilter::*filter;
    std::string JobRecord::*in_record;
    std::vector<std::string> missing;
  };
  std::vector<Kind> kinds_;
};

}  // namespace muster::cli
