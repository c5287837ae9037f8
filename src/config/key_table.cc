#include "config/key_table.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/key_table_parts.h"

namespace muster::config {

std::string_view file_name(ConfFile file) {
  static constexpr std::array<std::string_view, kConfFileCount> kNames = {
      "slurm.conf",   "gres.conf",          "topology.conf", "cgroup.conf", "acct_gather.conf", "burst_buffer.conf",
      "helpers.conf", "job_container.conf", "mpi.conf",      "oci.conf",    "slurmdbd.conf"};
  return kNames[static_cast<size_t>(file)];
}

std::string_view section_name(Section section) {
  static constexpr std::array<std::string_view, 12> kNames = {"",          "NodeName",    "PartitionName", "NodeSet",
                                                              "DownNodes", "PowerAction", "SwitchName",    "BlockName",
                                                              "RingName",  "Name",        "Feature",       "NodeName"};
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
    for (const KeyRow& row : part) all[static_cast<size_t>(row.file) * kSectionCount + static_cast<size_t>(row.section)].push_back(&row);
  for (Index& index : all)
    std::sort(index.begin(), index.end(), [](const KeyRow* a, const KeyRow* b) { return lower_less(a->name, b->name); });
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
  auto it =
      std::lower_bound(index.begin(), index.end(), key, [](const KeyRow* row, std::string_view k) { return lower_less(row->name, k); });
  if (it == index.end() || !iequals((*it)->name, key)) return nullptr;
  return (*it)->alias_of ? find_row(file, section, (*it)->alias_of) : *it;
}

std::vector<std::string_view> choice_list(const KeyRow& row) { return split(row.choices_text, '|'); }

}  // namespace muster::config
