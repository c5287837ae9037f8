#include "slurmctld/core/request_texts.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kMostText = 4096, kMostList = 65536;
// Of spank_env. The number of entries counts too: each takes a pointer of the space that execve(2) gives.
constexpr size_t kMostEntry = 32u << 10, kMostEntryBytes = 256u << 10, kMostEntries = 1024, kMostEntryName = 256;

std::string bytes_of(size_t bytes, size_t most) {
  return std::to_string(bytes) + " bytes, at most " + std::to_string(most);
}

Result<> check_entry(const std::string& entry) {
  const size_t name = std::min(entry.find('='), entry.size());
  if (name == 0 || name > kMostEntryName)
    return fail(Errc::kInvalidArgument, {}, "spank_env: '" + entry.substr(0, 40) + "' has a name of " + std::to_string(name) +
                                                " bytes, from 1 to " + std::to_string(kMostEntryName));
  if (entry.size() > kMostEntry)
    return fail(Errc::kPathnameTooLong, {}, "spank_env: " + entry.substr(0, name) + " has " + std::to_string(entry.size()) +
                                                " bytes with its value, at most " + std::to_string(kMostEntry));
  return {};
}

Result<> check_spank_env(const std::vector<std::string>& entries) {
  if (entries.size() > kMostEntries)
    return fail(Errc::kPathnameTooLong, {}, "spank_env: " + std::to_string(entries.size()) + " entries, at most " + std::to_string(kMostEntries));
  size_t bytes = 0;
  for (const std::string& entry : entries) {
    MUSTER_TRY_VOID(check_entry(entry));
    bytes += entry.size();
  }
  if (bytes > kMostEntryBytes) return fail(Errc::kPathnameTooLong, {}, "spank_env: " + bytes_of(bytes, kMostEntryBytes));
  return {};
}

}  // namespace

Result<> check_texts(const JobRequest& r) {
  const struct {
    const char* field;
    const std::string& text;
    size_t most;
  } texts[] = {
      {"work_dir", r.work_dir, kMostText}, {"std_out", r.std_out, kMostText}, {"std_err", r.std_err, kMostText},
      {"std_in", r.std_in, kMostText},     {"name", r.name, kMostText},       {"comment", r.comment, kMostText},
      {"account", r.account, kMostText},   {"array", r.array, kMostList},     {"dependency", r.dependency, kMostList},
  };
  for (const auto& t : texts)
    if (t.text.size() > t.most) return fail(Errc::kPathnameTooLong, {}, std::string(t.field) + ": " + bytes_of(t.text.size(), t.most));
  return check_spank_env(r.spank_env);
}

}  // namespace muster::slurmctld
