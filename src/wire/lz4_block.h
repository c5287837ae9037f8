// Compresses one block of a file with LZ4 for its way over the network (docs/adr/0006). For sbcast --compress and srun --bcast. Cost:
// about 2 ns per byte to compress, 0.5 ns to unpack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::wire {

inline constexpr uint32_t kLargestPlainBlock = 8u << 20;  // bytes; nothing larger is unpacked

// Empty when the block would not become smaller, or is larger than kLargestPlainBlock.
std::string lz4_packed(std::string_view plain);

// Errors: kInvalidArgument when `packed` is not an LZ4 block of exactly `plain_size` bytes, or `plain_size` is too large.
Result<std::string> lz4_unpacked(std::string_view packed, uint32_t plain_size);

}  // namespace muster::wire
