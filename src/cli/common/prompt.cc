#include "cli/common/prompt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace muster::cli {

LineReader::LineReader(std::string prompt) : prompt_(std::move(prompt)) {
  setvbuf(stdin, nullptr, _IONBF, 0);  // what follows a line may be the answer to a question that it brings up
  if (!isatty(0) || !isatty(1)) return;
  library_ = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library_) return;
  readline_ = reinterpret_cast<char* (*)(const char*)>(dlsym(library_, "readline"));
  add_history_ = reinterpret_cast<int (*)(const char*)>(dlsym(library_, "add_history"));
}

std::optional<std::string> LineReader::next() {
  if (readline_) {
    char* line = readline_(prompt_.c_str());
    if (!line) return std::nullopt;
    std::string out(line);
    free(line);
    if (!out.empty() && add_history_) add_history_(out.c_str());
    return out;
  }
  if (isatty(0)) {
    fputs(prompt_.c_str(), stdout);
    fflush(stdout);
  }
  std::string out;
  for (int ch; (ch = getchar()) != '\n';) {
    if (ch == EOF) return out.empty() ? std::nullopt : std::optional(out);
    if (out.size() < (1 << 20)) out.push_back(static_cast<char>(ch));
  }
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool any = false;
  char quote = 0;
  for (char ch : line) {
    if (quote) {
      if (ch == quote) quote = 0;
      else word.push_back(ch);
    } else if (ch == '"' || ch == '\'') {
      quote = ch;
      any = true;
    } else if (ch == ' ' || ch == '\t' || ch == '\r') {
      if (any || !word.empty()) out.push_back(std::move(word));
      word.clear();
      any = false;
    } else {
      word.push_back(ch);
    }
  }
  if (any || !word.empty()) out.push_back(std::move(word));
  return out;
}

void prompt_loop(const std::string& prompt, const std::function<bool(std::span<const std::string>)>& run,
                 const std::function<void()>& no_previous) {
  LineReader reader(prompt);
  std::vector<std::string> last;
  while (std::optional<std::string> line = reader.next()) {
    std::vector<std::string> words = words_of(*line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words[0] == "!!") {
      if (last.empty()) {
        no_previous();
        continue;
      }
      words = last;
    }
    last = words;
    if (!run(words)) return;
  }
}

}  // namespace muster::cli
