#include "slurmctld/daemon/config_files.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "net/credential.h"
#include "os/files.h"
#include "site/conf_files.h"

namespace muster::slurmctld {
namespace {

constexpr const char* kSideFiles[] = {"acct_gather.conf",   "cgroup.conf",   "cli_filter.lua", "gres.conf", "helpers.conf",
                                      "job_container.conf", "mpi.conf",      "namespace.yaml", "oci.conf",  "resources.yaml",
                                      "scrun.lua",          "topology.conf", "topology.yaml"};
// Beside slurm.conf, and read with it, but the controller's alone.
constexpr std::string_view kOwnFiles[] = {"burst_buffer.conf", "job_submit.lua"};
constexpr const char* kScripts[] = {"Prolog", "Epilog", "TaskProlog", "TaskEpilog"};

class Collector {
 public:
  Collector(const config::Config& config, const std::map<std::string, std::string>& read, std::vector<std::string>& notes)
      : config_(config), read_(read), notes_(notes) {}

  Result<> all() {
    MUSTER_TRY_VOID(add("slurm.conf", config_.path, true));
    for (const char* name : kSideFiles) MUSTER_TRY_VOID(add(name, beside(name), false));
    for (const auto& [path, text] : read_)
      if (std::string_view name = name_beside(path);
          !name.empty() && path != config_.path && std::ranges::find(kOwnFiles, name) == std::end(kOwnFiles))
        MUSTER_TRY_VOID(add(std::string(name), path, false));
    if (std::string_view name = name_beside(config_.plug_stack_config); !name.empty()) MUSTER_TRY_VOID(add_plugstack(std::string(name)));
    for (const std::string& name : scripts()) MUSTER_TRY_VOID(add(name, beside(name), true));
    if (!contents.contains("slurm.conf")) return fail(Errc::kConfig, "hosts without slurm.conf get nothing: " + notes_.front());
    return {};
  }

  std::map<std::string, std::string> contents;
  std::vector<rpc::ConfigFile> files;

 private:
  std::string beside(const std::string& name) const { return config_.directory + "/" + name; }

  // The name of a file that lies beside slurm.conf; "" of any other.
  std::string_view name_beside(std::string_view path) const {
    if (!path.starts_with(config_.directory + "/")) return {};
    path.remove_prefix(config_.directory.size() + 1);
    return rpc::is_config_name(path) ? path : std::string_view();
  }

  Result<> add(const std::string& name, const std::string& path, bool wanted) {
    if (contents.contains(name) || left_out_.contains(name) || !rpc::is_config_name(name)) return {};
    struct stat st {};
    const bool there = ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
    auto text = there ? text_of(path) : fail(Errc::kIo, path + ": there is no such file");
    if (!text) {
      left_out_.insert(name);
      if (wanted || there) notes_.push_back("hosts without slurm.conf get no " + name + ": " + std::string(text.error().message()));
      return {};
    }
    bytes_ += text->size();
    if (bytes_ > rpc::kMostConfigBytes || files.size() >= rpc::kMostConfigFiles)
      return fail(Errc::kConfig, "hosts without slurm.conf get at most " + std::to_string(rpc::kMostConfigFiles) + " files with " +
                                     std::to_string(rpc::kMostConfigBytes) + " bytes; " + name + " is beyond that");
    MUSTER_TRY(hash, net::content_hash(*text));
    files.push_back({name, hash, text->size(), static_cast<uint32_t>(st.st_mode & 0755)});
    contents.emplace(name, std::move(*text));
    return {};
  }

  Result<std::string> text_of(const std::string& path) const {
    const auto at = read_.find(path);
    if (at == read_.end()) return os::read_file(path, rpc::kMostConfigFile);
    if (at->second.size() > rpc::kMostConfigFile)
      return fail(Errc::kConfig, path + ": more than " + std::to_string(rpc::kMostConfigFile) + " bytes");
    return at->second;
  }

  // plugstack.conf and what it includes, without limits on the depth: no file is read twice.
  Result<> add_plugstack(const std::string& name) {
    if (contents.contains(name)) return {};
    MUSTER_TRY_VOID(add(name, beside(name), false));
    const auto at = contents.find(name);
    if (at == contents.end()) return {};
    const std::string text = at->second;
    for (std::string_view line : split(text, '\n')) {
      line = trim(line.substr(0, line.find('#')));
      if (!line.starts_with("include")) continue;
      const std::string_view named = trim(line.substr(7));
      if (named.size() == line.size() - 7 || named.empty() || named.find('/') != std::string_view::npos) continue;
      for (const std::string& one : matching(std::string(named))) MUSTER_TRY_VOID(add_plugstack(one));
    }
    return {};
  }

  std::vector<std::string> matching(const std::string& pattern) const {
    std::vector<std::string> out;
    glob_t g{};
    if (::glob(beside(pattern).c_str(), 0, nullptr, &g) == 0)
      for (size_t i = 0; i < g.gl_pathc && out.size() < rpc::kMostConfigFiles; ++i)
        if (std::string_view name = name_beside(g.gl_pathv[i]); !name.empty()) out.emplace_back(name);
    ::globfree(&g);
    return out;
  }

  // The scripts that slurm.conf names by their names alone.
  std::vector<std::string> scripts() const {
    std::vector<std::string> out;
    for (const config::ConfigValue& value : config_.values)
      if (std::ranges::any_of(kScripts, [&](const char* key) { return std::string_view(value.row->name) == key; }))
        for (std::string_view name : split(value.text, ','))
          if (rpc::is_config_name(trim(name)) && name.find_first_of("*?[") == std::string_view::npos) out.emplace_back(trim(name));
    return out;
  }

  const config::Config& config_;
  const std::map<std::string, std::string>& read_;
  std::vector<std::string>& notes_;
  std::set<std::string> left_out_;  // each is told of once
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::shared_ptr<const ConfigFiles>> ConfigFiles::collect(const config::Config& config,
                                                                const std::map<std::string, std::string>& read,
                                                                std::vector<std::string>& notes) {
  Collector collector(config, read, notes);
  MUSTER_TRY_VOID(collector.all());
  auto out = std::make_shared<ConfigFiles>();
  std::string together;
  for (const rpc::ConfigFile& file : collector.files) together += file.name + "\n" + file.hash + "\n" + std::to_string(file.mode) + "\n";
  MUSTER_TRY(version, net::content_hash(together));
  out->manifest_ = {std::move(version), std::move(collector.files)};
  out->contents_ = std::move(collector.contents);
  return out;
}

Result<rpc::ContentPiece> ConfigFiles::piece(const rpc::FetchConfigFile& asked) const {
  if (asked.version != manifest_.version) return fail(Errc::kTryAgainLater, {}, "the configuration has changed meanwhile");
  const auto at = contents_.find(asked.name);
  if (at == contents_.end()) return fail(Errc::kInvalidArgument, "the configuration has no such file");
  if (asked.offset > at->second.size()) return fail(Errc::kInvalidArgument, "the offset is behind the end");
  return rpc::ContentPiece{at->second.size(), at->second.substr(asked.offset, rpc::kConfigPiece)};
}

}  // namespace muster::slurmctld
