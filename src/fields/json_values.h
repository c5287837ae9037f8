// Short forms for writing the members of --json documents.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "fields/tree_sink.h"
#include "model/job_request.h"

namespace muster::fields {

class Members {
 public:
  explicit Members(TreeSink& s) : s_(s) {}
  TreeSink& sink() { return s_; }

  Members& text(std::string_view key, std::string_view value) {
    s_.key(key);
    s_.text(value);
    return *this;
  }
  Members& number(std::string_view key, int64_t value) {
    s_.key(key);
    s_.number(value);
    return *this;
  }
  Members& flag(std::string_view key, bool value) {
    s_.key(key);
    s_.boolean(value);
    return *this;
  }
  // Writes {"set", "infinite", "number"}.
  Members& maybe(std::string_view key, bool set, uint64_t value, bool infinite = false) {
    s_.key(key);
    s_.begin_object();
    flag("set", set && !infinite);
    flag("infinite", infinite);
    s_.key("number");
    s_.number_unsigned(set && !infinite ? value : 0);
    s_.end_object();
    return *this;
  }
  // Writes a limit; kUnlimited32 is infinite.
  Members& limit(std::string_view key, uint32_t value) { return maybe(key, true, value, value == kUnlimited32); }
  Members& time(std::string_view key, Time t) {
    return maybe(key, true, t == kTimeUnset ? 0 : static_cast<uint64_t>(unix_seconds(t)), t == kTimeInfinite);
  }
  Members& list(std::string_view key, std::span<const std::string> values) {
    s_.key(key);
    s_.begin_list();
    for (const std::string& v : values) s_.text(v);
    s_.end_list();
    return *this;
  }
  // Writes the words between separators as a list.
  Members& words(std::string_view key, std::string_view text, char separator = ',') {
    s_.key(key);
    s_.begin_list();
    for (std::string_view word : split(text, separator)) s_.text(word);
    s_.end_list();
    return *this;
  }
  Members& begin(std::string_view key) {
    s_.key(key);
    s_.begin_object();
    return *this;
  }
  Members& end() {
    s_.end_object();
    return *this;
  }

 private:
  TreeSink& s_;
};

}  // namespace muster::fields
