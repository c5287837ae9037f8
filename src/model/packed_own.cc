#include "model/packed_own.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"

namespace muster {
namespace {

// Two of the texts name a script and an environment: 64 hexadecimal digits each, which take half as much as bytes.
constexpr size_t kHashBytes = 32;

bool is_hash_of(const RequestOwn& own, const std::string& text) { return &text == &own.script_hash || &text == &own.environment_hash; }

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_hash(std::string_view text) {
  return text.size() == 2 * kHashBytes && std::ranges::all_of(text, [](char c) { return digit_of(c) >= 0; });
}

// Writes numbers in groups of seven bits, texts and lists with their size in front.
struct Packer {
  const RequestOwn& own;
  std::string out{};

  void operator()(unsigned, const char*, uint32_t number) {
    for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
    out.push_back(static_cast<char>(number));
  }
  void operator()(unsigned, const char*, const std::string& text) {
    if (is_hash_of(own, text)) return hash(text);
    (*this)(0, "", static_cast<uint32_t>(text.size()));
    out += text;
  }
  // A byte says whether bytes follow, or a text that is no hash.
  void hash(const std::string& text) {
    const bool bytes = is_hash(text);
    out.push_back(bytes ? 1 : 0);
    if (!bytes) {
      (*this)(0, "", static_cast<uint32_t>(text.size()));
      out += text;
      return;
    }
    char packed[kHashBytes];
    for (size_t i = 0; i < kHashBytes; ++i) packed[i] = static_cast<char>(digit_of(text[2 * i]) << 4 | digit_of(text[2 * i + 1]));
    out.append(packed, kHashBytes);
  }
  void operator()(unsigned, const char*, const std::vector<std::string>& list) {
    (*this)(0, "", static_cast<uint32_t>(list.size()));
    for (const std::string& text : list) (*this)(0, "", text);
  }
};

// Reads the values that a Packer wrote, one after the other.
struct Reading {
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
  void skip_hash() {
    if (*at++ == 0) text();
    else at += kHashBytes;
  }
  std::string hash() {
    if (*at++ == 0) return std::string(text());
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out(2 * kHashBytes, '\0');
    for (size_t i = 0; i < kHashBytes; ++i) {
      const auto byte = static_cast<unsigned char>(*at++);
      out[2 * i] = kDigits[byte >> 4];
      out[2 * i + 1] = kDigits[byte & 0xf];
    }
    return out;
  }
};

struct Unpacker {
  Reading from;
  RequestOwn& own;

  void operator()(unsigned, const char*, uint32_t& n) { n = from.number(); }
  void operator()(unsigned, const char*, std::string& t) {
    if (is_hash_of(own, t)) t = from.hash();
    else t = from.text();
  }
  void operator()(unsigned, const char*, std::vector<std::string>& list) {
    list.resize(from.number());
    for (std::string& t : list) t = from.text();
  }
};

// Skips all fields of the described object but the text `wanted`.
struct Finder {
  Reading from;
  const RequestOwn& shape;
  const std::string* wanted;
  std::string_view found{};

  void operator()(unsigned, const char*, const uint32_t&) { from.number(); }
  void operator()(unsigned, const char*, const std::string& text) {
    if (is_hash_of(shape, text)) return from.skip_hash();
    const std::string_view value = from.text();
    if (&text == wanted) found = value;
  }
  void operator()(unsigned, const char*, const std::vector<std::string>&) {
    for (uint32_t n = from.number(); n > 0; --n) from.text();
  }
};

// The same for the hashes.
struct HashFinder : Finder {
  ContentHashes hashes{};

  using Finder::operator();
  void operator()(unsigned number, const char* name, const std::string& text) {
    if (&text == &shape.script_hash) hashes.script_hash = from.hash();
    else if (&text == &shape.environment_hash) hashes.environment_hash = from.hash();
    else Finder::operator()(number, name, text);
  }
};

}  // namespace

PackedOwn::PackedOwn(const RequestOwn& own) {
  static const RequestOwn kNothing;
  if (own == kNothing) return;
  Packer p{own};
  p.out.reserve(256);
  RequestOwn::describe(own, p);
  // One block for both; what a client sends at once is far shorter than the length can say.
  block_ = new (::operator new(sizeof(Block) + p.out.size())) Block;
  block_->length = static_cast<uint32_t>(p.out.size());
  block_->name_key = key_of_name(own.name);
  std::memcpy(static_cast<void*>(block_ + 1), p.out.data(), p.out.size());
}

void PackedOwn::retain() const {
  if (block_) block_->holders.fetch_add(1, std::memory_order_relaxed);
}

void PackedOwn::release() const {
  if (!block_ || block_->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block_->~Block();
  ::operator delete(block_);
}

std::string_view PackedOwn::packed() const {
  if (!block_) return {};
  return {reinterpret_cast<const char*>(block_ + 1), block_->length};
}

RequestOwn PackedOwn::unpack() const {
  RequestOwn own;
  if (block_) RequestOwn::describe(own, Unpacker{{packed().data()}, own});
  return own;
}

std::string_view PackedOwn::get(std::string RequestOwn::*text) const {
  static const RequestOwn kShape;
  if (!block_) return {};
  MUSTER_CHECK(!is_hash_of(kShape, kShape.*text));  // it is kept as bytes: content_hashes() makes the text
  Finder finder{{packed().data()}, kShape, &(kShape.*text)};
  RequestOwn::describe(kShape, finder);
  return finder.found;
}

ContentHashes PackedOwn::content_hashes() const {
  static const RequestOwn kShape;
  if (!block_) return {};
  HashFinder finder{{{packed().data()}, kShape, nullptr}};
  RequestOwn::describe(kShape, finder);
  return std::move(finder.hashes);
}

uint64_t PackedOwn::hash() const { return std::hash<std::string_view>()(packed()); }

JobRequest whole_request(const RequestBody& body, const PackedOwn& own) { return {body, own.unpack()}; }

ShownRequest shown_request(const RequestBody& body, const PackedOwn& own) { return {body, own.unpack()}; }

}  // namespace muster
