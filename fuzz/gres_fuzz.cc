// Any text as the Gres= of a node: refused, or printed and read back as the same.
#include <cstdint>
#include <cstdlib>

#include "config/gres_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto items = muster::config::parse_gres({reinterpret_cast<const char*>(data), size});
  if (!items) return 0;
  auto again = muster::config::parse_gres(muster::config::print_gres(*items));
  if (!again || *again != *items) std::abort();
  return 0;
}
