// The shape of scontrol's records, for show_job, show_node, show_partition and show_step. A record is lines of "Key=value" pairs; lines
// after the first begin with three blanks. With --oneliner everything is on one line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/plain_text.h"
#include "fields/values.h"

namespace muster::fields {

struct ShowOptions {
  bool oneliner = false;  // -o
  bool details = false;   // -d
};

// "\n   Account=(null)", spelled when it is compiled, because a record has many keys and a queue very many records: one append puts the key,
// from where it stands in its line, and the word for a value that is not there.
struct SpelledKey {
  static constexpr size_t kLine = 0, kBlank = 3, kName = 4;  // where the text begins for a key on a new line, in a line, at the beginning
  std::array<char, 64> text{};
  uint8_t value = 0, end = 0;  // where the value begins, and where the word for none ends

  constexpr SpelledKey() = default;
  constexpr SpelledKey(std::string_view name, std::string_view none) {
    for (std::string_view part : {std::string_view("\n   "), name, std::string_view("="), none}) {
      value = end;
      if (end + part.size() > text.size()) throw "a key and its word for none are too long";
      std::ranges::copy(part, text.begin() + end);
      end = static_cast<uint8_t>(end + part.size());
    }
  }
};

class Record {
 public:
  Record(std::string& out, bool oneliner) : out_(out), oneliner_(oneliner) {}
  std::string& out() { return out_; }

  // Appends "Key=", with a blank before it unless it begins a line. The caller appends the value.
  std::string& key(std::string_view name) {
    end_value();
    if (!fresh_) out_ += ' ';
    fresh_ = false;
    out_ += name;
    out_ += '=';
    value_ = out_.size();
    return out_;
  }
  // The same for a key on the line of that number: where the last such key stood on another one, a new line begins. With `empty` the word
  // for a value that is not there is appended, too.
  std::string& key_on(uint16_t number, const SpelledKey& key, bool empty) {
    end_value();
    const size_t from = line_ == 0 ? SpelledKey::kName : line_ == number || oneliner_ ? SpelledKey::kBlank : SpelledKey::kLine;
    line_ = number;
    fresh_ = false;
    out_.append(key.text.data() + from, (empty ? key.end : key.value) - from);
    value_ = empty ? 0 : out_.size();
    return out_;
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

  std::string& out_;
  bool oneliner_;
  bool fresh_ = true;
  uint16_t line_ = 0;  // of the last key_on()
  size_t value_ = 0;   // where the last key's value began; 0: there is none
};

}  // namespace muster::fields
