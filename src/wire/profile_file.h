// The file of a step's time series on a node (model/step_profile.h): kProfileMagic, then chunks, each its length in four bytes, the lowest
// first, and its encoding. It is only ever appended to: what a crash has left is a file whose last chunk may be cut. slurmstepd writes it,
// sh5util reads it; it belongs to a user, and reading believes nothing of it. No I/O here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/step_profile.h"

namespace muster::wire {

inline constexpr std::string_view kProfileMagic = "muster-profile 1\n";
inline constexpr size_t kMostProfileBytes = 64u << 20;  // of a whole file

std::string profile_bytes(const ProfileChunk& chunk);

class ProfileReader {
 public:
  // kInvalidArgument: it is no such file. `bytes` must outlive the reader.
  static Result<ProfileReader> open(std::string_view bytes);
  // The next chunk; false: there is none, or the last was cut. Errors: kFrameMalformed, with the place.
  Result<bool> next(ProfileChunk& out);

 private:
  explicit ProfileReader(std::string_view bytes) : bytes_(bytes), at_(kProfileMagic.size()) {}
  std::string_view bytes_;
  size_t at_;
};

}  // namespace muster::wire
