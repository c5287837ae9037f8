// The JSON writer behind TreeSink. It writes commas, line ends and indents itself: with indents they are two thirds of a document's bytes,
// and RapidJSON's PrettyWriter, which checks and writes each character by itself, took four times as long. RapidJSON escapes texts and
// prints numbers that are no integers.
#include <rapidjson/writer.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/utf8.h"
#include "fields/tree_sink.h"
#include "fields/yaml_sink.h"

namespace muster::fields {
namespace {

// The buffer that characters are written to: memory of our own that is reserved once per value, not once per character, and that is
// appended to the caller's string row by row.
class Stream {
 public:
  using Ch = char;
  explicit Stream(std::string& out) : out_(out) { grow(0); }
  // Makes room for `n` characters. The caller writes them there and calls took() with their end.
  char* room(size_t n) {
    if (static_cast<size_t>(end_ - at_) < n) grow(n);
    return at_;
  }
  void took(char* end) { at_ = end; }
  void put_reserved(char c) { *at_++ = c; }
  void Put(char c) {
    room(1);
    *at_++ = c;
  }
  void Flush() {
    out_.append(data_.get(), static_cast<size_t>(at_ - data_.get()));
    at_ = data_.get();
  }

 private:
  static constexpr size_t kFirst = 16u << 10;
  void grow(size_t n) {
    size_t used = data_ ? static_cast<size_t>(at_ - data_.get()) : 0;
    size_t size = std::max(kFirst, 2 * (used + n));
    auto more = std::make_unique_for_overwrite<char[]>(size);
    if (used) std::memcpy(more.get(), data_.get(), used);
    data_ = std::move(more);
    at_ = data_.get() + used;
    end_ = data_.get() + size;
  }
  std::string& out_;
  std::unique_ptr<char[]> data_;
  char *at_ = nullptr, *end_ = nullptr;
};

}  // namespace
}  // namespace muster::fields

namespace rapidjson {
template <>
inline void PutReserve(muster::fields::Stream& s, size_t n) {
  s.room(n);
}
template <>
inline void PutUnsafe(muster::fields::Stream& s, char c) {
  s.put_reserved(c);
}
}  // namespace rapidjson

namespace muster::fields {
namespace {

struct Values : rapidjson::Writer<Stream> {
  using rapidjson::Writer<Stream>::Writer;
  using rapidjson::Writer<Stream>::WriteDouble;
  using rapidjson::Writer<Stream>::WriteString;
};

char* put(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

// Whether the text can stand between quotes unescaped.
bool is_plain(std::string_view text) {
  for (char c : text)
    if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') return false;
  return true;
}

template <bool kPretty>
class JsonSink final : public TreeSink {
 public:
  explicit JsonSink(std::string& out) : stream_(out), values_(stream_) {}

  // Keys are our own names: nothing in them needs escaping.
  void key(std::string_view name) override {
    char* p = separated(stream_.room(most_before() + name.size() + 4));
    *p++ = '"';
    p = put(p, name);
    *p++ = '"';
    *p++ = ':';
    if constexpr (kPretty) *p++ = ' ';
    stream_.took(p);
  }
  void text(std::string_view value) override {
    if (is_plain(value)) {
      char* p = before_value(value.size() + 2);
      *p++ = '"';
      p = put(p, value);
      *p++ = '"';
      stream_.took(p);
    } else {
      stream_.took(before_value(0));
      std::string clean = is_utf8(value) ? std::string(value) : to_utf8(value);
      values_.WriteString(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
    }
    written();
  }
  void number(int64_t value) override { integer(value); }
  void number_unsigned(uint64_t value) override { integer(value); }
  void real(double value) override {
    if (!std::isfinite(value)) return null();  // JSON has no such numbers
    stream_.took(before_value(0));
    values_.WriteDouble(value);
    written();
  }
  void boolean(bool value) override { word(value ? "true" : "false"); }
  void null() override { word("null"); }
  void begin_object() override { begin('{', 0); }
  void end_object() override { end('}'); }
  void begin_list() override { begin('[', 1); }
  void end_list() override { end(']'); }

 private:
  // Rows are elements of the document's list: each goes to the caller's string when it is complete.
  static constexpr int kRowDepth = 2;
  static constexpr int kMaxDepth = 63;  // bits of lists_; our documents need ten
  static constexpr size_t kLongestInteger = 20;

  // A line end followed by as many blanks as usual indents need.
  static constexpr auto kLineEnd = [] {
    std::array<char, 32> text;
    text.fill(' ');
    text[0] = '\n';
    return text;
  }();

  size_t most_before() const { return 2 + sizeof kLineEnd + 2 * static_cast<size_t>(depth_); }  // the most that separated() writes
  char* new_line(char* p) const {
    if constexpr (kPretty) {
      const size_t indent = 2 * static_cast<size_t>(depth_);
      std::memcpy(p, kLineEnd.data(), sizeof kLineEnd);  // the size is a constant, so this is a few instructions
      if (indent >= sizeof kLineEnd) std::memset(p, ' ', indent + 1), *p = '\n';
      p += 1 + indent;
    }
    return p;
  }
  // Writes the comma, the line end and the indent.
  char* separated(char* p) {
    if (!first_) *p++ = ',';
    first_ = false;
    return new_line(p);
  }
  // Makes room for a value of `size` characters at its place: after its key, or as an element of the list.
  char* before_value(size_t size) {
    char* p = stream_.room(most_before() + size);
    return lists_ & 1 ? separated(p) : p;
  }
  void word(std::string_view value) {
    stream_.took(put(before_value(value.size()), value));
    written();
  }
  template <class T>
  void integer(T value) {
    char* p = before_value(kLongestInteger);
    stream_.took(std::to_chars(p, p + kLongestInteger, value).ptr);
    written();
  }
  void begin(char bracket, uint64_t list) {
    char* p = before_value(1);
    *p++ = bracket;
    stream_.took(p);
    lists_ = lists_ << 1 | list;
    first_ = true;
    ++depth_;
    MUSTER_CHECK(depth_ <= kMaxDepth);
  }
  void end(char bracket) {
    --depth_;
    lists_ >>= 1;
    char* p = stream_.room(most_before());
    if (!first_) p = new_line(p);
    *p++ = bracket;
    stream_.took(p);
    first_ = false;
    written();
  }
  void written() {
    if (depth_ <= kRowDepth) stream_.Flush();
  }

  Stream stream_;
  Values values_;
  int depth_ = 0;
  uint64_t lists_ = 0;  // bit 0: the innermost container is a list; bit 1: the one around it; …
  bool first_ = true;   // the innermost container is still empty
};

}  // namespace

std::unique_ptr<TreeSink> make_tree_sink(TreeForm form, bool compact, std::string& out) {
  if (form == TreeForm::kYaml && !compact) return make_yaml_sink(out);
  if (compact) return std::make_unique<JsonSink<false>>(out);  // also YAML's flow style
  return std::make_unique<JsonSink<true>>(out);
}

}  // namespace muster::fields
