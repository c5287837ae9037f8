#include "config/parser.h"

#include <algorithm>

#include "base/text.h"

namespace muster::config {

std::optional<std::string> MemoryFiles::read(const std::string& path) {
  for (auto it = files_.rbegin(); it != files_.rend(); ++it)
    if (it->first == path) return it->second;
  return std::nullopt;
}

std::string SourcePos::text() const { return file ? *file + ":" + std::to_string(line) : std::string(); }

std::string ConfigError::text() const {
  std::string out;
  if (!file.empty()) out = file + (line ? ":" + std::to_string(line) : "") + ": ";
  if (!key.empty()) out += key + ": ";
  out += message;
  if (!hint.empty()) out += " (" + hint + ")";
  return out;
}

std::string to_text(const std::vector<ConfigError>& errors) {
  std::string out;
  for (const ConfigError& e : errors) out += e.text() + "\n";
  return out;
}

ConfigError error_at(const SourcePos& pos, std::string key, std::string message, std::string hint) {
  return {pos.file ? *pos.file : std::string(), pos.line, std::move(key), std::move(message), std::move(hint)};
}

const KeyValue* Line::find(std::string_view key) const {
  for (auto it = values.rbegin(); it != values.rend(); ++it)
    if (iequals(it->key, key)) return &*it;
  return nullptr;
}

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_key_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }
std::string directory_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// A logical line under construction: its text, and for each physical line the offset where it starts.
struct Joined {
  std::string text;
  std::vector<std::pair<size_t, uint32_t>> starts;  // offset, line number

  void clear() {
    text.clear();
    starts.clear();
  }
  std::pair<uint32_t, uint32_t> place(size_t offset) const {  // line, column
    auto it = std::upper_bound(starts.begin(), starts.end(), std::pair<size_t, uint32_t>(offset, UINT32_MAX));
    if (it == starts.begin()) return {0, 0};
    --it;
    return {it->second, static_cast<uint32_t>(offset - it->first + 1)};
  }
};

class Reader {
 public:
  Reader(FileSource* source, const Limits& limits) : source_(source), limits_(limits) {}

  void read_top(const std::string& path) {
    top_directory_ = directory_of(path);
    std::optional<std::string> text = source_->read(path);
    if (!text) {
      out_.missing = true;
      return;
    }
    read_text(*text, path, 0);
  }
  void read_text(std::string_view text, const std::string& name, int depth);
  ParsedFile take() { return std::move(out_); }

 private:
  bool full() const { return out_.errors.size() >= limits_.max_errors; }
  SourcePos pos_at(const Joined& joined, size_t offset) const {
    auto [line, column] = joined.place(offset);
    return {file_, line, column};
  }
  void complain(const SourcePos& pos, std::string key, std::string message, std::string hint = {}) {
    if (!full()) out_.errors.push_back(error_at(pos, std::move(key), std::move(message), std::move(hint)));
  }
  void logical_line(const Joined& joined, int depth);
  bool try_include(const Joined& joined, size_t at, int depth);
  void include(const SourcePos& pos, std::string name, int depth);
  void pairs(const Joined& joined, size_t at);
  // Reads one pair at `at`; false when the rest of the line makes no sense (already reported).
  bool pair(const Joined& joined, size_t& at, Line& line);
  bool value(const Joined& joined, size_t& at, KeyValue& kv);

  FileSource* source_;
  Limits limits_;
  ParsedFile out_;
  std::shared_ptr<const std::string> file_;
  std::string top_directory_;
  std::string cluster_name_;
  std::vector<std::string> open_;  // files being read, outermost first
  size_t bytes_ = 0;
};

// Cuts the comment off one physical line and says whether it continues on the next. `in_quotes` says whether the previous physical line
// ended inside quotes, and is updated.
std::pair<std::string, bool> strip(std::string_view raw, bool& in_quotes) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '\\' && i + 1 < raw.size() && raw[i + 1] == '#') {
      out += '#';
      ++i;
      continue;
    }
    if (c == '"') in_quotes = !in_quotes;
    if (c == '#' && !in_quotes) break;
    out += c;
  }
  size_t end = out.size();
  while (end > 0 && is_blank(out[end - 1])) --end;
  size_t slashes = 0;
  while (slashes < end && out[end - 1 - slashes] == '\\') ++slashes;
  if (slashes % 2 == 0) {
    out.resize(end);
    return {std::move(out), false};
  }
  out.resize(end - 1);
  return {std::move(out), true};
}

void Reader::read_text(std::string_view text, const std::string& name, int depth) {
  std::shared_ptr<const std::string> outer = std::exchange(file_, std::make_shared<const std::string>(name));
  open_.push_back(name);
  bytes_ += text.size();
  if (bytes_ > limits_.max_bytes) {
    complain({file_, 0, 0}, "", "is too big: the configuration may have " + std::to_string(limits_.max_bytes) + " bytes");
    text = {};
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // editors may begin a UTF-8 file with it
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Joined joined;
  uint32_t number = 0;
  bool in_quotes = false;
  while (!text.empty() && !full()) {
    size_t end = text.find('\n');
    std::string_view raw = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    auto [kept, continues] = strip(raw, in_quotes);
    joined.starts.emplace_back(joined.text.size(), number);
    joined.text += kept;
    if (continues && !text.empty()) continue;
    in_quotes = false;
    logical_line(joined, depth);
    joined.clear();
    if (out_.lines.size() >= limits_.max_lines) {
      complain({file_, number, 0}, "", "has more than " + std::to_string(limits_.max_lines) + " lines");
      break;
    }
  }
  open_.pop_back();
  file_ = std::move(outer);
}

void Reader::logical_line(const Joined& joined, int depth) {
  size_t at = 0;
  while (at < joined.text.size() && is_blank(joined.text[at])) ++at;
  if (at == joined.text.size()) return;
  if (try_include(joined, at, depth)) return;
  pairs(joined, at);
}

bool Reader::try_include(const Joined& joined, size_t at, int depth) {
  std::string_view rest = std::string_view(joined.text).substr(at);
  if (!istarts_with(rest, "include") || rest.size() < 8 || !is_blank(rest[7])) return false;
  std::string_view name = trim(rest.substr(7));
  if (name.starts_with("=")) return false;
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  include(pos_at(joined, at), std::string(name), depth);
  return true;
}

void Reader::include(const SourcePos& pos, std::string name, int depth) {
  for (size_t p = name.find("%c"); p != std::string::npos; p = name.find("%c", p + cluster_name_.size())) {
    if (cluster_name_.empty())
      return complain(pos, "Include", "%c stands for ClusterName, which is not set above this line",
                      "move ClusterName= above the Include line");
    name.replace(p, 2, cluster_name_);
  }
  if (!source_) return complain(pos, "Include", "is not possible here");
  if (name.empty()) return complain(pos, "Include", "has no file name");
  if (depth + 1 >= limits_.max_include_depth)
    return complain(pos, "Include", "files include each other more than " + std::to_string(limits_.max_include_depth) + " deep");
  std::string first = name.front() == '/' ? name : top_directory_ + name;
  std::string second = name.front() == '/' ? name : directory_of(*file_) + name;
  for (const std::string* candidate : {&first, &second}) {
    const std::string& path = *candidate;
    if (std::find(open_.begin(), open_.end(), path) != open_.end()) return complain(pos, "Include", path + " includes itself");
    if (std::optional<std::string> text = source_->read(path)) return read_text(*text, path, depth + 1);
  }
  complain(pos, "Include", "cannot read " + first);
}

void Reader::pairs(const Joined& joined, size_t at) {
  Line line;
  line.pos = pos_at(joined, at);
  line.pos.column = 0;
  const std::string& text = joined.text;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) break;
    if (line.values.size() >= limits_.max_values_per_line) {
      complain(line.pos, "", "has more than " + std::to_string(limits_.max_values_per_line) + " values");
      break;
    }
    if (!pair(joined, at, line)) break;
  }
  if (!line.values.empty()) out_.lines.push_back(std::move(line));
}

std::string shown(std::string_view s) {
  std::string out;
  for (char c : s.substr(0, 40)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  if (s.size() > 40) out += "...";
  return out;
}

bool Reader::pair(const Joined& joined, size_t& at, Line& line) {
  const std::string& text = joined.text;
  size_t start = at;
  while (at < text.size() && is_key_char(text[at])) ++at;
  size_t key_end = at;
  while (at < text.size() && is_blank(text[at])) ++at;
  Assign op = Assign::kSet;
  if (at + 1 < text.size() && (text[at] == '+' || text[at] == '-') && text[at + 1] == '=') {
    op = text[at] == '+' ? Assign::kAppend : Assign::kRemove;
    ++at;
  }
  if (key_end == start || at >= text.size() || text[at] != '=') {
    size_t end = start;
    while (end < text.size() && !is_blank(text[end])) ++end;
    std::string hint;
    if (!line.values.empty() && !line.values.back().quoted)
      hint = "write " + line.values.back().key + "=\"" + shown(line.values.back().value) + " " +
             shown(std::string_view(text).substr(start, end - start)) + "\" if it belongs to the value before";
    complain(pos_at(joined, start), "", "\"" + shown(std::string_view(text).substr(start, end - start)) + "\" is not of the form Key=value",
             hint);
    return false;
  }
  ++at;
  KeyValue kv;
  kv.key = text.substr(start, key_end - start);
  kv.op = op;
  kv.pos = pos_at(joined, start);
  if (!value(joined, at, kv)) return false;
  if (line.values.empty() && iequals(kv.key, "ClusterName")) cluster_name_ = to_lower(kv.value);
  line.values.push_back(std::move(kv));
  return true;
}

// Whether `Word=` stands at `at`. If so, the `Key= ` before it was left without a value.
bool key_follows(const std::string& text, size_t at) {
  size_t start = at;
  while (at < text.size() && is_key_char(text[at])) ++at;
  return at > start && at < text.size() && text[at] == '=';
}

bool Reader::value(const Joined& joined, size_t& at, KeyValue& kv) {
  const std::string& text = joined.text;
  bool spaced = false;
  while (at < text.size() && is_blank(text[at])) ++at, spaced = true;
  if (at == text.size() || (spaced && key_follows(text, at))) {
    complain(kv.pos, kv.key, "has no value", "write " + kv.key + "=\"\" for an empty one, or put # before it");
    return at < text.size();
  }
  if (text[at] == '"') {
    size_t end = text.find('"', at + 1);
    if (end == std::string::npos) {
      complain(kv.pos, kv.key, "has an opening quote without a closing one");
      return false;
    }
    kv.value = text.substr(at + 1, end - at - 1);
    kv.quoted = true;
    at = end + 1;
    if (at < text.size() && !is_blank(text[at])) {
      complain(kv.pos, kv.key, "needs a blank after the closing quote");
      return false;
    }
    return true;
  }
  size_t start = at;
  bool quotes = false;  // a,b="x y": blanks inside the quotes belong to the value
  while (at < text.size() && (quotes || !is_blank(text[at]))) quotes ^= text[at] == '"', ++at;
  if (quotes) {
    complain(kv.pos, kv.key, "has an opening quote without a closing one");
    return false;
  }
  kv.value = text.substr(start, at - start);
  return true;
}

}  // namespace

ParsedFile parse_file(FileSource& source, const std::string& path, const Limits& limits) {
  Reader reader(&source, limits);
  reader.read_top(path);
  return reader.take();
}

ParsedFile parse_text(std::string_view text, std::string_view name, const Limits& limits) {
  Reader reader(nullptr, limits);
  reader.read_text(text, std::string(name), 0);
  return reader.take();
}

}  // namespace muster::config
