// What a slurmd or a sackd that is started without slurm.conf asks slurmctld for: of which files the configuration is made, and then the
// files that it has not, a piece at a time. Only who has the cluster key, root and SlurmUser are answered, and only with
// SlurmctldParameters=enable_configless. slurmd(8) --conf-server, sackd(8), guide configless_slurm.
//
// The files lie side by side in one folder, so a name is one of a file, never a path (is_config_name). The bounds hold at both ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

namespace muster::rpc {

inline constexpr size_t kMostConfigFiles = 256;
inline constexpr uint64_t kMostConfigFile = 16u << 20;   // bytes of one file
inline constexpr uint64_t kMostConfigBytes = 32u << 20;  // of all
inline constexpr size_t kConfigPiece = 64u << 10;        // what is on its way to one asker at a time
inline constexpr size_t kMostConfigName = 128;

// Whether this may be the name of a file beside slurm.conf: 1 to 128 printable characters, no '/', no dot in front. Names of keys are none:
// the cluster's key is never sent.
constexpr bool is_config_name(std::string_view name) {
  if (name.empty() || name.size() > kMostConfigName || name.front() == '.') return false;
  for (char c : name)
    if (c <= ' ' || c > '~' || c == '/') return false;
  return name != "slurm.key" && name != "slurm.jwks" && name != "slurmdbd.conf";
}

struct FetchConfig {
  bool follow = false;  // ConfigChanged comes on this connection when the files are others; for sackd. Nodes are told by orders
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "follow", self.follow);
  }
};

struct ConfigFile {
  std::string name, hash;  // SHA-256 of the content, as hexadecimal text
  uint64_t size = 0;
  uint32_t mode = 0644;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "hash", self.hash);
    field(3, "size", self.size);
    field(4, "mode", self.mode);
  }
  bool operator==(const ConfigFile&) const = default;
};

struct ConfigManifest {
  std::string version;  // of all files together
  std::vector<ConfigFile> files;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "version", self.version);
    field(2, "files", self.files);
  }
};

// Answered by a ContentPiece of at most kConfigPiece bytes. kTryAgainLater: that version is no longer the one; FetchConfig says what is.
struct FetchConfigFile {
  std::string version, name;
  uint64_t offset = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "version", self.version);
    field(2, "name", self.name);
    field(3, "offset", self.offset);
  }
};

struct ConfigChanged {  // slurmctld → sackd, a notice
  static constexpr uint16_t kNumber = 301;
  std::string version;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "version", self.version);
  }
};

}  // namespace muster::rpc
