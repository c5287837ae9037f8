#include "slurmdbd/daemon/archive_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "net/backoff.h"
#include "os/error.h"
#include "os/files.h"
#include "store/digest.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

constexpr std::string_view kFirstLine = "muster archive 1\n", kAnyFirstLine = "muster archive ";
constexpr size_t kHead = sizeof(uint32_t) + sizeof(int64_t);
constexpr size_t kMostFrame = size_t{16} << 20;  // a part has some MiB, or one record
constexpr int kMostOfAName = 10'000;

std::string path_of(const NamedPlace& place) {
  std::string out = place.from;
  for (const std::string& name : place.names) out += (out.ends_with('/') ? "" : "/") + name;
  return out;
}

bool is_ours(uid_t owner, Uid slurm_user) { return owner == 0 || owner == slurm_user.value || owner == ::geteuid(); }

// Walks down to the place's last name, which is opened with `flags`. No name may be a link.
Result<os::Fd> open_place(const NamedPlace& place, int flags) {
  const bool last_is_first = place.names.empty();
  os::Fd at(::open(place.from.c_str(), (last_is_first ? flags : O_PATH | O_DIRECTORY) | O_CLOEXEC));
  for (size_t index = 0; at && index < place.names.size(); ++index) {
    const bool last = index + 1 == place.names.size();
    at.reset(::openat(at.get(), place.names[index].c_str(), (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!at) return os::fail_errno(path_of(place));
  return at;
}

Result<struct stat> state_of(const os::Fd& fd, const std::string& path) {
  struct stat state {};
  if (::fstat(fd.get(), &state) != 0) return os::fail_errno(path);
  return state;
}

// A cluster's name as part of a file's name.
std::string file_word(std::string_view name) {
  constexpr size_t kMostBytes = 100;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char byte : name.substr(0, kMostBytes)) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' ||
                       byte == '_' || (byte == '.' && !out.empty());
    if (plain) {
      out += byte;
      continue;
    }
    const auto value = static_cast<uint8_t>(byte);
    out += {'%', kDigits[value >> 4], kDigits[value & 15]};
  }
  return out.empty() ? "all" : out;
}

std::string head_of(uint32_t size, int64_t checksum) {
  std::string out;
  for (size_t i = 0; i < sizeof size; ++i) out += static_cast<char>(size >> (8 * i));
  for (size_t i = 0; i < sizeof checksum; ++i) out += static_cast<char>(static_cast<uint64_t>(checksum) >> (8 * i));
  return out;
}

uint64_t number_in(std::string_view bytes) {
  uint64_t out = 0;
  for (size_t i = bytes.size(); i-- > 0;) out = out << 8 | static_cast<uint8_t>(bytes[i]);
  return out;
}

Time first_in(const ArchivePart& part) {
  Time first = kTimeInfinite;
  auto take = [&](Time time) {
    if (time != kTimeUnset) first = std::min(first, time);
  };
  for (const JobRecord& job : part.jobs) take(job.key.submitted);
  for (const StepRecord& step : part.steps) take(step.started);
  for (const EventRecord& event : part.events) take(event.started);
  for (const ReservationRecord& reservation : part.reservations) take(reservation.started);
  for (const TransactionRecord& transaction : part.transactions) take(transaction.time);
  for (const ArchivedUsage& usage : part.usage) take(usage.at);
  for (const ArchivedContent& content : part.contents) take(content.job.submitted);
  return first;
}

}  // namespace

Result<os::Fd> open_archive_directory(const NamedPlace& place, Uid slurm_user) {
  const std::string path = path_of(place);
  MUSTER_TRY(directory, open_place(place, O_RDONLY | O_DIRECTORY));
  MUSTER_TRY(state, state_of(directory, path));
  if (!is_ours(state.st_uid, slurm_user))
    return fail(Errc::kAccessDenied,
                path + ": belongs to uid " + std::to_string(state.st_uid) + "; a directory of archives has to belong to SlurmUser or root");
  if (state.st_mode & 022 && !(state.st_mode & S_ISVTX))
    return fail(Errc::kAccessDenied, path + ": others may change what is in it; a directory of archives wants mode 0755 or less",
                "chmod 700 " + path);
  return directory;
}

// ---- writing
struct ArchiveWriter::File {
  std::string temporary, cluster;
  os::Fd fd;
  Time begin = kTimeInfinite;
  uint64_t frames = 0;
  store::Checksum checksum;

  Result<> put(std::string_view bytes) {
    MUSTER_TRY_VOID(os::write_all(fd.get(), head_of(static_cast<uint32_t>(bytes.size()), checksum({frames}, bytes)), temporary));
    ++frames;
    return os::write_all(fd.get(), bytes, temporary);
  }
};

ArchiveWriter::ArchiveWriter(const NamedPlace& place, const ArchiveRules& rules, RecordKind kind, Time before, Uid slurm_user)
    : place_(place),
      object_(row_of(kind).object),
      steps_alone_(kind == RecordKind::kJobs && !rules.jobs.value_or(false)),
      before_(before),
      slurm_user_(slurm_user) {
  if (steps_alone_) object_ = row_of(RecordKind::kSteps).object;
}

ArchiveWriter::~ArchiveWriter() {
  for (const auto& [cluster, file] : open_) ::unlinkat(directory_.get(), file->temporary.c_str(), 0);
}

Result<ArchiveWriter::File*> ArchiveWriter::file_of(const std::string& cluster, Time begin) {
  if (!directory_) {
    MUSTER_TRY(directory, open_archive_directory(place_, slurm_user_));
    directory_ = std::move(directory);
  }
  std::unique_ptr<File>& file = open_[cluster];
  if (!file) {
    auto fresh = std::make_unique<File>();
    fresh->cluster = file_word(cluster);
    fresh->temporary = "." + fresh->cluster + "_" + object_ + "_archive.new-" + std::to_string(::getpid()) + "-" +
                       std::to_string(net::Backoff::random_seed());
    fresh->fd.reset(::openat(directory_.get(), fresh->temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fresh->fd) {
      const int err = errno;
      open_.erase(cluster);
      return os::fail_errno(path_of(place_), err);
    }
    file = std::move(fresh);
    MUSTER_TRY_VOID(os::write_all(file->fd.get(), kFirstLine, path_of(place_)));
  }
  file->begin = std::min(file->begin, begin);
  return file.get();
}

Result<> ArchiveWriter::keep(ArchivePart part) {
  if (steps_alone_) part.jobs.clear();
  if (!part.records()) return {};
  MUSTER_TRY(file, file_of(part.cluster, first_in(part)));
  const std::string bytes = wire::encoded(part);
  if (bytes.size() > kMostFrame)
    return fail(Errc::kResultTooLarge, path_of(place_) + ": a record of " + std::to_string(bytes.size()) + " bytes cannot be archived");
  return file->put(bytes);
}

Result<> ArchiveWriter::make_durable() {
  for (auto at = open_.begin(); at != open_.end(); at = open_.erase(at)) MUSTER_TRY_VOID(publish(*at->second));
  if (!files_.empty() && ::fsync(directory_.get()) != 0) return os::fail_errno("sync " + path_of(place_));
  return {};
}

// A hard link makes the name only where there is none.
Result<> ArchiveWriter::publish(File& file) {
  const std::string where = path_of(place_) + "/";
  MUSTER_TRY_VOID(file.put({}));
  if (::fsync(file.fd.get()) != 0) return os::fail_errno("sync " + where + file.temporary);
  const std::string name = file.cluster + "_" + object_ + "_archive_" + format_time(file.begin) + "_" + format_time(before_);
  for (int number = 1; number < kMostOfAName; ++number) {
    const std::string full = number == 1 ? name : name + "." + std::to_string(number);
    if (::linkat(directory_.get(), file.temporary.c_str(), directory_.get(), full.c_str(), 0) != 0) {
      if (errno == EEXIST) continue;
      return os::fail_errno(where + full);
    }
    ::unlinkat(directory_.get(), file.temporary.c_str(), 0);
    files_.push_back(where + full);
    return {};
  }
  return fail(Errc::kIo, where + name + ": there are " + std::to_string(kMostOfAName) + " files of this name already");
}

// ---- reading
Result<ArchiveReader> ArchiveReader::open(const NamedPlace& place, Uid slurm_user) {
  const std::string path = path_of(place);
  MUSTER_TRY(file, open_place(place, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  MUSTER_TRY(state, state_of(file, path));
  if (!S_ISREG(state.st_mode)) return fail(Errc::kAccessDenied, path + ": is no file");
  if (!is_ours(state.st_uid, slurm_user) || state.st_mode & 022)
    return fail(Errc::kAccessDenied,
                path + ": others may have written it; an archive belongs to SlurmUser or root, who alone may change it",
                "look at where it comes from, then chown and chmod 600 it");
  ArchiveReader reader(std::move(file), path);
  std::array<char, kFirstLine.size()> line{};
  const std::string_view found(line.data(), line.size());
  if (!reader.read(line.data(), line.size()) || !found.starts_with(kAnyFirstLine))
    return fail(Errc::kInvalidArgument, path + ": is no archive of Muster");
  if (found != kFirstLine) return fail(Errc::kInvalidArgument, path + ": was written by a newer Muster, which can load it");
  return reader;
}

std::unexpected<Error> ArchiveReader::damaged(std::string_view how) const {
  return fail(Errc::kInvalidArgument, path_ + ": frame " + std::to_string(frame_) + ": " + std::string(how) + "; nothing was loaded");
}

Result<> ArchiveReader::read(char* into, size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(file_.get(), into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os::fail_errno(path_);
    if (got == 0) return damaged("the file ends in the middle");
    into += got;
    size -= static_cast<size_t>(got);
  }
  return {};
}

Result<std::optional<ArchivePart>> ArchiveReader::next() {
  std::array<char, kHead> head{};
  MUSTER_TRY_VOID(read(head.data(), head.size()));
  const std::string_view numbers(head.data(), head.size());
  const uint64_t size = number_in(numbers.substr(0, sizeof(uint32_t)));
  if (size > kMostFrame) return damaged("it says that it has " + std::to_string(size) + " bytes, at most " + std::to_string(kMostFrame));
  std::string bytes(size, '\0');
  MUSTER_TRY_VOID(read(bytes.data(), bytes.size()));
  store::Checksum checksum;
  if (static_cast<uint64_t>(checksum({frame_}, bytes)) != number_in(numbers.substr(sizeof(uint32_t))))
    return damaged("its checksum is wrong");
  if (size == 0) {
    char more = 0;
    if (::read(file_.get(), &more, 1) != 0) return damaged("something follows the end");
    return std::optional<ArchivePart>();
  }
  ArchivePart part;
  if (Result<> done = wire::decode(bytes, part, wire::kOfOurOwn); !done) return damaged(done.error().message());
  if (Result<> done = check_archived(part); !done) return damaged(done.error().message());
  ++frame_;
  return std::optional(std::move(part));
}

}  // namespace muster::slurmdbd
