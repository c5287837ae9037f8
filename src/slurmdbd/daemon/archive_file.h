// Files of ArchiveDir: what slurmdbd writes before it deletes records, and reads when they are to come back. slurmdbd.conf(5) ArchiveDir.
//
//   "muster archive 1\n"                         the version of all that follows
//   frames: uint32 size, int64 checksum, bytes   an ArchivePart (model/archive.h), in Protocol Buffers' wire format: wire/muster.proto
//   the last frame has no bytes                  so a file that was cut off is not taken for a whole one
//
// Numbers are little endian. The checksum is store::Checksum over the frame's number, from 0, and its bytes. Files are SlurmUser's, mode
// 0600. What is read is believed in nothing: sizes are bounded, records are checked (core/purge.h), a file that others could have written is
// refused.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "os/fd.h"
#include "slurmdbd/core/purge.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

// Opens a directory for files of ours. One that its owner, which has to be SlurmUser, root or we, does not have for himself must be sticky, as
// /tmp is. Errors name the directory.
Result<os::Fd> open_archive_directory(const NamedPlace& place, Uid slurm_user);

// Writes the rows of one transaction: a file for each cluster, named CLUSTER_OBJECT_archive_BEGIN_END, with ".2", ".3" … behind it where there
// is such a file: none is ever overwritten. It has another name, that begins with a dot, until it is whole and on disk. Errors: kDiskFull and
// others, with the path.
class ArchiveWriter final : public sql::RowKeeper {
 public:
  // `kind` is what is purged; of jobs, only their steps are kept unless `rules` archives jobs.
  ArchiveWriter(const NamedPlace& place, const ArchiveRules& rules, RecordKind kind, Time before, Uid slurm_user);
  ~ArchiveWriter() override;  // removes what did not become whole
  Result<> keep(ArchivePart part) override;
  Result<> make_durable() override;
  // The paths of what is durable.
  const std::vector<std::string>& files() const { return files_; }

 private:
  struct File;
  Result<File*> file_of(const std::string& cluster, Time begin);
  Result<> publish(File& file);

  NamedPlace place_;
  std::string object_;
  bool steps_alone_;
  Time before_;
  Uid slurm_user_;
  os::Fd directory_;
  std::map<std::string, std::unique_ptr<File>> open_;  // by cluster
  std::vector<std::string> files_;
};

class ArchiveReader {
 public:
  // Errors: kNotFound, kAccessDenied (a link, no plain file, or one that others could have written), kInvalidArgument (no archive, or one of
  // a newer version).
  static Result<ArchiveReader> open(const NamedPlace& place, Uid slurm_user);
  // nullopt: that was all of it. kInvalidArgument: the file is damaged or cut off, or has a record that cannot be.
  Result<std::optional<ArchivePart>> next();

 private:
  ArchiveReader(os::Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<> read(char* into, size_t size);
  std::unexpected<Error> damaged(std::string_view how) const;

  os::Fd file_;
  std::string path_;
  uint64_t frame_ = 0;  // the next one's number
};

}  // namespace muster::slurmdbd
