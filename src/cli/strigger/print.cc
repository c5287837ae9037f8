#include "cli/strigger/print.h"

#include <stdio.h>

#include "base/plain_text.h"

namespace muster::cli {
namespace {

std::string line(const char* id, std::string_view type, std::string_view resource, std::string_view on, const char* offset,
                 std::string_view user, std::string_view flags, std::string_view program) {
  auto left = [](std::string_view text, size_t width) {
    std::string out(text);
    out.resize(std::max(out.size(), width), ' ');
    return out;
  };
  auto right = [](std::string_view text, size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + std::string(text);
  };
  return right(id, 7) + " " + left(type, 9) + " " + right(resource, 7) + " " + left(on, 35) + " " + right(offset, 6) + " " + left(user, 8) +
         " " + left(flags, 5) + " " + std::string(program);
}

}  // namespace

std::string trigger_header() { return "TRIG_ID RES_TYPE   RES_ID TYPE                                OFFSET USER     FLAGS PROGRAM"; }

std::string trigger_line(const Trigger& t, const std::function<std::string(Uid)>& user_name) {
  const std::string resource = t.spec.job ? std::to_string(t.spec.job.value) : t.spec.nodes.empty() ? "*" : plain(t.spec.nodes.text());
  return line(std::to_string(t.id).c_str(), trigger_subject_name(t.spec), resource, trigger_words(t.spec.on),
              std::to_string(t.spec.offset_seconds).c_str(), user_name(t.user), t.spec.permanent ? "PERM" : "", plain(t.spec.program));
}

}  // namespace muster::cli
