#include "sql/connection.h"

#include <array>

#include "sql/spelling.h"

namespace muster::sql {

std::string spell(std::string_view create, const Spelling& words) {
  const std::pair<std::string_view, std::string_view> all[] = {
      {"{id}", words.id}, {"{name}", words.name}, {"{bytes}", words.bytes}, {"{end}", words.end}, {"{keyed}", words.keyed}};
  std::string out(create);
  for (const auto& [mark, word] : all)
    for (size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at + word.size())) out.replace(at, mark.size(), word);
  return out;
}

Result<> in_transaction(Connection& c, const std::function<Result<>()>& work) {
  MUSTER_TRY_VOID(c.begin());
  Result<> done = work();
  if (done) done = c.commit();
  if (!done) c.rollback();
  return done;
}

}  // namespace muster::sql
