#include "wire/lz4_block.h"

#include <lz4.h>

namespace muster::wire {

std::string lz4_packed(std::string_view plain) {
  if (plain.size() < 2 || plain.size() > kLargestPlainBlock) return {};
  std::string out(plain.size() - 1, '\0');
  int size = LZ4_compress_default(plain.data(), out.data(), static_cast<int>(plain.size()), static_cast<int>(out.size()));
  out.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return out;
}

Result<std::string> lz4_unpacked(std::string_view packed, uint32_t plain_size) {
  if (plain_size == 0 || plain_size > kLargestPlainBlock || packed.size() > kLargestPlainBlock)
    return fail(Errc::kInvalidArgument,
                "a compressed block has 1 to " + std::to_string(kLargestPlainBlock) + " bytes, not " + std::to_string(plain_size));
  std::string out(plain_size, '\0');
  int size = LZ4_decompress_safe(packed.data(), out.data(), static_cast<int>(packed.size()), static_cast<int>(out.size()));
  if (size < 0 || static_cast<uint32_t>(size) != plain_size) return fail(Errc::kInvalidArgument, "a compressed block is damaged");
  return out;
}

}  // namespace muster::wire
