#include "model/node_extra.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "model/request_texts.h"

namespace muster {
namespace {

// Takes what stands in the outermost object and has a value that can be compared. The reader calls one of these functions for each piece.
class Taker : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Taker> {
 public:
  bool Null() { return take(std::nullopt); }
  bool Bool(bool b) { return take(b); }
  // A number that is too large or too small for a double is as good as not there.
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    double n = 0;
    const auto [end, error] = std::from_chars(text, text + length, n);
    if (error != std::errc() || end != text + length) return take(std::nullopt);
    return take(n);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) { return take(std::string(text, length)); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    if (depth_ == 1) key_.assign(text, length);
    return true;
  }
  bool StartObject() { return open(); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool StartArray() { return depth_ > 0 && open(); }  // a list is no object
  bool EndArray(rapidjson::SizeType) { return close(); }

  NodeExtra taken() {
    NodeExtra out;
    for (auto& [key, value] : values_) out.values.emplace_back(key, std::move(value));
    return out;
  }

 private:
  // False ends the reading: a value that stands alone is no object.
  bool take(std::optional<ExtraValue> value) {
    if (depth_ == 1 && value) values_.insert_or_assign(key_, std::move(*value));
    if (depth_ == 1 && !value) values_.erase(key_);
    return depth_ > 0;
  }
  bool open() {
    if (depth_ == 1) values_.erase(key_);  // the value of this key is the list or object that begins here
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  size_t depth_ = 0;
  std::string key_;
  std::map<std::string, ExtraValue> values_;
};

std::unexpected<Error> no_object(std::string why) { return fail(Errc::kInvalidArgument, {}, "Extra: " + std::move(why)); }

}  // namespace

const ExtraValue* NodeExtra::value_of(std::string_view key) const {
  auto at = std::ranges::lower_bound(values, key, {}, [](const auto& v) { return std::string_view(v.first); });
  return at == values.end() || at->first != key ? nullptr : &at->second;
}

Result<NodeExtra> NodeExtra::parse(std::string_view text) {
  if (text.size() > kMostText) return no_object(bytes_of(text.size(), kMostText));
  if (text.empty()) return NodeExtra{};
  rapidjson::MemoryStream bytes(text.data(), text.size());
  rapidjson::Reader reader;
  Taker taker;
  // Iterative: a text that is nested as deep as it is long takes memory of its length, and no stack.
  // Numbers come as they are written: the library's own conversion reads beyond its tables for some small ones.
  constexpr unsigned kHow = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult done = reader.Parse<kHow>(bytes, taker);
  if (done) return taker.taken();
  const bool other = done.Code() == rapidjson::kParseErrorTermination;
  return no_object((other ? std::string("no JSON object") : std::string(rapidjson::GetParseError_En(done.Code()))) + " (character " +
                   std::to_string(done.Offset() + 1) + ")");
}

}  // namespace muster
