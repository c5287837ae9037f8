// sreport without an accounting database. sreport(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sreport",
                                   "[OPTIONS] [REPORT]\n\nReports usage from the accounting database, which "
                                   "this version of Muster does not keep.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse(kNoDatabase);
}
