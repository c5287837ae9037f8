// Any text as the Gres= of a node: refused, or printed and read back as the same.
#include <cstdint>
#include <cstdlib>

#include "model/gres_items.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto items = muster::GresItems::parse({reinterpret_cast<const char*>(data), size});
  if (!items) return 0;
  auto again = muster::GresItems::parse(items->text());
  if (!again || *again != *items) std::abort();
  return 0;
}
