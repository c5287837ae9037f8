// RareText: a text that is empty in most of very many records. Empty it takes one pointer, else a block no longer than the text needs.
// At most 4 GiB; it is set as a whole. Cost: setting and copying allocate, reading does not.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

class RareText {
 public:
  RareText() = default;
  RareText(std::string_view text) {  // NOLINT(google-explicit-constructor): it is set like any other text
    if (text.empty()) return;
    const auto size = static_cast<uint32_t>(text.size());
    block_ = std::make_unique_for_overwrite<char[]>(sizeof size + size);
    std::memcpy(block_.get(), &size, sizeof size);
    std::memcpy(block_.get() + sizeof size, text.data(), size);
  }
  RareText(const std::string& text) : RareText(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  RareText(const char* text) : RareText(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  RareText(const RareText& o) : RareText(o.view()) {}
  RareText(RareText&&) noexcept = default;
  RareText& operator=(RareText o) noexcept {
    block_ = std::move(o.block_);
    return *this;
  }
  ~RareText() = default;

  bool empty() const { return block_ == nullptr; }
  std::string_view view() const {
    if (!block_) return {};
    uint32_t size = 0;
    std::memcpy(&size, block_.get(), sizeof size);
    return {block_.get() + sizeof size, size};
  }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor): it is read like any other text
  std::string str() const { return std::string(view()); }
  bool operator==(const RareText& o) const { return view() == o.view(); }

 private:
  std::unique_ptr<char[]> block_;  // the length, then the text
};

}  // namespace muster
