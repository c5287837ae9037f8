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
  for (size_t index = 0; index < line.size(); ++index) {
    const char letter = line[index];
    if (letter == '\\' && quote != '\'' && index + 1 < line.size()) {
      word += line[++index];
      open = true;
    } else if (quote) {
      if (letter == quote) quote = 0;
      else word += letter;
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      open = true;
    } else if (letter == ' ' || letter == '\t' || letter == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (letter == '#' && !open) {
      break;
    } else {
      word += letter;
      open = true;
    }
  }
  if (quote) return fail(Errc::kInvalidArgument, quote == '\'' ? "a single quote is not closed" : "a double quote is not closed");
  if (open) words.push_back(std::move(word));
  return words;
}

}  // namespace muster::match
