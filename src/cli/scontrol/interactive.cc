// The prompt. libedit is opened only here and only on a terminal; without it lines are read plainly.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/scontrol/context.h"

namespace muster::cli {
namespace {

constexpr const char* kPrompt = "scontrol: ";

class LineReader {
 public:
  LineReader() {
    if (!isatty(0) || !isatty(1)) return;
    library_ = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library_) return;
    readline_ = reinterpret_cast<char* (*)(const char*)>(dlsym(library_, "readline"));
    add_history_ = reinterpret_cast<int (*)(const char*)>(dlsym(library_, "add_history"));
  }

  std::optional<std::string> next() {
    if (readline_) {
      char* line = readline_(kPrompt);
      if (!line) return std::nullopt;
      std::string out(line);
      free(line);
      if (!out.empty() && add_history_) add_history_(out.c_str());
      return out;
    }
    if (isatty(0)) {
      fputs(kPrompt, stdout);
      fflush(stdout);
    }
    std::string out;
    for (int ch; (ch = getchar()) != '\n';) {
      if (ch == EOF) return out.empty() ? std::nullopt : std::optional(out);
      if (out.size() < (1 << 20)) out.push_back(static_cast<char>(ch));
    }
    return out;
  }

 private:
  void* library_ = nullptr;
  char* (*readline_)(const char*) = nullptr;
  int (*add_history_)(const char*) = nullptr;
};

// Words at blanks; ' and " keep blanks together.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool any = false;
  char quote = 0;
  for (char ch : line) {
    if (quote) {
      if (ch == quote)
        quote = 0;
      else
        word.push_back(ch);
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

}  // namespace

void interact(Context& c, const std::function<void(Words)>& run) {
  LineReader reader;
  std::vector<std::string> last;
  while (!c.done) {
    std::optional<std::string> line = reader.next();
    if (!line) return;
    std::vector<std::string> words = words_of(*line);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words[0] == "!!") {
      if (last.empty()) {
        c.complain("no previous command");
        continue;
      }
      words = last;
    }
    last = words;
    run(words);
  }
}

}  // namespace muster::cli
