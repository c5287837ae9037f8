// The JSON writer: RapidJSON's streaming writers behind TreeSink.
#include <rapidjson/prettywriter.h>
#include <rapidjson/writer.h>

#include "fields/tree_sink.h"
#include "fields/utf8.h"
#include "fields/yaml_sink.h"

namespace muster::fields {
namespace {

struct StringStream {
  using Ch = char;
  std::string& out;
  void Put(char c) { out += c; }
  void Flush() {}
};

template <class Writer>
class JsonSink final : public TreeSink {
 public:
  explicit JsonSink(std::string& out) : stream_{out}, writer_(stream_) {}
  Writer& writer() { return writer_; }

  void key(std::string_view name) override {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void text(std::string_view value) override {
    if (is_utf8(value)) {
      writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
      return;
    }
    std::string clean = to_utf8(value);
    writer_.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
  void number(int64_t value) override { writer_.Int64(value); }
  void number_unsigned(uint64_t value) override { writer_.Uint64(value); }
  void real(double value) override { writer_.Double(value); }
  void boolean(bool value) override { writer_.Bool(value); }
  void null() override { writer_.Null(); }
  void begin_object() override { writer_.StartObject(); }
  void end_object() override { writer_.EndObject(); }
  void begin_list() override { writer_.StartArray(); }
  void end_list() override { writer_.EndArray(); }

 private:
  StringStream stream_;
  Writer writer_;
};

}  // namespace

std::unique_ptr<TreeSink> make_tree_sink(TreeForm form, bool compact, std::string& out) {
  if (form == TreeForm::kYaml && !compact) return make_yaml_sink(out);
  if (compact)
    return std::make_unique<JsonSink<rapidjson::Writer<StringStream>>>(out);  // also YAML's flow style
  auto pretty = std::make_unique<JsonSink<rapidjson::PrettyWriter<StringStream>>>(out);
  pretty->writer().SetIndent(' ', 2);
  return pretty;
}

}  // namespace muster::fields
