// KeptRows: what slurmd must know of jobs again after it was killed, as rows of numbers in a file of the spool, one a line. What cannot be
// understood is skipped, and told: a line that a crash left half written, one that we did not write, a file that cannot be read or is larger than
// it may become. So a damaged file costs what stood in it, and no start. Cost: reading and replacing O(file), adding O(row).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/log.h"

namespace muster::slurmd {

class KeptLines {
 public:
  // `largest`: in bytes; a larger file is neither written nor read.
  KeptLines(os::Log& log, std::string path, size_t largest) : log_(log), path_(std::move(path)), largest_(largest) {}

  std::string read() const;                    // whole lines; "" where there is no file
  Result<> replace(std::string_view content);  // on the disk when this returns
  Result<> add(std::string_view line);         // with its newline; not synced
  size_t size() const { return size_; }        // since the file was replaced
  void tell_skipped(size_t lines) const;

 private:
  os::Log& log_;
  std::string path_;
  size_t largest_;
  os::Fd fd_;  // for add()
  size_t size_ = 0;
};

template <class... Number>
class KeptRows {
 public:
  using Row = std::tuple<Number...>;
  KeptRows(os::Log& log, std::string path, size_t largest) : lines_(log, std::move(path), largest) {}

  std::vector<Row> read() const {
    std::vector<Row> out;
    const std::string content = lines_.read();
    size_t skipped = 0;
    for (const std::string_view line : split(content, '\n'))
      if (auto row = row_of(line, std::index_sequence_for<Number...>())) out.push_back(*row);
      else ++skipped;
    if (skipped) lines_.tell_skipped(skipped);
    return out;
  }
  // On the disk when this returns.
  Result<> replace(const std::vector<Row>& rows) {
    std::string content;
    for (const Row& row : rows) content += text_of(row);
    return lines_.replace(content);
  }
  // Behind the others; not synced.
  Result<> add(const Row& row) { return lines_.add(text_of(row)); }
  size_t size() const { return lines_.size(); }  // bytes since the file was replaced

 private:
  template <size_t... At>
  static std::optional<Row> row_of(std::string_view line, std::index_sequence<At...>) {
    const auto words = split(line, ' ');
    if (words.size() != sizeof...(Number)) return std::nullopt;
    const std::tuple<std::optional<Number>...> numbers{parse_number<Number>(words[At])...};
    if (!(std::get<At>(numbers) && ...)) return std::nullopt;
    return Row{*std::get<At>(numbers)...};
  }
  static std::string text_of(const Row& row) {
    std::string out;
    std::apply([&out](const auto&... number) { ((out += std::to_string(number) + " "), ...); }, row);
    out.back() = '\n';
    return out;
  }

  KeptLines lines_;
};

}  // namespace muster::slurmd
