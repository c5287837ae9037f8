#include "config/key_table.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/key_table_parts.h"

namespace muster::config {

std::string_view file_name(ConfFile file) {
  static constexpr std::array<std::string_view, kConfFileCount> kNames = {
      "slurm.conf",       "gres.conf",         "topology.conf", "cgroup.conf",
      "acct_gather.conf", "burst_buffer.conf", "helpers.conf",  "job_container.conf",
      "mpi.conf",         "oci.conf",          "slurmdbd.conf"};
  return kNames[static_cast<size_t>(file)];
}

std::string_view section_name(Section section) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "",           "NodeName",  "PartitionName", "NodeSet", "DownNodes", "PowerAction",
      "SwitchName", "BlockName", "RingName",      "Name",    "Feature",   "NodeName"};
  return kNames[static_cast<size_t>(section)];
}

namespace {

std::array<std::span<const KeyRow>, 8> parts() {
  return {global_rows_a(),  global_rows_i(),      global_rows_r(),  node_rows(),
          partition_rows(), resource_file_rows(), side_file_rows(), slurmdbd_rows()};
}

bool lower_less(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) < lower(y);
  });
}

using Index = std::vector<const KeyRow*>;  // sorted by name without case
constexpr int kSectionCount = 12;
using AllIndexes = std::array<Index, kConfFileCount * kSectionCount>;

AllIndexes build_indexes() {
  AllIndexes all;
  for (std::span<const KeyRow> part : parts())
    for (const KeyRow& row : part)
      all[static_cast<size_t>(row.file) * kSectionCount + static_cast<size_t>(row.section)].push_back(&row);
  for (Index& index : all)
    std::sort(index.begin(), index.end(),
              [](const KeyRow* a, const KeyRow* b) { return lower_less(a->name, b->name); });
  return all;
}

}  // namespace

std::vector<const KeyRow*> rows_of(ConfFile file) {
  std::vector<const KeyRow*> out;
  for (std::span<const KeyRow> part : parts())
    for (const KeyRow& row : part)
      if (row.file == file) out.push_back(&row);
  return out;
}

std::vector<const KeyRow*> rows_of(ConfFile file, Section section) {
  std::vector<const KeyRow*> out = rows_of(file);
  std::erase_if(out, [&](const KeyRow* row) { return row->section != section; });
  return out;
}

const KeyRow* find_row(ConfFile file, Section section, std::string_view key) {
  static const AllIndexes kIndexes = build_indexes();
  const Index& index = kIndexes[static_cast<size_t>(file) * kSectionCount + static_cast<size_t>(section)];
  auto it = std::lower_bound(index.begin(), index.end(), key,
                             [](const KeyRow* row, std::string_view k) { return lower_less(row->name, k); });
  if (it == index.end() || !iequals((*it)->name, key)) return nullptr;
  return (*it)->alias_of ? find_row(file, section, (*it)->alias_of) : *it;
}

namespace {
constexpr RetiredKey kRetired[] = {
    {"AccountingStorageLoc", Section::kGlobal, "the database is named by StorageLoc in slurmdbd.conf", true},
    {"AccountingStorageUser", Section::kGlobal, "the database user is StorageUser in slurmdbd.conf", true},
    {"AccountingStoreJobComment", Section::kGlobal, "write AccountingStoreFlags=job_comment", true},
    {"AcctGatherInfinibandType", Section::kGlobal, "write AcctGatherInterconnectType", true},
    {"BackupAddr", Section::kGlobal, "write a second SlurmctldHost=name(address) line", false},
    {"BackupController", Section::kGlobal, "write a second SlurmctldHost= line", false},
    {"CacheGroups", Section::kGlobal, "use GroupUpdateForce and GroupUpdateTime", true},
    {"CheckpointType", Section::kGlobal, "", true},
    {"ControlAddr", Section::kGlobal, "write SlurmctldHost=name(address)", false},
    {"ControlMachine", Section::kGlobal, "write SlurmctldHost", false},
    {"CoreSpecPlugin", Section::kGlobal, "", true},
    {"CryptoType", Section::kGlobal, "write CredType", true},
    {"DefaultStorageType", Section::kGlobal, "", true},
    {"DynAllocPort", Section::kGlobal, "", true},
    {"ExtSensorsFreq", Section::kGlobal, "", true},
    {"ExtSensorsType", Section::kGlobal, "", true},
    {"FastSchedule", Section::kGlobal, "2 is now SlurmdParameters=config_overrides", true},
    {"GetEnvTimeout", Section::kGlobal, "", true},
    {"JobContainerType", Section::kGlobal, "write NamespaceType", true},
    {"JobCredentialPrivateKey", Section::kGlobal, "use CredType", true},
    {"JobCredentialPublicCertificate", Section::kGlobal, "use CredType", true},
    {"KeepAliveTime", Section::kGlobal, "write CommunicationParameters=keepalivetime=", true},
    {"LaunchType", Section::kGlobal, "", true},
    {"MemLimitEnforce", Section::kGlobal, "write JobAcctGatherParams=OverMemoryKill", true},
    {"PowerParameters", Section::kGlobal, "", true},
    {"PowerPlugin", Section::kGlobal, "", true},
    {"ResumeFailProg", Section::kGlobal, "write ResumeFailProgram", false},
    {"RoutePlugin", Section::kGlobal, "use TopologyParam=RouteTree or RoutePart", true},
    {"SallocDefaultCommand", Section::kGlobal, "write LaunchParameters=use_interactive_step", true},
    {"SchedulerPort", Section::kGlobal, "", true},
    {"SchedulerRootFilter", Section::kGlobal, "", true},
    {"SlurmctldPlugstack", Section::kGlobal, "", true},
    {"SrunIoTimeout", Section::kGlobal, "", true},
    {"UseSPANK", Section::kGlobal, "", true},
};
}  // namespace

const RetiredKey* find_retired(ConfFile file, Section section, std::string_view key) {
  if (file != ConfFile::kSlurm) return nullptr;
  for (const RetiredKey& r : kRetired)
    if (r.section == section && iequals(r.name, key)) return &r;
  return nullptr;
}

std::vector<std::string_view> choice_list(const KeyRow& row) { return split(row.choices_text, '|'); }

}  // namespace muster::config
