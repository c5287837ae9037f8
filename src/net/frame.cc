#include "net/frame.h"

#include "base/check.h"

namespace muster::net {
namespace {

template <class T>
void put(std::string& out, T v) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(v >> (8 * i) & 0xff));
}

template <class T>
T get(std::string_view in) {
  T v = 0;
  for (size_t i = 0; i < sizeof(T); ++i) v |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(in[i])) << (8 * i));
  return v;
}

constexpr int32_t kKnownCodes = 0
#define MUSTER_ERRC(name, number, text) +1
#include "base/errc.def"
#undef MUSTER_ERRC
    ;

bool take_text(std::string_view& in, std::string& out) {
  if (in.size() < 4) return false;
  uint32_t n = get<uint32_t>(in);
  if (n > in.size() - 4) return false;
  out.assign(in.substr(4, n));
  in.remove_prefix(4 + n);
  return true;
}

}  // namespace

Parsed parse_frame(std::string_view buffer) {
  using enum Parsed::Verdict;
  if (buffer.size() < 4) return {kNeedMore, {}, 4};
  uint32_t length = get<uint32_t>(buffer);
  if (length < kFrameHeader - 4) return {kMalformed, {}, 0, false, "frame shorter than its header"};
  if (length > kMaxFrame) return {kMalformed, {}, 0, false, "frame longer than the limit of 64 MiB"};
  if (buffer.size() < 5) return {kNeedMore, {}, kFrameHeader};
  uint8_t kind = static_cast<uint8_t>(buffer[4]);
  if (kind < 1 || kind > 5) return {kMalformed, {}, 0, false, "unknown kind of frame"};
  size_t size = 4 + size_t{length};
  if (buffer.size() < kFrameHeader) return {kNeedMore, {}, kFrameHeader};
  FrameView f;
  f.kind = static_cast<FrameKind>(kind);
  f.id = get<uint64_t>(buffer.substr(5));
  f.message = get<uint16_t>(buffer.substr(13));
  if (buffer.size() < size) return {kNeedMore, f, size, true, ""};
  f.payload = buffer.substr(kFrameHeader, size - kFrameHeader);
  return {kFrame, f, size, true, ""};
}

void append_frame_header(std::string& out, FrameKind kind, uint64_t id, uint16_t message, size_t payload_size) {
  MUSTER_CHECK(payload_size <= kMaxPayload);
  char h[kFrameHeader];
  uint32_t length = static_cast<uint32_t>(payload_size + kFrameHeader - 4);
  for (size_t i = 0; i < 4; ++i) h[i] = static_cast<char>(length >> (8 * i) & 0xff);
  h[4] = static_cast<char>(kind);
  for (size_t i = 0; i < 8; ++i) h[5 + i] = static_cast<char>(id >> (8 * i) & 0xff);
  h[13] = static_cast<char>(message & 0xff);
  h[14] = static_cast<char>(message >> 8);
  out.append(h, kFrameHeader);
}

// u32 place in the error table · u32 its number (two codes may share one) · text · hint. The text always travels, so that an older peer
// can show the sentence of a code it does not know.
std::string encode_error(const Error& error) {
  std::string out;
  put(out, static_cast<uint32_t>(error.code));
  put(out, static_cast<uint32_t>(errc_number(error.code)));
  for (std::string_view s : {error.message(), std::string_view(error.hint)}) {
    s = s.substr(0, 1u << 20);
    put(out, static_cast<uint32_t>(s.size()));
    out.append(s);
  }
  return out;
}

std::string refusal_frame(const Error& error) {
  const std::string body = encode_error(error);
  std::string out;
  append_frame_header(out, FrameKind::kError, 0, 0, body.size());
  return out + body;
}

Error decode_error(std::string_view in) {
  if (in.size() < 8) return Error(Errc::kFrameMalformed, "malformed error from the peer");
  int32_t place = static_cast<int32_t>(get<uint32_t>(in));
  int32_t number = static_cast<int32_t>(get<uint32_t>(in.substr(4)));
  in.remove_prefix(8);
  Error e;
  if (!take_text(in, e.text) || !take_text(in, e.hint) || !in.empty()) return Error(Errc::kFrameMalformed, "malformed error from the peer");
  if (place > 0 && place < kKnownCodes && errc_number(static_cast<Errc>(place)) == number) e.code = static_cast<Errc>(place);
  if (e.text == errc_text(e.code)) e.text.clear();
  return e;
}

}  // namespace muster::net
