#include "model/network_wish.h"

#include "base/text.h"

namespace muster {

Result<NetworkWish> NetworkWish::parse(std::string_view text) {
  NetworkWish out;
  for (std::string_view part : split(text, ',', true)) {
    const std::string_view word = trim(part);
    if (word.empty()) continue;
    if (iequals(word, "unique-channel-per-segment")) out.channel_per_segment = true;
    else if (out.other.empty()) out.other = word;
  }
  return out;
}

}  // namespace muster
