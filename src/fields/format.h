// Output formats: "-o" strings ("%.18i %.9P %j|") and "-O" lists ("JobID:10,Name:.20,tres-alloc:|") compiled to columns, and the rendering
// of header and rows. squeue(1), sinfo(1).
//
// -o: text before the first '%' is printed as it stands; then follow pieces "%[.][size]type[suffix]", where any text up to the next '%' is
//     the suffix. '%%' is one '%' too many and is skipped, as Slurm does. "%all" is every letter with '|' between them.
// -O: "name[:[.][size][suffix]]" separated by commas, any case; without ':' 20 wide, with ':' and no size as wide as needed.
// An unknown type is reported in `messages` (Slurm's text, without the program's name) and the rest is printed: -o prints the unknown piece
// itself, -O and sprio leave it out. Bounds: sizes above kMaxWidth count as kMaxWidth; kMaxColumns columns. Cost: a row appends to the caller's
// buffer, no allocation beyond the buffer's; about 50 ns a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fields/field_table.h"

namespace muster::fields {

inline constexpr uint32_t kMaxWidth = 4096;
inline constexpr size_t kMaxColumns = 1024;

template <class View>
struct Column {
  const FieldRow<View>* field = nullptr;  // null: only the suffix is printed
  uint32_t width = 0;                     // 0: as wide as the value
  bool right = false;
  bool long_header = false;  // of -O
  std::string suffix;
};

template <class View>
class Format {
 public:
  std::string prefix;
  std::vector<Column<View>> columns;

  // Both append one line with its '\n'.
  void header(std::string& out) const;
  void row(const View& view, std::string& out) const;
  bool has(char letter) const;
  bool has(std::string_view long_name) const;
  // RowPart bits of all columns: what QueryJobs must ask for.
  uint32_t parts() const;
};

template <class View>
struct ParsedFormat {
  Format<View> format;
  std::vector<std::string> messages;  // "Invalid job format specification: {"
};

template <class View>
ParsedFormat<View> parse_format(std::string_view text);  // -o
template <class View>
ParsedFormat<View> parse_long_format(std::string_view text);  // -O

// The line that -l and --iterate print first: "Sat Nov 21 09:20:15 2026\n", local time.
std::string date_line(Time now);

}  // namespace muster::fields
