#include "slurmd/core/peers.h"

namespace muster::slurmd {
namespace {

using enum SubjectKind;

template <class... Kinds>
constexpr uint32_t of(Kinds... kinds) {
  return ((uint32_t{1} << static_cast<unsigned>(kinds)) | ...);
}

constexpr PeerRow kRows[] = {
#define MUSTER_PEER(name, kinds, words) {&#name[1], kinds, words},
#include "slurmd/core/peers.def"
#undef MUSTER_PEER
};

}  // namespace

std::span<const PeerRow> peer_rows() { return kRows; }

bool may(PeerRight right, SubjectKind kind) { return kRows[static_cast<size_t>(right)].kinds >> static_cast<unsigned>(kind) & 1u; }

}  // namespace muster::slurmd
