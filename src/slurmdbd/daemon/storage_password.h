// StoragePassword: the password of the database as StoragePassScript prints it: TOKEN=… on stdout, exit status 0. slurmdbd.conf(5).
//
// One answer is used for token_duration, by all connections, and longer while the program fails. When the server does not take it the
// program is asked again. It runs as SlurmUser, once in kPause at most, and has kMost to answer: a caller waits for it. It must belong to
// SlurmUser or root, and nobody else may change it. What it prints is never told; what it says on stderr is, without the password.
// Errors: kAccountingUnavailable, with the key, the path and what was wrong. Any thread.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace muster::slurmdbd {

struct PasswordProgram {
  std::string path;
  std::vector<std::string> environment;  // SLURM_STORAGE_…=
  Uid slurm_user{};
  Duration kept = minutes(5);   // token_duration
  Duration most = seconds(10);  // what it may take
  Duration pause = seconds(5);  // before it is run again
};

class StoragePassword {
 public:
  using Complain = std::function<void(const std::string&)>;
  StoragePassword(PasswordProgram program, Complain complain) : program_(std::move(program)), complain_(std::move(complain)) {}

  // `refused`: the server did not take the last one.
  Result<std::string> now(bool refused);

 private:
  Result<std::string> run() const;

  const PasswordProgram program_;
  const Complain complain_;
  std::mutex mutex_;
  std::optional<Time> tried_, made_;                               // on the monotonic clock
  Result<std::string> last_ = fail(Errc::kAccountingUnavailable);  // the last password, or why there never was one
};

}  // namespace muster::slurmdbd
