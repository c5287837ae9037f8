// StepJournal: the state of the step manager in the spool, a file for each job: ManagerRecords one after the other, each with its
// length and a checksum. A record is on the disk when add() returns. What a crash left half written at the end of a file is not
// there. When a file has grown far beyond what it says it is written anew. The folder is closed to others; its private key is in it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "os/fd.h"
#include "slurmd/core/step_manager.h"

namespace muster::slurmd {

class StepJournal {
 public:
  explicit StepJournal(std::string folder) : folder_(std::move(folder)) {}

  // The folder, and the key that the node signs with: made at the first start.
  Result<std::string> open();
  // What was added, file by file. `of_this_boot`: false for a job that went with an earlier boot of the machine. A file that cannot be
  // understood is moved aside, with a word for the log; one that cannot be read is an error, for it may be read at the next start.
  Result<> read(const std::string& boot_id, const std::function<void(JobId, ManagerRecord&&, bool of_this_boot)>& each,
                std::vector<std::string>& complaints);
  // `sync`: nobody is answered before it is on the disk.
  Result<> add(JobId job, const ManagerRecord& record, bool sync);
  Result<> sync(JobId job);  // what was added without
  // Whether somebody has tidied its file away: it has to be written anew as one record.
  bool is_gone(JobId job);
  // Whether it should be written anew as one record.
  bool has_grown(JobId job) const;
  Result<> replace(JobId job, const ManagerRecord& whole);
  void drop(JobId job);

 private:
  struct File {
    os::Fd fd;
    size_t size = 0, size_when_new = 0;
  };
  std::string path_of(JobId job) const { return folder_ + "/" + std::to_string(job.value); }
  Result<File*> file_of(JobId job);
  Result<std::string> read_key();
  Result<> make_folder();

  std::string folder_, boot_id_, key_;
  std::map<JobId, File> files_;
};

}  // namespace muster::slurmd
