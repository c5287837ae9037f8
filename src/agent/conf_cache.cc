#include "agent/conf_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "net/credential.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"
#include "os/private_directory.h"
#include "site/conf_files.h"
#include "site/guard.h"

namespace muster::agent {
namespace {

// Removes whatever is at the path, links as links.
void remove_any(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && (errno == EISDIR || errno == EPERM)) {
    [[maybe_unused]] auto ok = os::remove_tree(path);
    ::rmdir(path.c_str());
  }
}

Result<> write_file(int folder, const FetchedFile& file) {
  const std::string& name = file.about.name;
  os::Fd fd(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.get() < 0) return os::fail_errno(name);
  MUSTER_TRY_VOID(os::write_all(fd.get(), file.content, name));
  if (::fchmod(fd.get(), (file.about.mode & 0755) | 0400) != 0 || ::fsync(fd.get()) != 0) return os::fail_errno(name);
  return {};
}

Result<> fill(const std::string& path, const FetchedConfig& config, const std::string& key) {
  os::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0) return os::fail_errno(path);
  for (const FetchedFile& file : config.files) {
    if (!rpc::is_config_name(file.about.name)) return fail(Errc::kConfig, "a file of the configuration has a name that is none");
    MUSTER_TRY_VOID(write_file(folder.get(), file));
  }
  if (!key.empty() && ::symlinkat(key.c_str(), folder.get(), "slurm.key") != 0) return os::fail_errno(path + "/slurm.key");
  if (::fchmod(folder.get(), 0755) != 0 || ::fsync(folder.get()) != 0) return os::fail_errno(path);
  return {};
}

// Puts `fresh` at `path`; what was there is at `fresh` then, or gone.
Result<> put_in_place(const std::string& fresh, const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return ::rename(fresh.c_str(), path.c_str()) == 0 ? Result<>() : os::fail_errno(path);
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return os::fail_errno(path);
  const std::string old = fresh + ".old";  // a file system that cannot exchange
  if (::rename(path.c_str(), old.c_str()) != 0) return os::fail_errno(path);
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    const auto failed = os::fail_errno(path);
    ::rename(old.c_str(), path.c_str());
    return failed;
  }
  remove_any(old);
  return {};
}

// What a daemon that was killed half way left: folders named as make_fresh_directory() names them.
void remove_leftovers(const std::string& parent, const std::string& name) {
  DIR* dir = ::opendir(parent.c_str());
  if (!dir) return;
  std::vector<std::string> found;
  while (const dirent* entry = ::readdir(dir))
    if (std::string_view left = entry->d_name; left.starts_with(name + ".") && (left.size() == name.size() + 7 || left.ends_with(".old")))
      found.push_back(parent + "/" + entry->d_name);
  ::closedir(dir);
  for (const std::string& path : found) remove_any(path);
}

}  // namespace

Result<> write_conf_cache(const std::string& folder, const FetchedConfig& config, const std::string& key) {
  const std::string parent = site::directory_of(folder);
  MUSTER_TRY_VOID(os::make_dirs(parent, 0755));
  MUSTER_TRY_VOID(site::check_folder(parent, "the folder of the cached configuration", Uid(::geteuid())));
  remove_leftovers(parent, folder.substr(folder.rfind('/') + 1));
  MUSTER_TRY(fresh, os::make_fresh_directory(folder + ".", std::nullopt));
  Result<> done = fill(fresh, config, key);
  if (done) done = put_in_place(fresh, folder);
  remove_any(fresh);
  if (!done) return done;
  return os::sync_directory(parent);
}

FetchedConfig read_conf_cache(const std::string& folder) {
  FetchedConfig out;
  os::Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0) return out;
  DIR* dir = ::fdopendir(::dup(fd.get()));
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir)) {
    if (!rpc::is_config_name(entry->d_name) || out.files.size() >= rpc::kMostConfigFiles) continue;
    struct stat st {};
    if (::fstatat(fd.get(), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) continue;
    auto content = os::read_file(folder + "/" + entry->d_name, rpc::kMostConfigFile);
    if (!content) continue;
    auto hash = net::content_hash(*content);
    if (!hash) continue;
    out.files.push_back(
        {{entry->d_name, std::move(*hash), content->size(), static_cast<uint32_t>(st.st_mode & 0777)}, std::move(*content)});
  }
  ::closedir(dir);
  return out;
}

Result<> link_to_cache(const std::string& link, const std::string& folder) {
  struct stat st {};
  if (::lstat(link.c_str(), &st) == 0 && !S_ISLNK(st.st_mode))
    return fail(Errc::kAlreadyDone, link + ": is there and no link, so it does not lead to " + folder);
  MUSTER_TRY_VOID(os::make_dirs(site::directory_of(link), 0755));
  const std::string fresh = link + "." + std::to_string(::getpid());
  ::unlink(fresh.c_str());
  if (::symlink(folder.c_str(), fresh.c_str()) != 0) return os::fail_errno(fresh);
  if (::rename(fresh.c_str(), link.c_str()) == 0) return {};
  const auto failed = os::fail_errno(link);
  ::unlink(fresh.c_str());
  return failed;
}

}  // namespace muster::agent
