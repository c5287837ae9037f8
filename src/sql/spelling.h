// The parts of CREATE TABLE that SQLite and MariaDB spell differently. Internal to sql/.
#pragma once

#include <string>
#include <string_view>

namespace muster::sql {

struct Spelling {
  // {id} {name} {bytes} {end}, and {keyed}: the end of a table whose rows lie in the order of their key, found by it alone.
  std::string_view id, name, bytes, end, keyed;
};
std::string spell(std::string_view create, const Spelling& words);

}  // namespace muster::sql
