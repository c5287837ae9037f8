// StepJournal: the state of the step manager in the spool, a file for each job: ManagerRecords one after the other, each with its length
// and a checksum. A synced record is on the disk when add() returns. A record that a crash left half written at the end of a file counts as
// absent. A file that has grown far beyond its content is written anew. The folder is closed to others; it holds a private key.
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

  // Opens the folder and returns the key that the node signs with; both are made at the first start.
  Result<std::string> open();
  // Reads what was added, file by file. `of_this_boot`: false for a job that ended with an earlier boot of the machine. A file that cannot
  // be understood is moved aside, with a word for the log; one that cannot be read is an error, as the next start may be able to.
  Result<> read(const std::string& boot_id, const std::function<void(JobId, ManagerRecord&&, bool of_this_boot)>& each,
                std::vector<std::string>& complaints);
  // `sync`: the record is on the disk when this returns, since somebody is answered then.
  Result<> add(JobId job, const ManagerRecord& record, bool sync);
  Result<> sync(JobId job);  // the records that were added without
  // Whether somebody has tidied the job's file away: then it has to be written anew as one record.
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
