#include "wire/profile_file.h"

#include "wire/codec.h"

namespace muster::wire {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kMostChunk = 1u << 20;

}  // namespace

std::string profile_bytes(const ProfileChunk& chunk) {
  const std::string body = encoded(chunk);
  std::string out;
  for (size_t i = 0; i < kLengthBytes; ++i) out += static_cast<char>(body.size() >> (8 * i) & 0xff);
  return out + body;
}

Result<ProfileReader> ProfileReader::open(std::string_view bytes) {
  if (!bytes.starts_with(kProfileMagic)) return fail(Errc::kInvalidArgument, "it is no recording of a step's profile");
  return ProfileReader(bytes);
}

Result<bool> ProfileReader::next(ProfileChunk& out) {
  const std::string_view rest = bytes_.substr(at_);
  if (rest.size() < kLengthBytes) return false;
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<size_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  const auto malformed = [&](const std::string& why) { return fail(Errc::kFrameMalformed, "at byte " + std::to_string(at_) + ": " + why); };
  if (length > kMostChunk) return malformed("a chunk of " + std::to_string(length) + " bytes is too long");
  if (rest.size() - kLengthBytes < length) return false;
  out = {};
  if (auto read = decode(rest.substr(kLengthBytes, length), out); !read) return malformed(std::string(read.error().message()));
  at_ += kLengthBytes + length;
  return true;
}

}  // namespace muster::wire
