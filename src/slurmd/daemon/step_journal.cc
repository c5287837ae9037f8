#include "slurmd/daemon/step_journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "net/credential.h"
#include "os/error.h"
#include "os/files.h"
#include "site/guard.h"
#include "wire/instances.h"

namespace muster::slurmd {
namespace {

constexpr size_t kHead = 12;  // u32 length, u64 checksum
constexpr size_t kLongestRecord = 256u << 20, kLongestFile = size_t{4} << 30;
constexpr size_t kGrown = 1u << 20;
constexpr std::string_view kMagic = "muster step journal 1\n";  // then the boot id, and a line's end

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}
uint64_t get(std::string_view in, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(in[at + static_cast<size_t>(i)])) << 8 * i;
  return value;
}

std::string framed(const ManagerRecord& record) {
  const std::string bytes = wire::encoded(record);
  std::string out;
  put(out, bytes.size(), 4);
  put(out, hash_bytes(bytes), 8);
  return out + bytes;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir)) out.emplace_back(entry->d_name);
  ::closedir(dir);
  std::ranges::sort(out);
  return out;
}

// Reads the whole records at the beginning of `content`; returns how many bytes they take.
size_t read_records(std::string_view content, std::vector<ManagerRecord>& out) {
  size_t at = 0;
  while (content.size() - at >= kHead) {
    const uint64_t size = get(content, at, 4);
    if (size > kLongestRecord || size > content.size() - at - kHead) break;
    const std::string_view bytes = content.substr(at + kHead, size);
    ManagerRecord record;
    if (hash_bytes(bytes) != get(content, at + 4, 8) || !wire::decode(bytes, record, wire::kOfOurOwn)) break;
    out.push_back(std::move(record));
    at += kHead + size;
  }
  return at;
}

}  // namespace

Result<std::string> StepJournal::open() {
  MUSTER_TRY_VOID(os::make_dirs(folder_, 0700));
  MUSTER_TRY_VOID(site::check_folder(folder_, "the folder of managed steps", Uid(::geteuid())));
  ::chmod(folder_.c_str(), 0700);
  MUSTER_TRY(key, read_key());
  key_ = key;
  return key;
}

Result<std::string> StepJournal::read_key() {
  const std::string path = folder_ + "/key";
  if (::access(path.c_str(), F_OK) == 0) {
    MUSTER_TRY_VOID(site::check_secret(path, "the node's key for steps", Uid(::geteuid())));
    MUSTER_TRY(key, os::read_file(path, 4096));
    if (net::public_key(key)) return key;
  }
  MUSTER_TRY(key, net::new_private_key());
  MUSTER_TRY_VOID(os::write_file_atomic(path, key, 0600));
  return key;
}

Result<> StepJournal::read(const std::string& boot_id, const std::function<void(JobId, ManagerRecord&&, bool)>& each,
                           std::vector<std::string>& complaints) {
  boot_id_ = boot_id;
  for (const std::string& name : names_in(folder_)) {
    const auto job = parse_number<uint32_t>(name);
    if (!job) {
      if (name.find(".new-") != name.npos) ::unlink((folder_ + "/" + name).c_str());
      continue;
    }
    const std::string path = path_of(JobId(*job));
    MUSTER_TRY(content, os::read_file(path, kLongestFile));
    const size_t line = content.find('\n', kMagic.size());
    std::vector<ManagerRecord> records;
    size_t used = 0;
    if (content.starts_with(kMagic) && line != content.npos)
      used = line + 1 + read_records(std::string_view(content).substr(line + 1), records);
    if (records.empty()) {
      const std::string aside = path + ".bad";
      complaints.push_back(path + " is not understood, and is moved to " + aside);
      if (::rename(path.c_str(), aside.c_str()) < 0) return os::fail_errno(path);
      continue;
    }
    const bool same_boot = content.substr(kMagic.size(), line - kMagic.size()) == boot_id;
    if (used < content.size() && ::truncate(path.c_str(), static_cast<off_t>(used)) < 0)
      complaints.push_back(path + " cannot be cut to its whole records");
    for (ManagerRecord& r : records) each(JobId(*job), std::move(r), same_boot);
  }
  return {};
}

Result<StepJournal::File*> StepJournal::file_of(JobId job) {
  if (auto at = files_.find(job); at != files_.end()) return &at->second;
  MUSTER_TRY_VOID(make_folder());
  const std::string path = path_of(job);
  File file;
  file.fd = os::Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.fd) return fail(Errc::kIo, path + " cannot be opened");
  struct stat st {};
  if (::fstat(file.fd.get(), &st) < 0) return fail(Errc::kIo, path);
  file.size = static_cast<size_t>(st.st_size);
  if (file.size == 0) {
    const std::string head = std::string(kMagic) + boot_id_ + "\n";
    if (Result<> written = os::write_all(file.fd.get(), head, path); !written) {
      ::unlink(path.c_str());
      return std::unexpected(written.error());
    }
    MUSTER_TRY_VOID(os::sync_directory(folder_));
    file.size = head.size();
  }
  return &files_.emplace(job, std::move(file)).first->second;
}

Result<> StepJournal::add(JobId job, const ManagerRecord& record, bool sync) {
  MUSTER_TRY(file, file_of(job));
  const std::string bytes = framed(record);
  if (bytes.size() > kLongestRecord) return fail(Errc::kIo, path_of(job) + ": a record is too long to be read again");
  Result<> written = os::write_all(file->fd.get(), bytes, path_of(job));
  if (written && sync && ::fdatasync(file->fd.get()) < 0) written = fail(Errc::kIo, path_of(job) + " cannot be synced");
  if (!written) {
    // Half a record must not stay: what is written after it would be lost.
    if (::ftruncate(file->fd.get(), static_cast<off_t>(file->size)) < 0) files_.erase(job);
    return written;
  }
  file->size += bytes.size();
  if (file->size_when_new == 0) file->size_when_new = file->size;
  return {};
}

Result<> StepJournal::sync(JobId job) {
  auto at = files_.find(job);
  if (at != files_.end() && ::fdatasync(at->second.fd.get()) < 0) return fail(Errc::kIo, path_of(job) + " cannot be synced");
  return {};
}

bool StepJournal::has_grown(JobId job) const {
  auto at = files_.find(job);
  return at != files_.end() && at->second.size > kGrown && at->second.size > 4 * at->second.size_when_new;
}

bool StepJournal::is_gone(JobId job) {
  auto at = files_.find(job);
  if (at == files_.end()) return ::access(path_of(job).c_str(), F_OK) < 0 && errno == ENOENT;
  struct stat st {};
  if (::fstat(at->second.fd.get(), &st) == 0 && st.st_nlink > 0) return false;
  files_.erase(at);
  return true;
}

// Makes the folder, with the key that the warrants of its jobs are for.
Result<> StepJournal::make_folder() {
  if (::access(folder_.c_str(), F_OK) == 0) return {};
  MUSTER_TRY_VOID(os::make_dirs(folder_, 0700));
  return os::write_file_atomic(folder_ + "/key", key_, 0600);
}

Result<> StepJournal::replace(JobId job, const ManagerRecord& whole) {
  MUSTER_TRY_VOID(make_folder());
  const std::string record = framed(whole);
  if (record.size() > kLongestRecord) return fail(Errc::kIo, path_of(job) + ": its state is too long to be read again");
  const std::string content = std::string(kMagic) + boot_id_ + "\n" + record;
  MUSTER_TRY_VOID(os::write_file_atomic(path_of(job), content, 0600));
  files_.erase(job);
  MUSTER_TRY(file, file_of(job));
  file->size_when_new = content.size();
  return {};
}

void StepJournal::drop(JobId job) {
  files_.erase(job);
  ::unlink(path_of(job).c_str());
}

}  // namespace muster::slurmd
