// Peers: what a daemon at the other end of a connection may say, by what the connection proves of it. peers.def has a row for each thing;
// nothing else in slurmctld looks at what kind of peer somebody is. docs/security.md. O(1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/subject.h"
#include "slurmctld/core/command.h"

namespace muster::slurmctld {

enum class PeerRight : uint8_t {
#define MUSTER_PEER(name, kinds, words) name,
#include "slurmctld/core/peers.def"
#undef MUSTER_PEER
};

struct PeerRow {
  const char* name;
  uint32_t kinds;  // a bit for each SubjectKind
  const char* words;
};
std::span<const PeerRow> peer_rows();  // in the order of the enum

bool may(PeerRight right, SubjectKind kind);
// What a request takes.
PeerRight peer_right_of(const CommandRow& row);
// kAccessDenied, in words for who asked.
Result<> may_say(const CommandRow& row, const Subject& who);

}  // namespace muster::slurmctld
