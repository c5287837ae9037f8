// Frames: what crosses a connection once the peer is known. Pure functions, no I/O; shared by Channel, Client and the fuzzer.
//
// Frame: u32 length (of what follows, 11 … kMaxFrame) · u8 kind · u64 id · u16 message number · payload.
// Little endian. Bounds: a length outside the range or an unknown kind is malformed as soon as its bytes have arrived; nothing is
// allocated from a length that a peer claims.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::net {

inline constexpr uint32_t kMaxFrame = 64u << 20;
inline constexpr size_t kFrameHeader = 15;
inline constexpr size_t kMaxPayload = kMaxFrame - 11;

enum class FrameKind : uint8_t { kRequest = 1, kAnswer = 2, kStreamPart = 3, kNotice = 4, kError = 5 };

struct Frame {
  FrameKind kind = FrameKind::kRequest;
  uint64_t id = 0;
  uint16_t message = 0;  // wire::MessageNumber
  std::string payload;
};

struct FrameView {
  FrameKind kind = FrameKind::kRequest;
  uint64_t id = 0;
  uint16_t message = 0;
  std::string_view payload;
  Frame to_frame() const { return {kind, id, message, std::string(payload)}; }
};

struct Parsed {
  enum class Verdict : uint8_t { kFrame, kNeedMore, kMalformed } verdict = Verdict::kNeedMore;
  FrameView frame;                                        // kFrame: views into the buffer; kNeedMore with `header`: all but the payload
  size_t size = 0;                                        // kFrame: bytes used; kNeedMore: bytes the buffer must have at least
  bool header = false;                                    // the header is complete
  size_t payload() const { return size - kFrameHeader; }  // with `header`
  const char* why = "";                                   // kMalformed
};

// The first frame of `buffer`. O(1).
Parsed parse_frame(std::string_view buffer);

// Appends the 15 bytes before the payload. `payload_size` <= kMaxPayload.
void append_frame_header(std::string& out, FrameKind kind, uint64_t id, uint16_t message, size_t payload_size);

// Encodes and decodes the payload of a kError frame. A code that this version does not know decodes as kError with the peer's text;
// malformed bytes decode as kFrameMalformed.
std::string encode_error(const Error& error);
// A whole kError frame with id 0, for a peer that is turned away.
std::string refusal_frame(const Error& error);
Error decode_error(std::string_view payload);

}  // namespace muster::net
