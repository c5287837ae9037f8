#include "model/packed_own.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace muster {
namespace {

using Length = uint32_t;  // at the front of the block; what a client sends at once is far shorter

// Writes numbers in groups of seven bits, texts and lists with their size in front.
struct Packer {
  std::string out = std::string(sizeof(Length), '\0');

  void operator()(unsigned, const char*, uint32_t number) {
    for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
    out.push_back(static_cast<char>(number));
  }
  void operator()(unsigned, const char*, const std::string& text) {
    (*this)(0, "", static_cast<uint32_t>(text.size()));
    out += text;
  }
  void operator()(unsigned, const char*, const std::vector<std::string>& list) {
    (*this)(0, "", static_cast<uint32_t>(list.size()));
    for (const std::string& text : list) (*this)(0, "", text);
  }
};

// Reads field after field of what a Packer wrote.
struct Unpacker {
  const char* at;

  uint32_t number() {
    uint32_t n = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at++);
      n |= uint32_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return n;
    }
  }
  std::string_view text() {
    const uint32_t size = number();
    return {std::exchange(at, at + size), size};
  }
  void operator()(unsigned, const char*, uint32_t& n) { n = number(); }
  void operator()(unsigned, const char*, std::string& t) { t = text(); }
  void operator()(unsigned, const char*, std::vector<std::string>& list) {
    list.resize(number());
    for (std::string& t : list) t = text();
  }
};

// Skips the fields before the text `wanted` of the described object.
struct Finder {
  Unpacker from;
  const std::string* wanted;
  std::string_view found{};

  void operator()(unsigned, const char*, const uint32_t&) { from.number(); }
  void operator()(unsigned, const char*, const std::string& t) {
    const std::string_view text = from.text();
    if (&t == wanted) found = text;
  }
  void operator()(unsigned, const char*, const std::vector<std::string>&) {
    for (uint32_t n = from.number(); n > 0; --n) from.text();
  }
};

}  // namespace

PackedOwn::PackedOwn(const RequestOwn& own) {
  static const RequestOwn kNothing;
  if (own == kNothing) return;
  Packer p;
  RequestOwn::describe(own, p);
  const auto length = static_cast<Length>(p.out.size() - sizeof(Length));
  std::memcpy(p.out.data(), &length, sizeof length);
  auto block = std::make_shared_for_overwrite<char[]>(p.out.size());
  std::memcpy(block.get(), p.out.data(), p.out.size());
  block_ = std::move(block);
}

std::string_view PackedOwn::packed() const {
  if (!block_) return {};
  Length length;
  std::memcpy(&length, block_.get(), sizeof length);
  return {block_.get() + sizeof length, length};
}

RequestOwn PackedOwn::unpack() const {
  RequestOwn own;
  if (block_) RequestOwn::describe(own, Unpacker{packed().data()});
  return own;
}

std::string_view PackedOwn::get(std::string RequestOwn::*text) const {
  static const RequestOwn kShape;
  if (!block_) return {};
  Finder f{{packed().data()}, &(kShape.*text)};
  RequestOwn::describe(kShape, f);
  return f.found;
}

uint64_t PackedOwn::hash() const { return hash_bytes(packed()); }

JobRequest whole_request(const RequestBody& body, const PackedOwn& own) { return {body, own.unpack()}; }

ShownRequest shown_request(const RequestBody& body, const PackedOwn& own) { return {body, own.unpack()}; }

}  // namespace muster
