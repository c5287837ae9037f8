#include "match/words.h"

namespace muster::match {
namespace {

constexpr size_t kMaxLine = 65536;

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view line) {
  if (line.size() > kMaxLine) return fail(Errc::kInvalidArgument, "the line is longer than 65536 bytes");
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      open = true;
    } else if (quote) {
      if (c == quote) quote = 0;
      else word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (c == '#' && !open) {
      break;
    } else {
      word += c;
      open = true;
    }
  }
  if (quote) return fail(Errc::kInvalidArgument, quote == '\'' ? "a single quote is not closed" : "a double quote is not closed");
  if (open) words.push_back(std::move(word));
  return words;
}

}  // namespace muster::match
