#include "model/partition_select.h"

#include "base/text.h"

namespace muster {

Result<PartitionSelect> PartitionSelect::parse(std::string_view text) {
  PartitionSelect out;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    const bool memory = iequals(word, "CR_Socket_Memory") || iequals(word, "CR_Core_Memory");
    const bool sockets = iequals(word, "CR_Socket") || iequals(word, "CR_Socket_Memory");
    if (memory || sockets || iequals(word, "CR_Core")) out = {true, sockets, memory};
  }
  return out;
}

}  // namespace muster
