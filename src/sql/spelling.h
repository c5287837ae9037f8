// The parts of CREATE TABLE that SQLite and MariaDB spell differently. Internal to sql/.
#pragma once

#include <string>
#include <string_view>

namespace muster::sql {

struct Spelling {
  std::string_view id, name, bytes, end;  // {id} {name} {bytes} {end}
};
std::string spell(std::string_view create, const Spelling& words);

}  // namespace muster::sql
