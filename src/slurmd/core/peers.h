// Peers: what a daemon or a user at the other end of a connection may ask of slurmd, by what the connection proves of it. peers.def has a row for
// each thing. docs/security.md. O(1).
#pragma once

#include <cstdint>
#include <span>

#include "model/subject.h"

namespace muster::slurmd {

enum class PeerRight : uint8_t {
#define MUSTER_PEER(name, kinds, words) name,
#include "slurmd/core/peers.def"
#undef MUSTER_PEER
};

struct PeerRow {
  const char* name;
  uint32_t kinds;  // a bit for each SubjectKind
  const char* words;
};
std::span<const PeerRow> peer_rows();  // in the order of the enum

bool may(PeerRight right, SubjectKind kind);

}  // namespace muster::slurmd
