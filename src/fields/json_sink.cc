// The JSON writer: RapidJSON's streaming writers behind TreeSink.
#include <rapidjson/prettywriter.h>
#include <rapidjson/writer.h>

#include <cstring>
#include <memory>

#include "fields/tree_sink.h"
#include "fields/utf8.h"
#include "fields/yaml_sink.h"

namespace muster::fields {
namespace {

// Where RapidJSON puts its characters: memory of our own that is asked for once per value, not once per character, and
// goes to the caller's string row by row.
class Stream {
 public:
  using Ch = char;
  explicit Stream(std::string& out) : out_(out) { grow(0); }
  void reserve(size_t n) {
    if (static_cast<size_t>(end_ - at_) < n) grow(n);
  }
  void put_reserved(char c) { *at_++ = c; }
  void quoted(std::string_view plain) {
    reserve(plain.size() + 2);
    *at_++ = '"';
    std::memcpy(at_, plain.data(), plain.size());
    at_ += plain.size();
    *at_++ = '"';
  }
  void fill(char c, size_t n) {
    reserve(n);
    std::memset(at_, c, n);
    at_ += n;
  }
  void Put(char c) {
    reserve(1);
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
  s.reserve(n);
}
template <>
inline void PutUnsafe(muster::fields::Stream& s, char c) {
  s.put_reserved(c);
}
template <>
inline void PutN(muster::fields::Stream& s, char c, size_t n) {
  s.fill(c, n);
}
}  // namespace rapidjson

namespace muster::fields {
namespace {

// Keys are names of ours: nothing in them needs escaping, and looking for it is a third of all the work.
struct Compact : rapidjson::Writer<Stream> {
  using rapidjson::Writer<Stream>::Writer;
  void plain_key(std::string_view name) {
    this->Prefix(rapidjson::kStringType);
    this->os_->quoted(name);
  }
};
struct Pretty : rapidjson::PrettyWriter<Stream> {
  using rapidjson::PrettyWriter<Stream>::PrettyWriter;
  void plain_key(std::string_view name) {
    this->PrettyPrefix(rapidjson::kStringType);
    this->os_->quoted(name);
  }
};

template <class Writer>
class JsonSink final : public TreeSink {
 public:
  explicit JsonSink(std::string& out) : stream_(out), writer_(stream_) {}
  Writer& writer() { return writer_; }

  void key(std::string_view name) override { writer_.plain_key(name); }
  void text(std::string_view value) override {
    if (is_utf8(value)) {
      writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    } else {
      std::string clean = to_utf8(value);
      writer_.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
    }
    written();
  }
  void number(int64_t value) override { writer_.Int64(value), written(); }
  void number_unsigned(uint64_t value) override { writer_.Uint64(value), written(); }
  void real(double value) override { writer_.Double(value), written(); }
  void boolean(bool value) override { writer_.Bool(value), written(); }
  void null() override { writer_.Null(), written(); }
  void begin_object() override { writer_.StartObject(), ++depth_; }
  void end_object() override { writer_.EndObject(), --depth_, written(); }
  void begin_list() override { writer_.StartArray(), ++depth_; }
  void end_list() override { writer_.EndArray(), --depth_, written(); }

 private:
  // The rows stand in the list of the document: each leaves when it is whole.
  static constexpr int kRowDepth = 2;
  void written() {
    if (depth_ <= kRowDepth) stream_.Flush();
  }
  Stream stream_;
  Writer writer_;
  int depth_ = 0;
};

}  // namespace

std::unique_ptr<TreeSink> make_tree_sink(TreeForm form, bool compact, std::string& out) {
  if (form == TreeForm::kYaml && !compact) return make_yaml_sink(out);
  if (compact)
    return std::make_unique<JsonSink<Compact>>(out);  // also YAML's flow style
  auto pretty = std::make_unique<JsonSink<Pretty>>(out);
  pretty->writer().SetIndent(' ', 2);
  return pretty;
}

}  // namespace muster::fields
