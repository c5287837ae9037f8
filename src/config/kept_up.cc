#include "config/kept_up.h"

#include "base/text.h"
#include "hostlist/hostlist.h"

namespace muster::config {

Result<std::vector<KeptUp>> parse_kept_up(std::string_view text) {
  std::vector<KeptUp> out;
  for (std::string_view piece : split_outside_brackets(text)) {
    piece = trim(piece);
    if (piece.empty()) continue;
    KeptUp set;
    if (const size_t colon = piece.rfind(':'); colon != piece.npos) {
      const auto count = parse_number<uint32_t>(piece.substr(colon + 1));
      if (!count)
        return fail(Errc::kInvalidArgument, "\"" + std::string(piece) + "\": behind the colon stands how many of the nodes stay up");
      set.count = count;
      piece = piece.substr(0, colon);
    }
    MUSTER_TRY(nodes, expand_hosts(piece));
    set.nodes = std::move(nodes);
    out.push_back(std::move(set));
  }
  return out;
}

}  // namespace muster::config
