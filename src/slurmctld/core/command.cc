#include "slurmctld/core/command.h"

namespace muster::slurmctld {
namespace {

constexpr CommandRow kRows[] = {
#define MUSTER_COMMAND(request, first, of_job, kind, handler) row_of<rpc::request>,
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
};

}  // namespace

std::span<const CommandRow> command_rows() { return kRows; }

const CommandRow* command_row(uint16_t number) {
  switch (number) {
#define MUSTER_COMMAND(request, first, of_job, kind, handler) \
  case number_of<rpc::request>:                               \
    return &row_of<rpc::request>;
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
    default: return nullptr;
  }
}

Result<> may_ask(const CommandRow& row, const Rights& rights) {
  if (rights.may(row.first)) return {};
  const RightRow& right = right_row(row.first);
  return fail(Errc::kAccessDenied, {}, "only " + std::string(who_has(right.level)) + " may " + right.words);
}

}  // namespace muster::slurmctld
