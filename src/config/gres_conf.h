// gres.conf: which devices nodes have. Its lines are kept in order and checked; devices_of gives the devices of one node as the model wants
// them. Beyond the manual page, Cores=[0-1] with brackets is accepted, and a notice explains what two lines with the same device file mean.
// gres.conf(5), guide gres (MPS Management, Sharding). Pure; cost O(lines) to build, O(lines) per devices_of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "config/parser.h"
#include "config/slurm_conf.h"
#include "model/resources.h"

namespace muster::config {

enum class AutoDetect : uint8_t { kUnset, kOff, kFull, kNrt, kNvidia, kNvml, kOneapi, kRsmi };
std::string_view autodetect_name(AutoDetect a);

struct GresLine {
  bool all_nodes = true;
  Bitmap nodes;  // by index into Config::nodes, when not all_nodes
  std::string name, type;
  uint64_t count = 0;              // of the line, per node
  std::vector<std::string> files;  // expanded
  bool multiple_files = false;     // all files together are one resource (MIG)
  Bitmap cores;                    // empty: any
  std::vector<int32_t> links;
  uint32_t flags = 0;  // GresFlag of model/resources.h
  AutoDetect autodetect = AutoDetect::kUnset;
  SourcePos where;
  bool operator==(const GresLine& o) const {
    return all_nodes == o.all_nodes && nodes == o.nodes && name == o.name && type == o.type && count == o.count && files == o.files &&
           multiple_files == o.multiple_files && cores == o.cores && links == o.links && flags == o.flags && autodetect == o.autodetect;
  }
};

struct GresConf {
  bool present = false;
  AutoDetect autodetect = AutoDetect::kUnset;  // for nodes without their own
  std::vector<GresLine> lines;                 // those with a Name, or with a node's AutoDetect
  bool operator==(const GresConf&) const = default;
};

GresConf build_gres_conf(const std::vector<Line>& lines, const Config& config, std::vector<ConfigError>& errors,
                         std::vector<ConfigNotice>& notices);

AutoDetect autodetect_of(const GresConf& conf, uint32_t node);
// The devices of one node: those of its gres.conf lines, and as many without files as Gres= in slurm.conf counts beyond them.
std::vector<GresDevices> devices_of(const GresConf& conf, const Config& config, uint32_t node);
// The same for every node, by index; O(lines + nodes + devices).
std::vector<std::vector<GresDevices>> devices_of_all(const GresConf& conf, const Config& config);

}  // namespace muster::config
