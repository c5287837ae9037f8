#include "fields/yaml_sink.h"

#include <charconv>
#include <cstdio>
#include <vector>

#include "base/utf8.h"

namespace muster::fields {
namespace {

class YamlSink final : public TreeSink {
 public:
  explicit YamlSink(std::string& out) : out_(out) {}

  void key(std::string_view name) override {
    Level& top = levels_.back();
    open(top);
    start_line(levels_.size() - 1);
    out_ += name;
    out_ += ':';
    after_key_ = true;
  }
  void text(std::string_view value) override {
    place();
    quote(value);
    out_ += '\n';
  }
  void number(int64_t value) override { plain(std::to_string(value)); }
  void number_unsigned(uint64_t value) override { plain(std::to_string(value)); }
  void real(double value) override {
    char digits[40];
    auto [end, ec] = std::to_chars(digits, digits + sizeof digits, value);
    plain(std::string_view(digits, static_cast<size_t>(end - digits)));
  }
  void boolean(bool value) override { plain(value ? "true" : "false"); }
  void null() override { plain("null"); }
  void begin_object() override { begin(false); }
  void begin_list() override { begin(true); }
  void end_object() override { end("{}"); }
  void end_list() override { end("[]"); }

 private:
  struct Level {
    bool list = false;
    bool empty = true;
    bool in_dash = false;  // the first line of this level continues a "- "
  };

  // Writes the line break that a non-empty list or object begins with, unless it continues a dash.
  void open(Level& level) {
    if (level.empty && levels_.size() > 1 && !level.in_dash) out_ += '\n';
    if (!level.empty) level.in_dash = false;
    level.empty = false;
  }
  void start_line(size_t depth) {
    if (levels_.back().in_dash) {
      levels_.back().in_dash = false;
      return;
    }
    out_.append(depth * 2, ' ');
  }
  // Writes what comes before a value: a blank after its key, or a dash in a list.
  void place() {
    if (after_key_) {
      out_ += ' ';
      after_key_ = false;
      return;
    }
    if (levels_.empty()) return;
    open(levels_.back());
    start_line(levels_.size() - 1);
    out_ += "- ";
  }
  void plain(std::string_view text) {
    place();
    out_ += text;
    out_ += '\n';
  }
  void begin(bool list) {
    Level level;
    level.list = list;
    if (!levels_.empty() && levels_.back().list) {
      place();
      level.in_dash = true;
    }
    after_key_ = false;
    levels_.push_back(level);
  }
  void end(std::string_view nothing) {
    Level level = levels_.back();
    levels_.pop_back();
    if (!level.empty) return;
    if (!level.in_dash && !levels_.empty()) out_ += ' ';
    out_ += nothing;
    out_ += '\n';
  }
  void quote(std::string_view value) {
    out_ += '"';
    for (size_t at = 0; at < value.size();) {
      size_t length = utf8_length(value, at);
      auto byte = static_cast<unsigned char>(value[at]);
      if (length == 0) {
        out_ += '?';
      } else if (length > 1) {
        out_.append(value, at, length);
      } else if (byte == '"' || byte == '\\') {
        out_ += '\\';
        out_ += static_cast<char>(byte);
      } else if (byte == '\n') {
        out_ += "\\n";
      } else if (byte == '\t') {
        out_ += "\\t";
      } else if (byte < 0x20 || byte == 0x7f) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x", byte);
        out_ += escape;
      } else {
        out_ += static_cast<char>(byte);
      }
      at += length ? length : 1;
    }
    out_ += '"';
  }

  std::string& out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace

std::unique_ptr<TreeSink> make_yaml_sink(std::string& out) { return std::make_unique<YamlSink>(out); }

}  // namespace muster::fields
