// SHA-256 (OpenSSL): names of blobs, and checksums that notice damage, of rows here and of frames in slurmdbd's archives. Cost: about 1 µs
// plus the bytes at 0.4-2 GB/s.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

struct evp_md_ctx_st;

namespace muster::store {

// Keeps OpenSSL's context between uses. Not thread safe; one per owner.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  // The first 8 bytes of SHA-256 over the numbers (little endian) and then the bytes.
  int64_t operator()(std::initializer_list<uint64_t> numbers, std::string_view bytes);

 private:
  evp_md_ctx_st* context_;
};

}  // namespace muster::store
