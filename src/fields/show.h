// The shape of scontrol's records, for show_job, show_node, show_partition and show_step. A record is lines of "Key=value" pairs; lines
// after the first begin with three blanks. With --oneliner everything is on one line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/plain_text.h"
#include "fields/values.h"

namespace muster::fields {

struct ShowOptions {
  bool oneliner = false;  // -o
  bool details = false;   // -d
};

class Record {
 public:
  Record(std::string& out, bool oneliner) : out_(out), oneliner_(oneliner) {}
  std::string& out() { return out_; }

  // Appends "Key=", with a blank before it unless it begins a line. The caller appends the value.
  std::string& key(std::string_view name) { return put_key(fresh_ ? "" : " ", name); }
  // The same for a key on the line of that number: where the last such key stood on another one, a new line begins.
  std::string& key_on(uint16_t number, std::string_view name) {
    const bool first = line_ == 0, same = line_ == number || oneliner_;
    line_ = number;
    return put_key(first ? "" : same ? " " : "\n   ", name);
  }
  // The value that was appended holds nothing that a user chose.
  void value_is_plain() { value_ = 0; }
  Record& pair(std::string_view name, std::string_view value) {
    key(name) += value;
    return *this;
  }
  template <std::integral T>
  Record& pair(std::string_view name, T value) {
    put_number(key(name), value);
    return *this;
  }
  Record& yes_no(std::string_view name, bool yes) { return pair(name, yes ? std::string_view("YES") : std::string_view("NO")); }
  Record& or_null(std::string_view name, std::string_view value) { return pair(name, value.empty() ? std::string_view("(null)") : value); }
  // The next pair begins a new line, `deeper` blanks further in.
  void line(int deeper = 0) {
    end_value();
    out_ += oneliner_ ? std::string_view(" ") : std::string_view("\n   ");
    if (!oneliner_ && deeper) out_.append(static_cast<size_t>(deeper), ' ');
    fresh_ = true;
  }
  // Ends the record's last line; a blank line separates records.
  void end() {
    end_value();
    out_ += oneliner_ ? std::string_view("\n") : std::string_view("\n\n");
  }

 private:
  // Users may have written the value, so it is made one line without control sequences that a terminal would obey.
  void end_value() {
    if (value_) make_plain(out_, value_);
    value_ = 0;
  }

  std::string& put_key(std::string_view before, std::string_view name) {
    end_value();
    const size_t at = out_.size();
    out_.resize_and_overwrite(at + before.size() + name.size() + 1, [&](char* text, size_t) {  // makes room for all of it at once
      char* p = std::copy(before.begin(), before.end(), text + at);
      p = std::copy(name.begin(), name.end(), p);
      *p++ = '=';
      return static_cast<size_t>(p - text);
    });
    fresh_ = false;
    value_ = out_.size();
    return out_;
  }

  std::string& out_;
  bool oneliner_;
  bool fresh_ = true;
  uint16_t line_ = 0;  // of the last key_on()
  size_t value_ = 0;   // where the last key's value began; 0: there is none
};

}  // namespace muster::fields
