// The database that slurmdbd.conf names (StorageType, Storage…), opened. What the file says of it holds until slurmdbd is restarted.
#pragma once

#include <memory>

#include "base/ids.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/daemon/storage_password.h"
#include "sql/statement_log.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

class Database {
 public:
  Database(Settings settings, Uid slurm_user, StoragePassword::Complain complain);

  sql::MariaDbOptions mariadb() const;  // of StorageType=accounting_storage/mysql
  Result<std::unique_ptr<sql::Connection>> connect() const;
  // Makes the tables, and the folder of a file, if there are none. `writer`: how the session is opened that writes, where several may want to.
  Result<std::unique_ptr<sql::Storage>> open(sql::StatementWatch& watch, const sql::MariaDbOptions* writer = nullptr) const;

 private:
  const Settings settings_;
  const Uid slurm_user_;
  std::shared_ptr<StoragePassword> password_;  // of StoragePassScript
};

}  // namespace muster::slurmdbd
